# SPDX-License-Identifier: Apache-2.0
"""Runs whose messages are carried by MPI or OpenSHMEM: the same bytes as ranks that are threads have. A kind is left out where its launcher
or its plugin is missing."""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from test_continuation import RUN, command, folder_with, run

SHORT = RUN.replace("nsteps = 400", "nsteps = 60")
VENV = Path(sys.prefix)  # has an MPI with the standard binary interface
LAUNCHERS = {  # with their options, plugin, transports
    "openmpi": (["mpirun.openmpi", "--oversubscribe"], "libparhelion_mpi_openmpi.so", ["mpi", "mpi-rma"]),
    "mpich": (["mpirun.mpich"], "libparhelion_mpi_mpich.so", ["mpi", "mpi-rma", "mpi-put"]),
    "abi": ([str(VENV / "bin/mpiexec")], "libparhelion_mpi_abi.so", ["mpi", "mpi-rma", "mpi-put"]),
    "openshmem": (["setarch", "-R", "oshrun", "--oversubscribe"], "libparhelion_openshmem.so", ["openshmem"]),
}
KINDS = [f"{transport} by {launcher}" for launcher, (_, _, transports) in LAUNCHERS.items() for transport in transports]
# Who puts spins until the other side has called MPI: more processes than cores are slow.
CASES = [(kind, processes) for kind in KINDS for processes in ([2] if kind.startswith("mpi-put") else [1, 2, 4])]


def environment(name):
    known = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return known | {"LD_LIBRARY_PATH": str(VENV / "lib")} if name == "abi" else known


def is_here(name):
    launcher, plugin, _ = LAUNCHERS[name]
    return all(shutil.which(word) for word in launcher if not word.startswith("-")) and (Path(command()[0]).parent / plugin).exists()


@pytest.fixture(scope="module")
def of_threads(tmp_path_factory):
    folder = folder_with(SHORT, tmp_path_factory.mktemp("threads"))
    run(folder, "-q", "--threads", 1, "--ranks", 2)
    return folder


def run_by(kind, folder, processes, *options):
    """A run of processes whose launcher is of the kind; skips the test where that is not here."""
    transport, name = kind.split(" by ")
    launcher, plugin, _ = LAUNCHERS[name]
    words = command("-q", "--threads", 1, "--transport", transport, *options)
    if not is_here(name):
        pytest.skip(f"{launcher} or {plugin} is not here")
    result = subprocess.run([*launcher, "-n", str(processes), *words], cwd=folder, env=environment(name), capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("kind,processes", CASES)
def test_same_bytes_as_threads(kind, processes, of_threads, tmp_path):
    folder = folder_with(SHORT, tmp_path / "run")
    run_by(kind, folder, processes)
    for name in ("md.edr", "md.gro"):
        assert (folder / name).read_bytes() == (of_threads / name).read_bytes()
    transport = kind.split(" by ")[0]
    assert re.findall("^transport (.*)$", (folder / "md.log").read_text(), re.MULTILINE) == [transport]
    assert json.loads((folder / "md.report.json").read_text())["transport"] == (transport if processes > 1 else "none")


def test_without_a_launcher_is_refused(tmp_path):
    run(folder_with(SHORT, tmp_path / "run"), "--transport", "mpi", code=2)


def doctor(program, **more):
    return subprocess.run([program, "doctor"], env=os.environ | more, capture_output=True, text=True, timeout=60, check=True).stdout


def test_doctor_tells_which_libraries_it_can_open(tmp_path):
    program = Path(command()[0])
    told = doctor(program)
    of_venv = doctor(program, **environment("abi"))
    for name, library in {"openmpi": "Open MPI v", "mpich": "MPICH Version", "abi": "MPICH Version", "openshmem": "OpenSHMEM "}.items():
        transports = "openshmem" if name == "openshmem" else "mpi, mpi-rma, mpi-put"
        if is_here(name):
            assert f"transport {transports} ({LAUNCHERS[name][1]}): {library}" in (of_venv if name == "abi" else told)
    alone = shutil.copy(program, tmp_path / "parhelion")
    assert "transport mpi, mpi-rma, mpi-put (libparhelion_mpi_mpich.so): no: libparhelion_mpi_mpich.so is neither beside the program" in doctor(alone)
