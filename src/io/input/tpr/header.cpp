// SPDX-License-Identifier: Apache-2.0
#include "io/input/tpr/header.hpp"

#include "io/input/text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

namespace {

struct Release
{
    int version, generation;
};
constexpr Release releases[] = {{112, 26}, {116, 26}, {119, 27}, {122, 28}, {127, 28}, {129, 28},
                                {133, 28}, {134, 28}, {137, 28}, {138, 29}, {139, 29}};

constexpr int first_packed_version = 119, first_packed_generation = 27, last_generation = 29;

[[noreturn]] void refuse(const std::string& file, const std::string& problem, const std::string& advice)
{
    throw InputError(
        "E119", {file, 0},
        fmt::format("{} ({} to {} are read: GROMACS 2018 to 2026). {}", problem, first_tpr_version, last_tpr_version, advice));
}

void check_version(const TprHeader& header, const std::string& tag, const std::string& file, Diagnostics& diagnostics)
{
    const std::string by =
        fmt::format("file version {}, generation {}, by {}", header.version, header.generation, in_quotes(header.program));
    if (header.version < first_tpr_version)
    {
        refuse(file, "a run input file of " + by + ", is too old",
               "gmx convert-tpr of GROMACS 2018 or later writes it anew; better, run gmx grompp again.");
    }
    if (tag != "release") { refuse(file, "a private format, " + in_quotes(tag) + ", of " + by, "Make it with a release."); }
    if (header.version > last_tpr_version || header.generation > last_generation)
    {
        refuse(file, "a run input file of " + by + ", is too new", "Make it with gmx grompp of GROMACS 2026 or before.");
    }
    const bool is_released = std::ranges::any_of(releases, [&](const Release& release) {
        return release.version == header.version && release.generation == header.generation;
    });
    if (is_released) { return; }
    diagnostics.warn("W175", {file, 0},
                     "a development build wrote this run input file (" + by +
                         "): such numbers have stood for more than one layout. Make it anew with gmx grompp of a release.");
}

} // namespace

TprHeader read_tpr_header(TprCursor& cursor, const std::string& file, Diagnostics& diagnostics)
{
    TprHeader header;
    header.program = cursor.text();
    if (!header.program.starts_with("VERSION ")) { cursor.fail("this is no run input file (.tpr)"); }
    header.program.erase(0, std::string_view("VERSION ").size());
    cursor.real_bytes = cursor.integer();
    if (cursor.real_bytes != 4 && cursor.real_bytes != 8) { cursor.fail("reals are neither 4 nor 8 bytes"); }
    header.version = cursor.integer();
    constexpr int first_with_tag = 81, first_tag_before = 77, last_tag_before = 79;
    if (header.version >= first_tag_before && header.version <= last_tag_before) { cursor.text(); }
    header.generation = cursor.integer();
    check_version(header, header.version >= first_with_tag ? cursor.text() : "release", file, diagnostics);
    header.atoms = cursor.integer();
    header.coupling_groups = cursor.integer();
    if (header.atoms <= 0 || header.coupling_groups < 0) { cursor.fail("the numbers of atoms and groups are not positive"); }
    cursor.skip_integers(1); // state number of lambda
    cursor.skip_reals(1);    // lambda
    for (bool* const has :
         {&header.has_parameters, &header.has_topology, &header.has_x, &header.has_v, &header.has_f, &header.has_box})
    {
        *has = cursor.truth();
    }
    if (header.version < first_packed_version || header.generation < first_packed_generation) { return header; }
    const std::int64_t length = cursor.long_integer();
    constexpr std::int64_t unit = 4; // bytes; the block is padded to units of XDR
    const auto left = static_cast<std::int64_t>(cursor.left());
    if (length < 0 || length > left || left - length != (unit - length % unit) % unit)
    {
        cursor.fail(fmt::format("{} bytes follow, and the header tells of {}", left, length));
    }
    header.padding = static_cast<std::size_t>(left - length);
    cursor.layout = TprLayout::Packed;
    return header;
}

} // namespace parhelion
