// SPDX-License-Identifier: Apache-2.0
// The halo exchange as part of the kernel that moves atoms (method direct): it needs no kernels of its own.
//
// The idea: the kernel that moves an atom is the first to know its position, and the last to need the forces on its copies. So it
// also stores a new position into the slots of all copies on other ranks, and adds the forces that those ranks have stored into
// this rank's inbox. A warp waits for such forces after its own loads are under way, and only if one of its atoms has copies. The
// last block to end signals the positions, and may wait for those of the other ranks' atoms. An atom without copies costs a look
// at a word.
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

// Of one atom, on one other rank.
template <class N>
struct alignas(16) Copy
{
    PositionCharge<N>* x;  // there: its slot
    const ForceSlot<N>* f; // here: what came back
};

// Of one rank; pointers are into device memory.
template <class N>
struct GpuCopies
{
    GpuMessage<N>* messages = nullptr;
    int count = 0;                          // of messages; none: the rank does without
    std::int32_t* copies_of_slot = nullptr; // how many
    Copy<N>* copies = nullptr;              // the k-th of a slot, in any order: copies[k * capacity + slot]
    std::size_t capacity = 0;
    const Watch* watch = nullptr;
    BlockCounter* done = nullptr;
};

// What a kernel does for the copies of the atoms it moves: a policy of the update (dynamics/gpu/update_gpu.hpp).
template <class N>
struct CopyTask
{
    using OfAtom = AtomCopies<N>;
    using Arrival = ReturnedForces<N>;
    template <int threads>
    using Ahead = CopiesAhead<N, threads>;

    GpuCopies<N> copies;      // none: nothing
    bool adds_forces = false; // those that came back
    bool sends_positions = false;
    bool awaits_positions = false; // of the copies here; for a rank that has a GPU to itself

    bool is_empty() const { return copies.count == 0; }
};

} // namespace parhelion
