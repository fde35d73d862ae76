# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tz-report: what a kernel needs on chips, and how it uses their memory, without a device.

    tz-report FILE.py::KERNEL --signature '*fp32:16, *fp32:16, i32' --constexpr BLOCK=1024 --targets sm_90a,gfx942

For each chip: registers, spills, bytes of shared memory, barriers, and the width of every access to memory by line of
the source. --ptxas lets NVIDIA's assembler say the registers on its chips.
"""

import argparse
import sys

from ..compiler import compile_specs
from ..errors import ArgumentError, TerrazzoError
from ..targets import check_chip
from .compile import UsageError, load_kernel, parse_assignments, specs_of, split_list


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(message)


def target_of(chip):
    """The target of a chip: "sm_90a" is of cuda, "gfx942" of hip; targets in full are taken as well."""
    if ":" in chip:
        return chip
    for name, prefix in (("cuda", "sm_"), ("hip", "gfx")):
        if chip.startswith(prefix):
            return f"{name}:{chip}"
    raise UsageError(f"--targets: '{chip}' is no chip, expected one such as sm_90a or gfx942")


def _parser():
    parser = _Parser(prog="tz-report", description="Says what a kernel needs on chips.", allow_abbrev=False)
    parser.add_argument("source", metavar="FILE.py::KERNEL", help="a kernel")
    parser.add_argument("--signature", default="", help="the types of the parameters without a value")
    parser.add_argument("--constexpr", default="", help="values of parameters, such as BLOCK=1024,CAUSAL=True")
    parser.add_argument("--option", default="", help="launch options, such as num_warps=8")
    parser.add_argument("--targets", default="sm_90a,gfx942", help="chips (default: sm_90a,gfx942)")
    parser.add_argument("--ptxas", action="store_true", help="let ptxas say the registers of NVIDIA's chips")
    return parser


def _run(argv):
    arguments = _parser().parse_args(argv)
    path, separator, name = arguments.source.partition("::")
    if not separator or not name:
        raise UsageError(f"'{arguments.source}' is not FILE.py::KERNEL")
    targets = [target_of(chip) for chip in split_list(arguments.targets, "--targets")]
    for target in targets:
        try:
            check_chip(*target.split(":", 1))
        except TerrazzoError as error:
            raise UsageError(f"--targets: {error}") from None
    constants = parse_assignments(arguments.constexpr, "--constexpr")
    options = parse_assignments(arguments.option, "--option")
    kernel = load_kernel(path, name)
    specs = specs_of(kernel, arguments.signature, constants)
    for target in targets:
        compiled = compile_specs(kernel, specs, options, target)
        print(compiled.report(arguments.ptxas and target.startswith("cuda")))


def main(argv=None):
    """The command: 0 done, 1 the kernel does not compile, 2 the command line is wrong."""
    try:
        _run(argv)
    except (UsageError, ArgumentError) as error:
        print(f"tz-report: error: {error}", file=sys.stderr)
        return 2
    except TerrazzoError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
