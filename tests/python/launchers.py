# SPDX-License-Identifier: Apache-2.0
"""Runs whose processes a launcher starts: as torchrun does, which tells them no more than they need to meet, or by MPI's and OpenSHMEM's own."""
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runs import command

DEADLINE = 3  # s, of a wait for another rank, in tests that wait until then
FAR = 60  # s, in the others
AT_ONCE = FAR / 2  # s: who ends by then has not waited for the deadline, however busy the machine is
VENV = Path(sys.prefix)  # has an MPI with the standard binary interface
LAUNCHERS = {  # with their options, plugin, transports
    "openmpi": (["mpirun.openmpi", "--oversubscribe"], "libparhelion_mpi_openmpi.so", ["mpi", "mpi-rma"]),
    "mpich": (["mpirun.mpich"], "libparhelion_mpi_mpich.so", ["mpi", "mpi-rma", "mpi-put"]),
    "abi": ([str(VENV / "bin/mpiexec")], "libparhelion_mpi_abi.so", ["mpi", "mpi-rma", "mpi-put"]),
    "openshmem": (["setarch", "-R", "oshrun", "--oversubscribe"], "libparhelion_openshmem.so", ["openshmem"]),
}
KINDS = [f"{transport} by {launcher}" for launcher, (_, _, transports) in LAUNCHERS.items() for transport in transports]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def launch(folder, processes, *options, timeout=f"{DEADLINE}s", folders=None, **environment):
    """As torchrun does."""
    port = free_port()
    options = ["-q", "--threads", 1, "--comm-timeout", timeout, "--checkpoint", "0s", *options]
    return [subprocess.Popen(command(*options), cwd=folders[rank] if folders else folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env={**os.environ, "RANK": str(rank), "WORLD_SIZE": str(processes), "LOCAL_RANK": str(rank),
                                  "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), **environment})
            for rank in range(processes)]


def ends(processes, code=0, seconds=120):
    """What each has said, once all have ended."""
    until = time.monotonic() + seconds
    try:
        said = ["".join(p.communicate(timeout=max(0.1, until - time.monotonic()))) for p in processes]
    except subprocess.TimeoutExpired:
        for p in processes:
            p.kill()
        pytest.fail(f"still running after {seconds} s; have said: {[''.join(p.communicate()) for p in processes]}")
    assert [p.returncode for p in processes] == [code] * len(processes), said
    return said


def wait_until_begun(processes, folder):
    while not (folder / "md.xtc").exists() or (folder / "md.xtc").stat().st_size == 0:
        assert [p.poll() for p in processes] == [None] * len(processes), [p.communicate() for p in processes if p.poll() is not None]
        time.sleep(0.005)


def environment(name):
    known = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return known | {"LD_LIBRARY_PATH": str(VENV / "lib")} if name == "abi" else known


def is_here(name):
    launcher, plugin, _ = LAUNCHERS[name]
    return all(shutil.which(word) for word in launcher if not word.startswith("-")) and (Path(command()[0]).parent / plugin).exists()


def run_by(kind, folder, processes, *options):
    """A run of processes whose launcher is of the kind; skips the test where that is not here."""
    transport, name = kind.split(" by ")
    launcher, plugin, _ = LAUNCHERS[name]
    words = command("-q", "--threads", 1, "--transport", transport, *options)
    if not is_here(name):
        pytest.skip(f"{launcher} or {plugin} is not here")
    result = subprocess.run([*launcher, "-n", str(processes), *words], cwd=folder, env=environment(name), capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
