// SPDX-License-Identifier: Apache-2.0
#include "run/many.hpp"

#include "base/error.hpp"
#include "device/cores.hpp"
#include "device/device_memory_error.hpp"
#include "run/deadline.hpp"
#include "run/processes.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <fmt/format.h>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <pthread.h>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

namespace parhelion {

namespace {

constexpr int no_gpu = -1;

// A run and the place that executes it, from when it leaves the desk until it has ended or is put back.
struct Turn
{
    std::size_t run, place;
    int gpu; // no_gpu: none
};

// Deals runs out to places: the GPUs, or the CPU.
class Desk
{
public:
    Desk(std::size_t runs, const std::vector<int>& gpus, const std::atomic<bool>& stop)
        : stop_(stop), waiting_(runs), has_company_(runs)
    {
        std::iota(waiting_.begin(), waiting_.end(), std::size_t{0});
        for (const int gpu : gpus) { places_.push_back({gpu, {}}); }
        if (gpus.empty()) { places_.push_back({no_gpu, {}}); }
    }

    // Waits until a run may begin. Returns nothing if no run waits any more, or after a stop.
    std::optional<Turn> next()
    {
        std::unique_lock lock(mutex_);
        // After a stop, the runs in progress end soon, and the end of a run wakes this thread.
        changed_.wait(lock, [&] { return stop_ || waiting_.empty() || emptiest().has_room(); });
        if (stop_ || waiting_.empty()) { return std::nullopt; }
        Place& place = emptiest();
        const std::size_t run = waiting_.front();
        waiting_.pop_front();
        has_company_[run] = !place.runs.empty();
        for (const std::size_t other : place.runs) { has_company_[other] = true; }
        place.runs.insert(run);
        return Turn{run, static_cast<std::size_t>(&place - places_.data()), place.gpu};
    }

    void end(const Turn& turn)
    {
        const std::scoped_lock lock(mutex_);
        places_[turn.place].runs.erase(turn.run);
        changed_.notify_all();
    }

    // Lets a run wait that had too little memory. Returns how many runs its place has at most from now on. Returns nothing if
    // no other run was there during the turn, as the run then never fits. The number falls each time that a run has company
    // and does not fit, so a run is put back only a few times.
    std::optional<std::size_t> put_back(const Turn& turn)
    {
        const std::scoped_lock lock(mutex_);
        Place& place = places_[turn.place];
        place.runs.erase(turn.run);
        changed_.notify_all();
        if (!has_company_[turn.run]) { return std::nullopt; }
        place.most = std::max<std::size_t>(1, place.runs.size());
        waiting_.push_front(turn.run);
        return place.most;
    }

private:
    struct Place
    {
        int gpu;
        std::set<std::size_t> runs; // runs that this place is executing
        std::size_t most = std::numeric_limits<std::size_t>::max();

        bool has_room() const { return runs.size() < most; }
    };

    // Returns the place with the fewest runs, of those that have room if there are any. Of equal ones it is the first.
    Place& emptiest()
    {
        return *std::min_element(places_.begin(), places_.end(), [](const Place& a, const Place& b) {
            return std::pair(!a.has_room(), a.runs.size()) < std::pair(!b.has_room(), b.runs.size());
        });
    }

