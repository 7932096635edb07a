// SPDX-License-Identifier: Apache-2.0
// Partitioned messages between kernels: the cases of requests_test.cpp, by block, warp and lane, started by kernels or queued, by
// kernel copy and by the progression engine.
#include "comm/partitioned/misuse_of.hpp"
#include "comm/partitioned/ring_gpu.cuh"
#include "support/number_in.hpp"
#include "support/one_in.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <tuple>

using namespace parhelion;
using namespace parhelion::test;

namespace {

class GpuPartitions : public ::testing::TestWithParam<std::tuple<Layout, Mechanism>>
{
protected:
    void SetUp() override { take_gpus(layout().gpus); }
    const Layout& layout() const { return std::get<0>(GetParam()); }
    How how(Word first_epoch = 1, bool is_direct = false) const { return {std::get<1>(GetParam()), first_epoch, is_direct}; }
};
INSTANTIATE_TEST_SUITE_P(Layouts, GpuPartitions,
                         ::testing::Combine(layouts, ::testing::Values(Mechanism::KernelCopy, Mechanism::ProgressionEngine)),
                         [](const auto& of) {
                             const bool is_carried = std::get<1>(of.param) == Mechanism::ProgressionEngine;
                             return std::string(std::get<0>(of.param).name) + (is_carried ? "_by_proxy" : "");
                         });

// A proxy that is late, mostly a little, now and then by what others do many epochs in.
void delay_proxy(const Put& put)
{
    const std::uint64_t r = hash(put.epoch * 4096 + put.signal);
    if (r % 64 == 0) { std::this_thread::sleep_for(std::chrono::microseconds((r >> 8) % 50)); }
    if (r % 8192 == 1) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
}

} // namespace

TEST_P(GpuPartitions, of_unequal_counts_arrive_whole_in_any_order)
{
    GpuWorldOptions options = options_with(10s);
    options.payload_bytes = std::size_t{1} << 24;
    GpuWorld world(layout().devices(), options);
    GpuPartitioned partitioned(world);
    OneIn some;
    for (int send = 1; send <= 16; ++send)
    {
        for (int receive = 1; receive <= 16; ++receive)
        {
            if (!some.takes_next()) { continue; }
            const Ring ring = make_ring(world, partitioned, {send, receive, 1 + (send + receive) % send}, how());
            for (const Level level : {Level::Block, Level::Warp, Level::Lane})
            {
                ASSERT_EQ(ring_errors(world, ring, 3, level), 0u) << send << " to " << receive;
                ASSERT_EQ(failure_of(world), "") << send << " to " << receive;
            }
        }
    }
}

TEST_P(GpuPartitions, of_many_epochs_arrive_whole_whatever_the_delays)
{
    const int epochs = std::max(number_in("PARHELION_TEST_EXCHANGES", 5000), 20);
    for (const Level level : {Level::Block, Level::Warp, Level::Lane})
    {
        GpuWorldOptions options = options_with(10s);
        options.hooks.before_each_put = delay_proxy;
        GpuWorld world(layout().devices(), options);
        GpuPartitioned partitioned(world);
        const Counts counts = level == Level::Lane ? Counts{100, 20, 32} : Counts{8, 6, level == Level::Block ? 1 : 2};
        EXPECT_EQ(ring_errors(world, make_ring(world, partitioned, counts, how()), epochs, level), 0u);
        EXPECT_EQ(failure_of(world), "");
    }
}

TEST_P(GpuPartitions, go_on_where_the_counter_of_epochs_wraps)
{
    GpuWorld world(layout().devices(), options_with(10s));
    GpuPartitioned partitioned(world);
    for (const Word first : {(Word{1} << 31) - 5, (Word{1} << 32) - 5, ~Word{0} - 5})
    {
        EXPECT_EQ(ring_errors(world, make_ring(world, partitioned, {6, 4, 2}, how(first)), 20, Level::Warp), 0u);
    }
    EXPECT_EQ(failure_of(world), "");
}

TEST_P(GpuPartitions, show_by_their_words_that_one_was_marked_too_early)
{
    GpuWorld world(layout().devices(), options_with(10s));
    GpuPartitioned partitioned(world);
    // In one of many epochs a proxy takes the words before they are written; where others share its GPU or its core it may be
    // late.
    const int epochs = 200;
    EXPECT_GT(ring_errors(world, make_ring(world, partitioned, {4, 4, 1}, how()), epochs, Level::Block, Fault::MarkedTooEarly),
              0u);
}

