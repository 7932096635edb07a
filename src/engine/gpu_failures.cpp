// SPDX-License-Identifier: Apache-2.0
// GpuEngine where a segment has failed: what becomes of its flags.
//
// The idea: the state set aside is put back and what is under way is done again, one list interval at a time, so that the one
// that fails is found; it gets more room, or newer lists in its middle. What no repetition mends is explained by the host: the
// CPU takes the same steps, the longest term is looked for. Cost: the failed segments once more, and a look by the host at each
// interval.
#include "base/error.hpp"
#include "engine/assign.hpp"
#include "engine/gpu_engine.hpp"
#include "engine/host_watch.hpp"
#include "engine/longest_term.hpp"

#include <fmt/format.h>

namespace parhelion {

namespace {

constexpr int most_attempts = 8; // to make room for a list

} // namespace

// Nothing of the oldest segment has been handed on yet, and the snapshot is of its beginning or of an interval it goes on with.
template <class N>
void GpuEngine<N>::do_again(std::uint32_t flags, Observer& observer)
{
    ranks_.synchronize();
    copies_.synchronize();
    if (intervals_of(under_way_.front()).size() == 1) { prepare_to_do_again(flags); }
    PARHELION_EXPECTS(under_way_.front().begins_interval());
    ranks_.put_back(at_repartition_);
    std::deque<Segment> again;
    again.swap(under_way_);
    for (const Segment& segment : again)
    {
        for (Segment& interval : cut_into_intervals(segment))
        {
            make_way(observer);
            submit(std::move(interval));
        }
    }
}

// What the only interval of the oldest segment has failed with goes away, or the run ends.
template <class N>
void GpuEngine<N>::prepare_to_do_again(std::uint32_t flags)
{
    constexpr std::uint32_t overflows = gpu_flag_list_overflow | gpu_flag_scratch_overflow | gpu_flag_slot_overflow;
    if ((flags & overflows) != 0)
    {
        make_more_room(flags);
        return;
    }
    if ((flags & gpu_flag_list_aged) != 0) // whatever else came of it
    {
        std::vector<StepFlags>& steps = under_way_.front().flags;
        PARHELION_EXPECTS(steps.size() > 1);
        steps[steps.size() / 2].repartition = true;
        ++intervals_halved_;
        return;
    }
    if ((flags & gpu_flag_runaway) != 0) { blow_up(); }
    if ((flags & gpu_flag_ambiguous) == 0) { stop_for_missing_terms(); }
    const std::int64_t step = under_way_.front().first;
    throw GridError(step,
                    fmt::format("E505 step {}: the box has become too small for the grid {}x{}x{}, or an atom has left its "
                                "cell too far behind (which of two atoms is ahead would be undecided). Use a grid that does "
                                "not divide its short edges, or fewer ranks.",
                                step, plan_.grid[0], plan_.grid[1], plan_.grid[2]));
}

template <class N>
void GpuEngine<N>::make_more_room(std::uint32_t flags)
{
    const double crowding = ranks_.crowding();
    const MoreRoom room = ++attempts_ > most_attempts ? MoreRoom::NotInLists : ranks_.make_more_room(flags);
    if (room == MoreRoom::NotInLists) { throw NoRoom(); }
    if (room == MoreRoom::Made) { return; }
    const std::int64_t step = under_way_.front().first;
    throw GridError(step, fmt::format("E509 step {}: with the grid {}x{}x{}, a rank has come to more than {:.1f} times as many "
                                      "atoms as it would have at the mean density, and GPUs have no room for its halo. Use fewer "
                                      "ranks, or a grid whose cells hold about as many atoms each.",
                                      step, plan_.grid[0], plan_.grid[1], plan_.grid[2], crowding));
}

template <class N>
void GpuEngine<N>::hand_to_host()
{
    ranks_.synchronize();
    copies_.synchronize();
    under_way_.clear();
    const SavedState state = saved_state();
    const OwnWork here(watch_);
    put_back(state, host_.lone_run().rank());
    step_ = list_begin_ = host_.lone_run().rank().step;
}

// The list's beginning is the snapshot's.
template <class N>
void GpuEngine<N>::stop_for_missing_terms()
{
    const Frame frame = read_frame(at_repartition_);
    const OwnWork here(watch_);
    const Topology& topology = setup_.system.topology;
    const LongestTerm longest = longest_term(topology, frame.x, frame.box);
    throw missing_terms(frame.step, "bonded terms", list_plan_.cutoff,
                        fmt::format(" The longest spans {:.3f} nm, from {} to {}.", longest.length, topology.describe(longest.a),
                                    topology.describe(longest.b)));
}

// The CPU takes the interval's steps once more, and finds what the GPU found.
template <class N>
void GpuEngine<N>::blow_up()
{
    hand_to_host();
    const FailureReport report = ranks_.failure();
    const OwnWork here(watch_);
    Observer nobody;
    const std::atomic<bool> never{false};
    const std::int64_t steps = report.step - host_.lone_run().rank().step + 1;
    PARHELION_EXPECTS(report.atom >= 0 && steps > 0); // of the interval that is given up
    host_.run(steps + list_plan_.interval, nobody, never);
    throw PhysicsError(report.step, fmt::format("E508 step {}: {} has run away on the GPU, but not when the CPU took the same "
                                                "steps. Try a shorter time step, or --precision double.",
                                                report.step, setup_.system.topology.describe(report.atom)));
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void GpuEngine<N>::do_again(std::uint32_t, Observer&);                                                              \
    template void GpuEngine<N>::hand_to_host();
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
