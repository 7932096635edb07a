// SPDX-License-Identifier: Apache-2.0
// A system dealt out to the cells of a grid, its ranks threads of the test: all of a repartition but forces. Between two parallel
// sections nothing runs, and the test looks at all ranks at once.
#pragma once

#include "base/error.hpp"
#include "comm/launch/run_ranks.hpp"
#include "comm/networks/networks.hpp"
#include "comm/world/world.hpp"
#include "domain/halo_plan.hpp"
#include "domain/migrate.hpp"
#include "model/system.hpp"
#include "pairs/cluster_order.hpp"
#include "pairs/pair_list.hpp"
#include "support/faulty.hpp"
#include "support/number_in.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace parhelion::test {

inline std::string name_of(const CellGrid& grid)
{
    return std::to_string(grid.cells[0]) + "x" + std::to_string(grid.cells[1]) + "x" + std::to_string(grid.cells[2]);
}

// Every grid of 2 to 8 ranks.
inline std::vector<CellGrid> all_grids()
{
    std::vector<CellGrid> grids;
    for (int x = 1; x <= 8; ++x)
    {
        for (int y = 1; x * y <= 8; ++y)
        {
            for (int z = x * y == 1 ? 2 : 1; x * y * z <= 8; ++z) { grids.push_back({{x, y, z}}); }
        }
    }
    return grids;
}

// A grid whose borders are at these fractions of the box edges.
inline CellGrid moved_grid(const std::array<int, 3>& cells, const std::vector<double>& x, const std::vector<double>& y,
                           const std::vector<double>& z)
{
    CellGrid grid{cells};
    for (std::size_t d = 0; d < 3; ++d)
    {
        for (const double border : d == 0 ? x : d == 1 ? y : z)
        {
            grid.borders[d].push_back(static_cast<std::uint32_t>(border * 0x1p32));
        }
    }
    return grid;
}

// Grids whose borders have moved: cells wider than half the box, and thinner than a halo.
inline std::vector<CellGrid> uneven_grids()
{
    return {moved_grid({2, 1, 1}, {0.8}, {}, {}),
            moved_grid({1, 1, 2}, {}, {}, {0.2}),
            moved_grid({1, 3, 1}, {}, {0.7, 0.8}, {}),
            moved_grid({2, 1, 3}, {0.3}, {}, {0.1, 0.45}),
            moved_grid({2, 2, 2}, {0.7}, {0.35}, {0.55}),
            moved_grid({1, 5, 1}, {}, {0.1, 0.15, 0.7, 0.9}, {}),
            moved_grid({8, 1, 1}, {0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.95}, {}, {})};
}

template <class N>
struct DomainRank
{
    DomainRank(Communicator&& c, int threads) : comm(std::move(c)), queue(threads) {}
    Communicator comm;
    CpuQueue queue;
    ParticleState<N> state;
    HaloPlan plan;
    PairList pairs;
};

template <class N>
class Decomposition
{
public:
    struct Options
    {
        CellGrid grid;
        int more_ranks = 0; // without a cell
        HaloPattern pattern = HaloPattern::Direct;
        double reach = 0; // nm, of the pair list
        int threads = 1;  // of each rank
        MakeNetwork network = [](int ranks) { return thread_network(ranks); };
        std::chrono::nanoseconds deadline = WorldOptions().deadline;
    };

    Decomposition(const System& system, const Options& options)
        : options_(options), topology_(system.topology), update_groups_(make_update_groups(system.topology)),
          world_(std::make_unique<World>(options.network(options.grid.ranks() + options.more_ranks), small(options.deadline)))
    {
        CpuQueue queue(1);
        whole_ = make_state<N>(system, {}, queue);
        for (int r = 0; r < world_->ranks(); ++r)
        {
            ranks_.push_back(std::make_unique<DomainRank<N>>(world_->communicator(r), options.threads));
            ranks_.back()->state = home_atoms(whole_, options_.grid, r, topology_, update_groups_);
        }
    }