TEST_P(GpuPartitions, that_do_not_come_end_all_waits_with_a_sentence)
{
    GpuWorld world(layout().devices(), options_with(300ms));
    GpuPartitioned partitioned(world);
    EXPECT_EQ(ring_errors(world, make_ring(world, partitioned, {4, 2, 1}, how()), 1000, Level::Block, Fault::SignalLost), 0u);
    EXPECT_NE(failure_of(world).find("timed out after 0.3 s waiting for "), std::string::npos) << failure_of(world);
    EXPECT_NE(failure_of(world).find("partitioned message from rank"), std::string::npos) << failure_of(world);
}

TEST_P(GpuPartitions, for_who_does_not_start_end_all_waits_with_a_sentence)
{
    GpuWorld world(layout().devices(), options_with(300ms));
    GpuPartitioned partitioned(world);
    const Ring ring = make_ring(world, partitioned, {4, 2, 1}, how());
    // Who has not started reads what is not there until its wait as a source is in vain: an epoch later for each rank that is
    // between it and the rank that waits for it.
    const int most = ring.ranks[0].words * world.ranks();
    EXPECT_LE(ring_errors(world, ring, 1000, Level::Warp, Fault::NeverStarted), static_cast<unsigned long long>(most));
    EXPECT_NE(failure_of(world).find("timed out after 0.3 s waiting for "), std::string::npos) << failure_of(world);
}

// --- on virtual nodes: by proxies between them, and by kernel copy inside one

namespace {

class GpuNodes : public ::testing::TestWithParam<std::pair<int, int>>
{
protected:
    void SetUp() override { take_gpus(1); }
    NicEmulation nodes() const { return {.nodes = GetParam().first, .ranks_per_node = GetParam().second, .latency = 20us}; }
    std::vector<int> devices() const { return std::vector<int>(static_cast<std::size_t>(nodes().ranks()), 0); }
    GpuWorldOptions options(std::chrono::nanoseconds deadline) const
    {
        GpuWorldOptions on_nodes = options_with(deadline);
        const NicEmulation shape = nodes(); // nvcc 13.0 does not take it as it is returned
        on_nodes.nodes = shape;
        return on_nodes;
    }
};
INSTANTIATE_TEST_SUITE_P(Shapes, GpuNodes, ::testing::Values(std::pair(2, 1), std::pair(2, 2), std::pair(4, 1), std::pair(2, 4)),
                         [](const auto& of) { return std::to_string(of.param.first) + "x" + std::to_string(of.param.second); });

} // namespace

TEST_P(GpuNodes, of_many_epochs_arrive_whole_whatever_overtakes)
{
    for (const Level level : {Level::Block, Level::Warp, Level::Lane})
    {
        GpuWorld world(devices(), options(10s));
        GpuPartitioned partitioned(world);
        EXPECT_EQ(ring_errors(world, make_ring(world, partitioned, {8, 6, 1}, {}), 500, level), 0u);
        EXPECT_EQ(failure_of(world), "");
    }
}

TEST_P(GpuNodes, that_lose_a_message_end_all_waits_with_a_sentence)
{
    GpuWorld world(devices(), options(300ms));
    GpuPartitioned partitioned(world);
    EXPECT_EQ(ring_errors(world, make_ring(world, partitioned, {4, 2, 1}, {}), 1000, Level::Block, Fault::SignalLost), 0u);
    EXPECT_NE(failure_of(world).find("timed out after 0.3 s waiting for "), std::string::npos) << failure_of(world);
}

// --- what is queued, a block for each partition

