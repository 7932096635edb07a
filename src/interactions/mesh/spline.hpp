// SPDX-License-Identifier: Apache-2.0
// The cardinal B-splines of smooth PME (Essmann et al., J. Chem. Phys. 103, 8577 (1995), eqs. 3.4, 4.1).
//
// An atom at u grid spacings along an axis, with i = floor(u) and w = u - i, spreads its
// charge over `order` points i + j, j = 0 ... order - 1. The weights theta_j(w) add up to 1.
#pragma once

#include "base/host_device.hpp"

#include <cstdint>
#include <type_traits>

namespace parhelion {

inline constexpr int least_spline_order = 3, largest_spline_order = 8;

// Calls body(std::integral_constant) for an order that is known only at run time, so that loops in body have constant length.
template <class Body>
void with_order(int order, Body&& body)
{
    switch (order)
    {
    case 3:
        return body(std::integral_constant<int, 3>());
    case 4:
        return body(std::integral_constant<int, 4>());
    case 5:
        return body(std::integral_constant<int, 5>());
    case 6:
        return body(std::integral_constant<int, 6>());
    case 7:
        return body(std::integral_constant<int, 7>());
    case 8:
        return body(std::integral_constant<int, 8>());
    }
}

// Computes the weights of order k from the weights of order k - 1. V is Real, or a vector of Reals for several atoms.
template <class Real, class V>
PARHELION_HD inline void raise_spline_order(int k, const V& w, V* weight)
{
    const Real scale = Real{1} / static_cast<Real>(k - 1);
    weight[k - 1] = scale * (w * weight[k - 2]);
    for (int j = k - 2; j >= 1; --j)
    {
        weight[j] = scale * ((static_cast<Real>(k - 1 - j) + w) * weight[j - 1] + (static_cast<Real>(j + 1) - w) * weight[j]);
    }
    weight[0] = scale * ((Real{1} - w) * weight[0]);
}

// Computes the weights at w in [0, 1], and their derivatives by w: differences of the weights of the next lower order.
template <int order, class Real, class V>
PARHELION_HD inline void spline_weights(const V& w, V (&weight)[order], V (&derivative)[order])
{
    static_assert(order >= least_spline_order && order <= largest_spline_order);
    weight[0] = Real{1} - w, weight[1] = w;
    for (int k = 3; k < order; ++k) { raise_spline_order<Real>(k, w, weight); }
    derivative[0] = -weight[0];
    for (int j = 1; j < order - 1; ++j) { derivative[j] = weight[j - 1] - weight[j]; }
    derivative[order - 1] = weight[order - 2];
    raise_spline_order<Real>(order, w, weight);
}

// The place of an atom among `points` grid points along an axis. A position is a fraction of the box (state/periodic_box.hpp),
// and its product with `points` is exact. The integer part is `point`, in [0, points), and the rest is `offset`, in [0, 1].
template <class Real>
struct MeshPlace
{
    std::int32_t point;
    Real offset;
};
PARHELION_HD inline MeshPlace<float> mesh_place(std::uint32_t x, std::uint32_t points)
{
    const std::uint64_t product = std::uint64_t{x} * points;
    return {static_cast<std::int32_t>(product >> 32), static_cast<float>(static_cast<std::uint32_t>(product)) * 0x1p-32f};
}
PARHELION_HD inline MeshPlace<double> mesh_place(std::uint64_t x, std::uint32_t points)
{
    const std::uint64_t low = (x & 0xffffffffu) * points, high = (x >> 32) * points + (low >> 32);
    return {static_cast<std::int32_t>(high >> 32), static_cast<double>(x * points) * 0x1p-64};
}

} // namespace parhelion
