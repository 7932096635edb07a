// SPDX-License-Identifier: Apache-2.0
// dedicated: some ranks have no atoms of their own. They do the mesh for the others, while these compute pairs.
//
// Every particle rank sends every mesh rank those of its home atoms that reach the mesh rank's planes now, positions and charges,
// and gets what these planes contribute to their forces, in the same order. So no atom can stray too far, and the division of the
// box does not matter. The mesh rank puts the visitors of all into arrays of its own; among mesh ranks spectra are exchanged.
//
// Each message is a put with a signal, between two ranks that wait for nobody else. Slots are placed at a repartition, when the
// receiver knows how many home atoms the other has, with room to grow, and used again without credits: atoms are sent when forces
// have come, and forces when atoms have. The model is mesh_dedicated.pml.
// Cost: of a particle rank a pass over its home atoms for each mesh rank; of a mesh rank two copies of its visitors.
#pragma once

#include "mesh_exchange/planes.hpp"
#include "mesh_exchange/rank_mesh.hpp"

#include <vector>

namespace parhelion {

// The messages from a rank to some others, and from these to it.
class PartnerMessages
{
public:
    // With the ranks [first, end).
    PartnerMessages(Communicator& comm, int first, int end, const std::string& sent, const std::string& received);

    std::size_t partners() const { return channels_.size(); }
    int rank(std::size_t partner) const { return channels_[partner].send.peer(); }
    // Room for messages of so many bytes from a partner, who is to bind() to it. Between two exchanges.
    Placement reserve(std::size_t partner, std::size_t bytes);
    void bind(std::size_t partner, Placement placement) { channels_[partner].send.bind(placement); }

    std::byte* begin(std::size_t partner, std::size_t bytes) { return channels_[partner].send.begin(bytes); }
    void publish(std::size_t partner, std::size_t bytes) { channels_[partner].send.publish(bytes); }
    // There until the next call. Throws CommError, PeerAborted.
    Message await(std::size_t partner);

private:
    std::vector<ChannelPair> channels_;
};

// Of a rank that has atoms.
template <class N>
class MeshElsewhere final : public SharedMesh<N>
{
public:
    MeshElsewhere(const MeshSetup& setup, Communicator& comm);
    void after_repartition(const ParticleState<N>& state) override;
    void start(CpuQueue& queue, const ParticleState<N>& state) override;
    void compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                 const MeshWeights& weights) override;
    void add_rest(CpuQueue& queue, const MeshWeights& weights, ParticleState<N>& state) override;

private:
    using Force = Vec3<typename N::ForceSum>;

    Communicator& comm_;
    MeshCut cut_;
    PartnerMessages messages_;         // with mesh ranks
    std::vector<MeshAtoms<N>> atoms_;  // by mesh rank: those that it gets
    std::vector<const Force*> forces_; // by mesh rank: of these atoms; the rest of the forces follows
};

// Of a rank that has none.
template <class N>
class VisitorsMesh final : public SharedMesh<N>
{
public:
    VisitorsMesh(const MeshSetup& setup, Communicator& comm);
    void after_repartition(const ParticleState<N>& state) override;
    void compute(CpuQueue& queue, const ParticleState<N>& state, ForceBuffers<N>& buffers, Compute compute,
                 const MeshWeights& weights) override;
    void add_rest(CpuQueue&, const MeshWeights&, ParticleState<N>&) override {} // sent with the forces

    // Of a visitor, what is held of it.
    static constexpr std::size_t bytes_of_visitor =
        3 * (sizeof(typename N::Fixed) + 2 * sizeof(typename N::ForceSum)) + sizeof(typename N::Real);

private:
    // The visitors from one rank: slots from `first` on.
    struct Visit
    {
        std::size_t first = 0, count = 0;
    };
    void take_in(CpuQueue& queue);
    void send_back(CpuQueue& queue, const MeshWeights& weights);

    Communicator& comm_;
    mesh::PlaneRange own_;
    MeshPlanes<N> planes_;
    PartnerMessages messages_; // with particle ranks
    std::vector<Visit> visits_;
    ParticleState<N> visitors_; // their positions, charges and forces
    ClusterArray<typename N::ForceSum> rest_;
    MeshAtoms<N> atoms_;
};

} // namespace parhelion
