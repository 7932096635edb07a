# SPDX-License-Identifier: Apache-2.0
"""Runs of our program for the tests of its physics: a box, an .mdp made of a dictionary, and the energies read back with pyedr.

Every run has one thread and fixed seeds, so its numbers are a property of the program and the processor's vector width. With
PARHELION_DEVICE=gpu they are of a GPU, and sums there have another order every time. PARHELION_GPUS (a
number, or "all": skipped where that is one) and PARHELION_RANKS spread the run over so many.
"""
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyedr
import pytest

sys.path.append(str(Path(__file__).parents[2] / "tools"))
from visible_gpus import visible_gpus  # noqa: E402

GPUS = os.environ.get("PARHELION_GPUS", "0")
if GPUS == "all" and len(visible_gpus()) < 2:
    pytest.skip(f"needs several GPUs, {len(visible_gpus())} here", allow_module_level=True)
GPUS = len(visible_gpus()) if GPUS == "all" else int(GPUS)
RANKS = max(int(os.environ.get("PARHELION_RANKS", "1")), GPUS)
REFDATA = Path(__file__).parents[1] / "data" / "refdata"
BOLTZMANN = 8.31446261815324e-3  # kJ/mol/K
BAR = 16.605390671738  # of one kJ/mol/nm^3


@dataclass
class Box:
    """A start configuration with its topology: what -c and -p take."""

    structure: Path
    topology: Path
    atoms: int
    degrees_of_freedom: int  # with the centre of mass free


@dataclass
class Run:
    energies: dict  # of the .edr by GROMACS' names, arrays over frames; "Time" in ps
    report: dict
    box: Box

    def __getitem__(self, term):
        return self.energies[term]

    def after(self, time):
        """The frames from `time` (ps) on."""
        kept = self["Time"] >= time
        return Run({term: values[kept] for term, values in self.energies.items()}, self.report, self.box)


def water(system):
    """A box of the reference data: spce (1000 SPC/E), etoh (100 ethanol, 700 SPC/E) or villin (a protein, 2532 TIP3P, 2 ions)."""
    # SETTLE holds 3 of a water's degrees of freedom, h-bonds 6 of an ethanol's and 293 of villin's.
    atoms, constraints = {"spce": (3000, 3 * 1000), "etoh": (3000, 3 * 700 + 6 * 100), "villin": (8180, 3 * 2532 + 293)}[system]
    return Box(REFDATA / system / "conf.gro", REFDATA / system / "topol.top", atoms, 3 * atoms - constraints)


WATER = {
    "dt": 0.002, "coulombtype": "Reaction-Field", "epsilon-rf": 0, "rcoulomb": 0.9, "rvdw": 0.9, "vdw-modifier": "Potential-shift",
    "DispCorr": "EnerPres", "constraints": "h-bonds", "continuation": "yes", "gen-vel": "no",
}

PME = {"coulombtype": "PME"}

ARGON_TOPOLOGY = """[ defaults ]
1 2 no 1 1
[ atomtypes ]
AR 39.948 0 A 0.3405 0.99607
[ moleculetype ]
AR 1
[ atoms ]
1 AR 1 AR AR 1 0 39.948
[ system ]
argon
[ molecules ]
AR {atoms}
"""


def face_centred(cells, edge):
    """4 cells^3 sites in a cube of `edge` nm, none on its surface."""
    sites = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]) / 2 + 0.25
    corners = np.array(list(np.ndindex(cells, cells, cells)))
    return (corners[:, None] + sites).reshape(-1, 3) * edge / cells


def write_gro(path, atoms, edge):
    """atoms: (residue number, residue, name, position in nm)"""
    lines = [f"{r:5d}{residue:5s}{name:>5s}{i:5d}" + "".join(f"{c:8.3f}" for c in x) for i, (r, residue, name, x) in enumerate(atoms, 1)]
    path.write_text("\n".join(["made by tests/python/simulation.py", str(len(lines)), *lines, f"{edge} {edge} {edge}", ""]))


def argon(folder, cells=4, edge=2.36):
    """4 cells^3 argon atoms on a face-centred lattice in a cube of `edge` nm. At 150 K it melts within a few ps."""
    atoms = 4 * cells**3
    box = Box(Path(folder) / "argon.gro", Path(folder) / "argon.top", atoms, 3 * atoms)
    write_gro(box.structure, [(i, "AR", "AR", x) for i, x in enumerate(face_centred(cells, edge), 1)], edge)
    box.topology.write_text(ARGON_TOPOLOGY.format(atoms=atoms))
    return box


