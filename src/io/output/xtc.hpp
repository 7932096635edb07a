// SPDX-License-Identifier: Apache-2.0
// .xtc: positions alone, rounded to a fixed precision and compressed (io/output/xtc_coding.hpp) to about 5.5 bytes per atom.
//
// A frame has magic number, number of atoms, step (its low 32 bits), time, box, again number of atoms, and positions: plain
// floats for up to nine atoms, else precision, range, first window, length and bits. Positions are integers times 1/precision,
// hence within 0.5/precision of the simulation's. A frame is built in memory (12 bytes per atom) and written as a whole.
#pragma once

#include "base/box.hpp"
#include "io/output/box_edges.hpp"
#include "io/output/output_file.hpp"
#include "io/output/xdr.hpp"
#include "io/output/xtc_coding.hpp"
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
    // precision: in 1/nm (compressed-x-precision). selection: the atoms to write;
    // empty: all atoms. kept: see OutputFile. Throws the errors of OutputFile.
    XtcWriter(std::string path, double precision, std::vector<std::int64_t> selection = {}, const FileMark& kept = {});

    // Writes a frame. Throws PhysicsError if a position is not finite, InputError if it exceeds the format's range, SystemError.
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

// The data of a frame that precede its positions.
struct XtcHeader
{
    std::int64_t atoms = 0, step = 0;
    double time = 0;      // ps
    BoxEdges box{};       // edge vectors, which may be invalid for a periodic box
    double precision = 0; // 1/nm; 0: up to nine atoms, with positions as floats
};

class XtcReader
{
public:
    // `bytes` are an .xtc file. They must outlive the reader. Messages use `name` for the file.
    XtcReader(std::span<const std::byte> bytes, std::string name) : file_(bytes, std::move(name)) {}

    // Reads the next frame; returns false at the end of the file. For any bytes, the memory used is bounded by a multiple
    // of their number. Throws InputError for damaged frames, boxes whose edges lean too far and values that are not finite.
    bool read(XtcFrame& frame);
    // Skips a frame and reads only the data before its positions; returns false at the end of the file.
    bool skip(XtcHeader& header);

private:
    // Reads the data before the positions; returns the magic number.
    std::int32_t read_begin(XtcHeader& header);
    void read_plain(XtcFrame& frame, std::size_t atoms);
    void read_compressed(XtcFrame& frame, std::size_t atoms, std::int32_t magic);

    XdrReader file_;
    std::vector<GridPoint> points_;
};

// Returns the first frame of a file. Throws InputError if there is no frame, and the errors of XtcReader.
XtcFrame read_xtc_frame(std::span<const std::byte> bytes, std::string name);

} // namespace parhelion
