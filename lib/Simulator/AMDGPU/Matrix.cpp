//===- Matrix.cpp - MFMA and WMMA -----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Factors are gathered from their lanes into matrices, multiplied, and the
// product is spread again; sums are in order of k. Hardware adds in an order of
// its own, so results agree up to rounding. EXEC has no part in it.
// Layouts: "Matrix Arithmetic Instructions" (CDNA 3 ISA), "WMMA" (RDNA 3/4).
//===----------------------------------------------------------------------===//

#include "Matrix.h"

#include "OpTable.h"
#include "Operands.h"
#include "SmallFloats.h"

#include <type_traits>

using namespace terrazzo::amdsim;

static unsigned bitsOfElement(Element element) {
  switch (element) {
  case Element::F16:
  case Element::BF16:
    return 16;
  case Element::F64:
    return 64;
  case Element::I8:
  case Element::IU8:
  case Element::Fp8:
  case Element::Bf8:
    return 8;
  default:
    return 32;
  }
}

namespace {

/// A place in a matrix of one block.
struct Place {
  unsigned block, row, column;
};

/// Largest sizes: 32 x 32 results; 64 lanes with 128 bits or more of a factor.
constexpr unsigned kMostResults = 32 * 32 * 2;
constexpr unsigned kMostFactors = 64 * 32;

/// One instruction that is executed.
template <class T>
class Product {
public:
  Product(Wave &wave, const Instruction &instruction)
      : wave(wave), i(instruction), shape(*instruction.matrix) {}
  void run();

private:
  Place placeOfFactor(unsigned lane, unsigned element, unsigned perLane,
                      unsigned extent) const;
  Place placeOfResult(unsigned lane, unsigned element) const;
  T decode(uint64_t bits, Element element, bool isSigned) const;
  uint64_t readElement(const Operand &operand, unsigned lane, unsigned element,
                       unsigned bits);
  void readFactor(unsigned number, Element element, unsigned extent,
                  bool transposes, T *to);
  void readAccumulator();
  void multiply();
  void write();
  unsigned resultsPerLane() const {
    unsigned lanes = wave.waveSize;
    return shape.m * shape.n * shape.blocks / lanes;
  }

  Wave &wave;
  const Instruction &i;
  const MatrixShape &shape;
  uint64_t defined = ~0ull;
  T a[kMostFactors], b[kMostFactors], d[kMostResults];
};

} // namespace

/// For the first factor: row and k; for the second: column and k.
template <class T>
Place Product<T>::placeOfFactor(unsigned lane, unsigned element,
                                unsigned perLane, unsigned extent) const {
  unsigned index = lane % extent, group = lane / extent;
  if (shape.layout == MatrixLayout::WmmaGfx11)
    // Both halves of the wave hold the same.
    return {0, lane % 16, element};
  if (shape.blocks == 1)
    return {0, index, perLane * group + element};
  if (shape.a == Element::F64)
    // 4 x 4 x 4: lanes are i + 4 * block + 16 * k.
    return {group % 4, index, group / 4};
  return {group, index, element};
}

template <class T>
Place Product<T>::placeOfResult(unsigned lane, unsigned element) const {
  switch (shape.layout) {
  case MatrixLayout::WmmaGfx11:
    return {0, 2 * element + lane / 16, lane % 16};
  case MatrixLayout::WmmaGfx12:
    return {0, 8 * (lane / 16) + element, lane % 16};
  case MatrixLayout::Mfma:
    break;
  }
  if (shape.a == Element::F64)
    return shape.blocks == 1 ? Place{0, lane / 16 + 4 * element, lane % 16}
                             : Place{lane / 4 % 4, lane / 16, lane % 4};
  if (shape.m == 4)
    return {lane / 4, element, lane % 4};
  unsigned perBlock = shape.m * shape.n / kLanes;
  unsigned block = element / perBlock, r = element % perBlock;
  unsigned rowsPerGroup = 4 * (kLanes / shape.n);
  unsigned row = rowsPerGroup * (r / 4) + 4 * (lane / shape.n) + r % 4;
  return {block, row, lane % shape.n};
}

