// SPDX-License-Identifier: Apache-2.0
// Kick, constraints and drift on the GPU in one kernel. It reads the forces, advances positions
// and velocities, and clears the forces for the next step. It checks every atom for a blow-up.
//
// update_blocks.hpp says which atoms move together and how thread blocks share the work. The tables are of the
// whole system. A rank moves the waters, stars and free atoms that are at home. It lists these at every
// repartition in the order of slots, so that neighbouring lanes move neighbouring atoms. As many thread blocks
// as run at once loop until all are moved. Of an update block a rank moves the groups at home. Methods are the
// CPU's: settle_body.hpp, star_lanes.cuh, stochastic_body.hpp, lincs_block.cuh. Arithmetic is in double. Cost
// (measured in bench/gpu/update): latency below 50 000 atoms, then about 4 us for each 53 000 more.
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

// The report of the first atom that stops a run. Its flag is gpu_flag_unstable_atom.
struct FailureReport
{
    std::int32_t atom = -1; // global atom; -1: no failure
    std::int64_t step = 0;
};

struct UpdateLimits
{
    double force = 0;        // kJ/mol/nm
    double displacement = 0; // in one step, nm
};

// A policy for the update's work on copies of its atoms that other ranks have. This policy serves if there are
// no copies. moving_atom.cuh says what the kernel needs of a policy; halo/gpu/copies.hpp has another policy.
struct NoCopies
{
    struct OfAtom;  // data of one atom's copies
    struct Arrival; // forces on an atom that other ranks computed
    template <int threads>
    class Ahead; // OfAtom of several atoms, prefetched for the threads of a block

    bool is_empty() const { return true; }
};

// The input and output of one step's update, except the atoms. Pointers are to device memory.
template <class N, class Copies>
struct UpdateArgs
{
    std::int64_t step_offset = 0;    // the step is DeviceScalars::step + step_offset, so that a captured step can be replayed
    double dt = 0, per_dt = 0;       // ps; 1/dt, set by the update
    const GroupKick* kick = nullptr; // indexed by motion group
    const StochasticDynamics::Group* friction = nullptr; // indexed by motion group; null: no stochastic dynamics
    std::uint64_t seed = 0;                              // seed of the noise of stochastic dynamics
    UpdateLimits limits;
    FailureReport* failure = nullptr;
    std::int32_t* largest_deviation = nullptr; // raised to the largest LINCS deviation beyond the tolerance; null: not wanted
    ScalarSum<N>* virial = nullptr;            // nine elements; the constraint forces' virial is added; null: not wanted
    ScalarSum<N>* deviation_squares = nullptr; // added along with the virial; null: not wanted
    ScalarSum<N>* heat = nullptr;              // heat from the bath of stochastic dynamics is added, kJ/mol
    Copies copies;
};

// Limits that tests set lower than the GPU's own.
struct UpdateCapacity
{
    std::int32_t places = 0;      // largest number of blocks that move waters, stars and free atoms; 0: as many as run at once
    std::size_t shared_bytes = 0; // shared memory of a thread block, bytes; 0: as much as the GPU offers
};

class GpuUpdate
{
public:
    GpuUpdate(GpuQueue& queue, const UpdateBlocks& blocks, const RunParameters& parameters, const UpdateCapacity& capacity = {});

    // Clears the lists of home groups. Allocates if there are more slots than before.
    void forget(GpuQueue& queue, std::size_t slots, const GpuCell& cell);
    // Lists the home groups. Call it after every repartition, and after forget().
    template <class N>
    void resolve(GpuQueue& queue, GpuState<N>& state);

