# make run: say what the storage of this directory does; the first call builds the engine.
# make test: build with every MPI at hand and run all tests. README.md says more.
.PHONY: run build setup engine card driver test test-setup test-file-systems sanitize lint lint-all bench docs wheel clean help

help:
	@echo "make run    what this storage does: a card; the first call builds the engine"
	@echo "make build  build the engine; leaves bin/effio, bin/effio-mpi and the classic names"
	@echo "make test   run all tests (as root on Debian or Ubuntu it first installs what they need)"
	@echo "make test-setup  set up from nothing in bare Debian chroots (root, network, some minutes)"
	@echo "make test-file-systems  every benchmark on GlusterFS and MooseFS, servers that die (root, more than an hour)"
	@echo "make sanitize  engine tests under the address, undefined-behaviour and thread sanitizers"
	@echo "make lint   clang-format, clang-tidy on what changed, ruff, mypy (make lint-all: on everything)"
	@echo "make bench  compare with bare programs, pairs in one run"
	@echo "make docs   the documentation as a site in build/docs"
	@echo "make wheel  a wheel with engines in it, in dist/: installing it needs no compiler"
	@echo "make clean  remove what was built"

# Compiling leaves time for fetching the driver's packages.
build: setup
	@$(MAKE) --no-print-directory -j2 engine driver

run: setup
	@$(MAKE) --no-print-directory -j2 $$(test -x bin/effio-mpi && echo engine || echo card) driver
	@scripts/run

setup:
	@scripts/setup

# Ninja uses all processors; make's flags could limit it to two jobs.
engine:
	@MAKEFLAGS= scripts/build release

card:
	@MAKEFLAGS= scripts/build --card release

driver:
	@MAKEFLAGS= scripts/driver

test:
	@scripts/test

test-setup:
	@scripts/test-setup

test-file-systems:
	@scripts/test-file-systems

sanitize:
	@scripts/sanitize

lint-all:
	@scripts/lint --all

lint:
	@scripts/lint

bench: build
	@scripts/bench

docs:
	@scripts/docs

wheel:
	@scripts/wheel

clean:
	rm -rf build bin
