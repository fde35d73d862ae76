# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scalar functions as kernels give what Python gives: every way of loops, jumps, branches and calls."""

import numpy as np
import pytest

# Bodies of `def f(a, b, out)`: a and b are integers, out(i, v) stores v at i. -> names for the ids
CASES = {
    "if": """
        x = 1
        if a > b:
            x = a
        out(0, x)
    """,
    "elif": """
        if a > 5:
            x = 1
        elif a > 3:
            x = 2
        elif b > 2:
            x = 3
        else:
            x = 4
        out(0, x)
    """,
    "early return": """
        if a < 0:
            out(0, 1)
            return
        if b < 0:
            out(0, 2)
            return
        out(0, 3)
    """,
    "nested early return": """
        x = 5
        if a > 0:
            if b > 0:
                out(1, 7)
                return
            x = 6
        elif a < -3:
            return
        out(0, x + a)
    """,
    "for": """
        s = 0
        for i in range(a):
            s += i * b
        out(0, s)
    """,
    "for bounds": """
        s = 0
        for i in range(a, b):
            s = s * 3 + i
        out(0, s)
        for i in range(b, a, 2):
            s = s * 5 + i
        out(1, s)
    """,
    "negative step": """
        s = 0
        for i in range(a, b, -1):
            s = s * 3 + i
        for j in range(10, b, -3):
            s = s * 5 + j
        out(0, s)
    """,
    "run-time step": """
        s = 0
        step = b
        if step == 0:
            step = 2
        for i in range(a, -a, step):
            s = s * 3 + i
            if s > 100000:
                break
        out(0, s)
    """,
    "while": """
        n = a
        steps = 0
        while n > 1:
            n = n // 2
            steps += 1
        out(0, steps)
    """,
    "while with two tests": """
        n = a
        k = 0
        while n > 0 and k < b:
            n -= 2
            k += 1
        out(0, n)
        out(1, k)
    """,
    "walrus in while": """
        n = a
        k = 0
        while (m := n - k) > 0:
            k += 2
        out(0, m)
        out(1, k)
    """,
    "break": """
        s = 0
        for i in range(10):
            if i == a:
                break
            s += i + 1
        out(0, s)
    """,
    "continue": """
        s = 0
        for i in range(10):
            if i == a or i % 3 == 1:
                continue
            s = s * 2 + i
        out(0, s)
    """,
    "break and continue": """
        s = 0
        t = 0
        for i in range(20):
            if i < a:
                t += 1
                continue
            s += i
            if s > b * 10:
                break
            s += 1
        out(0, s)
        out(1, t)
    """,
    "return in loop": """
        for i in range(8):
            if i * i > a:
                out(0, i)
                return
        out(0, -1)
    """,
    "return in nested loops": """
        s = 0
        for i in range(6):
            for j in range(6):
                if i * j == a:
                    out(0, i * 10 + j + s)
                    return
                s += 1
            s += 2
        out(0, -s)
    """,
    "break of inner loop": """
        s = 0
        for i in range(6):
            for j in range(i, 6):
                if j > a:
                    break
                s += j
            if i > b:
                break
            s += 100
        out(0, s)
    """,
    "while true": """
        k = 0
        while True:
            if k * k >= a:
                break
            k += 1
        out(0, k)
    """,
    "while true with value at break": """
        k = 0
        while True:
            k += 1
            if k * 3 > a:
                found = k + 100
                break
            if k > 9:
                found = -1
                break
        out(0, found)
    """,
    "while true with return": """
        k = 0
        while True:
            k += 3
            if k > a:
                out(0, k)
                return
    """,
    "for else": """
        s = 0
        for i in range(5):
            if i == a:
                break
            s += i
        else:
            s += 1000
        out(0, s)
    """,
    "while else": """
        k = 0
        while k < 5:
            if k == a:
                break
            k += 1
        else:
            k += 100
        out(0, k)
    """,
    "search with else": """
        for i in range(6):
            if i * i > a:
                found = i
                break
        else:
            found = -1
        out(0, found)
        for i in (1, 5, b):
            if i > a:
                other = i
                break
        else:
            other = a
        out(1, other)
        for i in range(a):
            last = i + b
            break
        else:
            last = 77
        out(2, last)
    """,
    "a condition on the variable of an outer loop": """
        s = 0
        i = 4
        for i in range(3):
            for j in (2, a, 4):
                if 1 == i:
                    s = s + j
        out(0, s)
    """,
    "else after return": """
        for i in range(5):
            if i == a:
                out(0, 1)
                return
            if i == b:
                break
        else:
            out(0, 2)
            return
        out(0, 3)
    """,
    "partial jumps": """
        s = 0
        for i in range(12):
            if i > a:
                if i > b:
                    break
                s += 10
            elif i == 2:
                if b > 0:
                    continue
            s += 1
            if s > 60:
                if a > 3:
                    out(1, s)
                    return
        out(0, s)
    """,
    "temporaries of other types": """
        s = 0
        for i in range(3):
            t = i * 2
            s += t
        for i in range(3):
            t = (i * 2.5) > a
            if t:
                s += 1
        out(0, s)
    """,
    "variable first bound in a loop that runs": """
        for i in range(4):
            last = i * a
        out(0, last)
        out(1, i)
    """,
    "first bound, with break": """
        for i in range(4):
            last = i * a
            if last > b:
                break
        out(0, last)
        out(1, i)
    """,
    "swap": """
        x = a
        y = b
        for i in range(5):
            x, y = y, x + y
        out(0, x)
        out(1, y)
    """,
    "tuples": """
        p = (a, (b, 3))
        for i in range(3):
            p = (p[1][0], (p[0] + 1, 3))
        out(0, p[0])
        out(1, p[1][0])
        if a > b:
            q = (a, b)
        else:
            q = (b, a)
        u, v = q
        out(2, u)
        out(3, v)
    """,
    "boolean chain": """
        r = 0
        if a > 0 and b > 0 or a == b:
            r += 1
        if not (a > 0 or b > 0):
            r += 2
        if 0 < a < b:
            r += 4
        if 0 < a < b < 5:
            r += 8
        if a and not b:
            r += 16
        out(0, r)
    """,
    "conditional expression": """
        x = a if a > b else b
        y = 3 if x > 2 else 4 if x > 0 else 5
        out(0, x)
        out(1, y)
    """,
    "unrolled": """
        s = 0
        for i in (3, 1, 4):
            if a == i:
                continue
            s = s * 10 + i
            if s > b * 8:
                break
        else:
            s += 1000
        out(0, s)
    """,
    "unrolled, with return": """
        for i in (3, 1, 4):
            for j in (1, 2):
                if i * j == a:
                    out(0, i * 10 + j)
                    return
        out(0, 0)
    """,
    "loop in unrolled loop": """
        s = 0
        for i in (3, 1):
            for j in range(a):
                if j == b:
                    break
                s += i * j
        out(0, s)
    """,
    "condition over the iteration": """
        best = -1
        at = -1
        for i in range(10):
            v = (i * 7 + a) % 11
            if v > best:
                best = v
                at = i
        out(0, best)
        out(1, at)
    """,
    "values of and and or": """
        out(0, a or 7)
        out(1, a and 7)
        out(2, a or b or 9)
        out(3, a and b and 9)
        out(4, (a or b) + (a and b))
        out(5, (a > 0 and b) + 0)
        out(6, (a > 0 or b) + 0)
        out(7, (a and b > 0) + 0)
    """,
    "values of and and or, with divisions": """
        c = a * a
        d = b * b
        out(0, d and c // (d or 1))
        out(1, not d or c // (d if d else 1) > 1)
        if d and c // (d or 1) == 1 or a == 3:
            out(2, 5)
        x = c or (d or 4) * 2
        out(3, x)
    """,
    "truth of numbers in conditions": """
        n = 0
        while n < 3 and (a or b):
            n += 1
            if not (a and b) or n and b:
                out(n, 1 if a and b else 2)
        out(0, n)
    """,
    "lists under two names": """
        x = [a]
        y = x
        y += [b, 3]
        out(0, len(x))
        out(1, x[1] + y[2])
        y *= 2
        out(2, len(x))
        y = y + [1]
        out(3, len(x))
        z = [[a], x]
        z[0] += [b]
        z[1].append(4)
        out(4, z[0][1] + len(x))
        first = z[0]
        first += (7,)
        out(5, len(z[0]))
    """,
    "lists that grow in loops": """
        x = []
        alias = x
        for i in (1, 2, 3):
            x += [a * i]
        s = 0
        for v in alias:
            s += v
        out(0, s)
        out(1, len(alias))
    """,
    "enumerate and zip": """
        s = 0
        for i, (u, v) in enumerate(zip((a, b, 5), (1, 2, 3))):
            s = s * 3 + u * v + i
        out(0, s)
        out(1, sum([x * 2 for x in (a, b)]))
        out(2, max(a, b, 2) - min(a, b))
    """,
    "nested function": """
        def twice(v, by=2):
            return v * by + a
        g = lambda v: twice(v) - 1
        out(0, g(b))
        out(1, twice(b, by=3))
    """,
    "break in a loop that always breaks": """
        s = 0
        for i in range(a):
            s += 5
            break
        out(0, s)
    """,
    "deep": """
        s = 0
        for i in range(4):
            k = 0
            while k < a:
                for j in range(k, 4):
                    if (i + j) % 2 == 0:
                        continue
                    if j == b:
                        break
                    s += 1
                    if s > 30:
                        out(3, s)
                        return
                k += 1
            else:
                s += 2
            if s > 25:
                break
        out(0, s)
        out(1, k)
    """,
    "delete": """
        x = a
        y = x
        del x
        x = 2
        out(0, x + y)
    """,
}

_VALUES = [(0, 0), (1, 2), (4, 1), (7, -2), (-3, 5), (-7, -1), (9, 9), (3, 0), (2, 20)]


def run_python(body, a, b):
    found = {}
    names = {"out": found.__setitem__}
    exec(f"def f(a, b):\n{body}", names)
    names["f"](a, b)
    return [found.get(i, -999) for i in range(8)]


@pytest.mark.parametrize("name", CASES)
def test_as_in_python(name, module):
    body = CASES[name]
    kernel_body = body.replace("out(", "tl.store(o + ").replace(" // 2", " // 2")
    kernel = module(f"@tz.jit(do_not_specialize=['a', 'b'])\ndef k(a, b, o):\n{kernel_body}").k
    for a, b in _VALUES:
        o = np.full(8, -999, np.int32)
        kernel[(1,)](a, b, o)
        assert o.tolist() == run_python(body, a, b), f"a = {a}, b = {b}"
