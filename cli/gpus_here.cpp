// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#ifdef PARHELION_CUDA
#include "device/gpu_queue.hpp"
#endif

#include <fmt/format.h>

namespace parhelion {

int gpus_here(int asked_for)
{
#ifdef PARHELION_CUDA
    const int here = gpu_count();
#else
    throw InputError("E002", {}, "this program was built without CUDA.");
    const int here = 0;
#endif
    if (here == 0) { throw SystemError("there is no GPU on this machine."); }
    if (asked_for > here) { throw InputError("E004", {}, fmt::format("{} GPUs are asked for; {} are here.", asked_for, here)); }
    return here;
}

} // namespace parhelion
