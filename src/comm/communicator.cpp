// SPDX-License-Identifier: Apache-2.0
#include "comm/communicator.hpp"

#include "base/error.hpp"
#include "comm/world.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace parhelion {

namespace {
constexpr std::size_t reduce_bytes = 4096; // of one message of a sum: longer arrays travel in pieces
}

Communicator::Communicator(World& world, int rank) : world_(&world), rank_(rank)
{
    PARHELION_EXPECTS(rank >= 0 && rank < world.ranks());
    // No credits: every rank sends to every other in each epoch, and sends epoch e + 1 only after it has read epoch e of all. So
    // a rank that has all of e + 1, and may send e + 2, knows that e, in the same slots, has been read. Model: all_reduce.pml.
    const ChannelOptions options{2, Credits::No, reduce_bytes};
    for (int peer = 0; peer < world.ranks(); ++peer)
    {
        if (peer == rank) { continue; }
        reduce_peers_.push_back({open_send("sum over ranks", peer, options), open_receive("sum over ranks", peer, options)});
    }
}

int Communicator::ranks() const { return world_->ranks(); }

SendChannel Communicator::open_send(const std::string& label, int peer, const ChannelOptions& options)
{
    return world_->open_send(label, rank_, peer, options);
}

ReceiveChannel Communicator::open_receive(const std::string& label, int peer, const ChannelOptions& options)
{
    return world_->open_receive(label, peer, rank_, options);
}

Window Communicator::allocate(std::size_t bytes) { return world_->memory().allocate(rank_, bytes); }

Window Communicator::allocate(const std::vector<int>& team, std::size_t bytes) { return world_->allocate(rank_, team, bytes); }

void Communicator::release(Window window) { world_->memory().release(rank_, window); }

std::byte* Communicator::data(Window window) const { return world_->memory().payload(rank_, window.offset); }

template <class T, class Combine>
void Communicator::reduce(std::span<T> values, Combine&& combine)
{
    constexpr std::size_t most = reduce_bytes / sizeof(T);
    for (std::size_t begin = 0; begin < values.size(); begin += most)
    {
        const std::span<T> piece = values.subspan(begin, std::min(most, values.size() - begin));
        for (Peer& peer : reduce_peers_) // all sends before the first wait
        {
            std::memcpy(peer.send.begin(piece.size_bytes()), piece.data(), piece.size_bytes());
            peer.send.publish(piece.size_bytes());
        }
        std::array<T, most> result{};
        for (int r = 0, p = 0; r < ranks(); ++r)
        {
            std::array<T, most> theirs;
            const T* terms = piece.data();
            if (r != rank_)
            {
                ReceiveChannel& receive = reduce_peers_[static_cast<std::size_t>(p++)].receive;
                const Message message = receive.wait();
                PARHELION_EXPECTS(message.bytes == piece.size_bytes()); // all ranks reduce arrays of one size
                std::memcpy(theirs.data(), message.data, message.bytes);
                receive.ack();
                terms = theirs.data();
            }
            for (std::size_t i = 0; i < piece.size(); ++i) { result[i] = r == 0 ? terms[i] : combine(result[i], terms[i]); }
        }
        std::copy_n(result.begin(), piece.size(), piece.begin());
    }
}

void Communicator::sum(std::span<double> values)
{
    reduce(values, [](double a, double b) { return a + b; });
}

void Communicator::sum(std::span<std::int64_t> values)
{
    reduce(values, [](std::int64_t a, std::int64_t b) { return a + b; });
}

void Communicator::max(std::span<std::int64_t> values)
{
    reduce(values, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
}

void Communicator::barrier()
{
    std::int64_t nothing = 0;
    sum(std::span(&nothing, 1));
}

void Communicator::set_tag(std::int64_t tag) { world_->set_tag(rank_, tag); }

void Communicator::leave() { HostAtomics::fetch_add_relaxed_system(&world_->watch(rank_).board->absences, one_leaves); }

void Communicator::enter() { HostAtomics::fetch_add_relaxed_system(&world_->watch(rank_).board->absences, one_is_back); }

void Communicator::abort()
{
    const Watch& watch = world_->watch(rank_);
    fail<HostAtomics>(watch, {rank_, rank_, -1, Awaited::Nothing, 0, 0, 0, *watch.tag});
}

} // namespace parhelion
