// SPDX-License-Identifier: Apache-2.0
// The channel protocol between kernels, and the test of all links by which a run begins.
#include "comm/gpu/block.cuh"
#include "comm/gpu/self_test.hpp"
#include "comm/gpu_ranks.cuh"
#include "support/number_in.hpp"

#include <cstdio>
#include <set>

using namespace parhelion;
using namespace parhelion::test;

namespace {

enum class Fault
{
    None,
    LostSignal,       // rank 1 does not publish one message to rank 0
    Stall,            // rank 1 pauses for long before one message
    SignalBeforeData, // rank 1 publishes before it packs
    LostCredits       // rank 0 acknowledges no message of rank 1 any more
};
constexpr Word fault_epoch = 6; // counted from the first

// The rank that is to miss something first waits alone for a while, so that it is the one that tells. Other programs may use the
// GPU at the same time (tools/test_gpus.py), so the while is longer than their turns.
constexpr int late_ms = 150;
__device__ bool is_late(int rank, Word nth, Fault fault)
{
    return (fault == Fault::LostSignal && rank != 0 && nth == fault_epoch + 1) ||
           (fault == Fault::LostCredits && rank != 1 && nth == fault_epoch + 2);
}

// Each rank sends up and down a ring.
struct RingRank
{
    int rank;
    GpuSender send[2]; // up, down
    GpuReceiver receive[2];
    const Watch* watch;
};

std::vector<RingRank> open_ring(GpuWorld& world, int depth, Word first_epoch)
{
    const int ranks = world.ranks();
    const ChannelOptions options{depth, Credits::Yes, most_message_bytes, first_epoch};
    std::vector<RingRank> of_rank(static_cast<std::size_t>(ranks));
    for (int r = 0; r < ranks; ++r)
    {
        const int up = (r + 1) % ranks, down = (r + ranks - 1) % ranks;
        const GpuChannel to_up = world.open("up 3", r, up, options), to_down = world.open("down 4", r, down, options);
        of_rank[static_cast<std::size_t>(r)].rank = r;
        of_rank[static_cast<std::size_t>(r)].watch = world.watch(r);
        of_rank[static_cast<std::size_t>(r)].send[0] = to_up.sender,
        of_rank[static_cast<std::size_t>(r)].send[1] = to_down.sender;
        of_rank[static_cast<std::size_t>(up)].receive[0] = to_up.receiver;
        of_rank[static_cast<std::size_t>(down)].receive[1] = to_down.receiver;
    }
    return of_rank;
}

// False if the wait was in vain.
__device__ bool send_one(RingRank& r, int way, Word nth, Fault fault)
{
    GpuSender& send = r.send[way];
    const bool is_faulty = r.rank == 1 && way == 1 && nth == fault_epoch;
    if (__syncthreads_or(threadIdx.x == 0 && send.wait_ready(*r.watch) != Verdict::Reached)) { return false; }
    const Word epoch = send.next_epoch();
    const int destination = send.route().destination, n = message_words(epoch);
    auto* const slot = reinterpret_cast<Word*>(send.slot());
    const auto bytes = static_cast<std::size_t>(n) * sizeof(Word);
    __syncthreads();
    if (threadIdx.x == 0)
    {
        random_delay(epoch * 64 + static_cast<unsigned>(r.rank * 2 + way));
        if (is_faulty && fault == Fault::Stall)
        {
            for (int i = 0; i < 500; ++i) { __nanosleep(1000000); }
        }
        if (r.rank == 1 && fault == Fault::SignalBeforeData)
        {
            send.publish(bytes);
            __nanosleep(1000000); // long enough for a proxy to carry the signal first, also on a GPU that other programs use
        }
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < n; i += block_threads)
    {
        slot[i] = payload_word(epoch, r.rank, destination, i);
    }
    __syncthreads();
    if (threadIdx.x == 0)
    {
        if (is_faulty && fault == Fault::LostSignal) { send = GpuSender(send.route(), nullptr, epoch + 1); }
        else if (fault != Fault::SignalBeforeData || r.rank != 1) { send.publish(bytes); }
    }
    __syncthreads();
    return true;
}

__device__ bool receive_one(RingRank& r, int way, Word nth, Fault fault, unsigned long long* errors)
{
    GpuReceiver& receive = r.receive[way];
    if (__syncthreads_or(threadIdx.x == 0 && receive.wait_arrived(*r.watch) != Verdict::Reached)) { return false; }
    const Word epoch = receive.next_epoch();
    const int source = receive.route().source, n = message_words(epoch);
    auto* const slot = reinterpret_cast<Word*>(receive.slot());
    int wrong = threadIdx.x == 0 && receive.bytes() != static_cast<std::size_t>(n) * sizeof(Word) ? 1 : 0;
    for (int i = static_cast<int>(threadIdx.x); i < n; i += block_threads)
    {
        if (slot[i] != payload_word(epoch, source, r.rank, i)) { ++wrong; }
        slot[i] = 0xDBDBDBDBDBDBDBDB; // a message that is late, or early, shows
    }
    wrong = __syncthreads_count(wrong);
    if (threadIdx.x == 0)
    {
        if (wrong > 0) { atomicAdd_system(errors, static_cast<unsigned long long>(wrong)); }
        receive.take();
        if (!(fault == Fault::LostCredits && r.rank == 0 && way == 1 && nth >= fault_epoch)) { receive.acknowledge(); }
    }
    __syncthreads();
    return true;
}

__global__ void ring_kernel(RingRank* of_block, unsigned long long* errors, int epochs, Fault fault)
{
    RingRank& r = of_block[blockIdx.x];
    for (int k = 0; k < epochs; ++k)
    {
        const auto nth = static_cast<Word>(k);
        for (int ms = 0; is_late(r.rank, nth, fault) && ms < late_ms; ++ms) { __nanosleep(1000000); }
        if (!send_one(r, 0, nth, fault) || !send_one(r, 1, nth, fault)) { return; }
        if (!receive_one(r, 0, nth, fault, errors) || !receive_one(r, 1, nth, fault, errors)) { return; }
    }
}

unsigned long long ring_errors(GpuWorld& world, int epochs, int depth = 2, Word first_epoch = 1, Fault fault = Fault::None)
{
    RankBlocks<RingRank> blocks(world, open_ring(world, depth, first_epoch));
    blocks.launch_all(ring_kernel, epochs, fault);
    return blocks.errors();
}

class GpuChannels : public OnGpus
{
};
INSTANTIATE_TEST_SUITE_P(Layouts, GpuChannels, layouts, layout_name);
INSTANTIATE_TEST_SUITE_P(Nodes, GpuChannels, layouts_of_nodes, layout_name);

} // namespace

