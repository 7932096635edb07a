// SPDX-License-Identifier: Apache-2.0
#include "block.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <pthread.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace standin {

namespace context = boost::context::detail;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t stack_bytes = 256 * 1024; // every local variable has a zone around it
#else
constexpr std::size_t stack_bytes = 64 * 1024;
#endif
constexpr std::size_t page = 4096;

thread_local Thread* running = nullptr; // in this host thread

// The address sanitizer follows stacks only if told of every switch.
void leave_for([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* bottom, [[maybe_unused]] std::size_t bytes)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
#endif
}
void leave_for_home([[maybe_unused]] void** fake_stack) // the host thread's own stack
{
#if defined(__SANITIZE_ADDRESS__)
    struct Own
    {
        void* bottom;
        std::size_t bytes;
        Own()
        {
            pthread_attr_t attributes;
            pthread_getattr_np(pthread_self(), &attributes);
            pthread_attr_getstack(&attributes, &bottom, &bytes);
            pthread_attr_destroy(&attributes);
        }
    };
    thread_local const Own own;
    leave_for(fake_stack, own.bottom, own.bytes);
#endif
}
void arrived([[maybe_unused]] void* fake_stack)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

// Who jumps tells where its context is to be kept: whoever runs next puts it there.
void keep(context::transfer_t from) { *static_cast<context::fcontext_t*>(from.data) = from.fctx; }

void forget([[maybe_unused]] const void* bottom, [[maybe_unused]] std::size_t bytes)
{
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(bottom, bytes);
#endif
}

const char* name_of(BlockMeeting how)
{
    constexpr std::array names{"__syncthreads()", "__syncthreads_or()", "__syncthreads_and()", "__syncthreads_count()"};
    return names[static_cast<std::size_t>(how)];
}

} // namespace

const std::size_t Stacks::bytes = stack_bytes;

Stacks::Stacks()
{
    const std::size_t all = page + 32 * bytes;
    void* const memory = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) { throw std::bad_alloc(); }
    mprotect(memory, page, PROT_NONE);
    bottom_ = static_cast<char*>(memory) + page;
}
Stacks::~Stacks()
{
    for (int lane = 0; lane < 32; ++lane) { forget(bottom(lane), bytes); }
    munmap(bottom_ - page, page + 32 * bytes);
}
void* Stacks::top(int lane) const
{
    constexpr std::size_t line = 64;
    return bottom_ + (static_cast<std::size_t>(lane) + 1) * bytes - static_cast<std::size_t>(lane) * 2 * line;
}

void Block::begin(std::shared_ptr<const Kernel> kernel, int number)
{
    kernel_ = std::move(kernel);
    number_ = number;
    const auto n = static_cast<unsigned>(number);
    const Index grid = kernel_->blocks, size = kernel_->threads;
    index_ = {n % grid.x, n / grid.x % grid.y, n / grid.x / grid.y};
    count_ = alive_ = kernel_->thread_count();
    arrived_ = votes_ = 0;
    failure_.clear();
    if (static_cast<int>(threads_.size()) < count_) { threads_.resize(static_cast<std::size_t>(count_)); }
    while (static_cast<int>(stacks_.size()) * 32 < count_) { stacks_.push_back(std::make_unique<Stacks>()); }
    warps_.assign(static_cast<std::size_t>(count_ + 31) / 32, Warp{});
    for (int t = 0; t < count_; ++t)
    {
        Thread& thread = threads_[static_cast<std::size_t>(t)];
        const auto u = static_cast<unsigned>(t);
        thread.number = t;
        thread.index = {u % size.x, u / size.x % size.y, u / size.x / size.y};
        thread.block = this;
        thread.warp = &warps_[static_cast<std::size_t>(t / 32)];
        thread.lane = t % 32;
        thread.stacks = stacks_[static_cast<std::size_t>(t / 32)].get();
        thread.warp->alive |= 1u << thread.lane;
        void* const top = thread.stacks->top(thread.lane);
        if (thread.state != State::Done) { forget(thread.stack(), stack_bytes); } // left as it was when a block failed
        // A thread that ends never leaves enter() and what enter() calls: the zones around their variables would stay.
        else { forget(static_cast<const char*>(top) - 2 * page, 2 * page); }
        thread.state = State::Ready;
        thread.fiber = context::make_fcontext(top, stack_bytes - page, enter);
        thread.fake_stack = nullptr;
    }
    // Of the size that was asked for, so that the address sanitizer sees what is beyond.
    void* memory = nullptr;
    if (posix_memalign(&memory, 128, std::max<std::size_t>(kernel_->shared_bytes, 1)) != 0) { throw std::bad_alloc(); }
    std::memset(memory, 0xff, kernel_->shared_bytes);
    dynamic_ = {static_cast<std::uint64_t*>(memory), std::free};
}

