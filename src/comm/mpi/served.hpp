// SPDX-License-Identifier: Apache-2.0
// A request that this library serves in place of the MPI library: what its caller has said of it, and how far it has come.
#pragma once

#include "comm/partitioned/partitioned.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <mutex>
#include <variant>
#include <vector>

namespace parhelion::mpi {

// The layout of the elements in a caller's buffer; a partition has `count` elements.
struct Elements
{
    MPI_Count count = 0, extent = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL; // element type for packing: a duplicate, as the caller may free the original
    bool are_packed = false;
};

// Returns the layout of elements of a type. Throws Refusal if MPI refuses the type. `size`: bytes of an element without gaps.
Elements elements_of(MPI_Count count, MPI_Datatype type, MPI_Count& size);

// Thrown with the reason why a call is refused. The caller's error handler gets it while no lock is held, as it may call MPI.
struct Refusal
{
    int code;
    const char* sentence; // text for stderr, or null
};

// Throws Refusal if the MPI call has returned an error code.
void expect_success(int code);

// A request that this library serves in place of the MPI library.
struct Served
{
    ~Served();

    std::variant<std::monostate, SendRequest, ReceiveRequest> request; // monostate: to or from MPI_PROC_NULL
    bool is_send = false;
    int partitions = 0, peer = MPI_PROC_NULL, tag = 0; // peer: the other rank's number in the communicator
    std::size_t bytes = 0;                             // bytes of a partition, without gaps
    std::byte* buffer = nullptr;                       // buffer that the caller has given
    Elements elements;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL; // copied from the communicator, which the caller may free
    std::vector<std::byte> packed;                // copy of the buffer without gaps, used if elements are packed
    std::vector<std::atomic<std::uint64_t>> seen; // per partition: epoch that was last unpacked or, with MPI_PROC_NULL, marked
    std::uint64_t epoch = 0;
    bool is_active = false;
    std::mutex unpacking;

    std::byte* here(int partition) const { return buffer + static_cast<MPI_Count>(partition) * elements.count * elements.extent; }
    std::byte* there(int partition) { return packed.data() + static_cast<std::size_t>(partition) * bytes; }
    void pack(int partition); // copies a partition to packed; does nothing unless elements are packed
    // Copies a partition that has arrived from packed to the caller's buffer, once an epoch.
    void unpack(int partition);
};

// Sets the status of a request. has_come: false if the request was not active.
void describe(const Served& served, bool has_come, MPI_Status* status);

} // namespace parhelion::mpi
