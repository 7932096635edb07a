// SPDX-License-Identifier: Apache-2.0
// From cluster order to input order: the configuration the user sees.
#pragma once

#include "device/cpu_queue.hpp"
#include "engine/observer.hpp"
#include "model/frame.hpp"
#include "model/topology.hpp"
#include "state/molecules.hpp"
#include "state/particle_state.hpp"

namespace parhelion {

// Step and time are left to the caller. Asks for x with due.x or due.compressed_x, v, f. The first atom of each molecule is in
// the box, each other atom is the image nearest to the one before it.
template <class N>
Frame gather_frame(CpuQueue& queue, const Topology& topology, const MoleculeList& molecules, const ParticleState<N>& state,
                   const OutputDue& due);

} // namespace parhelion
