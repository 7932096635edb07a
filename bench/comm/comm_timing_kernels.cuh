// SPDX-License-Identifier: Apache-2.0
// The kernels that `parhelion bench comm` times: messages, flags, stores and sums between GPUs, and how blocks write to a peer.
#pragma once

#include "comm/gpu/collectives.cuh"
#include "comm/gpu/pair.cuh"

#include <cstddef>
#include <cstdint>

namespace parhelion::comm_timing {

constexpr int threads = 256, most_blocks = 132;
constexpr int rounds = 100;                                 // timed, after one in which the kernels meet
constexpr std::size_t most_bytes = std::size_t{1} << 20;    // of a message
constexpr std::size_t stream_bytes = std::size_t{64} << 20; // stored at most at a time
constexpr std::size_t shift = 8;                            // uint4: a message begins so far behind the one before it

// Word i of what a rank sends.
__device__ std::uint64_t pattern(int rank, std::size_t i)
{
    return ((static_cast<std::uint64_t>(rank + 1) << 40) + i) * 0x9E3779B97F4A7C15;
}

// By all threads of all blocks: counts the words that are not those of `source`, from its `first` on.
__device__ void count_wrong(const std::byte* data, std::size_t bytes, int source, std::size_t first, unsigned long long* wrong)
{
    const auto* const words = reinterpret_cast<const std::uint64_t*>(data);
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    unsigned long long here = 0;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < bytes / sizeof *words; i += stride)
    {
        here += words[i] != pattern(source, first + i);
    }
    if (here > 0) { atomicAdd_system(wrong, here); }
}

// A thread's loads before its stores, eight at a time.
__device__ void copy_words(const uint4* from, uint4* to, std::size_t n)
{
    constexpr int unroll = 8;
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += unroll * stride)
    {
        uint4 word[unroll];
        for (int u = 0; u < unroll; ++u)
        {
            if (i + u * stride < n) { word[u] = from[i + u * stride]; }
        }
        for (int u = 0; u < unroll; ++u)
        {
            if (i + u * stride < n) { to[i + u * stride] = word[u]; }
        }
    }
}

// How the blocks of a kernel write to the peer. For all threads: copy(), any number of times, and finish() before a signal.
class Stores
{
public:
    static constexpr std::size_t shared_bytes = 0;

    __device__ explicit Stores(const Watch&) {}
    __device__ void copy(const uint4* from, uint4* to, std::size_t n) { copy_words(from, to, n); }
    __device__ void finish() {}
};

constexpr unsigned stages = 12;
constexpr std::size_t stage_bytes = 8192;
constexpr std::size_t bulk_shared_bytes = stages * (stage_bytes + sizeof(std::uint64_t));

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
// By the bulk copy engine, through stages in shared memory: while six pieces come in, six before them go out. The block's first
// thread drives it. Blocks take consecutive pieces in turn.
class BulkCopy
{
public:
    static constexpr std::size_t shared_bytes = bulk_shared_bytes;

    __device__ explicit BulkCopy(const Watch& watch) : watch_(watch)
    {
        if (threadIdx.x != 0) { return; }
        for (unsigned s = 0; s < stages; ++s)
        {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier(s)) : "memory");
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // for the engine, which arrives at them
    }
    __device__ void copy(const uint4* from, uint4* to, std::size_t n)
    {
        if (threadIdx.x != 0) { return; }
        const std::size_t piece = min(stage_bytes / sizeof(uint4), (n + gridDim.x - 1) / gridDim.x), stride = gridDim.x * piece;
        std::size_t load_at = blockIdx.x * piece, store_at = load_at;
        for (unsigned k = 0; store_at < n; ++k)
        {
            if (load_at < n)
            {
                load(from + load_at, min(piece, n - load_at));
                load_at += stride;
            }
            if (k < ahead) { continue; }
            store(to + store_at, min(piece, n - store_at));
            store_at += stride;
        }
    }
    // M4: what was stored is there, not only read from the stages.
    __device__ void finish() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

