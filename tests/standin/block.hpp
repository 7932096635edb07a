// SPDX-License-Identifier: Apache-2.0
// A block of threads, run by one host thread: every thread of the block is a fiber, a stack that gives up the processor where it
// waits. Between two waits a thread runs without interruption.
//
// A barrier or a warp operation is a meeting: who comes early waits, who comes last lets all go on. Cost: two switches of some
// nanoseconds for each wait; a stack for each thread.
#pragma once

#include <standin/threads.hpp>

#include <boost/context/detail/fcontext.hpp>

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

// Of a kernel: as the linker has it, and readable.
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

class Stack
{
public:
    Stack();
    ~Stack();
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;
    void* top() const { return bottom_ + bytes; }
    const void* bottom() const { return bottom_; }
    static const std::size_t bytes;

private:
    char* bottom_; // behind a page that nobody may touch
};

class Block;

struct Thread
{
    Index index;
    Block* block;
    Warp* warp;
    int lane;
    State state = State::Done;
    boost::context::detail::fcontext_t fiber;
    Stack stack;
    void* fake_stack; // the address sanitizer's
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
    // "update_kernel, block 3 of 8: 31 threads wait at __syncthreads(), 1 polls"
    std::string account() const;

    // For a running thread of the block:
    const Index& index() const { return index_; }
    const Kernel& kernel() const { return *kernel_; }
    void* shared_memory() { return dynamic_.get(); }
    int meet(BlockMeeting how, bool vote);
    std::uint64_t meet(Thread& me, const WarpOperation& operation, std::uint32_t mask, std::uint64_t value, int from);
    void poll(Thread& me);

private:
    static void enter(boost::context::detail::transfer_t from);
    void resume(Thread& thread);
    void give_up(Thread& thread); // back to run()
    void leave(Thread& thread);
    void settle();
    void settle(Warp& warp, int lane);
    [[noreturn]] void fail(Thread& thread, std::string problem);

    std::shared_ptr<const Kernel> kernel_;
    Index index_;
    int number_ = 0, count_ = 0; // threads
    std::vector<std::unique_ptr<Thread>> threads_;
    std::vector<Warp> warps_;
    std::unique_ptr<std::uint64_t[], void (*)(void*)> dynamic_{nullptr, nullptr};
    int alive_ = 0, arrived_ = 0, votes_ = 0;
    BlockMeeting meeting_{};
    int outcome_ = 0;
    bool has_moved_ = false;
    std::string failure_;

    boost::context::detail::fcontext_t home_ = nullptr;
    void* home_fake_stack_ = nullptr;
    const void* home_bottom_ = nullptr;
    std::size_t home_bytes_ = 0;
};

} // namespace standin
