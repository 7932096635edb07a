# SPDX-License-Identifier: Apache-2.0
"""Runs on GPUs whose ranks are in several processes: the same bytes as in one, and one sentence, exit code 6 and nothing left behind if a
process is killed or stopped.

The program is $PARHELION_PROGRAM, built for GPUs or for the stand-in that runs kernels on a CPU. It uses up to two GPUs, of as many as
PARHELION_GPUS says, or as NVIDIA's driver lists. NVSHMEM, or what stands in for it, is used where the loader finds it. All runs but one are
of one system, so that one run of one process is what the others are compared with. Of ways that differ in one thing alone some are run at each
change, and all with PARHELION_TEST_ALL=1: by night, and on GPUs.
"""
import os
import re
import signal
import subprocess

import pytest

from gpu_processes import BEYOND_NVLINK, GPUS, NVSHMEM, needs_nvshmem, outputs
from gpu_runs import PME, RUN, generated
from launchers import ends, launch
from processes import DEADLINE, EITHER_STOPPED, KILLED, children, expect_end, wait_until
from runs import by_night, command, folder_with, run

pytestmark = pytest.mark.skipif(GPUS == 0, reason="needs a GPU")


# Two pair lists, so that a repartition is between steps. Kernels take seconds on a CPU.
STEPS = ["--steps", 8]


def of(mdp, path, *options, **files):
    folder = folder_with(mdp, path)
    run(folder, "-q", "--allow", "W128", *STEPS, *options, **files)
    return outputs(folder)


