// SPDX-License-Identifier: Apache-2.0
// Collectives of one call: what becomes of every kind, type and size against closed forms, over every transport; which bits; what
// all ranks hear if they ask for different things; and how a call ends if a rank is missing.
#include "comm/partitioned/collective_calls.hpp"

#include "comm/core/failures.hpp"
#include "comm/partitioned/misuse_of.hpp"
#include "comm/ranks.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>

using namespace parhelion;

namespace {

class CollectiveCallsOf : public testing::TestWithParam<TransportCase>
{
};

const std::vector<ElementType> number_types = {ElementType::Float, ElementType::Double, ElementType::Half, ElementType::Bfloat16,
                                               ElementType::Int32, ElementType::Int64,  ElementType::Uint8};
const std::vector<Reduction> reductions = {Reduction::Sum, Reduction::Min, Reduction::Max, Reduction::Product,
                                           Reduction::Average};

bool is_whole(ElementType type) { return type >= ElementType::Int32; }

// 1, 2 or 3: products of four of them are exact in every type, and so are quarters and thirds of nothing but whole sums.
double number(int place, std::size_t i) { return 1 + static_cast<double>((static_cast<std::size_t>(place) * 7 + i) % 3); }

template <class T>
void put(std::byte* at, T x)
{
    std::memcpy(at, &x, sizeof x);
}
template <class T>
T get(const std::byte* at)
{
    T x;
    std::memcpy(&x, at, sizeof x);
    return x;
}
// An element as a number, and back.
void put_as(ElementType type, std::byte* at, double x)
{
    switch (type)
    {
    case ElementType::Float:
        return put(at, static_cast<float>(x));
    case ElementType::Double:
        return put(at, x);
    case ElementType::Half:
        return put(at, as_half(static_cast<float>(x)));
    case ElementType::Bfloat16:
        return put(at, as_bfloat16(static_cast<float>(x)));
    case ElementType::Int32:
        return put(at, static_cast<std::int32_t>(x));
    case ElementType::Int64:
        return put(at, static_cast<std::int64_t>(x));
    default:
        return put(at, static_cast<std::uint8_t>(x));
    }
}
double get_as(ElementType type, const std::byte* at)
{
    switch (type)
    {
    case ElementType::Float:
        return get<float>(at);
    case ElementType::Double:
        return get<double>(at);
    case ElementType::Half:
        return as_float(get<Half>(at));
    case ElementType::Bfloat16:
        return as_float(get<Bfloat16>(at));
    case ElementType::Int32:
        return get<std::int32_t>(at);
    case ElementType::Int64:
        return static_cast<double>(get<std::int64_t>(at));
    default:
        return get<std::uint8_t>(at);
    }
}

// What the terms of these members, from `first` to before `end`, become.
double combination(ElementType type, Reduction reduction, int first, int end, std::size_t i)
{
    double x = number(first, i);
    for (int m = first + 1; m < end; ++m)
    {
        const double y = number(m, i);
        x = reduction == Reduction::Min       ? std::min(x, y)
            : reduction == Reduction::Max     ? std::max(x, y)
            : reduction == Reduction::Product ? x * y
                                              : x + y;
    }
    if (reduction != Reduction::Average) { return x; }
    x /= end - first;
    std::byte rounded[8]; // as its type has it: thirds are none
    put_as(type, rounded, is_whole(type) ? std::trunc(x) : type == ElementType::Double ? x : static_cast<float>(x));
    return get_as(type, rounded);
}

constexpr std::byte untouched{0xA5};

// A buffer of elements with room around it that must stay as it is.
class Buffer
{
public:
    Buffer(ElementType type, std::size_t count)
        : type_(type), count_(count), bytes_(room + count * bytes_of(type) + room, untouched)
    {
    }
    std::byte* data() { return bytes_.data() + room; }
    std::byte* at(std::size_t i) { return data() + i * bytes_of(type_); }
    Buffer& fill(const std::function<double(std::size_t)>& number)
    {
        for (std::size_t i = 0; i < count_; ++i) { put_as(type_, at(i), number(i)); }
        return *this;
    }
    // The first element that is not this number, or -1; -2: something around them has changed.
    int wrong(const std::function<double(std::size_t)>& expected)
    {
        const auto is_as_it_was = [&](std::size_t begin) {
            return std::all_of(bytes_.begin() + static_cast<std::ptrdiff_t>(begin),
                               bytes_.begin() + static_cast<std::ptrdiff_t>(begin + room),
                               [](std::byte b) { return b == untouched; });
        };
        if (!is_as_it_was(0) || !is_as_it_was(bytes_.size() - room)) { return -2; }
        for (std::size_t i = 0; i < count_; ++i)
        {
            if (get_as(type_, at(i)) != expected(i)) { return static_cast<int>(i); }
        }
        return -1;
    }
    bool is_untouched()
    {
        return std::all_of(bytes_.begin(), bytes_.end(), [](std::byte b) { return b == untouched; });
    }

private:
    static constexpr std::size_t room = 128;
    ElementType type_;
    std::size_t count_;
    std::vector<std::byte> bytes_;
};

// All reductions of `count` elements, in place or not.
void check_reductions(CollectiveCalls& calls, int n, int place, const ElementBlock& block, Reduction reduction, int root,
                      bool is_in_place)
{
    const std::size_t count = block.count;
    const auto mine = [&](std::size_t i) { return number(place, i); };
    const auto all = [&](std::size_t i) { return combination(block.type, reduction, 0, n, i); };
    const auto run = [&](auto&& call) {
        Buffer input(block.type, count), result(block.type, count);
        input.fill(mine);
        Buffer& to = is_in_place ? input : result;
        call(input.data(), to.data());
        return to;
    };
    EXPECT_EQ(run([&](auto* in, auto* out) { calls.allreduce(in, out, block, reduction); }).wrong(all), -1);
    Buffer of_root = run([&](auto* in, auto* out) { calls.reduce(in, out, block, reduction, root); });
    if (place == root) { EXPECT_EQ(of_root.wrong(all), -1); }
    else { EXPECT_TRUE(is_in_place ? of_root.wrong(mine) == -1 : of_root.is_untouched()); }
    const auto before = [&](int end) {
        return [&, end](std::size_t i) { return combination(block.type, reduction, 0, end, i); };
    };
    EXPECT_EQ(run([&](auto* in, auto* out) { calls.scan(in, out, block, reduction); }).wrong(before(place + 1)), -1);
    Buffer exclusive = run([&](auto* in, auto* out) { calls.exclusive_scan(in, out, block, reduction); });
    if (place > 0) { EXPECT_EQ(exclusive.wrong(before(place)), -1); }
    else { EXPECT_TRUE(is_in_place ? exclusive.wrong(mine) == -1 : exclusive.is_untouched()); }
    Buffer blocks(block.type, static_cast<std::size_t>(n) * count), result(block.type, count);
    blocks.fill(mine);
    std::byte* const to = is_in_place ? blocks.at(static_cast<std::size_t>(place) * count) : result.data();
    calls.reduce_scatter(blocks.data(), to, block, reduction);
    for (std::size_t i = 0; i < count; ++i)
    {
        ASSERT_EQ(get_as(block.type, to + i * bytes_of(block.type)), all(static_cast<std::size_t>(place) * count + i)) << i;
    }
}

// Element i of what a member has for another one, of calls that copy.
double copied(int from, int to, std::size_t i)
{
    return static_cast<double>((static_cast<std::size_t>(from * 31 + to * 7) + i) % 101);
}

void check_copies(CollectiveCalls& calls, int n, int place, const ElementBlock& block, int root, bool is_in_place)
{
    const std::size_t count = block.count, all = static_cast<std::size_t>(n) * count;
    const auto own = static_cast<std::size_t>(place) * count;
    const auto of = [&](std::size_t i) { return static_cast<int>(i / count); };
    const auto mine = [&](std::size_t i) { return copied(place, 0, i); };
    const auto of_all = [&](std::size_t i) { return copied(of(i), 0, i % count); };
    const auto gathered = [&](auto&& call) {
        Buffer input(block.type, count), result(block.type, all);
        input.fill(mine);
        if (is_in_place && count > 0) { std::memcpy(result.at(own), input.data(), count * bytes_of(block.type)); }
        call(is_in_place ? result.at(own) : input.data(), result.data());
        return result;
    };
    EXPECT_EQ(gathered([&](auto* in, auto* out) { calls.allgather(in, out, block); }).wrong(of_all), -1);
    Buffer at_root = gathered([&](auto* in, auto* out) { calls.gather(in, out, block, root); });
    if (place == root) { EXPECT_EQ(at_root.wrong(of_all), -1); }
    Buffer input(block.type, all), result(block.type, count);
    input.fill([&](std::size_t i) { return copied(root, of(i), i % count); });
    const bool is_block_of_root = is_in_place && place == root;
    calls.scatter(place == root ? input.data() : nullptr, is_block_of_root ? input.at(own) : result.data(), block, root);
    if (!is_block_of_root)
    {
        EXPECT_EQ(result.wrong([&](std::size_t i) { return copied(root, place, i); }), -1);
    }
    Buffer whole(block.type, count);
    if (place == root)
    {
        whole.fill([&](std::size_t i) { return copied(root, 99, i); });
    }
    calls.broadcast(whole.data(), block, root);
    EXPECT_EQ(whole.wrong([&](std::size_t i) { return copied(root, 99, i); }), -1);
    Buffer from(block.type, all), to(block.type, all);
    from.fill([&](std::size_t i) { return copied(place, of(i), i % count); });
    calls.alltoall(from.data(), to.data(), block);
    EXPECT_EQ(to.wrong([&](std::size_t i) { return copied(of(i), place, i % count); }), -1);
}

// How many elements a member has for another, of which some have none.
std::size_t share(int from, int to, std::size_t scale) { return static_cast<std::size_t>((from * 3 + to * 5) % 7) * scale; }

// The blocks of a member's buffer, last first, with a gap between each two.
struct Table
{
    std::vector<std::size_t> counts, offsets;
    std::size_t all = 0;

