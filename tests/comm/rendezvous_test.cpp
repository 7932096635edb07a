// SPDX-License-Identifier: Apache-2.0
// Processes that meet over TCP, on this host: who is let in, what all learn, and how all end when one does.
#include "comm/met_processes.hpp"

#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock-matchers.h>
#include <limits>
#include <optional>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace parhelion;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::MatchesRegex;

namespace {

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

// Ranks in a process each, of which one gets a signal: after `moment`, or if there is none once all exchange messages. Returns
// how each of the others ended.
std::map<int, Ended> ends_after(int ranks, int victim, int signal, std::optional<std::chrono::microseconds> moment = {})
{
    const Shared<std::array<Ended, 8>> ends;
    const Shared<Word> begun; // ranks
    const int port = free_port();
    std::vector<pid_t> ids;
    for (int r = 0; r < ranks; ++r)
    {
        ids.push_back(start((*ends).at(static_cast<std::size_t>(r)), [&] {
            be_rank(options_of(ranks, r, port),
                    [&](auto met) { ring_for_ever(std::move(met), [&] { std::atomic_ref(*begun).fetch_add(1); }); });
        }));
    }
    if (moment) { std::this_thread::sleep_for(*moment); }
    else
    {
        EXPECT_TRUE(comes_true([&] { return std::atomic_ref(*begun).load() == static_cast<Word>(ranks); }));
    }
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
    const auto until = std::chrono::steady_clock::now() + 10s;
    const auto told = strangers_during(port, [&] {
        silent = connect(port);
        half = connect(port);
        EXPECT_TRUE(send_all(half.get(), "PARHELIO", until));
        const FileDescriptor wrong = connect(port);
        EXPECT_TRUE(send_all(wrong.get(), std::string(4096, 'x'), until));
        char byte; // after the challenge and the verdict, or reset by then
        while (receive_all(wrong.get(), {&byte, 1}, until)) {}
    });
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
                HasSubstr("within 4 s: nobody accepts connections there. Was the process of rank 0 started?"));
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
        for (const auto& [rank, end] : ends_after(3, victim, SIGKILL))
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
    for (const auto& [rank, end] : ends_after(3, 1, SIGSTOP))
    {
        EXPECT_EQ(std::string(end.text), "The process of rank 1 on " + host_name() + " has been silent for 3.6 s.");
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

TEST(Rendezvous, is_not_held_up_by_many_who_say_nothing)
{
    const int port = free_port();
    std::vector<FileDescriptor> idle;
    strangers_during(port, [&] {
        for (int n = 0; n < 400; ++n) { idle.push_back(connect(port)); }
    });
}

TEST(Rendezvous, turns_away_ranks_that_overflow)
{
    const int port = free_port();
    const Secret secret("the secret of a test");
    constexpr int most = std::numeric_limits<std::int32_t>::max();
    strangers_during(port, [&] {
        for (const ProcessCard& card :
             {ProcessCard{2, most, most, {}}, ProcessCard{2, 1, most, {}}, ProcessCard{2, -most, most, {}},
              ProcessCard{2, 1, -most, {}}, ProcessCard{2, most, 2, {}}})
        {
            const Greeted greeted = greet(connect(port), card, secret, Wire::Sealed, std::chrono::steady_clock::now() + 5s);
            EXPECT_LT(greeted.socket.get(), 0);
            EXPECT_EQ(greeted.why_not, "there is no rank " + std::to_string(card.first) + " of 2");
        }
    });
}

TEST(Rendezvous, is_of_processes_that_all_trust_the_network_or_none)
{
    const int port = free_port();
    RendezvousOptions trusting = options_of(2, 1, port);
    trusting.wire = Wire::Trusted;
    const auto told =
        strangers_during(port, [&] { EXPECT_THAT(turned_away(trusting), HasSubstr("it differs in --trust-network.")); });
    const int next = free_port();
    RendezvousOptions host = options_of(2, 0, next);
    host.wire = Wire::Trusted;
    trusting.address.port = next;
    std::jthread rank_0([&] { EXPECT_EQ(turned_away(host), ""); });
    EXPECT_EQ(turned_away(trusting), "");
}

TEST(Rendezvous, ends_a_process_whose_rank_does_not_come_back)
{
    const int port = free_port();
    const pid_t stuck = ::fork();
    if (stuck == 0)
    {
        RendezvousOptions options = options_of(2, 0, port);
        options.on_stuck = [](const std::exception_ptr& error, bool) {
            try
            {
                std::rethrow_exception(error);
            }
            catch (const CommError& lost)
            {
                ::_exit(std::strstr(lost.what(), "rank 1") != nullptr ? 6 : 1);
            }
        };
        const Rendezvous met(options);
        for (;;) { ::pause(); } // as in a call of a library that waits for rank 1
    }
    const pid_t lost = ::fork();
    if (lost == 0)
    {
        const Rendezvous met(options_of(2, 1, port));
        ::_exit(0);
    }
    ::waitpid(lost, nullptr, 0);
    int status = 0;
    ASSERT_TRUE(comes_true([&] { return ::waitpid(stuck, &status, WNOHANG) == stuck; }));
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 6);
}

namespace {

std::string refused(const Address& address)
{
    try
    {
        listen_at(address);
        return "";
    }
    catch (const SystemError& error)
    {
        return error.what();
    }
}

// A place for secrets, empty.
class SecretPlace : public testing::Test
{
protected:
    SecretPlace() { std::filesystem::create_directory(folder); }
    ~SecretPlace() override { std::filesystem::remove_all(folder); }
    std::string refused_secret() const
    {
        try
        {
            read_secret(path);
            return "";
        }
        catch (const SystemError& error)
        {
            return error.what();
        }
    }
    void write(const std::string& text) const
    {
        std::ofstream(path) << text;
        ::chmod(path.c_str(), 0600);
    }
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("secrets." + std::to_string(::getpid()));
    const std::filesystem::path path = folder / "md.secret";
};

} // namespace

TEST(Listening, is_at_numbers_of_this_host_alone)
{
    EXPECT_THAT(refused({"nosuchhost.invalid", 0}), HasSubstr("There is no host 'nosuchhost.invalid'"));
    EXPECT_THAT(refused({"", 0}), HasSubstr("There is no host ''"));
    for (const char* const host : {"192.0.2.1", "0.0.0.0", "::", "224.0.0.1", "255.255.255.255", "2001:db8::1"})
    {
        EXPECT_THAT(refused({host, 0}), HasSubstr("is not a number of this host alone")) << host;
    }
    const Listeners listeners = listen_at({"127.0.0.1", 0});
    EXPECT_THAT(refused(address_of(listeners.front().get())), HasSubstr("is in use already"));
}

using Secrets = SecretPlace;

TEST_F(Secrets, are_read_from_files_of_their_owner_alone)
{
    EXPECT_FALSE(read_secret(path));
    {
        const SecretFile file(path);
        EXPECT_EQ(std::filesystem::status(path).permissions(),
                  std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        const Secret a = *read_secret(path), b = *read_secret(path);
        EXPECT_TRUE(a.has_signed(b.sign("text"), "text"));
        EXPECT_FALSE(a.has_signed(b.sign("text"), "test"));
        ::chmod(path.c_str(), 0640);
        EXPECT_THAT(refused_secret(), HasSubstr("chmod 600"));
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder));
    write("short\n");
    EXPECT_THAT(refused_secret(), HasSubstr("16 characters"));
    write("");
    EXPECT_FALSE(read_secret(path));
}

TEST_F(Secrets, that_are_named_are_there_and_count_to_their_last_character)
{
    const auto refused = [&] {
        try
        {
            read_given_secret(path);
            return std::string();
        }
        catch (const SystemError& error)
        {
            return std::string(error.what());
        }
    };
    EXPECT_THAT(refused(), HasSubstr("There is no secret " + path.string()));
    write("");
    EXPECT_THAT(refused(), HasSubstr("is empty. Write 16 characters or more into it."));
    const std::string most(longest_secret - 1, 'a');
    write(most + "b");
    const Secret first = read_given_secret(path);
    write(most + "c");
    EXPECT_FALSE(first.has_signed(read_given_secret(path).sign("text"), "text"));
    write(most + "bb");
    EXPECT_THAT(refused(), HasSubstr("has more than 4096 characters"));
}

TEST_F(Secrets, of_a_run_that_waits_are_left_alone)
{
    std::optional<SecretFile> first(path);
    const Secret secret = *read_secret(path);
    EXPECT_THROW(const SecretFile second(path), SystemError);
    ASSERT_TRUE(read_secret(path));
    EXPECT_TRUE(secret.has_signed(read_secret(path)->sign("text"), "text"));
    std::filesystem::rename(path, folder / "moved"); // somebody clears up
    const SecretFile next(path);
    first.reset();
    EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(Secrets, of_a_run_that_was_killed_are_replaced)
{
    write("of a run that is no more\n");
    const Secret old = *read_secret(path);
    const SecretFile file(path);
    EXPECT_FALSE(old.has_signed(read_secret(path)->sign("text"), "text"));
}

TEST_F(Secrets, leave_nothing_where_there_is_no_room_for_them)
{
    const pid_t child = ::fork();
    if (child == 0)
    {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_FSIZE, &none);
        try
        {
            const SecretFile file(path);
        }
        catch (const SystemError&)
        {
            ::_exit(0);
        }
        ::_exit(1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(Secrets, are_files_and_nothing_that_waits_or_never_ends)
{
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_THAT(refused_secret(), HasSubstr("is no file"));
    EXPECT_THROW(const SecretFile file(path), SystemError);
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    EXPECT_THAT(refused_secret(), HasSubstr("is no file"));
    std::filesystem::remove(path);
    std::filesystem::create_symlink("/dev/zero", path);
    EXPECT_THAT(refused_secret(), HasSubstr("is no file"));
}

TEST_F(Secrets, do_not_come_by_links_of_others)
{
    std::ofstream(folder / "mine") << "some sixteen characters and more";
    ::chmod((folder / "mine").c_str(), 0600);
    std::filesystem::create_symlink("mine", path);
    EXPECT_TRUE(read_secret(path));
    EXPECT_THROW(const SecretFile file(path), SystemError);
    if (::geteuid() != 0) { GTEST_SKIP() << "needs root"; }
    ASSERT_EQ(::lchown(path.c_str(), 65534, 65534), 0);
    EXPECT_THAT(refused_secret(), HasSubstr("symbolic link of another user"));
}
