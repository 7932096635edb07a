#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh LIBRARY MPIEXEC PROGRAM [alone]: two ranks of an MPI program with the library before the MPI, which must have served requests.
# `alone`: the program prints then what it prints by the MPI alone.
set -euo pipefail
library=$1 mpiexec=$2 program=$3
export LD_LIBRARY_PATH=${mpiexec%/*}/../lib
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$mpiexec" -n 2 -genv LD_PRELOAD "$library" -genv PARHELION_MPI_REPORT 1 "$program" > "$scratch/ours" 2> "$scratch/said" || { cat "$scratch/said"; exit 1; }
grep -c "has made [1-9][0-9]* requests" "$scratch/said" | grep -qx 2 || { cat "$scratch/said"; exit 1; }
[ "${4:-}" = alone ] || exit 0
"$mpiexec" -n 2 "$program" > "$scratch/theirs"
[ "$(wc -l < "$scratch/theirs")" -ge 80 ]
diff "$scratch/theirs" "$scratch/ours"
