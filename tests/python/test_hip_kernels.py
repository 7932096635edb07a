# SPDX-License-Identifier: Apache-2.0
"""tools/tabulate_hip_kernels.py reads the metadata of kernels in an object file made by hand."""
import struct
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "tabulate_hip_kernels.py"


def packed(value):
    """A value in MessagePack, in the forms that compilers write."""
    if isinstance(value, dict):
        return bytes([0x80 | len(value)]) + b"".join(packed(k) + packed(v) for k, v in value.items())
    if isinstance(value, list):
        return b"\xdc" + struct.pack(">H", len(value)) + b"".join(map(packed, value))
    if isinstance(value, str):
        return b"\xd9" + bytes([len(value)]) + value.encode()
    return bytes([value]) if value < 128 else b"\xcd" + struct.pack(">H", value)


def kernel(name, vector, shared=0, spilled=0, threads=64, scalar=30):
    return {
        ".name": name, ".max_flat_workgroup_size": threads, ".vgpr_count": vector, ".sgpr_count": scalar,
        ".group_segment_fixed_size": shared, ".vgpr_spill_count": spilled, ".sgpr_spill_count": 0, ".private_segment_fixed_size": 4 * spilled,
    }  # fmt: skip


def object_file(*kernels):
    """An object file with one device part for gfx90a: an ELF header, a note, and the header of its section."""
    metadata = packed({"amdhsa.kernels": list(kernels)})
    note = struct.pack("<III", 7, len(metadata), 32) + b"AMDGPU\0\0" + metadata
    elf = bytearray(64) + note
    struct.pack_into("<Q", elf, 0x28, len(elf))
    struct.pack_into("<HH", elf, 0x3A, 64, 1)
    elf += struct.pack("<4xI16xQ", 7, 64).ljust(64, b"\0")
    target = b"hipv4-amdgcn-amd-amdhsa--gfx90a"
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<QQQQ", 1, 24 + 8 + 24 + len(target), len(elf), len(target)) + target
    return b"before" + head + elf


def rows(folder):
    lines = subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True, check=True).stdout.splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    return {row[0]: row[1:] for row in cells}


def test_kernels_that_differ_in_template_arguments_share_a_row(tmp_path):
    one, other = "_ZN9parhelion5pairsIfEEvv", "_ZN9parhelion5pairsIdEEvv"
    (tmp_path / "a.cu.o").write_bytes(object_file(kernel(one, 60), kernel(other, 200, spilled=3)))
    assert rows(tmp_path) == {"`pairs`": ["2", "64", "60 to 200", "30", "0", "0 to 3", "0 to 12", "2 to 8"]}


def test_shared_memory_and_scalar_registers_limit_waves(tmp_path):
    by_shared, by_scalar = kernel("shared", 8, shared=32768, threads=256), kernel("scalar", 8, scalar=102)
    (tmp_path / "a.cu.o").write_bytes(object_file(by_shared, by_scalar))
    found = rows(tmp_path)
    assert found["`shared`"][-1] == "2"  # two blocks of four waves on four SIMDs
    assert found["`scalar`"][-1] == "7"


def test_a_folder_without_kernels_is_an_error(tmp_path):
    run = subprocess.run([sys.executable, TOOL, tmp_path], capture_output=True, text=True, check=False)
    assert run.returncode == 1 and "hip_objects" in run.stderr
