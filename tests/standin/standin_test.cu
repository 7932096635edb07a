// SPDX-License-Identifier: Apache-2.0
// The stand-in itself: what each operation of a kernel, a stream and a graph does, by closed forms; and that kernels which would
// hang a GPU end with an account. All but the latter also holds on a GPU.
#include "gpu.hpp"

#include "device/gpu/append.cuh"
#include "device/gpu/block_sum.cuh"
#include "device/gpu/device_buffer.hpp"
#include "device/gpu/graph.hpp"
#include "device/gpu/instructions.cuh"
#include "device/gpu/launch.cuh"
#include "device/gpu/launch_begun.cuh"
#include "trace/phases.hpp"

#include <cstring>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <numeric>

using namespace parhelion;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

constexpr unsigned all = 0xffffffff;

// Runs kernel(out, arguments...) and returns what it left in `count` elements, zero before.
template <class T, class Kernel, class... Arguments>
std::vector<T> result_of(Kernel kernel, LaunchShape shape, std::size_t count, const Arguments&... arguments)
{
    GpuQueue queue;
    DeviceBuffer<T> out(count);
    out.clear(queue);
    launch(queue, Phase::Output, kernel, shape, out.data(), arguments...);
    return out.to_vector(queue);
}

__global__ void number_kernel(int* out)
{
    const unsigned block = blockIdx.x + gridDim.x * blockIdx.y;
    out[block * blockDim.x + threadIdx.x] = static_cast<int>(1000 * blockIdx.y + 100 * blockIdx.x + threadIdx.x);
}

// Each thread passes what it has on to its right-hand neighbour, as often as there are threads: everyone gets his own back.
__global__ void pass_round_kernel(int* out)
{
    __shared__ int places[96];
    int mine = static_cast<int>(threadIdx.x);
    for (unsigned round = 0; round < blockDim.x - 1; ++round)
    {
        places[threadIdx.x] = mine;
        __syncthreads();
        mine = places[(threadIdx.x + 1) % blockDim.x];
        __syncthreads();
    }
    out[threadIdx.x] = mine;
}

__global__ void block_votes_kernel(int* out)
{
    const int t = static_cast<int>(threadIdx.x);
    const int count = __syncthreads_count(t % 3 == 0), any = __syncthreads_or(t == 70), none = __syncthreads_or(t == 7000);
    const int every = __syncthreads_and(t < 96), not_every = __syncthreads_and(t != 5);
    out[t] = count + 1000 * any + 10'000 * none + 100'000 * every + 1'000'000 * not_every;
}

__global__ void shuffles_kernel(int* out)
{
    const int l = static_cast<int>(threadIdx.x) % 32, mine = 10 * l;
    const int right[] = {__shfl_sync(all, mine, 31 - l) == 10 * (31 - l),
                         __shfl_sync(all, mine, 3, 8) == 10 * (l / 8 * 8 + 3),
                         __shfl_xor_sync(all, mine, 5) == 10 * (l ^ 5),
                         __shfl_up_sync(all, mine, 4) == 10 * (l < 4 ? l : l - 4),
                         __shfl_up_sync(all, mine, 1, 4) == 10 * (l % 4 == 0 ? l : l - 1),
                         __shfl_down_sync(all, mine, 7) == 10 * (l > 24 ? l : l + 7),
                         __shfl_sync(all, 0.5 * l, 9) == 4.5};
    int sum = 0;
    for (const int r : right) { sum = 2 * sum + r; }
    out[threadIdx.x] = sum;
}

__global__ void votes_kernel(unsigned* out)
{
    const int l = static_cast<int>(threadIdx.x);
    const unsigned thirds = __ballot_sync(all, l % 3 == 0);
    unsigned upper = 0;
    if (l >= 16) { upper = __ballot_sync(0xffff0000, l % 2 == 0); } // by half of the warp
    else { upper = __reduce_add_sync(0xffffu, 1u); }                // which the other half does not wait for
    __syncwarp();
    const bool right = __any_sync(all, l == 3) != 0 && __any_sync(all, l == 33) == 0 && __all_sync(all, l < 32) != 0 &&
                       __all_sync(all, l < 31) == 0 && __reduce_min_sync(all, l + 5) == 5 && __reduce_max_sync(all, l) == 31 &&
                       __reduce_or_sync(all, 1u << l) == all && __reduce_add_sync(all, l) == 496;
    out[l] = right ? thirds ^ upper : 0;
}

