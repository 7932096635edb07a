// SPDX-License-Identifier: Apache-2.0
// The list of shared objects with transports (comm/plugins/transport.h), and the launchers that each supports.
#pragma once

#include <string>
#include <vector>

namespace parhelion {

// A plugin's file, which may be missing, and the libraries of which the plugin needs one.
struct PluginFile
{
    std::vector<std::string> transports; // names of its transports for --transport
    std::string file;
    std::vector<std::string> libraries;
    std::vector<std::string>
        size_variables; // environment variables in which the launchers that it supports give the number of processes
};
const std::vector<PluginFile>& plugin_files();

// Returns the files with this transport that support the launcher of this process, the best first. The launcher is recognised
// by the environment. An empty result means that the transport cannot work with the launcher.
std::vector<PluginFile> plugins_of_launcher(const std::string& transport);
// Returns the text of the launcher's variable with the number of processes that it has started.
std::string processes_of_launcher(const PluginFile& file);

} // namespace parhelion
