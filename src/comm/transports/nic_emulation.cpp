// SPDX-License-Identifier: Apache-2.0
#include "comm/transports/nic_emulation.hpp"

#include "base/error.hpp"
#include "comm/transports/delayed_puts.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace parhelion {

std::string NicEmulation::text() const
{
    return fmt::format("{} virtual node{} of {} rank{}, {:g} us, {:g} GB/s", nodes, nodes == 1 ? "" : "s", ranks_per_node,
                       ranks_per_node == 1 ? "" : "s", std::chrono::duration<double, std::micro>(latency).count(), bandwidth);
}

EmulatedLink::EmulatedLink(const NicEmulation& emulation) : emulation_(emulation) { PARHELION_EXPECTS(emulation.bandwidth > 0); }

EmulatedLink::Times EmulatedLink::send(const Put& put)
{
    constexpr std::uint64_t seed = 1;
    const std::size_t bytes = put.data != nullptr ? put.bytes : 0;
    const auto on_link = std::chrono::nanoseconds(std::llround(static_cast<double>(bytes) / emulation_.bandwidth));
    const auto latency = std::chrono::nanoseconds(
        std::llround(static_cast<double>(emulation_.latency.count()) * (1 + random_of(put, seed, 0) / 2)));
    const std::scoped_lock lock(mutex_);
    const auto begin = std::max(is_free_, std::chrono::steady_clock::now());
    is_free_ = begin + on_link;
    return {begin + latency, begin + on_link + latency};
}

// The emulated network card of one node.
class NicEmulationTransport::Nic
{
public:
    Nic(const SymmetricMemory& memory, const NicEmulation& emulation, int node)
        : link_(emulation), puts_(fmt::format("proxy of node {}", node), emulation.proxies,
                                  {.deliver = [&memory](const Put& put) { deliver(memory, put); },
                                   .copy = [&memory](const Put& put) { copy_payload(memory, put); }})
    {
    }

    void send(const Put& put)
    {
        const EmulatedLink::Times due = link_.send(put);
        puts_.add(put, due.payload, due.signal);
    }
    std::int64_t overlaps() const { return puts_.overlaps(); }

private:
    EmulatedLink link_;
    DelayedPuts puts_; // declared last: its thread ends first
};

NicEmulationTransport::NicEmulationTransport(const SymmetricMemory& memory, const NicEmulation& emulation, RankRange here)
    : memory_(memory), emulation_(emulation), first_node_(emulation.node_of(here.first))
{
    PARHELION_EXPECTS(emulation.ranks_per_node >= 1);
    PARHELION_EXPECTS(here.first % emulation.ranks_per_node == 0);
    for (int node = first_node_; node <= emulation.node_of(here.first + here.count - 1); ++node)
    {
        nics_.push_back(std::make_unique<Nic>(memory, emulation, node));
    }
}

NicEmulationTransport::~NicEmulationTransport() = default;

NicEmulationTransport::Nic& NicEmulationTransport::nic_of(int rank) const
{
    return *nics_[static_cast<std::size_t>(emulation_.node_of(rank) - first_node_)];
}

std::byte* NicEmulationTransport::reach_payload(int source, int destination, std::size_t offset)
{
    return emulation_.reaches(source, destination) ? memory_.payload(destination, offset) : nullptr;
}

SignalSlot* NicEmulationTransport::reach_signal(int source, int destination, std::size_t index)
{
    return emulation_.reaches(source, destination) ? memory_.signal(destination, index) : nullptr;
}

void NicEmulationTransport::put_signal(const Put& put)
{
    if (emulation_.reaches(put.source, put.destination)) { return deliver(memory_, put); }
    nic_of(put.source).send(put);
}

std::int64_t NicEmulationTransport::overlaps() const
{
    std::int64_t all = 0;
    for (const auto& nic : nics_) { all += nic->overlaps(); }
    return all;
}

} // namespace parhelion
