// SPDX-License-Identifier: Apache-2.0
// What the meshes of all ranks on GPUs share: the cut, and the messages of each exchange, as mesh_exchange/peer_messages.hpp has
// them on CPUs: one from every rank to every other, in slots of the size of the largest, without credits. The argument is in
// docs/design/communication.md, the model is mesh_exchange.pml.
//
//   charges      from who has atoms to who has planes; of a piece of planes the rows that some atom touches, and which these are
//   there, back  spectra, from who has planes to who solves rows and back: [plane][row][kz]
//   potentials   back to who has atoms: the rows that were touched
//
// Cost, in the memory of each rank: of charges and potentials as much as its planes for each peer, of spectra as much as its
// planes.
#pragma once

#include "comm/gpu/peer_ends.hpp"
#include "mesh_exchange/mesh_setup.hpp"

#include <cstdint>
#include <optional>

namespace parhelion {

struct GpuMeshMemory
{
    MeshSetup setup;
    // None where the method has no such exchange.
    std::optional<GpuPeerEnds> charges, there, back, potentials;
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

// Bytes of symmetric memory that make_gpu_mesh_memory() takes on every rank.
template <class N>
std::size_t gpu_mesh_bytes(const MeshSetup& setup);
// Of a run with PME on several ranks. Throws CommError if memory or signals are used up.
template <class N>
GpuMeshMemory make_gpu_mesh_memory(GpuWorld& world, const MeshSetup& setup);

} // namespace parhelion
