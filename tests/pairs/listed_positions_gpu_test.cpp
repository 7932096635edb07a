// SPDX-License-Identifier: Apache-2.0
// A list on the GPU is stale when a home atom has moved half of what it reaches beyond the cut-off: wherever the atom is, across
// the border of the box, and after the box has changed; not when a halo atom has.
#include "pairs/gpu/listed_positions_gpu.hpp"

#include "support/gpu_parts.hpp"
#include "support/gpu_test.hpp"
#include "support/pair_systems.hpp"
#include "support/particles.hpp"

using namespace parhelion;
using namespace parhelion::test;

namespace {

constexpr double cutoff = 0.9, list_cutoff = 1.1; // so an atom may move 0.1 nm

template <class N>
class ListedPositionsOnGpu : public GpuTest
{
protected:
    ListedPositionsOnGpu() : system(random_liquid({3, 4, 5}, 100, 10, 1)), whole(particles_in_input_order<N>(system))
    {
        whole.x.set(0, whole.box.to_fixed({0.01, 0.02, 4.99})); // near three borders
    }

    // Of the first rank of two, after the atoms have moved by moves[global] and the box has been scaled.
    bool is_stale(const std::vector<Vec3<double>>& moves, double scale)
    {
        GpuQueue queue;
        GpuParts<N> parts(queue, whole, system.topology, {2, 1, 1}, 1.0);
        GpuState<N>& state = parts.parts[0].state;
        GpuListedPositions<N> listed(list_cutoff, cutoff);
        listed.keep(queue, state);
        std::vector<PositionCharge<N>> xq = state.xq.to_vector(queue);
        parts.for_each_atom(parts.parts[0], [&](std::size_t slot, std::size_t atom, bool home) {
            (home ? home_atom : halo_atom) = atom;
            const auto x = whole.box.displaced({xq[slot].x, xq[slot].y, xq[slot].z}, moves[atom]);
            xq[slot] = {x.x, x.y, x.z, xq[slot].charge};
        });
        state.xq.upload(queue, xq);
        DeviceScalars scalars = state.scalars.to_vector(queue)[0];
        scalars.set_box<N>(scale * whole.box.edges());
        state.scalars.upload(queue, {&scalars, 1});
        listed.check(queue, state);
        const std::uint32_t flags = state.scalars.to_vector(queue)[0].flags;
        EXPECT_EQ(flags & ~static_cast<std::uint32_t>(gpu_flag_list_stale), 0u);
        return flags != 0;
    }
    // One atom by (-0.3, -0.4, 1.2) / 1.3 nm times `distance`, others by less.
    bool is_stale(std::size_t atom, double distance, double scale = 1)
    {
        std::vector<Vec3<double>> moves(system.x.size(), Vec3<double>{0.05, 0, 0});
        moves[atom] = (distance / 1.3) * Vec3<double>{-0.3, -0.4, 1.2};
        return is_stale(moves, scale);
    }

    System system;
    ParticleState<N> whole;
    std::size_t home_atom = 0, halo_atom = 0; // some, after is_stale()
};
using Policies = ::testing::Types<Mixed, Double, MixedReproducible, DoubleReproducible>;
TYPED_TEST_SUITE(ListedPositionsOnGpu, Policies);

} // namespace

TYPED_TEST(ListedPositionsOnGpu, age_when_a_home_atom_has_moved_half_the_buffer)
{
    EXPECT_FALSE(this->is_stale(0, 0.0999));
    for (const std::size_t atom : {std::size_t{0}, this->home_atom})
    {
        EXPECT_FALSE(this->is_stale(atom, 0.0999)) << atom;
        EXPECT_TRUE(this->is_stale(atom, 0.1001)) << atom;
    }
    EXPECT_FALSE(this->is_stale(this->halo_atom, 0.5));
}

TYPED_TEST(ListedPositionsOnGpu, age_as_the_box_shrinks)
{
    // Scaled by 0.95, the list reaches 1.045 nm: an atom may move 0.0725 nm of the present box.
    EXPECT_FALSE(this->is_stale(0, 0.0724 / 0.95, 0.95));
    EXPECT_TRUE(this->is_stale(0, 0.0726 / 0.95, 0.95));
    EXPECT_TRUE(this->is_stale(std::vector<Vec3<double>>(this->system.x.size()), 0.81));
    // A growing box takes atoms apart, and what they have moved grows with it.
    EXPECT_FALSE(this->is_stale(0, 0.0999 / 1.05, 1.05));
    EXPECT_TRUE(this->is_stale(0, 0.1001 / 1.05, 1.05));
}
