// SPDX-License-Identifier: Apache-2.0
// Sums over ranks and barriers by kernels.
#include "comm/gpu/collectives.cuh"
#include "comm/gpu_ranks.cuh"
#include "device/gpu/graph.hpp"
#include "support/number_in.hpp"

#include <random>

using namespace parhelion;
using namespace parhelion::test;

namespace {

// A type that only this test knows, with a reduction of its own: the least and the greatest, at last in the other order.
struct Extremes
{
    std::int64_t least, greatest;
    friend bool operator==(const Extremes&, const Extremes&) = default;
};
__host__ __device__ Extremes combine(Extremes a, Extremes b)
{
    return {a.least < b.least ? a.least : b.least, a.greatest < b.greatest ? b.greatest : a.greatest};
}
__host__ __device__ Extremes settled(Extremes e) { return {e.greatest, e.least}; }

class GpuCollectives : public OnGpus
{
};
INSTANTIATE_TEST_SUITE_P(Layouts, GpuCollectives, layouts, layout_name);
INSTANTIATE_TEST_SUITE_P(Nodes, GpuCollectives, layouts_of_nodes, layout_name);

// values[rank][i], all of one size.
template <class T>
using OfRanks = std::vector<std::vector<T>>;

template <class T>
OfRanks<T> random_values(int ranks, int n, unsigned seed)
{
    std::mt19937_64 random(seed);
    OfRanks<T> values(static_cast<std::size_t>(ranks), std::vector<T>(static_cast<std::size_t>(n)));
    for (std::vector<T>& of_rank : values)
    {
        for (T& value : of_rank)
        {
            if constexpr (std::is_floating_point_v<T>)
            {
                value = std::ldexp(static_cast<double>(random() >> 11) - 4e15, static_cast<int>(random() % 40));
            }
            else if constexpr (std::is_same_v<T, Extremes>)
            {
                value.least = value.greatest = static_cast<std::int64_t>(random());
            }
            else { value = static_cast<T>(random()); }
        }
    }
    return values;
}

template <class T>
std::vector<T> combined(const OfRanks<T>& values)
{
    std::vector<T> sum = values[0];
    for (std::size_t r = 1; r < values.size(); ++r)
    {
        for (std::size_t i = 0; i < sum.size(); ++i)
        {
            if constexpr (std::is_same_v<T, std::uint32_t>) { sum[i] |= values[r][i]; }
            else if constexpr (std::is_same_v<T, std::int64_t>)
            {
                sum[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum[i]) + static_cast<std::uint64_t>(values[r][i]));
            }
            else if constexpr (std::is_same_v<T, Extremes>) { sum[i] = combine(sum[i], values[r][i]); }
            else { sum[i] += values[r][i]; }
        }
    }
    if constexpr (std::is_same_v<T, Extremes>)
    {
        for (Extremes& of_all : sum) { of_all = settled(of_all); }
    }
    return sum;
}

enum class How
{
    Halves,
    OneKernel
};

template <class T>
void queue_all_reduce(GpuWorld& world, const GpuCollective& collective, How how, std::vector<DeviceBuffer<T>>& values, int n)
{
    const auto of = [&](int rank) { return values[static_cast<std::size_t>(rank)].data(); };
    for (int r = 0; r < world.ranks(); ++r)
    {
        if (how == How::OneKernel) { all_reduce(world.setup_queue(r), collective, r, of(r), n); }
        else { all_reduce_send<T>(world.setup_queue(r), collective, r, of(r), n); }
    }
    if (how == How::OneKernel) { return; }
    for (int r = 0; r < world.ranks(); ++r) { all_reduce_receive(world.setup_queue(r), collective, r, of(r), n); }
}

