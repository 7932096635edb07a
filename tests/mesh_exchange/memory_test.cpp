// SPDX-License-Identifier: Apache-2.0
// The memory that `check` tells for PME's mesh, against what the heap has given out once it has been computed.
#include "mesh_exchange/rank_mesh.hpp"
#include "support/decomposition.hpp"
#include "support/refdata.hpp"

#include <gtest/gtest.h>

#include <malloc.h>
#include <tuple>

using namespace parhelion;
using namespace parhelion::test;

namespace {

std::int64_t heap_bytes()
{
    const struct mallinfo2 info = mallinfo2();
    return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

struct MemoryCase
{
    MeshMethod method;
    std::array<int, 3> cells;
    int threads;
    double bound; // relative; where atoms are decides how large patches are
};

class MeshMemory : public ::testing::TestWithParam<MemoryCase>
{
protected:
    // Planned and real bytes of all ranks.
    template <class N>
    void compare() const
    {
        const auto [method, cells, threads, bound] = GetParam();
        const Refdata data = load_refdata("etoh/pme");
        RunParameters run = data.parameters;
        run.mesh_nx = 60, run.mesh_ny = 50, run.mesh_nz = 64;
        constexpr double reach = 1; // nm
        const int mesh_ranks = method == MeshMethod::Dedicated ? 2 : 0;
        Decomposition<N> domains(data.system,
                                 {.grid = CellGrid{cells}, .more_ranks = mesh_ranks, .reach = reach, .threads = threads});
        domains.repartition();
        const MeshSetup setup =
            make_mesh_setup(mesh_parameters(data.system.topology, run, data.system.box), method,
                            {.cells = cells, .mesh_ranks = mesh_ranks, .box = data.system.box, .reach = reach});
        std::vector<ForceBuffers<N>> buffers(static_cast<std::size_t>(domains.ranks()));
        const auto on_ranks = [&](auto&& body) {
            domains.on_ranks([&](DomainRank<N>& r) { body(r, static_cast<std::size_t>(r.comm.rank())); });
        };
        on_ranks([&](DomainRank<N>& r, std::size_t rank) { clear_forces(r.queue, buffers[rank], r.state.slots()); });
        std::vector<std::unique_ptr<RankMesh<N>>> meshes(buffers.size());
        std::int64_t planned = 0;

        const std::int64_t before = heap_bytes();
        for (std::size_t rank = 0; rank < meshes.size(); ++rank)
        {
            DomainRank<N>& r = domains.rank(static_cast<int>(rank));
            meshes[rank] = std::make_unique<RankMesh<N>>(setup, r.comm);
            const std::size_t slots = r.state.slots() > 0 ? r.state.slots() : data.system.x.size() / mesh_ranks;
            planned += static_cast<std::int64_t>(RankMesh<N>::bytes(setup, static_cast<int>(rank), cells[0], slots, threads));
        }
        on_ranks([&](DomainRank<N>& r, std::size_t rank) {
            meshes[rank]->after_repartition(r.state, CellGrid{cells}.lower_borders(0));
            meshes[rank]->start(r.queue, r.state);
            meshes[rank]->compute(r.queue, r.state, buffers[rank], Compute::ForcesEnergiesVirial);
        });
        const std::int64_t real = heap_bytes() - before;
        if (real == 0) { GTEST_SKIP() << "nobody counts the heap here"; } // as under the address sanitizer
        EXPECT_GT(real, 1'000'000);
        EXPECT_NEAR(static_cast<double>(planned) / static_cast<double>(real), 1, bound) << planned << " bytes, not " << real;
    }
};

} // namespace

TEST_P(MeshMemory, is_what_is_planned_in_mixed_precision) { compare<Mixed>(); }
TEST_P(MeshMemory, is_what_is_planned_in_double_precision_with_reproducible_sums) { compare<DoubleReproducible>(); }

INSTANTIATE_TEST_SUITE_P(
    Methods, MeshMemory,
    ::testing::Values(MemoryCase{MeshMethod::Bricks, {1, 1, 1}, 2, 0.03}, MemoryCase{MeshMethod::Gathered, {2, 2, 1}, 1, 0.1},
                      MemoryCase{MeshMethod::Bricks, {2, 2, 1}, 2, 0.1}, MemoryCase{MeshMethod::Bricks, {1, 1, 3}, 1, 0.1},
                      MemoryCase{MeshMethod::Shared, {4, 1, 1}, 1, 0.1}, MemoryCase{MeshMethod::Dedicated, {2, 1, 1}, 1, 0.1}));
