// SPDX-License-Identifier: Apache-2.0
// The plan of one member of a collective, made before any channel is opened. It holds the checked arguments and everything that
// follows from them. Ranks on CPUs and on GPUs use the same plans.
#pragma once

#include "comm/core/endpoint.hpp"
#include "comm/partitioned/collectives.hpp"

#include <string>

namespace parhelion {

// For people.
const char* name_of(ElementType type);
const char* name_of(Reduction reduction);

// The arguments that all members must agree on. A member sends this struct to the other members as bytes.
struct CollectiveTerms
{
    Collective collective;
    ElementType type;
    Reduction reduction;
    Algorithm algorithm;
    int partitions;
    int root; // the root's place among the members
    std::size_t count;

    std::string text() const; // returns text like "all-reduce by max of 8 partitions of 16 double"
    friend bool operator==(const CollectiveTerms&, const CollectiveTerms&) = default;
};

struct CollectivePlan
{
    Collective collective;
    Elements elements;
    Reduction reduction;
    CollectiveTerms terms;
    std::vector<int> members;
    std::string name; // name in texts of failures: "all-reduce over ranks 0 1"
    Schedule schedule;
    Layouts layouts;
    ChannelOptions channel; // options of each channel between members

    bool sends_to(int place) const;
    bool takes_from(int place) const;
    void check_buffers(const void* input, const void* result) const; // throws PartitionedError
};

// Returns the plan of rank `rank` in a world of `ranks` ranks. Options without members mean all ranks. Throws PartitionedError.
CollectivePlan plan_collective(Collective collective, const Elements& elements, Reduction reduction, int root,
                               const CollectiveOptions& options, int rank, int ranks);

} // namespace parhelion
