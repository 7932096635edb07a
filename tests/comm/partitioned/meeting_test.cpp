// SPDX-License-Identifier: Apache-2.0
// How requests meet and part, on every transport: sides that ask for different things, that come late or never, and what is left
// of those that have been freed.
#include "comm/core/failures.hpp"
#include "comm/partitioned/buffers.hpp"
#include "comm/partitioned/collectives.hpp"
#include "comm/partitioned/post.hpp"
#include "support/number_in.hpp"

#include <array>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <limits>
#include <unistd.h>

using namespace parhelion;

namespace {

class PartitionedMeetings : public testing::TestWithParam<TransportCase>
{
protected:
    void run(int ranks, std::uint64_t seed, const std::function<void(Communicator&, Partitioned&)>& body) const
    {
        GetParam().run(ranks, seed, [&](Communicator& c) {
            Partitioned partitioned(c);
            body(c, partitioned);
        });
    }
};

// In a world with few slots and little memory.
class PartitionedMeetingsOfThreads : public testing::TestWithParam<TransportCase>
{
protected:
    void run_with_little(int ranks, std::size_t slots, std::size_t bytes,
                         const std::function<void(Communicator&, Partitioned&)>& body) const
    {
        WorldOptions few = GetParam().options();
        few.signal_slots = slots;
        few.payload_bytes = bytes;
        World world(GetParam().network(ranks, 9), few);
        check_ranks(world, [&](Communicator& c) {
            Partitioned partitioned(c);
            body(c, partitioned);
        });
        expect_no_overlaps(world);
    }
};

Payload payload_of(std::uint64_t epoch, int kind = 0) { return {epoch, 0, 1, kind}; }

struct Asked
{
    Collective collective = Collective::AllReduce;
    Elements elements{ElementType::Double, 2, 3};
    Reduction reduction = Reduction::Sum;
    int root = 0;
};

CollectiveRequest make(Partitioned& partitioned, const Asked& asked, std::span<double> x)
{
    switch (asked.collective)
    {
    case Collective::AllReduce:
        return pallreduce_init(partitioned, x.data(), x.data(), asked.elements, asked.reduction);
    case Collective::ReduceScatter:
        return preduce_scatter_init(partitioned, x.data(), x.data(), asked.elements, asked.reduction);
    case Collective::AllGather:
        return pallgather_init(partitioned, x.data(), x.data() + x.size() / 2, asked.elements);
    default:
        return pbroadcast_init(partitioned, x.data(), asked.elements, asked.root);
    }
}

// Its type has a name that no other of the library has, such as that of the address of a socket: the linker takes one for the
// other.
TEST(PartitionedPost, names_a_request_by_envelope_and_number)
{
    EXPECT_EQ((RequestAddress{"1 from rank 0", 3}.text()), "1 from rank 0#3");
}

} // namespace

// One of three differs, each in turn, in each thing that all must ask for alike.
TEST_P(PartitionedMeetings, of_members_that_ask_for_different_things_tell_all_of_them_both_things)
{
    run(3, 1, [&](Communicator& c, Partitioned& partitioned) {
        const Asked plain, broadcast{Collective::Broadcast};
        const Asked variants[] = {{Collective::AllReduce, plain.elements, Reduction::Max},
                                  {Collective::AllReduce, {ElementType::Float, 2, 3}},
                                  {Collective::AllReduce, {ElementType::Double, 2, 4}},
                                  {Collective::AllReduce, {ElementType::Double, 3, 2}},
                                  {Collective::AllGather},
                                  {Collective::ReduceScatter},
                                  {Collective::Broadcast, broadcast.elements, Reduction::Sum, 1}};
        for (const Asked& variant : variants)
        {
            for (int who = 0; who < 3; ++who)
            {
                std::array<double, 64> x{};
                const Asked& usual = variant.root == 1 ? broadcast : plain;
                CollectiveRequest request = make(partitioned, c.rank() == who ? variant : usual, x);
                try
                {
                    request.start();
                    request.wait();
                    ADD_FAILURE() << "rank " << c.rank() << " was not told";
                }
                catch (const PartitionedError& e)
                {
                    EXPECT_EQ(e.misuse(), Misuse::BadArgument) << e.what();
                    EXPECT_THAT(e.what(), testing::HasSubstr(fmt::format("rank {} for ", c.rank())));
                    EXPECT_TRUE(c.rank() == who ||
                                std::string(e.what()).find(fmt::format("rank {} for ", who)) != std::string::npos)
                        << e.what();
                }
                EXPECT_EQ(misuse_of([&] { request.start(); }), Misuse::BadArgument); // it is of no more use
                request.free();
            }
        }
        // And the next one finds its like.
        std::array<double, 64> x{1, 1, 1, 1, 1, 1};
        CollectiveRequest sum = make(partitioned, plain, x);
        sum.start();
        sum.pready_range(0, 1);
        sum.wait();
        EXPECT_EQ(x[5], 3);
    });
}

