// SPDX-License-Identifier: Apache-2.0
// What nonbonded_gpu.cu hands to the kernels of one policy.
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
    int types;         // with the fillers'
    Real charge_scale; // sqrt(f)
    PairConstants<Real> law;
    // The coefficients of powers of r^2 for screened pairs. They are aligned, so that the kernel that PME runs in nearly every
    // step loads two at once.
    alignas(16) Real numerator[ScreeningQuotient::terms];
    Real denominator[ScreeningQuotient::terms];
    bool is_tilted, is_low; // the box: for whoever chooses the kernel
};

// Queues the kernel for the parameters' options, a warp per share.
template <class N>
void run_kernel(GpuQueue& queue, const Arguments<N>& arguments, int shares, Compute compute, LjRule rule);

} // namespace parhelion::nonbonded_gpu
