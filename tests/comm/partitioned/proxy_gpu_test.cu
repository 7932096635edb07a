// SPDX-License-Identifier: Apache-2.0
// What the proxy of the progression engine promises beside what partitioned_gpu_test.cu asks of both mechanisms: it works where
// no multiprocessor is free, its failure ends all waits, and its core is known.
#include "comm/gpu_ranks.cuh"
#include "comm/partitioned/gpu/partitioned.cuh"

#include <array>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <thread>

using namespace parhelion;
using namespace parhelion::test;

namespace {

constexpr int words = 4096;
constexpr int most_threads = 1024; // of a block

// Rank 0 sends to rank 1, which has the same GPU: one partition, by a queue of its own.
struct Pair
{
    explicit Pair(const GpuWorldOptions& options)
        : world({0, 0}, options), partitioned(world), window(world.allocate(std::array{1}, bytes)), out(words), send(init()),
          receive(partitioned.precv_init(1, window, {1, bytes}, {0}))
    {
    }
    ~Pair()
    {
        source.synchronize();
        destination.synchronize();
    }
    GpuSendRequest init()
    {
        return partitioned.psend_init(0, reinterpret_cast<const std::byte*>(out.data()), {1, bytes}, {1}, {},
                                      Mechanism::ProgressionEngine);
    }
    const Word* in() { return reinterpret_cast<const Word*>(world.data(1, window)); }

    static constexpr std::size_t bytes = words * sizeof(Word);
    GpuWorld world;
    GpuPartitioned partitioned;
    Window window;
    DeviceBuffer<Word> out;
    GpuSendRequest send;
    GpuReceiveRequest receive;
    GpuQueue source{0}, destination{0};
};

// Two blocks of the kernels below fill a multiprocessor: no thread is left, and so no room for a block of any kernel. The launch
// bounds keep the registers of both low enough for that. send_when_full_kernel took 40 once: its block kept a multiprocessor to
// itself, and the last block of the other kernel never began.

// When all blocks of the other kernel run, sends.
__global__ void __launch_bounds__(most_threads, 2)
    send_when_full_kernel(SendPrequest* request, Word* out, Word* here, Word others)
{
    const auto threads = static_cast<int>(blockDim.x);
    for (int i = static_cast<int>(threadIdx.x); i < words; i += threads) { out[i] = payload_word(1, 0, 1, i); }
    bool has_failed = false;
    if (threadIdx.x == 0)
    {
        has_failed =
            wait_until<CudaAtomics>(here, *request->watch, {0, 1, 0, Awaited::Signal, others, 0, 0, 0}) != Verdict::Reached;
    }
    if (!__syncthreads_or(has_failed)) { block_pready(*request, 0); }
}

// Blocks that leave no room for any other wait until the message is there.
__global__ void __launch_bounds__(most_threads, 2)
    receive_when_full_kernel(ReceivePrequest* request, const Word* in, Word* here, unsigned long long* errors)
{
    const auto threads = static_cast<int>(blockDim.x);
    if (threadIdx.x == 0) { CudaAtomics::fetch_add_acq_rel_device(here, 1); }
    if (!block_wait_parrived(*request, 0)) { return; }
    for (int i = static_cast<int>(threadIdx.x); i < words; i += threads)
    {
        if (in[i] != payload_word(1, 0, 1, i)) { atomicAdd_system(errors, 1ull); }
    }
}

template <class Kernel>
int blocks_per_multiprocessor(Kernel kernel, int threads)
{
    int blocks = 0;
    EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0), cudaSuccess);
    return blocks;
}

class GpuProxies : public OnOneGpu
{
};

} // namespace

TEST_F(GpuProxies, carry_messages_while_no_multiprocessor_has_room_for_a_block)
{
    int threads = 0;
    ASSERT_EQ(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0), cudaSuccess);
    threads /= 2;
    ASSERT_LE(threads, most_threads);
    ASSERT_EQ(blocks_per_multiprocessor(send_when_full_kernel, threads), 2);
    ASSERT_EQ(blocks_per_multiprocessor(receive_when_full_kernel, threads), 2);
    Pair pair(options_with(5s));
    const int blocks = 2 * pair.source.multiprocessors() - 1; // and one of the source's
    DeviceBuffer<Word> here(1);
    here.clear(pair.source);
    PinnedBuffer<unsigned long long> errors(1);
    errors[0] = 0;
    pair.receive.start(pair.destination);
    pair.send.start(pair.source);
    pair.destination.synchronize();
    launch(pair.source, PhaseTag{}, send_when_full_kernel, {1, threads}, pair.send.prequest(), pair.out.data(), here.data(),
           static_cast<Word>(blocks));
    launch(pair.destination, PhaseTag{}, receive_when_full_kernel, {blocks, threads}, pair.receive.prequest(), pair.in(),
           here.data(), errors.data());
    pair.source.synchronize();
    pair.destination.synchronize();
    EXPECT_EQ(failure_of(pair.world), "");
    EXPECT_EQ(errors[0], 0u);
}