    Table(int n, const std::function<std::size_t(int)>& count) : counts(static_cast<std::size_t>(n)), offsets(counts.size())
    {
        for (int m = n - 1; m >= 0; --m)
        {
            counts[static_cast<std::size_t>(m)] = count(m);
            offsets[static_cast<std::size_t>(m)] = all;
            all += count(m) + 3;
        }
    }
    BlockTable blocks() const { return {counts, offsets}; }
};

void fill(Buffer& buffer, const Table& table, ElementType type, const std::function<double(int m, std::size_t i)>& number)
{
    for (std::size_t m = 0; m < table.counts.size(); ++m)
    {
        for (std::size_t i = 0; i < table.counts[m]; ++i)
        {
            put_as(type, buffer.at(table.offsets[m] + i), number(static_cast<int>(m), i));
        }
    }
}

// Equals `expected` in its blocks, and is untouched elsewhere.
bool is_filled(Buffer& buffer, const Table& table, ElementType type, const std::function<double(int m, std::size_t i)>& number)
{
    Buffer expected(type, table.all);
    fill(expected, table, type, number);
    return std::memcmp(buffer.data(), expected.data(), table.all * bytes_of(type)) == 0;
}

void check_counts_of_each(CollectiveCalls& calls, int n, int place, ElementType type, std::size_t scale, int root)
{
    const Table out(n, [&](int m) { return share(place, m, scale); }), in(n, [&](int m) { return share(m, place, scale); });
    Buffer input(type, out.all), result(type, in.all);
    fill(input, out, type, [&](int m, std::size_t i) { return copied(place, m, i); });
    calls.alltoall_v(input.data(), out.blocks(), result.data(), in.blocks(), type);
    EXPECT_TRUE(is_filled(result, in, type, [&](int m, std::size_t i) { return copied(m, place, i); }));

    const Table to_root(n, [&](int m) { return share(m, root, scale); });
    const std::size_t mine = share(place, root, scale);
    Buffer own(type, mine), gathered(type, to_root.all);
    own.fill([&](std::size_t i) { return copied(place, root, i); });
    calls.gather_v(own.data(), {type, mine}, gathered.data(), place == root ? to_root.blocks() : BlockTable{}, root);
    if (place == root)
    {
        EXPECT_TRUE(is_filled(gathered, to_root, type, [&](int m, std::size_t i) { return copied(m, root, i); }));
    }
    else { EXPECT_TRUE(gathered.is_untouched()); }

    const Table of_root(n, [&](int m) { return share(root, m, scale); });
    const std::size_t for_me = share(root, place, scale);
    Buffer scattered(type, for_me), source(type, of_root.all);
    fill(source, of_root, type, [&](int m, std::size_t i) { return copied(root, m, i); });
    calls.scatter_v(source.data(), place == root ? of_root.blocks() : BlockTable{}, scattered.data(), {type, for_me}, root);
    EXPECT_EQ(scattered.wrong([&](std::size_t i) { return copied(root, place, i); }), -1);
}

} // namespace

