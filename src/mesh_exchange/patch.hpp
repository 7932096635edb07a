// SPDX-License-Identifier: Apache-2.0
// Sends charges from ranks with atoms to the owners of grid planes, and potentials back.
//
// A rank spreads its home atoms on its own patch: the planes and rows that these atoms reach, with all points
// along z. It sends every owner of planes the piece of the patch on the owner's planes. An owner adds the pieces
// in the order of ranks, and sends potentials of the same pieces back. The division of the box does not matter,
// nor how far atoms have moved. Cost: a grid as large as the patch, and a pass over each piece on either side.
#pragma once

#include "interactions/mesh/mesh.hpp"
#include "mesh_exchange/mesh_setup.hpp"
#include "mesh_exchange/peer_messages.hpp"

#include <optional>
#include <vector>

namespace parhelion {

// Returns the shortest periodic range with all marked places and the `more` places after the last of them; empty without marks.
mesh::PlaneRange range_of_marked(const std::vector<char>& marked, int more);

enum class Potentials : std::uint8_t
{
    StayThere, // every rank has all planes
    ComeBack
};

template <class N>
class MeshPatch
{
public:
    using Real = typename N::Real;
    using ChargeSum = mesh::ChargeSum<N>;

    MeshPatch(const MeshSetup& setup, const mesh::Layout& layout, Communicator& comm, Potentials potentials);

    // Spreads home atoms, and sums the charges from all ranks on this rank's planes into `grid`. Collective.
    void spread(CpuQueue& queue, const ParticleState<N>& state, MeshGrid<N>& grid);
    // Adds `weight` times the forces on home atoms, from potentials that the planes' owners send. Collective, after spread().
    void gather(CpuQueue& queue, const ParticleState<N>& state, const Real* potentials, int weight, ForceBuffers<N>& buffers);
    // Adds `weight` times the forces of gather() to state.f, from the potentials that gather() has received.
    void gather_again(CpuQueue& queue, int weight, ParticleState<N>& state) const;

    // Returns the bytes that the slots of all messages to `rank` take in its arena.
    static std::size_t payload_bytes(const MeshCut& cut, const mesh::Layout& layout, int rank, Potentials potentials);

private:
    // The part of a patch that a message contains.
    struct Extent
    {
        mesh::PlaneRange planes, rows;
    };
    // The planes that an extent shares with an owner, by their number on the owner, and by their number in the extent.
    struct Piece
    {
        std::vector<int> of_owner, of_extent;
    };
    // A part of a grid [plane][y][row]. A message holds it as [plane][row of the extent][row].
    struct Rows
    {
        const std::vector<int>& planes;
        const mesh::PlaneRange& rows;
    };

    static int slots(Potentials potentials) { return potentials == Potentials::StayThere ? 2 : 1; }
    static std::size_t charge_bytes(const MeshCut& cut, const mesh::Layout& layout, int owner);
    static std::size_t potential_bytes(const MeshCut& cut, const mesh::Layout& layout, int owner);
    void find_extent(CpuQueue& queue, const ParticleState<N>& state);
    Piece piece(const Extent& extent, int owner) const;
    template <class T>
    std::size_t pack(CpuQueue& queue, const T* grid, const Rows& part, std::byte* to) const;
    template <class T>
    void unpack(CpuQueue& queue, const std::byte* from, const Rows& part, T* grid) const;
    void take_in();
    void add_up(CpuQueue& queue, MeshGrid<N>& grid) const;

    MeshCut cut_;
    mesh::Layout layout_;
    int rank_;
    PeerMessages charges_;
    std::optional<PeerMessages> potentials_;
    MeshAtoms<N> atoms_;
    AlignedVector<ChargeSum> patch_;                    // [plane][y][row]
    AlignedVector<Real> patch_potentials_;              // potentials of the patch, in the same layout
    std::vector<std::vector<char>> marks_;              // [thread]: marks of planes, then of rows
    std::vector<std::size_t> bytes_;                    // for each rank: bytes of the message to it
    std::vector<Extent> extents_;                       // extent of each rank's patch
    std::vector<std::vector<const ChargeSum*>> pieces_; // [plane of this rank][rank]: first row of its piece; null: no piece
};

} // namespace parhelion
