# SPDX-License-Identifier: Apache-2.0
"""Bonded terms that few force fields have: their energies are those of gmx_d, for chains of five atoms in random places, from text files as from
run input files of both precisions.

That forces are minus the gradient is shown for every kind in tests/interactions. The program is $PARHELION_PROGRAM.
"""
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runs import missing

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))
from energy_file import read_energies  # noqa: E402

PROGRAM = os.environ.get("PARHELION_PROGRAM", "parhelion")
KINDS = {
    "Morse": ("bonds", ["1 2 3 0.15 400 15", "2 3 3 0.14 300 20"]),
    "Cubic Bonds": ("bonds", ["1 2 4 0.15 4000 -3", "2 3 4 0.14 3000 -2"]),
    "FENE Bonds": ("bonds", ["1 2 7 0.35 2000", "2 3 7 0.4 1000"]),
    "Restraint Pot.": ("bonds", ["1 2 10 0.1 0.12 0.13 2000", "2 3 10 0.2 0.25 0.3 1000", "3 4 10 0.1 0.14 0.2 900"]),
    "Bond-Cross": ("angles", ["1 2 3 3 0.14 0.15 3000", "2 3 4 3 0.13 0.12 2000"]),
    "BA-Cross": ("angles", ["1 2 3 4 0.14 0.15 0.26 3000", "2 3 4 4 0.13 0.12 0.22 2000"]),
    "Quartic Angles": ("angles", ["1 2 3 6 107 1.5 2.5 300 -40 20", "2 3 4 6 117 0.5 1 200 10 -20"]),
    "Restr. Dih.": ("dihedrals", ["1 2 3 4 10 70 3", "2 3 4 5 10 -120 2"]),
    "CBT Dih.": ("dihedrals", ["1 2 3 4 11 1.5 2.5 -1.5 0.7 0.3 0.9", "2 3 4 5 11 2 0.5 -1 2 1.2 -0.4"]),
    # A scale and charges, sigma and epsilon of their own.
    "Coulomb-14": ("pairs", ["1 4 2 0.7 0.31 -0.17 0.29 0.55", "2 5 2 0.5 -0.2 -0.4 0.31 0.35"]),
    # Charges, sigma and epsilon; the atoms themselves have neither.
    "Coulomb (SR)": ("pairs_nb", ["1 4 1 0.31 -0.17 0.29 0.55", "2 5 1 -0.2 -0.4 0.31 0.35"]),
}
OF_PAIRS = {"Coulomb-14": ["Coulomb-14", "LJ-14"], "Coulomb (SR)": ["Coulomb (SR)", "LJ (SR)"]}  # by tables in GROMACS
OF_TYPES = {"bonds": "[ bondtypes ]\nA A", "angles": "[ angletypes ]\nA A A", "dihedrals": "[ dihedraltypes ]\nA A A A"}
MDP = "integrator = md\nnsteps = 0\ndt = 0.0001\ncoulombtype = cut-off\ncoulomb-modifier = none\nvdw-modifier = none\nrcoulomb = 1.2\nrvdw = 1.2\ncontinuation = yes\n"


