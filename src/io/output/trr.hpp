// SPDX-License-Identifier: Apache-2.0
// .trr: box, positions, velocities and forces, uncompressed, as float or double. An array takes 12 or 24 bytes
// per atom on disk, and as much memory while it is written. Reading parses the headers and leaves arrays in
// the file until they are asked for, so the last frame of a long file costs no more than that frame.
#pragma once

#include "base/numerics.hpp"
#include "io/output/output_file.hpp"
#include "io/output/xdr.hpp"
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
    // Writes `Mixed` precision as float. kept: see OutputFile. Throws the errors of OutputFile.
    TrrWriter(std::string path, Precision precision, const FileMark& kept = {})
        : file_(std::move(path), kept), precision_(precision)
    {
    }

    // Writes the arrays that are not empty; they must have the same length. Throws SystemError, and InputError
    // if the arrays exceed the format's 32-bit sizes (above 178 956 970 atoms in float, 89 478 485 in double).
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

// One frame of a .trr that this program or GROMACS wrote. The arrays are bytes of the file; empty: the frame has no such array.
struct TrrFrame
{
    std::int64_t step = 0;   // the low 32 bits of the step
    double time = 0;         // ps
    std::vector<double> box; // the three edge vectors, nm; empty: the frame has no box
    std::int64_t atoms = 0;
    Precision precision = Precision::Mixed; // Mixed means float
    std::span<const std::byte> x, v, f;
};

class TrrReader
{
public:
    // `bytes` are a .trr file. They must outlive the reader and its frames. Messages use `name` for the file.
    TrrReader(std::span<const std::byte> bytes, std::string name) : file_(bytes, name), name_(std::move(name)) {}

    // Reads the next frame; returns false at the end of the file. Throws InputError E182 if the file is damaged.
    bool read(TrrFrame& frame);
    // Returns frame.x or frame.v as numbers. Throws InputError E182 for a number that is not finite or beyond 1e15.
    std::vector<Vec3<double>> vectors(const TrrFrame& frame, std::span<const std::byte> array) const;

private:
    XdrReader file_;
    std::string name_;
};

} // namespace parhelion
