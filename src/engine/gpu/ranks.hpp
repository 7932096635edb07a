// SPDX-License-Identifier: Apache-2.0
// The ranks of a run that this process drives, on their GPUs: usually all. GpuEngine queues list intervals here and reads their
// results, whether there is one rank or eight.
//
// The idea: one host thread queues the work of all GPUs here and waits for none. Each GPU replays graphs of its own, and GPUs
// meet through signals alone. Halo methods that need the host in every step have no graphs, and a thread for each GPU. Whatever
// is the same on all ranks (coupling, box, observables, flags) is read from the first rank here. Atoms are collected on its GPU,
// through the exchange buffers. Cost: a graph launch per GPU and interval; 45 bytes an atom on every GPU.
//
// Other processes have the other ranks (gpu/processes.hpp) and make the same calls: each lays out the memory of all ranks alike,
// and they meet where another's work may not have come so far.
#pragma once

#include "base/box.hpp"
#include "engine/choose_gpus.hpp"
#include "engine/gpu/processes.hpp"
#include "engine/gpu/rank_gpu.hpp"
#include "engine/rank_run.hpp"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace parhelion {

enum class Growth : std::uint8_t
{
    Made,
    NotInLists, // larger ones would not help
    NotInHalos  // of a grid whose ranks differ so much
};

// What choose_gpus() is asked for: of a pair list that reaches `cutoff` and atoms that stick out of their cells by up to
// `overhang` (nm).
StepSize step_size(const RunSetup& setup, const SimulationOptions& options, double cutoff, double overhang);

template <class N>
class GpuRanks
{
public:
    // The whole system as `start` holds it, spread over ranks and GPUs as choose_gpus() says. At most `records` observed
    // steps are kept. deal_out() must follow; until then no kernel has been queued. Throws InputError for a grid that does not
    // fit or is too fine, or GPUs that are not there, DeviceError. Of `world` only what tests ask for counts.
    GpuRanks(Rank<N>& start, const RunSetup& setup, const ListPlan& list_plan, const SimulationOptions& options,
             std::size_t records, GpuProcesses& processes, const GpuWorldOptions& world = {});
    ~GpuRanks() { processes_.on_loss({}); }

    int ranks() const { return grid_.ranks() + mesh_ranks_; }        // in all
    int mesh_ranks() const { return mesh_ranks_; }                   // of them: the last, which do PME's mesh and have no cell
    int gpus() const { return gpus_of_all_; }                        // likewise
    int gpus_here() const { return static_cast<int>(gpus_.size()); } // of this process
    bool has_nodes() const { return world_->has_nodes(); }           // virtual ones
    const CellGrid& grid() const { return grid_; }
    MeshMethod mesh_method() const { return mesh_setup_.method; } // how they share the mesh, if there is one
    // May steps have to be done again with newer lists? Nothing depends on when lists that miss nothing are built.
    bool may_need_newer_lists() const
    {
        return lists_miss_nothing<N> || (mesh_memory_ && mesh_setup_.method == MeshMethod::Shared);
    }
    // Whether pairs are taken by their nearest image however low the box becomes; else only while it is none of Box::is_low().
    bool looks_for_images() const { return looks_for_images_; }
    const std::string& remark() const { return remark_; } // why not all GPUs are used; empty: nothing to say
    // Of this process's GPUs; its first rank is on the first.
    GpuQueue& queue(int gpu = 0) { return gpus_[static_cast<std::size_t>(gpu)]->queue; }
    const GpuCoupling<N>& coupling() const { return gpus_[0]->ranks[0].coupling; }

    // After a change of the list plan's intervals. Waits for all that is queued.
    void forget_graphs();
    // Queues steps that begin `list_age` steps after the lists were built: a list interval, or a part of one.
    void replay(std::int64_t list_age, std::span<const StepFlags> steps);
    // Whether steps that are replayed from here on leave records.
    void set_tracing(bool on) { is_traced_ = on; }
    void clear_records(); // queued
    // Queues an exchange of flags among all ranks and a copy of the first rank's scalars to pinned memory.
    void report(DeviceScalars& scalars);
    // What of a step's frame the replayed steps have left: positions, velocities; forces if they were due.
    const GpuSnapshot<N>& framed() const { return framed_; }
    const Vec3<typename N::ForceSum>* framed_forces() const { return framed_forces_; }
    // Queues a snapshot of the state as it is then, unless a flag is up.
    void keep_state(GpuSnapshot<N>& snapshot);

