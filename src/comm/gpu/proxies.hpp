// SPDX-License-Identifier: Apache-2.0
// The proxies of a world of GPUs (comm/gpu/proxy.hpp): one per GPU of this process, made when it is first used. Also here: the
// links of virtual nodes, which tell proxies when a message is due, and the cores on which proxies run.
#pragma once

#include "comm/core/protocol.hpp"
#include "comm/core/symmetric_memory.hpp"
#include "comm/gpu/rank_map.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace parhelion {

class CoresForHelpers;
class EmulatedLink;
class GpuFailures;
class GpuProxy;
struct GpuWorldOptions;
struct HelperPlace;

class GpuProxySet
{
public:
    // If a proxy fails, all waits end. Throws CommError if another process does not say which ranks it has.
    GpuProxySet(const GpuRankMap& ranks, const SymmetricMemory& memory, GpuFailures& failures, const GpuWorldOptions& options);
    ~GpuProxySet();
    GpuProxySet(const GpuProxySet&) = delete;
    GpuProxySet& operator=(const GpuProxySet&) = delete;

    // of() and places() do what proxy() and proxies() of GpuWorld do (comm/gpu/world_gpu.hpp).
    GpuProxy& of(int rank);
    std::span<const HelperPlace> places() const;
    // Stops all proxies, so that they carry no more messages.
    void stop();

private:
    void find_processes_of_host(Bootstrap& bootstrap, std::chrono::nanoseconds deadline);
    EmulatedLink* link_of(const Put& put) const; // returns null if the put is carried at once

    const GpuRankMap& ranks_;
    const SymmetricMemory& memory_;
    GpuFailures& failures_;
    const GpuHeap* heap_;
    std::function<void(const Put&)> before_each_put_;
    int compute_threads_;
    int process_of_host_ = 0, processes_of_host_ = 1;  // number of this process on its host, and number of processes there
    std::vector<std::unique_ptr<EmulatedLink>> links_; // the emulated link of each virtual node
    std::vector<std::unique_ptr<GpuProxy>> proxies_;   // proxies by GPU; null before the first use
    std::unique_ptr<CoresForHelpers> cores_;           // cores of the proxies; null if there are no proxies
};

} // namespace parhelion
