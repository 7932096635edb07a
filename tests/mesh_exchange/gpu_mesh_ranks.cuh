// SPDX-License-Identifier: Apache-2.0
// Charges dealt out to ranks on GPUs, which compute their mesh again and again while the charges move; every force against that
// of a lone rank, bit by bit.
//
// Ranks on the same GPU share a queue, as those of the engine do, or have one each, as if they had a GPU each: then their kernels
// run beside each other and have to wait for one another.
#pragma once

#include "device/gpu/graph.hpp"
#include "device/gpu/launch.cuh"
#include "interactions/mesh/gpu/mesh_gpu.hpp"
#include "interactions/mesh/ions.hpp"
#include "mesh_exchange/gpu/rank_mesh_gpu.hpp"
#include "support/random_delay.cuh"
#include "trace/phases.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace parhelion::test {

enum class MeshQueues : std::uint8_t
{
    OfGpus, // shared by the ranks of a GPU
    OfRanks
};

struct MeshLayout
{
    MeshMethod method;
    int ranks, gpus;
    MeshQueues queues;

    // The last ones.
    int ranks_without_atoms() const { return method == MeshMethod::Dedicated ? ranks / 2 : 0; }
    int ranks_with_atoms() const { return ranks - ranks_without_atoms(); }
};
inline std::string name_of(const MeshLayout& layout)
{
    return std::string(mesh_method_names[static_cast<std::size_t>(layout.method)])
        .append("_")
        .append(std::to_string(layout.ranks))
        .append("_on_")
        .append(std::to_string(layout.gpus))
        .append(layout.queues == MeshQueues::OfRanks ? "_side_by_side" : "");
}
inline void PrintTo(const MeshLayout& layout, std::ostream* os) { *os << name_of(layout); }

inline constexpr int mesh_patterns = 7; // of displacements, one after another
inline constexpr int mesh_threads = 256;

// The atoms of a rank, and where it adds up their forces: [pattern][atom].
template <class N>
struct MeshAtomsOfRank
{
    PositionCharge<N>* xq;
    const PositionCharge<N>* at_start;
    ForceSlot<N>* f;
    const std::int32_t* atom_of_slot; // -1: filler
    std::int32_t slots, atoms;
    std::int64_t* step;
    ForceSlot<N>* sums;
};

template <class N>
__host__ __device__ PositionCharge<N> displaced(const PositionCharge<N>& at_start, std::int64_t step)
{
    using Fixed = typename N::Fixed;
    const auto pattern = static_cast<Fixed>(step % mesh_patterns);
    const Fixed shift = pattern * static_cast<Fixed>(~Fixed{0} / 7);
    PositionCharge<N> atom = at_start;
    atom.x += shift, atom.y += 2 * shift, atom.z -= shift;
    return atom;
}

// One block each. Ranks are late now and then.
template <class N>
__global__ void move_kernel(MeshAtomsOfRank<N> a)
{
    if (threadIdx.x == 0) { random_delay(static_cast<std::uint64_t>(*a.step) * 64 + static_cast<std::uint64_t>(a.slots)); }
    for (auto slot = static_cast<std::int32_t>(threadIdx.x); slot < a.slots; slot += mesh_threads)
    {
        a.xq[slot] = displaced<N>(a.at_start[slot], *a.step);
    }
}
template <class N>
__global__ void add_up_kernel(MeshAtomsOfRank<N> a)
{
    for (auto slot = static_cast<std::int32_t>(threadIdx.x); slot < a.slots; slot += mesh_threads)
    {
        const std::int32_t atom = a.atom_of_slot[slot];
        const ForceSlot<N> f = a.f[slot];
        a.f[slot] = {};
        if (atom < 0) { continue; }
        ForceSlot<N>& sum = a.sums[*a.step % mesh_patterns * a.atoms + atom]; // an atom has one slot
        sum.x += f.x, sum.y += f.y, sum.z += f.z;
    }
    __syncthreads();
    if (threadIdx.x == 0) { ++*a.step; }
}

