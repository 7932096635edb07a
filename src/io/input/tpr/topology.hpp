// SPDX-License-Identifier: Apache-2.0
// The topology of a run input file (.tpr) in the file's form: force field applied,
// molecules, groups. tpr_topology() converts it. Cost: linear in the file.
#pragma once

#include "io/input/tpr/functions.hpp"
#include "io/input/tpr/header.hpp"

#include "model/topology.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace parhelion {

struct TprList
{
    const TprFunction* function;
    std::vector<std::int32_t> entries; // for each entry, its function type, then its atoms
};

struct TprMolecule
{
    MoleculeType type; // has no interactions yet; types of atoms are those of the matrix
    std::vector<std::int32_t> particles;
    std::vector<std::string> type_names; // name of each atom's type
    std::vector<TprList> lists;          // lists that have at least one entry
    bool differs_in_b = false;
};

// The numbers of those kinds of particles that this program distinguishes.
inline constexpr std::int32_t particle_atom = 0, particle_nucleus = 1, particle_site = 4;

struct TprBlock
{
    std::int32_t type = 0;
    std::int64_t count = 0;
    std::vector<Vec3<double>> reference; // reference positions of position restraints, for all copies; may be empty
};

struct TprMap
{
    std::vector<double> values; // values of a square table, kJ/mol
};

// A partition of the atoms into groups.
struct TprGroups
{
    std::vector<std::string> names;
    std::vector<std::uint8_t> of_atom; // group of each atom; empty: all atoms are in the first group
};
enum class TprGroupKind : std::uint8_t
{
    Temperature,
    Energy,
    Acceleration,
    Freeze,
    User1,
    User2,
    CentreOfMass,
    Compressed,
    OrientationFit,
    Quantum
};
inline constexpr std::size_t tpr_group_kinds = 10;

struct TprTopology
{
    std::string name;
    std::int32_t atom_types = 0; // number of atom types in the matrix
    double repulsion_power = 12, fudge_qq = 1;
    std::vector<TprFunctionType> function_types;
    std::vector<TprMolecule> molecules;
    std::vector<TprBlock> blocks;
    bool has_intermolecular = false, has_exclusion_group = false;
    std::vector<TprMap> maps;
    std::array<TprGroups, tpr_group_kinds> groups;

    const TprGroups& of(TprGroupKind kind) const { return groups[static_cast<std::size_t>(kind)]; }
};

// Reads the topology. Throws InputError E118.
TprTopology read_tpr_topology(TprCursor& cursor, const TprHeader& header);

} // namespace parhelion
