// SPDX-License-Identifier: Apache-2.0
#include "io/trr.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace parhelion {

void TrrWriter::write(const Frame& frame)
{
    if (precision_ == Precision::Double) { write_as<double>(frame); }
    else { write_as<float>(frame); }
}

template <class Real>
void TrrWriter::write_as(const Frame& frame)
{
    constexpr std::size_t most_atoms = std::numeric_limits<std::int32_t>::max() / (3 * sizeof(Real));
    const std::size_t atoms = std::max({frame.x.size(), frame.v.size(), frame.f.size()});
    const auto arrays = {&frame.x, &frame.v, &frame.f};
    if (atoms > most_atoms)
    {
        throw InputError(
            "E183", {file_.path(), 0},
            fmt::format("the .trr format holds {} atoms at most in this precision, not {} (its sizes are 32-bit numbers). Set "
                        "nstxout = nstvout = nstfout = 0 and use nstxout-compressed.",
                        most_atoms, atoms));
    }
    const auto size_of = [](std::size_t reals) { return static_cast<std::int32_t>(reals * sizeof(Real)); };

    buffer_.clear();
    buffer_.put(std::int32_t{1993}); // magic number
    constexpr std::string_view tag = "GMX_trn_file";
    buffer_.put(static_cast<std::int32_t>(tag.size() + 1));
    buffer_.put(tag);
    // Sizes in bytes of: two obsolete records, box, virial, pressure, two obsolete records, x, v, f.
    for (const std::int32_t size : {0, 0, size_of(9), 0, 0, 0, 0}) { buffer_.put(size); }
    for (const auto* array : arrays)
    {
        PARHELION_EXPECTS(array->empty() || array->size() == atoms);
        buffer_.put(size_of(3 * array->size()));
    }
    buffer_.put(static_cast<std::int32_t>(atoms));
    buffer_.put(static_cast<std::int32_t>(frame.step)); // the format keeps the low 32 bits
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

} // namespace parhelion
