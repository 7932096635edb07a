// SPDX-License-Identifier: Apache-2.0
// Bonded terms placed on molecules: for every kind of interaction, what must hold whatever its law is.
#include "interactions/bonded/bonded.hpp"
#include "interactions/random_molecules.hpp"
#include "support/compare.hpp"
#include "support/particles.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

template <class N>
struct Evaluation
{
    ParticleState<N> state;
    EnergyVirial energies;
};

template <class N>
Evaluation<N> evaluate(const System& system, ParticleState<N> state, int threads = 1)
{
    CpuQueue queue(threads);
    const BondedTables tables = make_bonded(system.topology, {});
    ForceBuffers<N> buffers;
    clear_forces(queue, buffers, state.slots());
    compute_bonded(queue, tables, all_terms(tables, system.topology), state, buffers, Compute::ForcesEnergiesVirial);
    sum_forces(queue, buffers, state);
    return {state, sum_energies(buffers).result()};
}
template <class N>
Evaluation<N> evaluate(const System& system, int threads = 1)
{
    return evaluate(system, particles_in_input_order<N>(system), threads);
}

class EveryBondedKind : public ::testing::TestWithParam<int>
{
protected:
    const InteractionKind kind = static_cast<InteractionKind>(GetParam());
    const System system = random_chains(kind, 50, 1000 + static_cast<std::uint64_t>(GetParam()));
};

} // namespace

TEST_P(EveryBondedKind, acts_and_says_so_in_its_own_energy_terms_only)
{
    const auto result = evaluate<Double>(system);
    int terms = 0;
    for (const double e : result.energies.energy) { terms += e != 0; }
    EXPECT_EQ(terms, row_of(kind).energy.count);
    double sum = 0;
    for (const auto& f : forces_of(result.state)) { sum += norm(f); }
    EXPECT_GT(sum, 0);
}

TEST_P(EveryBondedKind, leaves_atoms_outside_its_terms_alone)
{
    const auto forces = forces_of(evaluate<Double>(system).state);
    const MoleculeBlock& lone = system.topology.blocks[1];
    for (std::int64_t i = 0; i < lone.count; ++i)
    {
        EXPECT_EQ(forces[static_cast<std::size_t>(lone.first_atom + i)], Vec3<double>{});
    }
}

TEST_P(EveryBondedKind, exerts_no_net_force)
{
    Vec3<double> net;
    double scale = 0;
    for (const auto& f : forces_of(evaluate<Double>(system).state)) { net += f, scale += norm(f); }
    EXPECT_LE(norm(net), 1e-14 * scale);

    std::int64_t fixed[3] = {0, 0, 0};
    const auto reproducible = evaluate<MixedReproducible>(system).state;
    for (std::size_t slot = 0; slot < reproducible.slots(); ++slot)
    {
        for (int d = 0; d < 3; ++d) { fixed[d] += reproducible.f.get(slot)[d]; }
    }
    for (const std::int64_t sum : fixed) { EXPECT_EQ(sum, 0); }
}

TEST_P(EveryBondedKind, exerts_no_net_torque)
{
    if (kind == InteractionKind::AngleRestraintZ) { GTEST_SKIP() << "the z axis does not turn with the atoms"; }
    const auto forces = forces_of(evaluate<Double>(system).state);
    Vec3<double> torque;
    double scale = 0;
    for (std::size_t i = 0; i < forces.size(); ++i) // system.x is unbroken
    {
        torque += cross(system.x[i], forces[i]);
        scale += norm(system.x[i]) * norm(forces[i]);
    }
    EXPECT_LE(norm(torque), 1e-13 * scale);
}

TEST_P(EveryBondedKind, has_the_virial_of_its_forces)
{
    const auto result = evaluate<Double>(system);
    const auto forces = forces_of(result.state);
    Mat3<double> virial;
    for (std::size_t i = 0; i < forces.size(); ++i) { virial += -0.5 * outer(system.x[i], forces[i]); }
    EXPECT_LE(max_relative(result.energies.virial, virial), 1e-12);
}

TEST_P(EveryBondedKind, has_the_virial_of_a_strained_box)
{
    // With f on i along dr, energy changes by -sum dr f strain: the virial -1/2 sum dr f is half of dE/d(strain).
    auto state = particles_in_input_order<Double>(system);
    const Mat3<double> virial = evaluate<Double>(system).energies.virial;
    for (int d = 0; d < 3; ++d)
    {
        const auto energy = [&](double strain) {
            Vec3<double> box = system.box.diagonal();
            box[d] *= 1 + strain;
            state.box.set_edges(box);
            return evaluate<Double>(system, state).energies.potential();
        };
        const auto slope = [&](double h) { return (energy(h) - energy(-h)) / (2 * h); };
        const double h = 1e-4;
        EXPECT_NEAR((4 * slope(h / 2) - slope(h)) / 3, 2 * virial[d][d],
                    1e-8 * (std::abs(2 * virial[d][d]) + std::abs(trace(virial))));
    }
}

