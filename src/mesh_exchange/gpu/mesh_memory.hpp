// SPDX-License-Identifier: Apache-2.0
// What the meshes of all ranks on GPUs share: the cut, and the messages of each exchange, as mesh_exchange/peer_messages.hpp has
// them on CPUs: one from every rank to every other, in slots of the size of the largest, without credits. The argument is in
// docs/design/communication.md, the model is mesh_exchange.pml.
//
//   charges      from who has atoms to who has planes; of a piece of planes the rows that some atom touches, and which these are
//   there, back  spectra, from who has planes to who solves rows and back: [plane][row][kz]
//   potentials   back to who has atoms: the rows that were touched
//   atoms        where some ranks do the mesh alone, to each of these from all others, in the order that they have there
//   forces       back to the same places
//
// Cost, in the memory of each rank: of charges and potentials as much as its planes for each peer, of spectra as much as its
// planes. Of atoms 16 bytes for each slot of all ranks with atoms, of forces as many for each own slot and mesh rank.
#pragma once

#include "comm/gpu/peer_ends.hpp"
#include "mesh_exchange/mesh_setup.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <cstdint>
#include <optional>

namespace parhelion {

// What particle ranks and mesh ranks store for each other, where some ranks do the mesh alone. Mesh ranks are numbered from 0
// here.
struct GpuVisits
{
    GpuWorld* world;
    MeshCut cut;
    GpuPeerEnds atoms, forces;            // signals alone
    std::size_t capacity = 0;             // slots of a particle rank
    std::optional<Window> inbox, answers; // of mesh ranks; of particle ranks

    int particle_ranks() const { return cut.first_mesh_rank; }
    int mesh_ranks() const { return cut.ranks() - cut.first_mesh_rank; }
    std::size_t superclusters() const { return capacity / supercluster_size; } // of a particle rank
    // On a mesh rank: positions and charges, [particle rank][slot]; which superclusters are left out, [particle
    // rank][supercluster].
    template <class N>
    PositionCharge<N>* xq(int mesh_rank) const
    {
        return reinterpret_cast<PositionCharge<N>*>(world->data(cut.first_mesh_rank + mesh_rank, *inbox));
    }
    template <class N>
    std::uint8_t* left_out(int mesh_rank) const
    {
        return reinterpret_cast<std::uint8_t*>(xq<N>(mesh_rank) + static_cast<std::size_t>(particle_ranks()) * capacity);
    }
    // On a particle rank: [mesh rank][slot].
    template <class N>
    ForceSlot<N>* f(int rank) const
    {
        return reinterpret_cast<ForceSlot<N>*>(world->data(rank, *answers));
    }
};

struct GpuMeshMemory
{
    MeshSetup setup;
    // None where the method has no such exchange.
    std::optional<GpuPeerEnds> charges, there, back, potentials;
    std::optional<GpuVisits> visits;
};

// A message of charges: which rows of the owner's planes are touched, [plane][y], and charges [plane][y][z] of these rows.
template <class ChargeSum>
struct ChargeMessage
{
    std::uint8_t* touched;
    ChargeSum* charges;

    PARHELION_HD ChargeMessage(std::byte* slot, std::size_t rows)
        : touched(reinterpret_cast<std::uint8_t*>(slot)), charges(reinterpret_cast<ChargeSum*>(slot + round_up_window(rows)))
    {
    }
    static std::size_t bytes(std::size_t rows, std::size_t row) { return round_up_window(rows) + rows * row * sizeof(ChargeSum); }
};

// Bytes of symmetric memory that make_gpu_mesh_memory() takes on every rank: of exchanges whose size stays, and of visits, by
// ranks with so many slots.
template <class N>
std::size_t gpu_mesh_bytes(const MeshSetup& setup);
template <class N>
std::size_t gpu_visit_bytes(const MeshSetup& setup, std::size_t slots);
// Of a run with PME on several ranks, those with atoms of so many slots at the most. Throws CommError if memory or signals are
// used up.
template <class N>
GpuMeshMemory make_gpu_mesh_memory(GpuWorld& world, const MeshSetup& setup, std::size_t slots);
// Other room for visits, if there are any: nothing is queued, and what was made with the memory is made again.
template <class N>
void make_room_for_visits(GpuMeshMemory& memory, std::size_t slots);

} // namespace parhelion
