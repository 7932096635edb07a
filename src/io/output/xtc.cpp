// SPDX-License-Identifier: Apache-2.0
#include "io/output/xtc.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace parhelion {
namespace {

constexpr std::int32_t classic_magic = 1995; // the number of compressed bytes has 32 bits
constexpr std::int32_t long_magic = 2023;    // a 64-bit number of bytes; used only if needed, since many readers do not know it
constexpr std::size_t classic_atoms = 298261617;
constexpr std::size_t uncompressed_atoms = 9;
constexpr double largest_integer = std::numeric_limits<std::int32_t>::max() - 2.0;

} // namespace

XtcWriter::XtcWriter(std::string path, double precision, std::vector<std::int64_t> selection, const FileMark& kept)
    : file_(std::move(path), kept), precision_(static_cast<float>(precision)), selection_(std::move(selection))
{
    PARHELION_EXPECTS(precision_ > 0 && std::isfinite(precision_));
}

void XtcWriter::round_positions(const Frame& frame, std::size_t atoms)
{
    points_.resize(atoms);
    const double scale = precision_;
    double largest = 0;
    for (std::size_t i = 0; i < atoms; ++i)
    {
        const Vec3<double> scaled = scale * frame.x[atom(i)];
        for (int d = 0; d < 3; ++d)
        {
            if (!std::isfinite(scaled[d]))
            {
                throw PhysicsError(frame.step, fmt::format("{}  atom {} has no finite position", file_.path(), atom(i) + 1));
            }
            largest = std::max(largest, std::abs(scaled[d]));
            points_[i][d] = static_cast<std::int32_t>(std::llrint(scaled[d]));
        }
    }
    if (largest > largest_integer)
    {
        throw InputError(
            "E184", {file_.path(), 0},
            fmt::format("a position of {} nm does not fit the format at compressed-x-precision = {} (it stores 32-bit integers). "
                        "Choose a lower precision.",
                        largest / scale, precision_));
    }
}

XtcRange XtcWriter::checked_range() const
{
    const XtcRange range = range_of(points_);
    for (int d = 0; d < 3; ++d)
    {
        const std::int64_t extent = static_cast<std::int64_t>(range.high[d]) - range.low[d];
        if (extent >= xtc_widest_range)
        {
            throw InputError(
                "E184", {file_.path(), 0},
                fmt::format("positions {} nm apart do not fit the format at compressed-x-precision = {} (its readers take "
                            "ranges of 30 bits). Choose a lower precision.",
                            static_cast<double>(extent) / precision_, precision_));
        }
    }
    return range;
}

void XtcWriter::write(const Frame& frame)
{
    const std::size_t atoms = selection_.empty() ? frame.x.size() : selection_.size();
    PARHELION_EXPECTS(atoms > 0 && atoms <= std::numeric_limits<std::int32_t>::max());
    round_positions(frame, atoms);
    const bool compressed = atoms > uncompressed_atoms;
    bits_.clear();
    XtcRange range;
    if (compressed)
    {
        range = checked_range();
        compress(points_, range, bits_);
    }
    const std::size_t length = bits_.size();
    const bool long_length = atoms > classic_atoms || length > std::numeric_limits<std::int32_t>::max();
    bits_.resize((length + 3) / 4 * 4);

    header_.clear();
    header_.put(long_length ? long_magic : classic_magic);
    header_.put(static_cast<std::int32_t>(atoms));
    header_.put(static_cast<std::int32_t>(frame.step));
    header_.put(static_cast<float>(frame.time));
    header_.put_box<float>(frame.box);
    header_.put(static_cast<std::int32_t>(atoms));
    if (compressed)
    {
        header_.put(precision_);
        for (const GridPoint& corner : {range.low, range.high})
        {
            for (int d = 0; d < 3; ++d) { header_.put(corner[d]); }
        }
        header_.put(range.window);
        if (long_length) { header_.put(static_cast<std::int64_t>(length)); }
        else { header_.put(static_cast<std::int32_t>(length)); }
    }
    else
    {
        for (std::size_t i = 0; i < atoms; ++i) { header_.put_vectors<float>(std::span(&frame.x[atom(i)], 1)); }
    }
    file_.append(header_.bytes());
    file_.append(bits_);
    file_.finish_record();
}

