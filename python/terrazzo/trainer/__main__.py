# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m terrazzo.trainer`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
