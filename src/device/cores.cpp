// SPDX-License-Identifier: Apache-2.0
#include "device/cores.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace parhelion {

namespace {

int cores_of_affinity()
{
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) { return std::max(1, CPU_COUNT(&set)); }
#endif
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::string text_of(const std::filesystem::path& path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Returns this process's cgroup in the unified hierarchy ("0::/a/b"), as this process sees it; in a container it is the root.
std::filesystem::path own_group()
{
    std::istringstream groups(text_of("/proc/self/cgroup"));
    for (std::string line; std::getline(groups, line);)
    {
        if (line.starts_with("0::/")) { return std::filesystem::path(line.substr(4)); }
    }
    return {};
}

} // namespace

std::optional<int> cores_of_limit(std::string_view cpu_max)
{
    std::istringstream words{std::string(cpu_max)};
    double time = 0, period = 0;
    if (!(words >> time >> period) || !(time > 0) || !(period > 0)) { return std::nullopt; }
    return std::max(1, static_cast<int>(std::ceil(std::min(time / period, 1e6))));
}

int available_cores()
{
    const std::filesystem::path root = "/sys/fs/cgroup";
    int cores = cores_of_affinity();
    for (std::filesystem::path group = own_group();; group = group.parent_path()) // limits of parent groups count, too
    {
        cores = std::min(cores, cores_of_limit(text_of(root / group / "cpu.max")).value_or(cores));
        if (group.empty()) { return cores; }
    }
}

std::vector<int> cores_of(pthread_t thread)
{
    cpu_set_t set;
    std::vector<int> cores;
    if (pthread_getaffinity_np(thread, sizeof set, &set) != 0) { return cores; }
    for (int core = 0; core < CPU_SETSIZE; ++core)
    {
        if (CPU_ISSET(core, &set)) { cores.push_back(core); }
    }
    return cores;
}

bool move_to(pthread_t thread, const std::vector<int>& cores)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : cores) { CPU_SET(core, &set); }
    return pthread_setaffinity_np(thread, sizeof set, &set) == 0;
}

} // namespace parhelion
