// SPDX-License-Identifier: Apache-2.0
// Finds the peers that activities wait for, and the critical path: the chain of activities, messages and gaps that determines
// when the last step ends, from the begin of the first step on.
//
// A timeline does not record which activity depends on which. The chain is found backwards in time, by the rules of late senders
// (Böhme, Wolf, de Supinski, Schulz, Geimer: Scalable critical-path based performance analysis, IPDPS 2012):
//   - An exchange (analysis/steps.hpp) ends when its peers' messages have arrived. If a peer begins the same exchange of the
//     same step later, the time until then is a wait, the rest is the exchange. The path continues backwards on the late peer.
//   - If the update of a GPU begins before a peer has sent forces, the update waits for them (engine/gpu/step_gpu.hpp).
//   - Any other activity follows the activity of its own process that was the last to end before. The time in between is a gap.
// On a GPU an activity may begin while the last blocks of the activity that it waits for still run, and clocks tick in
// microseconds. So an activity may end up to `overlap_ns` after the begin of the one that follows it.
//
// Every moment belongs to one part of the path. Parts are divided where steps begin, so the parts of a step add up to its length.
#pragma once

#include "analysis/steps.hpp"

#include <optional>
#include <utility>

namespace parhelion {

inline constexpr std::uint64_t overlap_ns = 1000;

struct PathPart
{
    enum class Kind : std::uint8_t
    {
        Work,
        Exchange, // messages are in flight
        Gap       // no activity runs
    };
    std::uint64_t begin = 0, end = 0;
    std::size_t step = 0, process = 0; // step: index in the list of steps
    std::size_t activity = 0;          // index of the activity in the process; for a gap: of the activity after it
    Kind kind = Kind::Work;

    double us() const { return static_cast<double>(end - begin) * 1e-3; }
};

// The activity of another process that an activity waited for, and the time when the wait ended, ns.
struct Arrival
{
    std::size_t process = 0, activity = 0;
    std::uint64_t time = 0;
};

class Dependences
{
public:
    // Keeps references to both arguments.
    Dependences(const Trace& trace, const std::vector<TracedStep>& steps);

    // Returns the last peer's activity for which an activity waited until the time `until`, or nothing if it did not wait.
    std::optional<Arrival> last_arrival(std::size_t step, std::size_t process, std::size_t activity, std::uint64_t until) const;
    // Returns the activity of the same process that was the last to end before the given one began, in this step or the previous.
    std::optional<std::size_t> before(std::size_t step, std::size_t process, std::size_t activity) const;

    // Returns the parts in the order of time. Each sequence of steps that follow each other has a path of its own.
    std::vector<PathPart> critical_path() const;

private:
    std::optional<Arrival> latest_partner(std::size_t step, std::size_t process, std::size_t activity, std::uint64_t until) const;
    std::optional<Arrival> latest_forces(std::size_t step, std::size_t process, std::uint64_t until) const;
    void walk_back(std::size_t first, std::size_t last, std::vector<PathPart>& parts) const;

    const Trace& trace_;
    const std::vector<TracedStep>& steps_;
    std::vector<std::vector<std::uint16_t>> ordinals_; // [process][activity]: number of earlier ones of its name in its step
};

} // namespace parhelion
