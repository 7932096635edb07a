# SPDX-License-Identifier: Apache-2.0
"""Water that is rigid by three bonds or three constraints moves as the same water with [ settles ] does, bit for bit.

ParmEd writes the waters of AMBER's systems with bonds. The program is $PARHELION_PROGRAM; runs are on $PARHELION_DEVICE (default: cpu).
"""
import json
import os
import subprocess

import pytest

from simulation import WATER, small_water

SETTLES = "[ settles ]\n1 1 0.1 0.16330\n[ exclusions ]\n1 2 3\n2 1 3\n3 1 2\n"
BONDS = "[ bonds ]\n1 2 1 0.1 345000\n1 3 1 0.1 345000\n2 3 1 0.16330 345000\n"
CONSTRAINTS = "[ constraints ]\n1 2 1 0.1\n1 3 1 0.1\n2 3 1 0.16330\n"
BONDS_AND_CONSTRAINT = "[ bonds ]\n1 2 1 0.1 345000\n1 3 1 0.1 345000\n[ constraints ]\n2 3 1 0.16330\n"
OPTIONS = {
    **WATER, "integrator": "md", "rcoulomb": 0.8, "rvdw": 0.8, "continuation": "no", "gen-vel": "yes", "gen-temp": 300, "gen-seed": 1,
    "nsteps": 40, "nstenergy": 5, "nstcalcenergy": 5, "nstxout": 10, "nstvout": 10, "tcoupl": "V-rescale", "tc-grps": "System",
    "tau-t": 0.1, "ref-t": 300, "pcoupl": "C-rescale", "tau-p": 1, "ref-p": 1, "compressibility": 4.5e-5, "ld-seed": 1,
}


def run(folder, held_by, *options, **changes):
    """The bytes of what a run of 256 waters that are held so has written, and its log."""
    folder.mkdir(exist_ok=True)
    box = small_water(folder)
    box.topology.write_text(box.topology.read_text().replace(SETTLES, held_by))
    mdp = {**OPTIONS, **{key.replace("_", "-"): value for key, value in changes.items()}}
    (folder / "run.mdp").write_text("".join(f"{key} = {value}\n" for key, value in mdp.items()))
    command = [os.environ.get("PARHELION_PROGRAM", "parhelion"), "run", "-q", "-f", "run.mdp", "-c", box.structure, "-p", box.topology,
               "-o", "md", "--device", os.environ.get("PARHELION_DEVICE", "cpu"), "--reproducible", *options]
    result = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    written = {ending: (folder / f"md.{ending}").read_bytes() for ending in ("trr", "edr", "gro")}
    return written, (folder / "md.log").read_text()


@pytest.mark.parametrize("held_by, mode", [(BONDS, "h-bonds"), (BONDS, "all-bonds"), (CONSTRAINTS, "none"), (BONDS_AND_CONSTRAINT, "h-bonds")],
                         ids=["h-bonds", "all-bonds", "constraints", "a constraint between"])
def test_rigid_water_is_the_same_however_it_is_written(tmp_path, held_by, mode):
    settles, log = run(tmp_path / "settles", SETTLES)
    assert "N190" not in log
    same, log = run(tmp_path / "same", held_by, constraints=mode)
    assert same == settles
    assert "256 rigid triangles" in log, log


@pytest.mark.parametrize("options", [("--ranks", 2), ("--precision", "double", "--threads", 2)], ids=["ranks", "double"])
def test_it_is_so_on_ranks_and_in_double_precision(tmp_path, options):
    short = {"rcoulomb": 0.6, "rvdw": 0.6}  # leaves room for two cells
    assert run(tmp_path / "settles", SETTLES, *options, **short)[0] == run(tmp_path / "bonds", BONDS, *options, **short)[0]


def test_it_is_so_across_a_checkpoint(tmp_path):
    run(tmp_path / "bonds", BONDS, "--steps", 20)
    assert run(tmp_path / "bonds", BONDS)[0]["trr"] == run(tmp_path / "settles", SETTLES)[0]["trr"]


def test_water_that_bends_stays_as_it_is(tmp_path):
    _, log = run(tmp_path, BONDS, constraints="none", dt=0.0005)
    assert "N190" not in log
    report = json.loads((tmp_path / "md.report.json").read_text())
    assert report["energies"]["Bond"]["mean"] > 0


def test_water_whose_hydrogens_differ_stays_with_lincs(tmp_path):
    written, log = run(tmp_path, CONSTRAINTS.replace("1 3 1 0.1\n", "1 3 1 0.101\n"), constraints="none")
    assert "N190" not in log
    assert "Constr. rmsd" in log
