// SPDX-License-Identifier: Apache-2.0
// A transport that a shared object implements (comm/plugins/transport.h), opened by base/shared_object.hpp.
#pragma once

#include "comm/core/protocol.hpp"
#include "comm/plugins/transport.h"
#include "comm/transports/plugin_files.hpp"

#include <string>
#include <vector>

namespace parhelion {

class Plugin
{
public:
    // Loads the first of `files` that can be loaded, without opening the transport. Throws SystemError that says what is
    // missing.
    Plugin(const std::string& transport, const std::vector<PluginFile>& files);
    // Closes the transport if it is open. Collective: all ranks must destroy their Plugin.
    ~Plugin();
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;

    // Returns the version of the library that the plugin uses.
    std::string version() const { return calls_->library(); }
    const PluginFile& file() const { return file_; }

    // Opens the transport with `bytes` bytes per process. All processes of the launcher call it. Throws SystemError.
    void open(std::size_t bytes);
    int rank() const { return calls_->rank(transport_); }
    int ranks() const { return calls_->ranks(transport_); }
    std::byte* memory() const { return static_cast<std::byte*>(calls_->memory(transport_)); }
    // Returns the address of another rank's memory in this process, or null if it is out of reach.
    std::byte* reach(int rank) const { return static_cast<std::byte*>(calls_->reach(transport_, rank)); }
    std::size_t bytes() const { return bytes_; }
    // Carries a put, whose offset and signal number count from the begin of the plugin's memory.
    void put_signal(const Put& put);
    void progress() { calls_->progress(transport_); }
    // Ends all processes without closing the transport.
    void abort(int exit_code) { calls_->abort(transport_, exit_code); }

private:
    void load(const PluginFile& file);

    std::string name_;
    PluginFile file_;
    const parhelion_calls_v1* calls_ = nullptr;
    parhelion_transport* transport_ = nullptr;
    std::size_t bytes_ = 0;
};

} // namespace parhelion
