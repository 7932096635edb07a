// SPDX-License-Identifier: Apache-2.0
#include "interactions/bonded/restraints.hpp"
#include "interactions/bonded/restraints_body.hpp"
#include "interactions/random_molecules.hpp"
#include "support/compare.hpp"
#include "support/particles.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <tuple>

using namespace parhelion;
using namespace parhelion::test;

namespace {

constexpr int atoms_per_chain = 7;

struct Restrained
{
    std::vector<Vec3<double>> forces;
    EnergyVirial energies;
};

template <class N>
Restrained evaluate(const PositionRestraints& restraints, ParticleState<N> state, int threads = 2)
{
    CpuQueue queue(threads);
    ForceBuffers<N> buffers;
    clear_forces(queue, buffers, state.slots());
    compute_position_restraints(queue, restraints, state, buffers, Compute::ForcesEnergiesVirial);
    sum_forces(queue, buffers, state);
    return {forces_of(state), sum_energies(buffers).result()};
}

RunParameters scaling(RefcoordScaling s)
{
    RunParameters p;
    p.refcoord_scaling = s;
    return p;
}

// Chains whose references are up to 0.03 nm away, in a box of another size.
class PositionRestraintsTest : public ::testing::TestWithParam<RefcoordScaling>
{
protected:
    PositionRestraintsTest() : system(random_chains(InteractionKind::PositionRestraint, 6, 5))
    {
        Random random(6);
        for (const auto& x : system.x) { system.restraint_reference.push_back(x + random.vector(random(0, 0.03))); }
        system.restraint_reference_box = {3.0, 3.8, 4.35};
    }
    System system;
    const RunParameters parameters = scaling(GetParam());
};

void expect_same_bits_on_any_threads(const PositionRestraints& restraints, const System& system)
{
    const auto state = particles_in_input_order<MixedReproducible>(system);
    const Restrained one = evaluate(restraints, state, 1);
    for (int threads = 2; threads <= 4; ++threads)
    {
        const Restrained many = evaluate(restraints, state, threads);
        EXPECT_EQ(many.forces, one.forces);
        EXPECT_EQ(many.energies.energy, one.energies.energy);
        EXPECT_EQ(many.energies.virial, one.energies.virial);
    }
}

} // namespace

TEST_P(PositionRestraintsTest, forces_are_minus_the_gradient)
{
    const PositionRestraints restraints = make_position_restraints(system, parameters);
    auto state = particles_in_input_order<Double>(system);
    const auto forces = evaluate(restraints, state).forces;
    for (const std::size_t atom : {0U, 5U, 20U, 44U})
    {
        for (int axis = 0; axis < 3; ++axis)
        {
            const auto here = state.x.get(atom);
            const auto energy = [&](double h) {
                Vec3<double> step;
                step[axis] = h;
                state.x.set(atom, state.box.displaced(here, step));
                const double e = evaluate(restraints, state).energies.potential();
                state.x.set(atom, here);
                return e;
            };
            const double h = 1e-3; // the potential is a parabola: central differences are exact
            EXPECT_NEAR(-(energy(h) - energy(-h)) / (2 * h), forces[atom][axis], 1e-8 * (std::abs(forces[atom][axis]) + 1));
        }
    }
}

TEST_P(PositionRestraintsTest, virial_is_half_the_derivative_by_the_strain_of_the_box)
{
    const PositionRestraints restraints = make_position_restraints(system, parameters);
    auto state = particles_in_input_order<Double>(system);
    const Mat3<double> virial = evaluate(restraints, state).energies.virial;
    for (int d = 0; d < 3; ++d)
    {
        EXPECT_EQ(virial[d][(d + 1) % 3], 0);
        EXPECT_EQ(virial[d][(d + 2) % 3], 0);
        const auto energy = [&](double strain) {
            Vec3<double> box = system.box.diagonal();
            box[d] *= 1 + strain;
            state.box.set_edges(box);
            return evaluate(restraints, state).energies.potential();
        };
        const double h = 1e-5; // a parabola in the strain
        EXPECT_NEAR((energy(h) - energy(-h)) / (2 * h), 2 * virial[d][d], 1e-7 * (std::abs(2 * virial[d][d]) + 1));
    }
}

TEST_P(PositionRestraintsTest, reproduces_every_bit_with_any_number_of_threads)
{
    const PositionRestraints restraints = make_position_restraints(system, parameters);
    expect_same_bits_on_any_threads(restraints, system);
}

TEST_P(PositionRestraintsTest, is_the_same_in_mixed_precision_to_float_rounding)
{
    const PositionRestraints restraints = make_position_restraints(system, parameters);
    EXPECT_LE(rms_relative(evaluate(restraints, particles_in_input_order<Mixed>(system)).forces,
                           evaluate(restraints, particles_in_input_order<Double>(system)).forces),
              5e-7);
}

