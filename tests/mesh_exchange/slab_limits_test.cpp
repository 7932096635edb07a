// SPDX-License-Identifier: Apache-2.0
// Planes that lie where the atoms are: whoever owns a plane has every atom that reaches it, once, while nobody has strayed too
// far; and who has strayed is found out.
#include "interactions/mesh/ions.hpp"
#include "interactions/mesh/spline.hpp"
#include "mesh_exchange/slab_limits.hpp"
#include "support/decomposition.hpp"

#include <gtest/gtest.h>

#include <random>

using namespace parhelion;
using namespace parhelion::test;

namespace {

constexpr double reach = 0.9;
constexpr Vec3<double> box{4.0, 2.0, 2.1};

System random_ions(unsigned seed)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::vector<Vec3<double>> x;
    for (int i = 0; i < 300; ++i) { x.push_back({box.x * uniform(random), box.y * uniform(random), box.z * uniform(random)}); }
    return ions(x, std::vector<double>(x.size(), 1.0), box);
}

int owner_of(const MeshCut& cut, int plane)
{
    int owner = -1;
    for (int rank = 0; rank < cut.ranks(); ++rank)
    {
        if (!cut.planes[static_cast<std::size_t>(rank)].contains(plane, cut.points[0])) { continue; }
        EXPECT_EQ(owner, -1) << "two owners of plane " << plane;
        owner = rank;
    }
    EXPECT_GE(owner, 0) << "no owner of plane " << plane;
    return owner;
}

// Has every owner of a plane that a home atom of this rank reaches that atom, at home or in its halo?
template <class N>
bool owners_have(Decomposition<N>& domains, const MeshCut& cut, const ParticleState<N>& home)
{
    for (std::size_t slot = 0; slot < home.home_slots(); ++slot)
    {
        const std::int32_t atom = home.global_of_slot[slot];
        if (atom < 0) { continue; }
        const int first = mesh_place(home.x.get(slot).x, static_cast<std::uint32_t>(cut.points[0])).point;
        for (int j = 0; j < cut.order; ++j)
        {
            const int owner = owner_of(cut, (first + j) % cut.points[0]);
            if (domains.rank(owner).state.slot_of_global[static_cast<std::size_t>(atom)] < 0) { return false; }
        }
    }
    return true;
}

// Moves home atoms along x by up to so much, nm, ahead and back.
template <class N>
ParticleState<N> strayed(const ParticleState<N>& state, double back, double ahead, std::mt19937& random)
{
    ParticleState<N> moved = state;
    std::uniform_real_distribution<double> distance(-back, ahead);
    for (std::size_t slot = 0; slot < state.home_slots(); ++slot)
    {
        auto x = state.x.get(slot);
        x.x += static_cast<typename N::Fixed>(static_cast<std::int64_t>(distance(random) / box.x * 0x1p32));
        moved.x.set(slot, x);
    }
    return moved;
}

} // namespace

TEST(SlabLimits, are_kept_up_to_their_margin_and_tell_of_every_atom_that_an_owner_lacks)
{
    using N = Mixed;
    std::mt19937 random(7);
    int broken = 0;
    std::vector<CellGrid> grids = {uneven_grids().front(), uneven_grids().back()}; // planes do not follow these borders
    const std::size_t uneven = grids.size();
    for (int ranks = 2; ranks <= 8; ++ranks) { grids.push_back({{ranks, 1, 1}}); }
    for (std::size_t g = 0; g < grids.size(); ++g)
    {
        const int ranks = grids[g].ranks();
        Decomposition<N> domains(random_ions(static_cast<unsigned>(ranks)), {.grid = grids[g], .reach = reach});
        domains.repartition();
        for (const int points : {28, 33, 45, 64, 100, 256})
        {
            for (const int order : {3, 4, 5, 8})
            {
                SCOPED_TRACE(testing::Message() << ranks << " ranks, " << points << " planes, order " << order);
                const double per_nm = points / box.x;
                const int shift = slab_shift(order, reach * per_nm, 0);
                const MeshCut cut = slab_cut({points, 16, 16}, order, ranks, shift);
                // In whole planes: what the shift leaves ahead, and the halo behind the last plane.
                const double ahead = std::max(0.0, (shift - (order - 1)) / per_nm - 1e-6);
                const double back = std::max(0.0, reach * (1 - 1e-5) - (shift + 1) / per_nm);
                for (int r = 0; r < ranks; ++r)
                {
                    DomainRank<N>& rank = domains.rank(r);
                    SlabLimits limits(cut, r);
                    limits.follow(rank.state, reach, domains.grid().lower_borders(0));
                    EXPECT_TRUE(owners_have(domains, cut, rank.state) || !limits.are_kept(rank.queue, rank.state));
                    const bool has_room = g >= uneven && reach * per_nm > order; // else even the atoms as they are may be too far
                    for (int time = 0; time < 5 && has_room; ++time)
                    {
                        const ParticleState<N> within = strayed(rank.state, back, ahead, random);
                        EXPECT_TRUE(limits.are_kept(rank.queue, within));
                        EXPECT_TRUE(owners_have(domains, cut, within));
                    }
                    for (const double far : {0.2, 0.5, 1.0, 3.0})
                    {
                        const ParticleState<N> beyond = strayed(rank.state, back + far, ahead + far, random);
                        const bool have = owners_have(domains, cut, beyond);
                        EXPECT_TRUE(have || !limits.are_kept(rank.queue, beyond));
                        broken += have ? 0 : 1;
                    }
                }
            }
        }
    }
    EXPECT_GT(broken, 100); // the test has met what it is for
}

// An atom at the last place where it may be, and one plane ahead of it.
TEST(SlabLimits, tell_of_an_atom_that_is_one_plane_too_far_ahead)
{
    using N = Double;
    const int points = 64, order = 4, shift = slab_shift(order, reach * points / box.x, 0);
    const MeshCut cut = slab_cut({points, 16, 16}, order, 4, shift);
    Decomposition<N> domains(random_ions(3), {.grid = {{4, 1, 1}}, .reach = reach});
    domains.repartition();
    for (int r = 0; r < 4; ++r)
    {
        DomainRank<N>& rank = domains.rank(r);
        SlabLimits limits(cut, r);
        limits.follow(rank.state, reach, domains.grid().lower_borders(0));
        EXPECT_TRUE(limits.are_kept(rank.queue, rank.state));
        const mesh::PlaneRange& own = cut.planes[static_cast<std::size_t>(r)];
        const auto at_plane = [&](int plane) {
            ParticleState<N> state = rank.state;
            auto x = state.x.get(0);
            x.x = static_cast<std::uint64_t>((plane % points + 0.5) / points * 0x1p64);
            state.x.set(0, x);
            return state;
        };
        const int last = own.first + own.count - 1 - (order - 1);
        EXPECT_TRUE(limits.are_kept(rank.queue, at_plane(last)));
        EXPECT_FALSE(limits.are_kept(rank.queue, at_plane(last + 1)));
        ParticleState<N> neutral = at_plane(last + 1);
        neutral.charge[0] = 0; // does not take part
        EXPECT_TRUE(limits.are_kept(rank.queue, neutral));
    }
}
