// SPDX-License-Identifier: Apache-2.0
// The C interface for GPUs: messages and collectives by its calls alone, queued on its streams, and what it refuses.
#include "comm/c/gpu/parhelion_comm_gpu.h"

#include "comm/gpu_ranks.cuh"

#include <limits>

using namespace parhelion;
using namespace parhelion::test;

namespace {

class GpuPartitionsInC : public OnGpus
{
protected:
    void SetUp() override
    {
        OnGpus::SetUp();
        if (IsSkipped()) { return; }
        const std::vector<int> devices = GetParam().devices();
        ranks = static_cast<int>(devices.size());
        ASSERT_EQ(ph_gpu_open(devices.data(), ranks, 10, 1 << 20, &all), PH_SUCCESS) << ph_error_message();
        for (int r = 0; r < ranks; ++r)
        {
            void *in = nullptr, *out = nullptr;
            ASSERT_EQ(ph_gpu_allocate(all, r, bytes, &in), PH_SUCCESS);
            ASSERT_EQ(ph_gpu_allocate(all, r, bytes, &out), PH_SUCCESS);
            ins.push_back(in), outs.push_back(out);
        }
    }
    void TearDown() override { EXPECT_EQ(ph_gpu_close(&all), PH_SUCCESS); }

    cudaStream_t stream(int rank) { return static_cast<cudaStream_t>(ph_gpu_stream(all, rank)); }
    static float value(int rank, int epoch, int i) { return static_cast<float>(100 * rank + 10 * epoch + i % 7); }
    void fill(int rank, int epoch)
    {
        std::vector<float> values(n);
        for (int i = 0; i < n; ++i) { values[static_cast<std::size_t>(i)] = value(rank, epoch, i); }
        cudaMemcpyAsync(outs[static_cast<std::size_t>(rank)], values.data(), bytes, cudaMemcpyHostToDevice, stream(rank));
    }
    std::vector<float> arrived(int rank)
    {
        EXPECT_EQ(ph_gpu_check(all), PH_SUCCESS) << ph_error_message(); // waits
        std::vector<float> values(n);
        cudaMemcpyAsync(values.data(), ins[static_cast<std::size_t>(rank)], bytes, cudaMemcpyDeviceToHost, stream(rank));
        cudaStreamSynchronize(stream(rank));
        return values;
    }

    static constexpr int n = 1200;
    static constexpr std::size_t bytes = n * sizeof(float);
    ph_gpu* all = nullptr;
    int ranks = 0;
    std::vector<void*> ins, outs;
};
INSTANTIATE_TEST_SUITE_P(Layouts, GpuPartitionsInC, layouts, layout_name);

} // namespace

TEST_P(GpuPartitionsInC, arrive_whole_epoch_after_epoch_and_again_when_freed_by_both_mechanisms)
{
    for (int time = 0; time < 4; ++time)
    {
        const ph_gpu_mechanism mechanism = time % 2 == 0 ? PH_GPU_KERNEL_COPY : PH_GPU_PROGRESSION_ENGINE;
        ASSERT_EQ(ph_gpu_set_mechanism(all, mechanism), PH_SUCCESS);
        std::vector<ph_gpu_request*> sends, receives;
        for (int r = 0; r < ranks; ++r)
        {
            const auto i = static_cast<std::size_t>(r);
            sends.push_back(nullptr), receives.push_back(nullptr);
            const int next = (r + 1) % ranks, previous = (r + ranks - 1) % ranks;
            ASSERT_EQ(ph_gpu_precv_init(all, r, ins[i], 4, bytes / 4, previous, 3, &receives[i]), PH_SUCCESS)
                << ph_error_message();
            ASSERT_EQ(ph_gpu_psend_init(all, r, outs[i], 6, bytes / 6, next, 3, &sends[i]), PH_SUCCESS) << ph_error_message();
        }
        for (int epoch = 1; epoch <= 5; ++epoch)
        {
            for (ph_gpu_request* receive : receives) { ASSERT_EQ(ph_gpu_start(receive), PH_SUCCESS) << ph_error_message(); }
            // All copies come before the first wait for a proxy: under compute-sanitizer a copy waits for the kernels of its GPU,
            // and the proxy cannot call the runtime meanwhile.
            for (int r = 0; r < ranks; ++r) { fill(r, epoch); }
            for (int r = 0; r < ranks; ++r)
            {
                ASSERT_EQ(ph_gpu_start(sends[static_cast<std::size_t>(r)]), PH_SUCCESS);
                ASSERT_EQ(ph_gpu_pready_all(sends[static_cast<std::size_t>(r)]), PH_SUCCESS);
            }
            for (ph_gpu_request* request : sends) { ASSERT_EQ(ph_gpu_wait(request), PH_SUCCESS); }
            for (ph_gpu_request* request : receives) { ASSERT_EQ(ph_gpu_wait(request), PH_SUCCESS); }
            for (int r = 0; r < ranks; ++r)
            {
                const std::vector<float> values = arrived(r);
                for (int i = 0; i < n; ++i)
                {
                    ASSERT_EQ(values[static_cast<std::size_t>(i)], value((r + ranks - 1) % ranks, epoch, i));
                }
            }
        }
        for (ph_gpu_request*& request : sends) { ASSERT_EQ(ph_gpu_free(&request), PH_SUCCESS) << ph_error_message(); }
        for (ph_gpu_request*& request : receives) { ASSERT_EQ(ph_gpu_free(&request), PH_SUCCESS) << ph_error_message(); }
    }
}

