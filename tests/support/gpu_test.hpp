// SPDX-License-Identifier: Apache-2.0
// The fixture of tests that need a GPU: without one they are skipped, and say so.
#pragma once

#include "device/gpu/queue_gpu.hpp"

#include <gtest/gtest.h>

namespace parhelion::test {

class GpuTest : public ::testing::Test
{
protected:
    void SetUp() override
    {
        if (gpu_count() == 0) { GTEST_SKIP() << "no GPU"; }
    }
};

} // namespace parhelion::test
