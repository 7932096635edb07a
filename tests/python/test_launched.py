# SPDX-License-Identifier: Apache-2.0
"""Runs on CPUs whose processes a launcher has started, on loopback: the same bytes as in one process, one writer, and one sentence of rank
0's process if one fails, is killed or stopped, or does not belong.

The program is $PARHELION_PROGRAM. 4 processes are killed or stopped at random moments, or as many as PARHELION_TEST_KILLS says;
PARHELION_TEST_SEED repeats a failure.
"""
import json
import os
import random
import re
import signal
import time

import pytest

from launchers import AT_ONCE, DEADLINE, FAR, ends, launch, wait_until_begun
from runs import RUN, assert_same_outputs, by_night, folder_with, run, step_reached

LOST = r"E601 The process of rank {} on \S+ has (ended, or its connection is lost|been silent for [\d.]+ s)\."


@pytest.mark.parametrize("options", [by_night([2]), [3, "--ranks", 4, "--halo", "staged-fused"], [3, "--grid", "1x1x3", "--halo", "staged-host"]], ids=str)
def test_outputs_are_those_of_one_process(in_one, tmp_path, options):
    folder = folder_with(RUN, tmp_path)
    assert "".join(ends(launch(folder, *options, timeout=f"{FAR}s"))) == ""
    assert_same_outputs(folder, in_one)
    assert "\ntransport tcp\n" in (folder / "md.log").read_text()
    assert json.loads((folder / "md.report.json").read_text())["transport"] == "tcp"
    assert list(folder.glob("*.secret*")) == []


def test_outputs_with_pme_are_those_of_one_process(tmp_path):
    pme = RUN.replace("reaction-field", "PME").replace("epsilon-rf = 0\n", "").replace("nsteps = 400", "nsteps = 100")
    folders = [folder_with(pme, tmp_path / name) for name in ["one", "launched"]]
    run(folders[0], "-q", "--threads", 1)
    ends(launch(folders[1], 3, timeout=f"{FAR}s"))
    for name in ["md.xtc", "md.trr", "md.edr", "md.gro"]:
        assert folders[0].joinpath(name).read_bytes() == folders[1].joinpath(name).read_bytes()


def test_a_run_is_gone_on_with_and_complete(in_one, tmp_path):
    folder = folder_with(RUN, tmp_path)
    run(folder, "-q", "--processes", 2, "--threads", 1, "--steps", 100)
    ends(launch(folder, 2, "--steps", 250, timeout=f"{FAR}s"))
    assert step_reached(folder) == 250
    run(folder, "-q", "--threads", 1)
    assert_same_outputs(folder, in_one)
    first, other = ends(launch(folder, 2, timeout=f"{FAR}s"))
    assert "this run is complete" in first and other == ""


def test_errors_are_told_once_with_their_exit_codes(tmp_path):
    folder = folder_with(RUN.replace("tcoupl", "tcuopl"), tmp_path)
    first, *others = ends(launch(folder, 3, timeout=f"{FAR}s"), code=4)
    assert first.count("E104") == 1 and others == ["", ""]
    folder = folder_with(RUN.replace("dt = 0.002", "dt = 0.012"), tmp_path / "hot")
    first, other = ends(launch(folder, 2, "--allow", "W122", timeout=f"{FAR}s"), code=5)
    blow_ups = re.findall("^E501 .*$", first, re.MULTILINE)
    assert len(blow_ups) == 1 and other == ""
    assert blow_ups[0] in (folder / "md.log").read_text()


def test_processes_that_read_different_files_are_refused(tmp_path):
    folders = [folder_with(RUN, tmp_path / "here"), folder_with(RUN.replace("dt = 0.002", "dt = 0.001"), tmp_path / "there")]
    secret = tmp_path / "secret"
    secret.touch(mode=0o600)
    secret.write_text("some sixteen characters and more\n")
    said = "".join(ends(launch(None, 2, folders=folders, timeout=f"{FAR}s", PARHELION_SECRET_FILE=str(secret)), code=4))
    assert said.count("E212") == 1 and "dt: 0.002" in said and "dt: 0.001" in said
    assert not (folders[0] / "md.xtc").exists()


