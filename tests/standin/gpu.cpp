// SPDX-License-Identifier: Apache-2.0
#include "gpu.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>

namespace standin {

bool Dependency::is_met() const { return on_begin ? operation->has_begun() : operation->is_done; }

bool Operation::is_ready() const
{
    return std::all_of(after.begin(), after.end(), [](const Dependency& d) { return d.is_met(); });
}

namespace {
int asked_for(const char* variable, int otherwise)
{
    const char* const value = std::getenv(variable);
    return value == nullptr ? otherwise : std::atoi(value);
}
} // namespace

Machine& Machine::instance()
{
    // Never destroyed: what ends the program may still free memory.
    static Machine& machine =
        *new Machine(asked_for("PARHELION_STANDIN_GPUS", 2), asked_for("PARHELION_STANDIN_MULTIPROCESSORS", 16));
    return machine;
}

Machine::Machine(int devices, int multiprocessors)
    : multiprocessors_(multiprocessors), load_(static_cast<std::size_t>(devices)),
      patience_(std::chrono::seconds(asked_for("PARHELION_STANDIN_PATIENCE", 30)))
{
}
Machine::~Machine()
{
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
        for (const auto& place : places_) { place->turn.notify_one(); }
    }
    for (const auto& place : places_) { place->thread.join(); }
}

void Machine::set_patience(std::chrono::nanoseconds patience)
{
    const std::lock_guard lock(mutex_);
    patience_ = patience;
}

void Machine::queue(std::shared_ptr<Operation> operation)
{
    const std::lock_guard lock(mutex_);
    if (!failure_.empty())
    {
        operation->is_done = true;
        return;
    }
    pending_.push_back(std::move(operation));
    if (!is_running_)
    {
        looks_in_vain_ = 0;
        hand_on();
    }
}

std::string Machine::wait(const std::vector<Dependency>& for_these)
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
        return !failure_.empty() ||
               std::all_of(for_these.begin(), for_these.end(), [](const Dependency& d) { return d.is_met(); });
    });
    return failure_;
}
std::string Machine::wait_for_all()
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return pending_.empty(); });
    return failure_;
}
void Machine::reset()
{
    wait_for_all();
    const std::lock_guard lock(mutex_);
    failure_.clear();
}
bool Machine::are_met(const std::vector<Dependency>& these, std::string& failure)
{
    const std::lock_guard lock(mutex_);
    failure = failure_;
    return std::all_of(these.begin(), these.end(), [](const Dependency& d) { return d.is_met(); });
}

std::uint64_t Machine::nanoseconds() { return clock_.fetch_add(1, std::memory_order_relaxed); }
std::uint64_t nanoseconds()
{
    poll();
    return Machine::instance().nanoseconds();
}

unsigned multiprocessor()
{
    return (block_index().x + block_index().y) % static_cast<unsigned>(Machine::instance().multiprocessors());
}

// --- under the lock

void Machine::serve(Place& place)
{
    std::unique_lock lock(mutex_);
    for (;;)
    {
        place.turn.wait(lock, [&] { return place.has_turn || is_ending_; });
        if (is_ending_) { return; }
        const bool is_idle = looks_in_vain_ > 1'000; // the core had better go to who brings what is waited for
        lock.unlock();
        if (is_idle) { std::this_thread::sleep_for(std::chrono::microseconds(20)); }
        const Pace pace = place.block.run();
        lock.lock();
        place.has_turn = false;
        after_run(place, pace);
        hand_on();
    }
}

void Machine::after_run(Place& place, Pace pace)
{
    Operation& operation = *place.of;
    if (pace == Pace::Failed)
    {
        drop_all(place.block.failure());
        return;
    }
    if (place.block.has_moved()) { looks_in_vain_ = 0; }
    if (pace == Pace::Polls) { return; }
    Load& load = load_[static_cast<std::size_t>(operation.device)];
    load.blocks -= 1, load.threads -= operation.kernel->thread_count();
    if (++operation.ended == operation.kernel->block_count()) { finish(operation); }
    place.of = nullptr;
}

void Machine::finish(Operation& operation)
{
    operation.is_done = true;
    operation.after.clear(); // else all that ever ran would hang together
    std::erase_if(pending_, [&](const std::shared_ptr<Operation>& o) { return o.get() == &operation; });
    changed_.notify_all();
}

