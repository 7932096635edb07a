// SPDX-License-Identifier: Apache-2.0
// How far constraints are from their lengths, found from topology and positions alone: no code that constrains takes part.
#pragma once

#include "model/frame.hpp"
#include "model/topology.hpp"
#include "state/particle_state.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <vector>

namespace parhelion::test {

// Every constraint of the system between global atoms; a water has three.
inline std::vector<Constraint> all_constraints(const Topology& topology)
{
    std::vector<Constraint> list;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(block.type)];
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            const auto first = static_cast<std::int32_t>(block.first_atom + copy * static_cast<std::int64_t>(type.atoms.size()));
            for (const Constraint& c : type.constraints) { list.push_back({first + c.a, first + c.b, c.length}); }
            for (const Settle& s : type.settles)
            {
                list.push_back({first + s.oxygen, first + s.hydrogen_a, s.oh});
                list.push_back({first + s.oxygen, first + s.hydrogen_b, s.oh});
                list.push_back({first + s.hydrogen_a, first + s.hydrogen_b, s.hh});
            }
        }
    }
    return list;
}

// Holds the largest and the mean of |r / length - 1|. A NaN makes both infinite or NaN.
struct ConstraintDeviation
{
    double rms = 0, max = 0;
};

// difference(a, b): the vector between two global atoms, nm.
template <std::invocable<std::size_t, std::size_t> Difference>
ConstraintDeviation deviation_of_constraints(const Topology& topology, Difference&& difference)
{
    ConstraintDeviation deviation;
    const std::vector<Constraint> constraints = all_constraints(topology);
    for (const Constraint& c : constraints)
    {
        const double relative =
            std::abs(norm(difference(static_cast<std::size_t>(c.a), static_cast<std::size_t>(c.b))) / c.length - 1);
        deviation.rms += relative * relative;
        deviation.max = std::isnan(relative) ? INFINITY : std::max(deviation.max, relative);
    }
    if (!constraints.empty()) { deviation.rms = std::sqrt(deviation.rms / static_cast<double>(constraints.size())); }
    return deviation;
}

// All atoms are at home.
template <class N>
ConstraintDeviation deviation_of_constraints(const Topology& topology, const ParticleState<N>& state)
{
    const auto position = [&](std::size_t atom) { return state.x.get(static_cast<std::size_t>(state.slot_of_global[atom])); };
    return deviation_of_constraints(topology,
                                    [&](std::size_t a, std::size_t b) { return state.box.difference(position(a), position(b)); });
}

// Precise to the rounding of coordinates: 1e-14 in a box of some nanometres.
inline ConstraintDeviation deviation_of_constraints(const Topology& topology, const Frame& frame)
{
    return deviation_of_constraints(topology, [&](std::size_t a, std::size_t b) {
        Vec3<double> d = frame.x.at(a) - frame.x.at(b);
        for (int k = 0; k < 3; ++k) { d[k] = std::remainder(d[k], frame.box.diagonal()[k]); }
        return d;
    });
}

} // namespace parhelion::test
