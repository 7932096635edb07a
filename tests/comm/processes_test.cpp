// SPDX-License-Identifier: Apache-2.0
// Ranks in processes of one host: how they meet, and what happens when one of them, or their launcher, is killed or stopped.
// 8 random kills, or as many as PARHELION_TEST_KILLS says; PARHELION_TEST_SEED repeats a failure.
#include "comm/bootstraps/process_messages.hpp"
#include "comm/launch/run_ranks.hpp"
#include "comm/ranks.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gmock/gmock-matchers.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace parhelion;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::MatchesRegex;

namespace {

using Body = std::function<int(std::unique_ptr<Bootstrap>)>;

// Half the deadline of ranks: none of them has waited for it, however busy the machine is.
constexpr auto at_once = 30s;

std::int64_t number_in(const char* variable, std::int64_t otherwise)
{
    const char* const asked = std::getenv(variable);
    return asked != nullptr ? std::atoll(asked) : otherwise;
}

// What the launcher has thrown; empty: nothing.
template <class Error>
std::string error_of(const ProcessOptions& options, const Body& body)
{
    try
    {
        run_in_processes(options, body);
    }
    catch (const Error& error)
    {
        return error.what();
    }
    return "";
}

// Rounds of messages in a ring, for as long as `goes_on(communicator, round)`.
Body ring_of_processes(const std::function<bool(Communicator&, int)>& goes_on)
{
    return [goes_on](std::unique_ptr<Bootstrap> bootstrap) {
        WorldOptions options = transport_cases.front().options();
        options.payload_bytes = std::size_t{1} << 22;
        options.signal_slots = 1 << 10;
        World world(shared_memory_network(std::move(bootstrap)), options);
        run_ranks(world, [&](Communicator& c) {
            const int next = (c.rank() + 1) % c.ranks(), previous = (c.rank() + c.ranks() - 1) % c.ranks();
            const ChannelOptions channel{2, Credits::Yes, 64};
            SendChannel send = c.open_send("ring", next, channel);
            ReceiveChannel receive = c.open_receive("ring", previous, channel);
            for (int round = 0; goes_on(c, round); ++round)
            {
                send_payload(send, {send.next_epoch(), c.rank(), next}, 64);
                const Payload theirs{receive.next_epoch(), previous, c.rank()};
                theirs.check(receive.wait(), 64);
                receive.ack();
            }
        });
        return 0;
    };
}

// What a run could leave behind.
struct Traces
{
    std::ptrdiff_t descriptors = count("/proc/self/fd", "");
    std::ptrdiff_t shared_memory = count("/dev/shm", "parhelion"); // an MPI's may come and go beside this
    bool has_children = ::waitpid(-1, nullptr, WNOHANG) >= 0;
    friend bool operator==(const Traces&, const Traces&) = default;

private:
    static std::ptrdiff_t count(const char* folder, const char* word)
    {
        return std::count_if(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator(),
                             [&](const auto& entry) { return entry.path().filename().string().find(word) != std::string::npos; });
    }
};

template <class Condition>
void wait_for(Condition&& condition)
{
    while (!condition()) { std::this_thread::sleep_for(1ms); }
}

} // namespace

// What one writes into a file without a name, the other reads from the descriptor that it was passed.
TEST(Processes, pass_descriptors_to_each_other)
{
    ProcessOptions options;
    options.processes = options.ranks = 3;
    const int wrong = run_in_processes(options, [](std::unique_ptr<Bootstrap> bootstrap) {
        const auto key = [](int rank) { return "file of rank " + std::to_string(rank); };
        const int here = bootstrap->here().first;
        {
            const FileDescriptor mine(::memfd_create("mine", MFD_CLOEXEC));
            EXPECT_EQ(::write(mine.get(), &here, sizeof here), static_cast<ssize_t>(sizeof here));
            bootstrap->pass(key(here), mine.get());
        }
        int others_wrong = bootstrap->passed(key(here)).get() >= 0;
        for (int rank = 0; rank < 3; ++rank)
        {
            if (rank == here) { continue; }
            FileDescriptor theirs;
            wait_for([&] { return (theirs = bootstrap->passed(key(rank))).get() >= 0; });
            int read = -1;
            others_wrong += ::pread(theirs.get(), &read, sizeof read, 0) != static_cast<ssize_t>(sizeof read) || read != rank;
            others_wrong += bootstrap->passed(key(rank)).get() >= 0; // once
        }
        bootstrap->put(key(here), Bytes(static_cast<std::size_t>(others_wrong), std::byte{}));
        for (int rank = 0; rank < 3; ++rank)
        {
            std::optional<Bytes> theirs;
            wait_for([&] { return (theirs = bootstrap->get(key(rank))).has_value(); });
            if (rank != here) { others_wrong += static_cast<int>(theirs->size()); }
        }
        return others_wrong;
    });
    EXPECT_EQ(wrong, 0);
}

