# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Named starting points, as partial configurations; every value can be overridden on the command line.

The sizes from 125m up follow the published MPT recipes (width, heads, layers, learning rate) with byte tokens.
"""

from typing import Any

from .errors import ConfigError

PRESETS: dict[str, dict[str, Any]] = {
    # About four minutes on two CPU cores, and well below a trigram model at the end.
    "smoke": {
        "model": {"layers": 4, "width": 192, "heads": 4, "kv_heads": 2, "mlp_width": 512},
        "data": {"context": 256},
        "train": {"steps": 900, "batch": 8, "lr": 2e-3, "warmup": 40, "max_minutes": 4.5},
        "eval": {"final_tokens": 262144},
    },
    "smoke-mamba": {
        "model": {"family": "mamba", "layers": 4, "width": 192},
        "data": {"context": 256},
        "train": {"steps": 900, "batch": 8, "lr": 2e-3, "warmup": 40, "max_minutes": 4.5},
        "eval": {"final_tokens": 262144},
    },
    "10m": {
        "model": {"layers": 6, "width": 384, "heads": 6, "kv_heads": 6, "mlp_width": 1024},
        "data": {"context": 512},
        "train": {"steps": 5000, "batch": 32, "micro_batch": 8, "lr": 1e-3, "warmup": 100},
    },
    "10m-mamba": {
        "model": {"family": "mamba", "layers": 10, "width": 384},
        "data": {"context": 512},
        "train": {"steps": 5000, "batch": 32, "micro_batch": 8, "lr": 1e-3, "warmup": 100},
    },
    "125m": {
        "model": {"layers": 12, "width": 768, "heads": 12, "kv_heads": 12, "mlp_width": 2048, "position": "alibi"},
        "data": {"context": 2048},
        "train": {
            "steps": 4800,
            "batch": 256,
            "micro_batch": 8,
            "lr": 6e-4,
            "lr_floor": 0.1,
            "warmup": 100,
            "weight_decay": 0.0,
        },
    },
    "350m": {
        "model": {"layers": 24, "width": 1024, "heads": 16, "kv_heads": 16, "mlp_width": 2816, "position": "alibi"},
        "data": {"context": 2048},
        "train": {
            "steps": 13400,
            "batch": 256,
            "micro_batch": 4,
            "lr": 3e-4,
            "lr_floor": 0.1,
            "warmup": 100,
            "weight_decay": 0.0,
        },
    },
    "1.3b": {
        "model": {"layers": 24, "width": 2048, "heads": 16, "kv_heads": 16, "mlp_width": 5632, "position": "alibi"},
        "data": {"context": 2048},
        "train": {
            "steps": 24800,
            "batch": 512,
            "micro_batch": 2,
            "lr": 2e-4,
            "lr_floor": 0.1,
            "warmup": 100,
            "weight_decay": 0.0,
        },
    },
}


def get(name: str) -> dict[str, Any]:
    """The partial configuration called `name`."""
    if name not in PRESETS:
        raise ConfigError(f"--preset: unknown preset '{name}', expected one of {', '.join(PRESETS)}")
    return PRESETS[name]
