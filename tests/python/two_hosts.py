# SPDX-License-Identifier: Apache-2.0
"""Two hosts in one machine: network namespaces with names of their own, joined by a cable (a veth pair), with and without a limit of what it
carries. They need root, and iproute2. The fixture `hosts` is in conftest.py.
"""
import os
import subprocess
import time

from launchers import DEADLINE
from runs import command

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
