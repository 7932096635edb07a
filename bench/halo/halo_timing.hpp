// SPDX-License-Identifier: Apache-2.0
// How long an exchange takes by itself: positions out, forces back, on ranks that do nothing else. What `parhelion bench halo`
// reports.
//
// The halo is a real one, built from atoms at random places at the density of liquid water, as by a run whose pair list reaches
// 1.2 nm. Cost: memory of the whole box, some 150 bytes an atom.
#pragma once

#include "comm/networks/networks.hpp"
#include "comm/transports/virtual_nodes.hpp"
#include "domain/halo_plan.hpp"
#include "domain/migrate.hpp"
#include "halo/method.hpp"
#include "model/system.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace parhelion {

// Says where the threads are that carry messages between virtual nodes.
enum class Proxies : std::uint8_t
{
    Own,     // each has a core of its own, on which it polls
    Polling, // likewise, but a thread is there that computes without a pause
    Sleeping // all are on one such core, and sleep until a message is due
};
inline constexpr std::array<std::string_view, 3> proxies_in_words = {"own", "polling", "sleeping"};

struct HaloTimingOptions
{
    int ranks = 2;
    int threads = 1; // of each rank
    HaloMethod method = HaloMethod::Direct;
    std::int64_t halo_atoms = 10000;                  // of a rank, wanted; the smallest halo that a grid allows may be larger
    int exchanges = 200;                              // timed, after a tenth as many that are not
    std::optional<NicEmulation> nodes = std::nullopt; // virtual ones; nothing: all ranks reach each other
    Proxies proxies = Proxies::Own;
};

struct HaloTiming
{
    std::array<int, 3> grid{1, 1, 1};
    std::string helpers;       // where they were
    int messages = 0;          // of a rank, each way
    double halo_atoms = 0;     // of a rank, mean; with fillers, which travel too
    double bytes = 0;          // sent by a rank, both ways
    double median_us = 0;      // of one coordinate + force exchange, rank 0
    double worst_tenth_us = 0; // nine of ten took less
    double mean_us = 0;        // of all: whoever shares a core waits seldom, and long
};

// Atoms at random places, and the cells of ranks.
struct HaloBox
{
    static constexpr double reach = 1.2; // nm
    CellGrid grid;
    System system;
    UpdateGroups groups;
    ParticleState<Mixed> whole;
};
// A cubic box of this edge (nm). Throws InputError E630 if the grid does not fit it.
HaloBox random_box(const CellGrid& grid, double edge);
// A rank's atoms with their halo.
struct RankWithHalo
{
    ParticleState<Mixed> state;
    HaloPlan plan;
};
RankWithHalo rank_with_halo(const HaloBox& box, HaloPattern pattern, Communicator& comm, CpuQueue& queue);

// Throws InputError E630 if no grid of these ranks fits a box of the size that would have such halos.
HaloTiming time_halo(const HaloTimingOptions& options);

} // namespace parhelion
