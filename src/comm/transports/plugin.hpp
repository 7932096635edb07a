// SPDX-License-Identifier: Apache-2.0
// Transports in shared objects (comm/plugin.h): which there are, and one that is open (comm/shared_object.hpp).
#pragma once

#include "comm/plugin.h"
#include "comm/protocol.hpp"

#include <string>
#include <vector>

namespace parhelion {

// A file that may be there, and the libraries one of which it needs.
struct PluginFile
{
    std::string transport; // its name for --transport
    std::string file;
    std::vector<std::string> libraries;
    std::string size_variable; // what says how many processes a launcher of this kind has started
};
const std::vector<PluginFile>& plugin_files();

// Of a transport's plugins, the one for the launcher that has started this process, as its environment tells; null: no launcher
// that the transport can work with.
const PluginFile* plugin_of_launcher(const std::string& transport);

class Plugin
{
public:
    // Opens the shared object, not yet the transport. Throws SystemError, which says what is missing.
    explicit Plugin(const PluginFile& file);
    // An open transport is closed by all.
    ~Plugin();
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;

    // Of the library below.
    std::string version() const { return calls_->library(); }

    // By all processes of the launcher: so much memory for each. Throws SystemError.
    void open(std::size_t bytes);
    int rank() const { return calls_->rank(transport_); }
    int ranks() const { return calls_->ranks(transport_); }
    std::byte* memory() const { return static_cast<std::byte*>(calls_->memory(transport_)); }
    std::size_t bytes() const { return bytes_; }
    // Its offset and its number of a signal slot count from the begin of the memory.
    void put_signal(const Put& put);
    void progress() { calls_->progress(transport_); }
    // Ends all processes without closing.
    void abort(int exit_code) { calls_->abort(transport_, exit_code); }

private:
    std::string name_, file_;
    const parhelion_calls_v1* calls_ = nullptr;
    parhelion_transport* transport_ = nullptr;
    std::size_t bytes_ = 0;
};

} // namespace parhelion
