// SPDX-License-Identifier: Apache-2.0
// Failed waits between GPUs: the data that kernels need to wait with a deadline, the record of the first failure, the words that
// end all other waits, and the host's waits for its GPUs.
//
// A kernel whose wait fails sets the abort words of all ranks within reach, and one word that hosts see. stop() tells the kernels
// of this process about failures of other processes or of host threads.
//
// Cost of check(): it reads one word of host memory.
#pragma once

#include "comm/gpu/rank_memory.hpp"
#include "device/gpu/device_buffer.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace parhelion {

class GpuEvent;

// Returns a page of a rank that all processes of its host share; null if the rank is on another host.
std::byte* abort_page(Bootstrap& bootstrap, int rank);

class GpuFailures
{
public:
    static constexpr int most_ranks = 64;

    // Allocates what waits need in the memory of all ranks. check() calls `before_throw` before it throws.
    GpuFailures(const GpuRankMap& ranks, GpuRankMemory& memory, const GpuWorldOptions& options,
                std::function<void()> before_throw);

    // Returns the data that waits of a rank's kernels need, at its address in the rank's GPU's memory.
    const Watch* watch(int rank) const;
    // Sets the address of the tag that texts of failures show; without it the tag is -1. No queued work may wait during the call.
    void set_tag_word(int rank, const std::int64_t* tag);
    // Returns the number of a label in failure records.
    int name_channel(const std::string& label);

    // The following calls do what those of GpuWorld do (comm/gpu/world_gpu.hpp).
    void check();
    enum class HostWait : std::uint8_t
    {
        Sleeps, // the host thread sleeps between its looks, and may return up to a millisecond late
        Spins   // the host thread polls; for waits of microseconds
    };
    void wait(int rank, const GpuEvent& event, HostWait how);
    void wait(int rank, const std::atomic<std::uint64_t>& count, std::uint64_t enough);
    void give_up() { has_given_up_ = true; }

    // Ends all waits of this process, from any thread and for any reason. check() then throws `why`. Only the first call counts.
    void stop(std::exception_ptr why);
    // Makes the queues by which stop() reaches the GPUs. Must be called before there is a thread that may call stop().
    void make_abort_queues();

private:
    struct Surroundings; // the Watch and the words that waits of a rank need

    void make_host_abort(Bootstrap* bootstrap);
    // Returns the rank in whose memory kernels of this process record the first failure.
    int keeper() const { return fail_together_ ? 0 : ranks_.here().first; }
    std::exception_ptr loss() const; // returns null if stop() was not called
    template <class HasHappened>
    void wait_until(int rank, HostWait how, HasHappened&& has_happened);
    Surroundings* surroundings(int rank) const;

    const GpuRankMap& ranks_;
    GpuRankMemory& memory_;
    const std::chrono::nanoseconds deadline_;
    const std::string tag_name_;
    const std::function<void()> before_throw_;
    bool fail_together_ = true; // true: kernels of all processes end each other's waits; false: their hosts do, by stop()
    std::optional<PinnedPages> shared_abort_; // memory of host_abort_, if other processes set that word, too
    PinnedBuffer<SignalSlot> own_abort_;      // memory of host_abort_ if shared_abort_ is empty
    SignalSlot* host_abort_ = nullptr;        // the host's abort word, set together with the ranks' abort words
    std::atomic<bool> has_given_up_ = false;
    mutable std::mutex loss_mutex_;
    std::exception_ptr loss_; // guarded by loss_mutex_
    Window surroundings_;
    std::vector<std::string> channels_; // labels of channels, by their number in failure records
    std::map<std::string, int> channel_numbers_;
    std::vector<std::unique_ptr<GpuQueue>> abort_queues_; // one queue per GPU of this process; empty if nobody calls stop()
};

} // namespace parhelion
