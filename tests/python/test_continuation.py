# SPDX-License-Identifier: Apache-2.0
"""Runs that are interrupted and go on: exit codes, and outputs that are those of the run that nobody interrupted, byte for byte.

The program is $PARHELION_PROGRAM. A byte compares more than any reader could: no gap, no duplicate, no other number.
"""
import json
import os
import random
import re
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from runs import DATA, RUN, assert_same_outputs, command, folder_with, interrupt, outputs, run, step_reached, stop_early
from simulation import small_water

@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = folder_with(RUN, tmp_path_factory.mktemp("through"))
    run(folder, "-q", "--threads", 2)
    return folder


def test_a_run_stopped_by_a_signal_exits_3_and_goes_on_to_the_same_outputs(uninterrupted, tmp_path):
    folder = folder_with(RUN, tmp_path)
    size = (uninterrupted / "md.xtc").stat().st_size
    stop_early(folder, "-q", "--threads", 2, after_bytes=size // 3)
    first = step_reached(folder)
    assert first > 0
    stop_early(folder, "-q", "--threads", 1, by=signal.SIGINT, after_bytes=(folder / "md.xtc").stat().st_size + 20000)
    assert first < step_reached(folder)
    assert "continuing at step" in run(folder, "--threads", 2)
    assert_same_outputs(folder, uninterrupted)
    assert "complete, step 400" in run(folder)
    assert_same_outputs(folder, uninterrupted)


def test_a_longer_run_is_the_same_as_one_asked_for_at_once(uninterrupted, tmp_path):
    folder = folder_with(RUN, tmp_path)
    for steps in [0, 33, 200]:
        run(folder, "-q", "--steps", steps)
        assert step_reached(folder) == steps
    run(folder, "-q")
    report, at_once = (json.loads((where / "md.report.json").read_text()) for where in (folder, uninterrupted))
    assert report["steps"] < report["steps_of_whole_run"] == at_once["steps"] == at_once["steps_of_whole_run"] == 400
    assert report["energies"] == at_once["energies"]
    assert_same_outputs(folder, uninterrupted)


def test_killed_again_and_again_it_loses_nothing_that_a_checkpoint_held(uninterrupted, tmp_path):
    folder = folder_with(RUN, tmp_path)
    chance = random.Random(1)
    killed = 0
    for _ in range(int(os.environ.get("PARHELION_TEST_KILLS", 5))):
        process = subprocess.Popen(command("-q", "--checkpoint", "0.05s"), cwd=folder, stderr=subprocess.PIPE, text=True)
        try:
            process.wait(timeout=chance.uniform(0.05, 0.6))
        except subprocess.TimeoutExpired:
            process.kill()
            killed += 1
        said = process.communicate()[1]
        assert process.returncode in (0, -signal.SIGKILL), said
    assert killed > 0
    run(folder, "-q")
    assert_same_outputs(folder, uninterrupted)


def test_a_checkpoint_of_the_last_step_does_not_make_a_run_complete(tmp_path):
    """Step 21 begins a list, so a checkpoint is due there before its frames have been written, for which there is no room at first."""
    mdp = RUN.replace("nsteps = 400", "nsteps = 21").replace("nstxout = 90", "nstxout = 7")
    through, folder = folder_with(mdp, tmp_path / "through"), folder_with(mdp, tmp_path / "limited")
    run(through, "-q")
    room = (through / "md.trr").stat().st_size - 1024
    limited = subprocess.run(command("-q", "--checkpoint", "0s"), cwd=folder, capture_output=True, text=True,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)))
    # The last configuration has no room either, and either may be told.
    assert limited.returncode == 6 and re.search(r"E601 md\.(trr|gro\.tmp)", limited.stderr)
    assert "complete" not in run(folder)
    assert outputs(folder) == outputs(through)
    assert "complete" in run(folder)


