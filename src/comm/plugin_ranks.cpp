// SPDX-License-Identifier: Apache-2.0
#include "comm/plugin_ranks.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <thread>

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

// Arenas are parts of the plugin's memory, in the order in which they are asked for, which is that of every process.
class PluginBootstrap : public Bootstrap
{
public:
    PluginBootstrap(PluginRanks& all, int ranks, std::shared_ptr<Heard> heard)
        : all_(all), ranks_(ranks), heard_(std::move(heard))
    {
    }

    int ranks() const override { return ranks_; }
    RankRange here() const override { return {all_.rank(), 1}; }
    void put(const std::string& key, Bytes value) override
    {
        heard_->put(key, value);
        all_.send_to_others(PluginRanks::Says::Put, key, value.data(), value.size());
    }
    std::optional<Bytes> get(const std::string& key) override { return heard_->get(key); }
    void post(int rank, Bytes letter) override
    {
        if (rank == all_.rank()) { return heard_->inbox(rank).leave(std::move(letter)); }
        all_.send(rank, PluginRanks::Says::Letter, "", letter.data(), letter.size());
    }
    Inbox& inbox(int rank) override { return heard_->inbox(rank); }
    std::byte* pages(const std::string&, int rank, std::size_t bytes) override
    {
        if (rank != all_.rank()) { return nullptr; }
        std::byte* const pages = all_.plugin_.memory() + all_.world_end_;
        all_.world_end_ += (bytes + page - 1) / page * page;
        if (all_.world_end_ <= all_.plugin_.bytes()) { return pages; }
        throw SystemError(fmt::format("The ranks need {} MB of memory for messages each, and transport {} was opened with {} MB. "
                                      "Use more ranks, or another transport.",
                                      all_.world_end_ >> 20, all_.options_.transport, all_.plugin_.bytes() >> 20));
    }
    void tell(const Notice& notice) override { all_.send_to_others(PluginRanks::Says::Notice, "", &notice, sizeof notice); }
    void listen(Listener listener) override { heard_->listen(std::move(listener)); }

private:
    PluginRanks& all_;
    const int ranks_;
    std::shared_ptr<Heard> heard_;
};

class PluginTransport : public Transport
{
public:
    PluginTransport(PluginRanks& all, const SymmetricMemory& memory) : all_(all)
    {
        const std::byte* const begin = all.plugin_.memory();
        payload_ = static_cast<std::size_t>(memory.payload(all.rank(), 0) - begin);
        signals_ =
            static_cast<std::size_t>(reinterpret_cast<std::byte*>(memory.signal(all.rank(), 0)) - begin) / sizeof(SignalSlot);
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
        const std::unique_lock lock(all_.mutex_, std::try_to_lock); // else somebody else does it
        if (lock) { all_.move_locked(); }
    }

private:
    PluginRanks& all_;
    std::size_t payload_, signals_; // where the world's arenas begin in every process
};

PluginRanks::PluginRanks(const PluginOptions& options)
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
    met_.resize(static_cast<std::size_t>(ranks()));
    world_begin_ = world_end_ = (mailboxes_->bytes() + page - 1) / page * page;
}

PluginRanks::~PluginRanks()
{
    if (!mailboxes_) { return; } // the launcher's processes are not those of the plugin
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

Network PluginRanks::network(int ranks)
{
    PARHELION_EXPECTS(ranks <= this->ranks());
    // What others had put for the world before is here once they have met; nothing of it may come after the memory is cleared,
    // and nothing for the next world before.
    meet(options_.deadline);
    std::memset(plugin_.memory() + world_begin_, 0, world_end_ - world_begin_);
    world_end_ = world_begin_;
    {
        const std::scoped_lock lock(heard_mutex_);
        heard_ = std::make_shared<Heard>();
        if (!loss_.empty()) { heard_->loss(loss_); }
    }
    meet(options_.deadline);
    return {std::make_unique<PluginBootstrap>(*this, ranks, heard()),
            [this](const SymmetricMemory& memory) { return std::make_unique<PluginTransport>(*this, memory); }};
}

std::shared_ptr<Heard> PluginRanks::heard()
{
    const std::scoped_lock lock(heard_mutex_);
    return heard_;
}

void PluginRanks::lose(const std::string& sentence)
{
    {
        const std::scoped_lock lock(heard_mutex_);
        loss_ = sentence;
    }
    if (const std::shared_ptr<Heard> world = heard()) { world->loss(sentence); }
}

void PluginRanks::meet(std::chrono::nanoseconds patience)
{
    int& mine = met_[static_cast<std::size_t>(rank())];
    ++mine;
    send_to_others(Says::Met, "", nullptr, 0);
    const std::int64_t end = HostAtomics::nanoseconds() + patience.count();
    // Nor may a rank leave, and move nothing any more, while its own word to somebody waits for room.
    const auto awaited = [this, mine] {
        const auto late = std::find_if(met_.begin(), met_.end(), [mine](int met) { return met < mine; });
        return late != met_.end() ? static_cast<int>(late - met_.begin()) : mailboxes_->awaited();
    };
    for (int polls = 0, peer = 0; peer != Mailboxes::nobody; ++polls)
    {
        // Somebody else's start, test or output may take long.
        if (polls > 1000) { std::this_thread::sleep_for(std::chrono::microseconds(100)); }
        else { HostAtomics::pause(polls); }
        const std::scoped_lock lock(mutex_);
        move_locked();
        peer = awaited();
        if (peer != Mailboxes::nobody && HostAtomics::nanoseconds() > end)
        {
            throw CommError(fmt::format("Rank {} timed out after {:g} s waiting for rank {} to begin or to end.", rank(),
                                        std::chrono::duration<double>(patience).count(), peer));
        }
    }
}

Bytes PluginRanks::packet_of(Says says, const std::string& key, const void* data, std::size_t bytes)
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

void PluginRanks::send(int rank, Says says, const std::string& key, const void* data, std::size_t bytes)
{
    const Bytes packet = packet_of(says, key, data, bytes);
    const std::scoped_lock lock(mutex_);
    mailboxes_->send(rank, packet);
    move_locked();
}

void PluginRanks::send_to_others(Says says, const std::string& key, const void* data, std::size_t bytes)
{
    const Bytes packet = packet_of(says, key, data, bytes);
    const std::scoped_lock lock(mutex_);
    for (int r = 0; r < ranks(); ++r)
    {
        if (r != rank()) { mailboxes_->send(r, packet); }
    }
    move_locked();
}

void PluginRanks::move_locked()
{
    plugin_.progress();
    mailboxes_->move([this](int source, const Bytes& packet) { take(source, packet); });
}

void PluginRanks::take(int source, const Bytes& packet)
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
        heard_->inbox(rank()).leave(Bytes(value, packet.end()));
        return;
    case Says::Met:
        ++met_[static_cast<std::size_t>(source)];
        return;
    }
}

} // namespace parhelion