Pace Block::run()
{
    has_moved_ = false;
    for (;;)
    {
        if (Thread* const first = next_ready(0))
        {
            resume(*first);
            if (!failure_.empty()) { return Pace::Failed; }
            continue;
        }
        if (alive_ == 0) { return Pace::Done; }
        bool polls = false;
        for (int t = 0; t < count_; ++t)
        {
            Thread& thread = threads_[static_cast<std::size_t>(t)];
            if (thread.state != State::Polls) { continue; }
            thread.state = State::Ready;
            polls = true;
        }
        if (polls) { return Pace::Polls; }
        failure_ = name() + waits() + ": no thread can go on (a barrier or a warp operation that not all threads reach)";
        return Pace::Failed;
    }
}

std::string Block::name() const
{
    return name_of(kernel_->function) + ", block " + std::to_string(number_ + 1) + " of " +
           std::to_string(kernel_->block_count());
}

std::string Block::waits() const
{
    std::map<std::string, int> counts;
    for (int t = 0; t < count_; ++t)
    {
        const Thread& thread = threads_[static_cast<std::size_t>(t)];
        const Lane& lane = thread.warp->lanes[thread.lane];
        std::string what;
        if (thread.state == State::Done) { what = "ended"; }
        else if (thread.state != State::Meets) { what = "wait for another block or the host"; }
        else { what = std::string("wait at ") + (lane.operation != nullptr ? lane.operation->name : name_of(meeting_)); }
        ++counts[what];
    }
    std::string text = ", threads: ";
    const char* separator = "";
    for (const auto& [what, count] : counts)
    {
        text += separator + std::to_string(count) + " " + what;
        separator = ", ";
    }
    return text;
}

void Block::enter(context::transfer_t from)
{
    keep(from);
    Thread& me = *running;
    Block& block = *me.block;
    arrived(nullptr);
    block.kernel_->body();
    block.leave(me);
}

Thread* Block::next_ready(int number)
{
    for (; number < count_; ++number)
    {
        Thread* const thread = &threads_[static_cast<std::size_t>(number)];
        if (thread->state == State::Ready) { return thread; }
    }
    return nullptr;
}

void Block::resume(Thread& thread)
{
    running = &thread;
    leave_for(&home_fake_stack_, thread.stack(), stack_bytes);
    keep(context::jump_fcontext(thread.fiber, &home_));
    arrived(home_fake_stack_);
    running = nullptr;
}

void Block::give_up(Thread& thread) { switch_to(next_ready(thread.number + 1), thread, &thread.fake_stack); }

void Block::switch_to(Thread* next, Thread& thread, void** fake_stack)
{
    if (next == nullptr) { leave_for_home(fake_stack); }
    else { leave_for(fake_stack, next->stack(), stack_bytes); }
    running = next;
    keep(context::jump_fcontext(next == nullptr ? home_ : next->fiber, &thread.fiber));
    arrived(thread.fake_stack);
}

void Block::leave(Thread& thread)
{
    thread.state = State::Done;
    has_moved_ = true;
    --alive_;
    thread.warp->alive &= ~(1u << thread.lane);
    settle();
    for (int l = 0; l < 32; ++l)
    {
        if ((thread.warp->waiting >> l & 1) != 0) { settle(*thread.warp, l); }
    }
    switch_to(next_ready(thread.number + 1), thread, nullptr);
    std::abort(); // nobody resumes a thread that has ended
}

