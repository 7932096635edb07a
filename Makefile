# SPDX-License-Identifier: Apache-2.0
# The short commands. Each is a line or two over CMake (CMakePresets.json), which can as well be used directly.
#   make demo     install what is missing, build, simulate a box of 3 000 atoms          make build    the program, build/parhelion
#   make test     build and run the host tests                                           make nightly  the long tier
#   make test-gpu build with CUDA and run the GPU tests                            make nightly-gpu  their long tier
#   make release  wheel, Debian package, source, checksums: build-release/            make package  the Debian package
#   make bench    measure kernels and steps                                              make format   clang-format on every C++ file
#   make deps     the Debian packages of the program alone                               make clean    remove build/
#   make manual   the manual as a site, build/manual/index.html
JOBS   ?= $(shell nproc)
PYTHON ?= /usr/bin/python3

oracles   := build/test-venv
configure := cmake --preset host --log-level=WARNING
with_tests = $(configure) -DPARHELION_TESTS=ON -DPARHELION_PYTHON=$(CURDIR)/$(oracles)/bin/python

.PHONY: deps build demo manual test test-gpu nightly nightly-gpu bench format clean package release
.NOTPARALLEL:

deps:
	@tools/install_packages.sh build

# A build folder that make test or make bench configured keeps its options; a fresh one gets the program alone. Transports over
# MPI are built where its headers are, and what is left out is said.
build: deps
	@$(configure) $(if $(wildcard build/build.ninja),,-DPARHELION_TESTS=OFF)
	@cmake --build build --target parhelion plugins -j $(JOBS)
	@cat build/left_out.txt

demo: build
	@rm -rf build/demo
	build/parhelion generate ethanol-water --atoms 3000 -d build/demo
	cd build/demo && ../parhelion run -f md.mdp -c conf.gro -p topol.top -o md --steps 5000

# The readers of other projects that our files are checked with, pinned, in a virtual environment of their own.
$(oracles)/installed: tests/python/requirements.txt | test-packages
	@rm -rf $(oracles)
	@$(PYTHON) -m venv $(oracles)
	@$(oracles)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

.PHONY: test-packages test-build
test-packages:
	@tools/install_packages.sh build test

test-build: test-packages $(oracles)/installed
	@$(with_tests)
	@cmake --build build -j $(JOBS)

test: test-build
	@tools/run_tests.sh host $(JOBS)

test-gpu: test-packages
	@cmake --preset cuda --log-level=WARNING
	@cmake --build --preset cuda -j $(JOBS)
	@tools/test_gpus.py build-cuda

nightly-gpu: test-packages $(oracles)/installed
	@cmake --preset cuda --log-level=WARNING -DPARHELION_PYTHON=$(CURDIR)/$(oracles)/bin/python
	@cmake --build --preset cuda -j $(JOBS)
	@ctest --test-dir build-cuda --output-on-failure --no-tests=error -L gpu_nightly

nightly: test-build
	@ctest --test-dir build --output-on-failure --no-tests=error -L nightly
	@cmake --preset standin --log-level=WARNING -DPARHELION_PYTHON=$(CURDIR)/$(oracles)/bin/python
	@cmake --build --preset standin -j $(JOBS) --target standin_tests
	@ctest --test-dir build-standin --output-on-failure --no-tests=error -L nightly -R '^standin\.'
	@cmake --preset asan --log-level=WARNING
	@cmake --build --preset asan -j $(JOBS) --target test_comm test_halo test_io test_domain
	@.ci/sanitized asan all
	@cmake --preset tsan --log-level=WARNING
	@cmake --build --preset tsan -j $(JOBS) --target test_comm test_halo test_domain test_device
	@.ci/sanitized tsan all
	@tools/install_packages.sh hip
	@cmake --preset hip --log-level=WARNING -DPARHELION_WERROR=ON
	@cmake --build --preset hip -j $(JOBS)

bench:
	@tools/install_packages.sh build bench
	@$(configure) -DPARHELION_BENCH=ON
	@cmake --build build -j $(JOBS)
	build/parhelion bench

# What makes the manual's site, pinned, in an environment of its own. Warnings are errors (but not with --quiet): a link
# that leads nowhere is one.
build/manual-venv/installed: docs/requirements.txt
	@rm -rf build/manual-venv
	@$(PYTHON) -m venv build/manual-venv
	@build/manual-venv/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

manual: build/manual-venv/installed
	@NO_MKDOCS_2_WARNING=1 build/manual-venv/bin/mkdocs build --strict
	@echo build/manual/index.html

package:
	@tools/install_packages.sh build wheel
	@tools/build_deb.sh

release:
	@tools/install_packages.sh build wheel
	@tools/make_release.sh

format:
	@tools/install_packages.sh check
	@git ls-files -z '*.cpp' '*.hpp' '*.cu' '*.cuh' | xargs -0 clang-format-14 -i

clean:
	rm -rf build
