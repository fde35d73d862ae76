# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes are tokens: 0..255 stand for themselves, a few ids above them for what is not text.

No training, no files, every text is representable, and the loss is directly nats per byte.
"""

import numpy as np

END = 256  # closes every document
VOCAB = 272  # 256 bytes, END, and reserved ids up to a multiple of 16 (whole vectors in the last projection)


def encode(text: str | bytes) -> np.ndarray:
    """Text as uint16 token ids, without an end marker."""
    data = text.encode("utf-8") if isinstance(text, str) else text
    return np.frombuffer(data, dtype=np.uint8).astype(np.uint16)


def decode(tokens: np.ndarray) -> str:
    """Token ids as text; special ids are dropped, invalid UTF-8 is shown as replacement characters."""
    tokens = np.asarray(tokens)
    return tokens[tokens < 256].astype(np.uint8).tobytes().decode("utf-8", errors="replace")
