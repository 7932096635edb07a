// SPDX-License-Identifier: Apache-2.0
// Assigns a rank its work besides pairs: bonded terms, constraints and virtual sites. This is done at every repartition.
#pragma once

#include "base/error.hpp"
#include "engine/rank.hpp"

#include <string>

namespace parhelion {

// Returns error E506, which says that no rank can compute `terms`, as halos reach only `reach` nm. `detail`: a further sentence.
PhysicsError missing_terms(std::int64_t step, const std::string& terms, double reach, const std::string& detail);

// Assigns this rank its bonded terms, constraints and virtual sites: a lone rank once, several ranks after the halo is made.
// Collective. Throws PhysicsError E506 if no rank can compute a term, because its atoms are farther apart than halos reach.
template <class N>
void assign_work(Rank<N>& r);

} // namespace parhelion
