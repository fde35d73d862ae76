//===- DotKernel.cpp - Kernels of matrix products for tests ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DotKernel.h"
#include "terrazzo-c/Compiler.h"
#include "terrazzo-c/Dialects.h"

#include "mlir-c/Diagnostics.h"

#include <sstream>
#include <stdexcept>
#include <vector>

namespace terrazzo::test {
namespace {

using Extents = std::vector<int64_t>;

/// Writes ops that make a tile of pointers, `name` with a p behind.
class Pointers {
public:
  Pointers(std::ostream &out, std::string name, const Extents &shape,
           const Extents &strides, std::string element)
      : out(out), name(std::move(name)), shape(shape), strides(strides),
        element(std::move(element)) {}

  /// The offsets of the elements, NAMEo.
  void offsets() {
    int rank = shape.size();
    for (int dim = 0; dim < rank; ++dim) {
      std::string id = name + std::to_string(dim);
      Extents now{shape[dim]};
      out << "  %" << id << "r = tile.arange 0 to " << shape[dim] << " : "
          << tile(now, "i32") << "\n";
      std::string last = id + "r";
      for (int other = 0; other < rank; ++other) {
        if (other == dim)
          continue;
        Extents before = now;
        now.insert(now.begin() + other, 1);
        std::string next = id + "e" + std::to_string(other);
        out << "  %" << next << " = tile.expand_dims %" << last << ", " << other
            << " : " << tile(before, "i32") << " -> " << tile(now, "i32")
            << "\n";
        last = next;
      }
      out << "  %" << id << "b = tile.broadcast %" << last << " : "
          << tile(now, "i32") << " -> " << tile(shape, "i32") << "\n"
          << "  %" << id << "s = arith.constant dense<" << strides[dim]
          << "> : " << tile(shape, "i32") << "\n"
          << "  %" << id << "m = arith.muli %" << id << "b, %" << id
          << "s : " << tile(shape, "i32") << "\n";
    }
    std::string sum = name + "0m";
    for (int dim = 1; dim < rank; ++dim) {
      std::string next = dim == rank - 1 ? name + "o" : name + "t";
      out << "  %" << next << " = arith.addi %" << sum << ", %" << name << dim
          << "m : " << tile(shape, "i32") << "\n";
      sum = next;
    }
  }

  /// The pointers of tile number `which`, a scalar.
  void pointers(const std::string &base, const std::string &which) {
    int64_t size = 1;
    for (int64_t extent : shape)
      size *= extent;
    std::string ptr = "!tile.ptr<" + element + ">";
    out << "  %" << name << "c = arith.constant " << size << " : i32\n"
        << "  %" << name << "f = arith.muli %" << which << ", %" << name
        << "c : i32\n"
        << "  %" << name << "q = tile.addptr %" << base << ", %" << name
        << "f : " << ptr << ", i32\n"
        << "  %" << name << "w = tile.splat %" << name << "q : " << ptr
        << " -> " << tile(shape, ptr) << "\n"
        << "  %" << name << "p = tile.addptr %" << name << "w, %" << name
        << "o : " << tile(shape, ptr) << ", " << tile(shape, "i32") << "\n";
  }

  std::string pointerType() const {
    return tile(shape, "!tile.ptr<" + element + ">");
  }
  std::string type() const { return tile(shape, element); }

private:
  static std::string tile(const Extents &shape, const std::string &element) {
    std::string text = "tensor<";
    for (int64_t extent : shape)
      text += std::to_string(extent) + "x";
    return text + element + ">";
  }

