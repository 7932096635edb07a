// SPDX-License-Identifier: Apache-2.0
// Reads and writes .gro files: title, number of atoms, one line of fixed columns per atom, box. The distance between
// decimal points gives the number of decimals, as the format specifies. Reading maps the file and parses digits exactly:
// as an integer, divided once by a power of ten. It releases pages that were read, so memory is that of the result.
// Measured in bench/io/load_bench.cpp.
#pragma once

#include "base/box.hpp"
#include "base/error.hpp"
#include "base/vec3.hpp"
#include "io/input/text.hpp"
#include "model/topology.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

// The names of one atom, without blanks, from the file's columns. A name shorter than five letters ends with a zero byte.
struct GroNames
{
    std::array<char, 5> residue{}, atom{};
};

struct GroFile
{
    std::filesystem::path path;
    std::string title;
    Box<double> box;
    std::vector<Vec3<double>> x;  // nm
    std::vector<Vec3<double>> v;  // nm/ps; empty if the file has none
    std::vector<GroNames> names;  // empty for a format without names
    bool has_more_frames = false; // true if more frames follow, which were not read
    int first_remark = 0;         // line number of the first text behind the columns; 0: there is none
};

// Reads a file. Throws InputError: not readable, columns that are not finite numbers, fewer lines than
// atoms, a box with an edge that is not positive or leans too far (E580), velocities for some atoms only.
GroFile read_gro(MappedFile file);
inline GroFile read_gro(const std::filesystem::path& path) { return read_gro(MappedFile(path)); }

// Compares the names of atoms in a structure with those in the topology. Throws InputError if the numbers of atoms
// differ. Warns (W030) if names differ, and then uses the topology's. Notes (N030) that the file has more frames.
void compare_names(const GroFile& coordinates, const Topology& topology, Diagnostics& diagnostics);

// Writes positions with `decimals` digits and velocities (unless v is empty) with one digit more. Residue numbers
// are those of Topology::describe(). Residue and atom numbers restart after 99999. Preconditions: x, and v unless
// empty, have topology.atom_count() elements; 1 <= decimals <= 12. Throws SystemError if the file cannot be written.
void write_gro(const std::filesystem::path& path, const Topology& topology, std::string_view title, const Box<double>& box,
               const std::vector<Vec3<double>>& x, const std::vector<Vec3<double>>& v, int decimals);

} // namespace parhelion
