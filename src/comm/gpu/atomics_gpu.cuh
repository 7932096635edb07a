// SPDX-License-Identifier: Apache-2.0
// The operations of comm/atomics.hpp on a GPU: what the protocol asks of memory, in the words of the PTX memory model.
//
// `system` reaches every GPU and the host, `device` the blocks of one GPU. A release covers what its thread has written or seen:
// with a block barrier before it, what the block has written. An acquire followed by a block barrier serves the block. Memory
// that peers write while a kernel runs is never read through the read-only path: no __ldg, no const __restrict__.
//
// An exchange with a word of another GPU is one operation only on links with native atomics (device/gpu/arena.hpp); stores and
// loads are enough for all but the claim to be the first to fail.
#pragma once

#include "comm/atomics.hpp"
#include "device/gpu/instructions.cuh"

namespace parhelion {

struct CudaAtomics
{
    static constexpr bool is_host = false;

    static __device__ Word load_acquire_system(Word* w) { return parhelion::load_acquire_system(w); }
    static __device__ Word load_relaxed_system(Word* w) { return parhelion::load_relaxed_system(w); }
    static __device__ void store_release_system(Word* w, Word value) { parhelion::store_release_system(w, value); }
    static __device__ void store_relaxed_system(Word* w, Word value) { parhelion::store_relaxed_system(w, value); }
    static __device__ Word exchange_relaxed_system(Word* w, Word value) { return parhelion::exchange_relaxed_system(w, value); }
    static __device__ Word fetch_add_acq_rel_device(Word* w, Word n) { return parhelion::fetch_add_acq_rel_device(w, n); }
    // One wait for what was written before, and not a second for the store on its way to a peer.
    static __device__ void store_and_count_release(Word* w, Word value, Word* counter)
    {
        parhelion::store_and_count_release(w, value, counter);
    }

    // A message between running GPUs arrives within a hundred polls; who waits longer leaves issue slots to others.
    static __device__ void pause(int polls)
    {
        if (polls >= polls_before_sleep) { __nanosleep(200); }
    }

    static __device__ std::int64_t nanoseconds() { return static_cast<std::int64_t>(global_nanoseconds()); }

private:
    static constexpr int polls_before_sleep = 1024;
};

} // namespace parhelion
