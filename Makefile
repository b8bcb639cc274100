# Everything a user needs: `make demo`, `make test`. `make help` lists the rest.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

.PHONY: help build demo test install format format-check tidy bench clean packages-build packages-test

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

packages-build:
	@scripts/install-packages build

packages-test:
	@scripts/install-packages build test

build: packages-build ## build the program: build/release/pnmf
	@[ -f build/release/build.ninja ] || cmake --preset release
	@cmake --build --preset release --parallel $(JOBS) --target pnmf_program

demo: build ## run the main job on simulated circles
	@scripts/demo build/release/pnmf

test: packages-test ## build everything and run all tests
	@[ -f build/dev/build.ninja ] || cmake --preset dev
	@cmake --build --preset dev --parallel $(JOBS)
	@ctest --preset dev --parallel $(JOBS)

install: build ## install the program, the library and its headers under PREFIX (default /usr/local)
	@cmake --build --preset release --parallel $(JOBS)
	@cmake --install build/release --prefix "$(PREFIX)"

format: ## format the C++ sources
	@git ls-files '*.hpp' '*.cpp' | xargs clang-format -i

format-check: ## check the format of the C++ sources
	@git ls-files '*.hpp' '*.cpp' | xargs clang-format --dry-run --Werror

tidy: packages-test ## run clang-tidy over the sources
	@[ -f build/dev/build.ninja ] || cmake --preset dev
	@git ls-files 'src/*.cpp' 'apps/*.cpp' | xargs -P $(JOBS) -n 4 clang-tidy --quiet -p build/dev

bench: packages-test ## run the benchmarks that take under ten minutes
	@scripts/bench

clean: ## remove what was built
	@rm -rf build
