// SPDX-License-Identifier: Apache-2.0
// How much a test is asked to do, by the environment: PARHELION_TEST_EXCHANGES, PARHELION_TEST_DEADLINE (seconds: a search among
// mutants of a protocol wants to know of a deadlock soon) and others.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace parhelion::test {

// The number in the environment variable, if there is one.
template <class T>
T number_in(const char* variable, T otherwise)
{
    const char* const asked = std::getenv(variable);
    return asked != nullptr ? static_cast<T>(std::atoll(asked)) : otherwise;
}

// Returns how many short exchanges a test with random delays makes: a hundred thousand by night, ten thousand at each change.
inline int very_many_exchanges() { return 4 * number_in("PARHELION_TEST_EXCHANGES", 25'000); }

// Returns how often a test makes and frees what it uses. If anything were kept, memory or signals would run out before the end.
inline int times_made_and_freed() { return std::max(100, number_in("PARHELION_TEST_EXCHANGES", 20'000) / 10); }

} // namespace parhelion::test
