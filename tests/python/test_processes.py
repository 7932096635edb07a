# SPDX-License-Identifier: Apache-2.0
"""Runs on CPUs whose ranks are in several processes: the same bytes as in one, and one sentence, exit code 6 and nothing left behind if a
process is killed or stopped.

The program is $PARHELION_PROGRAM. 4 processes are killed at random moments, or as many as PARHELION_TEST_KILLS says;
PARHELION_TEST_SEED repeats a failure.
"""
import os
import random
import re
import signal
import time

import pytest

from processes import AT_ONCE, DEADLINE, EITHER_STOPPED, KILLED, all_begun, children, expect_end, is_running, start, wait_until
from runs import RUN, assert_same_outputs, by_night, folder_with, run, step_reached, stop_early


@pytest.mark.parametrize("options", [
    by_night(["--processes", 2]),
    ["--processes", 2, "--ranks", 4, "--halo", "staged-fused"],
    ["--processes", 3, "--grid", "1x2x2", "--halo", "staged-host"],
    by_night(["--processes", 8]),
], ids=str)
def test_outputs_are_those_of_one_process(in_one, tmp_path, options):
    folder = folder_with(RUN, tmp_path)
    run(folder, "-q", "--threads", 1, *options)
    assert_same_outputs(folder, in_one)


def test_outputs_with_pme_are_those_of_one_process(tmp_path):
    pme = RUN.replace("reaction-field", "PME").replace("epsilon-rf = 0\n", "").replace("nsteps = 400", "nsteps = 100")
    folders = [folder_with(pme, tmp_path / name) for name in ["one", "several"]]
    for folder, option in zip(folders, ["--ranks", "--processes"]):
        run(folder, "-q", "--threads", 1, option, 4)
    for name in ["md.xtc", "md.trr", "md.edr", "md.gro"]:
        assert folders[0].joinpath(name).read_bytes() == folders[1].joinpath(name).read_bytes()


def test_runs_go_on_in_any_number_of_processes(in_one, tmp_path):
    folder = folder_with(RUN, tmp_path)
    run(folder, "-q", "--processes", 2, "--threads", 1, "--steps", 100)
    run(folder, "-q", "--ranks", 2, "--threads", 1, "--steps", 200)
    run(folder, "-q", "--processes", 4, "--threads", 1, "--steps", 300)
    run(folder, "-q", "--threads", 2)
    assert_same_outputs(folder, in_one)


def test_a_run_that_is_told_to_stop_goes_on_later(in_one, tmp_path):
    folder = folder_with(RUN, tmp_path)
    stop_early(folder, "-q", "--processes", 2, "--threads", 1, after_bytes=20000)
    assert 0 < step_reached(folder) < 400
    run(folder, "-q", "--threads", 1)
    assert_same_outputs(folder, in_one)


@pytest.mark.parametrize("options", [["--processes", 99, "--ranks", 2], ["--processes", 2, "--trace", "t.json"],
                                     ["--processes", 2, "--gpus", 2, "--halo", "staged-host"]], ids=str)
def test_what_cannot_be_is_refused(tmp_path, options):
    folder = folder_with(RUN, tmp_path)
    assert "E010" in run(folder, "-q", *options, code=2)


def test_a_minimisation_runs_in_one_process(tmp_path):
    folder = folder_with(RUN.replace("integrator = md", "integrator = steep"), tmp_path)
    assert "E010" in run(folder, "-q", "--processes", 2, "--allow", "W127", code=2)


def test_input_errors_are_told_once(tmp_path):
    folder = folder_with(RUN, tmp_path)
    said = run(folder, "-q", "--processes", 2, "--grid", "1x1x2", "--ranks", 3, code=2)
    assert said.count("E008") == 1
    assert len(said.splitlines()) == 1
    hot = RUN.replace("continuation = yes", "continuation = no\ngen-vel = yes\ngen-seed = 3\ngen-temp = 1e14")
    said = run(folder_with(hot, tmp_path), "-q", "--processes", 4, code=4)  # found by every process
    assert re.match("E312 .*\n$", said) and len(said.splitlines()) == 1


def test_a_blow_up_is_told_once(tmp_path):
    folder = folder_with(RUN.replace("dt = 0.002", "dt = 0.012"), tmp_path)
    said = run(folder, "-q", "--allow", "W122", "--threads", 1, "--processes", 2, code=5)
    blow_ups = re.findall("^E501 .*$", said, re.MULTILINE)  # of whoever was first
    assert len(blow_ups) == 1
    assert blow_ups[0] in (folder / "md.log").read_text()


def test_the_seed_is_drawn_once(tmp_path):
    folder = folder_with(RUN.replace("ld-seed = 7", "ld-seed = -1"), tmp_path)
    run(folder, "-q", "--processes", 3, "--threads", 1, "--steps", 50)
    assert step_reached(folder) == 50


@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_process_is_named(in_one, tmp_path, victim):
    folder = folder_with(RUN, tmp_path)
    process = start(folder, "--processes", 3, "--steps", 1000000)
    ranks = all_begun(process, folder, 3)
    os.kill(ranks[victim], signal.SIGKILL)
    said = expect_end(process, ranks, KILLED.format(victim), AT_ONCE)
    assert said.split(" ", 1)[1] in (folder / "md.log").read_text()


def test_a_stopped_process_is_named(tmp_path):
    folder = folder_with(RUN, tmp_path)
    process = start(folder, "--processes", 3, "--steps", 1000000, timeout=f"{DEADLINE}s")
    ranks = all_begun(process, folder, 3)
    os.kill(ranks[1], signal.SIGSTOP)
    expect_end(process, ranks, EITHER_STOPPED, AT_ONCE)


def test_processes_end_with_their_launcher(tmp_path):
    folder = folder_with(RUN, tmp_path)
    process = start(folder, "--processes", 3, "--steps", 1000000)
    ranks = all_begun(process, folder, 3)
    process.kill()
    process.communicate()
    end = time.monotonic() + AT_ONCE
    while any(map(is_running, ranks)):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_killed_at_any_moment_a_run_goes_on_to_the_same_outputs(in_one, tmp_path):
    """Whatever a process does when it is killed, reading, preparing or writing: the checkpoint is whole."""
    kills = int(os.environ.get("PARHELION_TEST_KILLS", 4))
    seed = int(os.environ.get("PARHELION_TEST_SEED", 1))
    folder = folder_with(RUN, tmp_path)
    for number in range(kills):
        chance = random.Random(seed * 1000 + number)
        if (folder / "md.cpt").exists() and step_reached(folder) > 300:  # begin again: all moments of a run are meant
            folder = folder_with(RUN, tmp_path / str(number))
        process = start(folder, "--processes", 2 + number % 2, "--steps", 1000000)
        wait_until(lambda: len(children(process)) == 2 + number % 2, process)
        ranks = children(process)
        time.sleep(chance.random() ** 2 / 2)
        victim = chance.randrange(len(ranks))
        os.kill(ranks[victim], signal.SIGKILL)
        expect_end(process, ranks, KILLED.format(victim), AT_ONCE)
    if (folder / "md.cpt").exists() and step_reached(folder) > 400:
        return  # the run that is known has been overtaken
    run(folder, "-q", "--threads", 1)
    assert_same_outputs(folder, in_one)
