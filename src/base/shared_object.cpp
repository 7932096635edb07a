// SPDX-License-Identifier: Apache-2.0
#include "base/shared_object.hpp"

#include "base/error.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <string_view>
#include <system_error>

namespace parhelion {

namespace {

// Opens a shared object by dlopen and returns its handle. On failure returns null and appends the reason to `why`.
void* open_object(const std::string& name, int flags, std::string& why)
{
    void* const object = dlopen(name.c_str(), RTLD_NOW | flags);
    if (object == nullptr) { why += (why.empty() ? "" : "; ") + std::string(dlerror()); }
    return object;
}

// Returns the folder of the program. A Python module with this code has the program, or a link to it, in its folder bin.
std::filesystem::path program_folder()
{
    static const int here = 0;
    Dl_info object{};
    if (dladdr(&here, &object) != 0 && object.dli_fname != nullptr && std::string_view(object.dli_fname).ends_with(".so"))
    {
        const std::filesystem::path folder = std::filesystem::absolute(object.dli_fname).parent_path();
        std::error_code absent;
        const std::filesystem::path program = std::filesystem::canonical(folder / "bin" / "parhelion", absent);
        return absent ? folder : program.parent_path();
    }
    return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

std::string path_of(const std::string& file)
{
    const std::filesystem::path folder = program_folder();
    for (const auto& path : {folder / file, folder.parent_path() / PARHELION_LIBRARY_FOLDER / file})
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
