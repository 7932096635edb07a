// SPDX-License-Identifier: Apache-2.0
#include "interactions/pair/nonbonded.hpp"

#include "base/error.hpp"
#include "interactions/mesh/mesh_dispersion.hpp"
#include "interactions/pair/nonbonded_kernel.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace parhelion {

namespace {

// The relative deviation below which a table follows a rule. It allows for rounding
// in the force field reader, and is far below any real difference of parameters.
constexpr double rule_tolerance = 1e-13;

bool near(double a, double b) { return std::abs(a - b) <= rule_tolerance * std::max(std::abs(a), std::abs(b)); }

bool is_geometric(const NonbondedParameters& p)
{
    const auto follows = [&](const std::vector<double>& c, int a, int b) {
        const double product = c[static_cast<std::size_t>(a * p.types + a)] * c[static_cast<std::size_t>(b * p.types + b)];
        return product >= 0 && near(c[static_cast<std::size_t>(a * p.types + b)], std::sqrt(product));
    };
    for (int a = 0; a < p.types; ++a)
    {
        for (int b = 0; b < p.types; ++b)
        {
            if (!follows(p.c6, a, b) || !follows(p.c12, a, b)) { return false; }
        }
    }
    return true;
}

// sigma and epsilon of a type. Both are zero for a type without interaction.
struct SigmaEpsilon
{
    double sigma = 0, epsilon = 0;
};
SigmaEpsilon sigma_epsilon(const NonbondedParameters& p, int type)
{
    const auto i = static_cast<std::size_t>(type * p.types + type);
    if (p.c6[i] <= 0 || p.c12[i] <= 0) { return {}; }
    return {std::pow(p.c12[i] / p.c6[i], 1.0 / 6), 0.25 * p.c6[i] * p.c6[i] / p.c12[i]};
}

bool is_lorentz_berthelot(const NonbondedParameters& p)
{
    for (int a = 0; a < p.types; ++a)
    {
        for (int b = 0; b < p.types; ++b)
        {
            const SigmaEpsilon ea = sigma_epsilon(p, a), eb = sigma_epsilon(p, b);
            const double s6 = std::pow(0.5 * (ea.sigma + eb.sigma), 6);
            const double c6 = 4 * std::sqrt(ea.epsilon * eb.epsilon) * s6;
            const auto i = static_cast<std::size_t>(a * p.types + b);
            if (!near(p.c6[i], c6) || !near(p.c12[i], c6 * s6)) { return false; }
        }
    }
    return true;
}

} // namespace

LjModifierTerm force_switch(int p, double r1, double rc)
{
    const double d = rc - r1, scale = p * std::pow(rc, -(p + 2));
    LjModifierTerm term;
    term.a = -scale * ((p + 4) * rc - (p + 1) * r1) / (d * d);
    term.b = scale * ((p + 3) * rc - (p + 1) * r1) / (d * d * d);
    term.constant = std::pow(rc, -p) - d * d * d * (term.a / 3 + term.b * d / 4);
    return term;
}

double potential_switch(int i, double r1, double rc)
{
    constexpr double of_unit_range[] = {10, -15, 6};
    return of_unit_range[i] / std::pow(rc - r1, 3 + i);
}

NonbondedParameters make_nonbonded(const Topology& topology, const RunParameters& run)
{
    const bool has_mesh = run.coulomb == CoulombKind::Pme;
    if (run.coulomb_cutoff < run.lj_cutoff || (run.coulomb_cutoff > run.lj_cutoff && !has_mesh))
    {
        throw InputError("E310", {},
                         has_mesh
                             ? "rvdw is longer than rcoulomb (the pair list is made for rcoulomb, as in GROMACS). Set rvdw to "
                               "rcoulomb or less."
                             : "rcoulomb and rvdw differ (only PME takes two cut-offs, here as in GROMACS). Set both to the "
                               "same value.");
    }
    NonbondedParameters p;
    p.cutoff = run.coulomb_cutoff;
    p.lj_cutoff = run.lj_cutoff;
    p.coulomb_factor = coulomb_factor(run);
    const double rc = p.lj_cutoff;
    if (has_mesh)
    {
        p.screening = make_screening(ewald_beta(run), p.cutoff);
        if (run.coulomb_potential_shift) { p.reaction_field_c = std::erfc(p.screening.beta * p.cutoff) / p.cutoff; }
    }
    else if (run.coulomb == CoulombKind::ReactionField)
    {
        p.reaction_field_k = reaction_field_k(run);
        p.reaction_field_c = 1 / rc + p.reaction_field_k * rc * rc;
    }
    else if (run.coulomb_potential_shift) { p.reaction_field_c = 1 / rc; }

    p.lj_switch = rc;
    p.switches_potential = run.lj_modifier == LjModifier::PotentialSwitch;
    if (run.lj_modifier == LjModifier::ForceSwitch || p.switches_potential)
    {
        PARHELION_EXPECTS(run.lj_switch >= 0 && run.lj_switch < rc);
        p.lj_switch = run.lj_switch;
    }
    if (run.lj_modifier == LjModifier::ForceSwitch)
    {
        p.dispersion = force_switch(6, run.lj_switch, rc);
        p.repulsion = force_switch(12, run.lj_switch, rc);
    }
    else if (run.lj_modifier == LjModifier::PotentialShift)
    {
        p.dispersion.constant = std::pow(rc, -6);
        p.repulsion.constant = std::pow(rc, -12);
    }
    p.types = topology.types();
    p.c6 = topology.c6;
    p.c12 = topology.c12;
    p.rule = is_geometric(p) ? LjRule::Geometric : is_lorentz_berthelot(p) ? LjRule::LorentzBerthelot : LjRule::Table;
    if (run.has_lj_mesh)
    {
        PARHELION_EXPECTS(has_mesh && p.lj_switch == rc && p.cutoff == rc);
        p.mesh_dispersion = make_dispersion_screening(lj_ewald_beta(run), rc);
        p.mesh_rule = run.lj_mesh_rule;
        p.mesh_c6 = mesh_c6(topology, run);
        if (run.lj_modifier == LjModifier::PotentialShift)
        {
            const double b = p.mesh_dispersion.beta * rc;
            p.mesh_dispersion_shift = (1 - direct_dispersion(b * b)) * std::pow(rc, -6);
        }
    }
    return p;
}

