# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers from a counter: Philox-4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).

Equal seeds and offsets give equal numbers, on every target.
"""

from ..errors import SemanticError
from . import kinds as k
from .arithmetic import add, binary, mul, shr, xor_
from .builder import builtin
from .cast import bitcast_to, cast_to
from .comparison import maximum, where
from .dtypes import float32, int32, int64, uint32, uint64
from .math import cos, log, sin, sqrt, umulhi
from .promotion import broadcast_together, constant, is_literal, promote, splat, to_tensor
from .values import constexpr, describe, static_int, tuple

N_ROUNDS_DEFAULT = constexpr(10)

_ROUNDS = k.static_int(0, 1000)
_SEED = k.INTEGER

# dtype -> (key increments, multipliers), as the paper gives them.
_CONSTANTS = {
    uint32: ((0x9E3779B9, 0xBB67AE85), (0xD2511F53, 0xCD9E8D57)),
    uint64: ((0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B), (0xD2E7470EE14C6C93, 0xCA5A826395121157)),
}
_TWO_PI = 6.283185307179586


@builtin(c0=k.INTEGER, c1=k.INTEGER, c2=k.INTEGER, c3=k.INTEGER, k0=k.INTEGER, k1=k.INTEGER, n_rounds=_ROUNDS)
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds=10):
    """`n_rounds` rounds of Philox on the counter (c0, ..., c3) with the key (k0, k1), all uint32 or all uint64."""
    c0, c1, c2, c3, k0, k1 = broadcast_together([to_tensor(v) for v in (c0, c1, c2, c3, k0, k1)])
    if c0.dtype not in _CONSTANTS:
        raise SemanticError(f"philox_impl takes counters of uint32 or uint64, found {c0.dtype}")
    (step0, step1), (factor0, factor1) = _CONSTANTS[c0.dtype]
    for _ in range(static_int(n_rounds, "n_rounds")):
        high0, high1 = umulhi(factor0, c0), umulhi(factor1, c2)
        low0, low1 = mul(factor0, c0), mul(factor1, c2)
        c0, c1, c2, c3 = xor_(xor_(high1, c1), k0), low1, xor_(xor_(high0, c3), k1), low0
        k0, k1 = add(k0, step0), add(k1, step1)
    return tuple([c0, c1, c2, c3])


def _counter(value, name):
    value = to_tensor(value, f"{name} of philox")
    if not value.dtype.is_int() or value.dtype.int_bitwidth not in (32, 64):
        raise SemanticError(f"{name} of philox must be of integers of 32 or 64 bits, found {value.type}")
    return value


@builtin(seed=_SEED, c0=k.INTEGER, c1=k.INTEGER, c2=k.INTEGER, c3=k.INTEGER, n_rounds=_ROUNDS)
def philox(seed, c0, c1, c2, c3, n_rounds=10):
    """Philox with an integer scalar `seed` as the key; counters are tiles of integers of 32 or 64 bits, the results
    unsigned.
    """
    seed = constant(seed % 2**64, uint64) if is_literal(seed) and isinstance(seed, int) else to_tensor(seed)
    if not seed.dtype.is_int():
        raise SemanticError(f"seed of philox must be an integer, found {describe(seed)}")
    seed = cast_to(seed, uint64)
    counters = [_counter(c, f"counter {i}") for i, c in enumerate((c0, c1, c2, c3))]
    wide = counters[0].dtype.int_bitwidth == 64
    dtype = uint64 if wide else uint32
    low = seed if wide else cast_to(seed, uint32)
    high = constant(0, uint64) if wide else cast_to(shr(seed, 32), uint32)
    return philox_impl(*[bitcast_to(cast_to(c, dtype), dtype) for c in counters], low, high, n_rounds)


@builtin(seed=_SEED, offset=k.INTEGER, n_rounds=_ROUNDS)
def randint4x(seed, offset, n_rounds=10):
    """Four tiles of random uint32 for a tile of integer offsets."""
    offset = to_tensor(offset, "offset")
    if not offset.dtype.is_int():
        raise SemanticError(f"offsets of random numbers must be integers, found {offset.type}")
    low = cast_to(offset, uint32)
    zero = splat(constant(0, uint32), offset.shape)
    high = cast_to(shr(offset, 32), uint32) if offset.dtype.int_bitwidth > 32 else zero
    return philox(seed, low, high, zero, zero, n_rounds)


@builtin(seed=_SEED, offset=k.INTEGER, n_rounds=_ROUNDS)
def randint(seed, offset, n_rounds=10):
    """A tile of random uint32 for a tile of integer offsets; for several of them use randint4x."""
    return randint4x(seed, offset, n_rounds)[0]


@builtin(x=k.INTEGER)
def uint_to_uniform_float(x):
    """Random integers of 32 or 64 bits as float32, uniform in [0, 1)."""
    x = to_tensor(x)
    if not x.dtype.is_int() or x.dtype.int_bitwidth not in (32, 64):
        raise SemanticError(f"uint_to_uniform_float takes integers of 32 or 64 bits, found {x.type}")
    narrow = x.dtype.int_bitwidth == 32
    x = bitcast_to(x, int32 if narrow else int64)
    # The scale is a little below 2**-31 (2**-63), so that the greatest integer stays below 1 after rounding.
    scale = 4.6566127342e-10 if narrow else 1.0842020432385337e-19
    x = where(x < 0, -x - 1, x)
    return mul(cast_to(x, float32), scale)


@builtin(seed=_SEED, offset=k.INTEGER, n_rounds=_ROUNDS)
def rand(seed, offset, n_rounds=10):
    """A tile of random float32, uniform in [0, 1), for a tile of integer offsets."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@builtin(seed=_SEED, offset=k.INTEGER, n_rounds=_ROUNDS)
def rand4x(seed, offset, n_rounds=10):
    """Four tiles of random float32, uniform in [0, 1), for a tile of integer offsets."""
    return tuple([uint_to_uniform_float(x) for x in randint4x(seed, offset, n_rounds)])


@builtin(u1=k.FLOAT, u2=k.FLOAT)
def pair_uniform_to_normal(u1, u2):
    """Two tiles that are uniform in [0, 1) as two of the standard normal distribution (Box and Muller)."""
    (u1, u2), _ = promote([u1, u2])
    u1 = maximum(1.0e-7, u1)
    angle = mul(u2, _TWO_PI)
    radius = sqrt(mul(log(u1), -2.0))
    return tuple([binary("arith.mulf", radius, cos(angle)), binary("arith.mulf", radius, sin(angle))])


@builtin(seed=_SEED, offset=k.INTEGER, n_rounds=_ROUNDS)
def randn(seed, offset, n_rounds=10):
    """A tile of random float32 of the standard normal distribution, for a tile of integer offsets."""
    i1, i2, _, _ = randint4x(seed, offset, n_rounds)
    return pair_uniform_to_normal(uint_to_uniform_float(i1), uint_to_uniform_float(i2))[0]


@builtin(seed=_SEED, offset=k.INTEGER, n_rounds=_ROUNDS)
def randn4x(seed, offset, n_rounds=10):
    """Four tiles of random float32 of the standard normal distribution, for a tile of integer offsets."""
    u1, u2, u3, u4 = rand4x(seed, offset, n_rounds)
    return tuple([*pair_uniform_to_normal(u1, u2), *pair_uniform_to_normal(u3, u4)])