TEST_P(GpuChannels, carry_very_many_messages_of_any_size_whatever_the_delays)
{
    GpuWorld world(GetParam().devices(), options_with(10s, GetParam()));
    EXPECT_EQ(ring_errors(world, very_many_exchanges()), 0u);
    EXPECT_NO_THROW(world.check());
}

TEST_P(GpuChannels, work_with_one_slot_as_well_as_with_five)
{
    GpuWorld world(GetParam().devices(), options_with(10s, GetParam()));
    const int epochs = 5000 / number_in("PARHELION_TEST_ONE_IN", 1);
    for (const int depth : {1, 5}) { EXPECT_EQ(ring_errors(world, epochs, depth), 0u); }
    EXPECT_NO_THROW(world.check());
}

TEST_P(GpuChannels, go_on_where_the_counter_of_epochs_wraps)
{
    GpuWorld world(GetParam().devices(), options_with(10s, GetParam()));
    for (const Word first : {(Word{1} << 31) - 5, (Word{1} << 32) - 5, ~Word{0} - 5})
    {
        EXPECT_EQ(ring_errors(world, 100, 2, first), 0u);
    }
    EXPECT_NO_THROW(world.check());
}

TEST_P(GpuChannels, name_rank_peer_channel_and_epochs_of_a_lost_signal_and_end_all_waits)
{
    GpuWorld world(GetParam().devices(), options_with(300ms, GetParam()));
    const std::int64_t step = 4711;
    GpuQueue& queue = world.setup_queue(0);
    queue.make_current();
    DeviceBuffer<std::int64_t> step_word;
    step_word.upload(queue, {&step, 1});
    queue.synchronize();
    world.set_tag_word(0, step_word.data());
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(ring_errors(world, 1000000, 2, 1, Fault::LostSignal), 0u);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5300ms);
    if (GetParam().nodes > 1) // the other side waits as long, but for a microsecond or two
    {
        EXPECT_NE(failure_of(world).find(" timed out after 0.3 s waiting for a message from rank "), std::string::npos)
            << failure_of(world);
        return;
    }
    EXPECT_EQ(failure_of(world),
              "Rank 0 timed out after 0.3 s waiting for a message from rank 1: channel 'down 4', epoch expected 7, "
              "seen 5, credit 8, in round 4711.");
}

