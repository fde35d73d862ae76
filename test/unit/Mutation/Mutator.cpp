//===- Mutator.cpp - Small changes of a module ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mutator.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::mutation;

/// Extents beyond this make files that nobody writes.
static constexpr int64_t kMostElements = 1 << 20;

int64_t Mutator::number(int64_t old) {
  const int64_t fixed[] = {0,  1,   -1,   2,         3,         4,        16,
                           64, 255, 1024, INT32_MAX, INT32_MIN, INT64_MAX};
  switch (below(5)) {
  case 0:
    return fixed[below(std::size(fixed))];
  case 1:
    return static_cast<int64_t>(static_cast<uint64_t>(old) * 2);
  case 2:
    return old / 2;
  case 3:
    return static_cast<int64_t>(static_cast<uint64_t>(old) +
                                (chance(50) ? 1 : UINT64_MAX));
  default:
    return static_cast<int64_t>(0 - static_cast<uint64_t>(old));
  }
}

template <typename T, typename Change>
SmallVector<T> Mutator::changedList(ArrayRef<T> list, Change change) {
  SmallVector<T> result(list);
  if (result.empty())
    return result;
  size_t at = below(result.size());
  switch (below(5)) {
  case 0:
    result.erase(result.begin() + at);
    break;
  case 1:
    result.insert(result.begin() + at, T(result[at]));
    break;
  case 2:
    std::swap(result[at], result[below(result.size())]);
    break;
  default:
    result[at] = change(result[at]);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type Mutator::otherElement(Type element) {
  Builder b(element.getContext());
  const unsigned widths[] = {1, 7, 8, 16, 32, 64, 128};
  SmallVector<Type> choices = {b.getF16Type(),
                               b.getBF16Type(),
                               b.getF32Type(),
                               b.getF64Type(),
                               b.getF128Type(),
                               b.getType<Float8E4M3FNType>(),
                               b.getType<Float8E8M0FNUType>(),
                               b.getIndexType(),
                               tile::PtrType::get(b.getF32Type())};
  for (unsigned width : widths)
    choices.push_back(b.getIntegerType(width));
  return choices[below(choices.size())];
}

/// Pointers to anything else cannot be made.
static bool canBePointee(Type type) {
  return tile::isElement(type) && !type.isInteger(1);
}

Type Mutator::changed(Type type) {
  auto extent = [&](int64_t old) {
    return chance(70) ? std::abs(number(old)) % (1 << 16)
                      : int64_t{1} << below(12);
  };
  auto isFit = [](ArrayRef<int64_t> shape) {
    int64_t elements = 1;
    for (int64_t each : shape) {
      if (each < 0 || each > kMostElements)
        return false;
      elements *= std::max<int64_t>(1, each);
      if (elements > kMostElements)
        return false;
    }
    return true;
  };
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    Type element = tensor.getElementType();
    SmallVector<int64_t> shape(tensor.getShape());
    Attribute encoding = tensor.getEncoding();
    if (chance(50))
      shape = changedList<int64_t>(shape, extent);
    else if (encoding && chance(50))
      encoding = chance(20) ? Attribute() : changed(encoding);
    else
      element = otherElement(element);
    if (!isFit(shape) || !TensorType::isValidElementType(element))
      return type;
    return RankedTensorType::get(shape, element, encoding);
  }
  if (auto vector = dyn_cast<VectorType>(type)) {
    Type element = vector.getElementType();
    SmallVector<int64_t> shape(vector.getShape());
    if (chance(50))
      shape = changedList<int64_t>(shape, extent);
    else
      element = otherElement(element);
    if (!isFit(shape) || llvm::is_contained(shape, 0) ||
        !VectorType::isValidElementType(element))
      return type;
    return VectorType::get(shape, element);
  }
  if (auto pointer = dyn_cast<tile::PtrType>(type)) {
    Type pointee = otherElement(pointer.getPointeeType());
    return canBePointee(pointee) ? tile::PtrType::get(pointee) : type;
  }
  if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(type))
    return LLVM::LLVMPointerType::get(type.getContext(), below(6));
  return type.isIntOrIndexOrFloat() ? otherElement(type) : type;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

simt::LayoutAttr Mutator::changedLayout(simt::LayoutAttr attribute) {
  const layout::LinearLayout &layout = attribute.getLayout();
  SmallVector<layout::LinearLayout::InSpec> ins;
  SmallVector<layout::LinearLayout::OutSpec> outs;
  for (const layout::Dim &out : layout.outDims())
    outs.push_back({out.name, out.bits});
  for (const layout::Dim &in : layout.inDims()) {
    ins.push_back({in.name, {}});
    for (int32_t bit = 0; bit < in.bits; ++bit)
      ins.back().second.push_back(layout.basis(in.name, bit));
  }
  auto basis = [&](layout::LinearLayout::Basis old) {
    if (old.empty())
      return old;
    size_t at = below(old.size());
    old[at] = chance(50) ? 0 : 1 << below(8);
    return old;
  };
  if (chance(20) && !outs.empty()) {
    int32_t &bits = outs[below(outs.size())].second;
    bits = std::max(0, bits + (chance(50) ? 1 : -1));
  } else if (!ins.empty()) {
    auto &bases = ins[below(ins.size())].second;
    auto now = changedList<layout::LinearLayout::Basis>(bases, basis);
    bases.assign(now.begin(), now.end());
  }
  std::string error;
  auto created = layout::LinearLayout::tryCreate(ins, outs, error);
  return created ? simt::LayoutAttr::get(attribute.getContext(), *created)
                 : attribute;
}

Attribute Mutator::changedArray(ArrayAttr array) {
  return ArrayAttr::get(
      array.getContext(),
      changedList<Attribute>(array.getValue(),
                             [&](Attribute each) { return changed(each); }));
}

Attribute Mutator::changedDictionary(DictionaryAttr dictionary) {
  SmallVector<NamedAttribute> entries(dictionary.getValue());
  if (entries.empty())
    return dictionary;
  size_t at = below(entries.size());
  if (chance(30))
    entries.erase(entries.begin() + at);
  else
    entries[at].setValue(changed(entries[at].getValue()));
  return DictionaryAttr::get(dictionary.getContext(), entries);
}

Attribute Mutator::changedElements(DenseElementsAttr elements) {
  if (!elements.isSplat())
    return elements;
  Attribute value = changed(elements.getSplatValue<Attribute>());
  auto typed = dyn_cast<TypedAttr>(value);
  return typed && typed.getType() == elements.getElementType()
             ? Attribute(DenseElementsAttr::get(elements.getType(), value))
             : elements;
}

Attribute Mutator::changed(Attribute attribute) {
  MLIRContext *context = attribute.getContext();
  if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    unsigned width = integer.getValue().getBitWidth();
    if (width > 64)
      return attribute;
    int64_t now = number(integer.getValue().getSExtValue());
    return IntegerAttr::get(integer.getType(),
                            APInt(64, static_cast<uint64_t>(now)).trunc(width));
  }
  if (auto real = dyn_cast<FloatAttr>(attribute)) {
    const double values[] = {0.0, -0.0, 1e30, -1.0,
                             std::numeric_limits<double>::infinity()};
    return FloatAttr::get(real.getType(), values[below(std::size(values))]);
  }
  if (auto array = dyn_cast<DenseI32ArrayAttr>(attribute))
    return DenseI32ArrayAttr::get(
        context, changedList<int32_t>(array.asArrayRef(), [&](int32_t each) {
          return static_cast<int32_t>(number(each));
        }));
  if (auto array = dyn_cast<DenseI64ArrayAttr>(attribute))
    return DenseI64ArrayAttr::get(
        context, changedList<int64_t>(array.asArrayRef(), [&](int64_t each) {
          return number(each);
        }));
  if (auto array = dyn_cast<ArrayAttr>(attribute))
    return changedArray(array);
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute))
    return changedDictionary(dictionary);
  if (auto elements = dyn_cast<DenseElementsAttr>(attribute))
    return changedElements(elements);
  if (auto layout = dyn_cast<simt::LayoutAttr>(attribute))
    return changedLayout(layout);
  // A function's type is that of its block.
  if (auto type = dyn_cast<TypeAttr>(attribute);
      type && !isa<FunctionType>(type.getValue()))
    return TypeAttr::get(changed(type.getValue()));
  return attribute;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

