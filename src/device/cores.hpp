// SPDX-License-Identifier: Apache-2.0
// How many cores there are for this process: those of its affinity mask, or fewer where a control group limits its processor
// time, as containers do. Threads beyond that wait for each other while they have no turn, and are slower than none.
#pragma once

#include <optional>
#include <pthread.h>
#include <string_view>
#include <vector>

namespace parhelion {

int available_cores();

// What a control group's `cpu.max` is worth in cores, rounded up: 2 for "150000 100000". Nothing if it sets no limit.
std::optional<int> cores_of_limit(std::string_view cpu_max);

// The numbers of the cores that a thread may be on, in order; empty: the system does not say.
std::vector<int> cores_of(pthread_t thread);
// From now on it is there and nowhere else; false: it cannot be.
bool move_to(pthread_t thread, const std::vector<int>& cores);

} // namespace parhelion
