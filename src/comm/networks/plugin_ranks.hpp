// SPDX-License-Identifier: Apache-2.0
// The ranks of a transport plugin, one in each process that a launcher such as mpirun has started. This class makes a bootstrap
// and a transport from the plugin's memory and puts. A process has one such object. Worlds may follow one another, each with
// its own network() of this object.
//
// If a rank is lost, the launcher ends the other ranks, or a caller calls lose(). Packets of the bootstrap move, like messages,
// when a rank waits or polls.
#pragma once

#include "comm/core/network.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace parhelion {

struct PluginOptions
{
    std::string transport;                                        // name of the transport
    std::size_t bytes = std::size_t{1} << 31;                     // bytes of each rank's memory for worlds
    std::chrono::nanoseconds deadline = std::chrono::seconds(60); // limit of waits for other ranks, at begin and end of a world
};

class PluginRanks
{
public:
    // Opens the plugin. Throws SystemError if it cannot be opened, or connects other processes than the launcher has started.
    explicit PluginRanks(const PluginOptions& options);
    // Waits until all ranks have met, then closes the plugin. If one does not come in time, ends all processes with exit code 6.
    ~PluginRanks();
    PluginRanks(const PluginRanks&) = delete;
    PluginRanks& operator=(const PluginRanks&) = delete;

    int rank() const;
    int ranks() const; // number of processes
    std::string version() const;
    // Returns the network for a world of the first `ranks` processes. All processes must call it, even those outside the world,
    // after the previous world has ended in their process. Throws CommError if a process does not call.
    Network network(int ranks);
    // Ends the waits of the present world and of later worlds, because ranks of other processes have ended, which `sentence`
    // says. Any thread may call it, even while another thread is in a call of the library.
    void lose(const std::string& sentence);
    // Waits until all processes have called it. Throws CommError.
    void meet();

private:
    class State;
    std::unique_ptr<State> state_;
};

} // namespace parhelion
