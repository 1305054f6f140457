# SPDX-License-Identifier: Apache-2.0
# A thin front to CMake, so that each job of this project is one command. `make help` lists them.
BUILD ?= build
DIST ?= dist
prefix ?= /usr/local
CMAKE_FLAGS ?=

.PHONY: all demo check bench dist install format lint clean help

all: $(BUILD)/build.ninja
	@cmake --build $(BUILD)

$(BUILD)/build.ninja:
	@cmake -S . -B $(BUILD) -G Ninja $(CMAKE_FLAGS)

demo:
	@scripts/deps.sh build
	@$(MAKE) --no-print-directory all
	@scripts/demo.sh $(BUILD)

check:
	@scripts/deps.sh build test
	@$(MAKE) --no-print-directory all
	@scripts/check.py $(if $(TALLY),--tally $(TALLY)) $(BUILD)

bench: all
	@cmake --build $(BUILD) --target bench

dist: all
	@scripts/dist.sh $(BUILD) $(DIST)

install: all
	@DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --prefix $(prefix)

format:
	@scripts/lint.sh --fix format

lint:
	@scripts/deps.sh build lint
	@$(MAKE) --no-print-directory all
	@scripts/lint.sh --build $(BUILD)

clean:
	@rm -rf $(BUILD) $(DIST)

help:
	@echo 'make          build into $(BUILD)/'
	@echo 'make demo     set up, build, record a program and show what was recorded'
	@echo 'make check    set up, build and test; the last line says N passed, N failed'
	@echo 'make bench    run the microbenchmarks'
	@echo 'make dist     a tree in $(DIST)/ that runs wherever glibc is not older than here'
	@echo 'make install  install into $$DESTDIR$(prefix)'
	@echo 'make format   lay out the sources as the house does'
	@echo 'make lint     look for faults without running anything'
	@echo 'make clean    remove $(BUILD)/ and $(DIST)/'
	@echo 'Variables: BUILD, DIST, prefix, DESTDIR, CMAKE_FLAGS (for the first configuration).'
