// SPDX-License-Identifier: Apache-2.0
// Ranks as threads, as processes and apart, payloads that say where and when they belong, and random pauses: what the tests of
// this room share.
#pragma once

#include "base/error.hpp"
#include "comm/bootstraps/rendezvous.hpp"
#include "comm/bootstraps/threads.hpp"
#include "comm/launch/launch_processes.hpp"
#include "comm/launch/run_ranks.hpp"
#include "comm/networks/networks.hpp"
#include "comm/plugin_of_tests.hpp"
#include "comm/transports/nic_emulation.hpp"
#include "comm/world/communicator.hpp"
#include "comm/world/world.hpp"
#include "support/apart.hpp"
#include "support/faulty.hpp"
#include "support/number_in.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <random>
#include <sys/mman.h>
#include <thread>
#include <type_traits>
#include <typeinfo>
#include <unistd.h>

namespace parhelion {

// How each rank of this process ended; null: well. A rank that ends by an exception of its own stops the others; a dead one tells
// nobody.
inline std::vector<std::exception_ptr> outcomes(World& world, const std::function<void(Communicator&)>& body)
{
    const RankRange here = world.here();
    std::vector<std::exception_ptr> ends(static_cast<std::size_t>(here.count));
    std::vector<std::thread> threads;
    for (int place = 0; place < here.count; ++place)
    {
        threads.emplace_back([&, place] {
            Communicator communicator = world.communicator(here.first + place);
            try
            {
                body(communicator);
            }
            catch (const RankDied&)
            {
            }
            catch (...)
            {
                ends[static_cast<std::size_t>(place)] = std::current_exception();
                communicator.abort();
            }
        });
    }
    for (std::thread& thread : threads) { thread.join(); }
    return ends;
}

// Runs the ranks of this process and fails if one ended badly, with the primary error.
inline void check_ranks(World& world, const std::function<void(Communicator&)>& body)
{
    for (const std::exception_ptr& end : outcomes(world, body))
    {
        if (!end) { continue; }
        try
        {
            std::rethrow_exception(end);
        }
        catch (const PeerAborted&)
        {
        }
        catch (const std::exception& e)
        {
            ADD_FAILURE() << e.what();
        }
    }
}

// The payload of one message: every byte a function of all that identifies it.
struct Payload
{
    std::uint64_t step;
    int source;
    int destination;
    int kind = 0;

    std::byte at(std::size_t i) const
    {
        std::uint64_t z =
            step * 0x9E3779B97F4A7C15 + static_cast<std::uint64_t>(source * 1009 + destination * 131 + kind) + (i << 40);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return static_cast<std::byte>(z >> 56);
    }
    void pack(std::byte* slot, std::size_t bytes) const
    {
        for (std::size_t i = 0; i < bytes; ++i) { slot[i] = at(i); }
    }
    // Throws at the first wrong byte.
    void check(const Message& message, std::size_t bytes) const
    {
        if (message.bytes != bytes) { fail("size", message.bytes); }
        for (std::size_t i = 0; i < bytes; ++i)
        {
            if (message.data[i] != at(i)) { fail("byte", i); }
        }
    }
    [[noreturn]] void fail(const char* what, std::size_t i) const
    {
        throw std::runtime_error("payload of epoch " + std::to_string(step) + " from " + std::to_string(source) + " to " +
                                 std::to_string(destination) + ": wrong " + what + " " + std::to_string(i));
    }
};

inline void send_payload(SendChannel& send, const Payload& payload, std::size_t bytes)
{
    payload.pack(send.begin(bytes), bytes);
    send.publish(bytes);
}

// Polls until the condition holds. False if it does not within a minute, as it should within microseconds.
template <class Condition>
bool comes_true(Condition&& condition)
{
    const auto start = std::chrono::steady_clock::now();
    while (!condition())
    {
        if (std::chrono::steady_clock::now() - start > std::chrono::seconds(60)) { return false; }
        std::this_thread::yield();
    }
    return true;
}

// Leaves what stays behind after use: a reader that is too late or too early sees it.
inline void poison(const Message& message) { std::fill_n(message.data, message.bytes, std::byte{0xDB}); }

// Pauses that put ranks out of step: mostly none, some spins and yields, now and then a sleep.
class Jitter
{
public:
    explicit Jitter(std::uint64_t seed) : random_(seed) {}
    void operator()()
    {
        const std::uint64_t r = random_();
        if (r % 16 < 12) { return; }
        for (std::uint64_t i = 0; i < (r >> 8) % 512; ++i) { HostAtomics::pause(0); }
        if (r % 64 == 63) { std::this_thread::yield(); }
        if (r % 4096 == 4095) { std::this_thread::sleep_for(std::chrono::microseconds((r >> 20) % 200)); }
    }
    std::size_t size() { return random_() % 100; }

private:
    std::mt19937_64 random_;
};

// Zeros that the ranks of a test and the test itself share, also where ranks are processes.
template <class T>
class Shared
{
public:
    static_assert(std::is_trivially_copyable_v<T>);
    Shared()
    {
        const int file = open_file();
        const int flags = file < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
        value_ = static_cast<T*>(mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, flags, file, 0));
        PARHELION_EXPECTS(value_ != MAP_FAILED);
        if (file >= 0) { close(file); }
    }
    ~Shared() { munmap(value_, sizeof(T)); }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