TEST_P(CollectiveCallsOf, ranks_give_closed_forms_for_every_type_and_reduction)
{
    GetParam().run(4, 91, [](Communicator& c) {
        Partitioned partitioned(c);
        CollectiveCalls calls(partitioned);
        Jitter jitter(static_cast<std::uint64_t>(c.rank()));
        int root = 0;
        for (const ElementType type : number_types)
        {
            for (const Reduction reduction : reductions)
            {
                jitter();
                check_reductions(calls, 4, c.rank(), {type, 37}, reduction, root, root % 2 == 1);
                root = (root + 1) % 4;
            }
        }
    });
}

// None, one, a slot's worth and one more, and what goes in two rounds and many chunks.
TEST_P(CollectiveCallsOf, ranks_give_closed_forms_at_every_size)
{
    const auto of = [](int ranks, const std::vector<std::size_t>& counts) {
        GetParam().run(ranks, 92, [&](Communicator& c) {
            Partitioned partitioned(c);
            CollectiveCalls calls(partitioned);
            Jitter jitter(static_cast<std::uint64_t>(c.rank()));
            for (const std::size_t count : counts)
            {
                for (const bool is_in_place : {false, true})
                {
                    jitter();
                    const int root = static_cast<int>(count) % ranks;
                    check_reductions(calls, ranks, c.rank(), {ElementType::Double, count}, Reduction::Sum, root, is_in_place);
                    check_copies(calls, ranks, c.rank(), {ElementType::Int32, count}, root, is_in_place);
                }
                check_copies(calls, ranks, c.rank(), {ElementType::Uint8, count}, ranks - 1, false);
                check_counts_of_each(calls, ranks, c.rank(), ElementType::Float, count / 3, static_cast<int>(count) % ranks);
            }
        });
    };
    of(3, {0, 1, 7, 2048, 2049, 8184, 8192, GetParam().is_slow() ? std::size_t{20001} : std::size_t{60001}});
    of(2, {0, 5, 30000});
    of(1, {0, 5});
}

