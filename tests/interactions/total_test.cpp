// SPDX-License-Identifier: Apache-2.0
// All forces together against the reference data: that nothing is missing and nothing counted twice.
#include "interactions/bonded/bonded.hpp"
#include "interactions/pair/dispersion.hpp"
#include "interactions/pair/nonbonded.hpp"
#include "pairs/cluster_order.hpp"
#include "support/compare.hpp"
#include "support/particles.hpp"
#include "support/refdata.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

struct Totals
{
    std::vector<Vec3<double>> forces;
    EnergyVirial energies;
};

template <class N>
Totals evaluate(const Refdata& data, int threads = 2)
{
    const Topology& topology = data.system.topology;
    CpuQueue queue(threads);
    auto state = make_state<N>(data.system, {}, queue);
    PairList list;
    build_pair_list(queue, state, topology, data.parameters.lj_cutoff, list);
    NonbondedTables<N> nonbonded(make_nonbonded(topology, data.parameters));
    const BondedTables bonded = make_bonded(topology, data.parameters);

    ForceBuffers<N> buffers;
    clear_forces(queue, buffers, state.slots());
    compute_nonbonded(queue, nonbonded, list, state, buffers, Compute::ForcesEnergiesVirial);
    compute_bonded(queue, bonded, all_terms(bonded, topology), state, buffers, Compute::ForcesEnergiesVirial);
    sum_forces(queue, buffers, state);

    Totals result{forces_of(state), sum_energies(buffers).result()};
    const DispersionTail tail = make_dispersion_correction(topology, data.parameters);
    result.energies[EnergyTerm::DispersionCorrection] = tail.energy(state.box.edges().volume());
    for (int d = 0; d < 3; ++d) { result.energies.virial[d][d] += tail.virial(state.box.edges().volume()); }
    return result;
}

class TotalForces : public ::testing::TestWithParam<std::string>
{
};

void expect_energies(const EnergyVirial& energies, const EnergyTable& reference, double tolerance)
{
    for (int term = 0; term < energy_terms; ++term)
    {
        const std::string name(energy_term_table[term].name);
        const double expected = reference.contains(name) ? reference[name] : 0;
        // The reference's LJ-14 comes from a table good to 3e-7.
        const double relative = name == "LJ-14" ? std::max(tolerance, 3e-7) : tolerance;
        EXPECT_NEAR(energies.energy[static_cast<std::size_t>(term)], expected, relative * std::abs(expected)) << name;
    }
    EXPECT_NEAR(energies.potential(), reference["Potential"], tolerance * std::abs(reference["Potential"]));
}

} // namespace

// With constraints, as in a run. The tolerance of systems with 1-4 terms is that of the reference's interpolation.
TEST_P(TotalForces, are_those_of_the_reference_in_double)
{
    const Totals result = evaluate<Double>(load_refdata(GetParam()));
    EXPECT_LE(rms_relative(result.forces, refdata_forces(GetParam())), GetParam() == "spce" ? 1e-12 : 1e-8);
    expect_energies(result.energies, refdata_energies(GetParam()), 1e-9);
}

TEST_P(TotalForces, without_1_4_terms_are_those_of_the_reference_to_rounding)
{
    Refdata data = load_refdata(GetParam());
    for (MoleculeType& type : data.system.topology.molecule_types) { type.of(InteractionKind::Pair14).clear(); }
    std::vector<Vec3<double>> expected = refdata_forces(GetParam());
    if (GetParam() != "spce")
    {
        for (const std::string kind : {"lj", "coul"})
        {
            const auto with = refdata_class_forces(GetParam(), kind + "+" + kind + "14"),
                       without = refdata_class_forces(GetParam(), kind);
            for (std::size_t i = 0; i < expected.size(); ++i) { expected[i] -= with[i] - without[i]; }
        }
    }
    EXPECT_LE(rms_relative(evaluate<Double>(data).forces, expected), 1e-12);
}

TEST_P(TotalForces, of_flexible_molecules_have_the_virial_of_the_reference)
{
    const Totals result = evaluate<Double>(load_refdata(GetParam(), ConstraintMode::None));
    EXPECT_LE(rms_relative(result.forces, refdata_class_forces(GetParam(), "all")), GetParam() == "spce" ? 1e-12 : 1e-8);
    const EnergyTable reference = refdata_class_energies(GetParam(), "all");
    expect_energies(result.energies, reference, 1e-9);
    EXPECT_LE(max_relative(result.energies.virial, reference.tensor("Vir")), 1e-9);
}

TEST_P(TotalForces, in_mixed_precision_are_within_a_millionth)
{
    const Totals result = evaluate<Mixed>(load_refdata(GetParam()));
    EXPECT_LE(rms_relative(result.forces, refdata_forces(GetParam())), 1e-6);
    expect_energies(result.energies, refdata_energies(GetParam()), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Refdata, TotalForces, ::testing::ValuesIn(refdata_systems), [](const auto& test) { return test.param; });
