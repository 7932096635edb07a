// SPDX-License-Identifier: Apache-2.0
#include "engine/guard.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "model/minimisers.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace parhelion {

namespace {
// Returns a measure of instability. Above 1, force or displacement are beyond their limits; NaN counts as infinite.
double badness(double force, double displacement)
{
    const double worst = std::max(force / unstable_force, displacement / unstable_displacement);
    return force + displacement < std::numeric_limits<double>::infinity() ? worst : std::numeric_limits<double>::infinity();
}
} // namespace

template <class N>
std::optional<UnstableAtom> find_unstable_atom(CpuQueue& queue, const ParticleState<N>& state, double dt)
{
    const ScopedPhase span(queue.clock(), Phase::SumForces);
    using Real = typename N::Real;
    using ForceSum = typename N::ForceSum;
    struct Worst
    {
        std::optional<UnstableAtom> atom;
        double badness = 1;
    };
    std::vector<Worst> found(static_cast<std::size_t>(queue.threads()));
    const auto examine = [&](std::size_t slot, Worst& worst) {
        const Vec3<ForceSum> f = state.f.get(slot);
        const double force = norm(Vec3<double>{from_sum(f.x), from_sum(f.y), from_sum(f.z)});
        const double displacement = norm(Vec3<double>(state.v.get(slot))) * dt;
        if (const double b = badness(force, displacement); b > worst.badness)
        {
            worst = {UnstableAtom{static_cast<std::int32_t>(slot), force, displacement}, b};
        }
    };
    // Components are compared with half the limits, in a loop that vectorises. Only a suspect cluster
    // is then checked atom by atom. The comparisons are written so that NaN makes a cluster suspect.
    const auto force_limit = to_sum<ForceSum>(0.5 * unstable_force);
    const auto speed_limit = static_cast<Real>(0.5 * unstable_displacement / dt);
    queue.for_range(state.home_clusters(), 1, [&](int thread, std::size_t begin, std::size_t end) {
        for (std::size_t c = begin; c < end; ++c)
        {
            const ForceSum* f = state.f.cluster(c);
            const Real* v = state.v.cluster(c);
            int sane = 0;
            for (int i = 0; i < 3 * cluster_size; ++i)
            {
                sane += static_cast<int>(f[i] < force_limit) & static_cast<int>(f[i] > -force_limit) &
                        static_cast<int>(v[i] < speed_limit) & static_cast<int>(v[i] > -speed_limit);
            }
            for (std::size_t lane = 0; sane != 3 * cluster_size && lane < cluster_size; ++lane)
            {
                examine(c * cluster_size + lane, found[static_cast<std::size_t>(thread)]);
            }
        }
    });
    Worst worst;
    for (const Worst& candidate : found)
    {
        if (candidate.atom && candidate.badness > worst.badness) { worst = candidate; }
    }
    return worst.atom;
}

namespace {
constexpr double range = 0x1p63 / fixed_sum_scale;
constexpr double largest_total = 2 * fixed_sum_limit; // half of the range of sums
} // namespace

template <class N>
std::string range_remark([[maybe_unused]] const std::vector<Vec3<double>>& forces, [[maybe_unused]] const EnergyVirial& energies)
{
    if constexpr (N::summation == Summation::Fast) { return ""; }
    // Pairs whose energy reaches the limit are closer than 0.5 nm, so their force is larger than this.
    constexpr double largest_force = fixed_sum_pair_limit / 0.5;
    // Two atoms in the same place have no force, but their energy is at the limit. Liquids have about 2 kJ/mol per atom.
    const double largest_lj = fixed_sum_pair_limit / 2 + 20 * static_cast<double>(forces.size());
    const auto too_large = [](double total) { return std::abs(total) > largest_total; };
    bool is_near = energies[EnergyTerm::LjSr] > largest_lj ||
                   std::any_of(energies.energy.begin(), energies.energy.end(), too_large) ||
                   std::any_of(forces.begin(), forces.end(), [](const Vec3<double>& f) { return norm(f) > largest_force; });
    for (int k = 0; k < 9; ++k) { is_near = is_near || too_large(energies.virial[k / 3][k % 3]); }
    return is_near ? "energies, forces or the pressure are beyond the range of --reproducible: such numbers are its limits, not "
                     "results. Leave it out to see them."
                   : "";
}

