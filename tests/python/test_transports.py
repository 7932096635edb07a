# SPDX-License-Identifier: Apache-2.0
"""Runs whose messages are carried by MPI or OpenSHMEM: the same bytes as ranks that are threads have. A kind is left out where its launcher
or its plugin is missing."""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from launchers import KINDS, LAUNCHERS, environment, is_here, run_by
from runs import SHORT, command, folder_with, run

# Who puts spins until the other side has called MPI: more processes than cores are slow.
CASES = [(kind, processes) for kind in KINDS for processes in ([2] if kind.startswith("mpi-put") else [1, 2, 4])]


@pytest.fixture(scope="module")
def of_threads(tmp_path_factory):
    folder = folder_with(SHORT, tmp_path_factory.mktemp("threads"))
    run(folder, "-q", "--threads", 1, "--ranks", 2)
    return folder


@pytest.mark.parametrize("kind,processes", CASES)
def test_same_bytes_as_threads(kind, processes, of_threads, tmp_path):
    folder = folder_with(SHORT, tmp_path / "run")
    run_by(kind, folder, processes)
    for name in ("md.edr", "md.gro"):
        assert (folder / name).read_bytes() == (of_threads / name).read_bytes()
    transport = kind.split(" by ")[0] if processes > 1 else "none"
    assert re.findall("^transport (.*)$", (folder / "md.log").read_text(), re.MULTILINE) == [transport] * (processes > 1)
    assert json.loads((folder / "md.report.json").read_text())["transport"] == transport


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
