//===- Atomics.h - Atomic updates in LLVM's words ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_CONVERSION_ATOMICS_H
#define TERRAZZO_CONVERSION_ATOMICS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"

namespace terrazzo {

inline mlir::LLVM::AtomicOrdering atomicOrdering(tile::MemSem sem) {
  using Ordering = mlir::LLVM::AtomicOrdering;
  switch (sem) {
  case tile::MemSem::Relaxed:
    return Ordering::monotonic;
  case tile::MemSem::Acquire:
    return Ordering::acquire;
  case tile::MemSem::Release:
    return Ordering::release;
  case tile::MemSem::AcqRel:
    return Ordering::acq_rel;
  }
  llvm_unreachable("every ordering is listed");
}

inline mlir::LLVM::AtomicBinOp atomicBinOp(tile::RMWKind kind) {
  using Kind = tile::RMWKind;
  using BinOp = mlir::LLVM::AtomicBinOp;
  switch (kind) {
  case Kind::And:
    return BinOp::_and;
  case Kind::Or:
    return BinOp::_or;
  case Kind::Xor:
    return BinOp::_xor;
  case Kind::Add:
    return BinOp::add;
  case Kind::FAdd:
    return BinOp::fadd;
  case Kind::MaxS:
    return BinOp::max;
  case Kind::MinS:
    return BinOp::min;
  case Kind::MaxU:
    return BinOp::umax;
  case Kind::MinU:
    return BinOp::umin;
  case Kind::FMax:
    return BinOp::fmax;
  case Kind::FMin:
    return BinOp::fmin;
  case Kind::Exch:
    return BinOp::xchg;
  }
  llvm_unreachable("every kind is listed");
}

} // namespace terrazzo

#endif // TERRAZZO_CONVERSION_ATOMICS_H