def test_a_process_with_another_secret_is_turned_away(tmp_path):
    folders = [folder_with(RUN, tmp_path / name) for name in "ab"]
    for number, folder in enumerate(folders):
        (folder / "secret").touch(mode=0o600)
        (folder / "secret").write_text(f"some sixteen characters and {number}\n")
    first, other = ends(launch(None, 2, folders=folders, PARHELION_SECRET_FILE="secret"), code=6)
    assert re.search("^note: A connection from 127.0.0.1 was turned away: who called has another secret.", first)
    assert re.search(r"^E601 The process of rank 1 has not come to 127.0.0.1:\d+ within 3 s \(1 of 2 ranks are there\)", first, re.MULTILINE)
    assert re.fullmatch(r"E601 Rank 1 was turned away at 127.0.0.1:\d+: its secret is another one\.\n", other)
    (folders[0] / "secret").chmod(0o644)
    assert "chmod 600" in run_one(folders[0], PARHELION_SECRET_FILE="secret")


def run_one(folder, **environment):
    """The first of two, alone."""
    process = launch(folder, 1, WORLD_SIZE="2", **environment)
    return "".join(ends(process, code=6))


def test_who_does_not_come_is_named(tmp_path):
    assert re.match(r"E601 The process of rank 1 has not come to 127.0.0.1:\d+ within 3 s", run_one(folder_with(RUN, tmp_path)))
    assert list(tmp_path.glob("*.secret*")) == []


def test_variables_that_say_too_little_are_refused(tmp_path):
    folder = folder_with(RUN, tmp_path)
    assert "E210" in "".join(ends(launch(folder, 1, PARHELION_RANK="0", PARHELION_SIZE="2"), code=4))
    assert "E010" in "".join(ends(launch(folder, 1, "--processes", 2, WORLD_SIZE="2"), code=2))


@pytest.mark.parametrize("victim", [0, 1])
@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSTOP])
def test_a_lost_process_is_named(tmp_path, victim, blow):
    folder = folder_with(RUN, tmp_path)
    processes = launch(folder, 3, "--steps", 1000000, timeout=deadline_for(blow))
    wait_until_begun(processes, folder)
    expect_named(processes, victim, blow)
    if victim != 0:
        assert re.search(LOST.format(victim)[5:], (folder / "md.log").read_text())


def deadline_for(blow):
    """Who is killed is missed at once; who is stopped is missed when it has been silent for about the deadline."""
    return f"{DEADLINE if blow == signal.SIGSTOP else FAR}s"


def expect_named(processes, victim, blow):
    """One sentence of rank 0's process, or of every other one if it is lost."""
    lost = processes[victim]
    lost.send_signal(blow)
    others = [p for p in processes if p is not lost]
    try:
        said = ends(others, code=6, seconds=AT_ONCE)
    finally:
        lost.kill()
        lost.communicate()
    named = rf"^E601 .*rank {victim}\b.*$"
    if victim == 0:
        assert all(len(re.findall(named, text, re.MULTILINE)) == 1 for text in said), said
    else:
        assert len(re.findall(named, said[0], re.MULTILINE)) == 1 and "".join(said[1:]) == "", said


def test_killed_at_any_moment_others_end_and_the_run_goes_on(in_one, tmp_path):
    kills = int(os.environ.get("PARHELION_TEST_KILLS", 4))
    seed = int(os.environ.get("PARHELION_TEST_SEED", 1))
    for number in range(kills):
        chance = random.Random(seed * 1000 + number)
        folder = folder_with(RUN, tmp_path / str(number))
        moment, victim = chance.random() ** 2 / 2, chance.randrange(2 + number % 2)
        blow = chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP])
        processes = launch(folder, 2 + number % 2, "--steps", 1000000, timeout=deadline_for(blow))
        wait_until_begun(processes, folder)
        time.sleep(moment)
        expect_named(processes, victim, blow)
        if step_reached(folder) < 400:
            run(folder, "-q", "--threads", 1)
            assert_same_outputs(folder, in_one)
