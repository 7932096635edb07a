// SPDX-License-Identifier: Apache-2.0
#include "comm/partitioned/engine.hpp"

#include "comm/core/failures.hpp"

#include <algorithm>
#include <exception>
#include <fmt/format.h>

namespace parhelion {

PartitionedEngine::PartitionedEngine(World& world, int rank)
    : world_(world), rank_(rank), post_(world.bootstrap(), rank), signals_(world.memory(), rank)
{
}

// --- names

Word PartitionedEngine::number(const std::string& envelope) const
{
    const auto made = made_.find(envelope);
    return made != made_.end() ? made->second : 0;
}

RequestName PartitionedEngine::name_of_message(const Envelope& envelope, bool is_send) const
{
    const int source = is_send ? rank_ : envelope.peer, destination = is_send ? envelope.peer : rank_;
    const std::string both = fmt::format("{} {} {} {}", source, destination, envelope.tag, envelope.group);
    std::string here = (is_send ? "send " : "receive ") + both, there = (is_send ? "receive " : "send ") + both;
    const Word nth = number(here);
    return {fmt::format("from rank {} to rank {}", source, destination), {std::move(here), nth}, std::move(there)};
}

// Collectives of the same members match by their number only, whatever their kind, so that calls in different order are noticed.
RequestName PartitionedEngine::name_of_collective(const std::string& members) const
{
    const std::string both = "collective of" + members;
    return {"", {both, number(both)}, both};
}

// --- letters

void PartitionedEngine::introduce(RequestState& state)
{
    const RequestAddress& here = state.name().here;
    const std::string key = here.text();
    const std::scoped_lock lock(mutex_);
    living_.emplace(key, &state);
    made_[here.envelope] = here.number + 1;
    for (std::size_t p = 0; p < state.partners().size(); ++p)
    {
        answer(state, state.partners()[p].rank, Letter::Kind::Made, state.introduction(p));
    }
    const auto early = early_.extract(key);
    if (early.empty()) { return; }
    for (Early& said : early.mapped())
    {
        // The letter that the partner's request is freed is handled first: its introduction, even if it matches, is then useless.
        if (said.parting) { state.hear(said.from, {Letter::Kind::Parted, here, bytes_of(*said.parting)}); }
        state.hear(said.from, {Letter::Kind::Made, here, std::move(said.introduction)});
    }
}

void PartitionedEngine::answer(const RequestState& state, int partner, Letter::Kind kind, Bytes body)
{
    post_.send(partner, {kind, {state.name().envelope_there, state.name().here.number}, std::move(body)});
}

void PartitionedEngine::read_letters()
{
    while (const std::optional<Post::Received> received = post_.receive()) { hear(received->from, received->letter); }
}

void PartitionedEngine::hear(int from, const Letter& letter)
{
    const std::string key = letter.to.text();
    if (const auto living = living_.find(key); living != living_.end()) { return living->second->hear(from, letter); }
    const auto retired = retired_.find(key);
    if (retired == retired_.end()) { return hear_of_unknown(from, letter); }
    if (letter.kind == Letter::Kind::Made) { say_parted(from, letter.to, retired->second.parting); }
    if (letter.kind != Letter::Kind::Parted) { return; }
    std::vector<Partner>& partners = retired->second.partners;
    for (Partner& partner : partners)
    {
        if (partner.rank == from) { partner.parting = from_bytes<Parting>(letter.body); }
    }
    if (std::any_of(partners.begin(), partners.end(), [](const Partner& p) { return !p.parting; })) { return; }
    settle(std::move(retired->second));
    retired_.erase(retired);
}

// Handles a letter to a request that has not been made here yet, or that has been freed and forgotten.
void PartitionedEngine::hear_of_unknown(int from, const Letter& letter)
{
    if (letter.kind == Letter::Kind::Made && letter.to.number < number(letter.to.envelope))
    {
        return say_parted(from, letter.to, {});
    }
    const std::string key = letter.to.text();
    if (letter.kind == Letter::Kind::Made)
    {
        early_[key].push_back({from, letter.body});
        return;
    }
    const auto early = early_.find(key);
    if (letter.kind != Letter::Kind::Parted || early == early_.end()) { return; }
    for (Early& said : early->second)
    {
        if (said.from != from) { continue; }
        said.parting = from_bytes<Parting>(letter.body);
        say_parted(from, letter.to, {}); // this rank will never use the introduction's slots
        parted_early_.push_back(key);
        forget_oldest_parted();
        return;
    }
}

// Tells the other side that the request `here` is freed. The addresses of the two sides differ only in the first word.
void PartitionedEngine::say_parted(int to, const RequestAddress& here, const Parting& parting)
{
    const std::size_t word = here.envelope.find(' ');
    const std::string first = here.envelope.substr(0, word);
    const std::string there = first == "send" ? "receive" : first == "receive" ? "send" : first;
    post_.send(to, {Letter::Kind::Parted, {there + here.envelope.substr(word), here.number}, bytes_of(parting)});
}

// Bounds the number of remembered requests that others have made and freed but this rank has not made. A request that this rank
// makes later may be checked against them.
void PartitionedEngine::forget_oldest_parted()
{
    constexpr std::size_t most_kept = 1024;
    if (parted_early_.size() <= most_kept) { return; }
    if (const auto early = early_.find(parted_early_.front()); early != early_.end())
    {
        std::erase_if(early->second, [](const Early& said) { return said.parting.has_value(); });
        if (early->second.empty()) { early_.erase(early); }
    }
    parted_early_.pop_front();
}

// --- what freed requests hold

void PartitionedEngine::part(const RequestState& state, const Parting& parting, GiveBack give_back)
{
    const std::string key = state.name().here.text();
    living_.erase(key);
    // If the rank's program ends or is unwound, other ranks learn of that and the reason, so they need no letters.
    if (is_leaving_ || std::uncaught_exceptions() > 0) { return; }
    Retired retired{state.partners(), parting, std::move(give_back)};
    bool is_awaited = false;
    for (Partner& partner : retired.partners)
    {
        const RequestAddress there{state.name().envelope_there, state.name().here.number};
        if (post_.take_back(partner.rank, Letter::Kind::Made, there)) { partner.parting = Parting{}; }
        else { post_.send(partner.rank, {Letter::Kind::Parted, there, bytes_of(parting)}); }
        is_awaited = is_awaited || !partner.parting;
    }
    if (!retired.give_back) { return; }
    if (is_awaited) { retired_.emplace(key, std::move(retired)); }
    else { settle(std::move(retired)); }
}

void PartitionedEngine::settle(Retired&& retired)
{
    if (!retired.give_back(retired.partners)) { settling_.push_back(std::move(retired)); }
}

void PartitionedEngine::settle_rest()
{
    std::erase_if(settling_, [](const Retired& retired) { return retired.give_back(retired.partners); });
}

Window PartitionedEngine::allocate(std::size_t bytes)
{
    try
    {
        return world_.memory().allocate(rank_, bytes);
    }
    catch (const MemoryFull&)
    {
        advance(); // reads letters, as partners may have freed their requests meanwhile
        settle_rest();
    }
    return world_.memory().allocate(rank_, bytes);
}

// --- advancing requests

void PartitionedEngine::list(RequestState& state)
{
    const std::scoped_lock lock(mutex_);
    list_locked(state);
}

void PartitionedEngine::list_locked(RequestState& state)
{
    if (!std::exchange(state.is_listed, true)) { listed_.push_back(&state); }
}

void PartitionedEngine::forget(RequestState& state)
{
    const std::scoped_lock lock(mutex_);
    if (state.is_listed) { std::erase(listed_, &state); }
}

void PartitionedEngine::advance()
{
    world_.transport().progress();
    const std::scoped_lock lock(mutex_);
    read_letters();
    if (!settling_.empty()) { settle_rest(); }
    std::erase_if(listed_, [](RequestState* state) {
        state->is_listed = !state->advance();
        return !state->is_listed;
    });
}

void PartitionedEngine::help()
{
    world_.transport().progress();
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) { return; } // another thread has the lock and does the work
    for (RequestState* const state : listed_) { state->help(); }
}