TEST_P(GpuPartitionsInC, tell_where_their_proxy_is)
{
    int core = -2, is_alone = -2;
    ASSERT_EQ(ph_gpu_proxy_core(all, 0, &core, &is_alone), PH_SUCCESS) << ph_error_message();
    EXPECT_GE(core, -1);
    EXPECT_TRUE(is_alone == 0 || core >= 0);
    EXPECT_NE(ph_gpu_proxy_core(all, ranks, &core, &is_alone), PH_SUCCESS);
    EXPECT_NE(ph_gpu_set_mechanism(all, static_cast<ph_gpu_mechanism>(2)), PH_SUCCESS);
}

TEST_P(GpuPartitionsInC, are_added_up_over_all_ranks)
{
    if (GetParam().ranks_per_gpu > 1) { GTEST_SKIP() << "for ranks with a GPU each"; }
    std::vector<ph_gpu_request*> sums(static_cast<std::size_t>(ranks));
    ASSERT_EQ(ph_gpu_pallreduce_init(all, outs.data(), ins.data(), 3, n / 3, PH_FLOAT, PH_SUM, sums.data()), PH_SUCCESS);
    for (int epoch = 1; epoch <= 4; ++epoch)
    {
        for (int r = 0; r < ranks; ++r) { fill(r, epoch); }
        for (ph_gpu_request* sum : sums)
        {
            if (epoch % 2 == 0)
            {
                ASSERT_EQ(ph_gpu_execute(sum), PH_SUCCESS);
                continue;
            }
            ASSERT_EQ(ph_gpu_start(sum) | ph_gpu_pready_all(sum) | ph_gpu_run(sum) | ph_gpu_wait(sum), PH_SUCCESS);
        }
        for (int r = 0; r < ranks; ++r)
        {
            const std::vector<float> values = arrived(r);
            for (int i = 0; i < n; ++i)
            {
                float sum = 0;
                for (int m = 0; m < ranks; ++m) { sum += value(m, epoch, i); }
                ASSERT_EQ(values[static_cast<std::size_t>(i)], sum);
            }
        }
    }
    for (ph_gpu_request*& sum : sums) { ASSERT_EQ(ph_gpu_free(&sum), PH_SUCCESS) << ph_error_message(); }
}

