# SPDX-License-Identifier: Apache-2.0
"""Two hosts in one machine: network namespaces with names of their own, joined by a cable (a veth pair), with and without a limit of what it
carries. Runs over them give the bytes of one process, and end on both sides when one dies or the cable is cut.

Needs root, and iproute2; without them all is skipped, which ctest shows. With MPI: its launchers and plugins, else these are skipped. The
program is $PARHELION_PROGRAM.
"""
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from launchers import DEADLINE, ends, wait_until_begun
from runs import RUN, assert_same_outputs, command, folder_with, run

NETWORK = "10.213.7"  # of the two alone


def ip(*words):
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


class Hosts:
    def __init__(self):
        self.names = [f"parhelion{os.getpid()}{side}" for side in "ab"]

    def begin(self):
        for name in self.names:
            ip("netns", "add", name)
        # A name of a network device has 15 characters at most; each namespace has its own "cable".
        ip("-n", self.names[0], "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", self.names[1])
        for number, name in enumerate(self.names, start=1):
            ip("-n", name, "address", "add", f"{NETWORK}.{number}/24", "dev", "cable")
            ip("-n", name, "link", "set", "cable", "up")

    def wait_until_up(self):
        """The kernel calls a cable up some time after it was plugged in, a second on a busy machine. UCX uses no cable before that."""
        end = time.monotonic() + 30
        while any(" state UP " not in ip("-n", name, "link", "show", "cable") for name in self.names):
            assert time.monotonic() < end, "the cable between the two hosts is not up after 30 s"
            time.sleep(0.01)

    def limit(self, rate):
        for name in self.names:
            subprocess.run(["tc", "-n", name, "qdisc", "replace", "dev", "cable", "root", "tbf", "rate", rate, "burst", "64kb", "latency", "10ms"],
                           check=True, capture_output=True)

    def cut(self):
        ip("-n", self.names[0], "link", "set", "cable", "down")

    def mpirun(self, launcher, folder, *options):
        """One process on each by MPI, over TCP alone: hosts in one machine would find shared memory. In place of ssh, a script enters them."""
        for name in self.names:
            ip("-n", name, "link", "set", "lo", "up")  # launchers call themselves by the host's address
        shell = folder / "enter"
        enter = "\n".join(f'{NETWORK}.{number}|host-{side}) in={name} ;;' for number, (name, side) in enumerate(zip(self.names, "ab"), start=1))
        shell.write_text(f'#!/bin/bash\nwhile [[ $1 == -* ]]; do shift; done\ncase $1 in\n{enter}\nesac\nshift\n'
                         'exec ip netns exec "$in" unshare --uts sh -c "hostname host-${in: -1}; $*"\n')
        shell.chmod(0o755)
        first, second = f"{NETWORK}.1", f"{NETWORK}.2"
        words = {"mpirun.mpich": ["-launcher", "ssh", "-launcher-exec", shell, "-iface", "cable", "-hosts", f"{first},{second}"],
                 "mpirun.openmpi": ["--mca", "plm_rsh_agent", shell, "--mca", "oob_tcp_if_include", "cable", "--mca", "btl_tcp_if_include", "cable",
                                    "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "-x", "PARHELION_HOST", "--host", f"{first},{second}"]}[launcher]
        environment = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "cable", "PARHELION_HOST": f"{first}:29473",
                       "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        whole = ["ip", "netns", "exec", self.names[0], "unshare", "--uts", "sh", "-c", 'hostname host-a; exec "$@"', "sh", launcher, *words, "-n", "2",
                 *command("-q", "--threads", 1, *options)]
        return subprocess.run([str(word) for word in whole], cwd=folder, env=os.environ | environment, capture_output=True, text=True, timeout=150)

    def end(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

    def launch(self, folder, *options, timeout=f"{DEADLINE}s"):
        """One process on each."""
        options = ["-q", "--threads", 1, "--comm-timeout", timeout, "--checkpoint", "0s", *options]
        return [subprocess.Popen(["ip", "netns", "exec", name, "unshare", "--uts", "sh", "-c", f'hostname host-{side}; exec "$@"', "sh", *command(*options)],
                                 cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 env={**os.environ, "PARHELION_RANK": str(rank), "PARHELION_SIZE": "2", "PARHELION_HOST": f"{NETWORK}.1:29473"})
                for rank, (name, side) in enumerate(zip(self.names, "ab"))]


@pytest.fixture()
def hosts():
    made = Hosts()
    try:
        made.begin()
    except (OSError, subprocess.CalledProcessError) as error:
        made.end()
        pytest.skip(f"no network namespaces here (root and iproute2 make them): {getattr(error, 'stderr', error)}")
    try:
        made.wait_until_up()
        yield made
    finally:
        made.end()


def expect_mpi(launcher):
    plugin = Path(command()[0]).parent / f"libparhelion_mpi_{launcher.split('.')[1]}.so"
    if shutil.which(launcher) is None or not plugin.exists():
        pytest.skip(f"{launcher} or {plugin.name} is not here")


@pytest.mark.parametrize("transport", ["mpi", "mpi-rma"])
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


@pytest.mark.parametrize("rate", [None, "100mbit"])
def test_outputs_are_those_of_one_process(hosts, tmp_path, rate):
    folders = [folder_with(RUN, tmp_path / name) for name in ["one", "two"]]
    run(folders[0], "-q", "--threads", 1)
    if rate:
        hosts.limit(rate)
    ends(hosts.launch(folders[1], "--ranks", 4, "--grid", "1x2x2", timeout="60s"))
    assert_same_outputs(folders[1], folders[0])


def test_a_killed_process_is_named_with_its_host(hosts, tmp_path):
    folder = folder_with(RUN, tmp_path)
    first, other = processes = hosts.launch(folder, "--steps", 1000000)
    wait_until_begun(processes, folder)
    other.send_signal(signal.SIGKILL)
    assert ends([first], code=6, seconds=DEADLINE + 5) == ["E601 The process of rank 1 on host-b has ended, or its connection is lost.\n"]
    other.communicate()


def test_both_sides_end_when_the_cable_is_cut(hosts, tmp_path):
    folder = folder_with(RUN, tmp_path)
    processes = hosts.launch(folder, "--steps", 1000000)
    wait_until_begun(processes, folder)
    hosts.cut()
    start = time.monotonic()
    first, other = ends(processes, code=6, seconds=DEADLINE + 5)
    assert re.fullmatch(r"E601 The process of rank 1 on host-b has been silent for [\d.]+ s\.\n", first)
    assert re.fullmatch(rf"E601 The process of rank 0 on {NETWORK}\.1 has been silent for [\d.]+ s\.\n", other)
    assert time.monotonic() - start > DEADLINE / 2
