#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Do heat and heat_mpi print the same, on all grids of so few ranks, and is the port small?
#   compare.sh HEAT HEAT_MPI MPIRUN FOLDER
heat=$1 heat_mpi=$2 mpirun=$3 folder=$4
changed=$(diff "$folder/heat_mpi.c" "$folder/heat.c" | grep -c '^[<>]')
echo "lines of the port that differ: $changed"
[ "$changed" -lt 100 ] || exit 1
for grid in "1 1 1 8" "2 1 1 8" "1 2 2 8" "2 2 1 5"; do
    set -- $grid
    ours=$("$heat" $grid 30 2>/dev/null) || { echo "heat $grid 30 failed"; exit 1; }
    mpi=$("$mpirun" -n $(($1 * $2 * $3)) "$heat_mpi" $grid 30 2>/dev/null) || { echo "heat_mpi $grid 30 failed"; exit 1; }
    [ -n "$ours" ] && [ "$ours" = "$mpi" ] || { printf 'heat %s differs from heat_mpi:\n%s\n%s\n' "$grid" "$ours" "$mpi"; exit 1; }
done
