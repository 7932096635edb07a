// SPDX-License-Identifier: Apache-2.0
// Tests of one program that are several entries of ctest, by the number of GPUs they take (tools/test_gpus.py): each belongs to
// one entry; the others leave it out and do not count it.
#pragma once

#include "support/number_in.hpp"

#include <algorithm>
#include <bit>
#include <gtest/gtest.h>
#include <string>

namespace parhelion::test {

inline constexpr const char* left_out = "left_out"; // a property of a test's result

// For SetUp(): of a test that needs `least` GPUs and, if there are more, uses up to `most`; `here`: how many there are. Tests
// that need more belong to the entry of one GPU, which counts them as skipped. PARHELION_TEST_ON_GPUS is the number of the entry.
inline void take_gpus_of(int here, int least, int most)
{
    const int taken = here < least ? 1 : static_cast<int>(std::bit_floor(static_cast<unsigned>(std::min(most, here))));
    if (number_in("PARHELION_TEST_ON_GPUS", taken) != taken)
    {
        ::testing::Test::RecordProperty(left_out, 1);
        GTEST_SKIP() << "belongs to the entry of " << taken << " GPU(s)";
    }
    if (here < least) { GTEST_SKIP() << "needs " << least << " GPU(s), " << here << " here"; }
}

inline bool is_left_out(const ::testing::TestInfo& test)
{
    const ::testing::TestResult& result = *test.result();
    for (int i = 0; i < result.test_property_count(); ++i)
    {
        if (result.GetTestProperty(i).key() == std::string(left_out)) { return true; }
    }
    return false;
}

inline int count_left_out(const ::testing::UnitTest& tests)
{
    int count = 0;
    for (int s = 0; s < tests.total_test_suite_count(); ++s)
    {
        const ::testing::TestSuite& suite = *tests.GetTestSuite(s);
        for (int t = 0; t < suite.total_test_count(); ++t) { count += is_left_out(*suite.GetTestInfo(t)) ? 1 : 0; }
    }
    return count;
}

} // namespace parhelion::test