TEST_P(GpuChannels, name_lost_credits)
{
    GpuWorld world(GetParam().devices(), options_with(300ms, GetParam()));
    EXPECT_EQ(ring_errors(world, 1000000, 2, 1, Fault::LostCredits), 0u);
    EXPECT_EQ(failure_of(world), "Rank 1 timed out after 0.3 s waiting for a free slot from rank 0: channel 'down 4', epoch "
                                 "expected 7, seen 5, credit 7, in round -1.");
}

TEST_P(GpuChannels, are_not_harmed_by_a_stall_within_the_deadline)
{
    GpuWorld world(GetParam().devices(), options_with(10s, GetParam()));
    EXPECT_EQ(ring_errors(world, 100, 2, 1, Fault::Stall), 0u);
    EXPECT_NO_THROW(world.check());
}

TEST_P(GpuChannels, show_by_their_payload_if_a_signal_comes_before_its_data)
{
    GpuWorld world(GetParam().devices(), options_with(10s, GetParam()));
    EXPECT_GT(ring_errors(world, 200, 2, 1, Fault::SignalBeforeData), 0u);
}

namespace {

constexpr int packing_blocks = 8;

struct Packing
{
    SendRoute send;
    ReceiveRoute receive;
    const Watch *sender_watch, *receiver_watch;
    ArrivalCounter<CudaAtomics> arrivals[2]; // for each slot: blocks run ahead of each other
};

// Blocks 0 .. 7 pack a part each, the last one publishes; block 8 receives.
__global__ void pack_together_kernel(Packing* p, unsigned long long* errors, int epochs)
{
    constexpr int n = 1000;
    const auto thread = static_cast<int>(threadIdx.x);
    for (Word epoch = 1; epoch <= static_cast<Word>(epochs); ++epoch)
    {
        if (blockIdx.x == packing_blocks)
        {
            GpuReceiver receiver(p->receive, nullptr, epoch);
            if (!block_wait_arrived(receiver, *p->receiver_watch)) { return; }
            const auto* const slot = reinterpret_cast<const Word*>(receiver.slot());
            int wrong = 0;
            for (int i = thread; i < n; i += block_threads) { wrong += slot[i] != payload_word(epoch, 0, 1, i); }
            wrong = __syncthreads_count(wrong);
            if (thread != 0) { continue; }
            if (wrong > 0) { atomicAdd_system(errors, 1ull); }
            receiver.take();
            receiver.acknowledge();
            continue;
        }
        GpuSender sender(p->send, nullptr, epoch);
        if (__syncthreads_or(thread == 0 && sender.wait_ready(*p->sender_watch) != Verdict::Reached)) { return; }
        random_delay(epoch * 16 + blockIdx.x);
        auto* const slot = reinterpret_cast<Word*>(sender.slot());
        for (int i = static_cast<int>(blockIdx.x) * block_threads + thread; i < n; i += packing_blocks * block_threads)
        {
            slot[i] = payload_word(epoch, 0, 1, i);
        }
        if (block_arrive(p->arrivals[epoch % 2], (epoch + 1) / 2 * packing_blocks)) { sender.publish(n * sizeof(Word)); }
    }
}

class GpuBlocks : public OnOneGpu
{
};

} // namespace

