// SPDX-License-Identifier: Apache-2.0
// Transports in shared objects, where they cannot be used. Where they can: tests/comm/with_ranks.sh runs the other suites.
#include "comm/plugin_ranks.hpp"

#include "base/error.hpp"

#include <cstdio>
#include <cstdlib>
#include <gmock/gmock.h>

using namespace parhelion;

namespace {

// What opening says, on standard error, with as many processes as an MPICH launcher would say.
void open_after_launch(const char* processes)
{
    if (processes != nullptr) { setenv("PMI_SIZE", processes, 1); }
    else { unsetenv("PMI_SIZE"); }
    unsetenv("OMPI_COMM_WORLD_SIZE");
    try
    {
        const PluginRanks ranks({.transport = "mpi", .bytes = std::size_t{1} << 20});
        std::fprintf(stderr, "%d ranks\n", ranks.ranks());
    }
    catch (const SystemError& error)
    {
        std::fprintf(stderr, "%s\n", error.what());
    }
    std::_Exit(0);
}

bool has_mpich()
{
    try
    {
        const Plugin plugin(plugin_files()[1]);
        return plugin.version().find("MPICH") != std::string::npos;
    }
    catch (const SystemError&)
    {
        return false;
    }
}

} // namespace

TEST(Plugin, is_not_opened_without_its_launcher)
{
    EXPECT_EXIT(open_after_launch(nullptr), testing::ExitedWithCode(0), "Transport mpi needs processes that a launcher");
}

TEST(Plugin, that_connects_a_process_with_nobody_is_refused)
{
    if (!has_mpich()) { GTEST_SKIP() << "no MPICH here"; }
    EXPECT_EXIT(open_after_launch("1"), testing::ExitedWithCode(0), "1 ranks");
    EXPECT_EXIT(open_after_launch("3"), testing::ExitedWithCode(0), "has started 3 processes, and MPICH.* connects 1 of them");
}

TEST(Plugin, that_is_missing_is_an_error_that_says_where_it_was_looked_for)
{
    const PluginFile nowhere{"mpi", "libparhelion_nowhere.so", {"libc.so.6"}, "PMI_SIZE"};
    try
    {
        const Plugin plugin(nowhere);
        FAIL();
    }
    catch (const SystemError& error)
    {
        EXPECT_THAT(error.what(), testing::HasSubstr("libparhelion_nowhere.so is neither beside the program nor in"));
    }
}
