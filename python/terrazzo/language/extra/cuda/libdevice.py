# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same functions as in terrazzo.language.extra.libdevice."""

from ..libdevice import *  # noqa: F403