void Block::fail(Thread& thread, std::string problem)
{
    failure_ = name() + ": " + problem;
    std::string().swap(problem); // this stack is never unwound
    for (;;) { switch_to(nullptr, thread, &thread.fake_stack); }
}

int Block::meet(BlockMeeting how, bool vote)
{
    Thread& me = *running;
    if (arrived_ > 0 && meeting_ != how)
    {
        fail(me, std::string("a thread comes to ") + name_of(how) + " while others wait at " + name_of(meeting_));
    }
    meeting_ = how;
    ++arrived_;
    votes_ += vote ? 1 : 0;
    me.state = State::Meets;
    settle();
    while (me.state == State::Meets) { give_up(me); }
    return outcome_; // the next meeting cannot end before this thread has come
}

void Block::settle()
{
    if (arrived_ == 0 || arrived_ < alive_) { return; }
    switch (meeting_)
    {
    case BlockMeeting::Barrier:
        outcome_ = 0;
        break;
    case BlockMeeting::Or:
        outcome_ = votes_ > 0 ? 1 : 0;
        break;
    case BlockMeeting::And:
        outcome_ = votes_ == arrived_ ? 1 : 0;
        break;
    case BlockMeeting::Count:
        outcome_ = votes_;
        break;
    }
    arrived_ = votes_ = 0;
    has_moved_ = true;
    for (int t = 0; t < count_; ++t)
    {
        Thread& thread = threads_[static_cast<std::size_t>(t)];
        if (thread.state == State::Meets) { thread.state = State::Ready; }
    }
}

std::uint64_t Block::meet(Thread& me, const WarpOperation& operation, std::uint32_t mask, std::uint64_t value, int from)
{
    if ((mask >> me.lane & 1) == 0)
    {
        fail(me, std::string(operation.name) + " by lane " + std::to_string(me.lane) + ", which its mask leaves out");
    }
    Lane& lane = me.warp->lanes[me.lane];
    lane = {value, 0, from, &operation, mask};
    me.state = State::Meets;
    me.warp->waiting |= 1u << me.lane;
    settle(*me.warp, me.lane);
    while (me.state == State::Meets) { give_up(me); }
    return lane.result;
}

// Lets the group of a waiting lane go on, if it is complete.
void Block::settle(Warp& warp, int lane)
{
    const WarpOperation* const operation = warp.lanes[lane].operation;
    const std::uint32_t mask = warp.lanes[lane].mask, group = mask & warp.alive;
    if ((group & ~warp.waiting) != 0) { return; }
    bool has_all = true;
    for_each_lane(group, [&](int l) { has_all = has_all && warp.lanes[l].operation == operation && warp.lanes[l].mask == mask; });
    if (!has_all) { return; }
    operation->finish(warp.lanes, group);
    warp.waiting &= ~group;
    has_moved_ = true;
    const auto first_thread = static_cast<std::size_t>(&warp - warps_.data()) * 32;
    for_each_lane(group, [&](int l) {
        warp.lanes[l].operation = nullptr;
        threads_[first_thread + static_cast<std::size_t>(l)].state = State::Ready;
    });
}

void Block::poll(Thread& me)
{
    me.state = State::Polls;
    give_up(me);
}

// --- for the running thread

const Index& thread_index() { return running->index; }
const Index& block_index() { return running->block->index(); }
const Index& block_size() { return running->block->kernel().threads; }
const Index& grid_size() { return running->block->kernel().blocks; }
void* dynamic_shared_memory() { return running->block->shared_memory(); }
int lane() { return running->lane; }
int meet_block(BlockMeeting how, bool vote) { return running->block->meet(how, vote); }
std::uint64_t meet_warp(const WarpOperation& operation, std::uint32_t mask, std::uint64_t value, int from)
{
    return running->block->meet(*running, operation, mask, value, from);
}
void poll()
{
    if (running != nullptr) { running->block->poll(*running); }
}
void trap() { running->block->fail(*running, "a thread comes to a trap"); }

} // namespace standin
