// SPDX-License-Identifier: Apache-2.0
// Counts the cores that this process may use: those of its affinity mask, or fewer where a control group (cgroup) limits
// its processor time, as in containers. Threads beyond that number take turns and wait for each other, which is slower.
#pragma once

#include <optional>
#include <pthread.h>
#include <string_view>
#include <vector>

namespace parhelion {

int available_cores();

// Returns the number of cores, rounded up, that a cgroup's `cpu.max` allows: 2 for "150000 100000". Returns nothing if unlimited.
std::optional<int> cores_of_limit(std::string_view cpu_max);

// Returns the numbers of the cores on which a thread may run, ascending. It is empty if the system does not tell them.
std::vector<int> cores_of(pthread_t thread);
// Pins `thread` to `cores`: it no longer runs on any other core. Returns false if the system refuses.
bool move_to(pthread_t thread, const std::vector<int>& cores);

} // namespace parhelion
