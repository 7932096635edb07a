#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs a program as ranks that a launcher starts. Usage: with_ranks.sh mpi_openmpi|mpi_mpich|openshmem LAUNCHER RANKS PROGRAM [ARGUMENT]...
set -euo pipefail
kind=$1 launcher=$2 ranks=$3
shift 3
# Open MPI refuses root and more ranks than cores unless it is told otherwise. Its OpenSHMEM takes the addresses of one
# process's own data for those of all, so these may not be random.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PARHELION_TEST_TRANSPORT=${kind%_*}
options=()
case $kind in
    mpi_openmpi) options=(--oversubscribe) ;;
    openshmem) launcher="setarch -R $launcher" options=(--oversubscribe) ;;
esac
PARHELION_TEST_FOLDER=$(mktemp -d)
export PARHELION_TEST_FOLDER
trap 'rm -r "$PARHELION_TEST_FOLDER"' EXIT
$launcher "${options[@]}" -n "$ranks" "$@"
