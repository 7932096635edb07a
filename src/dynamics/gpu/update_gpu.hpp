// SPDX-License-Identifier: Apache-2.0
// Kick, constrain and drift on the GPU in one kernel: forces in, positions and velocities half and whole a step later out, forces
// cleared for the next step. The guard against blow-ups looks at every atom on the way.
//
// Who moves together and how blocks share the work: update_blocks.hpp. The tables are of the whole system; a rank moves the
// waters, stars and free atoms that are at home, and lists them at every repartition in the order of slots, so that neighbouring
// lanes move neighbouring atoms. As many blocks as run at once go round until all are moved. Of blocks it moves the groups that
// are at home. The methods are the CPU's: settle_body.hpp, star_lanes.cuh, stochastic_body.hpp, lincs_block.cuh. Arithmetic in
// double in every policy. Cost: bound by latency for less than 50 000 atoms, then some 4 us for each 53 000 more.
// bench/gpu/update
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "device/gpu/queue_gpu.hpp"
#include "dynamics/constraints.hpp"
#include "dynamics/leap_frog.hpp"
#include "dynamics/stochastic.hpp"
#include "dynamics/update_blocks.hpp"
#include "state/gpu/cell.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace parhelion {

// What the first atom to find that a run cannot go on leaves behind, beside gpu_flag_unstable_atom.
struct FailureReport
{
    std::int32_t atom = -1; // global
    std::int64_t step = 0;
};

struct UpdateLimits
{
    double force = 0;        // kJ/mol/nm
    double displacement = 0; // nm in one step
};

// What the update does for copies of the atoms it moves, which others hold: a policy, of which this one says that there are none.
// What the kernel asks of a policy is in moving_atom.cuh; halo/gpu/copies.hpp has another.
struct NoCopies
{
    struct OfAtom;  // of one atom
    struct Arrival; // of forces that others computed
    template <int threads>
    class Ahead; // OfAtom, on its way to the threads of a block

    bool is_empty() const { return true; }
};

// What the update of one step reads and adds to, besides the atoms. Pointers are into device memory.
template <class N, class Copies>
struct UpdateArgs
{
    std::int64_t step_offset = 0;    // the step is DeviceScalars::step + step_offset, so that captured steps can be replayed
    double dt = 0, per_dt = 0;       // ps; 1/dt, which the update sees to
    const GroupKick* kick = nullptr; // by motion group
    const StochasticDynamics::Group* friction = nullptr; // by motion group; null: no stochastic dynamics
    std::uint64_t seed = 0;                              // of its noise
    UpdateLimits limits;
    FailureReport* failure = nullptr;
    std::int32_t* largest_deviation = nullptr; // raised to that of a bond of LINCS above what is promised; null: not wanted
    ScalarSum<N>* virial = nullptr;            // nine elements: constraint forces' virial is added; null: not wanted
    ScalarSum<N>* deviation_squares = nullptr; // with the virial; null: not wanted
    ScalarSum<N>* heat = nullptr;              // heat from the bath of stochastic dynamics is added, kJ/mol
    Copies copies;
};

// What tests make less of than the GPU has.
struct UpdateCapacity
{
    std::int32_t places = 0;      // thread blocks that move waters, stars and free atoms, at most; 0: as many as run at once
    std::size_t shared_bytes = 0; // shared memory of a thread block; 0: what the GPU gives
};

class GpuUpdate
{
public:
    GpuUpdate(GpuQueue& queue, const UpdateBlocks& blocks, const RunParameters& parameters, const UpdateCapacity& capacity = {});

    // Forgets what is at home. Allocates if there are more slots than ever before.
    void forget(GpuQueue& queue, std::size_t slots, const GpuCell& cell);
    // Lists what is at home. Call after every repartition, and after forget().
    template <class N>
    void resolve(GpuQueue& queue, const GpuState<N>& state);

    // One step of every home atom. Requires resolve() since the last repartition and complete forces. Clears them.
    template <class N, class Copies>
    void step(GpuQueue& queue, const UpdateArgs<N, Copies>& args, GpuState<N>& state) const;
    // Adds the virial of the constraint forces in a step with the forces as they are, and leaves all else. Without copies.
    template <class N, class Copies>
    void try_step(GpuQueue& queue, const UpdateArgs<N, Copies>& args, GpuState<N>& state) const;
    // Moves positions onto the constraints, directions from the positions themselves; as the CPU's constrain_positions.
    template <class N, class Copies>
    void reconstrain(GpuQueue& queue, std::int64_t step_offset, FailureReport* failure, const Copies& copies,
                     GpuState<N>& state) const;

    // May step() wait for other ranks while a kernel of this rank that these wait for has yet to find room on the GPU? Not if it
    // might keep that out.
    template <class N, class Copies>
    bool leaves_free_places(const GpuQueue& queue) const;

    // What the kernels read.
    struct View;
    View view() const;

private:
    // Waters, stars by number of constraints, and waters with a site: update groups of one size. Each is a record: its atoms, and
    // its water kind or star shape.
    static constexpr int kinds = 1 + largest_star + 1 + 1;
    struct Kind
    {
        std::int32_t atoms = 0;                  // of a group
        std::int64_t groups = 0, first_word = 0; // of the system; in records_
        std::int32_t blocks = 0;                 // thread blocks that move those at home
        std::int64_t first_home_word = 0;        // in home_
    };
    void add_kind(int kind, int atoms, const std::vector<std::int32_t>& members, const std::vector<std::int32_t>& shapes,
                  std::vector<std::int32_t>& records);
    void reserve(GpuQueue& queue, std::size_t slots, const GpuCell& cell);

    int step_blocks() const; // thread blocks of step()

    std::int64_t constraints_ = 0;
    std::int32_t blocks_ = 0;
    std::int32_t places_;
    int lincs_iterations_;
    double warn_cosine_;
    std::size_t arena_bytes_ = 0; // of the largest block

    std::array<Kind, kinds> kind_;
    DeviceBuffer<std::int32_t> records_;          // of all groups of the system, atoms by global number
    DeviceBuffer<std::int32_t> record_of_global_; // of the group that begins with the atom; -1: none does
    DeviceBuffer<std::int32_t> home_;             // records of home groups, atoms by slot
    DeviceBuffer<std::int32_t> home_groups_;      // by kind
    DeviceBuffer<SettleWater> water_kinds_;
    DeviceBuffer<SiteWater> site_water_kinds_;
    DeviceBuffer<StarShape> star_shapes_;

    DeviceBuffer<std::int32_t> block_global_, block_slot_; // of the atoms of blocks; slot -1: not at home
    DeviceBuffer<ShapeAtom> shape_atoms_;
    DeviceBuffer<ShapeBond> shape_bonds_;
    DeviceBuffer<ShapeEnd> ends_;
    DeviceBuffer<std::int32_t> coupled_;
    DeviceBuffer<double> coefficient_;
    DeviceBuffer<UpdateBlock> block_table_;
    DeviceBuffer<BlockMember> atoms_, bonds_;
    DeviceBuffer<std::int32_t> bond_couplings_;
    DeviceBuffer<BlockGroup> groups_;
    DeviceBuffer<std::byte> arena_; // of blocks too large for shared memory
};

} // namespace parhelion