private:
    static constexpr unsigned ahead = stages / 2; // pieces that come in

    // Returns the stage of the nth piece.
    __device__ static std::uint32_t stage(unsigned nth)
    {
        extern __shared__ uint4 memory[];
        return static_cast<std::uint32_t>(__cvta_generic_to_shared(memory)) + nth % stages * stage_bytes;
    }
    __device__ static std::uint32_t barrier(unsigned nth) { return stage(0) + stages * stage_bytes + nth % stages * 8; }

    __device__ void load(const uint4* from, std::size_t n)
    {
        const auto bytes = static_cast<std::uint32_t>(n * sizeof(uint4));
        // The piece that was in this stage has been read: all stores have but the last five.
        asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(stages - ahead - 1) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier(loaded_)), "r"(bytes) : "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(stage(loaded_)),
            "l"(from), "r"(bytes), "r"(barrier(loaded_))
            : "memory");
        ++loaded_;
    }
    __device__ void store(uint4* to, std::size_t n)
    {
        wait_loaded();
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(stage(stored_)),
                     "r"(static_cast<std::uint32_t>(n * sizeof(uint4)))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        ++stored_;
    }
    // For the piece that is stored next. In vain only if the engine fails: told as a message from this rank itself.
    __device__ void wait_loaded() const
    {
        Patience<CudaAtomics> patience(watch_);
        while (!is_loaded())
        {
            if (patience.next() == Verdict::Reached) { continue; }
            fail<CudaAtomics>(watch_, {watch_.rank, watch_.rank, 0, Awaited::Signal, stored_, 0, 0, *watch_.tag});
            return;
        }
    }
    __device__ bool is_loaded() const
    {
        std::uint32_t is;
        asm volatile("{\n"
                     ".reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n"
                     "}"
                     : "=r"(is)
                     : "r"(barrier(stored_)), "r"(stored_ / stages % 2)
                     : "memory");
        return is != 0;
    }

    const Watch& watch_;
    unsigned loaded_ = 0, stored_ = 0; // pieces so far
};
#else
class BulkCopy : public Stores // older GPUs have no such engine
{
public:
    static constexpr std::size_t shared_bytes = bulk_shared_bytes;
    using Stores::Stores;
};
#endif

enum class Turns
{
    Alternate, // the second answers each message: the time of one way
    Both       // both send, wait and unpack: the time of a round
};

// Purpose        messages of one size between two ranks
// Work           all blocks pack and unpack a part each
// Reads/Writes   local memory, own slots / local memory, the peer's slots, time and, where asked for, wrong words in host memory
// Orders         arrival counter among the blocks, then channel protocol; every block waits by itself
// Requires       all blocks of both sides running at the same time
// Cost           a message and its signal per epoch, each way
template <class How>
__global__ void messages_kernel(PairSide side, Word first_epoch, int epochs, Turns turns, const uint4* source, uint4* unpacked,
                                std::size_t bytes, unsigned long long* wrong, std::int64_t* ns)
{
    const std::size_t n = bytes / sizeof(uint4);
    How how(*side.watch);
    std::int64_t begin = 0;
    for (int k = 0; k < epochs; ++k)
    {
        const Word epoch = first_epoch + static_cast<Word>(k);
        const std::size_t at = static_cast<std::size_t>(k) * shift;
        const auto send = [&] {
            how.copy(source + at, reinterpret_cast<uint4*>(side.sender(epoch).slot()), n);
            how.finish();
            side.signal(epoch, static_cast<Word>(k) + 1);
        };
        if (turns == Turns::Both || side.is_first) { send(); }
        if (!side.wait(epoch)) { return; }
        const std::byte* const arrived = side.receiver(epoch).slot();
        if (wrong != nullptr) { count_wrong(arrived, bytes, side.receive.source, at * sizeof(uint4) / sizeof(Word), wrong); }
        if (turns == Turns::Both) { copy_words(reinterpret_cast<const uint4*>(arrived), unpacked, n); }
        else if (!side.is_first) { send(); }
        if (k == 0) { begin = CudaAtomics::nanoseconds(); } // both kernels run
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) { *ns = CudaAtomics::nanoseconds() - begin; }
}

