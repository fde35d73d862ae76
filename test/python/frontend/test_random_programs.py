# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of nested loops, branches and jumps give in a kernel what they give in Python."""

import random

import numpy as np
import pytest

_NAMES = ["x", "y", "z"]
_INPUTS = [(0, 0), (3, 1), (5, 7), (1, 6)]


class Generator:
    """Writes a function of a and b. Values stay in [0, 64), so that all divisions agree."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.loops = 0
        self.counter = 0

    def atom(self):
        return self.random.choice([*_NAMES, "a", "b", *[f"i{k}" for k in range(self.loops)], "1", "2", "5"])

    def expression(self):
        op = self.random.choice(["+", "*", "^", "|"])
        return f"({self.atom()} {op} {self.atom()}) & 63"

    def test(self):
        compare = lambda: f"{self.atom()} {self.random.choice(['<', '>', '==', '!='])} {self.atom()}"
        kind = self.random.random()
        if kind < 0.6:
            return compare()
        if kind < 0.8:
            return f"{compare()} {self.random.choice(['and', 'or'])} {compare()}"
        return f"not ({compare()})"

    def add(self, depth, text):
        self.lines.append("    " * depth + text)

    def block(self, depth, size, breaks):
        for _ in range(self.random.randint(1, size)):
            self.statement(depth, breaks)

    def statement(self, depth, breaks):
        kind = self.random.random()
        if depth > 5 or kind < 0.4:
            name = self.random.choice(_NAMES)
            if self.random.random() < 0.15:
                self.add(depth, f"{name} = {self.random.randint(0, 9)}")
            else:
                self.add(depth, f"{name} = {self.expression()}")
        elif kind < 0.6:
            self.add(depth, f"if {self.test()}:")
            self.block(depth + 1, 3, breaks)
            if self.random.random() < 0.5:
                self.add(depth, "else:")
                self.block(depth + 1, 3, breaks)
        elif kind < 0.75:
            self.loop(depth)
        elif breaks and kind < 0.92:
            self.add(depth, f"if {self.test()}:")
            self.add(depth + 1, self.random.choice(["break", "continue"]))
        elif kind > 0.96:
            self.add(depth, f"if {self.test()}:")
            self.add(depth + 1, f"return {self.atom()}, {self.atom()}")
        else:
            self.add(depth, f"{self.random.choice(_NAMES)} += {self.atom()} & 7")

    def loop(self, depth):
        kind = self.random.random()
        index = f"i{self.loops}"
        self.loops += 1
        is_while = kind > 0.7
        if kind < 0.35:
            self.add(depth, f"for {index} in range({self.random.choice(['3', 'a', 'b', '5, b, -1', 'a, 6, 2'])}):")
        elif kind < 0.5:
            self.add(depth, f"for {index} in (2, a, 4):")
        elif not is_while:
            self.add(depth, f"for {index} in range({self.random.randint(0, 3)}):")
        else:
            count = f"n{self.counter}"
            self.counter += 1
            self.add(depth, f"{count} = 0")
            self.add(depth, f"{index} = 4")
            self.add(depth, "while True:" if kind > 0.85 else f"while {self.test()}:")
            self.add(depth + 1, f"{count} += 1")
            self.add(depth + 1, f"if {count} > 5:")
            self.add(depth + 2, "break")
        self.block(depth + 1, 4, breaks=True)
        self.loops -= 1
        if not is_while and self.random.random() < 0.2:
            self.add(depth, "else:")
            self.block(depth + 1, 2, breaks=False)

    def program(self):
        self.lines = ["def f(a, b):", "    x = a", "    y = b", "    z = 3"]
        for _ in range(5):
            self.statement(1, False)
        self.add(1, "return x, y + z")
        return "\n".join(self.lines)


def check(seed, module):
    text = Generator(seed).program()
    names = {}
    exec(text, names)
    kernel = module(
        f"@tz.jit\n{text}\n\n@tz.jit(do_not_specialize=['a', 'b'])\ndef k(a, b, o):\n    u, v = f(a, b)\n"
        "    tl.store(o, u)\n    tl.store(o + 1, v)\n"
    ).k
    for a, b in _INPUTS:
        o = np.zeros(2, np.int32)
        kernel[(1,)](a, b, o)
        assert o.tolist() == list(names["f"](a, b)), f"seed {seed}, a = {a}, b = {b}:\n{text}"


@pytest.mark.parametrize("seed", range(40))
def test_random_program(seed, module):
    check(seed, module)
