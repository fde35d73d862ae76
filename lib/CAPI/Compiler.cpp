//===- Compiler.cpp - C API: module in, artifact out ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo-c/Compiler.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "terrazzo/Compiler/Compiler.h"

static void give(llvm::StringRef text, MlirStringCallback write, void *data) {
  write(wrap(text), data);
}

MlirLogicalResult tzCompile(MlirModule module, MlirStringRef target,
                            MlirStringRef stages, const TzStopFlag *stop,
                            MlirStringCallback write, void *userData) {
  llvm::SmallVector<llvm::StringRef> wanted;
  unwrap(stages).split(wanted, ',', -1, /*KeepEmpty=*/false);
  llvm::FailureOr<terrazzo::Artifact> artifact =
      terrazzo::compile(unwrap(module), unwrap(target), wanted, stop);
  if (failed(artifact))
    return mlirLogicalResultFailure();
  std::vector<uint8_t> bytes = terrazzo::serializeArtifact(*artifact);
  give(llvm::StringRef(reinterpret_cast<const char *>(bytes.data()),
                       bytes.size()),
       write, userData);
  return mlirLogicalResultSuccess();
}

void tzPipeline(MlirStringRef target, MlirStringCallback write,
                void *userData) {
  give(terrazzo::pipelineText(unwrap(target)), write, userData);
}

void tzHostChip(MlirStringCallback write, void *userData) {
  give(terrazzo::hostChip(), write, userData);
}

void tzCompilerFingerprint(MlirStringCallback write, void *userData) {
  give(terrazzo::compilerFingerprint(), write, userData);
}