namespace {

// What is told when the proxy does this with the second message: the source's, after the destination's credit.
std::string told_if_proxy(const std::function<void()>& does, std::chrono::nanoseconds deadline)
{
    std::atomic<int> messages = 0;
    GpuWorldOptions options = options_with(deadline);
    options.hooks.before_each_put = [&](const Put&) {
        if (++messages == 2) { does(); }
    };
    Pair pair(options);
    pair.receive.start(pair.destination);
    pair.send.start(pair.source);
    pair.send.pready_all(pair.source);
    pair.send.wait(pair.source);
    pair.receive.wait(pair.destination);
    pair.source.synchronize(); // ends, whatever the proxy does
    pair.destination.synchronize();
    return failure_of(pair.world);
}

} // namespace

TEST_F(GpuProxies, that_fail_end_all_waits_with_their_sentence)
{
    const std::string told = told_if_proxy([] { throw DeviceError("the copy was refused"); }, 20s);
    EXPECT_EQ(told, "The proxy of GPU 0 has failed: the copy was refused");
}

namespace {

__global__ void failing_kernel() { __trap(); }

// Nothing works after a kernel's failure; so in a process of its own.
[[noreturn]] void end_with_failed_gpu()
{
    std::atomic<bool> has_failed = false;
    GpuWorldOptions options = options_with(20s);
    options.hooks.before_each_put = [&](const Put&) {
        while (!has_failed) { std::this_thread::sleep_for(1ms); }
    };
    Pair pair(options);
    pair.receive.start(pair.destination);
    pair.send.start(pair.source);
    pair.send.pready_all(pair.source);
    launch(pair.destination, PhaseTag{}, failing_kernel, {1, 32}); // the source waits for the credit
    EXPECT_THROW(pair.destination.synchronize(), DeviceError);
    has_failed = true; // now the proxy may carry the credit
    std::string told;
    for (int i = 0; i < 5000 && told.empty(); ++i)
    {
        std::this_thread::sleep_for(1ms);
        told = failure_of(pair.world);
    }
    std::cerr << told << std::endl;
    std::_Exit(testing::Test::HasFailure() ? 1 : 0);
}

} // namespace

TEST_F(GpuProxies, whose_gpu_fails_end_all_waits_with_their_sentence)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(end_with_failed_gpu(), testing::ExitedWithCode(0), "^The proxy of GPU 0 has failed: .*(launch failure|a trap)");
}

TEST_F(GpuProxies, that_have_no_turn_end_no_wait_later_than_its_deadline)
{
    std::atomic<bool> has_turn = false;
    const std::string told = told_if_proxy(
        [&] {
            for (int i = 0; i < 200 && !has_turn; ++i) { std::this_thread::sleep_for(10ms); }
        },
        300ms);
    EXPECT_NE(told.find("timed out after 0.3 s waiting for "), std::string::npos) << told;
}

TEST_F(GpuProxies, have_places_for_all_signals_or_refuse)
{
    GpuWorldOptions options = options_with(10s);
    options.signal_slots = std::size_t{1} << 14;
    GpuWorld world({0, 0}, options);
    GpuProxy& proxy = world.proxy(0);
    EXPECT_EQ(&proxy, &world.proxy(1)); // one for each GPU
    const auto all = static_cast<int>(GpuProxyOptions{}.places);
    proxy.reserve(all - 96);
    EXPECT_THROW(proxy.reserve(97), CommError);
    proxy.reserve(96);
    proxy.release(1);
    EXPECT_NO_THROW(proxy.reserve(1));
}

TEST_F(GpuProxies, are_on_cores_that_are_told)
{
    GpuWorld world({0, 0}, options_with(10s));
    EXPECT_TRUE(world.proxies().empty());
    const GpuProxy& proxy = world.proxy(0);
    ASSERT_EQ(world.proxies().size(), 1u);
    const HelperPlace& place = world.proxies()[0];
    EXPECT_EQ(place.name, proxy.name());
    EXPECT_EQ(place.is_alone, place.core >= 0);
}
