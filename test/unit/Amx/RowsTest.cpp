//===- RowsTest.cpp - Left factors whose rows are multiplied in place -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel reads rows at a pitch that is known at run time, with a remainder
// and masks: in order, and in each way in which they have to be packed.
//===----------------------------------------------------------------------===//

#include "AmxHost.h"
#include "DotKernel.h"
#include "terrazzo/Runtime/Cpu.h"
#include "terrazzo/Runtime/Driver.h"

#include <bit>
#include <gtest/gtest.h>
#include <vector>

using namespace terrazzo;
using namespace terrazzo::runtime;
using namespace terrazzo::test;

static constexpr int kRows = 32, kColumns = 32, kDepth = 64;

/// z = x @ y; row i of x is at ((first + i) % m) * pitch, `rows` of them and
/// `left` of their elements are read, the rest is zero.
static const char *const kKernel = R"mlir(
func.func @rows(%x: !tile.ptr<bf16>, %y: !tile.ptr<bf16>, %z: !tile.ptr<f32>, %pitch: i32, %first: i32, %m: i32, %rows: i32, %left: i32) attributes {tile.kernel} {
  %i = tile.arange 0 to 32 : tensor<32xi32>
  %k = tile.arange 0 to 64 : tensor<64xi32>
  %firsts = tile.splat %first : i32 -> tensor<32xi32>
  %ms = tile.splat %m : i32 -> tensor<32xi32>
  %pitches = tile.splat %pitch : i32 -> tensor<32xi32>
  %moved = arith.addi %i, %firsts : tensor<32xi32>
  %row = arith.remsi %moved, %ms : tensor<32xi32>
  %starts = arith.muli %row, %pitches : tensor<32xi32>
  %s1 = tile.expand_dims %starts, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %s2 = tile.broadcast %s1 : tensor<32x1xi32> -> tensor<32x64xi32>
  %k1 = tile.expand_dims %k, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %k2 = tile.broadcast %k1 : tensor<1x64xi32> -> tensor<32x64xi32>
  %xs = tile.splat %x : !tile.ptr<bf16> -> tensor<32x64x!tile.ptr<bf16>>
  %xr = tile.addptr %xs, %s2 : tensor<32x64x!tile.ptr<bf16>>, tensor<32x64xi32>
  %xp = tile.addptr %xr, %k2 : tensor<32x64x!tile.ptr<bf16>>, tensor<32x64xi32>
  %rs = tile.splat %rows : i32 -> tensor<32xi32>
  %im = arith.cmpi slt, %i, %rs : tensor<32xi32>
  %im1 = tile.expand_dims %im, 1 : tensor<32xi1> -> tensor<32x1xi1>
  %im2 = tile.broadcast %im1 : tensor<32x1xi1> -> tensor<32x64xi1>
  %ls = tile.splat %left : i32 -> tensor<64xi32>
  %km = arith.cmpi slt, %k, %ls : tensor<64xi32>
  %km1 = tile.expand_dims %km, 0 : tensor<64xi1> -> tensor<1x64xi1>
  %km2 = tile.broadcast %km1 : tensor<1x64xi1> -> tensor<32x64xi1>
  %mask = arith.andi %im2, %km2 : tensor<32x64xi1>
  %xv = tile.load %xp mask %mask : tensor<32x64xi1> : tensor<32x64x!tile.ptr<bf16>> -> tensor<32x64xbf16>
  %j = tile.arange 0 to 32 : tensor<32xi32>
  %j1 = tile.expand_dims %j, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %j2 = tile.broadcast %j1 : tensor<1x32xi32> -> tensor<64x32xi32>
  %width = arith.constant dense<32> : tensor<64xi32>
  %kw = arith.muli %k, %width : tensor<64xi32>
  %kw1 = tile.expand_dims %kw, 1 : tensor<64xi32> -> tensor<64x1xi32>
  %kw2 = tile.broadcast %kw1 : tensor<64x1xi32> -> tensor<64x32xi32>
  %yo = arith.addi %kw2, %j2 : tensor<64x32xi32>
  %ys = tile.splat %y : !tile.ptr<bf16> -> tensor<64x32x!tile.ptr<bf16>>
  %yp = tile.addptr %ys, %yo : tensor<64x32x!tile.ptr<bf16>>, tensor<64x32xi32>
  %yv = tile.load %yp : tensor<64x32x!tile.ptr<bf16>> -> tensor<64x32xbf16>
  %acc = arith.constant dense<0.0> : tensor<32x32xf32>
  %r = tile.dot %xv, %yv, %acc : tensor<32x64xbf16>, tensor<64x32xbf16> -> tensor<32x32xf32>
  %side = arith.constant dense<32> : tensor<32xi32>
  %iw = arith.muli %i, %side : tensor<32xi32>
  %iw1 = tile.expand_dims %iw, 1 : tensor<32xi32> -> tensor<32x1xi32>
  %iw2 = tile.broadcast %iw1 : tensor<32x1xi32> -> tensor<32x32xi32>
  %zj = tile.broadcast %j1 : tensor<1x32xi32> -> tensor<32x32xi32>
  %zo = arith.addi %iw2, %zj : tensor<32x32xi32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %zo : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xi32>
  tile.store %zp, %r : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xf32>
  return
}
)mlir";

