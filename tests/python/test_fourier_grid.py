# SPDX-License-Identifier: Apache-2.0
"""The Fourier grid that PME takes is the one that GROMACS takes: random boxes and spacings, against gmx grompp.

$PARHELION_TEST_BOXES boxes (24; a thousand in the nightly tier). The program is
$PARHELION_PROGRAM.
"""
import os
import random
import re
import shutil
import subprocess

import pytest

from runs import missing

TOPOLOGY = """
[ defaults ]
1 2 no 1.0 1.0
[ atomtypes ]
A 20.0 0.0 A 0.3 0.5
[ moleculetype ]
ION 1
[ atoms ]
1 A 1 ION A 1 {charge} 20.0
[ system ]
two ions
[ molecules ]
ION 2
"""
PARAMETERS = "coulombtype = PME\nrcoulomb = 0.9\nrvdw = 0.9\nfourierspacing = {spacing}\npme-order = {order}\n{sizes}"
GRO = "two ions\n2\n    1ION      A    1   0.100   0.200   0.300\n    2ION      A    2   1.100   1.200   1.300\n{:10.5f}{:10.5f}{:10.5f}\n"


def cases(boxes):
    """(box, spacing, order, sizes given by the user): of every kind some."""
    draw = random.Random(5)
    for i in range(boxes):
        box = [round(draw.uniform(2, 12), 5) for _ in range(3)]
        spacing = round(draw.uniform(0.08, 0.2), 4)
        order = draw.choice([4, 4, 4, 3, 5, 6, 8])
        sizes = "".join(f"fourier-n{axis} = {draw.randint(40, 120)}\n" for axis in "xyz"[: i % 4]) if i % 5 == 0 else ""
        yield box, spacing, order, sizes


def ours(folder):
    command = [os.environ["PARHELION_PROGRAM"], "check", "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    found = re.search(r"PME +(\d+)x(\d+)x(\d+) grid points", result.stdout)
    return tuple(map(int, found.groups())) if found else result.stdout + result.stderr


def theirs(folder):
    command = ["gmx", "grompp", "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top", "-o", "md.tpr", "-po", "out.mdp", "-maxwarn", "9", "-nobackup"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    found = re.search(r"Using a fourier grid of (\d+)x(\d+)x(\d+)", result.stdout + result.stderr)
    return tuple(map(int, found.groups())) if found else result.stdout + result.stderr


def test_grids_are_those_of_gromacs(tmp_path):
    if "PARHELION_PROGRAM" not in os.environ:
        pytest.skip("$PARHELION_PROGRAM is not set")
    if not shutil.which("gmx"):
        missing("gmx")
    (tmp_path / "topol.top").write_text(TOPOLOGY.format(charge=0.5))
    differences = []
    for box, spacing, order, sizes in cases(int(os.environ.get("PARHELION_TEST_BOXES", "24"))):
        (tmp_path / "md.mdp").write_text(PARAMETERS.format(spacing=spacing, order=order, sizes=sizes))
        (tmp_path / "conf.gro").write_text(GRO.format(*box))
        we, they = ours(tmp_path), theirs(tmp_path)
        if we != they:
            differences.append((box, spacing, order, sizes, we, they))
    assert not differences
