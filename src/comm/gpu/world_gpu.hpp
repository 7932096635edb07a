// SPDX-License-Identifier: Apache-2.0
// A world whose ranks are GPUs: memory that they reach in each other, channels between their kernels, and the record of the
// first failure.
//
// The idea: the channel protocol runs inside kernels. An end is a value that its user copies to device memory, where it counts
// its own epochs, so that captured work can be replayed. Every GPU addresses every arena, so no transport carries data, unless
// kernels leave messages to a proxy (comm/gpu/proxy.hpp).
// One host thread sets up all ranks. That thread, or one thread per GPU, queues work. No call waits without a deadline: a kernel
// whose wait fails ends, and check() throws. wait() ends even if a GPU hangs.
//
// Ranks may be spread over processes. Every process then makes the world with the same options, and makes the same calls in the
// same order. So it knows the memory layout of all ranks without messages, but sets up only the memory of its own ranks. The
// caller must ensure that all processes have done so before kernels of other processes write there. The same memory has another
// address in every process.
//
// Ranks may be on several nodes: domains of NVLink (comm/gpu/heap.hpp), or virtual nodes. Between nodes kernels have no
// addresses: proxies carry the messages of channels and the partitioned messages.
//
// Several ranks may share a GPU. A waiting kernel may then keep the kernel that it waits for from starting. So the work of such
// ranks is queued on one queue, every signal before the wait for it.
//
// Cost of check(): it reads one word of host memory.
#pragma once

#include "comm/core/endpoint.hpp"
#include "comm/gpu/failures.hpp"
#include "comm/gpu/proxies.hpp"
#include "comm/gpu/rank_map.hpp"
#include "comm/gpu/rank_memory.hpp"
#include "comm/gpu/world_options.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace parhelion {

struct CudaAtomics; // defined in comm/gpu/atomics_gpu.cuh

struct NoTransport
{
    PARHELION_HD void put_signal(const Put&) const {} // never called: sources reach payload and signals
};

using GpuSender = Sender<CudaAtomics, NoTransport>;
using GpuReceiver = Receiver<CudaAtomics, NoTransport>;

// Data that a channel without capacity carries besides its signal, if the source's kernels cannot address the destination's
// memory. They store the data at `from`, and its size into the signal's size word (Sender::set_bytes). The proxy copies it to
// `offset`. Without a Relayed the signal is carried alone.
struct Relayed
{
    const std::byte* from = nullptr;
    std::size_t offset = 0; // offset of the copy in the destination's arena
};

// Both ends of a channel, each for the memory of its own GPU. A channel without capacity carries only signals.
struct GpuChannel
{
    GpuSender sender;
    GpuReceiver receiver;
};

// A world of GPU ranks. Its parts are the places of the ranks (rank_map.hpp), their memory (rank_memory.hpp), the handling of
// failed waits (failures.hpp), and the proxies (proxies.hpp).
class GpuWorld
{
public:
    static constexpr int most_ranks = GpuFailures::most_ranks;

    // Makes one rank per entry of `devices`, on that GPU. Kernels then also reach memory that this process allocates on its other
    // GPUs for one rank. Throws DeviceError, also if GPUs do not reach each other; CommError if another process does not come.
    explicit GpuWorld(std::vector<int> devices, const GpuWorldOptions& options = {});
    GpuWorld(const GpuWorld&) = delete;
    GpuWorld& operator=(const GpuWorld&) = delete;

    int ranks() const { return ranks_.ranks(); }
    const std::vector<int>& all_ranks() const { return ranks_.all_ranks(); }
    RankRange here() const { return ranks_.here(); } // ranks of this process
    bool is_here(int rank) const { return ranks_.is_here(rank); }
    int device(int rank) const { return ranks_.device(rank); }
    bool shares_gpu(int rank) const { return ranks_.shares_gpu(rank); } // true if another rank has the same GPU
    PhaseTag phase() const { return phase_; }
    bool ranks_share_gpus() const { return ranks_.ranks_share_gpus(); } // true if ranks of this process share a GPU
    bool has_nodes() const { return ranks_.has_nodes(); }               // true if there are several nodes
    // Returns whether both ranks are on one node, so that kernels of one can store into the memory of the other.
    bool reaches(int source, int destination) const { return ranks_.reaches(source, destination); }
    // Throws CommError unless all ranks of a group reach each other's memory. The error says that `what` needs that.
    void expect_one_node(std::span<const int> group, const std::string& what) const { ranks_.expect_one_node(group, what); }
    // Returns the queue for setting up a rank of this process. Ranks on one GPU share a queue.
    GpuQueue& setup_queue(int rank) { return memory_.setup_queue(rank); }

