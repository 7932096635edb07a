// SPDX-License-Identifier: Apache-2.0
#include "bench/onesided/exchange.hpp"

#include "base/bytes.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace parhelion {

namespace {

constexpr std::size_t line = 128; // bytes of a flag
constexpr std::size_t rounds_of_maximum = 8;
constexpr std::size_t flags_of_maximum = 2 * rounds_of_maximum; // of two maxima in turn: a rank may be one ahead
constexpr std::size_t flags_of_message = 4;

void set(Word* word, Word value) { HostAtomics::store_release_system(word, value); }

} // namespace

// What is set at a rank by the other one of a message.
enum class OneSidedExchange::Flag : std::size_t
{
    XSignal, // positions can be read
    XDone,   // they have been read
    FSignal,
    FDone
};

OneSidedExchange::OneSidedExchange(World& world, Communicator& comm, const HaloPlan& plan, const OneSidedVariant& variant)
    : world_(world), comm_(comm), plan_(plan), variant_(variant), home_forces_(plan.home_clusters * block)
{
    lay_out();
}

template <class T>
T* OneSidedExchange::at(int rank, std::size_t offset) const
{
    std::byte* const memory = rank == comm_.rank() ? world_.memory().payload(rank, offset)
                                                   : world_.transport().reach_payload(comm_.rank(), rank, offset);
    if (memory == nullptr) { throw CommError("One-sided exchanges need ranks that reach each other's memory."); }
    return reinterpret_cast<T*>(memory);
}

// All arrays have the size that the greatest rank needs, and so the same offsets everywhere. What begins where within an array
// differs from rank to rank: receivers say so.
void OneSidedExchange::lay_out()
{
    std::vector<std::int64_t> sizes = {static_cast<std::int64_t>(plan_.home_clusters + plan_.halo_clusters()),
                                       static_cast<std::int64_t>(plan_.halo_clusters())};
    for (const HaloMessage& m : plan_.messages) { sizes.push_back(static_cast<std::int64_t>(m.clusters.size())); }
    comm_.max(sizes);
    std::size_t end = 0;
    const auto place = [&](std::size_t bytes) { return std::exchange(end, end + round_up_window(bytes)); };
    const auto clusters = [&](std::size_t i) { return static_cast<std::size_t>(sizes[i]) * block; };
    x_offset_ = place(clusters(0) * sizeof(Fixed));
    f_offset_ = place(clusters(1) * sizeof(ForceSum));
    barrier_flags_ = place(flags_of_maximum * line);
    std::vector<SetupMessage> firsts;
    std::vector<int> sources;
    for (std::size_t i = 0; i < plan_.messages.size(); ++i)
    {
        const HaloMessage& m = plan_.messages[i];
        const std::size_t x_slot = place(clusters(2 + i) * sizeof(Fixed)), f_slot = place(clusters(2 + i) * sizeof(ForceSum));
        messages_.push_back({m.clusters.size(), static_cast<std::size_t>(m.count), m.send_to, m.receive_from,
                             static_cast<std::size_t>(m.first), 0, 0, x_slot, f_slot, place(flags_of_message * line)});
        ByteWriter(firsts.emplace_back(SetupMessage{m.receive_from, {}}).bytes)
            .put(std::array<std::size_t, 2>{messages_.back().first, messages_.back().first - plan_.home_clusters});
        sources.push_back(m.send_to);
    }
    memory_ = comm_.allocate(end);
    for (std::size_t* const offset : {&x_offset_, &f_offset_, &barrier_flags_}) { *offset += memory_.offset; }
    std::memset(comm_.data(memory_), 0, end);
    const std::vector<SetupMessage> there = comm_.exchange(firsts, sources);
    for (std::size_t i = 0; i < messages_.size(); ++i)
    {
        Message& m = messages_[i];
        for (std::size_t* const offset : {&m.x_slot, &m.f_slot, &m.flags}) { *offset += memory_.offset; }
        const auto [first, halo] = ByteReader(there[i].bytes).get<std::array<std::size_t, 2>>();
        m.first_there = first, m.halo_there = halo;
    }
    positions_ = at<Fixed>(comm_.rank(), x_offset_);
    forces_ = at<ForceSum>(comm_.rank(), f_offset_);
    comm_.barrier(); // zeros are there before anybody's flag
}

Word* OneSidedExchange::flag(int rank, const Message& message, Flag flag) const
{
    return at<Word>(rank, message.flags + static_cast<std::size_t>(flag) * line);
}

void OneSidedExchange::wait(const Word* word, Word value) const
{
    constexpr std::int64_t minute = 60'000'000'000;
    const std::int64_t start = HostAtomics::nanoseconds();
    for (int polls = 0; HostAtomics::load_acquire_system(const_cast<Word*>(word)) < value; ++polls)
    {
        HostAtomics::pause(polls);
        if (polls % 1024 == 1023 && HostAtomics::nanoseconds() - start > minute)
        {
            throw CommError(fmt::format("Rank {} timed out after a minute in a one-sided exchange.", comm_.rank()));
        }
    }
}

