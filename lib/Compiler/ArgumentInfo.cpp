//===- ArgumentInfo.cpp - What a launch must know of a kernel -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArgumentInfo.h"

#include "terrazzo/Analysis/PointerOrigin.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace terrazzo;

/// The pointers and descriptors that an op writes through; nothing if what it
/// does to memory is not known.
static std::optional<SmallVector<Value>> writtenPointers(Operation *op) {
  SmallVector<Value> pointers;
  if (auto effects = dyn_cast<MemoryEffectOpInterface>(op)) {
    SmallVector<MemoryEffects::EffectInstance> instances;
    effects.getEffects<MemoryEffects::Write>(instances);
    // Without a value it is what orders ops: a print, a volatile load.
    for (const MemoryEffects::EffectInstance &instance : instances)
      if (Value pointer = instance.getValue())
        pointers.push_back(pointer);
    return pointers;
  }
  if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
    return pointers;
  return std::nullopt;
}

/// The arguments whose arrays a kernel may write: all, if one of the pointers
/// that it writes through was loaded, or made of a number. A read-only array
/// is then refused where it need not be.
static SmallVector<bool> findWritten(func::FuncOp kernel) {
  SmallVector<bool> written(kernel.getNumArguments(), false);
  WalkResult walk = kernel.walk([&](Operation *op) {
    if (op == kernel || op->hasTrait<OpTrait::IsTerminator>())
      return WalkResult::advance();
    std::optional<SmallVector<Value>> pointers = writtenPointers(op);
    if (!pointers)
      return WalkResult::interrupt();
    for (Value pointer : *pointers) {
      auto origins = pointerOrigins(pointer);
      if (!origins)
        return WalkResult::interrupt();
      for (BlockArgument origin : *origins)
        written[origin.getArgNumber()] = true;
    }
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    written.assign(written.size(), true);
  return written;
}

static std::string typeName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::vector<ArgInfo> terrazzo::collectArguments(func::FuncOp kernel) {
  std::vector<ArgInfo> args;
  SmallVector<bool> written = findWritten(kernel);
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
      info.written = written[argument.getArgNumber()];
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
