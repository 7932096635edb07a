#!/bin/bash
# Makes axes_*.energies.txt.gz: boxes whose edges have pressures of their own, 100 steps by gmx_d 2022.5 (Debian), half a minute.
# Each run is nhpr.mdp with the lines below replaced. The C-rescale runs have a reference temperature of 0 K, and so no noise.
# usage: make_axes.sh            needs: gmx_d, awk
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export GMX_MAXBACKUP=-1 OMP_NUM_THREADS=1
columns="Temperature|Pres._DC|Box-X|Box-Y|Box-Z|Pres-XX|Pres-YY|Pres-ZZ|Box-Vel-XX|Box-Vel-YY|Box-Vel-ZZ"

run() { # run NAME "key = value" ...
  local name=$1 mdp=$work/$1.mdp; shift; cp "$here/nhpr.mdp" "$mdp"
  for line; do key=${line%% =*}; sed -i -e "/^$key  *=/d" "$mdp"; echo "$line" >> "$mdp"; done
  gmx_d grompp -quiet -f "$mdp" -c ../conf.gro -p ../topol.top -o "$work/t.tpr" -po "$work/out.mdp" -maxwarn 3 > "$work/log" 2>&1
  gmx_d mdrun -quiet -ntmpi 1 -ntomp 1 -reprod -s "$work/t.tpr" -deffnm "$work/t" > "$work/log" 2>&1
  seq 1 80 | gmx_d energy -quiet -dp -xvg none -f "$work/t.edr" -o "$work/t.xvg" > "$work/list" 2>&1
  awk -v wanted="^($columns)$" '
    FNR == NR { if (/\([^()]*\) *$/ && NF > 4 && substr($0, 25, 1) == " ")   # the table of averages, in the order of the columns
                { name = substr($0, 1, 24); gsub(/ +$/, "", name); gsub(/ /, "_", name); unit = $NF; names[++n] = name; units[n] = unit }
                next }
    FNR == 1 { title = "# time(ps)"; for (i = 1; i <= n; i++) if (names[i] ~ wanted) title = title " " names[i] units[i]; print title }
    { row = $1; for (i = 1; i <= n; i++) if (names[i] ~ wanted) row = row " " $(i + 1); print row }
  ' "$work/list" "$work/t.xvg" | gzip -9n > "$here/axes_$name.energies.txt.gz"
}

semi=("pcoupltype = semiisotropic" "ref-p = 1 200" "compressibility = 4.5e-5 3e-5")
each=("pcoupltype = anisotropic" "ref-p = 1 200 -100 0 0 0" "compressibility = 4.5e-5 3e-5 0 0 0 0")
shear=("pcoupltype = anisotropic" "ref-p = 1 200 -100 0 0 0" "compressibility = 4.5e-5 3e-5 4e-5 2e-5 3e-5 4e-5")
tension=("pcoupltype = surface-tension" "ref-p = 600 1" "compressibility = 4.5e-5 3e-5")
fixed=("pcoupltype = surface-tension" "ref-p = 600 1" "compressibility = 4.5e-5 0")
first_order=("tau-p = 20" "tcoupl = berendsen" "nh-chain-length = 10")
run nhpr_semi "${semi[@]}"
run nhpr_each "${each[@]}"
run nhpr_tension "${tension[@]}"
run berendsen_semi "${semi[@]}" "${first_order[@]}" "pcoupl = berendsen"
run berendsen_each "${each[@]}" "${first_order[@]}" "pcoupl = berendsen"
run berendsen_tension "${tension[@]}" "${first_order[@]}" "pcoupl = berendsen"
run berendsen_fixed "${fixed[@]}" "${first_order[@]}" "pcoupl = berendsen"
run c_rescale_semi "${semi[@]}" "${first_order[@]}" "pcoupl = c-rescale" "ref-t = 0"
run c_rescale_tension "${tension[@]}" "${first_order[@]}" "pcoupl = c-rescale" "ref-t = 0"
columns="$columns|Pres-XY|Pres-XZ|Pres-YZ|Box-XX|Box-YY|Box-ZZ|Box-YX|Box-ZX|Box-ZY|Box-Vel-YX|Box-Vel-ZX|Box-Vel-ZY" # of boxes that are sheared
run nhpr_shear "${shear[@]}"
run berendsen_shear "${shear[@]}" "${first_order[@]}" "pcoupl = berendsen"