namespace {

constexpr int rank_threads = 64;

__global__ void write_kernel(Rank r, Word epoch, bool is_direct)
{
    const int p = static_cast<int>((blockIdx.x + epoch) % gridDim.x), share = r.words / static_cast<int>(gridDim.x);
    Word* const to = is_direct ? reinterpret_cast<Word*>(r.send->core.place(0)) : r.out;
    for (int i = p * share + static_cast<int>(threadIdx.x); i < (p + 1) * share; i += rank_threads)
    {
        to[i] = payload_word(epoch, r.rank, r.next, i);
    }
    block_pready(*r.send, p);
}
__global__ void read_kernel(Rank r, Word epoch, unsigned long long* errors)
{
    for (int i = static_cast<int>(threadIdx.x); i < r.words; i += rank_threads)
    {
        if (r.in[i] != payload_word(epoch, r.previous, r.rank, i)) { atomicAdd_system(errors, 1ull); }
        r.in[i] = 0xDBDBDBDBDBDBDBDB;
    }
}

// One epoch of all ranks: all starts are queued before the first pready, and these before the first wait, as ranks may share a
// queue.
void queue_epoch(GpuWorld& world, Ring& ring, Word epoch, int partitions, unsigned long long* errors, bool is_direct)
{
    const auto for_all = [&](auto&& queue_one) {
        for (std::size_t r = 0; r < ring.ranks.size(); ++r) { queue_one(world.setup_queue(static_cast<int>(r)), r); }
    };
    for_all([&](GpuQueue& queue, std::size_t r) {
        ring.receives[r].start(queue);
        ring.sends[r].start(queue);
    });
    for_all([&](GpuQueue& queue, std::size_t r) {
        if (is_direct) { ring.sends[r].pbuf_prepare(queue); }
        launch(queue, PhaseTag{}, write_kernel, {partitions, rank_threads}, ring.ranks[r], epoch, is_direct);
    });
    for_all([&](GpuQueue& queue, std::size_t r) {
        ring.sends[r].wait(queue);
        ring.receives[r].wait(queue);
        launch(queue, PhaseTag{}, read_kernel, {1, rank_threads}, ring.ranks[r], epoch, errors);
    });
}

// PARHELION_TEST_EXCHANGES makes them fewer, 5 at the least. If the host queues more than compute-sanitizer takes, it waits, and
// the proxy cannot call the runtime meanwhile.
int queued_epochs(int epochs = 30) { return std::clamp(number_in("PARHELION_TEST_EXCHANGES", epochs), 5, epochs); }

unsigned long long queued_errors(const Layout& layout, const How& how, const GpuWorldOptions& options = options_with(10s),
                                 int epochs = queued_epochs())
{
    GpuWorld world(layout.devices(), options);
    GpuPartitioned partitioned(world);
    Ring ring = make_ring(world, partitioned, {12, 3, 5}, how);
    PinnedBuffer<unsigned long long> errors(1);
    errors[0] = 0;
    for (int epoch = 1; epoch <= epochs; ++epoch)
    {
        queue_epoch(world, ring, static_cast<Word>(epoch), 12, errors.data(), how.is_direct);
    }
    for (int r = 0; r < world.ranks(); ++r) { world.setup_queue(r).synchronize(); }
    EXPECT_EQ(failure_of(world), "");
    for (const GpuSendRequest& send : ring.sends) { EXPECT_NO_THROW(send.check(world.setup_queue(0))); }
    return errors[0];
}

} // namespace

TEST_P(GpuPartitions, of_many_blocks_arrive_whole_when_all_calls_are_queued) { EXPECT_EQ(queued_errors(layout(), how()), 0u); }

TEST_P(GpuPartitions, that_kernels_store_in_their_places_arrive_whole) { EXPECT_EQ(queued_errors(layout(), how(1, true)), 0u); }

// The proxy is late. Meanwhile the host queues until the runtime takes no more, which is at about a thousand launches.
TEST_P(GpuPartitions, arrive_whole_when_more_is_queued_than_a_queue_holds)
{
    GpuWorldOptions options = options_with(10s);
    std::atomic<bool> was_late = false;
    options.hooks.before_each_put = [&](const Put&) {
        if (!was_late.exchange(true)) { std::this_thread::sleep_for(200ms); }
    };
    EXPECT_EQ(queued_errors(layout(), how(), options, queued_epochs(400)), 0u);
}

