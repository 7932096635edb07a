// SPDX-License-Identifier: Apache-2.0
#include "engine/overflow.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace parhelion {

namespace {

bool all_finite(const Observables& o)
{
    const auto finite = [](double number) { return std::isfinite(number); };
    bool good = std::all_of(o.forces.energy.begin(), o.forces.energy.end(), finite);
    for (const double number : {o.potential, o.kinetic_energy, o.total, o.conserved, o.temperature, o.pressure})
    {
        good = good && finite(number);
    }
    for (int k = 0; k < 9; ++k) { good = good && finite(o.virial[k / 3][k % 3]) && finite(o.forces.virial[k / 3][k % 3]); }
    return good;
}

// Returns the first atom whose force is not finite, or else the atom with the largest force.
std::size_t worst_atom(const std::vector<Vec3<double>>& forces)
{
    std::size_t worst = 0;
    for (std::size_t i = 0; i < forces.size(); ++i)
    {
        if (!std::isfinite(norm(forces[i]))) { return i; }
        if (norm(forces[i]) > norm(forces[worst])) { worst = i; }
    }
    return worst;
}

} // namespace

bool is_excluded(const Topology& topology, std::int64_t a, std::int64_t b)
{
    const AtomAddress at_a = topology.locate(a), at_b = topology.locate(b);
    if (at_a.molecule_first_atom != at_b.molecule_first_atom) { return false; }
    return topology.molecule_types[static_cast<std::size_t>(at_a.type)].excludes(at_a.local, at_b.local);
}

std::string overflow_text(const Observables& observables, const Frame& frame, const Topology& topology)
{
    const std::size_t worst = worst_atom(frame.f);
    if (all_finite(observables) && std::isfinite(norm(frame.f[worst]))) { return ""; }
    std::size_t nearest = worst;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < frame.x.size(); ++i)
    {
        const Vec3<double> d = frame.box.image(frame.x[i] - frame.x[worst]);
        if (i == worst || !(norm(d) < least)) { continue; }
        if (is_excluded(topology, static_cast<std::int64_t>(worst), static_cast<std::int64_t>(i))) { continue; }
        nearest = i, least = norm(d);
    }
    const std::string neighbour = nearest == worst ? ""
                                                   : fmt::format(" Nearest to it: {}, at {:.4g} nm.",
                                                                 topology.describe(static_cast<std::int64_t>(nearest)), least);
    return fmt::format(
        "E511 step {}: energies or forces are too large to be numbers. The worst force, {:.4g} kJ/mol/nm, is on {}.{} "
        "Look for atoms that overlap, and for charges and parameters that are too large.",
        observables.step, norm(frame.f[worst]), topology.describe(static_cast<std::int64_t>(worst)), neighbour);
}

} // namespace parhelion
