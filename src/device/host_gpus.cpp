// SPDX-License-Identifier: Apache-2.0
#include "device/host_gpus.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

namespace parhelion {

bool runs_code_for(const std::string& architectures, int major, int minor)
{
    std::istringstream words(architectures);
    bool are_known = false;
    for (std::string word; std::getline(words, word, ',');)
    {
        char* end = nullptr;
        const int number = static_cast<int>(std::strtol(word.c_str(), &end, 10)), here = 10 * major + minor;
        if (end == word.c_str()) { continue; }
        are_known = true;
        const std::string kind = end;
        const bool is_of_same_major = number / 10 == major;
        if (kind != "-virtual" && is_of_same_major && number <= here) { return true; }
        if (kind != "-real" && number <= here) { return true; }
    }
    return !are_known;
}

std::string why_unusable(const HostGpu& gpu)
{
    if (!gpu.has_code) { return fmt::format("no code for its compute capability {}.{} in this program", gpu.major, gpu.minor); }
    if (!gpu.is_allowed) { return "its compute mode is \"prohibited\""; }
    return "";
}

std::string name_of(const HostGpu& gpu) { return fmt::format("GPU {} ({})", gpu.device, gpu.name); }

} // namespace parhelion
