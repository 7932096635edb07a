// SPDX-License-Identifier: Apache-2.0
// Bonded forces of whole force fields against the reference data, class by class.
#include "interactions/bonded/bonded.hpp"
#include "support/compare.hpp"
#include "support/particles.hpp"
#include "support/refdata.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

struct Result
{
    std::vector<Vec3<double>> forces;
    EnergyVirial energies;
};

// The bonded terms of some kinds alone.
template <class N>
Result evaluate(const Refdata& data, const std::vector<InteractionKind>& kinds, int threads = 2)
{
    CpuQueue queue(threads);
    auto state = particles_in_input_order<N>(data.system);
    const BondedTables tables = make_bonded(data.system.topology, data.parameters);
    const BondedAssignment assignment = all_terms(tables, data.system.topology);
    ForceBuffers<N> buffers;
    clear_forces(queue, buffers, state.slots());
    for (const InteractionKind kind : kinds)
    {
        compute_bonded(queue, tables, of_kind(assignment, kind), state, buffers, Compute::ForcesEnergiesVirial);
    }
    sum_forces(queue, buffers, state);
    return {forces_of(state), sum_energies(buffers).result()};
}

struct BondedClass
{
    const char* system;
    const char* name;
    std::vector<InteractionKind> kinds;
};

const std::vector<BondedClass> bonded_classes = {
    {"etoh", "bonds", {InteractionKind::HarmonicBond}},           {"etoh", "angles", {InteractionKind::HarmonicAngle}},
    {"etoh", "dihedrals", {InteractionKind::RyckaertBellemans}},  {"villin", "bonds", {InteractionKind::HarmonicBond}},
    {"villin", "angles", {InteractionKind::HarmonicAngle}},       {"villin", "dihedrals", {InteractionKind::ProperDihedral}},
    {"villin", "impropers", {InteractionKind::PeriodicImproper}},
};

class BondedClassTest : public ::testing::TestWithParam<BondedClass>
{
};

struct PairSums
{
    std::vector<Vec3<double>> lj, coulomb;
    double lj_energy = 0, coulomb_energy = 0;
};

// The 1-4 terms by their formulas, from the topology and the positions of the input file alone.
PairSums pairs_by_formula(const System& system)
{
    const Topology& topology = system.topology;
    PairSums sums;
    sums.lj.resize(system.x.size());
    sums.coulomb.resize(system.x.size());
    for (const MoleculeBlock& block : topology.blocks)
    {
        const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(block.type)];
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            const std::int64_t first = block.first_atom + copy * static_cast<std::int64_t>(type.atoms.size());
            for (const Interaction& pair : type.of(InteractionKind::Pair14))
            {
                const auto a = static_cast<std::size_t>(pair.atoms[0]), b = static_cast<std::size_t>(pair.atoms[1]);
                const auto i = static_cast<std::size_t>(first) + a, j = static_cast<std::size_t>(first) + b;
                Vec3<double> d = system.x[i] - system.x[j];
                for (int axis = 0; axis < 3; ++axis)
                {
                    d[axis] -= system.box.diagonal()[axis] * std::round(d[axis] / system.box.diagonal()[axis]);
                }
                const auto& p = topology.parameters_of(InteractionKind::Pair14)[static_cast<std::size_t>(pair.parameters)];
                const double r = norm(d), qq = units::coulomb * topology.fudge_qq * type.atoms[a].charge * type.atoms[b].charge;
                const Vec3<double> lj = (12 * p[1] / std::pow(r, 14) - 6 * p[0] / std::pow(r, 8)) * d;
                const Vec3<double> coulomb = (qq / std::pow(r, 3)) * d;
                sums.lj[i] += lj, sums.lj[j] -= lj;
                sums.coulomb[i] += coulomb, sums.coulomb[j] -= coulomb;
                sums.lj_energy += p[1] / std::pow(r, 12) - p[0] / std::pow(r, 6);
                sums.coulomb_energy += qq / r;
            }
        }
    }
    return sums;
}

std::vector<Vec3<double>> subtract(std::vector<Vec3<double>> a, const std::vector<Vec3<double>>& b)
{
    for (std::size_t i = 0; i < a.size(); ++i) { a[i] -= b[i]; }
    return a;
}

Mat3<double> subtract(const Mat3<double>& a, const Mat3<double>& b) { return a + -1.0 * b; }

class ScaledPairsTest : public ::testing::TestWithParam<const char*>
{
};

} // namespace

TEST_P(BondedClassTest, forces_energies_and_virial_are_those_of_the_reference)
{
    const BondedClass& c = GetParam();
    const Refdata data = load_refdata(c.system, ConstraintMode::None);
    const Result result = evaluate<Double>(data, c.kinds);
    EXPECT_LE(rms_relative(result.forces, refdata_class_forces(c.system, c.name)), 1e-12);

    const EnergyTable reference = refdata_class_energies(c.system, c.name);
    const double potential = reference["Potential"];
    EXPECT_NEAR(result.energies.potential(), potential, 1e-9 * std::abs(potential));
    EXPECT_LE(max_relative(result.energies.virial, reference.tensor("Vir")), 1e-9);
}

