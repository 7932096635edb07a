// SPDX-License-Identifier: Apache-2.0
#include "mesh_exchange/gpu/rank_mesh_gpu.hpp"

#include "base/error.hpp"
#include "interactions/mesh/gpu/mesh_gpu.hpp"
#include "mesh_exchange/gpu/dedicated.cuh"
#include "mesh_exchange/gpu/patch.cuh"
#include "mesh_exchange/gpu/slab_limits.cuh"
#include "mesh_exchange/gpu/spectrum.cuh"

#include <memory>
#include <utility>
#include <vector>

namespace parhelion {

namespace {

template <class N>
class LoneMesh final : public GpuRankMesh<N>
{
public:
    LoneMesh(GpuQueue& queue, const MeshParameters& parameters) : mesh_(queue, parameters) {}

    void after_repartition(GpuQueue&, GpuState<N>& state) override { mesh_.make_room(state.slots); }
    RankProgram compute(GpuQueue& queue, GpuState<N>& state, Compute compute, MeshWeights weights) override
    {
        mesh_.compute(queue, state, compute, weights);
        co_return;
    }
    void add_rest(GpuQueue& queue, const MeshWeights& weights, GpuState<N>& state) override
    {
        mesh_.add_rest(queue, weights, state);
    }

private:
    GpuMesh<N> mesh_;
};

// LJ-PME: the mesh of charges, then those of dispersion, one after the other.
template <class N>
class SeveralMeshes final : public GpuRankMesh<N>
{
public:
    explicit SeveralMeshes(std::vector<std::unique_ptr<GpuRankMesh<N>>> meshes) : meshes_(std::move(meshes)) {}

    bool takes_halo_atoms() const override { return meshes_.front()->takes_halo_atoms(); }
    void after_repartition(GpuQueue& queue, GpuState<N>& state) override
    {
        for (const auto& mesh : meshes_) { mesh->after_repartition(queue, state); }
    }
    // The mesh of dispersion checks all atoms, with a charge or without.
    void check(GpuQueue& queue, GpuState<N>& state) override { meshes_.back()->check(queue, state); }

    RankProgram compute(GpuQueue& queue, GpuState<N>& state, Compute compute, MeshWeights weights) override
    {
        for (const auto& mesh : meshes_) { co_await mesh->compute(queue, state, compute, weights); }
    }
    void add_rest(GpuQueue& queue, const MeshWeights& weights, GpuState<N>& state) override
    {
        for (const auto& mesh : meshes_) { mesh->add_rest(queue, weights, state); }
    }

private:
    std::vector<std::unique_ptr<GpuRankMesh<N>>> meshes_;
};

// Calls make(0), make(1) ... make(count - 1), and returns these meshes as one.
template <class N, class Make>
std::unique_ptr<GpuRankMesh<N>> one_of(std::size_t count, Make&& make)
{
    if (count == 1) { return make(0); }
    std::vector<std::unique_ptr<GpuRankMesh<N>>> meshes;
    for (std::size_t i = 0; i < count; ++i) { meshes.push_back(make(i)); }
    return std::make_unique<SeveralMeshes<N>>(std::move(meshes));
}

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

    void after_repartition(GpuQueue&, GpuState<N>& state) override { patch_.make_room(state.slots); }

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
        : parameters_(memory.setup.parameters), charges_of_(queue, parameters_), limits_(queue, memory.setup.cut, cells, rank),
          charges_(points_here(memory, rank)), potentials_(points_here(memory, rank)), spectrum_(queue, memory, rank)
    {
        const mesh::PlaneRange& planes = memory.setup.cut.planes[static_cast<std::size_t>(rank)];
        charges_.clear(queue);
        charge_planes_ = mesh_planes(queue, charges_.data(), parameters_.points, planes);
        potential_planes_ = mesh_planes(queue, potentials_.data(), parameters_.points, planes);
        queue.synchronize(); // waits until the host's tables are copied
    }

    bool takes_halo_atoms() const override { return true; }
    void after_repartition(GpuQueue& queue, GpuState<N>& state) override
    {
        charges_of_.make_room(state.slots);
        limits_.follow(queue, state);
    }
    void check(GpuQueue& queue, GpuState<N>& state) override
    {
        limits_.check(queue, state, parameters_.is_of_dispersion() ? MeshAtoms::All : MeshAtoms::Charged);
    }

    RankProgram compute(GpuQueue& queue, GpuState<N>& state, Compute compute, MeshWeights weights) override
    {
        spread_charges(queue, state, parameters_, MeshAtomsOf::Everybody, charge_planes_.data(), nullptr,
                       charges_of_.take(queue, state));
        spectrum_.send(queue, charges_.data());
        co_await all_are_here;
        spectrum_.solve(queue, state, compute);
        co_await all_are_here;
        spectrum_.find_potentials(queue, potentials_.data());
        gather_forces(queue, state, parameters_, MeshAtomsOf::Everybody, potential_planes_.data(), weights.first,
                      spectrum_.begins_early(), charges_of_.atoms());
    }
    void add_rest(GpuQueue&, const MeshWeights&, GpuState<N>&) override
    {
        throw ContractError("A rest of the mesh's forces, of which some are halo atoms'."); // make_mesh_setup() prevents it
    }

private:
    using Real = typename N::Real;
    using ChargeSum = mesh::ChargeSum<N>;

    const MeshParameters& parameters_;
    GpuMeshCharges<N> charges_of_;
    GpuSlabLimits<N> limits_;
    DeviceBuffer<ChargeSum> charges_; // charges of this rank's planes, [plane][y][z]
    DeviceBuffer<Real> potentials_;   // potentials of these planes, in the same layout
    DeviceBuffer<ChargeSum*> charge_planes_;
    DeviceBuffer<Real*> potential_planes_;
    GpuMeshSpectrum<N> spectrum_;
};

template <class N>
std::unique_ptr<GpuRankMesh<N>> make_one(GpuQueue& queue, const GpuMeshMemory& memory, std::span<const GpuCell> cells, int rank)
{
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

} // namespace

template <class N>
std::unique_ptr<GpuRankMesh<N>> make_lone_gpu_mesh(GpuQueue& queue, const MeshSetup& setup)
{
    return one_of<N>(1 + setup.dispersion.size(), [&](std::size_t i) -> std::unique_ptr<GpuRankMesh<N>> {
        return std::make_unique<LoneMesh<N>>(queue, i == 0 ? setup.parameters : setup.dispersion[i - 1]);
    });
}

template <class N>
std::unique_ptr<GpuRankMesh<N>> make_gpu_mesh(GpuQueue& queue, std::span<const GpuMeshMemory> memory,
                                              std::span<const GpuCell> cells, int rank)
{
    queue.make_current();
    return one_of<N>(memory.size(), [&](std::size_t i) { return make_one<N>(queue, memory[i], cells, rank); });
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template std::unique_ptr<GpuRankMesh<N>> make_lone_gpu_mesh<N>(GpuQueue&, const MeshSetup&);                                 \
    template std::unique_ptr<GpuRankMesh<N>> make_gpu_mesh<N>(GpuQueue&, std::span<const GpuMeshMemory>,                         \
                                                              std::span<const GpuCell>, int);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
