//===- Coefficients.h - Minimax polynomials ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Written by tools/math/fit_polynomials.py. Lowest power first; `error` is that
// of the fit relative to the final result, before rounding of the evaluation.
#ifndef TERRAZZO_LIB_CONVERSION_MATHTOARITH_COEFFICIENTS_H
#define TERRAZZO_LIB_CONVERSION_MATHTOARITH_COEFFICIENTS_H

// clang-format off
namespace terrazzo::coefficients {

/// exp(r), |r| <= ln2/2; error 2^-28.3
inline constexpr double expF32[] = {
    0x1p+0,
    0x1p+0,
    0x1.fffffc0p-2,
    0x1.5554920p-3,
    0x1.5558ae0p-5,
    0x1.12397e0p-7,
    0x1.6a4f0c0p-10,
};

/// exp(r), |r| <= ln2/2; error 2^-57.9
inline constexpr double expF64[] = {
    0x1p+0,
    0x1p+0,
    0x1.000000000000ap-1,
    0x1.5555555555507p-3,
    0x1.55555555506dbp-5,
    0x1.1111111124c2fp-7,
    0x1.6c16c1846e7a4p-10,
    0x1.a01a013954060p-13,
    0x1.a019997711663p-16,
    0x1.71df05afdceb8p-19,
    0x1.28ade6f4e4b4ap-22,
    0x1.adaf55484f710p-26,
};

/// 2^r, |r| <= 1/2; error 2^-28.3
inline constexpr double exp2F32[] = {
    0x1p+0,
    0x1.62e430p-1,
    0x1.ebfbdc0p-3,
    0x1.c6af7a0p-5,
    0x1.3b2dd40p-7,
    0x1.5f09520p-10,
    0x1.4178720p-13,
};

/// 2^r, |r| <= 1/2; error 2^-57.8
inline constexpr double exp2F64[] = {
    0x1p+0,
    0x1.62e42fefa39efp-1,
    0x1.ebfbdff82c59cp-3,
    0x1.c6b08d704a0d4p-5,
    0x1.3b2ab6fba11e2p-7,
    0x1.5d87fe78b3b80p-10,
    0x1.4309130c06f09p-13,
    0x1.ffcbfbf8dd6d5p-17,
    0x1.62bfcdcc9c9dcp-20,
    0x1.b5260d4fc09f7p-24,
    0x1.e611c335ce5b8p-28,
    0x1.e80f96dfdab06p-32,
};

/// (exp(r) - 1 - r) / r^2, |r| <= ln2/2; error 2^-26.1
inline constexpr double expm1F32[] = {
    0x1.fffffe0p-2,
    0x1.5554b40p-3,
    0x1.5556f40p-5,
    0x1.1225340p-7,
    0x1.6b99f0p-10,
};

/// (exp(r) - 1 - r) / r^2, |r| <= ln2/2; error 2^-61.6
inline constexpr double expm1F64[] = {
    0x1p-1,
    0x1.5555555555559p-3,
    0x1.5555555555558p-5,
    0x1.111111110f6ffp-7,
    0x1.6c16c16c16f82p-10,
    0x1.a01a01afa6b4bp-13,
    0x1.a01a019c77481p-16,
    0x1.71ddf9135fce2p-19,
    0x1.27e4fb5c3e646p-22,
    0x1.af5d551047eb9p-26,
    0x1.1f36d7fe29c83p-29,
};

/// (log(1+f) - f + f^2/2) / f^3, sqrt(1/2) <= 1+f <= sqrt(2); error 2^-30.3
inline constexpr double logF32[] = {
    0x1.5555480p-2,
    -0x1.0000060p-2,
    0x1.99a4760p-3,
    -0x1.555c480p-3,
    0x1.233baa0p-3,
    -0x1.fc2820p-4,
    0x1.e6beac0p-4,
    -0x1.de0550p-4,
    0x1.147ad40p-4,
};

/// (log((1+s)/(1-s)) / s - 2) / u, u = s^2, 0 <= s <= 0.1716; error 2^-29.2
inline constexpr double atanhF32[] = {
    0x1.55557a0p-1,
    0x1.995ed20p-2,
    0x1.31e1340p-2,
};

/// (log((1+s)/(1-s)) / s - 2) / u, u = s^2, 0 <= s <= 0.1716; error 2^-65.6
inline constexpr double atanhF64[] = {
    0x1.5555555555555p-1,
    0x1.9999999999d12p-2,
    0x1.249249243962ep-2,
    0x1.c71c724b8e046p-3,
    0x1.745ce1bb86e94p-3,
    0x1.3b2026e2729ffp-3,
    0x1.0f670c89e6545p-3,
    0x1.0f0fdb0938b46p-3,
};

/// (log((1+s)/(1-s)) / (2s) - 1 - v/3) / v^2, v = s^2, 0 <= s <= 0.1716; error 2^-36.8
inline constexpr double powF32[] = {
    0x1.999a00p-3,
    0x1.24527e0p-3,
    0x1.dfa1b40p-4,
};

/// (log((1+s)/(1-s)) / (2s) - 1 - v/3) / v^2, v = s^2, 0 <= s <= 0.1716; error 2^-73.5
inline constexpr double powF64[] = {
    0x1.9999999999996p-3,
    0x1.2492492492f53p-3,
    0x1.c71c71c5962b9p-4,
    0x1.745d182993728p-4,
    0x1.3b1364b685580p-4,
    0x1.1120724a1fbedp-4,
    0x1.de3ce911e6a2dp-5,
    0x1.eaca6561a4b41p-5,
};

/// (sin(r) - r) / r^3 in u = r^2, |r| <= pi/4; error 2^-27.8
inline constexpr double sinF32[] = {
    -0x1.5555440p-3,
    0x1.1106ca0p-7,
    -0x1.991e080p-13,
};

/// (sin(r) - r) / r^3 in u = r^2, |r| <= pi/4; error 2^-57.7
inline constexpr double sinF64[] = {
    -0x1.5555555555547p-3,
    0x1.111111110f575p-7,
    -0x1.a01a019badf5ep-13,
    0x1.71de351f6797ap-19,
    -0x1.ae5e1fe4ad8afp-26,
    0x1.5d7e52b823286p-33,
};

/// (cos(r) - 1 + r^2/2) / r^4 in u = r^2, |r| <= pi/4; error 2^-32.7
inline constexpr double cosF32[] = {
    0x1.55554a0p-5,
    -0x1.6c0c140p-10,
    0x1.99de6e0p-16,
};

/// (cos(r) - 1 + r^2/2) / r^4 in u = r^2, |r| <= pi/4; error 2^-63.7
inline constexpr double cosF64[] = {
    0x1.5555555555549p-5,
    -0x1.6c16c16c14bdep-10,
    0x1.a01a019c27d29p-16,
    -0x1.27e4f7a7f519ap-22,
    0x1.1ee9aa481ef11p-29,
    -0x1.8f8d11249db5dp-37,
};

/// (atan(z) - z) / z^3 in u = z^2, |z| <= tan(pi/8); error 2^-30.4
inline constexpr double atanF32[] = {
    -0x1.55554a0p-2,
    0x1.9991e20p-3,
    -0x1.23b9a0p-3,
    0x1.b224160p-4,
    -0x1.f2e3bc0p-5,
};

/// (atan(z) - z) / z^3 in u = z^2, |z| <= tan(pi/8); error 2^-59.4
inline constexpr double atanF64[] = {
    -0x1.555555555553dp-2,
    0x1.9999999995862p-3,
    -0x1.24924922ad052p-3,
    0x1.c71c70e5e0f4cp-4,
    -0x1.745cf8d64e79fp-4,
    0x1.3b1118a460edep-4,
    -0x1.10ebb29952e19p-4,
    0x1.df0ef4d119bc2p-5,
    -0x1.9cd12aa98ca4ap-5,
    0x1.37d18c3fef7bbp-5,
    -0x1.256131a034ebbp-6,
};

/// (asin(z) - z) / z^3 in u = z^2, |z| <= 1/2; error 2^-31.7
inline constexpr double asinF32[] = {
    0x1.55554c0p-3,
    0x1.3338a60p-4,
    0x1.6ca93a0p-5,
    0x1.04bb040p-5,
    0x1.d6f8560p-7,
    0x1.340010p-5,
};

/// (asin(z) - z) / z^3 in u = z^2, |z| <= 1/2; error 2^-59.9
inline constexpr double asinF64[] = {
    0x1.5555555555577p-3,
    0x1.333333332e134p-4,
    0x1.6db6db7212375p-5,
    0x1.f1c71a9507056p-6,
    0x1.6e8bdeddf7103p-6,
    0x1.1c49f0861294cp-6,
    0x1.ca1f899d8d464p-7,
    0x1.7585a87068c5ap-7,
    0x1.613be3029069ep-7,
    0x1.e5ff5ac5a74e2p-9,
    0x1.639981fca418ap-6,
    -0x1.57f96360a1092p-6,
    0x1.0b4579e307938p-5,
};

/// erf(x)/x - 1 in u = x^2, |x| <= 1.125; error 2^-27.2
inline constexpr double erfSmallF32[] = {
    0x1.06eba80p-3,
    -0x1.81272e0p-2,
    0x1.ce29820p-4,
    -0x1.b7bba20p-6,
    0x1.522cb0p-8,
    -0x1.97173a0p-11,
    0x1.281b90p-14,
};

/// erf(x)/x - 1 in u = x^2, |x| <= 1; error 2^-56.1
inline constexpr double erfSmallF64[] = {
    0x1.06eba8214db68p-3,
    -0x1.812746b0379a1p-2,
    0x1.ce2f21a03fd13p-4,
    -0x1.b82ce311bea3cp-6,
    0x1.565bccf1d0646p-8,
    -0x1.c02daf2cd24aep-11,
    0x1.f9a2a1c9f8792p-14,
    -0x1.f4c8d728fc2a7p-17,
    0x1.b971a6cacb858p-20,
    -0x1.5bb1a30254f55p-23,
    0x1.d4d34f85425d3p-27,
    -0x1.a4f4485bc2d6cp-31,
};

/// erfc(x)^(1/4), 1.125 <= x <= 4; error 2^-26.7
inline constexpr double erfcRootF32[] = {
    0x1.0164ea0p+0,
    -0x1.3bfaea0p-2,
    -0x1.05429e0p-4,
    -0x1.9ad1a20p-5,
    0x1.0e19e0p-4,
    -0x1.6b02740p-6,
    0x1.a69e6c0p-9,
    -0x1.76ee1e0p-13,
};

/// erfc(x)*exp(x^2)*(1 + 2x) in t = (x-2)/(x+2), 0.45 <= x <= 28; error 2^-27.2
inline constexpr double erfcxF32[] = {
    0x1.46e80e0p+0,
    -0x1.7bf5ec0p-4,
    -0x1.540760p-3,
    0x1.4ff9fc0p-3,
    -0x1.bc40d40p-5,
    -0x1.070a5a0p-7,
    0x1.1f87c0p-7,
    0x1.4056d80p-10,
    -0x1.9acd90p-10,
    -0x1.48b42a0p-12,
    0x1.2b679c0p-12,
};

/// erfc(x)*exp(x^2)*(1 + 2x) in t = (x-2)/(x+2), 0.45 <= x <= 28; error 2^-53.7
inline constexpr double erfcxF64[] = {
    0x1.46e80e2277953p+0,
    -0x1.7bf5ec1700635p-4,
    -0x1.5407bebf31d20p-3,
    0x1.4ffa1e14e2753p-3,
    -0x1.bc2b956240859p-5,
    -0x1.07423403bd890p-7,
    0x1.1dd2ecf18ba9cp-7,
    0x1.4d461bac6c17bp-10,
    -0x1.7de55ad211152p-10,
    -0x1.dc6894334f48dp-12,
    0x1.b0dcd80e83ffep-13,
    0x1.3caf138156d72p-13,
    -0x1.dcf8ff482c997p-20,
    -0x1.2f32e05346f7cp-15,
    -0x1.9bcbb7fcd7723p-17,
    0x1.26582255e8a63p-19,
    0x1.b4d7e0b472dd0p-20,
    0x1.cadfce14971b5p-18,
    0x1.87001d8257b51p-18,
    -0x1.afa8d29206536p-17,
    -0x1.b3c30476dd590p-18,
    0x1.1a4b4bfd9cf31p-16,
    0x1.431a9169d39b6p-20,
    -0x1.ad367e996af66p-17,
    0x1.9b2489eda18d7p-19,
    0x1.11f6db7fadb3bp-18,
    -0x1.e895c3a9973a9p-20,
};

} // namespace terrazzo::coefficients
// clang-format on

#endif // TERRAZZO_LIB_CONVERSION_MATHTOARITH_COEFFICIENTS_H
