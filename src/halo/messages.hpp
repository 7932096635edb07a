// SPDX-License-Identifier: Apache-2.0
// The messages of a rank's halo on a CPU: their channels, their payload slots, and the operations on one message that all methods
// use. Slots are reused without credits: halo/halo.hpp has the argument; the models are halo_staged.pml and halo_direct.pml.
#pragma once

#include "comm/world/communicator.hpp"
#include "device/cpu_queue.hpp"
#include "domain/halo_plan.hpp"
#include "state/particle_state.hpp"

#include <cstring>
#include <map>
#include <vector>

namespace parhelion {

// Returns the bytes of one cluster in a message.
template <class T>
constexpr std::size_t block_bytes = 3 * cluster_size * sizeof(T);

template <class T>
void copy_block(std::byte* to, const T* from)
{
    std::memcpy(to, from, block_bytes<T>);
}

template <class N>
class HaloMessages
{
public:
    using Fixed = typename N::Fixed;
    using ForceSum = typename N::ForceSum;

    struct Link // the channels of one message of the plan
    {
        SendChannel send_x;
        ReceiveChannel receive_x;
        SendChannel send_f; // leads back to the rank that sent the positions
        ReceiveChannel receive_f;
    };
    struct Range
    {
        std::size_t begin, end;
    };

    HaloMessages(Communicator& comm, CpuQueue& queue, Word first_epoch) : comm_(comm), queue_(queue), first_epoch_(first_epoch) {}

    // Replaces the plan and makes slots for its messages. Collective; call it between two exchanges.
    void bind(HaloPlan plan);

    const HaloPlan& plan() const { return plan_; }
    CpuQueue& queue() { return queue_; }
    std::size_t size() const { return plan_.messages.size(); }
    Link& link(std::size_t m) { return *links_[m]; }
    // Returns the earlier messages from which message m forwards clusters.
    const std::vector<std::size_t>& forwards(std::size_t m) const { return forwards_[m]; }
    // Return the bytes of message m: of its positions, and of its forces.
    std::size_t bytes_of_x(std::size_t m) const { return plan_.messages[m].clusters.size() * block_bytes<Fixed>; }
    std::size_t bytes_of_f(std::size_t m) const
    {
        return static_cast<std::size_t>(plan_.messages[m].count) * block_bytes<ForceSum>;
    }

    // Returns the range of n items that a thread of the team processes.
    Range share(std::size_t n, int thread) const
    {
        const auto [begin, end] = queue_.range(n, 1, thread);
        return {begin, end};
    }
    void pack_coordinates(std::size_t m, Range entries, const ParticleState<N>& state, std::byte* slot) const;
    void unpack_coordinates(std::size_t m, int thread, const std::byte* slot, ParticleState<N>& state) const;
    void pack_forces(std::size_t m, int thread, const ClusterArray<ForceSum>& halo_forces, std::byte* slot) const;
    void add_forces(std::size_t m, int thread, const std::byte* slot, ClusterArray<ForceSum>& halo_forces,
                    ParticleState<N>& state) const;

    // These two functions exchange messages [begin, end) together: all messages are sent before any is waited for.
    void send_together(std::size_t begin, std::size_t end, ParticleState<N>& state);
    void return_together(std::size_t begin, std::size_t end, ClusterArray<ForceSum>& halo_forces, ParticleState<N>& state);

private:
    Communicator& comm_;
    CpuQueue& queue_;
    Word first_epoch_;
    HaloPlan plan_;
    std::map<std::pair<std::size_t, int>, Link> opened_; // key: the message and the rank to which it is sent
    std::vector<Link*> links_;                           // links of the plan's messages
    std::vector<std::vector<std::size_t>> forwards_;     // indexed by message
};

} // namespace parhelion
