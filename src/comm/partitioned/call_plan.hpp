// SPDX-License-Identifier: Apache-2.0
// A member's plan for a collective of one call: the terms (arguments) that it tells all other members, and one or two rounds.
// In a round a member sends a piece of memory, maybe of 0 bytes, to each other member, and stores or combines the pieces that
// it receives. All calls of comm/partitioned/collective_calls.hpp make such plans; comm/partitioned/call_runner.hpp executes
// them.
#pragma once

#include "comm/partitioned/reduction.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace parhelion {

enum class Call : std::uint8_t
{
    Barrier,
    Split,
    AllReduce,
    Reduce,
    ReduceScatter,
    Scan,
    ExclusiveScan,
    AllGather,
    Gather,
    Scatter,
    Broadcast,
    AllToAll,
    GatherV, // in this call and those below each member has its own counts
    ScatterV,
    AllToAllV
};

// The part of a call that must be equal on all members. It is sent as bytes.
struct CallTerms
{
    std::uint64_t group = 0; // hash of the group's name
    std::uint64_t count = 0; // elements of a block; 0: no data, or each member has its own counts
    std::int32_t root = -1;  // the root's place in the group; -1: no root
    Call call = Call::Barrier;
    ElementType type = ElementType::Byte;
    Reduction reduction = Reduction::Sum;

    std::string text() const; // for example "reduce by max of 16 double to member 1"
    friend bool operator==(const CallTerms&, const CallTerms&) = default;
};

struct Round
{
    struct Source
    {
        const std::byte* data = nullptr;
        std::size_t bytes = 0;
    };
    struct Target
    {
        std::byte* data = nullptr; // null: the piece is a term of a reduction
        std::size_t bytes = 0;
    };
    std::vector<Source> sends;   // indexed by place in the group; this member's entry: its own piece
    std::vector<Target> takes;   // indexed by place; this member has an entry, too
    std::vector<int> terms;      // places of the members whose pieces are combined, in this order; equal sizes
    std::byte* result = nullptr; // destination of the combined terms; may be the source of a piece that is sent
    std::size_t result_bytes = 0;

    void clear(int members);
};

struct CallPlan
{
    CallTerms terms;
    // If members have their own counts: numbers of elements that this member sends to each, then takes from each. Else empty.
    std::vector<std::uint64_t> counts;
    std::vector<Round> rounds;
};

} // namespace parhelion
