# SPDX-License-Identifier: Apache-2.0
"""`parhelion tune`: what it prints and writes, and that the command line which it ends with runs."""
import json
import os
import re
import shlex
import subprocess

import pytest

from runs import DATA, SHORT

PROGRAM = os.environ.get("PARHELION_PROGRAM", "")
if not PROGRAM:
    pytest.skip("$PARHELION_PROGRAM is not set", allow_module_level=True)
INPUT = ["-f", "a file.mdp", "-c", str(DATA / "conf.gro"), "-p", str(DATA / "topol.top")]


def tune(folder, *words, code=0, mdp=SHORT):
    (folder / "a file.mdp").write_text(mdp)
    done = subprocess.run([PROGRAM, "tune", *INPUT, "--device", "cpu", "--threads", "2", *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned")
    text = tune(folder, "--seconds", 30, "--json", "lines.jsonl", mdp=SHORT.replace("verlet-buffer-tolerance = -1\nrlist = 0.7\n", ""))
    return folder, text, list(map(json.loads, (folder / "lines.jsonl").read_text().splitlines()))


def test_the_table_has_every_way_and_the_json_has_its_windows(tuned):
    folder, text, lines = tuned
    *tries, result = lines
    assert [one["way"] for one in tries[:3]] == ["--device cpu --threads 2", "--device cpu --threads 1", "--device cpu --ranks 2 --threads 1"]
    for one in tries:
        samples = one["us_per_step_samples"]
        assert len(samples) == 6 or (len(samples) == 3 and f"{one['ns_per_day']:.2f}" in text)  # six: measured once more, after its row
        assert sorted(samples)[(len(samples) - 1) // 2] == one["us_per_step"]
        assert re.search(rf"^{re.escape(one['way'])} ", text, re.M)
    assert sum(one["fastest"] for one in tries) == 1 and result["case"] == "tune result"
    assert all(way in text for way in result["not_tried"])
    assert {path.name for path in folder.iterdir()} == {"a file.mdp", "lines.jsonl"}  # nothing else was written


def test_what_is_not_faster_beyond_doubt_is_not_called_so(tuned):
    _, text, (*tries, _) = tuned
    best = next(one for one in tries if one["fastest"])
    if best is tries[0]:
        assert "Nothing is faster than the default" in text
    else:
        assert max(best["us_per_step_samples"]) < min(tries[0]["us_per_step_samples"]) and "faster than the default" in text


def test_the_command_line_runs(tuned):
    folder, text, lines = tuned
    command = lines[-1]["command"]
    assert command in text.splitlines() and "'a file.mdp'" in command
    words = shlex.split(command)
    subprocess.run([PROGRAM, *words[1:], "-q", "--steps", "2", "-o", "after"], cwd=folder, check=True, capture_output=True, timeout=120)


def test_longer_lists_are_a_line_of_the_mdp(tuned):
    _, text, lines = tuned
    longer = [one for one in lines[:-1] if one["nstlist"] > 0]
    assert longer or lines[-1]["not_tried"]
    for one in longer:
        assert one["list_interval"] >= one["nstlist"] and f"(nstlist = {one['nstlist']})" in text and "nstlist" not in one["options"]


def test_a_minimisation_is_refused(tmp_path):
    assert "E200" in tune(tmp_path, "--seconds", 5, mdp=SHORT.replace("integrator = md", "integrator = steep"), code=4)
