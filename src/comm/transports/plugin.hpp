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
    std::vector<std::string> transports; // their names for --transport
    std::string file;
    std::vector<std::string> libraries;
    std::vector<std::string>
        size_variables; // what says how many processes a launcher has started: of launchers that it can serve
};
const std::vector<PluginFile>& plugin_files();

// Those with this transport that can serve the launcher of this process, as its environment tells, the best first. None: no
// launcher that the transport can work with.
std::vector<PluginFile> plugins_of_launcher(const std::string& transport);
// How many processes it has started, in its own words.
std::string processes_of_launcher(const PluginFile& file);

class Plugin
{
public:
    // Opens the first of these shared objects that can be, not yet the transport. Throws SystemError, which says what is missing.
    Plugin(const std::string& transport, const std::vector<PluginFile>& files);
    // An open transport is closed by all.
    ~Plugin();
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;

    // Of the library below.
    std::string version() const { return calls_->library(); }
    const PluginFile& file() const { return file_; }

    // By all processes of the launcher: so much memory for each. Throws SystemError.
    void open(std::size_t bytes);
    int rank() const { return calls_->rank(transport_); }
    int ranks() const { return calls_->ranks(transport_); }
    std::byte* memory() const { return static_cast<std::byte*>(calls_->memory(transport_)); }
    // Where this process reaches that of another rank, or null.
    std::byte* reach(int rank) const { return static_cast<std::byte*>(calls_->reach(transport_, rank)); }
    std::size_t bytes() const { return bytes_; }
    // Its offset and its number of a signal slot count from the begin of the memory.
    void put_signal(const Put& put);
    void progress() { calls_->progress(transport_); }
    // Ends all processes without closing.
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
