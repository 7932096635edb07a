// SPDX-License-Identifier: Apache-2.0
// The operations of comm/core/atomics.hpp on a GPU: the memory operations of the protocol in terms of the PTX memory model.
//
// `system` covers every GPU and the host, `device` the blocks of one GPU. A release covers what its thread has written or seen;
// after a block barrier it covers what the block has written. An acquire before a block barrier holds for the whole block.
// Memory that peers write while a kernel runs is never read through the read-only path: no __ldg, no const __restrict__.
//
// An exchange with a word of another GPU is a single operation only on links with native atomics (device/gpu/arena.hpp). Only
// the claim to be the first to fail needs an exchange; everything else needs only stores and loads.
#pragma once

#include "comm/core/atomics.hpp"
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
    // Waits once until earlier writes have arrived, but not until the store itself has reached the peer.
    static __device__ void store_and_count_release(Word* w, Word value, Word* counter)
    {
        parhelion::store_and_count_release(w, value, counter);
    }

    // Pauses between two polls. A message between running GPUs arrives within a hundred polls; in longer waits the thread sleeps.
    static __device__ void pause(int polls)
    {
        if (polls >= polls_before_sleep) { sleep_about_200_ns(); }
    }

    static __device__ std::int64_t nanoseconds() { return static_cast<std::int64_t>(global_nanoseconds()); }

private:
    static constexpr int polls_before_sleep = 1024;
};

} // namespace parhelion
