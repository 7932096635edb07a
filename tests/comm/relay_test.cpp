// SPDX-License-Identifier: Apache-2.0
// Somebody who has not the secret sits between two ranks and passes on what they say, as it is or not: the run ends with an
// error, and never goes on with what he has made of it.
//
// Here rank 1 is led to him whatever it calls: this program has a connect() of its own. And as the greeting finds him by the ends
// of the connections, the ends look alike where he is taken for the network itself.
#include "comm/met_processes.hpp"

#include <array>
#include <atomic>
#include <gmock/gmock-matchers.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tuple>

using namespace parhelion;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

enum class Way
{
    Control, // rank 1's connection to rank 0's process
    Data     // that of their messages
};

// Of this process.
struct Detour
{
    int relay = 0, control = 0; // ports; no relay: none
    Way way = Way::Control;     // which connection is led to it
    int* called = nullptr;      // the port it was to go to
    bool is_hidden = false;     // ends of connections have no ports
} detour;

// What he does with the bytes that come one way, and how he sees them: as they arrive.
enum class Deed
{
    Nothing,
    Flip,    // one bit
    Replay,  // sends a packet twice
    Reorder, // sends the next one first
    Drop,    // leaves one out
    Cut,     // closes the connection
    Reflect  // sends it back
};
struct Attack
{
    const char* name;
    Deed deed;
    bool is_to_rank_0;
    std::size_t at; // from this byte after the greeting
};

constexpr std::size_t greeting_bytes = 56, answer_bytes = 24 + 32 + 96 + 36 + 32, verdict_bytes = 320 + 32;

// Passes on what one says to the other.
class Pump
{
public:
    Pump(int from, int to, std::size_t greeting, const Attack& attack)
        : from_(from), to_(to), greeting_(greeting), attack_(attack)
    {
    }
    // False: it is over.
    bool pass()
    {
        std::array<char, 1 << 16> buffer;
        const ssize_t received = ::recv(from_, buffer.data(), std::min(buffer.size(), limit()), MSG_DONTWAIT);
        if (received < 0) { return true; }
        if (received == 0) { return false; }
        const std::size_t first = seen_;
        std::string bytes(buffer.data(), static_cast<std::size_t>(received));
        seen_ += bytes.size();
        if (!is_due(first)) { return send(to_, std::exchange(held_, "").insert(0, bytes)); }
        switch (attack_.deed)
        {
        case Deed::Nothing:
            return send(to_, bytes);
        case Deed::Flip:
            bytes[std::max(first, begin()) - first] ^= 4;
            has_done_ = true;
            return send(to_, bytes);
        case Deed::Replay:
            has_done_ = true;
            return send(to_, bytes + bytes);
        case Deed::Reorder:
            has_done_ = true;
            held_ = bytes;
            return true;
        case Deed::Drop:
            has_done_ = true;
            return true;
        case Deed::Cut:
            return false;
        case Deed::Reflect:
            has_done_ = true;
            return send(from_, bytes);
        }
        return false;
    }

private:
    std::size_t begin() const { return greeting_ + attack_.at; }
    // The greeting by itself, and the byte that matters first.
    std::size_t limit() const
    {
        if (seen_ < greeting_) { return greeting_ - seen_; }
        return seen_ < begin() ? begin() - seen_ : std::size_t{1} << 16;
    }
    bool is_due(std::size_t first) const { return !has_done_ && first >= begin(); }
    static bool send(int to, const std::string& bytes) { return send_all(to, bytes, std::chrono::steady_clock::now() + 5s); }

    int from_, to_;
    std::size_t greeting_;
    Attack attack_;
    std::size_t seen_ = 0;
    bool has_done_ = false;
    std::string held_;
};

