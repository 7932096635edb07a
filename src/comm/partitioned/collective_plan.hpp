// SPDX-License-Identifier: Apache-2.0
// What a member knows of a collective before anything is opened: arguments, checked, and what follows from them. The same for
// threads and GPUs.
#pragma once

#include "comm/endpoint.hpp"
#include "comm/partitioned/collectives.hpp"

#include <string>

namespace parhelion {

// What all members must ask for alike. Plain data, which travels as bytes.
struct CollectiveTerms
{
    Collective collective;
    ElementType type;
    Reduction reduction;
    Algorithm algorithm;
    int partitions;
    int root; // a place among the members
    std::size_t count;

    std::string text() const; // "all-reduce by max of 8 partitions of 16 double"
    friend bool operator==(const CollectiveTerms&, const CollectiveTerms&) = default;
};

struct CollectivePlan
{
    Collective collective;
    Elements elements;
    Reduction reduction;
    CollectiveTerms terms;
    std::vector<int> members;
    std::string name; // for people: "all-reduce over ranks 0 1"
    Schedule schedule;
    Layouts layouts;
    ChannelOptions channel; // of each

    bool sends_to(int place) const;
    bool takes_from(int place) const;
    void check_buffers(const void* input, const void* result) const; // throws PartitionedError
};

// Of a rank of a world of so many. No members: all ranks. Throws PartitionedError.
CollectivePlan plan_collective(Collective collective, const Elements& elements, Reduction reduction, int root,
                               const CollectiveOptions& options, int rank, int ranks);

} // namespace parhelion
