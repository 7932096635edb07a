// SPDX-License-Identifier: Apache-2.0
// Memory that GPUs share, and worlds that come and go.
#include "comm/gpu/collectives.hpp"
#include "comm/gpu_ranks.cuh"
#include "device/gpu/graph.hpp"
#include "support/stall.cuh"

#include <filesystem>

using namespace parhelion;
using namespace parhelion::test;
using namespace std::chrono_literals;

namespace {

__global__ void fill_kernel(std::uint64_t* words, std::size_t n, std::uint64_t seed)
{
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * block_threads + threadIdx.x;
    if (i < n) { words[i] = hash(seed + i); }
}
__global__ void compare_kernel(const std::uint64_t* words, std::size_t n, std::uint64_t seed, unsigned long long* errors)
{
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * block_threads + threadIdx.x;
    if (i < n && words[i] != hash(seed + i)) { atomicAdd_system(errors, 1ull); }
}

std::ptrdiff_t open_files()
{
    const std::filesystem::directory_iterator files("/proc/self/fd");
    return std::distance(begin(files), end(files));
}

std::size_t free_bytes()
{
    std::size_t free = 0, total = 0;
    gpu_check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return free;
}

class GpuArenas : public OnOneGpu
{
protected:
    void SetUp() override { take_gpus(1, 8); }
};
class GpuWorlds : public OnOneGpu
{
};

} // namespace

TEST_F(GpuArenas, are_written_and_read_by_every_gpu)
{
    constexpr std::size_t n = 300000;
    const int gpus = gpu_count();
    std::vector<int> all;
    std::vector<std::unique_ptr<GpuQueue>> queues;
    for (int g = 0; g < gpus; ++g)
    {
        all.push_back(g);
        queues.push_back(std::make_unique<GpuQueue>(g));
    }
    PinnedBuffer<unsigned long long> errors(1);
    errors[0] = 0;
    for (int owner = 0; owner < gpus; ++owner)
    {
        const GpuArena arena(owner, n * sizeof(std::uint64_t), all);
        auto* const words = reinterpret_cast<std::uint64_t*>(arena.data());
        for (int writer = 0; writer < gpus; ++writer)
        {
            const auto seed = static_cast<std::uint64_t>(owner * 100 + writer) << 32;
            launch(*queues[static_cast<std::size_t>(writer)], PhaseTag{}, fill_kernel, one_thread_each(n, block_threads), words,
                   n, seed);
            queues[static_cast<std::size_t>(writer)]->synchronize();
            for (const auto& queue : queues)
            {
                launch(*queue, PhaseTag{}, compare_kernel, one_thread_each(n, block_threads), words, n, seed, errors.data());
                queue->synchronize();
            }
        }
    }
    EXPECT_EQ(errors[0], 0u);
}

TEST_F(GpuArenas, are_zero_at_first)
{
    const int here[] = {0};
    constexpr std::size_t granules = std::size_t{3} << 21; // of 2 MiB: all that the arena has
    for (int i = 0; i < 3; ++i)
    {
        GpuQueue queue;
        const GpuArena arena(0, granules, here);
        std::vector<std::byte> bytes(granules, std::byte{1});
        gpu_memory::to_host(queue, bytes.data(), arena.data(), bytes.size());
        queue.synchronize();
        EXPECT_EQ(std::count(bytes.begin(), bytes.end(), std::byte{0}), static_cast<std::ptrdiff_t>(bytes.size()));
        gpu_memory::set_bytes(queue, arena.data(), 0xFF, granules); // for the next one to find
        queue.synchronize();
    }
}

TEST_F(GpuArenas, give_back_what_they_take)
{
    constexpr std::size_t bytes = 16 << 20, repetitions = 1000;
    // By itself, and with the others, if there are any: two kinds of memory.
    std::vector<int> all;
    for (int g = 0; g < gpu_count(); ++g) { all.push_back(g); }
    for (const std::vector<int>& accessed_by : {std::vector<int>{0}, all})
    {
        GpuQueue queue;
        const std::size_t free = free_bytes(), held = gpu_memory::held();
        const std::ptrdiff_t files = open_files();
        for (std::size_t i = 0; i < repetitions; ++i)
        {
            const GpuArena arena(0, bytes, accessed_by);
            EXPECT_GE(gpu_memory::held(), held + bytes);
        }
        EXPECT_EQ(open_files(), files);
        EXPECT_EQ(gpu_memory::held(), held);
        EXPECT_GT(free_bytes() + repetitions * bytes / 2, free); // whatever else runs on this GPU
    }
}

