// SPDX-License-Identifier: Apache-2.0
// The dynamic state of one rank's atoms on a GPU, in the order that pair list, forces and integration all use there.
//
// The idea: as in ParticleState, but the numbers of a slot are contiguous, 16 bytes a load, and atoms are ordered by
// *superclusters*: 64 consecutive slots, eight clusters, hold atoms of one compact cell. The number of slots is a capacity, fixed
// for the run, so launches and graphs never change. A column may leave one supercluster partly empty, and superclusters at the
// end may be unused. Slots without an atom are fillers, as on the CPU: global_of_slot = -1, zero charge, velocity, inverse mass.
//
// With several ranks a rank has halo atoms behind its home atoms, zone by zone (state/gpu/cell.hpp). No supercluster
// has atoms of two zones. Halo atoms have zero velocity and inverse mass here.
//
// DeviceScalars, in device memory, holds the values that change while graphs replay: box, step and flags.
//
// Cost: 57 bytes per slot in Mixed, and 4 per atom of the system.
#pragma once

#include "base/box.hpp"
#include "base/numerics.hpp"
#include "device/gpu/device_buffer.hpp"
#include "model/energy_terms.hpp"
#include "state/gpu/columns.hpp"
#include "state/particle_state.hpp"

#include <cstdint>

namespace parhelion {

inline constexpr int supercluster_size = 64; // slots
inline constexpr int clusters_per_supercluster = supercluster_size / cluster_size;

// The data of an atom that its pair partners need: position as fraction of the box, and charge in e.
template <class N>
struct alignas(4 * sizeof(typename N::Real)) PositionCharge
{
    typename N::Fixed x, y, z;
    typename N::Real charge;
};
template <class N>
struct alignas(4 * sizeof(typename N::Real)) VelocityMass
{
    typename N::Real x, y, z, inverse_mass; // nm/ps, 1/u
};
// The force on a slot. If its numbers are float, one 16-byte atomic reduction adds all of them; `unused` stays 0.
template <class N>
struct alignas(4 * sizeof(typename N::ForceSum)) ForceSlot
{
    typename N::ForceSum x, y, z, unused; // kJ/mol/nm, through to_sum/from_sum
};

// Flags that kernels raise. The host reads them after a segment. After an overflow it increases capacity and repeats.
enum GpuFlag : std::uint32_t
{
    gpu_flag_list_overflow = 1,       // overflow of the pair list
    gpu_flag_scratch_overflow = 2,    // overflow of the neighbours or exclusions of one supercluster
    gpu_flag_unstable_atom = 4,       // a force or velocity that is not finite, or too large
    gpu_flag_slot_overflow = 8,       // overflow of a rank's slots of home and halo atoms
    gpu_flag_ambiguous = 16,          // unclear owner of a pair: box too short for the grid, or an atom left its owner's cell
    gpu_flag_list_stale = 32,         // an atom has moved so far that a list that must have all pairs may lack one
    gpu_flag_mesh_strayed = 64,       // an atom has moved so far that a rank lacks charges of its part of PME's mesh
    gpu_flag_missing_terms = 1u << 31 // there are bonded terms that no rank computes
};

struct DeviceScalars
{
    Box<double> box;         // nm
    Box<double> nm_per_unit; // nm per unit of the policy's Fixed
    // height_per_unit: distance (nm) between faces of the box that is one unit of Fixed. shear: Box::shear().
    Vec3<double> height_per_unit, shear;
    std::int64_t step = 0;
    double sure_temperature = 0; // K, of the hottest group (pairs/list_conditions.hpp); 0: no kinetic energies yet
    std::uint32_t flags = 0;     // bits of GpuFlag
    // A rank's share of the system's number of bonded terms, minus the number of terms that it computes. The sum
    // over ranks must be 0. It adds up all terms since the last repartition, until ranks agree on their flags.
    std::int32_t missing_terms = 0;

    // Sets all values that depend on the box, for positions of policy N.
    template <class N>
    PARHELION_HD void set_box(const Box<double>& edges)
    {
        box = edges, nm_per_unit = PeriodicBox<N>(edges).nm_per_unit();
        height_per_unit = nm_per_unit.heights(), shear = edges.shear();
    }
};

template <class N>
struct GpuState
{
    std::size_t atoms = 0, slots = 0; // atoms: capacity for home and halo atoms (lone rank: its atoms); slots: with fillers
    GpuColumns columns;
    // Fixed for the run, because they select kernels. is_low: the box is, or may become, low (Box::is_low()).
    bool is_tilted = false, is_low = false;

    // The following arrays have length `slots`.
    DeviceBuffer<PositionCharge<N>> xq;
    DeviceBuffer<VelocityMass<N>> v; // velocities at t - dt/2
    DeviceBuffer<ForceSlot<N>> f;    // force sums of this evaluation; they must be zero when it starts
    DeviceBuffer<std::int32_t> lj_type;
    DeviceBuffer<std::uint8_t> temperature_group;
    DeviceBuffer<std::int32_t> global_of_slot; // -1: filler

    DeviceBuffer<std::int32_t> slot_of_global; // length: atoms of the whole system; -1: not on this rank

    DeviceBuffer<std::int32_t> first_supercluster; // first supercluster of each column, and one past the last

    DeviceBuffer<std::uint8_t> zone_of_supercluster; // length: superclusters; 0: home (state/gpu/cell.hpp)

    DeviceBuffer<DeviceScalars> scalars;  // has one element
    DeviceBuffer<EnergySums<N>> energies; // has one element: the sums of this evaluation

    std::size_t superclusters() const { return slots / supercluster_size; }
};

// Reserves slots for `density_factor` times the atoms that a rank's cell and halo have at the mean density
// of `atoms` atoms in the box (nm). The slots are empty until take_atoms(). Call it again with a larger
// factor after gpu_flag_slot_overflow. Sets forces, energies, step and flags to zero. Waits for the GPU.
template <class N>
void reserve_slots(GpuQueue& queue, const GpuCell& cell, const Box<double>& box, std::size_t atoms, double density_factor,
                   GpuState<N>& state);

// Copies the atoms of a lone rank, its box and velocities to the GPU, by global number, with fillers at the end. Sets forces,
// energies, step and flags to zero. Call reorder() before listing pairs. For tests and benchmarks. Waits for the GPU.
template <class N>
void upload(GpuQueue& queue, const ParticleState<N>& from, GpuState<N>& to);

// Copies box, positions, velocities and forces into `to`, which has the same atoms in its own order. Waits for the GPU.
template <class N>
void download(GpuQueue& queue, const GpuState<N>& from, ParticleState<N>& to);

} // namespace parhelion
