// SPDX-License-Identifier: Apache-2.0
// Computes the difference vectors of a bonded term from its atoms, and the forces on atoms from forces on the
// vectors. It works for any number of atoms, on host and device. bonded_body.hpp says which atoms each vector joins.
#pragma once

#include "base/numerics.hpp"
#include "base/vec3.hpp"
#include "state/periodic_box.hpp"

namespace parhelion {

// Computes the difference vectors of a term, nm. `tilted` means the same as in PeriodicBox::nearest().
template <bool tilted = true, class N, int atoms, int vectors>
PARHELION_HD void differences(const PeriodicBox<N>& box, const Vec3<typename N::Fixed> (&x)[atoms], Vec3<double> (&d)[vectors])
{
    static_assert(vectors == atoms - 1);
    d[0] = box.template nearest<tilted>(x[0], x[1]);
    for (int i = 1; i < vectors; ++i) { d[i] = box.template nearest<tilted>(x[i + 1], x[i]); }
}

// Calls add(a, force on atom a of the term). Forces are converted before
// they are summed, so that in fixed point they cancel to the last bit.
template <class Sum, int vectors, class Add>
PARHELION_HD void scatter(const Vec3<double> (&force)[vectors], Add&& add)
{
    Vec3<Sum> f[vectors];
    for (int i = 0; i < vectors; ++i) { f[i] = {to_sum<Sum>(force[i].x), to_sum<Sum>(force[i].y), to_sum<Sum>(force[i].z)}; }
    add(0, f[0]);
    if constexpr (vectors == 1) { add(1, -f[0]); }
    else
    {
        add(1, -(f[0] + f[1]));
        for (int a = 2; a < vectors; ++a) { add(a, f[a - 1] - f[a]); }
        add(vectors, f[vectors - 1]);
    }
}

} // namespace parhelion
