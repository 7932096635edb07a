// SPDX-License-Identifier: Apache-2.0
// PME's mesh of a run on several ranks: forces on home atoms, and this rank's part of energy and virial.
//
// Several ways to share the work, one result; in reproducible policies the bits are those of a lone rank.
//   gathered   every rank gets the charges of all and computes the whole mesh: one exchange, no gain in speed. The reference.
//   bricks     planes of the grid and rows of the spectrum are dealt out: charges to their owners, spectra to who solves them and
//              back, potentials to who has the atoms. Any grid of ranks.
//   shared     planes lie where the atoms are that reach them, at home or in the halo: spectra alone are exchanged. Slabs along
//              x.
//   dedicated  some ranks have no atoms and do the mesh for the others, who send them positions and charges and get forces.
#pragma once

#include "comm/communicator.hpp"
#include "interactions/mesh/mesh.hpp"
#include "mesh_exchange/mesh_setup.hpp"

#include <memory>

namespace parhelion {

// What a method does; a class for each implements it.
template <class N>
class SharedMesh
{
public:
    virtual ~SharedMesh() = default;
    // When atoms have changed owner and order and there is a new halo. Collective.
    virtual void after_repartition(const ParticleState<N>&) {}
    // Where positions are there that compute() will be called with: what others can go on with meanwhile.
    virtual void start(CpuQueue&, const ParticleState<N>&) {}
    // As Mesh::compute(), of a state that may have halo atoms, whose forces go to their owners with all others; with a rest, it
    // leaves none on halo atoms. Collective.
    virtual void compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                         const MeshWeights& weights) = 0;
    // As Mesh::add_rest().
    virtual void add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state) = 0;
};

template <class N>
class RankMesh
{
public:
    RankMesh(const MeshSetup& setup, Communicator& comm);

    bool is_used() const { return is_used_; }
    void after_repartition(const ParticleState<N>& state)
    {
        if (shared_) { shared_->after_repartition(state); }
    }
    void start(CpuQueue& queue, const ParticleState<N>& state)
    {
        if (shared_) { shared_->start(queue, state); }
    }
    void compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                 const MeshWeights& weights = {});
    void add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state);

    // Bytes that messages to a rank take in its arena.
    static std::size_t payload_bytes(const MeshSetup& setup);
    // What a rank's mesh takes besides, once it has been computed. cells_x: cells of ranks along x, of which the rank's home
    // atoms, in so many slots, fill one. Of a rank that has others' atoms: their slots.
    static std::size_t bytes(const MeshSetup& setup, int rank, int cells_x, std::size_t slots, int threads);

private:
    bool is_used_;
    Mesh<N> lone_; // of a rank that is alone
    std::unique_ptr<SharedMesh<N>> shared_;
};

} // namespace parhelion
