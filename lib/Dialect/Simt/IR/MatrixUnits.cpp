//===- MatrixUnits.cpp - What matrix units can do -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Dialect/Simt/IR/MatrixUnits.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::simt;
using layout::MatrixRole;
using tile::MatrixUnit;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {

/// What both factors are of. The two kinds of 8-bit floats, E4M3 and E5M2, may
/// be mixed: those of OCP (F8), and those without infinities or -0 (F8Fnuz).
enum class Element : uint8_t { F16, BF16, TF32, F8, F8Fnuz, I8 };

struct Row {
  MatrixFamily family;
  int32_t m, n, k;
  Element element;
};

constexpr auto kMma = MatrixFamily::Mma;
constexpr auto kWgmma = MatrixFamily::Wgmma;
constexpr auto kMfma = MatrixFamily::Mfma;
constexpr auto kGfx11 = MatrixFamily::WmmaGfx11;
constexpr auto kGfx12 = MatrixFamily::WmmaGfx12;

/// PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions": since sm_80.
constexpr Row kMmaSm80[] = {
    {kMma, 16, 8, 16, Element::F16},
    {kMma, 16, 8, 16, Element::BF16},
    {kMma, 16, 8, 8, Element::TF32},
    {kMma, 16, 8, 32, Element::I8},
};
/// The same: since sm_89.
constexpr Row kMmaSm89[] = {
    {kMma, 16, 8, 32, Element::F8},
};
/// PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions", sm_90a; of any
/// n that is a power of two from 8 to 256. Of sums of 8-bit floats the unit
/// keeps about 14 bits (DeepSeek-V3 technical report, 3.3.2).
constexpr Row kWgmmaSm90[] = {
    {kWgmma, 64, 256, 16, Element::F16},
    {kWgmma, 64, 256, 16, Element::BF16},
    {kWgmma, 64, 256, 8, Element::TF32},
    {kWgmma, 64, 256, 32, Element::F8},
};
/// AMD CDNA2 ISA, "Matrix Arithmetic Opcodes"; bf16 with 1K.
constexpr Row kMfmaGfx90a[] = {
    {kMfma, 32, 32, 8, Element::F16},   {kMfma, 32, 32, 8, Element::BF16},
    {kMfma, 32, 32, 8, Element::I8},    {kMfma, 16, 16, 16, Element::F16},
    {kMfma, 16, 16, 16, Element::BF16}, {kMfma, 16, 16, 16, Element::I8},
};
/// AMD CDNA3 ISA, the same section.
constexpr Row kMfmaGfx942[] = {
    {kMfma, 32, 32, 8, Element::F16},  {kMfma, 32, 32, 8, Element::BF16},
    {kMfma, 32, 32, 16, Element::I8},  {kMfma, 32, 32, 16, Element::F8Fnuz},
    {kMfma, 16, 16, 16, Element::F16}, {kMfma, 16, 16, 16, Element::BF16},
    {kMfma, 16, 16, 32, Element::I8},  {kMfma, 16, 16, 32, Element::F8Fnuz},
};
/// AMD CDNA4 ISA, the same section: twice as deep for 16 bits; 8-bit floats are
/// those of OCP.
constexpr Row kMfmaGfx950[] = {
    {kMfma, 32, 32, 16, Element::F16}, {kMfma, 32, 32, 16, Element::BF16},
    {kMfma, 32, 32, 16, Element::I8},  {kMfma, 32, 32, 16, Element::F8},
    {kMfma, 32, 32, 8, Element::F16},  {kMfma, 32, 32, 8, Element::BF16},
    {kMfma, 16, 16, 32, Element::F16}, {kMfma, 16, 16, 32, Element::BF16},
    {kMfma, 16, 16, 32, Element::I8},  {kMfma, 16, 16, 32, Element::F8},
    {kMfma, 16, 16, 16, Element::F16}, {kMfma, 16, 16, 16, Element::BF16},
};
/// AMD RDNA3 and RDNA4 ISA, "WMMA".
constexpr Row kWmmaGfx11[] = {
    {kGfx11, 16, 16, 16, Element::F16},
    {kGfx11, 16, 16, 16, Element::BF16},
};
constexpr Row kWmmaGfx12[] = {
    {kGfx12, 16, 16, 16, Element::F16},
    {kGfx12, 16, 16, 16, Element::BF16},
};

} // namespace