TEST_F(GpuWorlds, give_back_what_they_take)
{
    constexpr std::size_t repetitions = 100;
    GpuWorldOptions options;
    options.payload_bytes = 64 << 20;
    {
        GpuWorld warm_up({0, 0}, options);
    }
    const std::size_t free = free_bytes();
    const std::ptrdiff_t files = open_files();
    for (std::size_t i = 0; i < repetitions; ++i)
    {
        GpuWorld world({0, 0}, options);
        const GpuCollective collective(world, "sum", 64);
        for (const int rank : {0, 1}) { barrier_arrive(world.setup_queue(rank), collective, rank); }
        for (const int rank : {0, 1}) { barrier_wait(world.setup_queue(rank), collective, rank); }
        world.setup_queue(0).synchronize();
        ASSERT_NO_THROW(world.check());
    }
    EXPECT_EQ(open_files(), files);
    EXPECT_GT(free_bytes() + repetitions * options.payload_bytes, free);
}

TEST_F(GpuWorlds, hand_out_symmetric_memory_that_does_not_overlap_and_takes_none_twice)
{
    GpuWorldOptions options;
    options.payload_bytes = 1 << 20;
    GpuWorld world({0, 0, 0}, options);
    const Window a = world.allocate(1000), b = world.allocate(300000);
    EXPECT_GE(a.bytes, 1000u);
    EXPECT_TRUE(a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset);
    EXPECT_EQ(world.data(2, b) - world.data(2, a), world.data(0, b) - world.data(0, a));
    EXPECT_THROW(world.allocate(900000), CommError);
    world.release(b);
    EXPECT_EQ(world.allocate(300000).offset, b.offset);
}

TEST_F(GpuWorlds, refuse_channels_when_the_signal_slots_are_used_up)
{
    GpuWorldOptions options;
    options.signal_slots = 5;
    GpuWorld world({0, 0}, options);
    for (int i = 0; i < 2; ++i) { world.open("few " + std::to_string(i), 0, 1, {2, Credits::No}); }
    EXPECT_THROW(world.open("few 2", 0, 1, {2, Credits::No}), CommError);
}

TEST_F(GpuWorlds, wait_for_a_gpu_that_is_stuck_for_twice_the_deadline_unless_it_is_alone)
{
    using Clock = std::chrono::steady_clock;
    GpuWorldOptions options;
    options.deadline = 100ms;
    for (const auto how : {GpuWorld::HostWait::Sleeps, GpuWorld::HostWait::Spins})
    {
        for (const int ranks : {1, 2})
        {
            SCOPED_TRACE(testing::Message() << ranks << " rank(s)");
            GpuWorld world(std::vector<int>(static_cast<std::size_t>(ranks), 0), options);
            GpuQueue queue;
            GpuEvent soon, late;
            EXPECT_NO_THROW(world.wait(0, soon, how)) << "never recorded";
            stall(queue, 150ms); // longer than the deadline of a kernel
            soon.record(queue);
            stall(queue, 1s);
            late.record(queue);
            EXPECT_NO_THROW(world.wait(0, soon, how));
            EXPECT_TRUE(soon.has_passed());
            EXPECT_FALSE(late.has_passed());
            const Clock::time_point begin = Clock::now();
            if (ranks == 1)
            {
                EXPECT_NO_THROW(world.wait(0, late, how));
                continue;
            }
            try
            {
                world.wait(1, late, how);
                ADD_FAILURE() << "no error";
            }
            catch (const CommError& error)
            {
                EXPECT_STREQ(error.what(),
                             "The host timed out after 0.2 s waiting for rank 1: its GPU is stuck, or one that it waits for.");
            }
            EXPECT_GE(Clock::now() - begin, 200ms);
            EXPECT_LT(Clock::now() - begin, 600ms);
        }
    }
}
