# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes what tz-simt-to-llvm makes, all threads of a block at once: a value is an array with one entry a thread.

Reads the generic form of the IR. Checked are bounds, alignment, that all lanes take part in a shuffle, and that
barriers for copies count what comes.
"""

import re

import matrix_units
import ml_dtypes
import numpy as np

SHARED_BASE = 1 << 40
PRIVATE_BASE = 1 << 41
MAP_BASE = 1 << 42
FLOATS = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
}
INTEGERS = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
VALUE = re.compile(r"%[\w#]+")


def dtype_of(text):
    text = text.strip()
    if text.startswith("!llvm.ptr"):
        return np.dtype(np.int64)
    return np.dtype({**FLOATS, **INTEGERS}[text])


def vector_of(text):
    """(lanes, dtype): lanes is 0 for a scalar."""
    match = re.fullmatch(r"vector<(\d+)x(\w+)>", text.strip())
    return (int(match[1]), dtype_of(match[2])) if match else (0, dtype_of(text))


class Op:
    """One operation: names of values, types and attributes as text, blocks of the regions."""

    def __init__(self, name, results, operands):
        self.name, self.results, self.operands = name, results, operands
        self.attributes, self.types, self.regions = "", [], []

    def attribute(self, name, default=None):
        match = re.search(rf"\b{name} = (array<[^>]*>|-?[\w.#<>+-]+)", self.attributes)
        return match[1] if match else default

    def number(self, name, default=0):
        text = self.attribute(name)
        return (
            default if text is None else {"true": 1, "false": 0}.get(text) if text in ("true", "false") else int(text)
        )


class Block:
    def __init__(self, arguments):
        self.arguments, self.ops = arguments, []


def names(text):
    return [name.replace("#", ":") for name in VALUE.findall(text)]


def finish(op, text):
    """The part of an op behind its regions: attributes and types."""
    head, arrow, results = text.rpartition(" -> ")
    op.attributes += head if arrow else text
    results = results.strip()
    if results.startswith("("):
        results = results[1:-1]
    op.types = [t for t in re.split(r", (?![^<]*>)", results) if t]


def parse(text):
    """The blocks of the first function's body."""
    top = Block([])
    stack = [(None, [top])]
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith(("//", "#")):
            continue
        if line.startswith("^"):
            blocks = stack[-1][1]
            blocks.append(Block(re.findall(r"(%\w+): ", line)))
        elif line.startswith("}"):
            op, blocks = stack.pop()
            op.regions.append(blocks)
            if line.startswith("}, {"):
                stack.append((op, []))
            else:
                finish(op, line[2:])
        else:
            match = re.match(r'(?:(%\w+)(?::(\d+))? = )?"([\w.]+)"\(([^)]*)\)(.*)$', line)
            name, count, kind, operands, rest = match.groups()
            results = [f"{name}:{i}" for i in range(int(count))] if count else [name] if name else []
            op = Op(kind, results, names(operands))
            blocks = stack[-1][1]
            if not blocks:
                blocks.append(Block([]))
            blocks[-1].ops.append(op)
            if line.endswith("({"):
                op.attributes = rest
                stack.append((op, []))
            else:
                finish(op, rest)
    return top


def find_functions(block):
    for op in block.ops:
        if op.name == "func.func":
            yield op
        for region in op.regions:
            for inner in region:
                yield from find_functions(inner)


