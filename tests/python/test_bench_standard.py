# SPDX-License-Identifier: Apache-2.0
"""`parhelion bench standard`: which systems it runs, and what its lines say, against what OpenMM's benchmark script writes."""
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

PROGRAM = os.environ.get("PARHELION_PROGRAM", "")
if not PROGRAM:
    pytest.skip("$PARHELION_PROGRAM is not set", allow_module_level=True)
DATA = Path(__file__).resolve().parents[1] / "data" / "refdata" / "etoh"
# Fields of a result in the script of OpenMM 8.3 and what kind of values they have.
OF_OPENMM = {"test": str, "cutoff": float, "constraints": str, "hydrogen_mass": str, "ensemble": str, "precision": str, "timestep_in_fs": float, "platform": str,
             "platform_properties": dict, "steps": int, "elapsed_time": float, "ns_per_day": float}
MDP = "integrator = md\ndt = 0.001\ncutoff-scheme = Verlet\ncoulombtype = PME\nrcoulomb = 0.8\nrvdw = 0.8\nconstraints = h-bonds\ntcoupl = v-rescale\ntc-grps = System\ntau-t = 1\nref-t = 300\n"


def bench(folder, *words, code=0):
    done = subprocess.run([PROGRAM, "bench", "standard", "--device", "cpu", *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """What a short benchmark prints and writes, with a small system in place of JAC."""
    folder = tmp_path_factory.mktemp("standard")
    jac = folder / "jac"
    jac.mkdir()
    for name in ("conf.gro", "topol.top"):
        shutil.copy(DATA / name, jac)
    (jac / "md.mdp").write_text(MDP)
    text = bench(folder, "--short", "--jac", "jac", "--json", "lines.jsonl", "--threads", 1)
    return text, list(map(json.loads, (folder / "lines.jsonl").read_text().splitlines())), folder


def test_a_line_has_the_fields_of_openmm(short):
    _, lines, _ = short
    assert [line["test"] for line in lines] == ["water-pme-3000", "water-rf-3000", "jac"]
    for line in lines:
        assert {name: type(line.get(name)) for name in OF_OPENMM} == OF_OPENMM
        assert list(line)[0] == "test" and line["platform"] == "CPU" and line["platform_properties"] == {"Threads": "1"}
        assert line["ns_per_day"] == pytest.approx(line["steps"] * 1e-6 * line["timestep_in_fs"] * 86400 / line["elapsed_time"], rel=1e-9)
        assert len(line["ns_per_day_samples"]) == 3 and sorted(line["ns_per_day_samples"])[1] == line["ns_per_day"]
    water, _, jac = lines
    assert (water["cutoff"], water["constraints"], water["ensemble"], water["timestep_in_fs"]) == (0.9, "HBonds", "NVT", 2)
    assert (jac["cutoff"], jac["constraints"], jac["ensemble"], jac["timestep_in_fs"], jac["hydrogen_mass"]) == (0.8, "HBonds", "NVT", 1, "1.008")


def test_the_table_has_the_rates_of_the_lines(short):
    text, lines, _ = short
    rows = [row.split() for row in text.splitlines() if row.startswith(("water", "jac"))]
    assert [row[0] for row in rows] == [line["test"] for line in lines]
    for row, line in zip(rows, lines):
        assert f"{line['ns_per_day']:.1f}" in row and str(line["atoms"]) in row


def test_boxes_of_jac_are_copies_of_it(short):
    _, lines, folder = short
    bench(folder, "--jac", "jac", "--test", "jac-2x2x1", "--seconds", 0.05, "--json", "boxes.jsonl")
    (box,) = map(json.loads, (folder / "boxes.jsonl").read_text().splitlines())
    assert box["atoms"] == 4 * lines[2]["atoms"] and box["test"] == "jac-2x2x1"


def test_an_unknown_system_is_refused_before_anything_is_measured(tmp_path):
    assert "E010" in bench(tmp_path, "--test", "water-pme-45", code=2)
    assert "without --jac" in bench(tmp_path, "--test", "jac", code=2)
