# SPDX-License-Identifier: Apache-2.0
"""The program as its users meet it: a run whose files other programs read, exit codes, and what it says when something is wrong.

The program is $PARHELION_PROGRAM. Reference energies: tests/data/refdata.
"""
import gzip
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from runs import missing

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "refdata"
RUN = """
integrator = md
dt = 0.002
nsteps = 60
cutoff-scheme = Verlet
coulombtype = reaction-field
epsilon-rf = 0
rcoulomb = 0.9
rvdw = 0.9
DispCorr = EnerPres
constraints = h-bonds
continuation = yes
comm-mode = None
nstxout = 20
nstvout = 20
nstfout = 20
nstxout-compressed = 10
nstcalcenergy = 10
nstenergy = 20
"""


def parhelion(*arguments, folder, code=0):
    program = os.environ.get("PARHELION_PROGRAM")
    if program is None:
        pytest.skip("$PARHELION_PROGRAM is not set")
    result = subprocess.run([program, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=120)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    (folder / "md.mdp").write_text(RUN)
    text = parhelion("run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", "--threads", 2, folder=folder)
    return folder, text


def test_a_run_leaves_the_files_its_mdp_asks_for(run):
    folder, text = run
    assert {path.name for path in folder.iterdir()} >= {"md.log", "md.xtc", "md.trr", "md.edr", "md.gro", "md.report.json"}
    assert re.search(r"ns/day", text) and re.search(r"nonbonded", text)


def test_trajectories_hold_the_same_frames(run):
    mda = pytest.importorskip("MDAnalysis")
    folder, _ = run
    full = mda.Universe(str(DATA / "etoh/conf.gro"), str(folder / "md.trr"))
    compressed = mda.Universe(str(DATA / "etoh/conf.gro"), str(folder / "md.xtc"))
    assert [round(frame.time, 6) for frame in full.trajectory] == [0.0, 0.04, 0.08, 0.12]
    assert len(compressed.trajectory) == 7
    start = mda.Universe(str(DATA / "etoh/conf.gro"))
    edges = start.dimensions[:3]
    first = full.trajectory[0].positions - start.atoms.positions
    assert np.abs(first - edges * np.round(first / edges)).max() < 1e-4  # Angstrom
    for frame in full.trajectory:
        other = compressed.trajectory[int(round(frame.time / 0.02))]
        assert np.abs(other.positions - frame.positions).max() < 0.0051  # half of 0.001 nm
        assert np.allclose(other.dimensions, frame.dimensions, atol=1e-4)
        assert frame.has_velocities and frame.has_forces
    # Molecules are whole: no bond of the 100 ethanols is longer than 0.2 nm.
    ethanol = full.trajectory[-1].positions[:900].reshape(100, 9, 3)
    assert np.linalg.norm(ethanol[:, 4] - ethanol[:, 0], axis=1).max() < 2


def test_the_energy_file_agrees_with_the_reference_and_the_report(run):
    pyedr = pytest.importorskip("pyedr")
    folder, _ = run
    energies = pyedr.edr_to_dict(str(folder / "md.edr"))
    assert list(energies["Time"]) == pytest.approx([0, 0.04, 0.08, 0.12])
    with gzip.open(DATA / "etoh/rf/nve.energies.txt.gz", "rt") as file:
        names = [word.split("(kJ")[0].split("(bar")[0].split("(K")[0].replace("_", " ") for word in file.readline().split()[2:]]
        rows = {round(float(line.split()[0]), 6): list(map(float, line.split()[1:])) for line in file}
    for time, potential, kinetic in zip(energies["Time"], energies["Potential"], energies["Kinetic En."]):
        row = dict(zip(names, rows[round(time, 6)]))
        assert potential == pytest.approx(row["Potential"], abs=0.02)
        assert kinetic == pytest.approx(row["Kinetic En."], abs=0.02)
    report = json.loads((folder / "md.report.json").read_text())
    assert report["atoms"] == 3000 and report["steps"] == 60
    assert abs(report["energies"]["Total Energy"]["mean"] - np.mean(energies["Total Energy"])) < 10  # all seven energy calculations, every second


def test_gmx_reads_every_file_of_the_run(run):
    if shutil.which("gmx") is None:
        missing("gmx")
    folder, _ = run
    for option, name in [("-f", "md.xtc"), ("-f", "md.trr"), ("-e", "md.edr"), ("-c", "md.gro")]:
        if option == "-c":
            command = ["gmx", "-quiet", "editconf", "-f", name, "-o", "again.gro"]
        else:
            command = ["gmx", "-quiet", "check", option, name]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr


def test_energy_writes_the_reference_forces(tmp_path):
    parhelion("energy", "-f", DATA / "spce/rf/sp.mdp", "-c", DATA / "spce/conf.gro", "-p", DATA / "spce/topol.top", "-o", "sp", "--precision",
              "double", folder=tmp_path)
    forces = np.load(tmp_path / "sp.forces.npy")
    with gzip.open(DATA / "spce/rf/forces.txt.gz", "rt") as file:
        reference = np.loadtxt(file)[:, 1:]
    assert forces.dtype == np.float64 and forces.shape == (3000, 3)
    assert np.linalg.norm(forces - reference) / np.linalg.norm(reference) < 1e-12
    result = json.loads((tmp_path / "sp.energy.json").read_text())
    assert result["pressure"] == pytest.approx(-661.329268479276, abs=1e-5)
    assert result["energies"]["LJ (SR)"] == pytest.approx(9166.687194174272, rel=1e-9)


def test_energy_writes_forces_of_what_would_end_a_run(tmp_path):
    files = ("-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", "--allow", "W122")
    forces = {}
    for dt in (0.002, 0.02):
        (tmp_path / "md.mdp").write_text(RUN.replace("dt = 0.002", f"dt = {dt}"))
        text = parhelion("energy", *files, folder=tmp_path)
        assert ("a run would end here. E50" in text) == (dt == 0.02)
        forces[dt] = np.load(tmp_path / "md.forces.npy")
    assert np.abs(forces[0.02] - forces[0.002]).max() < 1e-3 * np.abs(forces[0.002]).max()
    text = parhelion("check", *files, folder=tmp_path, code=5)
    for word in ("potential energy", "memory", "forecast", "E50"):
        assert word in text


@pytest.fixture
def overlapping(tmp_path):
    """The ethanol box with a water 0.02 nm from another: what a minimisation is for."""
    lines = (DATA / "etoh/conf.gro").read_text().splitlines()
    for atom in range(905, 908):  # lines of the second water
        lines[atom] = lines[atom][:20] + "%8.3f" % (float(lines[atom - 3][20:28]) + 0.02) + lines[atom - 3][28:]
    (tmp_path / "overlap.gro").write_text("\n".join(lines) + "\n")
    (tmp_path / "md.mdp").write_text(RUN)
    (tmp_path / "steep.mdp").write_text(RUN.replace("integrator = md", "integrator = steep"))
    return tmp_path


def test_an_overlap_does_not_end_a_minimisation_nor_its_check(overlapping):
    files = ("-c", "overlap.gro", "-p", DATA / "etoh/topol.top")
    assert "forecast" in parhelion("check", "-f", "steep.mdp", *files, folder=overlapping)
    text = parhelion("energy", "-f", "steep.mdp", *files, folder=overlapping)
    assert "would end here" not in text and "E50" not in text
    assert "a run would end here. E50" in parhelion("energy", *files, folder=overlapping)


def test_an_overlap_has_the_energy_of_one_rank_on_any_number_of_ranks(overlapping):
    files = ("-c", "overlap.gro", "-p", DATA / "etoh/topol.top", "--precision", "double")
    for ranks in (1, 2):
        text = parhelion("energy", *files, "--ranks", ranks, "-o", f"on{ranks}", folder=overlapping)
        assert "a run would end here. E50" in text
    one, two = (json.loads((overlapping / f"on{ranks}.energy.json").read_text()) for ranks in (1, 2))
    assert two["energies"] == pytest.approx(one["energies"], rel=1e-9)
    assert two["pressure"] == pytest.approx(one["pressure"], rel=1e-9)
    forces = [np.load(overlapping / f"on{ranks}.forces.npy") for ranks in (1, 2)]
    assert np.abs(forces[1] - forces[0]).max() < 1e-9 * np.abs(forces[0]).max()


def test_energy_writes_over_no_file(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN)
    files = ("-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top")
    for name in ("md.energy.json", "md.forces.npy"):
        (tmp_path / name).write_text("mine\n")
    assert "kept: #md.energy.json.1#" in parhelion("energy", *files, folder=tmp_path)
    for name in ("md.energy.json", "md.forces.npy"):
        assert (tmp_path / f"#{name}.1#").read_text() == "mine\n"
    assert json.loads((tmp_path / "md.energy.json").read_text())["atoms"] == 3000
    (tmp_path / "md.mdp").rename(tmp_path / "in.energy.json")
    text = parhelion("energy", "-f", "in.energy.json", *files, "-o", "in", folder=tmp_path, code=4)
    assert "E194 in.energy.json " in text and (tmp_path / "in.energy.json").read_text() == RUN


def test_a_stopped_minimisation_says_how_to_go_on_and_does(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN.replace("integrator = md", "integrator = steep").replace("nsteps = 60", "nsteps = -1") + "emtol = 0.001\n")
    start, topology = DATA / "etoh/conf.gro", DATA / "etoh/topol.top"

    def energy(structure):
        return float(re.search(r"Potential +(\S+)", parhelion("energy", "-c", structure, "-p", topology, folder=tmp_path))[1])

    text = parhelion("run", "-c", start, "-p", topology, "-o", "first", "--hours", 0.0002, folder=tmp_path, code=3)
    assert not (tmp_path / "first.cpt").exists()
    structure = re.search(r"start again from it with -c (\S+) and another -o", text)[1]
    parhelion("run", "-c", structure, "-p", topology, "-o", "second", "--hours", 0.0002, folder=tmp_path, code=3)
    assert energy("second.gro") < energy("first.gro") < energy(start)


@pytest.mark.parametrize("command", [["check"], ["energy"], ["run", "--steps", 5]])
def test_limits_of_reproducible_sums_are_not_told_as_results(overlapping, command):
    options = [*command, "-f", "steep.mdp", "-c", "overlap.gro", "-p", DATA / "etoh/topol.top"]
    assert "beyond the range" not in parhelion(*options, folder=overlapping)
    assert "beyond the range of --reproducible" in parhelion(*options, "--reproducible", folder=overlapping)


def test_the_energy_of_a_minimisation_is_that_of_its_first_step(tmp_path):
    pyedr = pytest.importorskip("pyedr")
    (tmp_path / "md.mdp").write_text(RUN.replace("integrator = md", "integrator = steep"))
    files = ("-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", "--precision", "double")
    parhelion("energy", *files, folder=tmp_path)
    parhelion("run", "--steps", 1, *files, folder=tmp_path)
    point = json.loads((tmp_path / "md.energy.json").read_text())
    first = {name: values[0] for name, values in pyedr.edr_to_dict(str(tmp_path / "md.edr")).items()}
    assert point["energies"]["Potential"] == pytest.approx(first["Potential"], rel=1e-6)  # the file has floats
    assert point["pressure"] == pytest.approx(first["Pressure"], rel=1e-6)


def test_energy_of_what_would_end_a_run_is_that_of_its_terms(tmp_path):
    """Two atoms of argon so near that a run would end: 4 eps ((s/r)^12 - (s/r)^6), less its value at the cut-off."""
    sigma, epsilon, r, cutoff = 0.34, 1.0, 0.1, 0.9
    (tmp_path / "md.mdp").write_text("integrator = md\ndt = 0.001\nnsteps = 1\nrvdw = 0.9\nrcoulomb = 0.9\nDispCorr = no\n")
    (tmp_path / "topol.top").write_text(
        "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nAR AR 18 39.948 0 A %g %g\n[ moleculetype ]\nAR 1\n[ atoms ]\n1 AR 1 AR AR 1 0\n"
        "[ system ]\ntwo atoms\n[ molecules ]\nAR 2\n" % (sigma, epsilon))
    (tmp_path / "conf.gro").write_text(
        "two atoms\n2\n    1AR      AR    1   1.000   1.000   1.000\n    2AR      AR    2   1.100   1.000   1.000\n 3 3 3\n")
    text = parhelion("energy", "--precision", "double", folder=tmp_path)
    assert "a run would end here. E502" in text
    energy = json.loads((tmp_path / "md.energy.json").read_text())["energies"]["LJ (SR)"]
    at = lambda x: 4 * epsilon * ((sigma / x) ** 12 - (sigma / x) ** 6)
    assert energy == pytest.approx(at(r) - at(cutoff), rel=1e-9)


def test_a_rigid_water_without_exclusions_is_what_it_is_for_grompp_and_noticed(tmp_path):
    (tmp_path / "md.mdp").write_text("integrator = md\ndt = 0.001\nnsteps = 1\nrvdw = 0.9\nrcoulomb = 0.9\nDispCorr = no\ncoulombtype = cut-off\n"
                                     "coulomb-modifier = none\nvdw-modifier = none\n")
    (tmp_path / "topol.top").write_text(
        "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nO O 8 15.9994 0 A 0 0\nH H 1 1.008 0 A 0 0\n[ moleculetype ]\nSOL 2\n"
        "[ atoms ]\n1 O 1 SOL OW 1 -0.8\n2 H 1 SOL HW1 1 0.4\n3 H 1 SOL HW2 1 0.4\n[ settles ]\n1 1 0.1 0.16\n"
        "[ system ]\nwater\n[ molecules ]\nSOL 1\n")
    (tmp_path / "conf.gro").write_text("water\n3\n    1SOL     OW    1   1.000   1.000   1.000\n    1SOL    HW1    2   1.080   1.060   1.000\n"
                                       "    1SOL    HW2    3   0.920   1.060   1.000\n 3 3 3\n")
    assert "W124" in parhelion("energy", folder=tmp_path, code=4)
    parhelion("energy", "--precision", "double", "--allow", "W124", folder=tmp_path)
    energy = json.loads((tmp_path / "md.energy.json").read_text())["energies"]["Coulomb (SR)"]
    assert energy == pytest.approx(138.935458 * (2 * -0.8 * 0.4 / 0.1 + 0.4 * 0.4 / 0.16), rel=1e-6)


def test_check_says_what_would_run(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN)
    text = parhelion("check", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", folder=tmp_path)
    for word in ["3000 atoms", "100 x ETH", "pair list", "ns/day"]:
        assert word in text


def test_a_slip_in_the_mdp_exits_4_with_file_line_and_a_suggestion(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN + "tau_tt = 1\n")
    text = parhelion("run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", folder=tmp_path, code=4)
    assert re.search(r"E\d+ md\.mdp:\d+ .*tau_tt.*[Dd]id you mean.*tau-t", text)


@pytest.mark.parametrize("command", ["run", "energy", "check"])
def test_the_mistakes_of_all_files_are_told_in_one_go(tmp_path, command):
    (tmp_path / "md.mdp").write_text(RUN.replace("dt = 0.002", "dt = 2fs") + "tau_tt = 1\n")
    (tmp_path / "topol.top").write_text('#include "nowhere.itp"\n')
    (tmp_path / "conf.gro").write_text("two\n2\n")
    lines = parhelion(command, folder=tmp_path, code=4).splitlines()
    places = ["E111 topol.top:1 ", "E170 conf.gro:2 ", "E104 md.mdp:20 ", "E103 md.mdp:3 "]
    assert [line[: len(place)] for line, place in zip(lines, places, strict=True)] == places


def test_a_run_with_pme_tells_its_grid_and_writes_the_reciprocal_energy(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN.replace("reaction-field", "PME").replace("epsilon-rf = 0\n", ""))
    text = parhelion("run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", folder=tmp_path)
    assert re.search(r"PME +28x28x28 grid points, order 4, beta 3\.470459", text)
    report = json.loads((tmp_path / "md.report.json").read_text())
    assert report["phases"]["spread"] > 0
    assert "Coul. recip." in (tmp_path / "md.log").read_text()


def test_a_run_with_multiple_time_steps_tells_them_and_is_not_continued_without(tmp_path):
    pme = RUN.replace("reaction-field", "PME").replace("epsilon-rf = 0\n", "")
    (tmp_path / "md.mdp").write_text(pme + "mts = yes\nmts-level2-factor = 10\nnstlog = 0\n")
    start = ("run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top")
    assert ", computed every 10 steps" in parhelion(*start, folder=tmp_path)
    (tmp_path / "md.mdp").write_text(pme + "nstlog = 0\n")
    assert re.search(r"E191.*mts \(yes then, no now\)", parhelion(*start, folder=tmp_path, code=4))


def test_pme_runs_on_no_more_than_one_gpu(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN.replace("reaction-field", "PME").replace("epsilon-rf = 0\n", ""))
    text = parhelion("run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", "--gpus", "2", folder=tmp_path, code=2)
    assert re.search(r"E00[23]", text)


def test_ways_to_share_the_mesh_are_told_and_others_refused_by_name(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN.replace("reaction-field", "PME").replace("epsilon-rf = 0\n", ""))
    start = ("run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", "--ranks", 2, "--threads", 1)
    text = parhelion(*start, "--pme", "gathered", folder=tmp_path)
    assert "PME       28x28x28 grid points" in text and ", gathered" in text
    assert json.loads((tmp_path / "md.report.json").read_text())["pme"] == "gathered"
    text = parhelion(*start, "--pme", "dedicated:1", "-o", "own", folder=tmp_path)
    assert "2 ranks (1x1x1, halo direct)" in text and ", dedicated:1" in text
    assert json.loads((tmp_path / "own.report.json").read_text())["pme"] == "dedicated:1"
    assert re.search(r"E635.*dedicated:2 leaves no rank", parhelion(*start, "--pme", "dedicated:2", "-o", "none", folder=tmp_path, code=4))
    for wrong in ("dedicated", "dedicated:0", "shared:1", "dedicated:x"):
        assert f"{wrong} is no way to share the mesh" in parhelion(*start, "--pme", wrong, folder=tmp_path, code=2)


def test_lj_pme_goes_with_pme_alone(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN + "vdwtype = PME\n")
    start = ("run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top")
    text = parhelion(*start, folder=tmp_path, code=4)
    assert re.search(r"md\.mdp:\d+ .*E260|E260.*md\.mdp:\d+", text)
    (tmp_path / "md.mdp").write_text(re.sub(r"(?m)^coulombtype.*\n", "", RUN) + "coulombtype = PME\nvdwtype = PME\n")
    assert "LJ recip." in parhelion(*start, "-o", "on", folder=tmp_path) + (tmp_path / "on.log").read_text()


def test_a_blow_up_exits_5_and_keeps_the_last_good_frame(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN.replace("dt = 0.002", "dt = 0.02").replace("nsteps = 60", "nsteps = 2000"))
    text = parhelion("run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", "--allow", "W122", folder=tmp_path, code=5)
    assert re.search(r"E50\d step \d+: .*atom \d+ \S+ of residue \d+ (ETH|SOL)", text)
    lines = (tmp_path / "md.last-good.gro").read_text().splitlines()
    assert len(lines) == 3003 and "nan" not in "".join(lines)


def test_a_blow_up_is_told_as_one_even_when_a_checkpoint_is_due(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN.replace("dt = 0.002", "dt = 0.02"))
    text = parhelion("run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", "--allow", "W122", "--checkpoint", "0s", folder=tmp_path, code=5)
    assert re.search(r"^E50\d step \d+", text, re.M)


def test_a_run_on_two_ranks_leaves_the_frames_of_a_run_on_one(run, tmp_path):
    (tmp_path / "md.mdp").write_text(RUN)
    options = ("--ranks", 2, "--threads", 1, "--halo", "staged-fused")
    parhelion("run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", *options, folder=tmp_path)
    report = json.loads((tmp_path / "md.report.json").read_text())
    assert (report["ranks"], report["halo"], report["transport"]) == (2, "staged-fused", "threads")
    assert sorted(report["grid"].split("x")) == ["1", "1", "2"]
    one, two = (np.loadtxt(folder / "md.gro", skiprows=2, max_rows=3000, usecols=0, dtype=str) for folder in (run[0], tmp_path))
    assert (one == two).all()
    positions = [
        np.array([[float(line[20 + 11 * k : 31 + 11 * k]) for k in range(3)] for line in (folder / "md.gro").read_text().splitlines()[2:3002]])
        for folder in (run[0], tmp_path)
    ]
    box = np.array((tmp_path / "md.gro").read_text().splitlines()[-1].split(), dtype=float)
    difference = positions[0] - positions[1]
    assert np.abs(difference - box * np.round(difference / box)).max() < 2e-3  # 60 steps from the same start


def test_a_rate_of_pairs_is_told_only_where_all_ranks_run_at_once(tmp_path):
    bench = ("bench", "--atoms", 3000, "--steps", 10, "--device", "cpu", "--json", "bench.json")
    assert "tested pairs a second" in parhelion(*bench, "--threads", 1, folder=tmp_path)
    more = len(os.sched_getaffinity(0)) + 1
    assert "tested pairs a second" not in parhelion(*bench, "--ranks", 2, "--threads", more, folder=tmp_path)


def test_figures_are_refused_before_anything_is_measured(tmp_path):
    if "PARHELION_PROGRAM" not in os.environ:
        pytest.skip("$PARHELION_PROGRAM is not set")
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python3").chmod(0o755)
    bench = subprocess.run([os.environ["PARHELION_PROGRAM"], "bench", "scaling", "--json", "scaling.jsonl", "--plot", "scaling"], cwd=tmp_path,
                           capture_output=True, text=True, timeout=60, env=os.environ | {"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert bench.returncode == 6 and "--plot needs python3 with matplotlib" in bench.stderr


def test_figures_are_not_drawn_by_modules_of_the_current_folder(tmp_path):
    if "PARHELION_PROGRAM" not in os.environ:
        pytest.skip("$PARHELION_PROGRAM is not set")
    witness = tmp_path / "witness"
    for module in ["matplotlib.py", "json.py"]:
        (tmp_path / module).write_text(f"open({str(witness)!r}, 'a').write(__file__)\n")
    subprocess.run([os.environ["PARHELION_PROGRAM"], "bench", "scaling", "--atoms", "3000", "--json", "scaling.jsonl", "--plot", "scaling",
                    "--gpus", "64"], cwd=tmp_path, capture_output=True, timeout=120)  # not on a machine of ours: nothing is measured
    assert not witness.exists(), witness.read_text()


def test_a_benchmark_leaves_alone_what_others_have_prepared_where_temporary_files_go(tmp_path):
    # The shell's process becomes the program's.
    prepare = 'mkdir "$TMPDIR/parhelion-bench-$$" && touch "$TMPDIR/parhelion-bench-$$/theirs" && exec "$PARHELION_PROGRAM" "$@"'
    if "PARHELION_PROGRAM" not in os.environ:
        pytest.skip("$PARHELION_PROGRAM is not set")
    subprocess.run(["sh", "-c", prepare, "sh", "bench", "--atoms", "3000", "--steps", "5", "--device", "cpu"], check=True, timeout=120,
                   cwd=tmp_path, env=os.environ | {"TMPDIR": str(tmp_path)}, stdout=subprocess.DEVNULL)
    (theirs,) = tmp_path.iterdir()  # and nothing of ours
    assert [path.name for path in theirs.iterdir()] == ["theirs"]


@pytest.mark.parametrize("command", [["check"], ["energy"], ["run", "--steps", 2]])
def test_more_threads_than_cores_are_remarked_on(tmp_path, command):
    (tmp_path / "md.mdp").write_text(RUN)
    options = [*command, "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", "--device", "cpu"]
    many = len(os.sched_getaffinity(0)) + 1
    assert f"{many} threads share " in parhelion(*options, "--threads", many, folder=tmp_path)
    for ordinary in ([], ["--threads", 1]):
        assert "threads share" not in parhelion(*options, *ordinary, folder=tmp_path)


def test_every_warning_that_there_is_can_be_allowed_and_no_other(tmp_path):
    made = set()
    for path in [*(ROOT / "src").rglob("*.[ch]pp"), *(ROOT / "cli").rglob("*.[ch]pp")]:
        made |= set(re.findall(r'\bwarn\(\s*"(W\d+)"', path.read_text()))
    known = re.search(r"--allow: W999 not in {(.*)}", parhelion("check", "--allow", "W999", folder=tmp_path, code=2))[1]
    assert set(known.split(",")) == made and len(made) > 10


@pytest.mark.parametrize("command", ["comm", "scaling"])
def test_the_help_of_what_needs_gpus_says_so(tmp_path, command):
    text = parhelion("bench", "--help", folder=tmp_path)
    assert re.search(rf"^  {command} .*\(needs (a GPU|GPUs)\)", text, re.M)


def test_asking_for_cuda_says_plainly_that_it_is_not_there(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN)
    text = parhelion("run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", "--device", "gpu", folder=tmp_path, code=2)
    assert "built without CUDA" in text


@pytest.mark.parametrize("atoms, ethanols, waters", [(3000, 100, 700), (6000, 200, 1400), (45000, 1500, 10500)])
def test_generated_boxes_have_the_composition_and_density_of_the_series(tmp_path, atoms, ethanols, waters):
    parhelion("generate", "ethanol-water", "--atoms", atoms, "-d", ".", folder=tmp_path)
    lines = (tmp_path / "conf.gro").read_text().splitlines()
    assert int(lines[1]) == atoms and len(lines) == atoms + 3
    edges = [float(word) for word in lines[-1].split()]
    assert atoms / np.prod(edges) == pytest.approx(100.57, rel=0.02)  # the benchmark box: 45 000 in 7.64854^3
    counts = [line.split() for line in (tmp_path / "topol.top").read_text().split("[ molecules ]")[1].splitlines() if line.strip()]
    assert sum(int(n) for name, n in counts if name == "ETH") == ethanols
    assert sum(int(n) for name, n in counts if name == "SOL") == waters


def test_a_size_that_is_not_of_the_series_is_refused(tmp_path):
    assert "3000 6000 12000" in parhelion("generate", "ethanol-water", "--atoms", 5000, folder=tmp_path, code=4)


@pytest.mark.parametrize("option, name", [("-c", "conf.gro"), ("-r", "conf.gro"), ("-f", "conf.log"), ("-p", "conf.xtc")])
def test_a_run_that_would_write_over_its_input_is_refused(tmp_path, option, name):
    files = {"-c": DATA / "etoh/conf.gro", "-p": DATA / "etoh/topol.top", "-f": tmp_path / "md.mdp"}
    (tmp_path / "md.mdp").write_text(RUN)
    (tmp_path / name).write_bytes(files.get(option, files["-c"]).read_bytes())
    (tmp_path / "link").symlink_to(name)
    before = (tmp_path / name).read_bytes()
    files[option] = "link"
    text = parhelion("run", *(word for pair in files.items() for word in pair), "-o", "conf", folder=tmp_path, code=4)
    assert "E194 link " in text and f"writes {name}" in text
    assert (tmp_path / name).read_bytes() == before


def test_generate_writes_over_nothing_unless_forced(tmp_path):
    (tmp_path / "topol.top").write_text("mine\n")
    text = parhelion("generate", "ethanol-water", "--atoms", 3000, folder=tmp_path, code=4)
    assert re.search(r"E302 \S*topol\.top .*--force", text)
    assert [path.name for path in tmp_path.iterdir()] == ["topol.top"] and (tmp_path / "topol.top").read_text() == "mine\n"
    parhelion("generate", "ethanol-water", "--atoms", 3000, "--force", folder=tmp_path)
    assert "SOL 700" in (tmp_path / "topol.top").read_text()


def test_with_json_standard_output_is_the_report_alone(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN)
    command = [os.environ.get("PARHELION_PROGRAM", "parhelion"), "run", "--json", "-v", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top"]
    first, again = (subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120) for _ in range(2))
    assert first.stdout == again.stdout == (tmp_path / "md.report.json").read_text()
    assert json.loads(first.stdout)["steps"] == 60
    assert "pair list" in first.stderr and "is complete" in again.stderr


@pytest.mark.parametrize("integrator, expected", [("md", r"10 steps, [\d.]+ ns/day"), ("steep", r"10 steps, largest force .* kJ/mol/nm \(not converged\)")])
def test_the_last_line_of_the_log_says_what_has_a_meaning(tmp_path, integrator, expected):
    mdp = RUN.replace("integrator = md", f"integrator = {integrator}").replace("nsteps = 60", "nsteps = 10")
    (tmp_path / "md.mdp").write_text(mdp)
    parhelion("run", "-q", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", folder=tmp_path)
    assert re.fullmatch(expected, (tmp_path / "md.log").read_text().splitlines()[-1])


@pytest.mark.parametrize("closed", ["<&- >&- 2>&-", ">&-", "2>&-"])
def test_what_is_printed_to_a_closed_stream_goes_into_no_file(tmp_path, closed):
    (tmp_path / "md.mdp").write_text(RUN)
    run = [os.environ.get("PARHELION_PROGRAM", "parhelion"), "run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top"]
    result = subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh", *map(str, run)], cwd=tmp_path, capture_output=True, timeout=120)
    assert result.returncode == 0
    for path in tmp_path.iterdir():
        assert not re.search(rb"us/step|step 60/60", path.read_bytes()), path


@pytest.mark.parametrize("options", [["--steps", "-2"], ["--steps", "9" * 20], ["--ns", "nan"], ["--ns", "-3"], ["--ns", "inf"], ["--hours", "-5"],
                                     ["--steps", "1.5"], ["--steps", "1e400"], ["-nt", "4"], ["-deffnm", "md"], ["-cpi", "md.cpt"], ["-o", ""],
                                     ["-o", "folder/"], ["--allow", "all"], ["--allow", "W999"], ["-I", "nowhere"], ["-o", "."], ["-o", "folder/.."],
                                     ["-o", "p" * 240], ["--nic-latency", 5], ["--nic-bandwidth", 5, "--ranks", 2]])
def test_options_without_a_meaning_are_wrong_usage(tmp_path, options):
    (tmp_path / "md.mdp").write_text(RUN)
    parhelion("run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", *options, folder=tmp_path, code=2)
    assert [path.name for path in tmp_path.iterdir()] == ["md.mdp"]


def test_a_prefix_has_room_for_every_ending(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN)
    run = ["run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", "--steps", 1, "-o"]
    most = int(re.search(r"may have (\d+) characters, not 255", parhelion(*run, "p" * 255, folder=tmp_path, code=2))[1])
    for options in [[], ["--new"]]:  # which leaves backups
        parhelion(*run, "p" * most, *options, folder=tmp_path)
    assert "may have" in parhelion(*run, "p" * (most + 1), folder=tmp_path, code=2)


@pytest.mark.parametrize("options", [["-r", "nowhere.gro"], ["-n", "nowhere.ndx"]])
def test_a_file_that_is_not_there_is_missed_even_if_nothing_asks_for_it(tmp_path, options):
    (tmp_path / "md.mdp").write_text(RUN)
    assert "E110 nowhere" in parhelion("run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", *options, folder=tmp_path, code=4)


def test_a_trace_that_cannot_be_written_ends_the_run_before_it_begins(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN)
    text = parhelion("run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", "--trace", "nowhere/trace", folder=tmp_path, code=6)
    assert "nowhere/trace: No such file" in text
    assert not (tmp_path / "md.xtc").exists()


def test_a_trace_takes_no_file_away(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN)
    (tmp_path / "mine.itp").write_text("; mine\n")
    parhelion("run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", "--steps", 10, "--trace", "mine.itp", folder=tmp_path)
    assert (tmp_path / "#mine.itp.1#").read_text() == "; mine\n"
    assert json.loads((tmp_path / "mine.itp").read_text())["traceEvents"]


@pytest.mark.parametrize("words, says", [(["runn"], "'runn' is no command. Did you mean run?"), (["bench", "--atoms", "3000", "halo"], "halo excludes --atoms"),
                                         (["run", "--grid", "foo"], "E007"), (["run", "--grid", "1024x2x1"], "E007"), (["run", "--ranks", "1", "--grid", "2x1x1"], "E008"), (["run", "--ns", "1e14"], "E009"), (["run", "--ns", "1e-300"], "E009")])
def test_a_command_line_that_says_nothing_sensible_is_wrong_usage(tmp_path, words, says):
    (tmp_path / "md.mdp").write_text(RUN)
    files = ["-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top"] if words[0] == "run" else []
    assert says in parhelion(*words, *files, folder=tmp_path, code=2)


def limited(command, folder, code):
    """Of a shell, which may set limits; the program is $PROGRAM."""
    if "PARHELION_PROGRAM" not in os.environ:
        pytest.skip("$PARHELION_PROGRAM is not set")
    result = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120,
                            env=os.environ | {"PROGRAM": os.environ["PARHELION_PROGRAM"], "FILES": f"-c {DATA}/etoh/conf.gro -p {DATA}/etoh/topol.top"})
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_gigabyte_of_address_space_is_enough_for_a_small_system(tmp_path, ranks):
    (tmp_path / "md.mdp").write_text(RUN)
    limited(f"ulimit -v 1048576; $PROGRAM run -q --ranks {ranks} --threads 1 --steps 10 $FILES", tmp_path, 0)


def test_too_little_address_space_for_messages_is_said_with_what_is_needed(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN)
    said = limited("ulimit -v 200000; $PROGRAM run -q --ranks 4 --threads 1 --steps 10 $FILES", tmp_path, 6)
    assert re.search(r"E601 mmap of \d+ bytes of address space for messages .*\(ulimit -v\)", said)


def test_a_run_of_no_steps_says_why(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN.replace("nsteps = 60\n", ""))
    files = ["-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top"]
    assert "nsteps is 0, as in GROMACS where the .mdp does not give it" in parhelion("run", *files, folder=tmp_path)
    assert "no step" not in parhelion("run", *files, "--steps", 1, "-o", "one", folder=tmp_path)


def test_a_precision_that_its_file_cannot_hold_is_refused(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN + "compressed-x-precision = 1e39\n")
    said = parhelion("run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", folder=tmp_path, code=4)
    assert "md.mdp" in said and "compressed-x-precision" in said and "internal error" not in said


def test_a_file_that_may_not_grow_ends_the_run_with_one_sentence(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN)
    assert re.search(r"^E601 md\.\w+  write failed", limited("ulimit -f 60; $PROGRAM run -q $FILES", tmp_path, 6), re.M)
    assert "write failed" in (tmp_path / "md.log").read_text()


def test_what_cannot_be_printed_is_noticed(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN)
    assert "E601 standard output: No space left" in limited("$PROGRAM check $FILES > /dev/full", tmp_path, 6)
    assert "E601 standard output: No space left" in limited("$PROGRAM run -q --json --steps 10 $FILES > /dev/full", tmp_path, 6)
    assert json.loads((tmp_path / "md.report.json").read_text())["steps"] == 10


def test_without_room_for_the_last_frame_a_run_can_go_on_from_its_checkpoint(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN)
    (tmp_path / "md.gro.tmp").mkdir()  # in the way
    assert "E601 md.gro.tmp" in limited("$PROGRAM run -q --steps 40 $FILES", tmp_path, 6)
    (tmp_path / "md.gro.tmp").rmdir()
    assert "continuing at step" in limited("$PROGRAM run --steps 40 $FILES", tmp_path, 0)
    assert (tmp_path / "md.gro").exists() and (tmp_path / "md.report.json").exists()
    assert "is complete" in limited("$PROGRAM run --steps 40 $FILES", tmp_path, 0)


@pytest.mark.parametrize("name", ["md.xtc", "./md.log"])
def test_a_trace_that_would_be_another_output_is_refused(tmp_path, name):
    (tmp_path / "md.mdp").write_text(RUN)
    text = parhelion("run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", "--trace", name, folder=tmp_path, code=4)
    assert f"E194 {name}  cannot be the --trace" in text
    assert not (tmp_path / "md.xtc").exists()


def test_progress_ends_at_the_last_step_and_tells_it_once(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN)
    for steps in (50, 60):  # whether the last step ends a list interval or not
        text = parhelion("run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", "--steps", steps, "-o", f"of{steps}", folder=tmp_path)
        assert text.count(f"100 %  step {steps}/{steps}") == 1


@pytest.mark.parametrize("nsteps,steps", [(-1, []), (20, ["--steps", -1])])
def test_a_run_without_an_end_tells_no_share_of_it(tmp_path, nsteps, steps):
    """--steps -1 is GROMACS' -nsteps -1: no end, whatever the .mdp says."""
    (tmp_path / "md.mdp").write_text(RUN.replace("nsteps = 60", f"nsteps = {nsteps}"))
    input_files = ("-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top")
    text = parhelion("run", *input_files, *steps, "--hours", 0.0003, folder=tmp_path, code=3)
    assert re.search(r"^step \d+  [\d.]+ ps  \d+\.\d K", text, re.M) and "ETA" not in text and " % " not in text.split("us/step")[0]
    if not steps:
        assert re.search(r"forecast: at least \S+ ns/day; no end\n", parhelion("check", *input_files, folder=tmp_path))


def test_a_long_forecast_is_told_in_days(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN.replace("nsteps = 60", "nsteps = 1000000000"))
    text = parhelion("check", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", folder=tmp_path)
    assert re.search(r"forecast: .*; 1000000000 steps in at most \d+ d \d\d h\n", text)


def test_a_minimisation_is_planned_and_forecast_in_words_of_its_own(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN.replace("integrator = md", "integrator = steep").replace("nsteps = 60", "nsteps = 1000000"))
    text = parhelion("check", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", folder=tmp_path)
    assert re.search(r"^pair list rebuilt when an atom has moved by half of the buffer, cut-off 0\.9500 nm \(buffer 0\.0500 nm\)$", text, re.M)
    assert re.search(r"^intervals energies 10 steps$", text, re.M)
    assert re.search(r"^forecast: at least \S+ steps/s; [^;]* for 1000 steps at most, and it ends once no force is above 10 kJ/mol/nm, or after "
                     r"1000000 steps$", text, re.M)
    for word in ("temperature", "centre of mass", " h ", " d "):
        assert word not in text.split("plan ")[1], word


def test_molecules_that_repeat_are_folded(tmp_path):
    (tmp_path / "md.mdp").write_text("integrator = md\ndt = 0.001\nrvdw = 0.9\nrcoulomb = 0.9\nconstraints = none\n")
    blocks = "A 1\nB 3\n" * 20 + "A 2\nA 1\n" + "B 1\nA 1\nC 1\n" * 2 + "".join("ABC"[i * i % 7 % 3] + f" {2 + i * i % 11}\n" for i in range(200))
    types = "".join(f"[ moleculetype ]\n{name} 1\n[ atoms ]\n1 AR 1 {name} {name} 1 0\n" for name in "ABC")
    (tmp_path / "topol.top").write_text("[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nAR AR 18 39.948 0 A 0.1 0.1\n" + types +
                                        "[ system ]\nmany\n[ molecules ]\n" + blocks)
    names = "".join(line.split()[0] * int(line.split()[1]) for line in blocks.splitlines())
    sites = [(x, y, z) for x in range(14) for y in range(14) for z in range(14)]
    (tmp_path / "conf.gro").write_text(f"many\n{len(names)}\n" + "".join(
        f"    1{name:<5}{name:>5}{i % 100000:5}" + "%8.3f%8.3f%8.3f\n" % tuple(0.3 * k for k in site)
        for i, (name, site) in enumerate(zip(names, sites))) + " 4.2 4.2 4.2\n")
    text = parhelion("check", folder=tmp_path)
    molecules = re.search("^molecules (.*)$", text, re.M)[1]
    assert molecules.startswith("20 x (1 x A 3 x B) 3 x A 2 x (1 x B 1 x A 1 x C) ")
    assert re.search(r" and \d+ more blocks$", molecules) and len(molecules) < 400


def test_pipes_take_the_place_of_files(tmp_path):
    """As a shell's <(command), of which each can be read once."""
    (tmp_path / "md.mdp").write_text(RUN)
    shutil.copytree(DATA / "etoh", tmp_path / "etoh")
    files = ["-f", "md.mdp", "-c", "etoh/conf.gro", "-p", "etoh/topol.top"]
    parhelion("energy", *files, "-o", "files", folder=tmp_path)
    piped = " ".join(word if word.startswith("-") else f"<(cat {word})" for word in files)
    done = subprocess.run(["bash", "-c", f"{os.environ['PARHELION_PROGRAM']} energy {piped} -o pipes"], cwd=tmp_path, capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "pipes.energy.json").read_text())["energies"] == json.loads((tmp_path / "files.energy.json").read_text())["energies"]


def test_atoms_that_v_rescale_heats_from_rest_fly_apart_with_the_cause_named(tmp_path):
    """One of many atoms moves a little, and so gets the heat of all."""
    (tmp_path / "md.mdp").write_text("integrator = md\ndt = 0.002\nnsteps = 200\nrvdw = 0.9\nrcoulomb = 0.9\ncomm-mode = none\ntcoupl = v-rescale\n"
                                     "tc-grps = System\ntau-t = 0.1\nref-t = 300\nnsttcouple = 1\nld-seed = 1\n")
    (tmp_path / "topol.top").write_text(
        "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nAR AR 18 39.948 0 A 0.1 0.01\n[ moleculetype ]\nAR 1\n[ atoms ]\n1 AR 1 AR AR 1 0\n"
        "[ system ]\ncrystal\n[ molecules ]\nAR 1000\n")
    sites = [(x, y, z) for x in range(10) for y in range(10) for z in range(10)]
    (tmp_path / "conf.gro").write_text("crystal\n1000\n" + "".join(
        f"    1AR      AR{i + 1:5}" + "%8.3f%8.3f%8.3f" % tuple(0.4 * k for k in site) + ("  0.0100  0.0000  0.0000" if i == 0 else "  0.0000  0.0000  0.0000") +
        "\n" for i, site in enumerate(sites)) + " 4 4 4\n")
    text = parhelion("run", folder=tmp_path, code=5)
    assert re.search(r"E502 step \d+: atom .* The atoms started at \S+ K, and v-rescale heats them to 300 K by multiplying velocities.* Set gen-vel = yes", text), text


@pytest.mark.parametrize("option", ["vdwtype = switch", "vdw-modifier = potential-switch"])
def test_the_switch_of_a_potential_is_that_of_gromacs(tmp_path, option):
    """V S, S = 1 - 10 x^3 + 15 x^4 - 6 x^5, of two atoms; gmx_d 2022.5 has the same energies to 1e-13 kJ/mol, and this dispersion correction."""
    c6, c12 = 2.2e-3, 3.1e-6
    (tmp_path / "md.mdp").write_text(f"integrator = md\ndt = 0.001\nrvdw = 1\nrcoulomb = 1\nrvdw-switch = 0.8\nDispCorr = EnerPres\n{option}\n")
    (tmp_path / "topol.top").write_text(
        f"[ defaults ]\n1 1 no 1 1\n[ atomtypes ]\nA 40 0 A {c6} {c12}\n[ moleculetype ]\nM 1\n[ atoms ]\n1 A 1 M A 1 0 40\n"
        "[ system ]\ntwo atoms\n[ molecules ]\nM 2\n")
    for r in (0.7, 0.85, 0.9, 0.95, 0.99):
        (tmp_path / "conf.gro").write_text("two atoms\n2\n    1M       A     1   1.000   1.000   1.000\n"
                                           f"    2M       A     2{1 + r:8.3f}   1.000   1.000\n 3 3 3\n")
        parhelion("energy", "--precision", "double", folder=tmp_path)
        x = max(0, (r - 0.8) / 0.2)
        s, slope = 1 - 10 * x**3 + 15 * x**4 - 6 * x**5, (-30 * x**2 + 60 * x**3 - 30 * x**4) / 0.2
        potential, force = c12 * r**-12 - c6 * r**-6, 12 * c12 * r**-13 - 6 * c6 * r**-7
        energies = json.loads((tmp_path / "md.energy.json").read_text())["energies"]
        assert energies["LJ (SR)"] == pytest.approx(potential * s, rel=1e-6, abs=1e-12)  # positions are fractions of the box in 32 bits
        assert energies["Disper. corr."] == pytest.approx(-0.000946387151, rel=1e-9)
        assert np.load(tmp_path / "md.forces.npy")[1, 0] == pytest.approx(force * s - potential * slope, rel=1e-6)


ETHANOL = ("-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top")
NPT = RUN + """tcoupl = v-rescale
tc-grps = ETH Water
tau-t = 1 1
ref-t = 300 310
pcoupl = C-rescale
ensemble-temperature = 305
tau-p = 5
compressibility = 4.5e-5
ref-p = 1
"""


SEMI = NPT.replace("compressibility = 4.5e-5\nref-p = 1", "pcoupltype = semiisotropic\ncompressibility = 4.5e-5 0\nref-p = 1 200")
TENSION = SEMI.replace("semiisotropic", "surface-tension").replace("ref-p = 1 200", "ref-p = 600 1")


@pytest.mark.parametrize("mdp, says", [(RUN, "run       0.12 ps NVE, 2 fs, h-bonds constrained\n"),
                                       (NPT, "run       0.12 ps NPT 300/310 K (v-rescale) 1 bar (C-rescale), 2 fs, h-bonds constrained\n"),
                                       (SEMI, "run       0.12 ps NPT 300/310 K (v-rescale) 1/200 bar (C-rescale, semiisotropic), 2 fs, h-bonds constrained\n"),
                                       (TENSION, "run       0.12 ps NPT 300/310 K (v-rescale) 600 bar nm, 1 bar (C-rescale, surface-tension), 2 fs, h-bonds constrained\n"),
                                       (RUN.replace("= md", "= steep"), "run       minimisation (steepest descent), h-bonds constrained, until no force is above 10 kJ/mol/nm or after 60 steps\n")])
def test_a_run_and_its_check_say_what_runs(tmp_path, mdp, says):
    (tmp_path / "md.mdp").write_text(mdp)
    assert says in parhelion("check", *ETHANOL, folder=tmp_path)
    assert says in parhelion("run", *ETHANOL, folder=tmp_path) and says in (tmp_path / "md.log").read_text()


def test_edges_move_as_pcoupltype_says_and_the_energy_file_has_the_surface_tension(tmp_path):
    pyedr = pytest.importorskip("pyedr")
    (tmp_path / "md.mdp").write_text(SEMI)
    parhelion("run", *ETHANOL, folder=tmp_path)
    e = pyedr.edr_to_dict(str(tmp_path / "md.edr"))
    assert (e["Box-X"] == e["Box-Y"]).all() and len(set(e["Box-X"])) > 2
    assert len(set(e["Box-Z"])) == 1  # compressibility 0
    tension = e["Box-Z"] * (e["Pres-ZZ"] - (e["Pres-XX"] + e["Pres-YY"]) / 2)
    assert e["#Surf*SurfTen"] == pytest.approx(tension, rel=1e-4, abs=0.01)  # floats
    assert e["pV"] == pytest.approx(e["Volume"] * (1 + 1 + 200) / 3 / 16.6053907, rel=1e-6)


def test_the_end_of_a_run_says_what_came_out_and_how_to_look_at_it(tmp_path):
    mda = pytest.importorskip("MDAnalysis")
    (tmp_path / "md.mdp").write_text(NPT.replace("nstcalcenergy = 10", "nstcalcenergy = 1"))
    text = parhelion("run", *ETHANOL, "--steps", "1e2", folder=tmp_path)
    assert re.search(r"^100 %  step 100/100  0\.2 ps  \d+\.\d K  -?\d+ bar  \d+\.\d kg/m\^3", text, re.M)
    found = re.search(r"^averages  Temperature (\S+) \+- (\S+) K, Pressure (\S+) \+- (\S+) bar, Density (\S+) \+- (\S+) kg/m\^3, Potential \S+ \+- \S+ kJ/mol\n"
                      r" +\(errors: standard errors of the means of (\d+) blocks of (\d+) energy calculations\)", text, re.M)
    # The same from the energy file.
    pyedr = pytest.importorskip("pyedr")
    report = json.loads((tmp_path / "md.report.json").read_text())["energies"]
    for column, name in enumerate(("Temperature", "Pressure", "Density")):
        assert float(found[2 * column + 1]) == pytest.approx(report[name]["mean"], rel=1e-5)
        assert 0 < float(found[2 * column + 2]) < report[name]["stddev"]
        assert float(found[2 * column + 2]) == pytest.approx(report[name]["error"], rel=0.06)  # two digits
    assert int(found[7]) * int(found[8]) <= 101 < (int(found[7]) + 1) * int(found[8])
    assert set(report["Temperature"]) == {"mean", "stddev", "error"}
    assert "output    md.xtc each 0.02 ps, md.trr each 0.04 ps, md.edr each 0.04 ps, md.log each 2 ps, checkpoint each 15 min\n" in text
    files = re.search(r"^files     (.*)$", text, re.M)[1]
    for name in ("md.xtc", "md.trr", "md.edr", "md.gro", "md.cpt", "md.log", "md.report.json"):
        assert re.search(rf"{name} [\d.]+ [kM]B", files)
    names = {}
    exec(re.search(r"^python    (.*)$", text, re.M)[1].replace('"md', f'"{tmp_path}/md'), names)
    assert len(names["u"].trajectory) == 11 and names["u"].atoms.n_atoms == 3000
    assert pyedr.edr_to_dict(str(tmp_path / "md.edr"))["Time"][-1] == pytest.approx(0.2)


def test_a_trajectory_of_some_atoms_is_not_recommended_with_the_structure_of_all(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN.replace("nstxout = 20", "").replace("nstvout = 20", "").replace("nstfout = 20", "compressed-x-grps = ETH"))
    assert "mda.Universe" not in parhelion("run", *ETHANOL, "--steps", 10, folder=tmp_path)


def test_a_minimisation_shows_energy_force_and_the_longest_it_can_take(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN.replace("= md", "= steep").replace("nsteps = 60", "nsteps = 1000"))
    text = parhelion("run", *ETHANOL, folder=tmp_path)  # takes a second: a line has a speed after a fifth of one
    lines = re.findall(r"^ *\d+ %  step \d+/1000  (-[\d.e+]+) kJ/mol  largest force ([\d.e+]+) kJ/mol/nm(?:  about \d+ steps to go at this rate)?  \S+ steps/s  at most .*s$", text, re.M)
    assert len(lines) >= 5 and "ETA" not in text and "ps  " not in text.split("step 1000/1000")[0].split("read in")[1]
    assert float(lines[-1][0]) < float(lines[0][0])
    final = re.search(r"largest force ([\d.e+]+) kJ/mol/nm \(not converged\)", text)[1]
    last = re.search(r"^100 %  step 1000/1000 .*largest force ([\d.e+]+) ", text, re.M)[1]
    assert float(last) == pytest.approx(float(final), rel=0.01)


def test_neither_the_log_nor_what_goes_to_a_file_has_carriage_returns(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN)
    command = [os.environ.get("PARHELION_PROGRAM", "parhelion"), "run", *map(str, ETHANOL)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120)
    assert result.returncode == 0 and b"100 %" in result.stderr
    for bytes_ in (result.stdout, result.stderr, (tmp_path / "md.log").read_bytes()):
        assert b"\r" not in bytes_


def test_steps_may_be_written_as_people_do(tmp_path):
    (tmp_path / "md.mdp").write_text(RUN)
    assert "10 steps in" in parhelion("run", *ETHANOL, "--steps", "1e1", folder=tmp_path)
    assert "1.5 is not a whole number of steps" in parhelion("run", *ETHANOL, "--steps", "1.5", folder=tmp_path, code=2)


@pytest.mark.parametrize("words, says", [(["mdrun", "-deffnm", "md"], "parhelion run -f md.mdp -c conf.gro -p topol.top -o md"), (["grompp", "-f", "md.mdp"], "parhelion run"),
                                         (["trjconv"], "GROMACS"), (["mdrun", "-s", "topol.tpr"], "parhelion run -s topol.tpr -o md"), (["run", "-maxwarn", "2"], "--allow"),
                                         (["check", "-maxwarn", "2"], "--allow"), (["run", "-deffnm", "md"], "-o PREFIX"),
                                         (["run", "-dd", "2", "2", "1"], "--grid"), (["run", "-time", "10"], "--time")])
def test_habits_from_gromacs_are_answered_by_what_it_is_called_here(tmp_path, words, says):
    assert says in parhelion(*words, folder=tmp_path, code=2)


@pytest.mark.parametrize("option, name, content, says", [
    ("-c", "conf.pdb", b"CRYST1   30.000   30.000   30.000  90.00  90.00  90.00\nATOM      1  N   ALA A   1       1.0     2.0     3.0\n", "PDB format, but -c takes a structure (.gro, or AMBER's rst7)"),
    ("-c", "conf.gro.gz", b"\x1f\x8b\x08\x00", "compressed file (gzip), but -c takes"), ("-f", "md.tpr", b"\0\0\0\x11\0\0\0\x10VERSION 2022.5", "(.tpr), but -f takes run parameters (.mdp)"),
    ("-p", "topol.tpr", b"\0\0\0\x11\0\0\0\x10VERSION 2022.5", "(.tpr), but -p takes a topology (.top, or AMBER's prmtop). Give it with -s")])
def test_a_file_of_another_kind_is_called_what_it_is(tmp_path, option, name, content, says):
    (tmp_path / "md.mdp").write_text(RUN)
    (tmp_path / name).write_bytes(content)
    options = {"-f": "md.mdp", "-c": DATA / "etoh/conf.gro", "-p": DATA / "etoh/topol.top"} | {option: name}
    text = parhelion("check", *[word for pair in options.items() for word in pair], folder=tmp_path, code=4)
    assert f"E115 {name}" in text and says in text


def test_a_tpr_of_gromacs_is_recognised(tmp_path):
    if shutil.which("gmx") is None:
        missing("gmx")
    (tmp_path / "md.mdp").write_text(RUN)
    subprocess.run(["gmx", "-quiet", "grompp", "-f", "md.mdp", *map(str, ETHANOL), "-o", "md.tpr", "-maxwarn", "5"], cwd=tmp_path, capture_output=True, check=True)
    assert "a run input file of GROMACS (.tpr)" in parhelion("check", "-c", "md.tpr", "-p", DATA / "etoh/topol.top", folder=tmp_path, code=4)


def test_an_interval_of_one_step_need_not_be_lowered(tmp_path):
    (tmp_path / "md.mdp").write_text(NPT.replace("tau-p = 5", "tau-p = 0.01\nnstpcouple = 1"))
    text = parhelion("check", *ETHANOL, folder=tmp_path, code=4)
    assert "W112" in text and "raise tau-p" in text and "lower nstpcouple" not in text


def test_names_may_be_in_another_encoding_than_utf_8(tmp_path):
    (tmp_path / "md.mdp").write_bytes((RUN + "tcoupl = v-rescale\ntc-grps = W\xe4rme\ntau-t = 1\nref-t = 300\n").encode("latin-1"))
    (tmp_path / "index.ndx").write_bytes(b"[ W\xe4rme ]\n" + " ".join(map(str, range(1, 3001))).encode())
    for steps in (20, 40):  # the second time from a checkpoint
        program = os.environ["PARHELION_PROGRAM"]
        command = [program, "run", "-q", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", "-n", "index.ndx", "--steps", str(steps)]
        assert subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120).returncode == 0
    assert "T-W\ufffdrme" in json.loads((tmp_path / "md.report.json").read_text())["energies"]


def test_an_mdp_may_begin_with_a_byte_order_mark(tmp_path):
    (tmp_path / "md.mdp").write_text("\ufeff" + RUN.lstrip(), encoding="utf-8")
    parhelion("check", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", folder=tmp_path)


def test_the_log_says_what_was_run(run):
    folder, _ = run
    log = (folder / "md.log").read_text()
    for pattern in (r"started +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", r"parameters +md\.mdp", r"topology +\S*etoh/topol\.top", r"\ndt +=? *0\.002\n",
                    r"\nepsilon-rf +=? *0\n", r"seed \d+"):
        assert re.search(pattern, log), pattern


def ions(folder, charge, mdp="", x=(1.0, 1.3)):
    """Two ions without Lennard-Jones parameters, on a line."""
    (folder / "md.mdp").write_text("integrator = md\ndt = 0.001\nnsteps = 1\nrvdw = 0.9\nrcoulomb = 0.9\nDispCorr = no\ncoulombtype = reaction-field\n"
                                   "epsilon-rf = 0\ncomm-mode = None\n" + mdp)
    (folder / "topol.top").write_text(
        "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nI I 18 39.948 0 A 0.3 1\n[ moleculetype ]\nI 1\n[ atoms ]\n1 I 1 ION I1 1 %g\n"
        "[ system ]\ntwo ions\n[ molecules ]\nI 2\n" % charge)
    (folder / "conf.gro").write_text(
        "two ions\n2\n    1ION     I1    1%8.3f   1.000   1.000\n    2ION     I1    2%8.3f   1.000   1.000\n 3 3 3\n" % x)


@pytest.mark.parametrize("command", ["energy", "check", "run"])
@pytest.mark.parametrize("integrator", ["md", "steep"])
def test_results_that_are_no_numbers_are_an_error_that_names_the_atoms(tmp_path, command, integrator):
    ions(tmp_path, 1e19)
    text = (tmp_path / "md.mdp").read_text()
    (tmp_path / "md.mdp").write_text(text.replace("= md", f"= {integrator}"))
    text = parhelion(command, folder=tmp_path, code=5)
    assert re.search(r"^E5(02|11) step 0: .*atom [12] I1 of residue [12] ION.* Nearest to .*atom [12] I1", text, re.M)
    assert not (tmp_path / "md.energy.json").exists()


def test_atoms_in_one_place_are_named_and_parted_by_a_minimisation_only(tmp_path):
    ions(tmp_path, 1, x=(1.0, 1.0))
    for command in ("energy", "check", "run"):
        text = parhelion(command, folder=tmp_path, code=4)
        assert re.search(r"^E155 conf\.gro:4 .*atom 1 I1 of residue 1 ION and atom 2 I1 of residue 2 ION", text, re.M)
    ions(tmp_path, 1, x=(1.0, 1.0), mdp="nstenergy = 1\n")
    text = (tmp_path / "md.mdp").read_text()
    (tmp_path / "md.mdp").write_text(text.replace("= md", "= steep"))
    assert "W127 conf.gro:4" in parhelion("run", "--steps", 50, folder=tmp_path, code=4)
    parhelion("run", "--steps", 50, "--allow", "W127", folder=tmp_path)
    x = [[float(line[20 + 11 * k : 31 + 11 * k]) for k in range(3)] for line in (tmp_path / "md.gro").read_text().splitlines()[2:4]]
    assert np.linalg.norm(np.subtract(*x)) > 0.2  # where they repel each other no more than neighbours do


def test_what_is_about_motion_stops_a_run_but_not_an_energy(tmp_path):
    ions(tmp_path, 0, mdp="tcoupl = berendsen\ntc-grps = System\ntau-t = 1\nref-t = 300\npcoupl = Parrinello-Rahman\ncompressibility = 4.5\nref-p = 1\n"
                            "gen-vel = yes\n")
    for command in ("check", "run"):
        text = parhelion(command, folder=tmp_path, code=4)
        for id in ("W113", "W115", "W117", "W119"):
            assert f"warning: {id}" in text and f"--allow {id}" in text
    text = parhelion("energy", "--precision", "double", folder=tmp_path)
    assert "note: W117" in text and "warning" not in text


def test_a_start_without_velocities_is_a_start_at_rest(tmp_path):
    ions(tmp_path, 0)
    assert "N133" in parhelion("check", folder=tmp_path)
    parhelion("run", folder=tmp_path)


def test_a_run_says_that_there_are_notes_on_its_input(tmp_path):
    """At 5 fs the bonds between heavy atoms take six steps a period."""
    (tmp_path / "md.mdp").write_text(RUN.replace("dt = 0.002", "dt = 0.005").replace("nsteps = 60", "nsteps = 5"))
    text = parhelion("run", "-c", DATA / "etoh/conf.gro", "-p", DATA / "etoh/topol.top", folder=tmp_path)
    assert "1 note on the input: see md.log" in text and "N122 md.mdp" in (tmp_path / "md.log").read_text()


def test_two_atoms_that_exclude_each_other_and_leave_the_cutoff_of_pme_end_the_run(tmp_path):
    """Two halves of a molecule, with no bond, fly apart; the mesh acts between them, beyond rcoulomb with nothing to take it away."""
    (tmp_path / "topol.top").write_text("""[ defaults ]
1 2 no 1 1
[ atomtypes ]
A 20.0 0.0 A 0.3 0.1
[ moleculetype ]
TWO 1
[ atoms ]
1 A 1 TWO A1 1 0.5 20
2 A 1 TWO A2 2 -0.5 20
[ exclusions ]
1 2
[ system ]
two
[ molecules ]
TWO 1
""")
    atoms = "".join(f"    1TWO     A{i}    {i}   {x:5.3f}   2.000   2.000{v:8.4f}  0.0000  0.0000\n" for i, x, v in ((1, 1.8, -1), (2, 2.2, 1)))
    (tmp_path / "conf.gro").write_text(f"two\n    2\n{atoms}   4.00000   4.00000   4.00000\n")
    settings = "coulombtype = PME\nrcoulomb = 0.9\nrvdw = 0.9\ncomm-mode = None\nnstlog = 0\nnstxout = 100\ndt = 0.002\n"
    (tmp_path / "md.mdp").write_text(settings + "nsteps = 100\n")
    assert "E543" not in parhelion("run", "-q", folder=tmp_path)  # 0.8 nm apart
    (tmp_path / "md.mdp").write_text(settings + "nsteps = 300\n")
    text = parhelion("run", "-q", "--new", folder=tmp_path, code=5)
    assert "E543 step 200: atom 1 A1" in text and "and atom 2 A2" in text and "nm apart, beyond rcoulomb (0.9 nm)" in text
