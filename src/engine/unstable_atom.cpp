// SPDX-License-Identifier: Apache-2.0
#include "engine/unstable_atom.hpp"

#include "base/error.hpp"
#include "engine/guard.hpp"
#include "engine/overflow.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <initializer_list>

namespace parhelion {

namespace {

constexpr const char* advice =
    "Common causes: a start that overlaps or is not minimised, a time step too long, wrong parameters.";

constexpr const char* diverged =
    " LINCS did not converge: constraints of an atom couple the more the lighter it is and the smaller "
    "their angles. Use bonds for some, or a larger lincs-order.";

struct LargestTerm
{
    std::string term;
    double force = -1; // kJ/mol/nm; NaN counts as larger than any number
};

template <class N>
double force_on(const Rank<N>& r, std::int32_t slot)
{
    Vec3<double> total;
    for (const auto& forces : r.buffers.forces)
    {
        const auto f = forces.get(static_cast<std::size_t>(slot));
        total += {from_sum(f.x), from_sum(f.y), from_sum(f.z)};
    }
    return norm(total);
}

void consider(LargestTerm& largest, std::string_view term, double force)
{
    if (std::isnan(largest.force)) { return; } // the first NaN is the cause of later ones
    if (!(force <= largest.force)) { largest = {std::string(term), force}; }
}

// Returns the term with the largest force on the atom, by computing term after term; speed does
// not matter here. Restores forces and energies, because a single-point evaluation returns them.
template <class N>
LargestTerm find_largest_term(Rank<N>& r, std::int32_t slot)
{
    ForceBuffers<N> kept = r.buffers;
    LargestTerm largest;
    clear_forces(r.queue, r.buffers, r.state.slots());
    compute_nonbonded(r.queue, r.nonbonded, r.pairs, r.state, r.buffers, Compute::Forces);
    consider(largest, "non-bonded interaction", force_on(r, slot));
    const auto consider_buffers = [&](InteractionKind kind) {
        if (const double force = force_on(r, slot); force != 0) { consider(largest, row_of(kind).name, force); }
    };
    for (int k = 0; k < bonded_kinds; ++k)
    {
        const auto kind = static_cast<InteractionKind>(k);
        clear_forces(r.queue, r.buffers, r.state.slots());
        compute_bonded(r.queue, r.tables.bonded, of_kind(r.assigned_terms, kind), r.state, r.buffers, Compute::Forces);
        consider_buffers(kind);
    }
    const auto consider_restraints = [&](InteractionKind kind, const PositionRestraints& of_kind) {
        clear_forces(r.queue, r.buffers, r.state.slots());
        compute_position_restraints(r.queue, of_kind, r.state, r.buffers, Compute::Forces);
        consider_buffers(kind);
    };
    consider_restraints(InteractionKind::PositionRestraint, {r.tables.restraints.list, {}});
    consider_restraints(InteractionKind::FlatBottomRestraint, {{}, r.tables.restraints.flat_bottomed});
    if (r.comm.ranks() == 1) // with several ranks the mesh would need all of them; its potential is smooth and never the cause
    {
        clear_forces(r.queue, r.buffers, r.state.slots());
        compute_mesh(r.queue, r.mesh, r.state, r.buffers, Compute::Forces);
        consider(largest, "reciprocal part of PME", force_on(r, slot));
    }
    r.buffers = std::move(kept);
    return largest;
}

struct Neighbour
{
    std::int64_t atom = -1; // global atom; -1: there is none
    double distance = 1e30; // nm
};

// Returns the nearest atom that has a nonbonded interaction with this atom. Bonded partners are left out: they are always near.
template <class N>
Neighbour nearest_neighbour(const Rank<N>& r, std::int64_t atom)
{
    const std::vector<std::int32_t>& atoms = r.state.global_of_slot;
    const auto slot = static_cast<std::size_t>(std::find(atoms.begin(), atoms.end(), atom) - atoms.begin());
    Neighbour nearest;
    for (std::size_t other = 0; other < r.state.slots() && slot < r.state.slots(); ++other)
    {
        if (atoms[other] < 0 || other == slot) { continue; }
        const double distance = norm(r.state.box.nearest(r.state.x.get(other), r.state.x.get(slot)));
        if (distance < nearest.distance && !is_excluded(r.topology, atom, atoms[other])) { nearest = {atoms[other], distance}; }
    }
    return nearest;
}

// Returns a sentence about the closest contact of these atoms. If it is beyond the
// cut-off, the atoms exert no force, and the sentence suggests the box as the cause.
template <class N>
std::string closest_contact(const Rank<N>& r, std::initializer_list<std::int64_t> atoms)
{
    Neighbour closest;
    std::int64_t of = -1;
    for (const std::int64_t atom : atoms)
    {
        const Neighbour neighbour = nearest_neighbour(r, atom);
        if (neighbour.distance < closest.distance) { closest = neighbour, of = atom; }
    }
    if (!(closest.distance <= r.list_plan.cutoff))
    {
        const Vec3<double>& box = r.state.box.edges().diagonal();
        return fmt::format(" No other atom is within the cut-off; the box is {:.4g} x {:.4g} x {:.4g} nm.", box.x, box.y, box.z);
    }
    return fmt::format(" Nearest to {}: {}, at {:.4f} nm.", r.topology.describe(of), r.topology.describe(closest.atom),
                       closest.distance);
}

// Returns a sentence about the force on an atom, and about the term that contributes most.
template <class N>
std::string largest_force_on(Rank<N>& r, std::int64_t atom)
{
    const std::vector<std::int32_t>& atoms = r.state.global_of_slot;
    const auto slot = static_cast<std::int32_t>(std::find(atoms.begin(), atoms.end(), atom) - atoms.begin());
    const LargestTerm largest = find_largest_term(r, slot);
    return fmt::format(" Largest force on {}: {:.3g} kJ/mol/nm, from the {}.", r.topology.describe(atom), largest.force,
                       largest.term);
}

// Returns the temperature of the input's velocities, K.
template <class N>
double temperature_of_start(const Rank<N>& r)
{
    double kinetic = 0, degrees_of_freedom = 0;
    for (std::size_t i = 0; i < r.start_velocities.size(); ++i)
    {
        kinetic += 0.5 * r.topology.atom(static_cast<std::int64_t>(i)).mass * norm2(r.start_velocities[i]);
    }
    for (const double of_group : r.tables.degrees_of_freedom) { degrees_of_freedom += of_group; }
    return temperature(kinetic, degrees_of_freedom);
}

// Returns a sentence if the start was almost at rest and v-rescale heats from there; otherwise an empty
// text. The thermostat multiplies velocities. If only few atoms move, they get the heat of all atoms.
template <class N>
std::string heated_from_rest(const Rank<N>& r)
{
    const TemperatureCoupling& coupling = r.temperature_coupling;
    if (coupling.kind != Thermostat::VRescale || r.parameters.generate_velocities) { return ""; }
    constexpr double cold = 0.1, soon = 10; // fraction of the reference temperature; number of time constants
    const double elapsed = static_cast<double>(r.step - r.parameters.first_step) * r.parameters.dt;
    for (const TemperatureCoupling::Group& group : coupling.groups)
    {
        if (!(group.tau > 0 && elapsed <= soon * group.tau)) { continue; }
        const double start = temperature_of_start(r);
        if (!(start < cold * group.reference)) { continue; }
        return fmt::format(
            " The atoms started at {:.3g} K, and v-rescale heats them to {:g} K by multiplying velocities: the few that "
            "move get the heat of all. Set gen-vel = yes, or heat with integrator = sd.",
            start, group.reference);
    }
    return "";
}

// Throws the error about broken constraints. `force` is a sentence of largest_force_on(), or empty.
template <class N>
[[noreturn]] void end_with_constraints(const Rank<N>& r, Failures known, const std::string& force)
{
    const ConstraintResult<N>& c = r.constraint_result;
    const char* const how_many = r.comm.ranks() > 1 && known == Failures::OfThisRank ? "at least " : "";
    const bool is_off = std::abs(c.worst_deviation) > LincsSettings::failed;
    const std::string off = is_off ? fmt::format(" and is off its length by {:+.2g} %", 100 * c.worst_deviation) : "";
    throw PhysicsError(r.step, fmt::format("E501 step {}: {}{} constraint{} could not be satisfied or turned by more than "
                                           "lincs-warnangle; the worst of them turned by {:.0f} degrees{}: {} - {}.{}{}{} {}{}",
                                           r.step, how_many, c.failures, c.failures == 1 ? "" : "s", c.worst_angle, off,
                                           r.topology.describe(c.worst_atom_a), r.topology.describe(c.worst_atom_b), force,
                                           closest_contact(r, {c.worst_atom_a, c.worst_atom_b}), heated_from_rest(r), advice,
                                           is_off ? diverged : ""));
}

} // namespace

template <class N>
void stop_if_constraints_failed(const Rank<N>& r)
{
    if (r.constraint_result.failures > 0) { end_with_constraints(r, Failures::OfThisRank, ""); }
}

void stop_if_box_too_small(std::int64_t step, double largest_cutoff, double list_cutoff)
{
    if (list_cutoff <= largest_cutoff) { return; }
    throw PhysicsError(
        step, fmt::format("E503 step {}: the box has shrunk to {:.4f} nm, less than twice the pair list's cut-off of {:.4f} nm "
                          "(an atom would meet two images of another). Use a larger box or a shorter cut-off, or look for what "
                          "makes the pressure so low.",
                          step, 2 * largest_cutoff, list_cutoff));
}

template <class N>
void stop_if_unstable(Rank<N>& r, Failures known)
{
    if (r.constraint_result.failures > 0)
    {
        end_with_constraints(r, known, largest_force_on(r, r.constraint_result.worst_atom_a));
    }
    const std::optional<UnstableAtom> unstable = find_unstable_atom(r.queue, r.state, r.parameters.dt);
    if (!unstable) { return; }
    const LargestTerm largest = find_largest_term(r, unstable->slot);
    const std::int64_t atom = r.state.global_of_slot[static_cast<std::size_t>(unstable->slot)];
    throw PhysicsError(
        r.step,
        fmt::format("E502 step {}: {} would move {:.3g} nm in one step; force {:.3g} kJ/mol/nm, largest from the {}.{}{} {}",
                    r.step, r.topology.describe(atom), unstable->displacement, unstable->force, largest.term,
                    closest_contact(r, {atom}), heated_from_rest(r), advice));
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void stop_if_constraints_failed<N>(const Rank<N>&);                                                                 \
    template void stop_if_unstable<N>(Rank<N>&, Failures);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
