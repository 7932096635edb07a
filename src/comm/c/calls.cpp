// SPDX-License-Identifier: Apache-2.0
// The calls of parhelion_comm.h that are collectives of whole buffers.
#include "comm/c/guarded.hpp"
#include "comm/c/rank.hpp"

using namespace parhelion;
using namespace parhelion::c_interface;

namespace {

template <class Act>
int call(ph_comm* comm, Act&& act)
{
    return guarded([&] { act(all_ranks.of(comm)); });
}

ElementBlock block_of(ph_type type, size_t count) { return {type_of(type), count}; }

// Returns the counts and offsets of the ranks' blocks in a buffer of this rank. Throws PartitionedError if one of them is null.
BlockTable table_of(const Rank& rank, const size_t* counts, const size_t* offsets)
{
    const auto n = static_cast<std::size_t>(rank.size());
    expect_pointer(counts, "The counts of blocks are null.");
    expect_pointer(offsets, "The offsets of blocks are null.");
    return {{counts, n}, {offsets, n}};
}

} // namespace

int ph_barrier(ph_comm* comm)
{
    return call(comm, [](Rank& rank) { rank.calls().barrier(); });
}

int ph_allreduce(ph_comm* comm, const void* input, void* result, size_t count, ph_type type, ph_reduction reduction)
{
    return call(comm, [&](Rank& rank) { rank.calls().allreduce(input, result, block_of(type, count), reduction_of(reduction)); });
}

int ph_reduce(ph_comm* comm, const void* input, void* result, size_t count, ph_type type, ph_reduction reduction, int root)
{
    return call(comm,
                [&](Rank& rank) { rank.calls().reduce(input, result, block_of(type, count), reduction_of(reduction), root); });
}

int ph_reduce_scatter(ph_comm* comm, const void* input, void* result, size_t count, ph_type type, ph_reduction reduction)
{
    return call(comm,
                [&](Rank& rank) { rank.calls().reduce_scatter(input, result, block_of(type, count), reduction_of(reduction)); });
}

int ph_scan(ph_comm* comm, const void* input, void* result, size_t count, ph_type type, ph_reduction reduction)
{
    return call(comm, [&](Rank& rank) { rank.calls().scan(input, result, block_of(type, count), reduction_of(reduction)); });
}

int ph_exclusive_scan(ph_comm* comm, const void* input, void* result, size_t count, ph_type type, ph_reduction reduction)
{
    return call(comm,
                [&](Rank& rank) { rank.calls().exclusive_scan(input, result, block_of(type, count), reduction_of(reduction)); });
}

int ph_allgather(ph_comm* comm, const void* input, void* result, size_t count, ph_type type)
{
    return call(comm, [&](Rank& rank) { rank.calls().allgather(input, result, block_of(type, count)); });
}

int ph_gather(ph_comm* comm, const void* input, void* result, size_t count, ph_type type, int root)
{
    return call(comm, [&](Rank& rank) { rank.calls().gather(input, result, block_of(type, count), root); });
}

int ph_scatter(ph_comm* comm, const void* input, void* result, size_t count, ph_type type, int root)
{
    return call(comm, [&](Rank& rank) { rank.calls().scatter(input, result, block_of(type, count), root); });
}

int ph_broadcast(ph_comm* comm, void* buffer, size_t count, ph_type type, int root)
{
    return call(comm, [&](Rank& rank) { rank.calls().broadcast(buffer, block_of(type, count), root); });
}

int ph_alltoall(ph_comm* comm, const void* input, void* result, size_t count, ph_type type)
{
    return call(comm, [&](Rank& rank) { rank.calls().alltoall(input, result, block_of(type, count)); });
}

int ph_gather_v(ph_comm* comm, const void* input, size_t count, void* result, const size_t* counts, const size_t* offsets,
                ph_type type, int root)
{
    return call(comm, [&](Rank& rank) {
        const BlockTable blocks = rank.place() == root ? table_of(rank, counts, offsets) : BlockTable{};
        rank.calls().gather_v(input, block_of(type, count), result, blocks, root);
    });
}

int ph_scatter_v(ph_comm* comm, const void* input, const size_t* counts, const size_t* offsets, void* result, size_t count,
                 ph_type type, int root)
{
    return call(comm, [&](Rank& rank) {
        const BlockTable blocks = rank.place() == root ? table_of(rank, counts, offsets) : BlockTable{};
        rank.calls().scatter_v(input, blocks, result, block_of(type, count), root);
    });
}

int ph_alltoall_v(ph_comm* comm, const void* input, const size_t* counts, const size_t* offsets, void* result,
                  const size_t* result_counts, const size_t* result_offsets, ph_type type)
{
    return call(comm, [&](Rank& rank) {
        rank.calls().alltoall_v(input, table_of(rank, counts, offsets), result, table_of(rank, result_counts, result_offsets),
                                type_of(type));
    });
}
