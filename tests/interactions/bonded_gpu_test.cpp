// SPDX-License-Identifier: Apache-2.0
// Bonded terms of every kind and position restraints on the GPU against the CPU.
#include "interactions/bonded/gpu/bonded_gpu.hpp"

#include "interactions/random_molecules.hpp"
#include "support/compare.hpp"
#include "support/gpu_particles.hpp"
#include "support/gpu_test.hpp"

using namespace parhelion;
using namespace parhelion::test;

namespace {

struct Result
{
    std::vector<Vec3<double>> forces; // by global atom
    EnergyVirial energies;
};

template <class N>
Result on_cpu(const System& system, const PositionRestraints& restraints)
{
    CpuQueue queue(1);
    ParticleState<N> state = particles_in_input_order<N>(system);
    const BondedTables tables = make_bonded(system.topology, {});
    ForceBuffers<N> buffers;
    clear_forces(queue, buffers, state.slots());
    compute_bonded(queue, tables, all_terms(tables, system.topology), state, buffers, Compute::ForcesEnergiesVirial);
    compute_position_restraints(queue, restraints, state, buffers, Compute::ForcesEnergiesVirial);
    sum_forces(queue, buffers, state);
    return {forces_of(state), sum_energies(buffers).result()};
}

// The forces are left in `particles`.
template <class N>
EnergyVirial compute_on_gpu(const System& system, const PositionRestraints& restraints, Compute compute,
                            ParticleState<N>& particles)
{
    GpuQueue queue;
    GpuState<N> state = sorted_gpu_state(queue, particles);
    GpuBonded bonded(queue, make_bonded(system.topology, {}), restraints, system.topology);
    bonded.forget(queue);
    bonded.resolve(queue, state, GpuCell{});
    compute_bonded(queue, bonded, state, compute);
    download(queue, state, particles);
    return state.energies.to_vector(queue)[0].result();
}

template <class N>
Result on_gpu(const System& system, const PositionRestraints& restraints, Compute compute = Compute::ForcesEnergiesVirial)
{
    ParticleState<N> particles = particles_in_input_order<N>(system);
    const EnergyVirial energies = compute_on_gpu<N>(system, restraints, compute, particles);
    return {forces_of(particles), energies};
}

class EveryKindOnGpu : public GpuTest, public ::testing::WithParamInterface<int>
{
protected:
    EveryKindOnGpu() : system(random_chains(kind, 50, 1000 + static_cast<std::uint64_t>(GetParam())))
    {
        if (GetParam() < bonded_kinds) { return; }
        Random random(6);
        for (const auto& x : system.x) { system.restraint_reference.push_back(x + random.vector(random(0, 0.03))); }
        system.restraint_reference_box = system.box;
        restraints = make_position_restraints(system, {});
    }

    template <class N>
    void compare(double tolerance) const
    {
        const Result expected = on_cpu<N>(system, restraints), result = on_gpu<N>(system, restraints);
        double acting = 0;
        for (const Vec3<double>& f : expected.forces) { acting += norm(f); }
        ASSERT_GT(acting, 0);
        EXPECT_LE(rms_relative(result.forces, expected.forces), tolerance);
        EXPECT_LE(max_relative(result.energies.virial, expected.energies.virial), 1e-9);
        for (std::size_t term = 0; term < energy_terms; ++term)
        {
            const double e = expected.energies.energy[term];
            EXPECT_NEAR(result.energies.energy[term], e, 1e-9 * std::abs(e)) << term;
        }
        EXPECT_LE(rms_relative(on_gpu<N>(system, restraints, Compute::Forces).forces, result.forces), tolerance);
    }

    const InteractionKind kind = static_cast<InteractionKind>(GetParam());
    System system;
    PositionRestraints restraints;
};

} // namespace

TEST_P(EveryKindOnGpu, has_the_forces_energies_and_virial_of_the_cpu)
{
    compare<Double>(1e-13);
    compare<Mixed>(1e-6);
    compare<DoubleReproducible>(1e-11);
}

TEST_P(EveryKindOnGpu, with_reproducible_sums_has_no_net_force)
{
    if (GetParam() >= bonded_kinds) { GTEST_SKIP() << "these hold atoms to space"; }
    ParticleState<MixedReproducible> particles = particles_in_input_order<MixedReproducible>(system);
    compute_on_gpu(system, restraints, Compute::Forces, particles);
    Vec3<std::int64_t> net;
    for (std::size_t slot = 0; slot < particles.slots(); ++slot)
    {
        if (particles.global_of_slot[slot] >= 0) { net += particles.f.get(slot); }
    }
    EXPECT_EQ(net, (Vec3<std::int64_t>{}));
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKindOnGpu, ::testing::Range(0, static_cast<int>(interaction_kinds)));
