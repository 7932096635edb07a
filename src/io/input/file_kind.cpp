// SPDX-License-Identifier: Apache-2.0
#include "io/input/file_kind.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace parhelion {
namespace {

using namespace std::literals;

constexpr std::string_view unpack = "Unpack it first.";
constexpr std::string_view kind_netcdf = "a NetCDF file", coordinates = "A run takes an AMBER restart file with -c.";
constexpr std::string_view frames = "Its frames can be turned into structures: gmx trjconv -dump TIME -o conf.gro.";

struct Beginning
{
    std::size_t at;
    std::string_view bytes;
    FileKind kind;
};

// Numbers in GROMACS' files are big-endian.
constexpr Beginning beginnings[] = {
    {0, "\x1f\x8b"sv, {"a compressed file (gzip)", unpack}},
    {0, "BZh"sv, {"a compressed file (bzip2)", unpack}},
    {0,
     "\xfd"
     "7zXZ"sv,
     {"a compressed file (xz)", unpack}},
    {0, "\x28\xb5\x2f\xfd"sv, {"a compressed file (zstd)", unpack}},
    {0, "PK\x03\x04"sv, {"an archive (zip)", unpack}},
    {8, "VERSION "sv, {kind_tpr, "Give it with -s, in place of -f, -c and -p."}},
    {0, "\x00\x00\x07\xcb"sv, {"a compressed trajectory (.xtc)", frames}},
    {0, "\x00\x00\x07\xe7"sv, {"a compressed trajectory (.xtc)", frames}},
    {0, "\x00\x00\x07\xc9"sv, {kind_trr, "A run starts from its last frame with -t, beside a .gro for -c."}},
    {0,
     "\x00\x02\x9f\x29"sv,
     {"a checkpoint of GROMACS (.cpt)", "Turn it into a .trr, which -t takes: gmx trjconv -f state.cpt -o state.trr."}},
    {0, "PARH-CPT"sv, {kind_cpt, "A run starts from it with -t, beside a .gro for -c."}},
    {0, "\xff\xff\x26\xfd"sv, {"an energy file (.edr)", ""}},
    {0, "\x89HDF"sv, {kind_hdf5, "Write AMBER's coordinates as text or NetCDF 3, for example with cpptraj."}},
    {0, "CDF\x01"sv, {kind_netcdf, coordinates}},
    {0, "CDF\x02"sv, {kind_netcdf, coordinates}},
    {0, "CDF\x05"sv, {kind_netcdf, coordinates}},
    {0, "%VERSION"sv, {"a topology of AMBER (prmtop)", "A run takes it with -p."}},
    {0, "data_"sv, {"a structure in mmCIF format", "Convert it to a .gro."}},
};

// The records with which a .pdb may begin.
constexpr std::string_view pdb_records[] = {"HEADER", "TITLE ", "COMPND", "REMARK", "CRYST1", "MODEL ",
                                            "ATOM  ", "HETATM", "AUTHOR", "EXPDTA", "SEQRES"};

// Returns whether a text is a .pdb. It needs lines of atoms: a title "REMARKABLE" or "TITLE OF MY SYSTEM" is not enough.
bool is_pdb(std::string_view text)
{
    const std::string_view first = text.substr(0, text.find('\n'));
    const auto begins = [&](std::string_view record) { return first.starts_with(record); };
    if (std::none_of(std::begin(pdb_records), std::end(pdb_records), begins)) { return false; }
    for (std::string_view rest = text; !rest.empty();)
    {
        const std::string_view line = take_line(rest);
        if (line.starts_with("ATOM  ") || line.starts_with("HETATM")) { return true; }
    }
    return false;
}

} // namespace

FileKind kind_of_file(std::string_view bytes)
{
    for (const Beginning& b : beginnings)
    {
        if (bytes.size() >= b.at && bytes.substr(b.at).starts_with(b.bytes)) { return b.kind; }
    }
    constexpr std::size_t looked_at = 1 << 20;
    if (is_pdb(bytes.substr(0, looked_at)))
    {
        return {"a structure in PDB format",
                "Convert it: gmx editconf -f in.pdb -o conf.gro (pdb2gmx makes both .gro and .top)."};
    }
    return {};
}

void expect_own_format(const MappedFile& file, std::string_view wanted)
{
    const FileKind kind = kind_of_file(file.text());
    if (kind.name.empty()) { return; }
    throw InputError("E115", {file.path().string(), 0},
                     fmt::format("is {}, but {}.{}{}", kind.name, wanted, kind.advice.empty() ? "" : " ", kind.advice));
}

MappedFile open_own_format(const std::filesystem::path& path, std::string_view wanted)
{
    MappedFile file(path);
    expect_own_format(file, wanted);
    return file;
}

} // namespace parhelion
