// SPDX-License-Identifier: Apache-2.0
// Tests as they are on a machine without a GPU, of which project/CMakeLists.txt picks some.
#include "support/entries.hpp"

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>

namespace {

void take(int least, int most)
{
    parhelion::test::take_gpus_of(parhelion::test::number_in("PARHELION_TEST_GPUS_HERE", 0), least, most);
}

} // namespace

TEST(Takes, one_gpu) { take(1, 1); }
TEST(Takes, two_gpus) { take(2, 2); }
TEST(Takes, two_gpus_if_there_are) { take(1, 2); }
TEST(Takes, four_gpus) { take(4, 4); }
TEST(Takes, as_many_as_there_are) { take(1, 8); }

TEST(Fake, passes) {}

TEST(Fake, skips) { GTEST_SKIP() << "no GPU"; }

TEST(Fake, fails)
{
    std::puts("no GPU");
    FAIL() << "needs a GPU, 0 here";
}

// Fails once every test has been skipped.
TEST(Fake, skips_and_fails_at_exit)
{
    std::atexit([] { std::_Exit(1); });
    GTEST_SKIP() << "no GPU";
}

TEST(Fake, skips_and_dies)
{
    std::puts("no GPU\n[  SKIPPED ] Fake.skips_and_dies");
    std::abort();
}
