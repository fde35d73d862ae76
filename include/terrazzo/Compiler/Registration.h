//===- Registration.h - Everything that the tools know ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_COMPILER_REGISTRATION_H
#define TERRAZZO_COMPILER_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace terrazzo {

/// Registers every dialect that a module may hold on its way down, with the
/// interfaces that translation to LLVM IR needs.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers every pass and every named pipeline for textual pipelines.
void registerPasses();

/// Registers `tz-attach-target`.
void registerAttachTargetPass();

/// Registers every target; may be called more than once.
void registerTargets();

} // namespace terrazzo

#endif // TERRAZZO_COMPILER_REGISTRATION_H
