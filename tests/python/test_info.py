# SPDX-License-Identifier: Apache-2.0
"""`parhelion info` says of every format what other readers find in it; `parhelion cite` what to cite of a run."""
import json
import os
import re
import shutil
import subprocess

import numpy as np
import pytest

from runs import DATA, SHORT, command, folder_with, missing, run


def parhelion(folder, *words, code=0):
    result = subprocess.run([os.environ["PARHELION_PROGRAM"], *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=120)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


def info(folder, name, code=0):
    """What is said as JSON; and the text says the same file and kind."""
    told = json.loads(parhelion(folder, "info", name, "--json", code=code))
    text = parhelion(folder, "info", name)
    assert text.startswith(f"{name}: {told['kind']}, ") and len(text.splitlines()) < 60
    assert told["bytes"] == (folder / name).stat().st_size
    return told


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = folder_with(SHORT + "nstfout = 90\n", tmp_path_factory.mktemp("info"))
    run(folder, "-q", "--threads", 1, "--trace", "trace.json")
    energy = [word for word in command() if word not in ("run", "--reproducible")]
    subprocess.run([energy[0], "energy", *energy[1:], "-o", "e"], cwd=folder, check=True, capture_output=True, timeout=120)
    shutil.copy(DATA / "topol.top", folder / "topol.top")
    (folder / "index.ndx").write_text("[ A ]\n1 2 3\n[ B ]\n7\n")
    return folder


def test_trajectories(whole):
    mda = pytest.importorskip("MDAnalysis")
    for name in ("md.xtc", "md.trr"):
        universe = mda.Universe(str(whole / "md.gro"), str(whole / name))
        told = info(whole, name)
        assert told["frames"] == len(universe.trajectory) and told["atoms"] == len(universe.atoms)
        times = [frame.time for frame in universe.trajectory]
        assert told["first_time_ps"] == pytest.approx(times[0], abs=1e-6) and told["last_time_ps"] == pytest.approx(times[-1], rel=1e-6)
        assert [10 * edge for edge in told["last_box_nm"]] == pytest.approx(list(universe.trajectory[-1].dimensions[:3]), rel=1e-6)
        assert "damage" not in told
    assert info(whole, "md.xtc")["precision_per_nm"] == 1000 and info(whole, "md.xtc")["last_step"] == 60
    assert info(whole, "md.xtc")["interval_ps"] == pytest.approx(0.02, rel=1e-4)
    told = info(whole, "md.trr")
    assert told["frames_with"]["positions"] == told["frames"] and told["precision"] == "float"


def test_energies(whole):
    pyedr = pytest.importorskip("pyedr")
    energies = pyedr.edr_to_dict(str(whole / "md.edr"))
    told = info(whole, "md.edr")
    assert told["frames"] == len(energies["Time"]) and told["last_time_ps"] == energies["Time"][-1]
    assert told["energy_calculations"] == int(re.search(r"Averages over (\d+) energy", (whole / "md.log").read_text())[1]) and told["precision"] == "double"
    assert "Pressure (bar)" in told["terms"] and len(told["terms"]) == len(energies) - 1


def test_files_that_are_cut_are_told_up_to_there(whole):
    for name in ("md.xtc", "md.trr", "md.edr"):
        (whole / f"cut-{name}").write_bytes((whole / name).read_bytes()[:-7])
        told = info(whole, f"cut-{name}")
        assert told["frames"] == info(whole, name)["frames"] - 1 and "ends within a frame" in told["damage"]


def test_what_a_run_is_made_of_and_goes_on_from(whole):
    told = info(whole, "md.cpt")
    assert told["complete_up_to_step"] == 60 and told["atoms"] == 3000 and told["precision"] == "mixed" and told["run"]["dt"] == "0.002"
    assert told["bytes_of_outputs"]["xtc"] <= (whole / "md.xtc").stat().st_size
    told = info(whole, "md.gro")
    assert told["atoms"] == 3000 and told["velocities"] and told["atoms_by_residue_name"] == {"ETH": 900, "SOL": 2100}
    told = info(whole, "topol.top")
    assert told["atoms"] == 3000 and told["molecules"] == ["100 x ETH (9 atoms)", "700 x SOL (3 atoms)"] and abs(told["charge_e"]) < 1e-6
    told = info(whole, "md.mdp")
    assert told["asks_for"] == "0.12 ps NPT 300 K (v-rescale) 1 bar (C-rescale), 2 fs, h-bonds constrained" and told["values"]["nstlist"] == "7"
    assert info(whole, "index.ndx")["atoms_by_group"] == {"A": 3, "B": 1}


def test_what_is_told_of_runs(whole):
    report = json.loads((whole / "md.report.json").read_text())
    told = info(whole, "md.report.json")
    assert told["ns_per_day"] == report["ns_per_day"] and told["means"]["Temperature"] == report["energies"]["Temperature"]["mean"]
    assert info(whole, "md.status.json")["state"] == "done"
    assert info(whole, "e.energy.json")["energies"] == json.loads((whole / "e.energy.json").read_text())["energies"]
    forces = np.load(whole / "e.forces.npy")
    told = info(whole, "e.forces.npy")
    assert told["shape"] == f"{forces.shape[0]}, 3" and told["type"] == "<f8" and told["bytes_of_numbers"] == forces.nbytes
    told = info(whole, "trace.json")
    events = json.loads((whole / "trace.json").read_text())["traceEvents"]
    assert told["spans"] == sum(event["ph"] == "X" for event in events) > 0 and len(told["timelines"]) == 1
    assert "leap-frog" in info(whole, "md.log")["methods"]


@pytest.mark.parametrize("program, precision", [("gmx", "float"), ("gmx_d", "double")])
def test_energy_files_of_gromacs(program, precision, tmp_path):
    pyedr = pytest.importorskip("pyedr")
    if shutil.which(program) is None:
        missing(program)
    folder_with(SHORT.replace("verlet-buffer-tolerance = -1\nrlist = 0.7", "verlet-buffer-tolerance = 0.005"), tmp_path)
    env = {**os.environ, "GMX_MAXBACKUP": "-1"}
    for words in (["grompp", "-f", "md.mdp", "-c", DATA / "conf.gro", "-p", DATA / "topol.top", "-o", "t.tpr", "-maxwarn", "9"],
                  ["mdrun", "-s", "t.tpr", "-deffnm", "g", "-ntmpi", "1", "-ntomp", "1"]):
        subprocess.run([program, *words], cwd=tmp_path, env=env, check=True, capture_output=True, timeout=120)
    told = info(tmp_path, "g.edr")
    energies = pyedr.edr_to_dict(str(tmp_path / "g.edr"))
    assert told["precision"] == precision and told["frames"] == len(energies["Time"]) and "damage" not in told
    assert told["last_time_ps"] == pytest.approx(energies["Time"][-1])
    assert info(tmp_path, "g.trr")["precision"] == precision
    assert info(tmp_path, "g.cpt")["kind"] == "a checkpoint of GROMACS (.cpt)"
    assert info(tmp_path, "t.tpr")["kind"] == "a run input file of GROMACS (.tpr)"
    numbers = json.loads(parhelion(tmp_path, "report", "g", "--json"))["runs"][0]  # the page is of any energy file
    assert numbers["energies"]["last"]["Potential"] == pytest.approx(energies["Potential"][-1])


def test_other_files_are_refused(tmp_path):
    for name, text in {"a.txt": "hello", "b.json": '{"a": 1}', "c.json": "{", "d": "", "e.json": "[1]"}.items():
        (tmp_path / name).write_text(text)
        assert f"E188 {name} " in parhelion(tmp_path, "info", name, code=4)
    (tmp_path / "f.npy").write_bytes(b"\x93NUMPY\x01\x00")
    assert "E188 f.npy " in parhelion(tmp_path, "info", "f.npy", code=4)
    assert "E110 none" in parhelion(tmp_path, "info", "none", code=4)
    assert "E110" in parhelion(tmp_path, "info", ".", code=4)


def test_what_to_cite(whole):
    text = parhelion(whole, "cite", "md")
    keys = re.findall(r"^@article\{(\w+),$", text, re.M)
    assert keys == ["Hockney1974", "Pall2013", "Tironi1995", "Miyamoto1992", "Hess1997", "Hess2008", "Bussi2007", "Bernetti2020", "Flyvbjerg1989"]
    assert text.index("Canonical sampling through velocity rescaling") < text.index("@misc{Parhelion,")
    everything = parhelion(whole, "cite")
    assert {"Essmann1995", "Parrinello1981", "Nose1984", "Goga2012"} <= set(re.findall(r"^@article\{(\w+),$", everything, re.M))
    assert re.search(r"E189 none\.log +does not say", parhelion(whole, "cite", "none", code=4))
    parhelion(whole, "report", "md")
    assert "Canonical sampling through velocity rescaling" in (whole / "md.report.html").read_text()
