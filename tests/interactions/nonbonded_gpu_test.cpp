// SPDX-License-Identifier: Apache-2.0
// Pair forces on the GPU against those of the CPU in double, at the positions the GPU has, and their invariants.
#include "interactions/pair/gpu/nonbonded_gpu.hpp"

#include "pairs/cluster_order.hpp"
#include "support/boxes.hpp"
#include "support/compare.hpp"
#include "support/gpu_particles.hpp"
#include "support/gpu_test.hpp"
#include "support/one_in.hpp"
#include "support/pair_systems.hpp"
#include "support/refdata.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>

using namespace parhelion;
using namespace parhelion::test;

namespace {

struct Result
{
    std::vector<Vec3<double>> forces; // by global atom
    EnergyVirial energies;
};

// Everything between a system and its pair forces.
template <class N>
class Evaluation
{
public:
    // buffer: list cutoff - cutoff; clipped at Box::largest_cutoff(). pruned_buffer likewise.
    Evaluation(GpuQueue& queue, const ParticleState<N>& particles, const System& system, const RunParameters& run,
               double buffer = 0.1, double pruned_buffer = 0.1)
        : queue_(queue), state_(sorted_gpu_state(queue, particles)), exclusions_(make_gpu_exclusions(queue, system.topology)),
          tables_(queue, NonbondedTables<N>(make_nonbonded(system.topology, run))), particles_(particles)
    {
        state_.is_low = system.box.is_low(run.coulomb_cutoff);
        const double cutoff = std::min(run.coulomb_cutoff + buffer, system.box.largest_cutoff());
        reserve_pair_list(queue, state_, system.box, cutoff, list_);
        build_pair_list(queue, state_, exclusions_, cutoff, list_);
        prune_pair_list(queue, state_, std::min(run.coulomb_cutoff + pruned_buffer, cutoff), list_);
        resolve_nonbonded(queue, state_, tables_);
        EXPECT_EQ(state_.scalars.to_vector(queue)[0].flags, 0u);
    }
    Evaluation(GpuQueue& queue, const System& system, const RunParameters& run, double buffer = 0.1, double pruned_buffer = 0.1)
        : Evaluation(queue, particles_in_input_order<N>(system), system, run, buffer, pruned_buffer)
    {
    }

