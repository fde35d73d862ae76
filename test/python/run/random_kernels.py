# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels with what they must give.

A kernel is a chain of operations on tiles. Each value is computed beside it in NumPy: integers exactly, floats in fp64
together with a bound on what rounding may have added to each element, so that a comparison needs no tolerance of its
own. Where a choice depends on a value (comparisons, argmax, conversions to integers) the value is exact.
"""

import linecache
import random

import numpy as np
import terrazzo as tz
import terrazzo.language as tl

SIGNED, UNSIGNED = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
FLOATS = ("float16", "bfloat16", "float32", "float64")
# Of fp64 four times as much: what is expected is computed in fp64 too.
UNIT = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-51}
SMALLEST = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-126, "float64": 2.0**-1022}
LIMIT = {"float16": 2.0**8, "bfloat16": 2.0**20, "float32": 2.0**20, "float64": 2.0**20}
NOT_OF_NUMPY = {"bfloat16": tl.bfloat16, "float8e4nv": tl.float8e4nv, "float8e5": tl.float8e5}
EXTENTS = (1, 2, 4, 8, 16, 32, 64, 3, 5, 12, 24, 33, 48, 96)
MOST_ELEMENTS = 4096


def round_bfloat16(x):
    """fp64 to the nearest bfloat16, as fp64; halves to even."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return rounded.view(np.float32).astype(np.float64)


class Value:
    """A tile in the kernel: its name there, and [program, *shape] of what it is and may be off by."""

    def __init__(self, name, dtype, want, error=None):
        self.name, self.dtype, self.want = name, dtype, want
        self.error = np.zeros(want.shape) if error is None else error

    @property
    def shape(self):
        return self.want.shape[1:]

    @property
    def is_float(self):
        return self.dtype in FLOATS

    @property
    def is_exact(self):
        return not self.error.any()


