// SPDX-License-Identifier: Apache-2.0
// Reads and writes .gro files: title, number of atoms, one line of fixed columns per atom, box. The number of decimals is read
// off the distance between the decimal points, as the format asks. Reading maps the file, parses the digits by hand (exact:
// digits as an integer, divided once by a power of ten) and gives back the pages behind it, so memory is that of the result.
// bench: bench/io/load_bench.cpp
#pragma once

#include "base/box.hpp"
#include "base/error.hpp"
#include "base/vec3.hpp"
#include "io/text.hpp"
#include "model/topology.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

// The names of one atom, as in their columns, without blanks, ended by a zero where shorter than five letters.
struct GroNames
{
    std::array<char, 5> residue{}, atom{};
};

struct GroFile
{
    std::filesystem::path path;
    std::string title;
    Box<double> box;
    std::vector<Vec3<double>> x; // nm
    std::vector<Vec3<double>> v; // nm/ps; empty if the file has none
    std::vector<GroNames> names;
    bool has_more_frames = false; // only the first was read
    int first_remark = 0;         // line of the first text behind the columns; 0: there is none
};

// Throws InputError: not readable, columns that are not finite numbers, fewer lines than atoms, a box with an edge that is
// not positive or leans too far (E580), velocities for some atoms only.
GroFile read_gro(MappedFile file);
inline GroFile read_gro(const std::filesystem::path& path) { return read_gro(MappedFile(path)); }

// Throws InputError if the numbers of atoms differ. Warns (W030) if names of atoms differ, which are then those of the topology,
// and notes (N030) further frames.
void compare_names(const GroFile& coordinates, const Topology& topology, Diagnostics& diagnostics);

// Positions with `decimals` digits, velocities (unless v is empty) with one more. Residues are numbered as Topology::describe
// does; numbers of residues and atoms start again after 99999. Preconditions: x, and v unless empty, have topology.atom_count()
// elements; 1 <= decimals <= 12. Throws SystemError if it cannot be written.
void write_gro(const std::filesystem::path& path, const Topology& topology, std::string_view title, const Box<double>& box,
               const std::vector<Vec3<double>>& x, const std::vector<Vec3<double>>& v, int decimals);

} // namespace parhelion
