// SPDX-License-Identifier: Apache-2.0
#include "plot.hpp"

#include "base/error.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>

extern "C" const char parhelion_plot_scaling[], parhelion_plot_scaling_end[];

namespace parhelion {

namespace {

// As one word of a shell.
std::string quoted(const std::string& text)
{
    std::string result = "'";
    for (const char c : text) { result += c == '\'' ? "'\\''" : std::string(1, c); }
    return result + "'";
}

} // namespace

void expect_plotting()
{
    if (std::system("python3 -c 'import matplotlib' > /dev/null 2>&1") != 0)
    {
        throw SystemError("--plot needs python3 with matplotlib, which is not here (Debian: python3-matplotlib).");
    }
}

void plot_scaling(const std::filesystem::path& lines, const std::string& prefix)
{
    std::signal(SIGPIPE, SIG_IGN); // of an interpreter that ends early its exit code tells
    const std::string command = "python3 - " + quoted(lines.string()) + " " + quoted(prefix);
    std::FILE* const script = ::popen(command.c_str(), "w");
    const auto size = static_cast<std::size_t>(parhelion_plot_scaling_end - parhelion_plot_scaling);
    const bool is_read = script != nullptr && std::fwrite(parhelion_plot_scaling, 1, size, script) == size;
    if (script == nullptr || ::pclose(script) != 0 || !is_read) { throw SystemError(prefix + "-rate.svg could not be drawn."); }
}

} // namespace parhelion
