# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stands for this version of the compiler, the language and the frontend in keys."""

import functools
import hashlib
from pathlib import Path

from ._terrazzo import ir


@functools.cache
def fingerprint():
    """A string that changes whenever other code may be made: by the compiler, the language or the frontend."""
    digest = hashlib.sha256(ir.fingerprint().encode())
    package = Path(__file__).parent
    # Kernels see what the first two define.
    files = [package / "sizes.py", package / "tools" / "tensor_descriptor.py"]
    for layer in ("frontend", "language"):
        files += sorted((package / layer).rglob("*.py"))
    for path in files:
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return f"{ir.fingerprint()}-{digest.hexdigest()[:16]}"
