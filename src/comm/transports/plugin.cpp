// SPDX-License-Identifier: Apache-2.0
#include "comm/transports/plugin.hpp"

#include "base/error.hpp"
#include "comm/shared_object.hpp"

#include <array>
#include <cstdlib>
#include <fmt/format.h>

namespace parhelion {

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

Plugin::Plugin(const PluginFile& file) : name_(file.transport), file_(file.file)
{
    using Entry = const parhelion_calls_v1* (*)(const char*);
    const auto entry = reinterpret_cast<Entry>(symbol_of_plugin(file.file, file.libraries, "parhelion_transport_v1"));
    calls_ = entry(name_.c_str());
    if (calls_ == nullptr || calls_->version != PARHELION_TRANSPORT_VERSION || calls_->size < sizeof *calls_)
    {
        throw SystemError(
            fmt::format("{} is of another version of Parhelion. Take the one that belongs to this program.", file.file));
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
