// SPDX-License-Identifier: Apache-2.0
#include "base/shared_object.hpp"

#include "base/error.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>

namespace parhelion {

namespace {

// Opens a shared object by dlopen and returns its handle. On failure returns null and appends the reason to `why`.
void* open_object(const std::string& name, int flags, std::string& why)
{
    void* const object = dlopen(name.c_str(), RTLD_NOW | flags);
    if (object == nullptr) { why += (why.empty() ? "" : "; ") + std::string(dlerror()); }
    return object;
}

std::string path_of(const std::string& file)
{
    const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    for (const auto& path : {folder / file, folder.parent_path() / "lib" / file})
    {
        if (std::filesystem::exists(path)) { return path; }
    }
    throw SystemError(fmt::format("{} is neither beside the program nor in {} (a build without the headers of its library leaves "
                                  "it out). Install these headers and build again, or put the file there.",
                                  file, (folder.parent_path() / "lib").string()));
}

} // namespace

void* symbol_of_plugin(const std::string& file, const std::vector<std::string>& libraries, const char* name)
{
    const std::string path = path_of(file);
    std::string why;
    void* library = nullptr;
    for (const std::string& each : libraries)
    {
        if (library == nullptr) { library = open_object(each, RTLD_GLOBAL, why); }
    }
    if (library == nullptr && !libraries.empty())
    {
        throw SystemError(fmt::format("The library that {} needs cannot be opened: {}. Install it, or add its folder to "
                                      "LD_LIBRARY_PATH.",
                                      file, why));
    }
    void* const plugin = open_object(path, RTLD_LOCAL, why);
    if (plugin == nullptr) { throw SystemError(fmt::format("{} cannot be opened: {}.", path, why)); }
    void* const symbol = dlsym(plugin, name);
    if (symbol == nullptr)
    {
        throw SystemError(fmt::format("{} is of another version of Parhelion. Take the one that belongs to this program.", path));
    }
    return symbol;
}

} // namespace parhelion
