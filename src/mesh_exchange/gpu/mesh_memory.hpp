// SPDX-License-Identifier: Apache-2.0
// Memory that the meshes of all ranks on GPUs share: which rank computes which part (MeshCut), and the messages of each
// exchange. In an exchange every rank sends a message to every other rank, as in mesh_exchange/peer_messages.hpp. Slots have
// the size of the largest message and are reused without credits: docs/design/communication.md, model mesh_exchange.pml.
//
//   charges      from ranks with atoms to owners of planes: flags of the rows that an atom touches, and these rows
//   there, back  spectra, from ranks with planes to ranks that solve rows, and from there back: [plane][row][kz]
//   potentials   from owners of planes back to ranks with atoms: the rows that were touched
//   atoms        for `dedicated`, from each particle rank to each mesh rank, in the order of the particle rank's slots
//   forces       for `dedicated`, from each mesh rank back to the same slots of each particle rank
//
// Cost, in the memory of each rank: for charges and potentials its planes once per peer; for spectra its planes once;
// for atoms 16 bytes per slot of all particle ranks; for forces 16 bytes for each of its slots, once per mesh rank.
#pragma once

#include "comm/gpu/peer_ends.hpp"
#include "mesh_exchange/mesh_setup.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace parhelion {

// Memory that particle ranks and mesh ranks store into for each other, with
// the method dedicated. Mesh ranks are numbered from 0 in this struct.
struct GpuVisits
{
    GpuWorld* world;
    MeshCut cut;
    GpuPeerEnds atoms, forces;            // channels of signals, which carry no bytes
    std::size_t capacity = 0;             // slots of a particle rank
    std::optional<Window> inbox, answers; // inbox: window on mesh ranks; answers: on particle ranks

    int particle_ranks() const { return cut.first_mesh_rank; }
    int mesh_ranks() const { return cut.ranks() - cut.first_mesh_rank; }
    std::size_t superclusters() const { return capacity / supercluster_size; } // number of superclusters of a particle rank
    // Return addresses on a mesh rank. xq: positions and charges, [particle rank][slot].
    // left_out: marks of the superclusters that are not sent, [particle rank][supercluster].
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
    // Returns the address of the forces on a particle rank, [mesh rank][slot].
    template <class N>
    ForceSlot<N>* f(int rank) const
    {
        return reinterpret_cast<ForceSlot<N>*>(world->data(rank, *answers));
    }
};

// The memory of one mesh: that of charges, or one of dispersion (LJ-PME).
struct GpuMeshMemory
{
    MeshSetup setup;
    bool shares_gpus = false; // true if some ranks share a GPU
    // The channels of each exchange. Empty if the method has no such exchange.
    std::optional<GpuPeerEnds> charges, there, back, potentials;
    std::optional<GpuVisits> visits;
};

// A message of charges: flags [plane][y] of the touched rows of the owner's planes, and these rows' charges [plane][y][z].
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

// Each returns a part of the bytes of symmetric memory that make_gpu_mesh_memory() takes on every rank: gpu_mesh_bytes() for
// exchanges of fixed size, gpu_visit_bytes() for atoms and forces of MeshMethod::Dedicated if particle ranks have `slots` slots.
template <class N>
std::size_t gpu_mesh_bytes(const MeshSetup& setup);
template <class N>
std::size_t gpu_visit_bytes(const MeshSetup& setup, std::size_t slots);
// Lays out the memory of a run with PME on several ranks: of the mesh of charges, then of those of dispersion, which MeshMethod::
// Dedicated cannot have. Particle ranks have at most `slots` slots. Throws CommError if memory or signals are used up.
template <class N>
std::vector<GpuMeshMemory> make_gpu_mesh_memory(GpuWorld& world, const MeshSetup& setup, std::size_t slots);
// Replaces the memory of `dedicated`, if any. No work may be queued; objects made with the old memory must be made again.
template <class N>
void make_room_for_visits(GpuMeshMemory& memory, std::size_t slots);

} // namespace parhelion