template <class N>
class GpuMeshRanks
{
public:
    GpuMeshRanks(const MeshLayout& layout, const GpuWorldOptions& options, int order = 4)
        : layout_(layout), system_(charged_ions({2.1, 2.6, 3.3}))
    {
        RunParameters run = pme_parameters();
        run.mesh_nx = 20, run.mesh_ny = 14, run.mesh_nz = 12, run.pme_order = order;
        const bool is_shared = layout.method == MeshMethod::Shared;
        const MeshSetup setup = make_mesh_setup(mesh_parameters(system_.topology, run, system_.box), layout.method,
                                                {.cells = {layout.ranks_with_atoms(), 1, 1},
                                                 .mesh_ranks = layout.ranks_without_atoms(),
                                                 .box = system_.box,
                                                 .reach = 0.7});
        std::vector<int> devices;
        for (int rank = 0; rank < layout.ranks; ++rank) { devices.push_back(rank * layout.gpus / layout.ranks); }
        world_ = std::make_unique<GpuWorld>(devices, options);
        // Room for more superclusters than anybody has.
        memory_ = make_gpu_mesh_memory<N>(*world_, setup, system_.x.size() * supercluster_size);
        const std::vector<GpuCell> cells(
            static_cast<std::size_t>(layout.ranks)); // nobody looks at them: all atoms are everywhere
        for (int rank = 0; rank < layout.ranks; ++rank)
        {
            const int device = devices[static_cast<std::size_t>(rank)];
            const bool has_lane =
                !lanes_.empty() && lanes_.back()->queue.device() == device && layout.queues == MeshQueues::OfGpus;
            if (!has_lane) { lanes_.push_back(std::make_unique<Lane>(device)); }
            add_rank(*lanes_.back(), rank, cells, is_shared);
        }
        expect(setup.parameters);
    }

    // Takes so many times seven steps, from graphs. Throws CommError.
    void run(int times)
    {
        for (const auto& lane : lanes_)
        {
            lane->queue.make_current();
            if (lane->graph) { continue; }
            lane->graph = std::make_unique<GpuGraph>(lane->queue, [&] {
                for (int step = 0; step < mesh_patterns; ++step) { queue_step(*lane); }
            });
        }
        for (int k = 0; k < times; ++k)
        {
            for (const auto& lane : lanes_) { lane->graph->replay(lane->queue); }
        }
        for (const auto& lane : lanes_)
        {
            lane->queue.make_current();
            GpuEvent done;
            done.record(lane->queue);
            world_->wait(lane->ranks[0]->rank, done);
        }
        world_->check();
        times_ += times;
    }

    // Sums of forces over all steps that are not those of a lone rank.
    int wrong()
    {
        const std::size_t n = expected_.size();
        std::vector<ForceSlot<N>> sums(n);
        for (const auto& lane : lanes_)
        {
            for (const auto& r : lane->ranks)
            {
                lane->queue.make_current();
                const std::vector<ForceSlot<N>> of_rank = r->sums.to_vector(lane->queue);
                for (std::size_t i = 0; i < n; ++i)
                {
                    sums[i].x += of_rank[i].x, sums[i].y += of_rank[i].y, sums[i].z += of_rank[i].z;
                }
            }
        }
        int wrong = 0;
        for (std::size_t i = 0; i < n; ++i)
        {
            const ForceSlot<N>& e = expected_[i];
            wrong += sums[i].x == times_ * e.x && sums[i].y == times_ * e.y && sums[i].z == times_ * e.z ? 0 : 1;
        }
        return wrong;
    }

private:
    struct Rank
    {
        int rank;
        GpuState<N> state;
        DeviceBuffer<PositionCharge<N>> at_start;
        DeviceBuffer<std::int32_t> atom_of_slot;
        DeviceBuffer<std::int64_t> step;
        DeviceBuffer<ForceSlot<N>> sums;
        std::unique_ptr<GpuRankMesh<N>> mesh;
    };
    // Holds what shares a queue.
    struct Lane
    {
        explicit Lane(int device) : queue(device) {}

        std::vector<std::unique_ptr<Rank>> ranks;
        std::unique_ptr<GpuGraph> graph;
        GpuQueue queue; // ends before the memory it uses goes
    };

    static std::size_t slots_for(std::size_t atoms)
    {
        return (atoms + supercluster_size - 1) / supercluster_size * supercluster_size;
    }

    PositionCharge<N> at_start(std::size_t atom) const
    {
        const auto x = PeriodicBox<N>(system_.box).to_fixed(system_.x[atom]);
        return {x.x, x.y, x.z, static_cast<typename N::Real>(system_.topology.molecule_types[atom].atoms[0].charge)};
    }

