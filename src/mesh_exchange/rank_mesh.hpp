// SPDX-License-Identifier: Apache-2.0
// PME's mesh of a run on several ranks: computes forces on home atoms, and this rank's part of energy and virial.
//
// Ranks share the work by one of these methods; the result is the same. Reproducible policies have the bits of a lone rank.
//   gathered   every rank gets all charges and computes the whole mesh: one exchange, no gain in speed. It is the reference.
//   bricks     planes of the grid and rows of the spectrum are divided among ranks. Charges go to the planes' owners, spectra to
//              the ranks that solve them and back, potentials to the ranks with the atoms. It works on any grid of ranks.
//   shared     a rank's planes are those that its home and halo atoms reach, so only spectra are exchanged. Cells must be slabs
//              along x.
//   dedicated  mesh ranks have no atoms and compute the mesh; particle ranks send them positions and charges, and get forces.
//
// With LJ-PME there are meshes of dispersion besides that of charges. They are shared in the same way, each with messages of its
// own, and are computed one after the other.
#pragma once

#include "comm/world/communicator.hpp"
#include "interactions/mesh/mesh.hpp"
#include "mesh_exchange/mesh_setup.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace parhelion {

// The interface of a method; each method is a class that implements it.
template <class N>
class SharedMesh
{
public:
    virtual ~SharedMesh() = default;
    // Call it after atoms have changed owner and order and a new halo exists. Collective. lower_x: the lower border
    // of each cell along x, in 2^-32 box edges.
    virtual void after_repartition(const ParticleState<N>&, std::span<const std::uint32_t> /*lower_x*/) {}
    // Sends the data that other ranks need before compute(). Call it as soon as the positions for compute() exist.
    virtual void start(CpuQueue&, const ParticleState<N>&) {}
    // Does the same as Mesh::compute(), for a state that may have halo atoms. Forces on halo atoms are returned to
    // their owners with all other forces. If MeshWeights::rest is not 0, no forces are left on halo atoms. Collective.
    virtual void compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                         const MeshWeights& weights) = 0;
    // Adds weights.rest times the mesh's forces to state.f, as Mesh::add_rest() does.
    virtual void add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state) = 0;
};

template <class N>
class RankMesh
{
public:
    RankMesh(const MeshSetup& setup, Communicator& comm);

    bool is_used() const { return is_used_; }
    void after_repartition(const ParticleState<N>& state, std::span<const std::uint32_t> lower_x)
    {
        for (const auto& mesh : shared_) { mesh->after_repartition(state, lower_x); }
    }
    void start(CpuQueue& queue, const ParticleState<N>& state)
    {
        for (const auto& mesh : shared_) { mesh->start(queue, state); }
    }
    void compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                 const MeshWeights& weights = {});
    void add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state);

    // Returns the bytes that messages to one rank take in its arena.
    static std::size_t payload_bytes(const MeshSetup& setup);
    // Returns the bytes of a rank's mesh outside of the arena, after the first compute(). cells_x: number of cells along x.
    // slots: number of slots of the rank's home atoms, which fill one cell; on a mesh rank of the received atoms.
    static std::size_t bytes(const MeshSetup& setup, int rank, int cells_x, std::size_t slots, int threads);

private:
    static std::size_t bytes_of_one(const MeshSetup& setup, int rank, int cells_x, std::size_t slots, int threads);

    bool is_used_;
    // First the mesh of charges, then those of dispersion.
    std::vector<Mesh<N>> lone_; // meshes of a lone rank
    std::vector<std::unique_ptr<SharedMesh<N>>> shared_;
};

} // namespace parhelion
