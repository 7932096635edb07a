#!/bin/bash
# Makes groups_*.energies.txt.gz: 20 steps with what acts on groups of atoms, or with velocity Verlet, by gmx_d 2022.5 (Debian), a minute.
# Each run is nve.mdp with the lines below in place of its own.
# usage: make_groups.sh            needs: gmx_d, awk
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export GMX_MAXBACKUP=-1 OMP_NUM_THREADS=1
columns="Potential|Kinetic_En.|Conserved_En.|Temperature|Box-X|Box-Y|Box-Z"
printf '[ ETH ]\n%s\n[ SOL ]\n%s\n[ CARBON ]\n%s\n[ ONE ]\n%s\n' "$(seq 1 900)" "$(seq 901 3000)" \
  "$(seq 1 9 900; seq 5 9 900)" "$(seq 82 90)" > "$work/index.ndx"

start() { # start CONDITION AXES: conf.gro with the velocities of atoms n that fulfil it set to 0 along the axes; mdrun would not
  awk -v axes="$2" 'NR > 2 && NF > 4 { n = NR - 2
      if ('"$1"') { line = substr($0, 1, length($0) - 42)
        for (d = 0; d < 3; d++) line = line (substr(axes, d + 1, 1) == "Y" ? sprintf("%14.10f", 0) : substr($0, length($0) - 41 + 14 * d, 14))
        $0 = line } } { print }' ../conf.gro > "$work/conf.gro"
}

run() { # run NAME "key = value" ...
  local name=$1 mdp=$work/$1.mdp; shift; cp "$here/nve.mdp" "$mdp"
  for line; do key=${line%% =*}; sed -i -e "/^$key  *=/d" "$mdp"; echo "$line" >> "$mdp"; done
  gmx_d grompp -quiet -f "$mdp" -c "$work/conf.gro" -p ../topol.top -n "$work/index.ndx" -o "$work/t.tpr" -po "$work/out.mdp" \
    -maxwarn 5 > "$work/log" 2>&1
  gmx_d mdrun -quiet -ntmpi 1 -ntomp 1 -reprod -s "$work/t.tpr" -deffnm "$work/t" > "$work/log" 2>&1
  seq 1 80 | gmx_d energy -quiet -dp -xvg none -f "$work/t.edr" -o "$work/t.xvg" > "$work/list" 2>&1
  awk -v wanted="^($columns)$" '
    FNR == NR { if (/\([^()]*\) *$/ && NF > 4 && substr($0, 25, 1) == " " && !/^ /)   # the table of averages, in the order of the columns
                { name = substr($0, 1, 24); gsub(/ +$/, "", name); gsub(/ /, "_", name); unit = $NF; names[++n] = name; units[n] = unit }
                next }
    FNR == 1 { title = "# time(ps)"; for (i = 1; i <= n; i++) if (names[i] ~ wanted) title = title " " names[i] units[i]; print title }
    { row = $1; for (i = 1; i <= n; i++) if (names[i] ~ wanted) row = row " " $(i + 1); print row }
  ' "$work/list" "$work/t.xvg" | gzip -9n > "$here/groups_$name.energies.txt.gz"
}

short="nsteps = 20"
free=("constraints = none" "dt = 0.0005")
apart=("tc-grps = ETH SOL" "tau-t = 0.5 0.5" "ref-t = 300 300" "nsttcouple = 1")
squeezed=("pcoupl = berendsen" "pcoupltype = anisotropic" "tau-p = 5" "nstpcouple = 1" "ref-p = 1 2000 -1000 0 0 0" \
  "compressibility = 4.5e-5 4.5e-5 4.5e-5 0 0 0" "tcoupl = berendsen")
start "n <= 900" YYY
run molecules "$short" "freezegrps = ETH" "freezedim = Y Y Y"
start "n <= 900 && (n % 9 == 1 || n % 9 == 5)" YYY
run carbons "$short" "freezegrps = CARBON" "freezedim = Y Y Y"
start "n <= 900" YNY
run plane "$short" "${free[@]}" "freezegrps = ETH" "freezedim = Y N Y"
# Without constraints: between two frozen atoms they make mdrun's virial infinite. After the first scaling it settles frozen waters.
start "n > 900" YYY
run box "nsteps = 1" "${free[@]}" "${apart[@]}" "${squeezed[@]}" "freezegrps = SOL" "freezedim = Y Y Y"
start "n <= 900" YYY
run nhpr "$short" "${free[@]}" "${apart[@]}" "${squeezed[@]}" "tcoupl = nose-hoover" "pcoupl = parrinello-rahman" "tau-p = 5" \
  "nh-chain-length = 1" "freezegrps = ETH" "freezedim = Y Y Y"
start 0 NNN
points=("annealing = single periodic" "annealing-npoints = 2 3" "annealing-time = 0 0.03 0 0.01 0.025" \
  "annealing-temp = 300 400 300 200 320")
run anneal_berendsen "$short" "${apart[@]}" "tcoupl = berendsen" "${points[@]}"
run anneal_nose_hoover "$short" "${apart[@]}" "tcoupl = nose-hoover" "nh-chain-length = 1" "${points[@]}"
run field "$short" "electric-field-x = 0.5 0 0 0" "electric-field-y = 0.4 150 0 0" "electric-field-z = -0.6 80 0.02 0.01"
both=("acc-grps = ETH SOL" "accelerate = 0.5 0 1 0 0 -0.2")
run acceleration "$short" "${both[@]}" "comm-mode = none"
run acceleration_corrected "$short" "${both[@]}" "comm-mode = linear" "nstcomm = 5"
run acceleration_way "$short" "acc-grps = ETH" "accelerate = 0.5 0 1" "comm-mode = linear-acceleration-correction" \
  "comm-grps = ETH SOL" "nstcomm = 5"
run rotation "$short" "comm-mode = angular" "comm-grps = ONE" "nstcomm = 3"

columns="$columns|Total_Energy|Pressure|Vir-.."
verlet=("$short" "integrator = md-vv") all=("tc-grps = ETH SOL" "tau-t = 0.05 0.05" "ref-t = 320 320" "nsttcouple = 1")
run vv "${verlet[@]}"
run vv_start "${verlet[@]}" "continuation = no"
run vv_average "${verlet[@]}" "integrator = md-vv-avek" "nsttcouple = 1" "nstpcouple = 1"
run vv_berendsen "${verlet[@]}" "${all[@]}" "tcoupl = berendsen"
run vv_nose_hoover "${verlet[@]}" "${all[@]}" "tau-t = 0.5 0.5" "tcoupl = nose-hoover" "nh-chain-length = 1"
run vv_chain "${verlet[@]}" "${apart[@]}" "tau-t = 0.8 0.5" "ref-t = 280 320" "tcoupl = nose-hoover" "nh-chain-length = 4" "nsttcouple = 5"
