// SPDX-License-Identifier: Apache-2.0
#include "comm/transports/plugin.hpp"

#include "base/error.hpp"

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>

namespace parhelion {

namespace {

// dlopen, or why not.
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
    throw SystemError(fmt::format("{} is neither beside the program nor in {}: it was not built, as it needs the headers of its "
                                  "library",
                                  file, (folder.parent_path() / "lib").string()));
}

} // namespace

const std::vector<PluginFile>& plugin_files()
{
    static const std::vector<PluginFile> files = {
        {"mpi", "libparhelion_mpi_openmpi.so", {"libmpi.so.40"}, "OMPI_COMM_WORLD_SIZE"},
        {"mpi", "libparhelion_mpi_mpich.so", {"libmpich.so.12", "libmpi.so.12"}, "PMI_SIZE"},
        {"openshmem", "libparhelion_openshmem.so", {"liboshmem.so.40"}, "OMPI_COMM_WORLD_SIZE"},
    };
    return files;
}

const PluginFile* plugin_of_launcher(const std::string& transport)
{
    for (const PluginFile& file : plugin_files())
    {
        if (file.transport == transport && std::getenv(file.size_variable.c_str()) != nullptr) { return &file; }
    }
    return nullptr;
}

// Neither library is closed again: an MPI may have threads that run its code until the process ends.
Plugin::Plugin(const PluginFile& file) : name_(file.transport), file_(file.file)
{
    const std::string path = path_of(file.file);
    std::string why;
    void* library = nullptr;
    for (const std::string& name : file.libraries)
    {
        if (library == nullptr) { library = open_object(name, RTLD_GLOBAL, why); }
    }
    if (library == nullptr) { throw SystemError(fmt::format("The library that {} needs cannot be opened: {}", file.file, why)); }
    void* const plugin = open_object(path, RTLD_LOCAL, why);
    if (plugin == nullptr) { throw SystemError(fmt::format("{} cannot be opened: {}", path, why)); }
    using Entry = const parhelion_calls_v1* (*)(const char*);
    const auto entry = reinterpret_cast<Entry>(dlsym(plugin, "parhelion_transport_v1"));
    calls_ = entry != nullptr ? entry(name_.c_str()) : nullptr;
    if (calls_ == nullptr || calls_->version != PARHELION_TRANSPORT_VERSION || calls_->size < sizeof *calls_)
    {
        throw SystemError(fmt::format("{} is of another version of Parhelion. Take the one that belongs to this program.", path));
    }
}

Plugin::~Plugin()
{
    if (transport_ != nullptr) { calls_->close(transport_); }
}

void Plugin::open(std::size_t bytes)
{
    PARHELION_EXPECTS(transport_ == nullptr);
    std::array<char, 256> why{};
    transport_ = calls_->open(bytes, why.data(), why.size());
    if (transport_ == nullptr) { throw SystemError(fmt::format("Transport {} cannot begin: {}.", name_, why.data())); }
    bytes_ = bytes;
}

void Plugin::put_signal(const Put& put)
{
    const parhelion_put plain{put.destination, put.offset, put.data, put.bytes, put.signal * sizeof(SignalSlot), put.epoch};
    calls_->put_signal(transport_, &plain);
}

} // namespace parhelion
