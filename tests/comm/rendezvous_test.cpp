// SPDX-License-Identifier: Apache-2.0
// Processes that meet over TCP, on this host: who is let in, what all learn, and how all end when one does.
#include "comm/ranks.hpp"
#include "comm/run_ranks.hpp"

#include <array>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock-matchers.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace parhelion;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::MatchesRegex;

namespace {

constexpr auto patience = 2s;

RendezvousOptions options_of(int ranks, int rank, int port, const std::string& secret = "the secret of a test")
{
    RendezvousOptions options;
    options.ranks = ranks;
    options.here = {rank, 1};
    options.address = {"127.0.0.1", port};
    options.secret = [secret] { return Secret(secret); };
    options.deadline = patience;
    return options;
}

// What a rendezvous of this rank ends by, or nothing.
std::string turned_away(const RendezvousOptions& options)
{
    try
    {
        const Rendezvous met(options);
        return "";
    }
    catch (const CommError& error)
    {
        return error.what();
    }
}

// Ranks 0 and 1, who meet while a visitor does something; what rank 0 was told of strangers.
std::vector<std::string> strangers_during(int port, const std::function<void()>& visit)
{
    std::vector<std::string> told;
    RendezvousOptions host = options_of(2, 0, port);
    host.on_stranger = [&](const std::string& sentence) { told.push_back(sentence); };
    std::jthread rank_0([&] { EXPECT_EQ(turned_away(host), ""); });
    visit();
    EXPECT_EQ(turned_away(options_of(2, 1, port)), "");
    rank_0.join();
    return told;
}

FileDescriptor connect(int port)
{
    FileDescriptor socket;
    EXPECT_TRUE(comes_true([&] {
        socket = try_connect({"127.0.0.1", port}, std::chrono::steady_clock::now() + 1s);
        return socket.get() >= 0;
    }));
    return socket;
}

// How a process ended, for the test to read.
struct Ended
{
    Word is_comm_error; // or something else
    char text[400];
};

void ring_for_ever(std::shared_ptr<Rendezvous> met)
{
    WorldOptions options;
    options.deadline = patience;
    options.payload_bytes = std::size_t{1} << 22;
    options.signal_slots = 1 << 10;
    World world(tcp_network(std::move(met)), options);
    run_ranks(world, [](Communicator& c) {
        const int next = (c.rank() + 1) % c.ranks(), previous = (c.rank() + c.ranks() - 1) % c.ranks();
        const ChannelOptions channel{2, Credits::Yes, 64};
        SendChannel send = c.open_send("ring", next, channel);
        ReceiveChannel receive = c.open_receive("ring", previous, channel);
        for (;;)
        {
            send_payload(send, {send.next_epoch(), c.rank(), next}, 64);
            receive.wait();
            receive.ack();
        }
    });
}

// A process whose part is `body`.
pid_t start(Ended& ended, const std::function<void()>& body)
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

void be_rank(const RendezvousOptions& options, const std::function<void(std::shared_ptr<Rendezvous>)>& body)
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

// Ranks in a process each, of which one gets a signal after a while; how each of the others ended.
std::map<int, Ended> ends_after(int ranks, int victim, int signal, std::chrono::microseconds moment)
{
    const Shared<std::array<Ended, 8>> ends;
    const int port = free_port();
    std::vector<pid_t> ids;
    for (int r = 0; r < ranks; ++r)
    {
        ids.push_back(
            start((*ends).at(static_cast<std::size_t>(r)), [&] { be_rank(options_of(ranks, r, port), ring_for_ever); }));
    }
    std::this_thread::sleep_for(moment);
    ::kill(ids[static_cast<std::size_t>(victim)], signal);
    const auto since = std::chrono::steady_clock::now();
    std::map<int, Ended> others;
    for (int r = 0; r < ranks; ++r)
    {
        if (r == victim) { continue; }
        ::waitpid(ids[static_cast<std::size_t>(r)], nullptr, 0);
        others[r] = (*ends).at(static_cast<std::size_t>(r));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - since, patience + 5s);
    ::kill(ids[static_cast<std::size_t>(victim)], SIGKILL);
    ::waitpid(ids[static_cast<std::size_t>(victim)], nullptr, 0);
    EXPECT_LT(::waitpid(-1, nullptr, WNOHANG), 0); // nobody is left
    EXPECT_NO_THROW(listen_at({"127.0.0.1", port}));
    return others;
}

std::int64_t number_or(const char* variable, std::int64_t otherwise)
{
    const char* const text = std::getenv(variable);
    return text != nullptr ? std::atoll(text) : otherwise;
}

} // namespace