void relay(int listener, int& called, const Attack& attack)
{
    for (;;)
    {
        pollfd watched{listener, POLLIN, 0};
        ::poll(&watched, 1, -1);
        FileDescriptor from(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
        if (from.get() < 0) { continue; }
        std::thread([&, from = std::move(from)] {
            const FileDescriptor to =
                try_connect({"127.0.0.1", std::atomic_ref(called).load()}, std::chrono::steady_clock::now() + 1s);
            if (to.get() < 0) { return; }
            prepare(from.get());
            const Attack none{"", Deed::Nothing, false, 0};
            Pump there(from.get(), to.get(), answer_bytes, attack.is_to_rank_0 ? attack : none);
            Pump back(to.get(), from.get(), greeting_bytes + verdict_bytes, attack.is_to_rank_0 ? none : attack);
            do {
                pollfd both[] = {{from.get(), POLLIN, 0}, {to.get(), POLLIN, 0}};
                ::poll(both, 2, -1);
            } while (there.pass() && back.pass());
        }).detach();
    }
}

// How ranks 0 and 1 end, which send each other messages for ever, with him in between.
std::array<Ended, 2> ends_with(Way way, const Attack& attack, bool is_hidden)
{
    const Shared<std::array<Ended, 2>> ends;
    const Shared<int> called;
    const Listeners listeners = listen_at({"127.0.0.1", 0});
    const int port = free_port();
    const pid_t he = ::fork();
    if (he == 0) { relay(listeners.front().get(), *called, attack); }
    detour = {0, port, way, &*called, is_hidden};
    const pid_t rank_0 =
        start((*ends)[0], [&] { be_rank(options_of(2, 0, port), [](auto met) { ring_for_ever(std::move(met)); }); });
    detour.relay = address_of(listeners.front().get()).port;
    const pid_t rank_1 =
        start((*ends)[1], [&] { be_rank(options_of(2, 1, port), [](auto met) { ring_for_ever(std::move(met)); }); });
    detour = {};
    const auto since = std::chrono::steady_clock::now();
    for (const pid_t rank : {rank_0, rank_1})
    {
        while (::waitpid(rank, nullptr, WNOHANG) == 0)
        {
            if (std::chrono::steady_clock::now() - since > 2 * patience + 5s)
            {
                ::kill(rank, SIGKILL);
            } // the test fails: no error
            std::this_thread::sleep_for(1ms);
        }
    }
    ::kill(he, SIGKILL);
    ::waitpid(he, nullptr, 0);
    return *ends;
}

std::string name_of(const testing::TestParamInfo<std::tuple<Way, Attack>>& info)
{
    const auto& [way, attack] = info.param;
    return std::string(way == Way::Control ? "control_" : "data_") + attack.name +
           (attack.is_to_rank_0 ? "_to_0_at_" : "_to_1_at_") + std::to_string(attack.at);
}

// A packet of the control connection is 48 bytes and its text; of the data connection 56, and its payload with 16 more.
constexpr Attack attacks[] = {
    {"flip", Deed::Flip, true, 3},       {"flip", Deed::Flip, true, 17},         {"flip", Deed::Flip, true, 41},
    {"flip", Deed::Flip, true, 56},      {"flip", Deed::Flip, true, 70},         {"flip", Deed::Flip, true, 1003},
    {"flip", Deed::Flip, false, 1003},   {"replay", Deed::Replay, true, 0},      {"replay", Deed::Replay, false, 500},
    {"reorder", Deed::Reorder, true, 0}, {"reorder", Deed::Reorder, false, 500}, {"drop", Deed::Drop, true, 500},
    {"drop", Deed::Drop, false, 500},    {"cut", Deed::Cut, true, 500},          {"cut", Deed::Cut, false, 500},
    {"reflect", Deed::Reflect, true, 0}, {"reflect", Deed::Reflect, false, 500}};

class Between : public testing::TestWithParam<std::tuple<Way, Attack>>
{
};

} // namespace

// --- what this program has in place of the C library's

namespace {

int without_port(int result, sockaddr* address)
{
    if (result == 0 && detour.is_hidden && address->sa_family == AF_INET)
    {
        reinterpret_cast<sockaddr_in*>(address)->sin_port = 0;
    }
    return result;
}

} // namespace

extern "C" int connect(int socket, const sockaddr* address, socklen_t bytes)
{
    if (detour.relay == 0 || address->sa_family != AF_INET)
    {
        return static_cast<int>(::syscall(SYS_connect, socket, address, bytes));
    }
    sockaddr_in led = *reinterpret_cast<const sockaddr_in*>(address);
    const int port = ntohs(led.sin_port);
    if ((port == detour.control) == (detour.way == Way::Control))
    {
        std::atomic_ref(*detour.called).store(port);
        led.sin_port = htons(static_cast<std::uint16_t>(detour.relay));
    }
    return static_cast<int>(::syscall(SYS_connect, socket, &led, sizeof led));
}

extern "C" int getpeername(int socket, sockaddr* address, socklen_t* bytes) noexcept
{
    return without_port(static_cast<int>(::syscall(SYS_getpeername, socket, address, bytes)), address);
}

extern "C" int getsockname(int socket, sockaddr* address, socklen_t* bytes) noexcept
{
    sockaddr_storage other;
    socklen_t size = sizeof other;
    const bool is_connected = ::syscall(SYS_getpeername, socket, &other, &size) == 0;
    const int result = static_cast<int>(::syscall(SYS_getsockname, socket, address, bytes));
    return is_connected ? without_port(result, address) : result;
}

// --- the tests

TEST(Relays, that_pass_on_the_greeting_are_found_by_the_ends_of_connections)
{
    for (const Way way : {Way::Control, Way::Data})
    {
        for (const Ended& end : ends_with(way, {"", Deed::Nothing, true, 0}, false))
        {
            EXPECT_EQ(end.is_comm_error, 1u);
            EXPECT_THAT(end.text, HasSubstr("somebody in between passes on what it says: it called from 127.0.0.1:"));
        }
    }
}

TEST_P(Between, ends_the_run)
{
    const auto& [way, attack] = GetParam();
    const std::array<Ended, 2> ends = ends_with(way, attack, true);
    const bool may_be_a_loss = way == Way::Control || attack.deed == Deed::Cut;
    // Perhaps nothing follows what is missing, or who waits is at its deadline before it is told of the loss.
    const bool may_be_late = attack.deed == Deed::Drop || attack.deed == Deed::Reorder || attack.deed == Deed::Cut;
    for (const Ended& end : ends)
    {
        const std::string text = end.text;
        const auto says = [&](const char* words) { return text.find(words) != std::string::npos; };
        EXPECT_EQ(end.is_comm_error, 1u) << text;
        EXPECT_TRUE(says("has not sent what comes over its connection: somebody in between changes it.") ||
                    (may_be_a_loss && (says("has ended, or its connection is lost.") || says("has been silent"))) ||
                    (may_be_late && says(" timed out after ")))
            << text;
    }
}

INSTANTIATE_TEST_SUITE_P(Of, Between, testing::Combine(testing::Values(Way::Control, Way::Data), testing::ValuesIn(attacks)),
                         name_of);