class Kernel:
    """A random kernel: `source`, inputs and outputs by name, and the values that it must give.

    `kinds` are names of the methods that make its operations; all by default.
    """

    KINDS = (
        "integer_arithmetic", "float_arithmetic", "float_arithmetic", "unary", "choice", "cast", "reduction", "scan",
        "recurrence", "dot", "broadcast", "transpose", "reshape", "loop", "program_number", "gather", "masked_load",
        "masked_atomic", "histogram", "pick",
    )  # fmt: skip

    def __init__(self, seed, most_operations=8, kinds=KINDS):
        self.begin(seed, kinds)
        for _ in range(self.random.randint(1, 3)):
            self.load()
        for _ in range(self.random.randint(2, most_operations)):
            self.operation()
        self.store_all()
        self.source = self._source()

    def begin(self, seed, kinds):
        """A kernel without lines."""
        self.seed, self.kinds = seed, kinds
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.programs = self.random.choice((1, 2, 3))
        self.num_warps = self.random.choice((1, 2, 4, 4, 8, 16))
        self.options = {"num_warps": self.num_warps}
        self.lines, self.helpers, self.values, self.constants = [], [], [], []
        self.inputs, self.outputs, self.scalars = {}, [], {}
        self.count = 0

    # ---- text

    def name(self, prefix="v"):
        self.count += 1
        return f"{prefix}{self.count}"

    def emit(self, text, dtype, want, error=None):
        """A line that makes a value; floats get the rounding of their own type."""
        name = self.name()
        self.lines.append(f"{name} = {text}")
        value = Value(name, dtype, want, error)
        self.values.append(value)
        return value

    def rounded(self, text, dtype, exact, error, steps=1):
        """As emit, of an operation that rounds `steps` times."""
        exact = np.asarray(exact, np.float64)
        error = error + steps * 1.01 * UNIT[dtype] * (np.abs(exact) + error) + SMALLEST[dtype]
        return self.bounded(self.emit(text, dtype, exact, error))

    def bounded(self, value):
        """Scales a float by a power of two where it might overflow later."""
        largest = float(np.max(np.abs(value.want) + value.error, initial=0.0))
        if value.is_float and largest > LIMIT[value.dtype] / 4:
            self.values.remove(value)
            scale = 2.0 ** -int(np.ceil(np.log2(largest)))
            error = value.error * scale + SMALLEST[value.dtype]
            value = self.emit(f"{value.name} * {scale!r}", value.dtype, value.want * scale, error)
        return value

    def _source(self):
        arguments = [*self.inputs, *(name for name, _ in self.outputs), *self.scalars]
        arguments += [f"{name}: tl.constexpr = {value}" for name, value in self.constants]
        body = "\n".join("    " + line for line in self.lines)
        return "\n\n".join([*self.helpers, f"@tz.jit\ndef kernel({', '.join(arguments)}):\n{body}\n"])

    def compiled(self):
        """The jit function of the source."""
        file = f"<random kernel {self.seed}>"
        linecache.cache[file] = (len(self.source), None, self.source.splitlines(True), file)
        scope = {"tz": tz, "tl": tl, "__name__": f"random_kernel_{self.seed}"}
        exec(compile(self.source, file, "exec"), scope)
        return scope["kernel"]

    # ---- inputs

    def shape(self):
        rank = self.random.choice((1, 1, 2, 2, 2, 3))
        while True:
            shape = tuple(self.random.choice(EXTENTS) for _ in range(rank))
            if np.prod(shape) <= MOST_ELEMENTS:
                return shape

    def offsets(self, shape):
        """Text of the row-major numbers of a tile's elements."""
        terms, step = [], 1
        for axis in reversed(range(len(shape))):
            index = ", ".join(":" if a == axis else "None" for a in range(len(shape)))
            spread = f"[{index}]" if len(shape) > 1 else ""
            terms.append(f"tl.arange(0, {shape[axis]}){spread} * {step}")
            step *= shape[axis]
        return " + ".join(terms)

    def numbers_of(self, dtype, count):
        """Random input: (the array to pass, its values)."""
        if dtype in INTEGERS:
            info = np.iinfo(dtype)
            wide = self.random.random() < 0.3
            low, high = (info.min, info.max) if wide else (max(info.min, -50), 100)
            array = self.numbers.integers(low, high, count, dtype, endpoint=True)
            return array, array
        values = self.numbers.uniform(-2, 2, count)
        if dtype == "bfloat16":
            values = round_bfloat16(values)
            return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16), values
        array = values.astype(dtype)
        return array, array.astype(np.float64)

    def load(self, shape=None, dtype=None):
        shape = shape or self.shape()
        dtype = dtype or self.random.choice(INTEGERS + FLOATS * 2)
        size = int(np.prod(shape))
        total = self.programs * size - (self.random.randint(0, size - 1) if self.random.random() < 0.5 else 0)
        array, values = self.numbers_of(dtype, total)
        name = self.name("x")
        self.inputs[name] = (array, dtype)
        other = self.random.choice((0, 1)) if dtype in INTEGERS else self.random.choice((0.0, 1.5))
        want = np.full(self.programs * size, other, values.dtype)
        want[:total] = values
        at = self.name("i")
        self.lines.append(f"{at} = tl.program_id(0) * {size} + {self.offsets(shape)}")
        pointer = f"{name} + {at}"
        mask = f", mask={at} < {total}, other={other}" if total < self.programs * size else ""
        return self.emit(f"tl.load({pointer}{mask})", dtype, want.reshape(self.programs, *shape))

    # ---- masks

    def places(self, shape):
        """The name of a tile (or, of no shape, a scalar) of an element's place in memory, and the places."""
        at, size = self.name("i"), int(np.prod(shape, initial=1))
        offsets = f" * {size} + {self.offsets(shape)}" if shape else ""
        self.lines.append(f"{at} = tl.program_id(0){offsets}")
        return at, np.arange(self.programs * size).reshape(self.programs, *shape)

    def constant_mask(self, shape):
        """Text of a mask that is known when the kernel is compiled, and whether it is true."""
        value = self.random.random() < 0.4
        kind = self.random.choice(("literal", "constexpr", "scalar", "tile" if shape else "scalar"))
        if kind == "literal":
            return str(value), value
        if kind == "constexpr":
            self.constants.append((self.name("M"), value))
            return self.constants[-1][0], value
        return f"tl.full({list(shape) if kind == 'tile' else '()'}, {value}, tl.int1)", value

    def mask(self, at, places):
        """Text of any mask, and for each place whether it is true."""
        kind = self.random.choice(("constant", "constant", "bounds", "both", "program"))
        constant, value = self.constant_mask(places.shape[1:])
        if kind == "constant":
            return constant, np.full(places.shape, value)
        if kind == "program":  # a scalar at run time
            last = self.random.randint(0, self.programs)
            pids = np.arange(self.programs).reshape(-1, *[1] * (places.ndim - 1))
            return f"tl.program_id(0) < {last}", np.broadcast_to(pids < last, places.shape)
        limit = self.random.choice((-1, places.size, self.random.randint(0, places.size)))
        if kind == "bounds":
            return f"{at} < {limit}", places < limit
        return f"({at} < {limit}) & {constant}", (places < limit) & value

    def other(self, dtype, shape, like):
        """Text of an `other` of any type, and its value, as elements of an array like that."""
        kind = self.random.choice(("none", "number", "constexpr", "scalar", "tile", "value"))
        if kind == "none":
            return "", np.zeros((), like.dtype)
        exact = [v for v in self.values if v.shape == shape and v.dtype in INTEGERS and dtype in INTEGERS]
        if kind == "value" and exact:
            value = self.random.choice(exact)
            return f", other={value.name}", value.want.astype(like.dtype)
        numbers = (0, 1, 3, True) if dtype in INTEGERS else (0, 1, 3, True, 0.0, -0.5, 2.5)
        number = self.random.choice(numbers)
        if kind == "constexpr":
            self.constants.append((self.name("O"), number))
            return f", other={self.constants[-1][0]}", np.array(number, like.dtype)
        if kind in ("scalar", "tile") and not isinstance(number, bool):
            types = FLOATS if isinstance(number, float) else INTEGERS + FLOATS
            size = list(shape) if kind == "tile" and shape else "()"
            return f", other=tl.full({size}, {number}, tl.{self.random.choice(types)})", np.array(number, like.dtype)
        return f", other={number}", np.array(number, like.dtype)

    def masked_load(self):
        shape = () if self.random.random() < 0.3 else self.shape()
        dtype = self.random.choice(INTEGERS + FLOATS * 2)
        at, places = self.places(shape)
        array, values = self.numbers_of(dtype, places.size)
        name = self.name("x")
        self.inputs[name] = (array, dtype)
        mask, test = self.mask(at, places)
        other, instead = self.other(dtype, shape, values)
        # Nothing is read where the mask is false, wherever that is.
        where = at if test.any() else f"{at} * 1000003"
        want = np.where(test, values.reshape(places.shape), instead).astype(values.dtype)
        return self.emit(f"tl.load({name} + {where}, mask={mask}{other})", dtype, want)

    def masked_atomic(self):
        """What atomic_add found, and 0 where the mask is false."""
        shape = () if self.random.random() < 0.3 else self.shape()
        dtype = self.random.choice(("int32", "int64", "float32", "float64"))
        at, places = self.places(shape)
        array, values = self.numbers_of(dtype, places.size)
        name = self.name("x")
        self.inputs[name] = (array, dtype)
        mask, test = self.mask(at, places)
        want = np.where(test, values.reshape(places.shape), np.zeros((), values.dtype))
        return self.emit(f"tl.atomic_add({name} + {at}, 1, mask={mask})", dtype, want)

    # ---- outputs

    def store_all(self):
        """Stores the last values, so that everything that led to them is checked."""
        for value in self.values[-4:]:
            name = self.name("y")
            at, places = self.places(value.shape)
            stored = f"{value.name}.to(tl.int32)" if value.dtype == "bool" else value.name
            mask, test = self.mask(at, places) if self.random.random() < 0.3 else ("", np.full(places.shape, True))
            mask = f", mask={mask}" if mask else ""
            self.lines.append(f"tl.store({name} + {at}, {stored}{mask})")
            self.outputs.append((name, (value, test.reshape(-1))))

    # ---- operations

    def recent(self, test=lambda value: True):
        """A value with a property; a new input if there is none."""
        found = [v for v in self.values if test(v)]
        return self.random.choice(found[-6:]) if found else None

    def tile(self, test=lambda value: True, rank=None):
        def fits(v):
            return v.dtype != "bool" and v.shape and (rank is None or len(v.shape) == rank) and test(v)

        return self.recent(fits)

    def partner(self, value):
        """Another value of the same type and a shape that goes with it."""
        found = [v for v in self.values if v.dtype == value.dtype and v.shape == value.shape and v is not value]
        return self.random.choice(found) if found else self.load(value.shape, value.dtype)

    def operation(self):
        for _ in range(20):
            if getattr(self, self.random.choice(self.kinds))() is not None:
                return

    def integer_arithmetic(self):
        a = self.tile(lambda v: v.dtype in INTEGERS)
        if a is None:
            return None
        b = self.partner(a)
        op = self.random.choice(("+", "-", "*", "&", "|", "^", "minimum", "maximum", "<<", ">>", "//", "%"))
        with np.errstate(over="ignore"):
            if op in ("<<", ">>"):
                amount = self.random.randint(0, np.iinfo(a.dtype).bits - 1)
                shift = np.left_shift if op == "<<" else np.right_shift
                return self.emit(f"{a.name} {op} {amount}", a.dtype, shift(a.want, np.array(amount, a.dtype)))
            if op in ("//", "%"):
                if a.dtype not in UNSIGNED:
                    return None
                want = a.want // (b.want | 1) if op == "//" else a.want % (b.want | 1)
                return self.emit(f"{a.name} {op} ({b.name} | 1)", a.dtype, want)
            if op in ("minimum", "maximum"):
                return self.emit(f"tl.{op}({a.name}, {b.name})", a.dtype, getattr(np, op)(a.want, b.want))
            functions = {"+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or,
                         "^": np.bitwise_xor}  # fmt: skip
            return self.emit(f"{a.name} {op} {b.name}", a.dtype, functions[op](a.want, b.want))

    def float_arithmetic(self):
        a = self.tile(lambda v: v.is_float)
        if a is None:
            return None
        b = self.partner(a)
        op = self.random.choice(("+", "-", "*", "minimum", "maximum", "fma"))
        if op in "+-":
            exact = a.want + b.want if op == "+" else a.want - b.want
            return self.rounded(f"{a.name} {op} {b.name}", a.dtype, exact, a.error + b.error)
        product_error = np.abs(a.want) * b.error + np.abs(b.want) * a.error + a.error * b.error
        if op == "*":
            return self.rounded(f"{a.name} * {b.name}", a.dtype, a.want * b.want, product_error)
        if op == "fma":
            c = self.partner(a)
            error = product_error + c.error + 2 * UNIT[a.dtype] * np.abs(a.want * b.want) + SMALLEST[a.dtype]
            return self.rounded(f"{a.name} * {b.name} + {c.name}", a.dtype, a.want * b.want + c.want, error)
        error = np.maximum(a.error, b.error)
        return self.emit(f"tl.{op}({a.name}, {b.name})", a.dtype, getattr(np, op)(a.want, b.want), error)

    def unary(self):
        a = self.tile()
        if a is None:
            return None
        if not a.is_float:
            if a.dtype in UNSIGNED:
                return self.emit(f"~{a.name}", a.dtype, ~a.want)
            with np.errstate(over="ignore"):
                return self.emit(f"-{a.name}", a.dtype, -a.want)
        kind = self.random.choice(("neg", "abs", "scale", "sigmoid", "exp2", "sqrt", "tanh"))
        if kind == "neg":
            return self.emit(f"-{a.name}", a.dtype, -a.want, a.error)
        if kind == "abs":
            return self.emit(f"tl.abs({a.name})", a.dtype, np.abs(a.want), a.error)
        if kind == "scale":
            error = a.error * 0.75 + 2 * UNIT[a.dtype] * (np.abs(a.want) + 0.5)
            return self.rounded(f"{a.name} * 0.75 + 0.5", a.dtype, a.want * 0.75 + 0.5, error)
        if a.dtype not in ("float32", "float64"):
            return None
        x = a.want
        if kind == "sigmoid":
            exact = 1 / (1 + np.exp(-x))
            # Of a small result the exponent's rounding counts.
            error = a.error / 4 + exact * np.abs(x) * 2 * UNIT[a.dtype]
            return self.rounded(f"tl.sigmoid({a.name})", a.dtype, exact, error, 8)
        if kind == "exp2":
            clipped = np.clip(x, -4, 4)
            exact = np.exp2(clipped)
            text = f"tl.exp2(tl.minimum(tl.maximum({a.name}, -4.0), 4.0))"
            return self.rounded(text, a.dtype, exact, exact * np.expm1(np.minimum(a.error, 4) * np.log(2)), 4)
        if kind == "sqrt":
            return self.rounded(f"tl.sqrt(tl.abs({a.name}) + 1.0)", a.dtype, np.sqrt(np.abs(x) + 1), a.error / 2, 4)
        return self.rounded(f"tl.tanh({a.name})", a.dtype, np.tanh(x), a.error, 8)

    def condition(self, shape):
        """Text and value of a test that rounding cannot turn over."""
        exact = [v for v in self.values if v.shape == shape and v.is_exact and v.dtype != "bool"]
        if not exact:
            exact = [self.load(shape)]
        a = self.random.choice(exact)
        others = [v for v in exact if v.dtype == a.dtype and v is not a]
        op = self.random.choice(("<", "<=", ">", ">=", "==", "!="))
        functions = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal,
                     "!=": np.not_equal}  # fmt: skip
        if others:
            b = self.random.choice(others)
            return f"{a.name} {op} {b.name}", functions[op](a.want, b.want)
        constant = 1.0 if a.is_float else 3
        return f"{a.name} {op} {constant}", functions[op](a.want, constant)

    def choice(self):
        a = self.tile()
        if a is None:
            return None
        b = self.partner(a)
        text, test = self.condition(a.shape)
        want, error = np.where(test, a.want, b.want), np.where(test, a.error, b.error)
        return self.emit(f"tl.where({text}, {a.name}, {b.name})", a.dtype, want, error)

    def cast(self):
        a = self.tile()
        if a is None:
            return None
        if a.is_float:
            to = self.random.choice([f for f in FLOATS if f != a.dtype])
            return self.rounded(f"{a.name}.to(tl.{to})", to, a.want, a.error)
        to = self.random.choice(INTEGERS + ("float32", "float64"))
        if to in INTEGERS:
            return self.emit(f"{a.name}.to(tl.{to})", to, a.want.astype(to))
        if np.max(np.abs(a.want.astype(np.float64)), initial=0) >= 2**20:
            return None
        return self.bounded(self.emit(f"{a.name}.to(tl.{to})", to, a.want.astype(np.float64)))

    def axis_of(self, a):
        return self.random.randrange(len(a.shape))

    def reduction(self):
        a = self.tile()
        if a is None:
            return None
        axis = self.axis_of(a)
        n, kind = a.shape[axis], self.random.choice(("sum", "max", "min", "argmax", "argmin", "xor_sum"))
        call = f"{a.name}, axis={axis}"
        if kind == "sum":
            if a.is_float:
                error = a.error.sum(axis + 1)
                error = error + (n + 2) * UNIT[a.dtype] * (np.abs(a.want) + a.error).sum(axis + 1)
                return self.rounded(f"tl.sum({call})", a.dtype, a.want.sum(axis + 1), error, 2)
            dtype = a.dtype if a.dtype[-2:] in ("32", "64") else ("u" if a.dtype in UNSIGNED else "") + "int32"
            return self.emit(f"tl.sum({call}).to(tl.{dtype})", dtype, a.want.sum(axis + 1, dtype=dtype))
        if kind in ("max", "min"):
            want = getattr(a.want, kind)(axis + 1)
            text = f"tl.{kind}({call}).to(tl.{a.dtype})"
            return self.emit(text, a.dtype, want, a.error.max(axis + 1) if a.is_float else None)
        if kind == "xor_sum":
            if a.is_float:
                return None
            want = np.bitwise_xor.reduce(a.want, axis + 1)
            return self.emit(f"tl.xor_sum({call}).to(tl.{a.dtype})", a.dtype, want)
        if not a.is_exact:
            return None
        return self.emit(f"tl.{kind}({call})", "int32", getattr(a.want, kind)(axis + 1).astype(np.int32))

    def scan(self):
        a = self.tile()
        if a is None:
            return None
        axis, reverse = self.axis_of(a), self.random.random() < 0.5
        turn = (lambda x: np.flip(x, axis + 1)) if reverse else (lambda x: x)
        call = f"axis={axis}" + (", reverse=True" if reverse else "")
        if not a.is_float or self.random.random() < 0.3:
            helper = self.name("larger")
            self.helpers.append(f"@tz.jit\ndef {helper}(a, b):\n    return tl.maximum(a, b)\n")
            want = turn(np.maximum.accumulate(turn(a.want), axis + 1))
            error = turn(np.maximum.accumulate(turn(a.error), axis + 1))
            return self.emit(f"tl.associative_scan({a.name}, {axis}, {helper}{', reverse=True' if reverse else ''})",
                             a.dtype, want, error)  # fmt: skip
        size = turn(np.cumsum(turn(np.abs(a.want) + a.error), axis + 1))
        error = turn(np.cumsum(turn(a.error), axis + 1)) + (a.shape[axis] + 2) * UNIT[a.dtype] * size
        want = turn(np.cumsum(turn(a.want), axis + 1))
        return self.rounded(f"tl.cumsum({a.name}, {call})", a.dtype, want, error, 2)

    def recurrence(self):
        a = self.tile(lambda v: v.dtype in ("float32", "float64", "int32", "int64"))
        if a is None:
            return None
        axis, reverse = self.axis_of(a), self.random.random() < 0.5
        rest = tuple(n for i, n in enumerate(a.shape) if i != axis)
        helper, result = self.name("step"), self.name("r")
        formula = "h * 0.5 + x" if a.is_float else "h * 3 + x"
        self.helpers.append(f"@tz.jit\ndef {helper}(h, x):\n    h = {formula}\n    return h, h\n")
        init = f"tl.zeros({list(rest)}, tl.{a.dtype})" if rest else f"tl.full((), 0, tl.{a.dtype})"
        self.lines.append(
            f"{result} = tl.recurrence({helper}, {init}, {a.name}, axis={axis}"
            + (", reverse=True)" if reverse else ")")
        )
        xs, errors = np.moveaxis(a.want, axis + 1, 0), np.moveaxis(a.error, axis + 1, 0)
        order = range(len(xs))[::-1] if reverse else range(len(xs))
        h, e = np.zeros_like(xs[0]), np.zeros(xs[0].shape)
        ys, es = np.empty_like(xs), np.zeros(xs.shape)
        with np.errstate(over="ignore"):
            for t in order:
                if a.is_float:
                    h = h * 0.5 + xs[t]
                    e = e * 0.5 + errors[t]
                    e = e + 3 * UNIT[a.dtype] * (np.abs(h) + np.abs(xs[t]) + e) + SMALLEST[a.dtype]
                else:
                    h = h * np.array(3, a.dtype) + xs[t]
                ys[t], es[t] = h, e
        return self.bounded(
            self.emit(f"{result}[1]", a.dtype, np.moveaxis(ys, 0, axis + 1), np.moveaxis(es, 0, axis + 1))
        )

    def dot(self):
        if self.random.random() < 0.4:  # dear
            return None
        m, n, k = (self.random.choice((16, 16, 32, 48, 64)) for _ in range(3))
        dtype = self.random.choice(("float16", "bfloat16", "float32", "int8"))
        a, b = self.load((m, k), dtype), self.load((k, n), dtype)
        if dtype == "int8":
            want = a.want.astype(np.int32) @ b.want.astype(np.int32)
            return self.emit(f"tl.dot({a.name}, {b.name})", "int32", want)
        precision = ", input_precision='ieee'" if dtype == "float32" else ""
        size = np.abs(a.want) @ np.abs(b.want)
        error = (k + 4) * UNIT["float32"] * size
        return self.rounded(f"tl.dot({a.name}, {b.name}{precision})", "float32", a.want @ b.want, error, 2)

    def broadcast(self):
        a = self.tile(lambda v: len(v.shape) < 3)
        if a is None:
            return None
        axis = self.random.randrange(len(a.shape) + 1)
        extent = self.random.choice((2, 4, 8, 5))
        if np.prod(a.shape) * extent > MOST_ELEMENTS:
            return None
        shape = (*a.shape[:axis], extent, *a.shape[axis:])
        spread = lambda x: np.broadcast_to(np.expand_dims(x, axis + 1), (self.programs, *shape)).copy()
        text = f"tl.broadcast_to(tl.expand_dims({a.name}, {axis}), {list(shape)})"
        return self.emit(text, a.dtype, spread(a.want), spread(a.error))

    def transpose(self):
        a = self.tile(lambda v: len(v.shape) > 1)
        if a is None:
            return None
        order = list(range(len(a.shape)))
        self.random.shuffle(order)
        turned = [0, *(i + 1 for i in order)]
        text = f"tl.permute({a.name}, {order})"
        return self.emit(text, a.dtype, a.want.transpose(turned), a.error.transpose(turned))

    def reshape(self):
        a = self.tile(lambda v: len(v.shape) > 1)
        if a is None:
            return None
        size = int(np.prod(a.shape))
        shape = (self.programs, size)
        return self.emit(f"tl.reshape({a.name}, [{size}])", a.dtype, a.want.reshape(shape), a.error.reshape(shape))

    def loop(self):
        a = self.tile(lambda v: v.dtype in ("float32", "float64", "int32", "int64"))
        if a is None:
            return None
        name, steps = self.name("s"), self.random.randint(0, 5)
        formula = f"{name} * 0.5 + {a.name}" if a.is_float else f"{name} * 3 + {a.name}"
        self.lines += [f"{name} = {a.name}", f"for _ in range({steps}):", f"    {name} = {formula}"]
        want, error = a.want, a.error
        with np.errstate(over="ignore"):
            for _ in range(steps):
                if a.is_float:
                    error = error * 0.5 + a.error
                    want = want * 0.5 + a.want
                    error = error + 3 * UNIT[a.dtype] * (np.abs(want) + np.abs(a.want) + error) + SMALLEST[a.dtype]
                else:
                    want = want * np.array(3, a.dtype) + a.want
        return self.bounded(self.emit(f"{name}", a.dtype, want, error))

    def program_number(self):
        a = self.tile(lambda v: v.dtype == "int32")
        if a is None:
            return None
        pids = np.arange(self.programs, dtype=np.int32).reshape(-1, *[1] * len(a.shape))
        with np.errstate(over="ignore"):
            return self.emit(f"{a.name} + tl.program_id(0)", a.dtype, a.want + pids)

    def gather(self):
        """Loads from places that another tile says."""
        a = self.tile(lambda v: v.dtype in ("uint32", "uint16", "uint64"))
        if a is None:
            return None
        count, dtype = self.random.randint(1, 300), self.random.choice(INTEGERS + FLOATS)
        array, values = self.numbers_of(dtype, count)
        name = self.name("x")
        self.inputs[name] = (array, dtype)
        index = f"({a.name} % {count}).to(tl.int64)" if count < np.iinfo(a.dtype).max else None
        if index is None:
            return None
        return self.emit(
            f"tl.load({name} + {index})", dtype, values[(a.want % np.array(count, a.dtype)).astype(np.int64)]
        )

    def pick(self):
        """Elements along an axis, by an index of any width."""
        a = self.tile()
        if a is None:
            return None
        axis = self.axis_of(a)
        shape = (*a.shape[:axis], self.random.choice((1, 2, 5, 8, 16)), *a.shape[axis + 1 :])
        if np.prod(shape) > MOST_ELEMENTS:
            return None
        wide_enough = lambda types: [t for t in types if np.iinfo(t).max >= a.shape[axis]]
        index = self.load(shape, self.random.choice(wide_enough(UNSIGNED)))
        number = index.want % np.array(a.shape[axis], index.dtype)
        text = f"{index.name} % {a.shape[axis]}"
        if self.random.random() < 0.5:
            text = f"({text}).to(tl.{self.random.choice(wide_enough(SIGNED))})"
        number = number.astype(np.int64)
        return self.emit(
            f"tl.gather({a.name}, {text}, {axis})", a.dtype,
            np.take_along_axis(a.want, number, axis + 1), np.take_along_axis(a.error, number, axis + 1),
        )  # fmt: skip

    def histogram(self):
        """Counts of integers of any width, with masks that come from tiles of others."""
        a = self.tile(lambda v: v.dtype in INTEGERS, rank=1)
        if a is None:
            return None
        bins = self.random.choice((1, 3, 16, 100, 256))
        text, test = "", np.full(a.want.shape, True)
        if self.random.random() < 0.7:
            text, test = self.condition(a.shape)
            if self.random.random() < 0.3:
                constant, value = self.constant_mask(a.shape)
                text, test = f"({text}) & {constant}", test & value
            text = f", mask={text}"
        inside = test & (a.want >= 0) & (a.want < np.array(bins, object)).astype(bool)
        want = np.stack([np.bincount(row[keep].astype(np.int64), minlength=bins)
                         for row, keep in zip(a.want, inside, strict=True)])  # fmt: skip
        return self.emit(f"tl.histogram({a.name}, {bins}{text})", "int32", want.astype(np.int32))


