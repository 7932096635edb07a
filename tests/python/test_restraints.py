# SPDX-License-Identifier: Apache-2.0
"""Runs with restraints of all kinds: the same bits however they are spread and continued, and energies under GROMACS' names.

The program is $PARHELION_PROGRAM.
"""
import pyedr
import pytest

from runs import DATA, SHORT, folder_with, outputs, run

# Of ethanol: atoms 1 and 5 are carbons, 8 is the oxygen, 9 its hydrogen.
SECTIONS = """[ dihedral_restraints ]
1 5 8 9 1 -60 2.5 DIHRES_FC
[ angle_restraints ]
1 5 8 9 1 70 20 1
[ angle_restraints_z ]
1 8 1 30 20 2
[ distance_restraints ]
1 9 1 0 1 0.1 0.2 0.3 1.0
2 9 1 4 1 0.05 0.1 0.2 0.7
3 9 1 4 1 0.05 0.1 0.2 0.7
5 8 1 4 1 0.05 0.1 0.2 0.7
[ position_restraints ]
1 1 50 50 200
5 2 5 0.1 500
8 2 7 -0.2 500
"""
OPTIONS = "define = -DDIHRES_FC=20\ndisre = simple\ndisre-fc = 500\nrefcoord-scaling = com\ncomm-mode = none\n"
TERMS = ["Position Rest.", "Flat-b. P-R.", "Dis. Rest.", "Angle Rest.", "Angle Rest. Z", "Dih. Rest."]


def restrained(path, *options, **how):
    folder = folder_with(SHORT + OPTIONS, path)
    before, ethanol, after = (DATA / "topol.top").read_text().partition("[ moleculetype ]\nETH  3\n")
    molecule, water, rest = after.partition("[ moleculetype ]")
    assert ethanol and water
    (folder / "topol.top").write_text(before + ethanol + molecule + SECTIONS + water + rest)
    run(folder, "-q", *options, topology=folder / "topol.top", **how)
    return folder


@pytest.fixture(scope="module")
def in_one(tmp_path_factory):
    return restrained(tmp_path_factory.mktemp("one"), "--threads", 1)


def test_each_kind_of_restraint_has_its_energy(in_one):
    energies = pyedr.edr_to_dict(str(in_one / "md.edr"))
    assert [name for name in energies if name in TERMS] == TERMS  # in the order of GROMACS' files
    # The start is the reference of positions.
    assert [name for name in TERMS if not (energies[name][1:] > 0).all()] == []


@pytest.mark.parametrize("options", [("--threads", 2), ("--grid", "2x1x1"), ("--grid", "1x2x2"), ("--grid", "2x2x2")], ids=str)
def test_every_layout_has_the_bits_of_one_rank(options, in_one, tmp_path):
    threads = () if "--threads" in options else ("--threads", 1)
    assert outputs(restrained(tmp_path / "run", *options, *threads)) == outputs(in_one)


def test_a_run_that_is_continued_has_the_bits_of_one_that_is_not(in_one, tmp_path):
    restrained(tmp_path / "run", "--threads", 1, "--steps", 30)
    assert outputs(restrained(tmp_path / "run", "--grid", "1x1x2", "--threads", 1)) == outputs(in_one)
