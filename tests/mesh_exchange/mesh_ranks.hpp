// SPDX-License-Identifier: Apache-2.0
// Charges dealt out to ranks, which compute their mesh again and again while the charges move; every force against that of a lone
// rank. The halo stays that of the start: in every other step all charges are somewhere else, far from where a halo would have
// them.
#pragma once

#include "interactions/mesh/ions.hpp"
#include "mesh_exchange/rank_mesh.hpp"
#include "mesh_exchange/slab_limits.hpp"
#include "support/decomposition.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace parhelion::test {

inline constexpr MeshMethod mesh_methods[] = {MeshMethod::Gathered, MeshMethod::Bricks, MeshMethod::Shared,
                                              MeshMethod::Dedicated};
// Beside those with a cell.
inline constexpr int mesh_ranks_of(MeshMethod method) { return method == MeshMethod::Dedicated ? 2 : 0; }
inline std::string name_of(MeshMethod method) { return std::string(mesh_method_names[static_cast<std::size_t>(method)]); }

template <class N>
class MeshRanks
{
public:
    MeshRanks(const CellGrid& grid, MeshMethod method, int threads, const MakeNetwork& network,
              std::chrono::nanoseconds deadline = WorldOptions().deadline)
        : system_(charged_ions({2.1, 2.6, 3.3})), domains_(system_, {.grid = grid,
                                                                     .more_ranks = mesh_ranks_of(method),
                                                                     .reach = reach,
                                                                     .threads = threads,
                                                                     .network = network,
                                                                     .deadline = deadline})
    {
        RunParameters run = pme_parameters();
        run.mesh_nx = 20, run.mesh_ny = 14, run.mesh_nz = 12;
        setup_ = make_mesh_setup(mesh_parameters(system_.topology, run, system_.box), method,
                                 {.cells = grid.cells, .mesh_ranks = mesh_ranks_of(method), .box = system_.box, .reach = reach});
        for (int rank = 0; rank < domains_.ranks(); ++rank)
        {
            meshes_.push_back(std::make_unique<RankMesh<N>>(setup_, domains_.rank(rank).comm));
        }
        domains_.repartition();
        domains_.on_ranks([&](DomainRank<N>& r) { mesh(r.comm.rank()).after_repartition(r.state, grid.lower_borders(0)); });
        for (int step = 0; step < patterns; ++step) { expected_.push_back(of_one_rank(step)); }
    }

    // Forces that are not those of one rank, in so many steps.
    std::int64_t wrong_in(std::int64_t steps)
    {
        const std::size_t atoms = system_.x.size();
        std::vector<std::atomic<std::int64_t>> sums(static_cast<std::size_t>(steps) * atoms * 3);
        domains_.on_ranks([&](DomainRank<N>& r) { take(r, steps, sums.data()); });
        std::int64_t wrong = 0;
        for (std::size_t i = 0; i < sums.size(); ++i)
        {
            const Forces& expected = expected_[i / 3 / atoms % patterns];
            wrong += sums[i] == expected[i / 3 % atoms][static_cast<int>(i % 3)] ? 0 : 1;
        }
        return wrong;
    }
    std::vector<std::exception_ptr> outcomes(std::int64_t steps)
    {
        std::vector<std::atomic<std::int64_t>> sums(static_cast<std::size_t>(steps) * system_.x.size() * 3);
        return domains_.outcomes([&](DomainRank<N>& r) { take(r, steps, sums.data()); });
    }

    // If cells are slabs: can all ranks do this step with the halo that they have?
    bool is_in_reach(std::int64_t step)
    {
        bool all = true;
        for (int rank = 0; rank < domains_.ranks(); ++rank)
        {
            DomainRank<N>& r = domains_.rank(rank);
            SlabLimits limits(setup_.cut, rank);
            limits.follow(r.state, reach, domains_.grid().lower_borders(0));
            ParticleState<N> moved = r.state;
            move(moved, domains_.whole(), step);
            all = limits.are_kept(r.queue, moved) && all;
        }
        return all;
    }

    static constexpr int patterns = 7; // of displacements, one after another

private:
    static constexpr double reach = 0.7;                    // nm
    using Forces = std::vector<Vec3<typename N::ForceSum>>; // by global atom

    RankMesh<N>& mesh(int rank) { return *meshes_[static_cast<std::size_t>(rank)]; }

    // Moves all atoms to where they are in a step: near where they began, or far away.
    static void move(ParticleState<N>& state, const ParticleState<N>& whole, std::int64_t step)
    {
        using Fixed = typename N::Fixed;
        const auto pattern = static_cast<Fixed>(step % patterns);
        const Fixed shift = pattern * (~Fixed{0} / (pattern % 2 == 0 ? 2000 : 7));
        for (std::size_t slot = 0; slot < state.slots(); ++slot)
        {
            const std::int32_t atom = state.global_of_slot[slot];
            if (atom < 0) { continue; }
            auto x = whole.x.get(static_cast<std::size_t>(whole.slot_of_global[static_cast<std::size_t>(atom)]));
            x.x += shift, x.y += 2 * shift, x.z -= shift;
            state.x.set(slot, x);
        }
    }

    Forces of_one_rank(std::int64_t step)
    {
        CpuQueue queue(1);
        ParticleState<N> state = domains_.whole();
        move(state, domains_.whole(), step);
        Mesh<N> mesh(setup_.parameters);
        ForceBuffers<N> buffers;
        clear_forces(queue, buffers, state.slots());
        mesh.compute(queue, state, buffers, Compute::Forces);
        Forces forces;
        for (const std::int32_t slot : state.slot_of_global)
        {
            forces.push_back(buffers.forces[0].get(static_cast<std::size_t>(slot)));
        }
        return forces;
    }

    // sums: [step][atom][3], over ranks.
    void take(DomainRank<N>& r, std::int64_t steps, std::atomic<std::int64_t>* sums)
    {
        ForceBuffers<N> buffers;
        for (std::int64_t step = 0; step < steps; ++step)
        {
            r.comm.set_tag(step);
            move(r.state, domains_.whole(), step);
            clear_forces(r.queue, buffers, r.state.slots());
            mesh(r.comm.rank()).start(r.queue, r.state);
            mesh(r.comm.rank()).compute(r.queue, r.state, buffers, Compute::Forces);
            for (std::size_t slot = 0; slot < r.state.slots(); ++slot)
            {
                const std::int32_t atom = r.state.global_of_slot[slot];
                if (atom < 0) { continue; }
                for (const auto& of_thread : buffers.forces)
                {
                    const auto f = of_thread.get(slot);
                    std::atomic<std::int64_t>* const sum =
                        sums + (static_cast<std::size_t>(step) * system_.x.size() + static_cast<std::size_t>(atom)) * 3;
                    for (int d = 0; d < 3; ++d) { sum[d].fetch_add(f[d], std::memory_order_relaxed); }
                }
            }
        }
    }

    System system_;
    Decomposition<N> domains_;
    MeshSetup setup_;
    std::vector<std::unique_ptr<RankMesh<N>>> meshes_; // by rank; their channels end before the world
    std::vector<Forces> expected_;                     // by pattern
};

} // namespace parhelion::test
