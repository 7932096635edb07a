// SPDX-License-Identifier: Apache-2.0
// The option trees of GROMACS' modules in a run input file (.tpr), flattened: "applied-forces/electric-field/x/E0".
#pragma once

#include "io/input/tpr/cursor.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace parhelion {

// Maps paths to numbers and texts; truth values are "true" and "false". Array
// elements are omitted, because no option that this program needs is an array.
using TprTree = std::map<std::string, std::string, std::less<>>;

TprTree read_tpr_tree(TprCursor& cursor);

// Returns the value at the path, or `otherwise` if there is no value.
std::string value_at(const TprTree& tree, std::string_view path, std::string_view otherwise);

} // namespace parhelion