def start(folder, *options):
    options = ["-q", "--comm-timeout", f"{DEADLINE}s", "--checkpoint", "0s", "--steps", 1000000, *options]
    return subprocess.Popen(command(*options), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def all_begun(process, folder, count):
    wait_until(lambda: len(children(process)) == count and (folder / "md.cpt").exists(), process)
    return children(process)


@pytest.fixture(scope="module")
def in_one(tmp_path_factory):
    return of(RUN, tmp_path_factory.mktemp("one"), "--gpus", 1)


@pytest.fixture(scope="module")
def pme_in_one(tmp_path_factory):
    return of(PME, tmp_path_factory.mktemp("pme_in_one"), "--gpus", 1)


NICS = ["--transport", "nic-emulation", "--nodes"]
CASES = [
    by_night(["--gpus", 1, "--ranks", 2]),
    ["--gpus", 2],
    ["--gpus", 2, "--ranks", 4],
    by_night(["--gpus", 2, "--halo", "staged-fused"]),
    by_night(["--gpus", 1, *NICS, "2x1"]),
    ["--gpus", 2, *NICS, "2x2"],
    by_night(["--gpus", 1, *NICS, "4x1", "--nic-latency", 30]),
]


@pytest.mark.parametrize("options", CASES, ids=str)
def test_outputs_are_those_of_one_process(in_one, tmp_path, options):
    if options[1] > GPUS:
        pytest.skip("needs 2 GPUs")
    assert of(RUN, tmp_path, "--processes", 2, *options) == in_one


@pytest.mark.parametrize("method,more", [
    ("shared", []),
    by_night("bricks", []),
    ("gathered", []),
    by_night("shared", [*NICS, "2x1"]),
    ("bricks", [*NICS, "2x1"]),
    by_night("gathered", [*NICS, "2x1"]),
], ids=str)
def test_outputs_with_pme_are_those_of_one_process(pme_in_one, tmp_path, method, more):
    options = ["--gpus", GPUS, "--ranks", 2, "--grid", "2x1x1", "--pme", method, *more]
    assert of(PME, tmp_path, "--processes", 2, *options) == pme_in_one


@needs_nvshmem
@pytest.mark.parametrize("processes,options", [
    (2, NVSHMEM),
    by_night(2, [*BEYOND_NVLINK, "2x1"]),
    (4, [*BEYOND_NVLINK, "2x2"]),
    by_night(4, [*BEYOND_NVLINK, "4x1", "--grid", "2x2x1"]),
], ids=str)
def test_outputs_in_the_memory_of_nvshmem_are_those_of_one_process(in_one, tmp_path, processes, options):
    assert of(RUN, tmp_path, "--processes", processes, *options) == in_one


@needs_nvshmem
@pytest.mark.parametrize("method", ["shared", by_night("bricks"), by_night("gathered")])
def test_outputs_with_pme_beyond_nvlink_are_those_of_one_process(pme_in_one, tmp_path, method):
    options = [*BEYOND_NVLINK, "2x1", "--grid", "2x1x1", "--pme", method]
    assert of(PME, tmp_path, "--processes", 2, *options) == pme_in_one


@needs_nvshmem
@pytest.mark.parametrize("sentence,options", [
    ("--halo direct: between nodes of GPUs halos are staged-fused. Use --halo staged-fused.", [*NVSHMEM, "--nodes", "2x1", "--halo", "direct"]),
    ("--nodes 2x2, --processes 2: there are as many ranks as the nodes have. Leave --ranks and --grid out, or give nodes of as many.",
     [*BEYOND_NVLINK, "2x2"]),
    ("--transport nvshmem, --processes 2, --ranks 4: with nvshmem each process has one rank and one GPU. Give --processes alone, or --gpus the "
     "same number.", ["--transport", "nvshmem", "--device", "gpu", "--ranks", 4]),
], ids=str)
def test_what_cannot_be_in_the_memory_of_nvshmem_is_refused(tmp_path, sentence, options):
    folder = folder_with(RUN, tmp_path)
    assert f"E010 command line  {sentence}\n" in run(folder, "-q", "--allow", "W128", "--processes", 2, *options, code=2)


@needs_nvshmem
@pytest.mark.parametrize("options", [[], ["--nodes", "2x1"]], ids=str)
def test_outputs_of_launched_processes_are_those_of_one(in_one, tmp_path, options):
    folder = folder_with(RUN, tmp_path)
    said = "".join(ends(launch(folder, 2, "--allow", "W128", *STEPS, *NVSHMEM, *options, timeout="60s")))
    assert [line for line in said.splitlines() if not line.startswith("note: N640")] == []
    assert outputs(folder) == in_one


@needs_nvshmem
def test_outputs_on_two_hosts_are_those_of_one(hosts, in_one, tmp_path):
    """Of processes that have no memory in common but NVSHMEM's, as is the stand-in's also between hosts of this kind."""
    if "standin" not in command()[0]:
        pytest.skip("NVSHMEM's processes would not meet over the cable")
    folder = folder_with(RUN, tmp_path)
    ends(hosts.launch(folder, "--allow", "W128", *STEPS, *NVSHMEM, "--nodes", "2x1", timeout="60s"))
    assert outputs(folder) == in_one
    assert "staged-fused" in (folder / "md.log").read_text()


@pytest.mark.parametrize("options", [["--device", "gpu"], [*NVSHMEM, "--gpus", 2]], ids=str)
def test_gpus_of_launched_processes_need_the_memory_of_nvshmem(tmp_path, options):
    for said in ends(launch(folder_with(RUN, tmp_path), 2, *options), code=2):
        assert said.startswith("E010 command line  --") and "GPUs of processes that a launcher has started" in said


@pytest.mark.parametrize("ways", [[0, 1], [1, 0]], ids=["to one", "from one"])
def test_runs_go_on_in_any_number_of_processes(in_one, tmp_path, ways):
    """On GPUs and, for what CPUs do by the same sums, back in one process."""
    folder = folder_with(RUN, tmp_path)
    options = [["--gpus", GPUS, "--ranks", 2, "--processes", 2], ["--gpus", 1]]
    run(folder, "-q", "--steps", 4, *options[ways[0]])
    run(folder, "-q", *STEPS, *options[ways[1]])
    assert outputs(folder) == in_one


def test_makes_room_where_atoms_are_unevenly_spread(tmp_path):
    """Half of the box is empty: the ranks of both processes need more slots than planned, and agree on that."""
    system = generated(3000, tmp_path)  # whose molecules are whole
    *lines, box = system["structure"].read_text().splitlines()
    edges = [float(edge) for edge in box.split()]
    wide = tmp_path / "wide.gro"
    wide.write_text("\n".join([*lines, f"{2.2 * edges[0]:.5f} {edges[1]:.5f} {edges[2]:.5f}"]) + "\n")
    mdp = RUN.replace("pcoupl = C-rescale", "pcoupl = no")
    spread = {**system, "structure": wide}
    options = ["--gpus", GPUS, "--grid", "2x1x1"]
    assert of(mdp, tmp_path / "two", "--processes", 2, *options, **spread) == of(mdp, tmp_path / "one", "--gpus", 1, **spread)


def test_halos_of_the_host_are_refused(tmp_path):
    folder = folder_with(RUN, tmp_path)
    assert "E010" in run(folder, "-q", "--processes", 2, "--gpus", 2, "--halo", "staged-dma", code=2)


IN_TWO = ["--gpus", GPUS, "--ranks", 2, "--processes", 2]
IN_TWO_BEYOND_NVLINK = [*BEYOND_NVLINK, "2x1", "--processes", 2]
EITHER_WAY = [pytest.param(IN_TWO, id="peer"), pytest.param(IN_TWO_BEYOND_NVLINK, id="beyond NVLink", marks=needs_nvshmem)]


@pytest.mark.parametrize("victim,options", [
    (0, IN_TWO),
    by_night(1, IN_TWO),
    pytest.param(1, IN_TWO_BEYOND_NVLINK, marks=needs_nvshmem),
    by_night(0, IN_TWO_BEYOND_NVLINK, marks=[needs_nvshmem]),
], ids=str)
def test_a_killed_process_is_named(tmp_path, victim, options):
    folder = folder_with(RUN, tmp_path)
    process = start(folder, *options)
    ranks = all_begun(process, folder, 2)
    os.kill(ranks[victim], signal.SIGKILL)
    said = expect_end(process, ranks, KILLED.format(victim), DEADLINE + 5)
    assert said.split(" ", 1)[1] in (folder / "md.log").read_text()


@needs_nvshmem
@pytest.mark.parametrize("options", [[], ["--nodes", "2x1"]], ids=str)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=lambda how: how.name)
def test_a_launched_process_that_ends_or_is_stopped_is_named(tmp_path, how, options):
    folder = folder_with(RUN, tmp_path)
    first, other = processes = launch(folder, 2, "--allow", "W128", *NVSHMEM, *options, "--steps", 1000000)
    try:
        wait_until(lambda: (folder / "md.cpt").exists(), first)
        other.send_signal(how)
        said = ends([first], code=6, seconds=DEADLINE + 6)[0]
    finally:
        for process in processes:
            process.kill()
    other.communicate()
    lost = r"E601 (The process of rank 1 on \S+ has (ended, or its connection is lost|been silent for [\d.]+ s)\.|Rank \d timed out after 3 s waiting for .*)"
    assert re.fullmatch(lost, said.splitlines()[-1])


@pytest.mark.parametrize("options", EITHER_WAY)
def test_a_stopped_process_is_named(tmp_path, options):
    folder = folder_with(RUN, tmp_path)
    process = start(folder, *options)
    ranks = all_begun(process, folder, 2)
    os.kill(ranks[1], signal.SIGSTOP)
    expect_end(process, ranks, EITHER_STOPPED, DEADLINE + 5)
