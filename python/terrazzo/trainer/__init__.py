# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference trainer: small language models trained with nothing but generated kernels.

    python -m terrazzo.trainer train --preset smoke
    python -m terrazzo.trainer eval RUN | sample RUN | resume RUN | compare A.jsonl B.jsonl

Read it in this order: config.py (what can be set), corpus.py and batches.py (text to tokens to batches), model.py,
transformer.py and mamba.py (the two decoder families), optimizer.py, checkpoint.py, and train.py, the list of steps.
What comes from outside passes schema.py, documents.py and tensors.py; boundary.py turns what goes wrong into one line.
"""
