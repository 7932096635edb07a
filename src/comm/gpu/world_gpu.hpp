// SPDX-License-Identifier: Apache-2.0
// Ranks that are GPUs of one host: memory they reach in each other, channels between their kernels, and the record of the first
// failure.
//
// The idea: the channel protocol runs inside kernels. An end is a value that its user copies to device memory, where it counts
// its own epochs, so that captured work can be replayed. Every GPU addresses every arena, so nothing is carried by a transport,
// unless kernels leave it to a proxy (comm/gpu/proxy.hpp).
// One host thread sets up all ranks. Work is queued by that thread or by one for each GPU. No call waits without a deadline: a
// kernel whose wait fails ends, and check() throws; wait() ends even if a GPU is stuck.
//
// Ranks may be spread over processes. Every process then makes the world with the same options and the same calls in the same
// order: it lays out the memory of all ranks alike, so that nobody has to tell where anything is, and sets up that of its own.
// Others' kernels may write there once all processes have come so far, which is for the caller to see to. Memory has another
// address in every process.
//
// Ranks may be on several nodes: domains of NVLink (comm/gpu/heap.hpp), or virtual ones. Between nodes kernels have no addresses:
// proxies carry what goes through channels and partitioned messages.
//
// Several ranks may share a GPU. A kernel that waits may then keep the kernel it waits for from starting. So the work of such
// ranks goes to one queue, every signal before its wait.
//
// Cost: check() is a look at a word of host memory.
#pragma once

