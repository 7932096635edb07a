#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do two programs have the same GPU code? Then what was shown of the kernels of one holds for those of the other.

    tools/compare_kernels.py OLD/build-cuda/parhelion NEW/build-cuda/parhelion

Compares machine code, constants and size of the shared memory of every kernel (sections of the ELF images that cuobjdump takes out).
Prints a JSON line and what differs; exit code 1 if anything does.
"""
import argparse
import collections
import hashlib
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

CUDA = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
WITHOUT_BYTES = 8  # SHT_NOBITS


def sections(image):
    """(name, content) of a 64-bit ELF image; of a section without bytes, its size."""
    table = struct.unpack_from("<Q", image, 0x28)[0]
    size, count, names_at = struct.unpack_from("<HHH", image, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", image, table + i * size) for i in range(count)]
    names = image[headers[names_at][4]:][:headers[names_at][5]]
    for name, kind, _, _, offset, length in headers:
        content = str(length).encode() if kind == WITHOUT_BYTES else image[offset:offset + length]
        yield names[name:names.index(b"\0", name)].decode(), content


def without_place(name):
    """Names of anonymous namespaces tell from which folder and by which process their file was compiled; here the file's name is left."""
    while found := re.search(r"(\d+)_GLOBAL__N__", name):
        begin, end = found.start(), found.end(1) + int(found[1])
        name = name[:begin] + re.search(r"N__[0-9a-f]+_\d+_(\w+_cu)_", name[found.end(1):end])[1] + name[end:]
    return name


def gpu_code(program):
    """By section, sorted hashes of what the program has of it: one for each architecture, as a rule."""
    found = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        tool = CUDA / "bin" / "cuobjdump"
        subprocess.run([tool if tool.exists() else "cuobjdump", "-xelf", "all", program.resolve()], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        for image in Path(folder).iterdir():
            for name, content in sections(image.read_bytes()):
                if name.startswith((".text.", ".nv.constant", ".nv.shared")):
                    found[without_place(name)].append(hashlib.sha256(content).hexdigest())
    return {name: sorted(hashes) for name, hashes in found.items()}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("old", type=Path)
    arguments.add_argument("new", type=Path)
    options = arguments.parse_args()
    old, new = gpu_code(options.old), gpu_code(options.new)
    different = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    kernels = [sum(len(hashes) for name, hashes in code.items() if name.startswith(".text.")) for code in (old, new)]
    print(json.dumps({"kernels": kernels, "sections": [len(old), len(new)], "different": len(different)}))
    for name in different:
        print(name)
    return 0 if not different and kernels[0] > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
