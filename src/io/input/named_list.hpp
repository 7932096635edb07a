// SPDX-License-Identifier: Apache-2.0
// Named values in a meaningful order, which become a JSON object.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace parhelion {

template <class Value>
using NamedList = std::vector<std::pair<std::string, Value>>;

} // namespace parhelion
