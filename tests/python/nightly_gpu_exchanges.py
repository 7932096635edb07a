# SPDX-License-Identifier: Apache-2.0
"""A million halo exchanges between GPUs of two processes, a hundred thousand or more where they leave a node of GPUs, are without an error: the
run leaves the bytes of one process, though one of them or the other is stopped for some milliseconds, again and again.

The program is $PARHELION_PROGRAM, built for GPUs. It uses up to two GPUs, of as many as PARHELION_GPUS says, or as NVIDIA's driver lists.
NVSHMEM is used where the loader finds it. On the stand-in that runs kernels on a CPU, PARHELION_TEST_STEPS=100 comes to an end.
"""
import os
import random
import re
import signal
import subprocess
import time

import pytest

from gpu_processes import BEYOND_NVLINK, GPUS, NVSHMEM, needs_nvshmem, outputs
from gpu_runs import RUN, generated
from processes import children
from runs import command, folder_with, run

STEPS = int(os.environ.get("PARHELION_TEST_STEPS", 500000))  # each has two exchanges: positions, forces
SECONDS = 600
pytestmark = pytest.mark.skipif(GPUS == 0, reason="needs a GPU")


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    return generated(3000, tmp_path_factory.mktemp("system"))


def mdp(steps):
    """Outputs of each tenth of the run instead of each fourth step."""
    return re.sub(r"(nst(?:x|v|f)out|nstxout-compressed|nstcalcenergy|nstenergy) = \d+", rf"\1 = {max(4, steps // 10)}", RUN).replace(
        "nsteps = 12", f"nsteps = {steps}")


def in_one(steps, system, folder):
    folder = folder_with(mdp(steps), folder)
    run(folder, "-q", "--allow", "W128", "--gpus", 1, seconds=SECONDS, **system)
    return outputs(folder)


def with_pauses(folder, system, *options):
    """Stops either process for up to 5 ms, again and again; the number of times."""
    random_number, pauses, end = random.Random(5), 0, time.monotonic() + SECONDS
    words = command("-q", "--allow", "W128", "--comm-timeout", "60s", "--processes", 2, *options, **system)
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        while process.poll() is None:
            assert time.monotonic() < end
            if ranks := children(process):
                rank = random_number.choice(ranks)
                try:
                    os.kill(rank, signal.SIGSTOP)
                    time.sleep(random_number.uniform(0, 0.005))
                    os.kill(rank, signal.SIGCONT)
                    pauses += 1
                except ProcessLookupError:  # has just ended
                    pass
            time.sleep(random_number.uniform(0, 0.02))
    finally:
        process.kill()
        said = process.communicate()[0]
    assert process.returncode == 0, said
    return pauses


@pytest.mark.parametrize("steps,options", [
    pytest.param(STEPS, ["--gpus", GPUS, "--ranks", 2], id="peer"),
    pytest.param(STEPS, NVSHMEM, id="nvshmem", marks=needs_nvshmem),
    pytest.param(STEPS // 5, [*BEYOND_NVLINK, "2x1"], id="nvshmem beyond NVLink", marks=needs_nvshmem),
    pytest.param(STEPS // 5, ["--gpus", GPUS, "--ranks", 2, "--transport", "nic-emulation", "--nodes", "2x1"], id="nic-emulation"),
])
def test_exchanges_with_pauses_are_without_an_error(system, tmp_path, steps, options):
    folder = folder_with(mdp(steps), tmp_path / "two")
    pauses = with_pauses(folder, system, *options)
    print(f"{2 * steps} exchanges, {pauses} pauses")
    assert pauses >= 10
    assert outputs(folder) == in_one(steps, system, tmp_path / "one")