def test_fewer_ranks_go_on_where_a_box_has_become_too_small_for_more(tmp_path):
    thin = small_water(tmp_path, 4, 2.6)  # half of a liquid's density
    settings = {"nsteps": 3000, "nstxout": 0, "nstvout": 0, "nstxout-compressed": 0, "nstlist": 10, "gen-vel": "yes", "gen-temp": 300,
                "gen-seed": 7, "continuation": "no", "pcoupl": "Berendsen", "ref-p": 6000, "tau-p": 0.5, "rlist": 1.0, "rcoulomb": 0.9, "rvdw": 0.9}
    kept = [line for line in RUN.splitlines() if line.split(" =")[0] not in settings]
    folder = folder_with("\n".join(kept + [f"{key} = {value}" for key, value in settings.items()]) + "\n", tmp_path / "run")

    def on(ranks, steps, code):
        return run(folder, "--threads", 1, "--ranks", ranks, "--steps", steps, "--allow", "W117", code=code, structure=thin.structure, topology=thin.topology)

    text = on(2, 3000, 5)
    assert "E505" in text and "fewer ranks" in text
    reached = step_reached(folder) + 1
    assert reached > 0 and f"continuing at step {reached} " in on(1, reached + 20, 0)


def test_hours_end_a_run_with_code_3(tmp_path):
    folder = folder_with(RUN, tmp_path)
    assert "run the same command to continue" in run(folder, "--hours", 0.2 / 3600, code=3)


def test_new_starts_afresh(tmp_path):
    folder = folder_with(RUN, tmp_path)
    run(folder, "-q", "--steps", 30)
    before = outputs(folder)
    assert "continuing" not in run(folder, "--steps", 30, "--new")
    assert outputs(folder) == before


def test_what_an_earlier_run_left_is_kept(tmp_path):
    folder = folder_with(RUN, tmp_path)
    run(folder, "-q", "--steps", 30)
    files = [path for path in folder.iterdir() if path.name not in ("md.mdp", "md.status.json")]  # the status is of the run that is made
    first = {path.name: path.read_bytes() for path in files}
    assert {"md.log", "md.xtc", "md.trr", "md.edr", "md.cpt", "md.gro", "md.report.json"} <= first.keys()
    said = run(folder, "--steps", 60, "--new")
    second = {name: (folder / name).read_bytes() for name in first}
    for name in first:
        assert f"#{name}.1#" in said
        assert second[name] != first[name]
    (folder / "md.cpt").unlink()  # whoever forgets it loses nothing either
    said = run(folder, "--steps", 30)
    for name, content in first.items():
        assert (folder / f"#{name}.1#").read_bytes() == content
        if name != "md.cpt":
            assert f"#{name}.2#" in said
            assert (folder / f"#{name}.2#").read_bytes() == second[name]
    run(folder, "-q", "--steps", 60)  # goes on
    assert not list(folder.glob("#*.3#"))


def test_what_does_not_belong_together_is_refused(tmp_path):
    folder = folder_with(RUN, tmp_path)
    run(folder, "-q", "--steps", 30)
    before = outputs(folder)
    (folder / "md.mdp").write_text(RUN.replace("dt = 0.002", "dt = 0.001"))
    assert "dt (0.002 then, 0.001 now)" in run(folder, code=4)
    (folder / "md.mdp").write_text(RUN)
    assert "precision" in run(folder, "--precision", "double", code=4)
    assert outputs(folder) == before
    (folder / "md.xtc").write_bytes(before["md.xtc"][:1000])
    assert re.search(r"E192 md\.xtc .*1000 bytes", run(folder, code=4))
    (folder / "md.xtc").unlink()
    assert re.search(r"E192 md\.xtc .*is missing", run(folder, code=4))


