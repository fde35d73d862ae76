#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what is missing: Debian packages, the virtual environment, the pinned Python packages. Does nothing, in well
# under a second, where all is there. Whatever goes wrong ends with one line that says what to do.
#
#   VENV=DIR    the virtual environment to use; .venv becomes a link to it. Without it, .venv is a folder here.
#   PYTHON=EXE  the interpreter to make it with (python3).
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

python=${PYTHON:-python3}
llvm=/usr/lib/llvm-22

# A Debian package and a command or a file that shows it is there.
wanted='
clang-22            clang++-22
clang-tools-22      '$llvm'/bin/clang-scan-deps
clang-format-22     clang-format-22
clang-tidy-22       clang-tidy-22
llvm-22-dev         '$llvm'/lib/cmake/llvm/LLVMConfig.cmake
llvm-22-tools       '$llvm'/bin/FileCheck
libmlir-22-dev      '$llvm'/lib/cmake/mlir/MLIRConfig.cmake
mlir-22-tools       '$llvm'/bin/mlir-tblgen
lld-22              ld.lld-22
liblld-22-dev       '$llvm'/include/lld/Common/Driver.h
libpolly-22-dev     '$llvm'/lib/libPolly.a
cmake               cmake
ninja-build         ninja
ccache              ccache
libgtest-dev        /usr/include/gtest/gtest.h
libzstd-dev         /usr/include/zstd.h
zlib1g-dev          /usr/include/zlib.h
xz-utils            xz
git                 git
python3             '$python'
'

there() { # a command, or a file by its absolute path
  case $1 in /*) [ -e "$1" ] ;; *) command -v "$1" >/dev/null 2>&1 ;; esac
}

missing_packages() {
  local package probe
  while read -r package probe; do
    [ -n "$package" ] || continue
    there "$probe" || echo "$package"
  done <<<"$wanted"
  there "$python" || { echo python3-venv; echo python3-dev; return; }
  "$python" -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
  "$python" -c 'import os, sysconfig as s; assert os.path.exists(s.get_path("include") + "/Python.h")' 2>/dev/null ||
    echo python3-dev
}

install_packages() {
  local command="apt-get install -y --no-install-recommends $*" root=() log
  command -v apt-get >/dev/null 2>&1 || die "missing: $*; this is not a Debian machine: install their like by hand"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || die "missing: $*; run as root: $command"
    sudo -n true 2>/dev/null || [ -t 0 ] || die "missing: $*; run: sudo $command"
    root=(sudo)
  fi
  root+=(env DEBIAN_FRONTEND=noninteractive)
  log=$(mktemp)
  say "installing $*"
  if ! "${root[@]}" $command >"$log" 2>&1; then
    # The package lists are absent or old.
    say "apt-get update"
    "${root[@]}" apt-get update >"$log" 2>&1 ||
      die "apt-get update failed (log: $log): check the network and the sources in /etc/apt"
    "${root[@]}" $command >"$log" 2>&1 ||
      die "cannot install the packages (log: $log): check the network, then run: $command"
  fi
  rm -f "$log"
}

make_venv() {
  if [ -n "${VENV:-}" ]; then
    mkdir -p "$(dirname "$VENV")" || die "cannot create the folder of VENV=$VENV"
    if [ -d .venv ] && [ ! -L .venv ]; then
      [ "$(realpath .venv)" = "$(realpath -m "$VENV")" ] ||
        die ".venv is a folder here, yet VENV names $VENV: remove .venv or unset VENV"
    else
      ln -sfn "$(realpath -m "$VENV")" .venv
    fi
  elif [ -L .venv ] && [ ! -e .venv ]; then
    mkdir -p "$(realpath -m .venv)"
  fi
  if ! .venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
      die "Python 3.11 or newer is needed, $python is $("$python" -V 2>&1): set PYTHON"
    say "making the virtual environment $(realpath -m .venv)"
    "$python" -m venv "$(realpath -m .venv)" || die "cannot make .venv: install python3-venv"
  fi
}

install_requirements() {
  local stamp=.venv/.terrazzo-requirements want log
  want=$(cat requirements/*.txt | sha256sum)
  [ "$(cat "$stamp" 2>/dev/null || true)" = "$want" ] && return
  log=$(mktemp)
  say "installing the Python packages of requirements/dev.txt (torch is large: minutes)"
  .venv/bin/python -m pip install --disable-pip-version-check --quiet -r requirements/dev.txt \
    -c requirements/constraints.txt >"$log" 2>&1 ||
    die "pip failed (log: $log): check the network, then run: .venv/bin/pip install -r requirements/dev.txt"
  rm -f "$log"
  echo "$want" >"$stamp"
}

mapfile -t missing < <(missing_packages | sort -u)
[ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
mapfile -t missing < <(missing_packages | sort -u)
[ ${#missing[@]} -eq 0 ] || die "still missing after the installation: ${missing[*]}"

# Clones may share one environment: one at a time.
lock=${XDG_RUNTIME_DIR:-/tmp}/terrazzo-venv-$(id -u).lock
exec 9>"$lock"
flock 9
make_venv
install_requirements
