# SPDX-License-Identifier: Apache-2.0
"""What `make build` makes beside the program, and what it says that it has left out."""
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def configure(folder, *options):
    """The communication library, whose plugins are those of the program: which there are targets for, and what was left out."""
    done = subprocess.run(["cmake", "-G", "Ninja", "-S", ROOT / "src/comm", "-B", folder, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    inputs = subprocess.run(["ninja", "-C", folder, "-t", "inputs", "plugins"], capture_output=True, text=True, check=True).stdout
    made = set(re.findall(r"_target_(parhelion_\w+)$", inputs, re.M))  # of each, its order
    left_out = dict(re.findall(r"^Left out: lib(parhelion_\w+)\.so, for want of (.*)$", (folder / "left_out.txt").read_text(), re.M))
    return made, left_out


def test_each_transport_over_mpi_is_made_or_said_to_be_left_out(tmp_path):
    made, left_out = configure(tmp_path / "as_it_is")
    assert made | set(left_out) == {"parhelion_mpi_openmpi", "parhelion_mpi_mpich", "parhelion_mpi_abi", "parhelion_openshmem"}
    assert not made & set(left_out)


def test_headers_that_are_there_make_a_transport(tmp_path):
    """All are looked for in an empty folder, but for MPICH's."""
    headers = tmp_path / "headers"
    headers.mkdir()
    (headers / "mpi.h").touch()
    configure(tmp_path / "build")
    sodium = re.search(r"^SODIUM_HEADER:\w+=(.*)$", (tmp_path / "build/CMakeCache.txt").read_text(), re.M)[1]
    made, left_out = configure(
        tmp_path / "other", f"-DSODIUM_HEADER={sodium}", f"-DPARHELION_MPICH_HEADERS={headers}",
        f"-DCMAKE_FIND_ROOT_PATH={tmp_path}", "-DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY")
    assert made == {"parhelion_mpi_mpich"}
    assert left_out["parhelion_mpi_openmpi"] == "mpi.h (libopenmpi-dev)"
    assert left_out["parhelion_openshmem"] == "shmem.h (libopenmpi-dev)"


def test_make_build_makes_them_and_tells():
    asked = subprocess.run(["make", "-n", "-C", ROOT, "build"], capture_output=True, text=True, check=True).stdout
    assert re.search(r"cmake --build build --target parhelion plugins", asked)
    assert "cat build/left_out.txt" in asked
