// SPDX-License-Identifier: Apache-2.0
// The plugin for an MPI library: the list of its transports, and how it begins and ends MPI.
#include "comm/plugins/mpi.hpp"

#include <algorithm>
#include <sys/mman.h>

namespace parhelion::mpi {

const char* library()
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    text[std::strcspn(text, "\n")] = '\0';
    std::replace(text, text + std::strlen(text), '\t', ' ');
    return text;
}

bool begin(Processes& processes, const Why& why)
{
    int is_initialized = 0, level = MPI_THREAD_SINGLE;
    MPI_Initialized(&is_initialized);
    if (is_initialized == 0) { MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level); }
    else { MPI_Query_thread(&level); }
    if (level < MPI_THREAD_SERIALIZED)
    {
        why("it does not allow calls from several threads in turn");
        return false;
    }
    processes.has_begun_mpi = is_initialized == 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &processes.all);
    MPI_Comm_rank(processes.all, &processes.rank);
    MPI_Comm_size(processes.all, &processes.ranks);
    return true;
}

void end(Processes& processes)
{
    MPI_Comm_free(&processes.all);
    if (processes.has_begun_mpi) { MPI_Finalize(); }
}

unsigned char* map_memory(std::size_t bytes)
{
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory != MAP_FAILED ? static_cast<unsigned char*>(memory) : nullptr;
}

void unmap_memory(unsigned char* memory, std::size_t bytes) { munmap(memory, bytes); }

} // namespace parhelion::mpi

extern "C" __attribute__((visibility("default"))) const parhelion_calls_v1* parhelion_transport_v1(const char* name)
{
    using namespace parhelion::mpi;
    if (std::strcmp(name, "mpi") == 0) { return &two_sided; }
    if (std::strcmp(name, "mpi-rma") == 0) { return &one_sided; }
    return std::strcmp(name, "mpi-put") == 0 ? &put_alone : nullptr;
}
