// SPDX-License-Identifier: Apache-2.0
// The calls of parhelion_comm.h by which a process joins processes that it has not started.
#include "comm/launch/join.hpp"

#include "comm/c/guarded.hpp"
#include "comm/c/rank.hpp"
#include "comm/networks/networks.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace parhelion;
using namespace parhelion::c_interface;

namespace {

static_assert(sizeof(ph_id) == JoinId::size);

// This process's rank in a world that the process has joined.
class Joined
{
public:
    Joined(Network network, int rank, int ranks, const ph_options& options)
        : world_(std::move(network), world_options(options, ranks)), communicator_(world_.communicator(rank)),
          rank_(std::in_place, communicator_)
    {
    }
    // Sends what other ranks have not received yet, for at most the deadline, unless the world has failed.
    ~Joined()
    {
        rank_.reset();
        world_.leave(communicator_.rank());
    }
    Joined(const Joined&) = delete;
    Joined& operator=(const Joined&) = delete;

    ph_comm* handle() const { return rank_->handle(); }
    // Returns when all ranks have made their worlds. Until then no rank may end, as other ranks need it.
    void meet() { communicator_.barrier(); }
    bool is_of_this_process() const { return process_ == ::getpid(); } // false in a process that was forked after joining

private:
    const pid_t process_ = ::getpid();
    World world_;
    Communicator communicator_;
    std::optional<Rank> rank_;
};

// The worlds that this process has joined and not finalised. If it ends before ph_finalize, other ranks learn of the loss.
class AllJoined
{
public:
    ph_comm* add(std::unique_ptr<Joined> joined)
    {
        const std::scoped_lock lock(mutex_);
        ph_comm* const handle = joined->handle();
        joined_.emplace(handle, std::move(joined));
        return handle;
    }
    std::unique_ptr<Joined> take(ph_comm* handle)
    {
        const std::scoped_lock lock(mutex_);
        const auto joined = joined_.find(handle);
        if (joined == joined_.end()) { return nullptr; }
        expect_argument(joined->second->is_of_this_process(),
                        "A process that has been forked has joined nothing: its parent has.");
        std::unique_ptr<Joined> taken = std::move(joined->second);
        joined_.erase(joined);
        return taken;
    }

private:
    std::mutex mutex_;
    std::map<ph_comm*, std::unique_ptr<Joined>> joined_;
};

AllJoined& all_joined()
{
    static auto* const all = new AllJoined; // never destroyed: threads of worlds may outlive main()
    return *all;
}

ph_options checked_to_join(const ph_options* given)
{
    const ph_options options = checked(given);
    constexpr double least = 0.1; // heartbeats come every twentieth of the deadline
    expect_argument(options.deadline_seconds >= least, "The deadline of ranks that join is 0.1 s or more.");
    expect_argument(options.interrupted == nullptr, "Nobody is asked whether to go on where ranks have joined: interrupted is of "
                                                    "ph_run_with.");
    return options;
}

// Rank 0 publishes its options. A rank whose options differ ends the world.
void expect_same_options(Rendezvous& met, int rank, const ph_options& options)
{
    constexpr const char* key = "options of the world";
    const std::string mine =
        "memory_bytes " + std::to_string(options.memory_bytes) + ", deadline_seconds " + std::to_string(options.deadline_seconds);
    if (rank == 0)
    {
        const auto* const first = reinterpret_cast<const std::byte*>(mine.data());
        return met.put(key, Bytes(first, first + mine.size()));
    }
    const Bytes told = met.wait_for(key);
    const std::string of_first(reinterpret_cast<const char*>(told.data()), told.size());
    if (of_first == mine) { return; }
    const std::string sentence =
        "Rank " + std::to_string(rank) + " has " + mine + ", and rank 0 " + of_first + ". All ranks take the same options.";
    met.lose(sentence);
    throw PartitionedError(Misuse::BadArgument, sentence);
}

ph_comm* join_world(std::shared_ptr<Rendezvous> met, const ph_options& options)
{
    const int rank = met->here().first;
    expect_same_options(*met, rank, options);
    try
    {
        auto joined = std::make_unique<Joined>(tcp_network(met), rank, met->ranks(), options);
        joined->meet();
        return all_joined().add(std::move(joined));
    }
    catch (const PeerAborted&)
    {
        throw; // another rank reports the cause
    }
    catch (const std::exception& error)
    {
        met->lose("Rank " + std::to_string(rank) + " could not join: " + error.what());
        throw;
    }
}

void expect_rank(int rank, int ranks)
{
    expect_argument(ranks >= 1 && rank >= 0 && rank < ranks, "A rank is a number from 0 to one less than there are ranks.");
}

JoinId join_id_of(const ph_id& id)
{
    JoinId::Image image;
    std::copy(std::begin(id.bytes), std::end(id.bytes), image.begin());
    return JoinId(image);
}

ph_comm* join_by(const ph_id& id, int rank, int ranks, const ph_options& options)
{
    return join_world(join(join_id_of(id), rank, ranks, deadline_of(options.deadline_seconds)), options);
}

ph_id id_of(const JoinId& made)
{
    ph_id id;
    const JoinId::Image image = made.image();
    std::copy(image.begin(), image.end(), std::begin(id.bytes));
    return id;
}

} // namespace