def test_a_damaged_checkpoint_is_noticed_and_the_one_before_used(tmp_path):
    folder = folder_with(RUN, tmp_path)
    run(folder, "-q", "--steps", 30)
    run(folder, "-q", "--steps", 60)
    before = (folder / "md.prev.cpt").read_bytes()
    content = bytearray((folder / "md.cpt").read_bytes())
    content[len(content) // 2] ^= 16
    (folder / "md.cpt").write_bytes(content)
    said = run(folder, "-q", "--steps", 90)
    assert "md.cpt is not a whole checkpoint" in said and "Continuing from md.prev.cpt, step 28" in said
    assert (folder / "md.prev.cpt").read_bytes() == before  # the damaged one has not taken its place
    reference = folder_with(RUN, tmp_path / "reference")
    run(reference, "-q", "--steps", 90)
    assert outputs(folder) == outputs(reference)


def started(folder, *options, **process):
    """A run that has written its first frame."""
    process = subprocess.Popen(command(*options), cwd=folder, **process)
    while process.poll() is None and not ((folder / "md.xtc").exists() and (folder / "md.xtc").stat().st_size > 0):
        time.sleep(0.005)
    assert process.poll() is None
    return process


def test_a_run_whose_reader_is_gone_goes_on_and_leaves_a_checkpoint_when_stopped(tmp_path):
    folder = folder_with(RUN, tmp_path)
    process = started(folder, "--steps", 1000000, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    process.stdout.close()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=300) == 3
    # The checkpoint is of step -1 if the run was stopped before the second pair list.
    process = subprocess.Popen(command("--steps", step_reached(folder) + 100), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    process.stdout.close()  # before the first word
    assert process.wait(timeout=300) == 0


def test_a_lost_terminal_stops_a_run_unless_it_was_told_not_to_care(tmp_path):
    folder = folder_with(RUN, tmp_path)
    assert interrupt(folder, "-q", by=signal.SIGHUP) == 3
    process = started(folder_with(RUN, tmp_path / "nohup"), "-q", "--steps", 2000, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=300) == 0


def test_a_second_run_with_the_same_prefix_is_refused(tmp_path):
    folder = folder_with(RUN, tmp_path)
    process = started(folder, "-q", "--steps", 1000000)
    assert re.search(r"E193 md\.log .*another run.*prefix than md ", run(folder, "--new", code=4))
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=300) == 3
    run(folder, "-q", "--steps", step_reached(folder) + 10)


def test_a_run_that_is_refused_leaves_an_earlier_one_as_it_was(tmp_path):
    folder = folder_with(RUN, tmp_path)
    run(folder, "-q", "--steps", 30)
    run(folder, "-q", "--steps", 60)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for options in [(), ("--new",)]:
        run(folder, "--device", "cpu", "--halo", "staged-dma", *options, code=2)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("ending", ["xtc", "trr", "edr", "log"])
def test_an_output_that_was_written_over_is_refused_and_nothing_touched(ending, tmp_path):
    folder = folder_with(RUN, tmp_path)
    run(folder, "-q", "--steps", 60)
    whole = (folder / f"md.{ending}").read_bytes()
    (folder / f"md.{ending}").write_bytes(random.Random(3).randbytes(len(whole)))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert re.search(rf"E195 md\.{ending}  is not the file that the checkpoint was made with", run(folder, "--steps", 90, code=4))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    (folder / f"md.{ending}").write_bytes(whole)
    run(folder, "-q", "--steps", 90)


def test_an_output_that_is_removed_while_the_run_writes_it_is_missed_and_can_be_rescued(uninterrupted, tmp_path):
    folder = folder_with(RUN, tmp_path)
    process = started(folder, "--threads", 1, "--checkpoint", "0.05s", "--steps", 1000000, "--hours", 20 / 3600,
                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    (folder / "md.xtc").unlink()
    said = next((line for line in process.stderr if "was removed" in line), "")
    copy = re.fullmatch(r"warning: md\.xtc was removed by something else .*; the run cannot be continued .* (/proc/\d+/fd/\d+)\.", said.strip())
    os.kill(process.pid, signal.SIGTERM)
    os.kill(process.pid, signal.SIGSTOP)
    rescued = Path(copy[1]).read_bytes()
    os.kill(process.pid, signal.SIGCONT)
    rest = process.communicate(timeout=300)[1]
    assert process.returncode == 3 and "was removed" not in rest
    assert said.strip() in (folder / "md.log").read_text()
    assert re.search(r"E192 md\.xtc .*is missing", run(folder, code=4))
    assert len(rescued) > 0 and (uninterrupted / "md.xtc").read_bytes().startswith(rescued[:10000])


def test_a_new_run_that_ends_while_it_keeps_files_leaves_no_checkpoint_with_the_wrong_ones(tmp_path):
    folder = folder_with(RUN, tmp_path)
    run(folder, "-q", "--steps", 30)
    run(folder, "-q", "--steps", 60)
    first = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".mdp"}
    (folder / "md.edr").unlink()
    (folder / "md.edr").mkdir()  # cannot be kept: what is left is what a kill there leaves
    assert "E601 md.edr" in run(folder, "--new", code=6)
    (folder / "md.edr").rmdir()
    assert "continuing" not in run(folder, "--steps", 30)
    reference = folder_with(RUN, tmp_path / "reference")
    run(reference, "-q", "--steps", 30)
    assert outputs(folder) == outputs(reference)
    assert [name for name, content in first.items() if name not in ("md.edr", "md.log", "md.status.json") and (folder / f"#{name}.1#").read_bytes() != content] == []


def test_a_checkpoint_that_cannot_be_opened_is_not_passed_over(tmp_path):
    folder = folder_with(RUN, tmp_path)
    run(folder, "-q", "--steps", 30)
    run(folder, "-q", "--steps", 60)
    (folder / "md.cpt").rename(folder / "elsewhere")
    (folder / "md.cpt").mkdir()
    before = (folder / "md.xtc").read_bytes()
    assert re.search(r"E110 md\.cpt +cannot be read: it is not a regular file", run(folder, code=4))
    assert (folder / "md.xtc").read_bytes() == before


def test_links_in_the_place_of_outputs_are_not_followed(tmp_path):
    folder = folder_with(RUN, tmp_path)
    for name in ["md.cpt.tmp", "md.gro.tmp", "md.report.json.tmp", "md.status.json", "md.status.json.tmp", "md.xtc", "md.trr", "md.edr"]:
        (folder / f"of-{name}").write_text("")
        (folder / name).symlink_to(f"of-{name}")
    said = run(folder, "--steps", 30)
    assert [path.name for path in folder.glob("of-*") if path.read_text()] == []
    assert "#md.xtc.1#" in said and (folder / "#md.xtc.1#").is_symlink() and not (folder / "md.xtc").is_symlink()
    (folder / "md.log").rename(folder / "of-md.log")
    (folder / "md.log").symlink_to("of-md.log")
    before = (folder / "of-md.log").read_bytes()
    assert re.search(r"E196 md\.log +is a symbolic link", run(folder, "--new", code=4))
    assert (folder / "of-md.log").read_bytes() == before


def test_output_may_change_when_a_run_goes_on_and_nothing_else_does(uninterrupted, tmp_path):
    mda, pyedr = pytest.importorskip("MDAnalysis"), pytest.importorskip("pyedr")
    folder = folder_with(RUN, tmp_path)
    run(folder, "-q", "--steps", 200)
    trr = (folder / "md.trr").read_bytes()
    changed = RUN
    for before, after in [("nstxout = 90", "nstxout = 0"), ("nstvout = 90", "nstvout = 0"), ("compressed = 10", "compressed = 20\ncompressed-x-precision = 100"),
                          ("nstenergy = 20", "nstenergy = 40"), ("nstlog = 100", "nstlog = 50")]:
        changed = changed.replace(before, after)
    folder_with(changed, tmp_path)
    text = run(folder)
    for word in ("nstxout (90 then, 0 now)", "nstvout", "nstxout-compressed (10 then, 20 now)", "compressed-x-precision (1000 then, 100 now)",
                 "nstenergy (20 then, 40 now)", "nstlog (100 then, 50 now)"):
        assert word in text and word in (folder / "md.log").read_text()
    # The same steps: the end has every bit of a run that nobody changed.
    assert (folder / "md.gro").read_bytes() == (uninterrupted / "md.gro").read_bytes()
    assert (folder / "md.trr").read_bytes() == trr
    xtc = mda.Universe(str(DATA / "conf.gro"), str(folder / "md.xtc")).trajectory
    steps = [round(frame.time / 0.002) for frame in xtc]
    assert steps == [step for step in range(0, 401, 10) if step < 196 or step % 20 == 0]  # the checkpoint is of step 196
    # Every energy calculation counts once, whenever frames were written.
    energies = pyedr.edr_to_dict(str(folder / "md.edr"))
    assert [round(time / 0.002) for time in energies["Time"]] == [*range(0, 181, 20), 200, 240, 280, 320, 360, 400]
    averages = [(path / "md.log").read_text().split("Averages over ")[-1].rpartition("\n\n")[0] for path in (folder, uninterrupted)]
    assert averages[0] == averages[1] and "Potential" in averages[0]
    # And back: what was written up to the first checkpoint, of step 196, is still there.
    folder_with(RUN, tmp_path)
    run(folder, "-q", "--steps", 500)
    assert (folder / "md.trr").read_bytes().startswith(trr[: len(trr) * 3 // 4])  # of four frames
    assert [round(frame.time / 0.002) for frame in mda.Universe(str(DATA / "conf.gro"), str(folder / "md.trr")).trajectory] == [0, 90, 180, 450, 500]
