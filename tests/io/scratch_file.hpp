// SPDX-License-Identifier: Apache-2.0
// A file that lives as long as the test, in the test runner's folder for temporary files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

namespace parhelion {

class ScratchFile
{
public:
    explicit ScratchFile(const std::string& name)
        : path_(testing::TempDir() + "parhelion-" + std::to_string(::getpid()) + "-" + name)
    {
    }
    ~ScratchFile() { std::filesystem::remove(path_); }
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;

    const std::string& path() const { return path_; }
    std::string text() const
    {
        std::ifstream in(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::vector<std::byte> bytes() const
    {
        const std::string content = text();
        const auto* begin = reinterpret_cast<const std::byte*>(content.data());
        return {begin, begin + content.size()};
    }

private:
    std::string path_;
};

} // namespace parhelion
