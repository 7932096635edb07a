// SPDX-License-Identifier: Apache-2.0
#include "comm/mpi/job.hpp"

#include "comm/networks/networks.hpp"

#include <cstdio>
#include <exception>
#include <utility>

namespace parhelion::mpi {

namespace {

constexpr std::size_t memory_of_rank = std::size_t{1} << 34;         // bytes of address space, for receive buffers
constexpr std::chrono::seconds to_meet{60}, longest_wait{1'000'000}; // MPI itself has no deadlines

} // namespace

Job::Job(std::shared_ptr<Rendezvous> met, int rank)
    : world(tcp_network(std::move(met)), {.deadline = longest_wait, .payload_bytes = memory_of_rank}),
      ranks(world.communicator(rank)), partitioned(std::in_place, ranks)
{
}
Job::~Job()
{
    progress.request_stop();
    progress.join();
    partitioned->leave();
    partitioned.reset();
    world.leave(ranks.rank());
}

All& all()
{
    static All* const all = new All;
    return *all;
}

void begin_job()
{
    int rank = 0, ranks = 0, can_join = 1, can_all = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    JoinId::Image id{};
    try
    {
        if (rank == 0) { id = make_join_id("").image(); }
    }
    catch (const std::exception&) // the other ranks then get no id and cannot join
    {
    }
    PMPI_Bcast(id.data(), static_cast<int>(id.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
    try
    {
        all().job = std::make_unique<Job>(join(JoinId(id), rank, ranks, to_meet), rank);
    }
    catch (const std::exception& error)
    {
        can_join = 0;
        std::fprintf(stderr, "partitioned communication is the MPI's: %s\n", error.what());
    }
    PMPI_Allreduce(&can_join, &can_all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (can_all == 0) { return all().job.reset(); }
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &all().number, nullptr);
    PMPI_Comm_group(MPI_COMM_WORLD, &all().of_world);
    PMPI_Comm_set_attr(MPI_COMM_WORLD, all().number, reinterpret_cast<void*>(std::uintptr_t{1}));
}

// The number consists of the first member's rank in MPI_COMM_WORLD and a count that this rank keeps.
int number(int code, const MPI_Comm* made)
{
    if (code != MPI_SUCCESS || *made == MPI_COMM_NULL || !all().job) { return code; }
    const MPI_Comm comm = *made;
    int is_between_groups = 0;
    PMPI_Comm_test_inter(comm, &is_between_groups);
    if (is_between_groups != 0) { return code; }
    std::uint64_t mine = 0;
    {
        const std::scoped_lock lock(all().mutex);
        mine = static_cast<std::uint64_t>(all().job->ranks.rank() + 1) << 32 | ++all().numbers_given;
    }
    PMPI_Bcast(&mine, 1, MPI_UINT64_T, 0, comm);
    return PMPI_Comm_set_attr(comm, all().number, reinterpret_cast<void*>(mine));
}

std::optional<std::uintptr_t> number_of(MPI_Comm comm)
{
    if (!all().job) { return std::nullopt; }
    void* value = nullptr;
    int is_there = 0;
    PMPI_Comm_get_attr(comm, all().number, &value, &is_there);
    return is_there != 0 ? std::optional(reinterpret_cast<std::uintptr_t>(value)) : std::nullopt;
}

int rank_in_world(MPI_Comm comm, int rank)
{
    MPI_Group members = MPI_GROUP_NULL;
    int there = MPI_UNDEFINED;
    PMPI_Comm_group(comm, &members);
    PMPI_Group_translate_ranks(members, 1, &rank, all().of_world, &there);
    PMPI_Group_free(&members);
    return there;
}

} // namespace parhelion::mpi
