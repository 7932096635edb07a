// SPDX-License-Identifier: Apache-2.0
// Selects the kernel of nonbonded_gpu_kernel.cuh by a run's options, at no cost. Each kernel that is named here is compiled.
#pragma once

#include "interactions/pair/gpu/nonbonded_gpu_kernel.cuh"

#include <type_traits>

namespace parhelion::nonbonded_gpu {

template <class S>
void run(GpuQueue& queue, const ArgumentsOf<S>& arguments, int shares)
{
    if constexpr (S::screened) { leave_shared_memory(queue, pair_kernel<S>, 75); } // per cent; the mesh has the rest
    launch(queue, Phase::Nonbonded, pair_kernel<S>, {shares, 32}, arguments);
}

template <class N, Electrostatics electrostatics, LjRule rule, Switching switching, CellShape cell = CellShape::Rectangular>
void run_compute(GpuQueue& queue, const Arguments<N>& arguments, int shares, Compute compute)
{
    if (compute == Compute::Forces)
    {
        return run<Shape<N, electrostatics, rule, switching, Compute::Forces, cell>>(queue, arguments, shares);
    }
    run<Shape<N, electrostatics, rule, switching, Compute::ForcesEnergiesVirial, cell>>(queue, arguments, shares);
}
// Launches the kernel for usual options, which have kernels of their own. The kernel of nearly every step has no instruction
// to spare for a test, and one kernel of all laws with energies would exceed the instruction cache (bench/gpu/pairs/log.md).
template <class N, Electrostatics electrostatics, LjRule rule, CellShape cell>
void run_usual(GpuQueue& queue, const Arguments<N>& arguments, int shares, Compute compute)
{
    if (arguments.law.lj_is_shorter || arguments.law.lj_potential_is_switched || arguments.law.is_tightly_screened)
    {
        return run_compute<N, electrostatics, rule, Switching::IfAsked, cell>(queue, arguments, shares, compute);
    }
    if (compute == Compute::ForcesEnergiesVirial)
    {
        using Energies = Shape<N, electrostatics, rule, Switching::ForceIfAsked, Compute::ForcesEnergiesVirial, cell>;
        return run<Energies>(queue, arguments, shares);
    }
    if constexpr (std::is_same_v<N, Mixed>)
    {
        using Switched = Shape<N, electrostatics, rule, Switching::Force, Compute::Forces, cell>;
        using Unswitched = Shape<N, electrostatics, rule, Switching::Never, Compute::Forces, cell>;
        if (arguments.law.lj_is_switched) { return run<Switched>(queue, arguments, shares); }
        return run<Unswitched>(queue, arguments, shares);
    }
    else { run<Shape<N, electrostatics, rule, Switching::ForceIfAsked, Compute::Forces, cell>>(queue, arguments, shares); }
}
template <class N, LjRule rule>
void run_kernel(GpuQueue& queue, const Arguments<N>& arguments, int shares, Compute compute)
{
    constexpr Electrostatics field = Electrostatics::ReactionField, screened = Electrostatics::Screened;
    if (arguments.is_low) // low boxes are rare and small, so one kernel serves all options
    {
        constexpr Switching any = Switching::IfAsked;
        if (arguments.law.is_screened)
        {
            return run_compute<N, screened, rule, any, CellShape::Low>(queue, arguments, shares, compute);
        }
        return run_compute<N, field, rule, any, CellShape::Low>(queue, arguments, shares, compute);
    }
    if (arguments.is_tilted)
    {
        if (arguments.law.is_screened)
        {
            return run_usual<N, screened, rule, CellShape::Tilted>(queue, arguments, shares, compute);
        }
        return run_usual<N, field, rule, CellShape::Tilted>(queue, arguments, shares, compute);
    }
    if (arguments.law.is_screened)
    {
        return run_usual<N, screened, rule, CellShape::Rectangular>(queue, arguments, shares, compute);
    }
    if (arguments.law.lj_potential_is_switched)
    {
        return run_compute<N, field, rule, Switching::IfAsked>(queue, arguments, shares, compute);
    }
    if (arguments.law.lj_is_switched) { return run_compute<N, field, rule, Switching::Force>(queue, arguments, shares, compute); }
    run_compute<N, field, rule, Switching::Never>(queue, arguments, shares, compute);
}

// LJ-PME is rare: its kernels differ only in combination rule, shape of the box, and whether `ewald-rtol` may be tight.
template <class N, LjRule rule, Switching switching, CellShape cell>
void run_lj_mesh(GpuQueue& queue, const LjMeshArguments<N>& arguments, int shares, Compute compute)
{
    constexpr Electrostatics screened = Electrostatics::Screened;
    if (compute == Compute::Forces)
    {
        return run<Shape<N, screened, rule, switching, Compute::Forces, cell, true>>(queue, arguments, shares);
    }
    run<Shape<N, screened, rule, switching, Compute::ForcesEnergiesVirial, cell, true>>(queue, arguments, shares);
}
template <class N, LjRule rule>
void run_kernel(GpuQueue& queue, const LjMeshArguments<N>& arguments, int shares, Compute compute)
{
    const bool is_tight = arguments.law.is_tightly_screened || arguments.of_mesh.is_tight;
    if (arguments.is_low || is_tight) // the kernel for low boxes serves any box
    {
        return run_lj_mesh<N, rule, Switching::IfAsked, CellShape::Low>(queue, arguments, shares, compute);
    }
    if (arguments.is_tilted)
    {
        return run_lj_mesh<N, rule, Switching::Never, CellShape::Tilted>(queue, arguments, shares, compute);
    }
    run_lj_mesh<N, rule, Switching::Never, CellShape::Rectangular>(queue, arguments, shares, compute);
}

} // namespace parhelion::nonbonded_gpu
