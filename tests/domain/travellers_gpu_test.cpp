// SPDX-License-Identifier: Apache-2.0
// Atoms that travel to other virtual nodes: every rank's exchange buffer is afterwards, bit by bit, as if all ranks had
// stored into it, however many atoms go and wherever they come from; and so are the forces at rank 0. The ranks share a GPU.
#include "domain/gpu/travellers_gpu.hpp"
#include "support/domain_systems.hpp"
#include "support/exchange_buffers.hpp"
#include "support/gpu_particles.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <set>

using namespace parhelion;
using namespace parhelion::test;
using namespace std::chrono_literals;

namespace {

// Cells divided among nodes, neighbours together.
struct Shape
{
    CellGrid grid;
    int ranks_per_node;
};
const std::vector<Shape> shapes = {{{{2, 1, 1}}, 1}, {{{2, 2, 1}}, 2}, {{{4, 1, 1}}, 1}, {{{2, 1, 2}}, 1}};

NicEmulation nodes_of(const Shape& shape)
{
    // What is sent together comes in another order.
    return {.nodes = shape.grid.ranks() / shape.ranks_per_node, .ranks_per_node = shape.ranks_per_node, .latency = 20ms};
}

template <class N>
GpuWorldOptions options_for(const Shape& shape, std::size_t atoms)
{
    GpuWorldOptions options;
    options.deadline = 20s;
    options.payload_bytes = traveller_bytes<N>(shape.grid.ranks(), atoms) + (std::size_t{1} << 20);
    options.nodes = nodes_of(shape);
    return options;
}

// The same ranks tell each other of their atoms twice: over nodes, and as if there were none.
template <class N>
class ToldTwice
{
public:
    ToldTwice(GpuQueue& queue, const System& system, const Shape& shape, double density_factor)
        : queue_(queue), ranks_(queue, system, {.grid = shape.grid, .reach = 0.8, .density_factor = density_factor}),
          world_(std::vector<int>(static_cast<std::size_t>(shape.grid.ranks()), 0), options_for<N>(shape, system.x.size())),
          ends_(open_travellers<N>(world_, world_.all_ranks(), system.x.size())), over_nodes_(ranks_), to_all_(ranks_)
    {
        std::vector<GpuCell> cells;
        for (int r = 0; r < ranks_.ranks(); ++r) { cells.push_back(ranks_.rank(r).cell); }
        const std::vector<int> collectors{0, ranks_.ranks() - 1};
        upload_those(
            to_all_, collectors, [](int) { return true; }, collectors_);
        for (int r = 0; r < ranks_.ranks(); ++r)
        {
            const auto is_in_reach = [&](int peer) { return world_.reaches(r, peer); };
            upload_those(over_nodes_, world_.all_ranks(), is_in_reach, in_reach_.emplace_back());
            upload_those(over_nodes_, collectors, is_in_reach, collectors_in_reach_.emplace_back());
            travellers_.push_back(std::make_unique<GpuTravellers<N>>(queue, world_, r, cells, collectors, ends_.of(r)));
            ranks_.take(r);
        }
    }