# ---- running them


def stored_type(dtype):
    """NumPy's type for the memory of an element."""
    return {"bfloat16": np.uint16, "bool": np.int32}.get(dtype, dtype)


def read(array, dtype):
    """The values of an array in memory as they compare: floats in fp64."""
    if dtype == "bfloat16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64) if dtype in FLOATS else array


def run(kernel, place, **options):
    """The outputs of a kernel on a place: `place(array, dtype)` makes an argument and a function that reads it back."""
    function = kernel.compiled()
    arguments = [place(array, dtype)[0] for array, dtype in kernel.inputs.values()]
    readers = []
    for _, (value, _) in kernel.outputs:
        memory = np.zeros(kernel.programs * int(np.prod(value.shape, initial=1)), stored_type(value.dtype))
        argument, reader = place(memory, value.dtype)
        arguments.append(argument)
        readers.append(reader)
    function[(kernel.programs,)](*arguments, *kernel.scalars.values(), **kernel.options, **options)
    return [reader() for reader in readers]


def on_host(array, dtype):
    """An argument in host memory."""
    copy = array.copy()
    return (tz.reinterpret(copy, NOT_OF_NUMPY[dtype]) if dtype in NOT_OF_NUMPY else copy), lambda: copy


def check(kernel, outputs):
    """Raises AssertionError, with the seed and the source, unless all outputs are within their bounds."""
    for (name, (value, written)), memory in zip(kernel.outputs, outputs, strict=True):
        have, want = read(memory, value.dtype), value.want.reshape(-1).copy()
        want[~written] = 0
        if value.is_float:
            error = value.error.reshape(-1).copy()
            error[~written] = 0
            off = np.abs(have - want) > error + 1e-300
            off |= np.isnan(have)
        else:
            off = have != want
        if off.any():
            at = int(np.flatnonzero(off)[0])
            allowed = f" within {value.error.reshape(-1)[at]:.3g}" if value.is_float else ""
            raise AssertionError(
                f"random kernel {kernel.seed}: {int(off.sum())} of {off.size} elements of {name} ({value.name}, "
                f"{value.dtype} {list(value.shape)}, num_warps {kernel.num_warps}) differ; element {at} is {have[at]}, "
                f"expected {want[at]}{allowed}\n{kernel.source}"
            )
