# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels around products, with what they must give: as random_kernels, which see.

A kernel is a loop over the inner dimension (of any length, none included), two products with something like a softmax
between them, or both in one loop as attention has them. Factors are of all types, masked or not, stored in either
order, turned, loaded by carried pointers or by the counter. Most are small integers, whose sums are exact in any order.
"""

import numpy as np
from random_kernels import UNIT, Kernel, round_bfloat16

ELEMENTS = ("float16", "float16", "bfloat16", "bfloat16", "float32", "float32", "int8", "float8e4nv", "float8e5")
# Bits of the mantissa, bias of the exponent.
EIGHT_BITS = {"float8e4nv": (3, 7), "float8e5": (2, 15)}
# Of one product, relative to the sum of absolute values; an instruction may cut off instead of rounding.
CUT, TF32, EIGHT_BIT_SUM = 2.0**-22, 2.0**-9, 2.0**-10
ROWS, COLUMNS, DEPTHS = (16, 32, 64, 64, 128, 8, 48, 5), (16, 32, 64, 8, 40), (16, 32, 32, 64, 8, 24)
MORE = ("float_arithmetic", "integer_arithmetic", "unary", "choice", "cast", "reduction", "transpose", "reshape")


def eight_bit_values(mantissa, bias):
    """The value of each of the 256 codes, infinity for all with the largest exponent."""
    codes = np.arange(256)
    exponent, fraction = codes >> mantissa & (0x7F >> mantissa), codes & ((1 << mantissa) - 1)
    values = np.where(exponent > 0, 2.0**mantissa + fraction, 2 * fraction) * 2.0 ** (exponent - bias - mantissa)
    values[exponent == 0x7F >> mantissa] = np.inf
    return np.where(codes > 127, -values, values)


class Factor:
    """An array in memory, [outer, depth] or the reverse, and how a kernel loads a block of it."""

    def __init__(self, kernel, dtype, outer, depth, is_left, is_exact):
        random = kernel.random
        self.kernel, self.dtype, self.outer, self.depth, self.is_left = kernel, dtype, outer, depth, is_left
        self.is_turned, self.is_depth_first = random.random() < 0.4, random.random() < 0.4
        self.name = kernel.name("f")
        inner, rows = (outer, depth) if self.is_depth_first else (depth, outer)
        pitch = max(1, inner) + random.choice((0, 0, 8, 3))
        if random.random() < 0.6:  # as copies want it
            pitch = -(-pitch // 16) * 16
        array, values = kernel.memory_of(dtype, (max(1, rows), pitch), is_exact)
        kernel.inputs[self.name] = (array.reshape(-1), dtype)
        values = values[:rows, :inner]
        self.values = values.T if self.is_depth_first else values
        self.strides = (1, pitch) if self.is_depth_first else (pitch, 1)

    def _spread(self, outer, depth):
        """The outer index and that of the inner dimension, as they lie in the tile that is loaded."""
        first = self.is_left != self.is_turned
        return (f"{outer}[:, None]", f"{depth}[None, :]") if first else (f"{outer}[None, :]", f"{depth}[:, None]")

    def pointers(self, outer, depth):
        outer, depth = self._spread(outer, depth)
        return f"{self.name} + {outer} * {self.strides[0]} + {depth} * {self.strides[1]}"

    def mask(self, outer, depth, outer_end, depth_end):
        """Text of the mask; an end that is None needs none."""
        outer, depth = self._spread(outer, depth)
        parts = [f"({outer} < {outer_end})"] * (outer_end is not None)
        parts += [f"({depth} < {depth_end})"] * (depth_end is not None)
        return f", mask={' & '.join(parts)}, other={0 if self.dtype == 'int8' else 0.0}" if parts else ""

    def turned(self, text):
        return f"tl.trans({text})" if self.is_turned else text


class ProductKernel(Kernel):
    """A random kernel with products."""

    def __init__(self, seed):
        self.begin(seed, MORE)
        random = self.random
        self.options["num_stages"] = random.choice((1, 2, 3, 3, 4, 5))
        random.choice((self.product, self.product, self.chain, self.attention))()
        for _ in range(random.choice((0, 0, 1, 3))):
            self.operation()
        self.store_all()
        self.source = self._source()

    def memory_of(self, dtype, shape, is_exact):
        """Random elements: (the array to pass, its values in fp64)."""
        values = self.numbers.integers(-3, 3, shape, endpoint=True) if is_exact else self.numbers.uniform(-2, 2, shape)
        if dtype == "int8":
            array = self.numbers.integers(-128, 127, shape, np.int8, endpoint=True)
            return array, array.astype(np.float64)
        if dtype in EIGHT_BITS:
            table = eight_bit_values(*EIGHT_BITS[dtype])
            codes = np.flatnonzero((np.abs(table) <= 3) & ((table == np.rint(table)) | (not is_exact)))
            array = self.numbers.choice(codes, shape).astype(np.uint8)
            return array, table[array]
        if dtype == "bfloat16":
            values = round_bfloat16(values)
            return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16), values
        array = values.astype(dtype)
        return array, array.astype(np.float64)

    def length(self, block):
        """The length of a loop's dimension: text of it, the number, and whether it is a multiple of the block."""
        steps = self.random.choice((0, 1, 1, 2, 3, 3, 5))
        short = self.random.randint(0, block - 1) if steps and self.random.random() < 0.6 else 0
        short -= short % self.random.choice((1, 8, 16))
        count = steps * block - short
        name = self.name("n")
        if self.random.random() < 0.3:
            self.constants.append((name, count))
        else:
            self.scalars[name] = count
        return name, count, short == 0

    def precision(self, dtype):
        """Text of an argument of a product, and what it may round of each factor."""
        if dtype != "float32":
            return "", 0.0
        text = self.random.choice(("", ", input_precision='ieee'", ", allow_tf32=True", ", allow_tf32=False"))
        return text, 0.0 if "ieee" in text or "False" in text else TF32

    def multiplied(self, a, b, dtype, rounding, steps=1, errors=0.0):
        """What a product of [.., M, K] and [.., K, N] is and may be off by; nothing if all sums are exact."""
        want, size = a @ b, np.abs(a) @ np.abs(b)
        is_exact = not np.any(errors) and all(
            np.all(x == np.rint(x)) and np.abs(x).max(initial=0) < 2**10 for x in (a, b)
        )
        if is_exact and size.max(initial=0) < (2**12 if dtype in EIGHT_BITS else 2**24):
            return want, np.zeros(want.shape)
        rounding += EIGHT_BIT_SUM if dtype in EIGHT_BITS else 0.0
        return want, errors + ((a.shape[-1] + 2 * steps + 8) * CUT + rounding) * size

    # ---- kernels

    def product(self):
        """A loop of products over blocks of the inner dimension; the value of its sum."""
        random, dtype = self.random, self.random.choice(ELEMENTS)
        m, n, k = random.choice(ROWS), random.choice(COLUMNS), random.choice(DEPTHS)
        end, depth, is_whole = self.length(k)
        rows = self.programs * m - random.choice((0, 0, random.randint(0, m - 1)))
        columns = n - random.choice((0, 0, random.randint(0, n - 1)))
        is_exact = random.random() < 0.7
        is_fixed = random.random() < 0.15  # the right factor is the same in all steps
        left = Factor(self, dtype, rows, depth, True, is_exact)
        right = Factor(self, dtype, columns, k if is_fixed else depth, False, is_exact)
        ends = {left: rows if rows < self.programs * m else None, right: columns if columns < n else None}
        precision, rounding = self.precision(dtype)
        acc, at, i, j = (self.name(prefix) for prefix in ("acc", "k", "i", "j"))
        outer = {left: i, right: j}
        zero = "tl.int32" if dtype == "int8" else "tl.float32"
        self.lines += [f"{i} = tl.program_id(0) * {m} + tl.arange(0, {m})", f"{j} = tl.arange(0, {n})",
                       f"{at} = tl.arange(0, {k})", f"{acc} = tl.zeros([{m}, {n}], {zero})"]  # fmt: skip
        carries = random.random() < 0.5
        body = []
        for factor in (left, right):
            pointer, tile = self.name("p"), self.name("t")
            where = self.lines if is_fixed and factor is right else body
            place = at if carries or where is self.lines else f"({at} + k)"
            text = factor.pointers(outer[factor], place)
            limit = None if is_whole or where is self.lines else f"({end} - k)" if carries else end
            mask = factor.mask(outer[factor], place, ends[factor], limit)
            if carries and where is body:
                self.lines.append(f"{pointer} = {text}")
                text = pointer
            where.append(f"{tile} = {factor.turned(f'tl.load({text}{mask})')}")
            if carries and where is body:
                body.append(f"{pointer} += {k * factor.strides[1]}")
            factor.tile = tile
        scale = 1
        if dtype in ("float16", "bfloat16", "float32") and random.random() < 0.2:
            scale = 2
            body.append(f"{left.tile} = {left.tile} * 2")
        call = f"tl.dot({left.tile}, {right.tile}"
        body.append(random.choice((f"{acc} = {call}, {acc}{precision})", f"{acc} += {call}{precision})")))
        self.loop_over(end, k, body, depth)
        steps = -(-depth // k)
        a = np.zeros((self.programs * m, steps * k))
        a[:rows, :depth] = left.values * scale
        b = np.zeros((steps * k, n))
        whole = np.tile(right.values.T, (steps, 1)) if is_fixed else right.values.T
        b[: len(whole), :columns] = whole
        want, error = self.multiplied(a.reshape(self.programs, m, -1), b, dtype, rounding, steps)
        if dtype == "int8":
            return self.emit(acc, "int32", want.astype(np.int64).astype(np.int32))
        return self.bounded(self.emit(acc, "float32", want, error))

    def loop_over(self, end, step, body, count):
        """Lines of `body`, in which `k` counts from 0 to `end` by `step`."""
        inside = ["    " + line for line in body]
        kind = self.random.choice(("range", "range", "count", "while"))
        if kind == "range":
            self.lines += [f"for k in range(0, {end}, {step}):", *inside]
        elif kind == "count":
            self.lines += [f"for s in range(tl.cdiv({end}, {step})):", f"    k = s * {step}", *inside]
        else:
            self.lines += ["k = 0", f"while k < {end}:", *inside, f"    k += {step}"]

    def chain(self):
        """A product, a softmax of its rows or so, and the product of that with another factor."""
        x = self.product()
        dtype = self.random.choice(("float16", "bfloat16", "float32"))
        if not x.is_float:
            x = self.rounded(f"{x.name}.to(tl.float32)", "float32", x.want, np.zeros(x.shape))
        largest = float(np.abs(x.want).max(initial=1.0))
        scale = 2.0 ** -int(np.ceil(np.log2(largest / 8 + 1)))
        top = self.emit(f"tl.max({x.name}, 1)", "float32", x.want.max(2), x.error.max(2))
        lower = lambda v: v[:, :, None]
        x = self.rounded(f"({x.name} - {top.name}[:, None]) * {scale!r}", "float32", (x.want - lower(top.want)) * scale,
                         (x.error + lower(top.error)) * scale, 2)  # fmt: skip
        p = np.exp2(x.want)
        p = self.rounded(f"tl.exp2({x.name})", "float32", p, p * np.expm1(np.minimum(x.error, 4) * np.log(2)), 4)
        total = self.rounded(f"tl.sum({p.name}, 1)", "float32", p.want.sum(2),
                             p.error.sum(2) + (p.shape[1] + 2) * UNIT["float32"] * p.want.sum(2))  # fmt: skip
        if dtype != "float32":
            p = self.rounded(f"{p.name}.to(tl.{dtype})", dtype, p.want, p.error)
        n, d = p.shape[1], self.random.choice(COLUMNS)
        v = Factor(self, dtype, d, n, False, True)
        i, j = self.name("i"), self.name("j")
        self.lines += [f"{i} = tl.arange(0, {d})", f"{j} = tl.arange(0, {n})"]
        tile = v.turned(f"tl.load({v.pointers(i, j)})")
        precision, rounding = self.precision(dtype)
        want, error = self.multiplied(p.want, v.values.T, dtype, rounding, 1, p.error @ np.abs(v.values.T) + 2.0**-120)
        o = self.bounded(self.emit(f"tl.dot({p.name}, {tile}{precision})", "float32", want, error))
        scaled = o.want / lower(total.want)
        error = (o.error + np.abs(scaled) * lower(total.error)) / lower(total.want - total.error)
        return self.rounded(f"{o.name} / {total.name}[:, None]", "float32", scaled, error, 4)

    def attention(self):
        """Softmax of q k^T, times v, over blocks of keys with a running maximum."""
        random, dtype = self.random, self.random.choice(("float16", "bfloat16", "float32"))
        m, d, e = random.choice((16, 32, 64, 64)), random.choice((16, 32)), random.choice((16, 32, 40))
        s = random.choice((16, 32, 64))
        end, keys, is_whole = self.length(s)
        q = Factor(self, dtype, self.programs * m, d, True, True)
        kt, v = Factor(self, dtype, keys, d, False, True), Factor(self, dtype, e, keys, False, True)
        first, rounding = self.precision(dtype)
        second, rounding_p = self.precision(dtype)
        keep = "" if is_whole else f"x = tl.where(j[None, :] < {end}, x, -float('inf'))"
        limit = None if is_whole else end
        cast = "p" if dtype == "float32" else f"p.to(tl.{dtype})"
        tile_q = q.turned(f"tl.load({q.pointers('i', 'd')})")
        self.lines += [f"i = tl.program_id(0) * {m} + tl.arange(0, {m})", f"d = tl.arange(0, {d})",
                       f"e = tl.arange(0, {e})", f"q = {tile_q}",
                       f"top = tl.full([{m}], -float('inf'), tl.float32)", f"total = tl.zeros([{m}], tl.float32)",
                       f"acc = tl.zeros([{m}, {e}], tl.float32)"]  # fmt: skip
        tile_k = f"tl.load({kt.pointers('j', 'd')}{kt.mask('j', 'd', limit, None)})"
        tile_v = f"tl.load({v.pointers('e', 'j')}{v.mask('e', 'j', None, limit)})"
        body = [f"j = k + tl.arange(0, {s})", f"x = tl.dot(q, {kt.turned(tile_k)}{first}) * 0.0625", keep,
                "now = tl.maximum(top, tl.max(x, 1))", "p = tl.exp2(x - now[:, None])", "decay = tl.exp2(top - now)",
                "total = total * decay + tl.sum(p, 1)",
                f"acc = tl.dot({cast}, {v.turned(tile_v)}, acc * decay[:, None]{second})", "top = now"]  # fmt: skip
        self.loop_over(end, s, [line for line in body if line], keys)
        x = q.values.reshape(self.programs, m, d) @ kt.values.T / 16
        p = np.exp2(x - x.max(2, keepdims=True)) if keys else x
        total = p.sum(2, keepdims=True)
        divisor = np.where(total > 0, total, 1.0)
        want, size = p @ v.values.T / divisor, p @ np.abs(v.values.T) / divisor
        steps = -(-keys // s)
        unit = (UNIT[dtype] if dtype != "float32" else 0) + rounding_p + (keys + 12 * steps + 16) * CUT
        self.values.clear()
        return self.rounded(
            "acc / tl.where(total > 0, total, 1.0)[:, None]", "float32", want, 2 * unit * size + 2.0**-100
        )
