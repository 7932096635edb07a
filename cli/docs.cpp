// SPDX-License-Identifier: Apache-2.0
// `parhelion docs`: finds the manual that was installed with this program, and opens it in a browser if there is one.
#include "base/error.hpp"
#include "commands.hpp"
#include "say.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace parhelion {

namespace {

// Returns the first page of the manual as HTML if there is a site, otherwise as Markdown; nothing without a manual.
std::optional<std::filesystem::path> first_page()
{
    const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    for (const std::filesystem::path& manual : {folder / PARHELION_MANUAL_FROM_PROGRAM, folder / "manual"}) // installed; built
    {
        for (const char* const page : {"html/index.html", "index.html", "start.md"})
        {
            std::error_code none;
            if (std::filesystem::exists(manual / page, none)) { return std::filesystem::canonical(manual / page); }
        }
    }
    return std::nullopt;
}

const char* variable(const char* name)
{
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

// Opens a page in the browser of the variable BROWSER, or in the desktop's. Returns false if there is none or if it failed.
bool open_in_browser(const std::string& page)
{
    const char* browser = variable("BROWSER");
    if (browser == nullptr && (variable("DISPLAY") != nullptr || variable("WAYLAND_DISPLAY") != nullptr))
    {
        browser = "xdg-open";
    }
    if (browser == nullptr) { return false; }
    std::string name = browser, argument = page;
    std::array<char*, 3> words = {name.data(), argument.data(), nullptr};
    pid_t child = 0;
    int status = 0;
    return ::posix_spawnp(&child, browser, nullptr, nullptr, words.data(), environ) == 0 &&
           ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

void command_docs()
{
    const std::optional<std::filesystem::path> page = first_page();
    if (!page)
    {
        throw SystemError(
            "the manual was not installed with this program. Its pages are in docs/ of the sources, and `make manual` "
            "makes a site of them.");
    }
    say(stdout, "{}\n", page->string());
    std::fflush(stdout);
    if (page->extension() == ".html" && !open_in_browser(page->string()))
    {
        say(stderr, "no browser was found: open that file in one\n");
    }
}

} // namespace parhelion
