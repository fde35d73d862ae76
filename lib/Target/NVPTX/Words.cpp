//===- Words.cpp - Values as untyped registers ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Words.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "terrazzo/Target/Gpu.h"

using namespace mlir;
using namespace terrazzo;
using nvptx::Words;

Words nvptx::wordsOf(Type type) {
  int64_t bytes = device::sizeInBytes(type);
  if (bytes <= 2)
    return {1, 16};
  unsigned element = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  unsigned bits = element == 64 ? 64 : 32;
  return {static_cast<unsigned>(8 * bytes / bits), bits};
}

SmallVector<Value> nvptx::splitIntoWords(OpBuilder &builder, Location loc,
                                         Value value) {
  Words words = wordsOf(value.getType());
  IntegerType word = builder.getIntegerType(words.bits);
  if (device::sizeInBytes(value.getType()) == 1) {
    value =
        builder.createOrFold<LLVM::BitcastOp>(loc, builder.getI8Type(), value);
    return {LLVM::ZExtOp::create(builder, loc, word, value)};
  }
  if (words.count == 1)
    return {builder.createOrFold<LLVM::BitcastOp>(loc, word, value)};
  value = builder.createOrFold<LLVM::BitcastOp>(
      loc, VectorType::get(words.count, word), value);
  SmallVector<Value> result;
  for (unsigned i = 0; i < words.count; ++i)
    result.push_back(LLVM::ExtractElementOp::create(
        builder, loc, value,
        LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(i))));
  return result;
}

Value nvptx::fromWords(OpBuilder &builder, Location loc, ArrayRef<Value> words,
                       Type type) {
  Value value = words.front();
  if (device::sizeInBytes(type) == 1)
    value = LLVM::TruncOp::create(builder, loc, builder.getI8Type(), value);
  if (words.size() > 1) {
    auto vector = VectorType::get(words.size(), value.getType());
    value = LLVM::PoisonOp::create(builder, loc, vector);
    for (auto [i, word] : llvm::enumerate(words))
      value = LLVM::InsertElementOp::create(
          builder, loc, value, word,
          LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(i)));
  }
  return builder.createOrFold<LLVM::BitcastOp>(loc, type, value);
}
