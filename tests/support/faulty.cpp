// SPDX-License-Identifier: Apache-2.0
#include "support/faulty.hpp"

namespace parhelion {

FaultyTransport::FaultyTransport(std::unique_ptr<Transport> inner, FaultPlan plan)
    : inner_(std::move(inner)), plan_(std::move(plan)), thread_([this] { run(); })
{
}

FaultyTransport::~FaultyTransport()
{
    {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

std::byte* FaultyTransport::reach_payload(int source, int destination, std::size_t offset)
{
    return plan_.payload == PeerAccess::Pointers ? inner_->reach_payload(source, destination, offset) : nullptr;
}

std::int64_t FaultyTransport::overlaps() const
{
    const std::scoped_lock lock(mutex_);
    return overlaps_;
}

// The finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014) over the put's identity.
double FaultyTransport::random(const Put& put, std::uint64_t purpose) const
{
    std::uint64_t z = plan_.seed;
    for (const std::uint64_t part :
         {static_cast<std::uint64_t>(put.destination), static_cast<std::uint64_t>(put.signal), put.epoch, purpose})
    {
        z = (z ^ part) + 0x9E3779B97F4A7C15;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        z ^= z >> 31;
    }
    return static_cast<double>(z >> 11) * 0x1p-53;
}

void FaultyTransport::put_signal(const Put& put)
{
    bool is_lost = false, is_early_signal = false;
    std::chrono::microseconds stall{0};
    {
        const std::scoped_lock lock(mutex_);
        const std::int64_t number = puts_[put.source]++;
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
    if (!is_lost) { enqueue(put, is_early_signal); }
}

void FaultyTransport::enqueue(const Put& put, bool is_early_signal)
{
    const auto delay = [&](std::uint64_t purpose) {
        return std::chrono::duration_cast<Clock::duration>(plan_.longest_delay * random(put, purpose));
    };
    {
        const std::scoped_lock lock(mutex_);
        Line& line = lines_[{put.destination, put.signal}];
        overlaps_ += line.under_way > 0 ? 1 : 0;
        ++line.under_way;
        line.last = std::max(line.last, Clock::now() + delay(0));
        under_way_.emplace(line.last, Delivery{put, is_early_signal, false});
        if (random(put, 1) < plan_.duplicated)
        {
            line.last += delay(2);
            under_way_.emplace(line.last, Delivery{put, true, true});
        }
    }
    changed_.notify_one();
}

void FaultyTransport::deliver(const Delivery& delivery)
{
    Put put = delivery.put;
    if (delivery.is_signal_only) { put.data = nullptr; }
    inner_->put_signal(put);
}

void FaultyTransport::run()
{
    std::unique_lock lock(mutex_);
    while (!stop_ || !under_way_.empty()) // a rank elsewhere may wait for what this process has sent last
    {
        if (under_way_.empty())
        {
            changed_.wait(lock);
            continue;
        }
        const auto first = under_way_.begin();
        if (first->first > Clock::now())
        {
            const Clock::time_point due = first->first;
            changed_.wait_until(lock, due);
            continue;
        }
        const Delivery delivery = first->second;
        under_way_.erase(first);
        // Off the line before it is seen: the reaction may be the next put to this slot.
        if (!delivery.is_duplicate) { --lines_[{delivery.put.destination, delivery.put.signal}].under_way; }
        lock.unlock();
        deliver(delivery);
        lock.lock();
    }
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
