// SPDX-License-Identifier: Apache-2.0
// What partitioned collectives promise, on every transport: results, bits, order of marks, reuse.
#include "comm/partitioned/collective_buffers.hpp"
#include "comm/partitioned/misuse_of.hpp"
#include "comm/ranks.hpp"

#include <array>
#include <numeric>
#include <thread>

using namespace parhelion;

namespace {

class PartitionedCollectives : public testing::TestWithParam<TransportCase>
{
protected:
    void run(int ranks, std::uint64_t seed, const std::function<void(Communicator&, Partitioned&)>& body) const
    {
        GetParam().run(ranks, seed, [&](Communicator& c) {
            Partitioned partitioned(c);
            body(c, partitioned);
        });
    }
    bool is_fast() const
    {
        return GetParam().access == PeerAccess::Pointers && !GetParam().is_faulty && GetParam().ranks_of_process == 0;
    }
};

class PartitionedCollectivesOfThreads : public PartitionedCollectives
{
};

// All of them side by side.
void run_epochs(Partitioned& partitioned, const std::vector<CollectiveCase>& cases, int members, int place, std::uint64_t epochs,
                const CollectiveOptions& options = {})
{
    std::vector<std::unique_ptr<Member>> all;
    for (const CollectiveCase& what : cases)
    {
        all.push_back(std::make_unique<Member>(partitioned, what, members, place, options));
    }
    for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch)
    {
        for (const auto& member : all) { member->start_and_fill(epoch); }
        for (const auto& member : all) { member->wait_and_check(epoch); }
    }
    for (const auto& member : all) { member->request.free(); }
}

// Numbers whose sums depend on the order of their terms.
template <class T>
T rough_number(int rank, std::size_t i)
{
    std::mt19937_64 random(static_cast<std::uint64_t>(rank) * 7919 + i);
    return static_cast<T>(
        std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 30) - 75));
}

} // namespace

// Around powers of two; on the fastest transport each one.
TEST_P(PartitionedCollectives, give_right_results_at_every_size)
{
    std::vector<std::size_t> sizes;
    for (std::size_t n = 1; n <= 4097; ++n)
    {
        const bool is_near_a_power = std::has_single_bit(n - 1) || std::has_single_bit(n) || std::has_single_bit(n + 1);
        if (is_fast() || is_near_a_power) { sizes.push_back(n); }
    }
    constexpr std::size_t in_world = 256, together = 16; // of one world, whose memory is not for all; side by side
    for (std::size_t first = 0; first < sizes.size(); first += in_world)
    {
        run(3, first, [&](Communicator& c, Partitioned& partitioned) {
            std::vector<CollectiveCase> cases;
            const std::size_t end = std::min(first + in_world, sizes.size());
            for (std::size_t i = first; i < end; ++i)
            {
                for (const Algorithm algorithm : {Algorithm::OneShot, Algorithm::TwoShot, Algorithm::Ring})
                {
                    cases.push_back({Collective::AllReduce, algorithm, {ElementType::Float, 1, sizes[i]}});
                }
                if (cases.size() < 3 * together && i + 1 < end) { continue; }
                run_epochs(partitioned, cases, 3, c.rank(), 1);
                cases.clear();
            }
        });
    }
}

TEST_P(PartitionedCollectives, of_every_kind_type_and_number_of_members_in_place_and_misaligned)
{
    for (const int ranks : {1, 2, 3, 5})
    {
        run(ranks, static_cast<std::uint64_t>(ranks), [&](Communicator& c, Partitioned& partitioned) {
            for (const ElementType type : {ElementType::Float, ElementType::Double, ElementType::Half, ElementType::Bfloat16})
            {
                std::vector<CollectiveCase> cases;
                for (const std::size_t count : {0, 1, 17, 100})
                {
                    for (CollectiveCase what : all_cases({type, 2, count}))
                    {
                        what.is_in_place = count == 17;
                        what.shift = count % 16;
                        what.root = ranks - 1;
                        what.reduction = count == 100 ? Reduction::Max : count == 1 ? Reduction::Min : Reduction::Sum;
                        cases.push_back(what);
                    }
                }
                run_epochs(partitioned, cases, ranks, c.rank(), 3);
            }
        });
    }
}

