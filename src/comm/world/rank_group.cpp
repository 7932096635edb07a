// SPDX-License-Identifier: Apache-2.0
#include "comm/world/rank_group.hpp"

#include "base/error.hpp"
#include "comm/core/failures.hpp"
#include "comm/world/world.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

namespace parhelion {

namespace {
constexpr std::size_t reduce_bytes = 4096; // bytes of one message of a sum; longer arrays are sent in pieces
}

RankGroup::RankGroup(World& world, int rank, std::vector<int> members, std::string label)
    : world_(&world), label_(std::move(label)), members_(std::move(members)),
      place_(static_cast<int>(std::find(members_.begin(), members_.end(), rank) - members_.begin()))
{
    PARHELION_EXPECTS(place_ < static_cast<int>(members_.size()));
    std::vector<int> sorted = members_;
    std::sort(sorted.begin(), sorted.end());
    PARHELION_EXPECTS(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
    // No credits are needed. Every member sends to every other member in each epoch, and sends epoch e + 1 only after it has
    // read epoch e of all. So a member that has all of e + 1 knows that e was read everywhere, and may write e + 2 to the same
    // slots. Model: tests/comm/models/all_reduce.pml.
    const ChannelOptions options{2, Credits::No, reduce_bytes};
    for (const int peer : members_)
    {
        if (peer == rank) { continue; }
        peers_.push_back({world.open_send(label_, rank, peer, options), world.open_receive(label_, peer, rank, options)});
    }
}

template <class T, class Combine>
void RankGroup::reduce(std::span<T> values, Combine&& combine)
{
    constexpr std::size_t most = reduce_bytes / sizeof(T);
    for (std::size_t begin = 0; begin < values.size(); begin += most)
    {
        const std::span<T> piece = values.subspan(begin, std::min(most, values.size() - begin));
        for (ChannelPair& peer : peers_) // all sends come before the first wait
        {
            std::memcpy(peer.send.begin(piece.size_bytes()), piece.data(), piece.size_bytes());
            peer.send.publish(piece.size_bytes());
        }
        std::array<T, most> result{};
        for (int m = 0, p = 0; m < static_cast<int>(members_.size()); ++m)
        {
            std::array<T, most> theirs;
            const T* terms = piece.data();
            if (m != place_)
            {
                ReceiveChannel& receive = peers_[static_cast<std::size_t>(p++)].receive;
                const Message message = receive.wait();
                PARHELION_EXPECTS(message.bytes == piece.size_bytes()); // all members must reduce arrays of one size
                std::memcpy(theirs.data(), message.data, message.bytes);
                receive.ack();
                terms = theirs.data();
            }
            for (std::size_t i = 0; i < piece.size(); ++i) { result[i] = m == 0 ? terms[i] : combine(result[i], terms[i]); }
        }
        std::copy_n(result.begin(), piece.size(), piece.begin());
    }
}

void RankGroup::sum(std::span<double> values)
{
    reduce(values, [](double a, double b) { return a + b; });
}

void RankGroup::sum(std::span<std::int64_t> values)
{
    reduce(values, [](std::int64_t a, std::int64_t b) { return a + b; });
}

void RankGroup::max(std::span<std::int64_t> values)
{
    reduce(values, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
}

void RankGroup::barrier()
{
    std::int64_t nothing = 0;
    sum(std::span(&nothing, 1));
}

Window RankGroup::allocate(std::size_t bytes)
{
    if (bytes > FreeExtents::none) { throw MemoryFull(fmt::format("There are no {} bytes of symmetric memory.", bytes)); }
    const auto size = static_cast<std::int64_t>(round_up_window(bytes));
    const std::size_t offset = common_offset([&](std::size_t from) {
        // No member allocates before all members agree, and only this rank allocates in its own arena.
        const std::size_t fit = world_->memory().fit(world_rank(), from, static_cast<std::size_t>(size));
        std::int64_t greatest[] = {static_cast<std::int64_t>(fit), size};
        max(greatest);
        PARHELION_EXPECTS(greatest[1] == size); // all members must ask for the same size
        return static_cast<std::size_t>(greatest[0]);
    });
    if (size == 0) { return {}; }
    if (offset == FreeExtents::none)
    {
        throw MemoryFull(fmt::format("The symmetric memory of a rank of '{}' has no {} bytes left in one piece.", label_, size));
    }
    const Window window{offset, static_cast<std::size_t>(size)};
    world_->memory().take(world_rank(), window);
    return window;
}

void RankGroup::release(Window window) { world_->memory().release(world_rank(), window); }

std::byte* RankGroup::data(Window window) const { return world_->memory().payload(world_rank(), window.offset); }

} // namespace parhelion