    // Adds to the forces.
    void add(Compute compute) { compute_nonbonded(queue_, tables_, list_, state_, compute); }
    void clear() { state_.f.clear(queue_), state_.energies.clear(queue_); }
    Result result()
    {
        download(queue_, state_, particles_);
        return {forces_of(particles_), state_.energies.to_vector(queue_)[0].result()};
    }
    Result evaluate(Compute compute = Compute::ForcesEnergiesVirial)
    {
        clear();
        add(compute);
        return result();
    }

private:
    GpuQueue& queue_;
    GpuState<N> state_;
    GpuExclusions exclusions_;
    GpuNonbondedTables<N> tables_;
    GpuPairList list_;
    ParticleState<N> particles_;
};

// The CPU's, in double, at the positions that policy N stores.
template <class N>
Result reference(const System& system, const RunParameters& run)
{
    System stored = system;
    stored.x = stored_positions<N>(system);
    CpuQueue queue(8);
    ParticleState<Double> state = make_state<Double>(stored, {}, queue);
    PairList list;
    build_pair_list(queue, state, system.topology, run.coulomb_cutoff, list);
    NonbondedTables<Double> tables(make_nonbonded(system.topology, run));
    ForceBuffers<Double> buffers;
    clear_forces(queue, buffers, state.slots());
    compute_nonbonded(queue, tables, list, state, buffers, Compute::ForcesEnergiesVirial);
    sum_forces(queue, buffers, state);
    return {forces_of(state), sum_energies(buffers).result()};
}

// `coulomb`: the size of Coulomb energies that cancel, kJ/mol.
void expect_near(const Result& a, const Result& b, double force_rms, double energy, double coulomb = 0)
{
    EXPECT_LE(rms_relative(a.forces, b.forces), force_rms);
    // The energies of a liquid at random places cancel: the trace of the virial gives their size.
    const double scale = std::abs(trace(b.energies.virial));
    EXPECT_NEAR(a.energies[EnergyTerm::LjSr], b.energies[EnergyTerm::LjSr], energy * scale);
    EXPECT_NEAR(a.energies[EnergyTerm::CoulombSr], b.energies[EnergyTerm::CoulombSr], energy * std::max(scale, coulomb));
    EXPECT_LE(max_relative(a.energies.virial, b.energies.virial), 2 * energy);
}
double charges_squared(const Topology& topology)
{
    double sum = 0;
    for (std::int64_t a = 0; a < topology.atom_count(); ++a) { sum += topology.atom(a).charge * topology.atom(a).charge; }
    return sum;
}
void expect_same_bits(const Result& a, const Result& b)
{
    EXPECT_EQ(a.forces, b.forces);
    EXPECT_EQ(a.energies.energy, b.energies.energy);
    EXPECT_EQ(a.energies.virial, b.energies.virial);
}

template <class N>
constexpr double force_tolerance = N::precision == Precision::Mixed          ? 2e-6
                                   : N::summation == Summation::Reproducible ? 1e-11 // in steps of 2.3e-10 kJ/mol/nm
                                                                             : 1e-12;
template <class N>
constexpr double energy_tolerance = N::precision == Precision::Mixed ? 1e-6 : 1e-9;

// With LJ-PME by both rules.
std::vector<NonbondedVariant> gpu_variants()
{
    std::vector<NonbondedVariant> all(std::begin(nonbonded_variants), std::end(nonbonded_variants));
    all.insert(all.end(), std::begin(lj_mesh_variants), std::end(lj_mesh_variants));
    return all;
}

// Ions about 0.3 nm apart, in a cube.
System shaken_lattice(int atoms)
{
    constexpr double spacing = 0.3;
    const int edge = std::max(7, static_cast<int>(std::ceil(std::cbrt(atoms))));
    System system = random_liquid({edge * spacing, edge * spacing, edge * spacing}, 0, 0, 1);
    system.topology.blocks = {{1, atoms, 0}};
    system.topology.finish();
    std::mt19937_64 engine(5);
    std::uniform_real_distribution<double> shift(-0.05, 0.05);
    for (int k = 0; k < atoms; ++k)
    {
        const Vec3<double> site{k % edge + 0.0, k / edge % edge + 0.0, k / edge / edge + 0.0};
        system.x.push_back(spacing * site + Vec3<double>{shift(engine), shift(engine), shift(engine)});
    }
    return system;
}

template <class N>
class GpuNonbonded : public GpuTest
{
};
using Policies = ::testing::Types<Mixed, Double, MixedReproducible, DoubleReproducible>;
TYPED_TEST_SUITE(GpuNonbonded, Policies);
class GpuNonbondedSizes : public GpuTest
{
};
template <class N>
class ReproducibleGpuNonbonded : public GpuTest
{
};
using ReproduciblePolicies = ::testing::Types<MixedReproducible, DoubleReproducible>;
TYPED_TEST_SUITE(ReproducibleGpuNonbonded, ReproduciblePolicies);
template <class N>
class FastGpuNonbonded : public GpuTest
{
};
using FastPolicies = ::testing::Types<Mixed, Double>;
TYPED_TEST_SUITE(FastGpuNonbonded, FastPolicies);

} // namespace

TYPED_TEST(GpuNonbonded, agrees_with_the_cpu_for_every_option)
{
    GpuQueue queue;
    for (const NonbondedVariant& variant : gpu_variants())
    {
        SCOPED_TRACE(variant.name);
        System system = random_liquid({2.6, 3.1, 3.3}, 700, 40, 7, variant.rule);
        RunParameters run = reaction_field(0.9);
        variant.change(system, run);
        const Result expected = reference<TypeParam>(system, run);
        // With PME self energies and what excluded pairs lose are thirty times their sum.
        const double self = std::abs(self_energy(make_nonbonded(system.topology, run))) * charges_squared(system.topology);
        Evaluation<TypeParam> evaluation(queue, system, run);
        const Result result = evaluation.evaluate();
        expect_near(result, expected, force_tolerance<TypeParam>, energy_tolerance<TypeParam>, self);
        expect_near(Evaluation<TypeParam>(queue, system, run, 0.2, 0).evaluate(), expected, force_tolerance<TypeParam>,
                    energy_tolerance<TypeParam>, self);
        const Result forces = evaluation.evaluate(Compute::Forces);
        EXPECT_LE(rms_relative(forces.forces, result.forces), force_tolerance<TypeParam>);
        EXPECT_EQ(forces.energies.potential(), 0);
    }
}

