// SPDX-License-Identifier: Apache-2.0
// The pair kernels of policy Mixed. Each policy has its own file, so that they compile in parallel.
#include "pairs/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "interactions/pair/nonbonded_mixed.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep
#include "hwy/highway.h"

#include "interactions/pair/nonbonded_kernel-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace parhelion::nonbonded::HWY_NAMESPACE {
void run_policy(const KernelArgs<Mixed>& args) { run_kernel(args); }
} // namespace parhelion::nonbonded::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace parhelion::nonbonded {
HWY_EXPORT(run_policy);
template <>
void compute_rows(const KernelArgs<Mixed>& args)
{
    HWY_DYNAMIC_DISPATCH(run_policy)(args);
}
} // namespace parhelion::nonbonded
#endif
