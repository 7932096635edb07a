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
constexpr std::size_t most_visitors = 64;

// Changes with whatever processes say to each other.
struct Speech
{
    char magic[8] = {'P', 'A', 'R', 'H', 'E', 'L', 'I', 'O'};
    std::uint32_t version = 1;
    std::uint32_t order_of_bytes = 0x01020304;
    std::uint32_t bytes_of_word = sizeof(std::size_t);
    std::uint32_t reserved = 0;
    friend bool operator==(const Speech&, const Speech&) = default;
};
static_assert(sizeof(Speech) == 24);

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
    Signature signature;
};
struct Decision
{
    char why_not[160]; // empty: welcome
    Signature signature;
};

template <class T>
std::string_view bytes_of(const T& value)
{
    static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>);
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string to_sign(const char* side, const Nonce& of_accepting, const Nonce& of_connecting, std::string_view rest)
{
    std::string text = side;
    for (const Nonce* nonce : {&of_accepting, &of_connecting}) { text += bytes_of(*nonce); }
    return text += rest;
}
constexpr const char* connecting = "connecting";
constexpr const char* accepting = "accepting";

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

Greeted greet(FileDescriptor socket, const ProcessCard& card, const Secret& secret, TimePoint until)
{
    Challenge challenge;
    if (!receive_all(socket.get(), {reinterpret_cast<char*>(&challenge), sizeof challenge}, until))
    {
        return {{}, "it did not greet", true};
    }
    if (challenge.speech != Speech()) { return {{}, "it is another program, version or kind of machine"}; }
    Answer answer{{}, make_nonce(), card, {}};
    answer.signature = secret.sign(to_sign(connecting, challenge.nonce, answer.nonce, bytes_of(card)));
    Decision decision;
    if (!send_all(socket.get(), bytes_of(answer), until) ||
        !receive_all(socket.get(), {reinterpret_cast<char*>(&decision), sizeof decision}, until))
    {
        return {{}, "it broke off the greeting", true};
    }
    const std::string signed_text = to_sign(accepting, challenge.nonce, answer.nonce, bytes_of(decision.why_not));
    if (!secret.has_signed(decision.signature, signed_text)) { return {{}, "its secret is another one", true, true}; }
    if (decision.why_not[0] == 0) { return {std::move(socket)}; }
    decision.why_not[sizeof decision.why_not - 1] = 0;
    return {{}, decision.why_not};
}

Acceptor::Acceptor(FileDescriptor listener, Secret secret, std::function<void(const std::string&)> on_stranger)
    : listener_(std::move(listener)), secret_(secret), on_stranger_(std::move(on_stranger))
{
}

std::vector<int> Acceptor::sockets() const
{
    std::vector<int> sockets = {listener_.get()};
    for (const Visitor& visitor : visitors_) { sockets.push_back(visitor.socket.get()); }
    return sockets;
}

std::optional<Acceptor::Guest> Acceptor::accept(const WhyNot& why_not)
{
    let_in();
    std::optional<Guest> guest;
    visitors_.remove_if([&](Visitor& visitor) { return !guest && has_greeted(visitor, why_not, guest); });
    return guest;
}

void Acceptor::let_in()
{
    while (visitors_.size() < most_visitors)
    {
        FileDescriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (socket.get() < 0) { return; }
        prepare(socket.get());
        const auto now = std::chrono::steady_clock::now();
        const Challenge challenge{{}, make_nonce()};
        if (!send_all(socket.get(), bytes_of(challenge), now)) { continue; } // an empty queue has room for it
        visitors_.push_back({std::move(socket), challenge.nonce, now + longest_greeting});
    }
}

// True also for who will not; `guest` is then none.
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
    const bool speaks = answer.speech == Speech();
    const bool knows =
        speaks && secret_.has_signed(answer.signature, to_sign(connecting, visitor.nonce, answer.nonce, bytes_of(answer.card)));
    Decision decision{};
    answer.card.host[sizeof answer.card.host - 1] = 0;
    copy_text(knows ? why_not(answer.card) : "a stranger", decision.why_not);
    decision.signature = secret_.sign(to_sign(accepting, visitor.nonce, answer.nonce, bytes_of(decision.why_not)));
    send_all(visitor.socket.get(), bytes_of(decision), now);
    if (!knows) { turn_away(visitor, speaks ? "has another secret" : "is another program, version or kind of machine"); }
    else if (decision.why_not[0] == 0) { guest = Guest{std::move(visitor.socket), answer.card}; }
    return true;
}

void Acceptor::turn_away(const Visitor& visitor, const char* why)
{
    if (std::exchange(has_told_, true) || !on_stranger_) { return; }
    on_stranger_(fmt::format("A connection from {} was turned away: who called {}. Others will be without a word.",
                             peer_of(visitor.socket.get()), why));
}

} // namespace parhelion
