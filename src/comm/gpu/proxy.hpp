// SPDX-License-Identifier: Apache-2.0
// The proxy of a GPU: a host thread that carries messages of kernels, which leave them in a ring (comm/core/proxy_ring.hpp).
//
// The idea: the proxy takes descriptors in order and queues work on its own stream: first the copy, by the copy engine, then
// stores of the signal and of the word that permits writing the source again. The stream's order ensures that the data is at
// its destination before the signal shows (rule M7). Kernels need no pointer to the destination, and the copy needs no
// multiprocessor. If small messages wait together, the proxy queues all copies first, then all stores by one call.
//
// Messages to another virtual node (comm/transports/nic_emulation.hpp) are kept until they are due: the copy until the first byte
// is due, the stores until the last byte is. A proxy that cannot queue or copy fast enough makes them late. The library of a heap
// puts into memory out of reach, which is in another domain of NVLink (comm/gpu/heap.hpp).
//
// A *relay* serves kernels that do not know of rings: they store and signal as if they reached the destination. The relay is
// memory of their own GPU for the data, and a word in host memory for the signal. The proxy polls the words of all relays in
// turn, and carries the messages that have been signalled.
//
// A proxy fails, for example, if the CUDA runtime refuses a copy. It then ends all waits of its world, with its error. A proxy
// without processor time lets waits end at their deadlines. It is then told to stop, so that memory of messages may be freed.
//
// Cost: one call of the runtime per message, and one more for all messages that wait together: some microseconds. Each relay
// costs one poll of a cache line per turn. A proxy also needs a core, which the program gives it if it knows the number of
// compute threads (device/helper_threads.hpp).
#pragma once

#include "comm/core/proxy_ring.hpp"
#include "comm/core/symmetric_memory.hpp"
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

struct CudaAtomics; // defined in comm/gpu/atomics_gpu.cuh
class EmulatedLink; // defined in comm/transports/nic_emulation.hpp
class GpuHeap;

using GpuProxyRing = ProxyRing<CudaAtomics>;
using GpuProxyTransport = ProxyTransport<CudaAtomics>;

struct GpuProxyOptions
{
    int device = 0;
    std::size_t places = std::size_t{1} << 16; // number of places in the ring, a power of two; 64 bytes each
    // Returns the emulated link that tells when a message arrives. Without a function or a link the message is carried at once.
    std::function<EmulatedLink*(const Put&)> link_of;
    // The heap whose library puts into memory out of reach; it outlives the proxy. Null: all memory is within reach.
    const GpuHeap* heap = nullptr;
    // Called by the proxy when it fails, with the exception.
    std::function<void(std::exception_ptr)> on_failure;
    // For tests: called by the proxy before it carries a message. If it throws, the proxy fails with that exception.
    std::function<void(const Put&)> before_each;
};

// A relay takes the place of a channel's destination, for kernels of the channel's source. It has `depth` signals. The proxy
// carries a message when a signal shows its next epoch. The message has as many bytes as the signal's size word says; that word
// keeps its value until a kernel changes it.
struct Relay
{
    Put first;          // message of slot 0; all signals show its size and epoch at first
    std::size_t stride; // bytes from one slot to the next, at source and destination
    int depth;
};

class GpuProxy
{
public:
    // Starts the proxy. `memory` holds the destinations of messages, and outlives the proxy. Throws DeviceError.
    GpuProxy(const SymmetricMemory& memory, const GpuProxyOptions& options);
    // Carries all messages that kernels have left, even those due later, and waits for them. No kernel may leave more then.
    ~GpuProxy() = default;
    GpuProxy(const GpuProxy&) = delete;
    GpuProxy& operator=(const GpuProxy&) = delete;

    // Reserves ring places for messages of `signals` signal slots, one per slot. Throws CommError if too few places are free.
    void reserve(int signals);
    void release(int signals);
    // Stops carrying messages, including those that kernels have left, because this world has failed. Any thread may call it.
    // It returns at once, unless the proxy is inside a call of the CUDA runtime.
    void stop();
    // Returns the ring in which kernels on the proxy's GPU leave messages.
    GpuProxyRing* ring() { return ring_.data(); }
    // Opens a relay and returns its signals, which live as long as the proxy. Throws CommError if no signals are left.
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
    PutsUnderWay under_way_; // puts in flight to other nodes; only the proxy's thread uses it
    std::size_t reserved_ = 0;
    PinnedBuffer<SignalSlot> relay_signals_;
    std::vector<Put> relayed_;                                      // last put that was taken of each signal of relay_signals_
    std::mutex relays_mutex_;                                       // guards relay_signals_ and relayed_
    std::mutex mutex_;                                              // held while work is queued
    std::map<std::pair<int, std::size_t>, std::size_t> sizes_told_; // last size word put to each (destination, signal)
    bool is_stopped_ = false;
    HelperThread thread_; // declared last: it uses all members, and ends first
};

} // namespace parhelion