std::string scaling_name(const ::testing::TestParamInfo<RefcoordScaling>& test)
{
    return test.param == RefcoordScaling::None ? "none" : test.param == RefcoordScaling::All ? "all" : "com";
}
INSTANTIATE_TEST_SUITE_P(Scaling, PositionRestraintsTest,
                         ::testing::Values(RefcoordScaling::None, RefcoordScaling::All, RefcoordScaling::Com), scaling_name);

TEST(PositionRestraints, hold_atoms_at_their_start_if_no_reference_is_given)
{
    System system = random_chains(InteractionKind::PositionRestraint, 4, 8);
    for (const RefcoordScaling s : {RefcoordScaling::None, RefcoordScaling::All, RefcoordScaling::Com})
    {
        const Restrained result =
            evaluate(make_position_restraints(system, scaling(s)), particles_in_input_order<Double>(system));
        EXPECT_NEAR(result.energies.potential(), 0, 1e-20);
    }
}

TEST(PositionRestraints, pull_each_axis_with_its_own_constant_along_the_minimum_image)
{
    System system = random_chains(InteractionKind::PositionRestraint, 2, 9);
    Vec3<double> shift{0.02, -0.03, 0.01};
    system.restraint_reference = system.x;
    for (auto& x : system.restraint_reference)
    {
        x += shift + Vec3<double>{system.box.diagonal().x, 0, -2 * system.box.diagonal().z};
    } // other images
    system.restraint_reference_box = system.box;
    const Restrained result =
        evaluate(make_position_restraints(system, scaling(RefcoordScaling::None)), particles_in_input_order<Double>(system));
    const auto& parameters = system.topology.parameters_of(InteractionKind::PositionRestraint);
    double energy = 0;
    for (std::size_t atom = 0; atom < result.forces.size(); ++atom)
    {
        const AtomAddress address = system.topology.locate(static_cast<std::int64_t>(atom));
        const bool restrained = address.type == 0;
        for (int axis = 0; axis < 3; ++axis)
        {
            const double k = restrained ? parameters[static_cast<std::size_t>(address.local)][static_cast<std::size_t>(axis)] : 0;
            EXPECT_NEAR(result.forces[atom][axis], k * shift[axis], 1e-11 * k);
            energy += 0.5 * k * shift[axis] * shift[axis];
        }
    }
    EXPECT_NEAR(result.energies[EnergyTerm::PositionRestraint], energy, 1e-12 * energy);
    EXPECT_EQ(result.energies.potential(), result.energies[EnergyTerm::PositionRestraint]);
}

TEST(PositionRestraints, references_follow_the_box_as_asked)
{
    // Two blocks of two chains: the centre is that of the first chain of each.
    System system = random_chains(InteractionKind::PositionRestraint, 4, 10);
    Vec3<double> centre;
    double mass = 0;
    for (std::size_t i = 0; i < system.x.size(); ++i)
    {
        const AtomAddress address = system.topology.locate(static_cast<std::int64_t>(i));
        if (address.type != 0 || address.copy > 0) { continue; }
        const double m = system.topology.atom(static_cast<std::int64_t>(i)).mass;
        centre += m * system.x[i];
        mass += m;
    }
    centre *= 1 / mass;
    const double growth = 1.002;
    for (const RefcoordScaling s : {RefcoordScaling::None, RefcoordScaling::All, RefcoordScaling::Com})
    {
        const PositionRestraints restraints = make_position_restraints(system, scaling(s));
        ASSERT_EQ(restraints.list.size(), 4U * atoms_per_chain);
        for (const PositionRestraint& restraint : restraints.list)
        {
            const Vec3<double> x = system.x[static_cast<std::size_t>(restraint.atom)];
            const Vec3<double> fixed = s == RefcoordScaling::None ? x : s == RefcoordScaling::All ? Vec3<double>{} : x - centre;
            for (int d = 0; d < 3; ++d)
            {
                const double expected = fixed[d] + growth * (x[d] - fixed[d]);
                EXPECT_NEAR(restraint.fraction[d] * growth * system.box.diagonal()[d] + restraint.offset[d], expected, 1e-13);
            }
        }
    }
}

