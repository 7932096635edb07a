# SPDX-License-Identifier: Apache-2.0
"""Reads .edr files, of this program (double) and of GROMACS in either precision; format: src/io/output/edr.hpp. Needs Python alone."""
import struct
from pathlib import Path

FILE_MAGIC, FRAME_MAGIC, VERSION = -55555, -7777777, 5
NEW_STYLE = -2e10  # what a frame begins with


class Reader:
    """Big-endian numbers, one after the other."""

    def __init__(self, content):
        self.content, self.at, self.real = content, 0, "d"

    def __call__(self, kinds):
        values = struct.unpack_from(">" + kinds, self.content, self.at)
        self.at += struct.calcsize(">" + kinds)
        return values

    def text(self):
        (length,) = self("i")
        begin, self.at = self.at, self.at + (length + 3) // 4 * 4
        return self.content[begin:begin + length].decode()


class Sample:
    """A frame: `means` are averages over `count` energy calculations, those since the frame before."""

    def __init__(self, time, count, means):
        self.time, self.count, self.means = time, count, means


def read_frame(read, terms):
    if read.content[read.at:read.at + 8] != struct.pack(">d", NEW_STYLE):
        read.real = "f"
    start, magic, version, time, _, count, _, _, found, _, blocks, *_ = read(read.real + "iidqiqdiiiiii")
    if magic != FRAME_MAGIC or version != VERSION or found not in (0, terms):
        raise ValueError(f"no frame of an .edr file of version {VERSION} at byte {read.at}")
    if blocks:
        raise ValueError("frames with blocks of other data are not read")
    fields = 3 if count > 0 else 1  # a value; then its squared deviations and its sum
    values = read(read.real * (fields * found))
    means = [total / count for total in values[2::3]] if count > 0 else list(values)
    return Sample(time, max(count, 1), means)


def read_energies(path):
    """Names of the terms, and the samples in order of time. A last frame that was cut is left out."""
    read = Reader(Path(path).read_bytes())
    magic, version, terms = read("iii")
    if (magic, version) != (FILE_MAGIC, VERSION):
        raise ValueError(f"{path} is no .edr file of version {VERSION}")
    names = [(read.text(), read.text())[0] for _ in range(terms)]
    samples = []
    while read.at < len(read.content):
        try:
            sample = read_frame(read, terms)
        except struct.error:
            break
        if sample.means:
            samples.append(sample)
    return names, samples
