#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The launcher of the tests' OpenSHMEM library. Usage: run_ranks.sh -n RANKS PROGRAM [ARGUMENT]...
set -euo pipefail
ranks=$2
shift 2
export PARHELION_TEST_SHMEM=/parhelion-test-$$ OMPI_COMM_WORLD_SIZE=$ranks OMPI_COMM_WORLD_LOCAL_SIZE=$ranks
started=()
trap '[ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2> /dev/null || true; rm -f "/dev/shm$PARHELION_TEST_SHMEM"' EXIT
for ((rank = 0; rank < ranks; ++rank)); do
    OMPI_COMM_WORLD_RANK=$rank "$@" &
    started+=($!)
done
for ((rank = 0; rank < ranks; ++rank)); do wait -n; done # set -e: the first that fails ends the others
started=()
