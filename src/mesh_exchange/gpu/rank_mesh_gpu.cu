// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/gpu/rank_mesh_gpu.hpp"

#include "base/error.hpp"
#include "interactions/mesh/gpu/mesh_gpu.hpp"
#include "mesh_exchange/gpu/dedicated.cuh"
#include "mesh_exchange/gpu/patch.cuh"
#include "mesh_exchange/gpu/slab_limits.cuh"
#include "mesh_exchange/gpu/spectrum.cuh"

#include <vector>

namespace parhelion {

namespace {

template <class N>
class LoneMesh final : public GpuRankMesh<N>
{
public:
    LoneMesh(GpuQueue& queue, const MeshSetup& setup)
    {
        meshes_.emplace_back(queue, setup.parameters);
        for (const MeshParameters& parameters : setup.dispersion) { meshes_.emplace_back(queue, parameters); }
    }

    void after_repartition(GpuQueue&, GpuState<N>& state) override
    {
        for (GpuMesh<N>& mesh : meshes_) { mesh.make_room(state.slots); }
    }

    RankProgram compute(GpuQueue& queue, GpuState<N>& state, Compute compute, MeshWeights weights) override
    {
        for (GpuMesh<N>& mesh : meshes_) { mesh.compute(queue, state, compute, weights); }
        co_return;
    }
    void add_rest(GpuQueue& queue, const MeshWeights& weights, GpuState<N>& state) override
    {
        for (GpuMesh<N>& mesh : meshes_) { mesh.add_rest(queue, weights, state); }
    }

private:
    std::vector<GpuMesh<N>> meshes_; // of charges, then those of dispersion
};

std::size_t points_here(const GpuMeshMemory& memory, int rank)
{
    const MeshCut& cut = memory.setup.cut;
    return static_cast<std::size_t>(cut.planes[static_cast<std::size_t>(rank)].count) * static_cast<std::size_t>(cut.points[1]) *
           static_cast<std::size_t>(cut.points[2]);
}

// The methods gathered and bricks: ranks exchange charges and potentials.
template <class N>
class PatchMesh final : public GpuRankMesh<N>
{
public:
    PatchMesh(GpuQueue& queue, const GpuMeshMemory& memory, int rank)
        : potentials_(points_here(memory, rank)), patch_(queue, memory, rank, potentials_.data()), spectrum_(queue, memory, rank)
    {
    }

    RankProgram compute(GpuQueue& queue, GpuState<N>& state, Compute compute, MeshWeights weights) override
    {
        patch_.spread_and_send(queue, state);
        co_await all_are_here;
        patch_.take_in(queue);
        spectrum_.send(queue, patch_.charges());
        co_await all_are_here;
        spectrum_.solve(queue, state, compute);
        co_await all_are_here;
        spectrum_.find_potentials(queue, potentials_.data());
        patch_.send_potentials(queue);
        co_await all_are_here;
        patch_.await_potentials(queue);
        patch_.gather(queue, state, weights.first);
    }
    void add_rest(GpuQueue& queue, const MeshWeights& weights, GpuState<N>& state) override
    {
        patch_.gather(queue, state, weights.rest);
    }

private:
    DeviceBuffer<typename N::Real> potentials_; // potentials of this rank's planes, [plane][y][z]
    GpuMeshPatch<N> patch_;
    GpuMeshSpectrum<N> spectrum_;
};

// The method shared: a rank's planes are those that its atoms reach, so ranks exchange only spectra.
template <class N>
class HaloMesh final : public GpuRankMesh<N>
{
public:
    HaloMesh(GpuQueue& queue, const GpuMeshMemory& memory, std::span<const GpuCell> cells, int rank)
        : parameters_(memory.setup.parameters), limits_(queue, memory.setup.cut, cells, rank),
          charges_(points_here(memory, rank)), potentials_(points_here(memory, rank)), spectrum_(queue, memory, rank)
    {
        const mesh::PlaneRange& planes = memory.setup.cut.planes[static_cast<std::size_t>(rank)];
        charges_.clear(queue);
        charge_planes_ = mesh_planes(queue, charges_.data(), parameters_.points, planes);
        potential_planes_ = mesh_planes(queue, potentials_.data(), parameters_.points, planes);
        queue.synchronize(); // waits until the host's tables are copied
    }

    bool takes_halo_atoms() const override { return true; }
    void after_repartition(GpuQueue& queue, GpuState<N>& state) override { limits_.follow(queue, state); }
    void check(GpuQueue& queue, GpuState<N>& state) override { limits_.check(queue, state); }

    RankProgram compute(GpuQueue& queue, GpuState<N>& state, Compute compute, MeshWeights weights) override
    {
        spread_charges(queue, state, parameters_, MeshAtomsOf::Everybody, charge_planes_.data());
        spectrum_.send(queue, charges_.data());
        co_await all_are_here;
        spectrum_.solve(queue, state, compute);
        co_await all_are_here;
        spectrum_.find_potentials(queue, potentials_.data());
        gather_forces(queue, state, parameters_, MeshAtomsOf::Everybody, potential_planes_.data(), weights.first,
                      spectrum_.begins_early());
    }
    void add_rest(GpuQueue&, const MeshWeights&, GpuState<N>&) override
    {
        throw ContractError("A rest of the mesh's forces, of which some are halo atoms'."); // make_mesh_setup() prevents it
    }

private:
    using Real = typename N::Real;
    using ChargeSum = mesh::ChargeSum<N>;

    const MeshParameters& parameters_;
    GpuSlabLimits<N> limits_;
    DeviceBuffer<ChargeSum> charges_; // charges of this rank's planes, [plane][y][z]
    DeviceBuffer<Real> potentials_;   // potentials of these planes, in the same layout
    DeviceBuffer<ChargeSum*> charge_planes_;
    DeviceBuffer<Real*> potential_planes_;
    GpuMeshSpectrum<N> spectrum_;
};

} // namespace

template <class N>
std::unique_ptr<GpuRankMesh<N>> make_lone_gpu_mesh(GpuQueue& queue, const MeshSetup& setup)
{
    return std::make_unique<LoneMesh<N>>(queue, setup);
}

template <class N>
std::unique_ptr<GpuRankMesh<N>> make_gpu_mesh(GpuQueue& queue, const GpuMeshMemory& memory, std::span<const GpuCell> cells,
                                              int rank)
{
    queue.make_current();
    switch (memory.setup.method)
    {
    case MeshMethod::Shared:
        return std::make_unique<HaloMesh<N>>(queue, memory, cells, rank);
    case MeshMethod::Dedicated:
        if (memory.setup.cut.has_mesh(rank)) { return std::make_unique<GpuVisitorsMesh<N>>(queue, memory, rank); }
        return std::make_unique<GpuMeshElsewhere<N>>(queue, memory, rank);
    default:
        return std::make_unique<PatchMesh<N>>(queue, memory, rank);
    }
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template std::unique_ptr<GpuRankMesh<N>> make_lone_gpu_mesh<N>(GpuQueue&, const MeshSetup&);                                 \
    template std::unique_ptr<GpuRankMesh<N>> make_gpu_mesh<N>(GpuQueue&, const GpuMeshMemory&, std::span<const GpuCell>, int);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