template <class T>
T Product<T>::decode(uint64_t bits, Element element, bool isSigned) const {
  bool isFnuz = wave.group.program.object.features().hasFnuz;
  switch (element) {
  case Element::F16:
    return T(toFloat(Half{uint16_t(bits)}));
  case Element::BF16:
    return T(toFloat(BFloat{uint16_t(bits)}));
  case Element::F32:
    return T(std::bit_cast<float>(uint32_t(bits)));
  case Element::XF32:
    return T(std::bit_cast<float>(uint32_t(bits) & ~0x1fffu));
  case Element::F64:
    return T(std::bit_cast<double>(bits));
  case Element::I8:
    return T(int8_t(bits));
  case Element::IU8:
    return isSigned ? T(int8_t(bits)) : T(uint8_t(bits));
  case Element::Fp8:
    return T(decodeFloat8(uint8_t(bits), false, isFnuz));
  case Element::Bf8:
    return T(decodeFloat8(uint8_t(bits), true, isFnuz));
  case Element::I32:
    return T(int32_t(bits));
  }
  return T(0);
}

template <class T>
uint64_t Product<T>::readElement(const Operand &operand, unsigned lane,
                                 unsigned element, unsigned bits) {
  if (bits == 64)
    return wave.row(operand.index + 2 * element)[lane] |
           uint64_t(wave.row(operand.index + 2 * element + 1)[lane]) << 32;
  unsigned perWord = 32 / bits;
  uint32_t word = wave.row(operand.index + element / perWord)[lane];
  return word >> (bits * (element % perWord));
}

static uint64_t registersDefined(Wave &wave, const Operand &operand) {
  uint64_t defined = ~0ull;
  for (unsigned r = 0; r < operand.count; ++r) {
    wave.checkArrived(operand.index + r, wave.allLanes);
    defined &= wave.written[operand.index + r];
  }
  return defined;
}

template <class T>
void Product<T>::readFactor(unsigned number, Element element, unsigned extent,
                            bool transposes, T *to) {
  const Operand &operand = i.src[number];
  if ((registersDefined(wave, operand) & wave.allLanes) != wave.allLanes)
    defined = 0;
  unsigned bits = bitsOfElement(element);
  unsigned perLane = operand.count * 32 / bits;
  bool isSigned = i.packed.negLo >> number & 1;
  bool negates = shape.a == Element::F64 && (i.packed.negLo >> number & 1);
  for (unsigned lane = 0; lane < wave.waveSize; ++lane)
    for (unsigned e = 0; e < perLane; ++e) {
      Place at = placeOfFactor(lane, e, perLane, extent);
      T value = decode(readElement(operand, lane, e, bits), element, isSigned);
      size_t inBlock = transposes ? size_t(at.column) * extent + at.row
                                  : size_t(at.row) * shape.k + at.column;
      to[size_t(at.block) * extent * shape.k + inBlock] =
          negates ? T(-value) : value;
    }
}

template <class T>
void Product<T>::readAccumulator() {
  const Operand &c = i.src[2];
  bool isRegister = c.kind == OperandKind::Vgpr;
  bool isConstantFloat = !isRegister && c.kind != OperandKind::Sgpr;
  if (isRegister)
    defined &= registersDefined(wave, c);
  unsigned bits = bitsOfElement(shape.d);
  bool negates = shape.a == Element::F64 && (i.packed.negLo >> 2 & 1);
  for (unsigned lane = 0; lane < wave.waveSize; ++lane)
    for (unsigned e = 0; e < resultsPerLane(); ++e) {
      Place at = placeOfResult(lane, e);
      uint64_t raw = isConstantFloat ? c.value : 0;
      if (isRegister) {
        // 16-bit results of gfx11 take one half of each register.
        bool isHalf = bits == 16 && shape.layout == MatrixLayout::WmmaGfx11;
        raw = readElement(c, lane,
                          isHalf ? 2 * e + (i.packed.opSel >> 2 & 1) : e, bits);
      }
      T value = decode(raw, shape.d, true);
      d[(size_t(at.block) * shape.m + at.row) * shape.n + at.column] =
          negates ? T(-value) : value;
    }
}

