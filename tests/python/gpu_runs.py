# SPDX-License-Identifier: Apache-2.0
"""What files of tests of GPUs share: a run in which everything is due within a few steps, and a system that is as large as asked for.

The program is $PARHELION_PROGRAM.
"""
import subprocess

from runs import command

RUN = """
integrator = md
dt = 0.002
nsteps = 12
cutoff-scheme = Verlet
verlet-buffer-tolerance = -1
rlist = 0.68
nstlist = 4
coulombtype = reaction-field
epsilon-rf = 0
rcoulomb = 0.6
rvdw = 0.6
constraints = h-bonds
tcoupl = v-rescale
tc-grps = System
tau-t = 0.1
ref-t = 300
pcoupl = C-rescale
tau-p = 1
compressibility = 4.5e-5
ref-p = 1
ld-seed = 7
gen-vel = yes
gen-seed = 11
nstxout = 4
nstvout = 4
nstfout = 4
nstxout-compressed = 4
nstcalcenergy = 2
nstenergy = 4
"""
PME = RUN.replace("reaction-field", "PME").replace("epsilon-rf = 0\n", "fourierspacing = 0.14\n")


def generated(atoms, folder):
    """Ethanol in water: the files of runs.run()."""
    subprocess.run([command()[0], "generate", "ethanol-water", "--atoms", str(atoms), "-d", folder], check=True, capture_output=True)
    return {"structure": folder / "conf.gro", "topology": folder / "topol.top"}
