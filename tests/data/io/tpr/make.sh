#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the run input files of this folder anew: small, rare and seldom of ../, by grompp of GROMACS 2022.5 in single and double precision.
# rare goes without mass-repartition-factor, which is younger.
set -e
export GMX_MAXBACKUP=-1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in small rare seldom; do
  cp "$here/../$name"/* "$work"
  cd "$work"
  sed -i '/^mass-repartition-factor/d' run.mdp
  echo 'ld-seed = 7' >> run.mdp
  for program in gmx gmx_d; do
    precision=single
    [ "$program" = gmx_d ] && precision=double
    "$program" -quiet grompp -f run.mdp -c conf.gro -r conf.gro -p topol.top -n index.ndx -o "$here/${name}_$precision.tpr" -po out.mdp -maxwarn 9 > log 2>&1
  done
  rm -f "$work"/*
done
