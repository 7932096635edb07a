// SPDX-License-Identifier: Apache-2.0
#include "support/apart.hpp"

#include "comm/bootstraps/pages.hpp"

#include <map>

namespace parhelion {

class ApartBootstrap : public Bootstrap
{
public:
    ApartBootstrap(Apart& apart, int rank) : apart_(apart), rank_(rank) {}

    int ranks() const override { return static_cast<int>(apart_.members_.size()); }
    RankRange here() const override { return {rank_, 1}; }
    void put(const std::string& key, Bytes value) override
    {
        apart_.of(rank_).heard.put(key, value);
        for_others([&](Heard& heard) { heard.value(key, value); });
    }
    std::optional<Bytes> get(const std::string& key) override { return apart_.of(rank_).heard.get(key); }
    void post(int rank, Bytes letter) override { apart_.of(rank).heard.inbox(rank).leave(std::move(letter)); }
    Inbox& inbox(int rank) override { return apart_.of(rank).heard.inbox(rank); }
    std::byte* pages(const std::string& what, int rank, std::size_t bytes) override
    {
        if (rank != rank_) { return nullptr; }
        std::unique_ptr<Pages>& pages = pages_[what];
        pages = std::make_unique<Pages>(bytes);
        return pages->data();
    }
    void tell(const Notice& notice) override
    {
        for_others([&](Heard& heard) { heard.notice(notice); });
    }
    void listen(Listener listener) override { apart_.of(rank_).heard.listen(std::move(listener)); }

private:
    template <class Call>
    void for_others(Call&& call)
    {
        for (int r = 0; r < ranks(); ++r)
        {
            if (r != rank_) { call(apart_.of(r).heard); }
        }
    }

    Apart& apart_;
    int rank_;
    std::map<std::string, std::unique_ptr<Pages>> pages_;
};

class ApartTransport : public Transport
{
public:
    ApartTransport(Apart& apart, int rank, const SymmetricMemory& memory) : apart_(apart), rank_(rank), memory_(memory) {}
    ~ApartTransport() override { progress(); }

    std::byte* reach_payload(int, int destination, std::size_t offset) override { return memory_.payload(destination, offset); }
    SignalSlot* reach_signal(int, int destination, std::size_t index) override { return memory_.signal(destination, index); }
    void put_signal(const Put& put) override
    {
        const std::scoped_lock lock(mutex_);
        outbox_.push_back({put, put.data != nullptr ? Bytes(put.data, put.data + put.bytes) : Bytes()});
    }
    void progress() override
    {
        const std::scoped_lock lock(mutex_);
        for (Apart::Letter& letter : outbox_)
        {
            Apart::Member& to = apart_.of(letter.put.destination);
            const std::scoped_lock inbox_lock(to.mutex);
            to.inbox.push_back(std::move(letter));
        }
        outbox_.clear();
        std::deque<Apart::Letter> arrived;
        {
            Apart::Member& here = apart_.of(rank_);
            const std::scoped_lock inbox_lock(here.mutex);
            arrived.swap(here.inbox);
        }
        for (Apart::Letter& letter : arrived)
        {
            if (letter.put.data != nullptr) { letter.put.data = letter.payload.data(); }
            deliver(memory_, letter.put);
        }
    }

private:
    Apart& apart_;
    int rank_;
    const SymmetricMemory& memory_;
    std::mutex mutex_; // of the outbox, and of deliveries
    std::deque<Apart::Letter> outbox_;
};

Network Apart::network(int rank)
{
    return {std::make_unique<ApartBootstrap>(*this, rank),
            [this, rank](const SymmetricMemory& memory) { return std::make_unique<ApartTransport>(*this, rank, memory); }};
}

} // namespace parhelion