TEST_P(BondedClassTest, mixed_precision_is_within_its_bound)
{
    const BondedClass& c = GetParam();
    const Result result = evaluate<Mixed>(load_refdata(c.system, ConstraintMode::None), c.kinds);
    EXPECT_LE(rms_relative(result.forces, refdata_class_forces(c.system, c.name)), 5e-7);
}

INSTANTIATE_TEST_SUITE_P(Refdata, BondedClassTest, ::testing::ValuesIn(bonded_classes),
                         [](const auto& test) { return std::string(test.param.system) + "_" + test.param.name; });

TEST_P(ScaledPairsTest, follow_their_formulas)
{
    const Refdata data = load_refdata(GetParam(), ConstraintMode::None);
    const Result result = evaluate<Double>(data, {InteractionKind::Pair14});
    const PairSums formula = pairs_by_formula(data.system);
    EXPECT_LE(rms_relative(subtract(result.forces, formula.coulomb), formula.lj), 1e-12);
    EXPECT_LE(rms_relative(subtract(result.forces, formula.lj), formula.coulomb), 1e-12);
    EXPECT_NEAR(result.energies[EnergyTerm::Lj14], formula.lj_energy, 1e-12 * std::abs(formula.lj_energy));
    EXPECT_NEAR(result.energies[EnergyTerm::Coulomb14], formula.coulomb_energy, 1e-12 * std::abs(formula.coulomb_energy));
}

// The reference interpolates 1-4 terms from a table: its own accuracy is 1.7e-7 and 1e-9 of the force.
TEST_P(ScaledPairsTest, agree_with_the_reference_to_its_own_accuracy)
{
    const std::string name = GetParam();
    const Refdata data = load_refdata(name, ConstraintMode::None);
    const Result result = evaluate<Double>(data, {InteractionKind::Pair14});
    const auto lj = subtract(refdata_class_forces(name, "lj+lj14"), refdata_class_forces(name, "lj"));
    const auto coulomb = subtract(refdata_class_forces(name, "coul+coul14"), refdata_class_forces(name, "coul"));
    const PairSums formula = pairs_by_formula(data.system);
    EXPECT_LE(rms_relative(subtract(result.forces, formula.coulomb), lj), 3e-7);
    EXPECT_LE(rms_relative(subtract(result.forces, formula.lj), coulomb), 2e-9);

    const EnergyTable lj_energies = refdata_class_energies(name, "lj+lj14"),
                      coulomb_energies = refdata_class_energies(name, "coul+coul14");
    EXPECT_NEAR(result.energies[EnergyTerm::Lj14], lj_energies["LJ-14"], 3e-7 * std::abs(lj_energies["LJ-14"]));
    EXPECT_NEAR(result.energies[EnergyTerm::Coulomb14], coulomb_energies["Coulomb-14"],
                1e-9 * std::abs(coulomb_energies["Coulomb-14"]));
    const Mat3<double> virial = subtract(lj_energies.tensor("Vir"), refdata_class_energies(name, "lj").tensor("Vir")) +
                                subtract(coulomb_energies.tensor("Vir"), refdata_class_energies(name, "coul").tensor("Vir"));
    EXPECT_LE(max_relative(result.energies.virial, virial), 3e-7);
}

INSTANTIATE_TEST_SUITE_P(Refdata, ScaledPairsTest, ::testing::Values("etoh", "villin"),
                         [](const auto& test) { return test.param; });

TEST(BondedRefdata, every_term_has_its_energy_in_the_total)
{
    for (const std::string& name : refdata_systems)
    {
        const Refdata data = load_refdata(name, ConstraintMode::HBonds);
        std::vector<InteractionKind> kinds;
        for (int kind = 0; kind < interaction_kinds; ++kind) { kinds.push_back(static_cast<InteractionKind>(kind)); }
        const EnergyVirial energies = evaluate<Double>(data, kinds).energies;
        const EnergyTable reference = refdata_energies(name);
        for (int term = 0; term < energy_terms; ++term)
        {
            const std::string title(energy_term_table[term].name);
            const bool bonded = term < static_cast<int>(EnergyTerm::Lj14) || term == static_cast<int>(EnergyTerm::Coulomb14);
            if (!bonded) { continue; }
            const double expected = reference.contains(title) ? reference[title] : 0;
            EXPECT_NEAR(energies.energy[static_cast<std::size_t>(term)], expected, 1e-9 * std::abs(expected))
                << name << " " << title;
        }
    }
}
