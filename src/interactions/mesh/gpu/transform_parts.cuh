// SPDX-License-Identifier: Apache-2.0
// What both kinds of the mesh's transforms share (block_transforms.cuh, two_pass_transforms.cuh): a block's memory, charges as
// numbers, and the influence function with the sums that come with it.
//
// Cost: of the influence function, an exponential per wave number of a block's lines, and a reciprocal per number.
#pragma once

#include "base/units.hpp"
#include "device/gpu/block_sum.cuh"
#include "device/gpu/instructions.cuh"
#include "interactions/mesh/gpu/block_fft.cuh"
#include "interactions/mesh/gpu/mesh_transforms.hpp"

#include <cmath>

namespace parhelion::mesh_transforms {

template <class Real>
__device__ GpuComplex<Real>* block_memory() // of the size that the launch asked for
{
    PARHELION_DYNAMIC_SHARED(double2, memory);
    return reinterpret_cast<GpuComplex<Real>*>(memory);
}

// All threads of a block, which see the numbers after its next barrier.
template <class Real>
__device__ void copy_roots(const GpuComplex<Real>* from, int n, GpuComplex<Real>* to)
{
    for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) { to[i] = from[i]; }
}

template <class Real>
__device__ GpuComplex<Real> exchanged(const GpuComplex<Real>& a)
{
    return {a.im, a.re};
}

template <class Real>
__device__ Real in_e(std::int64_t charge)
{
    return static_cast<Real>(static_cast<double>(charge) * (1 / mesh::charge_sum_scale));
}
template <class Real>
__device__ Real in_e(Real charge)
{
    return charge;
}

// As mesh_kernels.hpp has it: G(m) = f exp(-slope m^2) / (pi V m^2 B_x B_y B_z).
struct InfluenceArgs
{
    const double* inverse_moduli;             // of x, y and z, one after another
    double slope, coulomb_factor, background; // nm^2; kJ nm/(mol e^2); kJ nm^3/mol
};

// Index k stands for wave k or, in the upper half, k - n; the middle one of an even n is negative.
__device__ inline int wave(int k, int points) { return 2 * k < points ? k : k - points; }

__device__ inline float inverse(float a) { return approximate_reciprocal(a); }
__device__ inline double inverse(double a) { return 1 / a; }

// A wave number m along an axis, 1/nm, and exp(-slope m^2) / B.
template <class Real>
struct Wave
{
    Real m, factor;

    __device__ Wave(int k, int points, double edge, double slope, const double* inverse_moduli)
        : m(static_cast<Real>(wave(k, points)) / static_cast<Real>(edge)),
          factor(exp(-static_cast<Real>(slope) * (m * m)) * static_cast<Real>(inverse_moduli[k]))
    {
    }
};

// Of the lines `first` ... first + lines - 1 along x of row y, in the block's memory: waves along x, of the lines, of y.
template <class Real>
__device__ void find_waves(Wave<Real>* waves, const std::array<int, 3>& points, int y, int first, int lines,
                           const Vec3<double>& box, const InfluenceArgs& args)
{
    const auto [nx, ny, nz] = points;
    for (int i = static_cast<int>(threadIdx.x); i < nx + lines + 1; i += static_cast<int>(blockDim.x))
    {
        waves[i] = i < nx           ? Wave<Real>(i, nx, box.x, args.slope, args.inverse_moduli)
                   : i < nx + lines ? Wave<Real>(first + i - nx, nz, box.z, args.slope, args.inverse_moduli + nx + ny)
                                    : Wave<Real>(y, ny, box.y, args.slope, args.inverse_moduli + nx);
    }
}

// The influence function along one line, and what its numbers add to energy and virial.
template <class N, Compute compute>
class Influence
{
    using Real = typename N::Real;

public:
    // kz: the line's index; counted: its energies count; nz: points along z.
    __device__ Influence(const InfluenceArgs& arguments, const Vec3<double>& box, const Wave<Real>& y_wave,
                         const Wave<Real>& z_wave, int kz, int nz, bool counted)
        : args(arguments), my(y_wave.m), mz(z_wave.m), m2_yz(my * my + mz * mz), volume(box.x * box.y * box.z),
          scale(static_cast<Real>(args.coulomb_factor / (units::pi * volume)) * y_wave.factor * z_wave.factor),
          weight(kz == 0 || 2 * kz == nz ? 0.5 : 1), counts(counted)
    {
    }

    // G s, with real and imaginary parts exchanged for the inverse transform.
    __device__ GpuComplex<Real> potential(const Wave<Real>& x_wave, const GpuComplex<Real>& s)
    {
        const Real mx = x_wave.m, m2 = fma(mx, mx, m2_yz);
        const Real influence = m2 == 0 ? 0 : scale * x_wave.factor * inverse(m2);
        if constexpr (compute == Compute::ForcesEnergiesVirial)
        {
            if (counts && m2 != 0)
            {
                const double re = s.re, im = s.im;
                const double e = weight * influence * (re * re + im * im), h = e * (1.0 / m2 + args.slope);
                const double m[3] = {mx, my, mz};
                add(e);
                for (int i = 0; i < 3; ++i)
                {
                    for (int j = 0; j < 3; ++j) { virial[3 * i + j] += to_sum<ScalarSum<N>>(h * (m[i] * m[j])); }
                }
            }
        }
        return {influence * s.im, influence * s.re};
    }
    // All threads of the block; adds_background: true for one of them in all, of the first row.
    __device__ void add_sums(bool adds_background, EnergySums<N>* energies)
    {
        if constexpr (compute == Compute::ForcesEnergiesVirial)
        {
            if (counts && adds_background) { add(args.background / volume); }
            add_block_sums(energy, &energies->energy[static_cast<std::size_t>(EnergyTerm::CoulombReciprocal)]);
            add_block_sums(virial, &energies->virial[0]);
        }
    }

private:
    // Energy, and the virial of energy alone: -E / 2 on its diagonal.
    __device__ void add(double e)
    {
        energy[0] += to_sum<ScalarSum<N>>(e);
        for (int d = 0; d < 3; ++d) { virial[4 * d] += to_sum<ScalarSum<N>>(-0.5 * e); }
    }

    const InfluenceArgs& args;
    Real my, mz, m2_yz;
    double volume;
    Real scale;
    double weight; // of energies: what has no mirror image in the half spectrum counts half
    bool counts;
    ScalarSum<N> energy[1] = {}, virial[9] = {};
};

} // namespace parhelion::mesh_transforms
