// SPDX-License-Identifier: Apache-2.0
#include "comm/gpu/proxies.hpp"

#include "comm/gpu/failures.hpp"
#include "comm/gpu/proxy.hpp"
#include "comm/gpu/world_options.hpp"
#include "comm/transports/nic_emulation.hpp"
#include "device/helper_threads.hpp"

#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace parhelion {

GpuProxySet::GpuProxySet(const GpuRankMap& ranks, const SymmetricMemory& memory, GpuFailures& failures,
                         const GpuWorldOptions& options)
    : ranks_(ranks), memory_(memory), failures_(failures), heap_(options.heap), before_each_put_(options.hooks.before_each_put),
      compute_threads_(options.compute_threads), proxies_(ranks.gpus().size())
{
    if (const std::optional<NicEmulation>& nodes = ranks_.virtual_nodes())
    {
        for (int node = 0; node < nodes->nodes; ++node) { links_.push_back(std::make_unique<EmulatedLink>(*nodes)); }
    }
    if (options.bootstrap != nullptr && compute_threads_ > 0) { find_processes_of_host(*options.bootstrap, options.deadline); }
}

GpuProxySet::~GpuProxySet() = default;

// Counts the processes of this host. The first rank of a process stands for the process.
void GpuProxySet::find_processes_of_host(Bootstrap& bootstrap, std::chrono::nanoseconds deadline)
{
    const RankRange here = ranks_.here();
    const auto key = [](int rank) { return fmt::format("first rank beside rank {} in the process of its GPU", rank); };
    Bytes told(sizeof here.first);
    std::memcpy(told.data(), &here.first, sizeof here.first);
    for (int rank = here.first; rank < here.first + here.count; ++rank) { bootstrap.put(key(rank), told); }
    process_of_host_ = processes_of_host_ = 0;
    for (int rank = 0; rank < ranks_.ranks(); ++rank)
    {
        const Bytes heard = wait_for(bootstrap, key(rank), deadline);
        int first = 0;
        std::memcpy(&first, heard.data(), sizeof first);
        if (first != rank || abort_page(bootstrap, rank) == nullptr) { continue; }
        process_of_host_ += rank < here.first ? 1 : 0;
        ++processes_of_host_;
    }
}

EmulatedLink* GpuProxySet::link_of(const Put& put) const
{
    if (ranks_.reaches(put.source, put.destination)) { return nullptr; }
    return links_[static_cast<std::size_t>(ranks_.virtual_nodes()->node_of(put.source))].get();
}

GpuProxy& GpuProxySet::of(int rank)
{
    std::unique_ptr<GpuProxy>& proxy = proxies_[ranks_.gpu_of(rank)];
    if (!proxy)
    {
        failures_.make_abort_queues(); // must be called before there is a thread that may stop the run
        GpuProxyOptions options;
        options.device = ranks_.device(rank);
        options.on_failure = [this](std::exception_ptr why) { failures_.stop(std::move(why)); };
        options.before_each = before_each_put_;
        options.heap = heap_;
        if (!links_.empty())
        {
            options.link_of = [this](const Put& put) { return link_of(put); };
        }
        proxy = std::make_unique<GpuProxy>(memory_, options);
        cores_.reset(); // moves the calling thread back to the cores that it had before
        if (compute_threads_ > 0)
        {
            cores_ =
                std::make_unique<CoresForHelpers>(compute_threads_ * processes_of_host_, process_of_host_, processes_of_host_);
        }
    }
    return *proxy;
}

std::span<const HelperPlace> GpuProxySet::places() const
{
    return cores_ ? std::span<const HelperPlace>(cores_->places()) : std::span<const HelperPlace>();
}

void GpuProxySet::stop()
{
    for (const auto& proxy : proxies_)
    {
        if (proxy) { proxy->stop(); }
    }
}

} // namespace parhelion
