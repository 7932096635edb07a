// SPDX-License-Identifier: Apache-2.0
#include "comm/networks/plugin_ranks.hpp"

#include "base/error.hpp"
#include "comm/bootstraps/heard.hpp"
#include "comm/networks/mailboxes.hpp"
#include "comm/transports/plugin.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace parhelion {

namespace {

constexpr std::size_t page = 4096, for_mailboxes = std::size_t{1} << 24;

std::vector<PluginFile> files_for(const std::string& transport)
{
    std::vector<PluginFile> files = plugins_of_launcher(transport);
    if (!files.empty()) { return files; }
    throw SystemError(
        fmt::format("Transport {} needs processes that a launcher of its library has started, and none has. Start the "
                    "program by mpirun, mpiexec or oshrun.",
                    transport));
}

} // namespace

// The open plugin, and the part of its memory that the present world uses.
class PluginRanks::State
{
public:
    explicit State(const PluginOptions& options);
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    const Plugin& plugin() const { return plugin_; }
    Network network(int ranks);
    void lose(const std::string& sentence);
    void meet() { meet(options_.deadline); }

private:
    class OverMailboxes;
    class OverPuts;

    // The kinds of packets that ranks send each other.
    enum class Says : std::uint32_t
    {
        Put,
        Notice,
        Met,
        Letter
    };
    static Bytes packet_of(Says says, const std::string& key, const void* data, std::size_t bytes);
    void send(int rank, Says says, const std::string& key, const void* data, std::size_t bytes);
    void send_to_others(Says says, const std::string& key, const void* data, std::size_t bytes);
    void take(int source, const Bytes& packet);
    std::shared_ptr<Heard> heard();
    void move_locked();
    void meet(std::chrono::nanoseconds patience);

    const PluginOptions options_;
    Plugin plugin_;
    std::mutex mutex_; // guards the members below, and all calls of the open plugin
    std::unique_ptr<Mailboxes> mailboxes_;
    std::vector<int> met_;                        // by rank: number of calls of meet() that have begun
    std::size_t world_begin_ = 0, world_end_ = 0; // range of the memory that the present world uses
    bool has_failed_ = false;                     // true: a rank has reported a failure
    std::mutex heard_mutex_;                      // guards the members below; may be locked, shortly, while mutex_ is
    std::shared_ptr<Heard> heard_;                // bytes, letters and notices that have come for the present world
    std::string loss_;                            // sentence of lose(); empty if no rank is lost
};

// The bootstrap of a world. Arenas are parts of the plugin's memory, in the order in which they are requested. All processes
// request arenas in the same order.
class PluginRanks::State::OverMailboxes : public Bootstrap
{
public:
    OverMailboxes(State& all, int ranks, std::shared_ptr<Heard> heard) : all_(all), ranks_(ranks), heard_(std::move(heard)) {}

    int ranks() const override { return ranks_; }
    RankRange here() const override { return {all_.plugin_.rank(), 1}; }
    void put(const std::string& key, Bytes value) override
    {
        heard_->put(key, value);
        all_.send_to_others(Says::Put, key, value.data(), value.size());
    }
    std::optional<Bytes> get(const std::string& key) override { return heard_->get(key); }
    void post(int rank, Bytes letter) override
    {
        if (rank == all_.plugin_.rank()) { return heard_->inbox(rank).leave(std::move(letter)); }
        all_.send(rank, Says::Letter, "", letter.data(), letter.size());
    }
    Inbox& inbox(int rank) override { return heard_->inbox(rank); }
    std::byte* pages(const std::string&, int rank, std::size_t bytes) override
    {
        if (rank != all_.plugin_.rank()) { return nullptr; }
        std::byte* const pages = all_.plugin_.memory() + all_.world_end_;
        all_.world_end_ += (bytes + page - 1) / page * page;
        if (all_.world_end_ <= all_.plugin_.bytes()) { return pages; }
        throw SystemError(fmt::format("The ranks need {} MB of memory for messages each, and transport {} was opened with {} MB. "
                                      "Use more ranks, or another transport.",
                                      all_.world_end_ >> 20, all_.options_.transport, all_.plugin_.bytes() >> 20));
    }
    void tell(const Notice& notice) override { all_.send_to_others(Says::Notice, "", &notice, sizeof notice); }
    void listen(Listener listener) override { heard_->listen(std::move(listener)); }

private:
    State& all_;
    const int ranks_;
    std::shared_ptr<Heard> heard_;
};

