//===- AxisInfoFixture.h - Functions to analyse -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TERRAZZO_TEST_UNIT_ANALYSIS_AXISINFOFIXTURE_H
#define TERRAZZO_TEST_UNIT_ANALYSIS_AXISINFOFIXTURE_H

#include "terrazzo/Analysis/AxisInfo.h"
#include "terrazzo/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

/// A context with what kernels are made of.
class AxisInfoFixture : public testing::Test {
protected:
  AxisInfoFixture() {
    context.loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                        mlir::math::MathDialect, mlir::scf::SCFDialect,
                        terrazzo::tile::TileDialect>();
  }

  mlir::MLIRContext context;
};

#endif // TERRAZZO_TEST_UNIT_ANALYSIS_AXISINFOFIXTURE_H