template <class T>
void expect_right_sums(GpuWorld& world, How how)
{
    const GpuCollective collective(world, "test", 4096 * sizeof(T));
    for (const int n : {0, 1, 31, 32, 33, 1000, 4096})
    {
        for (unsigned repetition = 0; repetition < 3; ++repetition)
        {
            const OfRanks<T> values = random_values<T>(world.ranks(), n, 100 * repetition + static_cast<unsigned>(n));
            std::vector<DeviceBuffer<T>> on_gpu(values.size());
            for (int r = 0; r < world.ranks(); ++r)
            {
                world.setup_queue(r).make_current();
                on_gpu[static_cast<std::size_t>(r)].upload(world.setup_queue(r), values[static_cast<std::size_t>(r)]);
            }
            queue_all_reduce(world, collective, how, on_gpu, n);
            const std::vector<T> expected = combined(values);
            for (int r = 0; r < world.ranks(); ++r)
            {
                EXPECT_EQ(on_gpu[static_cast<std::size_t>(r)].to_vector(world.setup_queue(r)), expected)
                    << "rank " << r << ", n " << n;
            }
        }
    }
    EXPECT_NO_THROW(world.check());
}

template <class T>
void expect_right_sums(GpuWorld& world)
{
    expect_right_sums<T>(world, How::Halves);
    if (!world.ranks_share_gpus()) { expect_right_sums<T>(world, How::OneKernel); }
}

} // namespace

TEST_P(GpuCollectives, add_in_rank_order_so_that_all_ranks_have_the_same_bits)
{
    GpuWorld world(GetParam().devices(), options_with(10s, GetParam()));
    expect_right_sums<double>(world);
    expect_right_sums<std::int64_t>(world);
    expect_right_sums<std::uint32_t>(world);
    expect_right_sums<Extremes>(world);
}

TEST_P(GpuCollectives, are_right_each_time_a_graph_is_replayed)
{
    GpuWorld world(GetParam().devices(), options_with(10s, GetParam()));
    const GpuCollective collective(world, "test", sizeof(std::int64_t));
    const int ranks = world.ranks();
    std::vector<DeviceBuffer<std::int64_t>> values(static_cast<std::size_t>(ranks));
    for (int r = 0; r < ranks; ++r)
    {
        const std::int64_t start = r + 1;
        world.setup_queue(r).make_current();
        values[static_cast<std::size_t>(r)].upload(world.setup_queue(r), {&start, 1});
    }
    // A graph for each GPU: the sends of its ranks, then their receives.
    std::vector<std::pair<GpuQueue*, GpuGraph>> graphs;
    for (int first = 0; first < ranks;)
    {
        int end = first;
        while (end < ranks && world.device(end) == world.device(first)) { ++end; }
        GpuQueue& queue = world.setup_queue(first);
        graphs.emplace_back(&queue, GpuGraph(queue, [&] {
            for (int r = first; r < end; ++r)
            {
                all_reduce_send<std::int64_t>(queue, collective, r, values[static_cast<std::size_t>(r)].data(), 1);
            }
            for (int r = first; r < end; ++r)
            {
                all_reduce_receive(queue, collective, r, values[static_cast<std::size_t>(r)].data(), 1);
            }
        }));
        first = end;
    }
    constexpr int replays = 201;
    for (int i = 0; i < replays; ++i)
    {
        for (auto& [queue, graph] : graphs) { graph.replay(*queue); }
    }
    std::uint64_t expected = static_cast<std::uint64_t>(ranks * (ranks + 1) / 2);
    for (int i = 1; i < replays; ++i) { expected *= static_cast<std::uint64_t>(ranks); } // modulo 2^64
    for (int r = 0; r < ranks; ++r)
    {
        EXPECT_EQ(static_cast<std::uint64_t>(values[static_cast<std::size_t>(r)].to_vector(world.setup_queue(r))[0]), expected);
    }
    EXPECT_NO_THROW(world.check());
}