TEST_P(PartitionedMeetings, of_sides_of_different_sizes_tell_both)
{
    run(2, 2, [&](Communicator& c, Partitioned& partitioned) {
        const int peer = 1 - c.rank();
        std::vector<std::byte> source(8);
        const std::span<std::byte> memory = partitioned.allocate(12);
        SendRequest send = partitioned.psend_init(source.data(), {4, 2}, {peer});
        ReceiveRequest receive = partitioned.precv_init(memory.data(), {4, 3}, {peer});
        for (PartitionedRequest* request : {static_cast<PartitionedRequest*>(&send), static_cast<PartitionedRequest*>(&receive)})
        {
            EXPECT_EQ(misuse_of([&] {
                          request->start();
                          request->wait();
                      }),
                      Misuse::BytesDiffer);
        }
        c.barrier();
    });
}

// Rank 0 has freed the first message of this tag before rank 1 makes its side, and the third before it starts the second epoch.
TEST_P(PartitionedMeetings, of_a_side_that_has_been_freed_are_refused)
{
    run(2, 3, [&](Communicator& c, Partitioned& partitioned) {
        const int peer = 1 - c.rank();
        std::array<std::byte, 8> source{};
        if (c.rank() == 0) { partitioned.psend_init(source.data(), {1, 8}, {peer}).free(); }
        c.barrier();
        Outgoing done(partitioned, {1, 1}, {peer, 7});
        Incoming is_done(partitioned, {1, 1}, {peer, 7});
        is_done.start();
        done.request.start();
        if (c.rank() == 1)
        {
            Incoming in(partitioned, {1, 8}, {0});
            in.start();
            EXPECT_EQ(misuse_of([&] { in.request.wait(); }), Misuse::PeerFreed);
        }
        done.send_all(payload_of(1, c.rank()), 1);
        is_done.receive_all(payload_of(1, peer)); // rank 0 answers meanwhile
        done.wait();
    });
}

TEST_P(PartitionedMeetings, of_a_collective_that_a_member_has_freed_are_refused)
{
    run(3, 4, [&](Communicator& c, Partitioned& partitioned) {
        double x = 1;
        CollectiveRequest sum = pallreduce_init(partitioned, &x, &x, {ElementType::Double, 1, 1}, Reduction::Sum);
        sum.start();
        sum.pready(0);
        sum.wait();
        EXPECT_EQ(x, 3);
        if (c.rank() == 1) { sum.free(); }
        else
        {
            sum.start();
            sum.pready(0);
            EXPECT_EQ(misuse_of([&] { sum.wait(); }), Misuse::PeerFreed);
        }
        c.barrier();
    });
}

// So many of many kinds that neither slots nor memory would do if they were kept; one in three is never used.
TEST_P(PartitionedMeetingsOfThreads, of_freed_collectives_leave_nothing_behind)
{
    run_with_little(3, 256, std::size_t{1} << 16, [&](Communicator& c, Partitioned& partitioned) {
        const Asked all[] = {
            {Collective::AllReduce}, {Collective::AllGather}, {Collective::ReduceScatter}, {Collective::Broadcast}};
        for (int life = 0; life < 400; ++life)
        {
            Asked asked = all[life % 4];
            asked.elements.partitions = 1 + life % 3;
            std::array<double, 64> x{};
            CollectiveRequest request = make(partitioned, asked, x);
            for (int epoch = 0; epoch < life % 3; ++epoch)
            {
                request.start();
                if (asked.collective != Collective::Broadcast || c.rank() == 0)
                {
                    x[0] = 1;
                    request.pready_range(0, life % 3);
                }
                request.wait();
                const bool is_reduced =
                    asked.collective == Collective::AllReduce || asked.collective == Collective::ReduceScatter;
                const bool has_sum = asked.collective == Collective::AllReduce || c.rank() == 0;
                EXPECT_EQ(x[0], !is_reduced ? 1 : has_sum ? 3 : 0);
            }
            request.free();
        }
    });
}

// One rank is thousands of messages ahead of the other, which does not look.
TEST_P(PartitionedMeetingsOfThreads, of_messages_that_are_freed_without_a_partner_leave_nothing_behind)
{
    run_with_little(2, 4096, std::size_t{1} << 20, [&](Communicator& c, Partitioned& partitioned) {
        const int peer = 1 - c.rank();
        const std::span<std::byte> memory = partitioned.allocate(64);
        constexpr int lives = 6000;
        const auto live = [&] {
            for (int life = 0; life < lives; ++life)
            {
                SendRequest send = partitioned.psend_init(memory.data(), {2, 32}, {peer});
                ReceiveRequest receive = partitioned.precv_init(memory.data(), {1, 64}, {peer});
                receive.test();
            }
        };
        if (c.rank() == 0) { live(); }
        c.barrier();
        if (c.rank() == 1) { live(); }
        c.barrier();
        Outgoing out(partitioned, {2, 32}, {peer});
        Incoming in(partitioned, {1, 64}, {peer});
        in.start();
        out.request.start();
        out.send_all(payload_of(1, c.rank()), 1);
        in.receive_all(payload_of(1, peer));
        out.wait();
    });
}

