// SPDX-License-Identifier: Apache-2.0
// The dynamic state of one rank's atoms on a GPU, in the one order that pair list, forces and integration share there.
//
// The idea: as ParticleState, but a slot's numbers lie together, 16 bytes a load, and the order is one of *superclusters*: 64
// consecutive slots, eight clusters, hold atoms of one compact cell. The number of slots is a capacity, fixed for the run, so
// that launches and graphs never change: each column may leave one supercluster partly empty, and whole superclusters at the end
// may be unused. Slots without an atom are fillers, as on the CPU: global_of_slot = -1, zero charge, velocity and inverse mass.
//
// A rank of several has halo atoms behind its home atoms, zone by zone (state/gpu/cell.hpp); no supercluster has atoms of two
// zones. What is not theirs is zero: velocity and inverse mass.
//
// What changes while graphs replay (box, step, flags) is in device memory, in DeviceScalars.
//
// Cost: 57 bytes a slot in Mixed, and 4 for each atom of the system.
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

// What an atom is to its pair partners: position as fraction of the box, and charge in e.
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
// One 16-byte reduction adds a float's worth of it; `unused` stays 0.
template <class N>
struct alignas(4 * sizeof(typename N::ForceSum)) ForceSlot
{
    typename N::ForceSum x, y, z, unused; // kJ/mol/nm, through to_sum/from_sum
};

// Raised by kernels, seen by the host at the end of a segment. Overflows are answered with more room and a replay.
enum GpuFlag : std::uint32_t
{
    gpu_flag_list_overflow = 1,       // pair list
    gpu_flag_scratch_overflow = 2,    // neighbours or exclusions of one supercluster
    gpu_flag_unstable_atom = 4,       // a force or velocity that is not finite, or absurd
    gpu_flag_slot_overflow = 8,       // home and halo atoms of a rank
    gpu_flag_ambiguous = 16,          // whose a pair is: the box is too short for this grid, or an atom has left its owner's cell
    gpu_flag_list_stale = 32,         // an atom has moved so far that unlisted pairs may be in range, where lists must miss none
    gpu_flag_mesh_strayed = 64,       // an atom has moved so far that a rank lacks charges of its part of PME's mesh
    gpu_flag_missing_terms = 1u << 31 // bonded terms that no rank has taken
};

struct DeviceScalars
{
    Box<double> box;         // nm
    Box<double> nm_per_unit; // of the policy's Fixed
    // The distance of faces of the box that are a unit of Fixed apart, nm; Box::shear().
    Vec3<double> height_per_unit, shear;
    std::int64_t step = 0;
    double sure_temperature = 0; // K, of the hottest group when kinetic energies were summed last; 0: not yet
    std::uint32_t flags = 0;     // of GpuFlag
    // A rank's part of the bonded terms of the system less those that ranks have taken, which must add up to 0; since the last
    // repartition, until ranks agree on their flags.
    std::int32_t missing_terms = 0;

    // All that depends on the box, of positions of policy N.
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
    std::size_t atoms = 0, slots = 0; // room for home and halo atoms, for fillers as well; atoms of a lone rank
    GpuColumns columns;
    // The box, for good: kernels have other code then. Low: is, or may become, lower than twice the cut-off (Box::is_low()).
    bool is_tilted = false, is_low = false;

    // Length slots.
    DeviceBuffer<PositionCharge<N>> xq;
    DeviceBuffer<VelocityMass<N>> v; // at t - dt/2
    DeviceBuffer<ForceSlot<N>> f;    // sums of this evaluation; who starts an evaluation finds them zero
    DeviceBuffer<std::int32_t> lj_type;
    DeviceBuffer<std::uint8_t> temperature_group;
    DeviceBuffer<std::int32_t> global_of_slot; // -1: filler

    DeviceBuffer<std::int32_t> slot_of_global; // length: atoms of the whole system; -1: not on this rank

    DeviceBuffer<std::int32_t> first_supercluster; // of a column, and the end of the last

    DeviceBuffer<std::uint8_t> zone_of_supercluster; // length: superclusters; 0: home (state/gpu/cell.hpp)

    DeviceBuffer<DeviceScalars> scalars;  // one
    DeviceBuffer<EnergySums<N>> energies; // one; sums of this evaluation

    std::size_t superclusters() const { return slots / supercluster_size; }
};

// Makes room for the atoms of a rank, `density_factor` times as many as there are in its cell and halo at the mean density of
// `atoms` atoms in the box (nm), and takes none: to be filled by take_atoms(). After gpu_flag_slot_overflow: again, with more.
// Forces, energies, step and flags are zero. Waits.
template <class N>
void reserve_slots(GpuQueue& queue, const GpuCell& cell, const Box<double>& box, std::size_t atoms, double density_factor,
                   GpuState<N>& state);

// Copies the atoms of a lone rank, its box and velocities to the GPU, in the order of global numbers; fillers behind. Forces,
// energies, step and flags are zero. Sort with reorder() before listing pairs. For tests and benchmarks. Waits.
template <class N>
void upload(GpuQueue& queue, const ParticleState<N>& from, GpuState<N>& to);

// Brings box, positions, velocities and forces back into `to`, which holds the same atoms in an order of its own. Waits.
template <class N>
void download(GpuQueue& queue, const GpuState<N>& from, ParticleState<N>& to);

} // namespace parhelion