  std::ostream &out;
  std::string name;
  Extents shape, strides;
  std::string element;
};

void append(MlirStringRef text, void *string) {
  static_cast<std::string *>(string)->append(text.data, text.length);
}

MlirStringRef refOf(const std::string &text) {
  return mlirStringRefCreate(text.data(), text.size());
}

MlirLogicalResult note(MlirDiagnostic diagnostic, void *string) {
  mlirDiagnosticPrint(diagnostic, append, string);
  append(mlirStringRefCreateFromCString("\n"), string);
  return mlirLogicalResultSuccess();
}

} // namespace

std::string dotKernel(const DotShape &s, const std::string &element) {
  bool isUnsigned = element == "ui8";
  std::string narrow = isUnsigned ? "i8" : element;
  std::string wide = narrow == "i8" ? "i32" : "f32";
  std::ostringstream out;
  auto extents = [&](int64_t rows, int64_t columns) {
    return s.batch ? Extents{s.batch, rows, columns} : Extents{rows, columns};
  };
  auto strides = [&](int64_t rows, int64_t columns, bool isTransposed) {
    int64_t row = isTransposed ? 1 : columns, column = isTransposed ? rows : 1;
    return s.batch ? Extents{rows * columns, row, column}
                   : Extents{row, column};
  };
  Pointers x(out, "x", extents(s.m, s.k), strides(s.m, s.k, s.isLhsTransposed),
             narrow);
  Pointers y(out, "y", extents(s.k, s.n), strides(s.k, s.n, s.isRhsTransposed),
             narrow);
  Pointers z(out, "z", extents(s.m, s.n), strides(s.m, s.n, false), wide);
  out << "func.func @product(%x: !tile.ptr<" << narrow << ">, %y: !tile.ptr<"
      << narrow << ">, %z: !tile.ptr<" << wide
      << ">, %n: i32) attributes {tile.kernel} {\n"
      << "  %zero = arith.constant 0 : i32\n"
      << "  %one = arith.constant 1 : i32\n"
      << "  %pid = tile.program_id 0\n";
  x.offsets(), y.offsets(), z.offsets();
  z.pointers("z", "pid");
  if (s.isFromZero)
    out << "  %start = arith.constant dense<" << (wide == "f32" ? "0.0" : "0")
        << "> : " << z.type() << "\n";
  else
    out << "  %start = tile.load %zp : " << z.pointerType() << " -> "
        << z.type() << "\n";
  out << "  %first = arith.muli %pid, %n : i32\n"
      << "  %r = scf.for %i = %zero to %n step %one iter_args(%acc = %start) "
         "-> ("
      << z.type() << ") : i32 {\n"
      << "  %at = arith.addi %first, %i : i32\n";
  x.pointers("x", "at"), y.pointers("y", "at");
  out << "  %xv = tile.load %xp : " << x.pointerType() << " -> " << x.type()
      << "\n"
      << "  %yv = tile.load %yp : " << y.pointerType() << " -> " << y.type()
      << "\n"
      << "  %next = tile.dot %xv, %yv, %acc"
      << (isUnsigned ? " {isUnsigned} : " : " : ") << x.type() << ", "
      << y.type() << " -> " << z.type() << "\n"
      << "  scf.yield %next : " << z.type() << "\n"
      << "  }\n"
      << "  tile.store %zp, %r : " << z.pointerType() << ", " << z.type()
      << "\n"
      << "  return\n}\n";
  return out.str();
}

Artifact compileKernel(const std::string &text, const std::string &chip) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  tzRegisterDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirContextLoadAllAvailableDialects(context);
  std::string errors, bytes, target = "cpu:" + chip;
  mlirContextAttachDiagnosticHandler(context, note, &errors, nullptr);
  MlirModule module = mlirModuleCreateParse(context, refOf(text));
  bool isDone = !mlirModuleIsNull(module) &&
                mlirLogicalResultIsSuccess(tzCompile(
                    module, refOf(target), refOf(""), nullptr, append, &bytes));
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  Artifact artifact;
  if (!isDone ||
      !deserializeArtifact(bytes.data(), bytes.size(), artifact, errors))
    throw std::runtime_error("cannot compile for " + target + ": " + errors +
                             text);
  return artifact;
}

std::string hostChipWithout(std::initializer_list<std::string> without) {
  std::string chip, result;
  tzHostChip(append, &chip);
  std::istringstream parts(chip);
  for (std::string part; std::getline(parts, part, '+');) {
    bool isKept = true;
    for (const std::string &prefix : without)
      isKept &= !part.starts_with(prefix);
    if (isKept)
      result += (result.empty() ? "" : "+") + part;
  }
  return result;
}

} // namespace terrazzo::test
