// SPDX-License-Identifier: Apache-2.0
// A test that tries many cases one after another tries one in PARHELION_TEST_ONE_IN of them, if that is set: where kernels run on
// a CPU, all would take minutes.
#pragma once

#include "support/number_in.hpp"

namespace parhelion::test {

class OneIn
{
public:
    // For the next case. The first is always taken.
    bool takes_next()
    {
        const bool takes = seen_++ % every_ == 0;
        taken_ += takes;
        return takes;
    }
    int taken() const { return taken_; }

private:
    const int every_ = number_in("PARHELION_TEST_ONE_IN", 1);
    int seen_ = 0, taken_ = 0;
};

} // namespace parhelion::test
