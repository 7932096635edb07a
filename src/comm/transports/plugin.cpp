// SPDX-License-Identifier: Apache-2.0
#include "comm/transports/plugin.hpp"

#include "base/error.hpp"
#include "comm/shared_object.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <iterator>

namespace parhelion {

const std::vector<PluginFile>& plugin_files()
{
    const std::vector<std::string> mpi = {"mpi", "mpi-rma", "mpi-put"};
    const std::string of_open_mpi = "OMPI_COMM_WORLD_SIZE", of_mpich = "PMI_SIZE";
    static const std::vector<PluginFile> files = {
        {mpi, "libparhelion_mpi_openmpi.so", {"libmpi.so.40"}, {of_open_mpi}},
        // Before MPICH's own: a system has the latter in its usual place, and the former if the user has put it in the way.
        {mpi, "libparhelion_mpi_abi.so", {"libmpi_abi.so.1"}, {of_mpich, of_open_mpi}},
        {mpi, "libparhelion_mpi_mpich.so", {"libmpich.so.12", "libmpi.so.12"}, {of_mpich}},
        {{"openshmem"}, "libparhelion_openshmem.so", {"liboshmem.so.40"}, {of_open_mpi}},
    };
    return files;
}

std::vector<PluginFile> plugins_of_launcher(const std::string& transport)
{
    std::vector<PluginFile> files;
    std::copy_if(plugin_files().begin(), plugin_files().end(), std::back_inserter(files), [&](const PluginFile& file) {
        return std::find(file.transports.begin(), file.transports.end(), transport) != file.transports.end() &&
               !processes_of_launcher(file).empty();
    });
    return files;
}

std::string processes_of_launcher(const PluginFile& file)
{
    for (const std::string& variable : file.size_variables)
    {
        if (const char* const size = std::getenv(variable.c_str())) { return size; }
    }
    return "";
}

Plugin::Plugin(const std::string& transport, const std::vector<PluginFile>& files) : name_(transport)
{
    std::string why;
    for (const PluginFile& file : files)
    {
        try
        {
            load(file);
            return;
        }
        catch (const SystemError& error)
        {
            why += (why.empty() ? "" : " ") + std::string(error.what());
        }
    }
    throw SystemError(why);
}

void Plugin::load(const PluginFile& file)
{
    using Entry = const parhelion_calls_v1* (*)(const char*);
    const auto entry = reinterpret_cast<Entry>(symbol_of_plugin(file.file, file.libraries, "parhelion_transport_v1"));
    const parhelion_calls_v1* const calls = entry(name_.c_str());
    if (calls == nullptr || calls->version != PARHELION_TRANSPORT_VERSION || calls->size < sizeof *calls)
    {
        throw SystemError(
            fmt::format("{} is of another version of Parhelion. Take the one that belongs to this program.", file.file));
    }
    calls_ = calls;
    file_ = file;
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
