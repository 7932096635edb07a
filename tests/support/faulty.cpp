// SPDX-License-Identifier: Apache-2.0
#include "support/faulty.hpp"

namespace parhelion {

FaultyTransport::FaultyTransport(std::unique_ptr<Transport> inner, FaultPlan plan)
    : inner_(std::move(inner)), plan_(std::move(plan)),
      puts_("bad network", HelperNeeds::Turns, {.deliver = [this](const Put& put) { inner_->put_signal(put); }})
{
}

std::byte* FaultyTransport::reach_payload(int source, int destination, std::size_t offset)
{
    return plan_.payload == PeerAccess::Pointers ? inner_->reach_payload(source, destination, offset) : nullptr;
}

void FaultyTransport::put_signal(const Put& put)
{
    bool is_lost = false, is_early_signal = false;
    std::chrono::microseconds stall{0};
    {
        const std::scoped_lock lock(mutex_);
        const std::int64_t number = so_far_[put.source]++;
        for (const Incident& incident : plan_.incidents)
        {
            if (incident.rank != put.source || incident.put != number) { continue; }
            if (incident.kind == Incident::Kind::Death) { throw RankDied{}; }
            if (incident.kind == Incident::Kind::Stall) { stall = incident.duration; }
            is_lost = is_lost || incident.kind == Incident::Kind::LostPut;
            is_early_signal = is_early_signal || incident.kind == Incident::Kind::EarlySignal;
        }
    }
    std::this_thread::sleep_for(stall);
    if (is_lost) { return; }
    Put carried = put;
    if (is_early_signal) { carried.data = nullptr; }
    send(carried);
}

void FaultyTransport::send(const Put& put)
{
    const auto delay = [&](std::uint64_t purpose) {
        return std::chrono::duration_cast<DelayedPuts::Clock::duration>(plan_.longest_delay *
                                                                        random_of(put, plan_.seed, purpose));
    };
    const DelayedPuts::Clock::time_point due = DelayedPuts::Clock::now() + delay(0);
    const bool is_repeated = random_of(put, plan_.seed, 1) < plan_.duplicated;
    puts_.add(put, due, due, is_repeated ? delay(2) : DelayedPuts::Clock::duration{});
}

Network with_transport(Network network, WrapTransport wrap)
{
    network.make_transport = [make = std::move(network.make_transport), wrap = std::move(wrap)](const SymmetricMemory& memory) {
        return wrap(make(memory));
    };
    return network;
}

Network with_faults(Network network, const FaultPlan& plan)
{
    return with_transport(std::move(network), [plan](std::unique_ptr<Transport> inner) {
        return std::make_unique<FaultyTransport>(std::move(inner), plan);
    });
}

} // namespace parhelion
