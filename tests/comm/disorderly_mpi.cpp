// SPDX-License-Identifier: Apache-2.0
// Preloaded before an MPI library: puts and accumulates stay here until their flush, which is as late as the standard allows, and
// then leave in random order. MPI libraries on one host keep more order than that: what a transport fails to order goes wrong
// here.
#include <algorithm>
#include <functional>
#include <mpi.h>
#include <random>
#include <vector>

namespace {

std::vector<std::function<void()>> waiting; // of one window and destination at a time, as this process's transport puts
std::mt19937_64 chance{1};

} // namespace

extern "C" int MPI_Put(const void* data, int count, MPI_Datatype type, int to, MPI_Aint place, int there, MPI_Datatype type_there,
                       MPI_Win window)
{
    waiting.emplace_back([=] { PMPI_Put(data, count, type, to, place, there, type_there, window); });
    return MPI_SUCCESS;
}

extern "C" int MPI_Accumulate(const void* data, int count, MPI_Datatype type, int to, MPI_Aint place, int there,
                              MPI_Datatype type_there, MPI_Op operation, MPI_Win window)
{
    waiting.emplace_back([=] { PMPI_Accumulate(data, count, type, to, place, there, type_there, operation, window); });
    return MPI_SUCCESS;
}

extern "C" int MPI_Win_flush(int to, MPI_Win window)
{
    std::shuffle(waiting.begin(), waiting.end(), chance);
    for (const auto& leave : waiting)
    {
        leave();
        PMPI_Win_flush(to, window);
    }
    waiting.clear();
    return MPI_SUCCESS;
}
