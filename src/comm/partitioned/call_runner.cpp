// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/call_runner.hpp"

#include "comm/core/copy_to_peer.hpp"
#include "comm/partitioned/reduction_cpu.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <numeric>

namespace parhelion {

namespace {

constexpr std::size_t header_grain = 64; // bytes; the data after a header is aligned to this

// Returns the FNV-1a hash of a name, which is the same on every host.
std::uint64_t hash_of(const std::string& name)
{
    std::uint64_t hash = 0xCBF29CE484222325;
    for (const char c : name) { hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3; }
    return hash;
}

std::string list_of(const std::vector<int>& ranks)
{
    std::string list;
    for (const int rank : ranks) { list += fmt::format(" {}", rank); }
    return list;
}

std::size_t header_bytes(std::size_t counts)
{
    return (sizeof(CallTerms) + counts * sizeof(std::uint64_t) + header_grain - 1) / header_grain * header_grain;
}

} // namespace

CallRunner::CallRunner(PartitionedEngine& engine, std::vector<int> members, const std::string& group)
    : engine_(engine), members_(std::move(members)), group_(hash_of(group))
{
    const int ranks = engine.world().ranks();
    if (members_.empty())
    {
        members_.resize(static_cast<std::size_t>(ranks));
        std::iota(members_.begin(), members_.end(), 0);
    }
    const auto expect = [](bool is_right, const char* why) {
        if (!is_right) { throw PartitionedError(Misuse::BadArgument, fmt::format("Collective calls: {}.", why)); }
    };
    std::vector<int> sorted = members_;
    std::sort(sorted.begin(), sorted.end());
    expect(sorted.front() >= 0 && sorted.back() < ranks, "there is no such rank among the members");
    expect(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), "a rank is a member twice");
    const auto found = std::find(members_.begin(), members_.end(), engine.rank());
    expect(found != members_.end(), "this rank is no member");
    expect(header_bytes(2 * members_.size()) + header_grain <= CallPeer::capacity, "they are for 4000 members at most");
    place_ = static_cast<int>(found - members_.begin());
}

CallPlan& CallRunner::plan(const CallTerms& terms)
{
    plan_.terms = terms;
    plan_.terms.group = group_;
    plan_.counts.clear();
    rounds_ = 0;
    return plan_;
}

Round& CallRunner::add_round()
{
    if (plan_.rounds.size() == rounds_) { plan_.rounds.emplace_back(); }
    Round& round = plan_.rounds[rounds_++];
    round.clear(members());
    return round;
}

template <class Act>
void CallRunner::for_peers(Act&& act)
{
    for (std::size_t m = 0; m < peers_.size(); ++m)
    {
        if (peers_[m] != nullptr) { act(*peers_[m], m); }
    }
}

void CallRunner::run()
{
    engine_.world().expect_whole(engine_.rank()); // throws after a failure, also if this call would not have to wait
    if (peers_.empty()) { open_channels(); }
    if (rounds_ == 0) { add_round(); } // all members meet in the first round
    write_header();
    for_peers([](CallPeer& peer, std::size_t) { peer.begin_call(); });
    meet();
    expect_agreement();
    for (std::size_t r = 0; r < rounds_; ++r)
    {
        run_round(plan_.rounds[r]);
        for_peers([](CallPeer& peer, std::size_t) { peer.end_round(); });
    }
}

void CallRunner::open_channels()
{
    std::vector<CallPeer*> opened;
    for (const int member : members_) { opened.push_back(member == engine_.rank() ? nullptr : &engine_.call_peer(member)); }
    peers_ = std::move(opened);
}

// --- terms that members send to each other

void CallRunner::write_header()
{
    header_.assign(header_bytes(plan_.counts.size()), std::byte{0});
    std::memcpy(header_.data(), &plan_.terms, sizeof plan_.terms);
    if (plan_.counts.empty()) { return; }
    std::memcpy(header_.data() + sizeof plan_.terms, plan_.counts.data(), plan_.counts.size() * sizeof(std::uint64_t));
}