class Machine:
    """A block of threads that runs a kernel."""

    def __init__(self, text, warp_size=32, num_warps=4, shared_bytes=0):
        (self.kernel,) = find_functions(parse(text))
        self.warp_size, self.num_warps = warp_size, num_warps
        self.count = warp_size * num_warps
        self.shared = np.full(shared_bytes, 0xA5, np.uint8)
        self.started, self.groups = [], []
        self.flight = matrix_units.Flight()
        self.maps, self.mbarriers = [], {}
        self.global_memory = np.zeros(0, np.uint8)
        self.private = np.zeros((self.count, 0), np.uint8)
        self.allowed = []

    def allocate(self, array):
        """Puts an array into global memory, between guards; gives its address."""
        data = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)
        start = (len(self.global_memory) + 64 + 63) // 64 * 64
        grown = np.zeros(start + len(data), np.uint8)
        grown[: len(self.global_memory)] = self.global_memory
        grown[start:] = data
        self.allowed.append((start, start + len(data)))
        self.global_memory = grown
        return start

    def read(self, address, like):
        like = np.asarray(like)
        return np.frombuffer(self.global_memory[address : address + like.nbytes].tobytes(), like.dtype).reshape(
            like.shape
        )

    def run(self, *arguments, program=(0, 0, 0), grid=(1, 1, 1)):
        self.program, self.grid = program, grid
        block = self.kernel.regions[0][0]
        self.values = {}
        for name, argument in zip(block.arguments, arguments, strict=True):
            self.values[name] = self.uniform(argument)
        self.run_block(block, np.ones(self.count, bool))

    def uniform(self, value):
        return np.repeat(np.asarray(value)[None], self.count, 0)

    # Control flow

    def run_block(self, block, active):
        """Returns the terminator's operands."""
        for op in block.ops:
            operands = [self.values[name] for name in op.operands]
            if op.name in ("scf.yield", "scf.condition", "func.return"):
                return operands
            results = self.execute(op, operands, active)
            for name, value in zip(op.results, results, strict=True):
                self.values[name] = value
        return []

    def choose(self, active, new, old):
        """What threads carry on: those that are not active keep what they had."""
        return [np.where(active.reshape((-1,) + (1,) * (n.ndim - 1)), n, o) for n, o in zip(new, old, strict=True)]

    def bind(self, block, values):
        self.values.update(zip(block.arguments, values, strict=True))

    def execute_for(self, op, operands, active):
        lower, upper, step, *carried = operands
        body = op.regions[0][0]
        if "unsignedCmp" in op.attributes:
            lower, upper, step = (x.astype(f"u{x.dtype.itemsize}") for x in (lower, upper, step))
        at, running = lower, active & (lower < upper)
        while running.any():
            self.bind(body, [at.astype(operands[0].dtype), *carried])
            carried = self.choose(running, self.run_block(body, running), carried)
            with np.errstate(over="ignore"):
                at = at + step  # as a machine counts: past the end of the type it begins anew
            running = running & (at < upper)
        return carried

    def execute_while(self, op, operands, active):
        before, after = op.regions[0][0], op.regions[1][0]
        carried, running, results = operands, active, None
        while True:
            self.bind(before, carried)
            condition, *passed = self.run_block(before, running)
            results = passed if results is None else self.choose(running, passed, results)
            running = running & condition
            if not running.any():
                return results
            self.bind(after, passed)
            carried = self.choose(running, self.run_block(after, running), carried)

    def execute_if(self, op, operands, active):
        condition = operands[0]
        results = None
        for region, taken in zip(op.regions, (active & condition, active & ~condition), strict=False):
            if not region or not region[0].ops:
                continue
            out = self.run_block(region[0], taken) if taken.any() else None
            if out is not None:
                results = out if results is None else self.choose(taken, out, results)
        if results is None:
            lanes = [vector_of(t) for t in op.types]
            return [np.zeros((self.count,) + ((n,) if n else ()), t) for n, t in lanes]
        return results

    # Memory

    def bytes_at(self, addresses, size, active):
        """The memory and the offsets of an access, checked."""
        assert not (addresses[active] % size).any(), "a misaligned access"
        is_shared = (addresses[active] >= SHARED_BASE).all()
        start = addresses[active] - (SHARED_BASE if is_shared else 0)
        if is_shared:
            assert (start >= 0).all() and (start + size <= len(self.shared)).all(), "outside of shared memory"
        else:
            inside = np.zeros(len(start), bool)
            for low, high in self.allowed:
                inside |= (start >= low) & (start + size <= high)
            assert inside.all(), "outside of global memory"
        memory = self.shared if is_shared else self.global_memory
        return memory, start[:, None] + np.arange(size)

    def memory_operands(self, op, operands, count):
        """Splits operands into the first `count` and the mask, then others."""
        sizes = re.search(r"operandSegmentSizes = array<i32: ([\d, ]+)>", op.attributes)
        if sizes:
            parts = [int(n) for n in sizes[1].split(",")]
            iterator = iter(operands)
            return [next(iterator) if n else None for n in parts]
        return [*operands, *[None] * (count + 1 - len(operands))]

    def segments(self, op, operands):
        """Operands by group: one or None for each of pointers, a list for each of the others."""
        sizes = [int(n) for n in re.search(r"operandSegmentSizes = array<i32: ([\d, ]+)>", op.attributes)[1].split(",")]
        iterator = iter(operands)
        lhs, fragments, rhs, accs = ([next(iterator) for _ in range(n)] for n in sizes)
        return lhs[0] if lhs else None, fragments, rhs[0], accs

    def execute_load(self, op, operands, active):
        ptr, mask, other = self.memory_operands(op, operands, 1)
        lanes, dtype = vector_of(op.types[0])
        size = max(lanes, 1) * dtype.itemsize
        shape = (self.count, lanes) if lanes else (self.count,)
        result = np.zeros(shape, dtype) if other is None else other.copy()
        taken = active if mask is None else active & mask
        if taken.any():
            memory, where = self.bytes_at(ptr, size, taken)
            result[taken] = memory[where].view(dtype).reshape((-1, *shape[1:]))
        return [result]

    def execute_store(self, op, operands, active):
        ptr, value, mask = self.memory_operands(op, operands, 2)
        taken = active if mask is None else active & mask
        if taken.any():
            raw = np.ascontiguousarray(value[taken])
            raw = raw.reshape(len(raw), -1).view(np.uint8)
            memory, where = self.bytes_at(ptr, raw.shape[1], taken)
            memory[where] = raw
        return []

    def execute_atomic(self, op, operands, active):
        is_cas = op.name.endswith("cas")
        if is_cas:
            ptr, expected, value, mask = self.memory_operands(op, operands, 3)
        else:
            ptr, value, mask = self.memory_operands(op, operands, 2)
        taken = active if mask is None else active & mask
        result = np.zeros_like(value)
        kind = op.number("kind")
        unsigned = f"u{value.dtype.itemsize}" if value.dtype.kind == "i" else value.dtype
        update = {
            0: np.bitwise_and,
            1: np.bitwise_or,
            2: np.bitwise_xor,
            3: np.add,
            4: np.add,
            5: np.maximum,
            6: np.minimum,
            7: lambda a, b: np.maximum(a.view(unsigned), b.view(unsigned)).view(a.dtype),
            8: lambda a, b: np.minimum(a.view(unsigned), b.view(unsigned)).view(a.dtype),
            9: np.fmax,
            10: np.fmin,
            11: lambda a, b: b,
        }[kind]
        for thread in np.flatnonzero(taken):
            one = np.zeros(self.count, bool)
            one[thread] = True
            memory, where = self.bytes_at(ptr, value.dtype.itemsize, one)
            old = memory[where[0]].view(value.dtype)[0]
            result[thread] = old
            new = update(old, value[thread]) if not is_cas else value[thread] if old == expected[thread] else old
            memory[where[0]] = np.frombuffer(np.asarray(new, value.dtype).tobytes(), np.uint8)
        return [result]

    def execute_alloca(self, op, operands):
        """Memory of each thread, which no other reads."""
        size = dtype_of(re.search(r"elem_type = ([!\w.<>]+)", op.attributes)[1]).itemsize
        start = (self.private.shape[1] + 15) // 16 * 16
        grown = np.full((self.count, start + size * int(operands[0][0])), 0x5A, np.uint8)
        grown[:, : self.private.shape[1]] = self.private
        self.private = grown
        return [self.uniform(np.int64(PRIVATE_BASE + start))]

    def private_at(self, addresses, size):
        """The index of an access to a thread's own memory."""
        start = addresses - PRIVATE_BASE
        assert not (start % size).any(), "a misaligned access"
        assert ((start >= 0) & (start + size <= self.private.shape[1])).all(), "outside of the thread's memory"
        return np.arange(self.count)[:, None], start[:, None] + np.arange(size)

    def execute_private(self, op, operands, active):
        if op.name == "llvm.load":
            dtype = dtype_of(op.types[0])
            raw = self.private[self.private_at(operands[0], dtype.itemsize)]
            return [np.ascontiguousarray(raw).view(dtype)[:, 0]]
        value, ptr = operands
        raw = np.ascontiguousarray(value).view(np.uint8).reshape(self.count, -1)
        where = self.private_at(ptr, raw.shape[1])
        self.private[where] = np.where(active[:, None], raw, self.private[where])
        return []

    def execute_gep(self, op, operands):
        base, *dynamic = operands
        size = dtype_of(re.search(r"elem_type = ([!\w.<>]+)", op.attributes)[1]).itemsize
        (index,) = [
            int(n) for n in re.search(r"rawConstantIndices = array<i32: ([-\d, ]+)>", op.attributes)[1].split(",")
        ]
        offset = dynamic[0].astype(np.int64) if index == -(2**31) else index
        return [base + offset * size]

    # Copies that are on their way: what they wrote is there as late as it may be

    def start_copy(self, op, operands, active):
        to, source, mask, running = self.memory_operands(op, operands, 2)
        taken = active if running is None else active & running
        size = op.number("bytes")
        read = taken if mask is None else taken & mask
        data = np.zeros((self.count, size), np.uint8)
        if read.any():
            memory, where = self.bytes_at(source, size, read)
            data[read] = memory[where]
        if taken.any():
            memory, where = self.bytes_at(to, size, taken)
            memory[where] = 0xFF  # Neither what was there nor what will be.
            self.started.append((where, data[taken]))
        return []

    def arrive_with_copies(self, operands, active):
        """What the threads have started to copy is there when the barrier is waited for."""
        assert active.all(), "copies that some threads do not count"
        (at,) = np.unique(operands[0])
        barrier = self.mbarriers[int(at)]
        for where, data in self.started:
            barrier["bytes"] += data.nbytes
            barrier["copies"].append((where, data))
        self.started = []
        for _ in range(self.count):
            self.arrive(barrier, 0)
        return []

    def finish_copies(self, pending):
        done = self.groups[: len(self.groups) - pending] if pending else self.groups
        self.groups = self.groups[len(self.groups) - pending :] if pending else []
        for group in done:
            for where, data in group:
                self.shared[where] = data
        return []

    # The copy engine: what it wrote is there when a barrier that counts its bytes is waited for, and no earlier

    def tensor_map(self, start, like, box, swizzle):
        """A kernel argument for the map of an array that `allocate` put at `start`; the strides of `like` count."""
        self.maps.append((start, np.asarray(like), box, swizzle))
        return MAP_BASE + len(self.maps) - 1

    def box_at(self, tensor_map, corner):
        """The bytes of a box in the order of shared memory without a swizzle; zeros outside of the tensor."""
        start, like, box, _ = tensor_map
        index = np.indices(box).reshape(len(box), -1) + np.array(corner)[:, None]
        inside = ((index >= 0) & (index < np.array(like.shape)[:, None])).all(0)
        where = start + (index * np.array(like.strides)[:, None]).sum(0)
        size = like.itemsize
        data = np.zeros((index.shape[1], size), np.uint8)
        data[inside] = self.global_memory[where[inside, None] + np.arange(size)]
        return data.reshape(-1)

    def start_tensor_copy(self, operands, active):
        to, handle, *coordinates, barrier = operands
        (thread,) = np.flatnonzero(active)
        tensor_map = self.maps[handle[thread] - MAP_BASE]
        swizzle = tensor_map[3]
        data = self.box_at(tensor_map, [int(c[thread]) for c in reversed(coordinates)])
        start = int(to[thread]) - SHARED_BASE
        assert start % (8 * swizzle if swizzle else 128) == 0, "a box that is not aligned to its swizzle"
        assert start >= 0 and start + len(data) <= len(self.shared), "outside of shared memory"
        where = start + np.arange(len(data))
        if swizzle:
            where ^= (where >> 7 & (swizzle // 16 - 1)) << 4
        self.shared[where] = 0xFF  # Neither what was there nor what will be.
        self.mbarriers[int(barrier[thread])]["copies"].append((where, data))
        return []

    def mbarrier(self, op, operands, active):
        """Init, end and arrive of each active thread."""
        for thread in np.flatnonzero(active):
            at = int(operands[0][thread])
            assert at % 8 == 0 and SHARED_BASE <= at <= SHARED_BASE + len(self.shared) - 8, "no place for a barrier"
            if op.name.endswith("init"):
                assert at not in self.mbarriers, "a barrier where there is one"
                count = op.number("arrivals")
                self.mbarriers[at] = {"count": count, "left": count, "bytes": 0, "phase": 0, "copies": []}
            elif op.name.endswith("end"):
                assert not self.mbarriers.pop(at)["copies"], "copies that are in flight"
            else:
                self.arrive(self.mbarriers[at], op.number("bytes"))
        return []

    @staticmethod
    def arrive(barrier, expected):
        assert barrier["left"] > 0, "an arrival too many"
        barrier["left"] -= 1
        barrier["bytes"] += expected
        Machine.end_phase(barrier)

    @staticmethod
    def end_phase(barrier):
        if barrier["left"] == 0 and barrier["bytes"] == 0:
            barrier["phase"] += 1
            barrier["left"] = barrier["count"]

    def wait_for_mbarrier(self, operands, active):
        """All threads that wait do so for one barrier, as none runs ahead here."""
        if not active.any():
            return []
        (at,), (parity,) = (np.unique(x[active]) for x in operands)
        barrier = self.mbarriers[int(at)]
        if barrier["phase"] % 2 == parity:
            assert barrier["left"] == 0, "a wait for what nobody has announced"
            for where, data in barrier["copies"]:
                self.shared[where] = data
                barrier["bytes"] -= data.nbytes
            barrier["copies"].clear()
            self.end_phase(barrier)
            assert barrier["phase"] % 2 != parity, "a wait for bytes that do not come"
        return []

    # Everything else

    def shuffle(self, value, lane, active):
        assert active.all(), "a shuffle that not all threads take part in"
        assert ((lane >= 0) & (lane < self.warp_size)).all(), "a shuffle from a lane that is none"
        start = np.arange(self.count) // self.warp_size * self.warp_size
        return [value[start + lane]]

    def execute(self, op, operands, active):
        name = op.name
        thread = np.arange(self.count, dtype=np.int32)
        if name == "scf.for":
            return self.execute_for(op, operands, active)
        if name == "scf.while":
            return self.execute_while(op, operands, active)
        if name == "scf.if":
            return self.execute_if(op, operands, active)
        if name == "simt.thread_load":
            return self.execute_load(op, operands, active)
        if name == "simt.thread_store":
            return self.execute_store(op, operands, active)
        if name.startswith("simt.thread_atomic"):
            return self.execute_atomic(op, operands, active)
        if name == "simt.thread_id":
            return [thread]
        if name == "simt.warp_id":
            return [thread // np.int32(self.warp_size)]
        if name == "simt.shared_base":
            return [self.uniform(np.int64(SHARED_BASE))]
        if name == "simt.shuffle_xor":
            return self.shuffle(operands[0], thread % self.warp_size ^ op.number("mask"), active)
        if name == "simt.thread_mma":
            return [matrix_units.execute(op, operands, active, self.warp_size)]
        if name == "simt.thread_copy":
            return self.start_copy(op, operands, active)
        if name == "simt.thread_copy_arrive":
            return self.arrive_with_copies(operands, active)
        if name == "simt.copy_commit":
            self.groups.append(self.started)
            self.started = []
            return []
        if name == "simt.copy_wait":
            return self.finish_copies(op.number("pending"))
        if name == "simt.thread_tensor_copy":
            return self.start_tensor_copy(operands, active)
        if name == "simt.thread_mbarrier_wait":
            return self.wait_for_mbarrier(operands, active)
        if name.startswith("simt.thread_mbarrier"):
            return self.mbarrier(op, operands, active)
        if name == "simt.thread_group_mma":
            assert active.all(), "a matrix instruction that not all threads take part in"
            return self.flight.start(matrix_units.Group(op, self.segments(op, operands), self.shared, SHARED_BASE))
        if name == "simt.thread_group_wait":
            self.flight.wait(op.number("pending"))
            return [self.flight.resolve(each) for each in operands[: len(op.results)]]
        if name == "simt.shuffle_index":
            return self.shuffle(operands[0], operands[1], active)
        if name in ("simt.barrier", "llvm.intr.assume"):
            assert active.all() or name != "simt.barrier", "a barrier that not all threads reach"
            return []
        if name == "tile.program_id":
            return [self.uniform(np.int32(self.program[op.number("axis")]))]
        if name == "tile.num_programs":
            return [self.uniform(np.int32(self.grid[op.number("axis")]))]
        if name == "llvm.alloca":
            return self.execute_alloca(op, operands)
        if name in ("llvm.load", "llvm.store"):
            return self.execute_private(op, operands, active)
        if name == "llvm.getelementptr":
            return self.execute_gep(op, operands)
        with np.errstate(all="ignore"):
            return [self.compute(op, operands)]

    def constant(self, op):
        _, dtype = vector_of(op.types[0])
        text = re.search(r"value = ([^ >}]+)", op.attributes)[1]
        if text in ("true", "false"):
            return self.uniform(np.bool_(text == "true"))
        if text.startswith("0x"):
            return self.uniform(np.array(int(text, 16), f"u{dtype.itemsize}").view(dtype))
        return self.uniform(np.array(float(text) if "." in text else int(text)).astype(dtype))

    def compute(self, op, x):
        name = op.name
        if name == "arith.constant":
            return self.constant(op)
        lanes, dtype = vector_of(op.types[0])
        if name in ("llvm.mlir.poison", "llvm.mlir.zero"):
            return np.zeros((self.count, lanes) if lanes else self.count, dtype)
        if name == "llvm.insertelement":
            out = x[0].copy()
            out[np.arange(self.count), x[2]] = x[1]
            return out
        if name == "llvm.extractelement":
            return x[0][np.arange(self.count), x[1]]
        if name in ("llvm.bitcast", "arith.bitcast"):
            raw = np.ascontiguousarray(x[0]).view(dtype)
            return raw.reshape((self.count, lanes) if lanes else (self.count,))
        return self.arithmetic(op, x, dtype)

    def arithmetic(self, op, x, dtype):
        name = op.name
        unsigned = [a.view(f"u{a.dtype.itemsize}") if a.dtype.kind == "i" else a for a in x]
        if name in ("arith.cmpi", "arith.cmpf"):
            return self.compare(op, x, unsigned)
        simple = {
            "arith.addi": np.add,
            "arith.subi": np.subtract,
            "arith.muli": np.multiply,
            "arith.addf": np.add,
            "arith.subf": np.subtract,
            "arith.mulf": np.multiply,
            "arith.divf": np.divide,
            "arith.maxnumf": np.fmax,
            "arith.minnumf": np.fmin,
            "arith.maximumf": np.maximum,
            "arith.minimumf": np.minimum,
            "arith.maxsi": np.maximum,
            "arith.minsi": np.minimum,
            "arith.negf": np.negative,
            "arith.select": np.where,
            "math.exp": np.exp,
            "math.sqrt": np.sqrt,
            "math.absf": np.abs,
            "arith.ori": np.bitwise_or,
            "arith.andi": np.bitwise_and,
            "arith.xori": np.bitwise_xor,
        }
        if name in simple:
            return simple[name](*x).astype(dtype)
        if name == "math.fma":
            return (x[0].astype(np.float64) * x[1].astype(np.float64) + x[2].astype(np.float64)).astype(dtype)
        if name == "arith.shli":
            return np.left_shift(*x)
        if name == "arith.shrui":
            return np.right_shift(*unsigned).view(dtype)
        if name in ("arith.maxui", "arith.minui"):
            return (np.maximum if "max" in name else np.minimum)(*unsigned).view(dtype)
        if name in ("arith.extui", "arith.uitofp"):
            return unsigned[0].astype(f"u{dtype.itemsize}" if dtype.kind == "i" else dtype).astype(dtype)
        if name == "arith.trunci" and dtype == np.bool_:
            return (x[0] & 1).astype(np.bool_)
        casts = (
            "arith.extsi",
            "arith.trunci",
            "arith.extf",
            "arith.truncf",
            "arith.sitofp",
            "arith.fptosi",
            "llvm.ptrtoint",
            "llvm.inttoptr",
        )
        if name in casts:
            signed = -x[0].astype(np.int8) if x[0].dtype == np.bool_ and name == "arith.extsi" else x[0]
            return signed.astype(dtype)
        if name in ("arith.remui", "arith.divui"):
            return (np.remainder if "rem" in name else np.floor_divide)(*unsigned).view(dtype)
        if name in ("arith.remsi", "arith.divsi"):
            quotient = np.trunc(x[0].astype(np.float64) / x[1]).astype(dtype)
            return quotient if "div" in name else x[0] - quotient * x[1]
        if name in ("arith.remui", "arith.divui"):
            return (unsigned[0] // unsigned[1] if "div" in name else unsigned[0] % unsigned[1]).view(dtype)
        raise AssertionError(f"no way to execute {name}")

    def compare(self, op, x, unsigned):
        predicate = op.number("predicate")
        if op.name == "arith.cmpi":
            compare = [np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal]
            if predicate < 6:
                return compare[predicate](*x)
            return compare[predicate - 4](*unsigned)
        compare = {1: np.equal, 2: np.greater, 3: np.greater_equal, 4: np.less, 5: np.less_equal}
        if predicate in compare:
            return compare[predicate](*x)
        # Unordered: also true of a NaN.
        unordered = {predicate + 7: function for predicate, function in compare.items()} | {13: np.not_equal}
        unordered[14] = lambda a, b: np.zeros(np.shape(a), np.bool_)
        return unordered[predicate](*x) | np.isnan(x[0]) | np.isnan(x[1])
