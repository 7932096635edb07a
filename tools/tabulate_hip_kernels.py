#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a table of what kernels need of an AMD GPU, from the metadata of compiled objects: registers, shared memory (LDS), spills, and
how many waves a SIMD can hold. Kernels that differ in template arguments alone share a row, which has their least and greatest value.

Nothing is run. The waves follow from registers and static shared memory by the limits of gfx90a and gfx942: 512 vector registers a lane
in steps of 8, 800 scalar registers, 64 KiB of LDS for four SIMDs, 8 waves a SIMD. Dynamic shared memory is not known here.

Usage: tabulate_hip_kernels.py build-hip > bench/results/hip_kernels.md
"""
import struct
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
LANES, SIMDS, MOST_WAVES, LDS = 64, 4, 8, 65536
NOTE_SECTION, METADATA_NOTE = 7, 32  # ELF's SHT_NOTE, and AMD's NT_AMDGPU_METADATA


def code_objects(content):
    """(target, ELF file) of each device part of an object file."""
    at = content.find(BUNDLE)
    while at >= 0:
        (count,) = struct.unpack_from("<Q", content, at + len(BUNDLE))
        entry = at + len(BUNDLE) + 8
        for _ in range(count):
            offset, size, length = struct.unpack_from("<QQQ", content, entry)
            target = content[entry + 24 : entry + 24 + length].decode()
            entry += 24 + length
            if target.startswith("hip"):
                yield target.rsplit("-", 1)[-1], content[at + offset : at + offset + size]
        at = content.find(BUNDLE, at + 1)


def unpack(data, at=0):
    """A value in MessagePack, of the kinds that metadata have, and the place behind it."""
    kind = data[at]
    at += 1
    if kind < 0x80:
        return kind, at
    if kind in (0xC2, 0xC3):
        return kind == 0xC3, at
    if 0xCC <= kind <= 0xD3:
        form = ">" + "BHIQbhiq"[kind - 0xCC]
        return struct.unpack_from(form, data, at)[0], at + struct.calcsize(form)
    if 0x80 <= kind <= 0xBF:  # a map of up to 15 pairs, an array of up to 15 values, a string of up to 31 bytes
        form, size = (("map", kind & 0x0F), ("array", kind & 0x0F), ("text", kind & 0x1F), ("text", kind & 0x1F))[(kind >> 4) - 8]
    else:
        form, width = {
            0xD9: ("text", "B"), 0xDA: ("text", "H"), 0xDB: ("text", "I"),
            0xDC: ("array", "H"), 0xDD: ("array", "I"), 0xDE: ("map", "H"), 0xDF: ("map", "I"),
        }[kind]  # fmt: skip
        (size,) = struct.unpack_from(">" + width, data, at)
        at += struct.calcsize(width)
    if form == "text":
        return data[at : at + size].decode(), at + size
    values = []
    for _ in range(size * (2 if form == "map" else 1)):
        value, at = unpack(data, at)
        values.append(value)
    return (dict(zip(values[::2], values[1::2])) if form == "map" else values), at


def kernels_of(elf):
    """The metadata of each kernel of an ELF file."""
    (sections,) = struct.unpack_from("<Q", elf, 0x28)
    size, count = struct.unpack_from("<HH", elf, 0x3A)
    for section in range(sections, sections + size * count, size):
        kind, offset = struct.unpack_from("<4xI16xQ", elf, section)
        if kind == NOTE_SECTION:
            name, length, note = struct.unpack_from("<III", elf, offset)
            if note == METADATA_NOTE:
                begin = offset + 12 + (name + 3) // 4 * 4
                return unpack(elf[begin : begin + length])[0].get("amdhsa.kernels", [])
    return []


def waves(kernel):
    """How many waves a SIMD holds at once."""
    of_block = -(-kernel[".max_flat_workgroup_size"] // LANES)
    by_vector = 512 // max(8, -(-kernel[".vgpr_count"] // 8) * 8)
    by_scalar = 8 if kernel[".sgpr_count"] <= 100 else 7
    shared = kernel[".group_segment_fixed_size"]
    by_shared = LDS // shared * of_block / SIMDS if shared else MOST_WAVES
    return min(MOST_WAVES, by_vector, by_scalar, by_shared)


def name_of(symbols):
    """Names without namespaces and template arguments, of mangled ones."""
    readable = subprocess.run(["c++filt", "-p"], input="\n".join(symbols), capture_output=True, text=True, check=True).stdout.split("\n")
    names = {}
    for symbol, name in zip(symbols, readable):
        name = name.replace("(anonymous namespace)::", "").split("<")[0].split("(")[0]
        names[symbol] = name.removeprefix("void ").removeprefix("parhelion::")
    return names


def span(values):
    least, most = min(values), max(values)
    return f"{least:g}" if least == most else f"{least:g} to {most:g}"


def main():
    found = defaultdict(dict)  # by target and symbol: a kernel that several objects have is one
    rooms = set()
    for path in sorted(Path(sys.argv[1]).rglob("*.cu.o")):
        for target, elf in code_objects(path.read_bytes()):
            for kernel in kernels_of(elf):
                found[target][kernel[".name"]] = kernel
                rooms.update(part[len("parhelion_") : -len("_hip.dir")] for part in path.parts if part.endswith("_hip.dir"))
    if not found:
        sys.exit(f"{sys.argv[1]}: no kernels for AMD GPUs (build the target hip_objects of preset hip first)")
    print("# Kernels on AMD GPUs: compiled, not run on hardware\n")
    print("`tools/tabulate_hip_kernels.py build-hip > bench/results/hip_kernels.md` writes this file after")
    print("`cmake --preset hip && cmake --build --preset hip`. Registers are a lane's; a wave has 64 lanes and holds two warps.")
    print(f"Objects were there of these rooms: {', '.join(sorted(rooms)) or 'none'}.")
    for target, kernels in sorted(found.items()):
        names = name_of(list(kernels))
        rows = defaultdict(list)
        for symbol, kernel in kernels.items():
            rows[names[symbol]].append(kernel)
        print(f"\n## {target}: {len(rows)} kernels, {len(kernels)} with their template arguments\n")
        print("| kernel | kinds | threads | vector registers | scalar registers | LDS, bytes | spilled registers | scratch, bytes | waves of 8 |")
        print("|---|---|---|---|---|---|---|---|---|")
        for name, kinds in sorted(rows.items()):
            of = lambda key: span([k[key] for k in kinds])  # noqa: E731
            spills = span([k[".vgpr_spill_count"] + k[".sgpr_spill_count"] for k in kinds])
            cells = [f"`{name}`", len(kinds), of(".max_flat_workgroup_size"), of(".vgpr_count"), of(".sgpr_count")]
            cells += [of(".group_segment_fixed_size"), spills, of(".private_segment_fixed_size"), span([waves(k) for k in kinds])]
            print("| " + " | ".join(map(str, cells)) + " |")


if __name__ == "__main__":
    main()
