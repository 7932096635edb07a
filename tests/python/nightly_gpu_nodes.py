# SPDX-License-Identifier: Apache-2.0
"""Reproducible runs on virtual nodes of GPUs leave the same bits as one rank, checkpoints included, and go on from what ranks without
nodes have left, and the other way round.

The program is $PARHELION_PROGRAM, built for GPUs; all ranks are on one. On the stand-in that runs kernels on a CPU,
PARHELION_TEST_ATOMS=3000 PARHELION_TEST_STEPS=12 comes to an end.
"""
import os
import sys
from pathlib import Path

import pytest

from gpu_runs import PME, RUN, generated
from runs import folder_with, run, step_reached

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))
from compare_bits import differences  # noqa: E402

pytestmark = pytest.mark.skipif(os.environ.get("PARHELION_DEVICE") != "gpu", reason="PARHELION_DEVICE is not gpu")

ATOMS, STEPS = (int(os.environ.get(f"PARHELION_TEST_{name}", default)) for name, default in (("ATOMS", 24000), ("STEPS", 2400)))
MDP = {"rf": RUN, "pme": PME}
ON_ONE_GPU = ["-q", "--allow", "W128", "--device", "gpu", "--gpus", 1]


def on_nodes(nodes, *options):
    return [*ON_ONE_GPU, "--transport", "nic-emulation", "--nodes", nodes, *options]


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    return generated(ATOMS, tmp_path_factory.mktemp("system"))


def of(mdp, folder, system, *options):
    folder = folder_with(MDP[mdp].replace("nsteps = 12", f"nsteps = {STEPS}"), folder)
    run(folder, *options, **system)
    return folder


@pytest.fixture(scope="module")
def in_one(system, tmp_path_factory):
    return {mdp: of(mdp, tmp_path_factory.mktemp("one") / mdp, system, *ON_ONE_GPU, "--ranks", 1) for mdp in MDP}


def assert_same_bits(folder, in_one):
    assert {file: where for file, where in differences(in_one, folder).items() if where} == {}


# In the last of each a message takes as long as some steps do, or is as slow as a cable of 1 Gbit/s.
@pytest.mark.parametrize("mdp,nodes,options", [
    ("rf", "2x1", []),
    ("rf", "2x2", []),
    ("rf", "4x1", []),
    ("rf", "2x4", []),
    ("rf", "4x1", ["--nic-latency", 500]),
    ("rf", "2x2", ["--nic-latency", 30, "--nic-bandwidth", 0.125]),
    ("pme", "2x1", []),
    ("pme", "2x2", ["--pme", "gathered"]),
    ("pme", "4x1", ["--pme", "bricks"]),
    ("pme", "2x4", ["--pme", "bricks", "--nic-latency", 30]),
    ("pme", "4x1", ["--pme", "shared", "--grid", "4x1x1", "--nic-latency", 30]),
], ids=str)
def test_runs_on_nodes_have_the_bits_of_one_rank(in_one, system, tmp_path, mdp, nodes, options):
    folder = of(mdp, tmp_path / "run", system, *on_nodes(nodes, *options))
    assert_same_bits(folder, in_one[mdp])


@pytest.mark.parametrize("mdp", MDP)
def test_runs_go_on_on_nodes_and_without(in_one, system, tmp_path, mdp):
    ways = [[*ON_ONE_GPU, "--ranks", 4], on_nodes("2x2"), [*ON_ONE_GPU, "--ranks", 2, "--halo", "staged-fused"], on_nodes("4x1"),
            on_nodes("2x1"), [*ON_ONE_GPU, "--ranks", 1]]
    for n, way in enumerate(ways, 1):
        steps = STEPS * n // len(ways)
        folder = of(mdp, tmp_path / "run", system, *way, "--steps", steps)
        assert step_reached(folder) == steps
    assert_same_bits(folder, in_one[mdp])