/// Those that do more at a time stand first.
static SmallVector<Row> rowsOf(MatrixUnit unit) {
  switch (unit) {
  case MatrixUnit::None:
    return {};
  case MatrixUnit::MmaSm80:
    return llvm::to_vector(ArrayRef(kMmaSm80));
  case MatrixUnit::MmaSm89: {
    SmallVector<Row> rows = llvm::to_vector(ArrayRef(kMmaSm80));
    llvm::append_range(rows, kMmaSm89);
    return rows;
  }
  case MatrixUnit::WgmmaSm90: {
    SmallVector<Row> rows;
    for (Row row : kWgmmaSm90)
      for (; row.n >= 8; row.n /= 2)
        rows.push_back(row);
    // Where mma.sync of 8-bit floats is emulated by f16 (sm_90, sm_100), ptxas
    // 13.0 takes the upper half of a factor that is 0 for 16.
    llvm::append_range(rows, kMmaSm80);
    return rows;
  }
  case MatrixUnit::MfmaGfx90a:
    return llvm::to_vector(ArrayRef(kMfmaGfx90a));
  case MatrixUnit::MfmaGfx942:
    return llvm::to_vector(ArrayRef(kMfmaGfx942));
  case MatrixUnit::MfmaGfx950:
    return llvm::to_vector(ArrayRef(kMfmaGfx950));
  case MatrixUnit::WmmaGfx11:
    return llvm::to_vector(ArrayRef(kWmmaGfx11));
  case MatrixUnit::WmmaGfx12:
    return llvm::to_vector(ArrayRef(kWmmaGfx12));
  }
  llvm_unreachable("all units are above");
}

/// The types that a factor may have.
static SmallVector<Type> typesOf(Element element, MLIRContext *context) {
  switch (element) {
  case Element::F16:
    return {Float16Type::get(context)};
  case Element::BF16:
    return {BFloat16Type::get(context)};
  case Element::TF32:
    return {FloatTF32Type::get(context)};
  case Element::F8:
    return {Float8E4M3FNType::get(context), Float8E5M2Type::get(context)};
  case Element::F8Fnuz:
    return {Float8E4M3FNUZType::get(context), Float8E5M2FNUZType::get(context)};
  case Element::I8:
    return {IntegerType::get(context, 8)};
  }
  llvm_unreachable("all elements are above");
}

SmallVector<InstructionAttr> simt::instructionsOf(MatrixUnit unit,
                                                  MLIRContext *context) {
  SmallVector<InstructionAttr> instructions;
  for (const Row &row : rowsOf(unit)) {
    SmallVector<Type> types = typesOf(row.element, context);
    Type acc = Float32Type::get(context);
    if (row.element == Element::I8)
      acc = IntegerType::get(context, 32);
    for (Type lhs : types)
      for (Type rhs : types)
        instructions.push_back(InstructionAttr::get(
            context, row.family, row.m, row.n, row.k, lhs, rhs, acc));
  }
  return instructions;
}

LogicalResult simt::checkInstruction(Operation *op, InstructionAttr instruction,
                                     MatrixUnit unit) {
  if (llvm::is_contained(instructionsOf(unit, op->getContext()), instruction))
    return success();
  return op->emitOpError("is no instruction of the matrix unit '")
         << tile::stringifyMatrixUnit(unit) << "'";
}

bool simt::readsSharedMemory(InstructionAttr instruction) {
  return instruction.getFamily() == MatrixFamily::Wgmma;
}

std::optional<int> simt::innermostDim(InstructionAttr instruction,
                                      unsigned factor) {
  Type element = factor == 0 ? instruction.getLhs() : instruction.getRhs();
  if (!readsSharedMemory(instruction) || element.isF16() || element.isBF16())
    return std::nullopt;
  return factor == 0 ? 1 : 0;
}

Type simt::tileElement(Type operand) {
  return operand.isTF32() ? Float32Type::get(operand.getContext()) : operand;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// The types to which 8-bit floats go without a loss, each other to itself.
static SmallVector<Type> exactTypes(Type element, Type other) {
  SmallVector<Type> types = {element};
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8) {
    MLIRContext *context = element.getContext();
    // Beside bf16 the other is bf16, too.
    if (!other.isBF16())
      types.push_back(Float16Type::get(context));
    if (!other.isF16())
      types.push_back(BFloat16Type::get(context));
  }
  return types;
}