TYPED_TEST(GpuNonbonded, agrees_with_the_cpu_for_the_reference_systems)
{
    GpuQueue queue;
    for (const std::string& name : refdata_systems)
    {
        SCOPED_TRACE(name);
        const Refdata data = load_refdata(name);
        const Result expected = reference<TypeParam>(data.system, data.parameters);
        Evaluation<TypeParam> evaluation(queue, data.system, data.parameters);
        expect_near(evaluation.evaluate(), expected, force_tolerance<TypeParam>, energy_tolerance<TypeParam>);
        EXPECT_LE(rms_relative(evaluation.evaluate(Compute::Forces).forces, expected.forces), force_tolerance<TypeParam>);
    }
}

TYPED_TEST(GpuNonbonded, holds_in_boxes_of_twice_the_cutoff_in_low_ones_and_for_a_few_atoms)
{
    GpuQueue queue;
    OneIn combinations;
    std::vector<Box<double>> boxes{{1.8, 1.8, 1.8}, {1.8, 9, 2.2}, {7, 1.9, 1.8}, {2, 2, 12}};
    for (const Box<double>& box : tilted_boxes())
    {
        boxes.push_back(1.8001 / box.least_height() * box);
        boxes.push_back(0.9001 / box.largest_cutoff() * box);
    }
    for (const Box<double>& box : boxes)
    {
        for (const int molecules : {0, 1, 3, 60, 150})
        {
            for (const int ions : {1, 2})
            {
                if (!combinations.takes_next()) { continue; }
                SCOPED_TRACE(testing::Message() << box.diagonal().x << ", tilted " << box.tilt().x << " " << box.tilt().y << " "
                                                << box.tilt().z << ", " << molecules << " molecules, " << ions << " ions");
                const System system = random_liquid(box, molecules, ions, 11);
                const RunParameters run = reaction_field(0.9);
                const Result expected = reference<TypeParam>(system, run);
                const Result result = Evaluation<TypeParam>(queue, system, run).evaluate();
                double scale = 1;
                for (const Vec3<double>& f : expected.forces) { scale = std::max(scale, norm(f)); }
                // Components in a tilted box are sums of up to three, which may be larger than they are; in a low one of up to
                // six.
                const double rounding = box.is_rectangular() ? 2 : box.is_low(run.coulomb_cutoff) ? 8 : 4;
                // Sums in steps, of which small forces are few.
                const double step = std::is_same_v<TypeParam, DoubleReproducible> ? 0x1p-32 : 0;
                for (std::size_t i = 0; i < result.forces.size(); ++i)
                {
                    EXPECT_LE(norm(result.forces[i] - expected.forces[i]), rounding * force_tolerance<TypeParam> * scale + step);
                }
                EXPECT_NEAR(result.energies[EnergyTerm::CoulombSr], expected.energies[EnergyTerm::CoulombSr], 1e-5 * scale);
            }
        }
    }
}

// A pair in range may be more than half an edge apart in a low box; and its cluster, half an edge from the middle of the
// supercluster. Their image is then neither of the two that are nearest to the middle.
TYPED_TEST(GpuNonbonded, sees_pairs_of_wide_superclusters_in_low_boxes)
{
    GpuQueue queue;
    const RunParameters run = reaction_field(0.9);
    for (const Box<double>& shape : tilted_boxes())
    {
        const Box<double> box = 0.9001 / shape.largest_cutoff() * shape;
        if (!box.is_low(run.coulomb_cutoff)) { continue; }
        SCOPED_TRACE(testing::Message() << box.diagonal().x << " " << box.diagonal().y << " " << box.diagonal().z);
        const System system = random_liquid(box, 150, 1, 11);
        expect_near(Evaluation<TypeParam>(queue, system, run).evaluate(), reference<TypeParam>(system, run),
                    8 * force_tolerance<TypeParam>, energy_tolerance<TypeParam>);
    }
}