double self_energy(const NonbondedParameters& parameters)
{
    const double constant =
        parameters.screening.is_used() ? parameters.screening.beta / std::sqrt(units::pi) : 0.5 * parameters.reaction_field_c;
    return -parameters.coulomb_factor * constant;
}

double dispersion_self_energy(const NonbondedParameters& parameters)
{
    const double beta2 = parameters.mesh_dispersion.beta * parameters.mesh_dispersion.beta;
    return beta2 * beta2 * beta2 / 12;
}

template <class N>
NonbondedTables<N>::NonbondedTables(NonbondedParameters parameters) : parameters_(std::move(parameters))
{
    const NonbondedParameters& p = parameters_;
    const auto types = static_cast<std::size_t>(p.types);
    type_parameters_.assign(2 * (types + 1), 0);
    if (p.mesh_dispersion.is_used())
    {
        mesh_type_parameters_.assign(2 * (types + 1), 0);
        for (std::size_t a = 0; a < types; ++a)
        {
            const bool is_geometric = p.mesh_rule == LjMeshRule::Geometric;
            const double c6 = p.mesh_c6[a * types + a], c12 = p.c12[a * types + a];
            if (c6 == 0) { continue; }
            mesh_type_parameters_[2 * a] =
                static_cast<Real>(is_geometric ? std::sqrt(6 * c6) : 0.5 * std::pow(c12 / c6, 1.0 / 6));
            mesh_type_parameters_[2 * a + 1] = static_cast<Real>(is_geometric ? 0 : c6 * std::sqrt(6 / c12));
        }
    }
    pair_parameters_.assign(p.rule == LjRule::Table ? 2 * (types + 1) * (types + 1) : 0, 0);
    for (std::size_t a = 0; a < types; ++a)
    {
        const std::size_t aa = a * types + a;
        if (p.rule == LjRule::Geometric)
        {
            type_parameters_[2 * a] = static_cast<Real>(std::sqrt(6 * p.c6[aa]));
            type_parameters_[2 * a + 1] = static_cast<Real>(std::sqrt(12 * p.c12[aa]));
        }
        else if (p.rule == LjRule::LorentzBerthelot)
        {
            const SigmaEpsilon e = sigma_epsilon(p, static_cast<int>(a));
            type_parameters_[2 * a] = static_cast<Real>(0.5 * e.sigma);
            type_parameters_[2 * a + 1] = static_cast<Real>(std::sqrt(24 * e.epsilon));
        }
        else
        {
            // In the kernels, a type with parameters of zero has no interaction.
            for (std::size_t b = 0; b < types; ++b)
            {
                const std::size_t ab = a * (types + 1) + b;
                pair_parameters_[2 * ab] = static_cast<Real>(6 * p.c6[a * types + b]);
                pair_parameters_[2 * ab + 1] = static_cast<Real>(12 * p.c12[a * types + b]);
                if (p.c6[a * types + b] != 0 || p.c12[a * types + b] != 0)
                {
                    type_parameters_[2 * a] = type_parameters_[2 * a + 1] = 1;
                }
            }
        }
    }
}

