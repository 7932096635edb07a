# SPDX-License-Identifier: Apache-2.0
"""Reproducible runs on CPUs leave the same bits on every grid of 1, 2, 4 and 8 ranks by whatever carries their messages, and go on from
checkpoints that any other has made. A carrier is left out where its launcher or its plugin is missing.

The program is $PARHELION_PROGRAM.
"""
import os
import sys
from pathlib import Path

import pytest

from launchers import KINDS, ends, launch, run_by
from runs import NICS, SHORT, folder_with, run, step_reached

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))
from compare_bits import differences  # noqa: E402

# By name: runs so many ranks in the folder, with options.
CARRIERS = {
    "threads": lambda folder, ranks, *options: run(folder, "-q", "--threads", 1, *options),
    "processes": lambda folder, ranks, *options: run(folder, "-q", "--threads", 1, "--processes", ranks, *options),
    "processes of two ranks": lambda folder, ranks, *options: run(folder, "-q", "--threads", 1, "--processes", ranks // 2, *options),
    "nic-emulation": lambda folder, ranks, *options: run(folder, *NICS, "--nodes", f"{ranks}x1", *options),
    "nic-emulation, nodes of two": lambda folder, ranks, *options: run(folder, *NICS, "--nodes", f"{ranks // 2}x2", *options),
    "tcp": lambda folder, ranks, *options: ends(launch(folder, ranks, *options, timeout="60s"), seconds=300),
    **{kind: lambda folder, ranks, *options, kind=kind: run_by(kind, folder, ranks, *options) for kind in KINDS},
}
GRIDS = [(x, y, ranks // x // y) for ranks in (1, 2, 4, 8) for x in (1, 2, 4, 8) for y in (1, 2, 4, 8) if ranks % (x * y) == 0]
CASES = [(carrier, grid) for carrier in CARRIERS for grid in GRIDS if "two" not in carrier or grid != (1, 1, 1)]


# Who puts spins until the other side has called MPI: on fewer cores each message takes turns of all of them.
CORES = max(2, len(os.sched_getaffinity(0)))


def expect_cores(carrier, ranks):
    if carrier.startswith("mpi-put") and ranks > CORES:
        pytest.skip(f"mpi-put on {ranks} ranks needs as many cores")


def of_grid(grid):
    return ["--grid", "x".join(map(str, grid))]


@pytest.fixture(scope="module")
def in_one(tmp_path_factory):
    folder = folder_with(SHORT, tmp_path_factory.mktemp("one"))
    run(folder, "-q", "--threads", 1)
    return folder


def assert_same_bits(folder, in_one):
    assert {file: where for file, where in differences(in_one, folder).items() if where} == {}


@pytest.mark.parametrize("carrier,grid", CASES, ids=str)
def test_every_grid_by_every_carrier_has_the_bits_of_one_rank(carrier, grid, in_one, tmp_path):
    expect_cores(carrier, grid[0] * grid[1] * grid[2])
    folder = folder_with(SHORT, tmp_path / "run")
    CARRIERS[carrier](folder, grid[0] * grid[1] * grid[2], *of_grid(grid))
    assert_same_bits(folder, in_one)


@pytest.mark.parametrize("first,then", list(zip(CARRIERS, [*list(CARRIERS)[1:], "threads"])))
def test_a_checkpoint_of_one_carrier_is_gone_on_from_by_another(first, then, in_one, tmp_path):
    folder = folder_with(SHORT, tmp_path / "run")
    CARRIERS[first](folder, 2, *of_grid((1, 1, 2)), "--steps", 30)
    assert step_reached(folder) == 30
    grid = (1, 2, 1) if then.startswith("mpi-put") else (1, 2, 2)
    CARRIERS[then](folder, grid[0] * grid[1] * grid[2], *of_grid(grid))
    assert_same_bits(folder, in_one)
