// SPDX-License-Identifier: Apache-2.0
// The method dedicated: some ranks (mesh ranks) have no atoms. They compute the mesh while the particle ranks compute pairs.
//
// Every particle rank sends every mesh rank positions and charges of those home atoms that now reach the mesh rank's planes,
// and gets back the forces from these planes, in the same order. So atoms may move any distance out of their cells, and the
// division of the box does not matter. The mesh rank copies received atoms, its visitors. Mesh ranks exchange spectra.
//
// Each message is a put with a signal between two ranks; neither waits for a third one. Payload slots are placed at a
// repartition, when the receiver knows how many home atoms the sender has, with some spare capacity. They are reused without
// credits: atoms are sent after forces have come, and forces after atoms have come. The model is mesh_dedicated.pml. Cost:
// on a particle rank a pass over its home atoms for each mesh rank; on a mesh rank two copies of its visitors.
#pragma once

#include "mesh_exchange/planes.hpp"
#include "mesh_exchange/rank_mesh.hpp"

#include <vector>

namespace parhelion {

// The messages between this rank and the ranks of the other kind (particle or mesh ranks), in both directions.
class PartnerMessages
{
public:
    // Opens channels with the ranks [first, end).
    PartnerMessages(Communicator& comm, int first, int end, const std::string& sent, const std::string& received);

    std::size_t partners() const { return channels_.size(); }
    int rank(std::size_t partner) const { return channels_[partner].send.peer(); }
    // Reserves memory for messages of `bytes` from a partner, which must bind() to it. Call it between two exchanges.
    Placement reserve(std::size_t partner, std::size_t bytes);
    void bind(std::size_t partner, Placement placement) { channels_[partner].send.bind(placement); }

    std::byte* begin(std::size_t partner, std::size_t bytes) { return channels_[partner].send.begin(bytes); }
    void publish(std::size_t partner, std::size_t bytes) { channels_[partner].send.publish(bytes); }
    // Waits for a partner's message, and returns it; it is valid until the next call. Throws CommError, PeerAborted.
    Message await(std::size_t partner);

private:
    std::vector<ChannelPair> channels_;
};

// The mesh as a particle rank sees it: other ranks compute it.
template <class N>
class MeshElsewhere final : public SharedMesh<N>
{
public:
    MeshElsewhere(const MeshSetup& setup, Communicator& comm);
    void after_repartition(const ParticleState<N>& state, std::span<const std::uint32_t> lower_x) override;
    void start(CpuQueue& queue, const ParticleState<N>& state) override;
    void compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                 const MeshWeights& weights) override;
    void add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state) override;

private:
    using Force = Vec3<typename N::ForceSum>;

    Communicator& comm_;
    MeshCut cut_;
    PartnerMessages messages_;         // messages with mesh ranks
    std::vector<MeshAtoms<N>> atoms_;  // for each mesh rank: the atoms sent to it
    std::vector<const Force*> forces_; // for each mesh rank: forces on these atoms, then the forces for add_rest()
};

// The mesh as a mesh rank sees it: it computes the mesh for the atoms of particle ranks, its visitors.
template <class N>
class VisitorsMesh final : public SharedMesh<N>
{
public:
    VisitorsMesh(const MeshSetup& setup, Communicator& comm);
    void after_repartition(const ParticleState<N>& state, std::span<const std::uint32_t> lower_x) override;
    void compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                 const MeshWeights& weights) override;
    void add_rest(CpuQueue&, const MeshWeights&, ParticleState<N>&) override {} // does nothing: sent with the forces

    // The number of bytes that a mesh rank holds for each visitor.
    static constexpr std::size_t bytes_of_visitor =
        3 * (sizeof(typename N::Fixed) + 2 * sizeof(typename N::ForceSum)) + sizeof(typename N::Real);

private:
    // The visitors from one particle rank: they are in `count` slots, from slot `first` on.
    struct Visit
    {
        std::size_t first = 0, count = 0;
    };
    void take_in(CpuQueue& queue);
    void send_back(CpuQueue& queue, const MeshWeights& weights);

    Communicator& comm_;
    mesh::PlaneRange own_;
    MeshPlanes<N> planes_;
    PartnerMessages messages_; // messages with particle ranks
    std::vector<Visit> visits_;
    ParticleState<N> visitors_; // positions, charges (on a mesh of dispersion strengths) and forces of the visitors
    ClusterArray<typename N::ForceSum> rest_;
    MeshAtoms<N> atoms_;
};

} // namespace parhelion
