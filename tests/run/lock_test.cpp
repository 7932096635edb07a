// SPDX-License-Identifier: Apache-2.0
#include "run/lock.hpp"

#include "base/error.hpp"
#include "io/scratch_file.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace parhelion {
namespace {

// What taking the lock of this prefix is refused with; empty: it is not.
std::string refusal(const std::string& prefix)
{
    try
    {
        const RunLock lock(prefix);
        return "";
    }
    catch (const InputError& error)
    {
        return error.id();
    }
}

TEST(RunLock, refuses_a_log_that_is_a_link)
{
    const ScratchFile log("linked.log"), other("other");
    std::ofstream(other.path()) << "somebody's";
    std::filesystem::create_symlink(other.path(), log.path());
    EXPECT_EQ(refusal(log.path().substr(0, log.path().size() - 4)), "E196");
    EXPECT_EQ(other.text(), "somebody's");
}

TEST(RunLock, is_taken_once_also_within_a_process)
{
    const ScratchFile log("locked.log");
    const std::string prefix = log.path().substr(0, log.path().size() - 4);
    {
        const RunLock lock(prefix);
        EXPECT_EQ(refusal(prefix), "E193");
    }
    EXPECT_EQ(refusal(prefix), "");
}

} // namespace
} // namespace parhelion
