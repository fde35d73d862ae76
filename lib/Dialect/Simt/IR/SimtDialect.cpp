//===- SimtDialect.cpp - The simt dialect ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "terrazzo/Dialect/Simt/IR/Simt.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace terrazzo;
using namespace terrazzo::simt;

#include "terrazzo/Dialect/Simt/IR/SimtDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "terrazzo/Dialect/Simt/IR/SimtAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "terrazzo/Dialect/Simt/IR/SimtTypes.cpp.inc"

#define GET_OP_CLASSES
#include "terrazzo/Dialect/Simt/IR/SimtOps.cpp.inc"

namespace {

/// Layouts are long and come back often: each gets a name at the head of the
/// module.
struct LayoutAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (!isa<LayoutAttr>(attr))
      return AliasResult::NoAlias;
    os << "layout";
    return AliasResult::FinalAlias;
  }
};

} // namespace

void SimtDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "terrazzo/Dialect/Simt/IR/SimtAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "terrazzo/Dialect/Simt/IR/SimtTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "terrazzo/Dialect/Simt/IR/SimtOps.cpp.inc"
      >();
  addInterfaces<LayoutAliases>();
}

//===----------------------------------------------------------------------===//
// #simt.layout
//===----------------------------------------------------------------------===//

static ParseResult parseIntegers(AsmParser &parser,
                                 SmallVectorImpl<int32_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(values.emplace_back());
  });
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<layout::LinearLayout::InSpec> ins;
  SmallVector<int32_t> sizes;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  while (true) {
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return {};
    if (name == "dims") {
      if (parseIntegers(parser, sizes))
        return {};
      break;
    }
    layout::LinearLayout::InSpec in{name, {}};
    auto parseBasis = [&]() -> ParseResult {
      SmallVector<int32_t> values;
      if (parseIntegers(parser, values))
        return failure();
      in.second.emplace_back(values.begin(), values.end());
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                       parseBasis) ||
        parser.parseComma())
      return {};
    ins.push_back(in);
  }
  if (parser.parseGreater())
    return {};
  SmallVector<layout::LinearLayout::OutSpec> outs;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    if (size < 1 || !llvm::isPowerOf2_32(static_cast<uint32_t>(size))) {
      parser.emitError(place)
          << "extents of a layout must be powers of two, got " << size;
      return {};
    }
    outs.push_back({layout::dimName(static_cast<unsigned>(dim)),
                    static_cast<int32_t>(llvm::Log2_32(size))});
  }
  std::string error;
  std::optional<layout::LinearLayout> layout =
      layout::LinearLayout::tryCreate(ins, outs, error);
  if (!layout) {
    parser.emitError(place) << error;
    return {};
  }
  return LayoutAttr::get(parser.getContext(), *layout);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  const layout::LinearLayout &layout = getLayout();
  printer << '<';
  for (const layout::Dim &in : layout.inDims()) {
    printer << in.name << " = [";
    for (int32_t bit = 0; bit < in.bits; ++bit) {
      printer << (bit ? ", [" : "[");
      llvm::interleaveComma(layout.basis(in.name, bit), printer);
      printer << ']';
    }
    printer << "], ";
  }
  printer << "dims = [";
  llvm::interleaveComma(layout.outShape(), printer);
  printer << "]>";
}

LogicalResult LayoutAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type,
    llvm::function_ref<InFlightDiagnostic()> emitError) const {
  const layout::LinearLayout &layout = getLayout();
  for (const layout::Dim &in : layout.inDims())
    if (in.name != kRegister && in.name != kLane && in.name != kWarp)
      return emitError() << "a tile's layout has the inputs register, lane and "
                            "warp, got "
                         << in.name;
  if (ArrayRef<int32_t>(layout.outShape()) !=
      ArrayRef<int32_t>(paddedShape(shape))) {
    InFlightDiagnostic diag = emitError() << "a layout for a tile of extents [";
    llvm::interleaveComma(shape, diag);
    diag << "] has dims [";
    llvm::interleaveComma(paddedShape(shape), diag);
    diag << "], got [";
    llvm::interleaveComma(layout.outShape(), diag);
    return diag << "]";
  }
  return success();
}

