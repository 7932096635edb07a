// SPDX-License-Identifier: Apache-2.0
// Declares the functions by which nonbonded_gpu.cu queues the kernels of one numeric policy and combination rule.
#pragma once

#include "device/gpu/launch.cuh"
#include "interactions/pair/gpu/nonbonded_gpu.hpp"
#include "interactions/pair/pair_law.hpp"

namespace parhelion::nonbonded_gpu {

template <class N>
struct Arguments
{
    using Real = typename N::Real;

    const PositionCharge<N>* xq;
    const LjParameters<Real>*of_slot, *of_pair;
    const AtomBounds* superclusters;
    const GpuPairRow* rows;
    const PairWord* entries;
    const std::uint16_t* masks;
    const PairShare* shares;
    const DeviceScalars* scalars;
    ForceSlot<N>* f;
    EnergySums<N>* energies;
    int types;         // number of atom types, including the type of fillers
    Real charge_scale; // sqrt(f), a factor of each charge
    PairConstants<Real> law;
    // The coefficients of powers of r^2 for screened pairs. They are aligned, so that
    // the force-only kernel of PME, which runs in nearly every step, loads two at once.
    alignas(16) Real numerator[ScreeningQuotient::terms];
    Real denominator[ScreeningQuotient::terms];
    bool is_tilted, is_low; // Box::is_tilted() and Box::is_low(), which select the kernel
};

// With LJ-PME.
template <class N>
struct LjMeshArguments : Arguments<N>
{
    const LjParameters<typename N::Real>* mesh_of_slot;
    LjMeshRule mesh_rule;
    DispersionConstants<typename N::Real> of_mesh;
};

// Queue the kernel for the options in the arguments. The kernel has one warp per share of the list.
template <class N, LjRule rule>
void run_kernel(GpuQueue& queue, const Arguments<N>& arguments, int shares, Compute compute);
template <class N, LjRule rule>
void run_kernel(GpuQueue& queue, const LjMeshArguments<N>& arguments, int shares, Compute compute);

} // namespace parhelion::nonbonded_gpu
