// SPDX-License-Identifier: Apache-2.0
// Finds patterns of a --gtest_filter that match no test. A filter of many patterns runs what the others match, and nobody notices
// that a test which was renamed runs no more: so a list of tests by such a filter fails, and with it the build that asks for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

namespace parhelion::test {

// With * for any text and ? for any character, as in a filter.
inline bool matches(std::string_view pattern, std::string_view name)
{
    if (pattern.empty()) { return name.empty(); }
    if (pattern.front() == '*')
    {
        return matches(pattern.substr(1), name) || (!name.empty() && matches(pattern, name.substr(1)));
    }
    return !name.empty() && (pattern.front() == '?' || pattern.front() == name.front()) &&
           matches(pattern.substr(1), name.substr(1));
}

// Returns those of "A.*:B.*-A.slow*" that match none of these names, whichever side of the minus they are on.
inline std::vector<std::string> empty_patterns(const std::string& filter, const std::vector<std::string>& names)
{
    std::vector<std::string> empty;
    std::string text = filter;
    if (const std::size_t minus = text.find('-'); minus != std::string::npos) { text[minus] = ':'; }
    for (std::size_t begin = 0; begin < text.size();)
    {
        const std::size_t end = std::min(text.find(':', begin), text.size());
        const std::string pattern = text.substr(begin, end - begin);
        const auto matched = [&](const std::string& name) { return matches(pattern, name); };
        if (!pattern.empty() && std::none_of(names.begin(), names.end(), matched)) { empty.push_back(pattern); }
        begin = end + 1;
    }
    return empty;
}

// "Suite.test" of all tests of this program.
inline std::vector<std::string> test_names(const ::testing::UnitTest& tests)
{
    std::vector<std::string> names;
    for (int s = 0; s < tests.total_test_suite_count(); ++s)
    {
        const ::testing::TestSuite& suite = *tests.GetTestSuite(s);
        for (int t = 0; t < suite.total_test_count(); ++t)
        {
            names.push_back(std::string(suite.name()) + "." + suite.GetTestInfo(t)->name());
        }
    }
    return names;
}

} // namespace parhelion::test
