// SPDX-License-Identifier: Apache-2.0
// Sums over blocks, by the closed forms of sums of integers, which doubles hold exactly.
#include "device/gpu/block_sum.cuh"

#include "device/gpu/device_buffer.hpp"
#include "device/gpu/launch.cuh"
#include "support/gpu_test.hpp"

using namespace parhelion;

namespace {

// Of t, t^2 and 1 - t over all threads t; the last again, at once.
template <class Sum>
__global__ void sum_kernel(Sum* totals)
{
    const auto t = static_cast<Sum>(blockIdx.x * blockDim.x + threadIdx.x);
    const Sum values[3] = {t, t * t, 1 - t}, again[1] = {1 - t};
    add_block_sums(values, totals);
    add_block_sums(again, totals + 3);
}

template <class Sum>
class BlockSums : public test::GpuTest
{
};
using Sums = ::testing::Types<double, std::int64_t>;
TYPED_TEST_SUITE(BlockSums, Sums);

} // namespace

TYPED_TEST(BlockSums, add_what_all_threads_have_to_totals)
{
    GpuQueue queue;
    for (const LaunchShape shape : {LaunchShape{1, 32}, LaunchShape{7, 64}, LaunchShape{5, 416}, LaunchShape{3, 1024}})
    {
        SCOPED_TRACE(testing::Message() << shape.blocks << " blocks of " << shape.threads);
        const std::vector<TypeParam> before = {10, 20, 30, 40};
        DeviceBuffer<TypeParam> totals;
        totals.upload(queue, before);
        launch(queue, PhaseTag{}, sum_kernel<TypeParam>, shape, totals.data());
        const std::int64_t n = shape.blocks * shape.threads;
        const std::int64_t first = n * (n - 1) / 2, squares = n * (n - 1) * (2 * n - 1) / 6;
        const std::vector<TypeParam> expected = {static_cast<TypeParam>(10 + first), static_cast<TypeParam>(20 + squares),
                                                 static_cast<TypeParam>(30 + n - first), static_cast<TypeParam>(40 + n - first)};
        EXPECT_EQ(totals.to_vector(queue), expected);
    }
}