TEST_P(GpuPartitionsInC, are_scattered_gathered_and_spread)
{
    if (GetParam().ranks_per_gpu > 1) { GTEST_SKIP() << "for ranks with a GPU each"; }
    constexpr int partitions = 2;
    const int block = n / ranks; // of a rank
    ASSERT_EQ(block * ranks % partitions, 0);
    const auto count = static_cast<std::size_t>(block / partitions), whole = static_cast<std::size_t>(n / partitions);
    std::vector<ph_gpu_request*> made(static_cast<std::size_t>(ranks));
    const auto use = [&](int epoch) {
        for (int r = 0; r < ranks; ++r) { fill(r, epoch); }
        for (ph_gpu_request* request : made) { ASSERT_EQ(ph_gpu_execute(request), PH_SUCCESS) << ph_error_message(); }
    };
    const auto free_all = [&] {
        for (ph_gpu_request*& request : made) { ASSERT_EQ(ph_gpu_free(&request), PH_SUCCESS) << ph_error_message(); }
    };

    ASSERT_EQ(ph_gpu_preduce_scatter_init(all, outs.data(), ins.data(), partitions, count, PH_FLOAT, PH_MAX, made.data()),
              PH_SUCCESS)
        << ph_error_message();
    use(1);
    for (int r = 0; r < ranks; ++r)
    {
        const std::vector<float> values = arrived(r);
        for (int i = 0; i < block; ++i)
        {
            ASSERT_EQ(values[static_cast<std::size_t>(i)], value(ranks - 1, 1, r * block + i)) << "of the last rank";
        }
    }
    free_all();

    ASSERT_EQ(ph_gpu_pallgather_init(all, outs.data(), ins.data(), partitions, count, PH_FLOAT, made.data()), PH_SUCCESS)
        << ph_error_message();
    use(2);
    for (int r = 0; r < ranks; ++r)
    {
        const std::vector<float> values = arrived(r);
        for (int i = 0; i < block * ranks; ++i)
        {
            ASSERT_EQ(values[static_cast<std::size_t>(i)], value(i / block, 2, i % block));
        }
    }
    free_all();

    const int root = ranks - 1;
    ASSERT_EQ(ph_gpu_pbroadcast_init(all, ins.data(), partitions, whole, PH_FLOAT, ranks, made.data()), PH_ERROR_ARGUMENT);
    ASSERT_EQ(ph_gpu_pbroadcast_init(all, ins.data(), partitions, whole, PH_FLOAT, root, made.data()), PH_SUCCESS)
        << ph_error_message();
    std::swap(outs, ins); // fills what is spread
    use(3);
    std::swap(outs, ins);
    for (int r = 0; r < ranks; ++r)
    {
        const std::vector<float> values = arrived(r);
        for (int i = 0; i < n; ++i) { ASSERT_EQ(values[static_cast<std::size_t>(i)], value(root, 3, i)); }
    }
    free_all();
}

TEST_P(GpuPartitionsInC, refuse_what_makes_no_sense)
{
    ph_gpu_request* request = nullptr;
    EXPECT_EQ(ph_gpu_start(nullptr), PH_ERROR_NULL);
    EXPECT_EQ(ph_gpu_psend_init(all, ranks, nullptr, 1, 4, 0, 0, &request), PH_ERROR_ARGUMENT);
    EXPECT_EQ(ph_gpu_precv_init(all, 0, outs[1], 1, 4, 1, 0, &request), PH_ERROR_NOT_SYMMETRIC);
    EXPECT_EQ(ph_gpu_stream(all, ranks), nullptr);
    ASSERT_EQ(ph_gpu_precv_init(all, 0, ins[0], 1, 4, 1, 0, &request), PH_SUCCESS);
    EXPECT_EQ(ph_gpu_start(request), PH_ERROR_NOT_MATCHED);
    EXPECT_EQ(ph_gpu_pready_all(request), PH_ERROR_ARGUMENT);
    EXPECT_EQ(ph_gpu_execute(request), PH_ERROR_ARGUMENT);
    ph_gpu_request* send = nullptr;
    ASSERT_EQ(ph_gpu_psend_init(all, 1, outs[1], 1, 4, 0, 0, &send), PH_SUCCESS);
    ASSERT_EQ(ph_gpu_pready_all(send), PH_SUCCESS); // queued: the kernel finds that no epoch has been started
    EXPECT_EQ(ph_gpu_check(all), PH_ERROR_NOT_ACTIVE);
    const int no_gpu = 1000;
    ph_gpu* none = nullptr;
    EXPECT_EQ(ph_gpu_open(&no_gpu, 1, 1, 1, &none), PH_ERROR_ARGUMENT);
    EXPECT_EQ(ph_gpu_open(&no_gpu, 1, 1, ~std::size_t{0} - 50, &none), PH_ERROR_ARGUMENT);
}

