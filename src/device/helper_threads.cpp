// SPDX-License-Identifier: Apache-2.0
#include "device/helper_threads.hpp"

#include "device/cores.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <mutex>

namespace parhelion {

namespace {

// The helper threads of this process that have started and not ended.
struct Helpers
{
    std::mutex mutex;
    std::vector<HelperThread*> threads;
};
Helpers& helpers()
{
    static Helpers all;
    return all;
}

} // namespace

void HelperThread::enter()
{
    const std::scoped_lock lock(helpers().mutex);
    helpers().threads.push_back(this);
}

void HelperThread::leave()
{
    const std::scoped_lock lock(helpers().mutex);
    std::erase(helpers().threads, this);
}

CoreShares share_cores(const std::vector<int>& allowed, int worth, int compute_threads, int wanted, int process, int processes)
{
    const int cores = static_cast<int>(allowed.size());
    const int free = std::min(cores, worth) - compute_threads, all_wanted = wanted * processes;
    const int given = std::clamp(all_wanted, 0, std::max(free, 0));
    CoreShares shares{allowed, {}, given == all_wanted};
    if (given == 0) { return shares; }
    shares.compute.resize(static_cast<std::size_t>(cores - given));
    for (int i = 0; i < wanted; ++i)
    {
        shares.helpers.push_back(allowed[static_cast<std::size_t>(cores - given + (process * wanted + i) % given)]);
    }
    return shares;
}

bool stay_on_core(int core) { return move_to(pthread_self(), {core}); }

CoresForHelpers::CoresForHelpers(int compute_threads, int process, int processes)
    : compute_threads_(compute_threads), process_(process), processes_(processes), caller_(std::this_thread::get_id())
{
    share();
}

CoresForHelpers::~CoresForHelpers() { restore(); }

void CoresForHelpers::share_again()
{
    restore();
    places_.clear();
    share();
}

void CoresForHelpers::share()
{
    const std::scoped_lock lock(helpers().mutex);
    std::vector<HelperThread*> in_order = helpers().threads;
    const auto needs_core = [](const HelperThread* helper) { return helper->needs_ == HelperNeeds::Core; };
    const auto first_of_turns = std::stable_partition(in_order.begin(), in_order.end(), needs_core);
    const auto of_core = static_cast<std::size_t>(std::distance(in_order.begin(), first_of_turns));
    const std::size_t wanted = of_core + (of_core < in_order.size() ? 1 : 0);
    if (wanted == 0) { return; }
    const std::vector<int> allowed = cores_of(pthread_self());
    const CoreShares shares =
        share_cores(allowed, available_cores(), compute_threads_, static_cast<int>(wanted), process_, processes_);
    const bool may_move = !shares.helpers.empty() && move_to(pthread_self(), shares.compute);
    if (may_move) { before_ = allowed; }
    for (std::size_t i = 0; i < in_order.size(); ++i)
    {
        HelperThread& helper = *in_order[i];
        HelperPlace place{helper.name_, helper.needs_};
        if (may_move)
        {
            const int core = shares.helpers[std::min(i, of_core)];
            if (move_to(helper.thread_.native_handle(), {core})) { place.core = core; }
        }
        place.is_alone = place.core >= 0 && shares.are_distinct && (i < of_core || in_order.size() == of_core + 1);
        helper.has_own_core_.store(place.is_alone && i < of_core, std::memory_order_relaxed);
        places_.push_back(place);
    }
}

void CoresForHelpers::restore()
{
    if (!before_.empty() && caller_ == std::this_thread::get_id()) { move_to(pthread_self(), before_); }
    before_.clear();
}

std::string helpers_text(const std::vector<HelperPlace>& places)
{
    std::string text;
    for (const HelperPlace& place : places)
    {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", place.name,
                            place.core < 0 ? "with the compute threads" : fmt::format("on core {}", place.core));
    }
    return text;
}

} // namespace parhelion