// A queue for what each rank sends and one for what it receives, whose launches wait for each other.
TEST_P(GpuPartitions, arrive_whole_when_start_and_wait_are_one_launch)
{
    GpuWorld world(layout().devices(), options_with(10s));
    GpuPartitioned partitioned(world);
    Ring ring = make_ring(world, partitioned, {12, 3, 5}, how());
    std::deque<GpuQueue> sending, receiving;
    for (int r = 0; r < world.ranks(); ++r) { sending.emplace_back(world.device(r)), receiving.emplace_back(world.device(r)); }
    PinnedBuffer<unsigned long long> errors(1);
    errors[0] = 0;
    for (Word epoch = 1; epoch <= static_cast<Word>(queued_epochs()); ++epoch)
    {
        for (std::size_t r = 0; r < ring.ranks.size(); ++r)
        {
            ring.receives[r].receive(receiving[r]);
            launch(receiving[r], PhaseTag{}, read_kernel, {1, rank_threads}, ring.ranks[r], epoch, errors.data());
            ring.sends[r].restart(sending[r]);
            launch(sending[r], PhaseTag{}, write_kernel, {12, rank_threads}, ring.ranks[r], epoch, false);
        }
    }
    for (std::size_t r = 0; r < ring.ranks.size(); ++r) { ring.sends[r].wait(sending[r]); }
    // All queues end before check() copies to the host: under compute-sanitizer a copy waits for the kernels of its GPU, and the
    // proxy cannot call the runtime meanwhile.
    for (std::size_t r = 0; r < ring.ranks.size(); ++r) { sending[r].synchronize(), receiving[r].synchronize(); }
    for (std::size_t r = 0; r < ring.ranks.size(); ++r)
    {
        EXPECT_NO_THROW(ring.sends[r].check(sending[r]));
        EXPECT_NO_THROW(ring.receives[r].check(receiving[r]));
        EXPECT_NO_THROW(partitioned.free(ring.sends[r])); // it is inactive
    }
    EXPECT_EQ(failure_of(world), "");
    EXPECT_EQ(errors[0], 0u);
}

// An arena that has room for a few: of freed requests nothing is left behind.
TEST_P(GpuPartitions, can_be_made_and_freed_any_number_of_times)
{
    const int times = times_made_and_freed();
    GpuWorldOptions options = options_with(10s);
    options.signal_slots = 100;
    options.payload_bytes = std::size_t{1} << 20;
    GpuWorld world(layout().devices(), options);
    GpuPartitioned partitioned(world);
    PinnedBuffer<unsigned long long> errors(1);
    errors[0] = 0;
    for (int i = 0; i < times; ++i)
    {
        Ring ring = make_ring(world, partitioned, {12, 3, 1 + i % 4}, how());
        for (Word epoch = 1; epoch <= 2; ++epoch) { queue_epoch(world, ring, epoch, 12, errors.data(), false); }
        for (int r = 0; r < world.ranks(); ++r) { world.setup_queue(r).synchronize(); }
        for (std::size_t r = 0; r < ring.ranks.size(); ++r)
        {
            partitioned.free(ring.sends[r]), partitioned.free(ring.receives[r]);
            const int rank[] = {static_cast<int>(r)};
            world.release(rank, ring.windows[r]);
        }
    }
    EXPECT_EQ(failure_of(world), "");
    EXPECT_EQ(errors[0], 0u);
}

// --- the rules

namespace {

enum class Wrong
{
    Inactive,
    NoSuchPartition,
    Twice,
    NoSuchPartitionThenTwice,
    StartedTwice,
    NoSuchPartitionToRead
};

__global__ void wrong_kernel(SendPrequest* send, ReceivePrequest* receive, Wrong wrong)
{
    if (wrong == Wrong::NoSuchPartition || wrong == Wrong::NoSuchPartitionThenTwice) { block_pready(*send, 4); }
    if (wrong == Wrong::Inactive) { block_pready(*send, 1); }
    const bool marks_twice = wrong == Wrong::Twice || wrong == Wrong::NoSuchPartitionThenTwice;
    for (int times = 0; marks_twice && times < 2; ++times) { block_pready(*send, 2); }
    if (wrong == Wrong::StartedTwice && threadIdx.x == 0) { start(*send); }
    if (wrong == Wrong::NoSuchPartitionToRead && threadIdx.x == 0) { parrived(*receive, -1); }
}

class GpuPartitionedMisuse : public ::testing::TestWithParam<Mechanism>
{
protected:
    void SetUp() override { take_gpus(1); }
    How how() const { return {GetParam()}; }
};
INSTANTIATE_TEST_SUITE_P(Mechanisms, GpuPartitionedMisuse, ::testing::Values(Mechanism::KernelCopy, Mechanism::ProgressionEngine),
                         [](const auto& of) { return of.param == Mechanism::KernelCopy ? "kernel_copy" : "progression_engine"; });

} // namespace

