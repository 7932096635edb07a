// SPDX-License-Identifier: Apache-2.0
#include "comm/transports/plugin.hpp"

#include "base/error.hpp"
#include "base/shared_object.hpp"

#include <array>
#include <fmt/format.h>

namespace parhelion {

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