// Groups in another order than ranks, overlapping, several of the same members, while all are called, too.
TEST_P(CollectiveCallsOf, groups_go_on_side_by_side)
{
    const std::vector<std::vector<int>> groups = {{3, 1}, {0, 2}, {2, 0, 3}, {2, 0, 3}, {1}};
    GetParam().run(4, 93, [&](Communicator& c) {
        Partitioned partitioned(c);
        CollectiveCalls all(partitioned);
        std::vector<std::optional<CollectiveCalls>> parts(groups.size());
        const auto place_in = [&](const std::vector<int>& members) {
            return static_cast<int>(std::find(members.begin(), members.end(), c.rank()) - members.begin());
        };
        for (std::size_t g = 0; g < groups.size(); ++g)
        {
            const bool is_member = place_in(groups[g]) < static_cast<int>(groups[g].size());
            if (is_member) { parts[g].emplace(partitioned, groups[g], "group " + std::to_string(g)); }
        }
        for (int round = 0; round < 5; ++round)
        {
            for (std::size_t g = 0; g < groups.size(); ++g)
            {
                if (!parts[g]) { continue; }
                const int n = static_cast<int>(groups[g].size()), place = place_in(groups[g]);
                check_reductions(*parts[g], n, place, {ElementType::Double, 100}, Reduction::Sum, round % n, false);
                check_copies(*parts[g], n, place, {ElementType::Int64, 50}, round % n, false);
                parts[g]->barrier();
            }
            check_counts_of_each(all, 4, c.rank(), ElementType::Uint8, 11, round % 4);
            EXPECT_EQ(all.split({c.rank(), round})[3], (std::array<int, 2>{3, round}));
        }
    });
}

