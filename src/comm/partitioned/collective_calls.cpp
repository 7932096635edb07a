// SPDX-License-Identifier: Apache-2.0
// Makes the plans of all calls: the pieces that each member sends to each other member, and the use of received pieces.
#include "comm/partitioned/collective_calls.hpp"

#include "comm/partitioned/call_runner.hpp"
#include "comm/partitioned/schedule.hpp"

#include <fmt/format.h>

namespace parhelion {

namespace {

// Bytes. Above this size a call has two rounds: each member first handles one cut of the buffer, and then gathers the other cuts.
constexpr std::size_t least_shared_out = std::size_t{16} << 10;

const std::byte* as_bytes(const void* memory) { return static_cast<const std::byte*>(memory); }
std::byte* as_bytes(void* memory) { return static_cast<std::byte*>(memory); }

// Makes the plan of one call. The object has the rank's turn while it exists.
class Making
{
public:
    Making(CallRunner& runner, const CallTerms& terms)
        : runner_(runner), turn_(runner.engine()), plan_(runner.plan(terms)), element_(bytes_of(terms.type))
    {
        const bool is_reduced = terms.call >= Call::AllReduce && terms.call <= Call::ExclusiveScan;
        expect(!is_reduced || terms.type != ElementType::Byte, "bytes are not added or compared: say of which type they are");
        const std::size_t members = static_cast<std::size_t>(runner.members());
        expect(product_of(1, terms.count, element_, members).has_value(), "its buffers have more bytes than there can be");
    }

    std::size_t n() const { return static_cast<std::size_t>(runner_.members()); }
    std::size_t own() const { return static_cast<std::size_t>(runner_.place()); }
    std::size_t bytes() const { return plan_.terms.count * element_; } // returns the bytes of a block
    std::size_t bytes(std::size_t elements) const { return elements * element_; }
    bool is_root() const { return plan_.terms.root == runner_.place(); }
    std::size_t root() const { return static_cast<std::size_t>(plan_.terms.root); }
    bool is_shared_out() const { return n() > 2 && bytes() >= least_shared_out; }

    void expect(bool is_right, const char* why) const
    {
        if (!is_right) { throw PartitionedError(Misuse::BadArgument, fmt::format("{}: {}.", plan_.terms.text(), why)); }
    }
    void expect_root() const
    {
        expect(plan_.terms.root >= 0 && plan_.terms.root < runner_.members(), "the root is no place among the members");
    }
    void expect_buffer(const void* buffer, std::size_t bytes) const
    {
        if (buffer == nullptr && bytes > 0)
        {
            throw PartitionedError(Misuse::Null, fmt::format("{}: a buffer is null.", plan_.terms.text()));
        }
        expect(reinterpret_cast<std::uintptr_t>(buffer) % element_ == 0, "buffers are aligned to their elements");
    }
    // Throws PartitionedError if two buffers overlap. is_allowed: the buffers overlap in a way that the call allows.
    void expect_apart(const void* a, std::size_t bytes_of_a, const void* b, std::size_t bytes_of_b, bool is_allowed) const
    {
        const auto from = reinterpret_cast<std::uintptr_t>(a), other = reinterpret_cast<std::uintptr_t>(b);
        const bool is_apart = bytes_of_a == 0 || bytes_of_b == 0 || from + bytes_of_a <= other || other + bytes_of_b <= from;
        expect(is_apart || is_allowed, "input and result overlap");
    }
    void expect_table(const BlockTable& blocks) const
    {
        expect(blocks.counts.size() == n() && blocks.offsets.size() == n(), "there is a count and an offset for each member");
        for (std::size_t m = 0; m < n(); ++m)
        {
            const bool is_possible = product_of(1, blocks.counts[m], element_) && product_of(1, blocks.offsets[m], element_);
            expect(is_possible, "its buffers have more bytes than there can be");
        }
    }