// Gives the turn to the place that runs next, if any.
void Machine::hand_on()
{
    do_host_work();
    Place* const next = next_place();
    is_running_ = next != nullptr;
    if (next == nullptr) { return; }
    next->has_turn = true;
    next->turn.notify_one();
}

void Machine::do_host_work()
{
    for (std::size_t i = 0; i < pending_.size();)
    {
        const std::shared_ptr<Operation> operation = pending_[i];
        const bool is_work = !operation->kernel && operation->is_ready();
        if (is_work)
        {
            if (operation->host) { operation->host(); }
            finish(*operation);
            looks_in_vain_ = 0;
        }
        i = is_work ? 0 : i + 1; // what waited for it may be before others
    }
}

// A block that has not begun, if there is room for one; else those that have, in turns.
Machine::Place* Machine::next_place()
{
    if (Place* const begins = begin_a_block()) { return begins; }
    for (std::size_t i = 0; i < places_.size(); ++i)
    {
        Place& place = *places_[next_++ % places_.size()];
        if (!place.of) { continue; }
        note_look_in_vain();
        return place.of ? &place : nullptr;
    }
    return nullptr;
}

Machine::Place* Machine::begin_a_block()
{
    for (std::size_t i = 0; i < pending_.size(); ++i)
    {
        const std::shared_ptr<Operation>& operation = pending_[next_operation_++ % pending_.size()];
        if (!operation->kernel || operation->has_begun() || !operation->is_ready() || !has_room(*operation)) { continue; }
        Place& place = free_place();
        place.of = operation;
        Load& load = load_[static_cast<std::size_t>(operation->device)];
        load.blocks += 1, load.threads += operation->kernel->thread_count();
        place.block.begin(operation->kernel, operation->begun++);
        looks_in_vain_ = 0;
        changed_.notify_all(); // who waits for the begin
        return &place;
    }
    return nullptr;
}

Machine::Place& Machine::free_place()
{
    for (const auto& place : places_)
    {
        if (!place->of) { return *place; }
    }
    Place& place = *places_.emplace_back(std::make_unique<Place>());
    place.thread = std::thread([this, &place] { serve(place); });
    return place;
}

bool Machine::has_room(const Operation& operation) const
{
    const Load& load = load_[static_cast<std::size_t>(operation.device)];
    return load.blocks < multiprocessors_ * blocks_of_multiprocessor &&
           load.threads + operation.kernel->thread_count() <= multiprocessors_ * threads_of_multiprocessor;
}

// All that is left is to look again at what others may do. The clock of kernels goes on only now.
void Machine::note_look_in_vain()
{
    const auto now = std::chrono::steady_clock::now();
    if (looks_in_vain_++ == 0) { last_progress_ = last_look_ = now; }
    clock_.fetch_add(static_cast<std::uint64_t>((now - std::exchange(last_look_, now)).count()), std::memory_order_relaxed);
    constexpr std::int64_t at_least = 1'000; // also where the whole process was stopped
    if (looks_in_vain_ > at_least && now - last_progress_ > patience_) { drop_all(account()); }
}

std::string Machine::account() const
{
    std::string text = "blocks wait for what does not happen:";
    std::map<std::pair<const Operation*, std::string>, std::vector<const Block*>> alike; // blocks whose threads wait for the same
    for (const auto& place : places_)
    {
        if (place->of) { alike[{place->of.get(), place->block.waits()}].push_back(&place->block); }
    }
    for (const auto& [waits, blocks] : alike)
    {
        const std::size_t others = blocks.size() - 1;
        text += "\n  " + blocks[0]->name() + (others > 0 ? " and " + std::to_string(others) + " others" : "") + waits.second;
    }
    for (const auto& operation : pending_)
    {
        if (!operation->kernel || operation->has_begun()) { continue; }
        const char* const why = operation->is_ready() ? " blocks have begun, for others there is no room"
                                                      : " blocks have begun: it waits for what was queued before";
        text += "\n  " + name_of(operation->kernel->function) + ": " + std::to_string(operation->begun) + " of " +
                std::to_string(operation->kernel->block_count()) + why;
    }
    return text;
}

void Machine::drop_all(std::string why)
{
    failure_ = std::move(why);
    for (const auto& operation : pending_)
    {
        operation->is_done = true;
        operation->after.clear();
    }
    pending_.clear();
    for (const auto& place : places_) { place->of = nullptr; }
    load_.assign(load_.size(), {});
    changed_.notify_all();
}

} // namespace standin
