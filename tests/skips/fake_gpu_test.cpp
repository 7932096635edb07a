// SPDX-License-Identifier: Apache-2.0
// Tests as they are on a machine without a GPU, of which project/CMakeLists.txt picks some.
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>

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
