// SPDX-License-Identifier: Apache-2.0
// .trr: box, positions, velocities and forces, uncompressed, as float or double. Costs 12 or 24 bytes per atom and array on disk,
// and as much memory for the array being written.
#pragma once

#include "base/numerics.hpp"
#include "io/output_file.hpp"
#include "io/xdr.hpp"
#include "model/frame.hpp"

#include <string>

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

} // namespace parhelion
