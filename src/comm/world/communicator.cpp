// SPDX-License-Identifier: Apache-2.0
#include "comm/world/communicator.hpp"

#include "comm/world/world.hpp"

#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace parhelion {

namespace {

std::vector<int> all_ranks(const World& world)
{
    std::vector<int> ranks(static_cast<std::size_t>(world.ranks()));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

} // namespace

Communicator::Communicator(World& world, int rank) : RankGroup(world, rank, all_ranks(world), "sum over ranks") {}

RankGroup Communicator::group(std::vector<int> members)
{
    // The nth group of these members matches the nth group that each other member makes of them.
    const int earlier = groups_made_[members]++;
    std::string label = "sum over ranks";
    for (const int member : members) { label += fmt::format(" {}", member); }
    if (earlier > 0) { label += fmt::format(" ({})", earlier + 1); }
    return RankGroup(world(), rank(), std::move(members), std::move(label));
}

SendChannel Communicator::open_send(const std::string& label, int peer, const ChannelOptions& options)
{
    return world().open_send(label, rank(), peer, options);
}

ReceiveChannel Communicator::open_receive(const std::string& label, int peer, const ChannelOptions& options)
{
    return world().open_receive(label, peer, rank(), options);
}

void Communicator::set_tag(std::int64_t tag) { world().set_tag(rank(), tag); }

void Communicator::pause_deadlines() { world().pause_deadlines(rank()); }

void Communicator::resume_deadlines() { world().resume_deadlines(rank()); }

void Communicator::expect_whole() { world().expect_whole(rank()); }

void Communicator::abort() { world().stop(rank()); }

} // namespace parhelion