// The transport of a world, which sends each message as a put of the plugin.
class PluginRanks::State::OverPuts : public Transport
{
public:
    OverPuts(State& all, const SymmetricMemory& memory) : all_(all)
    {
        const std::byte* const begin = all.plugin_.memory();
        payload_ = static_cast<std::size_t>(memory.payload(all.plugin_.rank(), 0) - begin);
        signals_ = static_cast<std::size_t>(reinterpret_cast<std::byte*>(memory.signal(all.plugin_.rank(), 0)) - begin) /
                   sizeof(SignalSlot);
    }

    std::byte* reach_payload(int, int destination, std::size_t offset) override
    {
        std::byte* const memory = all_.plugin_.reach(destination);
        return memory != nullptr ? memory + payload_ + offset : nullptr;
    }
    SignalSlot* reach_signal(int, int destination, std::size_t index) override
    {
        std::byte* const memory = all_.plugin_.reach(destination);
        return memory != nullptr ? reinterpret_cast<SignalSlot*>(memory) + signals_ + index : nullptr;
    }
    void put_signal(const Put& put) override
    {
        Put placed = put;
        placed.offset += payload_;
        placed.signal += signals_;
        const std::scoped_lock lock(all_.mutex_);
        all_.plugin_.put_signal(placed);
    }
    void progress() override
    {
        const std::unique_lock lock(all_.mutex_, std::try_to_lock); // otherwise another thread moves the messages
        if (lock) { all_.move_locked(); }
    }

private:
    State& all_;
    std::size_t payload_, signals_; // offsets of the world's arenas, the same in every process
};

PluginRanks::State::State(const PluginOptions& options)
    : options_(options), plugin_(options.transport, files_for(options.transport))
{
    plugin_.open(for_mailboxes + options.bytes);
    const std::string size = processes_of_launcher(plugin_.file());
    if (std::atoi(size.c_str()) != plugin_.ranks())
    {
        throw SystemError(
            fmt::format("The launcher has started {} processes, and {} connects {} of them: it is not the library of "
                        "this launcher.",
                        size, plugin_.version(), plugin_.ranks()));
    }
    mailboxes_ = std::make_unique<Mailboxes>(plugin_);
    PARHELION_EXPECTS(mailboxes_->bytes() <= for_mailboxes);
    met_.resize(static_cast<std::size_t>(plugin_.ranks()));
    world_begin_ = world_end_ = (mailboxes_->bytes() + page - 1) / page * page;
}

PluginRanks::State::~State()
{
    try
    {
        const auto patience =
            has_failed_ ? std::min<std::chrono::nanoseconds>(options_.deadline, std::chrono::seconds(4)) : options_.deadline;
        meet(patience);
    }
    catch (const CommError&)
    {
        plugin_.abort(6);
    }
}

Network PluginRanks::State::network(int ranks)
{
    PARHELION_EXPECTS(ranks <= plugin_.ranks());
    // Once all ranks have met, their puts for the previous world have arrived. No such put may arrive after the memory is
    // cleared, and no put for the next world before that.
    meet(options_.deadline);
    std::memset(plugin_.memory() + world_begin_, 0, world_end_ - world_begin_);
    world_end_ = world_begin_;
    {
        const std::scoped_lock lock(heard_mutex_);
        heard_ = std::make_shared<Heard>();
        if (!loss_.empty()) { heard_->loss(loss_); }
    }
    meet(options_.deadline);
    return {std::make_unique<OverMailboxes>(*this, ranks, heard()),
            [this](const SymmetricMemory& memory) { return std::make_unique<OverPuts>(*this, memory); }};
}

std::shared_ptr<Heard> PluginRanks::State::heard()
{
    const std::scoped_lock lock(heard_mutex_);
    return heard_;
}

void PluginRanks::State::lose(const std::string& sentence)
{
    {
        const std::scoped_lock lock(heard_mutex_);
        loss_ = sentence;
    }
    if (const std::shared_ptr<Heard> world = heard()) { world->loss(sentence); }
}

