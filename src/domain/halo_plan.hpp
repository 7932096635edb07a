// SPDX-License-Identifier: Apache-2.0
// Which clusters a rank sends to whom, and where it keeps what it gets: rebuilt at every repartition, used in every step.
//
// The idea: a rank needs every cluster ahead of its cell that may hold an atom within the pair list's reach of one in it
// (state/territory.hpp). Whole clusters travel, fillers included: a halo cluster is its owner's, bit for bit, and a message is a
// list of 8-atom blocks. Two plans for the same halo:
//   staged  one message per pulse: z first, then y, then x, each also forwarding what arrived in earlier pulses: few messages,
//           each behind the last (Doijade et al., SC Workshops '25, section 2.2). In the list of a pulse the home clusters, which
//           wait for nothing, come first; the others depend on the pulses that brought them.
//   direct  one message to every rank behind, nothing forwarded: many messages at once.
// Cost: once an interval; a pass over the clusters per message, and the atoms' charges and types beside their positions.
#pragma once

#include "comm/communicator.hpp"
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

// One message of the coordinate exchange, sent and received; forces travel the other way.
struct HaloMessage
{
    int send_to = 0, receive_from = 0;
    std::vector<std::int32_t> clusters; // sent; ascending, so home first, then by the message that brought them
    std::size_t home = 0;               // how many of them are home
    std::int32_t first = 0, count = 0;  // halo clusters received: [first, first + count)
};

struct HaloPlan
{
    HaloPattern pattern = HaloPattern::Staged;
    std::array<int, 3> pulses{};       // cells ahead that atoms come from
    std::vector<HaloMessage> messages; // in the order of the pulses; what one brings, later ones may forward
    std::size_t home_clusters = 0;

    std::size_t halo_clusters() const
    {
        return messages.empty() ? 0 : static_cast<std::size_t>(messages.back().first + messages.back().count) - home_clusters;
    }
    // The clusters that the messages before `message` brought last: 0 is home, k what message k - 1 brings.
    std::pair<std::int32_t, std::int32_t> block(std::size_t k) const
    {
        if (k == 0) { return {0, static_cast<std::int32_t>(home_clusters)}; }
        return {messages[k - 1].first, messages[k - 1].first + messages[k - 1].count};
    }
};

// Appends the halo to a state that has none: positions, charges, types, global indices, territory; slot_of_global learns of its
// atoms. reach (nm): of the pair list. Collective. Preconditions: the state is in cluster order, every update group's
// reference atom is in its owner's cell (migrate()). Throws GridError E505 if the box has become too small for the grid.
template <class N>
HaloPlan build_halo(CpuQueue& queue, const CellGrid& grid, HaloPattern pattern, double reach, Communicator& comm,
                    std::int64_t step, ParticleState<N>& state);

} // namespace parhelion