TEST_P(PartitionedCollectives, have_the_same_bits_on_all_ranks_and_in_all_runs)
{
    constexpr int ranks = 4, runs = 3;
    constexpr std::size_t n = 1000;
    const std::array<Algorithm, 3> algorithms = {Algorithm::OneShot, Algorithm::TwoShot, Algorithm::Ring};
    const Shared<std::array<std::array<double, n>, 3 * runs * ranks>> results;
    for (int r = 0; r < runs; ++r)
    {
        run(ranks, static_cast<std::uint64_t>(r), [&](Communicator& c, Partitioned& partitioned) {
            Jitter jitter(static_cast<std::uint64_t>(r * ranks + c.rank()));
            std::vector<double> input(n);
            for (std::size_t i = 0; i < n; ++i) { input[i] = rough_number<double>(c.rank(), i); }
            for (std::size_t a = 0; a < algorithms.size(); ++a)
            {
                auto& result = (*results)[(a * runs + static_cast<std::size_t>(r)) * ranks + static_cast<std::size_t>(c.rank())];
                CollectiveRequest sum = pallreduce_init(partitioned, input.data(), result.data(), {ElementType::Double, 4, n / 4},
                                                        Reduction::Sum, {.algorithm = algorithms[a]});
                sum.start();
                for (const int p : {2, 0, 3, 1})
                {
                    jitter();
                    sum.pready((p + c.rank()) % 4);
                }
                sum.wait();
            }
        });
    }
    for (std::size_t a = 0; a < algorithms.size(); ++a)
    {
        const Schedule schedule = make_schedule(Collective::AllReduce, algorithms[a], ranks, 0);
        const ChunkLayout layout = layouts_of(Collective::AllReduce, schedule, 4, n / 4).result;
        for (int p = 0; p < 4; ++p)
        {
            for (int chunk = 0; chunk < schedule.chunks; ++chunk)
            {
                const Extent extent = layout.extent(p, chunk);
                for (std::size_t i = extent.begin; i < extent.begin + extent.count; ++i)
                {
                    // A ring begins with the member after the chunk's own, the others with member 0.
                    const int first = algorithms[a] == Algorithm::Ring ? chunk + 1 : 0;
                    double expected = rough_number<double>(first % ranks, i);
                    for (int m = 1; m < ranks; ++m) { expected += rough_number<double>((first + m) % ranks, i); }
                    for (std::size_t of = 0; of < runs * ranks; ++of)
                    {
                        ASSERT_EQ(std::bit_cast<std::uint64_t>((*results)[a * runs * ranks + of][i]),
                                  std::bit_cast<std::uint64_t>(expected))
                            << "algorithm " << a << ", element " << i;
                    }
                }
            }
        }
    }
}

TEST_P(PartitionedCollectives, may_be_marked_by_any_thread_in_any_order_and_read_one_by_one)
{
    constexpr int partitions = 6;
    for (const int ranks : {1, 3}) // a lone rank's partitions are complete when they are marked, by the thread that marks
    {
        run(ranks, 5, [&, ranks](Communicator& c, Partitioned& partitioned) {
            Member member(partitioned, {Collective::AllReduce, Algorithm::Ring, {ElementType::Float, partitions, 50}}, ranks,
                          c.rank());
            const auto epochs = static_cast<std::uint64_t>(GetParam().scaled(200));
            for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch)
            {
                member.request.start();
                std::vector<std::thread> threads;
                for (int t = 0; t < 2; ++t)
                {
                    threads.emplace_back([&, t] {
                        Jitter jitter(epoch * 8 + static_cast<std::uint64_t>(c.rank() * 2 + t));
                        for (int k = t; k < partitions; k += 2)
                        {
                            const int p = (k + 2 * c.rank()) % partitions;
                            member.fill(epoch, p);
                            jitter();
                            member.request.pready(p);
                        }
                    });
                }
                std::vector<bool> is_read(partitions);
                EXPECT_TRUE(comes_true([&] {
                    for (int p = 0; p < partitions; ++p)
                    {
                        if (is_read[static_cast<std::size_t>(p)] || !member.request.parrived(p)) { continue; }
                        EXPECT_EQ(member.wrong(epoch, p), 0);
                        is_read[static_cast<std::size_t>(p)] = true;
                    }
                    return std::count(is_read.begin(), is_read.end(), true) == partitions;
                }));
                for (std::thread& thread : threads) { thread.join(); }
                member.wait_and_check(epoch);
            }
        });
    }
}