void CallRunner::meet()
{
    const Round& round = plan_.rounds.front();
    const auto advance = [&] {
        Moved moved;
        for_peers([&](CallPeer& peer, std::size_t m) {
            if (!peer.is_told && send(peer, round.sends[m])) { moved.has_moved = true; }
            if (!peer.held && peer.look()) { moved.has_moved = true; }
            moved.is_done = moved.is_done && peer.is_told && peer.held;
        });
        return moved;
    };
    wait_until(advance, [&] {
        Missing missing{0, true};
        for_peers([&](CallPeer& peer, std::size_t m) {
            if (!peer.is_told || !peer.held) { missing = {m, !peer.held}; }
        });
        return missing;
    });
}

CallTerms CallRunner::terms_of(std::size_t place)
{
    if (peers_[place] == nullptr) { return plan_.terms; }
    CallTerms terms;
    std::memcpy(&terms, peer(place).held->data, sizeof terms);
    return terms;
}

std::uint64_t CallRunner::count_of(std::size_t place, std::size_t index)
{
    if (peers_[place] == nullptr) { return plan_.counts[index]; }
    std::uint64_t count;
    std::memcpy(&count, peer(place).held->data + sizeof(CallTerms) + index * sizeof count, sizeof count);
    return count;
}

std::string CallRunner::text_of(std::size_t place)
{
    const CallTerms terms = terms_of(place);
    return terms.text() + (terms.group == group_ ? "" : " in another group");
}

// Compares the terms of all members. Every member has all of them, so all members come to the same result.
void CallRunner::expect_agreement()
{
    const std::size_t n = members_.size();
    for (std::size_t m = 1; m < n; ++m)
    {
        if (terms_of(m) == terms_of(0)) { continue; }
        refuse(fmt::format("members ask for different things: rank {} for {}, rank {} for {}", members_[0], text_of(0),
                           members_[m], text_of(m)));
    }
    for (std::size_t i = 0; i < n * n && !plan_.counts.empty(); ++i)
    {
        const std::size_t from = i / n, to = i % n;
        const std::uint64_t sent = count_of(from, to), taken = count_of(to, n + from);
        if (sent == taken) { continue; }
        refuse(fmt::format("{}: rank {} has {} elements for rank {}, which takes {} from it", plan_.terms.text(), members_[from],
                           sent, members_[to], taken));
    }
    for_peers([&](CallPeer& peer, std::size_t) { peer.header = header_.size(); });
}

void CallRunner::refuse(const std::string& why)
{
    for_peers([](CallPeer& peer, std::size_t) { peer.release(); });
    throw PartitionedError(Misuse::BadArgument, fmt::format("Collective call over ranks{}: {}.", list_of(members_), why));
}

// --- a round

void CallRunner::run_round(const Round& round)
{
    const auto own = static_cast<std::size_t>(place_);
    if (round.takes[own].bytes > 0 && round.takes[own].data != nullptr && round.takes[own].data != round.sends[own].data)
    {
        std::memmove(round.takes[own].data, round.sends[own].data, round.takes[own].bytes);
    }
    combined_ = 0;
    const auto advance = [&] {
        Moved moved;
        for_peers([&](CallPeer& peer, std::size_t m) {
            if (peer.sent < round.sends[m].bytes && send(peer, round.sends[m])) { moved.has_moved = true; }
            const bool is_term = round.takes[m].bytes > 0 && round.takes[m].data == nullptr;
            if (!is_term && take(peer, round.takes[m])) { moved.has_moved = true; }
        });
        if (combined_ < round.result_bytes && combine(round)) { moved.has_moved = true; }
        moved.is_done = combined_ == round.result_bytes;
        for_peers([&](CallPeer& peer, std::size_t m) {
            moved.is_done =
                moved.is_done && peer.sent == round.sends[m].bytes && peer.taken == round.takes[m].bytes && !peer.held;
        });
        return moved;
    };
    wait_until(advance, [&] {
        Missing missing{0, true};
        for_peers([&](CallPeer& peer, std::size_t m) {
            const bool lacks_message = peer.taken < round.takes[m].bytes && !peer.held;
            if (lacks_message || peer.sent < round.sends[m].bytes) { missing = {m, lacks_message}; }
        });
        return missing;
    });
}

bool CallRunner::send(CallPeer& peer, const Round::Source& source)
{
    if (!peer.channels.send.is_ready()) { return false; }
    const std::size_t header = peer.is_told ? 0 : header_.size();
    const std::size_t bytes = std::min(CallPeer::capacity - header, source.bytes - peer.sent);
    std::byte* const slot = peer.channels.send.begin(header + bytes);
    if (header > 0) { std::memcpy(slot, header_.data(), header); }
    copy_to_peer(slot + header, source.data + peer.sent, bytes, bytes);
    peer.channels.send.publish(header + bytes);
    peer.sent += bytes;
    peer.is_told = true;
    return true;
}

