// SPDX-License-Identifier: Apache-2.0
// Ranks as blocks that run at the same time: all on one GPU, or spread over those of the machine. Payload that says where and
// when it belongs, random delays inside kernels.
#pragma once

#include "comm/gpu/atomics_gpu.cuh"
#include "comm/gpu/world_gpu.hpp"
#include "device/gpu/launch.cuh"
#include "support/gpu_test.hpp"
#include "support/random_delay.cuh"

#include <gtest/gtest.h>

namespace parhelion::test {

using namespace std::chrono_literals;

constexpr int block_threads = 128;

// Says where ranks are.
struct Layout
{
    const char* name;
    int gpus, ranks_per_gpu;
    int nodes = 1; // virtual ones
    std::vector<int> devices() const
    {
        std::vector<int> of_rank;
        for (int r = 0; r < gpus * ranks_per_gpu; ++r) { of_rank.push_back(r / ranks_per_gpu); }
        return of_rank;
    }
};
inline void PrintTo(const Layout& layout, std::ostream* os) { *os << layout.name; }
inline std::string layout_name(const ::testing::TestParamInfo<Layout>& info) { return info.param.name; }
inline const auto layouts = ::testing::Values(
    Layout{"two_on_one", 1, 2}, Layout{"three_on_one", 1, 3}, Layout{"eight_on_one", 1, 8}, Layout{"two_gpus", 2, 1},
    Layout{"two_on_each_of_two", 2, 2}, Layout{"four_gpus", 4, 1}, Layout{"eight_gpus", 8, 1});
// Lists the layouts of tests in which nothing but channels is between ranks.
inline const auto layouts_of_nodes =
    ::testing::Values(Layout{"two_nodes_on_one", 1, 2, 2}, Layout{"two_nodes_of_two_on_one", 1, 4, 2},
                      Layout{"eight_nodes_on_one", 1, 8, 8}, Layout{"two_nodes_of_a_gpu", 2, 1, 2});

class OnGpus : public ::testing::TestWithParam<Layout>
{
protected:
    void SetUp() override { take_gpus(GetParam().gpus); }
};
class OnOneGpu : public GpuTest
{
};

inline GpuWorldOptions options_with(std::chrono::nanoseconds deadline)
{
    GpuWorldOptions options;
    options.deadline = deadline;
    return options;
}

inline GpuWorldOptions options_with(std::chrono::nanoseconds deadline, const Layout& layout)
{
    GpuWorldOptions options = options_with(deadline);
    NicEmulation nodes;
    nodes.nodes = layout.nodes, nodes.ranks_per_node = layout.gpus * layout.ranks_per_gpu / layout.nodes;
    if (layout.nodes > 1) { options.nodes = nodes; }
    return options;
}

// Returns what the world's check says; empty: nothing.
inline std::string failure_of(GpuWorld& world)
{
    try
    {
        world.check();
    }
    catch (const CommError& e)
    {
        return e.what();
    }
    return "";
}

// An argument of each rank's block, and how many errors all that are here have seen. One launch per GPU, all before the first
// wait.
template <class PerRank>
class RankBlocks
{
public:
    RankBlocks(GpuWorld& world, const std::vector<PerRank>& arguments) : world_(world), arguments_(arguments), errors_(1)
    {
        errors_[0] = 0;
        const int end_here = world.here().first + world.here().count;
        for (int first = world.here().first; first < end_here;)
        {
            int end = first;
            while (end < end_here && world.device(end) == world.device(first)) { ++end; }
            OfGpu gpu{&world.setup_queue(first), {}};
            gpu.queue->make_current();
            gpu.arguments.upload(*gpu.queue, {arguments.data() + first, arguments.data() + end});
            gpus_.push_back(std::move(gpu));
            first = end;
        }
        synchronize();
    }

    // kernel(argument of the rank of block 0, errors, more...)
    template <class Kernel, class... More>
    void launch_all(Kernel kernel, const More&... more)
    {
        for (OfGpu& gpu : gpus_)
        {
            const int blocks = static_cast<int>(gpu.arguments.size());
            launch(*gpu.queue, PhaseTag{}, kernel, {blocks, block_threads}, gpu.arguments.data(), errors_.data(), more...);
        }
    }
    void synchronize()
    {
        for (OfGpu& gpu : gpus_) { gpu.queue->synchronize(); }
    }
    // Waits.
    unsigned long long errors()
    {
        synchronize();
        unsigned long long sum = 0;
        for (std::size_t i = 0; i < errors_.size(); ++i) { sum += errors_[i]; }
        return sum;
    }

private:
    struct OfGpu
    {
        GpuQueue* queue;
        DeviceBuffer<PerRank> arguments;
    };
    GpuWorld& world_;
    std::vector<PerRank> arguments_;
    std::vector<OfGpu> gpus_;
    PinnedBuffer<unsigned long long> errors_;
};

// Word i of what `source` sends to `destination` in this epoch.
__host__ __device__ inline std::uint64_t payload_word(Word epoch, int source, int destination, int i)
{
    return hash(epoch * 0x9E3779B97F4A7C15 + static_cast<std::uint64_t>(source * 1009 + destination * 131) +
                (static_cast<std::uint64_t>(i) << 40));
}
// Words of the message of an epoch.
__host__ __device__ inline int message_words(Word epoch)
{
    constexpr int sizes[] = {0, 1, 31, 32, 33, 1000};
    return sizes[hash(epoch) % 6];
}
constexpr std::size_t most_message_bytes = 1000 * sizeof(Word);

} // namespace parhelion::test
