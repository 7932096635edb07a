// SPDX-License-Identifier: Apache-2.0
#include "dynamics/motion_groups.hpp"

#include "base/error.hpp"
#include "model/frozen_atoms.hpp"

#include <array>
#include <fmt/format.h>

namespace parhelion {

namespace {

// Numbers the sets of axes along which atoms move, in the order of occurrence. The set of all axes has the first number.
class Patterns
{
public:
    Patterns() { number_.fill(-1), of(0); }
    int of(std::uint8_t axes)
    {
        if (number_[axes] < 0)
        {
            number_[axes] = static_cast<int>(mobility_.size());
            mobility_.push_back({axes & 1 ? 0.0 : 1.0, axes & 2 ? 0.0 : 1.0, axes & 4 ? 0.0 : 1.0});
        }
        return number_[axes];
    }
    const Mobility& mobility() const { return mobility_; }

private:
    std::array<int, every_axis + 1> number_{};
    Mobility mobility_;
};

} // namespace

MotionGroups make_motion_groups(const AtomGroups& temperature_groups, const Topology& topology)
{
    Patterns patterns;
    for (const MoleculeType& type : topology.molecule_types)
    {
        for (const Atom& atom : type.atoms) { patterns.of(atom.frozen); }
    }
    MotionGroups motion{temperature_groups, {}};
    for (const Vec3<double>& mobility : patterns.mobility())
    {
        motion.mobility.insert(motion.mobility.end(), static_cast<std::size_t>(temperature_groups.count), mobility);
    }
    if (patterns.mobility().size() == 1) { return motion; }
    if (motion.mobility.size() >= AtomGroups::none)
    {
        throw InputError("E613", {"freezegrps", 0},
                         fmt::format("{} groups of atoms that are coupled and frozen alike (at most {} are supported). Join some "
                                     "of tc-grps.",
                                     motion.mobility.size(), AtomGroups::none - 1));
    }
    motion.groups.count = static_cast<int>(motion.mobility.size());
    motion.groups.of_atom.clear();
    for (const MoleculeBlock& block : topology.blocks)
    {
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            for (const Atom& atom : topology.molecule_types[static_cast<std::size_t>(block.type)].atoms)
            {
                const auto global = static_cast<std::int64_t>(motion.groups.of_atom.size());
                motion.groups.of_atom.push_back(static_cast<std::uint8_t>(temperature_groups.group(global) +
                                                                          temperature_groups.count * patterns.of(atom.frozen)));
            }
        }
    }
    return motion;
}

} // namespace parhelion
