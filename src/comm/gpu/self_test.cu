// SPDX-License-Identifier: Apache-2.0
#include "comm/gpu/self_test.hpp"

#include "base/error.hpp"
#include "comm/gpu/pair.cuh"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

namespace parhelion {

namespace {

constexpr int threads = 256, words = 512, rounds = 200;
// The size and shape of the test of a link's rate. 32 blocks saturate NVLink (bench/results/comm.jsonl: stores).
constexpr std::size_t rate_bytes = std::size_t{4} << 20;
constexpr int rate_blocks = 32, rate_rounds = 10;
constexpr int timings = 3; // number of repetitions; the best time counts, as other load can only add time

__device__ std::uint64_t pattern(int source, int destination, int i)
{
    const auto seed = static_cast<std::uint64_t>(source * GpuWorld::most_ranks + destination) << 32;
    return (seed + static_cast<std::uint64_t>(i) + 1) * 0x9E3779B97F4A7C15;
}

struct PairResult
{
    int wrong; // number of words that differed
    std::int64_t ns;
};

// Purpose        tests whether two ranks can exchange messages, and measures the time of a signal
// Work           each rank runs one block
// Reads/Writes   reads its own slots, writes the peer's slots and a result in host memory
// Orders         those of the channel protocol (comm/core/protocol.hpp)
// Requires       that the peer's kernel runs at the same time
// Cost           one message each way, then only signals
__global__ void self_test_kernel(PairSide side, Word epoch, int epochs, PairResult* result)
{
    const int thread = static_cast<int>(threadIdx.x);
    auto* const to = reinterpret_cast<std::uint64_t*>(side.sender(epoch).slot());
    for (int i = thread; i < words; i += threads) { to[i] = pattern(side.send.source, side.send.destination, i); }
    side.signal(epoch, 1);
    if (!side.wait(epoch)) { return; }
    const auto* const from = reinterpret_cast<const std::uint64_t*>(side.receiver(epoch).slot());
    int wrong = 0;
    for (int i = thread; i < words; i += threads)
    {
        wrong += __syncthreads_count(from[i] != pattern(side.receive.source, side.receive.destination, i));
    }
    if (thread != 0) { return; }
    const std::int64_t begin = CudaAtomics::nanoseconds();
    for (int k = 1; k < epochs; ++k)
    {
        const Word e = epoch + static_cast<Word>(k);
        if (side.is_first) { side.sender(e).signal(); }
        if (side.receiver(e).wait_arrived(*side.watch) != Verdict::Reached) { return; }
        if (!side.is_first) { side.sender(e).signal(); }
    }
    *result = {wrong, CudaAtomics::nanoseconds() - begin};
}

// Purpose        measures how fast two ranks store into each other's memory at the same time
// Work           each rank runs some blocks; each thread stores 16 bytes at a time, grid-stride
// Reads/Writes   reads nothing, writes the peer's slots and a time in host memory
// Orders         those of the channel protocol: a message begins when the peer's previous one has arrived
// Requires       that the peer's kernel and all blocks of this one run at the same time
// Cost           `epochs` messages each way
__global__ void __launch_bounds__(threads) rate_kernel(PairSide side, Word epoch, int epochs, std::int64_t* ns)
{
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * threads;
    const std::uint32_t thread = blockIdx.x * threads + threadIdx.x;
    std::int64_t begin = 0;
    for (int k = 0; k < epochs; ++k)
    {
        const Word e = epoch + static_cast<Word>(k);
        auto* const to = reinterpret_cast<uint4*>(side.sender(e).slot());
        for (std::size_t i = thread; i < rate_bytes / sizeof(uint4); i += stride) { to[i] = {thread, thread, thread, thread}; }
        side.signal(e, static_cast<Word>(k) + 1);
        if (!side.wait(e)) { return; }
        if (k == 0) { begin = CudaAtomics::nanoseconds(); } // time from which both kernels run
    }
    if (thread == 0) { *ns = CudaAtomics::nanoseconds() - begin; }
}

struct Exchange
{
    Exchange(GpuWorld& world, int first, int second) : pair(world, "self test", first, second, words * sizeof(std::uint64_t))
    {
        results[0] = results[1] = {words, 0};
    }
    PinnedBuffer<PairResult> results{2}; // one result per side
    GpuPair pair;
};

PairTest test_pair(GpuWorld& world, int first, int second)
{
    auto exchange = std::make_unique<Exchange>(world, first, second);
    PairResult* const of_first = exchange->results.data();
    try
    {
        exchange->pair.run(self_test_kernel, {1, threads}, 1 + rounds,
                           std::array{std::tuple(of_first), std::tuple(of_first + 1)});
        world.check();
    }
    catch (const CommError&)
    {
        if (!exchange->pair.ends_soon()) { static_cast<void>(exchange.release()); }
        throw;
    }
    if (of_first[0].wrong + of_first[1].wrong > 0)
    {
        throw CommError("Self-test: messages between GPUs " + std::to_string(world.device(first)) + " and " +
                        std::to_string(world.device(second)) + " do not arrive as they were sent.");
    }
    const GpuLink link = gpu_link(world.device(first), world.device(second));
    return {first, second, link.has_native_atomics, static_cast<double>(of_first->ns) * 1e-3 / (2 * rounds)};
}

} // namespace

namespace {

double store_gb_s(GpuWorld& world, int first, int second)
{
    PinnedBuffer<std::int64_t> ns(2);
    double best = 0;
    auto pair = std::make_unique<GpuPair>(world, "rate of a link", first, second, rate_bytes);
    try
    {
        for (int i = 0; i < timings; ++i)
        {
            ns[0] = ns[1] = 0;
            pair->run(rate_kernel, {rate_blocks, threads}, 1 + rate_rounds,
                      std::array{std::tuple(ns.data()), std::tuple(ns.data() + 1)});
            world.check();
            best = std::max(best, static_cast<double>(rate_rounds * rate_bytes) / static_cast<double>(std::max(ns[0], ns[1])));
        }
    }
    catch (const CommError&)
    {
        if (!pair->ends_soon()) { static_cast<void>(pair.release()); }
        throw;
    }
    return best;
}

LinkSpeed time_links_now(const std::vector<int>& devices)
{
    LinkSpeed slowest{0, std::numeric_limits<double>::infinity(), ""};
    GpuWorldOptions options;
    options.deadline = std::chrono::seconds(2);
    options.payload_bytes = devices.size() * 2 * (rate_bytes + (std::size_t{1} << 20));
    std::unique_ptr<GpuWorld> made;
    try
    {
        made = std::make_unique<GpuWorld>(devices, options);
        GpuWorld& world = *made;
        std::vector<PairTest> best = self_test(world);
        for (int i = 1; i < timings; ++i)
        {
            const std::vector<PairTest> again = self_test(world);
            for (std::size_t k = 0; k < best.size(); ++k) { best[k].signal_us = std::min(best[k].signal_us, again[k].signal_us); }
        }
        for (const PairTest& test : best)
        {
            slowest.signal_us = std::max(slowest.signal_us, test.signal_us);
            slowest.store_gb_s = std::min(slowest.store_gb_s, store_gb_s(world, test.first, test.second));
        }
    }
    catch (const SystemError& error)
    {
        slowest.trouble = error.what();
        static_cast<void>(made.release()); // never freed: a GPU may hang, and its kernel may still use this memory
    }
    return slowest;
}

} // namespace

LinkSpeed time_links(const std::vector<int>& devices)
{
    PARHELION_EXPECTS(devices.size() >= 2);
    static std::mutex mutex;
    static std::map<std::vector<int>, LinkSpeed> known;
    const std::lock_guard lock(mutex);
    const auto found = known.find(devices);
    return found != known.end() ? found->second : known.emplace(devices, time_links_now(devices)).first->second;
}

std::vector<PairTest> self_test(GpuWorld& world)
{
    std::vector<int> ranks; // the first rank of each GPU
    for (int rank = 0; rank < world.ranks(); ++rank)
    {
        const auto is_of_same = [&](int other) { return world.device(other) == world.device(rank); };
        if (std::none_of(ranks.begin(), ranks.end(), is_of_same)) { ranks.push_back(rank); }
    }
    if (ranks.size() == 1 && world.ranks() > 1) { ranks = {0, 1}; }
    std::vector<PairTest> tests;
    for (auto first = ranks.begin(); first != ranks.end(); ++first)
    {
        for (auto second = first + 1; second != ranks.end(); ++second) { tests.push_back(test_pair(world, *first, *second)); }
    }
    return tests;
}

} // namespace parhelion