namespace {

struct Rows {
  const char *name;
  int32_t pitch, first = 0, m = 1000, rows = kRows, left = kDepth;
};

const Rows kCases[] = {
    {.name = "dense", .pitch = kDepth},
    {.name = "apart", .pitch = 72, .first = 3},
    {.name = "backwards", .pitch = -80},
    {.name = "repeated", .pitch = 0},
    {.name = "wholePages", .pitch = 2048},
    {.name = "startingAgain", .pitch = 72, .first = 20, .m = 40},
    {.name = "endingWithTheLast", .pitch = 72, .first = 8, .m = 40},
    {.name = "negative", .pitch = 72, .first = -5, .m = 40},
    {.name = "fewRows", .pitch = 72, .rows = 31},
    {.name = "noRows", .pitch = 72, .rows = 0},
    {.name = "shortRows", .pitch = 72, .left = 63},
};

class AmxRows : public testing::TestWithParam<Rows> {
protected:
  AmxHost host;
};

INSTANTIATE_TEST_SUITE_P(Cases, AmxRows, testing::ValuesIn(kCases),
                         [](const auto &info) { return info.param.name; });

} // namespace

/// A small whole number as a bf16.
static uint16_t asBf16(int value) {
  return std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16;
}

TEST_P(AmxRows, product) {
  Rows c = GetParam();
  // Rows before the first, behind the last, and their ends.
  constexpr int kAround = 40 * 2048;
  std::vector<uint16_t> x(2 * kAround), y(kDepth * kColumns);
  auto number = [](int i) { return (i * 7 + i / 64 * 3) % 17 - 8; };
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = asBf16(number(static_cast<int>(i)));
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = asBf16(number(static_cast<int>(i) + 5));
  std::vector<float> z(kRows * kColumns, -1);
  void *xs = &x[kAround], *ys = y.data(), *zs = z.data();
  void *args[] = {&xs, &ys, &zs, &c.pitch, &c.first, &c.m, &c.rows, &c.left};
  setCpuThreads(1);
  openDriver("cpu")
      ->load(0, compileKernel(kKernel, "x86-64+sse2+amx-tile+amx-bf16"))
      ->launch({}, nullptr, args, 8);
  setCpuThreads(0);
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) {
      int sum = 0;
      for (int k = 0; k < kDepth && i < c.rows; ++k)
        if (k < c.left)
          sum += number(kAround + (c.first + i) % c.m * c.pitch + k) *
                 number(k * kColumns + j + 5);
      ASSERT_EQ(z[i * kColumns + j], sum) << "row " << i << ", column " << j;
    }
}