    using Force = typename GpuTravellers<N>::Force;
    RanksOnGpu<N>& ranks() { return ranks_; }
    void tell()
    {
        for (int r = 0; r < ranks_.ranks(); ++r)
        {
            publish_atoms(queue_, ranks_.rank(r).state, ranks_.table(), to_all_.all);
            publish_atoms(queue_, ranks_.rank(r).state, ranks_.table(), in_reach_[static_cast<std::size_t>(r)]);
            travellers_[static_cast<std::size_t>(r)]->send(queue_, ranks_.rank(r).state, ranks_.table(), To::WhoNeedsThem);
        }
        receive();
    }
    // All atoms, at the first and at the last rank.
    void collect()
    {
        for (int r = 0; r < ranks_.ranks(); ++r)
        {
            collect_atoms(queue_, ranks_.rank(r).state, collectors_);
            collect_atoms(queue_, ranks_.rank(r).state, collectors_in_reach_[static_cast<std::size_t>(r)]);
            travellers_[static_cast<std::size_t>(r)]->send(queue_, ranks_.rank(r).state, ranks_.table(), To::Collectors);
        }
        receive();
    }
    // Those that come to rank 0 from other nodes, by global atom, if each is what its atom's number says.
    std::vector<Force> forces_at_first(const std::function<Force(std::int32_t global)>& force)
    {
        DeviceBuffer<Force> f(atoms());
        f.clear(queue_);
        for (int r = 0; r < ranks_.ranks(); ++r)
        {
            GpuState<N>& state = ranks_.rank(r).state;
            auto slots = state.f.to_vector(queue_);
            const auto global = state.global_of_slot.to_vector(queue_);
            for (std::size_t slot = 0; slot < global.size(); ++slot)
            {
                if (global[slot] < 0) { continue; }
                const Force sum = force(global[slot]);
                slots[slot].x = sum.x, slots[slot].y = sum.y, slots[slot].z = sum.z;
            }
            state.f.upload(queue_, slots);
            queue_.synchronize();
            travellers_[static_cast<std::size_t>(r)]->send_forces(queue_, state);
        }
        for (const auto& travellers : travellers_) { travellers->receive_forces(queue_, f.data()); }
        queue_.synchronize();
        EXPECT_NO_THROW(world_.check());
        return f.to_vector(queue_);
    }
    // Of the rank that has an atom, by global atom: is it on another node than rank 0?
    std::vector<bool> far_from_first()
    {
        std::vector<bool> far(atoms());
        for (int r = 0; r < ranks_.ranks(); ++r)
        {
            const GpuState<N>& state = ranks_.rank(r).state;
            const auto zone = state.zone_of_supercluster.to_vector(queue_);
            const auto global = state.global_of_slot.to_vector(queue_);
            for (std::size_t slot = 0; slot < global.size(); ++slot)
            {
                const bool is_home = global[slot] >= 0 && zone[slot / supercluster_size] == 0;
                if (is_home && !world_.reaches(r, 0)) { far[static_cast<std::size_t>(global[slot])] = true; }
            }
        }
        return far;
    }
    std::size_t atoms() { return ranks_.whole().slot_of_global.size(); }
    void expect_told_the_same()
    {
        for (std::size_t r = 0; r < travellers_.size(); ++r)
        {
            SCOPED_TRACE(testing::Message() << "rank " << r);
            EXPECT_TRUE(same_bits(queue_, over_nodes_.zone[r], to_all_.zone[r]));
            EXPECT_TRUE(same_bits(queue_, over_nodes_.x[r], to_all_.x[r]));
            EXPECT_TRUE(same_bits(queue_, over_nodes_.v[r], to_all_.v[r]));
        }
    }
    // Ranks have what they have been told of.
    void take()
    {
        for (int r = 0; r < ranks_.ranks(); ++r)
        {
            const auto of_rank = static_cast<std::size_t>(r);
            take_atoms(queue_, over_nodes_.of_rank[of_rank], ranks_.table(), ranks_.rank(r).scratch, ranks_.rank(r).state);
            EXPECT_EQ(over_nodes_.marked(queue_, of_rank), 0);
        }
        forget();
    }
    // Nobody takes it.
    void forget() { over_nodes_.unmark(queue_), to_all_.unmark(queue_); }
    void set_flags(int rank, std::uint32_t flags)
    {
        auto scalars = ranks_.rank(rank).state.scalars.to_vector(queue_);
        scalars[0].flags = flags;
        ranks_.rank(rank).state.scalars.upload(queue_, scalars);
        queue_.synchronize();
    }
    std::vector<std::ptrdiff_t> marked() const // by rank
    {
        std::vector<std::ptrdiff_t> of_rank;
        for (int r = 0; r < world_.ranks(); ++r) { of_rank.push_back(marked(r)); }
        return of_rank;
    }
    std::ptrdiff_t marked(int rank) const { return over_nodes_.marked(queue_, static_cast<std::size_t>(rank)); }

private:
    using To = typename GpuTravellers<N>::To;