TEST_P(GpuPartitionsInC, refuse_sizes_that_cannot_be_and_sides_that_differ)
{
    constexpr std::size_t half = std::size_t{1} << 63;
    ph_gpu_request *request = nullptr, *other = nullptr;
    void* memory = nullptr;
    EXPECT_EQ(ph_gpu_allocate(all, 0, ~std::size_t{0} - 50, &memory), PH_ERROR_ARGUMENT);
    EXPECT_EQ(ph_gpu_allocate(all, 0, std::size_t{1} << 45, &memory), PH_ERROR_MEMORY);
    EXPECT_EQ(ph_gpu_psend_init(all, 0, outs[0], 2, half, 1, 0, &request), PH_ERROR_ARGUMENT);
    EXPECT_EQ(ph_gpu_precv_init(all, 0, ins[0], 2, half, 1, 0, &request), PH_ERROR_ARGUMENT);
    EXPECT_EQ(ph_gpu_psend_init(all, 0, outs[0], std::numeric_limits<int>::max(), 0, 1, 0, &request), PH_ERROR_ARGUMENT);
    std::vector<ph_gpu_request*> members(static_cast<std::size_t>(ranks));
    EXPECT_EQ(ph_gpu_pallreduce_init(all, outs.data(), ins.data(), 4, half, PH_FLOAT, PH_SUM, members.data()), PH_ERROR_ARGUMENT);
    EXPECT_EQ(request, nullptr);
    ASSERT_EQ(ph_gpu_psend_init(all, 0, outs[0], 1, 8, 1, 0, &request), PH_SUCCESS);
    EXPECT_EQ(ph_gpu_precv_init(all, 1, ins[1], 1, 4, 0, 0, &other), PH_ERROR_BYTES_DIFFER);
    ASSERT_EQ(ph_gpu_precv_init(all, 1, ins[1], 2, 4, 0, 0, &other), PH_SUCCESS); // the source is still there
    EXPECT_EQ(ph_gpu_free(&request), PH_SUCCESS) << ph_error_message();
    EXPECT_EQ(ph_gpu_free(&other), PH_SUCCESS) << ph_error_message();
}

TEST_P(GpuPartitionsInC, release_what_was_allocated_and_is_not_in_use)
{
    EXPECT_EQ(ph_gpu_release(all, 0, outs[1], bytes), PH_ERROR_ARGUMENT);
    EXPECT_EQ(ph_gpu_release(all, 0, outs[0], bytes / 2), PH_ERROR_ARGUMENT);
    EXPECT_EQ(ph_gpu_release(all, 0, static_cast<char*>(outs[0]) + 128, 128), PH_ERROR_ARGUMENT);
    ph_gpu_request *send = nullptr, *receive = nullptr;
    ASSERT_EQ(ph_gpu_psend_init(all, 0, outs[0], 1, 8, 1, 0, &send), PH_SUCCESS);
    ASSERT_EQ(ph_gpu_precv_init(all, 1, ins[1], 1, 8, 0, 0, &receive), PH_SUCCESS);
    EXPECT_EQ(ph_gpu_release(all, 0, outs[0], bytes), PH_ERROR_IN_USE);
    EXPECT_EQ(ph_gpu_release(all, 1, ins[1], bytes), PH_ERROR_IN_USE);
    EXPECT_EQ(ph_gpu_free(&send), PH_SUCCESS);
    EXPECT_EQ(ph_gpu_free(&receive), PH_SUCCESS);
    EXPECT_EQ(ph_gpu_release(all, 0, outs[0], bytes), PH_SUCCESS);
    EXPECT_EQ(ph_gpu_release(all, 0, outs[0], bytes), PH_ERROR_ARGUMENT);
}

