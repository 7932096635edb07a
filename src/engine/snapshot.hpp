// SPDX-License-Identifier: Apache-2.0
// The state that a step changes: set aside, put back, and turned into plain data for a checkpoint.
//
// A snapshot is taken at every rebuild of the pair list. At other steps this state is not all that decides the next bits: the
// list counts, too, which may lack a pair that has come near since it was built.
#pragma once

#include "engine/gather.hpp"
#include "engine/rank.hpp"
#include "model/saved_state.hpp"

namespace parhelion {

template <class N>
struct Snapshot
{
    std::int64_t step = 0;
    ParticleState<N> state;
    Coupling coupling;
    ListConditions list_conditions;
};

// Reuses the snapshot's memory.
template <class N>
void take_snapshot(const Rank<N>& r, Snapshot<N>& snapshot);
template <class N>
void put_back(Snapshot<N>&& snapshot, Rank<N>& r);

// parts: positions and velocities of all ranks at the snapshot.
template <class N>
SavedState to_saved_state(const Snapshot<N>& snapshot, const std::vector<AtomData<N>>& parts, std::int64_t seed);
// Into a rank that holds all atoms of the same system. Throws InputError if the state is of another size or precision, or lacks
// something.
template <class N>
void put_back(const SavedState& saved, Rank<N>& r);
// The same for a run that starts from the state of another one, whose step it does not go on with. Where that was of another
// precision, positions and velocities are left as they are in the rank: the system's, rounded.
template <class N>
void start_from(const SavedState& saved, Rank<N>& r);

} // namespace parhelion
