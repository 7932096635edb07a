// SPDX-License-Identifier: Apache-2.0
// Lets processes meet that another program has started. One of them makes an id: the address of the process of rank 0, and
// the secret of the job. The program that has started them hands them the id (by MPI, a file, a pipe), and all join with the
// id.
#pragma once

#include "comm/bootstraps/rendezvous.hpp"
#include "comm/core/failures.hpp"
#include "comm/launch/launch.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace parhelion {

struct JoinId
{
    static constexpr std::size_t size = 128;
    using Image = std::array<unsigned char, size>; // bytes of the id, as they are handed to the processes

    Address address;
    std::string secret; // 32 bytes that cannot be guessed

    Image image() const;
    // Reads an id. Throws JoinError if the bytes are no id, or an id of another version of this library.
    explicit JoinId(const Image& image);
    JoinId(Address at, std::string with) : address(std::move(at)), secret(std::move(with)) {}
};

// Makes the id of a job, in the process that will be rank 0, and listens for the job's processes. `where`: a network interface
// ("eth0"), or "host" or "host:port" of this host; empty: the interface by which this host reaches other hosts, or its own
// address if there is none. Throws JoinError, SystemError.
JoinId make_join_id(const std::string& where);

// Stops listening for an id with which no process has joined; the id is then useless. Throws JoinError as join() does.
void give_back(const JoinId& id);

// Meets the other processes, which have one rank each; processes of one host share memory. Call it once per id. Throws
// CommError if not all have come by the deadline, SystemError, and JoinError if a process other than rank 0's made the id.
std::shared_ptr<Rendezvous> join(const JoinId& id, int rank, int ranks, std::chrono::nanoseconds deadline);

// Meets the processes that a known launcher has started. PARHELION_SECRET_FILE names the file with their secret. If all
// processes are on this host, rank 0 makes a secret that they find. Throws as join() above, and InputError E210.
std::shared_ptr<Rendezvous> join(const Launch& launch, std::chrono::nanoseconds deadline);

} // namespace parhelion
