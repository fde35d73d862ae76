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

static bool isPointer(Type type) {
  return isa<tile::PtrType>(tile::getElementType(type));
}

/// All pointer values that may derive from `root`: results of ops that take
/// one, and block arguments and results of control flow around it. It errs
/// towards too many, so a read-only array is at worst refused where it need not
/// be.
// NOLINTNEXTLINE(readability-function-cognitive-complexity)
static DenseSet<Value> derivedPointers(Value root) {
  DenseSet<Value> derived = {root};
  SmallVector<Value> pending = {root};
  auto add = [&](Value value) {
    if (isPointer(value.getType()) && derived.insert(value).second)
      pending.push_back(value);
  };
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      for (Value result : user->getResults())
        add(result);
      for (Region &region : user->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            add(argument);
      if (!user->hasTrait<OpTrait::IsTerminator>())
        continue;
      Operation *parent = user->getParentOp();
      for (Value result : parent->getResults())
        add(result);
      for (Region &region : parent->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            if (!isa<func::FuncOp>(parent))
              add(argument);
    }
  }
  return derived;
}

static bool isWrittenThrough(Value argument) {
  for (Value pointer : derivedPointers(argument))
    for (OpOperand &use : pointer.getUses()) {
      if (isa<tile::AtomicRMWOp, tile::AtomicCASOp>(use.getOwner()) ||
          (isa<tile::StoreOp>(use.getOwner()) && use.getOperandNumber() == 0))
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
  auto lines = module->getAttrOfType<ArrayAttr>("tile.lines");
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