__global__ void early_leavers_kernel(int* out)
{
    if (threadIdx.x % 2 == 0) { return; } // who has ended is waited for by nobody
    __syncthreads();
    out[threadIdx.x] = __popc(__ballot_sync(all, 1));
}

__global__ void atomics_kernel(unsigned* out)
{
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(out, t);
    atomicMax(out + 1, t);
    atomicOr(out + 2, 1u << t % 32);
    atomicMin(reinterpret_cast<int*>(out + 3), -static_cast<int>(t));
    while (atomicCAS(out + 4, t, t + 1) != t) {} // in the order of their numbers
    atomicAnd(out + 5, ~t);
    if (atomicExch(out + 6, 1u) == 0) { atomicAdd(out + 7, 1u); }
}

__global__ void half_products_kernel(float* out)
{
    // j(r, k) = r + k / 8, i(c, k) = c - k: small enough to be exact.
    const int l = static_cast<int>(threadIdx.x);
    const auto word = [](float a, float b) {
        const _Float16 halves[2] = {static_cast<_Float16>(a), static_cast<_Float16>(b)};
        std::uint32_t bits;
        std::memcpy(&bits, halves, sizeof bits);
        return bits;
    };
    const auto j = [&](int row, int k) { return static_cast<float>(row) + static_cast<float>(k) / 8; };
    const int k = 2 * (l % 4), r = l / 4;
    const std::uint32_t rows[2] = {word(j(r, k), j(r, k + 1)), word(j(r + 8, k), j(r + 8, k + 1))};
    const std::uint32_t column = word(static_cast<float>(r - k), static_cast<float>(r - k - 1));
    float sums[4];
    multiply_halves(rows, column, sums);
    for (int n = 0; n < 4; ++n) { out[(r + n / 2 * 8) * 8 + l % 4 * 2 + n % 2] = sums[n]; }
}

__global__ void add_kernel(int* out, const int* from, int n) { *out += n * *from; }

__global__ void late_store_kernel(int* out, int value)
{
    for (int i = 0; i < 1000; ++i) { __nanosleep(100); }
    *out = value;
}

__global__ void publish_kernel(std::uint64_t* word, std::uint64_t value) { store_release_system(word, value); }
__global__ void await_kernel(std::uint64_t* word, std::uint64_t value)
{
    while (load_acquire_system(word) != value) {}
}
// The last block brings what the others wait for.
__global__ void blocks_wait_for_last_kernel(std::uint64_t* word)
{
    if (blockIdx.x == gridDim.x - 1) { store_release_system(word, 1); }
    else
    {
        while (load_acquire_system(word) == 0) {}
    }
}

__global__ void lost_thread_kernel(int* out)
{
    if (threadIdx.x != 40) { __syncthreads(); }
    else { *out = static_cast<int>(__ballot_sync(all, 1)); } // its warp is at the barrier
}
__global__ void mixed_barriers_kernel(int*)
{
    if (threadIdx.x < 32) { __syncthreads(); }
    else { __syncthreads_or(1); }
}

#if defined(__SANITIZE_ADDRESS__) // which tells what they read beyond
__global__ void read_kernel(int* out, const int* in, int place) { *out = in[place]; }
__global__ void read_shared_kernel(int* out, int place)
{
    PARHELION_DYNAMIC_SHARED(int, shared);
    *out = shared[place];
}
__global__ void read_local_kernel(int* out, int place)
{
    int local[4] = {1, 2, 3, 4};
    keep(local[0]);
    *out = static_cast<volatile int*>(local)[place];
}
#endif

