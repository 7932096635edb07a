// SPDX-License-Identifier: Apache-2.0
// The imaginary GPUs: operations wait for others, kernels run block after block, one at a time on the whole machine.
//
// The idea: a block runs until it is done or all its threads wait for another block; then the next has its turn. So blocks of
// several kernels interleave where one waits for the other, and a block that has found no room has not begun, as on a GPU. If all
// that could run waits in vain for too long, everything queued is dropped with an account of who waits where. Cost: a host thread
// for each block that has begun and is not done.
#pragma once

#include "block.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

namespace standin {

constexpr int blocks_of_multiprocessor = 8, threads_of_multiprocessor = 1024;

struct Operation;

// Done, or begun: all its blocks have.
struct Dependency
{
    std::shared_ptr<Operation> operation;
    bool on_begin;

    bool is_met() const;
};

struct Operation
{
    std::vector<Dependency> after;
    std::function<void()> host;           // or
    std::shared_ptr<const Kernel> kernel; // or nothing: a point where others meet
    int device = 0;
    int begun = 0, ended = 0; // blocks
    bool is_done = false;

    bool has_begun() const { return is_done || (kernel && begun == kernel->block_count()); }
    bool is_ready() const;
};

class Machine
{
public:
    static Machine& instance();

    Machine(int devices, int multiprocessors);
    ~Machine();
    int devices() const { return static_cast<int>(load_.size()); }
    int multiprocessors() const { return multiprocessors_; } // of each GPU

    void queue(std::shared_ptr<Operation> operation);
    // Empty, or why all that was queued has been dropped, and will be until reset().
    std::string wait(const std::vector<Dependency>& for_these);
    std::string wait_for_all();
    void reset();
    // Nothing if not yet.
    bool are_met(const std::vector<Dependency>& these, std::string& failure);

    std::uint64_t nanoseconds();
    // How long all may look in vain before it is a deadlock.
    void set_patience(std::chrono::nanoseconds patience);

private:
    // Room for a block, and the host thread that runs it.
    struct Place
    {
        Block block;
        std::shared_ptr<Operation> of; // null: free
        bool has_turn = false;
        std::condition_variable turn;
        std::thread thread;
    };
    struct Load
    {
        int blocks = 0, threads = 0;
    };

    void serve(Place& place);
    void after_run(Place& place, Pace pace);
    Place* next_place();
    Place* begin_a_block();
    Place& free_place();
    bool has_room(const Operation& operation) const;
    void hand_on();
    void do_host_work();
    void finish(Operation& operation);
    void note_look_in_vain();
    void drop_all(std::string why);
    std::string account() const;

    const int multiprocessors_;
    std::mutex mutex_;
    std::condition_variable changed_; // for hosts that wait
    std::deque<std::shared_ptr<Operation>> pending_;
    std::vector<Load> load_;
    std::vector<std::unique_ptr<Place>> places_;
    std::size_t next_ = 0, next_operation_ = 0;
    bool is_running_ = false, is_ending_ = false;
    std::string failure_;

    std::chrono::nanoseconds patience_;
    std::chrono::steady_clock::time_point last_progress_, last_look_;
    std::int64_t looks_in_vain_ = 0;
    std::atomic<std::uint64_t> clock_{1};
};

} // namespace standin
