// SPDX-License-Identifier: Apache-2.0
// Partitioned collectives between kernels: results, bits, marks by blocks, faults. Ranks are blocks that run at the same time.
#include "comm/gpu_ranks.cuh"
#include "comm/partitioned/collective_members_gpu.hpp"
#include "comm/partitioned/gpu/collectives_gpu.cuh"
#include "comm/partitioned/misuse_of.hpp"
#include "support/number_in.hpp"
#include "support/one_in.hpp"

#include <random>

using namespace parhelion;
using namespace parhelion::test;

namespace {

// A rank of a kernel of which each block is one.
struct Rank
{
    CollectivePrequest* request;
    int rank;
};

enum class Fault
{
    None,
    NotMarked, // rank 1 leaves its last partition out, from fault_epoch on
    Dead       // rank 1 does nothing any more from then on
};
constexpr int fault_epoch = 4;

// Marks all partitions, in an order that each rank and epoch has for itself; then goes on with all of them, in one order;
// sometimes with each as it is marked.
template <class T, Reduction reduction>
__device__ bool run_epoch(const Rank& r, int epoch, Fault fault)
{
    CollectivePrequest& request = *r.request;
    const bool is_faulty = r.rank == 1 && epoch >= fault_epoch;
    if (is_faulty && fault == Fault::Dead) { return false; }
    if (threadIdx.x == 0) { start(request); }
    __syncthreads();
    const bool goes_on_at_once = request.takes_input && epoch % 3 == 2 && fault == Fault::None;
    for (int k = 0; k < request.partitions && request.takes_input; ++k)
    {
        const int p = goes_on_at_once ? k : (k + r.rank + epoch) % request.partitions;
        if (is_faulty && fault == Fault::NotMarked && p == request.partitions - 1) { continue; }
        if (threadIdx.x == 0) { random_delay(static_cast<std::uint64_t>(epoch * 64 + r.rank * 8 + p)); }
        if (!goes_on_at_once) { block_pready(request, p); }
        else if (!block_all<T, reduction>(request, p)) { return false; }
    }
    for (int p = 0; p < request.partitions && !goes_on_at_once; ++p)
    {
        if (!block_run<T, reduction>(request, p)) { return false; }
    }
    const bool has_arrived = threadIdx.x != 0 || parrived(request, 0);
    return block_wait(request) && !__syncthreads_or(!has_arrived);
}

template <class T, Reduction reduction>
__global__ void epoch_kernel(Rank* of_block, unsigned long long*, int epoch, int late)
{
    if (of_block[blockIdx.x].rank == late) // so that the others look before it has sent
    {
        const std::int64_t begin = CudaAtomics::nanoseconds();
        while (CudaAtomics::nanoseconds() - begin < 50'000) {}
        __syncthreads();
    }
    run_epoch<T, reduction>(of_block[blockIdx.x], epoch, Fault::None);
}

std::vector<Rank> ranks_of(const Members& members)
{
    std::vector<Rank> ranks;
    for (std::size_t r = 0; r < members.requests.size(); ++r)
    {
        ranks.push_back({members.requests[r].prequest(), static_cast<int>(r)});
    }
    return ranks;
}

void launch_epoch(RankBlocks<Rank>& blocks, const CollectiveCase& what, int epoch, int late = -1)
{
    for_elements(what.elements.type, what.reduction,
                 [&]<class T, Reduction reduction>() { blocks.launch_all(epoch_kernel<T, reduction>, epoch, late); });
    blocks.synchronize();
}

void expect_right(GpuWorld& world, const CollectiveCase& what, int epochs, const CollectiveOptions& options = {})
{
    Members members(world, what, options);
    RankBlocks<Rank> blocks(world, ranks_of(members));
    for (int epoch = 1; epoch <= epochs; ++epoch)
    {
        members.fill(world, static_cast<std::uint64_t>(epoch));
        for (int r = 0; r < world.ranks(); ++r) { world.setup_queue(r).synchronize(); }
        launch_epoch(blocks, what, epoch);
        ASSERT_EQ(failure_of(world), "");
        ASSERT_EQ(members.wrong(world, static_cast<std::uint64_t>(epoch)), 0)
            << "collective " << static_cast<int>(what.collective) << ", algorithm " << static_cast<int>(what.algorithm)
            << ", type " << static_cast<int>(what.elements.type) << ", " << what.elements.count << " elements, epoch " << epoch;
    }
    for (int r = 0; r < world.ranks(); ++r)
    {
        EXPECT_NO_THROW(members.requests[static_cast<std::size_t>(r)].check(world.setup_queue(r)));
    }
}

class GpuPartitionedCollectives : public OnGpus
{
protected:
    static GpuWorldOptions options()
    {
        GpuWorldOptions options = options_with(10s);
        options.payload_bytes = std::size_t{1} << 26;
        options.signal_slots = std::size_t{1} << 15;
        return options;
    }
};
INSTANTIATE_TEST_SUITE_P(Layouts, GpuPartitionedCollectives, layouts, layout_name);

} // namespace

TEST_P(GpuPartitionedCollectives, of_every_kind_and_type_in_place_and_misaligned)
{
    OneIn some;
    for (const ElementType type : {ElementType::Float, ElementType::Double, ElementType::Half, ElementType::Bfloat16})
    {
        GpuWorld world(GetParam().devices(), options());
        for (const std::size_t count : {0, 1, 17, 1000})
        {
            for (CollectiveCase what : all_cases({type, 3, count}))
            {
                if (!some.takes_next()) { continue; }
                what.is_in_place = count == 17;
                what.shift = count % 16;
                what.root = world.ranks() - 1;
                what.reduction = count == 1000 ? Reduction::Max : count == 1 ? Reduction::Min : Reduction::Sum;
                ASSERT_NO_FATAL_FAILURE(expect_right(world, what, 4));
            }
        }
    }
}

TEST_P(GpuPartitionedCollectives, give_right_results_at_every_size)
{
    OneIn some;
    GpuWorldOptions of_some = options(); // memory for those that are tried: a stand-in writes all that there is
    of_some.payload_bytes /= std::bit_floor(static_cast<std::size_t>(std::clamp(number_in("PARHELION_TEST_ONE_IN", 1), 1, 8)));
    for (std::size_t n = 1; n <= 4097;)
    {
        GpuWorld world(GetParam().devices(), of_some);
        for (const std::size_t end = n + 128; n < std::min<std::size_t>(end, 4098); ++n)
        {
            const bool is_near_a_power = std::has_single_bit(n - 1) || std::has_single_bit(n) || std::has_single_bit(n + 1);
            for (const Algorithm algorithm : {Algorithm::OneShot, Algorithm::TwoShot, Algorithm::Ring})
            {
                if ((!is_near_a_power && n % 3 != static_cast<std::size_t>(algorithm) % 3) || !some.takes_next()) { continue; }
                ASSERT_NO_FATAL_FAILURE(expect_right(world, {Collective::AllReduce, algorithm, {ElementType::Float, 1, n}}, 1));
            }
        }
    }
}

TEST_P(GpuPartitionedCollectives, go_on_where_the_counter_of_epochs_wraps)
{
    GpuWorld world(GetParam().devices(), options());
    for (const Word first : {(Word{1} << 32) - 5, ~Word{0} - 5})
    {
        for (const Algorithm algorithm : {Algorithm::OneShot, Algorithm::TwoShot, Algorithm::Ring})
        {
            const CollectiveCase what{Collective::AllReduce, algorithm, {ElementType::Float, 2, 40}};
            ASSERT_NO_FATAL_FAILURE(expect_right(world, what, 12, {.first_epoch = first}));
        }
    }
}

// The order of terms is the schedule's, so that all ranks, all runs and CPUs have the same bits.
TEST_P(GpuPartitionedCollectives, have_the_bits_of_the_order_that_the_schedule_says)
{
    constexpr std::size_t n = 1000;
    GpuWorld world(GetParam().devices(), options());
    const int ranks = world.ranks();
    std::mt19937_64 random(1);
    std::vector<std::vector<double>> values(static_cast<std::size_t>(ranks), std::vector<double>(n));
    for (std::vector<double>& of_rank : values)
    {
        for (double& x : of_rank) { x = std::ldexp(static_cast<double>(random() >> 11) - 4e15, static_cast<int>(random() % 30)); }
    }
    for (const Algorithm algorithm : {Algorithm::OneShot, Algorithm::TwoShot, Algorithm::Ring})
    {
        const CollectiveCase what{Collective::AllReduce, algorithm, {ElementType::Double, 4, n / 4}};
        Members members(world, what);
        RankBlocks<Rank> blocks(world, ranks_of(members));
        const Schedule schedule = make_schedule(Collective::AllReduce, algorithm, ranks, 0);
        const ChunkLayout layout = layouts_of(Collective::AllReduce, schedule, 4, n / 4).result;
        for (int epoch = 1; epoch <= 3; ++epoch)
        {
            for (int r = 0; r < ranks; ++r)
            {
                const std::vector<double>& of_rank = values[static_cast<std::size_t>(r)];
                gpu_memory::to_device(world.setup_queue(r), members.input(r), of_rank.data(), n * sizeof(double));
                world.setup_queue(r).synchronize();
            }
            launch_epoch(blocks, what, epoch);
            for (int r = 0; r < ranks; ++r)
            {
                std::vector<double> sums(n);
                gpu_memory::to_host(world.setup_queue(r), sums.data(), members.result(r), n * sizeof(double));
                world.setup_queue(r).synchronize();
                for (int p = 0; p < 4; ++p)
                {
                    for (int chunk = 0; chunk < schedule.chunks; ++chunk)
                    {
                        const Extent extent = layout.extent(p, chunk);
                        const int first = algorithm == Algorithm::Ring ? chunk + 1 : 0;
                        for (std::size_t i = extent.begin; i < extent.begin + extent.count; ++i)
                        {
                            double expected = values[static_cast<std::size_t>(first % ranks)][i];
                            for (int m = 1; m < ranks; ++m)
                            {
                                expected += values[static_cast<std::size_t>((first + m) % ranks)][i];
                            }
                            ASSERT_EQ(std::bit_cast<std::uint64_t>(sums[i]), std::bit_cast<std::uint64_t>(expected));
                        }
                    }
                }
            }
        }
        ASSERT_EQ(failure_of(world), "");
    }
}

namespace {

// Members queue their calls, or the one call for all of them, in turns that are not the same for all.
void expect_right_when_queued(GpuWorld& world, const CollectiveCase& what)
{
    Members members(world, what);
    for (std::uint64_t epoch = 1; epoch <= 10; ++epoch)
    {
        members.fill(world, epoch);
        for (int r = 0; r < world.ranks(); ++r)
        {
            GpuCollectiveRequest& request = members.requests[static_cast<std::size_t>(r)];
            GpuQueue& queue = world.setup_queue(r);
            if ((epoch + static_cast<std::uint64_t>(r)) % 3 != 0)
            {
                request.execute(queue);
                continue;
            }
            request.start(queue);
            request.pready_all(queue);
            request.run(queue);
            request.wait(queue);
        }
        ASSERT_EQ(members.wrong(world, epoch), 0) << static_cast<int>(what.collective) << static_cast<int>(what.algorithm);
    }
    EXPECT_EQ(failure_of(world), "");
    for (int r = 0; r < world.ranks(); ++r)
    {
        EXPECT_NO_THROW(members.requests[static_cast<std::size_t>(r)].check(world.setup_queue(r)));
    }
}

} // namespace

TEST_P(GpuPartitionedCollectives, are_right_when_all_calls_are_queued)
{
    if (GetParam().ranks_per_gpu > 1) { GTEST_SKIP() << "run() is for ranks with a GPU each"; }
    GpuWorld world(GetParam().devices(), options());
    for (const CollectiveCase& what : all_cases({ElementType::Float, 20, 1000})) { expect_right_when_queued(world, what); }
}

// Its blocks wait for nobody: one can be at its end before the next begins.
TEST_F(OnOneGpu, partitioned_collectives_of_a_lone_rank_are_right_when_queued)
{
    GpuWorld world({0}, options_with(10s));
    for (const CollectiveCase& what : all_cases({ElementType::Float, 20, 1000})) { expect_right_when_queued(world, what); }
}

// An arena that has room for a few: of freed ones nothing is left behind.
TEST_P(GpuPartitionedCollectives, can_be_made_and_freed_any_number_of_times)
{
    if (GetParam().ranks_per_gpu > 1) { GTEST_SKIP() << "execute() is for ranks with a GPU each"; }
    const int times = times_made_and_freed();
    GpuWorldOptions options = options_with(10s);
    options.signal_slots = 200;
    options.payload_bytes = std::size_t{1} << 20;
    GpuWorld world(GetParam().devices(), options);
    for (int i = 0; i < times; ++i)
    {
        const auto algorithm = static_cast<Algorithm>(1 + i % 3);
        Members members(world, {Collective::AllReduce, algorithm, {ElementType::Float, 1 + i % 2, 1000}});
        for (std::uint64_t epoch = 1; epoch <= 2; ++epoch)
        {
            members.fill(world, epoch);
            for (int r = 0; r < world.ranks(); ++r)
            {
                members.requests[static_cast<std::size_t>(r)].execute(world.setup_queue(r));
            }
            ASSERT_EQ(members.wrong(world, epoch), 0) << i;
        }
        free_collective(world, members.requests);
    }
    EXPECT_EQ(failure_of(world), "");
}

// What is left in its memory of an epoch of the same number is not taken for its own. Small ones go by packets, others by
// channels.
TEST_P(GpuPartitionedCollectives, are_right_where_others_have_been_freed)
{
    GpuWorldOptions small = options();
    small.payload_bytes = std::size_t{1} << 24;
    GpuWorld world(GetParam().devices(), small);
    for (int i = 0; i < 6; ++i)
    {
        const std::size_t count = i % 3 == 2 ? 50'000 : 1000; // of three partitions
        const CollectiveCase what{Collective::AllReduce, Algorithm::OneShot, {ElementType::Float, 3, count}};
        Members members(world, what);
        RankBlocks<Rank> blocks(world, ranks_of(members));
        for (int epoch = 1; epoch <= 3; ++epoch)
        {
            members.fill(world, static_cast<std::uint64_t>(epoch + 10 * i));
            for (int r = 0; r < world.ranks(); ++r) { world.setup_queue(r).synchronize(); }
            launch_epoch(blocks, what, epoch, i % 2);
            ASSERT_EQ(members.wrong(world, static_cast<std::uint64_t>(epoch + 10 * i)), 0) << i << ' ' << epoch;
        }
        free_collective(world, members.requests);
    }
    EXPECT_EQ(failure_of(world), "");
}

// --- many epochs in one kernel

namespace {

// Whole numbers below 16, from which the sum over ranks follows.
__device__ float term(Word epoch, int rank, int i) { return static_cast<float>(payload_word(epoch, rank, 0, i) % 16); }

__global__ void many_kernel(Rank* of_block, unsigned long long* errors, int epochs, Fault fault)
{
    const Rank& r = of_block[blockIdx.x];
    const auto threads = static_cast<int>(blockDim.x);
    CollectivePrequest& request = *r.request;
    auto* const values = reinterpret_cast<float*>(request.result); // also the input
    const int n = request.partitions * static_cast<int>(request.layouts.input.count);
    for (int epoch = 1; epoch <= epochs; ++epoch)
    {
        for (int i = static_cast<int>(threadIdx.x); i < n; i += threads)
        {
            values[i] = term(static_cast<Word>(epoch), r.rank, i);
        }
        if (!run_epoch<float, Reduction::Sum>(r, epoch, fault)) { return; }
        unsigned long long wrong = 0;
        for (int i = static_cast<int>(threadIdx.x); i < n; i += threads)
        {
            float sum = 0;
            for (int m = 0; m < request.members; ++m) { sum += term(static_cast<Word>(epoch), m, i); }
            wrong += sum != values[i] ? 1 : 0;
        }
        if (wrong > 0) { atomicAdd_system(errors, wrong); }
        __syncthreads();
    }
}

unsigned long long many_errors(GpuWorld& world, Algorithm algorithm, int epochs, Fault fault = Fault::None)
{
    CollectiveCase what{Collective::AllReduce, algorithm, {ElementType::Float, 3, 50}};
    what.is_in_place = true;
    const Members members(world, what);
    RankBlocks<Rank> blocks(world, ranks_of(members));
    blocks.launch_all(many_kernel, epochs, fault);
    return blocks.errors();
}

} // namespace

TEST_P(GpuPartitionedCollectives, of_many_epochs_are_right_whatever_the_delays)
{
    const int epochs = std::max(number_in("PARHELION_TEST_EXCHANGES", 10000) / 2, 20);
    for (const Algorithm algorithm : {Algorithm::OneShot, Algorithm::TwoShot, Algorithm::Ring})
    {
        GpuWorld world(GetParam().devices(), options());
        EXPECT_EQ(many_errors(world, algorithm, epochs), 0u);
        EXPECT_EQ(failure_of(world), "");
    }
}

// Why there are two slots. A block of one warp still reads many packets a lane when one of many warps is through with the epoch
// and sends the next. One partition: with several, a member awaits the other's last before it can overwrite the first.
TEST_F(OnOneGpu, partitioned_packets_are_not_overwritten_before_a_slow_member_has_read_them)
{
    GpuWorld world({0, 0}, options_with(5s));
    CollectiveCase what{Collective::AllReduce, Algorithm::OneShot, {ElementType::Float, 1, 8192}};
    what.is_in_place = true;
    const Members members(world, what);
    GpuQueue slow{0}, fast{0};
    DeviceBuffer<Rank> ranks;
    ranks.upload(slow, ranks_of(members));
    PinnedBuffer<unsigned long long> errors(1);
    errors[0] = 0;
    slow.synchronize();
    launch(slow, PhaseTag{}, many_kernel, {1, 32}, ranks.data(), errors.data(), 20, Fault::None);
    launch(fast, PhaseTag{}, many_kernel, {1, 512}, ranks.data() + 1, errors.data(), 20, Fault::None);
    slow.synchronize();
    fast.synchronize();
    EXPECT_EQ(failure_of(world), "");
    EXPECT_EQ(errors[0], 0u);
}

TEST_P(GpuPartitionedCollectives, of_a_dead_member_end_all_waits_with_one_sentence)
{
    for (const Algorithm algorithm : {Algorithm::OneShot, Algorithm::TwoShot, Algorithm::Ring})
    {
        for (const Fault fault : {Fault::Dead, Fault::NotMarked})
        {
            GpuWorld world(GetParam().devices(), options_with(300ms));
            EXPECT_EQ(many_errors(world, algorithm, 100, fault), 0u);
            EXPECT_NE(failure_of(world).find("timed out after 0.3 s waiting for "), std::string::npos) << failure_of(world);
            EXPECT_NE(failure_of(world).find("all-reduce over ranks 0 1"), std::string::npos) << failure_of(world);
        }
    }
}

// --- the rules

namespace {

enum class Wrong
{
    Inactive,
    NoSuchPartition,
    Twice,
    StartedTwice,
    NoSuchPartitionToRead,
    NoInput
};

__global__ void wrong_kernel(CollectivePrequest* request, Wrong wrong)
{
    if (wrong == Wrong::NoSuchPartition) { block_pready(*request, 2); }
    if (wrong == Wrong::Inactive || wrong == Wrong::NoInput) { block_pready(*request, 1); }
    for (int times = 0; wrong == Wrong::Twice && times < 2; ++times) { block_pready(*request, 0); }
    if (wrong == Wrong::StartedTwice && threadIdx.x == 0) { start(*request); }
    if (wrong == Wrong::NoSuchPartitionToRead && threadIdx.x == 0) { parrived(*request, -1); }
}

class GpuPartitionedCollectiveMisuse : public OnOneGpu
{
};

} // namespace

TEST_F(GpuPartitionedCollectiveMisuse, of_kernels_is_told_each_by_its_error)
{
    const auto of = [](Wrong wrong) {
        GpuWorld world({0, 0}, options_with(10s));
        const bool is_broadcast = wrong == Wrong::NoInput;
        CollectiveCase what{
            is_broadcast ? Collective::Broadcast : Collective::AllReduce, Algorithm::Ring, {ElementType::Float, 2, 4}};
        Members members(world, what);
        GpuQueue& queue = world.setup_queue(1);
        if (wrong != Wrong::Inactive) { members.requests[1].start(queue); }
        launch(queue, PhaseTag{}, wrong_kernel, {1, 32}, members.requests[1].prequest(), wrong);
        return misuse_of([&] { members.requests[1].check(queue); });
    };
    EXPECT_EQ(of(Wrong::Inactive), Misuse::NotActive);
    EXPECT_EQ(of(Wrong::NoSuchPartition), Misuse::PartitionOutOfRange);
    EXPECT_EQ(of(Wrong::Twice), Misuse::ReadyTwice);
    EXPECT_EQ(of(Wrong::StartedTwice), Misuse::Active);
    EXPECT_EQ(of(Wrong::NoSuchPartitionToRead), Misuse::PartitionOutOfRange);
    EXPECT_EQ(of(Wrong::NoInput), Misuse::BadArgument);
}

TEST_F(GpuPartitionedCollectiveMisuse, of_types_and_reductions_of_cpus_alone_is_refused)
{
    GpuWorld world({0}, options_with(10s));
    const auto of = [&](ElementType type, Reduction reduction) {
        const std::vector<GpuCollectiveBuffers> none(1);
        return misuse_of([&] { make_collective(world, Collective::AllReduce, {type, 1, 0}, reduction, none, 0, {}); });
    };
    for (const ElementType type : {ElementType::Byte, ElementType::Int32, ElementType::Int64, ElementType::Uint8})
    {
        EXPECT_EQ(of(type, Reduction::Sum), Misuse::BadArgument);
    }
    EXPECT_EQ(of(ElementType::Double, Reduction::Product), Misuse::BadArgument);
    EXPECT_EQ(of(ElementType::Double, Reduction::Average), Misuse::BadArgument);
}

TEST_F(GpuPartitionedCollectiveMisuse, of_a_whole_epoch_within_one_is_told)
{
    GpuWorld world({0}, options_with(10s));
    Members members(world, {Collective::AllReduce, Algorithm::Ring, {ElementType::Float, 2, 4}});
    GpuQueue& queue = world.setup_queue(0);
    members.requests[0].start(queue);
    queue.synchronize();
    EXPECT_EQ(misuse_of([&] { free_collective(world, members.requests); }), Misuse::Active);
    members.requests[0].execute(queue);
    EXPECT_EQ(misuse_of([&] { members.requests[0].check(queue); }), Misuse::Active);
}
