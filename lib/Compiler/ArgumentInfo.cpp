//===- ArgumentInfo.cpp - What a launch must know of a kernel -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArgumentInfo.h"

#include "terrazzo/Dialect/Tile/IR/Tile.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace terrazzo;

/// Whether a value has an address to write through.
static bool isPointer(Type type) {
  return isa<tile::PtrType, tile::DescriptorType>(tile::getElementType(type));
}

static void forEachArgument(Operation *op, function_ref<void(Value)> visit) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::for_each(block.getArguments(), visit);
}

/// The values that one of a user's operands may become: its results, what its
/// regions take, and, if it ends a region of control flow, the same of that.
static void forEachSuccessor(Operation *user, function_ref<void(Value)> visit) {
  llvm::for_each(user->getResults(), visit);
  forEachArgument(user, visit);
  if (!user->hasTrait<OpTrait::IsTerminator>())
    return;
  Operation *parent = user->getParentOp();
  llvm::for_each(parent->getResults(), visit);
  if (!isa<func::FuncOp>(parent))
    forEachArgument(parent, visit);
}

/// All pointer values that may derive from `root`. It errs towards too many, so
/// a read-only array is at worst refused where it need not be.
static DenseSet<Value> derivedPointers(Value root) {
  DenseSet<Value> derived = {root};
  SmallVector<Value> pending = {root};
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val().getUsers())
      forEachSuccessor(user, [&](Value value) {
        if (isPointer(value.getType()) && derived.insert(value).second)
          pending.push_back(value);
      });
  return derived;
}

static bool isWrittenThrough(Value argument) {
  for (Value pointer : derivedPointers(argument))
    for (OpOperand &use : pointer.getUses()) {
      if (isa<tile::AtomicRMWOp, tile::AtomicCASOp>(use.getOwner()) ||
          (isa<tile::StoreOp, tile::DescriptorStoreOp>(use.getOwner()) &&
           use.getOperandNumber() == 0))
        return true;
    }
  return false;
}

static std::string typeName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::vector<ArgInfo> terrazzo::collectArguments(func::FuncOp kernel) {
  std::vector<ArgInfo> args;
  for (BlockArgument argument : kernel.getArguments()) {
    ArgInfo info;
    Type type = argument.getType();
    auto name = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                    "tile.name");
    info.name =
        name ? name.str() : "arg" + std::to_string(argument.getArgNumber());
    info.written = false;
    if (auto pointer = dyn_cast<tile::PtrType>(type)) {
      info.kind = ArgInfo::Pointer;
      info.bytes = 8;
      info.dtype = typeName(pointer.getPointeeType());
      info.written = isWrittenThrough(argument);
    } else {
      info.kind = isa<FloatType>(type) ? ArgInfo::Float : ArgInfo::Int;
      info.bytes = std::max(1u, type.getIntOrFloatBitWidth() / 8);
      info.dtype = typeName(type);
    }
    args.push_back(std::move(info));
  }
  return args;
}

void terrazzo::collectLines(ModuleOp module, Artifact &artifact) {
  auto lines = module->getAttrOfType<ArrayAttr>(tile::kLinesAttr);
  if (!lines)
    return;
  for (auto entry : lines.getAsRange<DictionaryAttr>()) {
    LineEntry line;
    line.id = static_cast<uint32_t>(artifact.lines.size());
    line.text = entry.getAs<StringAttr>("text").str();
    line.file = entry.getAs<StringAttr>("file").str();
    line.line = entry.getAs<IntegerAttr>("line").getInt();
    line.column = entry.getAs<IntegerAttr>("column").getInt();
    if (auto operands = entry.getAs<ArrayAttr>("operands"))
      for (auto [index, operand] :
           llvm::enumerate(operands.getAsRange<StringAttr>()))
        artifact.metadata["print." + std::to_string(line.id) + "." +
                          std::to_string(index)] = operand.str();
    artifact.lines.push_back(std::move(line));
  }
}

static std::vector<ArgProduct> productsOf(ArrayAttr lengths) {
  std::vector<ArgProduct> products;
  for (auto length : lengths.getAsRange<tile::ArgProductAttr>()) {
    ArgProduct product;
    product.factor = length.getFactor();
    product.bytes = static_cast<uint8_t>(length.getBytes());
    if (length.getArgs())
      product.args.assign(length.getArgs().asArrayRef().begin(),
                          length.getArgs().asArrayRef().end());
    products.push_back(std::move(product));
  }
  return products;
}

void terrazzo::collectTensorMaps(ModuleOp module, Artifact &artifact) {
  auto maps = module->getAttrOfType<ArrayAttr>(tile::kTensorMapsAttr);
  if (!maps)
    return;
  for (auto attribute : maps.getAsRange<tile::TensorMapAttr>()) {
    TensorMap map;
    map.base = static_cast<uint32_t>(attribute.getBase());
    map.dtype = typeName(attribute.getElement());
    map.shape = productsOf(attribute.getShape());
    map.strides = productsOf(attribute.getStrides());
    ArrayRef<int32_t> box = attribute.getBox();
    map.box.assign(box.begin(), box.end());
    map.swizzleBytes = static_cast<uint32_t>(attribute.getSwizzleBytes());
    map.isNanOutside = attribute.getPadding() == tile::Padding::NaN;
    artifact.tensorMaps.push_back(std::move(map));
  }
}
