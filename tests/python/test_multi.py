# SPDX-License-Identifier: Apache-2.0
"""`parhelion run --multi`: several folders in one process, how it ends when one fails or all are stopped, and that it can be continued.

The program is $PARHELION_PROGRAM.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import time

import pytest

from runs import DATA, SHORT

PROGRAM = os.environ.get("PARHELION_PROGRAM", "")
if not PROGRAM:
    pytest.skip("$PARHELION_PROGRAM is not set", allow_module_level=True)
OUTPUTS = ("md.xtc", "md.trr", "md.edr", "md.gro")


@pytest.fixture
def folders(tmp_path):
    """Three folders with an input each, which differ in their random numbers."""
    for number, name in enumerate("ABC"):
        (tmp_path / name).mkdir()
        for file in ("conf.gro", "topol.top"):
            shutil.copy(DATA / file, tmp_path / name)
        (tmp_path / name / "md.mdp").write_text(SHORT.replace("ld-seed = 7", f"ld-seed = {number + 1}"))
    return tmp_path


def multi(folder, *words, code=0):
    done = subprocess.run([PROGRAM, "run", "--threads", "1", "--multi", *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def outputs(folder):
    return {name: (folder / name).read_bytes() for name in OUTPUTS}


def test_each_folder_has_the_files_of_a_run_by_itself(folders):
    done = multi(folders, "A", "B", "C", "--multi-at-once", 2)
    assert "3 of 3 runs are done" in done.stdout
    assert re.search(r"^A: done, step 60, [\d.]+ ns/day", done.stdout, re.MULTILINE)
    assert sorted(path.name for path in folders.iterdir()) == ["A", "B", "C"]
    beside = {name: outputs(folders / name) for name in "ABC"}
    assert len({run["md.xtc"] for run in beside.values()}) == 3
    for name in "ABC":
        alone = subprocess.run([PROGRAM, "run", "--threads", "1", "-q", "--new"], cwd=folders / name, timeout=300)
        assert alone.returncode == 0 and outputs(folders / name) == beside[name]
    again = multi(folders, "A", "B", "C")
    assert again.stdout.count("was complete, step 60") == 6  # when it ends, and in the last lines


def test_one_that_fails_ends_no_other(folders):
    (folders / "B" / "md.mdp").write_text("integrator = sd2\n")
    done = multi(folders, "A", "B", "C", code=4)
    assert re.search(r"^B: .*E\d+", done.stderr, re.MULTILINE)
    assert done.stderr.splitlines()[-1] == "failed: B"
    assert "2 of 3 runs are done" in done.stdout and re.search(r"^B: failed: ", done.stdout, re.MULTILINE)
    assert all((folders / name / "md.gro").exists() for name in "AC")
    quiet = multi(folders, "B", "C", "-q", code=4)
    assert quiet.stdout == "" and quiet.stderr.splitlines()[-1] == "failed: B"


def test_one_signal_stops_all_and_the_same_command_goes_on(folders):
    for name in "ABC":
        text = (folders / name / "md.mdp").read_text()
        (folders / name / "md.mdp").write_text(text.replace("nsteps = 60", "nsteps = 100000"))
    words = [PROGRAM, "run", "--threads", "1", "--reproducible", "--multi", "A", "B", "C", "--multi-at-once", "2"]
    run = subprocess.Popen(words, cwd=folders, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    until = time.monotonic() + 120
    while not all((folders / name / "md.status.json").exists() for name in "AB") and time.monotonic() < until:
        time.sleep(0.05)
    run.send_signal(signal.SIGTERM)
    text, _ = run.communicate(timeout=120)
    assert run.returncode == 3, text
    assert "stopped; run the same command to continue" in text and re.search(r"^C: not begun", text, re.MULTILINE)
    assert all((folders / name / "md.cpt").exists() for name in "AB") and not (folders / "C" / "md.log").exists()
    reached = {name: int(re.search(rf"^{name}: stopped, step (\d+)", text, re.MULTILINE)[1]) for name in "AB"}
    done = multi(folders, "A", "B", "C", "--reproducible", "--steps", max(reached.values()) + 20)
    assert all(re.search(rf"^{name}: continuing at step", done.stderr, re.MULTILINE) for name in "AB")
    for name in "AB":
        beside = outputs(folders / name)
        alone = subprocess.run([PROGRAM, "run", "--threads", "1", "-q", "--new", "--reproducible", "--steps", str(max(reached.values()) + 20)],
                               cwd=folders / name, timeout=300)
        assert alone.returncode == 0 and outputs(folders / name) == beside


def test_what_does_not_go_together_is_refused_before_anything_begins(folders):
    for words, code, text in ((["A", "nowhere"], 4, "E220"), (["A", "B/../A"], 4, "E221"), (["A", "B", "-o", folders / "md"], 4, "E221"),
                              (["A", "B", "--processes", 2], 2, "E010"), (["A", "B", "--nodes", "2x1", "--transport", "nic-emulation"], 2, "E010"),
                              (["A", "--json"], 2, "--json"), (["A", "--imd", 0], 2, "--imd")):
        done = multi(folders, *words, code=code)
        assert text in done.stderr + done.stdout
    assert subprocess.run([PROGRAM, "run", "--multi-at-once", "2"], cwd=folders, capture_output=True).returncode == 2
    assert not any((folders / name / "md.log").exists() for name in "ABC")


def test_bench_multi_counts_what_all_do_together(tmp_path):
    done = subprocess.run([PROGRAM, "bench", "multi", "--device", "cpu", "--atoms", "3000", "--runs", "1", "2", "--seconds", "1", "--repetitions", "1",
                           "--json", "lines.jsonl"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    lines = list(map(json.loads, (tmp_path / "lines.jsonl").read_text().splitlines()))
    assert [line["runs"] for line in lines] == [1, 2]
    for line in lines:
        assert len(line["ns_per_day_of_runs"]) == line["runs"] and min(line["ns_per_day_of_runs"]) > 0
        assert line["ns_per_day"] == pytest.approx(sum(line["ns_per_day_of_runs"]))
        assert line["ns_per_day_samples"] == [pytest.approx(line["ns_per_day"])]
        assert line["us_per_step_of_one"] == pytest.approx(86400 * line["timestep_in_fs"] * line["runs"] / line["ns_per_day"])
    assert lines[0]["ratio"] == 1