// Of this process.
std::int64_t resident_bytes()
{
    std::int64_t all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::int64_t may_grow = std::numeric_limits<std::int64_t>::max(); // they keep what has been freed
#else
constexpr std::int64_t may_grow = 1 << 20; // a byte for each of the last nine tenths of a million
#endif

// Requests and memory that are made, used and freed 3 000 times, or as often as PARHELION_TEST_CYCLES says.
TEST(PartitionedCycles, leave_the_process_as_large_as_it_was)
{
    const auto cycles = test::number_in<std::int64_t>("PARHELION_TEST_CYCLES", 3000);
    World world(thread_network(2), WorldOptions{});
    check_ranks(world, [&](Communicator& c) {
        Partitioned partitioned(c);
        const int peer = 1 - c.rank();
        std::array<std::byte, 256> source{};
        std::int64_t before = 0;
        for (std::int64_t cycle = 0; cycle < cycles; ++cycle)
        {
            if (cycle == cycles / 10)
            {
                c.barrier();
                before = resident_bytes();
            }
            const std::span<std::byte> memory = partitioned.allocate(source.size());
            std::array<double, 8> x{1};
            CollectiveRequest sum = pallreduce_init(partitioned, x.data(), x.data(), {ElementType::Double, 2, 4}, Reduction::Sum);
            SendRequest send = partitioned.psend_init(source.data(), {2, 128}, {peer});
            ReceiveRequest receive = partitioned.precv_init(memory.data(), {1, 256}, {peer});
            receive.start();
            send.start();
            sum.start();
            send.pready_range(0, 1);
            sum.pready_range(0, 1);
            send.wait();
            receive.wait();
            sum.wait();
            ASSERT_EQ(x[0], 2);
            send.free();
            receive.free();
            sum.free();
            partitioned.release(memory);
        }
        c.barrier();
        EXPECT_LE(resident_bytes() - before, may_grow);
    });
}

// A request that cannot be had leaves the next one its number, slots and memory.
TEST(PartitionedEnds, of_requests_that_cannot_be_had_change_nothing)
{
    WorldOptions few;
    few.signal_slots = 64;
    few.payload_bytes = 1 << 15;
    World world(thread_network(2), few);
    check_ranks(world, [&](Communicator& c) {
        Partitioned partitioned(c);
        std::array<double, 8> x{1};
        const auto sum_of = [&](const Elements& elements) {
            return pallreduce_init(partitioned, x.data(), x.data(), elements, Reduction::Sum);
        };
        if (c.rank() == 0)
        {
            EXPECT_THROW(sum_of({ElementType::Double, 1, 1 << 20}), MemoryFull);
            EXPECT_THROW(sum_of({ElementType::Double, 100, 0}), LimitReached);
        }
        CollectiveRequest sum = sum_of({ElementType::Double, 8, 1});
        sum.start();
        sum.pready_range(0, 7);
        sum.wait();
        EXPECT_EQ(x[0], 2);
    });
}

TEST(PartitionedEnds, of_ranks_that_have_left_end_at_once)
{
    World world(thread_network(3)); // with a deadline of a minute
    const auto ends = outcomes(world, [&](Communicator& c) {
        if (c.rank() == 1)
        {
            world.leave(1); // as run_ranks() does
            return;
        }
        Partitioned partitioned(c);
        double x = 1;
        CollectiveRequest sum = pallreduce_init(partitioned, &x, &x, {ElementType::Double, 1, 1}, Reduction::Sum);
        sum.start();
        sum.pready(0);
        sum.wait();
    });
    const auto is_lost = [](const std::exception_ptr& end) {
        try
        {
            std::rethrow_exception(end);
        }
        catch (const LostRank& e)
        {
            return std::string(e.what()).find("The program of rank 1 has ended.") != std::string::npos;
        }
        catch (const PeerAborted&)
        {
            return false;
        }
    };
    EXPECT_EQ(is_lost(ends[0]) + is_lost(ends[2]), 1);
}

INSTANTIATE_TEST_SUITE_P(Transports, PartitionedMeetings, testing::ValuesIn(transport_cases),
                         [](const auto& i) { return i.param.name; });
INSTANTIATE_TEST_SUITE_P(Transports, PartitionedMeetingsOfThreads, testing::ValuesIn(thread_cases()),
                         [](const auto& i) { return i.param.name; });