TEST(Processes, have_neighbouring_ranks_and_each_rank_is_of_one)
{
    for (int ranks = 1; ranks <= 9; ++ranks)
    {
        for (int processes = 1; processes <= ranks; ++processes)
        {
            int next = 0;
            for (int p = 0; p < processes; ++p)
            {
                const RankRange here = ranks_of_process(p, {.processes = processes, .ranks = ranks});
                EXPECT_EQ(here.first, next);
                EXPECT_GE(here.count, ranks / processes);
                EXPECT_LE(here.count, (ranks + processes - 1) / processes);
                next += here.count;
            }
            EXPECT_EQ(next, ranks);
        }
    }
}

TEST(Processes, find_what_others_left_and_share_pages)
{
    const Traces before;
    const Body body = [](std::unique_ptr<Bootstrap> bootstrap) {
        const int me = bootstrap->here().first, ranks = bootstrap->ranks();
        EXPECT_FALSE(bootstrap->get("nobody's"));
        auto* const words = reinterpret_cast<Word*>(bootstrap->pages("words", 0, 4096));
        EXPECT_EQ(words, reinterpret_cast<Word*>(bootstrap->pages("words", 0, 4096)));
        EXPECT_EQ(HostAtomics::exchange_relaxed_system(words + me, 100 + static_cast<Word>(me)), 0u);
        bootstrap->put("card of " + std::to_string(me), Bytes(10 + static_cast<std::size_t>(me), static_cast<std::byte>(me)));
        EXPECT_THROW(bootstrap->put("card of " + std::to_string(me), {}), ContractError);
        EXPECT_THROW(bootstrap->put("long", Bytes(most_packet_bytes)), ContractError);
        for (int r = 0; r < ranks; ++r)
        {
            std::optional<Bytes> card;
            wait_for([&] { return (card = bootstrap->get("card of " + std::to_string(r))).has_value(); });
            EXPECT_EQ(*card, Bytes(10 + static_cast<std::size_t>(r), static_cast<std::byte>(r)));
            EXPECT_EQ(HostAtomics::load_relaxed_system(words + r),
                      100 + static_cast<Word>(r)); // written before the card was left
        }
        return testing::Test::HasFailure() ? throw std::runtime_error("see above") : 40 + me;
    };
    EXPECT_EQ(run_in_processes({.processes = 5, .ranks = 5}, body), 40); // the result of the first
    EXPECT_EQ(Traces(), before);
}

TEST(Processes, have_the_memory_of_different_sizes_refused)
{
    EXPECT_THAT(error_of<ContractError>({.processes = 2, .ranks = 2},
                                        [](std::unique_ptr<Bootstrap> bootstrap) {
                                            const int me = bootstrap->here().first;
                                            bootstrap->pages("words", 0, 4096 * (1 + static_cast<std::size_t>(me)));
                                            return 0;
                                        }),
                HasSubstr("received.packet.size == bytes"));
    // More than there is, whoever notices.
    EXPECT_THAT(error_of<SystemError>({.processes = 2, .ranks = 2},
                                      [](std::unique_ptr<Bootstrap> bootstrap) {
                                          bootstrap->pages("all", 0, std::size_t{1} << 62);
                                          return 0;
                                      }),
                HasSubstr("for messages between ranks failed"));
}

TEST(Processes, have_their_errors_thrown_by_the_launcher)
{
    const auto body_that_throws = [](const std::function<void()>& thrower) -> Body {
        return [thrower](std::unique_ptr<Bootstrap> bootstrap) {
            if (bootstrap->here().first == 1) { thrower(); }
            throw PeerAborted("Not me.");
            return 0;
        };
    };
    const ProcessOptions two{.processes = 2, .ranks = 2};
    EXPECT_EQ(error_of<CommError>(two, body_that_throws([] { throw CommError("in vain"); })), "in vain");
    EXPECT_EQ(error_of<SystemError>(two, body_that_throws([] { throw std::runtime_error("some"); })), "some");
    EXPECT_EQ(error_of<ContractError>(two, body_that_throws([] { throw ContractError("bug"); })), "bug");
    EXPECT_EQ(error_of<PeerAborted>(two, body_that_throws([] { throw PeerAborted("Not me."); })), "Not me.");
    try
    {
        run_in_processes(two, body_that_throws([] { throw PhysicsError(17, "too hot"); }));
        FAIL();
    }
    catch (const PhysicsError& error)
    {
        EXPECT_EQ(error.step(), 17);
        EXPECT_STREQ(error.what(), "too hot");
    }
    try
    {
        run_in_processes(two, body_that_throws([] { throw InputError("E104", {"npt.mdp", 7}, "unknown"); }));
        FAIL();
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), "E104");
        EXPECT_EQ(error.where().text(), "npt.mdp:7");
        EXPECT_EQ(error.message(), "unknown");
    }
}

