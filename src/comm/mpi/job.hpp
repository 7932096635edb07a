// SPDX-License-Identifier: Apache-2.0
// The job of an MPI program: all ranks of MPI_COMM_WORLD as ranks of this library, the numbers of its communicators, and the
// table of its requests.
#pragma once

#include "comm/launch/join.hpp"
#include "comm/mpi/served.hpp"
#include "comm/partitioned/partitioned.hpp"
#include "comm/world/world.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <optional>
#include <thread>

namespace parhelion::mpi {

inline constexpr std::size_t most_requests = 1 << 16;
inline constexpr std::chrono::microseconds between_looks{200}; // period of the thread that advances requests

struct Job
{
    Job(std::shared_ptr<Rendezvous> met, int rank);
    ~Job();

    World world;
    Communicator ranks;
    std::optional<Partitioned> partitioned;
    // Sends marked partitions and exchanges letters of requests while the program computes or is in MPI calls. Declared last,
    // since the thread must end first.
    std::jthread progress{[this](const std::stop_token& stop) {
        for (; !stop.stop_requested(); std::this_thread::sleep_for(between_looks)) { partitioned->progress(); }
    }};
};

// The state of this library. The first call makes it. It is never destroyed: MPI may call this library until the process ends.
struct All
{
    std::mutex mutex; // guards the job and everything that does not belong to a single partition
    std::unique_ptr<Job> job;
    std::array<std::optional<Served>, most_requests> table; // requests; MPI's null handles are none of these addresses
    std::size_t first_free = 0;                             // index below which no entry of the table is free
    int number = MPI_KEYVAL_INVALID;                        // key of the attribute that holds a communicator's number
    std::uintptr_t numbers_given = 1;
    std::size_t made = 0; // number of requests made
    MPI_Group of_world = MPI_GROUP_NULL;
};
All& all();

// Joins the ranks. If any rank cannot join, the MPI library serves all requests.
void begin_job();
// Gives a communicator that a call has made a unique number, which all its members know. Returns the call's `code`.
int number(int code, const MPI_Comm* made);
// Returns the number of a communicator, or nothing if it has none.
std::optional<std::uintptr_t> number_of(MPI_Comm comm);
// Returns the rank in MPI_COMM_WORLD of a rank of `comm`.
int rank_in_world(MPI_Comm comm, int rank);

} // namespace parhelion::mpi