// --- waiting

CallPeer& PartitionedEngine::call_peer(int rank)
{
    if (const auto known = call_peers_.find(rank); known != call_peers_.end()) { return known->second; }
    if (const auto reserved = reserved_for_calls_.extract(rank))
    {
        world_.memory().release(rank_, reserved.mapped().slots);
        const bool is_staged = world_.transport().reach_payload(rank_, rank, 0) == nullptr;
        if (is_staged) { world_.memory().release(rank_, reserved.mapped().staging); }
    }
    const std::string label = "collective calls";
    const ChannelOptions options{CallPeer::depth, Credits::Yes, CallPeer::capacity};
    ReceiveChannel receive = world_.open_receive(label, rank, rank_, options); // first, as memory may be full
    return call_peers_.emplace(rank, CallPeer{{world_.open_send(label, rank_, rank, options), std::move(receive)}}).first->second;
}

void PartitionedEngine::reserve_call_peers()
{
    for (int rank = 0; rank < world_.ranks(); ++rank)
    {
        if (rank == rank_) { continue; }
        const Window slots = allocate(CallPeer::slot_bytes);
        reserved_for_calls_[rank] = {slots, allocate(CallPeer::slot_bytes)};
    }
}

bool PartitionedEngine::is_lost(const FailureRecord& record) const
{
    if (record.peer == rank_ || record.awaited == Awaited::Ready || !world_.has_left(record.peer)) { return false; }
    // All that the lost peer has sent is here only if the peer itself stores into this memory and posts letters. Otherwise
    // messages may still arrive, and the wait goes on until the deadline.
    const RankRange here = world_.here();
    const bool is_here = record.peer >= here.first && record.peer < here.first + here.count;
    const bool are_letters_here = is_here || record.awaited != Awaited::Opening;
    return are_letters_here && world_.transport().reach_signal(record.peer, rank_, 0) != nullptr;
}

