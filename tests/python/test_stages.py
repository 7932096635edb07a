# SPDX-License-Identifier: Apache-2.0
"""Folders of the kinds that people have run through all their stages as they are, and their energies are those of gmx_d.

The folders are small ones of stage_folders.py; tools/run_stages.py runs them, as it does full ones. The program is $PARHELION_PROGRAM; runs
are on $PARHELION_DEVICE (default: cpu), where what it names can run there.
"""
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import stage_folders

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
from energy_file import read_energies  # noqa: E402
from visible_gpus import visible_gpus  # noqa: E402

# grompp leaves Fourier dihedrals a name of their own; here they are read as the Ryckaert-Bellemans dihedrals that they equal.
NAMES = {"Fourier Dih.": "Ryckaert-Bell."}
TERMS = json.loads((ROOT / "tests" / "data" / "stages" / "terms.json").read_text())
TOOL = ROOT / "tools" / "run_stages.py"
DEVICE = os.environ.get("PARHELION_DEVICE", "cpu")
if DEVICE == "gpu" and not visible_gpus():
    pytest.skip("needs a GPU", allow_module_level=True)
GENERAL = 1e-11  # relative; sums of 1e5 terms that cancel to some per cent: 1e-12 was seen
# gmx_d takes 1-4 pairs from tables. Its Coulomb (SR) of PME is a difference of terms a hundred times as large, with which it is 2e-5 kJ/mol
# off: for the peptide with 4 fs a direct sum with the error function of the C library is 1.4e-13 (relative) from ours, 4e-9 from gmx_d.
LESS = {"LJ-14": 1e-7, "Coulomb-14": 1e-10, "Coulomb (SR)": 3e-8, "Potential": 1e-7}


def program():
    if "PARHELION_PROGRAM" not in os.environ:
        pytest.skip("$PARHELION_PROGRAM is not set")
    return os.environ["PARHELION_PROGRAM"]


