#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The tests of a preset of CMakePresets.json: first those that wait for most of their time (label ..._waits), four on each core, then the others.
# Usage: tools/run_tests.sh PRESET [CORES]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1 cores=${2:-$(nproc)} failed=0
ctest --preset "$preset" -L _waits -j $((4 * cores)) || failed=$?
ctest --preset "$preset" -LE _waits -j "$cores" || failed=$?
exit $failed