TEST_F(GpuBlocks, pack_one_message_together_and_the_last_publishes)
{
    GpuWorld world({0, 0}, options_with(10s));
    const GpuChannel channel = world.open("together", 0, 1, {2, Credits::Yes, most_message_bytes});
    GpuQueue& queue = world.setup_queue(0);
    DeviceBuffer<Packing> packing;
    const Packing p{channel.sender.route(), channel.receiver.route(), world.watch(0), world.watch(1), {}};
    packing.upload(queue, {&p, 1});
    PinnedBuffer<unsigned long long> errors(1);
    errors[0] = 0;
    launch(queue, PhaseTag{}, pack_together_kernel, {packing_blocks + 1, block_threads}, packing.data(), errors.data(), 20000);
    queue.synchronize();
    EXPECT_EQ(errors[0], 0u);
    EXPECT_NO_THROW(world.check());
}

namespace {

class GpuLinks : public OnGpus
{
};
INSTANTIATE_TEST_SUITE_P(Layouts, GpuLinks, layouts, layout_name);

} // namespace

TEST_P(GpuLinks, are_tested_between_every_two_gpus)
{
    GpuWorld world(GetParam().devices(), options_with(10s, GetParam()));
    const int gpus = GetParam().gpus;
    std::set<std::pair<int, int>> pairs;
    for (const PairTest& test : self_test(world))
    {
        pairs.emplace(world.device(test.first), world.device(test.second));
        EXPECT_GT(test.signal_us, 0);
        EXPECT_LT(test.signal_us, 1000);
    }
    EXPECT_EQ(static_cast<int>(pairs.size()), gpus == 1 ? 1 : gpus * (gpus - 1) / 2);
    for (const auto& [first, second] : pairs) { EXPECT_EQ(first == second, gpus == 1); }
}

TEST_P(GpuLinks, on_which_a_signal_gets_lost_are_named)
{
    GpuWorldOptions options = options_with(300ms);
    options.hooks.loses = [](const std::string&, int source) { return source == 0; };
    GpuWorld world(GetParam().devices(), options);
    const int second = GetParam().gpus == 1 ? 1 : GetParam().ranks_per_gpu;
    try
    {
        self_test(world);
        FAIL() << "no error";
    }
    catch (const CommError& e)
    {
        // Both wait from then on, and either tells.
        const std::string of[] = {"0", std::to_string(second)};
        const auto sentence = [&](int waits) {
            return "Rank " + of[waits] + " timed out after 0.3 s waiting for a message from rank " + of[1 - waits] +
                   ": channel 'self test'";
        };
        const std::string told = std::string(e.what()).substr(0, sentence(0).size());
        EXPECT_TRUE(told == sentence(0) || told == sentence(1)) << e.what();
    }
}

// What a program asks before it takes several GPUs. Bounds: any link that has been built.
TEST_P(GpuLinks, are_as_fast_as_the_slowest)
{
    if (GetParam().gpus == 1 || GetParam().ranks_per_gpu > 1) { return; }
    const LinkSpeed link = time_links(GetParam().devices());
    EXPECT_EQ(link.trouble, "");
    EXPECT_GT(link.signal_us, 0.2);
    EXPECT_LT(link.signal_us, 100);
    EXPECT_GT(link.store_gb_s, 1);
    EXPECT_LT(link.store_gb_s, 2000);
    std::printf("%zu GPUs: a signal takes %.2f us, stores %.0f GB/s\n", GetParam().devices().size(), link.signal_us,
                link.store_gb_s);
    EXPECT_EQ(time_links(GetParam().devices()).signal_us, link.signal_us); // once in a process
}

TEST_F(OnOneGpu, links_that_were_tested_are_told_in_a_line)
{
    EXPECT_EQ(describe({{0, 1, true, 1.314}}), "1 pair of GPUs: messages arrive, a signal takes 1.31 to 1.31 us, native atomics");
    EXPECT_EQ(describe({{0, 1, true, 1.5}, {0, 2, false, 1.25}, {1, 2, true, 2}}),
              "3 pairs of GPUs: messages arrive, a signal takes 1.25 to 2.00 us, native atomics of 2");
}
