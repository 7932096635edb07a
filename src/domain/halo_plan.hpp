// SPDX-License-Identifier: Apache-2.0
// Plans which clusters a rank sends to which rank, and where it keeps received ones. A repartition makes it, every step uses it.
//
// The idea: a rank needs every cluster ahead of its cell that may hold an atom within the pair list's reach of an atom in
// the cell (state/territory.hpp). Whole clusters are sent, fillers included. A halo cluster equals its owner's bit
// for bit, and a message is a list of 8-atom blocks. There are two plans for the same halo:
//   staged  one message per pulse, z first, then y, then x. A pulse also forwards clusters of earlier pulses, so there are few
//           messages, one after the other (Doijade et al., SC Workshops '25, section 2.2). A pulse lists home clusters first,
//           which wait for nothing. The other clusters depend on the pulses that brought them.
//   direct  one message to every rank behind, without forwarding: many messages at once.
// Cost per list interval: a pass over the clusters per message. Charges and types of atoms are sent beside the positions.
#pragma once

#include "comm/world/communicator.hpp"
#include "device/cpu_queue.hpp"
#include "domain/cell_grid.hpp"
#include "state/particle_state.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

enum class HaloPattern : std::uint8_t
{
    Staged,
    Direct
};

// One message of the coordinate exchange, sent and received. Forces are sent in the opposite direction.
struct HaloMessage
{
    int send_to = 0, receive_from = 0;
    std::vector<std::int32_t> clusters; // clusters sent; ascending, so home first, then by the message that brought them
    std::size_t home = 0;               // number of home clusters among the sent clusters
    std::int32_t first = 0, count = 0;  // halo clusters received: [first, first + count)
};

struct HaloPlan
{
    HaloPattern pattern = HaloPattern::Staged;
    std::array<int, 3> pulses{};       // numbers of cells ahead from which atoms come
    std::vector<HaloMessage> messages; // ordered as the pulses; later messages may forward clusters of earlier ones
    std::size_t home_clusters = 0;

    std::size_t halo_clusters() const
    {
        return messages.empty() ? 0 : static_cast<std::size_t>(messages.back().first + messages.back().count) - home_clusters;
    }
    // Returns the range of clusters of block k: the home clusters for k = 0, otherwise those that message k - 1 brings.
    std::pair<std::int32_t, std::int32_t> block(std::size_t k) const
    {
        if (k == 0) { return {0, static_cast<std::int32_t>(home_clusters)}; }
        return {messages[k - 1].first, messages[k - 1].first + messages[k - 1].count};
    }
};

// Appends the halo to a state without halo: positions, charges, types, global indices, territory. Its atoms are entered in
// slot_of_global. reach (nm): of the pair list. Collective. Preconditions: the state is in cluster order, and every update
// group's reference atom is in its owner's cell (migrate()). Throws GridError E505 if the box is too small for the grid.
template <class N>
HaloPlan build_halo(CpuQueue& queue, const CellGrid& grid, HaloPattern pattern, double reach, Communicator& comm,
                    std::int64_t step, ParticleState<N>& state);

} // namespace parhelion