LayoutAttr simt::getLayout(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? dyn_cast_or_null<LayoutAttr>(tile.getEncoding()) : LayoutAttr();
}

RankedTensorType simt::withLayout(RankedTensorType type, LayoutAttr layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), layout);
}

SmallVector<int32_t> simt::paddedShape(ArrayRef<int64_t> shape) {
  SmallVector<int32_t> padded;
  for (int64_t extent : shape)
    padded.push_back(static_cast<int32_t>(llvm::PowerOf2Ceil(extent)));
  return padded;
}

int64_t simt::elementBytes(Type element) {
  if (isa<tile::PtrType>(element))
    return 8;
  return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

LogicalResult ConvertLayoutOp::verify() {
  auto source = getSource().getType(), result = getResult().getType();
  if (source.getShape() != result.getShape() ||
      source.getElementType() != result.getElementType()) // convert_layout_c1
    return emitOpError("may change the layout only, got ")
           << source << " and " << result;
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  if (auto before = getSource().getDefiningOp<ConvertLayoutOp>()) {
    if (before.getSource().getType() == getResult().getType())
      return before.getSource();
    getSourceMutable().assign(before.getSource());
    return getResult();
  }
  return {};
}

LogicalResult AllocOp::verify() {
  if (static_cast<int64_t>(getBytes()) <= 0) // alloc_c1
    return emitOpError("bytes must be positive, got ")
           << static_cast<int64_t>(getBytes());
  return success();
}

static LogicalResult verifyAddress(Operation *op, Type type,
                                   ArrayRef<int32_t> strides,
                                   LayoutAttr swizzle) {
  size_t rank = tile::getShape(type).size();
  if (swizzle ? !strides.empty() : strides.size() != rank) // local_*_c1
    return op->emitOpError(
               "needs one stride a dimension, or a swizzle and none, got ")
           << strides.size() << " strides for " << type;
  return success();
}

/// Passes ask where a buffer is, so it must be plain to see.
static LogicalResult verifyBuffer(Operation *op, Value buffer) {
  if (!buffer.getDefiningOp<AllocOp>()) // local_*_c2
    return op->emitOpError("needs buffers that are results of simt.alloc");
  return success();
}

LogicalResult LocalStoreOp::verify() {
  if (failed(verifyBuffer(*this, getBuffer())))
    return failure();
  return verifyAddress(*this, getValue().getType(), getStrides(),
                       getSwizzleAttr());
}

LogicalResult LocalLoadOp::verify() {
  if (failed(verifyBuffer(*this, getBuffer())))
    return failure();
  return verifyAddress(*this, getResult().getType(), getStrides(),
                       getSwizzleAttr());
}

LogicalResult LocalCountOp::verify() {
  return verifyBuffer(*this, getBuffer());
}

LogicalResult LocalDotOp::verify() {
  if (failed(verifyBuffer(*this, getLhs())) ||
      failed(verifyBuffer(*this, getRhs())))
    return failure();
  size_t rank = tile::getShape(getAcc().getType()).size();
  if (getLhsStrides().size() != rank ||
      getRhsStrides().size() != rank) // local_dot_c1
    return emitOpError("needs one stride a dimension of the factors, got ")
           << getLhsStrides().size() << " and " << getRhsStrides().size()
           << " for rank " << rank;
  return success();
}

LogicalResult LocalGatherOp::verify() {
  if (failed(verifyBuffer(*this, getBuffer())))
    return failure();
  auto indices = getIndices().getType(), result = getResult().getType();
  if (getStrides().size() != static_cast<size_t>(result.getRank()) ||
      indices.getShape() != result.getShape() ||
      indices.getEncoding() != result.getEncoding()) // local_gather_c1
    return emitOpError("needs one stride a dimension, and indices with the "
                       "shape and layout of the result, got ")
           << indices << " and " << result;
  return success();
}
