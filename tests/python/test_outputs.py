# SPDX-License-Identifier: Apache-2.0
"""Our .xtc, .trr and .edr files say the same in MDAnalysis, mdtraj, pyedr, gmx check and gmx energy as in the numbers they were made of.

The files are made by the program in $PARHELION_WRITE_SAMPLES (tests/io/write_samples.cpp). A reader that is not installed skips its tests
with a warning, and fails them where CI is set.
"""
import importlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from runs import missing

FLOAT = np.finfo(np.float32).eps


def reader(module):
    try:
        return importlib.import_module(module)
    except ImportError:
        missing(module)


def gmx(*arguments, text=""):
    if shutil.which("gmx") is None:
        missing("gmx")
    result = subprocess.run(["gmx", *map(str, arguments)], input=text, capture_output=True, text=True, env={**os.environ, "GMX_MAXBACKUP": "-1"})
    assert result.returncode == 0, result.stderr
    return result.stdout + result.stderr


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    program = os.environ.get("PARHELION_WRITE_SAMPLES")
    if program is None:
        missing("the program write_samples ($PARHELION_WRITE_SAMPLES)")
    path = tmp_path_factory.mktemp("samples")
    subprocess.run([program, str(path)], check=True)
    return path


@pytest.fixture(scope="session")
def manifest(folder):
    return json.loads((folder / "manifest.json").read_text())


def load(folder, sample, array):
    return np.load(folder / (Path(sample["file"]).stem + f".{array}.npy"))


def expect_header(sample, steps, times, boxes):
    """boxes: edge vectors, nm"""
    assert list(steps) == sample["steps"]
    np.testing.assert_allclose(times, sample["times"], rtol=FLOAT)
    np.testing.assert_allclose(boxes, [np.diag(b) for b in sample["boxes"]], rtol=FLOAT)


def expect_xtc(folder, sample, steps, times, boxes, x):
    """x: positions in nm, as the reader's floats"""
    expect_header(sample, steps, times, boxes)
    expected = load(folder, sample, "x")
    rounding = 0.5 / sample["precision"] if sample["atoms"] > 9 else 0.0
    excess = np.abs(np.asarray(x, float) - expected) - (rounding + 3 * FLOAT * np.abs(expected))
    assert excess.max() <= 0, sample["file"]


def test_mdtraj_reads_xtc(folder, manifest):
    formats = reader("mdtraj.formats")
    for sample in manifest["xtc"]:
        with formats.XTCTrajectoryFile(str(folder / sample["file"])) as file:
            x, times, steps, boxes = file.read()
        expect_xtc(folder, sample, steps, times, boxes, x)


def test_mdanalysis_reads_xtc(folder, manifest):
    libmdaxdr = reader("MDAnalysis.lib.formats.libmdaxdr")
    for sample in manifest["xtc"]:
        with libmdaxdr.XTCFile(str(folder / sample["file"])) as file:
            frames = [frame for frame in file]
        expect_xtc(folder, sample, [f.step for f in frames], [f.time for f in frames], [f.box for f in frames], [f.x for f in frames])
        if sample["atoms"] > 9:
            assert {f.prec for f in frames} == {sample["precision"]}


def test_gmx_dump_reads_every_number_of_an_xtc(folder, manifest):
    for sample in manifest["xtc"]:
        text = gmx("dump", "-f", folder / sample["file"])
        steps = [int(step) for step in re.findall(r"\bstep=\s*(\d+)", text)]
        x = re.findall(r"^\s+x\[\s*\d+\]=\{\s*(\S+),\s*(\S+),\s*(\S+)\}", text, re.M)
        x = np.array(x, float).reshape(len(steps), -1, 3)
        expected = load(folder, sample, "x")
        rounding = 0.5 / sample["precision"] if sample["atoms"] > 9 else 0.0
        printed = 0.5e-5 * 10 ** np.floor(np.log10(np.abs(expected) + 1e-30))  # gmx dump prints six digits
        assert (np.abs(x - expected) <= rounding + printed * 1.01 + 3 * FLOAT * np.abs(expected)).all(), sample["file"]
        assert steps == sample["steps"]


