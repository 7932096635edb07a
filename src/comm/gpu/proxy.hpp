// SPDX-License-Identifier: Apache-2.0
// The proxy of a GPU: a host thread that carries messages for its kernels, which leave them in a ring (comm/proxy_ring.hpp).
//
// The idea: the proxy takes descriptors in their order and queues, on a stream of its own, first the copy, by the copy engine,
// then stores of the signal and of the word that says that the source may be written again. The stream's order has the data at
// its destination before the signal shows (rule M7). Kernels need no pointer to the destination, and no multiprocessor is needed
// at either side. Of small messages that are there together it first queues all copies, then all stores by one call.
//
// Messages to another virtual node (comm/transports/nic_emulation.hpp) are kept until they are due there, the copy until their
// first byte is and the stores until their last one is. What this proxy cannot queue or copy so fast comes later. Where the
// destination's memory is out of reach, in another domain of NVLink, a heap's library puts (comm/gpu/heap.hpp).
//
// Kernels that know nothing of a ring store and signal as if the destination were within reach: into a *relay*, which is memory
// of their own GPU for what they store and a word in the host's memory for the signal. The proxy looks at these words, one after
// another, and carries what has been signalled.
//
// A proxy that fails, as when the runtime refuses a copy, ends all waits of its world, with its sentence. If it does not come to
// its turn, waits end by their deadlines; it is then told to stop, so that what the messages were of may go.
//
// Cost: a call of the runtime for each message and one more for all that are there together, some microseconds; a look at a line
// of memory for each relay, in turn; a core
// (device/helper_threads.hpp: whoever knows the compute threads puts it on one of its own).
#pragma once

#include "comm/proxy_ring.hpp"
#include "comm/symmetric_memory.hpp"
#include "comm/transports/puts_under_way.hpp"
#include "device/gpu/device_buffer.hpp"
#include "device/helper_threads.hpp"

#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace parhelion {

struct CudaAtomics; // comm/gpu/atomics_gpu.cuh
class EmulatedLink; // comm/transports/nic_emulation.hpp
class GpuHeap;

using GpuProxyRing = ProxyRing<CudaAtomics>;
using GpuProxyTransport = ProxyTransport<CudaAtomics>;

struct GpuProxyOptions
{
    int device = 0;
    std::size_t places = std::size_t{1} << 16; // of the ring, a power of two; 64 bytes each
    // Who says when a message arrives; null, or what it gives is null: it is carried at once.
    std::function<EmulatedLink*(const Put&)> link_of;
    // Puts where memory is out of reach; outlives this. Null: it never is.
    const GpuHeap* heap = nullptr;
    // Called by the proxy when it fails, with what it failed by.
    std::function<void(std::exception_ptr)> on_failure;
    // For tests: called by the proxy before it carries a message. What it throws is the proxy's failure.
    std::function<void(const Put&)> before_each;
};

// What kernels of a channel's source see in place of the destination: `depth` signals, and what is carried when one of them shows
// its next epoch. A message has as many bytes as its signal's size word says, which keeps its value until a kernel changes it.
struct Relay
{
    Put first;          // message of slot 0; bytes and epoch: what all signals show at first
    std::size_t stride; // bytes from one slot to the next, here and there
    int depth;
};

class GpuProxy
{
public:
    // `memory` has the destinations, and outlives this. Throws DeviceError.
    GpuProxy(const SymmetricMemory& memory, const GpuProxyOptions& options);
    // Carries what is there, also what is due later, and waits for it. Nobody may leave messages any more.
    ~GpuProxy() = default;
    GpuProxy(const GpuProxy&) = delete;
    GpuProxy& operator=(const GpuProxy&) = delete;

    // Places for messages of so many signal slots, one each at a time. Throws CommError if there are not as many.
    void reserve(int signals);
    void release(int signals);
    // Queues nothing more, what kernels have left included: this world has failed. From any thread; returns at once, but for a
    // call of the runtime that the proxy is in.
    void stop();
    // For kernels on its GPU.
    GpuProxyRing* ring() { return ring_.data(); }
    // The signals of a relay, which is there as long as the proxy. Throws CommError if there are none left.
    SignalSlot* open(const Relay& relay);
    const std::string& name() const { return thread_.name(); }

private:
    void serve(const std::stop_token& stop);
    enum class Parts : std::uint8_t
    {
        Payloads,
        All
    };
    void carry(std::span<const Descriptor> messages, Parts parts = Parts::All);
    void put(const Descriptor& message);
    bool sends(const Descriptor& message);
    void carry_due();
    std::size_t look_at_relays();
    bool has_stopped();

    const SymmetricMemory& memory_;
    GpuProxyOptions options_;
    GpuQueue queue_;
    PinnedBuffer<Descriptor> descriptors_;
    DeviceBuffer<GpuProxyRing> ring_;
    ProxyRingReader reader_;
    PutsUnderWay under_way_; // to other nodes; of the thread
    std::size_t reserved_ = 0;
    PinnedBuffer<SignalSlot> relay_signals_;
    std::vector<Put> relayed_; // the last of each of these signals that is taken, in their order
    std::mutex relays_mutex_;  // of both
    std::mutex mutex_;         // held while something is queued
    std::map<std::pair<int, std::size_t>, std::size_t> sizes_told_; // of what has been put, by destination and signal
    bool is_stopped_ = false;
    HelperThread thread_; // last: it uses all else, and ends first
};

} // namespace parhelion