    World& world() { return *world_; }
    const CellGrid& grid() const { return options_.grid; }
    void set_grid(const CellGrid& grid) { options_.grid = grid; } // from the next repartition on
    const Topology& topology() const { return topology_; }
    const UpdateGroups& update_groups() const { return update_groups_; }
    const ParticleState<N>& whole() const { return whole_; } // as dealt out
    int ranks() const { return world_->ranks(); }
    DomainRank<N>& rank(int r) { return *ranks_[static_cast<std::size_t>(r)]; }

    // How body(rank) ended on each rank; null: well. A rank that throws stops the others; one that dies tells nobody.
    template <class Body>
    std::vector<std::exception_ptr> outcomes(Body&& body)
    {
        std::vector<std::exception_ptr> ends(ranks_.size());
        std::vector<std::thread> threads;
        for (std::size_t r = 0; r < ranks_.size(); ++r)
        {
            threads.emplace_back([&, r] {
                try
                {
                    body(*ranks_[r]);
                }
                catch (const RankDied&)
                {
                }
                catch (...)
                {
                    ends[r] = std::current_exception();
                    ranks_[r]->comm.abort();
                }
            });
        }
        for (std::thread& thread : threads) { thread.join(); }
        return ends;
    }
    // Throws what the first rank to fail for a reason of its own has thrown.
    template <class Body>
    void on_ranks(Body&& body)
    {
        run_ranks(
            world_->here(), [&](int r) { body(rank(r)); }, [&](int r) { rank(r).comm.abort(); });
    }

    // For a rank, in a parallel section.
    void repartition(DomainRank<N>& r, std::int64_t step) const
    {
        migrate(r.queue, options_.grid, topology_, update_groups_, r.comm, step, r.state);
        reorder(r.queue, r.state, options_.grid.zone(r.comm.rank(), {}));
        r.plan = build_halo(r.queue, options_.grid, options_.pattern, options_.reach, r.comm, step, r.state);
        build_pair_list(r.queue, r.state, topology_, options_.reach, r.pairs);
    }
    void repartition(std::int64_t step = 0)
    {
        on_ranks([&](DomainRank<N>& r) { repartition(r, step); });
    }

    // By global atom; -1: nobody's. An atom of two ranks is an error.
    std::vector<int> owners()
    {
        std::vector<int> owner(whole_.slot_of_global.size(), -1);
        for (int r = 0; r < ranks(); ++r)
        {
            const ParticleState<N>& state = rank(r).state;
            for (std::size_t slot = 0; slot < state.home_slots(); ++slot)
            {
                const std::int32_t atom = state.global_of_slot[slot];
                if (atom < 0) { continue; }
                PARHELION_EXPECTS(owner[static_cast<std::size_t>(atom)] == -1);
                PARHELION_EXPECTS(state.slot_of_global[static_cast<std::size_t>(atom)] == static_cast<std::int32_t>(slot));
                owner[static_cast<std::size_t>(atom)] = r;
            }
        }
        return owner;
    }
    // A home atom's place in its owner's state.
    static std::size_t slot_of(const ParticleState<N>& state, std::size_t atom)
    {
        PARHELION_EXPECTS(state.slot_of_global[atom] >= 0);
        return static_cast<std::size_t>(state.slot_of_global[atom]);
    }
    // By global atom, as their owners have them.
    std::vector<Vec3<typename N::Fixed>> positions()
    {
        const std::vector<int> owner = owners();
        std::vector<Vec3<typename N::Fixed>> x;
        for (std::size_t atom = 0; atom < owner.size(); ++atom)
        {
            const ParticleState<N>& state = rank(owner[atom]).state;
            x.push_back(state.x.get(slot_of(state, atom)));
        }
        return x;
    }

private:
    static WorldOptions small(std::chrono::nanoseconds wait)
    {
        WorldOptions options;
        options.deadline = wait;
        options.payload_bytes = std::size_t{1} << 26;
        options.signal_slots = std::size_t{1} << 12;
        options.tag_name = "step";
        if (const int asked = number_in("PARHELION_TEST_DEADLINE", 0); asked > 0)
        {
            options.deadline = std::chrono::seconds(asked);
        }
        return options;
    }

    Options options_;
    Topology topology_;
    UpdateGroups update_groups_;
    ParticleState<N> whole_;
    std::unique_ptr<World> world_;
    std::vector<std::unique_ptr<DomainRank<N>>> ranks_;
};

} // namespace parhelion::test
