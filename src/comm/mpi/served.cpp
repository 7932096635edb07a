// SPDX-License-Identifier: Apache-2.0
#include "comm/mpi/served.hpp"

namespace parhelion::mpi {

namespace {

// Returns whether elements need no packing. Only predefined types have a known byte order; all other types are packed.
bool is_plain(MPI_Datatype type, MPI_Count size, MPI_Count extent)
{
    int integers = 0, addresses = 0, types = 0, combiner = 0;
    expect_success(PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
    return combiner == MPI_COMBINER_NAMED && size == extent;
}

} // namespace

Elements elements_of(MPI_Count count, MPI_Datatype type, MPI_Count& size)
{
    if (type == MPI_DATATYPE_NULL) { throw Refusal{MPI_ERR_TYPE, nullptr}; }
    MPI_Count lower = 0;
    Elements elements{count, 0, type, false};
    expect_success(PMPI_Type_size_c(type, &size));
    expect_success(PMPI_Type_get_extent_c(type, &lower, &elements.extent));
    elements.are_packed = !is_plain(type, size, elements.extent);
    if (elements.are_packed) { expect_success(PMPI_Type_dup(type, &elements.type)); }
    return elements;
}

void expect_success(int code)
{
    if (code != MPI_SUCCESS) { throw Refusal{code, nullptr}; }
}

Served::~Served()
{
    if (elements.are_packed) { PMPI_Type_free(&elements.type); }
    if (handler != MPI_ERRHANDLER_NULL) { PMPI_Errhandler_free(&handler); }
}

void Served::pack(int partition)
{
    MPI_Count at = 0;
    if (!elements.are_packed) { return; }
    expect_success(PMPI_Pack_c(here(partition), elements.count, elements.type, there(partition), static_cast<MPI_Count>(bytes),
                               &at, MPI_COMM_SELF));
}

void Served::unpack(int partition)
{
    if (!elements.are_packed) { return; }
    const std::scoped_lock lock(unpacking);
    std::atomic<std::uint64_t>& last = seen[static_cast<std::size_t>(partition)];
    if (last.load(std::memory_order_relaxed) == epoch) { return; }
    MPI_Count at = 0;
    expect_success(PMPI_Unpack_c(there(partition), static_cast<MPI_Count>(bytes), &at, here(partition), elements.count,
                                 elements.type, MPI_COMM_SELF));
    last.store(epoch, std::memory_order_relaxed);
}

void describe(const Served& served, bool has_come, MPI_Status* status)
{
    if (status == MPI_STATUS_IGNORE) { return; }
    const bool is_message = has_come && served.peer != MPI_PROC_NULL;
    status->MPI_SOURCE = has_come ? served.peer : MPI_ANY_SOURCE;
    status->MPI_TAG = is_message ? served.tag : MPI_ANY_TAG;
    status->MPI_ERROR = MPI_SUCCESS;
    const std::size_t bytes = is_message ? served.bytes * static_cast<std::size_t>(served.partitions) : 0;
    PMPI_Status_set_elements_c(status, MPI_BYTE, static_cast<MPI_Count>(bytes));
}

} // namespace parhelion::mpi