TEST(Processes, that_are_killed_are_named_and_all_others_end)
{
    for (const int ranks_of_each : {1, 2})
    {
        const Traces before;
        const ProcessOptions options{.processes = 4, .ranks = 4 * ranks_of_each};
        const Shared<std::array<Word, 4>> aborted; // by process: its ranks that have learned why
        const Body ring = ring_of_processes([&](Communicator& c, int round) {
            if (c.rank() == 2 * ranks_of_each && round == 100) { std::raise(SIGKILL); }
            return true;
        });
        const auto start = std::chrono::steady_clock::now();
        const std::string error = error_of<CommError>(options, [&](std::unique_ptr<Bootstrap> bootstrap) {
            Word& ours = (*aborted).at(static_cast<std::size_t>(bootstrap->here().first / ranks_of_each));
            try
            {
                return ring(std::move(bootstrap));
            }
            catch (const PeerAborted& e)
            {
                ours = std::strstr(e.what(), "was killed by signal 9") != nullptr ? 1 : 2;
                throw;
            }
        });
        EXPECT_LT(std::chrono::steady_clock::now() - start, at_once);
        EXPECT_THAT(error, MatchesRegex(ranks_of_each == 1
                                            ? "The process of rank 2 \\([0-9]+\\) was killed by signal 9 \\(Killed\\)\\."
                                            : "The process of ranks 4 to 5 \\([0-9]+\\) was killed by signal 9 \\(Killed\\)\\."));
        EXPECT_EQ(*aborted, (std::array<Word, 4>{1, 1, 0, 1}));
        EXPECT_EQ(Traces(), before);
    }
}

TEST(Processes, that_end_without_a_word_are_named)
{
    const auto error = error_of<CommError>({.processes = 3, .ranks = 3}, ring_of_processes([](Communicator& c, int round) {
                                               if (c.rank() == 1 && round == 5) { ::_exit(3); }
                                               return true;
                                           }));
    EXPECT_THAT(error, MatchesRegex("The process of rank 1 \\([0-9]+\\) has ended with exit code 3\\."));
}

TEST(Processes, that_stay_stopped_are_named_and_killed)
{
    const Traces before;
    ProcessOptions options{.processes = 3, .ranks = 3};
    options.deadline = 300ms;
    const auto start = std::chrono::steady_clock::now();
    const auto error = error_of<CommError>(options, ring_of_processes([](Communicator& c, int round) {
                                               if (c.rank() == 1 && round == 5) { std::raise(SIGSTOP); }
                                               return true;
                                           }));
    EXPECT_LT(std::chrono::steady_clock::now() - start, at_once);
    EXPECT_THAT(error, MatchesRegex("The process of rank 1 \\([0-9]+\\) has been stopped for 0.3 s\\."));
    EXPECT_EQ(Traces(), before);
}

TEST(Processes, that_are_stopped_for_a_while_do_no_harm)
{
    const Shared<std::array<pid_t, 2>> ids;
    ProcessOptions options{.processes = 2, .ranks = 2};
    options.deadline = 2s;
    const auto end = std::chrono::steady_clock::now() + options.deadline + 1s;
    // Rank 0 stops the other once and goes on for longer than the deadline.
    EXPECT_EQ(run_in_processes(options, ring_of_processes([&](Communicator& c, int round) {
                                   (*ids).at(static_cast<std::size_t>(c.rank())) = ::getpid();
                                   std::int64_t is_over = std::chrono::steady_clock::now() > end;
                                   if (round % 1000 == 0) { c.max(std::span(&is_over, 1)); }
                                   if (c.rank() == 0 && round == 50)
                                   {
                                       ::kill((*ids)[1], SIGSTOP);
                                       std::this_thread::sleep_for(100ms);
                                       ::kill((*ids)[1], SIGCONT);
                                   }
                                   return round % 1000 != 0 || is_over == 0;
                               })),
              0);
}

