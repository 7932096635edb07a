// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/collective_plan.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace parhelion {

namespace {

// Number of slots of a channel. A member of a ring holds the message that it has taken while it sends. With one slot all
// members would wait for each other.
constexpr int depth = 2;

const char* name_of(Collective collective)
{
    switch (collective)
    {
    case Collective::AllReduce:
        return "all-reduce";
    case Collective::AllGather:
        return "all-gather";
    case Collective::ReduceScatter:
        return "reduce-scatter";
    default:
        return "broadcast";
    }
}

const char* name_of(Algorithm algorithm)
{
    return algorithm == Algorithm::OneShot ? "in one shot" : algorithm == Algorithm::TwoShot ? "in two shots" : "in a ring";
}

void expect(bool is_right, Collective collective, const char* why)
{
    if (is_right) { return; }
    throw PartitionedError(Misuse::BadArgument, fmt::format("Partitioned {}: {}.", name_of(collective), why));
}

} // namespace

const char* name_of(ElementType type)
{
    constexpr const char* names[] = {"float", "double", "half", "bfloat16", "byte", "int32", "int64", "uint8"};
    return names[static_cast<std::size_t>(type)];
}

const char* name_of(Reduction reduction)
{
    constexpr const char* names[] = {"sum", "min", "max", "product", "average"};
    return names[static_cast<std::size_t>(reduction)];
}

std::string CollectiveTerms::text() const
{
    const bool reduces = collective == Collective::AllReduce || collective == Collective::ReduceScatter;
    std::string how = reduces ? fmt::format(" by {}", name_of(reduction)) : "";
    if (collective == Collective::Broadcast) { how = fmt::format(" from member {}", root); }
    return fmt::format("{}{} of {} partitions of {} {} {}", name_of(collective), how, partitions, count, name_of(type),
                       name_of(algorithm));
}

bool CollectivePlan::sends_to(int place) const
{
    return std::find(schedule.outs.begin(), schedule.outs.end(), place) != schedule.outs.end();
}

bool CollectivePlan::takes_from(int place) const
{
    return place != schedule.place && std::find(schedule.terms.begin(), schedule.terms.end(), place) != schedule.terms.end();
}

void CollectivePlan::check_buffers(const void* input, const void* result) const
{
    const auto is_aligned = [&](const void* buffer) {
        return reinterpret_cast<std::uintptr_t>(buffer) % bytes_of(elements.type) == 0;
    };
    expect(is_aligned(input) && is_aligned(result), collective, "buffers are aligned to their elements");
}

CollectivePlan plan_collective(Collective collective, const Elements& elements, Reduction reduction, int root,
                               const CollectiveOptions& options, int rank, int ranks)
{
    std::vector<int> members = options.members;
    if (members.empty())
    {
        members.resize(static_cast<std::size_t>(ranks));
        std::iota(members.begin(), members.end(), 0);
    }
    std::vector<int> sorted = members;
    std::sort(sorted.begin(), sorted.end());
    const auto place = static_cast<int>(std::find(members.begin(), members.end(), rank) - members.begin());
    const auto n = static_cast<int>(members.size());
    const bool is_copied = collective == Collective::AllGather || collective == Collective::Broadcast;
    expect(elements.type != ElementType::Byte || is_copied, collective,
           "bytes are not added or compared: say of which type they are");
    expect(reduction != Reduction::Average, collective,
           "an average is of collectives in one call: here it is a sum to be divided");
    expect(elements.partitions >= 1 && elements.partitions <= most_partitions, collective, "it has 1 to 1048576 partitions");
    expect(product_of(elements.partitions, elements.count, bytes_of(elements.type), members.size()).has_value(), collective,
           "its buffers have more bytes than there can be");
    expect(sorted.front() >= 0 && sorted.back() < ranks, collective, "there is no such rank among its members");
    expect(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), collective, "a rank is a member twice");
    expect(place < n, collective, "this rank is no member");
    expect(root >= 0 && root < n, collective, "the root is no place among the members");
    const std::size_t bytes = elements.count * bytes_of(elements.type);
    const Algorithm algorithm =
        options.algorithm == Algorithm::Automatic ? choose_algorithm(collective, n, bytes) : options.algorithm;
    expect(exists(collective, algorithm), collective, "it has no such algorithm");
    std::string name = fmt::format("{} over ranks", name_of(collective));
    for (const int member : members) { name += fmt::format(" {}", member); }
    if (!options.group.empty()) { name += fmt::format(" of group '{}'", options.group); }
    const Schedule schedule = make_schedule(collective, algorithm, n, place, root);
    const Layouts layouts = layouts_of(collective, schedule, elements.partitions, elements.count);
    const ChannelOptions channel{depth, Credits::Yes, layouts.result.largest() * bytes_of(elements.type), options.first_epoch};
    const CollectiveTerms terms{collective, elements.type, reduction, algorithm, elements.partitions, root, elements.count};
    return {collective, elements, reduction, terms, std::move(members), std::move(name), schedule, layouts, channel};
}

} // namespace parhelion