// Around the numbers at which a cluster, a supercluster and a power of two are full; in the long tier up to twelve million.
std::vector<int> sizes()
{
    std::vector<int> sizes{1, 2, 7, 8, 9, 63, 64, 65, 1000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1};
    if (std::getenv("PARHELION_TEST_LARGE") != nullptr) { sizes.insert(sizes.end(), {(1 << 21) - 1, (1 << 21) + 1, 12'000'001}); }
    return sizes;
}

TEST_F(GpuNonbondedSizes, agree_with_the_cpu_from_one_atom_to_millions)
{
    GpuQueue queue;
    for (const int atoms : sizes())
    {
        SCOPED_TRACE(atoms);
        const System system = shaken_lattice(atoms);
        const RunParameters run = reaction_field(0.9);
        const Result expected = reference<Mixed>(system, run);
        Evaluation<Mixed> evaluation(queue, system, run);
        const Result result = evaluation.evaluate(Compute::Forces);
        double error = 0, scale = 1e-3;
        for (std::size_t i = 0; i < result.forces.size(); ++i)
        {
            error += norm2(result.forces[i] - expected.forces[i]), scale += norm2(expected.forces[i]);
        }
        EXPECT_LE(std::sqrt(error / scale), force_tolerance<Mixed>);
    }
}

TYPED_TEST(GpuNonbonded, exerts_no_net_force)
{
    GpuQueue queue;
    const System system = random_liquid({2.4, 2.6, 2.5}, 300, 30, 3);
    const Result result = Evaluation<TypeParam>(queue, system, reaction_field(0.9)).evaluate();
    Vec3<double> net;
    double size = 0;
    for (const Vec3<double>& f : result.forces) { net += f, size += norm(f); }
    EXPECT_LE(norm(net), (TypeParam::precision == Precision::Double ? 1e-14 : 1e-7) * size);
    if constexpr (TypeParam::summation == Summation::Reproducible) { EXPECT_EQ(net, Vec3<double>{}); }
}

// The CPU's energies at these distances are those of the formula: nonbonded_test.cpp.
TYPED_TEST(GpuNonbonded, excluded_pairs_have_the_energy_of_the_reaction_field_or_lose_that_of_the_mesh_at_any_distance)
{
    GpuQueue queue;
    System system = random_liquid({2.4, 2.6, 2.5}, 1, 0, 3);
    for (const RunParameters& run : {reaction_field(0.9), pme(0.9)})
    {
        for (const double r : {0.0, 1e-6, 1e-4, 1e-3, 0.0031, 0.0033, 0.1})
        {
            SCOPED_TRACE(r);
            system.x = {{1, 1, 1}, {1 + r, 1, 1}, {1.2, 1.1, 1}};
            const Result expected = reference<TypeParam>(system, run);
            const Result result = Evaluation<TypeParam>(queue, system, run).evaluate();
            // The mesh's part is a hundred times that of the reaction field.
            const double mixed = run.coulomb == CoulombKind::Pme ? 2e-4 : 2e-5;
            const double tolerance = std::is_same_v<typename TypeParam::Real, double> ? 2e-9 : mixed;
            EXPECT_NEAR(result.energies[EnergyTerm::CoulombSr], expected.energies[EnergyTerm::CoulombSr], tolerance);
            EXPECT_NEAR(result.forces[1].x, expected.forces[1].x, tolerance);
            EXPECT_EQ(result.energies[EnergyTerm::LjSr], 0);
        }
    }
}