    Round& add_round() { return runner_.add_round(); }
    // Adds a round in which this member combines the inputs of members [first_term, end_of_terms) into its result.
    Round& add_reduction(const void* input, void* result, std::size_t first_term, std::size_t end_of_terms)
    {
        Round& round = add_round();
        round.sends[own()] = {as_bytes(input), bytes()};
        round.result = as_bytes(result);
        for (std::size_t m = first_term; m < end_of_terms; ++m)
        {
            round.terms.push_back(static_cast<int>(m));
            if (m != own()) { round.takes[m] = {nullptr, bytes()}; }
        }
        round.result_bytes = round.terms.empty() ? 0 : bytes();
        return round;
    }
    Extent cut(std::size_t member) const
    {
        const Extent of = ChunkLayout{plan_.terms.count, runner_.members(), 0}.extent(0, static_cast<int>(member));
        return {of.begin * element_, of.count * element_};
    }
    // Adds a round in which each member sends its cut of the buffer to all others. owner: the place that has all cuts, or -1.
    void gather_cuts(std::byte* buffer, int owner)
    {
        Round& round = add_round();
        for (std::size_t m = 0; m < n(); ++m)
        {
            if (m == own()) { continue; }
            if (static_cast<int>(m) != owner) { round.sends[m] = {buffer + cut(own()).begin, cut(own()).count}; }
            if (runner_.place() != owner) { round.takes[m] = {buffer + cut(m).begin, cut(m).count}; }
        }
    }
    // Sets CallPlan::counts to what the first round sends and takes, for calls in which each member has its own counts.
    void count_own()
    {
        const Round& round = plan_.rounds.front();
        for (const Round::Source& source : round.sends) { plan_.counts.push_back(source.bytes / element_); }
        for (const Round::Target& target : round.takes) { plan_.counts.push_back(target.bytes / element_); }
    }
    void run() { runner_.run(); }

private:
    CallRunner& runner_;
    const PartitionedEngine::Turn turn_;
    CallPlan& plan_;
    std::size_t element_;
};

CallTerms terms_of(Call call, const ElementBlock& block, int root = -1, Reduction reduction = Reduction::Sum)
{
    CallTerms terms;
    terms.call = call;
    terms.type = block.type;
    terms.count = block.count;
    terms.root = root;
    terms.reduction = reduction;
    return terms;
}

} // namespace

CollectiveCalls::CollectiveCalls(Partitioned& partitioned, std::vector<int> members, const std::string& group)
    : runner_(std::make_unique<CallRunner>(*partitioned.engine_, std::move(members), group))
{
}
CollectiveCalls::CollectiveCalls(CollectiveCalls&&) noexcept = default;
CollectiveCalls& CollectiveCalls::operator=(CollectiveCalls&&) noexcept = default;
CollectiveCalls::~CollectiveCalls() = default;

std::size_t CollectiveCalls::memory_of(int ranks) { return 2 * static_cast<std::size_t>(ranks - 1) * CallPeer::slot_bytes; }

void CollectiveCalls::barrier() { Making(*runner_, terms_of(Call::Barrier, {ElementType::Byte, 0})).run(); }

std::vector<std::array<int, 2>> CollectiveCalls::split(std::array<int, 2> mine)
{
    Making call(*runner_, terms_of(Call::Split, {ElementType::Int32, 2}));
    std::vector<std::array<int, 2>> all(call.n());
    Round& round = call.add_round();
    for (std::size_t m = 0; m < call.n(); ++m)
    {
        round.sends[m] = {as_bytes(mine.data()), sizeof mine};
        round.takes[m] = {as_bytes(static_cast<void*>(all[m].data())), sizeof mine};
    }
    call.run();
    return all;
}

// --- reductions

void CollectiveCalls::allreduce(const void* input, void* result, const ElementBlock& block, Reduction reduction)
{
    Making call(*runner_, terms_of(Call::AllReduce, block, -1, reduction));
    call.expect_buffer(input, call.bytes());
    call.expect_buffer(result, call.bytes());
    call.expect_apart(input, call.bytes(), result, call.bytes(), input == result);
    Round& round = call.add_reduction(input, result, 0, call.n());
    if (!call.is_shared_out())
    {
        for (Round::Source& source : round.sends) { source = {as_bytes(input), call.bytes()}; }
        return call.run();
    }
    const Extent own = call.cut(call.own());
    for (std::size_t m = 0; m < call.n(); ++m)
    {
        const Extent cut = call.cut(m);
        round.sends[m] = {as_bytes(input) + cut.begin, cut.count};
        if (m != call.own()) { round.takes[m].bytes = own.count; }
    }
    round.result += own.begin;
    round.result_bytes = own.count;
    call.gather_cuts(as_bytes(result), -1);
    call.run();
}

void CollectiveCalls::reduce(const void* input, void* result, const ElementBlock& block, Reduction reduction, int root)
{
    Making call(*runner_, terms_of(Call::Reduce, block, root, reduction));
    call.expect_root();
    call.expect_buffer(input, call.bytes());
    if (call.is_root())
    {
        call.expect_buffer(result, call.bytes());
        call.expect_apart(input, call.bytes(), result, call.bytes(), input == result);
    }
    Round& round = call.add_reduction(input, result, 0, call.is_root() ? call.n() : 0);
    round.sends[call.root()] = {as_bytes(input), call.bytes()};
    call.run();
}

void CollectiveCalls::reduce_scatter(const void* input, void* result, const ElementBlock& block, Reduction reduction)
{
    Making call(*runner_, terms_of(Call::ReduceScatter, block, -1, reduction));
    const std::size_t all = call.n() * call.bytes();
    call.expect_buffer(input, all);
    call.expect_buffer(result, call.bytes());
    const auto distance = reinterpret_cast<std::uintptr_t>(result) - reinterpret_cast<std::uintptr_t>(input);
    const bool is_block = call.bytes() > 0 && distance % call.bytes() == 0;
    call.expect_apart(input, all, result, call.bytes(), is_block);
    Round& round = call.add_reduction(input, result, 0, call.n());
    for (std::size_t m = 0; m < call.n(); ++m) { round.sends[m] = {as_bytes(input) + m * call.bytes(), call.bytes()}; }
    call.run();
}

void CollectiveCalls::scan(const void* input, void* result, const ElementBlock& block, Reduction reduction)
{
    scan_terms(input, result, block, reduction, true);
}

void CollectiveCalls::exclusive_scan(const void* input, void* result, const ElementBlock& block, Reduction reduction)
{
    scan_terms(input, result, block, reduction, false);
}

void CollectiveCalls::scan_terms(const void* input, void* result, const ElementBlock& block, Reduction reduction,
                                 bool includes_own)
{
    Making call(*runner_, terms_of(includes_own ? Call::Scan : Call::ExclusiveScan, block, -1, reduction));
    call.expect_buffer(input, call.bytes());
    call.expect_buffer(result, call.bytes());
    call.expect_apart(input, call.bytes(), result, call.bytes(), input == result);
    Round& round = call.add_reduction(input, result, 0, call.own() + (includes_own ? 1 : 0));
    for (std::size_t m = call.own() + 1; m < call.n(); ++m) { round.sends[m] = {as_bytes(input), call.bytes()}; }
    call.run();
}

// --- copies

void CollectiveCalls::allgather(const void* input, void* result, const ElementBlock& block)
{
    Making call(*runner_, terms_of(Call::AllGather, block));
    const std::size_t bytes = call.bytes();
    call.expect_buffer(input, bytes);
    call.expect_buffer(result, call.n() * bytes);
    call.expect_apart(input, bytes, result, call.n() * bytes, input == as_bytes(result) + call.own() * bytes);
    Round& round = call.add_round();
    for (std::size_t m = 0; m < call.n(); ++m)
    {
        round.sends[m] = {as_bytes(input), bytes};
        round.takes[m] = {as_bytes(result) + m * bytes, bytes};
    }
    call.run();
}

void CollectiveCalls::gather(const void* input, void* result, const ElementBlock& block, int root)
{
    Making call(*runner_, terms_of(Call::Gather, block, root));
    const std::size_t bytes = call.bytes();
    call.expect_root();
    call.expect_buffer(input, bytes);
    Round& round = call.add_round();
    round.sends[call.root()] = {as_bytes(input), bytes};
    if (call.is_root())
    {
        call.expect_buffer(result, call.n() * bytes);
        call.expect_apart(input, bytes, result, call.n() * bytes, input == as_bytes(result) + call.own() * bytes);
        for (std::size_t m = 0; m < call.n(); ++m) { round.takes[m] = {as_bytes(result) + m * bytes, bytes}; }
    }
    call.run();
}

void CollectiveCalls::scatter(const void* input, void* result, const ElementBlock& block, int root)
{
    Making call(*runner_, terms_of(Call::Scatter, block, root));
    const std::size_t bytes = call.bytes();
    call.expect_root();
    call.expect_buffer(result, bytes);
    Round& round = call.add_round();
    round.takes[call.root()] = {as_bytes(result), bytes};
    if (call.is_root())
    {
        call.expect_buffer(input, call.n() * bytes);
        call.expect_apart(input, call.n() * bytes, result, bytes, result == as_bytes(input) + call.own() * bytes);
        for (std::size_t m = 0; m < call.n(); ++m) { round.sends[m] = {as_bytes(input) + m * bytes, bytes}; }
    }
    call.run();
}

void CollectiveCalls::broadcast(void* buffer, const ElementBlock& block, int root)
{
    Making call(*runner_, terms_of(Call::Broadcast, block, root));
    call.expect_root();
    call.expect_buffer(buffer, call.bytes());
    const Extent whole{0, call.bytes()};
    Round& round = call.add_round();
    for (std::size_t m = 0; m < call.n(); ++m)
    {
        const Extent part = call.is_shared_out() ? call.cut(call.is_root() ? m : call.own()) : whole;
        if (call.is_root() && m != call.own()) { round.sends[m] = {as_bytes(buffer) + part.begin, part.count}; }
        if (!call.is_root() && m == call.root()) { round.takes[m] = {as_bytes(buffer) + part.begin, part.count}; }
    }
    if (call.is_shared_out()) { call.gather_cuts(as_bytes(buffer), root); }
    call.run();
}

void CollectiveCalls::alltoall(const void* input, void* result, const ElementBlock& block)
{
    Making call(*runner_, terms_of(Call::AllToAll, block));
    const std::size_t bytes = call.bytes(), all = call.n() * bytes;
    call.expect_buffer(input, all);
    call.expect_buffer(result, all);
    call.expect_apart(input, all, result, all, false);
    Round& round = call.add_round();
    for (std::size_t m = 0; m < call.n(); ++m)
    {
        round.sends[m] = {as_bytes(input) + m * bytes, bytes};
        round.takes[m] = {as_bytes(result) + m * bytes, bytes};
    }
    call.run();
}

// --- calls in which each member has its own counts

void CollectiveCalls::gather_v(const void* input, const ElementBlock& mine, void* result, const BlockTable& blocks, int root)
{
    Making call(*runner_, terms_of(Call::GatherV, {mine.type, 0}, root));
    call.expect_root();
    call.expect(product_of(1, mine.count, bytes_of(mine.type)).has_value(), "its buffers have more bytes than there can be");
    call.expect_buffer(input, call.bytes(mine.count));
    Round& round = call.add_round();
    round.sends[call.root()] = {as_bytes(input), call.bytes(mine.count)};
    if (call.is_root())
    {
        call.expect_table(blocks);
        for (std::size_t m = 0; m < call.n(); ++m)
        {
            call.expect_buffer(result, call.bytes(blocks.counts[m]));
            round.takes[m] = {as_bytes(result) + call.bytes(blocks.offsets[m]), call.bytes(blocks.counts[m])};
        }
    }
    call.count_own();
    call.run();
}

void CollectiveCalls::scatter_v(const void* input, const BlockTable& blocks, void* result, const ElementBlock& mine, int root)
{
    Making call(*runner_, terms_of(Call::ScatterV, {mine.type, 0}, root));
    call.expect_root();
    call.expect(product_of(1, mine.count, bytes_of(mine.type)).has_value(), "its buffers have more bytes than there can be");
    call.expect_buffer(result, call.bytes(mine.count));
    Round& round = call.add_round();
    round.takes[call.root()] = {as_bytes(result), call.bytes(mine.count)};
    if (call.is_root())
    {
        call.expect_table(blocks);
        for (std::size_t m = 0; m < call.n(); ++m)
        {
            call.expect_buffer(input, call.bytes(blocks.counts[m]));
            round.sends[m] = {as_bytes(input) + call.bytes(blocks.offsets[m]), call.bytes(blocks.counts[m])};
        }
    }
    call.count_own();
    call.run();
}

void CollectiveCalls::alltoall_v(const void* input, const BlockTable& inputs, void* result, const BlockTable& results,
                                 ElementType type)
{
    Making call(*runner_, terms_of(Call::AllToAllV, {type, 0}));
    call.expect_table(inputs);
    call.expect_table(results);
    Round& round = call.add_round();
    for (std::size_t m = 0; m < call.n(); ++m)
    {
        call.expect_buffer(input, call.bytes(inputs.counts[m]));
        call.expect_buffer(result, call.bytes(results.counts[m]));
        round.sends[m] = {as_bytes(input) + call.bytes(inputs.offsets[m]), call.bytes(inputs.counts[m])};
        round.takes[m] = {as_bytes(result) + call.bytes(results.offsets[m]), call.bytes(results.counts[m])};
    }
    call.count_own();
    call.run();
}

} // namespace parhelion