    T& operator*() const { return *value_; }
    T* operator->() const { return value_; }

private:
    // Of processes that a launcher has started: the nth T of each is one file of the folder that they are given. Else -1.
    static int open_file()
    {
        const char* const folder = std::getenv("PARHELION_TEST_FOLDER");
        if (folder == nullptr) { return -1; }
        static int count = 0;
        const std::string name = fmt::format("{}/{}.{}", folder, typeid(T).name(), count++);
        const int file = open(name.c_str(), O_RDWR | O_CREAT, 0600);
        PARHELION_EXPECTS(file >= 0 && ftruncate(file, sizeof(T)) == 0);
        return file;
    }

    T* value_;
};

// The rule that at most one signal is under way to a slot, where the transport can tell.
inline void expect_no_overlaps(World& world)
{
    if (const auto* faulty = dynamic_cast<FaultyTransport*>(&world.transport())) { EXPECT_EQ(faulty->overlaps(), 0); }
    if (const auto* nics = dynamic_cast<NicEmulationTransport*>(&world.transport())) { EXPECT_EQ(nics->overlaps(), 0); }
}

// Says what brings messages from rank to rank.
enum class Carrier : std::uint8_t
{
    Memory,   // that all share
    Nics,     // emulated: each rank is a virtual node (comm/transports/nic_emulation.hpp)
    PairNics, // likewise, with two ranks in each node
    Calls,    // of ranks that reach nobody's memory (support/apart.hpp)
    Streams,  // over TCP, likewise
    Joined,   // likewise, and their memory is shared as that of processes of one host
    TwoHosts, // likewise, but that of the second half is within nobody's reach
    Plugin    // of processes that a launcher has started, each of which is one rank
};

// How the ranks of a test meet: `place` is where a process is among all, each of which has so many ranks.
inline std::shared_ptr<Rendezvous> meet(int ranks, RankRange here, int port, std::chrono::nanoseconds deadline,
                                        bool shares = false)
{
    RendezvousOptions options;
    options.ranks = ranks;
    options.here = here;
    options.address = {"127.0.0.1", port};
    options.secret = [] { return Secret("the secret of a test"); };
    options.deadline = deadline;
    options.shares_memory = shares;
    return std::make_shared<Rendezvous>(options);
}
inline int free_port() { return address_of(listen_at({"127.0.0.1", 0}).front().get()).port; }