class Failures : public ::testing::Test
{
protected:
    void TearDown() override
    {
        cudaDeviceReset();
        standin::Machine::instance().set_patience(std::chrono::seconds(30));
    }
    static std::string failure_of(GpuQueue& queue)
    {
        try
        {
            queue.synchronize();
        }
        catch (const DeviceError& error)
        {
            return error.what();
        }
        return "none";
    }
};

} // namespace

TEST(StandIn, every_thread_of_a_grid_runs_once)
{
    std::vector<int> expected;
    for (int y = 0; y < 2; ++y)
    {
        for (int x = 0; x < 3; ++x)
        {
            for (int t = 0; t < 40; ++t) { expected.push_back(1000 * y + 100 * x + t); }
        }
    }
    EXPECT_EQ(result_of<int>(number_kernel, {.blocks = 3, .threads = 40, .blocks_y = 2}, 240), expected);
}

TEST(StandIn, barriers_separate_what_is_before_from_what_is_after)
{
    std::vector<int> expected(96);
    for (int t = 0; t < 96; ++t) { expected[static_cast<std::size_t>(t)] = (t + 95) % 96; }
    EXPECT_EQ(result_of<int>(pass_round_kernel, {1, 96}, 96), expected);
}

TEST(StandIn, barriers_count_votes) { EXPECT_THAT(result_of<int>(block_votes_kernel, {1, 96}, 96), Each(32 + 1000 + 100'000)); }

TEST(StandIn, lanes_get_values_of_lanes) { EXPECT_THAT(result_of<int>(shuffles_kernel, {1, 64}, 64), Each(127)); }

TEST(StandIn, lanes_vote_and_reduce_also_in_groups)
{
    const std::vector<unsigned> out = result_of<unsigned>(votes_kernel, {1, 32}, 32);
    for (std::size_t l = 0; l < 32; ++l) { EXPECT_EQ(out[l], 0x49249249u ^ (l < 16 ? 16u : 0x55550000u)) << l; }
}

TEST(StandIn, nobody_waits_for_threads_that_have_ended)
{
    const std::vector<int> out = result_of<int>(early_leavers_kernel, {1, 64}, 64);
    for (std::size_t t = 0; t < 64; ++t) { EXPECT_EQ(out[t], t % 2 == 0 ? 0 : 16) << t; }
}

TEST(StandIn, atomics_return_the_old_value)
{
    const std::vector<unsigned> out = result_of<unsigned>(atomics_kernel, {4, 64}, 8);
    EXPECT_EQ(out, (std::vector<unsigned>{255 * 128, 255, all, static_cast<unsigned>(-255), 256, 0, 1, 1}));
}

TEST(StandIn, tiles_are_multiplied_as_by_tensor_cores)
{
    const std::vector<float> out = result_of<float>(half_products_kernel, {1, 32}, 128);
    for (int r = 0; r < 16; ++r)
    {
        for (int c = 0; c < 8; ++c)
        {
            double sum = 0;
            for (int k = 0; k < 8; ++k) { sum += (r + k / 8.0) * (c - k); }
            EXPECT_EQ(out[static_cast<std::size_t>(r * 8 + c)], sum) << r << " " << c;
        }
    }
}

TEST(StandIn, queues_run_in_order_and_wait_for_events)
{
    GpuQueue first, second;
    DeviceBuffer<int> values(2);
    values.upload(first, std::vector<int>{1, 0});
    GpuEvent ready(EventFor::Queues);
    launch(first, Phase::Output, add_kernel, {1, 1}, values.data(), values.data(), 4); // 1 + 4
    ready.record(first);
    wait_for(second, ready);
    launch(second, Phase::Output, add_kernel, {1, 1}, values.data() + 1, values.data(), 3); // 0 + 3 * 5
    EXPECT_EQ(values.to_vector(second), (std::vector<int>{5, 15}));
}

TEST(StandIn, replays_of_a_graph_use_what_is_in_memory_then)
{
    GpuQueue queue, side;
    DeviceBuffer<int> values(2);
    values.upload(queue, std::vector<int>{1, 0});
    GpuEvent fork(EventFor::Queues), join(EventFor::Queues);
    const GpuGraph graph(queue, [&] {
        launch(queue, Phase::Output, add_kernel, {1, 1}, values.data(), values.data(), 1); // doubles
        fork.record(queue);
        wait_for(side, fork);
        launch(side, Phase::Output, add_kernel, {1, 1}, values.data() + 1, values.data(), 1); // adds up
        join.record(side);
        wait_for(queue, join);
    });
    EXPECT_EQ(values.to_vector(queue), (std::vector<int>{1, 0})) << "captured, not executed";
    for (int i = 0; i < 5; ++i) { graph.replay(queue); }
    EXPECT_EQ(values.to_vector(queue), (std::vector<int>{32, 62}));
}

TEST(StandIn, a_replay_waits_for_what_was_queued_before_the_capture)
{
    GpuQueue queue;
    DeviceBuffer<int> value(1);
    launch(queue, Phase::Output, late_store_kernel, {1, 1}, value.data(), 7);
    const GpuGraph graph(queue, [&] { launch(queue, Phase::Output, add_kernel, {1, 1}, value.data(), value.data(), 1); });
    graph.replay(queue);
    EXPECT_EQ(value.to_vector(queue), std::vector<int>{14});
}

TEST(StandIn, what_is_captured_is_lost_if_memory_is_allocated_or_freed_meanwhile)
{
    GpuQueue queue;
    DeviceBuffer<int> value(1);
    const auto capture = [&](auto&& meanwhile) {
        const GpuGraph graph(queue, [&] {
            launch(queue, Phase::Output, add_kernel, {1, 1}, value.data(), value.data(), 1);
            meanwhile();
        });
    };
    EXPECT_THROW(capture([] { DeviceBuffer<int> made(1); }), DeviceError);
    EXPECT_THROW(capture([&] { cudaFree(value.data()); }), DeviceError);
    EXPECT_THROW(capture([] { cudaFree(nullptr); }), DeviceError);
    EXPECT_NO_THROW(capture([&] { // in lent memory, and none at all
        DeviceBuffer<int> lent, none;
        lent = DeviceBuffer<int>(value.data(), 1);
    }));
    cudaGetLastError();
}

TEST(StandIn, kernels_of_two_queues_wait_for_each_other)
{
    GpuQueue first, second;
    DeviceBuffer<std::uint64_t> words(2);
    words.clear(first);
    first.synchronize();
    for (std::uint64_t round = 1; round <= 100; ++round)
    {
        launch(first, Phase::Output, await_kernel, {3, 32}, words.data(), round);
        launch(first, Phase::Output, publish_kernel, {1, 1}, words.data() + 1, round);
        launch(second, Phase::Output, publish_kernel, {1, 1}, words.data(), round);
        launch(second, Phase::Output, await_kernel, {1, 64}, words.data() + 1, round);
    }
    EXPECT_THAT(words.to_vector(first), Each(100));
    second.synchronize();
}

TEST(StandIn, blocks_that_find_room_wait_for_each_other)
{
    EXPECT_THAT(result_of<std::uint64_t>(blocks_wait_for_last_kernel, {8, 1024}, 1), Each(1));
}

TEST(StandIn, an_event_passes_when_a_kernel_has_begun)
{
    GpuQueue queue, other;
    DeviceBuffer<std::uint64_t> word(1);
    word.clear(queue);
    GpuEvent begun(EventFor::Queues);
    launch(queue, Phase::Output, publish_kernel, {1, 1}, word.data(), std::uint64_t{1});
    gpu_api::Launch as = launch_as(queue, {2, 32});
    as.begun = begun.handle();
    gpu_check(gpu_api::launch(as, await_kernel, word.data(), std::uint64_t{2}), "launch");
    wait_for(other, begun); // and the kernel waits for what follows here
    launch(other, Phase::Output, publish_kernel, {1, 1}, word.data(), std::uint64_t{2});
    EXPECT_THAT(word.to_vector(queue), Each(2));
}

TEST(StandIn, fresh_memory_is_no_zeros)
{
    GpuQueue queue;
    EXPECT_THAT(DeviceBuffer<int>(3).to_vector(queue), Each(-1));
}

TEST_F(Failures, a_barrier_that_a_thread_does_not_reach)
{
    GpuQueue queue;
    DeviceBuffer<int> out(1);
    launch(queue, Phase::Output, lost_thread_kernel, {2, 64}, out.data());
    EXPECT_THAT(failure_of(queue), AllOf(HasSubstr("lost_thread_kernel, block 1 of 2"), HasSubstr("63 wait at __syncthreads()"),
                                         HasSubstr("1 wait at a vote")));
    EXPECT_THAT(failure_of(queue), HasSubstr("lost_thread_kernel")) << "as on a GPU, nothing works from then on";
}

TEST_F(Failures, two_barriers_at_once)
{
    GpuQueue queue;
    DeviceBuffer<int> out(1);
    launch(queue, Phase::Output, mixed_barriers_kernel, {1, 64}, out.data());
    EXPECT_THAT(failure_of(queue), HasSubstr("comes to __syncthreads_or() while others wait at __syncthreads()"));
}

TEST_F(Failures, a_wait_for_what_nobody_does)
{
    standin::Machine::instance().set_patience(std::chrono::milliseconds(50));
    GpuQueue queue;
    DeviceBuffer<std::uint64_t> word(1);
    word.clear(queue);
    launch(queue, Phase::Output, await_kernel, {1, 32}, word.data(), std::uint64_t{7});
    launch(queue, Phase::Output, publish_kernel, {1, 1}, word.data(), std::uint64_t{7});
    EXPECT_THAT(failure_of(queue),
                AllOf(HasSubstr("await_kernel, block 1 of 1, threads: 32 wait for another block or the host"),
                      HasSubstr("publish_kernel: 0 of 1 blocks have begun: it waits for what was queued before")));
}

// Sixteen blocks of 1024 threads have room. Of seventeen the last does not begin before another ends.
TEST_F(Failures, a_wait_for_a_block_that_has_not_begun)
{
    standin::Machine::instance().set_patience(std::chrono::milliseconds(50));
    GpuQueue queue;
    DeviceBuffer<std::uint64_t> word(1);
    word.clear(queue);
    launch(queue, Phase::Output, blocks_wait_for_last_kernel, {17, 1024}, word.data());
    EXPECT_THAT(failure_of(queue),
                HasSubstr("blocks_wait_for_last_kernel: 16 of 17 blocks have begun, for others there is no room"));
}

#if defined(__SANITIZE_ADDRESS__)
// One element beyond, in each kind of memory; one less is in order.
TEST(AddressSanitizer, tells_of_kernels_that_read_beyond_a_buffer)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe"); // kernels run in threads
    const auto read_buffer = [](int place) {
        GpuQueue queue;
        DeviceBuffer<int> in(7);
        in.clear(queue);
        return result_of<int>(read_kernel, {1, 1}, 1, static_cast<const int*>(in.data()), place);
    };
    const auto read_shared = [](int place) { return result_of<int>(read_shared_kernel, {1, 1, 7 * sizeof(int)}, 1, place); };
    const auto read_local = [](int place) { return result_of<int>(read_local_kernel, {1, 1}, 1, place); };
    EXPECT_THAT(read_buffer(6), Each(0));
    EXPECT_DEATH(read_buffer(7), "heap-buffer-overflow");
    EXPECT_THAT(read_shared(6), Each(-1));
    EXPECT_DEATH(read_shared(7), "heap-buffer-overflow");
    EXPECT_THAT(read_local(3), Each(4));
    EXPECT_DEATH(read_local(4), "stack-buffer-overflow|insufficient space"); // the undefined-behaviour sanitizer may be first
}
#endif
