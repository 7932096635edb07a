# SPDX-License-Identifier: Apache-2.0
"""Our program accepts, warns of and refuses what GROMACS' grompp does, but for the differences that a table explains (acceptance.py)."""
import os
import shutil
import subprocess

import pytest

import acceptance
from runs import missing

VERSION = "2022.5"  # of GROMACS, whose verdicts the table has


def problems(differences, table):
    """What is wrong with the table, as lines."""
    wrong = [f"not in the table: {name}\t{we}\t{they}" for name, (we, they) in differences.items() if table.get(name, ())[:2] != (we, they)]
    wrong += [f"no longer a difference: {name}" for name in table if name not in differences]
    return wrong + [f"without a reason: {name}" for name, row in table.items() if not row[2].strip()]


def cases():
    """One case in $PARHELION_TEST_ONE_IN (4); all of them in the nightly tier."""
    every = acceptance.variations() | acceptance.molecule_files()
    one_in = int(os.environ.get("PARHELION_TEST_ONE_IN", "4"))
    return {name: files for i, (name, files) in enumerate(sorted(every.items())) if i % one_in == 0}


@pytest.fixture(scope="module")
def differences():
    if "PARHELION_PROGRAM" not in os.environ:
        pytest.skip("$PARHELION_PROGRAM is not set")
    found = subprocess.run(["gmx", "--version"], capture_output=True, text=True).stdout if shutil.which("gmx") else "none"
    if VERSION not in found:
        missing(f"gmx {VERSION}")
    return acceptance.compare(cases())


def test_every_difference_is_in_the_table_and_every_row_is_one(differences):
    chosen = cases()
    table = {name: row for name, row in acceptance.read_table().items() if name in chosen}
    wrong = problems(differences, table)
    assert not wrong, "see acceptance.py --write\n" + "\n".join(wrong)


def test_there_are_enough_cases():
    variations = acceptance.variations()
    assert len(variations) >= 150
    for kind, least in (("mdp", 100), ("top", 100), ("gro", 20)):
        assert sum(name.startswith(f"{kind}: ") for name in variations) >= least
    for file in ("oplsaa.ff/methanol.itp", "amber99sb-ildn.ff/urea.itp", "gromos54a7.ff/dppc.itp", "charmm27.ff/ions.itp"):
        assert f"itp: {file}" in acceptance.molecule_files()


def test_a_variation_changes_one_file():
    base = {name: (acceptance.FOLDER / file).read_text() for name, file in acceptance.BASE.items()}
    for name, files in acceptance.variations().items():
        assert sum(files[file] != base[file] for file in base) == 1, name


def test_what_is_wrong_with_a_table_is_noticed():
    differences = {"mdp: a = b": ("refuses", "accepts")}
    row = ("refuses", "accepts", "not planned")
    assert problems(differences, {"mdp: a = b": row}) == []
    assert problems(differences, {}) == ["not in the table: mdp: a = b\trefuses\taccepts"]
    assert problems(differences, {"mdp: a = b": ("refuses", "warns", "why")}) == ["not in the table: mdp: a = b\trefuses\taccepts"]
    assert problems({}, {"mdp: a = b": row}) == ["no longer a difference: mdp: a = b"]
    assert problems(differences, {"mdp: a = b": ("refuses", "accepts", " ")}) == ["without a reason: mdp: a = b"]


def test_the_share_counts_what_gromacs_takes():
    verdicts = {"mdp: a": ("accepts", "accepts"), "mdp: b": ("refuses", "warns"), "mdp: c": ("warns", "accepts"), "mdp: d": ("accepts", "refuses"), "itp: e": ("refuses", "accepts")}
    assert list(acceptance.shares(verdicts)) == [("mdp", 3, 2), ("itp", 1, 0)]
