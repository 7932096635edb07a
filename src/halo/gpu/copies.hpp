// SPDX-License-Identifier: Apache-2.0
// The halo exchange as part of the kernel that moves atoms (method direct): it needs no kernels of its own.
//
// The idea: the kernel that moves an atom is the first to have the atom's new position, and the last to need the
// forces on its copies. So this kernel stores a new position into the slots of all copies on other ranks. It also
// adds the forces that those ranks have stored into this rank's inbox. A warp waits for these forces while its
// own loads are in flight, and only if one of its atoms has copies. The last block to end signals the positions,
// and may wait for halo positions from other ranks. An atom without copies costs the load of one word.
#pragma once

#include "comm/gpu/world_gpu.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <cstdint>

namespace parhelion {

struct BlockCounter; // comm/gpu/block.cuh
template <class N>
struct GpuMessage; // halo/gpu/message.cuh
// halo/gpu/copies.cuh
template <class N>
struct AtomCopies;
template <class N>
class ReturnedForces;
template <class N, int threads>
class CopiesAhead;

// The copy of one atom on one other rank.
template <class N>
struct alignas(16) Copy
{
    PositionCharge<N>* x;  // slot of the copy, on the other rank
    const ForceSlot<N>* f; // returned forces of the copy, on this rank
};

// The copies of the atoms of one rank; the pointers are to device memory.
template <class N>
struct GpuCopies
{
    GpuMessage<N>* messages = nullptr;
    int count = 0;                          // number of messages; 0: the kernel exchanges nothing
    std::int32_t* copies_of_slot = nullptr; // number of copies by slot
    Copy<N>* copies = nullptr;              // k-th copy of a slot, in any order: copies[k * capacity + slot]
    std::size_t capacity = 0;
    const Watch* watch = nullptr;
    BlockCounter* done = nullptr;
};

// The work of an atom-moving kernel for the copies of its atoms: a policy of the update (dynamics/gpu/update_gpu.hpp).
template <class N>
struct CopyTask
{
    using OfAtom = AtomCopies<N>;
    using Arrival = ReturnedForces<N>;
    template <int threads>
    using Ahead = CopiesAhead<N, threads>;

    GpuCopies<N> copies;      // count 0: no work
    bool adds_forces = false; // true if the kernel adds returned forces
    bool sends_positions = false;
    bool awaits_positions = false; // waits for halo positions; only for a rank that does not share its GPU

    bool is_empty() const { return copies.count == 0; }
};

} // namespace parhelion