def write(folder, kind, seed, from_types=False, decimals=14):
    """A zigzag with noise; from_types: both terms take their parameters from the force field, or have them "spelled out"."""
    rng = random.Random(seed)
    lines = [f"    1R       A{i + 1}{i + 1:5d}" + "".join(f"{x + 0.02 * rng.uniform(-1, 1):{decimals + 5}.{decimals}f}" for x in (1 + 0.11 * i, 1 + 0.05 * (i % 2), 1 + 0.04 * (i // 2))) for i in range(5)]
    (folder / "c.gro").write_text("\n".join(["chain", "5", *lines, "4 4 4", ""]))
    section, terms = KINDS[kind]
    types = ""
    if from_types:
        atoms = {"bonds": 2, "angles": 3, "dihedrals": 4}[section]
        parameters = " ".join(terms[0].split()[atoms:])
        types = OF_TYPES[section] + " " + parameters + "\n"
        terms = [" ".join(term.split()[:atoms + 1]) for term in terms]
        if from_types == "spelled out":
            types, terms = "", [" ".join([*term.split()[:atoms], parameters]) for term in terms]
    atoms = "".join(f"{i} A 1 R A{i} 1 0\n" for i in range(1, 6))
    body = f"[ moleculetype ]\nM 3\n[ atoms ]\n{atoms}[ {section} ]\n" + "\n".join(terms) + "\n"
    (folder / "t.top").write_text(f"[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nA 12 0 A 0 0\n{types}{body}[ system ]\nx\n[ molecules ]\nM 1\n")
    (folder / "r.mdp").write_text(MDP)


TEXT = ["-f", "r.mdp", "-c", "c.gro", "-p", "t.top"]


def ours(folder, words=TEXT):
    command = [PROGRAM, "energy", *words, "-o", "o", "--precision", "double", "--device", "cpu", "--allow", "W122", "--allow", "W125"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads((folder / "o.energy.json").read_text())["energies"]


def gromacs(folder, *words, gmx="gmx_d"):
    if shutil.which(gmx) is None:
        missing(gmx)
    subprocess.run([gmx, *words], cwd=folder, check=True, capture_output=True, env={**os.environ, "GMX_MAXBACKUP": "-1"})


def grompp(folder, gmx="gmx_d"):
    gromacs(folder, "grompp", *TEXT, "-o", "p.tpr", "-maxwarn", "9", gmx=gmx)


def theirs(folder):
    grompp(folder)
    gromacs(folder, "mdrun", "-s", "p.tpr", "-deffnm", "p", "-nt", "1")
    names, samples = read_energies(folder / "p.edr")
    return dict(zip(names, samples[0].means))


@pytest.mark.parametrize("from_types", [False, True], ids=["lines", "types"])
@pytest.mark.parametrize("kind", KINDS)
def test_energies_are_those_of_gromacs(kind, from_types, tmp_path):
    if from_types and kind in OF_PAIRS:
        pytest.skip("such pairs are on lines only")
    for seed in range(4):
        write(tmp_path, kind, seed, from_types)
        us = ours(tmp_path)
        if from_types and KINDS[kind][0] == "dihedrals":  # which GROMACS 2022 cannot read of types
            write(tmp_path, kind, seed, "spelled out")
        them = theirs(tmp_path)
        for term in [*OF_PAIRS.get(kind, [kind]), "Potential"]:
            assert us[term] == pytest.approx(them[term], rel=1e-7 if kind in OF_PAIRS else 1e-10), (term, seed)
        assert them[kind] != 0


# Of numbers that grompp copies, a file of single precision has the decimal number of the text; what it computes, as the Lennard-Jones parameters
# of a combination rule, has seven digits.
@pytest.mark.parametrize("gmx", ["gmx_d", "gmx"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_input_file_has_the_terms_of_the_text_files(kind, gmx, tmp_path):
    tolerance = 1e-6 if kind in OF_PAIRS and gmx == "gmx" else 1e-12
    for seed in range(4):
        write(tmp_path, kind, seed, decimals=3)
        grompp(tmp_path, gmx)
        of_text, of_file = ours(tmp_path), ours(tmp_path, ["-s", "p.tpr"])
        assert of_file == pytest.approx(of_text, rel=tolerance)
        assert of_file[kind] != 0


@pytest.mark.parametrize("kind", KINDS)
def test_text_files_that_convert_writes_have_the_same_terms(kind, tmp_path):
    write(tmp_path, kind, 0)
    subprocess.run([PROGRAM, "convert", *TEXT, "-d", "out", "--allow", "W122", "--allow", "W125"], cwd=tmp_path, check=True, capture_output=True)
    written = ["-f", "out/md.mdp", "-c", "out/conf.gro", "-p", "out/topol.top"]
    assert ours(tmp_path, written) == pytest.approx(ours(tmp_path), rel=1e-9)  # positions have twelve decimals


def test_a_connection_counts_for_exclusions_alone(tmp_path):
    """Atoms with Lennard-Jones in a chain of connections: what is left is theirs, from text files as from a run input file."""
    write(tmp_path, "Morse", 0)
    top = (tmp_path / "t.top").read_text().replace("A 12 0 A 0 0", "A 12 0 A 0.1 0.5").replace("M 3", "M 2")
    head, rest = top.split("[ bonds ]\n")
    (tmp_path / "t.top").write_text(head + "[ bonds ]\n1 2 5\n2 3 5\n3 4 5\n4 5 5\n" + rest[rest.index("[ system ]"):])
    them, us = theirs(tmp_path), ours(tmp_path)
    assert us["LJ (SR)"] == pytest.approx(them["LJ (SR)"], rel=1e-10) and us["LJ (SR)"] != 0
    assert us["Potential"] == pytest.approx(them["Potential"], rel=1e-10)
    assert ours(tmp_path, ["-s", "p.tpr"]) == pytest.approx(us, rel=1e-12)