    // Takes a step of every home atom and clears the forces. Requires resolve() since the last repartition, and complete forces.
    template <class N, class Copies>
    void step(GpuQueue& queue, const UpdateArgs<N, Copies>& args, GpuState<N>& state) const;
    // Adds the virial of constraint forces in a step with the present forces, and changes no other data. Ignores copies.
    template <class N, class Copies>
    void try_step(GpuQueue& queue, const UpdateArgs<N, Copies>& args, GpuState<N>& state) const;
    // The next two functions serve velocity Verlet (engine/full_step.hpp). They change only velocities, and ignore copies.
    // to_full_step() kicks velocities and removes their components along constraints. go_back() kicks velocities, and changes
    // them so that a step of args.dt, which is negative, would satisfy the constraints.
    template <class N, class Copies>
    void to_full_step(GpuQueue& queue, const UpdateArgs<N, Copies>& args, GpuState<N>& state) const;
    template <class N, class Copies>
    void go_back(GpuQueue& queue, const UpdateArgs<N, Copies>& args, GpuState<N>& state) const;
    // Minimisations: sets velocities to the forces that constraints leave free, and adds the virial of the forces that these
    // balance, as forces_at_rest() does on the CPU. Requires blocks with equal masses. Changes no other data and ignores copies.
    template <class N, class Copies>
    void to_rest(GpuQueue& queue, const UpdateArgs<N, Copies>& args, GpuState<N>& state) const;
    // Moves positions onto the constraints, along the bonds of these positions, as constrain_positions() does on the CPU.
    template <class N, class Copies>
    void reconstrain(GpuQueue& queue, std::int64_t step_offset, FailureReport* failure, const Copies& copies,
                     GpuState<N>& state) const;

    // Returns true if the kernel of step() leaves multiprocessors free for other kernels while its blocks wait for other ranks.
    // If not, step() must start last: it could keep a kernel from starting whose messages those ranks wait for (a deadlock).
    template <class N, class Copies>
    bool leaves_free_places(const GpuQueue& queue) const;

    // The arguments of the kernels.
    struct View;
    View view() const;

private:
    // The update groups of one size: waters, stars by number of constraints, or waters with
    // a site. A group is a record with its atoms and its kind of water or shape of star.
    static constexpr int kinds = 1 + largest_star + 1 + 1;
    struct Kind
    {
        std::int32_t atoms = 0;                  // atoms per group
        std::int64_t groups = 0, first_word = 0; // number of groups in the system; begin of their records in records_
        std::int32_t blocks = 0;                 // thread blocks that move the home groups
        std::int64_t first_home_word = 0;        // begin of the home groups in home_
    };
    void add_kind(int kind, int atoms, const std::vector<std::int32_t>& members, const std::vector<std::int32_t>& shapes,
                  std::vector<std::int32_t>& records);
    void reserve(GpuQueue& queue, std::size_t slots, const GpuCell& cell);

    int step_blocks() const; // returns the number of thread blocks in step()

    std::int64_t constraints_ = 0;
    std::int32_t blocks_ = 0;
    std::int32_t places_;
    int lincs_iterations_;
    double warn_cosine_;
    std::size_t arena_bytes_ = 0; // size of the largest block's arena

    std::array<Kind, kinds> kind_;
    DeviceBuffer<std::int32_t> records_;          // records of all groups of the system, with global atoms
    DeviceBuffer<std::int32_t> record_of_global_; // record of the group that begins with the atom; -1: none
    DeviceBuffer<std::int32_t> home_;             // records of home groups, with slots
    DeviceBuffer<std::int32_t> home_groups_;      // number of home groups of each kind
    DeviceBuffer<SettleWater> water_kinds_;
    DeviceBuffer<SiteWater> site_water_kinds_;
    DeviceBuffer<StarShape> star_shapes_;

    DeviceBuffer<std::int32_t> block_global_, block_slot_; // atoms of update blocks; slot -1: not a home atom
    DeviceBuffer<ShapeAtom> shape_atoms_;
    DeviceBuffer<ShapeBond> shape_bonds_;
    DeviceBuffer<ShapeEnd> ends_;
    DeviceBuffer<std::int32_t> coupled_;
    DeviceBuffer<double> coefficient_;
    DeviceBuffer<UpdateBlock> block_table_;
    DeviceBuffer<BlockMember> atoms_, bonds_;
    DeviceBuffer<std::int32_t> bond_couplings_;
    DeviceBuffer<BlockGroup> groups_;
    DeviceBuffer<std::byte> arena_; // working arrays of update blocks; empty if these are in shared memory
};

} // namespace parhelion
