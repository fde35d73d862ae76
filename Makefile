# The two commands: `make train` and `make test`. Both install what is missing first (scripts/setup.sh).
#
#   VENV=DIR    use (or make) this virtual environment; .venv links to it
#   PRESET=dev  a preset of CMakePresets.json: dev, asan, release
#   JOBS=N      parallel jobs (all cores)
#   ARGS=...    passed on by `make train` (config overrides) and `make bench`

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PRESET ?= dev
BUILD := build/$(PRESET)
JOBS ?= $(shell nproc)
ARGS ?=
PY := .venv/bin/python
export VENV

# Hits across clones in other folders; the precompiled header needs the sloppiness.
export CCACHE_BASEDIR ?= $(CURDIR)
export CCACHE_NOHASHDIR ?= 1
export CCACHE_SLOPPINESS ?= pch_defines,time_macros,include_file_mtime,include_file_ctime

.PHONY: help setup configure build install train test bundle test-bundle bench lint format docs clean

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | column -t -s '|'

setup: ## Install what is missing: Debian packages, .venv, Python packages
	@scripts/setup.sh

configure: setup
	@mkdir -p build
	@[ $(BUILD)/build.ninja -nt CMakePresets.json ] || cmake --preset $(PRESET) -DPython3_EXECUTABLE="$(CURDIR)/$(PY)" >$(BUILD).configure.log 2>&1 \
	  || { cat $(BUILD).configure.log >&2; exit 1; }

build: configure ## Configure and build
	@ninja -C $(BUILD) -j $(JOBS) --quiet

install: build ## Put the package and the tools into .venv
	@$(PY) scripts/install.py --build $(BUILD) --venv .venv

train: install ## Train a small language model on the CPU
	@$(PY) -m terrazzo.trainer $(ARGS)

test: install ## Build, install, and run every test: lit, gtest, pytest, the quick lints
	@$(PY) scripts/check.py --build $(BUILD) --jobs $(JOBS)

bundle: configure ## Pack what runs without LLVM, on a GPU machine too: build/terrazzo-bundle.tar.xz
	@ninja -C $(BUILD) -j $(JOBS) --quiet bundle-files
	@$(PY) tools/bundle/pack.py --build $(BUILD)

test-bundle: bundle ## Install the bundle into an empty folder and test it there
	@$(PY) -m pytest -q -p no:cacheprovider test/bundle

bench: install ## Print the speed bars beside numpy and torch
	@env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE $(PY) benchmarks/bench.py $(ARGS)

lint: build ## Every lint, clang-tidy on all files that changed since it passed them
	@$(PY) tools/lint/lint.py --build $(BUILD) --jobs $(JOBS)

format: setup ## Format C++ and Python in place
	@git ls-files -co --exclude-standard -- '*.cpp' '*.h' | xargs clang-format-22 -i
	@.venv/bin/ruff format --quiet .
	@.venv/bin/ruff check --quiet --fix --select I .

docs: build ## Generate the pages of ops and passes into docs/generated
	@$(PY) scripts/docs.py

clean: ## Remove the build and generated files (not .venv)
	@rm -rf build docs/generated .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