TEST_P(GpuCollectives, of_groups_add_by_themselves_in_the_order_of_the_group)
{
    GpuWorld world(GetParam().devices(), options_with(10s, GetParam()));
    const int ranks = world.ranks();
    std::vector<int> backwards, even, odd;
    for (int r = ranks - 1; r >= 0; --r)
    {
        backwards.push_back(r);
        (r % 2 == 0 ? even : odd).push_back(r);
    }
    const std::vector<std::vector<int>> groups = {backwards, even, odd, {ranks - 1}}; // overlapping, disjoint, alone
    std::vector<std::unique_ptr<GpuCollective>> collectives;
    std::vector<Window> values;
    for (std::size_t g = 0; g < groups.size(); ++g)
    {
        collectives.push_back(std::make_unique<GpuCollective>(world, groups[g], "group " + std::to_string(g), sizeof(double)));
        values.push_back(world.allocate(groups[g], sizeof(double)));
    }
    // Of all ranks but the first and the last, what is added between these two is lost: the order shows.
    const auto term = [&](int rank) { return rank == 0 ? 1e16 : rank == ranks - 1 ? -1e16 : 1.0 + rank; };
    const auto of = [&](std::size_t g, int rank) { return reinterpret_cast<double*>(world.data(rank, values[g])); };
    const auto each_member = [&](auto&& body) {
        for (std::size_t g = 0; g < groups.size(); ++g)
        {
            for (const int rank : groups[g]) { body(g, rank, world.setup_queue(rank)); }
        }
    };
    each_member([&](std::size_t g, int rank, GpuQueue& queue) {
        const double value = term(rank);
        gpu_memory::to_device(queue, of(g, rank), &value, sizeof value);
    });
    each_member([&](std::size_t g, int r, GpuQueue& queue) { all_reduce_send<double>(queue, *collectives[g], r, of(g, r), 1); });
    each_member([&](std::size_t g, int r, GpuQueue& queue) { all_reduce_receive(queue, *collectives[g], r, of(g, r), 1); });
    each_member([&](std::size_t g, int rank, GpuQueue& queue) {
        double expected = term(groups[g][0]), sum = 0;
        for (std::size_t m = 1; m < groups[g].size(); ++m) { expected += term(groups[g][m]); }
        gpu_memory::to_host(queue, &sum, of(g, rank), sizeof sum);
        queue.synchronize();
        EXPECT_EQ(sum, expected) << "group " << g << ", rank " << rank;
    });
    for (std::size_t g = 0; g < groups.size(); ++g) { world.release(groups[g], values[g]); }
    EXPECT_NO_THROW(world.check());
}

namespace {

struct SumRank
{
    GpuRankEnds ends;
};

// Both halves in a kernel, epoch after epoch; the sums are known.
__global__ void sum_kernel(SumRank* of_block, unsigned long long* errors, int epochs)
{
    __shared__ std::int64_t values[1000];
    const GpuRankEnds ends = of_block[blockIdx.x].ends;
    constexpr int sizes[] = {0, 1, 31, 32, 33, 1000};
    for (int k = 0; k < epochs; ++k)
    {
        const int n = sizes[hash(static_cast<std::uint64_t>(k)) % 6];
        for (int i = static_cast<int>(threadIdx.x); i < n; i += block_threads)
        {
            values[i] = static_cast<std::int64_t>(payload_word(static_cast<Word>(k), ends.rank, 0, i) >> 8);
        }
        random_delay(static_cast<std::uint64_t>(k * 64 + ends.rank));
        __syncthreads();
        send_to_all(ends, values, n);
        if (!receive_from_all(ends, values, n)) { return; }
        int wrong = 0;
        for (int i = static_cast<int>(threadIdx.x); i < n; i += block_threads)
        {
            std::int64_t sum = 0;
            for (int r = 0; r < ends.ranks; ++r)
            {
                sum += static_cast<std::int64_t>(payload_word(static_cast<Word>(k), r, 0, i) >> 8);
            }
            wrong += sum != values[i];
        }
        wrong = __syncthreads_count(wrong);
        if (threadIdx.x == 0 && wrong > 0) { atomicAdd_system(errors, static_cast<unsigned long long>(wrong)); }
    }
}

unsigned long long sum_errors(GpuWorld& world, int epochs, Word first_epoch)
{
    const GpuCollective collective(world, "test", 1000 * sizeof(std::int64_t), first_epoch);
    std::vector<SumRank> arguments;
    for (int r = 0; r < world.ranks(); ++r) { arguments.push_back({collective.ends(r)}); }
    RankBlocks<SumRank> blocks(world, arguments);
    blocks.launch_all(sum_kernel, epochs);
    return blocks.errors();
}

} // namespace