// The epoch ends while another thread has just marked the last partition: it must have left the request by then.
TEST_P(PartitionedCollectivesOfThreads, end_when_the_threads_that_mark_have_left)
{
    run(2, 6, [&](Communicator& c, Partitioned& partitioned) {
        constexpr int threads = 6; // so that now and then one has marked and not looked yet when another goes on for it
        const auto epochs = static_cast<std::uint64_t>(GetParam().scaled(500));
        Member member(partitioned, {Collective::AllReduce, Algorithm::OneShot, {ElementType::Float, threads, 8}}, 2, c.rank());
        std::atomic<std::uint64_t> started = 0;
        std::vector<std::thread> marking;
        for (int p = 0; p < threads; ++p)
        {
            marking.emplace_back([&, p] {
                for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch)
                {
                    while (started.load(std::memory_order_acquire) < epoch) { std::this_thread::yield(); }
                    member.fill(epoch, p);
                    member.request.pready(p);
                }
            });
        }
        for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch)
        {
            member.request.start();
            started.store(epoch, std::memory_order_release);
            member.wait_and_check(epoch);
        }
        for (std::thread& thread : marking) { thread.join(); }
    });
}

// Each partition by every thread, which asks while another one moves it on.
TEST_P(PartitionedCollectivesOfThreads, may_be_read_by_several_threads_at_once)
{
    constexpr int partitions = 8, readers = 3;
    run(2, 12, [&](Communicator& c, Partitioned& partitioned) {
        const CollectiveCase what{Collective::AllReduce, Algorithm::OneShot, {ElementType::Float, partitions, 8}};
        Member member(partitioned, what, 2, c.rank());
        const auto epochs = static_cast<std::uint64_t>(GetParam().scaled(200));
        for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch)
        {
            member.start_and_fill(epoch);
            const auto read_all = [&] {
                for (int p = 0; p < partitions; ++p)
                {
                    EXPECT_TRUE(comes_true([&] { return member.request.parrived(p); }));
                    EXPECT_EQ(member.wrong(epoch, p), 0);
                }
            };
            std::vector<std::thread> threads;
            for (int t = 0; t < readers; ++t) { threads.emplace_back(read_all); }
            read_all(); // this thread opens the channels
            for (std::thread& thread : threads) { thread.join(); }
            member.wait_and_check(epoch);
        }
    });
}

// The channels are opened by the rank's own thread, while another one already marks.
TEST_P(PartitionedCollectivesOfThreads, may_be_marked_before_the_others_have_made_it)
{
    constexpr int partitions = 64;
    for (int round = 0; round < 10; ++round)
    {
        run(2, 11, [&](Communicator& c, Partitioned& partitioned) {
            if (c.rank() == 1) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
            const CollectiveCase what{Collective::AllReduce, Algorithm::OneShot, {ElementType::Float, partitions, 8}};
            Member member(partitioned, what, 2, c.rank());
            member.request.start();
            std::thread marking([&] {
                for (int p = 0; p < partitions; ++p)
                {
                    member.fill(1, p);
                    member.request.pready(p);
                    std::this_thread::sleep_for(std::chrono::microseconds(50));
                }
            });
            member.wait_and_check(1);
            marking.join();
        });
    }
}

// Each rank starts and waits in an order of its own; what one waits for, all move on.
TEST_P(PartitionedCollectives, go_on_side_by_side_among_groups_and_in_any_order)
{
    constexpr int ranks = 4;
    run(ranks, 7, [&](Communicator& c, Partitioned& partitioned) {
        const std::vector<std::vector<int>> groups = {{}, {3, 1, 0}, {2, 3}, {0, 1, 2, 3}};
        std::vector<std::unique_ptr<Member>> members;
        for (const std::vector<int>& group : groups)
        {
            const auto found = std::find(group.begin(), group.end(), c.rank());
            if (!group.empty() && found == group.end()) { continue; }
            const int n = group.empty() ? ranks : static_cast<int>(group.size());
            const int place = group.empty() ? c.rank() : static_cast<int>(found - group.begin());
            for (const CollectiveCase& what : all_cases({ElementType::Float, 2, 40}))
            {
                members.push_back(std::make_unique<Member>(partitioned, what, n, place, CollectiveOptions{.members = group}));
            }
        }
        for (std::uint64_t epoch = 1; epoch <= 5; ++epoch)
        {
            std::mt19937 random(static_cast<unsigned>(epoch * 8 + static_cast<std::uint64_t>(c.rank())));
            std::shuffle(members.begin(), members.end(), random);
            for (const auto& member : members) { member->start_and_fill(epoch); }
            std::shuffle(members.begin(), members.end(), random);
            for (const auto& member : members) { member->wait_and_check(epoch); }
        }
    });
}