Word OneSidedExchange::maximum(Word value)
{
    ++maxima_;
    const int me = comm_.rank(), ranks = comm_.ranks();
    for (int round = 0, distance = 1; distance < ranks; ++round, distance *= 2)
    {
        const std::size_t offset = barrier_flags_ + (maxima_ % 2 * rounds_of_maximum + static_cast<std::size_t>(round)) * line;
        Word* const there = at<Word>((me + distance) % ranks, offset);
        HostAtomics::store_relaxed_system(there + 1, value);
        set(there, maxima_);
        Word* const here = at<Word>(me, offset);
        wait(here, maxima_);
        value = std::max(value, HostAtomics::load_relaxed_system(here + 1));
    }
    return value;
}

void OneSidedExchange::before_message(std::size_t clusters)
{
    const auto every = static_cast<Word>(variant_.maximum_every);
    if (every > 0 && epoch_ % every == 0) { maximum(clusters); }
}

void OneSidedExchange::send_coordinates()
{
    ++epoch_;
    const int me = comm_.rank();
    const bool has_barrier = variant_.sync == Sync::Barrier;
    for (std::size_t i = 0; i < messages_.size(); ++i)
    {
        const Message& m = messages_[i];
        before_message(m.clusters);
        if (!has_barrier) { wait(flag(me, m, Flag::XDone), epoch_ - 1); }
        else if (variant_.move != Move::Get) { maximum(0); }
        auto* const to = variant_.move == Move::Get        ? at<Fixed>(me, m.x_slot)
                         : variant_.move == Move::Straight ? at<Fixed>(m.to, x_offset_) + m.first_there * block
                                                           : at<Fixed>(m.to, m.x_slot);
        const std::vector<std::int32_t>& clusters = plan_.messages[i].clusters;
        for (std::size_t k = 0; k < clusters.size(); ++k)
        {
            std::memcpy(to + k * block, x(static_cast<std::size_t>(clusters[k])), block * sizeof(Fixed));
        }
        if (has_barrier && variant_.move == Move::Get) { maximum(0); }
        else
        {
            set(flag(m.to, m, Flag::XSignal), epoch_);
            wait(flag(me, m, Flag::XSignal), epoch_);
        }
        if (variant_.move == Move::Straight) { continue; }
        const auto* const from = at<Fixed>(variant_.move == Move::Get ? m.from : me, m.x_slot);
        std::memcpy(x(m.first), from, m.count * block * sizeof(Fixed));
        if (!has_barrier) { set(flag(m.from, m, Flag::XDone), epoch_); }
    }
}

void OneSidedExchange::add_forces(std::size_t m, const ForceSum* received)
{
    for (const std::int32_t cluster : plan_.messages[m].clusters)
    {
        const auto c = static_cast<std::size_t>(cluster);
        ForceSum* const f = c < plan_.home_clusters ? home_f(c) : halo_f(c - plan_.home_clusters);
        for (std::size_t i = 0; i < block; ++i) { f[i] += received[i]; }
        received += block;
    }
}

void OneSidedExchange::return_forces()
{
    const int me = comm_.rank();
    const bool has_barrier = variant_.sync == Sync::Barrier, gets = variant_.move == Move::Get;
    if (variant_.move == Move::Straight && !has_barrier)
    {
        // The forces are there, and nobody here reads the halo's positions any more.
        for (const Message& m : messages_) { set(flag(m.from, m, Flag::XDone), epoch_); }
    }
    for (std::size_t i = messages_.size(); i-- > 0;)
    {
        const Message& m = messages_[i];
        before_message(m.count);
        if (has_barrier) { maximum(0); }
        else if (!gets) { wait(flag(me, m, Flag::FDone), epoch_ - 1); }
        if (!gets)
        {
            std::memcpy(at<ForceSum>(m.from, m.f_slot), halo_f(m.first - plan_.home_clusters),
                        m.count * block * sizeof(ForceSum));
        }
        if (!gets || !has_barrier)
        {
            set(flag(m.from, m, Flag::FSignal), epoch_);
            wait(flag(me, m, Flag::FSignal), epoch_);
        }
        add_forces(i, gets ? at<ForceSum>(m.to, f_offset_) + m.halo_there * block : at<ForceSum>(me, m.f_slot));
        if (!has_barrier) { set(flag(m.to, m, Flag::FDone), epoch_); }
    }
    if (!gets) { return; }
    // The next step writes to the halo's forces: whoever fetches them is done.
    if (has_barrier) { maximum(0); }
    else
    {
        for (const Message& m : messages_) { wait(flag(me, m, Flag::FDone), epoch_); }
    }
}

} // namespace parhelion
