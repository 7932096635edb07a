// SPDX-License-Identifier: Apache-2.0
// .xtc: positions alone, rounded to a fixed precision and compressed (io/xtc_coding.hpp) to about 5.5 bytes per atom.
//
// A frame is: magic number, atoms, step (its low 32 bits), time, box, atoms again, and the positions: plain floats for up to nine
// atoms, else precision, range, first window, length and bits. Positions are integers times 1/precision, hence within
// 0.5/precision of the simulation's. A frame is built in memory (12 bytes per atom of scratch, kept) and written as a whole.
#pragma once

#include "base/box.hpp"
#include "io/output_file.hpp"
#include "io/xdr.hpp"
#include "io/xtc_coding.hpp"
#include "model/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace parhelion {

class XtcWriter
{
public:
    // precision in 1/nm (compressed-x-precision); selection: the atoms to write, empty = all; kept: see OutputFile. Throws as
    // OutputFile does.
    XtcWriter(std::string path, double precision, std::vector<std::int64_t> selection = {}, const FileMark& kept = {});

    // Throws InputError if the positions do not fit integers at this precision, PhysicsError if one is not finite, SystemError.
    void write(const Frame& frame);
    OutputFile& file() { return file_; }
    void close() { file_.close(); }

private:
    std::size_t atom(std::size_t i) const { return selection_.empty() ? i : static_cast<std::size_t>(selection_[i]); }
    void round_positions(const Frame& frame, std::size_t atoms);
    XtcRange checked_range() const;

    OutputFile file_;
    float precision_;
    std::vector<std::int64_t> selection_;
    std::vector<GridPoint> points_;
    XdrBuffer header_;
    std::vector<unsigned char> bits_;
};

struct XtcFrame
{
    std::int64_t step = 0;
    double time = 0; // ps
    Box<double> box;
    std::vector<Vec3<float>> x; // nm
};

class XtcReader
{
public:
    // The bytes of an .xtc file, which must outlive the reader, and its name for messages.
    XtcReader(std::span<const std::byte> bytes, std::string name) : file_(bytes, std::move(name)) {}

    // The next frame; false at the end of the file. Whatever the bytes are, the memory used is bounded by a multiple of their
    // number. Throws InputError for damaged frames, boxes whose edges lean too far and values that are not finite.
    bool read(XtcFrame& frame);

private:
    void read_plain(XtcFrame& frame, std::size_t atoms);
    void read_compressed(XtcFrame& frame, std::size_t atoms, std::int32_t magic);

    XdrReader file_;
    std::vector<GridPoint> points_;
};

// The first frame. Throws InputError as XtcReader does, also if there is none.
XtcFrame read_xtc_frame(std::span<const std::byte> bytes, std::string name);

} // namespace parhelion