TEST_P(PartitionedCollectives, go_on_where_the_counter_of_epochs_wraps)
{
    run(3, 8, [&](Communicator& c, Partitioned& partitioned) {
        for (const Word first : {(Word{1} << 32) - 5, ~Word{0} - 5})
        {
            run_epochs(partitioned, all_cases({ElementType::Float, 1, 30}), 3, c.rank(), 20, {.first_epoch = first});
        }
    });
}

TEST_P(PartitionedCollectives, of_many_epochs_out_of_step_stay_right)
{
    run(3, 9, [&](Communicator& c, Partitioned& partitioned) {
        std::vector<std::unique_ptr<Member>> members;
        for (const CollectiveCase& what : all_cases({ElementType::Float, 2, 11}))
        {
            members.push_back(std::make_unique<Member>(partitioned, what, 3, c.rank()));
        }
        Jitter jitter(static_cast<std::uint64_t>(c.rank()));
        const auto epochs = static_cast<std::uint64_t>(GetParam().scaled(100));
        for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch)
        {
            for (const auto& member : members)
            {
                member->start_and_fill(epoch);
                jitter();
                member->wait_and_check(epoch);
            }
        }
    });
}

TEST_P(PartitionedCollectives, end_only_when_this_rank_has_marked_all)
{
    run(2, 10, [&](Communicator& c, Partitioned& partitioned) {
        Member member(partitioned, {Collective::AllReduce, Algorithm::OneShot, {ElementType::Double, 2, 3}}, 2, c.rank());
        member.request.start();
        member.request.pbuf_prepare();
        member.fill(1, 1);
        member.request.pready(1);
        EXPECT_TRUE(comes_true([&] { return member.request.parrived(1); }));
        EXPECT_EQ(member.wrong(1, 1), 0);
        EXPECT_FALSE(member.request.parrived(0));
        EXPECT_FALSE(member.request.test());
        c.barrier();
        member.fill(1, 0);
        member.request.pready(0);
        member.wait_and_check(1);
        EXPECT_FALSE(member.request.is_active());
        EXPECT_TRUE(member.request.parrived(0));
    });
}

INSTANTIATE_TEST_SUITE_P(Transports, PartitionedCollectives, testing::ValuesIn(transport_cases),
                         [](const auto& i) { return i.param.name; });

INSTANTIATE_TEST_SUITE_P(Transports, PartitionedCollectivesOfThreads, testing::ValuesIn(thread_cases()),
                         [](const auto& i) { return i.param.name; });

// --- the rules, and what ends in vain

TEST(PartitionedCollectiveMisuse, has_an_error_for_each_illegal_call)
{
    World world(thread_network(1));
    check_ranks(world, [](Communicator& c) {
        Partitioned partitioned(c);
        std::vector<double> x(8);
        const Elements two{ElementType::Double, 2, 4};
        CollectiveRequest sum = pallreduce_init(partitioned, x.data(), x.data(), two, Reduction::Sum);
        EXPECT_EQ(misuse_of([&] { sum.pready(0); }), Misuse::NotActive);
        sum.start();
        EXPECT_EQ(misuse_of([&] { sum.start(); }), Misuse::Active);
        EXPECT_EQ(misuse_of([&] { sum.pready(2); }), Misuse::PartitionOutOfRange);
        EXPECT_EQ(misuse_of([&] { sum.parrived(-1); }), Misuse::PartitionOutOfRange);
        sum.pready(0);
        EXPECT_EQ(misuse_of([&] { sum.pready(0); }), Misuse::ReadyTwice);
        EXPECT_EQ(misuse_of([&] { sum.free(); }), Misuse::Active);
        sum.pready(1);
        sum.wait();
        sum.free();
        EXPECT_EQ(misuse_of([&] { sum.pready(0); }), Misuse::Null);
        EXPECT_TRUE(sum.parrived(0));

        const auto made = [&](const Elements& elements, const CollectiveOptions& options, std::size_t offset = 0) {
            const std::byte* const input = reinterpret_cast<const std::byte*>(x.data()) + offset;
            return misuse_of([&] { pallreduce_init(partitioned, input, x.data(), elements, Reduction::Sum, options); });
        };
        EXPECT_EQ(made({ElementType::Double, 0, 4}, {}), Misuse::BadArgument);
        EXPECT_EQ(made(two, {}, 4), Misuse::BadArgument); // not aligned to its elements
        EXPECT_EQ(made(two, {.members = {1}}), Misuse::BadArgument);
        EXPECT_EQ(made(two, {.members = {0, 0}}), Misuse::BadArgument);
        EXPECT_EQ(misuse_of([&] { pbroadcast_init(partitioned, x.data(), two, 1); }), Misuse::BadArgument);
        EXPECT_EQ(misuse_of([&] { pbroadcast_init(partitioned, x.data(), two, 0, {.algorithm = Algorithm::TwoShot}); }),
                  Misuse::BadArgument);
    });
}

