// SPDX-License-Identifier: Apache-2.0
// Transports in shared objects, where they cannot be used. Where they can: tests/comm/with_ranks.sh runs the other suites.
#include "comm/networks/plugin_ranks.hpp"

#include "base/error.hpp"
#include "comm/transports/plugin.hpp"

#include <cstdio>
#include <cstdlib>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace parhelion;

namespace {

// What opening says, on standard error, in the environment of a launcher that says how many processes it has started.
void open_after_launch(const std::string& transport, const std::string& variable, const char* processes)
{
    for (const char* const each : {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE"}) { unsetenv(each); }
    if (processes != nullptr) { setenv(variable.c_str(), processes, 1); }
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    try
    {
        const PluginRanks ranks({.transport = transport, .bytes = std::size_t{1} << 20});
        std::fprintf(stderr, "%d ranks\n", ranks.ranks());
    }
    catch (const SystemError& error)
    {
        std::fprintf(stderr, "%s\n", error.what());
    }
    std::_Exit(0);
}

// Can it be opened? In a process of its own, as two MPIs do not get along in one.
bool is_here(const std::string& transport, const PluginFile& file)
{
    const pid_t child = fork();
    if (child == 0)
    {
        try
        {
            const Plugin plugin(transport, {file});
            std::_Exit(0);
        }
        catch (const SystemError&)
        {
            std::_Exit(1);
        }
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

TEST(Plugin, is_not_opened_without_its_launcher)
{
    EXPECT_EXIT(open_after_launch("mpi", "PMI_SIZE", nullptr), testing::ExitedWithCode(0),
                "Transport mpi needs processes that a launcher");
}

// Of every transport of every plugin whose library is here.
TEST(Plugin, that_connects_a_process_with_nobody_is_refused)
{
    int tried = 0;
    for (const PluginFile& file : plugin_files())
    {
        for (const std::string& transport : file.transports)
        {
            if (!is_here(transport, file)) { continue; }
            SCOPED_TRACE(transport + " of " + file.file);
            const std::string& variable = file.size_variables.front();
            EXPECT_EXIT(open_after_launch(transport, variable, "1"), testing::ExitedWithCode(0), "1 ranks");
            EXPECT_EXIT(open_after_launch(transport, variable, "3"), testing::ExitedWithCode(0),
                        "has started 3 processes, and .* connects 1 of them");
            ++tried;
        }
    }
    if (tried == 0) { GTEST_SKIP() << "no library of a plugin is here"; }
}

TEST(Plugin, that_is_missing_is_an_error_that_says_where_it_was_looked_for)
{
    const PluginFile nowhere{{"mpi"}, "libparhelion_nowhere.so", {"libc.so.6"}, {"PMI_SIZE"}};
    PluginFile elsewhere = nowhere;
    elsewhere.file = "libparhelion_elsewhere.so";
    try
    {
        const Plugin plugin("mpi", {nowhere, elsewhere});
        FAIL();
    }
    catch (const SystemError& error)
    {
        EXPECT_THAT(error.what(), testing::HasSubstr("libparhelion_nowhere.so is neither beside the program nor in"));
        EXPECT_THAT(error.what(), testing::HasSubstr("libparhelion_elsewhere.so is neither beside the program nor in"));
        EXPECT_THAT(error.what(), testing::ContainsRegex("put the file there\\. lib.*put the file there\\.$"));
    }
}
