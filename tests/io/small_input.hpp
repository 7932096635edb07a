// SPDX-License-Identifier: Apache-2.0
// The input files of a folder of tests/data/io, in a folder of their own, where a test may change them.
#pragma once

#include "io/input/load.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <unistd.h>

namespace parhelion {

class SmallInput
{
public:
    // small: usual inputs; rare: what few inputs have; seldom: bonded terms that few have; amber: AMBER's files.
    explicit SmallInput(const std::string& name = "small")
        : folder_(std::filesystem::path(testing::TempDir()) / ("parhelion-" + std::to_string(::getpid()) + "-" + name))
    {
        std::filesystem::create_directories(folder_);
        const std::filesystem::path source = std::filesystem::path(PARHELION_SOURCE_DIR) / "tests/data/io" / name;
        for (const auto& entry : std::filesystem::directory_iterator(source))
        {
            std::ifstream stream(entry.path(), std::ios::binary);
            put(entry.path().filename().string(), {std::istreambuf_iterator<char>(stream), {}});
        }
    }
    ~SmallInput() { std::filesystem::remove_all(folder_); }
    SmallInput(const SmallInput&) = delete;
    SmallInput& operator=(const SmallInput&) = delete;

    const std::map<std::string, std::string>& texts() const { return texts_; }
    void put(const std::string& name, std::string text)
    {
        std::ofstream(folder_ / name, std::ios::binary) << text;
        texts_[name] = std::move(text);
    }
    // Replaces the only occurrence of `from`.
    void replace(const std::string& name, const std::string& from, const std::string& to)
    {
        std::string text = texts_.at(name);
        const std::size_t at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        ASSERT_EQ(text.find(from, at + 1), std::string::npos) << from;
        put(name, text.replace(at, from.size(), to));
    }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    InputFiles files() const
    {
        const bool amber = texts_.contains("system.prmtop");
        return {path("run.mdp"),
                path(amber ? "conf.rst7" : "conf.gro"),
                path(amber ? "system.prmtop" : "topol.top"),
                {},
                path("index.ndx"),
                {}};
    }
    LoadedInput load(Diagnostics& diagnostics) const { return load_gromacs(files(), diagnostics); }

private:
    std::filesystem::path folder_;
    std::map<std::string, std::string> texts_;
};

} // namespace parhelion