// Terms that cancel, and one that is lost between them: the order shows. Whatever the algorithm, it is that of the group.
TEST_P(CollectiveCallsOf, ranks_combine_in_the_order_of_the_group)
{
    const std::vector<int> members = {2, 0, 1};
    GetParam().run(3, 94, [&](Communicator& c) {
        Partitioned partitioned(c);
        CollectiveCalls calls(partitioned, members, "in another order");
        const double terms[] = {1.0, -1e16, 1e16}; // by rank: in the group's order 1e16 + 1 - 1e16, which is 0
        for (const std::size_t count : {std::size_t{3}, std::size_t{3001}, std::size_t{30001}})
        {
            std::vector<double> x(count, terms[c.rank()]), sum(count);
            calls.allreduce(x.data(), sum.data(), {ElementType::Double, count}, Reduction::Sum);
            EXPECT_EQ(std::count(sum.begin(), sum.end(), 0.0), static_cast<std::ptrdiff_t>(count));
            calls.scan(x.data(), x.data(), {ElementType::Double, count}, Reduction::Sum);
            EXPECT_EQ(x.back(), c.rank() == 1 ? 0.0 : 1e16);
        }
    });
}

// Whoever waits in a call moves its requests on: a partition that was marked too early leaves meanwhile.
TEST_P(CollectiveCallsOf, ranks_let_requests_go_on)
{
    GetParam().run(2, 95, [](Communicator& c) {
        Partitioned partitioned(c);
        CollectiveCalls calls(partitioned);
        double x = 1.5, y = 0;
        if (c.rank() == 0)
        {
            SendRequest send = partitioned.psend_init(reinterpret_cast<std::byte*>(&x), {1, sizeof x}, {1});
            send.start();
            send.pready(0); // nobody receives yet
            calls.barrier();
            send.wait();
        }
        else
        {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            ReceiveRequest receive = partitioned.precv_init(reinterpret_cast<std::byte*>(&y), {1, sizeof y}, {0});
            receive.start();
            receive.wait();
            calls.barrier();
            EXPECT_EQ(y, 1.5);
        }
    });
}

namespace {

using Act = std::function<void(CollectiveCalls&)>;

std::string refused(CollectiveCalls& calls, const Act& act)
{
    try
    {
        act(calls);
    }
    catch (const PartitionedError& e)
    {
        EXPECT_EQ(e.misuse(), Misuse::BadArgument);
        return e.what();
    }
    return "nothing was refused";
}

} // namespace