namespace {

double heaviest(const Topology& topology, const AtomGroups& groups)
{
    std::vector<double> mass(static_cast<std::size_t>(groups.count));
    for (std::int64_t a = 0; a < topology.atom_count(); ++a)
    {
        const std::uint8_t group = groups.group(a);
        if (group != AtomGroups::none) { mass[group] += topology.atom(a).mass; }
    }
    return *std::max_element(mass.begin(), mass.end());
}

// Returns an estimate of the Coulomb energy of a liquid or crystal, kJ/mol. An ion of charge 1 e in rock salt has
// 430 kJ/mol. A molecule of SPC/E water, whose partial charges have a sum of squares of 1.08 e^2, has 55 kJ/mol.
double expected_coulomb_energy(const Topology& topology, const RunParameters& parameters)
{
    double total = 0;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const std::vector<Atom>& atoms = topology.molecule_types[static_cast<std::size_t>(block.type)].atoms;
        double charge = 0, squares = 0;
        for (const Atom& atom : atoms) { charge += atom.charge, squares += atom.charge * atom.charge; }
        const double ion = std::max(std::abs(charge), charge * charge / static_cast<double>(atoms.size()));
        total += static_cast<double>(block.count) * (atoms.size() == 1 ? 430 * ion : 430 * ion + 51 * squares);
    }
    return total * coulomb_factor(parameters) / units::coulomb;
}

} // namespace

template <class N>
void check_range([[maybe_unused]] const Topology& topology, [[maybe_unused]] const RunParameters& parameters,
                 [[maybe_unused]] const Box<double>& box, [[maybe_unused]] const AtomGroups& com_groups)
{
    if constexpr (N::summation == Summation::Reproducible)
    {
        const bool stays = parameters.com_mode != ComMode::None && !is_minimisation(parameters.integrator);
        // The removal of rotation sums masses times squares of coordinates, nm^2.
        const double moment = parameters.com_mode == ComMode::Angular ? std::max(1.0, norm2(box.edge_lengths())) : 1;
        const bool may_be_heavy = stays && moment * topology.total_mass() >= range;
        if (const double mass = may_be_heavy ? heaviest(topology, com_groups) : 0; moment * mass >= range)
        {
            throw InputError(
                "E614", {},
                fmt::format("a group of comm-grps weighs {:.3g} u, and sums of --reproducible hold {:.3g} (the motion "
                            "of its centre of mass would be wrong). Leave --reproducible out, divide the group, or "
                            "set comm-mode = None.",
                            mass, range / moment));
        }
        if (const double energy = expected_coulomb_energy(topology, parameters); energy >= range)
        {
            throw InputError(
                "E614", {},
                fmt::format("so many charges have a Coulomb energy of some {:.2g} kJ/mol, and sums of --reproducible "
                            "hold {:.3g} (energies and the pressure would be wrong). Leave --reproducible out.",
                            energy, range));
        }
    }
}

template <class N>
void check_resolution([[maybe_unused]] const Box<double>& box)
{
    if constexpr (sizeof(typename N::Fixed) == sizeof(std::uint32_t))
    {
        // Measured in a drop of water and ethanol, in boxes of 100 to 100 000 nm: rounding of positions changes forces by 1.8e-8
        // of their root mean square per nm of the edge. At the limit that is as much as PME's usual error, 2e-4.
        constexpr double longest = 10000, error_per_nm = 1.8e-8;
        const Vec3<double> edges = box.edge_lengths();
        const double edge = std::max({edges.x, edges.y, edges.z});
        if (edge <= longest) { return; }
        throw InputError("E256", {},
                         fmt::format("an edge of the box is {:.6g} nm long, so that in mixed precision positions are rounded to "
                                     "{:.2g} nm (forces would be off by {:.2g} %). Use --precision double, or a box of at most "
                                     "{:g} nm.",
                                     edge, edge / 4294967296.0, 100 * error_per_nm * edge, longest));
    }
}

template <class N>
void stop_if_beyond_range([[maybe_unused]] const Observables& o)
{
    if constexpr (N::summation == Summation::Reproducible)
    {
        const auto check = [&](std::string_view what, double total) {
            if (!(std::abs(total) > largest_total)) { return; }
            throw PhysicsError(o.step, fmt::format("E510 step {}: the sum of {} is {:.3g} kJ/mol, and beyond {:.3g} sums of "
                                                   "--reproducible are wrong. There are too many atoms for it, or some in one "
                                                   "place: start afresh without it.",
                                                   o.step, what, total, range));
        };
        for (std::size_t term = 0; term < energy_terms; ++term)
        {
            // The dispersion correction is computed, not summed.
            if (static_cast<EnergyTerm>(term) != EnergyTerm::DispersionCorrection)
            {
                check(energy_term_table[term].name, o.forces.energy[term]);
            }
        }
        for (int k = 0; k < 9; ++k)
        {
            check("the virial of forces", o.forces.virial[k / 3][k % 3]);
            check("the virial of constraints", o.virial[k / 3][k % 3] - o.forces.virial[k / 3][k % 3]);
            check("the kinetic energy tensor", o.kinetic[k / 3][k % 3]);
        }
    }
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template std::optional<UnstableAtom> find_unstable_atom<N>(CpuQueue&, const ParticleState<N>&, double);                      \
    template std::string range_remark<N>(const std::vector<Vec3<double>>&, const EnergyVirial&);                                 \
    template void check_resolution<N>(const Box<double>&);                                                                       \
    template void check_range<N>(const Topology&, const RunParameters&, const Box<double>&, const AtomGroups&);                  \
    template void stop_if_beyond_range<N>(const Observables&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
