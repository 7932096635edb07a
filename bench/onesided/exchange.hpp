// SPDX-License-Identifier: Apache-2.0
// Ways to exchange a halo with one-sided stores and loads that the engine has not, to be timed beside its own (Reyes, Turner,
// Hess, "Improving the scaling and performance of GROMACS on HECToR using single-sided communications", 2013, chapter 3). They go
// pulse by pulse like staged-host, over the same plan, between ranks that reach each other's memory. Every rank has its positions
// and the forces on its halo in symmetric memory, at the same offset.
//
//   put        pack into a buffer of the destination, signal; the destination copies out of it
//   straight   the same, but into the destination's positions, which are contiguous there; forces as by put, for they are added
//   get        pack here, signal; the destination fetches straight into its positions, and adds forces straight from the holder's
// Who may write again is told by a counter of each pair, or by a barrier of all ranks before every message; where messages are
// got, the barrier is also their signal.
// A collective maximum before every message, or before those of some exchanges, is what growing symmetric buffers costs.
#pragma once

#include "comm/world/communicator.hpp"
#include "comm/world/world.hpp"
#include "domain/halo_plan.hpp"

#include <string>
#include <vector>

namespace parhelion {

enum class Move : std::uint8_t
{
    Put,
    Straight,
    Get
};
enum class Sync : std::uint8_t
{
    Counters,
    Barrier
};

struct OneSidedVariant
{
    std::string name;
    Move move = Move::Put;
    Sync sync = Sync::Counters;
    int maximum_every = 0; // exchanges with a collective maximum before each message; 0: none
};

class OneSidedExchange
{
public:
    using Fixed = Mixed::Fixed;
    using ForceSum = Mixed::ForceSum;

    // Collective. Throws CommError if the ranks do not reach each other's memory. All outlive it.
    OneSidedExchange(World& world, Communicator& comm, const HaloPlan& plan, const OneSidedVariant& variant);

    Fixed* x(std::size_t cluster) { return positions_ + cluster * block; }      // home, then halo
    ForceSum* halo_f(std::size_t cluster) { return forces_ + cluster * block; } // of the halo alone
    ForceSum* home_f(std::size_t cluster) { return &home_forces_[cluster * block]; }

    // Each followed by the other. Throw CommError if another rank is not heard of for a minute.
    void send_coordinates();
    void return_forces();

private:
    static constexpr std::size_t block = 3 * cluster_size; // values of a cluster
    // A message of the plan: pairs of places are here and there.
    struct Message
    {
        std::size_t clusters, count;         // sent and received positions; forces go the other way
        int to, from;                        // of positions
        std::size_t first;                   // of the received, in the own positions
        std::size_t first_there, halo_there; // of the sent: in the destination's positions and halo forces
        std::size_t x_slot, f_slot;          // offsets, in every rank's memory
        std::size_t flags;
    };
    enum class Flag : std::size_t;

    template <class T>
    T* at(int rank, std::size_t offset) const;
    void lay_out();
    Word* flag(int rank, const Message& message, Flag flag) const;
    void wait(const Word* word, Word value) const;
    // The greatest of all ranks' values: log2(ranks) rounds, after each of which twice as many are known of.
    Word maximum(Word value);
    void before_message(std::size_t clusters);
    void add_forces(std::size_t m, const ForceSum* received);

    World& world_;
    Communicator& comm_;
    const HaloPlan& plan_;
    const OneSidedVariant variant_;
    Window memory_;
    std::size_t barrier_flags_ = 0, x_offset_ = 0, f_offset_ = 0; // in every rank's memory
    Fixed* positions_ = nullptr;
    ForceSum* forces_ = nullptr;
    std::vector<ForceSum> home_forces_;
    std::vector<Message> messages_;
    Word epoch_ = 0, maxima_ = 0;
};

} // namespace parhelion