TEST_P(CollectiveCallsOf, ranks_that_ask_for_different_things_are_all_told_and_may_go_on)
{
    static double x[64], y[64];
    const std::array<std::size_t, 3> two = {2, 2, 2}, three = {2, 3, 2}, offsets = {0, 10, 20};
    const auto sum = [](std::size_t count, ElementType type, Reduction by) {
        return [=](CollectiveCalls& calls) { calls.allreduce(x, y, {type, count}, by); };
    };
    const auto to = [](int root) { return [=](CollectiveCalls& calls) { calls.gather(x, y, {ElementType::Double, 4}, root); }; };
    const auto swap = [&](const std::array<std::size_t, 3>& counts) {
        return [&](CollectiveCalls& calls) { calls.alltoall_v(x, {counts, offsets}, y, {two, offsets}, ElementType::Double); };
    };
    const Act plain = sum(5, ElementType::Double, Reduction::Sum), barrier = [](CollectiveCalls&calls) { calls.barrier(); };
    struct Different
    {
        Act of_all, of_rank_1;
        std::string told;
    };
    const std::vector<Different> cases = {
        {plain, barrier, "rank 0 for all-reduce by sum of 5 double, rank 1 for barrier"},
        {barrier,
         [](CollectiveCalls& calls) {
             calls.split({1, 2});
         },
         "rank 0 for barrier, rank 1 for split"},
        {plain, sum(6, ElementType::Double, Reduction::Sum), "of 5 double, rank 1 for all-reduce by sum of 6 double"},
        {plain, sum(5, ElementType::Int64, Reduction::Sum), "of 5 double, rank 1 for all-reduce by sum of 5 int64"},
        {plain, sum(5, ElementType::Double, Reduction::Average), "rank 1 for all-reduce by average of 5 double"},
        {to(0), to(2), "rank 0 for gather of 4 double to member 0, rank 1 for gather of 4 double to member 2"},
        {swap(two), swap(three), "all-to-all-v of double: rank 1 has 3 elements for rank 1, which takes 2 from it"},
    };
    GetParam().run(3, 96, [&](Communicator& c) {
        Partitioned partitioned(c);
        CollectiveCalls calls(partitioned);
        for (const Different& different : cases)
        {
            const std::string told = refused(calls, c.rank() == 1 ? different.of_rank_1 : different.of_all);
            EXPECT_NE(told.find("Collective call over ranks 0 1 2: "), std::string::npos) << told;
            EXPECT_NE(told.find(different.told), std::string::npos) << told;
            check_copies(calls, 3, c.rank(), {ElementType::Int32, 20000}, 1, false); // the channels are as they were
        }
        CollectiveCalls again(partitioned, {0, 1, 2}, "again");
        const std::string told = refused(c.rank() == 1 ? again : calls, barrier);
        const char* const words = c.rank() == 1 ? "rank 0 for barrier in another group, rank 1 for barrier"
                                                : "rank 0 for barrier, rank 1 for barrier in another group";
        EXPECT_NE(told.find(words), std::string::npos) << told;
        again.barrier();
    });
}