template <class N>
auto NonbondedTables<N>::slot_parameters(CpuQueue& queue, const PairList& list, const ParticleState<N>& state) -> const Real*
{
    if (list.serial == list_serial_ && slot_types_.size() == state.slots()) { return slot_parameters_.data(); }
    list_serial_ = list.serial;
    slot_types_.resize(state.slots());
    slot_parameters_.resize(3 * state.slots());
    mesh_slot_parameters_.resize(mesh_type_parameters_.empty() ? 0 : 2 * state.slots());
    const double charge_scale = std::sqrt(parameters_.coulomb_factor);
    queue.for_range(state.clusters(), 1, [&](int, std::size_t begin, std::size_t end) {
        for (std::size_t slot = begin * cluster_size; slot < end * cluster_size; ++slot)
        {
            const std::int32_t type = state.global_of_slot[slot] < 0 ? parameters_.types : state.lj_type[slot];
            slot_types_[slot] = type;
            Real* p = slot_parameters_.data() + slot / cluster_size * 3 * cluster_size + slot % cluster_size;
            p[0] = static_cast<Real>(charge_scale * static_cast<double>(state.charge[slot]));
            p[cluster_size] = type_parameters_[2 * static_cast<std::size_t>(type)];
            p[2 * cluster_size] = type_parameters_[2 * static_cast<std::size_t>(type) + 1];
            if (mesh_type_parameters_.empty()) { continue; }
            Real* of_mesh = mesh_slot_parameters_.data() + slot / cluster_size * 2 * cluster_size + slot % cluster_size;
            of_mesh[0] = mesh_type_parameters_[2 * static_cast<std::size_t>(type)];
            of_mesh[cluster_size] = mesh_type_parameters_[2 * static_cast<std::size_t>(type) + 1];
        }
    });
    return slot_parameters_.data();
}

namespace {

// Adds the self energy of the atoms in clusters begin .. end, this thread's part of the home clusters.
template <class N>
void add_self_energy(const NonbondedParameters& p, const ParticleState<N>& state, std::size_t begin, std::size_t end,
                     EnergySums<N>& energies)
{
    const double factor = self_energy(p);
    for (std::size_t slot = begin * cluster_size; slot < end * cluster_size; ++slot)
    {
        const auto q = static_cast<double>(state.charge[slot]);
        energies.add(EnergyTerm::CoulombSr, factor * q * q);
    }
}

// Adds the self energy of these atoms on the mesh of dispersion.
template <class N>
void add_dispersion_self_energy(const NonbondedParameters& p, const ParticleState<N>& state, std::size_t begin, std::size_t end,
                                EnergySums<N>& energies)
{
    const double factor = dispersion_self_energy(p);
    for (std::size_t slot = begin * cluster_size; slot < end * cluster_size; ++slot)
    {
        if (state.global_of_slot[slot] < 0) { continue; }
        const auto type = static_cast<std::size_t>(state.lj_type[slot]);
        energies.add(EnergyTerm::LjSr, factor * p.mesh_c6[type * static_cast<std::size_t>(p.types) + type]);
    }
}

} // namespace

template <class N>
void compute_nonbonded(CpuQueue& queue, NonbondedTables<N>& tables, const PairList& list, const ParticleState<N>& state,
                       ForceBuffers<N>& buffers, Compute compute)
{
    const ScopedPhase span(queue.clock(), Phase::Nonbonded);
    const NonbondedParameters& parameters = tables.parameters();
    const Box<double>& box = state.box.edges();
    PARHELION_EXPECTS(parameters.cutoff <= box.largest_cutoff());

    nonbonded::KernelArgs<N> common;
    common.slot_parameters = tables.slot_parameters(queue, list, state);
    common.slot_types = tables.slot_types();
    common.mesh_parameters = tables.mesh_slot_parameters();
    common.pair_parameters = tables.pair_parameters().data();
    common.types = parameters.types + 1;
    common.x = state.x.values().data();
    common.nm_per_unit = state.box.nm_per_unit();
    common.edge = box.diagonal();
    common.is_low = box.is_low(parameters.cutoff);
    common.parameters = &parameters;
    common.rule = parameters.rule;
    common.compute = compute;

    const auto threads = static_cast<std::size_t>(queue.threads());
    const std::size_t total = list.entries();
    queue.run([&](int thread) {
        // This thread computes the rows that begin in its share of all entries.
        const auto t = static_cast<std::size_t>(thread);
        const std::size_t share_begin = total * t / threads, share_end = total * (t + 1) / threads;
        nonbonded::KernelArgs<N> args = common;
        args.f = buffers.forces[t].values().data();
        args.energies = &buffers.energies[t];
        std::size_t offset = 0;
        for (const PairListPart& part : list.active())
        {
            const auto first_from = [&](std::size_t entry) {
                return std::partition_point(part.rows.begin(), part.rows.end(), [&](const PairRow& row) {
                    return offset + static_cast<std::size_t>(row.begin) < entry;
                });
            };
            const auto begin = first_from(share_begin), end = first_from(share_end);
            args.rows = part.rows.data() + (begin - part.rows.begin());
            args.rows_end = part.rows.data() + (end - part.rows.begin());
            args.entries = part.entries.data();
            if (begin != end) { nonbonded::compute_rows(args); }
            offset += part.entries.size();
        }
        if (compute == Compute::ForcesEnergiesVirial)
        {
            const auto [first, last] = queue.range(state.home_clusters(), 1, thread);
            add_self_energy(parameters, state, first, last, buffers.energies[t]);
            if (parameters.mesh_dispersion.is_used())
            {
                add_dispersion_self_energy(parameters, state, first, last, buffers.energies[t]);
            }
        }
    });
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template class NonbondedTables<N>;                                                                                           \
    template void compute_nonbonded<N>(CpuQueue&, NonbondedTables<N>&, const PairList&, const ParticleState<N>&,                 \
                                       ForceBuffers<N>&, Compute);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
