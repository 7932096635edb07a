// SPDX-License-Identifier: Apache-2.0
// What a rank computes besides pairs, decided at every repartition.
#pragma once

#include "base/error.hpp"
#include "engine/rank.hpp"

#include <string>

namespace parhelion {

// E506: `terms` were nobody's, since halos reach no farther than `reach` (nm). `detail` is what else is known, a sentence.
PhysicsError missing_terms(std::int64_t step, const std::string& terms, double reach, const std::string& detail);

// Fills in the bonded terms, constraints and virtual sites that are this rank's; for a lone rank once, for several after the halo
// is there. Collective. Throws PhysicsError E506 if a term was nobody's: its atoms are farther apart than halos reach.
template <class N>
void assign_work(Rank<N>& r);

} // namespace parhelion