    template <class Chosen>
    void upload_those(const EmptyExchangeBuffers<N>& buffers, const std::vector<int>& ranks, Chosen&& chosen,
                      DeviceBuffer<GpuExchangeBuffer<N>>& to)
    {
        std::vector<GpuExchangeBuffer<N>> those;
        for (const int rank : ranks)
        {
            if (chosen(rank)) { those.push_back(buffers.of_rank[static_cast<std::size_t>(rank)]); }
        }
        to.upload(queue_, those);
        queue_.synchronize();
    }
    void receive()
    {
        for (std::size_t r = 0; r < travellers_.size(); ++r) { travellers_[r]->receive(queue_, over_nodes_.of_rank[r]); }
        queue_.synchronize();
        EXPECT_NO_THROW(world_.check());
    }

    GpuQueue& queue_;
    RanksOnGpu<N> ranks_;
    GpuWorld world_;
    GpuPeerEnds ends_;
    EmptyExchangeBuffers<N> over_nodes_, to_all_;
    DeviceBuffer<GpuExchangeBuffer<N>> collectors_;
    std::vector<DeviceBuffer<GpuExchangeBuffer<N>>> in_reach_, collectors_in_reach_; // by rank
    std::vector<std::unique_ptr<GpuTravellers<N>>> travellers_;                      // likewise
};

// So many molecules of a liquid that moves.
System liquid(int molecules)
{
    System system = with_rigid_molecules(random_liquid({4.6, 5, 4.2}, molecules, 100, 1));
    for (std::size_t i = 0; i < system.x.size(); ++i) { system.v.push_back({0.25 * static_cast<double>(i), 1, -2}); }
    return system;
}

// By half the box along x, to the farthest there is.
template <class N>
void move_across(PositionCharge<N>& atom)
{
    atom.x += static_cast<typename N::Fixed>(typename N::Fixed{1} << (8 * sizeof(typename N::Fixed) - 1));
}

template <class N>
class GpuTravellersOfNodes : public ::testing::Test
{
protected:
    void SetUp() override
    {
        if (gpu_count() == 0) { GTEST_SKIP() << "no GPU"; }
    }
};
using Policies = ::testing::Types<Mixed, Double>;
TYPED_TEST_SUITE(GpuTravellersOfNodes, Policies);

} // namespace

TYPED_TEST(GpuTravellersOfNodes, are_told_of_as_ranks_would_store_them)
{
    GpuQueue queue;
    for (const Shape& shape : shapes)
    {
        SCOPED_TRACE(name_of(shape.grid) + ", " + std::to_string(shape.ranks_per_node) + " of them on a node");
        ToldTwice<TypeParam> told(queue, liquid(1000), shape, 2);
        std::vector<PositionCharge<TypeParam>> whole = told.ranks().positions().to_vector(queue);
        std::set<std::vector<std::ptrdiff_t>> marked;
        for (int repartition = 0; repartition < 3; ++repartition)
        {
            SCOPED_TRACE(testing::Message() << "repartition " << repartition);
            move_molecules(told.ranks(), whole);
            // The first molecule, there and back.
            const auto first = told.ranks().topology().molecule_types[0].atoms.size();
            for (std::size_t g = 0; g < first; ++g) { move_across<TypeParam>(whole[g]); }
            put_in_states(told.ranks(), whole);
            told.tell();
            told.expect_told_the_same();
            marked.insert(told.marked());
            told.take();
            EXPECT_EQ(told.ranks().flags(), 0u);
            if (testing::Test::HasFailure()) { return; }
        }
        EXPECT_EQ(marked.size(), 3u) << "the messages are not of different sizes";
    }
}

