// SPDX-License-Identifier: Apache-2.0
// .trr: box, positions, velocities and forces, uncompressed, as float or double. Costs 12 or 24 bytes per atom and array on disk,
// and as much memory for the array being written. Reading looks at the headers and leaves arrays where they are until they are
// asked for, so that the last frame of a long file costs no more than that frame.
#pragma once

#include "base/numerics.hpp"
#include "io/output_file.hpp"
#include "io/xdr.hpp"
#include "model/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace parhelion {

class TrrWriter
{
public:
    // Mixed precision is written as float; kept: see OutputFile. Throws as OutputFile does.
    TrrWriter(std::string path, Precision precision, const FileMark& kept = {})
        : file_(std::move(path), kept), precision_(precision)
    {
    }

    // Writes the arrays that are not empty; they must be of one length. Throws InputError if the format's 32-bit sizes are too
    // small for them (above 178 956 970 atoms in float, 89 478 485 in double), SystemError.
    void write(const Frame& frame);
    OutputFile& file() { return file_; }
    void close() { file_.close(); }

private:
    template <class Real>
    void write_as(const Frame& frame);

    OutputFile file_;
    Precision precision_;
    XdrBuffer buffer_;
};

// One frame of a .trr, ours or GROMACS'. The arrays are bytes of the file; empty: the frame has none.
struct TrrFrame
{
    double time = 0;         // ps
    std::vector<double> box; // the three edge vectors, nm; empty: none
    std::int64_t atoms = 0;
    Precision precision = Precision::Mixed; // Mixed: float
    std::span<const std::byte> x, v;
};

class TrrReader
{
public:
    // The bytes of a .trr file, which must outlive the reader and its frames, and its name for messages.
    TrrReader(std::span<const std::byte> bytes, std::string name) : file_(bytes, name), name_(std::move(name)) {}

    // The next frame; false at the end of the file. Throws InputError E182 where the file is damaged.
    bool read(TrrFrame& frame);
    // frame.x or frame.v, as numbers. Throws InputError E182 for one that is not finite, or beyond 1e15.
    std::vector<Vec3<double>> vectors(const TrrFrame& frame, std::span<const std::byte> array) const;

private:
    XdrReader file_;
    std::string name_;
};

} // namespace parhelion
