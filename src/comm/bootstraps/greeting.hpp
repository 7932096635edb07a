// SPDX-License-Identifier: Apache-2.0
// How two processes of a run make sure of each other once one has connected to the other:
//
//   accepting    challenge: what it speaks (version, order of bytes), a number used once
//   connecting   answer: what it speaks, a number used once, who it is, the two ends of the connection as it sees them, and its
//                signature of all that
//   accepting    verdict: welcome or a reason why not, and its signature of all that
//
// The secret that signs is not sent, a signature fits one connection alone, and neither side can hand back the other's. Whoever
// has not the secret and passes on what both say is found by the ends, which are others on his two connections. From secret,
// numbers and ends follow the keys that seal all packets (comm/bootstraps/seal.hpp): so nobody takes the connection over later.
// Who greets wrongly, or not within seconds, is turned away and holds up nobody.
#pragma once

#include "comm/bootstrap.hpp"
#include "comm/bootstraps/secret.hpp"
#include "comm/bootstraps/sockets.hpp"

#include <list>

namespace parhelion {

// Who a process is. Travels as bytes.
struct ProcessCard
{
    std::int32_t ranks;        // of the run
    std::int32_t first, count; // those of the process
    char host[84];             // where it is, for people

    std::string name() const; // "process of rank 3 on n042"
};
ProcessCard make_card(int ranks, RankRange here);

struct Greeted
{
    FileDescriptor socket; // none: `why_not`
    SealKeys keys{};
    std::string why_not{};
    bool may_try_again = false; // nothing was decided
    bool is_stranger = false;   // the other side has another secret
};
// Whether anybody else can write to the wire. Both sides must say the same.
enum class Wire : std::uint32_t
{
    Sealed,
    Trusted // no packet is sealed, and a network may translate addresses
};
// For the connecting side.
Greeted greet(FileDescriptor socket, const ProcessCard& card, const Secret& secret, Wire wire, TimePoint until);

class Acceptor
{
public:
    struct Guest
    {
        FileDescriptor socket;
        SealKeys keys;
        ProcessCard card;
    };
    // Why a process cannot be let in, or nothing.
    using WhyNot = std::function<std::string(const ProcessCard&)>;
    // `on_stranger` is told of the first who does not greet rightly.
    Acceptor(Listeners listeners, Secret secret, Wire wire, std::function<void(const std::string& sentence)> on_stranger);

    int port() const { return address_of(listeners_.front().get()).port; }
    // What to poll for reading: the listeners and who is about to greet.
    std::vector<int> sockets() const;
    // Goes on with those who are there, without waiting; the next who has greeted and whom nothing keeps out. Throws CommError if
    // a process of the run has come by somebody who passes on what it says.
    std::optional<Guest> accept(const WhyNot& why_not);

private:
    struct Visitor
    {
        FileDescriptor socket;
        Nonce nonce;
        TimePoint until;
        std::string from; // the number of its host
        std::string received{};
    };
    void let_in(int listener);
    bool has_greeted(Visitor& visitor, const WhyNot& why_not, std::optional<Guest>& guest);
    void turn_away(const Visitor& visitor, const char* why);

    Listeners listeners_;
    Secret secret_;
    const Wire wire_;
    std::function<void(const std::string&)> on_stranger_;
    std::list<Visitor> visitors_; // the longest here first
    bool has_told_ = false;
};

} // namespace parhelion
