# SPDX-License-Identifier: Apache-2.0
"""GPU tests share the GPUs of a machine, and a run of them that is cut is counted: by programs that take no GPU, on GPUs that are names."""
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
ENTRIES = {1: 9, 2: 3, 4: 2, 8: 1}  # how many take so many GPUs
TAKES = """
import os, sys, time
begin = time.monotonic()
time.sleep(float(sys.argv[3]))
with open(sys.argv[2], "a") as log:
    log.write(f"{sys.argv[1]} {begin} {time.monotonic()} {os.environ['CUDA_VISIBLE_DEVICES']} {os.environ['PARHELION_TEST_ON_GPUS']}\\n")
print("takes: 1 passed, 0 failed, 0 skipped")
"""
PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(sharing LANGUAGES NONE)
enable_testing()
include({REPOSITORY}/tests/skips.cmake)
function(takes gpus number seconds)
  parhelion_gpu_test(NAME on_${{gpus}}_${{number}} LABEL cuda TIMEOUT 60 GPUS ${{gpus}} ${{ARGN}}
    COMMAND {sys.executable} ${{CMAKE_SOURCE_DIR}}/takes.py on_${{gpus}}_${{number}} ${{CMAKE_SOURCE_DIR}}/log ${{seconds}})
endfunction()
"""


@pytest.fixture
def project(tmp_path):
    def made(entries, seconds=0.2, more=""):
        (tmp_path / "takes.py").write_text(TAKES)
        calls = [f"takes({gpus} {k} {seconds})\n" for gpus, number in entries.items() for k in range(number)]
        (tmp_path / "CMakeLists.txt").write_text(PROJECT + "".join(calls) + more)
        subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / "build"], check=True, capture_output=True)
        return tmp_path

    return made


def begin(folder, gpus):
    names = ",".join(f"GPU-{g}" for g in range(gpus))
    return subprocess.Popen([sys.executable, REPOSITORY / "tools/test_gpus.py", folder / "build"], stdout=subprocess.PIPE, text=True,
                            env=os.environ | {"CUDA_VISIBLE_DEVICES": names}, start_new_session=True)


@pytest.mark.parametrize("gpus", [1, 2, 4])
def test_entries_of_several_gpus_have_them_alone_and_four_of_one_share_it(project, gpus):
    folder = project(ENTRIES)
    run = begin(folder, gpus)
    said = run.communicate()[0]
    assert run.returncode == 0, said
    ran = [line.split() for line in (folder / "log").read_text().splitlines()]
    expected = [f"on_{n}_{k}" for n, number in ENTRIES.items() for k in range(number) if n <= gpus]
    assert sorted(entry for entry, *_ in ran) == sorted(expected)
    assert said.endswith(f"\n{len(expected)} passed, 0 failed, 0 skipped\n")
    uses = [(float(start), float(end), set(names.split(",")), int(number)) for _, start, end, names, number in ran]
    for start, _, names, number in uses:
        assert len(names) == number and names <= {f"GPU-{g}" for g in range(gpus)}
        for name in names:
            beside = [n for s, e, others, n in uses if name in others and s <= start < e]  # itself, too
            assert beside == [number] if number > 1 else len(beside) <= 4 and set(beside) == {1}, name


def test_entries_of_most_gpus_start_first_and_of_these_the_longest(project):
    folder = project({1: 4, 2: 1}, more="takes(1 long 0.2 SECONDS 90)\ntakes(1 longest 0.2 SECONDS 100)\n")
    run = begin(folder, 2)
    starts = re.findall(r"Start +\d+: (\S+)", run.communicate()[0])
    assert starts[:3] == ["on_2_0", "on_1_longest", "on_1_long"] and len(starts) == 7


def test_a_run_that_was_cut_is_counted(project):
    folder = project({1: 30})
    run = begin(folder, 1)
    while not (folder / "log").exists() or len((folder / "log").read_text().splitlines()) < 8:
        assert run.poll() is None
        time.sleep(0.02)
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    counted = subprocess.run([REPOSITORY / "tools/count_tests.py", folder / "build"], capture_output=True, text=True)
    assert counted.returncode == 1 and counted.stderr == ""
    *_, totals, cut = counted.stdout.splitlines()
    here = int(re.fullmatch(r"The run was cut: (\d+) entries are here, others did not end\.", cut)[1])
    assert here < 30
    assert totals == f"{here} passed, 0 failed, 0 skipped"


def test_before_any_run_nothing_is_counted(project):
    folder = project({1: 1})
    counted = subprocess.run([REPOSITORY / "tools/count_tests.py", folder / "build"], capture_output=True, text=True)
    assert (counted.returncode, counted.stdout, counted.stderr) == (0, "0 passed, 0 failed, 0 skipped\n", "")
