// SPDX-License-Identifier: Apache-2.0
// Pointers to the runtime's objects, for headers that do without the runtime's own.
#pragma once

#ifdef PARHELION_HIP
struct ihipStream_t;
struct ihipEvent_t;
struct hipGraphExec;
namespace parhelion {
using StreamHandle = ihipStream_t*;
using EventHandle = ihipEvent_t*;
using ExecutableGraphHandle = hipGraphExec*;
} // namespace parhelion
#else
struct CUstream_st;
struct CUevent_st;
struct CUgraphExec_st;
namespace parhelion {
using StreamHandle = CUstream_st*;
using EventHandle = CUevent_st*;
using ExecutableGraphHandle = CUgraphExec_st*;
} // namespace parhelion
#endif
