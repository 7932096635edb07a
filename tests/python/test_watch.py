# SPDX-License-Identifier: Apache-2.0
"""`parhelion watch`: a line for what a run says of itself, until it ends, and how it has ended."""
import json
import os
import re
import signal
import subprocess
import time

import pytest

from runs import SHORT, command, folder_with, run


def watch(folder, code=0, prefix="md"):
    result = subprocess.run([os.environ["PARHELION_PROGRAM"], "watch", prefix], cwd=folder, capture_output=True, text=True, timeout=120)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


def begun(folder):
    """A run that would go on for hours, once it says how fast it is."""
    process = subprocess.Popen(command("-q", "--threads", 1, "--steps", 1000000), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    status = folder / "md.status.json"
    for _ in range(2000):
        if status.exists() and json.loads(status.read_text())["ns_per_day"]:
            return process
        time.sleep(0.05)
    process.kill()
    pytest.fail("the run says nothing")


def test_a_run_that_is_watched_shows_its_steps_and_how_it_ends(tmp_path):
    folder = folder_with(SHORT, tmp_path)
    process = begun(folder)
    watcher = subprocess.Popen([os.environ["PARHELION_PROGRAM"], "watch", "md"], cwd=folder, stdout=subprocess.PIPE, text=True)
    seen = [watcher.stdout.readline(), watcher.stdout.readline()]
    for line in seen:
        assert re.fullmatch(r" *\d+ %  step \d+/1000000  \S+ ps  \S+ K  \S+ bar  \S+ kg/m\^3  \S+ ns/day  ETA .*\n", line), line
    assert seen[0] != seen[1]
    process.send_signal(signal.SIGTERM)
    rest = watcher.communicate(timeout=120)[0]
    assert process.wait(timeout=120) == 3 and watcher.returncode == 3
    assert rest.endswith("stopped; the same command goes on\n")
    status = json.loads((folder / "md.status.json").read_text())
    assert status["state"] == "stopped" and status["pid"] == process.pid
    assert not list(folder.glob("*.tmp"))


def test_a_run_that_was_killed_is_known_to_be_gone(tmp_path):
    process = begun(folder_with(SHORT, tmp_path))
    process.kill()
    process.wait()
    assert re.search(rf"E601 md: the run has failed, its process {process.pid} is gone: it was killed", watch(tmp_path, code=6))


def test_runs_that_are_over(tmp_path):
    run(folder_with(SHORT, tmp_path), "-q", "--threads", 1)
    assert re.fullmatch(r"100 %  step 60/60  0\.12 ps .*\ndone\n", watch(tmp_path))
    status = tmp_path / "md.status.json"
    status.write_text(status.read_text().replace('"done"', '"failed"').replace('"pid"', '"error": "E502 \\u001b[2J step 5", "pid"'))
    assert "E601 md: the run has failed: E502 ?[2J step 5" in watch(tmp_path, code=6)


def test_nothing_to_watch(tmp_path):
    assert re.search(r"E187 md +is the prefix of no run", watch(tmp_path, code=4))
    (tmp_path / "md.status.json").write_text("{")
    assert "E186 md.status.json" in watch(tmp_path, code=4)