TEST_P(EveryBondedKind, is_the_same_in_mixed_precision_to_float_rounding)
{
    const auto reference = evaluate<Double>(system);
    const auto mixed = evaluate<Mixed>(system);
    // 32-bit positions alone move atoms by 5e-10 nm: the reference sees the same positions.
    System rounded = system;
    for (std::size_t i = 0; i < rounded.x.size(); ++i)
    {
        rounded.x[i] = mixed.state.box.to_nm(mixed.state.x.get(static_cast<std::size_t>(mixed.state.slot_of_global[i])));
    }
    const auto at_same_positions = evaluate<Double>(rounded);
    EXPECT_LE(rms_relative(forces_of(mixed.state), forces_of(at_same_positions.state)), 1e-7);
    EXPECT_LE(rms_relative(forces_of(mixed.state), forces_of(reference.state)), 5e-7);
    EXPECT_NEAR(mixed.energies.potential(), reference.energies.potential(), 1e-6 * std::abs(reference.energies.potential()));
}

TEST_P(EveryBondedKind, reproduces_every_bit_with_any_number_of_threads)
{
    const auto one = evaluate<MixedReproducible>(system, 1);
    const auto one_double = evaluate<DoubleReproducible>(system, 1);
    for (int threads = 2; threads <= 4; ++threads)
    {
        const auto many = evaluate<MixedReproducible>(system, threads);
        EXPECT_EQ(many.state.f.values(), one.state.f.values());
        EXPECT_EQ(many.energies.energy, one.energies.energy);
        EXPECT_EQ(many.energies.virial, one.energies.virial);
        EXPECT_EQ(evaluate<DoubleReproducible>(system, threads).state.f.values(), one_double.state.f.values());
    }
}

TEST_P(EveryBondedKind, does_not_depend_on_the_number_of_threads_beyond_rounding)
{
    const auto one = evaluate<Double>(system, 1), three = evaluate<Double>(system, 3);
    EXPECT_LE(rms_relative(forces_of(three.state), forces_of(one.state)), 1e-15);
    EXPECT_NEAR(three.energies.potential(), one.energies.potential(), 1e-12 * std::abs(one.energies.potential()));
}

TEST_P(EveryBondedKind, adds_nothing_but_forces_when_asked_for_forces)
{
    CpuQueue queue(2);
    auto state = particles_in_input_order<Double>(system);
    ForceBuffers<Double> buffers;
    clear_forces(queue, buffers, state.slots());
    const BondedTables tables = make_bonded(system.topology, {});
    compute_bonded(queue, tables, all_terms(tables, system.topology), state, buffers, Compute::Forces);
    sum_forces(queue, buffers, state);
    EXPECT_EQ(state.f.values(), evaluate<Double>(system, 2).state.f.values());
    EXPECT_EQ(sum_energies(buffers).result().potential(), 0);
    EXPECT_EQ(sum_energies(buffers).result().virial, Mat3<double>{});
}

TEST_P(EveryBondedKind, is_alone_in_the_assignment_of_its_kind)
{
    // The assignment of another kind is empty, its own is complete.
    CpuQueue queue(1);
    auto state = particles_in_input_order<Double>(system);
    const BondedTables tables = make_bonded(system.topology, {});
    const BondedAssignment assignment = all_terms(tables, system.topology);
    for (int other = 0; other < interaction_kinds; ++other)
    {
        ForceBuffers<Double> buffers;
        clear_forces(queue, buffers, state.slots());
        compute_bonded(queue, tables, of_kind(assignment, static_cast<InteractionKind>(other)), state, buffers,
                       Compute::ForcesEnergiesVirial);
        const double expected = other == GetParam() ? evaluate<Double>(system).energies.potential() : 0;
        EXPECT_EQ(sum_energies(buffers).result().potential(), expected);
    }
}

std::string kind_name(const ::testing::TestParamInfo<int>& info)
{
    std::string name(interaction_table[info.param].name);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
    return name;
}
INSTANTIATE_TEST_SUITE_P(Forces, EveryBondedKind, ::testing::Range(0, bonded_kinds), kind_name);

TEST(Bonded, coulomb_of_pairs_is_screened_by_epsilon_r)
{
    const System system = random_chains(InteractionKind::Pair14, 4, 3);
    const auto state = particles_in_input_order<Double>(system);
    const auto coulomb = [&](double epsilon_r) {
        CpuQueue queue(1);
        RunParameters parameters;
        parameters.epsilon_r = epsilon_r;
        ForceBuffers<Double> buffers;
        clear_forces(queue, buffers, state.slots());
        const BondedTables tables = make_bonded(system.topology, parameters);
        compute_bonded(queue, tables, all_terms(tables, system.topology), state, buffers, Compute::ForcesEnergiesVirial);
        return sum_energies(buffers).result()[EnergyTerm::Coulomb14];
    };
    EXPECT_NEAR(coulomb(4), coulomb(1) / 4, 1e-12 * std::abs(coulomb(1)));
    EXPECT_EQ(coulomb(0), 0); // infinite
}
