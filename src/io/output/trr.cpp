// SPDX-License-Identifier: Apache-2.0
#include "io/output/trr.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace parhelion {

namespace {

constexpr std::int32_t magic_number = 1993;
constexpr std::string_view tag = "GMX_trn_file";
constexpr std::size_t box_reals = 9;
constexpr double largest_value = 1e15; // nm, nm/ps: the same limit as for a .gro

// The records of a frame whose sizes in bytes are in the header, in the order of the header.
enum Record
{
    record_ir,
    record_e,
    record_box,
    record_virial,
    record_pressure,
    record_top,
    record_symmetry,
    record_x,
    record_v,
    record_f,
    records
};

double get_real(XdrReader& from, Precision precision)
{
    return precision == Precision::Double ? from.get_double() : static_cast<double>(from.get_float());
}

} // namespace

void TrrWriter::write(const Frame& frame)
{
    if (precision_ == Precision::Double) { write_as<double>(frame); }
    else { write_as<float>(frame); }
}

template <class Real>
void TrrWriter::write_as(const Frame& frame)
{
    constexpr std::size_t most_of_frame = std::numeric_limits<std::int32_t>::max() / (3 * sizeof(Real));
    const std::size_t atoms = std::max({frame.x.size(), frame.v.size(), frame.f.size()});
    const auto arrays = {&frame.x, &frame.v, &frame.f};
    if (atoms > most_of_frame)
    {
        throw InputError(
            "E183", {file_.path(), 0},
            fmt::format("the .trr format holds {} atoms at most in this precision, not {} (its sizes are 32-bit numbers). Set "
                        "nstxout = nstvout = nstfout = 0 and use nstxout-compressed.",
                        most_of_frame, atoms));
    }
    const auto size_of = [](std::size_t reals) { return static_cast<std::int32_t>(reals * sizeof(Real)); };

    buffer_.clear();
    buffer_.put(magic_number);
    buffer_.put(static_cast<std::int32_t>(tag.size() + 1));
    buffer_.put(tag);
    // Sizes in bytes of two obsolete records, box, virial, pressure, two obsolete records; then of x, v, f.
    for (const std::int32_t size : {0, 0, size_of(box_reals), 0, 0, 0, 0}) { buffer_.put(size); }
    for (const auto* array : arrays)
    {
        PARHELION_EXPECTS(array->empty() || array->size() == atoms);
        buffer_.put(size_of(3 * array->size()));
    }
    buffer_.put(static_cast<std::int32_t>(atoms));
    buffer_.put(static_cast<std::int32_t>(frame.step)); // the format has 32 bits for the step
    buffer_.put(std::int32_t{0});                       // obsolete
    buffer_.put(static_cast<Real>(frame.time));
    buffer_.put(Real{0}); // lambda
    buffer_.put_box<Real>(frame.box);
    file_.append(buffer_.bytes());
    for (const auto* array : arrays)
    {
        buffer_.clear();
        buffer_.put_vectors<Real>(*array);
        file_.append(buffer_.bytes());
    }
    file_.finish_record();
}

bool TrrReader::read(TrrFrame& frame)
{
    if (file_.bytes_left() == 0) { return false; }
    if (file_.get_int() != magic_number) { file_.damaged("a frame does not begin as one of a .trr does,"); }
    const std::int32_t tag_size = file_.get_int(), text_size = file_.get_int();
    if (tag_size != static_cast<std::int32_t>(tag.size() + 1) || text_size != static_cast<std::int32_t>(tag.size()))
    {
        file_.damaged("the header of a frame has another name than a .trr's,");
    }
    static_cast<void>(file_.get_opaque(tag.size()));

    std::array<std::int64_t, records> size{};
    for (std::int64_t& bytes : size) { bytes = file_.get_int(); }
    frame.atoms = file_.get_int();
    const auto vectors_of = [&](std::size_t real) { return 3 * static_cast<std::int64_t>(real) * frame.atoms; };
    const auto fits = [&](std::size_t real) {
        const auto of_tensor = static_cast<std::int64_t>(box_reals * real);
        return std::ranges::all_of(std::array{record_box, record_virial, record_pressure},
                                   [&](Record r) { return size[r] == 0 || size[r] == of_tensor; }) &&
               std::ranges::all_of(std::array{record_x, record_v, record_f},
                                   [&](Record r) { return size[r] == 0 || size[r] == vectors_of(real); }) &&
               std::ranges::all_of(std::array{record_ir, record_e, record_top, record_symmetry},
                                   [&](Record r) { return size[r] == 0; });
    };
    const bool is_double = fits(sizeof(double));
    if (frame.atoms < 0 || (!is_double && !fits(sizeof(float)))) { file_.damaged("the sizes of a frame do not fit together,"); }
    frame.precision = is_double ? Precision::Double : Precision::Mixed;

    frame.step = file_.get_int();
    static_cast<void>(file_.get_int());
    frame.time = get_real(file_, frame.precision);
    static_cast<void>(get_real(file_, frame.precision)); // lambda
    if (!std::isfinite(frame.time)) { file_.damaged("the time of a frame is not a number,"); }
    frame.box.clear();
    for (std::size_t i = 0; i < box_reals && size[record_box] > 0; ++i) { frame.box.push_back(get_real(file_, frame.precision)); }
    const auto take = [&](Record r) { return file_.get_opaque(static_cast<std::size_t>(size[r])); };
    take(record_virial), take(record_pressure);
    frame.x = take(record_x);
    frame.v = take(record_v);
    frame.f = take(record_f);
    return true;
}

std::vector<Vec3<double>> TrrReader::vectors(const TrrFrame& frame, std::span<const std::byte> array) const
{
    XdrReader numbers(array, name_);
    std::vector<Vec3<double>> list(array.empty() ? 0 : static_cast<std::size_t>(frame.atoms));
    for (Vec3<double>& a : list)
    {
        for (int d = 0; d < 3; ++d)
        {
            a[d] = get_real(numbers, frame.precision);
            if (std::abs(a[d]) <= largest_value) { continue; }
            throw InputError(
                "E182", {name_, 0},
                fmt::format("an array of the frame at {:.6g} ps holds what is not a finite number of usual size. Use "
                            "an intact copy of the file.",
                            frame.time));
        }
    }
    return list;
}

} // namespace parhelion
