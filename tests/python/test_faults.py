# SPDX-License-Identifier: Apache-2.0
"""A rank that is stuck ends the program soon, with one sentence and exit code 6, by every halo method.

A rank on CPUs is a thread, which is held here as a debugger would, for longer than the others wait. A rank on a GPU gets stuck for
ever, by a library that the driver loads (tests/support/stall_gpu.cpp): with PARHELION_DEVICE=gpu, where $PARHELION_STALL_GPU_LIBRARY
says where that library is. The program is $PARHELION_PROGRAM.
"""
import ctypes
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from simulation import GPUS

DEADLINE = 2  # s, of a wait for another rank
TIMED_OUT = (r"E601 Rank \d timed out after 2 s waiting for (a message|a free slot) from rank \d: channel '[a-z ]+(?:, pulse \d+)?', epoch expected \d+, "
           r"seen \d+, credit \d+, in step -?\d+\.")
HOST_TIMED_OUT = r"E601 The host timed out after 4 s waiting for rank \d: its GPU is stuck, or one that it waits for\."
HOST_HELD = r"E601 The host was held for 6 s in the driver of its GPUs: one of them is stuck\."
SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17  # requests of ptrace
WAIT_ALL = 0x40000000


@pytest.fixture(scope="module")
def series(tmp_path_factory):
    program = os.environ.get("PARHELION_PROGRAM")
    if program is None:
        pytest.skip("$PARHELION_PROGRAM is not set")
    folder = tmp_path_factory.mktemp("series")
    subprocess.run([program, "generate", "ethanol-water", "--atoms", "24000", "-d", folder], check=True, stdout=subprocess.DEVNULL)
    return folder


def start(series, folder, *options, environment=None):
    command = [os.environ["PARHELION_PROGRAM"], "run", "-q", "-f", series / "md.mdp", "-c", series / "conf.gro", "-p", series / "topol.top",
               "-o", folder / "md", "--steps", 1000000, "--comm-timeout", f"{DEADLINE}s", *options]
    return subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            env=os.environ | (environment or {}))


def expect_end(run, seconds, sentences):
    try:
        said = run.communicate(timeout=seconds)[1]
    except subprocess.TimeoutExpired:
        run.kill()
        pytest.fail(f"still running after {seconds} s; has said: {run.communicate()[1]}")
    assert re.fullmatch(f"({'|'.join(sentences)})\n", said), said
    assert run.returncode == 6


def busiest_thread(pid):
    """Of those that are not the first: a rank, or one of its team."""
    def ticks(task):
        fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    return int(max((task for task in Path(f"/proc/{pid}/task").iterdir() if task.name != str(pid)), key=ticks).name)


def hold(thread, seconds):
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    ptrace.restype = ctypes.c_long
    if ptrace(SEIZE, thread, None, None) != 0:
        pytest.skip(f"threads of other programs may not be held here: {os.strerror(ctypes.get_errno())}")
    assert ptrace(INTERRUPT, thread, None, None) == 0
    os.waitpid(thread, WAIT_ALL)
    time.sleep(seconds)
    assert ptrace(DETACH, thread, None, None) == 0


@pytest.mark.parametrize("halo", ["staged-host", "staged-fused", "direct"])
def test_a_rank_that_is_held_for_long_ends_the_run(series, tmp_path, halo):
    run = start(series, tmp_path, "--device", "cpu", "--ranks", 2, "--threads", 1, "--halo", halo)
    status = tmp_path / "md.status.json"
    try:
        while not status.exists() or json.loads(status.read_text())["step"] == 0:  # until steps are under way
            assert run.poll() is None, run.communicate()[1]
            time.sleep(0.05)
        hold(busiest_thread(run.pid), 2 * DEADLINE)
        expect_end(run, 30, [TIMED_OUT])
    finally:
        run.kill()


def suspend_again_and_again(run):
    """A process that is stopped for longer than the deadline waits for nobody meanwhile, and ends well when it is asked to."""
    try:
        for _ in range(3):
            time.sleep(1.5)
            assert run.poll() is None, run.communicate()[1]
            run.send_signal(signal.SIGSTOP)
            time.sleep(1.5 * DEADLINE)
            run.send_signal(signal.SIGCONT)
        time.sleep(1)
        run.send_signal(signal.SIGTERM)
        assert run.wait(30) == 3, run.communicate()[1]
    finally:
        run.kill()


def test_a_suspended_run_waits_for_nobody(series, tmp_path):
    suspend_again_and_again(start(series, tmp_path, "--device", "cpu", "--ranks", 2, "--threads", 1))


on_gpus = pytest.mark.skipif(os.environ.get("PARHELION_DEVICE") != "gpu", reason="PARHELION_DEVICE is not gpu")
by_all_methods = pytest.mark.parametrize("halo", ["staged-host", "staged-dma", "staged-fused", "direct"])


@on_gpus
@pytest.mark.skipif(GPUS > 1, reason="of several GPUs one may wait for work that another has not been given")
@by_all_methods
def test_a_suspended_run_on_a_gpu_waits_for_nobody(series, tmp_path, halo):
    suspend_again_and_again(start(series, tmp_path, "--gpus", 1, "--ranks", 2, "--halo", halo))


@on_gpus
@by_all_methods
@pytest.mark.parametrize("kernel", [1, 200, 200_000], ids=["before_its_first_kernel", "in_the_first_steps", "in_the_middle_of_the_run"])
def test_a_gpu_that_is_stuck_for_ever_ends_the_run(series, tmp_path, kernel, halo):
    gpus = max(1, GPUS)
    library = os.environ["PARHELION_STALL_GPU_LIBRARY"]
    run = start(series, tmp_path, "--gpus", gpus, "--ranks", max(2, gpus), "--halo", halo,
                environment={"CUDA_INJECTION64_PATH": library, "PARHELION_STALL_GPU": str(gpus - 1), "PARHELION_STALL_AT_KERNEL": str(kernel)})
    told_by_waits = gpus > 1 and kernel == 1  # the test of links, where the host asks the driver for nothing
    expect_end(run, 30, [TIMED_OUT, HOST_TIMED_OUT] + ([] if told_by_waits else [HOST_HELD]))
