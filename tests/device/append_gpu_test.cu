// SPDX-License-Identifier: Apache-2.0
// Lists that many blocks write: everyone with an entry gets a place of its own, and neighbours stay together.
#include "device/gpu/append.cuh"

#include "device/gpu/device_buffer.hpp"
#include "device/gpu/launch.cuh"
#include "support/gpu_test.hpp"

#include <algorithm>

using namespace parhelion;

namespace {

__host__ __device__ bool is_listed(int list, int thread) { return list == 0 ? thread * 7919 % 5 < 2 : thread / 100 % 3 == 0; }

// Two lists, one after the other at once. places[list * threads + thread].
__global__ void append_kernel(std::int32_t* counts, std::int32_t* places)
{
    const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
              threads = static_cast<int>(gridDim.x * blockDim.x);
    const std::int32_t first = append(is_listed(0, thread), counts), second = append(is_listed(1, thread), counts + 1);
    places[thread] = first;
    places[threads + thread] = second;
}

void expect_list(int list, std::int32_t begin, std::int32_t end, const std::int32_t* places, LaunchShape shape)
{
    const int threads = shape.blocks * shape.threads;
    std::vector<std::int32_t> taken;
    for (int t = 0; t < threads; ++t)
    {
        ASSERT_EQ(places[t] >= 0, is_listed(list, t)) << "thread " << t;
        if (places[t] >= 0) { taken.push_back(places[t]); }
    }
    // Entries of a block are in the order of its threads, without a gap.
    for (int block = 0; block < shape.blocks; ++block)
    {
        std::int32_t next = -1;
        for (int t = block * shape.threads; t < (block + 1) * shape.threads; ++t)
        {
            if (places[t] < 0) { continue; }
            if (next >= 0) { EXPECT_EQ(places[t], next) << "thread " << t; }
            next = places[t] + 1;
        }
    }
    std::sort(taken.begin(), taken.end());
    ASSERT_EQ(static_cast<std::int32_t>(taken.size()), end - begin);
    for (std::size_t i = 0; i < taken.size(); ++i) { ASSERT_EQ(taken[i], begin + static_cast<std::int32_t>(i)); }
}

class Append : public test::GpuTest
{
};

} // namespace

TEST_F(Append, gives_each_entry_the_next_place_of_the_list)
{
    GpuQueue queue;
    for (const LaunchShape shape : {LaunchShape{1, 32}, LaunchShape{9, 96}, LaunchShape{20, 256}, LaunchShape{3, 1024}})
    {
        SCOPED_TRACE(testing::Message() << shape.blocks << " blocks of " << shape.threads);
        const std::vector<std::int32_t> before = {5, 70}; // lists that already have entries
        DeviceBuffer<std::int32_t> counts, places(static_cast<std::size_t>(2 * shape.blocks * shape.threads));
        counts.upload(queue, before);
        launch(queue, PhaseTag{}, append_kernel, shape, counts.data(), places.data());
        const std::vector<std::int32_t> after = counts.to_vector(queue), found = places.to_vector(queue);
        for (int list = 0; list < 2; ++list)
        {
            const auto l = static_cast<std::size_t>(list);
            expect_list(list, before[l], after[l], found.data() + list * shape.blocks * shape.threads, shape);
        }
    }
}