def test_gmx_check_accepts_every_trajectory(folder, manifest):
    for sample in manifest["xtc"] + manifest["trr"]:
        if "x" not in sample.get("arrays", "x"):
            continue  # gmx check compares positions; frames without any are read below
        text = gmx("check", "-f", folder / sample["file"])
        frames = len(sample["steps"])
        assert re.search(rf"^Step +{frames} ", text, re.M), text
        assert re.search(rf"^Coords +{frames} ", text, re.M), text
        assert re.search(rf"# Atoms +{sample['atoms']}\b", text), text


def expect_trr(folder, sample, array, values):
    expected = load(folder, sample, array)
    if array not in sample["arrays"]:
        assert expected.size == 0
        return
    np.testing.assert_array_equal(np.asarray(values), expected.astype(np.float32))


def test_mdtraj_reads_trr(folder, manifest):
    formats = reader("mdtraj.formats")
    for sample in manifest["trr"]:
        if sample["double"] or "x" not in sample["arrays"]:
            continue  # what mdtraj does not read
        with formats.TRRTrajectoryFile(str(folder / sample["file"])) as file:
            x, times, steps, boxes, _ = file.read()
        expect_header(sample, steps, times, boxes)
        expect_trr(folder, sample, "x", x)


def test_mdanalysis_reads_trr(folder, manifest):
    libmdaxdr = reader("MDAnalysis.lib.formats.libmdaxdr")
    for sample in manifest["trr"]:
        with libmdaxdr.TRRFile(str(folder / sample["file"])) as file:
            frames = [frame for frame in file]
        expect_header(sample, [f.step for f in frames], [f.time for f in frames], [f.box for f in frames])
        for array in "xvf":
            assert all(getattr(f, f"has{array}") == (array in sample["arrays"]) for f in frames)
            expect_trr(folder, sample, array, [getattr(f, array) for f in frames])


@pytest.fixture(scope="session")
def energies(manifest):
    """Terms, and the steps and values of every energy calculation (41) and of every frame (11)."""
    edr = manifest["edr"]
    edr["steps"], edr["values"] = np.array(edr["steps"]), np.array(edr["values"])
    edr["in_frame"] = edr["steps"] % edr["frame_interval"] == 0
    return edr


def test_pyedr_reads_every_frame_with_its_units(folder, energies):
    pyedr = reader("pyedr")
    path = str(folder / energies["file"])
    table = pyedr.edr_to_dict(path)
    units = pyedr.get_unit_dictionary(path)
    np.testing.assert_array_equal(table["Time"], energies["steps"][energies["in_frame"]] * energies["dt"])
    for i, term in enumerate(energies["terms"]):
        np.testing.assert_array_equal(table[term], energies["values"][energies["in_frame"], i])
        assert units[term] == energies["units"][i]


def test_gmx_check_accepts_the_energy_file(folder, energies):
    text = gmx("check", "-e", folder / energies["file"])
    assert f"Found {energies['in_frame'].sum()} frames with a timestep of 0.04 ps" in text, text


def test_gmx_energy_averages_over_every_energy_calculation(folder, energies, tmp_path):
    text = gmx("energy", "-f", folder / energies["file"], "-o", tmp_path / "e.xvg", text="\n".join(t.replace(" ", "-") for t in energies["terms"]) + "\n\n")
    assert "Statistics over 201 steps" in text, text
    assert f"All statistics are over {len(energies['steps'])} points" in text, text
    for i, term in enumerate(energies["terms"]):
        average, _, rmsd = re.search(rf"^{re.escape(term)} +(\S+) +(\S+) +(\S+) ", text, re.M).groups()
        values = energies["values"][:, i]
        assert float(average) == pytest.approx(values.mean(), rel=1e-5)
        assert float(rmsd) == pytest.approx(values.std(), rel=1e-5)


def test_gmx_energy_reads_every_frame(folder, energies, tmp_path):
    gmx("energy", "-f", folder / energies["file"], "-o", tmp_path / "e.xvg", "-dp", "-xvg", "none", text="Potential\nPressure\n\n")
    table = np.loadtxt(tmp_path / "e.xvg")
    np.testing.assert_allclose(table[:, 0], energies["steps"][energies["in_frame"]] * energies["dt"], rtol=1e-6)
    for column, term in enumerate(["Potential", "Pressure"], 1):
        np.testing.assert_allclose(table[:, column], energies["values"][energies["in_frame"], energies["terms"].index(term)], rtol=1e-6)