TEST(PositionRestraints, have_the_same_centre_however_many_lines_name_the_same_molecules)
{
    System system = random_chains(InteractionKind::PositionRestraint, 4, 10);
    const std::vector<PositionRestraint> one_line = make_position_restraints(system, scaling(RefcoordScaling::Com)).list;
    std::vector<MoleculeBlock>& blocks = system.topology.blocks;
    ASSERT_EQ(blocks[0].count, 2);
    blocks[0].count = 1;
    blocks.insert(blocks.begin(), blocks[0]);
    system.topology.finish();
    const std::vector<PositionRestraint> two_lines = make_position_restraints(system, scaling(RefcoordScaling::Com)).list;
    ASSERT_EQ(two_lines.size(), one_line.size());
    for (std::size_t i = 0; i < one_line.size(); ++i) { EXPECT_EQ(two_lines[i].fraction, one_line[i].fraction); }
}

TEST(PositionRestraints, that_are_flat_bottomed_count_for_the_centre_only_where_none_is_harmonic)
{
    System system = random_chains(InteractionKind::PositionRestraint, 2, 10);
    const std::vector<PositionRestraint> alone = make_position_restraints(system, scaling(RefcoordScaling::Com)).list;
    Topology& topology = system.topology;
    MoleculeType& chain = topology.molecule_types[0];
    chain.of(InteractionKind::FlatBottomRestraint) = {chain.of(InteractionKind::PositionRestraint)[2]};
    chain.of(InteractionKind::FlatBottomRestraint)[0].parameters = 0;
    topology.parameters[static_cast<int>(InteractionKind::FlatBottomRestraint)] = {{1, 0.1, 100}};
    const PositionRestraints both = make_position_restraints(system, scaling(RefcoordScaling::Com));
    ASSERT_EQ(both.list.size(), alone.size());
    ASSERT_EQ(both.flat_bottomed.size(), 2U);
    for (std::size_t i = 0; i < alone.size(); ++i) { EXPECT_EQ(both.list[i].fraction, alone[i].fraction); }
    EXPECT_EQ(both.flat_bottomed[0].fraction, alone[0].fraction);
}

TEST(PositionRestraints, of_atoms_on_other_ranks_are_left_to_them)
{
    const System system = random_chains(InteractionKind::PositionRestraint, 4, 12);
    System moved = system;
    moved.restraint_reference = system.x;
    for (auto& x : moved.restraint_reference) { x += Vec3<double>{0.01, 0.02, 0.03}; }
    moved.restraint_reference_box = system.box;
    const PositionRestraints restraints = make_position_restraints(moved, {});
    auto state = particles_in_input_order<Double>(system);
    const double all = evaluate(restraints, state).energies.potential();
    CpuQueue queue(1);
    double parts = 0;
    for (const std::int64_t rank : {0, 1})
    {
        auto part = state;
        for (std::size_t atom = 0; atom < part.slot_of_global.size(); ++atom)
        {
            if (static_cast<std::int64_t>(atom % 2) != rank) { part.slot_of_global[atom] = -1; }
        }
        ForceBuffers<Double> buffers;
        clear_forces(queue, buffers, part.slots());
        compute_position_restraints(queue, restraints, part, buffers, Compute::ForcesEnergiesVirial);
        parts += sum_energies(buffers).result().potential();
    }
    EXPECT_NEAR(parts, all, 1e-12 * all);
}

namespace {

// A geometry's number in a topology, and whether it is inverted.
class FlatBottom : public ::testing::TestWithParam<std::tuple<int, bool>>
{
protected:
    static constexpr double radius = 0.1, k = 700;

    FlatBottom()
    {
        system.topology.parameters[static_cast<int>(InteractionKind::FlatBottomRestraint)].assign(
            atoms_per_chain, {static_cast<double>(geometry), is_inverted ? -radius : radius, k});
        Random random(40);
        for (const auto& x : system.x) { system.restraint_reference.push_back(x + random.vector(random(0, 0.2))); }
        system.restraint_reference_box = {3.0, 3.8, 4.35};
    }
    // From the axis, point or plane of the restraint.
    double distance(const Vec3<double>& away) const
    {
        switch (geometry)
        {
        case 1:
            return norm(away);
        case 3:
            return std::abs(away.x);
        case 4:
            return std::abs(away.y);
        case 5:
            return std::abs(away.z);
        case 6:
            return std::hypot(away.y, away.z);
        case 7:
            return std::hypot(away.x, away.z);
        default: // 2 and 8
            return std::hypot(away.x, away.y);
        }
    }
    // Of the potential's second derivative, which jumps there.
    bool is_near_edge(const Vec3<double>& away) const { return std::abs(distance(away) - radius) < 2e-3; }

    const int geometry = std::get<0>(GetParam());
    const bool is_inverted = std::get<1>(GetParam());
    System system = random_chains(InteractionKind::FlatBottomRestraint, 6, 5);
};

// The derivative by differences of three step widths, to sixth order.
template <class Function>
double derivative(Function&& f, double h)
{
    const auto central = [&](double step) { return (f(step) - f(-step)) / (2 * step); };
    const double a = central(h), b = central(h / 2), c = central(h / 4);
    const double ab = (4 * b - a) / 3, bc = (4 * c - b) / 3;
    return (16 * bc - ab) / 15;
}

} // namespace

