// SPDX-License-Identifier: Apache-2.0
// The ranks of a transport plugin, one in each process that a launcher such as mpirun has started: what makes a bootstrap and a
// transport of the plugin's memory and puts. A process makes it once; worlds may come one after another, each with a network of
// its own from here.
//
// A rank that is lost is the launcher's business, which ends the others, or of somebody who calls lose(). Packets of the
// bootstrap move when a rank waits or asks, as messages do.
#pragma once

#include "comm/bootstraps/heard.hpp"
#include "comm/bootstraps/mailboxes.hpp"
#include "comm/network.hpp"

#include <chrono>
#include <memory>
#include <mutex>

namespace parhelion {

struct PluginOptions
{
    std::string transport;                                        // its name
    std::size_t bytes = std::size_t{1} << 31;                     // of each rank, for worlds
    std::chrono::nanoseconds deadline = std::chrono::seconds(60); // of a wait for the others to begin and to end a world
};

class PluginRanks
{
public:
    // Opens the plugin. Throws SystemError if it cannot be had, or if it connects other processes than the launcher has started.
    explicit PluginRanks(const PluginOptions& options);
    // All meet once more, and the plugin is closed. If they do not within seconds, it ends all processes with exit code 6.
    ~PluginRanks();
    PluginRanks(const PluginRanks&) = delete;
    PluginRanks& operator=(const PluginRanks&) = delete;

    int rank() const { return plugin_.rank(); }
    int ranks() const { return plugin_.ranks(); } // processes
    std::string version() const { return plugin_.version(); }
    // Of a world of so many of them, from 0. All call, also the others, and after the world before has ended here. Throws
    // CommError if somebody does not.
    Network network(int ranks);
    // Ranks elsewhere have ended, as the sentence says: the present world and later ones end their waits. From any thread, also
    // while another one is in a call of the library.
    void lose(const std::string& sentence);
    // Waits for all. Throws CommError.
    void meet() { meet(options_.deadline); }

private:
    friend class PluginBootstrap;
    friend class PluginTransport;

    // What a packet brings.
    enum class Says : std::uint32_t
    {
        Put,
        Notice,
        Met,
        Letter
    };
    static Bytes packet_of(Says says, const std::string& key, const void* data, std::size_t bytes);
    void send(int rank, Says says, const std::string& key, const void* data, std::size_t bytes);
    void send_to_others(Says says, const std::string& key, const void* data, std::size_t bytes);
    void take(int source, const Bytes& packet);
    std::shared_ptr<Heard> heard();
    void move_locked();
    void meet(std::chrono::nanoseconds patience);

    const PluginOptions options_;
    Plugin plugin_;
    std::mutex mutex_; // of what follows, and of all calls of the open plugin
    std::unique_ptr<Mailboxes> mailboxes_;
    std::vector<int> met_;                        // how often each rank has said that it is there
    std::size_t world_begin_ = 0, world_end_ = 0; // what of the memory the present world has
    bool has_failed_ = false;                     // somebody has said so
    std::mutex heard_mutex_;                      // of what follows; taken within the other, and for moments
    std::shared_ptr<Heard> heard_;                // of the present world
    std::string loss_;                            // or nothing
};

} // namespace parhelion
