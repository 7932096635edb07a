// SPDX-License-Identifier: Apache-2.0
// A folder of input files that a test writes and that goes away with it, and an assertion on what a reader refuses.
#pragma once

#include "base/error.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <unistd.h>

namespace parhelion {

class InputFolder
{
public:
    InputFolder() : path_(testing::TempDir() + "parhelion-input-" + std::to_string(::getpid()) + "-" + std::to_string(counter_++))
    {
        std::filesystem::create_directories(path_);
    }
    ~InputFolder() { std::filesystem::remove_all(path_); }
    InputFolder(const InputFolder&) = delete;
    InputFolder& operator=(const InputFolder&) = delete;

    std::filesystem::path write(const std::string& name, std::string_view text) const
    {
        const std::filesystem::path file = path_ / name;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << text;
        return file;
    }
    const std::filesystem::path& path() const { return path_; }

private:
    static inline int counter_ = 0;
    std::filesystem::path path_;
};

// `read()` must throw an InputError of this id at this line of a file whose name ends in `file`, with `part` in its message.
template <class Read>
void expect_refused(const Read& read, std::string_view id, std::string_view file, int line, std::string_view part = {})
{
    try
    {
        read();
        ADD_FAILURE() << "accepted; expected " << id << " at line " << line;
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), id) << error.what();
        EXPECT_TRUE(error.where().file.ends_with(file)) << error.what();
        EXPECT_EQ(error.where().line, line) << error.what();
        EXPECT_NE(error.message().find(part), std::string::npos) << error.what() << "\nlacks: " << part;
    }
}

} // namespace parhelion