TEST(Processes, that_do_not_end_after_a_failure_are_killed)
{
    const Traces before;
    const auto start = std::chrono::steady_clock::now();
    const auto error = error_of<PhysicsError>({.processes = 2, .ranks = 2}, [](std::unique_ptr<Bootstrap> bootstrap) {
        if (bootstrap->here().first == 1) { throw PhysicsError(1, "too hot"); }
        for (;;) { ::pause(); }
        return 0;
    });
    EXPECT_EQ(error, "too hot");
    EXPECT_LT(std::chrono::steady_clock::now() - start, at_once);
    EXPECT_EQ(Traces(), before);
}

TEST(Processes, that_wait_for_memory_learn_of_a_loss)
{
    // One never asks for its memory: the other has its own and waits for a channel's end.
    const auto error = error_of<CommError>({.processes = 2, .ranks = 2}, [](std::unique_ptr<Bootstrap> bootstrap) {
        if (bootstrap->here().first == 1) { ::raise(SIGKILL); }
        return ring_of_processes([](Communicator&, int) { return true; })(std::move(bootstrap));
    });
    EXPECT_THAT(error, HasSubstr("The process of rank 1 "));
}

TEST(Processes, have_a_request_to_stop_passed_on_to_the_first)
{
    static volatile std::sig_atomic_t seen;
    const auto before = std::signal(SIGTERM, [](int signal) { seen = signal; }); // as a program does that is going to be asked
    const std::atomic<bool> stop{true};
    ProcessOptions options{.processes = 2, .ranks = 2};
    options.stop = &stop;
    const int result = run_in_processes(options, [](std::unique_ptr<Bootstrap> bootstrap) {
        if (bootstrap->here().first == 1) { return 0; }
        wait_for([] { return seen != 0; });
        return static_cast<int>(seen);
    });
    std::signal(SIGTERM, before);
    EXPECT_EQ(result, SIGTERM);
}

TEST(Processes, end_with_their_launcher)
{
    int ends[2]; // all processes hold the one for writing: nobody is left once it is closed
    ASSERT_EQ(::pipe(ends), 0);
    const Shared<std::array<Word, 3>> ids;
    const pid_t launcher = ::fork();
    if (launcher == 0)
    {
        ::close(ends[0]);
        run_in_processes({.processes = 3, .ranks = 3}, [&](std::unique_ptr<Bootstrap> bootstrap) {
            Word& ours = (*ids).at(static_cast<std::size_t>(bootstrap->here().first));
            HostAtomics::store_relaxed_system(&ours, static_cast<Word>(::getpid()));
            for (;;) { ::pause(); } // far from any wait for another rank
            return 0;
        });
        ::_exit(0);
    }
    ::close(ends[1]);
    for (Word& id : *ids)
    {
        EXPECT_TRUE(comes_true([&] { return HostAtomics::load_relaxed_system(&id) != 0; }));
    }
    ::kill(launcher, SIGKILL);
    ::waitpid(launcher, nullptr, 0);
    pollfd watched{ends[0], POLLIN, 0};
    const bool have_ended = ::poll(&watched, 1, 30000) == 1 && (watched.revents & POLLHUP) != 0;
    EXPECT_TRUE(have_ended);
    for (const Word id : *ids)
    {
        if (!have_ended && id != 0) { ::kill(static_cast<pid_t>(id), SIGKILL); }
    }
    ::close(ends[0]);
}

TEST(Processes, killed_at_any_moment_end_all_and_leave_nothing)
{
    const std::int64_t kills = number_in("PARHELION_TEST_KILLS", 8);
    const std::int64_t first_seed = number_in("PARHELION_TEST_SEED", 1);
    const Traces before;
    for (std::int64_t seed = first_seed; seed < first_seed + kills; ++seed)
    {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(static_cast<unsigned>(seed));
        const int processes = 2 + static_cast<int>(random() % 3), victim = static_cast<int>(random() % 4) % processes;
        const auto moment = std::chrono::microseconds(random() % 20'000);
        const auto start = std::chrono::steady_clock::now();
        const Body ring = ring_of_processes([](Communicator&, int) { return true; });
        const std::string error =
            error_of<CommError>({.processes = processes, .ranks = processes}, [&](std::unique_ptr<Bootstrap> bootstrap) {
                std::jthread killer;
                if (bootstrap->here().first == victim)
                {
                    killer = std::jthread([&] {
                        std::this_thread::sleep_for(moment);
                        std::raise(SIGKILL);
                    });
                }
                return ring(std::move(bootstrap));
            });
        EXPECT_LT(std::chrono::steady_clock::now() - start, at_once);
        EXPECT_THAT(error, HasSubstr("The process of rank " + std::to_string(victim) + " "));
        EXPECT_THAT(error, HasSubstr("was killed by signal 9 (Killed)."));
    }
    EXPECT_EQ(Traces(), before);
}
