// SPDX-License-Identifier: Apache-2.0
// The ranks of a run on the GPUs of this process, and their memory: atoms, pair lists, halos,
// the mesh, and the windows and signals through which ranks reach each other. It is made
// before the first step. It grows if a rank has more atoms than its memory was planned for.
//
// Every process lays out the memory of all ranks alike, but makes queues and tables for its own
// ranks alone. Before a process uses memory of another process that may not be ready, the two meet.
#pragma once

#include "base/box.hpp"
#include "engine/choose_gpus.hpp"
#include "engine/gpu/processes.hpp"
#include "engine/gpu/rank_gpu.hpp"
#include "engine/prepared_run.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace parhelion {

enum class Growth : std::uint8_t
{
    Made,
    NotInLists, // larger pair lists would not help
    NotInHalos  // ranks differ so much in their numbers of atoms that halos do not fit
};

// Returns the system's size for choose_gpus(). `cutoff` is the reach of the pair list, and
// `overhang` the largest distance by which an atom is outside of its cell; both are in nm.
StepSize step_size(const RunSetup& setup, const SimulationOptions& options, double cutoff, double overhang);

template <class N>
class GpuLayout
{
public:
    // Spreads the start of `run` over ranks and GPUs as choose_gpus() says. Keeps at most `records` observed
    // steps. Queues no kernel. Throws DeviceError, and InputError for a grid that does not fit or is too fine, or for
    // missing GPUs. Of `world` only the fields that tests set count. The references must outlive the layout.
    GpuLayout(const PreparedRun<N>& run, const ListPlan& list_plan, const SimulationOptions& options, std::size_t records,
              GpuProcesses& processes, const GpuWorldOptions& world);
    ~GpuLayout() { processes_.on_loss({}); }

    // --- about the whole run

    int ranks() const { return grid_.ranks() + mesh_ranks_; }
    int mesh_ranks() const { return mesh_ranks_; } // mesh ranks come last, compute PME's mesh and have no cell
    int gpus() const { return gpus_of_all_; }
    bool has_nodes() const { return world_->has_nodes(); } // there are virtual nodes, whose messages need a proxy
    std::size_t atoms() const { return atoms_; }
    const CellGrid& grid() const { return grid_; }
    MeshMethod mesh_method() const { return mesh_setup_.method; } // how ranks share the mesh, if any
    // Returns true if steps may have to be repeated with newer pair lists. Lists
    // that miss no pair may be built at any time without changing results.
    bool may_need_newer_lists() const
    {
        return lists_miss_nothing<N> || (!mesh_memory_.empty() && mesh_setup_.method == MeshMethod::Shared);
    }
    // Returns true if pairs find their nearest image in a box of any height; false: only until Box::is_low().
    bool looks_for_images() const { return looks_for_images_; }
    const std::string& remark() const { return remark_; }     // says why some GPUs are not used; may be empty
    double density_factor() const { return density_factor_; } // capacity of a rank over the mean number of atoms

    // --- about this process

    GpuSpan<N> here() { return all_; }
    int gpus_here() const { return static_cast<int>(gpus_.size()); }
    GpuQueue& queue(int gpu = 0) { return gpus_[static_cast<std::size_t>(gpu)]->queue; } // queue(): of the process's first rank
    GpuRank<N>& first_rank() { return gpus_[0]->ranks[0]; }
    const GpuRank<N>& first_rank() const { return gpus_[0]->ranks[0]; }
    GpuWorld& world() { return *world_; }
    DeviceBuffer<GpuExchangeBuffer<N>>& exchange_buffers_here() { return exchange_buffers_here_; }
    // framed_forces(): a frame's forces, on rank 0's GPU, for the first process. forces_for(r): null if rank r cannot reach them.
    const Vec3<typename N::ForceSum>* framed_forces() const { return framed_forces_; }
    Vec3<typename N::ForceSum>* forces_for(const GpuRank<N>& r) { return world_->reaches(r.rank, 0) ? framed_forces_ : nullptr; }

    // Waits for all GPUs of this process. Throws CommError if a rank reaches its deadline while it waits for another rank,
    // or the host while it waits for a GPU. In the latter case the destructor waits for that GPU as well, maybe for ever.
    void synchronize();
    // Queues kernels by which every rank takes its atoms from its exchange buffer.
    void take_from_exchange_buffers();
    // Allocates, in queue order, all buffers that a repartition may have to enlarge, while no GPU waits for another GPU.
    void make_room_for_repartition();
    // Grows memory after overflow flags. Preconditions: nothing is queued, and captured graphs are
    // discarded, as they use the old memory. If more than lists have grown, ranks have no atoms afterwards.
    Growth grow(std::uint32_t flags);

private:
    void make_ranks(const GpuChoice& choice, std::size_t records);
    GpuRank<N> make_rank(GpuWithRanks<N>& gpu, int rank, std::size_t records);
    void make_world(const SimulationOptions& options, const GpuChoice& choice, GpuWorldOptions world);
    void make_sums();
    void make_exchange_buffers();
    void reserve(double density_factor);
    std::size_t bytes_for(std::size_t slots) const; // bytes of halos and of atoms sent to mesh ranks
    std::size_t most_slots(double density_factor);  // largest number of slots of any rank
    void release_halos();
    void make_halos();
    void make_mesh_memory();
    void make_meshes();

    const PreparedRun<N>& run_;
    const RunSetup& setup_; // of run_
    const ListPlan& list_plan_;
    GpuProcesses& processes_;
    const Box<double> box_; // the box at the start, nm; cells, lists and halos are planned for it
    const HaloMethod method_;
    const bool looks_for_images_;
    std::size_t atoms_;
    CellGrid grid_;
    const int mesh_ranks_;
    std::string remark_;
    std::vector<GpuCell> cells_; // indexed by rank, for ranks that have a cell
    int gpus_of_all_ = 0;
    double density_factor_ = 1;
    std::size_t window_bytes_ = 0; // bytes of symmetric memory of each rank
    std::size_t slots_bytes_ = 0;  // the part of window_bytes_ that may grow with the slots of a rank
    std::vector<std::unique_ptr<GpuWithRanks<N>>> gpus_;
    std::vector<GpuWithRanks<N>*> all_; // pointers to gpus_
    std::unique_ptr<GpuWorld> world_;
    std::unique_ptr<GpuCollective> sums_, buffers_read_;
    std::optional<GpuPeerEnds> travellers_; // channels between nodes; empty: one node
    Window positions_;                      // positions of each rank, into which peers store its halo
    DeviceBuffer<GpuExchangeBuffer<N>> exchange_buffers_here_;
    GpuHaloMemory halo_memory_;
    MeshSetup mesh_setup_;
    std::vector<GpuMeshMemory> mesh_memory_; // of each mesh; only for several ranks with PME
    Vec3<typename N::ForceSum>* framed_forces_ = nullptr;
};

} // namespace parhelion
