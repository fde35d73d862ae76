//===- VectorCompare.cpp - v_cmp and v_cmpx -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

#include <cmath>

using namespace terrazzo::amdsim;

static void addBoth(OpTable &table, const std::string &end, OpInfo info) {
  table.add("v_cmp_" + end, info);
  info.form = OpForm::CompareExec;
  table.add("v_cmpx_" + end, info);
}

template <class T>
static void addOrdered(OpTable &table, const std::string &type) {
  addBoth(table, "lt" + type, vector<[](T a, T b) { return a < b; }>());
  addBoth(table, "le" + type, vector<[](T a, T b) { return a <= b; }>());
  addBoth(table, "gt" + type, vector<[](T a, T b) { return a > b; }>());
  addBoth(table, "ge" + type, vector<[](T a, T b) { return a >= b; }>());
  addBoth(table, "eq" + type, vector<[](T a, T b) { return a == b; }>());
  addBoth(table, "f" + type, vector<[](T, T) { return false; }>());
}

template <class T>
static void addInteger(OpTable &table, const std::string &type) {
  addOrdered<T>(table, type);
  addBoth(table, "ne" + type, vector<[](T a, T b) { return a != b; }>());
  addBoth(table, "t" + type, vector<[](T, T) { return true; }>());
}

/// `o` and `u`: no NaN, a NaN; the forms with `n` are true for NaNs.
template <class T, auto Load>
static void addFloat(OpTable &table, const std::string &type) {
  addBoth(table, "lt" + type,
          vector<[](T a, T b) { return Load(a) < Load(b); }>());
  addBoth(table, "le" + type,
          vector<[](T a, T b) { return Load(a) <= Load(b); }>());
  addBoth(table, "gt" + type,
          vector<[](T a, T b) { return Load(a) > Load(b); }>());
  addBoth(table, "ge" + type,
          vector<[](T a, T b) { return Load(a) >= Load(b); }>());
  addBoth(table, "eq" + type,
          vector<[](T a, T b) { return Load(a) == Load(b); }>());
  addBoth(table, "neq" + type,
          vector<[](T a, T b) { return Load(a) != Load(b); }>());
  addBoth(table, "lg" + type, vector<[](T a, T b) {
            return Load(a) < Load(b) || Load(a) > Load(b);
          }>());
  addBoth(table, "nlg" + type, vector<[](T a, T b) {
            return !(Load(a) < Load(b) || Load(a) > Load(b));
          }>());
  addBoth(table, "nlt" + type,
          vector<[](T a, T b) { return !(Load(a) < Load(b)); }>());
  addBoth(table, "nle" + type,
          vector<[](T a, T b) { return !(Load(a) <= Load(b)); }>());
  addBoth(table, "ngt" + type,
          vector<[](T a, T b) { return !(Load(a) > Load(b)); }>());
  addBoth(table, "nge" + type,
          vector<[](T a, T b) { return !(Load(a) >= Load(b)); }>());
  addBoth(
      table, "o" + type,
      vector<[](T a, T b) { return !std::isunordered(Load(a), Load(b)); }>());
  addBoth(
      table, "u" + type,
      vector<[](T a, T b) { return std::isunordered(Load(a), Load(b)); }>());
}

/// The bits of v_cmp_class: signaling NaN, quiet NaN, -inf, -normal, -denormal,
/// -0, and the positive ones in the opposite order.
static bool isInClass(uint64_t bits, unsigned exponentBits,
                      unsigned mantissaBits, uint32_t classes) {
  uint64_t mantissa = bits & ((1ull << mantissaBits) - 1);
  uint64_t most = (1ull << exponentBits) - 1;
  uint64_t exponent = bits >> mantissaBits & most;
  bool isNegative = bits >> (mantissaBits + exponentBits) & 1;
  unsigned kind;
  if (exponent == most && mantissa)
    return classes >> (mantissa >> (mantissaBits - 1) & 1) & 1;
  if (exponent == most)
    kind = 0;
  else if (exponent)
    kind = 1;
  else
    kind = mantissa ? 2 : 3;
  return classes >> (isNegative ? 2 + kind : 9 - kind) & 1;
}

static void addClasses(OpTable &table) {
  addBoth(
      table, "class_f16",
      vector<[](Half a, uint32_t b) { return isInClass(a.bits, 5, 10, b); }>());
  addBoth(table, "class_f32", vector<[](float a, uint32_t b) {
            return isInClass(std::bit_cast<uint32_t>(a), 8, 23, b);
          }>());
  addBoth(table, "class_f64", vector<[](double a, uint32_t b) {
            return isInClass(std::bit_cast<uint64_t>(a), 11, 52, b);
          }>());
}

void terrazzo::amdsim::addVectorCompare(OpTable &table) {
  addInteger<uint16_t>(table, "_u16");
  addInteger<int16_t>(table, "_i16");
  addInteger<uint32_t>(table, "_u32");
  addInteger<int32_t>(table, "_i32");
  addInteger<uint64_t>(table, "_u64");
  addInteger<int64_t>(table, "_i64");
  addFloat<Half, [](Half a) { return toFloat(a); }>(table, "_f16");
  addFloat<float, [](float a) { return a; }>(table, "_f32");
  addFloat<double, [](double a) { return a; }>(table, "_f64");
  addClasses(table);
}