bool CallRunner::take(CallPeer& peer, const Round::Target& target)
{
    const bool is_awaited = peer.held || peer.taken < target.bytes;
    if (!is_awaited || !peer.look()) { return false; }
    const std::size_t bytes = peer.bytes();
    PARHELION_EXPECTS(bytes <= target.bytes - peer.taken); // expect_agreement() has checked the sizes
    if (bytes > 0) { std::memcpy(target.data + peer.taken, peer.data(), bytes); }
    peer.taken += bytes;
    peer.release();
    return true;
}

// Combines the next chunk if all its terms have arrived and the data that its result overwrites has been sent.
bool CallRunner::combine(const Round& round)
{
    std::size_t bytes = round.result_bytes - combined_;
    bool is_there = true;
    for (const int term : round.terms)
    {
        if (term == place_) { continue; }
        CallPeer& of = *peers_[static_cast<std::size_t>(term)];
        is_there = of.look() && is_there;
        if (is_there) { bytes = std::min(bytes, of.bytes()); }
    }
    if (!is_there) { return false; }
    const std::size_t end = combined_ + bytes;
    for_peers([&](CallPeer& peer, std::size_t m) { is_there = is_there && peer.sent >= std::min(end, round.sends[m].bytes); });
    if (!is_there) { return false; }
    terms_.clear();
    for (const int term : round.terms)
    {
        const auto m = static_cast<std::size_t>(term);
        terms_.push_back(term == place_ ? round.sends[m].data + combined_ : peers_[m]->data());
    }
    std::byte* const out = round.result + combined_;
    const ElementType type = plan_.terms.type;
    combine_on_cpu(type, plan_.terms.reduction, terms_.data(), static_cast<int>(terms_.size()), &out, 1, bytes / bytes_of(type));
    combined_ = end;
    for (const int term : round.terms)
    {
        if (term == place_) { continue; }
        CallPeer& of = *peers_[static_cast<std::size_t>(term)];
        of.taken += bytes;
        of.release();
    }
    return true;
}

// --- waiting

template <class Advance, class WhatIsMissing>
void CallRunner::wait_until(Advance&& advance, WhatIsMissing&& what_is_missing)
{
    constexpr unsigned polls_per_advance = 16, polls_per_look = 256;
    Patience<HostAtomics> patience(engine_.watch());
    bool has_expired = false, is_last_look = false;
    for (unsigned polls = 1;; ++polls)
    {
        const Moved moved = advance();
        if (moved.is_done) { return; }
        if (moved.has_moved)
        {
            patience.restart();
            has_expired = is_last_look = false;
            continue;
        }
        if (is_last_look) { give_up(what_is_missing(), has_expired); }
        const Verdict verdict = patience.next();
        if (verdict == Verdict::Aborted) { engine_.world().throw_failure(engine_.rank(), verdict); }
        if (polls % polls_per_advance == 0) { engine_.advance(); }
        // One more look follows: it finds all that a rank has sent before it ended.
        has_expired = verdict == Verdict::Expired;
        is_last_look = has_expired || (polls % polls_per_look == 0 && engine_.is_lost(record_of(what_is_missing())));
    }
}

FailureRecord CallRunner::record_of(const Missing& missing) const
{
    const ChannelPair& channels = peers_[missing.place]->channels;
    return missing.is_message ? channels.receive.core().record(engine_.watch()) : channels.send.record(engine_.watch());
}

void CallRunner::give_up(const Missing& missing, bool has_expired)
{
    const double deadline = static_cast<double>(engine_.watch().deadline_ns) * 1e-9;
    const std::string waits = has_expired ? fmt::format("timed out after {:g} s waiting", deadline) : "waits";
    const std::string why = fmt::format("Rank {} {} for rank {}: {} over ranks{}.", engine_.rank(), waits,
                                        members_[missing.place], plan_.terms.text(), list_of(members_));
    engine_.world().throw_failure(engine_.rank(), fail<HostAtomics>(engine_.watch(), record_of(missing)), why);
}

} // namespace parhelion
