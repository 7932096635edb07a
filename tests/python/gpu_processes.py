# SPDX-License-Identifier: Apache-2.0
"""What tests of GPUs in several processes share: how many GPUs they use, the options for NVSHMEM's memory, and what two runs are compared by."""
import ctypes
import os
from pathlib import Path

import pytest

OUTPUTS = ["md.xtc", "md.trr", "md.edr", "md.gro"]
GPUS = min(2, int(os.environ.get("PARHELION_GPUS", len(list(Path("/proc/driver/nvidia/gpus").glob("*"))))))


def has_nvshmem():
    try:
        ctypes.CDLL("libnvshmem_host.so.3")
    except OSError:
        return False
    return True


needs_nvshmem = pytest.mark.skipif(not has_nvshmem(), reason="needs NVSHMEM's library (LD_LIBRARY_PATH)")
NVSHMEM = ["--device", "gpu", "--transport", "nvshmem"]
BEYOND_NVLINK = [*NVSHMEM, "--halo", "staged-fused", "--nodes"]


def outputs(folder):
    return {name: (folder / name).read_bytes() for name in OUTPUTS}