TYPED_TEST(GpuNonbonded, atoms_on_top_of_each_other_have_large_and_finite_forces)
{
    GpuQueue queue;
    System system = random_liquid({2.4, 2.6, 2.5}, 100, 0, 3);
    system.x[3] = system.x[0] + Vec3<double>{1e-4, 0, 0};
    system.x[9] = system.x[6];
    Evaluation<TypeParam> evaluation(queue, system, reaction_field(0.9));
    const Result result = evaluation.evaluate();
    for (const Vec3<double>& f : result.forces) { EXPECT_TRUE(std::isfinite(norm(f))); }
    EXPECT_GE(norm(result.forces[0]), 1e8);
    EXPECT_GE(result.energies[EnergyTerm::LjSr], 1e7);
    // Without energies they need not be finite. But they are for others, also beside fillers, which sit on atoms.
    const Result alone = evaluation.evaluate(Compute::Forces);
    for (const int a : {0, 3}) { EXPECT_FALSE(norm(alone.forces[static_cast<std::size_t>(a)]) < 1e8); }
    for (std::size_t a = 12; a < alone.forces.size(); ++a) { EXPECT_TRUE(std::isfinite(norm(alone.forces[a]))) << a; }
}

TYPED_TEST(ReproducibleGpuNonbonded, has_the_same_bits_for_any_list_any_place_in_the_box_and_with_or_without_energies)
{
    GpuQueue queue;
    for (const auto& [box, run] : {std::pair(Box<double>{2.4, 2.6, 2.5}, reaction_field(0.9)),
                                   {{2.4, 2.6, 2.5}, pme(0.9)},
                                   {{{2.8, 2.8, 2.4}, {1.4, -1.2, 1.1}}, reaction_field(0.9)}})
    {
        const System system = random_liquid(box, 300, 30, 9);
        ParticleState<TypeParam> particles = particles_in_input_order<TypeParam>(system);
        Evaluation<TypeParam> evaluation(queue, particles, system, run);
        const Result result = evaluation.evaluate();
        EXPECT_EQ(evaluation.evaluate(Compute::Forces).forces, result.forces);
        expect_same_bits(Evaluation<TypeParam>(queue, particles, system, run, 0.3, 0).evaluate(), result);
        const auto shift = particles.box.to_fixed({0.7, 1.9, 1.1});
        for (std::size_t slot = 0; slot < particles.slots(); ++slot) { particles.x.set(slot, particles.x.get(slot) + shift); }
        // Other superclusters, i and j exchanged.
        expect_same_bits(Evaluation<TypeParam>(queue, particles, system, run).evaluate(), result);
    }
}

// A race would show: ten thousand evaluations add up to ten thousand times one.
TYPED_TEST(ReproducibleGpuNonbonded, is_the_same_every_time)
{
    GpuQueue queue;
    const System system = random_liquid({2.4, 2.6, 2.5}, 300, 30, 9);
    Evaluation<TypeParam> evaluation(queue, system, reaction_field(0.9));
    const Result once = evaluation.evaluate(Compute::Forces);
    evaluation.clear();
    constexpr int times = 10000;
    for (int i = 0; i < times; ++i) { evaluation.add(Compute::Forces); }
    const Result sum = evaluation.result();
    for (std::size_t i = 0; i < once.forces.size(); ++i)
    {
        for (int d = 0; d < 3; ++d)
        {
            // Compared as the integers they are.
            ASSERT_EQ(to_sum<std::int64_t>(sum.forces[i][d] / times), to_sum<std::int64_t>(once.forces[i][d])) << i;
        }
    }
}

// Sums of floating-point numbers that many blocks add to, in any order: how far ten thousand evaluations are apart.
TYPED_TEST(FastGpuNonbonded, but_for_rounding_is_the_same_every_time)
{
    GpuQueue queue;
    const System system = random_liquid({2.4, 2.6, 2.5}, 300, 30, 9);
    Evaluation<TypeParam> evaluation(queue, system, reaction_field(0.9));
    const Result once = evaluation.evaluate(Compute::Forces);
    double largest = 0;
    for (int i = 0; i < 10000; ++i)
    {
        largest = std::max(largest, rms_relative(evaluation.evaluate(Compute::Forces).forces, once.forces));
    }
    std::cout << "forces differ by " << largest << " rms at the most\n";
    EXPECT_LE(largest, force_tolerance<TypeParam> / 2); // of the forces of the CPU in double each may be that far
}
