// SPDX-License-Identifier: Apache-2.0
// Which tests run on how many GPUs. Where there are fewer than a test needs it is skipped, and says so. Where an entry of ctest
// sees some of the machine's GPUs, PARHELION_TEST_GPUS_HERE is the number of all (tools/test_gpus.py).
#pragma once

#include "device/gpu/queue_gpu.hpp"
#include "support/entries.hpp"

#include <gtest/gtest.h>

namespace parhelion::test {

// For SetUp(): of a test that needs `least` GPUs and, if there are more, uses up to `most`.
inline void take_gpus(int least, int most) { take_gpus_of(number_in("PARHELION_TEST_GPUS_HERE", gpu_count()), least, most); }
inline void take_gpus(int number) { take_gpus(number, number); }

class GpuTest : public ::testing::Test
{
protected:
    void SetUp() override { take_gpus(1); }
};

} // namespace parhelion::test
