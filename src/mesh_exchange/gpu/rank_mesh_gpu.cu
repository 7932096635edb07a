// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/gpu/rank_mesh_gpu.hpp"

#include "base/error.hpp"
#include "interactions/mesh/gpu/mesh_gpu.hpp"
#include "mesh_exchange/gpu/dedicated.cuh"
#include "mesh_exchange/gpu/patch.cuh"
#include "mesh_exchange/gpu/slab_limits.cuh"
#include "mesh_exchange/gpu/spectrum.cuh"

namespace parhelion {

namespace {

template <class N>
class LoneMesh final : public GpuRankMesh<N>
{
public:
    LoneMesh(GpuQueue& queue, const MeshParameters& parameters) : mesh_(queue, parameters) {}

    int stages() const override { return 1; }
    void compute(GpuQueue& queue, int, GpuState<N>& state, Compute compute, const MeshWeights& weights) override
    {
        mesh_.compute(queue, state, compute, weights);
    }
    void add_rest(GpuQueue& queue, const MeshWeights& weights, GpuState<N>& state) override
    {
        mesh_.add_rest(queue, weights, state);
    }

private:
    GpuMesh<N> mesh_;
};

std::size_t points_here(const GpuMeshMemory& memory, int rank)
{
    const MeshCut& cut = memory.setup.cut;
    return static_cast<std::size_t>(cut.planes[static_cast<std::size_t>(rank)].count) * static_cast<std::size_t>(cut.points[1]) *
           static_cast<std::size_t>(cut.points[2]);
}

// gathered, bricks: charges and potentials travel.
template <class N>
class PatchMesh final : public GpuRankMesh<N>
{
public:
    PatchMesh(GpuQueue& queue, const GpuMeshMemory& memory, int rank)
        : potentials_(points_here(memory, rank)), patch_(queue, memory, rank, potentials_.data()), spectrum_(queue, memory, rank)
    {
    }

    int stages() const override { return 5; }
    void compute(GpuQueue& queue, int stage, GpuState<N>& state, Compute compute, const MeshWeights& weights) override
    {
        switch (stage)
        {
        case 0:
            return patch_.spread_and_send(queue, state);
        case 1:
            patch_.take_in(queue);
            return spectrum_.send(queue, patch_.charges());
        case 2:
            return spectrum_.solve(queue, state, compute);
        case 3:
            spectrum_.find_potentials(queue, potentials_.data());
            return patch_.send_potentials(queue);
        default:
            patch_.await_potentials(queue);
            return patch_.gather(queue, state, weights.first);
        }
    }
    void add_rest(GpuQueue& queue, const MeshWeights& weights, GpuState<N>& state) override
    {
        patch_.gather(queue, state, weights.rest);
    }

private:
    DeviceBuffer<typename N::Real> potentials_; // of this rank's planes, [plane][y][z]
    GpuMeshPatch<N> patch_;
    GpuMeshSpectrum<N> spectrum_;
};

// shared: planes lie where the atoms are that reach them. Spectra alone travel.
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
        queue.synchronize(); // the host's tables go
    }

    bool takes_halo_atoms() const override { return true; }
    void after_repartition(GpuQueue& queue, GpuState<N>& state) override { limits_.follow(queue, state); }

    int stages() const override { return 3; }
    void compute(GpuQueue& queue, int stage, GpuState<N>& state, Compute compute, const MeshWeights& weights) override
    {
        switch (stage)
        {
        case 0:
            limits_.check(queue, state);
            spread_charges(queue, state, parameters_, MeshAtomsOf::Everybody, charge_planes_.data());
            return spectrum_.send(queue, charges_.data());
        case 1:
            return spectrum_.solve(queue, state, compute);
        default:
            spectrum_.find_potentials(queue, potentials_.data());
            gather_forces(queue, state, parameters_, MeshAtomsOf::Everybody, potential_planes_.data(), weights.first);
        }
    }
    void add_rest(GpuQueue&, const MeshWeights&, GpuState<N>&) override
    {
        throw ContractError("A rest of the mesh's forces, of which some are halo atoms'."); // make_mesh_setup() refuses
    }

private:
    using Real = typename N::Real;
    using ChargeSum = mesh::ChargeSum<N>;

    const MeshParameters& parameters_;
    GpuSlabLimits<N> limits_;
    DeviceBuffer<ChargeSum> charges_; // of this rank's planes, [plane][y][z]
    DeviceBuffer<Real> potentials_;   // likewise
    DeviceBuffer<ChargeSum*> charge_planes_;
    DeviceBuffer<Real*> potential_planes_;
    GpuMeshSpectrum<N> spectrum_;
};

} // namespace

template <class N>
std::unique_ptr<GpuRankMesh<N>> make_lone_gpu_mesh(GpuQueue& queue, const MeshParameters& parameters)
{
    return std::make_unique<LoneMesh<N>>(queue, parameters);
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
    template std::unique_ptr<GpuRankMesh<N>> make_lone_gpu_mesh<N>(GpuQueue&, const MeshParameters&);                            \
    template std::unique_ptr<GpuRankMesh<N>> make_gpu_mesh<N>(GpuQueue&, const GpuMeshMemory&, std::span<const GpuCell>, int);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
