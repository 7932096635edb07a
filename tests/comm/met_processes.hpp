// SPDX-License-Identifier: Apache-2.0
// Processes of a test that meet over TCP, a rank in each, and how they ended.
#pragma once

#include "comm/launch/run_ranks.hpp"
#include "comm/ranks.hpp"

#include <cstring>
#include <unistd.h>

namespace parhelion {

// More than processes of a busy machine need to meet, and less than the 5 s that who calls has for its greeting: rank 0 fails if
// it waits for one caller before it hears the next.
constexpr std::chrono::seconds patience{4};

inline RendezvousOptions options_of(int ranks, int rank, int port, const std::string& secret = "the secret of a test")
{
    RendezvousOptions options;
    options.ranks = ranks;
    options.here = {rank, 1};
    options.address = {"127.0.0.1", port};
    options.secret = [secret] { return Secret(secret); };
    options.deadline = patience;
    return options;
}

// How a process ended, for the test to read.
struct Ended
{
    Word is_comm_error; // or something else
    char text[400];
};

// `has_begun` is called after the first round.
inline void ring_for_ever(
    std::shared_ptr<Rendezvous> met, const std::function<void()>& has_begun = [] {})
{
    WorldOptions options;
    options.deadline = patience;
    options.payload_bytes = std::size_t{1} << 22;
    options.signal_slots = 1 << 10;
    World world(tcp_network(std::move(met)), options);
    run_ranks(world, [&](Communicator& c) {
        const int next = (c.rank() + 1) % c.ranks(), previous = (c.rank() + c.ranks() - 1) % c.ranks();
        const ChannelOptions channel{2, Credits::Yes, 64};
        SendChannel send = c.open_send("ring", next, channel);
        ReceiveChannel receive = c.open_receive("ring", previous, channel);
        for (;;)
        {
            send_payload(send, {send.next_epoch(), c.rank(), next}, 64);
            receive.wait();
            receive.ack();
            if (receive.next_epoch() == 2) { has_begun(); }
        }
    });
}

// A process whose part is `body`.
inline pid_t start(Ended& ended, const std::function<void()>& body)
{
    const pid_t id = ::fork();
    if (id != 0) { return id; }
    try
    {
        body();
    }
    catch (const std::exception& error)
    {
        ended.is_comm_error = dynamic_cast<const CommError*>(&error) != nullptr ? 1 : 0;
        std::strncpy(ended.text, error.what(), sizeof ended.text - 1);
    }
    ::_exit(0);
}

inline void be_rank(const RendezvousOptions& options, const std::function<void(std::shared_ptr<Rendezvous>)>& body)
{
    const auto met = std::make_shared<Rendezvous>(options);
    try
    {
        body(met);
    }
    catch (...)
    {
        met->end_by(std::current_exception());
    }
}

} // namespace parhelion
