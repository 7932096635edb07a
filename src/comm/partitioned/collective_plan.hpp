// SPDX-License-Identifier: Apache-2.0
// What a member knows of a collective before anything is opened: arguments, checked, and what follows from them. The same for
// threads and GPUs.
#pragma once

#include "comm/endpoint.hpp"
#include "comm/partitioned/collectives.hpp"

#include <string>

namespace parhelion {

struct CollectivePlan
{
    Collective collective;
    Elements elements;
    Reduction reduction;
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
