// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "engine/choose_gpus.hpp"

#include <fmt/format.h>

namespace parhelion {

#ifdef PARHELION_CUDA
std::vector<int> gpus_here(int asked_for)
{
    const HostGpus& host = find_gpus();
    const std::vector<int> devices = usable_together(host);
    const std::string why = why_left_out(host), in_brackets = why.empty() ? "" : fmt::format(" ({})", why);
    if (devices.empty()) { throw SystemError(fmt::format("there is no GPU here that this program can use{}.", in_brackets)); }
    if (asked_for > static_cast<int>(devices.size()))
    {
        throw InputError(
            "E004", {},
            fmt::format("{} GPUs are asked for; {} can be used together here{}.", asked_for, devices.size(), in_brackets));
    }
    return devices;
}
#else
std::vector<int> gpus_here(int) { throw InputError("E002", {}, "this program was built without CUDA."); }
#endif

} // namespace parhelion