TEST_P(GpuPartitionedMisuse, of_kernels_is_told_each_by_its_error)
{
    const auto of = [&](Wrong wrong) {
        Ring ring; // its buffers outlive the proxies, which carry what was marked
        GpuWorld world({0, 0}, options_with(10s));
        GpuPartitioned partitioned(world);
        ring = make_ring(world, partitioned, {4, 4, 1}, how());
        GpuQueue& queue = world.setup_queue(0);
        for (DeviceBuffer<Word>& buffer : ring.buffers) { buffer.clear(queue); }
        ring.receives[1].start(queue);
        if (wrong != Wrong::Inactive) { ring.sends[0].start(queue); }
        launch(queue, PhaseTag{}, wrong_kernel, {1, 32}, ring.ranks[0].send, ring.ranks[1].receive, wrong);
        const auto of_receive = misuse_of([&] { ring.receives[1].check(queue); });
        return of_receive ? of_receive : misuse_of([&] { ring.sends[0].check(queue); });
    };
    EXPECT_EQ(of(Wrong::Inactive), Misuse::NotActive);
    EXPECT_EQ(of(Wrong::NoSuchPartition), Misuse::PartitionOutOfRange);
    EXPECT_EQ(of(Wrong::Twice), Misuse::ReadyTwice);
    EXPECT_EQ(of(Wrong::NoSuchPartitionThenTwice), Misuse::PartitionOutOfRange) << "the first counts";
    EXPECT_EQ(of(Wrong::StartedTwice), Misuse::Active);
    EXPECT_EQ(of(Wrong::NoSuchPartitionToRead), Misuse::PartitionOutOfRange);
}

TEST_P(GpuPartitionedMisuse, of_the_host_is_refused)
{
    GpuWorld world({0, 0}, options_with(10s));
    GpuPartitioned partitioned(world);
    const int ranks[] = {1};
    const Window window = world.allocate(ranks, 128);
    const auto send = [&](int rank, Partitioning p, int peer, int per_signal = 1) {
        return misuse_of([&] { partitioned.psend_init(rank, nullptr, p, {peer}, {.per_signal = per_signal}, GetParam()); });
    };
    EXPECT_EQ(send(0, {0, 4}, 1), Misuse::BadArgument);
    EXPECT_EQ(send(0, {1, 4}, 2), Misuse::BadArgument);
    EXPECT_EQ(send(-1, {1, 4}, 1), Misuse::BadArgument);
    EXPECT_EQ(send(0, {1, 4}, 1, 0), Misuse::BadArgument);
    EXPECT_EQ(misuse_of([&] { partitioned.precv_init(1, window, {2, 65}, {0}); }), Misuse::NotSymmetric);
    GpuReceiveRequest receive = partitioned.precv_init(1, window, {2, 64}, {0});
    EXPECT_EQ(misuse_of([&] { receive.start(world.setup_queue(1)); }), Misuse::NotMatched);
    EXPECT_EQ(misuse_of([&] { partitioned.free(receive); }), Misuse::NotMatched);
    EXPECT_EQ(send(0, {2, 63}, 1), Misuse::BytesDiffer);
}

TEST_P(GpuPartitionedMisuse, of_freed_requests_is_refused)
{
    GpuWorld world({0, 0}, options_with(10s));
    GpuPartitioned partitioned(world);
    Ring ring = make_ring(world, partitioned, {4, 4, 1}, how());
    GpuQueue& queue = world.setup_queue(0);
    ring.receives[1].start(queue);
    queue.synchronize();
    EXPECT_EQ(misuse_of([&] { partitioned.free(ring.receives[1]); }), Misuse::Active);
    partitioned.free(ring.receives[0]);
    EXPECT_EQ(misuse_of([&] { partitioned.free(ring.receives[0]); }), Misuse::Null);
    EXPECT_EQ(misuse_of([&] { ring.sends[1].start(queue); }), Misuse::PeerFreed);
}