    // Symmetric memory, at the same offset for all ranks or for the ranks of a group, zero at first. allocate() throws
    // CommError if the arenas are full.
    Window allocate(std::size_t bytes) { return allocate(all_ranks(), bytes); }
    Window allocate(std::span<const int> group, std::size_t bytes) { return memory().allocate(group, bytes); }
    void release(Window window) { release(all_ranks(), window); }
    void release(std::span<const int> group, Window window);
    std::byte* data(int rank, Window window) const { return memory_.symmetric().payload(rank, window.offset); }

    // Opens a channel. Between nodes its ends use relays: the proxies of the GPUs of source and destination carry its messages
    // and credits (comm/gpu/proxy.hpp). Throws CommError if memory or signal slots are used up.
    GpuChannel open(const std::string& label, int source, int destination, const ChannelOptions& options = {},
                    const Relayed& relayed = {});
    // Closes a channel, so that other channels may use its slots. Preconditions: no queued work uses the channel, its ends are
    // as open() returned them, and both ends are on one node.
    void close(const GpuChannel& channel);

    // Returns the proxy of the GPU of a rank in this process; the first call makes it. If this world distributes the cores and
    // there are enough, the calling thread, and threads that it starts later, stay off the proxy's core. Throws DeviceError.
    GpuProxy& proxy(int rank) { return proxies_.of(rank); }
    // Returns where the proxies run, for logs, and for a warning unless each proxy has a core of its own.
    std::span<const HelperPlace> proxies() const { return proxies_.places(); }

    // The members below are for other parts of src/comm. name_channel() returns the number of a label in failure records.
    int name_channel(const std::string& label) { return failures_.name_channel(label); }
    const std::shared_ptr<ObjectPool>& pool(int rank) { return memory_.pool(rank); } // pool of the GPU of a rank in this process
    SymmetricMemory& memory() { return memory_.symmetric(); }

    // Returns the data that waits of a rank's kernels need, at its address in the rank's GPU's memory.
    const Watch* watch(int rank) const { return failures_.watch(rank); }
    // Sets the address of the tag that texts of failures show; without it the tag is -1. No queued work may wait during the call.
    void set_tag_word(int rank, const std::int64_t* tag) { failures_.set_tag_word(rank, tag); }

    // Throws CommError if a wait of any rank has failed. All work after that wait has used wrong data, and all further waits of
    // this world end at once.
    void check() { failures_.check(); }
    // Waits until the work of `rank` has passed the event, also if a GPU hangs. Throws CommError as check() does, or after
    // twice the deadline: so long, because a kernel's wait may begin late, and its error tells more. Throws PeerAborted after
    // give_up(). A rank that is alone waits for no other rank, so its work may take any time.
    using HostWait = GpuFailures::HostWait;
    void wait(int rank, const GpuEvent& event, HostWait how = HostWait::Sleeps) { failures_.wait(rank, event, how); }
    // Waits in the same way until `count`, which another thread with work for `rank` increases, has reached `enough`.
    void wait(int rank, const std::atomic<std::uint64_t>& count, std::uint64_t enough) { failures_.wait(rank, count, enough); }
    // Ends for good the waits of the other threads that queue work, because this world has failed.
    void give_up() { failures_.give_up(); }
    // Ends all waits here, as ranks elsewhere have ended (`sentence` says which). check() then throws PeerAborted. Thread-safe.
    void lose(const std::string& sentence);

private:
    // The addresses in a relay that replace those which the ends of a channel cannot reach.
    struct Seen
    {
        std::byte* stored;
        SignalSlot *signals, *credits;
    };
    Seen relay(const SendRoute& send, const SendEnd& send_end, const ReceiveEnd& receive_end, const ChannelOptions& options,
               const Relayed& relayed);

    GpuRankMap ranks_;
    PhaseTag phase_;
    std::function<bool(const std::string& label, int source)> loses_;
    GpuRankMemory memory_;
    GpuFailures failures_;
    GpuProxySet proxies_; // declared last: proxies end before the memory that they use is freed
};

} // namespace parhelion