void PluginRanks::State::meet(std::chrono::nanoseconds patience)
{
    int& mine = met_[static_cast<std::size_t>(plugin_.rank())];
    ++mine;
    send_to_others(Says::Met, "", nullptr, 0);
    const std::int64_t end = HostAtomics::nanoseconds() + patience.count();
    // A rank must not leave, and thus stop moving messages, while a packet of its own waits for space at another rank.
    const auto awaited = [this, mine] {
        const auto late = std::find_if(met_.begin(), met_.end(), [mine](int met) { return met < mine; });
        return late != met_.end() ? static_cast<int>(late - met_.begin()) : mailboxes_->awaited();
    };
    for (int polls = 0, peer = 0; peer != Mailboxes::nobody; ++polls)
    {
        // The start, the self-test or the output of another rank may take long.
        if (polls > 1000) { std::this_thread::sleep_for(std::chrono::microseconds(100)); }
        else { HostAtomics::pause(polls); }
        const std::scoped_lock lock(mutex_);
        move_locked();
        peer = awaited();
        if (peer != Mailboxes::nobody && HostAtomics::nanoseconds() > end)
        {
            throw CommError(fmt::format("Rank {} timed out after {:g} s waiting for rank {} to begin or to end.", plugin_.rank(),
                                        std::chrono::duration<double>(patience).count(), peer));
        }
    }
}

Bytes PluginRanks::State::packet_of(Says says, const std::string& key, const void* data, std::size_t bytes)
{
    const auto key_bytes = static_cast<std::uint32_t>(key.size());
    Bytes packet(sizeof says + sizeof key_bytes + key.size() + bytes);
    std::byte* to = packet.data();
    const auto append = [&](const void* from, std::size_t count) {
        if (count > 0) { std::memcpy(to, from, count); }
        to += count;
    };
    append(&says, sizeof says);
    append(&key_bytes, sizeof key_bytes);
    append(key.data(), key.size());
    append(data, bytes);
    return packet;
}

void PluginRanks::State::send(int rank, Says says, const std::string& key, const void* data, std::size_t bytes)
{
    const Bytes packet = packet_of(says, key, data, bytes);
    const std::scoped_lock lock(mutex_);
    mailboxes_->send(rank, packet);
    move_locked();
}

void PluginRanks::State::send_to_others(Says says, const std::string& key, const void* data, std::size_t bytes)
{
    const Bytes packet = packet_of(says, key, data, bytes);
    const std::scoped_lock lock(mutex_);
    for (int r = 0; r < plugin_.ranks(); ++r)
    {
        if (r != plugin_.rank()) { mailboxes_->send(r, packet); }
    }
    move_locked();
}

void PluginRanks::State::move_locked()
{
    plugin_.progress();
    mailboxes_->move([this](int source, const Bytes& packet) { take(source, packet); });
}

void PluginRanks::State::take(int source, const Bytes& packet)
{
    Says says{};
    std::uint32_t key_bytes = 0;
    std::memcpy(&says, packet.data(), sizeof says);
    std::memcpy(&key_bytes, packet.data() + sizeof says, sizeof key_bytes);
    const auto key = packet.begin() + sizeof says + sizeof key_bytes, value = key + key_bytes;
    switch (says)
    {
    case Says::Put:
        heard()->value(std::string(reinterpret_cast<const char*>(&*key), key_bytes), Bytes(value, packet.end()));
        return;
    case Says::Notice: {
        Notice notice{};
        std::memcpy(&notice, &*value, sizeof notice);
        has_failed_ = has_failed_ || notice.kind == Notice::Kind::Failed;
        heard()->notice(notice);
        return;
    }
    case Says::Letter:
        heard_->inbox(plugin_.rank()).leave(Bytes(value, packet.end()));
        return;
    case Says::Met:
        ++met_[static_cast<std::size_t>(source)];
        return;
    }
}

// --- the interface for users

PluginRanks::PluginRanks(const PluginOptions& options) : state_(std::make_unique<State>(options)) {}

PluginRanks::~PluginRanks() = default;

int PluginRanks::rank() const { return state_->plugin().rank(); }

int PluginRanks::ranks() const { return state_->plugin().ranks(); }

std::string PluginRanks::version() const { return state_->plugin().version(); }

Network PluginRanks::network(int ranks) { return state_->network(ranks); }

void PluginRanks::lose(const std::string& sentence) { state_->lose(sentence); }

void PluginRanks::meet() { state_->meet(); }

} // namespace parhelion