// The network of ranks whose memory is all within reach of whoever delivers.
inline Network network_of_host(Carrier carrier, PeerAccess access, std::unique_ptr<Bootstrap> bootstrap)
{
    if (carrier == Carrier::Memory) { return shared_memory_network(std::move(bootstrap), access); }
    const int of_node = carrier == Carrier::PairNics ? 2 : 1, nodes = (bootstrap->ranks() + of_node - 1) / of_node;
    // So slow that signals come notably later than the first byte of their payload.
    return nic_emulation_network(std::move(bootstrap), {.nodes = nodes, .ranks_per_node = of_node, .bandwidth = 0.02});
}
inline bool is_of_host(Carrier carrier)
{
    return carrier == Carrier::Memory || carrier == Carrier::Nics || carrier == Carrier::PairNics;
}

// Calls be_ranks(network) for every world of ranks that are threads of the test: one world, or one for each rank.
inline void on_worlds(Carrier carrier, PeerAccess access, int ranks, const std::function<void(Network)>& be_ranks,
                      std::chrono::nanoseconds deadline = std::chrono::seconds(60))
{
    if (is_of_host(carrier)) { return be_ranks(network_of_host(carrier, access, std::make_unique<ThreadsBootstrap>(ranks))); }
    Apart apart(ranks);
    // On a busy machine ranks may take seconds to connect with each other, and to say that they are alive.
    const std::chrono::nanoseconds patience = std::max<std::chrono::nanoseconds>(deadline, std::chrono::seconds(10));
    const int port = carrier == Carrier::Calls ? 0 : free_port();
    run_ranks(
        {0, ranks},
        [&](int r) {
            const bool shares = carrier == Carrier::Joined || (carrier == Carrier::TwoHosts && r < (ranks + 1) / 2);
            be_ranks(carrier == Carrier::Calls ? apart.network(r) : tcp_network(meet(ranks, {r, 1}, port, patience, shares)));
        },
        [](int) {}); // the others hear of it by themselves
}

// How ranks are connected, as the tests see it.
struct TransportCase
{
    const char* name;
    PeerAccess access; // of the payload
    bool is_faulty;
    int ranks_of_process = 0; // 0: all ranks are threads of the test
    Carrier carrier = Carrier::Memory;

    WorldOptions options() const
    {
        WorldOptions o;
        o.payload_bytes = std::size_t{1} << 26;
        if (const int asked = test::number_in("PARHELION_TEST_DEADLINE", 0); asked > 0)
        {
            o.deadline = std::chrono::seconds(asked);
        }
        return o;
    }
    Network with_its_faults(Network network, std::uint64_t seed) const
    {
        if (!is_faulty) { return network; }
        FaultPlan plan;
        plan.seed = seed;
        // Behind several cards a repeated signal of one source could come after another source's to the same slot, which was
        // freed between: no card repeats a signal that has been seen.
        plan.duplicated = carrier == Carrier::Nics || carrier == Carrier::PairNics ? 0 : 0.1;
        plan.payload = access;
        return with_faults(std::move(network), plan);
    }
    Network network(std::unique_ptr<Bootstrap> bootstrap, std::uint64_t seed) const
    {
        return with_its_faults(network_of_host(carrier, inner_access(), std::move(bootstrap)), seed);
    }
    // Behind the bad network, if there is one.
    PeerAccess inner_access() const { return is_faulty ? PeerAccess::Pointers : access; }
    Network network(int ranks, std::uint64_t seed) const // of threads of the test
    {
        return network(std::make_unique<ThreadsBootstrap>(ranks), seed);
    }
    // Runs the ranks of a world of their own, and fails if one ended badly, with the primary error.
    void run(int ranks, std::uint64_t seed, const std::function<void(Communicator&)>& body) const
    {
        const auto be_ranks = [&](Network network) {
            World world(std::move(network), options());
            check_ranks(world, body);
            expect_no_overlaps(world);
        };
        if (carrier == Carrier::Plugin) { return run_on_plugin(ranks, seed, be_ranks); }
        if (ranks_of_process == 0)
        {
            return on_worlds(carrier, inner_access(), ranks,
                             [&](Network plain) { be_ranks(with_its_faults(std::move(plain), seed)); });
        }
        ProcessOptions processes;
        processes.processes = (ranks + ranks_of_process - 1) / ranks_of_process;
        processes.ranks = ranks;
        try
        {
            run_in_processes(processes, [&](std::unique_ptr<Bootstrap> bootstrap) {
                be_ranks(network(std::move(bootstrap), seed));
                // What has failed in a process has been printed there, and the test knows nothing of it.
                return testing::Test::HasFailure() ? throw std::runtime_error("a check failed in one of the processes") : 0;
            });
        }
        catch (const std::exception& error)
        {
            ADD_FAILURE() << error.what();
        }
    }
    void run_on_plugin(int ranks, std::uint64_t seed, const std::function<void(Network)>& be_ranks) const
    {
        PluginRanks& all = PluginOfTests::ranks();
        if (ranks > all.ranks()) { GTEST_SKIP() << "needs " << ranks << " processes"; } // all processes alike
        Network network = all.network(ranks);
        if (all.rank() < ranks) { be_ranks(with_its_faults(std::move(network), seed)); }
        all.meet(); // what the ranks share is complete
    }
    bool is_slow() const { return carrier != Carrier::Memory && carrier != Carrier::Calls; }
    // How much of a test that is long on the fast transport is run on this one.
    int scaled(int n) const { return is_faulty || is_slow() ? n / 20 : ranks_of_process > 0 ? n / 4 : n; }
};