std::int32_t XtcReader::read_begin(XtcHeader& header)
{
    const std::int32_t magic = file_.get_int();
    if (magic != classic_magic && magic != long_magic) { file_.damaged("no .xtc frame"); }
    header.atoms = file_.get_int();
    header.step = file_.get_int();
    header.time = file_.get_float();
    bool finite = std::isfinite(header.time);
    for (double& component : header.box)
    {
        component = file_.get_float();
        finite = finite && std::isfinite(component);
    }
    if (!finite) { file_.damaged("a time or box that is not finite"); }
    if (header.atoms <= 0 || file_.get_int() != header.atoms) { file_.damaged("an impossible number of atoms"); }
    return magic;
}

bool XtcReader::read(XtcFrame& frame)
{
    if (file_.bytes_left() == 0) { return false; }
    XtcHeader header;
    const std::int32_t magic = read_begin(header);
    frame.step = header.step;
    frame.time = header.time;
    std::string problem;
    frame.box = box_of(header.box, problem);
    if (!problem.empty()) { file_.damaged("a box whose edges lean too far"); }
    const auto atoms = static_cast<std::size_t>(header.atoms);
    if (atoms > uncompressed_atoms) { read_compressed(frame, atoms, magic); }
    else { read_plain(frame, atoms); }
    return true;
}

bool XtcReader::skip(XtcHeader& header)
{
    if (file_.bytes_left() == 0) { return false; }
    const std::int32_t magic = read_begin(header);
    const auto atoms = static_cast<std::size_t>(header.atoms);
    header.precision = 0;
    if (atoms <= uncompressed_atoms)
    {
        static_cast<void>(file_.get_opaque(3 * sizeof(float) * atoms));
        return true;
    }
    header.precision = file_.get_float();
    static_cast<void>(file_.get_opaque(7 * sizeof(std::int32_t))); // range and first window
    const std::int64_t length = magic == long_magic ? file_.get_hyper() : file_.get_int();
    if (length <= 0) { file_.damaged("an impossible number of compressed bytes"); }
    static_cast<void>(file_.get_opaque(static_cast<std::size_t>(length)));
    return true;
}

void XtcReader::read_plain(XtcFrame& frame, std::size_t atoms)
{
    frame.x.resize(atoms);
    for (Vec3<float>& x : frame.x)
    {
        for (int d = 0; d < 3; ++d)
        {
            x[d] = file_.get_float();
            if (!std::isfinite(x[d])) { file_.damaged("a position that is not finite"); }
        }
    }
}

void XtcReader::read_compressed(XtcFrame& frame, std::size_t atoms, std::int32_t magic)
{
    const float unit = 1.0f / file_.get_float(); // nm; the file has the precision, which is 1/unit
    if (!(unit > 0) || !std::isfinite(unit * static_cast<float>(largest_integer))) { file_.damaged("an impossible precision"); }
    XtcRange range;
    for (GridPoint* corner : {&range.low, &range.high})
    {
        for (int d = 0; d < 3; ++d) { (*corner)[d] = file_.get_int(); }
    }
    range.window = file_.get_int();
    const std::int64_t length = magic == long_magic ? file_.get_hyper() : file_.get_int();
    // An atom takes at least two bits. This bounds the memory that is allocated for invalid data.
    if (length <= 0 || static_cast<std::uint64_t>(length) > file_.bytes_left() || atoms / 4 > static_cast<std::uint64_t>(length))
    {
        file_.damaged("an impossible number of compressed bytes");
    }
    points_.resize(atoms);
    if (!decompress(file_.get_opaque(static_cast<std::size_t>(length)), range, points_))
    {
        file_.damaged("compressed positions that contradict themselves");
    }
    frame.x.resize(atoms);
    for (std::size_t i = 0; i < atoms; ++i)
    {
        for (int d = 0; d < 3; ++d) { frame.x[i][d] = static_cast<float>(points_[i][d]) * unit; }
    }
}

XtcFrame read_xtc_frame(std::span<const std::byte> bytes, std::string name)
{
    XtcReader reader(bytes, name);
    XtcFrame frame;
    if (!reader.read(frame))
    {
        throw InputError("E182", {std::move(name), 0}, "holds no frame (one is needed). Use an intact copy of the file.");
    }
    return frame;
}

} // namespace parhelion
