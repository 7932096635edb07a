// SPDX-License-Identifier: Apache-2.0
// main() of every test program. The exit code says what happened, so that no text a test prints can: 0 if a test has passed and
// none has failed, 77 if all were skipped, anything else is a failure. ctest takes 77 for a skip (skips.cmake). A list of tests
// (--gtest_list_tests) fails if a pattern of the filter matches none.
#include "support/entries.hpp"
#include "support/patterns.hpp"

#include <cstdio>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#ifdef __SANITIZE_THREAD__
// The thread sanitizer notes what sendmsg() has read after the call has returned. By then the other side may have answered and
// the bytes been written anew: no race, as the kernel has read them before.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:parhelion::TcpTransport::Stream::flush\n"; }
#endif

namespace {

// tools/count_tests.py reads these lines.
void print_long_tests(const ::testing::UnitTest& tests)
{
    constexpr ::testing::TimeInMillis is_long = 3000;
    for (int s = 0; s < tests.total_test_suite_count(); ++s)
    {
        const ::testing::TestSuite& suite = *tests.GetTestSuite(s);
        for (int t = 0; t < suite.total_test_count(); ++t)
        {
            const ::testing::TestInfo& test = *suite.GetTestInfo(t);
            const ::testing::TimeInMillis ms = test.result()->elapsed_time();
            if (ms >= is_long)
            {
                std::printf("long test: %.1f s %s.%s\n", static_cast<double>(ms) / 1000, suite.name(), test.name());
            }
        }
    }
}

} // namespace

int main(int argc, char** argv)
{
    ::testing::InitGoogleMock(&argc, argv);
    const int code = RUN_ALL_TESTS();
    const ::testing::UnitTest& tests = *::testing::UnitTest::GetInstance();
    if (GTEST_FLAG_GET(list_tests))
    {
        const std::vector<std::string> empty =
            parhelion::test::empty_patterns(GTEST_FLAG_GET(filter), parhelion::test::test_names(tests));
        for (const std::string& pattern : empty) { std::fprintf(stderr, "no test matches %s\n", pattern.c_str()); }
        return empty.empty() ? code : 1;
    }
    const int passed = tests.successful_test_count();
    const int left = parhelion::test::count_left_out(tests), skipped = tests.skipped_test_count() - left;
    print_long_tests(tests);
    // tools/count_tests.py reads this line.
    std::printf("%s: %d passed, %d failed, %d skipped\n", std::filesystem::path(argv[0]).filename().c_str(), passed,
                tests.failed_test_count(), skipped);
    std::fflush(stdout);
    if (code != 0 || passed > 0) { return code; }
    constexpr int all_skipped = 77, no_test_ran = 1;
    return skipped + left > 0 ? all_skipped : no_test_ran;
}
