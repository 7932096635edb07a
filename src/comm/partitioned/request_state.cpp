// SPDX-License-Identifier: Apache-2.0
// The common part of all requests: of sends, receives and members of collectives.
#include "comm/partitioned/engine.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

RequestState::RequestState(PartitionedEngine& engine, Partitioning partitioning, Envelope envelope, RequestName name,
                           std::vector<Partner> partners)
    : engine_(engine), partitioning_(partitioning), envelope_(std::move(envelope)), name_(std::move(name)),
      partners_(std::move(partners))
{
}

RequestState::~RequestState() { engine_.forget(*this); }

void RequestState::hear(int from, const Letter& letter)
{
    const auto partner = std::find_if(partners_.begin(), partners_.end(), [&](const Partner& p) { return p.rank == from; });
    PARHELION_EXPECTS(partner != partners_.end());
    if (letter.kind == Letter::Kind::Parted) { partner->parting = from_bytes<Parting>(letter.body); }
    else if (is_broken()) { return; }
    else if (letter.kind == Letter::Kind::Placed) { place(letter.body); }
    else
    {
        const auto number = static_cast<std::size_t>(partner - partners_.begin());
        partner->has_made = true;
        agree(number, letter.body);
        if (!is_broken() && !partner->parting) { meet(number, letter.body); }
    }
}

int RequestState::missing() const
{
    int missing = engine_.rank();
    for (const Partner& partner : partners_)
    {
        if (partner.has_made) { continue; }
        missing = partner.rank;
        if (engine_.world().has_left(missing)) { break; }
    }
    return missing;
}

void RequestState::look_at_partners()
{
    if (!is_active_ || is_broken()) { return; }
    // Every partner must have sent a letter first: if requests do not match, that may be why a partner has been freed.
    const auto is_heard = [](const Partner& p) { return p.has_made || p.parting; };
    if (!std::all_of(partners_.begin(), partners_.end(), is_heard)) { return; }
    for (const Partner& partner : partners_)
    {
        if (!partner.parting || partner.parting->epochs >= nth_) { continue; }
        return break_off(Misuse::PeerFreed, fmt::format("rank {} has freed its request", partner.rank));
    }
}

std::string RequestState::text() const
{
    const std::string group = envelope_.group.empty() ? "" : fmt::format(", group '{}'", envelope_.group);
    return fmt::format("{}, tag {}{}, epoch {}", name_.text, envelope_.tag, group, nth_);
}

void RequestState::refuse(Misuse misuse, const std::string& why) const
{
    throw PartitionedError(misuse, fmt::format("Partitioned message {}: {}.", text(), why));
}

void RequestState::break_off(Misuse misuse, const std::string& why) noexcept
{
    break_off(std::make_exception_ptr(PartitionedError(misuse, fmt::format("Partitioned message {}: {}.", text(), why))));
}

void RequestState::break_off(std::exception_ptr why) noexcept
{
    broken_ = std::move(why);
    is_broken_.store(true, std::memory_order_release);
}

void RequestState::expect_whole() const
{
    if (is_broken()) { std::rethrow_exception(broken_); }
}

void RequestState::expect_active(const char* call) const
{
    if (is_active_) { return; }
    expect_whole();
    refuse(Misuse::NotActive, fmt::format("{} outside start() and wait()", call));
}

void RequestState::poll()
{
    if (const PartitionedEngine::Turn turn(engine_, std::try_to_lock); turn.is_taken())
    {
        engine_.advance();
        look_at_partners();
    }
    else { engine_.help(); }
    expect_whole();
}

void RequestState::refuse_second_mark(int partition) const
{
    refuse(Misuse::ReadyTwice, fmt::format("partition {} has been marked ready before", partition));
}

void RequestState::check_partition(int partition) const
{
    if (partition >= 0 && partition < partitioning_.partitions) { return; }
    refuse(Misuse::PartitionOutOfRange, fmt::format("there is no partition {} of {}", partition, partitioning_.partitions));
}

void RequestState::start()
{
    expect_whole();
    if (is_active_) { refuse(Misuse::Active, "start() before the last epoch was waited for"); }
    {
        const std::scoped_lock lock(engine_.mutex());
        ++nth_;
        is_active_ = true;
    }
    begin_epoch();
    if (!advance()) { engine_.list(*this); }
}

void RequestState::pbuf_prepare()
{
    expect_active("pbuf_prepare()");
    engine_.wait_until(*this, [&] { return knows_peer(); });
}

bool RequestState::test()
{
    if (!is_active_)
    {
        expect_whole();
        return true;
    }
    engine_.advance();
    if (!is_broken() && is_complete())
    {
        engine_.world().expect_whole(engine_.rank());
        end_epoch();
        return true;
    }
    look_at_partners();
    expect_whole();
    engine_.world().expect_whole(engine_.rank());
    return false;
}

void RequestState::finish()
{
    if (!is_active_) { return expect_whole(); }
    engine_.wait_until(*this, [&] { return is_complete(); });
    end_epoch();
}

void RequestState::end_epoch()
{
    const std::scoped_lock lock(engine_.mutex());
    is_active_ = false;
}

} // namespace parhelion
