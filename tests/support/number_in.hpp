// SPDX-License-Identifier: Apache-2.0
// How much a test is asked to do, by the environment: PARHELION_TEST_EXCHANGES, PARHELION_TEST_DEADLINE (seconds: a search among
// mutants of a protocol wants to know of a deadlock soon) and others.
#pragma once

#include <cstdlib>

namespace parhelion::test {

// The number in the environment variable, if there is one.
template <class T>
T number_in(const char* variable, T otherwise)
{
    const char* const asked = std::getenv(variable);
    return asked != nullptr ? static_cast<T>(std::atoll(asked)) : otherwise;
}

} // namespace parhelion::test
