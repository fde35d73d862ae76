# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""lit's configuration: which files are tests, and what their RUN lines may name.

TERRAZZO_ROUNDTRIP=1 runs every tz-opt of the suite with --verify-roundtrip.
"""

import os
import shutil

import lit.formats

config.name = "terrazzo"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".ll", ".py", ".test"]
config.excludes = [
    "CMakeLists.txt",
    "lit.cfg.py",
    "lit.site.cfg.py",
    "bundle",
    "python",
    "unit",
    "device",
    "fuzz",
    "Inputs",
]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.terrazzo_build, "test")

path = [os.path.join(config.terrazzo_build, "bin"), config.llvm_tools, config.environment.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(path)
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"
config.environment["PYTHONPATH"] = os.path.join(config.terrazzo_build, "package")
# Compilations of the tests must not meet those of earlier builds.
config.environment["TERRAZZO_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "HOME", "LD_PRELOAD"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# The word tz-opt alone, not as a part of a path or of another word.
if os.environ.get("TERRAZZO_ROUNDTRIP") == "1":
    config.substitutions.append((r"(?<![\w/-])tz-opt(?![\w.-])", "tz-opt --verify-roundtrip"))
    config.available_features.add("roundtrip")
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%root", os.path.dirname(config.test_source_root)))

# NVIDIA's assembler, where there is a CUDA toolkit.
for folder in (None, "/usr/local/cuda/bin"):
    ptxas = shutil.which("ptxas", path=folder)
    if ptxas:
        config.available_features.add("ptxas")
        config.substitutions.append((r"(?<![\w/-])ptxas(?![\w.-])", ptxas))
        break

# A target is a feature: `// REQUIRES: cuda`.
config.available_features.add("cpu")
config.available_features.add(f"asserts-{'on' if config.build_type != 'Release' else 'off'}")