/// Whether the unit reads this product's factors as they lie, and sums with
/// bits enough. What reads shared memory reads whole rows of it.
static bool isFit(InstructionAttr instruction, const Product &product,
                  int32_t numWarps) {
  if (!readsSharedMemory(instruction))
    return true;
  SmallVector<int32_t> padded = paddedShape(product.shape);
  int64_t bytes = elementBytes(tileElement(instruction.getLhs()));
  int64_t row =
      std::min({int64_t{padded[0]}, int64_t{padded.back()}, product.k}) * bytes;
  return product.shape.size() == 2 && numWarps % 4 == 0 && row >= 32 &&
         (product.isAlongK || !innermostDim(instruction, 0)) &&
         (bytes > 1 || product.maxNumImpreciseAcc >= product.k);
}

InstructionAttr simt::chooseInstruction(MatrixUnit unit, const Product &product,
                                        int32_t numWarps) {
  Type lhs = product.lhs, rhs = product.rhs, acc = product.acc;
  ArrayRef<int64_t> shape = product.shape;
  MLIRContext *context = lhs.getContext();
  if (isa<FloatType>(lhs) ? !isa<FloatType>(acc) || acc.isF64()
                          : !acc.isInteger(32))
    return {};
  if (lhs.isF32() && rhs.isF32() && product.precision == tile::Precision::TF32)
    lhs = rhs = FloatTF32Type::get(context);
  SmallVector<int32_t> padded = paddedShape(shape);
  int32_t m = padded[shape.size() - 2], n = padded.back();
  InstructionAttr best;
  int64_t bestScore = 0;
  for (InstructionAttr each : instructionsOf(unit, context)) {
    if (each.getM() > m || each.getN() > n || product.k % each.getK() != 0 ||
        !llvm::is_contained(exactTypes(lhs, rhs), each.getLhs()) ||
        !llvm::is_contained(exactTypes(rhs, lhs), each.getRhs()) ||
        !isFit(each, product, numWarps))
      continue;
    // Narrow elements stay narrow; every warp has work; then the one that does
    // most.
    int64_t tiles = int64_t{m / each.getM()} * (n / each.getN());
    bool isNarrow = each.getLhs() == lhs && each.getRhs() == rhs;
    int64_t workers = readsSharedMemory(each) ? numWarps / 4 : numWarps;
    int64_t busy = 1024 * std::min(tiles, workers) / workers;
    int64_t score = (isNarrow ? int64_t{1} << 40 : 0) + (busy << 24) +
                    int64_t{each.getM()} * each.getN() * each.getK();
    if (score > bestScore) {
      best = each;
      bestScore = score;
    }
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

LogicalResult
InstructionAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        MatrixFamily family, int32_t m, int32_t n, int32_t k,
                        Type lhs, Type rhs, Type acc) {
  bool isFloat = isa<FloatType>(lhs) && isa<FloatType>(rhs) && acc.isF32();
  bool isInteger = lhs.isInteger(8) && rhs.isInteger(8) && acc.isInteger(32);
  if (!isFloat && !isInteger)
    return emitError() << "a matrix instruction multiplies floats into f32 or "
                          "i8 into i32, got "
                       << lhs << ", " << rhs << " and " << acc;
  int32_t bits = lhs.isTF32() ? 32 : lhs.getIntOrFloatBitWidth(),
          rhsBits = rhs.isTF32() ? 32 : rhs.getIntOrFloatBitWidth();
  bool isShape = false;
  switch (family) {
  case MatrixFamily::Mma:
    isShape = m == 16 && n == 8 && bits >= 8 && bits <= 32 && k * bits == 256;
    break;
  case MatrixFamily::Wgmma:
    isShape = m == 64 && llvm::isPowerOf2_32(n) && n >= 8 && n <= 256 &&
              bits >= 8 && bits <= 32 && k * bits == 256;
    break;
  case MatrixFamily::Mfma:
    isShape = (m == 16 || m == 32) && m == n && llvm::isPowerOf2_32(k) &&
              k >= 64 / m && k <= 128;
    break;
  case MatrixFamily::WmmaGfx11:
  case MatrixFamily::WmmaGfx12:
    isShape = m == 16 && n == 16 && k == 16 && bits == 16;
    break;
  }
  if (!isShape || bits != rhsBits)
    return emitError() << "'" << stringifyMatrixFamily(family)
                       << "' has no instruction of " << m << " x " << n << " x "
                       << k << " for " << lhs << " and " << rhs;
  return success();
}

LinearLayout simt::instructionLayout(InstructionAttr instruction,
                                     MatrixRole role) {
  switch (instruction.getFamily()) {
  case MatrixFamily::Mma:
    return layout::nvidiaMma(role, 256 / instruction.getK());
  case MatrixFamily::Wgmma:
    assert(role != MatrixRole::B && "that factor is in shared memory");
    return role == MatrixRole::A ? layout::wgmmaA(256 / instruction.getK())
                                 : layout::wgmmaAccumulator(instruction.getN());
  case MatrixFamily::Mfma:
    return layout::mfma(role, instruction.getM(),
                        instruction.getK() * instruction.getM() / 64);
  case MatrixFamily::WmmaGfx11:
    return layout::wmma(role, 11);
  case MatrixFamily::WmmaGfx12:
    return layout::wmma(role, 12);
  }
  llvm_unreachable("all families are above");
}

/// The bases of a matrix's layout as those of a tile with this many dimensions,
/// batches in front.
static SmallVector<LinearLayout::Basis> tileBases(const LinearLayout &matrix,
                                                  StringRef in, size_t rank) {
  SmallVector<LinearLayout::Basis> bases;
  for (const LinearLayout::Basis &basis : basesOf(matrix, in)) {
    LinearLayout::Basis wide(rank, 0);
    wide[rank - 2] = basis[0];
    wide[rank - 1] = basis[1];
    bases.push_back(wide);
  }
  return bases;
}

static SmallVector<int> bitsOf(ArrayRef<int64_t> shape) {
  return llvm::map_to_vector(paddedShape(shape), [](int32_t extent) {
    return static_cast<int>(llvm::Log2_32(static_cast<uint32_t>(extent)));
  });
}

std::vector<LinearLayout> simt::accumulatorLayouts(InstructionAttr instruction,
                                                   ArrayRef<int64_t> shape,
                                                   BlockShape block) {
  size_t rank = shape.size(), rows = rank - 2, columns = rank - 1;
  LinearLayout own = instructionLayout(instruction, MatrixRole::Accumulator);
  SmallVector<int> bits = bitsOf(shape);
  int warpBits = static_cast<int>(llvm::Log2_32(block.numWarps)) -
                 static_cast<int>(basesOf(own, kWarp).size());
  std::vector<LinearLayout> layouts;
  // `first` bits of the warps go along M, the next along N, others along
  // batches, or hold copies.
  for (int first = warpBits; first >= 0; --first) {
    SmallVector<int> used(rank, 0);
    used[rows] = static_cast<int>(
        llvm::Log2_32(static_cast<uint32_t>(instruction.getM())));
    used[columns] = static_cast<int>(
        llvm::Log2_32(static_cast<uint32_t>(instruction.getN())));
    auto take = [&](SmallVectorImpl<LinearLayout::Basis> &bases, size_t dim,
                    int most) {
      for (; most > 0 && used[dim] < bits[dim]; --most) {
        bases.emplace_back(rank, 0);
        bases.back()[dim] = 1 << used[dim]++;
      }
      return most;
    };
    SmallVector<LinearLayout::Basis> registers =
                                         tileBases(own, kRegister, rank),
                                     warps = tileBases(own, kWarp, rank);
    if (take(warps, rows, first) != 0)
      continue;
    int left = take(warps, columns, warpBits - first);
    if (left != 0 && rank == 3)
      left = take(warps, 0, left);
    if (left != 0)
      left = take(warps, rows, left);
    for (; left > 0; --left)
      warps.emplace_back(rank, 0);
    for (size_t dim = rank; dim-- > 0;)
      take(registers, dim, 31);
    LinearLayout layout = makeLayout({{kRegister, registers},
                                      {kLane, tileBases(own, kLane, rank)},
                                      {kWarp, warps}},
                                     bits);
    if (!llvm::is_contained(layouts, layout))
      layouts.push_back(layout);
  }
  return layouts;
}

bool simt::isAccumulatorLayout(InstructionAttr instruction,
                               const LinearLayout &layout) {
  size_t rank = layout.numOuts();
  if (rank < 2)
    return false;
  LinearLayout own = instructionLayout(instruction, MatrixRole::Accumulator);
  SmallVector<LinearLayout::Basis> registers = basesOf(layout, kRegister),
                                   first = tileBases(own, kRegister, rank),
                                   warps = basesOf(layout, kWarp),
                                   firstWarps = tileBases(own, kWarp, rank);
  if (registers.size() < first.size() || warps.size() < firstWarps.size() ||
      !llvm::equal(firstWarps, ArrayRef(warps).take_front(firstWarps.size())) ||
      !llvm::equal(first, ArrayRef(registers).take_front(first.size())) ||
      !llvm::equal(tileBases(own, kLane, rank), basesOf(layout, kLane)))
    return false;
  auto repeats = [&](const LinearLayout::Basis &basis, bool mayBeCopy) {
    int moves = 0;
    for (size_t dim = 0; dim < rank; ++dim) {
      int32_t unit = dim == rank - 2   ? instruction.getM()
                     : dim == rank - 1 ? instruction.getN()
                                       : 1;
      if (basis[dim] % unit != 0)
        return false;
      moves += basis[dim] != 0;
    }
    return moves == 1 || (moves == 0 && mayBeCopy);
  };
  return llvm::all_of(ArrayRef(registers).drop_front(first.size()),
                      [&](auto &basis) { return repeats(basis, false); }) &&
         llvm::all_of(ArrayRef(warps).drop_front(firstWarps.size()),
                      [&](auto &basis) { return repeats(basis, true); });
}

LinearLayout simt::factorLayout(InstructionAttr instruction, MatrixRole role,
                                const LinearLayout &accumulator,
                                ArrayRef<int64_t> shape) {
  size_t rank = shape.size();
  // K, which stands where the accumulator has the other factor's dimension.
  size_t depth = role == MatrixRole::A ? rank - 1 : rank - 2;
  LinearLayout own = instructionLayout(instruction, role);
  size_t first =
      basesOf(instructionLayout(instruction, MatrixRole::Accumulator),
              kRegister)
          .size();
  SmallVector<LinearLayout::Basis> repeats = basesOf(accumulator, kRegister);
  SmallVector<int> bits = bitsOf(shape);
  SmallVector<LinearLayout::Basis> registers = tileBases(own, kRegister, rank),
                                   warps;
  for (int32_t k = instruction.getK(); k < 1 << bits[depth]; k *= 2) {
    registers.emplace_back(rank, 0);
    registers.back()[depth] = k;
  }
  for (const LinearLayout::Basis &basis : ArrayRef(repeats).drop_front(first))
    if (basis[depth] == 0)
      registers.push_back(basis);
  for (LinearLayout::Basis basis : basesOf(accumulator, kWarp)) {
    if (basis[depth] != 0)
      basis.assign(rank, 0);
    warps.push_back(basis);
  }
  return makeLayout({{kRegister, registers},
                     {kLane, tileBases(own, kLane, rank)},
                     {kWarp, warps}},
                    bits);
}

//===----------------------------------------------------------------------===//
// Factors in shared memory
//===----------------------------------------------------------------------===//

LinearLayout simt::factorBuffer(ArrayRef<int64_t> shape, int fastest,
                                int64_t elementBytes) {
  SmallVector<int32_t> padded = paddedShape(shape);
  auto row = std::min<int64_t>(128, padded[fastest] * elementBytes);
  return layout::swizzledBuffer(padded, {fastest, 1 - fastest},
                                static_cast<int32_t>(elementBytes),
                                static_cast<int32_t>(row));
}

std::optional<UnitSwizzle> simt::unitSwizzle(const LinearLayout &buffer,
                                             int64_t elementBytes) {
  if (buffer.numOuts() != 2 || buffer.numIns() != 1)
    return std::nullopt;
  SmallVector<int64_t> shape = llvm::map_to_vector(
      buffer.outShape(), [](int32_t extent) { return int64_t{extent}; });
  for (int fastest : {1, 0}) {
    if (shape[fastest] * elementBytes < 32 ||
        buffer != factorBuffer(shape, fastest, elementBytes))
      continue;
    UnitSwizzle swizzle;
    swizzle.isColumn = fastest == 0;
    swizzle.bytes = std::min<int64_t>(128, shape[fastest] * elementBytes);
    swizzle.stride = 8 * swizzle.bytes;
    swizzle.leading = shape[1 - fastest] * swizzle.bytes;
    return swizzle;
  }
  return std::nullopt;
}
