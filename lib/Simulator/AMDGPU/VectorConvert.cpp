//===- VectorConvert.cpp - Conversions ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatFormulas.h"
#include "Lanes.h"

#include <algorithm>

using namespace terrazzo::amdsim;

using U = uint32_t;
using I = int32_t;

static void addIntegers(OpTable &table) {
  table.add("v_cvt_f32_i32", vector<[](I a) { return float(a); }>());
  table.add("v_cvt_f32_u32", vector<[](U a) { return float(a); }>());
  table.add("v_cvt_f64_i32", vector<[](I a) { return double(a); }>());
  table.add("v_cvt_f64_u32", vector<[](U a) { return double(a); }>());
  table.add("v_cvt_i32_f32",
            vector<[](float a) { return truncateTo<I>(a); }>());
  table.add("v_cvt_u32_f32",
            vector<[](float a) { return truncateTo<U>(a); }>());
  table.add("v_cvt_i32_f64",
            vector<[](double a) { return truncateTo<I>(a); }>());
  table.add("v_cvt_u32_f64",
            vector<[](double a) { return truncateTo<U>(a); }>());
  auto nearest = vector<[](float a) {
    return truncateTo<I>(std::floor(double(a) + 0.5));
  }>();
  auto floor = vector<[](float a) { return truncateTo<I>(std::floor(a)); }>();
  table.add("v_cvt_rpi_i32_f32", nearest);
  table.add("v_cvt_nearest_i32_f32", nearest);
  table.add("v_cvt_flr_i32_f32", floor);
  table.add("v_cvt_floor_i32_f32", floor);
  table.add("v_cvt_f32_ubyte0", vector<[](U a) { return float(a & 255); }>());
  table.add("v_cvt_f32_ubyte1",
            vector<[](U a) { return float(a >> 8 & 255); }>());
  table.add("v_cvt_f32_ubyte2",
            vector<[](U a) { return float(a >> 16 & 255); }>());
  table.add("v_cvt_f32_ubyte3", vector<[](U a) { return float(a >> 24); }>());
  table.add("v_cvt_i32_i16", vector<[](int16_t a) { return I(a); }>());
  table.add("v_cvt_u32_u16", vector<[](uint16_t a) { return U(a); }>());
}

static void addFloats(OpTable &table) {
  table.add("v_cvt_f64_f32", vector<[](float a) { return double(a); }>());
  table.add("v_cvt_f32_f64", vector<[](double a) { return float(a); }>());
  table.add("v_cvt_f16_f32", vector<[](float a) { return toHalf(a); }>());
  table.add("v_cvt_f32_f16", vector<[](Half a) { return toFloat(a); }>());
  table.add("v_cvt_f32_bf16", vector<[](BFloat a) { return toFloat(a); }>());
  table.add("v_cvt_f16_u16",
            vector<[](uint16_t a) { return toHalf(float(a)); }>());
  table.add("v_cvt_f16_i16",
            vector<[](int16_t a) { return toHalf(float(a)); }>());
  table.add("v_cvt_u16_f16",
            vector<[](Half a) { return truncateTo<uint16_t>(toFloat(a)); }>());
  table.add("v_cvt_i16_f16",
            vector<[](Half a) { return truncateTo<int16_t>(toFloat(a)); }>());
}

/// Towards zero, whatever the mode.
static Half truncateToHalf(float value) {
  Half nearest = toHalf(value);
  bool isAway = std::fabs(toFloat(nearest)) > std::fabs(value);
  if (value == value && isAway)
    --nearest.bits;
  return nearest;
}

static uint16_t toNorm(float value, bool isSigned) {
  float scaled = value * (isSigned ? 32767.0f : 65535.0f);
  float least = isSigned ? -32767.0f : 0.0f;
  float most = isSigned ? 32767.0f : 65535.0f;
  if (value != value)
    return 0;
  return static_cast<uint16_t>(
      static_cast<I>(std::nearbyint(std::clamp(scaled, least, most))));
}

static void addPacks(OpTable &table) {
  auto rtz = vector<[](float a, float b) {
    return U(truncateToHalf(a).bits) | U(truncateToHalf(b).bits) << 16;
  }>();
  table.add("v_cvt_pkrtz_f16_f32", rtz);
  table.add("v_cvt_pk_rtz_f16_f32", rtz);
  table.add("v_cvt_pk_f16_f32", vector<[](float a, float b) {
              return U(toHalf(a).bits) | U(toHalf(b).bits) << 16;
            }>());
  table.add("v_cvt_pk_bf16_f32", vector<[](float a, float b) {
              return U(toBFloat(a).bits) | U(toBFloat(b).bits) << 16;
            }>());
  table.add("v_pack_b32_f16",
            vector<[](uint16_t a, uint16_t b) { return U(a) | U(b) << 16; }>());
  for (const char *type : {"_i16_f32", "_norm_i16_f32"})
    table.add(std::string(type[1] == 'i' ? "v_cvt_pknorm" : "v_cvt_pk") + type,
              vector<[](float a, float b) {
                return U(toNorm(a, true)) | U(toNorm(b, true)) << 16;
              }>());
  for (const char *type : {"_u16_f32", "_norm_u16_f32"})
    table.add(std::string(type[1] == 'u' ? "v_cvt_pknorm" : "v_cvt_pk") + type,
              vector<[](float a, float b) {
                return U(toNorm(a, false)) | U(toNorm(b, false)) << 16;
              }>());
  table.add("v_cvt_pk_u16_u32", vector<[](U a, U b) {
              return std::min(a, 0xffffu) | std::min(b, 0xffffu) << 16;
            }>());
  table.add("v_cvt_pk_i16_i32", vector<[](I a, I b) {
              auto clamped = [](I value) {
                return U(std::clamp(value, -32768, 32767)) & 0xffff;
              };
              return clamped(a) | clamped(b) << 16;
            }>());
}

void terrazzo::amdsim::addVectorConvert(OpTable &table) {
  addIntegers(table);
  addFloats(table);
  addPacks(table);
}
