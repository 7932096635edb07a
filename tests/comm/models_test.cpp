// SPDX-License-Identifier: Apache-2.0
// A channel may go without credits where a model proves that its slots are free in time (rule R2).
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <sstream>

namespace {

std::string text_of(const std::filesystem::path& file)
{
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

std::set<std::string> matches(const std::string& text, const std::string& pattern)
{
    std::set<std::string> found;
    const std::regex regex(pattern);
    for (std::sregex_iterator m(text.begin(), text.end(), regex), end; m != end; ++m) { found.insert((*m)[1]); }
    return found;
}

} // namespace

TEST(Models, every_source_that_does_without_credits_names_a_model_that_holds)
{
    const std::filesystem::path root = PARHELION_SOURCE_DIR;
    const std::set<std::string> checked =
        matches(text_of(root / "tests/comm/CMakeLists.txt"), R"(parhelion_model\(holds (\w+)[ )])");
    ASSERT_FALSE(checked.empty());
    int users = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "src"))
    {
        const std::string text = entry.is_regular_file() ? text_of(entry.path()) : "";
        if (text.find("Credits::No") == std::string::npos) { continue; }
        ++users;
        std::filesystem::path header = entry.path();
        header.replace_extension("hpp");
        const std::set<std::string> named = matches(text + text_of(header), R"((\w+)\.pml)");
        EXPECT_FALSE(named.empty()) << entry.path();
        for (const std::string& model : named) { EXPECT_TRUE(checked.contains(model)) << entry.path() << " names " << model; }
    }
    EXPECT_GE(users, 2); // sums and the halo
}
