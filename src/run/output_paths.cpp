// SPDX-License-Identifier: Apache-2.0
#include "run/output_paths.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <system_error>

namespace parhelion {

void expect_writable(const std::filesystem::path& path)
{
    if (!path.empty() && !std::ofstream(path, std::ios::app)) { throw SystemError(path.string() + ": " + std::strerror(errno)); }
}

void protect_input(const InputFiles& files, const std::vector<std::filesystem::path>& outputs)
{
    for (const auto& [what, input] : files_read(files))
    {
        for (const auto& output : outputs)
        {
            std::error_code absent; // a file that does not exist is not the same file
            if (!std::filesystem::equivalent(input, output, absent)) { continue; }
            throw InputError("E194", {input.string(), 0},
                             fmt::format("is input, but this command writes {}, which is the same file (it would be lost). "
                                         "Choose another prefix with -o.",
                                         output.string()));
        }
    }
}

void append_line(const std::filesystem::path& path, const std::string& line)
{
    if (path.empty()) { return; }
    std::ofstream file(path, std::ios::app);
    file << line << '\n';
    if (!file.flush()) { throw SystemError("cannot write " + path.string()); }
}

} // namespace parhelion
