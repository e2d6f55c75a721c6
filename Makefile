# Two commands set up everything: `make demo` and `make test`. `make help` lists the rest.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

SEED ?= 1
SECONDS ?= 60
# An hour, unless it is given.
SOAK_SECONDS := $(if $(filter file,$(origin SECONDS)),3600,$(SECONDS))
COUNT ?= 10000
IMAGES ?= 100000
ROUNDS ?= 40
OBJECTS ?= 1000000
# A run with a million objects goes into the project's history, a quick look does not.
FULL := $(filter 1000000,$(OBJECTS))
HISTORY ?= $(if $(FULL),Tools/bench-history.ndjson,build/bench.ndjson)
FILTER ?=
export TARN_COMMIT ?= $(shell git describe --always --dirty 2>/dev/null)

PREFIX ?= /usr/local
DESTDIR ?=
RELEASE := .build/release
# Where very many small files are made: without waiting for a disk if there is such a folder.
IN_MEMORY := $(firstword $(wildcard /dev/shm) /tmp)
SWIFT_FILES := Package.swift Sources Tests Tools
TEST := swift test --disable-xctest
# Of the libraries' tests: the suites that work on more than one thread, and those of the code that
# works with pointers.
WITH_THREADS := '(Observ|Fork|FreezingTh|Reacting|Round|Skipping|WorkAhead|FreeLoop|Scheduler|Instance|Ended|Write|Signal|Gate|Environment|Killed|ReferenceThread|ThreadSafe|PassingHome)[A-Za-z]*Tests/'
WITH_POINTERS := '(Cluster|GroupedSums|SortBuffer|Collection|Directory|Index|LongValues|Nested|Page|Record|RowAccess|Scan|Signal|TreeKey|Adding|Unmanaged|Embedded|AnyRealm|List|Map|MutableSet)[A-Za-z]*Tests/'

.PHONY: help setup demo test test-release test-feed check format lint bench bench-pages stress damage docs
.PHONY: power power-cuts calls programs install deb test-deb soak simulate demo-daemon demo-sync test-sync
.PHONY: sanitize sanitize-engine sanitize-all sanitize-address sanitize-thread clean

help: ## list what can be made
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1#\2/p' $(MAKEFILE_LIST) | column -t -s '#'

setup: ## install what is missing from Debian's packages (asks nothing, says what it does)
	@Tools/setup.sh

demo: ## show the main job on this machine's package database
	@Tools/setup.sh shell
	swift build -c release --product tarn
	@Tools/demo/demo.sh $(RELEASE)/tarn

demo-daemon: ## show the daemon, which hands changes to a script
	@Tools/setup.sh shell daemon
	swift build -c release --product tarn
	swift build -c release --product tarn-daemon
	@Tools/demo/demo-daemon.sh $(RELEASE)/tarn

demo-sync: ## show two stores that meet in a PostgreSQL server
	@Tools/setup.sh shell sync
	swift build -c release --product tarn
	swift build -c release --product tarn-sync
	@Tools/demo/demo-sync.sh $(RELEASE)/tarn

test: setup ## run all tests
	$(TEST)

test-release: setup ## the library's tests with all seeds, against the optimized library; FILTER='...' for some
	TARN_SEEDS=all TARN_TESTS=TarnTests $(TEST) -c release -Xswiftc -enable-testing --scratch-path .build/optimized \
	  $(if $(FILTER),--filter '$(FILTER)')

check: setup lint ## what must hold before a commit: lint, build, tests, documentation, short stress, tiny bench
	swift build --build-tests
	$(TEST) --skip-build
	$(MAKE) docs
	$(MAKE) stress SECONDS=10
	swift build -c release --product tarn-daemon
	swift build -c release --product tarn-bench
	$(RELEASE)/tarn-bench --tiny

lint: ## check the layout of the sources
	swift format lint --recursive --strict $(SWIFT_FILES)

format: ## lay the sources out
	swift format --in-place --recursive $(SWIFT_FILES)

bench: setup ## measure against LMDB and SQLite, write tables and charts; OBJECTS=10000 for a quick look
	swift build -c release --product tarn-daemon
	swift build -c release --product tarn-bench
	@mkdir -p $(dir $(HISTORY))
	$(RELEASE)/tarn-bench --objects $(OBJECTS) --append $(HISTORY)
	$(if $(FULL),$(RELEASE)/tarn-bench --pages .)

bench-pages: ## write the tables and charts of the documentation from the history, without measuring
	swift build -c release --product tarn-bench
	$(RELEASE)/tarn-bench --pages .

stress: setup ## real processes on one file, checked as they go, without and with syncs; SEED=1 SECONDS=60
	swift build -c release --product tarn-stress
	$(RELEASE)/tarn-stress --seed $(SEED) --seconds $(SECONDS) --own-disk
	$(RELEASE)/tarn-stress --seed $(SEED) --seconds $(SECONDS) --own-disk --durable