TEST(Rendezvous, lets_all_find_what_others_left_and_who_they_are)
{
    constexpr int ranks = 5;
    const int port = free_port();
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r)
    {
        threads.emplace_back([=] {
            Rendezvous met(options_of(ranks, r, port));
            EXPECT_EQ(met.processes().size(), 5u);
            EXPECT_EQ(met.processes()[3].name(), "process of rank 3 on " + host_name());
            const Bytes long_value(100'000, static_cast<std::byte>(r));
            met.put("card of " + std::to_string(r), long_value);
            EXPECT_THROW(met.put("card of " + std::to_string(r), {}), ContractError);
            EXPECT_FALSE(met.get("nobody's"));
            for (int other = 0; other < ranks; ++other)
            {
                EXPECT_EQ(met.wait_for("card of " + std::to_string(other)), Bytes(100'000, static_cast<std::byte>(other)));
            }
        });
    }
    for (std::thread& thread : threads) { thread.join(); }
}

TEST(Rendezvous, turns_away_who_has_another_secret_and_says_so_once)
{
    const int port = free_port();
    const auto told = strangers_during(port, [&] {
        EXPECT_THAT(turned_away(options_of(2, 1, port, "another secret of a test")),
                    HasSubstr("was turned away at 127.0.0.1:" + std::to_string(port) + ": its secret is another one."));
    });
    ASSERT_EQ(told.size(), 1u); // of many tries
    EXPECT_THAT(told[0], HasSubstr("A connection from 127.0.0.1 was turned away: who called has another secret."));
}

TEST(Rendezvous, is_not_held_up_by_strangers)
{
    const int port = free_port();
    FileDescriptor silent, half;
    const auto start = std::chrono::steady_clock::now();
    const auto told = strangers_during(port, [&] {
        silent = connect(port);
        half = connect(port);
        EXPECT_TRUE(send_all(half.get(), "PARHELIO", start + 10s));
        const FileDescriptor wrong = connect(port);
        EXPECT_TRUE(send_all(wrong.get(), std::string(4096, 'x'), start + 10s));
        char byte; // after the challenge and the verdict, or reset by then
        while (receive_all(wrong.get(), {&byte, 1}, start + 10s)) {}
    });
    EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
    ASSERT_EQ(told.size(), 1u);
    EXPECT_THAT(told[0], HasSubstr("another program, version or kind of machine"));
}

TEST(Rendezvous, turns_away_who_does_not_fit)
{
    const int port = free_port();
    std::jthread rank_0([&] { EXPECT_EQ(turned_away(options_of(2, 0, port)), ""); });
    EXPECT_THAT(turned_away(options_of(3, 1, port)), HasSubstr("it was started for 3 ranks, and rank 0 for 2."));
    RendezvousOptions two = options_of(2, 0, port);
    EXPECT_EQ(turned_away(options_of(2, 1, port)), "");
    rank_0.join();
    const int next = free_port();
    std::vector<std::string> ends(3);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 3; ++t) // two of them rank 1
    {
        threads.emplace_back([&, t] { ends[t] = turned_away(options_of(3, std::min<int>(static_cast<int>(t), 1), next)); });
    }
    for (std::thread& thread : threads) { thread.join(); }
    EXPECT_THAT(ends[0],
                MatchesRegex("The process of rank 2 has not come to .* \\(2 of 3 ranks are there\\). Was it started\\?"));
    EXPECT_THAT(ends[1] + ends[2], HasSubstr("rank 1 is there already, on " + host_name()));
}

TEST(Rendezvous, names_rank_0_if_it_is_not_there)
{
    EXPECT_THAT(turned_away(options_of(2, 1, free_port())),
                HasSubstr("within 2 s: nobody accepts connections there. Was the process of rank 0 started?"));
}

TEST(Rendezvous, ends_all_processes_by_the_first_error)
{
    const Shared<std::array<Ended, 3>> ends;
    const int port = free_port();
    std::vector<pid_t> ids;
    for (int r = 0; r < 3; ++r)
    {
        ids.push_back(start((*ends).at(static_cast<std::size_t>(r)), [&] {
            be_rank(options_of(3, r, port), [&](const std::shared_ptr<Rendezvous>& met) {
                if (r == 1) { throw PhysicsError(17, "too hot"); }
                ring_for_ever(met);
            });
        }));
    }
    for (const pid_t id : ids) { ::waitpid(id, nullptr, 0); }
    for (const Ended& end : *ends) { EXPECT_STREQ(end.text, "too hot"); }
}

TEST(Rendezvous, names_who_was_killed_and_where)
{
    for (const int victim : {0, 2})
    {
        for (const auto& [rank, end] : ends_after(3, victim, SIGKILL, 300ms))
        {
            EXPECT_EQ(end.is_comm_error, 1u);
            EXPECT_EQ(std::string(end.text), "The process of rank " + std::to_string(victim) + " on " +
                                                 (victim == 0 ? "127.0.0.1" : host_name()) +
                                                 " has ended, or its connection is lost.");
        }
    }
}

TEST(Rendezvous, names_who_is_stopped_and_where)
{
    for (const auto& [rank, end] : ends_after(3, 1, SIGSTOP, 300ms))
    {
        EXPECT_EQ(std::string(end.text), "The process of rank 1 on " + host_name() + " has been silent for 1.8 s.");
    }
}

TEST(Rendezvous, of_processes_killed_or_stopped_at_any_moment_ends_all_others)
{
    const std::int64_t kills = number_or("PARHELION_TEST_KILLS", 2), first_seed = number_or("PARHELION_TEST_SEED", 1);
    for (std::int64_t seed = first_seed; seed < first_seed + kills; ++seed)
    {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(static_cast<unsigned>(seed));
        const int ranks = 2 + static_cast<int>(random() % 3), victim = static_cast<int>(random()) % ranks;
        const int signal = random() % 3 == 0 ? SIGSTOP : SIGKILL;
        for (const auto& [rank, end] : ends_after(ranks, std::abs(victim), signal, std::chrono::microseconds(random() % 100'000)))
        {
            EXPECT_EQ(end.is_comm_error, 1u) << end.text;
            EXPECT_THAT(std::string(end.text), HasSubstr("rank " + std::to_string(std::abs(victim))));
        }
    }
}

TEST(Secrets, are_read_from_files_of_their_owner_alone)
{
    const std::filesystem::path path = std::filesystem::temp_directory_path() / ("secret." + std::to_string(::getpid()));
    EXPECT_FALSE(read_secret(path));
    {
        const SecretFile file(path);
        EXPECT_EQ(std::filesystem::status(path).permissions(),
                  std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        const Secret a = *read_secret(path), b = *read_secret(path);
        EXPECT_TRUE(a.has_signed(b.sign("text"), "text"));
        EXPECT_FALSE(a.has_signed(b.sign("text"), "test"));
        const SecretFile next(path);
        EXPECT_FALSE(a.has_signed(read_secret(path)->sign("text"), "text"));
        ::chmod(path.c_str(), 0640);
        EXPECT_THROW(read_secret(path), SystemError);
    }
    EXPECT_FALSE(std::filesystem::exists(path));
    std::ofstream(path) << "short\n";
    ::chmod(path.c_str(), 0600);
    EXPECT_THROW(read_secret(path), SystemError);
    std::filesystem::remove(path);
}
