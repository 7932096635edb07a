// SPDX-License-Identifier: Apache-2.0
// CMAP: a correction to the energy of two successive dihedral angles, phi of atoms 0-1-2-3 and psi of atoms
// 1-2-3-4. Its values are given on a grid (MacKerell, Feig, Brooks, J. Comput. Chem. 25 (2004) 1400).
//
// The idea: cmap_table() turns the values at n x n nodes once into four numbers a node: value,
// d/dphi, d/dpsi and d2/dphi dpsi. A term finds its cell and interpolates bicubically between the
// four corners, in Hermite's form, so energy and forces are continuous everywhere.
//
// Cost: two dihedrals, two arctangents and 16 numbers of the table for each term; 32 n^2 bytes for each map (24 x 24: 18 KiB).
#pragma once

#include "interactions/bonded/bonded_body.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace parhelion {

// The grid cell that contains an angle, and the weights of its two ends. The axis is periodic, with n nodes from -180 degrees on.
template <class T>
struct CmapAxis
{
    int node[2];
    T value[2], slope[2];   // weights of value and slope (per grid step) at each end
    T dvalue[2], dslope[2]; // derivatives of the weights by the position in the cell

    PARHELION_HD CmapAxis(const DihedralGeometry<T>& angle, int n)
    {
        const T turn = T(6.283185307179586476925);
        const T x = (std::atan2(angle.sine, angle.cosine) / turn + T(0.5)) * T(n); // the angle in grid steps, in [0, n]
        node[0] = x < T(n) ? static_cast<int>(x) : n - 1;
        node[1] = node[0] + 1 < n ? node[0] + 1 : 0;
        const T t = x - T(node[0]), u = 1 - t;
        value[0] = (1 + 2 * t) * u * u, value[1] = (1 + 2 * u) * t * t;
        slope[0] = t * u * u, slope[1] = -t * t * u;
        dvalue[0] = -6 * t * u, dvalue[1] = 6 * t * u;
        dslope[0] = u * (1 - 3 * t), dslope[1] = t * (1 - 3 * u);
    }
};

template <class T>
struct Cmap
{
    static constexpr int atoms = 5;
    int n;                    // number of nodes along an axis
    std::int64_t first_value; // index of the table's first value among those of all terms

    PARHELION_HD BondedForces<T, 4> operator()(const Vec3<T>* d, const T* tables) const
    {
        const Vec3<T> d_psi[3] = {-d[1], d[2], d[3]};
        const DihedralGeometry<T> phi(d), psi(d_psi);
        const CmapAxis<T> i(phi, n), j(psi, n);
        T energy = 0, dphi = 0, dpsi = 0; // dphi, dpsi: derivatives of the energy per grid step
        for (int a = 0; a < 2; ++a)
        {
            for (int b = 0; b < 2; ++b)
            {
                const T* const at = tables + first_value + 4 * (i.node[a] * n + j.node[b]);
                const T value = j.value[b] * at[0] + j.slope[b] * at[2], slope = j.value[b] * at[1] + j.slope[b] * at[3];
                energy += i.value[a] * value + i.slope[a] * slope;
                dphi += i.dvalue[a] * value + i.dslope[a] * slope;
                dpsi += i.value[a] * (j.dvalue[b] * at[0] + j.dslope[b] * at[2]) +
                        i.slope[a] * (j.dvalue[b] * at[1] + j.dslope[b] * at[3]);
            }
        }
        const T steps = T(n) / T(6.283185307179586476925); // grid steps per radian
        const BondedForces<T, 3> of_phi = phi.forces(energy, steps * dphi), of_psi = psi.forces(0, steps * dpsi);
        return {{energy}, {of_phi.f[0], of_phi.f[1] - of_psi.f[0], of_phi.f[2] + of_psi.f[1], of_psi.f[2]}};
    }
};

// Returns n for a grid of n x n values.
int cmap_nodes(std::size_t values);

// Returns the table for a grid of n x n values (kJ/mol). The value for (phi_i, psi_j) is at i * n + j, with angles from
// -180 degrees on. Derivatives in the table are per grid step. Slopes are those of natural cubic splines through two
// periods, from half a period before the grid to half a period after it. GROMACS does the same; energies agree to rounding.
std::vector<double> cmap_table(std::span<const double> grid);

} // namespace parhelion
