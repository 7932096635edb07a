# SPDX-License-Identifier: Apache-2.0
"""Runs on virtual nodes with an emulated network between them: the same bytes as in one process, by any shape, alone or over processes, and
checkpoints that any transport goes on from.

The program is $PARHELION_PROGRAM.
"""
import json
import os
import re

import pytest

from launchers import ends, launch
from runs import NICS, RUN, assert_same_outputs, by_night, folder_with, run


def without_note(said):
    return "".join(line for line in said.splitlines(True) if not line.startswith("note: N640"))


@pytest.mark.parametrize("options", [
    by_night(["--nodes", "2x1"]),
    ["--nodes", "2x4", "--halo", "staged-fused"],
    ["--nodes", "4x2", "--halo", "staged-host", "--nic-latency", 20, "--nic-bandwidth", 0.5],
    by_night(["--nodes", "8x1", "--grid", "1x2x4", "--nic-latency", 0]),
    by_night(["--nodes", "2x2", "--processes", 2]),
    ["--nodes", "4x1", "--processes", 2, "--grid", "1x2x2"],
], ids=str)
def test_outputs_are_those_of_one_process(in_one, tmp_path, options):
    folder = folder_with(RUN, tmp_path)
    assert without_note(run(folder, *NICS, *options)) == ""
    assert_same_outputs(folder, in_one)


def test_outputs_with_pme_are_those_of_threads(tmp_path):
    pme = RUN.replace("reaction-field", "PME").replace("epsilon-rf = 0\n", "").replace("nsteps = 400", "nsteps = 100")
    folders = [folder_with(pme, tmp_path / name) for name in ["threads", "nodes"]]
    run(folders[0], "-q", "--threads", 1, "--ranks", 4)
    run(folders[1], *NICS, "--nodes", "2x2")
    for name in ["md.xtc", "md.trr", "md.edr", "md.gro"]:
        assert folders[0].joinpath(name).read_bytes() == folders[1].joinpath(name).read_bytes()


def test_runs_go_on_over_any_transport(in_one, tmp_path):
    folder = folder_with(RUN, tmp_path)
    run(folder, "-q", "--ranks", 2, "--threads", 1, "--steps", 70)
    run(folder, *NICS, "--nodes", "2x2", "--steps", 140)
    run(folder, "-q", "--processes", 3, "--threads", 1, "--steps", 210)
    ends(launch(folder, 2, "--steps", 280))  # by TCP
    run(folder, *NICS, "--nodes", "4x2", "--processes", 4, "--steps", 350)
    run(folder, "-q", "--threads", 2)
    assert_same_outputs(folder, in_one)


def test_log_and_report_tell_the_network_and_the_cores_of_the_proxies(tmp_path):
    folder = folder_with(RUN, tmp_path)
    run(folder, *NICS, "--nodes", "2x1", "--nic-latency", 5, "--steps", 20)
    network = "nic-emulation, 2 virtual nodes of 1 rank, 5 us, 25 GB/s"
    log = (folder / "md.log").read_text()
    assert f"transport {network}\n" in log
    report = json.loads((folder / "md.report.json").read_text())
    assert report["transport"] == network
    cores = list(report["helpers"].values())
    assert list(report["helpers"]) == ["proxy of node 0", "proxy of node 1"]
    told = ", ".join(f"{name} {'with the compute threads' if core < 0 else f'on core {core}'}" for name, core in report["helpers"].items())
    assert f"helpers   {told}\n" in log
    free = len(os.sched_getaffinity(0)) - 2
    if free < 2:
        assert len(re.findall("N640 no core of its own for: proxy of node", log)) == 1
    if free < 1:
        assert cores == [-1, -1]


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_a_helper_has_a_core_where_one_is_free(tmp_path):
    """One thread computes, and one listens to the launcher: beside each other, whoever of them is the first process."""
    folder = folder_with(RUN, tmp_path)
    run(folder, *NICS, "--nodes", "1x1", "--steps", 20)
    report = json.loads((folder / "md.report.json").read_text())
    assert report["helpers"] == {"proxy of node 0": max(os.sched_getaffinity(0))}
    assert "N640" not in (folder / "md.log").read_text()


@pytest.mark.parametrize("options", [
    ["--transport", "nic-emulation"],
    ["--nodes", "2x2"],
    ["--transport", "nic-emulation", "--nodes", "2"],
    ["--transport", "nic-emulation", "--nodes", "0x2"],
    ["--transport", "nic-emulation", "--nodes", "2x2x1"],
    ["--transport", "nic-emulation", "--nodes", "2x2", "--ranks", 3],
    ["--transport", "nic-emulation", "--nodes", "2x2", "--processes", 4],
], ids=str)
def test_what_cannot_be_is_refused(tmp_path, options):
    folder = folder_with(RUN, tmp_path)
    assert "E010" in run(folder, "-q", *options, code=2)


# What comes between nodes of GPUs, too; told before any GPU is looked for.
REFUSED_OF_GPUS = [
    ("--transport nic-emulation: nic-emulation joins the nodes of --nodes, and of other transports nvshmem alone has nodes. Give both, as in "
     "--transport nic-emulation --nodes 2x4, or neither.", []),
    *((f"--halo {halo}, --nodes 2x2, --transport nic-emulation: between nodes of GPUs halos are staged-fused. Use --halo staged-fused.",
       ["--nodes", "2x2", "--halo", halo]) for halo in ("direct", "staged-host", "staged-dma")),
    ("--pme dedicated:1, --nodes 2x2, --transport nic-emulation: between nodes of GPUs the mesh of PME is not dedicated. Use another way, or "
     "auto.", ["--nodes", "2x2", "--ranks", 4, "--pme", "dedicated:1"]),
    ("--nodes 2x2, --processes 3: each process has whole nodes. Give as many --processes as nodes, or fewer that divide them.",
     ["--nodes", "2x2", "--processes", 3]),
    ("--nodes 2x2, --ranks 3: there are as many ranks as the nodes have. Leave --ranks and --grid out, or give nodes of as many.",
     ["--nodes", "2x2", "--ranks", 3]),
    ("--nodes 2x2, --grid 2x1x1: there are as many ranks as the nodes have. Leave --ranks and --grid out, or give nodes of as many.",
     ["--nodes", "2x2", "--grid", "2x1x1"]),
]


@pytest.mark.parametrize("gpus", [["--device", "gpu"], ["--gpus", 1]], ids=str)
@pytest.mark.parametrize("sentence,options", REFUSED_OF_GPUS, ids=lambda of: str(of) if isinstance(of, list) else "")
def test_what_cannot_be_between_nodes_of_gpus_is_refused_with_one_sentence(tmp_path, gpus, sentence, options):
    folder = folder_with(RUN, tmp_path)
    said = run(folder, "-q", "--transport", "nic-emulation", *gpus, *options, code=2)
    assert said == f"E010 command line  {sentence}\n"
    assert sorted(path.name for path in folder.iterdir()) == ["md.mdp"]


def test_a_launchers_processes_are_no_virtual_nodes(tmp_path):
    folder = folder_with(RUN, tmp_path)
    for said in ends(launch(folder, 2, "--transport", "nic-emulation", "--nodes", "2x1"), 2):
        assert "E010" in said
