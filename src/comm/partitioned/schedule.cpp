// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/schedule.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace parhelion {

namespace {

enum class Keep : std::uint8_t
{
    No,
    Yes
};

// Builds the schedule of one member from steps that several algorithms share.
class Builder
{
public:
    Builder(int members, int place, int chunks) : s_{members, place, chunks, {}, {}, {}} {}

    void step(int chunk, const std::vector<int>& terms, const std::vector<int>& outs, Keep keep)
    {
        s_.steps.push_back({chunk, static_cast<int>(s_.terms.size()), static_cast<int>(terms.size()),
                            static_cast<int>(s_.outs.size()), static_cast<int>(outs.size()), keep == Keep::Yes});
        s_.terms.insert(s_.terms.end(), terms.begin(), terms.end());
        s_.outs.insert(s_.outs.end(), outs.begin(), outs.end());
    }
    Schedule done() { return std::move(s_); }

    // Sends every chunk around the ring, reduced on the way, to the member of its number, which sends the result to `outs`.
    void ring_reduce_scatter(const std::vector<int>& outs)
    {
        for (int i = 0; i < s_.members; ++i)
        {
            const bool is_last = i == s_.members - 1;
            const std::vector<int> terms = i == 0 ? std::vector{s_.place} : std::vector{at(-1), s_.place};
            step(at(-1 - i), terms, is_last ? outs : std::vector{at(1)}, is_last ? Keep::Yes : Keep::No);
        }
    }
    void direct_reduce_scatter(const std::vector<int>& outs)
    {
        for (const int other : others()) { step(other, {s_.place}, {other}, Keep::No); }
        step(s_.place, all(), outs, Keep::Yes);
    }
    // Passes on the chunks of the other members around the ring, after each member has sent its own chunk to the next one.
    void ring_gather()
    {
        for (int i = 1; i < s_.members; ++i)
        {
            step(at(-i), {at(-1)}, i < s_.members - 1 ? std::vector{at(1)} : std::vector<int>{}, Keep::Yes);
        }
    }
    void direct_gather()
    {
        for (const int other : others()) { step(other, {other}, {}, Keep::Yes); }
    }

    // Returns the place that is `distance` places further along the ring.
    int at(int distance) const { return ((s_.place + distance) % s_.members + s_.members) % s_.members; }
    std::vector<int> next() const { return s_.members > 1 ? std::vector{at(1)} : std::vector<int>{}; }
    std::vector<int> all() const
    {
        std::vector<int> places(static_cast<std::size_t>(s_.members));
        std::iota(places.begin(), places.end(), 0);
        return places;
    }
    // Returns all other places, from the next place on, so that not all members send to the same member first.
    std::vector<int> others() const
    {
        std::vector<int> places;
        for (int distance = 1; distance < s_.members; ++distance) { places.push_back(at(distance)); }
        return places;
    }

private:
    Schedule s_;
};

Schedule all_reduce(Algorithm algorithm, int members, int place)
{
    Builder b(members, place, algorithm == Algorithm::OneShot ? 1 : members);
    if (algorithm == Algorithm::Ring)
    {
        b.ring_reduce_scatter(b.next());
        b.ring_gather();
    }
    else if (algorithm == Algorithm::TwoShot)
    {
        b.direct_reduce_scatter(b.others());
        b.direct_gather();
    }
    else
    {
        if (members > 1) { b.step(0, {place}, b.others(), Keep::No); }
        b.step(0, b.all(), {}, Keep::Yes);
    }
    return b.done();
}

Schedule broadcast(Algorithm algorithm, int members, int place, int root)
{
    const bool is_ring = algorithm == Algorithm::Ring, is_root = place == root;
    Builder b(members, place, is_ring ? members : 1); // a ring has one chunk per member; they follow each other around it
    const std::vector<int> next = b.next().empty() || b.at(1) == root ? std::vector<int>{} : b.next();
    const std::vector<int> outs = is_ring ? next : is_root ? b.others() : std::vector<int>{};
    const int from = is_root ? place : is_ring ? b.at(-1) : root;
    for (int chunk = 0; chunk < (is_ring ? members : 1); ++chunk) { b.step(chunk, {from}, outs, Keep::Yes); }
    return b.done();
}

} // namespace

bool Schedule::takes_input() const { return std::find(terms.begin(), terms.end(), place) != terms.end(); }

bool exists(Collective collective, Algorithm algorithm)
{
    if (algorithm == Algorithm::TwoShot) { return collective == Collective::AllReduce; }
    return algorithm != Algorithm::Automatic;
}

Schedule make_schedule(Collective collective, Algorithm algorithm, int members, int place, int root)
{
    PARHELION_EXPECTS(exists(collective, algorithm));
    PARHELION_EXPECTS(place >= 0 && place < members && root >= 0 && root < members);
    if (collective == Collective::AllReduce) { return all_reduce(algorithm, members, place); }
    if (collective == Collective::Broadcast) { return broadcast(algorithm, members, place, root); }
    Builder b(members, place, members);
    const bool is_ring = algorithm == Algorithm::Ring;
    if (collective == Collective::ReduceScatter)
    {
        if (is_ring) { b.ring_reduce_scatter({}); }
        else { b.direct_reduce_scatter({}); }
        return b.done();
    }
    b.step(place, {place}, is_ring ? b.next() : b.others(), Keep::Yes);
    if (is_ring) { b.ring_gather(); }
    else { b.direct_gather(); }
    return b.done();
}

Algorithm choose_algorithm(Collective collective, int members, std::size_t partition_bytes)
{
    // One shot costs one signal latency, and bytes in proportion to the members. A ring costs the fewest bytes on every link,
    // but 2 (members - 1) signal latencies, each about as long as 400 KB take on a link of 350 GB/s.
    constexpr std::size_t small = std::size_t{16} << 10, middle = std::size_t{1} << 20;
    if (members <= 2 || partition_bytes <= small) { return Algorithm::OneShot; }
    if (partition_bytes > middle) { return Algorithm::Ring; }
    return collective == Collective::AllReduce ? Algorithm::TwoShot : Algorithm::OneShot;
}

Layouts layouts_of(Collective collective, const Schedule& schedule, int partitions, std::size_t count)
{
    const std::size_t block = static_cast<std::size_t>(partitions) * count;
    switch (collective)
    {
    case Collective::AllGather:
        return {{count, 1, 0}, {count, 1, block}};
    case Collective::ReduceScatter:
        return {{count, 1, block}, {count, 1, 0}};
    default:
        const ChunkLayout cut{count, schedule.chunks, 0};
        return {cut, cut};
    }
}

} // namespace parhelion
