// SPDX-License-Identifier: Apache-2.0
// main() of every test program. The exit code says what happened, so that no text a test prints can: 0 if a test has passed and
// none has failed, 77 if all were skipped, anything else is a failure. ctest takes 77 for a skip (skips.cmake).
#include "support/entries.hpp"

#include <cstdio>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#ifdef __SANITIZE_THREAD__
// The thread sanitizer notes what sendmsg() has read after the call has returned. By then the other side may have answered and
// the bytes been written anew: no race, as the kernel has read them before.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:parhelion::TcpTransport::Stream::flush\n"; }
#endif

int main(int argc, char** argv)
{
    ::testing::InitGoogleMock(&argc, argv);
    const int code = RUN_ALL_TESTS();
    if (GTEST_FLAG_GET(list_tests)) { return code; }
    const ::testing::UnitTest& tests = *::testing::UnitTest::GetInstance();
    const int passed = tests.successful_test_count();
    const int left = parhelion::test::count_left_out(tests), skipped = tests.skipped_test_count() - left;
    // tools/count_tests.py reads this line.
    std::printf("%s: %d passed, %d failed, %d skipped\n", std::filesystem::path(argv[0]).filename().c_str(), passed,
                tests.failed_test_count(), skipped);
    std::fflush(stdout);
    if (code != 0 || passed > 0) { return code; }
    constexpr int all_skipped = 77, no_test_ran = 1;
    return skipped + left > 0 ? all_skipped : no_test_ran;
}
