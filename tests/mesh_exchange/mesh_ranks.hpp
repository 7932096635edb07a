// SPDX-License-Identifier: Apache-2.0
// Charges dealt out to ranks, which compute their mesh again and again while the charges move; every force against that of a lone
// rank.
#pragma once

#include "comm/run_ranks.hpp"
#include "interactions/mesh/ions.hpp"
#include "mesh_exchange/rank_mesh.hpp"
#include "support/decomposition.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace parhelion::test {

inline constexpr MeshMethod mesh_methods[] = {MeshMethod::Gathered, MeshMethod::Bricks};
inline std::string name_of(MeshMethod method) { return std::string(mesh_method_names[static_cast<std::size_t>(method)]); }

template <class N>
class MeshRanks
{
public:
    MeshRanks(const CellGrid& grid, MeshMethod method, int threads, const MakeNetwork& network,
              std::chrono::nanoseconds deadline = WorldOptions().deadline)
        : system_(charged_ions({2.1, 2.6, 3.3})),
          domains_(system_, {.grid = grid, .reach = 0.5, .threads = threads, .network = network, .deadline = deadline})
    {
        RunParameters run = pme_parameters();
        run.mesh_nx = 20, run.mesh_ny = 14, run.mesh_nz = 12;
        parameters_ = mesh_parameters(system_.topology, run, system_.box);
        for (int rank = 0; rank < domains_.ranks(); ++rank)
        {
            meshes_.push_back(std::make_unique<RankMesh<N>>(parameters_, method, domains_.rank(rank).comm));
        }
        for (int step = 0; step < patterns; ++step) { expected_.push_back(of_one_rank(step)); }
    }

    // Forces that are not those of one rank, in so many steps.
    std::int64_t wrong_in(std::int64_t steps)
    {
        std::atomic<std::int64_t> wrong{0};
        domains_.on_ranks([&](DomainRank<N>& r) { wrong += take(r, steps); });
        return wrong;
    }
    std::vector<std::exception_ptr> outcomes(std::int64_t steps)
    {
        return domains_.outcomes([&](DomainRank<N>& r) { take(r, steps); });
    }

private:
    static constexpr int patterns = 7; // of displacements, one after another

    using Forces = std::vector<Vec3<typename N::ForceSum>>; // by global atom

    // Moves all atoms to where they are in a step.
    static void move(ParticleState<N>& state, const ParticleState<N>& whole, std::int64_t step)
    {
        using Fixed = typename N::Fixed;
        for (std::size_t slot = 0; slot < state.home_slots(); ++slot)
        {
            const std::int32_t atom = state.global_of_slot[slot];
            if (atom < 0) { continue; }
            auto x = whole.x.get(static_cast<std::size_t>(whole.slot_of_global[static_cast<std::size_t>(atom)]));
            const auto shift = static_cast<Fixed>(step % patterns) * (~Fixed{0} / 23);
            x.x += shift, x.y += 2 * shift, x.z -= shift;
            state.x.set(slot, x);
        }
    }

    Forces of_one_rank(std::int64_t step)
    {
        CpuQueue queue(1);
        ParticleState<N> state = domains_.whole();
        move(state, domains_.whole(), step);
        Mesh<N> mesh(parameters_);
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

    std::int64_t take(DomainRank<N>& r, std::int64_t steps)
    {
        RankMesh<N>& mesh = *meshes_[static_cast<std::size_t>(r.comm.rank())];
        ForceBuffers<N> buffers;
        std::int64_t wrong = 0;
        for (std::int64_t step = 0; step < steps; ++step)
        {
            r.comm.set_tag(step);
            move(r.state, domains_.whole(), step);
            clear_forces(r.queue, buffers, r.state.slots());
            mesh.compute(r.queue, r.state, buffers, Compute::Forces);
            const Forces& expected = expected_[static_cast<std::size_t>(step % patterns)];
            for (std::size_t slot = 0; slot < r.state.home_slots(); ++slot)
            {
                const std::int32_t atom = r.state.global_of_slot[slot];
                if (atom < 0) { continue; }
                Vec3<typename N::ForceSum> f{};
                for (const auto& of_thread : buffers.forces) { f += of_thread.get(slot); }
                wrong += f == expected[static_cast<std::size_t>(atom)] ? 0 : 1;
            }
        }
        return wrong;
    }

    System system_;
    Decomposition<N> domains_;
    MeshParameters parameters_;
    std::vector<std::unique_ptr<RankMesh<N>>> meshes_; // by rank; their channels end before the world
    std::vector<Forces> expected_;                     // by pattern
};

} // namespace parhelion::test