    // Home atoms are every so many-th of a rank that has some; with a halo, all others are in it. Where superclusters
    // travel, each has two that are neighbours along x, so that it reaches some planes and others not.
    void add_rank(Lane& lane, int rank, const std::vector<GpuCell>& cells, bool has_halo)
    {
        std::vector<PositionCharge<N>> xq;
        std::vector<std::int32_t> atom_of_slot;
        std::vector<std::uint8_t> zones;
        const std::size_t in_supercluster = layout_.method == MeshMethod::Dedicated ? 2 : supercluster_size;
        for (const bool is_home : {true, false})
        {
            std::vector<std::size_t> atoms;
            for (std::size_t atom = 0; atom < system_.x.size() && (is_home || has_halo); ++atom)
            {
                if ((static_cast<int>(atom) % layout_.ranks_with_atoms() == rank) == is_home) { atoms.push_back(atom); }
            }
            std::sort(atoms.begin(), atoms.end(), [&](auto a, auto b) { return system_.x[a].x < system_.x[b].x; });
            for (std::size_t i = 0; i < atoms.size(); ++i)
            {
                xq.push_back(at_start(atoms[i])), atom_of_slot.push_back(static_cast<std::int32_t>(atoms[i]));
                if ((i + 1) % in_supercluster == 0 || i + 1 == atoms.size())
                {
                    xq.resize(slots_for(xq.size())), atom_of_slot.resize(xq.size(), -1);
                    zones.push_back(is_home ? 0 : 1);
                }
            }
        }
        lane.queue.make_current();
        auto r = std::make_unique<Rank>();
        r->rank = rank;
        fill(lane.queue, xq, zones, r->state);
        r->at_start.upload(lane.queue, xq), r->atom_of_slot.upload(lane.queue, atom_of_slot);
        r->step.resize(1), r->sums.resize(mesh_patterns * system_.x.size());
        r->step.clear(lane.queue), r->sums.clear(lane.queue);
        r->mesh = make_gpu_mesh<N>(lane.queue, memory_, cells, rank);
        r->mesh->after_repartition(lane.queue, r->state);
        lane.queue.synchronize();
        lane.ranks.push_back(std::move(r));
    }

    void fill(GpuQueue& queue, const std::vector<PositionCharge<N>>& xq, const std::vector<std::uint8_t>& zones,
              GpuState<N>& state)
    {
        DeviceScalars scalars;
        scalars.set_box<N>(system_.box);
        state.is_tilted = !system_.box.is_rectangular();
        state.slots = xq.size();
        state.f.resize(xq.size()), state.energies.resize(1);
        state.f.clear(queue), state.energies.clear(queue);
        state.xq.upload(queue, xq), state.zone_of_supercluster.upload(queue, zones), state.scalars.upload(queue, {&scalars, 1});
        queue.synchronize();
    }

    MeshAtomsOfRank<N> atoms_of(Rank& r)
    {
        return {r.state.xq.data(),
                r.at_start.data(),
                r.state.f.data(),
                r.atom_of_slot.data(),
                static_cast<std::int32_t>(r.state.slots),
                static_cast<std::int32_t>(system_.x.size()),
                r.step.data(),
                r.sums.data()};
    }

    void queue_step(Lane& lane)
    {
        for (const auto& r : lane.ranks) { launch(lane.queue, Phase::Output, move_kernel<N>, {1, mesh_threads}, atoms_of(*r)); }
        std::vector<RankProgram> programs;
        for (const auto& r : lane.ranks)
        {
            programs.push_back(r->mesh->compute(lane.queue, r->state, Compute::ForcesEnergiesVirial, {}));
        }
        run_together(programs);
        for (const auto& r : lane.ranks) { launch(lane.queue, Phase::Output, add_up_kernel<N>, {1, mesh_threads}, atoms_of(*r)); }
    }

    void expect(const MeshParameters& parameters)
    {
        GpuQueue queue;
        GpuMesh<N> mesh(queue, parameters);
        const std::size_t atoms = system_.x.size(), slots = slots_for(atoms);
        for (int step = 0; step < mesh_patterns; ++step)
        {
            std::vector<PositionCharge<N>> xq;
            for (std::size_t atom = 0; atom < atoms; ++atom) { xq.push_back(displaced<N>(at_start(atom), step)); }
            xq.resize(slots);
            GpuState<N> state;
            fill(queue, xq, std::vector<std::uint8_t>(slots / supercluster_size), state);
            mesh.compute(queue, state, Compute::Forces);
            const std::vector<ForceSlot<N>> f = state.f.to_vector(queue);
            expected_.insert(expected_.end(), f.begin(), f.begin() + static_cast<std::ptrdiff_t>(atoms));
        }
    }

    MeshLayout layout_;
    System system_;
    std::unique_ptr<GpuWorld> world_;
    std::vector<GpuMeshMemory> memory_;
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::vector<ForceSlot<N>> expected_; // [pattern][atom]
    std::int64_t times_ = 0;
};

} // namespace parhelion::test
