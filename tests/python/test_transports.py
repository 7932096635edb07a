# SPDX-License-Identifier: Apache-2.0
"""Runs whose messages are carried by MPI or OpenSHMEM: the same bytes as ranks that are threads have. A kind is left out where its launcher
or its plugin is missing."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from test_continuation import RUN, command, folder_with, run

SHORT = RUN.replace("nsteps = 400", "nsteps = 60")
KINDS = {  # launcher, its options, plugin, transport
    "openmpi": (["mpirun.openmpi"], ["--oversubscribe"], "libparhelion_mpi_openmpi.so", "mpi"),
    "mpich": (["mpirun.mpich"], [], "libparhelion_mpi_mpich.so", "mpi"),
    "openshmem": (["setarch", "-R", "oshrun"], ["--oversubscribe"], "libparhelion_openshmem.so", "openshmem"),
}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.fixture(scope="module")
def of_threads(tmp_path_factory):
    folder = folder_with(SHORT, tmp_path_factory.mktemp("threads"))
    run(folder, "-q", "--threads", 1, "--ranks", 2)
    return folder


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("processes", [1, 2, 4])
def test_same_bytes_as_threads(kind, processes, of_threads, tmp_path):
    launcher, options, plugin, transport = KINDS[kind]
    words = command("-q", "--threads", 1, "--transport", transport)
    if shutil.which(launcher[-1]) is None or not (Path(words[0]).parent / plugin).exists():
        pytest.skip(f"{launcher[-1]} or {plugin} is not here")
    folder = folder_with(SHORT, tmp_path / "run")
    whole = [*launcher, *options, "-n", str(processes), *words]
    result = subprocess.run(whole, cwd=folder, env=os.environ | AS_ROOT, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    for name in ("md.edr", "md.gro"):
        assert (folder / name).read_bytes() == (of_threads / name).read_bytes()


def test_without_a_launcher_is_refused(tmp_path):
    run(folder_with(SHORT, tmp_path / "run"), "--transport", "mpi", code=2)


def doctor(program):
    return subprocess.run([program, "doctor"], capture_output=True, text=True, timeout=60, check=True).stdout


def test_doctor_tells_which_libraries_it_can_open(tmp_path):
    program = Path(command()[0])
    told = doctor(program)
    for kind, library in {"openmpi": "Open MPI v", "mpich": "MPICH Version", "openshmem": "OpenSHMEM "}.items():
        launcher, _, plugin, transport = KINDS[kind]
        if shutil.which(launcher[-1]) is not None and (program.parent / plugin).exists():
            assert f"transport {transport} ({plugin}): {library}" in told
    alone = shutil.copy(program, tmp_path / "parhelion")
    assert "transport mpi (libparhelion_mpi_mpich.so): no: libparhelion_mpi_mpich.so is neither beside the program" in doctor(alone)
