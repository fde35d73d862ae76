# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tools around kernels: `compile` (the command tz-compile), `report` (tz-report), `tensor_descriptor`, `mxfp`."""
