// SPDX-License-Identifier: Apache-2.0
// How often the mesh's force counts in a step: once, but for multiple time stepping.
#pragma once

#include <compare>

namespace parhelion {

// Multiple time stepping by impulses (Tuckerman, Berne, Martyna, J. Chem. Phys. 97, 1990 (1992)): in every n-th step the mesh's
// force moves atoms n times, in the others not at all. Virial and output are of the plain forces, in which it counts once.
struct MeshWeights
{
    int first = 1; // together with all other forces; 0: the mesh is not computed
    int rest = 0;  // added once the plain forces have been used, for which `first` is 1 then

    auto operator<=>(const MeshWeights&) const = default;
};

} // namespace parhelion
