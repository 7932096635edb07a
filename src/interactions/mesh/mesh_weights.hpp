// SPDX-License-Identifier: Apache-2.0
// The factor by which the mesh force counts in a step: 1, except with multiple time stepping.
#pragma once

#include <compare>

namespace parhelion {

// Multiple time stepping by impulses (Tuckerman, Berne, Martyna, J. Chem. Phys. 97, 1990 (1992)): in every n-th step the mesh
// force moves atoms n-fold, in other steps not at all. Virial and output use plain forces, in which it has the factor 1.
struct MeshWeights
{
    int first = 1; // factor of the mesh force in the step's forces; 0: the mesh is not computed
    int rest = 0;  // added to the factor after virial and output have used the forces; then `first` is 1

    auto operator<=>(const MeshWeights&) const = default;
};

} // namespace parhelion