test-feed: setup ## cursors against a model, in processes that are killed, and beside a million commits; SEED=1
	swift build -c release --product tarn-stress
	TMPDIR=$(IN_MEMORY) $(RELEASE)/tarn-stress feed --seed $(SEED) --count 100000 --churn 1000000
	TMPDIR=$(IN_MEMORY) $(RELEASE)/tarn-stress feed --seed $(SEED) --count 10000 --kills

simulate: setup ## 10^8 random operations of replicas and a simulated server, optimized, in about an hour; TARN_SEED=7 for one program
	TARN_SEEDS=$(or $(SEEDS),333334) TARN_TESTS=TarnSyncTests $(TEST) -c release -Xswiftc -enable-testing \
	  --scratch-path .build/optimized --filter SimulationTests

test-sync: setup ## files and a real server with all seeds, and the long simulation; TARN_SEED=7 for one of them
	TARN_SEEDS=all TARN_TESTS=TarnSyncTests $(TEST) -c release -Xswiftc -enable-testing \
	  --scratch-path .build/optimized --filter TarnSyncTests

soak: setup ## 64 processes on one file, then a daemon, for an hour: nothing may grow; SEED=1 SECONDS=3600
	swift build -c release --product tarn-daemon
	swift build -c release --product tarn-stress
	@mkdir -p build
	$(RELEASE)/tarn-stress soak --seed $(SEED) --seconds $$(($(SOAK_SECONDS) * 3 / 4)) --chart build/soak.svg
	TMPDIR=$(IN_MEMORY) $(RELEASE)/tarn-stress soak-daemon --seed $(SEED) --seconds $$(($(SOAK_SECONDS) / 4))

damage: setup ## tarn's commands on damaged stores; SEED=1 COUNT=10000
	swift build -c release --product tarn
	swift build -c release --product tarn-stress
	$(RELEASE)/tarn-stress damage --seed $(SEED) --count $(COUNT)

power: setup ## 100,000 states that a power failure may leave, each opened and checked; SEED=1 IMAGES=100000
	swift build -c release --product tarn-stress
	$(RELEASE)/tarn-stress power --seed $(SEED) --count $(IMAGES)

power-cuts: setup ## real ones: ext4, XFS and btrfs that lose their disk during commits; as root; ROUNDS=40
	@Tools/setup.sh systems
	swift build -c release --product tarn
	swift build -c release --product tarn-stress
	Tools/power-cuts.sh $(RELEASE) $(ROUNDS)

calls: setup ## each system call fails once, with each error that it may have
	swift build -c release --product tarn-daemon
	swift build -c release --product tarn-stress
	clang -shared -fPIC -O1 -ITools/StressFaults/include -o $(RELEASE)/stress-faults.so Tools/StressFaults/*.c
	$(RELEASE)/tarn-stress calls --preload $(CURDIR)/$(RELEASE)/stress-faults.so

programs: setup
	swift build -c release --product tarn
	swift build -c release --product tarn-daemon
	swift build -c release --product tarn-sync
	swift build -c release --product tarn-import
	swift build -c release --product tarn-stress

install: programs ## install the programs, the daemon, pages and completion; PREFIX=/usr/local DESTDIR=
	@Tools/setup.sh package
	Tools/package/install.sh $(RELEASE) '$(PREFIX)' '$(DESTDIR)'

deb: programs ## make Debian packages, in build/deb
	@Tools/setup.sh package
	Tools/package/deb.sh $(RELEASE) build/deb

test-deb: deb ## install and use the packages in a fresh Debian; as root
	Tools/package/test.sh build/deb

docs: setup ## the documentation as a web site, in build/docs
	@Tools/docs.sh build/docs

sanitize-engine: setup ## what CI runs under the sanitizers: the engine
	TARN_TESTS=TarnStoreTests Tools/sanitize.sh thread $(WITH_THREADS)
	TARN_TESTS=TarnStoreTests Tools/sanitize.sh address $(WITH_POINTERS)

sanitize: setup ## the same, and the library with it: threads where they matter, memory where pointers are
	TARN_TESTS='TarnStoreTests TarnTests' Tools/sanitize.sh thread $(WITH_THREADS)
	TARN_TESTS='TarnStoreTests TarnTests' Tools/sanitize.sh address $(WITH_POINTERS)

sanitize-all: setup ## all tests under the address sanitizer with leak detection, and under the thread sanitizer
	LEAKS=1 Tools/sanitize.sh address
	Tools/sanitize.sh thread

sanitize-address: setup ## all tests under the address sanitizer; FILTER='...' for some
	Tools/sanitize.sh address '$(FILTER)'

sanitize-thread: setup ## all tests under the thread sanitizer; FILTER='...' for some
	Tools/sanitize.sh thread '$(FILTER)'

clean: ## remove what was built
	rm -rf .build build
