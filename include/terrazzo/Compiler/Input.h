//===- Input.h - Files of textual IR ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_COMPILER_INPUT_H
#define TERRAZZO_COMPILER_INPUT_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/MemoryBuffer.h"

namespace terrazzo {

/// The file of that name ("-": standard input), for a tool to parse. Writes to
/// standard error why there is none: it cannot be read, or it nests too deep.
std::unique_ptr<llvm::MemoryBuffer> openInput(llvm::StringRef name);

} // namespace terrazzo

#endif // TERRAZZO_COMPILER_INPUT_H
