// SPDX-License-Identifier: Apache-2.0
// The server of interactive molecular dynamics (run/imd_packets.hpp). One client at a time receives frames of a run, and may ask
// for a pause, another rate or the end of the run. A thread of the server talks to the client. The simulation's thread calls
// wants() and hands frames over. At most four frames are queued or in flight.
//
// Without ImdOptions::waits no client can delay the run: a frame that the client has no capacity for is left out as a whole. With
// `waits` the run waits while no client is connected, while the client has no capacity for a frame, and while the client pauses
// the run. The client may switch this waiting off by the packet Wait with value 0.
#pragma once

#include "comm/bootstraps/sockets.hpp"
#include "comm/core/file_descriptor.hpp"
#include "run/imd_packets.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace parhelion {

struct ImdOptions
{
    Address address{"127.0.0.1", 0}; // address at which the server listens; port 0: any free port
    int version = 3;                 // version of the protocol: 3 or 2
    bool waits = false;
    bool may_end = false; // true if a client may end the run
};

class ImdServer
{
public:
    // Listens. Clients can connect from now on, and are answered after start(). start() may be called in a forked child process.
    // Throws SystemError if the server cannot listen, for example if the port is in use.
    explicit ImdServer(const ImdOptions& options);
    ~ImdServer();
    ImdServer(const ImdServer&) = delete;
    ImdServer& operator=(const ImdServer&) = delete;

    Address address() const;
    int version() const { return options_.version; }
    bool waits() const { return options_.waits; } // whether the run waits for clients at the start; a client may change this

    // Starts the thread that talks to clients. A client that ends the run raises `stop`, which must outlive this object.
    void start(std::atomic<bool>& stop);
    // Returns whether a client is to be sent the frame of this step. If the run waits for clients, this call waits, until `stop`
    // is raised at the latest. Throws nothing.
    bool wants(std::int64_t step);
    // Queues the packets of a frame. Precondition: wants() has returned true for this frame.
    void send(std::string packets);
    // Returns the events since the last call, as lines of text for the user.
    std::vector<std::string> news();
    // Ends the connection. Sends queued packets first: for at most 5 s, or 60 s if the run waits for clients and was not stopped.
    void finish();

private:
    // The connection to a client. Only the thread that runs talk() uses it.
    struct Client
    {
        FileDescriptor socket;
        std::string host;
        TimePoint since;
        bool has_begun = false;   // the client has sent Go
        std::string received;     // first bytes of a header that is not complete yet
        std::int64_t to_skip = 0; // bytes of the present body still to be ignored
        std::string sending;
        std::size_t sent = 0;
    };

    void talk();
    void await_events();
    void accept_clients();
    void receive();
    bool understand(const ImdHeader& header); // returns false if the client breaks the protocol
    bool obey(ImdType request, std::int32_t value);
    void send_some();
    bool has_more_to_send();
    void leave(const std::string& why);
    void tell(const std::string& what); // requires that the caller holds mutex_
    bool has_room() const;              // requires that the caller holds mutex_

    const ImdOptions options_;
    const Listeners listeners_;
    std::optional<Client> client_;
    std::atomic<bool>* stop_ = nullptr;
    FileDescriptor wake_; // an event file that wakes the thread in await_events()

    std::mutex mutex_; // guards the members below
    std::condition_variable changed_;
    std::deque<std::string> frames_;
    std::vector<std::string> news_;
    bool is_listened_to_ = false; // a client has sent Go
    bool is_paused_ = false;
    bool waits_;
    bool is_over_ = false;
    bool has_told_of_forces_ = false;
    std::int64_t rate_ = 0;                 // number of steps between frames that the client asked for; 0: all frames
    std::optional<std::int64_t> last_step_; // step of the last frame sent to the client

    std::jthread thread_; // last member, so that the thread ends before the other members are destroyed
};

} // namespace parhelion