/// Integers wrap around.
template <class T>
static T multiplyAdd(T a, T b, T c) {
  if constexpr (std::is_integral_v<T>)
    return T(uint32_t(a) * uint32_t(b) + uint32_t(c));
  else
    return a * b + c;
}

template <class T>
void Product<T>::multiply() {
  for (unsigned block = 0; block < shape.blocks; ++block)
    for (unsigned row = 0; row < shape.m; ++row) {
      T *sums = d + (size_t(block) * shape.m + row) * shape.n;
      const T *left = a + (size_t(block) * shape.m + row) * shape.k;
      const T *right = b + size_t(block) * shape.k * shape.n;
      for (unsigned k = 0; k < shape.k; ++k)
        for (unsigned column = 0; column < shape.n; ++column)
          sums[column] = multiplyAdd(
              left[k], right[size_t(k) * shape.n + column], sums[column]);
    }
}

template <class T>
static uint64_t encode(T value, Element element) {
  if constexpr (std::is_same_v<T, int32_t>)
    return uint32_t(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<uint64_t>(value);
  else if (element == Element::F16)
    return toHalf(value).bits;
  else if (element == Element::BF16)
    return toBFloat(value).bits;
  else
    return std::bit_cast<uint32_t>(value);
}

template <class T>
void Product<T>::write() {
  unsigned bits = bitsOfElement(shape.d);
  bool isHalf = bits == 16 && shape.layout == MatrixLayout::WmmaGfx11;
  for (unsigned r = 0; r < i.dst.count; ++r) {
    wave.checkArrived(i.dst.index + r, wave.allLanes);
    wave.written[i.dst.index + r] = defined & wave.allLanes;
  }
  for (unsigned lane = 0; lane < wave.waveSize; ++lane)
    for (unsigned e = 0; e < resultsPerLane(); ++e) {
      Place at = placeOfResult(lane, e);
      uint64_t value =
          encode(d[(size_t(at.block) * shape.m + at.row) * shape.n + at.column],
                 shape.d);
      if (bits == 64) {
        wave.row(i.dst.index + 2 * e)[lane] = uint32_t(value);
        wave.row(i.dst.index + 2 * e + 1)[lane] = uint32_t(value >> 32);
        continue;
      }
      unsigned slot = isHalf ? 2 * e + (i.packed.opSel >> 2 & 1) : e;
      unsigned perWord = 32 / bits, shift = bits * (slot % perWord);
      uint32_t &word = wave.row(i.dst.index + slot / perWord)[lane];
      uint32_t mask = bits == 32 ? ~0u : 0xffffu << shift;
      word = (word & ~mask) | (uint32_t(value) << shift & mask);
    }
}

template <class T>
void Product<T>::run() {
  if (wave.waveSize == 64 && shape.layout != MatrixLayout::Mfma)
    fault(ErrorKind::Unsupported,
          "expected waves of 32 for '" + i.mnemonic + "', found waves of 64");
  readFactor(0, shape.a, shape.m, /*transposes=*/false, a);
  readFactor(1, shape.b, shape.n, /*transposes=*/true, b);
  readAccumulator();
  multiply();
  write();
}

template <class T>
static void runMatrix(Wave &wave, const Instruction &i) {
  // Broadcasts of blocks and permutations of lanes.
  if (i.cbsz || i.abid || i.blgp)
    fault(ErrorKind::Unsupported,
          "expected a product without cbsz, abid and blgp, found '" + i.text +
              "'");
  Product<T>(wave, i).run();
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
struct Named {
  const char *name;
  MatrixShape shape;
};
} // namespace

using enum Element;

// Of gfx90a, and as gfx942 and later spell it.
static const Named kMfma[] = {
    {"f32_32x32x1_2b_f32", {32, 32, 1, 2, F32, F32, F32, {}}},
    {"f32_32x32x1f32", {32, 32, 1, 2, F32, F32, F32, {}}},
    {"f32_16x16x1_4b_f32", {16, 16, 1, 4, F32, F32, F32, {}}},
    {"f32_16x16x1f32", {16, 16, 1, 4, F32, F32, F32, {}}},
    {"f32_4x4x1_16b_f32", {4, 4, 1, 16, F32, F32, F32, {}}},
    {"f32_4x4x1f32", {4, 4, 1, 16, F32, F32, F32, {}}},
    {"f32_32x32x2_f32", {32, 32, 2, 1, F32, F32, F32, {}}},
    {"f32_32x32x2f32", {32, 32, 2, 1, F32, F32, F32, {}}},
    {"f32_16x16x4_f32", {16, 16, 4, 1, F32, F32, F32, {}}},
    {"f32_16x16x4f32", {16, 16, 4, 1, F32, F32, F32, {}}},
    {"f32_32x32x4_2b_f16", {32, 32, 4, 2, F16, F16, F32, {}}},
    {"f32_32x32x4f16", {32, 32, 4, 2, F16, F16, F32, {}}},
    {"f32_16x16x4_4b_f16", {16, 16, 4, 4, F16, F16, F32, {}}},
    {"f32_16x16x4f16", {16, 16, 4, 4, F16, F16, F32, {}}},
    {"f32_4x4x4_16b_f16", {4, 4, 4, 16, F16, F16, F32, {}}},
    {"f32_4x4x4f16", {4, 4, 4, 16, F16, F16, F32, {}}},
    {"f32_32x32x8_f16", {32, 32, 8, 1, F16, F16, F32, {}}},
    {"f32_32x32x8f16", {32, 32, 8, 1, F16, F16, F32, {}}},
    {"f32_16x16x16_f16", {16, 16, 16, 1, F16, F16, F32, {}}},
    {"f32_16x16x16f16", {16, 16, 16, 1, F16, F16, F32, {}}},
    {"f32_32x32x4_2b_bf16", {32, 32, 4, 2, BF16, BF16, F32, {}}},
    {"f32_32x32x4bf16_1k", {32, 32, 4, 2, BF16, BF16, F32, {}}},
    {"f32_16x16x4_4b_bf16", {16, 16, 4, 4, BF16, BF16, F32, {}}},
    {"f32_16x16x4bf16_1k", {16, 16, 4, 4, BF16, BF16, F32, {}}},
    {"f32_4x4x4_16b_bf16", {4, 4, 4, 16, BF16, BF16, F32, {}}},
    {"f32_4x4x4bf16_1k", {4, 4, 4, 16, BF16, BF16, F32, {}}},
    {"f32_32x32x8_bf16", {32, 32, 8, 1, BF16, BF16, F32, {}}},
    {"f32_32x32x8bf16_1k", {32, 32, 8, 1, BF16, BF16, F32, {}}},
    {"f32_16x16x16_bf16", {16, 16, 16, 1, BF16, BF16, F32, {}}},
    {"f32_16x16x16bf16_1k", {16, 16, 16, 1, BF16, BF16, F32, {}}},
    {"f32_32x32x4bf16", {32, 32, 4, 1, BF16, BF16, F32, {}}},
    {"f32_16x16x8bf16", {16, 16, 8, 1, BF16, BF16, F32, {}}},
    {"i32_32x32x8i8", {32, 32, 8, 1, I8, I8, I32, {}}},
    {"i32_16x16x16i8", {16, 16, 16, 1, I8, I8, I32, {}}},
    {"i32_32x32x16_i8", {32, 32, 16, 1, I8, I8, I32, {}}},
    {"i32_16x16x32_i8", {16, 16, 32, 1, I8, I8, I32, {}}},
    {"f32_16x16x8_xf32", {16, 16, 8, 1, XF32, XF32, F32, {}}},
    {"f32_32x32x4_xf32", {32, 32, 4, 1, XF32, XF32, F32, {}}},
    {"f64_16x16x4_f64", {16, 16, 4, 1, F64, F64, F64, {}}},
    {"f64_16x16x4f64", {16, 16, 4, 1, F64, F64, F64, {}}},
    {"f64_4x4x4_4b_f64", {4, 4, 4, 4, F64, F64, F64, {}}},
    {"f64_4x4x4f64", {4, 4, 4, 4, F64, F64, F64, {}}},
    {"f32_16x16x32_fp8_fp8", {16, 16, 32, 1, Fp8, Fp8, F32, {}}},
    {"f32_16x16x32_fp8_bf8", {16, 16, 32, 1, Fp8, Bf8, F32, {}}},
    {"f32_16x16x32_bf8_fp8", {16, 16, 32, 1, Bf8, Fp8, F32, {}}},
    {"f32_16x16x32_bf8_bf8", {16, 16, 32, 1, Bf8, Bf8, F32, {}}},
    {"f32_32x32x16_fp8_fp8", {32, 32, 16, 1, Fp8, Fp8, F32, {}}},
    {"f32_32x32x16_fp8_bf8", {32, 32, 16, 1, Fp8, Bf8, F32, {}}},
    {"f32_32x32x16_bf8_fp8", {32, 32, 16, 1, Bf8, Fp8, F32, {}}},
    {"f32_32x32x16_bf8_bf8", {32, 32, 16, 1, Bf8, Bf8, F32, {}}},
    // gfx950:
    {"f32_16x16x32_f16", {16, 16, 32, 1, F16, F16, F32, {}}},
    {"f32_32x32x16_f16", {32, 32, 16, 1, F16, F16, F32, {}}},
    {"f32_16x16x32_bf16", {16, 16, 32, 1, BF16, BF16, F32, {}}},
    {"f32_32x32x16_bf16", {32, 32, 16, 1, BF16, BF16, F32, {}}},
    {"i32_16x16x64_i8", {16, 16, 64, 1, I8, I8, I32, {}}},
    {"i32_32x32x32_i8", {32, 32, 32, 1, I8, I8, I32, {}}},
};

static const Named kWmma[] = {
    {"f32_16x16x16_f16", {16, 16, 16, 1, F16, F16, F32, {}}},
    {"f32_16x16x16_bf16", {16, 16, 16, 1, BF16, BF16, F32, {}}},
    {"f16_16x16x16_f16", {16, 16, 16, 1, F16, F16, F16, {}}},
    {"bf16_16x16x16_bf16", {16, 16, 16, 1, BF16, BF16, BF16, {}}},
    {"i32_16x16x16_iu8", {16, 16, 16, 1, IU8, IU8, I32, {}}},
    {"f32_16x16x16_fp8_fp8", {16, 16, 16, 1, Fp8, Fp8, F32, {}}},
    {"f32_16x16x16_fp8_bf8", {16, 16, 16, 1, Fp8, Bf8, F32, {}}},
    {"f32_16x16x16_bf8_fp8", {16, 16, 16, 1, Bf8, Fp8, F32, {}}},
    {"f32_16x16x16_bf8_bf8", {16, 16, 16, 1, Bf8, Bf8, F32, {}}},
};

static void addOne(OpTable &table, const std::string &name,
                   const MatrixShape &shape) {
  OpInfo info;
  info.form = OpForm::Matrix;
  info.numSources = 3;
  info.matrix = &shape;
  Type accumulator = shape.d == F64   ? Type::F64
                     : shape.d == I32 ? Type::B32
                     : shape.d == F16 ? Type::F16
                                      : Type::F32;
  info.src = {Type::B32, Type::B32, accumulator};
  info.run = shape.d == F64   ? runMatrix<double>
             : shape.d == I32 ? runMatrix<int32_t>
                              : runMatrix<float>;
  table.add(name, info);
}

void terrazzo::amdsim::addMatrix(OpTable &table) {
  for (const Named &named : kMfma)
    addOne(table, std::string("v_mfma_") + named.name, named.shape);
  // The two generations share names, but not layouts.
  static std::array<MatrixShape, 2 * std::size(kWmma)> shapes;
  size_t next = 0;
  for (const Named &named : kWmma)
    for (bool isGfx12 : {false, true}) {
      MatrixShape &shape = shapes[next++];
      shape = named.shape;
      shape.layout =
          isGfx12 ? MatrixLayout::WmmaGfx12 : MatrixLayout::WmmaGfx11;
      addOne(table,
             std::string(isGfx12 ? "gfx12:v_wmma_" : "v_wmma_") + named.name,
             shape);
    }
}