TEST_P(GpuCollectives, stay_right_very_many_times_whatever_the_delays)
{
    GpuWorld world(GetParam().devices(), options_with(10s, GetParam()));
    EXPECT_EQ(sum_errors(world, very_many_exchanges(), 1), 0u);
    EXPECT_NO_THROW(world.check());
}

TEST_P(GpuCollectives, go_on_where_the_counter_of_epochs_wraps)
{
    GpuWorld world(GetParam().devices(), options_with(10s, GetParam()));
    for (const Word first : {(Word{1} << 32) - 5, ~Word{0} - 5}) { EXPECT_EQ(sum_errors(world, 100, first), 0u); }
    EXPECT_NO_THROW(world.check());
}

TEST_P(GpuCollectives, name_the_rank_that_is_missing)
{
    GpuWorld world(GetParam().devices(), options_with(300ms, GetParam()));
    const GpuCollective collective(world, "sum of energies 2", 0);
    const int last = world.ranks() - 1;
    for (int r = 0; r < last; ++r) { barrier_arrive(world.setup_queue(r), collective, r); }
    barrier_wait(world.setup_queue(0), collective, 0);
    world.setup_queue(0).synchronize();
    try
    {
        world.check();
        ADD_FAILURE() << "nobody missed rank " << last;
    }
    catch (const CommError& e)
    {
        EXPECT_EQ(std::string(e.what()), "Rank 0 timed out after 0.3 s waiting for a message from rank " + std::to_string(last) +
                                             ": channel 'sum of energies 2', epoch expected 1, seen 0, credit 0, in round -1.");
    }
}

namespace {

struct Counter
{
    std::int64_t* words[GpuWorld::most_ranks]; // one in each rank's memory
    int rank, ranks;
};

// A tenth of a millisecond late, writes its word in everybody's memory.
__global__ void write_late_kernel(Counter* of_block, unsigned long long*, std::int64_t value)
{
    const Counter& c = of_block[blockIdx.x];
    if (threadIdx.x != 0) { return; }
    __nanosleep(100000);
    for (int r = 0; r < c.ranks; ++r) { c.words[r][c.rank] = value; }
}
__global__ void expect_kernel(Counter* of_block, unsigned long long* errors, std::int64_t value)
{
    const Counter& c = of_block[blockIdx.x];
    if (threadIdx.x != 0) { return; }
    for (int r = 0; r < c.ranks; ++r)
    {
        if (c.words[c.rank][r] != value) { atomicAdd_system(errors, 1ull); }
    }
}

} // namespace

TEST_P(GpuCollectives, let_nobody_past_a_barrier_before_what_all_wrote_is_visible)
{
    GpuWorld world(GetParam().devices(), options_with(10s, GetParam()));
    const GpuCollective collective(world, "barrier", 0);
    const Window window = world.allocate(GpuWorld::most_ranks * sizeof(std::int64_t));
    std::vector<Counter> counters(static_cast<std::size_t>(world.ranks()));
    for (int r = 0; r < world.ranks(); ++r)
    {
        Counter& c = counters[static_cast<std::size_t>(r)];
        c.rank = r, c.ranks = world.ranks();
        for (int to = 0; to < world.ranks(); ++to) { c.words[to] = reinterpret_cast<std::int64_t*>(world.data(to, window)); }
    }
    RankBlocks<Counter> blocks(world, counters);
    const auto meet = [&] {
        for (int r = 0; r < world.ranks(); ++r) { barrier_arrive(world.setup_queue(r), collective, r); }
        for (int r = 0; r < world.ranks(); ++r) { barrier_wait(world.setup_queue(r), collective, r); }
    };
    for (std::int64_t value = 1; value <= 100; ++value)
    {
        blocks.launch_all(write_late_kernel, value);
        meet();
        blocks.launch_all(expect_kernel, value);
        meet();
    }
    EXPECT_EQ(blocks.errors(), 0u);
    EXPECT_NO_THROW(world.check());
}
