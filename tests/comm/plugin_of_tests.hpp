// SPDX-License-Identifier: Apache-2.0
// The ranks of a transport plugin, for tests that mpirun, mpiexec or oshrun has started: PARHELION_TEST_TRANSPORT names the
// transport. All processes run the same tests; those that a test has no rank for wait.
#pragma once

#include "comm/networks/plugin_ranks.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>

namespace parhelion {

// Null: the tests' own transports are asked for.
inline const char* plugin_of_tests() { return std::getenv("PARHELION_TEST_TRANSPORT"); }

// Opened at first use, closed after the last test.
class PluginOfTests : public testing::Environment
{
public:
    static PluginRanks& ranks()
    {
        std::unique_ptr<PluginRanks>& open = instance();
        if (!open)
        {
            testing::AddGlobalTestEnvironment(new PluginOfTests);
            open =
                std::make_unique<PluginRanks>(PluginOptions{plugin_of_tests(), std::size_t{1} << 27, std::chrono::seconds(60)});
        }
        return *open;
    }
    void TearDown() override { instance().reset(); }

private:
    static std::unique_ptr<PluginRanks>& instance()
    {
        static std::unique_ptr<PluginRanks> ranks;
        return ranks;
    }
};

} // namespace parhelion
