// SPDX-License-Identifier: Apache-2.0
// Threads that help those that compute: they carry messages, listen to a launcher, watch a host. Each is on a core that no
// compute thread uses, where there is one, and whoever wants to know is told which.
//
// The idea: whoever knows how many threads compute on this host says so once (CoresForHelpers), after the helpers have started
// and before the compute threads do. From then on the calling thread, and all that it starts, stay off the helpers' cores. Where
// no thread helps, nothing is changed. A proxy that polls is worth a core of its own: on a core that a compute thread keeps busy
// every message waits for a time slice (bench/halo/README.md says how long).
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
    Turns, // sleeps until there is something to do
    Core   // polls, where it has a core of its own
};

class HelperThread
{
public:
    // `name`: for people, as "messages by TCP".
    HelperThread(std::string name, HelperNeeds needs) : name_(std::move(name)), needs_(needs) {}
    ~HelperThread() { leave(); }
    HelperThread(const HelperThread&) = delete;
    HelperThread& operator=(const HelperThread&) = delete;

    // `body` may take a std::stop_token, which is asked to stop when this ends.
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
    // It needs a core, and neither a compute thread nor another helper is on its. Until cores are shared out: no.
    bool has_own_core() const { return has_own_core_.load(std::memory_order_relaxed); }

private:
    friend class CoresForHelpers;
    void enter();
    void leave();

    std::string name_;
    HelperNeeds needs_;
    std::atomic<bool> has_own_core_{false};
    std::jthread thread_; // last: starts when all else is there
};

// Where a helper is.
struct HelperPlace
{
    std::string name;
    HelperNeeds needs = HelperNeeds::Turns;
    int core = -1; // -1: any, with the compute threads
    bool is_alone = false;
};
// "messages by TCP on core 15, rendezvous with the compute threads"; empty: nobody helps.
std::string helpers_text(const std::vector<HelperPlace>& places);

// The cores of a process, shared out. `helpers` has one for each that its helpers are worth: those that need a core first, then
// one for all others together. Empty: there are none beside the compute threads'.
struct CoreShares
{
    std::vector<int> compute, helpers;
    bool are_distinct = false; // each of the helpers' cores is of one process and one need
};
// allowed: those of the process, all processes of the host having the same; `worth`: how many cores' time there is at most, as a
// control group may allow less. compute_threads: of all processes. wanted: cores that the helpers of a process are worth.
CoreShares share_cores(const std::vector<int>& allowed, int worth, int compute_threads, int wanted, int process, int processes);

// Keeps the calling thread there; false: it cannot be.
bool stay_on_core(int core);

// Shares out the cores of this process between its helpers, which have started, and the compute threads, which the calling thread
// and those that it starts from now on are. When this ends, the calling thread may be anywhere again.
class CoresForHelpers
{
public:
    // compute_threads: on this host. process, processes: of those of a run on this host.
    explicit CoresForHelpers(int compute_threads, int process = 0, int processes = 1);
    ~CoresForHelpers();
    // For a helper that has started since. By the same thread; others that compute stay where they are.
    void share_again();
    CoresForHelpers(const CoresForHelpers&) = delete;
    CoresForHelpers& operator=(const CoresForHelpers&) = delete;

    const std::vector<HelperPlace>& places() const { return places_; }

private:
    void share();
    void restore();

    const int compute_threads_, process_, processes_;
    std::vector<HelperPlace> places_;
    std::vector<int> before_; // cores of the calling thread; empty: nothing was changed
    std::thread::id caller_;
};

} // namespace parhelion
