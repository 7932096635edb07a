// SPDX-License-Identifier: Apache-2.0
// The flag by which a run is stopped from another thread.
#pragma once

#include <atomic>

namespace parhelion::python {

struct Stop
{
    std::atomic<bool> raised = false;
};

} // namespace parhelion::python
