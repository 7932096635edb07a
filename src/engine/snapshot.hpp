// SPDX-License-Identifier: Apache-2.0
// A snapshot of the state that a step changes. It can be restored, and converted into plain data for a checkpoint.
//
// A snapshot is taken at every rebuild of the pair list. At other steps the state alone does not determine the
// next bits: they also depend on the pair list, which may lack a pair that has come near after the list was built.
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

// Takes a snapshot of the rank's state, in the memory that `snapshot` has already.
template <class N>
void take_snapshot(const Rank<N>& r, Snapshot<N>& snapshot);
template <class N>
void put_back(Snapshot<N>&& snapshot, Rank<N>& r);

// Returns the snapshot as plain data. parts: positions and velocities of all ranks at the snapshot.
template <class N>
SavedState to_saved_state(const Snapshot<N>& snapshot, const std::vector<AtomData<N>>& parts, std::int64_t seed);
// Restores `saved` into a snapshot that has all atoms of the same system. Throws InputError if the state is of another
// size or precision, or is incomplete.
template <class N>
void put_back(const SavedState& saved, CpuQueue& queue, Snapshot<N>& snapshot);
// Does the same for a new run that starts from the state of another run, but does not restore that run's step and box. If the
// state is of another precision, positions and velocities stay as they are in the snapshot: those of the system, rounded.
template <class N>
void start_from(const SavedState& saved, CpuQueue& queue, Snapshot<N>& snapshot);

} // namespace parhelion
