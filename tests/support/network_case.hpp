// SPDX-License-Identifier: Apache-2.0
// Holds what the stress tests of exchanges have in common: networks, and how long the tests are.
#pragma once

#include "support/faulty.hpp"
#include "support/number_in.hpp"

#include <string>

#include <gtest/gtest.h>

namespace parhelion::test {

struct NetworkCase
{
    const char* name;
    bool is_faulty;
    PeerAccess access;
    int share; // of all exchanges, per cent
};
inline const auto network_cases = ::testing::Values(NetworkCase{"threads_pointers", false, PeerAccess::Pointers, 10},
                                                    NetworkCase{"threads_staged", false, PeerAccess::Staged, 10},
                                                    NetworkCase{"faulty_pointers", true, PeerAccess::Pointers, 40},
                                                    NetworkCase{"faulty_staged", true, PeerAccess::Staged, 40});
inline std::string network_name(const ::testing::TestParamInfo<NetworkCase>& info) { return info.param.name; }

} // namespace parhelion::test
