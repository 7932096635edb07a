// SPDX-License-Identifier: Apache-2.0
// A bad network: a transport in front of another one that delays every put by a random time, so that puts to different
// slots overtake each other (comm/transports/delayed_puts.hpp), repeats signals, and stages named incidents. What is random is a
// function of the seed and the put, so that a seed repeats a run as far as the scheduler lets it.
#pragma once

#include "comm/core/network.hpp"
#include "comm/transports/delayed_puts.hpp"

#include <map>
#include <mutex>

namespace parhelion {

struct Incident
{
    enum class Kind : std::uint8_t
    {
        LostPut,     // neither payload nor signal arrive
        EarlySignal, // the signal arrives before the payload: the destination does not see it, so it is not carried at all
        Stall,       // the rank does not return from the put for `duration`
        Death        // the rank leaves with RankDied, without a word to the others
    };
    Kind kind;
    int rank;         // the source
    std::int64_t put; // which of its puts, from 0
    std::chrono::microseconds duration{0};
};

struct FaultPlan
{
    std::uint64_t seed = 1;
    std::chrono::microseconds longest_delay{50};
    double duplicated = 0;                   // fraction of the signals that are set a second time, later
    PeerAccess payload = PeerAccess::Staged; // Pointers: the source writes payload itself, signals alone are carried
    std::vector<Incident> incidents;
};

// Thrown by the transport into a rank that dies.
struct RankDied
{
};

class FaultyTransport : public Transport
{
public:
    // Carries over `inner`, which reaches everything if the plan's payload is Pointers.
    FaultyTransport(std::unique_ptr<Transport> inner, FaultPlan plan);

    std::byte* reach_payload(int source, int destination, std::size_t offset) override;
    SignalSlot* reach_signal(int, int, std::size_t) override { return nullptr; }
    void put_signal(const Put& put) override;
    void progress() override { inner_->progress(); }

    // Puts that met another one under way to the same signal slot.
    std::int64_t overlaps() const { return puts_.overlaps(); }

private:
    void send(const Put& put);

    std::unique_ptr<Transport> inner_;
    const FaultPlan plan_;
    std::mutex mutex_;                   // of what follows
    std::map<int, std::int64_t> so_far_; // puts, by source
    DelayedPuts puts_;                   // last: its thread calls the others
};

// The network with another transport in front of its own.
using WrapTransport = std::function<std::unique_ptr<Transport>(std::unique_ptr<Transport>)>;
Network with_transport(Network network, WrapTransport wrap);
Network with_faults(Network network, const FaultPlan& plan);

} // namespace parhelion