void PartitionedEngine::give_up(RequestState& state, bool has_expired)
{
    const std::string waits =
        has_expired ? fmt::format("timed out after {:g} s waiting", static_cast<double>(watch().deadline_ns) * 1e-9) : "waits";
    const std::string why = has_expired ? "" : ", and who would bring it has left";
    const std::string lacks = state.lacks();
    const Verdict verdict = fail<HostAtomics>(watch(), state.record(watch()));
    world_.throw_failure(rank_, verdict,
                         fmt::format("Rank {} {} for {}{}: partitioned message {}.", rank_, waits, lacks, why, state.text()));
}

void PartitionedEngine::wait_until(RequestState& state, const std::function<bool()>& done)
{
    constexpr unsigned polls_per_look = 256;
    world_.expect_whole(rank_); // after a failure even ranks that need not wait must fail
    Patience<HostAtomics> patience(watch());
    bool has_expired = false, is_last_look = false;
    for (unsigned polls = 1;; ++polls)
    {
        advance();
        state.expect_whole();
        if (done()) { return; }
        state.look_at_partners();
        if (state.is_broken()) { continue; }
        if (is_last_look) { give_up(state, has_expired); }
        const Verdict verdict = patience.next();
        if (verdict == Verdict::Aborted) { world_.throw_failure(rank_, verdict); }
        // Messages that a lost rank sent before it left are visible at the next look, so that look is the last.
        has_expired = verdict == Verdict::Expired;
        is_last_look = has_expired || (polls % polls_per_look == 0 && is_lost(state.record(watch())));
    }
}

} // namespace parhelion