// Each time the atoms are elsewhere, and between two times ranks are told of those that they need.
TYPED_TEST(GpuTravellersOfNodes, are_collected_as_ranks_would_store_them_and_forces_come_to_the_first)
{
    using Force = typename GpuTravellers<TypeParam>::Force;
    using Sum = typename TypeParam::ForceSum;
    GpuQueue queue;
    for (const Shape& shape : shapes)
    {
        SCOPED_TRACE(name_of(shape.grid) + ", " + std::to_string(shape.ranks_per_node) + " of them on a node");
        ToldTwice<TypeParam> told(queue, liquid(1000), shape, 2);
        std::vector<PositionCharge<TypeParam>> whole = told.ranks().positions().to_vector(queue);
        for (int time = 0; time < 3; ++time)
        {
            SCOPED_TRACE(testing::Message() << "time " << time);
            move_molecules(told.ranks(), whole);
            put_in_states(told.ranks(), whole);
            told.collect();
            told.expect_told_the_same();
            for (int r = 0; r < told.ranks().ranks(); ++r) { EXPECT_EQ(told.marked(r), 0); }
            const auto force = [&](std::int32_t global) {
                return Force{static_cast<Sum>(global + time + 1), static_cast<Sum>(-global), static_cast<Sum>(2 * global)};
            };
            const std::vector<Force> forces = told.forces_at_first(force);
            const std::vector<bool> is_far = told.far_from_first();
            std::size_t wrong = 0, far = 0;
            for (std::size_t g = 0; g < forces.size(); ++g)
            {
                const Force expected = is_far[g] ? force(static_cast<std::int32_t>(g)) : Force{};
                wrong += forces[g].x != expected.x || forces[g].y != expected.y || forces[g].z != expected.z;
                far += is_far[g];
            }
            EXPECT_EQ(wrong, 0u);
            EXPECT_GT(far, 0u);
            EXPECT_LT(far, told.atoms());
            told.tell();
            told.expect_told_the_same();
            told.take();
            if (testing::Test::HasFailure()) { return; }
        }
    }
}

// All are in one cell, and then in another: each message has all atoms of the system, or none.
TYPED_TEST(GpuTravellersOfNodes, may_be_all_atoms_or_none)
{
    GpuQueue queue;
    const Shape row = {{{4, 1, 1}}, 1};
    const System system = squeezed(liquid(300), {0.2, 1, 1});
    ToldTwice<TypeParam> told(queue, system, row, 100);
    std::vector<PositionCharge<TypeParam>> whole = told.ranks().positions().to_vector(queue);
    const auto atoms = static_cast<std::ptrdiff_t>(whole.size());
    for (int repartition = 0; repartition < 3; ++repartition)
    {
        SCOPED_TRACE(testing::Message() << "repartition " << repartition);
        for (auto& atom : whole) { move_across<TypeParam>(atom); }
        put_in_states(told.ranks(), whole);
        told.tell();
        told.expect_told_the_same();
        const int owner = repartition % 2 == 0 ? 2 : 0;
        EXPECT_EQ(told.marked(owner), atoms);
        EXPECT_EQ(told.marked((owner + 1) % 4), 0) << "cells ahead are seen, cells behind are not";
        told.take();
        EXPECT_EQ(told.ranks().flags() & ~gpu_flag_ambiguous, 0u);
    }
}

TYPED_TEST(GpuTravellersOfNodes, are_none_where_a_state_has_a_flag_and_their_messages_come)
{
    GpuQueue queue;
    for (const Shape& shape : shapes)
    {
        SCOPED_TRACE(name_of(shape.grid));
        ToldTwice<TypeParam> told(queue, liquid(800), shape, 3);
        const int ranks = shape.grid.ranks();
        // Nothing of the last rank's atoms, then of anybody's; then all, as if nothing had been.
        for (const int flagged : {1, ranks, 0})
        {
            SCOPED_TRACE(testing::Message() << flagged << " have a flag");
            for (int r = 0; r < ranks; ++r)
            {
                told.set_flags(r, r < ranks - flagged ? 0 : std::uint32_t{gpu_flag_unstable_atom});
            }
            told.tell();
            told.expect_told_the_same();
            for (int r = 0; r < ranks; ++r) { EXPECT_EQ(told.marked(r) > 0, flagged < ranks); }
            told.forget();
        }
    }
}
