# Everything a user needs: `make demo`, `make test`. `make help` lists the rest.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PREFIX ?= /usr/local
PYTHON ?= ON
JOBS ?= $(shell nproc)
# Many tests wait for children, files or a browser more than they compute.
TEST_JOBS ?= $(shell echo $$((2 * $(JOBS))))
CXX_FILES = git ls-files '*.hpp' '*.cpp'

.PHONY: help build demo test mpi-test asan tsan docs fuzz reliability install wheel page page-test release uninstall format format-check tidy bench quality reproduce clean packages-build packages-test packages-reproduce packages-quality

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Installs Debian packages that are missing; silent, without root or network, when none is.
packages-build:
	@scripts/install-packages build

packages-test:
	@scripts/install-packages build test

packages-reproduce:
	@scripts/install-packages build reproduce

packages-quality:
	@scripts/install-packages build quality

# Configured once; Ninja itself sees when CMake files change.
build/release/build.ninja: CMakePresets.json | packages-build
	@cmake --preset release

build/dev/build.ninja: CMakePresets.json | packages-test
	@cmake --preset dev

build: packages-build build/release/build.ninja ## build the program: build/release/pnmf
	@cmake --build --preset release --parallel $(JOBS) --target pnmf_program

demo: build ## run the main job on simulated circles; writes into ./demo
	@scripts/demo build/release/pnmf demo

test: packages-test build/dev/build.ninja ## build everything and run all tests
	@cmake --build --preset dev --parallel $(JOBS)
	@ctest --preset dev --parallel $(TEST_JOBS)

page: packages-build ## build the page that computes, web/dist/pnmf.html: the program as WebAssembly, in one file
	@scripts/install-packages page
	@JOBS=$(JOBS) scripts/page

# Not part of `make test`, which would take minutes longer wherever the page is built.
page-test: packages-test build/dev/build.ninja page ## build the page that computes, and compare it with the program in Chromium
	@cmake --build --preset dev --parallel $(JOBS) --target pnmf_program
	@ctest --preset dev -C page -R ThePageThatComputes

# The site shows the program's own help and the Python package's docstrings, so both are built first.
docs: packages-build ## make the documentation site, offline: build/docs/html/index.html
	@scripts/install-packages python docs
	@cmake --preset release -DPNMF_BUILD_PYTHON=ON >/dev/null
	@cmake --build --preset release --parallel $(JOBS) --target pnmf_program pnmf_python
	@/usr/bin/python3 -B scripts/docs build/release/pnmf build/release/python

asan: packages-test ## tests of io, results and cli with the address and undefined-behaviour sanitisers (ALL=1: the whole suite)
	@JOBS=$(JOBS) TEST_JOBS=$(TEST_JOBS) scripts/sanitised asan $(if $(ALL),all)

mpi-test: packages-test ## tests under mpirun, several processes on one machine (MPI=mpich: with MPICH instead of Open MPI)
	@JOBS=$(JOBS) scripts/mpi-tests $(or $(MPI),openmpi)

tsan: packages-test ## tests of the solvers with the thread sanitiser (ALL=1: the whole suite)
	@JOBS=$(JOBS) TEST_JOBS=$(TEST_JOBS) scripts/sanitised tsan $(if $(ALL),all)

fuzz: packages-test ## look for bytes that break a reader: MINUTES of each (default 1), needs clang
	@scripts/install-packages fuzz || true
	@scripts/fuzz $(or $(MINUTES),1)

reliability: packages-test build/dev/build.ninja ## fault walks, threads, memory and load in full; writes the figures of docs/reliability.md
	@cmake --build --preset dev --parallel $(JOBS) --target pnmf_program pnmf_fail_call pnmf_fuzz_replay pnmf_python test_results test_cli test_cli_stored
	@/usr/bin/python3 -B scripts/reliability build/dev

install: build ## install program, library, headers and Python package under PREFIX (default /usr/local); PYTHON=OFF leaves Python out
	@[ "$(PYTHON)" = OFF ] || scripts/install-packages python
	@cmake --preset release -DPNMF_BUILD_PYTHON=$(PYTHON) >/dev/null
	@cmake --build --preset release --parallel $(JOBS)
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

wheel: packages-test ## build a wheel that carries the libraries it needs, into build/wheel
	@scripts/install-packages python wheel
	@scripts/wheel

release: ## tests, site and packages, then a commit and a tag; needs MAINTAINER='Name <address>'; DRY=1: without commit and tag
	@scripts/install-packages build test python docs wheel debian r
	@scripts/release $(if $(DRY),--dry-run)

uninstall: ## remove what the last `make install` installed
	@[ -f build/release/install_manifest.txt ] || { echo "nothing was installed from here" >&2; exit 1; }
	@sed "s|^|$(DESTDIR)|" build/release/install_manifest.txt | xargs -d '\n' rm -fv
	@rm -f build/release/install_manifest.txt

format: ## format the C++ sources
	@$(CXX_FILES) | xargs clang-format -i

format-check: ## check the format of the C++ sources
	@$(CXX_FILES) | xargs clang-format --dry-run --Werror

# clang-tidy looks at sources one by one, and wants to know how each would be compiled alone.
tidy: packages-test ## run clang-tidy over the sources that changed since its last run
	@cmake --preset dev -B build/tidy -DPNMF_FILES_PER_UNIT=1 -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
	@scripts/tidy build/tidy

bench: packages-test ## run the benchmarks, about half an hour
	@scripts/bench

# Goes on where an interrupted run was; what is kept is in build/quality.
quality: packages-quality build ## make the tables of docs/choosing-scales.md from the labelled data sets, half an hour
	@/usr/bin/python3 -B benchmarks/quality/run.py build/release/pnmf "$${PNMF_DATA:-../shared/data}" --page docs/choosing-scales.md

reproduce: packages-reproduce build ## run the paper's experiments (QUICK=1: a few minutes); page: experiments/out/index.html
	@/usr/bin/python3 -B experiments/run.py $(if $(QUICK),--quick) $(REPRODUCE_FLAGS)

clean: ## remove what was built
	@rm -rf build
