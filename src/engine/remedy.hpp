// SPDX-License-Identifier: Apache-2.0
// The remedy for a segment that failed on GPUs, by the flags that its steps have raised.
#pragma once

#include "state/gpu/particle_state_gpu.hpp"

#include <cstdint>

namespace parhelion {

enum class Remedy : std::uint8_t
{
    RepeatByInterval, // so that the one that fails is found
    GrowCapacity,     // for atoms or lists
    NewerLists,       // in the middle of the interval
    BlowUp,           // the CPU takes the same steps, and finds what to say
    LongestTerm,      // named: it is longer than halos reach
    RefuseGrid,
    RefuseMesh // shared as it is
};

// flags: of the end of a segment, not 0. What was computed after a list overflow, with a stale list or with charges missing says
// nothing more, so these come first. Newer lists come with a new halo; within one step there are none.
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