#include "comm/bootstrap.hpp"
#include "comm/endpoint.hpp"
#include "comm/transports/nic_emulation.hpp"
#include "device/gpu/arena.hpp"
#include "device/gpu/device_buffer.hpp"
#include "device/phase_clock.hpp"

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace parhelion {

struct CudaAtomics; // comm/gpu/atomics_gpu.cuh
class CoresForHelpers;
class GpuEvent;
class GpuHeap;
class GpuProxy;
class ObjectPool;
struct HelperPlace;

struct NoTransport
{
    PARHELION_HD void put_signal(const Put&) const {} // never called: sources reach payload and signals
};

using GpuSender = Sender<CudaAtomics, NoTransport>;
using GpuReceiver = Receiver<CudaAtomics, NoTransport>;

// What a channel without capacity brings besides its signal, where the source's kernels have no address of the destination's
// memory: what they store here, of as many bytes as the size word of the signal says (Sender::set_bytes), goes there. Nothing:
// the signal is alone.
struct Relayed
{
    const std::byte* from = nullptr;
    std::size_t offset = 0; // in the destination's arena
};

// Both ends, for the memory of the source's and the destination's GPU. A channel without capacity carries signals alone.
struct GpuChannel
{
    GpuSender sender;
    GpuReceiver receiver;
};

struct GpuWorldOptions
{
    std::chrono::nanoseconds deadline = std::chrono::seconds(60); // of one wait
    std::size_t payload_bytes = std::size_t{1} << 26;             // of each rank
    std::size_t signal_slots = std::size_t{1} << 14;              // of each rank; 2 MiB
    PhaseTag phase;                                               // what the kernels of this room count as
    std::string tag_name = "round"; // what the words of set_tag_word() count, for the text of failures
    // For tests: do the signals of this source get lost on channels of this label?
    std::function<bool(const std::string& label, int source)> loses;
    // Likewise: called by proxies before they carry a message. What it throws is the proxy's failure.
    std::function<void(const Put&)> before_each_put;
    // Threads of each process that compute or queue. Proxies, if there will be any, get cores beside those of all processes of
    // this host (proxies()). 0: whoever makes the world shares out the cores, once it has proxies.
    int compute_threads = 1;
    // Of the processes that the ranks are spread over; outlives the world. Null: all ranks are here.
    Bootstrap* bootstrap = nullptr;
    // Where all memory is, of as many processes as ranks; outlives the world. Its domains are nodes. Null: the world makes its
    // own.
    GpuHeap* heap = nullptr;
    // Virtual nodes that the ranks are on, whole ones in each process; without a heap. Nothing: nodes are real.
    std::optional<NicEmulation> nodes = std::nullopt;
};

class GpuWorld
{
public:
    static constexpr int most_ranks = 64;

    // One rank for each entry, on that GPU; afterwards kernels also reach what this process allocates on the others for one rank
    // alone. Throws DeviceError, also where GPUs do not reach each other; CommError if another process does not come.
    explicit GpuWorld(std::vector<int> devices, const GpuWorldOptions& options = {});
    ~GpuWorld();
    GpuWorld(const GpuWorld&) = delete;
    GpuWorld& operator=(const GpuWorld&) = delete;

    int ranks() const { return static_cast<int>(devices_.size()); }
    const std::vector<int>& all_ranks() const { return everybody_; }
    RankRange here() const { return here_; } // those of this process
    bool is_here(int rank) const { return rank >= here_.first && rank < here_.first + here_.count; }
    int device(int rank) const { return devices_[static_cast<std::size_t>(rank)]; }
    bool shares_gpu(int rank) const; // with another rank
    PhaseTag phase() const { return phase_; }
    bool ranks_share_gpus() const; // of this process
    bool has_nodes() const;        // several
    // Are both on one node, so that kernels of the one store into the memory of the other?
    bool reaches(int source, int destination) const { return node_of(source) == node_of(destination); }
    // Throws CommError, which says that `what` needs it, unless all ranks of a group reach each other.
    void expect_one_node(std::span<const int> group, const std::string& what) const;
    // For setting up a rank that is here; ranks on one GPU have the same.
    GpuQueue& setup_queue(int rank);

    // Symmetric memory: the same offset for all ranks, or for a group of some of them, zero at first. Throws CommError if the
    // arenas are full.
    Window allocate(std::size_t bytes) { return allocate(everybody_, bytes); }
    Window allocate(std::span<const int> group, std::size_t bytes) { return memory_->allocate(group, bytes); }
    void release(Window window) { release(everybody_, window); }
    void release(std::span<const int> group, Window window);
    std::byte* data(int rank, Window window) const { return memory_->payload(rank, window.offset); }

    // Between nodes its ends are those of a relay, and the proxy of the source's GPU carries (comm/gpu/proxy.hpp). Throws
    // CommError if there is no room.
    GpuChannel open(const std::string& label, int source, int destination, const ChannelOptions& options = {},
                    const Relayed& relayed = {});
    // Its slots are for others. Nothing queued uses it; as open() made it, within a node.
    void close(const GpuChannel& channel);

    // Of the GPU of a rank that is here; made when it is first asked for. If this world shares out the cores, the calling thread,
    // and those that it starts, stay off the proxy's from then on, if there are enough. Throws DeviceError.
    GpuProxy& proxy(int rank);
    // Where the proxies are: for logs, and a warning unless each is alone on its core.
    std::span<const HelperPlace> proxies() const;

    // What follows is for the parts of this room. The number of a label, for failure records.
    int name_channel(const std::string& label);
    const std::shared_ptr<ObjectPool>& pool(int rank) { return pools_[gpu_of(rank)]; } // of the GPU of a rank that is here
    SymmetricMemory& memory() { return *memory_; }

    // For the waits of a rank's kernels; in its GPU's memory.
    const Watch* watch(int rank) const;
    // Where kernels find the tag for the text of failures; at first nowhere: -1. Nothing queued may wait meanwhile.
    void set_tag_word(int rank, const std::int64_t* tag);

    // Throws CommError if a wait of any rank was in vain. Everything after that wait has then gone on with wrong data; no wait
    // of this world waits any more.
    void check();
    // Until the work of `rank` has passed the event; its GPU may be stuck, or wait for the event of one that is. Throws CommError
    // as check() does, and if that takes twice the deadline: a kernel's wait, which would end by itself with a better account,
    // may begin late in it; PeerAborted after give_up(). A lone rank waits for nobody, and its work may take any time.
    enum class HostWait : std::uint8_t
    {
        Sleeps, // in the end up to a millisecond too long
        Spins   // for what takes microseconds
    };
    void wait(int rank, const GpuEvent& event, HostWait how = HostWait::Sleeps);
    // Likewise, until another thread, which queues for `rank`, has counted so far.
    void wait(int rank, const std::atomic<std::uint64_t>& count, std::uint64_t enough);
    // Ends the waits of the other threads that queue, for good: this world has failed.
    void give_up() { has_given_up_ = true; }
    // From any thread: ranks elsewhere have ended, as the sentence says. Ends all waits here; check() then throws PeerAborted.
    void lose(const std::string& sentence);

private:
    // Likewise for whatever reason; check() then throws it. The first one counts.
    void stop(std::exception_ptr why);

    struct Surroundings; // of a rank's waits

    std::vector<SymmetricMemory::Arenas> make_arenas(const GpuWorldOptions& options, std::span<const int> gpus);
    std::vector<SymmetricMemory::Arenas> arenas_in(GpuHeap& heap, const GpuWorldOptions& options);
    std::unique_ptr<GpuArena> arena(const std::string& name, int rank, std::size_t bytes, std::span<const int> gpus);
    std::byte* abort_page(int rank) const; // one of each rank; null: on another host
    void make_host_abort();
    void find_processes_of_host();
    void make_abort_queues();
    int node_of(int rank) const { return node_of_rank_[static_cast<std::size_t>(rank)]; } // its first rank
    // The rank in whose memory kernels here record the first failure.
    int keeper_of_failures() const { return fail_together_ ? 0 : here_.first; }
    std::exception_ptr loss() const; // or null

    std::size_t gpu_of(int rank) const;

    template <class HasHappened>
    void wait_until(int rank, HostWait how, HasHappened&& has_happened);
    Surroundings* surroundings(int rank) const;

    std::vector<int> devices_; // by rank
    Bootstrap* bootstrap_;     // null: all are here
    RankRange here_;
    std::chrono::nanoseconds deadline_;
    PhaseTag phase_;
    std::string tag_name_;
    std::function<bool(const std::string& label, int source)> loses_;
    std::function<void(const Put&)> before_each_put_;
    int compute_threads_;
    int process_of_host_ = 0, processes_of_host_ = 1; // among those that the ranks are spread over
    GpuHeap* heap_;
    std::optional<NicEmulation> nodes_; // virtual ones
    std::deque<EmulatedLink> links_;    // by virtual node
    std::vector<int> node_of_rank_;
    std::vector<int> everybody_;
    std::vector<std::unique_ptr<GpuArena>> payload_, signals_; // by rank
    std::optional<SymmetricMemory> memory_;                    // there
    bool fail_together_ = true; // the kernels of all processes end each other's waits; else their hosts do, by lose()
    std::optional<PinnedPages> shared_abort_; // where host_abort_ is, if other processes raise it, too
    PinnedBuffer<SignalSlot> own_abort_;      // or else
    SignalSlot* host_abort_ = nullptr;        // raised with those of the ranks
    std::atomic<bool> has_given_up_ = false;
    mutable std::mutex loss_mutex_;
    std::exception_ptr loss_; // guarded by loss_mutex_
    Window surroundings_;
    std::vector<std::string> channels_; // by number
    std::map<std::string, int> channel_numbers_;
    std::vector<std::size_t> queue_of_rank_;         // of the ranks here
    std::vector<std::shared_ptr<ObjectPool>> pools_; // one a GPU of this process, as queues
    // One a GPU of this process; last: they end before the memory they use goes.
    std::vector<std::unique_ptr<GpuQueue>> setup_queues_, abort_queues_; // the latter where others may stop the run
    std::vector<std::unique_ptr<GpuProxy>> proxies_;                     // null where nobody has asked
    std::unique_ptr<CoresForHelpers> cores_;                             // null without proxies
};

} // namespace parhelion
