// SPDX-License-Identifier: Apache-2.0
// What simulations of one process share on a GPU: the limit of a kernel's shared memory, and the memory itself.
#include "device/device_memory_error.hpp"
#include "device/gpu/device_buffer.hpp"
#include "device/gpu/instructions.cuh"
#include "device/gpu/launch.cuh"
#include "support/gpu_test.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <thread>

using namespace parhelion;

namespace {

__global__ void end_of_shared_kernel(int words, int* last)
{
    PARHELION_DYNAMIC_SHARED(int, shared);
    shared[words - 1] = words;
    *last = shared[words - 1];
}

class SharedByRuns : public test::GpuTest
{
};

// A system that needs more, one that needs less, and the first one's launch, as they come when both begin at a time.
TEST_F(SharedByRuns, limit_of_shared_memory_stays_when_another_simulation_needs_less)
{
    GpuQueue queue;
    DeviceBuffer<int> last(1);
    constexpr std::size_t more = 90 * 1024, less = 60 * 1024;
    allow_shared_memory(queue, end_of_shared_kernel, more);
    allow_shared_memory(queue, end_of_shared_kernel, less);
    const int words = more / sizeof(int);
    launch(queue, PhaseTag{}, end_of_shared_kernel, {1, 1, more}, words, last.data());
    EXPECT_EQ(last.to_vector(queue)[0], words);
}

TEST_F(SharedByRuns, too_little_memory_is_an_error_of_its_own_and_leaves_nothing)
{
    const std::size_t before = gpu_memory::held();
    DeviceBuffer<std::byte> buffer;
    EXPECT_THROW(buffer.resize(std::size_t{1} << 42), DeviceMemoryError);
    EXPECT_EQ(gpu_memory::held(), before);
    buffer.resize(1024); // later allocations work
    EXPECT_EQ(buffer.size(), 1024U);
}

TEST_F(SharedByRuns, memory_is_counted_for_each_thread)
{
    const std::ptrdiff_t before = gpu_memory::allocated_by_thread();
    const DeviceBuffer<std::byte> own(1000);
    std::jthread([] {
        const DeviceBuffer<std::byte> of_other(5000);
        EXPECT_EQ(gpu_memory::allocated_by_thread(), 5000);
    }).join();
    EXPECT_EQ(gpu_memory::allocated_by_thread() - before, 1000);
}

} // namespace