TEST_P(FlatBottom, is_flat_on_one_side_of_its_radius_and_harmonic_on_the_other)
{
    const PositionRestraints restraints = make_position_restraints(system, scaling(RefcoordScaling::None));
    const Restrained result = evaluate(restraints, particles_in_input_order<Double>(system));
    ASSERT_EQ(restraints.flat_bottomed.size(), 6U * atoms_per_chain);
    double energy = 0;
    int acting = 0;
    for (const FlatBottomRestraint& restraint : restraints.flat_bottomed)
    {
        const auto atom = static_cast<std::size_t>(restraint.atom);
        const Vec3<double> away = system.x[atom] - system.restraint_reference[atom]; // less than half the box
        const double excess = distance(away) - radius;
        const bool acts = is_inverted ? excess < 0 : excess > 0;
        EXPECT_NEAR(norm(result.forces[atom]), acts ? k * std::abs(excess) : 0, 1e-10);
        energy += acts ? 0.5 * k * excess * excess : 0;
        acting += acts ? 1 : 0;
    }
    EXPECT_NEAR(result.energies[EnergyTerm::FlatBottomRestraint], energy, 1e-12 * energy);
    EXPECT_EQ(result.energies.potential(), result.energies[EnergyTerm::FlatBottomRestraint]);
    EXPECT_GT(acting, 3);
    EXPECT_LT(acting, 6 * atoms_per_chain - 3);
}

TEST_P(FlatBottom, has_forces_that_are_minus_the_gradient_and_half_the_derivative_by_strain_as_virial)
{
    int tried = 0;
    for (const RefcoordScaling s : {RefcoordScaling::None, RefcoordScaling::All, RefcoordScaling::Com})
    {
        const auto state = particles_in_input_order<Double>(system);
        for (const FlatBottomRestraint& restraint : make_position_restraints(system, scaling(s)).flat_bottomed)
        {
            const auto x = state.x.get(static_cast<std::size_t>(restraint.atom));
            const RestraintForce force = restraint_force(restraint, state.box, x);
            Vec3<double> reference = restraint.offset;
            for (int d = 0; d < 3; ++d) { reference[d] += restraint.fraction[d] * system.box.diagonal()[d]; }
            const Vec3<double> away = state.box.difference(x, state.box.to_fixed(reference));
            if (is_near_edge(away)) { continue; }
            ++tried;
            for (int d = 0; d < 3; ++d)
            {
                const auto moved = [&](double step) {
                    Vec3<double> by;
                    by[d] = step;
                    return restraint_force(restraint, state.box, state.box.displaced(x, by)).energy;
                };
                const auto strained = [&](double strain) {
                    Vec3<double> edges = system.box.diagonal();
                    edges[d] *= 1 + strain;
                    auto box = state.box;
                    box.set_edges(edges);
                    return restraint_force(restraint, box, x).energy;
                };
                const double reach = std::min(1e-3, 0.02 * distance(away)); // the force turns within the distance
                EXPECT_NEAR(-derivative(moved, reach), force.f[d], 1e-8 * (norm(force.f) + 1));
                EXPECT_NEAR(derivative(strained, reach / 10), 2 * force.virial[d], 1e-7 * (norm(force.virial) + 1));
            }
        }
    }
    EXPECT_GT(tried, 100);
}

TEST_P(FlatBottom, reproduces_every_bit_with_any_number_of_threads)
{
    const PositionRestraints restraints = make_position_restraints(system, scaling(RefcoordScaling::Com));
    expect_same_bits_on_any_threads(restraints, system);
}

INSTANTIATE_TEST_SUITE_P(Geometries, FlatBottom, ::testing::Combine(::testing::Range(1, 9), ::testing::Bool()),
                         [](const auto& test) {
                             return std::to_string(std::get<0>(test.param)) + (std::get<1>(test.param) ? "_inverted" : "");
                         });

TEST(PositionRestraints, in_the_middle_of_an_inverted_one_there_is_an_energy_and_no_force)
{
    FlatBottomRestraint restraint;
    restraint.axes = {1, 1, 1}, restraint.radius = 0.2, restraint.is_inverted = true, restraint.k = 100;
    const RestraintForce force = pull_back(restraint, {0, 0, 0});
    EXPECT_DOUBLE_EQ(force.energy, 0.5 * 100 * 0.2 * 0.2);
    EXPECT_EQ(force.f, (Vec3<double>{}));
}
