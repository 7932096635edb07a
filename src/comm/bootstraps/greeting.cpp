// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstraps/greeting.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/socket.h>
#include <type_traits>
#include <utility>

namespace parhelion {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds longest_greeting = 5s;
constexpr std::size_t most_visitors = 256;

// Describes the format of messages between processes. It changes whenever one of these messages changes.
struct Speech
{
    char magic[8] = {'P', 'A', 'R', 'H', 'E', 'L', 'I', 'O'};
    std::uint32_t version = 2;
    std::uint32_t order_of_bytes = 0x01020304;
    std::uint32_t bytes_of_word = sizeof(std::size_t);
    Wire wire = Wire::Sealed;
    friend bool operator==(const Speech&, const Speech&) = default;
};
static_assert(sizeof(Speech) == 24);

// The two ends of a connection.
struct Ends
{
    EndPoint connecting, accepting;
    friend bool operator==(const Ends&, const Ends&) = default;
    std::string text() const { return fmt::format("from {} to {}", connecting.text(), accepting.text()); }
};

struct Challenge
{
    Speech speech;
    Nonce nonce;
};
struct Answer
{
    Speech speech;
    Nonce nonce;
    ProcessCard card;
    Ends ends;
    Signature signature;
};
struct Decision
{
    char why_not[320]; // reason for a refusal; empty means welcome
    Signature signature;
};

template <class T>
std::string_view bytes_of(const T& value)
{
    static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>);
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

// The data by which one greeting differs from all other greetings.
struct Meeting
{
    Nonce of_accepting, of_connecting;
    Ends ends;
};

std::string to_sign(const char* side, const Meeting& meeting, std::string_view rest)
{
    return side + std::string(bytes_of(meeting)) + std::string(rest);
}
constexpr const char* connecting = "connecting";
constexpr const char* accepting = "accepting";

// Returns why this process does not understand the other side's format, or null if it does.
const char* why_not_understood(const Speech& there, Wire wire)
{
    if (there == Speech{.wire = wire}) { return nullptr; }
    return there == Speech{.wire = wire == Wire::Sealed ? Wire::Trusted : Wire::Sealed}
               ? "differs in --trust-network"
               : "is another program, version or kind of machine";
}

SealKeys keys_of(const Secret& secret, Wire wire, const char* here, const char* there, const Meeting& meeting)
{
    if (wire == Wire::Trusted) { return {}; }
    return {secret.key_of(to_sign(here, meeting, "")), secret.key_of(to_sign(there, meeting, ""))};
}

// Replaces control characters: the text comes from another process and is printed on the terminal.
template <std::size_t n>
void make_text(char (&text)[n])
{
    text[n - 1] = 0;
    std::replace_if(
        text, text + std::strlen(text), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
}

template <std::size_t n>
void copy_text(const std::string& text, char (&to)[n])
{
    std::memset(to, 0, n);
    text.copy(to, n - 1);
}

} // namespace

std::string ProcessCard::name() const
{
    return count == 1 ? fmt::format("process of rank {} on {}", first, host)
                      : fmt::format("process of ranks {} to {} on {}", first, first + count - 1, host);
}

ProcessCard make_card(int ranks, RankRange here)
{
    ProcessCard card{ranks, here.first, here.count, {}};
    copy_text(host_name(), card.host);
    return card;
}

Greeted greet(FileDescriptor socket, const ProcessCard& card, const Secret& secret, Wire wire, TimePoint until)
{
    Challenge challenge;
    if (!receive_all(socket.get(), {reinterpret_cast<char*>(&challenge), sizeof challenge}, until))
    {
        return {{}, {}, "it did not greet", true};
    }
    if (const char* const why = why_not_understood(challenge.speech, wire)) { return {{}, {}, fmt::format("it {}", why)}; }
    const Ends ends{own_end(socket.get()), other_end(socket.get())};
    Answer answer{{.wire = wire}, make_nonce(), card, ends, {}};
    const Meeting meeting{challenge.nonce, answer.nonce, ends};
    answer.signature = secret.sign(to_sign(connecting, meeting, bytes_of(card)));
    Decision decision;
    if (!send_all(socket.get(), bytes_of(answer), until) ||
        !receive_all(socket.get(), {reinterpret_cast<char*>(&decision), sizeof decision}, until))
    {
        return {{}, {}, "it broke off the greeting", true};
    }
    const std::string signed_text = to_sign(accepting, meeting, bytes_of(decision.why_not));
    if (!secret.has_signed(decision.signature, signed_text)) { return {{}, {}, "its secret is another one", true, true}; }
    if (decision.why_not[0] == 0) { return {std::move(socket), keys_of(secret, wire, connecting, accepting, meeting)}; }
    make_text(decision.why_not);
    return {{}, {}, decision.why_not};
}

// Returns true for an error of this process or host, which would occur again at the next try.
static bool is_lasting(int error) { return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM; }

Acceptor::Acceptor(Listeners listeners, Secret secret, Wire wire, std::function<void(const std::string&)> on_stranger)
    : listeners_(std::move(listeners)), secret_(secret), wire_(wire), on_stranger_(std::move(on_stranger))
{
}

std::vector<int> Acceptor::sockets() const
{
    std::vector<int> sockets;
    if (error_ == 0) // otherwise poll() would return at once every time
    {
        for (const FileDescriptor& listener : listeners_) { sockets.push_back(listener.get()); }
    }
    for (const Visitor& visitor : visitors_) { sockets.push_back(visitor.socket.get()); }
    return sockets;
}

std::optional<Acceptor::Guest> Acceptor::accept(const WhyNot& why_not)
{
    error_ = 0;
    for (const FileDescriptor& listener : listeners_) { let_in(listener.get()); }
    std::optional<Guest> guest;
    visitors_.remove_if([&](Visitor& visitor) { return !guest && has_greeted(visitor, why_not, guest); });
    return guest;
}

std::string Acceptor::trouble() const
{
    if (error_ == 0) { return ""; }
    return fmt::format(" Connections cannot be accepted here: {}. Raise the limit of open files (ulimit -n).",
                       std::strerror(error_));
}

// Accepts waiting connections. If there are too many visitors, the oldest is turned away; processes of the run answer sooner.
void Acceptor::let_in(int listener)
{
    for (;;)
    {
        Accepted accepted = accept_one(listener);
        const bool has_come = accepted.socket.get() >= 0;
        const int error = has_come ? 0 : errno;
        if (!has_come && (error != EMFILE || visitors_.empty()))
        {
            if (is_lasting(error)) { error_ = error; }
            return;
        }
        if (!has_come || visitors_.size() >= most_visitors)
        {
            turn_away(visitors_.front(), "did not greet");
            visitors_.pop_front();
        }
        if (!has_come) { continue; }
        const auto now = std::chrono::steady_clock::now();
        const Challenge challenge{{.wire = wire_}, make_nonce()};
        if (!send_all(accepted.socket.get(), bytes_of(challenge), now)) { continue; } // needs no wait: the send queue is empty
        visitors_.push_back({std::move(accepted.socket), challenge.nonce, now + longest_greeting, std::move(accepted.host)});
    }
}

// Continues a visitor's greeting, and returns true if it is over. If the visitor is refused, `guest` stays empty.
bool Acceptor::has_greeted(Visitor& visitor, const WhyNot& why_not, std::optional<Guest>& guest)
{
    char bytes[sizeof(Answer)];
    const ssize_t received = ::recv(visitor.socket.get(), bytes, sizeof(Answer) - visitor.received.size(), MSG_DONTWAIT);
    if (received > 0) { visitor.received.append(bytes, static_cast<std::size_t>(received)); }
    const bool is_gone = received == 0 || (received < 0 && errno != EAGAIN && errno != EINTR);
    const auto now = std::chrono::steady_clock::now();
    if (visitor.received.size() < sizeof(Answer))
    {
        if (!is_gone && now < visitor.until) { return false; }
        turn_away(visitor, "did not greet");
        return true;
    }
    Answer answer;
    std::memcpy(&answer, visitor.received.data(), sizeof answer);
    const char* const not_understood = why_not_understood(answer.speech, wire_);
    Meeting meeting{visitor.nonce, answer.nonce, answer.ends};
    const bool knows =
        not_understood == nullptr && secret_.has_signed(answer.signature, to_sign(connecting, meeting, bytes_of(answer.card)));
    make_text(answer.card.host);
    const Ends ends{other_end(visitor.socket.get()), own_end(visitor.socket.get())};
    const std::string in_between = !knows || wire_ == Wire::Trusted || answer.ends == ends
                                       ? ""
                                       : fmt::format("somebody in between passes on what it says: it called {}, and that came {}",
                                                     answer.ends.text(), ends.text());
    Decision decision{};
    copy_text(not_understood != nullptr ? not_understood
              : !knows                  ? "a stranger"
              : !in_between.empty()     ? in_between
                                        : why_not(answer.card),
              decision.why_not);
    decision.signature = secret_.sign(to_sign(accepting, meeting, bytes_of(decision.why_not)));
    send_all(visitor.socket.get(), bytes_of(decision), now);
    if (!in_between.empty())
    {
        throw CommError(fmt::format("The {} has not come by itself: {}. Find out who that is, or name rank 0's host by a number "
                                    "of its network (PARHELION_HOST).",
                                    answer.card.name(), in_between));
    }
    if (!knows) { turn_away(visitor, not_understood != nullptr ? not_understood : "has another secret"); }
    else if (decision.why_not[0] == 0)
    {
        guest = Guest{std::move(visitor.socket), keys_of(secret_, wire_, accepting, connecting, meeting), answer.card};
    }
    return true;
}

void Acceptor::turn_away(const Visitor& visitor, const char* why)
{
    if (std::exchange(has_told_, true) || !on_stranger_) { return; }
    on_stranger_(
        fmt::format("A connection from {} was turned away: who called {}. Others will be without a word.", visitor.from, why));
}

} // namespace parhelion
