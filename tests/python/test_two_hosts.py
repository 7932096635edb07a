# SPDX-License-Identifier: Apache-2.0
"""Runs on CPUs of two hosts (two_hosts.py), joined by a cable, with and without a limit of what it carries, give the bytes of one process, and
end on both sides when one dies or the cable is cut.

Needs root, and iproute2; without them all is skipped, which ctest shows. With MPI: its launchers and plugins, else these are skipped. The
program is $PARHELION_PROGRAM.
"""
import re
import shutil
import signal
import time
from pathlib import Path

import pytest

from launchers import AT_ONCE, DEADLINE, FAR, ends, wait_until_begun
from runs import RUN, assert_same_outputs, by_night, command, folder_with, run
from two_hosts import NETWORK


def expect_mpi(launcher):
    plugin = Path(command()[0]).parent / f"libparhelion_mpi_{launcher.split('.')[1]}.so"
    if shutil.which(launcher) is None or not plugin.exists():
        pytest.skip(f"{launcher} or {plugin.name} is not here")


@pytest.mark.parametrize("transport", [by_night("mpi"), "mpi-rma"])
def test_outputs_by_mpi_are_those_of_one_process(hosts, tmp_path, transport):
    expect_mpi("mpirun.mpich")
    folders = [folder_with(RUN.replace("nsteps = 400", "nsteps = 60"), tmp_path / name) for name in ["one", "two"]]
    run(folders[0], "-q", "--threads", 1)
    result = hosts.mpirun("mpirun.mpich", folders[1], "--transport", transport)
    assert result.returncode == 0, result.stderr
    for name in ["md.edr", "md.gro"]:
        assert folders[0].joinpath(name).read_bytes() == folders[1].joinpath(name).read_bytes()


def test_an_mpi_without_put_between_hosts_is_refused(hosts, tmp_path):
    """Debian's Open MPI has it on one host, or over networks other than TCP."""
    expect_mpi("mpirun.openmpi")
    result = hosts.mpirun("mpirun.openmpi", folder_with(RUN, tmp_path), "--transport", "mpi-rma")
    assert result.returncode == 6
    assert "E601 Transport mpi-rma cannot begin: it has no MPI_Put between these processes; use --transport mpi." in result.stderr


@pytest.mark.parametrize("rate", [by_night(None), "100mbit"])
def test_outputs_are_those_of_one_process(hosts, tmp_path, rate):
    folders = [folder_with(RUN, tmp_path / name) for name in ["one", "two"]]
    run(folders[0], "-q", "--threads", 1)
    if rate:
        hosts.limit(rate)
    ends(hosts.launch(folders[1], "--ranks", 4, "--grid", "1x2x2", timeout="60s"))
    assert_same_outputs(folders[1], folders[0])


def test_a_killed_process_is_named_with_its_host(hosts, tmp_path):
    folder = folder_with(RUN, tmp_path)
    first, other = processes = hosts.launch(folder, "--steps", 1000000, timeout=f"{FAR}s")
    wait_until_begun(processes, folder)
    other.send_signal(signal.SIGKILL)
    assert ends([first], code=6, seconds=AT_ONCE) == ["E601 The process of rank 1 on host-b has ended, or its connection is lost.\n"]
    other.communicate()


def test_both_sides_end_when_the_cable_is_cut(hosts, tmp_path):
    folder = folder_with(RUN, tmp_path)
    processes = hosts.launch(folder, "--steps", 1000000)
    wait_until_begun(processes, folder)
    hosts.cut()
    start = time.monotonic()
    first, other = ends(processes, code=6, seconds=AT_ONCE)
    assert re.fullmatch(r"E601 The process of rank 1 on host-b has been silent for [\d.]+ s\.\n", first)
    assert re.fullmatch(rf"E601 The process of rank 0 on {NETWORK}\.1 has been silent for [\d.]+ s\.\n", other)
    assert time.monotonic() - start > DEADLINE / 2