SmallVector<Operation *> Mutator::ops() {
  SmallVector<Operation *> all;
  module->walk([&](Operation *op) { all.push_back(op); });
  return all;
}

void Mutator::changeAttribute() {
  SmallVector<std::pair<Operation *, NamedAttribute>> all;
  for (Operation *op : ops())
    for (NamedAttribute each : op->getAttrDictionary())
      if (!isa<StringAttr, SymbolRefAttr, LocationAttr>(each.getValue()) &&
          each.getName() != "operandSegmentSizes")
        all.push_back({op, each});
  if (all.empty())
    return;
  auto [op, attribute] = all[below(all.size())];
  if (chance(10) || isa<UnitAttr>(attribute.getValue()))
    op->removeAttr(attribute.getName());
  else
    op->setAttr(attribute.getName(), changed(attribute.getValue()));
}

/// Keeps what is not made of any types and attributes: arrays of numbers, and
/// what checks its parts itself. These change as operands of ops.
static void keepWholes(AttrTypeReplacer &replacer) {
  using Kept = std::optional<std::pair<Attribute, WalkResult>>;
  replacer.addReplacement([](Attribute attribute) -> Kept {
    if (isa<DenseArrayAttr, simt::InstructionAttr, tile::TensorMapAttr>(
            attribute))
      return std::make_pair(attribute, WalkResult::skip());
    return std::nullopt;
  });
}

