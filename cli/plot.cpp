// SPDX-License-Identifier: Apache-2.0
#include "plot.hpp"

#include "base/error.hpp"
#include "shell_word.hpp"

#include <csignal>
#include <cstdio>
#include <string_view>

extern "C" const char parhelion_plot_scaling[], parhelion_plot_scaling_end[];

namespace parhelion {

namespace {

// Runs a Python script; returns whether it succeeded. Python would search the current folder
// first, where anybody may have put a json.py. So that folder is removed from the path. Option
// -I would also hide a matplotlib that the user has installed, and -P needs Python 3.11.
bool run_python(std::string_view script, const std::string& arguments)
{
    std::signal(SIGPIPE, SIG_IGN); // if the interpreter ends early, its exit code says so
    const std::string start = "import sys; sys.path = [folder for folder in sys.path if folder]; exec(sys.stdin.buffer.read())";
    std::FILE* const python = ::popen(("python3 -c " + shell_word(start) + " " + arguments).c_str(), "w");
    if (python == nullptr) { return false; }
    const bool is_read = std::fwrite(script.data(), 1, script.size(), python) == script.size();
    return ::pclose(python) == 0 && is_read;
}

} // namespace

void expect_plotting()
{
    if (!run_python("import matplotlib", "> /dev/null 2>&1"))
    {
        throw SystemError("--plot needs python3 with matplotlib, which is not here (Debian: python3-matplotlib).");
    }
}

void plot_scaling(const std::filesystem::path& lines, const std::string& prefix)
{
    const std::string_view script(parhelion_plot_scaling,
                                  static_cast<std::size_t>(parhelion_plot_scaling_end - parhelion_plot_scaling));
    if (!run_python(script, shell_word(lines.string()) + " " + shell_word(prefix)))
    {
        throw SystemError(prefix + "-rate.svg could not be drawn.");
    }
}

} // namespace parhelion
