// SPDX-License-Identifier: Apache-2.0
// What goes to the GPU and comes back.
#include "state/gpu/particle_state_gpu.hpp"

#include "support/gpu_test.hpp"
#include "support/pair_systems.hpp"
#include "support/particles.hpp"

using namespace parhelion;
using namespace parhelion::test;

namespace {

template <class N>
class GpuStates : public GpuTest
{
};
using Policies = ::testing::Types<Mixed, Double, MixedReproducible, DoubleReproducible>;
TYPED_TEST_SUITE(GpuStates, Policies);

template <class N>
ParticleState<N> moving_particles(int molecules, int ions)
{
    System system = random_liquid({2.1, 2.6, 2.3}, molecules, ions, 7);
    double speed = 0;
    for (std::size_t i = 0; i < system.x.size(); ++i) { system.v.push_back({speed += 0.25, -speed, 0.5 * speed}); }
    return particles_in_input_order<N>(system);
}

} // namespace

TYPED_TEST(GpuStates, come_back_with_the_bits_they_went_with)
{
    GpuQueue queue;
    for (const int molecules : {0, 1, 5, 330})
    {
        const ParticleState<TypeParam> particles = moving_particles<TypeParam>(molecules, 1);
        GpuState<TypeParam> state;
        upload(queue, particles, state);
        ParticleState<TypeParam> back = particles;
        back.box.set_edges({1, 1, 1});
        for (std::size_t slot = 0; slot < back.slots(); ++slot) { back.x.set(slot, {1, 2, 3}), back.v.set(slot, {1, 2, 3}); }
        download(queue, state, back);
        EXPECT_EQ(back.box.edges().diagonal(), particles.box.edges().diagonal());
        for (std::size_t slot = 0; slot < particles.slots(); ++slot)
        {
            EXPECT_EQ(back.x.get(slot), particles.x.get(slot));
            if (particles.global_of_slot[slot] < 0) { continue; }
            EXPECT_EQ(back.v.get(slot), particles.v.get(slot));
            EXPECT_EQ(from_sum(back.f.get(slot).x), 0);
        }
    }
}

TYPED_TEST(GpuStates, have_slots_for_every_atom_and_fillers_without_charge_or_velocity)
{
    GpuQueue queue;
    const ParticleState<TypeParam> particles = moving_particles<TypeParam>(100, 3);
    GpuState<TypeParam> state;
    upload(queue, particles, state);
    ASSERT_EQ(state.atoms, 303u);
    ASSERT_EQ(state.slots % supercluster_size, 0u);
    ASSERT_GE(state.slots, state.atoms);
    const auto global_of_slot = state.global_of_slot.to_vector(queue), slot_of_global = state.slot_of_global.to_vector(queue);
    const auto xq = state.xq.to_vector(queue);
    const auto v = state.v.to_vector(queue);
    std::size_t atoms = 0;
    for (std::size_t slot = 0; slot < state.slots; ++slot)
    {
        const std::int32_t global = global_of_slot[slot];
        if (global >= 0)
        {
            ++atoms;
            ASSERT_EQ(slot_of_global[static_cast<std::size_t>(global)], static_cast<std::int32_t>(slot));
            ASSERT_EQ(xq[slot].charge, particles.charge[static_cast<std::size_t>(global)]);
            ASSERT_EQ(v[slot].inverse_mass, particles.inverse_mass[static_cast<std::size_t>(global)]);
            continue;
        }
        ASSERT_EQ(xq[slot].charge, 0);
        ASSERT_EQ(v[slot].x, 0);
        ASSERT_EQ(v[slot].inverse_mass, 0);
    }
    EXPECT_EQ(atoms, state.atoms);
}