TEST(PartitionedCollectiveMisuse, includes_a_mark_by_who_has_no_input)
{
    World world(thread_network(2));
    check_ranks(world, [](Communicator& c) {
        Partitioned partitioned(c);
        double x = 1 + c.rank();
        CollectiveRequest send = pbroadcast_init(partitioned, &x, {ElementType::Double, 1, 1}, 0);
        send.start();
        if (c.rank() == 0) { send.pready(0); }
        else
        {
            EXPECT_EQ(misuse_of([&] { send.pready(0); }), Misuse::BadArgument);
        }
        send.wait();
        EXPECT_EQ(x, 1);
    });
}

namespace {

// How each rank's collective ends where rank 1 does it differently, from the third epoch on.
std::vector<std::string> ends_of(const std::function<void(Member&, std::uint64_t epoch)>& of_rank_1)
{
    WorldOptions options;
    options.deadline = std::chrono::seconds(1); // more than a busy machine keeps a rank from running
    World world(thread_network(3), options);
    std::vector<std::string> texts;
    const auto ends = outcomes(world, [&](Communicator& c) {
        Partitioned partitioned(c);
        Member member(partitioned, {Collective::AllReduce, Algorithm::Ring, {ElementType::Float, 2, 30}}, 3, c.rank());
        for (std::uint64_t epoch = 1; epoch <= 5; ++epoch)
        {
            if (c.rank() == 1 && epoch >= 3) { of_rank_1(member, epoch); }
            member.start_and_fill(epoch);
            member.wait_and_check(epoch);
        }
    });
    for (const std::exception_ptr& end : ends)
    {
        texts.emplace_back();
        try
        {
            if (end) { std::rethrow_exception(end); }
        }
        catch (const std::exception& e)
        {
            texts.back() = e.what();
        }
    }
    return texts;
}

} // namespace

TEST(PartitionedCollectiveFaults, a_dead_member_ends_all_waits_with_one_sentence)
{
    const std::vector<std::string> texts = ends_of([](Member&, std::uint64_t) { throw RankDied(); });
    const std::string sentence = " timed out after 1 s waiting for rank ";
    EXPECT_EQ(texts[1], "");
    const bool is_first = texts[0].find(sentence) != std::string::npos;
    EXPECT_NE(texts[is_first ? 0 : 2].find(sentence), std::string::npos) << texts[0] << "\n" << texts[2];
    EXPECT_NE(texts[is_first ? 2 : 0].find("stopped because rank"), std::string::npos) << texts[0] << "\n" << texts[2];
    EXPECT_NE(texts[is_first ? 0 : 2].find("all-reduce over ranks 0 1 2"), std::string::npos);
}

TEST(PartitionedCollectiveFaults, a_partition_that_is_not_marked_is_named)
{
    const std::vector<std::string> texts = ends_of([](Member& member, std::uint64_t epoch) {
        member.request.start();
        member.fill(epoch, 0);
        member.request.pready(0);
        member.request.wait();
    });
    const auto told = std::count_if(texts.begin(), texts.end(), [](const std::string& t) {
        return t.find("partition 1 of its own to be marked ready") != std::string::npos ||
               t.find(" in partition 1: ") != std::string::npos;
    });
    EXPECT_EQ(told, 1) << texts[0] << "\n" << texts[1] << "\n" << texts[2];
}