/// A descriptor of other elements, if it may have such.
static Type withElement(tile::DescriptorType descriptor, Type element) {
  MLIRContext *context = descriptor.getContext();
  ScopedDiagnosticHandler swallow(context, [](Diagnostic &) {});
  auto emitError = [&] { return mlir::emitError(UnknownLoc::get(context)); };
  auto changed = tile::DescriptorType::getChecked(
      emitError, context, descriptor.getShape(), element,
      descriptor.getPadding());
  return changed ? changed : descriptor;
}

void Mutator::changeType() {
  SmallVector<Value> values;
  for (Operation *op : ops()) {
    llvm::append_range(values, op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(values, block.getArguments());
  }
  if (values.empty())
    return;
  Value value = values[below(values.size())];
  Type old = value.getType(), now = changed(old);
  if (chance(20)) {
    value.setType(now);
    return;
  }
  AttrTypeReplacer replacer;
  using Replaced = std::optional<std::pair<Type, WalkResult>>;
  replacer.addReplacement([&](Type type) -> Replaced {
    if (type == old)
      return std::make_pair(now, WalkResult::skip());
    if (auto descriptor = dyn_cast<tile::DescriptorType>(type))
      return std::make_pair(descriptor.getElementType() == old
                                ? withElement(descriptor, now)
                                : type,
                            WalkResult::skip());
    Type pointee = type;
    while (auto pointer = dyn_cast<tile::PtrType>(pointee))
      pointee = pointer.getPointeeType();
    if (pointee == old && !canBePointee(now))
      return std::make_pair(type, WalkResult::skip());
    return std::nullopt;
  });
  keepWholes(replacer);
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

void Mutator::changeLayout() {
  llvm::SetVector<Attribute> layouts;
  AttrTypeWalker walker;
  walker.addWalk([&](Attribute attribute) {
    if (isa<simt::LayoutAttr>(attribute))
      layouts.insert(attribute);
  });
  for (Operation *op : ops()) {
    walker.walk(op->getAttrDictionary());
    for (Type type : op->getResultTypes())
      walker.walk(type);
  }
  if (layouts.empty())
    return;
  Attribute old = layouts[below(layouts.size())];
  simt::LayoutAttr now = changedLayout(cast<simt::LayoutAttr>(old));
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](Attribute attribute) -> std::optional<Attribute> {
    return attribute == old ? std::optional<Attribute>(now) : std::nullopt;
  });
  replacer.recursivelyReplaceElementsIn(module, true, false, true);
}

