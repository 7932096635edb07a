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
bool has_gpus() { return !usable_together(find_gpus()).empty(); }
#else
std::vector<int> gpus_here(int) { throw InputError("E002", {}, "this program was built without CUDA."); }
bool has_gpus() { return false; }
#endif

std::vector<int> powers_of_two_and_all(int all)
{
    std::vector<int> numbers;
    for (int gpus = 1; gpus < all; gpus *= 2) { numbers.push_back(gpus); }
    numbers.push_back(all);
    return numbers;
}

} // namespace parhelion
