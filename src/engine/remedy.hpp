// SPDX-License-Identifier: Apache-2.0
// Chooses the remedy for a segment that failed on GPUs, from the flags that its steps have raised.
#pragma once

#include "state/gpu/particle_state_gpu.hpp"

#include <cstdint>

namespace parhelion {

enum class Remedy : std::uint8_t
{
    RepeatByInterval, // repeats the segment interval by interval, to find the one that fails
    GrowCapacity,     // enlarges memory for atoms or lists, then repeats the steps
    NewerLists,       // builds new lists in the middle of the interval
    BlowUp,           // repeats the steps on the CPU, which finds the cause
    LongestTerm,      // ends the run by an error: a term is longer than halos reach
    RefuseGrid,
    RefuseMesh // ends the run by an error: ranks cannot share the mesh in this way
};

// Returns the remedy. flags: those raised by the end of a segment, not 0. A list overflow, a stale list or charges missing on the
// mesh make results void, so these flags come first. Newer lists come with a new halo; a segment of one step has no NewerLists.
inline Remedy remedy_for(std::uint32_t flags, bool is_one_interval, bool is_one_step)
{
    constexpr std::uint32_t overflows = gpu_flag_list_overflow | gpu_flag_scratch_overflow | gpu_flag_slot_overflow;
    if (!is_one_interval) { return Remedy::RepeatByInterval; }
    if ((flags & overflows) != 0) { return Remedy::GrowCapacity; }
    if ((flags & gpu_flag_list_stale) != 0) { return Remedy::NewerLists; }
    const bool has_strayed = (flags & gpu_flag_mesh_strayed) != 0;
    if (has_strayed && !is_one_step) { return Remedy::NewerLists; }
    if ((flags & gpu_flag_unstable_atom) != 0) { return Remedy::BlowUp; }
    if (has_strayed) { return Remedy::RefuseMesh; }
    return (flags & gpu_flag_ambiguous) != 0 ? Remedy::RefuseGrid : Remedy::LongestTerm;
}

} // namespace parhelion