def charged_argon(folder, charge):
    """As argon(), but half of the atoms have a charge and the others its opposite, on sites drawn at random."""
    box = argon(folder)
    sites = np.random.default_rng(1).permutation(face_centred(4, 2.36))
    write_gro(box.structure, [(i, "AR", "AR", x) for i, x in enumerate(sites, 1)], 2.36)
    head, atom = ARGON_TOPOLOGY.split("[ moleculetype ]")
    kinds = [atom.split("[ system ]")[0].replace("\nAR 1\n", f"\n{name} 1\n").replace(" 0 39.948", f" {q} 39.948")
             for name, q in (("PLUS", charge), ("MINUS", -charge))]
    box.topology.write_text(head + "".join("[ moleculetype ]" + kind for kind in kinds) +
                            f"[ system ]\ncharged argon\n[ molecules ]\nPLUS {box.atoms // 2}\nMINUS {box.atoms // 2}\n")
    return box


WATER_TOPOLOGY = """[ defaults ]
1 2 no 1 1
[ atomtypes ]
OW 15.9994 -0.8476 A 0.316557 0.650194
HW 1.008   0.4238 A 0 0
[ moleculetype ]
SOL 2
[ atoms ]
1 OW 1 SOL OW  1 -0.8476 15.9994
2 HW 1 SOL HW1 1  0.4238 1.008
3 HW 1 SOL HW2 1  0.4238 1.008
[ settles ]
1 1 0.1 0.16330
[ exclusions ]
1 2 3
2 1 3
3 1 2
[ system ]
water
[ molecules ]
SOL {molecules}
"""


def small_water(folder, cells=4, edge=2.0):
    """4 cells^3 SPC/E molecules, turned at random, on a face-centred lattice; 0.95 g/cm^3 for 256. A start, not a liquid."""
    rng = np.random.default_rng(1)
    atoms = []
    for i, oxygen in enumerate(face_centred(cells, edge), 1):
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        along, across = 0.1 * np.sqrt(1 / 3) * axes[0], 0.08165 * axes[1]  # the angle is tetrahedral
        atoms += [(i, "SOL", "OW", oxygen), (i, "SOL", "HW1", oxygen + along + across), (i, "SOL", "HW2", oxygen + along - across)]
    molecules = 4 * cells**3
    box = Box(Path(folder) / "water.gro", Path(folder) / "water.top", 3 * molecules, 6 * molecules)
    write_gro(box.structure, atoms, edge)
    box.topology.write_text(WATER_TOPOLOGY.format(molecules=molecules))
    return box


ARGON = {
    "dt": 0.004, "coulombtype": "Reaction-Field", "rcoulomb": 0.85, "rvdw": 0.85, "vdw-modifier": "Force-switch", "rvdw-switch": 0.65,
    "gen-vel": "yes", "gen-temp": 150, "gen-seed": 1,
}


def temperature_coupling(thermostat, temperature, tau):
    """thermostat: a value of tcoupl, or sd for stochastic dynamics; tau in ps."""
    kind = {"integrator": "sd"} if thermostat == "sd" else {"tcoupl": thermostat}
    return {**kind, "tc-grps": "System", "ref-t": temperature, "tau-t": tau}


def pressure_coupling(barostat, pressure, tau, compressibility):
    """pressure in bar, tau in ps, compressibility in 1/bar"""
    return {"pcoupl": barostat, "ref-p": pressure, "tau-p": tau, "compressibility": compressibility}


def run(folder, box, *settings, time, every=10, options=()):
    """`time` in ps, energies written in every `every` steps, the .mdp's keys from the dictionaries `settings`, later ones first."""
    mdp = {"integrator": "md", "ld-seed": 1, "nstcalcenergy": every, "nstenergy": every}
    for more in settings:
        mdp.update(more)
    mdp["nsteps"] = round(time / mdp["dt"])
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.mdp").write_text("".join(f"{key} = {value}\n" for key, value in mdp.items()))
    command = [os.environ.get("PARHELION_PROGRAM", "parhelion"), "run", "-q", "-f", "run.mdp", "-c", box.structure, "-p", box.topology, "-o", "run",
               "--threads", "1", "--device", os.environ.get("PARHELION_DEVICE", "cpu"), "--allow", "W117", *options]  # W117: Berendsen
    command += ["--ranks", RANKS] if RANKS > 1 else []
    command += ["--gpus", GPUS] if GPUS > 0 else []
    result = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    energies = {term: np.asarray(values, float) for term, values in pyedr.edr_to_dict(str(folder / "run.edr")).items()}
    return Run(energies, json.loads((folder / "run.report.json").read_text()), box)
