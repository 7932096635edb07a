// SPDX-License-Identifier: Apache-2.0
// Helper threads: threads beside the compute threads, which carry messages, listen to a launcher or watch a host. A helper
// is pinned to a core that no compute thread uses, if there is such a core, and the run can report the core's number.
//
// The idea: the code that knows the number of compute threads on this host makes a CoresForHelpers, after the helpers
// have started and before the compute threads start. From then on the calling thread, and every thread it starts,
// stays off the helpers' cores. Without helpers nothing changes. A proxy that polls needs a core of its own: on a
// core that a compute thread keeps busy, every message waits for a time slice (measured in bench/halo/README.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace parhelion {

enum class HelperNeeds : std::uint8_t
{
    Turns, // sleeps until there is work to do
    Core   // polls if it has a core of its own
};

class HelperThread
{
public:
    // `name` is for reports to the user, such as "messages by TCP".
    HelperThread(std::string name, HelperNeeds needs) : name_(std::move(name)), needs_(needs) {}
    ~HelperThread() { leave(); }
    HelperThread(const HelperThread&) = delete;
    HelperThread& operator=(const HelperThread&) = delete;

    // `body` may take a std::stop_token. Its stop is requested when this object is destroyed.
    template <class Body>
    void start(Body&& body)
    {
        thread_ = std::jthread(std::forward<Body>(body));
        enter();
    }
    void join()
    {
        leave();
        thread_.join();
    }

    const std::string& name() const { return name_; }
    // True if the helper has a core that no compute thread and no other helper uses. False until the cores have been divided.
    bool has_own_core() const { return has_own_core_.load(std::memory_order_relaxed); }

private:
    friend class CoresForHelpers;
    void enter();
    void leave();

    std::string name_;
    HelperNeeds needs_;
    std::atomic<bool> has_own_core_{false};
    std::jthread thread_; // last member: the thread starts when all other members exist
};

// The place of a helper thread, for reports.
struct HelperPlace
{
    std::string name;
    HelperNeeds needs = HelperNeeds::Turns;
    int core = -1; // -1: any core, shared with the compute threads
    bool is_alone = false;
};
// Returns, for example, "messages by TCP on core 15, rendezvous with the compute threads". Empty if there are no helpers.
std::string helpers_text(const std::vector<HelperPlace>& places);

// The cores of a process, divided between compute threads and helpers. `helpers` has one core for each helper
// that needs a core, then one core for all remaining helpers. It is empty if the compute threads need all cores.
struct CoreShares
{
    std::vector<int> compute, helpers;
    bool are_distinct = false; // no core in `helpers` is used by two processes or for both HelperNeeds
};
// Divides cores for process `process` of `processes`. `allowed`: cores of a process, the same for all of the host. `worth`: their
// limit of processor time, in cores (cgroup). `compute_threads`: of all processes. `wanted`: cores for one process's helpers.
CoreShares share_cores(const std::vector<int>& allowed, int worth, int compute_threads, int wanted, int process, int processes);

// Pins the calling thread to `core`. Returns false if the system refuses.
bool stay_on_core(int core);

// Divides the cores of this process between its helpers, which have started already, and the compute threads: the calling
// thread and every thread that it starts from now on. The destructor lets the calling thread run on its former cores again.
class CoresForHelpers
{
public:
    // `compute_threads`: number on this host. `process`: number of this process among the run's `processes` on this host.
    explicit CoresForHelpers(int compute_threads, int process = 0, int processes = 1);
    ~CoresForHelpers();
    // Divides the cores again, for a helper that has started since. Call it on the same thread. Other threads keep their cores.
    void share_again();
    CoresForHelpers(const CoresForHelpers&) = delete;
    CoresForHelpers& operator=(const CoresForHelpers&) = delete;

    const std::vector<HelperPlace>& places() const { return places_; }

private:
    void share();
    void restore();

    const int compute_threads_, process_, processes_;
    std::vector<HelperPlace> places_;
    std::vector<int> before_; // former cores of the calling thread; empty if they were not changed
    std::thread::id caller_;
};

} // namespace parhelion