    const std::atomic<bool>& stop_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::size_t> waiting_;
    std::vector<bool> has_company_; // whether another run was in the place during the latest turn of a run
    std::vector<Place> places_;
};

void expect_own_files(const std::vector<RunRequest>& runs)
{
    std::set<std::filesystem::path> prefixes;
    for (const RunRequest& run : runs)
    {
        const std::filesystem::path prefix = std::filesystem::weakly_canonical(std::filesystem::absolute(run.output.prefix));
        if (prefixes.insert(prefix).second) { continue; }
        throw InputError("E221", {prefix.string(), 0},
                         "is what the outputs of two runs of --multi begin with (one would destroy those of the other). Name "
                         "each folder once, and let -o be a relative path.");
    }
}

RunRequest placed(RunRequest run, const CoresOfRuns& shares, int gpu)
{
    RunPlacement& placement = run.placement;
    if (placement.threads == 0) { placement.threads = std::max(1, shares.threads / std::max(1, placement.ranks_asked_for())); }
    if (gpu != no_gpu) { placement.gpu = gpu; }
    placement.gpus = std::min(placement.gpus, 1);
    run.length.hours.reset(); // one deadline for all runs replaces it
    return run;
}

} // namespace

CoresOfRuns share_cores_among_runs(const std::vector<int>& allowed, int worth, int runs, int at_once, int threads)
{
    const int there = static_cast<int>(allowed.size()), cores = there > 0 ? std::min(there, worth) : worth;
    const int fit = std::max(1, cores / std::max(1, threads));
    CoresOfRuns shares;
    shares.at_once = std::min(runs, at_once > 0 ? at_once : fit);
    shares.threads = threads > 0 ? threads : std::max(1, cores / shares.at_once);
    for (int i = 0; i < shares.at_once && there > 0; ++i)
    {
        const int first = i * there / shares.at_once, end = (i + 1) * there / shares.at_once;
        shares.cores.emplace_back(allowed.begin() + first, allowed.begin() + std::max(end, first + 1));
    }
    return shares;
}

std::vector<ManyOutcome> run_many(const ManyRequest& request, ManyObserver& observer, std::atomic<bool>& stop)
{
    PARHELION_EXPECTS(!request.runs.empty() && request.at_once >= 0);
    const RunRequest& first = request.runs.front();
    const std::optional<Launch> launch = recognise_launch(own_environment());
    OptionFacts facts = facts_of(first, launch ? &*launch : nullptr);
    facts.folders = static_cast<int>(request.runs.size());
    expect_to_go_together(facts);
    expect_own_files(request.runs);
    const std::vector<int> gpus = gpus_to_deal(first.placement);
    const int runs = static_cast<int>(request.runs.size()), ranks = std::max(1, first.placement.ranks_asked_for());
    const int at_once = request.at_once == 0 && !gpus.empty() ? runs : request.at_once;
    CoresOfRuns shares =
        share_cores_among_runs(cores_of(pthread_self()), available_cores(), runs, at_once, first.placement.threads * ranks);
    if (!gpus.empty()) { shares.cores.clear(); } // threads that drive GPUs sleep most of the time
    const Deadline deadline(first.length.hours ? std::optional(*first.length.hours * 3600) : std::nullopt, stop);

    Desk desk(request.runs.size(), gpus, stop);
    std::vector<ManyOutcome> outcomes(request.runs.size());
    const auto take_turns = [&](std::size_t thread) {
        if (!shares.cores.empty()) { move_to(pthread_self(), shares.cores[thread]); }
        while (const std::optional<Turn> turn = desk.next())
        {
            observer.starts(turn->run, turn->gpu);
            ManyOutcome& outcome = outcomes[turn->run];
            try
            {
                outcome.result = run_simulation(placed(request.runs[turn->run], shares, turn->gpu), observer.of(turn->run), stop);
                outcome.end = outcome.result.end == RunEnd::Stopped ? ManyEnd::Stopped : ManyEnd::Done;
            }
            catch (const DeviceMemoryError& error)
            {
                if (const std::optional<std::size_t> most = desk.put_back(*turn))
                {
                    observer.waits(turn->run,
                                   fmt::format("GPU {} has too little memory for it beside others, and has {} run{} at "
                                               "a time from now on ({})",
                                               turn->gpu, *most, *most == 1 ? "" : "s", error.what()));
                    continue;
                }
                outcome = {ManyEnd::Failed, {}, std::current_exception()};
            }
            catch (...)
            {
                outcome = {ManyEnd::Failed, {}, std::current_exception()};
            }
            desk.end(*turn);
            observer.ended(turn->run, outcome);
        }
    };
    std::vector<std::jthread> threads;
    for (int i = 0; i < shares.at_once; ++i) { threads.emplace_back(take_turns, static_cast<std::size_t>(i)); }
    for (std::jthread& thread : threads) { thread.join(); }
    return outcomes;
}

RunRequest in_folder(RunRequest request, const std::filesystem::path& folder)
{
    if (std::error_code unreadable; !std::filesystem::is_directory(folder, unreadable))
    {
        throw InputError("E220", {folder.string(), 0}, "is no folder (each run of --multi has one). Check the name.");
    }
    const auto move = [&](std::filesystem::path& path) {
        if (!path.empty()) { path = folder / path; } // an absolute path stays as it is
    };
    InputFiles& files = request.input.files;
    for (std::filesystem::path* path : {&files.mdp, &files.structure, &files.topology, &files.restraint_reference, &files.index,
                                        &files.hand_over, &files.run_input})
    {
        move(*path);
    }
    request.output.prefix = (folder / request.output.prefix).string();
    if (!request.output.trace.empty()) { request.output.trace = (folder / request.output.trace).string(); }
    return request;
}

} // namespace parhelion
