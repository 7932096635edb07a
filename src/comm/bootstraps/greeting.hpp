// SPDX-License-Identifier: Apache-2.0
// The handshake by which two processes of a run authenticate each other, after one of them has connected to the other:
//
//   accepting    challenge: its protocol (version, byte order) and a nonce
//   connecting   answer: its protocol, a nonce, its card, the two ends of the connection as it sees them, and its signature of
//                all that
//   accepting    verdict: welcome or the reason for a refusal, and its signature of all that
//
// The secret that signs is never sent. A signature is valid for one connection only, and neither side can return the other's. A
// process in between that passes on bytes without the secret is detected, since its two connections have different ends. Secret,
// nonces and ends determine the keys that authenticate all packets (comm/bootstraps/seal.hpp), so no process can take the
// connection over. A process that greets wrongly, or not within seconds, is turned away and delays no other.
#pragma once

#include "comm/bootstraps/secret.hpp"
#include "comm/bootstraps/sockets.hpp"
#include "comm/core/bootstrap.hpp"

#include <list>

namespace parhelion {

// The description of a process. Processes send it to each other as bytes.
struct ProcessCard
{
    std::int32_t ranks;        // number of ranks of the run
    std::int32_t first, count; // first rank of the process, and number of its ranks
    char host[84];             // name of its host, for texts of failures

    std::string name() const; // returns text like "process of rank 3 on n042"
};
ProcessCard make_card(int ranks, RankRange here);

struct Greeted
{
    FileDescriptor socket; // no socket if the greeting failed; why_not then tells the reason
    SealKeys keys{};
    std::string why_not{};
    bool may_try_again = false; // true: the failure may be temporary, so greet again
    bool is_stranger = false;   // true: the other side has another secret
};
// Tells whether other processes can write to the network. Both sides must use the same value.
enum class Wire : std::uint32_t
{
    Sealed,
    Trusted // packets have no seals, and the network may translate addresses
};
// Greets as the connecting side and returns the result.
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
    // Returns the reason why a process is refused, or an empty text if it is welcome.
    using WhyNot = std::function<std::string(const ProcessCard&)>;
    // `on_stranger` is called for the first process that does not greet correctly.
    Acceptor(Listeners listeners, Secret secret, Wire wire, std::function<void(const std::string& sentence)> on_stranger);

    int port() const { return address_of(listeners_.front().get()).port; }
    // Returns what to poll for reading: who is about to greet, and the listeners, unless there is trouble.
    std::vector<int> sockets() const;
    // Continues the greetings of visitors, without waiting. Returns the next process that has greeted and is not refused.
    // Throws CommError if a process of the run was connected through another process that passes on its messages.
    std::optional<Guest> accept(const WhyNot& why_not);
    // Returns a sentence with the reason why the last accept() could not accept a waiting connection, to append to another text.
    // Returns an empty text if there was no such error.
    std::string trouble() const;

private:
    struct Visitor
    {
        FileDescriptor socket;
        Nonce nonce;
        TimePoint until;
        std::string from; // numeric address of the visitor's host
        std::string received{};
    };
    void let_in(int listener);
    bool has_greeted(Visitor& visitor, const WhyNot& why_not, std::optional<Guest>& guest);
    void turn_away(const Visitor& visitor, const char* why);

    Listeners listeners_;
    Secret secret_;
    const Wire wire_;
    std::function<void(const std::string&)> on_stranger_;
    std::list<Visitor> visitors_; // processes that are still greeting, oldest first
    bool has_told_ = false;
    int error_ = 0; // of trouble()
};

} // namespace parhelion