    // All of these wait. They throw CommError if a rank reached its deadline waiting for another, or the host waiting for a GPU.
    // The destructor then waits for that GPU, too, maybe for ever.
    void synchronize();
    std::string test_links(); // what to tell of them; empty: there are none
    // To every rank its atoms. Throws InputError E633 if one has so many that there is no room for its halos.
    void deal_out();
    void wait(const GpuEvent& event); // of a queue on the first GPU
    void put_back(const GpuSnapshot<N>& snapshot);
    // After flags of an overflow. If capacity has grown, put_back() must follow; otherwise the run cannot go on here.
    Growth grow_capacity(std::uint32_t flags);
    // How many atoms a rank has room for, relative to the mean density.
    double density_factor() const { return density_factor_; }
    // The kinetic energy of the velocities as they are, where no step asked for it.
    void measure_kinetic();
    FailureReport failure();
    double largest_deviation(); // of a bond of LINCS so far, relative; 0 while none is above what is promised
    // The latest, of each GPU here.
    std::vector<std::vector<BlockRecord>> records() const;
    double tiles(); // of 8 x 8 pairs, in the lists the state was last evaluated with

private:
    enum class Steps : std::uint8_t
    {
        Run,
        Captured // into a graph
    };
    void make_ranks(Rank<N>& start, const GpuChoice& choice, std::size_t records);
    GpuRank<N> make_rank(GpuWithRanks<N>& gpu, int rank, Rank<N>& start, std::size_t records);
    void make_world(const SimulationOptions& options, const GpuChoice& choice, GpuWorldOptions world);
    void make_sums();
    void make_exchange_buffers(Rank<N>& start);
    void reserve(double density_factor);
    std::size_t bytes_for(std::size_t slots) const; // of halos, and of atoms that visit mesh ranks
    std::size_t most_slots(double density_factor);  // of a rank, as it would be
    void release_halos();
    void make_halos();
    void make_mesh_memory();
    void make_meshes();
    void take_from_exchange_buffers();
    void make_room_for_repartition(); // queued, while no GPU waits for another
    GpuSpan<N> of_gpu(int gpu) { return GpuSpan<N>(all_).subspan(static_cast<std::size_t>(gpu), 1); }
    Vec3<typename N::ForceSum>* forces_for(const GpuRank<N>& r) { return world_->reaches(r.rank, 0) ? framed_forces_ : nullptr; }
    void queue_steps(GpuSpan<N> teams, std::int64_t list_age, std::span<const StepPattern> steps, Steps are);
    void wait_for_earlier_steps(GpuSpan<N> teams);

    const RunSetup& setup_;
    const ListPlan& list_plan_;
    GpuProcesses& processes_;
    const Box<double> box_; // at the beginning, nm: everything is laid out for it
    const HaloMethod method_;
    const bool looks_for_images_;
    std::size_t atoms_;
    CellGrid grid_;
    const int mesh_ranks_;
    std::string remark_;
    std::vector<GpuCell> cells_; // by rank, of those that have one
    int gpus_of_all_ = 0;
    double density_factor_ = 1;    // what slots are reserved for, relative to the mean density
    std::size_t window_bytes_ = 0; // of each rank: what others reach
    std::size_t slots_bytes_ = 0;  // of them: what may grow with the slots of a rank
    std::vector<std::unique_ptr<GpuWithRanks<N>>> gpus_;
    std::vector<GpuWithRanks<N>*> all_; // of them
    std::unique_ptr<GpuWorld> world_;
    std::unique_ptr<GpuCollective> sums_, buffers_read_;
    std::optional<GpuPeerEnds> travellers_; // between nodes
    Window positions_;                      // of the atoms of each rank, where others store those of its halo
    DeviceBuffer<GpuExchangeBuffer<N>> exchange_buffers_here_;
    GpuHaloMemory halo_memory_;
    MeshSetup mesh_setup_;
    std::optional<GpuMeshMemory> mesh_memory_; // of several ranks with PME
    GpuSnapshot<N> framed_;
    Vec3<typename N::ForceSum>* framed_forces_ = nullptr; // on rank 0's GPU, for the first process alone
    bool is_traced_ = false;
    bool is_allocated_ = false; // everything is allocated: what is queued may be captured
};

} // namespace parhelion
