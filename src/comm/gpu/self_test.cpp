// SPDX-License-Identifier: Apache-2.0
#include "comm/gpu/self_test.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

std::string describe(const std::vector<PairTest>& tests)
{
    PARHELION_EXPECTS(!tests.empty());
    const auto by_time = [](const PairTest& a, const PairTest& b) { return a.signal_us < b.signal_us; };
    const auto [fastest, slowest] = std::minmax_element(tests.begin(), tests.end(), by_time);
    const auto natives = std::count_if(tests.begin(), tests.end(), [](const PairTest& t) { return t.has_native_atomics; });
    return fmt::format(
        "{} of GPUs: messages arrive, a signal takes {:.2f} to {:.2f} us, {}",
        tests.size() == 1 ? "1 pair" : fmt::format("{} pairs", tests.size()), fastest->signal_us, slowest->signal_us,
        natives == static_cast<std::ptrdiff_t>(tests.size()) ? "native atomics" : fmt::format("native atomics of {}", natives));
}

} // namespace parhelion
