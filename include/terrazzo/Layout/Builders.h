//===- Builders.h - The layouts that tiles start from ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions, not kinds: what they return is a LinearLayout like any other, with
// the inputs register, lane and warp. Shapes are powers of two.
//===----------------------------------------------------------------------===//

#ifndef TERRAZZO_LAYOUT_BUILDERS_H
#define TERRAZZO_LAYOUT_BUILDERS_H

#include "terrazzo/Layout/LinearLayout.h"

namespace terrazzo::layout {

/// Each thread holds a block of `sizePerThread`, the lanes of a warp are
/// arranged as `threadsPerWarp` of those, the warps as `warps` of that; `order`
/// lists the dimensions, the fastest first. Where this is larger than the
/// shape, the surplus bits are zero (copies); where it is smaller, the rest of
/// the shape goes to further registers.
LinearLayout blocked(llvm::ArrayRef<int32_t> shape,
                     llvm::ArrayRef<int32_t> sizePerThread,
                     llvm::ArrayRef<int32_t> threadsPerWarp,
                     llvm::ArrayRef<int32_t> warps,
                     llvm::ArrayRef<int32_t> order);

/// For access to global memory: `vector` elements a lane along order[0], then
/// lanes, then warps along the order, the rest of the shape in registers. Never
/// more than one copy in a thread: `vector` shrinks to the shape. Lanes and
/// warps that find no room hold copies. A shape of rank 0 is one element that
/// all hold.
LinearLayout coalesced(llvm::ArrayRef<int32_t> shape,
                       llvm::ArrayRef<int32_t> order, int32_t vector,
                       int32_t numWarps, int32_t warpSize);

/// A buffer without a swizzle: offset -> tile, `order` lists the dimensions,
/// the fastest first.
LinearLayout linearBuffer(llvm::ArrayRef<int32_t> shape,
                          llvm::ArrayRef<int32_t> order);

/// A buffer as NVIDIA's matrix units and tensor copies read it, with a swizzle
/// of `swizzleBytes` (32, 64 or 128): rows of that many bytes along order[0]
/// follow each other along order[1], and bits 4.. of the address are XORed with
/// bits 7.. of it. A tile that is wider than a row is cut into blocks of whole
/// columns. Expects rank 2, at least a row along order[0].
LinearLayout swizzledBuffer(llvm::ArrayRef<int32_t> shape,
                            llvm::ArrayRef<int32_t> order, int32_t elementBytes,
                            int32_t swizzleBytes);

//===--- Matrix units
//--------------------------------------------------------===//
// What one instruction reads and writes. A is M x K, B is K x N, the
// accumulator is M x N, as dim0 x dim1. Elements that share a 32-bit register
// are registers of their own here, in the order of their bits.

enum class MatrixRole { A, B, Accumulator };

/// mma.sync m16n8k(256 / elementBits), elements of 8, 16 or 32 bits.
/// PTX ISA, "Matrix Fragments for mma.m16n8k8", "..k16", "..k32".
LinearLayout nvidiaMma(MatrixRole role, int32_t elementBits);

/// wgmma m64n<n>: the accumulator of four warps. PTX ISA, "Register Fragments
/// for wgmma.mma_async.m64n*k*". `n` is a power of two from 8 to 256.
LinearLayout wgmmaAccumulator(int32_t n);
/// wgmma m64k(256 / elementBits): A in registers.
LinearLayout wgmmaA(int32_t elementBits);

/// MFMA 32x32 or 16x16 (`size`) with `kPerLane` elements of K in each lane, 64
/// lanes. AMD CDNA3 ISA, "Dense Matrix Multiplication Opcodes".
LinearLayout mfma(MatrixRole role, int32_t size, int32_t kPerLane);

/// WMMA 16x16x16, 32 lanes, 16-bit operands, 32-bit accumulator. On RDNA 3
/// (`gfx` 11) both halves of a wave hold the operands; on RDNA 4 (12) each half
/// of K. AMD RDNA3 and RDNA4 ISA, "WMMA".
LinearLayout wmma(MatrixRole role, int32_t gfx);

/// Repeats what one instruction covers over `shape`: for each bit of the warp
/// (above those of the instruction) warpDims says along which dimension, or -1
/// for copies (the warps along N in A, those along M in B); the rest of the
/// shape goes to further registers by `order`, the fastest first. A warp bit
/// that finds its dimension used up holds copies. Expects at least one
/// instruction in each dimension. divideLeft(instruction) gives the repetitions
/// back.
LinearLayout tiled(const LinearLayout &instruction,
                   llvm::ArrayRef<int32_t> shape,
                   llvm::ArrayRef<int32_t> warpDims,
                   llvm::ArrayRef<int32_t> order);

} // namespace terrazzo::layout

#endif // TERRAZZO_LAYOUT_BUILDERS_H