// Purpose        how long a flag takes to a waiting thread: a signal without a message's blocks
// Work           one thread a rank
// Reads/Writes   own signals / the peer's, time in host memory
// Orders         channel protocol
// Requires       the peer's kernel running at the same time
// Cost           a flag per epoch, each way
__global__ void flags_kernel(PairSide side, Word first_epoch, int epochs, std::int64_t* ns)
{
    std::int64_t begin = 0;
    for (int k = 0; k < epochs; ++k)
    {
        const Word epoch = first_epoch + static_cast<Word>(k);
        if (side.is_first) { side.sender(epoch).signal(); }
        if (side.receiver(epoch).wait_arrived(*side.watch) != Verdict::Reached) { return; }
        if (!side.is_first) { side.sender(epoch).signal(); }
        if (k == 0) { begin = CudaAtomics::nanoseconds(); } // both kernels run
    }
    *ns = CudaAtomics::nanoseconds() - begin;
}

struct Span // of a block
{
    std::int64_t begin, end; // ns
};

// Purpose        the rate of stores to a peer
// Work           16 bytes a thread, or pieces of kilobytes
// Reads/Writes   local memory / the peer's, times in host memory
// Orders         the stores before the time of the end
// Requires       nothing
// Cost           bytes times repetitions
template <class How>
__global__ void __launch_bounds__(4 * threads)
    stores_kernel(const Watch* watch, const uint4* from, uint4* to, std::size_t n, int repetitions, Span* spans)
{
    const std::int64_t begin = CudaAtomics::nanoseconds();
    How how(*watch);
    for (int r = 0; r < repetitions; ++r) { how.copy(from, to, n); }
    how.finish();
    __threadfence_system(); // each thread's stores have come to the peer
    __syncthreads();
    if (threadIdx.x == 0) { spans[blockIdx.x] = {begin, CudaAtomics::nanoseconds()}; }
}

// Purpose        sums, one after another, without launches
// Work           one block a rank
// Reads/Writes   values, own slots / values, all slots, time in host memory
// Orders         as comm/gpu/collectives.cuh
// Requires       all ranks' kernels running at the same time
// Cost           epochs sums
__global__ void sums_kernel(GpuRankEnds ends, double* values, int n, int epochs, std::int64_t* ns)
{
    std::int64_t begin = 0;
    for (int k = 0; k < epochs; ++k)
    {
        send_to_all(ends, values, n);
        if (!receive_from_all(ends, values, n)) { return; }
        if (k == 0) { begin = CudaAtomics::nanoseconds(); } // all kernels run
    }
    if (threadIdx.x == 0) { *ns = CudaAtomics::nanoseconds() - begin; }
}

// Purpose        what a rank sends, before timing
// Work           grid-stride
// Reads/Writes   nothing / words
// Orders         nothing
// Requires       nothing
// Cost           n stores
__global__ void make_payload_kernel(std::uint64_t* words, std::size_t n, int rank)
{
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride)
    {
        words[i] = pattern(rank, i);
    }
}

// Purpose        has it arrived, after timing
// Work           grid-stride
// Reads/Writes   data / the number of wrong words in host memory
// Orders         nothing
// Requires       the source's kernel has ended
// Cost           as many loads
__global__ void check_payload_kernel(const std::byte* data, std::size_t bytes, int source, unsigned long long* wrong)
{
    count_wrong(data, bytes, source, 0, wrong);
}

// Purpose        when a queue gets here
// Work           one thread
// Reads/Writes   nothing / time in host memory
// Orders         nothing
// Requires       nothing
// Cost           a launch
__global__ void stamp_kernel(std::int64_t* ns) { *ns = CudaAtomics::nanoseconds(); }

} // namespace parhelion::comm_timing