INSTANTIATE_TEST_SUITE_P(Transports, CollectiveCallsOf, testing::ValuesIn(transport_cases),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(CollectiveCallMisuse, is_refused_and_changes_nothing)
{
    World world(thread_network(2));
    check_ranks(world, [](Communicator& c) {
        Partitioned partitioned(c);
        CollectiveCalls calls(partitioned);
        double x[8] = {}, y[8] = {};
        const ElementBlock block{ElementType::Double, 4}, bytes{ElementType::Byte, 4}, none{ElementType::Double, 0};
        const ElementBlock huge{ElementType::Double, std::size_t{1} << 60};
        const std::array<std::size_t, 2> counts = {1, 1}, far = {0, std::size_t{1} << 60};
        const auto misuse = [&](auto&& act) { return misuse_of([&] { act(); }); };
        EXPECT_EQ(misuse([&] { calls.allreduce(nullptr, y, block, Reduction::Sum); }), Misuse::Null);
        EXPECT_EQ(misuse([&] { calls.allreduce(x, nullptr, block, Reduction::Sum); }), Misuse::Null);
        EXPECT_EQ(misuse([&] { calls.allreduce(x, x + 1, block, Reduction::Sum); }), Misuse::BadArgument);
        EXPECT_EQ(misuse([&] { calls.allreduce(x, y, bytes, Reduction::Max); }), Misuse::BadArgument);
        EXPECT_EQ(misuse([&] { calls.allreduce(x, y, huge, Reduction::Max); }), Misuse::BadArgument);
        EXPECT_EQ(misuse([&] { calls.allreduce(reinterpret_cast<char*>(x) + 4, y, block, Reduction::Sum); }),
                  Misuse::BadArgument);
        EXPECT_EQ(misuse([&] { calls.alltoall(x, x, {ElementType::Double, 2}); }), Misuse::BadArgument);
        EXPECT_EQ(misuse([&] { calls.allgather(y + 1, y, {ElementType::Double, 2}); }), Misuse::BadArgument);
        for (const int root : {-1, 2})
        {
            EXPECT_EQ(misuse([&] { calls.reduce(x, y, block, Reduction::Sum, root); }), Misuse::BadArgument);
            EXPECT_EQ(misuse([&] { calls.broadcast(x, block, root); }), Misuse::BadArgument);
        }
        EXPECT_EQ(misuse([&] { calls.alltoall_v(x, {counts, {}}, y, {counts, counts}, block.type); }), Misuse::BadArgument);
        EXPECT_EQ(misuse([&] { calls.alltoall_v(x, {counts, far}, y, {counts, counts}, block.type); }), Misuse::BadArgument);
        EXPECT_EQ(misuse([&] { calls.alltoall_v(nullptr, {counts, counts}, y, {counts, counts}, block.type); }), Misuse::Null);
        for (const std::vector<int>& members : {std::vector{0, 1, 2}, std::vector{0, 1, 0}, std::vector{1 - c.rank()}})
        {
            EXPECT_EQ(misuse([&] { CollectiveCalls(partitioned, members); }), Misuse::BadArgument);
        }
        calls.allreduce(nullptr, nullptr, none, Reduction::Sum); // nothing of nothing
        x[0] = 1 + c.rank();
        calls.allreduce(x, y, block, Reduction::Sum);
        EXPECT_EQ(y[0], 3);
    });
}

// A rank that is dead, or has ended, is named, and all waits end.
TEST(CollectiveCallFaults, a_rank_that_is_missing_is_named)
{
    for (const bool has_ended : {false, true})
    {
        WorldOptions options;
        options.deadline = std::chrono::seconds(has_ended ? 20 : 1);
        World world(thread_network(3), options);
        std::vector<std::string> texts;
        const auto ends = outcomes(world, [&](Communicator& c) {
            Partitioned partitioned(c);
            CollectiveCalls calls(partitioned);
            std::vector<double> x(100000), y(100000);
            for (int round = 0;; ++round)
            {
                if (c.rank() == 1 && round == 3)
                {
                    if (has_ended) { world.leave(1); }
                    throw RankDied();
                }
                calls.allreduce(x.data(), y.data(), {ElementType::Double, x.size()}, Reduction::Sum);
            }
        });
        for (const std::exception_ptr& end : ends)
        {
            try
            {
                if (end) { std::rethrow_exception(end); }
                texts.emplace_back();
            }
            catch (const LostRank& e)
            {
                EXPECT_TRUE(has_ended);
                texts.emplace_back(e.what());
            }
            catch (const CommError& e)
            {
                EXPECT_FALSE(has_ended);
                texts.emplace_back(e.what());
            }
            catch (const PeerAborted& e)
            {
                texts.emplace_back(e.what());
            }
        }
        const std::string told = has_ended ? " waits for rank 1" : " timed out after 1 s waiting for rank ";
        const bool is_first = texts[0].find(told) != std::string::npos;
        EXPECT_NE(texts[is_first ? 0 : 2].find(told), std::string::npos) << texts[0] << "\n" << texts[2];
        EXPECT_NE(texts[is_first ? 0 : 2].find("all-reduce by sum of 100000 double over ranks 0 1 2"), std::string::npos);
        EXPECT_NE(texts[is_first ? 2 : 0].find("stopped because rank"), std::string::npos) << texts[0] << "\n" << texts[2];
    }
}
