// SPDX-License-Identifier: Apache-2.0
// A block of threads, run by one host thread: every thread of the block is a fiber, a stack that gives up the processor where it
// waits. Between two waits a thread runs without interruption.
//
// A barrier or a warp operation is a meeting: who comes early waits, who comes last lets all go on. Cost: two switches of some
// nanoseconds for each wait; a stack for each thread.
#pragma once

#include <standin/threads.hpp>

#include <boost/context/detail/fcontext.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace standin {

struct Kernel
{
    const void* function;
    Index blocks, threads;
    std::size_t shared_bytes; // dynamic
    std::function<void()> body;

    int block_count() const { return static_cast<int>(blocks.x * blocks.y * blocks.z); }
    int thread_count() const { return static_cast<int>(threads.x * threads.y * threads.z); }
};

// Returns the name of a kernel, readable, from that which the linker has.
std::string symbol_of(const void* function);
std::string name_of(const void* function);

enum class Pace
{
    Done,
    Polls, // all threads that could go on wait for what another block or the host does
    Failed // see Block::failure()
};

enum class State : unsigned char
{
    Ready,
    Polls,
    Meets, // waits for others of its block
    Done
};

struct Warp
{
    std::uint32_t alive, waiting; // a bit for each lane
    Lane lanes[32];
};

// Those of a warp's threads, side by side behind a page that nobody may touch. As all lanes do much the same, what is too much
// for one is too much for the lowest. A page for each would take more mappings than a process may have.
class Stacks
{
public:
    Stacks();
    ~Stacks();
    Stacks(const Stacks&) = delete;
    Stacks& operator=(const Stacks&) = delete;
    // The stacks of neighbours begin in different cache lines: all that are in the same line would be in a cache's way.
    void* top(int lane) const;
    const void* bottom(int lane) const { return bottom_ + static_cast<std::size_t>(lane) * bytes; }
    static const std::size_t bytes; // of a stack

private:
    char* bottom_;
};

class Block;

struct Thread
{
    int number; // in its block
    Index index;
    Block* block;
    Warp* warp;
    int lane;
    const Stacks* stacks; // of its warp
    State state = State::Done;
    boost::context::detail::fcontext_t fiber;
    void* fake_stack; // the address sanitizer's

    const void* stack() const { return stacks->bottom(lane); }
};

// A place where one block after another runs. All by the same host thread, which has the shared variables of these blocks.
class Block
{
public:
    void begin(std::shared_ptr<const Kernel> kernel, int number);
    // Until the block is done or all its threads wait.
    Pace run();
    // Did anything happen in the last run() but looks in vain?
    bool has_moved() const { return has_moved_; }
    const std::string& failure() const { return failure_; }
    std::string name() const;  // "update_kernel, block 3 of 8"
    std::string waits() const; // ", threads: 31 wait at __syncthreads(), 1 wait for another block or the host"

    // For a running thread of the block:
    const Index& index() const { return index_; }
    const Kernel& kernel() const { return *kernel_; }
    void* shared_memory() { return dynamic_.get(); }
    int meet(BlockMeeting how, bool vote);
    std::uint64_t meet(Thread& me, const WarpOperation& operation, std::uint32_t mask, std::uint64_t value, int from);
    void poll(Thread& me);
    [[noreturn]] void fail(Thread& thread, std::string problem);

private:
    static void enter(boost::context::detail::transfer_t from);
    // Runs a thread until no thread that comes after another is ready any more.
    void resume(Thread& thread);
    void give_up(Thread& thread);                                    // to the next thread that is ready, else to run()
    void switch_to(Thread* next, Thread& thread, void** fake_stack); // from `thread`; null: to run()
    Thread* next_ready(int number);                                  // from that one on
    void leave(Thread& thread);
    void settle();
    void settle(Warp& warp, int lane);

    std::shared_ptr<const Kernel> kernel_;
    Index index_;
    int number_ = 0, count_ = 0; // threads
    std::vector<Thread> threads_;
    std::vector<std::unique_ptr<Stacks>> stacks_; // of its warps
    std::vector<Warp> warps_;
    std::unique_ptr<std::uint64_t[], void (*)(void*)> dynamic_{nullptr, nullptr};
    int alive_ = 0, arrived_ = 0, votes_ = 0;
    BlockMeeting meeting_{};
    int outcome_ = 0;
    bool has_moved_ = false;
    std::string failure_;

    boost::context::detail::fcontext_t home_ = nullptr;
    void* home_fake_stack_ = nullptr;
};

} // namespace standin