int ph_make_id(const char* where, ph_id* id)
{
    return guarded([&] {
        expect_pointer(id, "An id takes a place to leave it.");
        *id = id_of(make_join_id(where != nullptr ? where : ""));
    });
}

int ph_free_id(const ph_id* id)
{
    return guarded([&] {
        expect_pointer(id, "The id is null.");
        give_back(join_id_of(*id));
    });
}

int ph_init(const ph_id* id, int rank, int ranks, const ph_options* given, ph_comm** comm)
{
    return guarded([&] {
        expect_pointer(id, "The id is null.");
        expect_pointer(comm, "A rank takes a place to leave its handle.");
        expect_rank(rank, ranks);
        *comm = join_by(*id, rank, ranks, checked_to_join(given));
    });
}

int ph_init_exchange(int rank, int ranks, ph_all_gather all_gather, void* context, const ph_options* given, ph_comm** comm)
{
    return guarded([&] {
        if (all_gather == nullptr) { throw PartitionedError(Misuse::Null, "Ranks need an all-gather to hear of rank 0."); }
        expect_pointer(comm, "A rank takes a place to leave its handle.");
        expect_rank(rank, ranks);
        const ph_options options = checked_to_join(given);
        ph_id mine{};
        std::exception_ptr why_none;
        try
        {
            if (rank == 0) { mine = id_of(make_join_id("")); }
        }
        catch (...) // the all-gather is called nevertheless, as other ranks wait in it
        {
            why_none = std::current_exception();
        }
        std::vector<ph_id> all(static_cast<std::size_t>(ranks));
        const int status = all_gather(context, &mine, sizeof mine, all.data());
        if (why_none) { std::rethrow_exception(why_none); }
        expect_argument(status == 0, "The all-gather that the caller has given has failed.");
        *comm = join_by(all[0], rank, ranks, options);
    });
}

int ph_init_here(const ph_options* given, ph_comm** comm)
{
    return guarded([&] {
        expect_pointer(comm, "A rank takes a place to leave its handle.");
        const ph_options options = checked_to_join(given);
        const std::optional<Launch> launch = recognise_launch(own_environment());
        *comm = launch ? join_world(join(*launch, deadline_of(options.deadline_seconds)), options)
                       : all_joined().add(std::make_unique<Joined>(thread_network(1), 0, 1, options));
    });
}

int ph_finalize(ph_comm** comm)
{
    return guarded([&] {
        expect_pointer(comm, "A place to finalize is null.");
        Rank& rank = all_ranks.of(*comm);
        expect_argument(all_joined().take(*comm) != nullptr || rank.whole().end_part(*comm),
                        "A rank of ph_run ends with its program: ph_finalize is for who has joined, and for groups.");
        *comm = nullptr;
    });
}

// --- groups

int ph_split(ph_comm* comm, int color, int key, ph_comm** part)
{
    return guarded([&] {
        Rank& rank = all_ranks.of(comm);
        expect_pointer(part, "A group takes a place to leave its handle.");
        const std::vector<std::array<int, 2>> told = rank.calls().split({color, key});
        std::vector<int> places;
        for (int place = 0; place < rank.size(); ++place)
        {
            if (told[static_cast<std::size_t>(place)][0] == color) { places.push_back(place); }
        }
        const auto key_of = [&](int place) { return told[static_cast<std::size_t>(place)][1]; };
        std::stable_sort(places.begin(), places.end(), [&](int a, int b) { return key_of(a) < key_of(b); });
        *part = color < 0 ? nullptr : rank.part(places, "split").handle();
    });
}

int ph_group(ph_comm* comm, const int* ranks, int n, ph_comm** part)
{
    return guarded([&] {
        Rank& rank = all_ranks.of(comm);
        expect_pointer(part, "A group takes a place to leave its handle.");
        expect_argument(n >= 1, "A group has a member at least.");
        expect_pointer(ranks, "The members of a group are null.");
        *part = rank.part(std::vector<int>(ranks, ranks + n), "group").handle();
    });
}

int ph_host(ph_comm* comm, ph_comm** part)
{
    return guarded([&] {
        Rank& rank = all_ranks.of(comm);
        expect_pointer(part, "A group takes a place to leave its handle.");
        *part = rank.part(rank.within_reach(), "host").handle();
    });
}
