#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs a program as ranks that a launcher starts. Usage: with_ranks.sh KIND LAUNCHER RANKS PROGRAM [ARGUMENT]...
# KIND: a transport and the library that has it: mpi_openmpi, mpi-rma_mpich, mpi-put_abi, openshmem_openmpi, openshmem_1.5, ...
set -euo pipefail
kind=$1 launcher=$2 ranks=$3
shift 3
# Open MPI refuses root and more ranks than cores unless it is told otherwise. Its OpenSHMEM takes the addresses of one
# process's own data for those of all, so these may not be random.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PARHELION_TEST_TRANSPORT=${kind%_*}
options=()
preloaded=${PARHELION_TEST_PRELOAD:-} # for the ranks, not for their launcher
[ -z "$preloaded" ] || set -- env "LD_PRELOAD=$preloaded" "$@"
case $kind in
    openshmem_openmpi) launcher="setarch -R $launcher" options=(--oversubscribe) ;;
    *_openmpi) options=(--oversubscribe) ;;
    *_abi) export LD_LIBRARY_PATH=${launcher%/*}/../lib ;; # of a package for Python
    openshmem_*) export LD_LIBRARY_PATH=${1%/*} ;;         # beside the program
esac
PARHELION_TEST_FOLDER=$(mktemp -d)
export PARHELION_TEST_FOLDER
trap 'rm -r "$PARHELION_TEST_FOLDER"' EXIT
$launcher "${options[@]}" -n "$ranks" "$@"
