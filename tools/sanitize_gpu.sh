#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every kernel variant under every tool of compute-sanitizer, by the GPU tests on small systems: some minutes.
#
#   tools/sanitize_gpu.sh [BUILD_FOLDER [LOG_FOLDER]]       SANITIZERS="memcheck initcheck" restricts, JOBS=4 is how many at once
#
# Which variants there are is read from the program (cuobjdump), which the same tests launch from a library that listens to the
# driver (log_kernels.cpp). Prints a line per tool and test program with the number of its reports, and the variants that no
# test launches. Fails if there is a report, a failed test or such a variant. Left out are tests of size and repetition alone, and
# under the sanitizer, which has kernels wait for each other, those whose kernels wait for each other's signals.
set -u
build=${1:-build-cuda} logs=${2:-$build/sanitizer} tools=${SANITIZERS:-memcheck racecheck synccheck initcheck} jobs=${JOBS:-4}
here=$(dirname "$0") cuda=${CUDA_HOME:-/usr/local/cuda}
programs=$(cd "$build" && ls test_*_gpu)
filter='-*GpuNonbondedSizes*:*is_the_same_every_time*:SeriesOnGpu*:GpuRepartition45k*:*blow_up*:*follows_the_reference*:*shrinks*:*however_long*'
export filter build logs alone="$filter:RanksOnGpus*"
mkdir -p "$logs"
rm -f "$logs"/*

sanitize()
{
    local log=$logs/$1.$2.log
    timeout "${LIMIT:-1200}" compute-sanitizer --tool "$1" --print-limit 50 "$build/$2" --gtest_filter="$alone" > "$log" 2>&1
    local rc=$? reports
    reports=$(sed -n 's/.*ERROR SUMMARY: \([0-9]*\) error.*/\1/p; s/.*RACECHECK SUMMARY: \([0-9]*\) hazard.*/\1/p' "$log" | tail -1)
    echo "$1 $2: ${reports:-unknown} reports, exit $rc, $(grep -c '^\[       OK' "$log") tests passed, $SECONDS s" | tee -a "$logs/summary"
}
export -f sanitize
for program in ${programs/test_comm_gpu/}; do for tool in $tools; do echo "$tool $program"; done; done | xargs -P "$jobs" -L 1 bash -c 'sanitize $0 $1'

g++ -std=c++20 -O1 -fPIC -shared -I "$cuda/include" "$here/log_kernels.cpp" -o "$logs/log_kernels.so" -L "$cuda/lib64" \
    -L "$cuda/extras/CUPTI/lib64" -lcupti || exit 1
export LD_LIBRARY_PATH=$cuda/lib64:$cuda/extras/CUPTI/lib64:${LD_LIBRARY_PATH:-} PARHELION_KERNEL_LOG=$logs/launched
for program in $programs
do
    timeout 300 env CUDA_INJECTION64_PATH=$(realpath "$logs/log_kernels.so") "$build/$program" --gtest_filter="$filter" > "$logs/$program.log" 2>&1
done
cuobjdump -symbols "$build/parhelion" | awk '/STO_ENTRY/ { print $NF }' | c++filt | grep parhelion | sort -u > "$logs/variants"
c++filt < "$logs/launched" | sort -u > "$logs/ran"
comm -23 "$logs/variants" "$logs/ran" > "$logs/not_run"
echo "kernel variants: $(wc -l < "$logs/variants"), of which no test launches $(wc -l < "$logs/not_run")" | tee -a "$logs/summary"
cat "$logs/not_run"
! grep -qv ': 0 reports, exit 0' <(grep reports "$logs/summary") && [ -s "$logs/variants" ] && [ ! -s "$logs/not_run" ]
