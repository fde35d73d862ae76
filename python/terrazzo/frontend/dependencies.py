# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a kernel depends on outside of its arguments, as a key for the cache and as guards for launches."""

import hashlib
from dataclasses import dataclass, field

from .inlining import jit_of
from .reach import Reach


@dataclass
class Dependencies:
    """`digest` changes with every text and value that the kernel can read, and with nothing else: not with line numbers
    or file names. `guards` are what a launch checks; while they hold, the digest need not be computed again.
    `constants` are (name, value) pairs and `functions` (name, text) pairs, for the reader; `places` are the (file,
    line) of the functions. `hidden` says why the digest may mean something else in another process, if it may.
    """

    digest: str = ""
    guards: list = field(default_factory=list)
    constants: list = field(default_factory=list)
    functions: list = field(default_factory=list)
    places: list = field(default_factory=list)
    hidden: str | None = None


def dependencies(value):
    """The Dependencies of a jit function, or of a compile-time argument."""
    reach = Reach()
    reach.start(getattr(value, "__name__", type(value).__name__), value if jit_of(value) is None else jit_of(value))
    digest = hashlib.sha256()
    for text in reach.text:
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return Dependencies(
        digest.hexdigest(), reach.guards, reach.constants, reach.functions, reach.places, reach.refusal(value, True)
    )