TEST_P(GpuPartitionsInC, know_null_pointers_and_freed_handles)
{
    ph_gpu_request *freed = nullptr, *receive = nullptr;
    ASSERT_EQ(ph_gpu_psend_init(all, 0, outs[0], 1, 8, 1, 0, &freed), PH_SUCCESS);
    ASSERT_EQ(ph_gpu_precv_init(all, 1, ins[1], 1, 8, 0, 0, &receive), PH_SUCCESS);
    ph_gpu_request* gone = freed;
    ASSERT_EQ(ph_gpu_free(&freed), PH_SUCCESS);
    int core = 0, is_alone = 0;
    void* memory = nullptr;
    for (ph_gpu_request* r : {static_cast<ph_gpu_request*>(nullptr), gone, reinterpret_cast<ph_gpu_request*>(all)})
    {
        EXPECT_EQ(ph_gpu_start(r), PH_ERROR_NULL);
        EXPECT_EQ(ph_gpu_pbuf_prepare(r), PH_ERROR_NULL);
        EXPECT_EQ(ph_gpu_pready_all(r), PH_ERROR_NULL);
        EXPECT_EQ(ph_gpu_run(r), PH_ERROR_NULL);
        EXPECT_EQ(ph_gpu_wait(r), PH_ERROR_NULL);
        EXPECT_EQ(ph_gpu_execute(r), PH_ERROR_NULL);
        EXPECT_EQ(ph_gpu_prequest(r, &memory), PH_ERROR_NULL);
        EXPECT_EQ(ph_gpu_free(&r), PH_ERROR_NULL);
    }
    for (ph_gpu* none : {static_cast<ph_gpu*>(nullptr), reinterpret_cast<ph_gpu*>(gone)})
    {
        EXPECT_EQ(ph_gpu_allocate(none, 0, 8, &memory), PH_ERROR_NULL);
        EXPECT_EQ(ph_gpu_release(none, 0, outs[0], bytes), PH_ERROR_NULL);
        EXPECT_EQ(ph_gpu_psend_init(none, 0, outs[0], 1, 8, 1, 0, &freed), PH_ERROR_NULL);
        EXPECT_EQ(ph_gpu_precv_init(none, 0, ins[0], 1, 8, 1, 0, &freed), PH_ERROR_NULL);
        EXPECT_EQ(ph_gpu_pallreduce_init(none, outs.data(), ins.data(), 1, 1, PH_FLOAT, PH_SUM, &freed), PH_ERROR_NULL);
        EXPECT_EQ(ph_gpu_set_mechanism(none, PH_GPU_KERNEL_COPY), PH_ERROR_NULL);
        EXPECT_EQ(ph_gpu_proxy_core(none, 0, &core, &is_alone), PH_ERROR_NULL);
        EXPECT_EQ(ph_gpu_check(none), PH_ERROR_NULL);
        EXPECT_EQ(ph_gpu_stream(none, 0), nullptr);
    }
    const int gpu = 0;
    EXPECT_EQ(ph_gpu_open(nullptr, 1, 1, 1, nullptr), PH_ERROR_NULL);
    EXPECT_EQ(ph_gpu_open(&gpu, 1, 1, 1, nullptr), PH_ERROR_NULL);
    EXPECT_EQ(ph_gpu_close(nullptr), PH_ERROR_NULL);
    EXPECT_EQ(ph_gpu_free(nullptr), PH_ERROR_NULL);
    EXPECT_EQ(ph_gpu_allocate(all, 0, 8, nullptr), PH_ERROR_NULL);
    EXPECT_EQ(ph_gpu_release(all, 0, nullptr, 8), PH_ERROR_NULL);
    EXPECT_EQ(ph_gpu_precv_init(all, 0, nullptr, 1, 8, 1, 0, &freed), PH_ERROR_NULL);
    EXPECT_EQ(ph_gpu_psend_init(all, 0, outs[0], 1, 8, 1, 0, nullptr), PH_ERROR_NULL);
    EXPECT_EQ(ph_gpu_pallreduce_init(all, nullptr, ins.data(), 1, 1, PH_FLOAT, PH_SUM, &freed), PH_ERROR_NULL);
    EXPECT_EQ(ph_gpu_pallreduce_init(all, outs.data(), ins.data(), 1, 1, PH_FLOAT, PH_SUM, nullptr), PH_ERROR_NULL);
    EXPECT_EQ(ph_gpu_proxy_core(all, 0, nullptr, &is_alone), PH_ERROR_NULL);
    EXPECT_EQ(ph_gpu_prequest(receive, nullptr), PH_ERROR_NULL);
    EXPECT_EQ(ph_gpu_free(&receive), PH_SUCCESS);
}
