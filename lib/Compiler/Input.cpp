//===- Input.cpp - Files of textual IR ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Compiler/Input.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Support/FileUtilities.h"
#include "terrazzo/Support/Nesting.h"

#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

std::unique_ptr<llvm::MemoryBuffer> terrazzo::openInput(llvm::StringRef name) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = mlir::openInputFile(name, &error);
  if (!file) {
    llvm::errs() << error << '\n';
    return nullptr;
  }
  if (mlir::isBytecode(*file))
    return file;
  std::optional<TextPlace> deep = findDeepNesting(file->getBuffer());
  if (!deep)
    return file;
  llvm::SourceMgr manager;
  unsigned buffer = manager.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  llvm::SMLoc place =
      manager.FindLocForLineAndColumn(buffer, static_cast<unsigned>(deep->line),
                                      static_cast<unsigned>(deep->column));
  manager.PrintMessage(place, llvm::SourceMgr::DK_Error, deepNestingMessage());
  return nullptr;
}