Value Mutator::otherValue(Operation *op, Type type) {
  SmallVector<Value> values;
  for (Operation *at = op; at && at != module; at = at->getParentOp()) {
    for (Operation &each : *at->getBlock()) {
      if (&each == at)
        break;
      for (Value result : each.getResults())
        if (result.getType() == type)
          values.push_back(result);
    }
    for (Value argument : at->getBlock()->getArguments())
      if (argument.getType() == type)
        values.push_back(argument);
  }
  return values.empty() ? Value() : values[below(values.size())];
}

/// Whether others use a value that is made inside of `op`: earlier changes may
/// have moved them out.
static bool isUsedOutside(Operation *op) {
  auto isOutside = [&](Value value) {
    return llvm::any_of(value.getUsers(),
                        [&](Operation *user) { return !op->isAncestor(user); });
  };
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      if (llvm::any_of(block.getArguments(), isOutside))
        return true;
      for (Operation &inner : block)
        if (llvm::any_of(inner.getResults(), isOutside) ||
            isUsedOutside(&inner))
          return true;
    }
  return false;
}

void Mutator::dropOp() {
  SmallVector<Operation *> all = ops();
  Operation *op = all[below(all.size())];
  if (op == module || op->hasTrait<OpTrait::IsTerminator>() ||
      isUsedOutside(op))
    return;
  for (Value result : op->getResults()) {
    if (result.use_empty())
      continue;
    Value other = otherValue(op, result.getType());
    if (!other)
      return;
    result.replaceAllUsesWith(other);
  }
  op->erase();
}

void Mutator::duplicateOp() {
  SmallVector<Operation *> all = ops();
  Operation *op = all[below(all.size())];
  if (op == module || op->hasTrait<OpTrait::IsTerminator>() ||
      op->hasAttr(SymbolTable::getSymbolAttrName()))
    return;
  OpBuilder b(op);
  b.setInsertionPointAfter(op);
  Operation *copy = b.clone(*op);
  for (auto [old, now] : llvm::zip(op->getResults(), copy->getResults()))
    old.replaceUsesWithIf(now, [&](OpOperand &use) {
      return !copy->isAncestor(use.getOwner()) && chance(50);
    });
}

void Mutator::changeOperand() {
  SmallVector<Operation *> all = ops();
  Operation *op = all[below(all.size())];
  if (op->getNumOperands() == 0)
    return;
  OpOperand &operand = op->getOpOperand(below(op->getNumOperands()));
  if (chance(50)) {
    OpOperand &second = op->getOpOperand(below(op->getNumOperands()));
    Value value = operand.get();
    operand.set(second.get());
    second.set(value);
  } else if (Value other = otherValue(op, operand.get().getType())) {
    operand.set(other);
  }
}

void Mutator::moveOp() {
  SmallVector<Operation *> all = ops();
  Operation *op = all[below(all.size())], *to = all[below(all.size())];
  if (op == module || to == module || op->isAncestor(to) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return;
  op->moveBefore(to);
}

void Mutator::mutate() {
  switch (below(10)) {
  case 0:
  case 1:
    return changeAttribute();
  case 2:
  case 3:
    return changeType();
  case 4:
    return changeLayout();
  case 5:
    return dropOp();
  case 6:
    return duplicateOp();
  case 7:
  case 8:
    return changeOperand();
  default:
    return moveOp();
  }
}
