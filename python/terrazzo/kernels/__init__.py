# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel library: one file a kernel, each with its host functions and a NumPy reference.

Host functions take NumPy arrays or torch tensors and return the same kind. torch_ops, imported only on request, wraps
them for torch's autograd.
"""