def tool(*words):
    return subprocess.run([sys.executable, "-B", TOOL, *map(str, words)], capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("kind", stage_folders.KINDS)
def test_each_term_is_gromacs(kind, tmp_path):
    stage_folders.write(kind, tmp_path)
    stage_folders.single_point(kind, tmp_path)
    words = ["energy", "--device", "cpu", "--precision", "double", "-f", "point.mdp", "-c", "conf.gro", "-r", "reference.gro", "-p", "topol.top", "-n", "index.ndx", "-o", "p"]
    result = subprocess.run([program(), *words], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    ours = json.loads((tmp_path / "p.energy.json").read_text())["energies"]
    for term, value in TERMS[kind].items():
        exact = kind in ("Martini", "polymer melt")  # neither PME nor 1-4 pairs
        assert ours[NAMES.get(term, term)] == pytest.approx(value, rel=GENERAL if exact else LESS.get(term, GENERAL), abs=1e-12), term


def energies(path):
    """The samples of each term."""
    names, samples = read_energies(path)
    return {name: [sample.means[i] for sample in samples] for i, name in enumerate(names)}


@pytest.mark.parametrize("kind", stage_folders.KINDS)
def test_a_folder_runs_through_all_its_stages(kind, tmp_path):
    folder, out = tmp_path / "folder", tmp_path / "out"
    stage_folders.write(kind, folder)
    result = tool("run", program(), folder, out, "--steps", 20, "--start", "conf.gro", "--options", f"--device {DEVICE} --threads 1")
    assert result.returncode == 0, result.stdout + result.stderr
    stages = [line.split()[0] for line in (folder / "stages.txt").read_text().splitlines()]
    lines = [json.loads(line) for line in (out / "stages.jsonl").read_text().splitlines()]
    assert [line["stage"] for line in lines] == [*stages, f"{stages[-1]}.run1"]
    for line in lines:
        assert line["exit"] == 0 and 0 < line["steps"] <= 20, line
        assert line["device"] == DEVICE, line
    for stage in stages[1:]:
        assert all(50 < temperature < 1000 for temperature in energies(out / f"{stage}.edr")["Temperature"]), stage


def test_a_stage_that_fails_ends_the_folder(tmp_path):
    folder, out = tmp_path / "folder", tmp_path / "out"
    stage_folders.write("peptide 4 fs", folder)
    (folder / "nvt.mdp").write_text("integrator = unheard-of\n")
    result = tool("run", program(), folder, out, "--steps", 5)
    assert result.returncode == 1 and "exit code 4" in result.stdout, result.stdout
    assert [json.loads(line)["exit"] for line in (out / "stages.jsonl").read_text().splitlines()] == [0, 4]


# --- averages

def simulate(path, temperature, seed, steps=1500, **more):
    """A ps of a peptide in water; the .edr file."""
    stage_folders.write("peptide 4 fs", path)
    options = {**stage_folders.MD, "nsteps": steps, **stage_folders.DRAWN, "gen-seed": seed, "ld-seed": seed, "dt": 0.001, "coulombtype": "cut-off", "tcoupl": "v-rescale", "tc-grps": "System",
               "tau-t": 0.05, "ref-t": temperature, "gen-temp": temperature, **more}
    (path / "md.mdp").write_text(stage_folders.mdp(options))
    (path / "em.mdp").write_text(stage_folders.mdp({**stage_folders.STEEP, "coulombtype": "cut-off"}))
    for words in [("-f", "em.mdp", "-c", "conf.gro", "-o", "em"), ("-f", "md.mdp", "-c", "em.gro", "-o", "md")]:
        result = subprocess.run([program(), "run", "-q", "--device", "cpu", "--threads", "1", "-p", "topol.top", "--allow", "W125", *words], cwd=path, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
    return path / "md.edr"


def test_averages_of_one_state_agree_and_those_of_another_do_not(tmp_path):
    ours = [simulate(tmp_path / str(seed), 300, seed) for seed in (1, 2, 3)]
    same, hotter = ([simulate(tmp_path / f"{temperature}K{seed}", temperature, seed) for seed in (4, 5, 6)] for temperature in (300, 330))
    agrees = tool("compare", *ours, "--with", *same, "--from", 0.5, "--json", tmp_path / "same.jsonl")
    verdicts = {line["term"]: line["within"] for line in map(json.loads, (tmp_path / "same.jsonl").read_text().splitlines())}
    assert verdicts["Temperature"] and verdicts["Potential"] and "Conserved En." not in verdicts, agrees.stdout
    differs = tool("compare", *ours, "--with", *hotter, "--from", 0.5, "--json", tmp_path / "hotter.jsonl")
    lines = {line["term"]: line for line in map(json.loads, (tmp_path / "hotter.jsonl").read_text().splitlines())}
    assert differs.returncode == 1 and not lines["Temperature"]["within"] and lines["Temperature"]["distance"] < -3, differs.stdout
    assert "OUTSIDE" in differs.stdout
    few = tool("compare", ours[0], "--with", hotter[0], "--from", 0.5)
    assert "UNDECIDED" in few.stdout and "UNDECIDED" not in differs.stdout, few.stdout
    short = tool("compare", *ours, "--with", *same, "--from", 1.49)
    assert short.returncode == 1 and "simulate longer" in short.stderr


def test_energy_files_are_read_as_by_others(tmp_path):
    pyedr = pytest.importorskip("pyedr")
    path = simulate(tmp_path, 300, 1, steps=50)
    names, samples = read_energies(path)
    theirs = pyedr.edr_to_dict(str(path))
    assert [sample.time for sample in samples] == pytest.approx(list(theirs["Time"])) and set(names) == set(theirs) - {"Time"}
    assert [sample.count for sample in samples] == [1] * 6  # in every frame the energies of its step
    for name, values in energies(path).items():
        assert values == pytest.approx(list(theirs[name]), rel=1e-12), name
    # A frame that was cut is left out.
    path.write_bytes(path.read_bytes()[:-9])
    assert len(read_energies(path)[1]) == len(samples) - 1


def test_a_sample_is_the_mean_since_the_one_before(tmp_path):
    _, samples = read_energies(simulate(tmp_path, 300, 1, steps=40, nstcalcenergy=5, nstenergy=20))
    assert [(sample.time, sample.count) for sample in samples] == [(0, 1), (pytest.approx(0.02), 4), (pytest.approx(0.04), 4)]
    report = json.loads((tmp_path / "md.report.json").read_text())["energies"]
    values = energies(tmp_path / "md.edr")
    for term in ("Potential", "Temperature", "Pressure"):
        mean = sum(value * sample.count for value, sample in zip(values[term], samples)) / 9
        assert mean == pytest.approx(report[term]["mean"], rel=1e-12), term


def test_files_in_single_precision_are_read(tmp_path):
    """As mixed-precision GROMACS writes them: one frame with a value alone, one with the sum of four."""
    def text(word):
        return struct.pack(">i", len(word)) + word.encode().ljust((len(word) + 3) // 4 * 4, b"\0")

    def frame(time, step, count, values):
        head = struct.pack(">fiidqiqd", -2e10, -7777777, 5, time, step, count, 4, 0.002)
        return head + struct.pack(">6i", 1, 0, 0, 0, 0, 0) + struct.pack(f">{len(values)}f", *values)

    path = tmp_path / "md.edr"
    path.write_bytes(struct.pack(">3i", -55555, 5, 1) + text("Volume") + text("nm^3") + frame(0.5, 0, 0, [8.25]) + frame(1.5, 4, 4, [8, 0.5, 34]))
    names, samples = read_energies(path)
    assert names == ["Volume"] and [(s.time, s.count, s.means) for s in samples] == [(0.5, 1, [8.25]), (1.5, 4, [8.5])]