inline const std::vector<TransportCase> own_transport_cases = {
    {"threads_pointers", PeerAccess::Pointers, false},
    {"threads_staged", PeerAccess::Staged, false},
    {"faulty_pointers", PeerAccess::Pointers, true},
    {"faulty_staged", PeerAccess::Staged, true},
    {"apart", PeerAccess::Staged, false, 0, Carrier::Calls},
    {"faulty_apart", PeerAccess::Staged, true, 0, Carrier::Calls},
    {"tcp", PeerAccess::Staged, false, 0, Carrier::Streams},
    {"faulty_tcp", PeerAccess::Staged, true, 0, Carrier::Streams},
    {"nics", PeerAccess::Staged, false, 0, Carrier::Nics},
    {"nics_of_pairs", PeerAccess::Staged, false, 0, Carrier::PairNics},
    {"faulty_nics", PeerAccess::Staged, true, 0, Carrier::Nics},
    {"processes_pointers", PeerAccess::Pointers, false, 1},
    {"processes_staged", PeerAccess::Staged, false, 1},
    {"processes_of_two_threads", PeerAccess::Pointers, false, 2},
// The thread sanitizer sees one process, and not that a credit came from another after the staging memory had been read there by
// the thread that delivers: it would take that for a race. Nor that two ranks of one process that have joined reach one memory at
// different addresses. Over threads it sees the same code's orders whole.
#if !defined(__SANITIZE_THREAD__)
    {"joined", PeerAccess::Pointers, false, 0, Carrier::Joined},
    {"joined_from_two_hosts", PeerAccess::Staged, false, 0, Carrier::TwoHosts},
    {"faulty_processes_staged", PeerAccess::Staged, true, 1},
    {"processes_nics", PeerAccess::Staged, false, 1, Carrier::Nics},
#endif
};

// Of a process that a launcher has started: the plugin's.
inline const std::vector<TransportCase> plugin_cases = {{"plugin", PeerAccess::Staged, false, 0, Carrier::Plugin},
                                                        {"faulty_plugin", PeerAccess::Staged, true, 0, Carrier::Plugin}};
inline const std::vector<TransportCase>& transport_cases = plugin_of_tests() != nullptr ? plugin_cases : own_transport_cases;

// Those whose ranks are threads of the test and share their memory.
inline std::vector<TransportCase> thread_cases()
{
    std::vector<TransportCase> cases;
    std::copy_if(transport_cases.begin(), transport_cases.end(), std::back_inserter(cases),
                 [](const TransportCase& c) { return c.ranks_of_process == 0 && is_of_host(c.carrier); });
    return cases;
}

} // namespace parhelion
