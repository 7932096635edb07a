// SPDX-License-Identifier: Apache-2.0
// The mesh of several ranks on GPUs by itself: what a lone one computes, bit by bit, in very many steps with ranks and blocks
// that are late; and what is lost ends soon. PARHELION_TEST_EXCHANGES is how many exchanges each method makes on each number of
// GPUs.
#include "mesh_exchange/gpu_mesh_ranks.cuh"

#include "mesh_exchange/gpu/slab_limits.cuh"
#include "state/gpu/zones.cuh"
#include "support/gpu_test.hpp"
#include "support/number_in.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <numeric>
#include <random>

using namespace parhelion;
using namespace parhelion::test;
using namespace std::chrono_literals;

namespace {

int exchanges_asked() { return number_in("PARHELION_TEST_EXCHANGES", 10'000); }

GpuWorldOptions usual_options()
{
    GpuWorldOptions options;
    options.deadline = std::chrono::seconds(number_in("PARHELION_TEST_DEADLINE", 60));
    options.phase = Phase::MeshExchange;
    return options;
}

constexpr std::array gpu_mesh_methods = {MeshMethod::Gathered, MeshMethod::Bricks, MeshMethod::Shared, MeshMethod::Dedicated};

std::vector<MeshLayout> some_layouts()
{
    std::vector<MeshLayout> layouts;
    for (const MeshMethod method : gpu_mesh_methods)
    {
        for (const int ranks : {2, 3, 4, 8})
        {
            // Two with atoms and two with the mesh.
            if (ranks == 4 && method != MeshMethod::Dedicated) { continue; }
            for (int gpus = 1; gpus <= ranks; gpus *= 2)
            {
                layouts.push_back({method, ranks, gpus, MeshQueues::OfGpus});
                if (gpus == 1) { layouts.push_back({method, ranks, gpus, MeshQueues::OfRanks}); }
            }
        }
    }
    return layouts;
}

class GpuMeshStress : public GpuTest, public ::testing::WithParamInterface<MeshLayout>
{
protected:
    void SetUp() override { take_gpus(GetParam().gpus); }
};

} // namespace

TEST_P(GpuMeshStress, has_the_bits_of_a_lone_rank_in_every_step)
{
    const auto check = [](auto&& ranks, int times) {
        ranks.run(times);
        EXPECT_EQ(ranks.wrong(), 0);
    };
    // Two exchanges a step at the least.
    check(GpuMeshRanks<MixedReproducible>(GetParam(), usual_options()), std::max(2, exchanges_asked() / 2 / mesh_patterns));
    check(GpuMeshRanks<DoubleReproducible>(GetParam(), usual_options(), 5), 2);
}

INSTANTIATE_TEST_SUITE_P(All, GpuMeshStress, ::testing::ValuesIn(some_layouts()),
                         [](const auto& test) { return name_of(test.param); });

namespace {

class GpuMeshFaults : public GpuTest
{
};

} // namespace

// Of rank 1 of three; where some have the mesh alone, of the last of two with atoms or the first of two with the mesh.
TEST_F(GpuMeshFaults, a_lost_message_of_any_exchange_ends_all_ranks_and_is_named)
{
    for (const MeshMethod method : gpu_mesh_methods)
    {
        for (const std::string lost :
             {"mesh charges", "mesh spectrum there", "mesh spectrum back", "mesh potentials", "mesh atoms", "mesh forces"})
        {
            SCOPED_TRACE(testing::Message() << lost << ", " << mesh_method_names[static_cast<std::size_t>(method)]);
            const int ranks_in_all = method == MeshMethod::Dedicated ? 4 : 3;
            const int lost_source = method == MeshMethod::Dedicated && lost != "mesh atoms" ? 2 : 1;
            GpuWorldOptions options;
            options.deadline = 300ms;
            bool has_exchange = false;
            options.hooks.loses = [&](const std::string& label, int source) {
                has_exchange = has_exchange || label == lost;
                return label == lost && source == lost_source;
            };
            GpuMeshRanks<Mixed> ranks({method, ranks_in_all, 1, MeshQueues::OfGpus}, options);
            if (!has_exchange) { continue; }
            const auto begin = std::chrono::steady_clock::now();
            try
            {
                ranks.run(3);
                ADD_FAILURE() << "no error";
            }
            catch (const CommError& error)
            {
                const std::string from = std::to_string(lost_source);
                EXPECT_THAT(
                    error.what(),
                    testing::MatchesRegex("Rank [^" + from + "] timed out after 0\\.3 s waiting for a message from rank " + from +
                                          ": channel '" + lost + "', epoch expected 1, seen 0, credit 0, in round -1\\."));
            }
            EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
        }
    }
}

namespace {

class GpuSlabLimitsTest : public GpuTest
{
};

} // namespace

// Slabs, also thinner than the splines are wide; atoms that have strayed since their halos were made. Against all atoms, planes
// and ranks, one by one.
TEST_F(GpuSlabLimitsTest, raise_the_flag_exactly_where_an_owner_of_a_plane_lacks_an_atom)
{
    using N = MixedReproducible;
    std::mt19937 random(5);
    int kept = 0, broken = 0;
    const Vec3<double> box{4, 3, 3};
    const double reach = 0.8;
    const Box<double> nm_per_unit = PeriodicBox<N>(box).nm_per_unit();
    GpuQueue queue;
    for (int n = 0; n < 300; ++n)
    {
        const int ranks = 2 + static_cast<int>(random() % 7), points = 28 + static_cast<int>(random() % 60),
                  order = 4 + static_cast<int>(random() % 2), rank = static_cast<int>(random() % static_cast<unsigned>(ranks));
        const int shift = slab_shift(order, reach * points / box.x, 0);
        const MeshCut cut = slab_cut({points, 12, 12}, order, ranks, shift);
        std::vector<GpuCell> cells(static_cast<std::size_t>(ranks));
        for (int r = 0; r < ranks; ++r)
        {
            GpuCell& cell = cells[static_cast<std::size_t>(r)];
            cell.cells[0] = ranks, cell.cell[0] = r, cell.pulses[0] = ranks - 1, cell.reach = reach;
            const auto border = [&](std::uint64_t at) {
                return ((at << 32) + static_cast<unsigned>(ranks) - 1) / static_cast<unsigned>(ranks);
            };
            const auto here = static_cast<std::uint64_t>(r);
            cell.lower[0] = static_cast<std::uint32_t>(border(here));
            cell.width[0] = static_cast<std::uint32_t>(border(here + 1) - border(here));
        }
        const GpuCell& home = cells[static_cast<std::size_t>(rank)];
        const double margin = 0.5 * reach * points / box.x;
        std::vector<PositionCharge<N>> before, after;
        bool is_kept = true;
        for (int atom = 0; atom < 8; ++atom)
        {
            const auto x = home.lower[0] + static_cast<std::uint32_t>(std::uint64_t{home.width[0]} * (random() % 1000) / 1000);
            const double strays = (static_cast<double>(random() % 2001) - 1000) / 1000 * (n % 3) * margin; // planes
            const auto moved = x + static_cast<std::uint32_t>(static_cast<std::int64_t>(strays / points * 0x1p32));
            const float charge = atom == 7 ? 0.0f : 0.5f; // who has none may go anywhere
            before.push_back({x, 0, 0, charge}), after.push_back({moved, 0, 0, charge});
            const auto plane = static_cast<int>((std::uint64_t{moved} * static_cast<unsigned>(points)) >> 32);
            for (int j = 0; j < order && charge != 0; ++j)
            {
                for (int owner = 0; owner < ranks; ++owner)
                {
                    if (!cut.planes[static_cast<std::size_t>(owner)].contains((plane + j) % points, points)) { continue; }
                    // Cells ahead of the owner's, as far as its halo reaches from its upper border.
                    const GpuCell& cell = cells[static_cast<std::size_t>(owner)];
                    const int offset = (rank - owner + ranks) % ranks;
                    const auto ahead = static_cast<std::uint32_t>(x - cell.lower[0] - cell.width[0]);
                    is_kept = is_kept && (offset == 0 || ahead * nm_per_unit.diagonal().x < reach);
                }
            }
        }
        before.resize(supercluster_size), after.resize(supercluster_size);
        GpuState<N> state;
        DeviceScalars scalars;
        scalars.set_box<N>(box);
        state.slots = supercluster_size;
        state.xq.upload(queue, before);
        state.zone_of_supercluster.upload(queue, std::vector<std::uint8_t>{0});
        std::vector<std::int32_t> global(supercluster_size, -1); // fillers, but for the atoms that stay within bounds if is_kept
        std::iota(global.begin(), global.begin() + 7, 0);
        state.global_of_slot.upload(queue, global);
        const auto flags_of = [&](MeshAtoms which, GpuSlabLimits<N>& limits) {
            state.scalars.upload(queue, {&scalars, 1});
            limits.check(queue, state, which);
            return state.scalars.to_vector(queue)[0].flags;
        };
        state.scalars.upload(queue, {&scalars, 1});
        GpuSlabLimits<N> limits(queue, cut, cells, rank);
        limits.follow(queue, state);
        queue.synchronize();
        state.xq.upload(queue, after);
        const std::uint32_t expected = is_kept ? 0u : std::uint32_t{gpu_flag_mesh_strayed};
        SCOPED_TRACE(testing::Message() << n << ": " << ranks << " ranks, " << points);
        EXPECT_EQ(flags_of(MeshAtoms::Charged, limits), expected);
        for (PositionCharge<N>& atom : after) { atom.charge = 0; }
        state.xq.upload(queue, after);
        EXPECT_EQ(flags_of(MeshAtoms::Charged, limits), 0u);
        EXPECT_EQ(flags_of(MeshAtoms::All, limits), expected);
        (is_kept ? kept : broken) += 1;
    }
    EXPECT_GT(kept, 50);
    EXPECT_GT(broken, 50);
}
