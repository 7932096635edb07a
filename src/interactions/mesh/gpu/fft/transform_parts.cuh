// SPDX-License-Identifier: Apache-2.0
// Parts of both kinds of kernels of the mesh's transforms (block_transforms.cuh, two_pass_transforms.cuh): a
// block's memory, the conversion of charges, and the influence function with the sums of energy and virial.
//
// Cost of the influence function: an exponential per wave number of a block's lines,
// and a reciprocal per number. In a tilted box it takes an exponential per number.
#pragma once

#include "base/units.hpp"
#include "device/gpu/block_sum.cuh"
#include "device/gpu/instructions.cuh"
#include "interactions/mesh/gpu/fft/block_fft.cuh"
#include "interactions/mesh/gpu/fft/mesh_transforms.hpp"
#include "model/energy_terms.hpp"

#include <cmath>
#include <type_traits>

namespace parhelion::mesh_transforms {

template <class Real>
__device__ GpuComplex<Real>* block_memory() // dynamic shared memory; the launch sets its size
{
    PARHELION_DYNAMIC_SHARED(double2, memory);
    return reinterpret_cast<GpuComplex<Real>*>(memory);
}

// Copies n roots. All threads of a block call it. They see the numbers after the block's next barrier.
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

// The influence function of mesh_kernels.hpp, for any box: G(m) = f exp(-slope m^2) / (pi V m^2 B_x B_y B_z), B: moduli.
struct InfluenceArgs
{
    const double* inverse_moduli;             // 1 / moduli along x, y and z, concatenated
    double slope, coulomb_factor, background; // nm^2; f, kJ nm/(mol e^2); kJ nm^3/mol
    static constexpr EnergyTerm term = EnergyTerm::CoulombReciprocal;
};
// The influence function of dispersion, G(m) = scale f(x) / (V B_x B_y B_z), x = slope m^2 (dispersion_waves.hpp has f).
struct DispersionArgs
{
    const double* inverse_moduli;
    double slope, scale; // nm^2; kJ nm^3/mol
    static constexpr EnergyTerm term = EnergyTerm::LjReciprocal;
};
template <class Args>
inline constexpr bool is_of_dispersion = std::is_same_v<Args, DispersionArgs>;

// f(x) and its derivative.
template <class Real>
struct DispersionWave
{
    Real value, slope;

    __device__ explicit DispersionWave(Real x)
    {
        const Real b = sqrt(x), gauss = exp(-x);
        slope = 3 * (static_cast<Real>(1.7724538509055160273) * b * erfc(b) - gauss); // sqrt(pi)
        value = fma(static_cast<Real>(2.0 / 3) * x, slope, gauss);
    }
};

// Returns the signed wave number of index k: k or, in the upper half, k - n. If n is even, that of the middle is negative.
__device__ inline int wave(int k, int points) { return 2 * k < points ? k : k - points; }

__device__ inline float inverse(float a) { return approximate_reciprocal(a); }
__device__ inline double inverse(double a) { return 1 / a; }

// A wave number m along an axis, 1/nm, relative to the diagonal of the box, and its factor exp(-slope m^2) / B.
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

// Computes in the block's memory the waves along x, those of lines `first` ... first + lines - 1 along z, and that of row y. In a
// tilted box m^2 is no sum over axes. So there, and for dispersion, factors are 1 / B alone, and the middle wave of an even nz is
// positive.
template <bool tilted, class Args, class Real>
__device__ void find_waves(Wave<Real>* waves, const std::array<int, 3>& points, int y, int first, int lines,
                           const Vec3<double>& box, const Args& args)
{
    const auto [nx, ny, nz] = points;
    const double slope = tilted || is_of_dispersion<Args> ? 0 : args.slope;
    const int unfolded = 2 * nz; // with this number of points, no wave along z is negative
    for (int i = static_cast<int>(threadIdx.x); i < nx + lines + 1; i += static_cast<int>(blockDim.x))
    {
        waves[i] = i < nx ? Wave<Real>(i, nx, box.x, slope, args.inverse_moduli)
                   : i < nx + lines
                       ? Wave<Real>(first + i - nx, tilted ? unfolded : nz, box.z, slope, args.inverse_moduli + nx + ny)
                       : Wave<Real>(y, ny, box.y, slope, args.inverse_moduli + nx);
    }
}

// Converts a wave (m_x, m_y, m_z) relative to the diagonal of a tilted box to Cartesian components.
template <class Real>
struct LeaningWaves
{
    Real y = 0, z = 0, zy = 0;

    LeaningWaves() = default;
    __device__ explicit LeaningWaves(const Vec3<double>& shear)
        : y(static_cast<Real>(shear.x)), z(static_cast<Real>(shear.y - shear.z * shear.x)), zy(static_cast<Real>(shear.z))
    {
    }
    __device__ Vec3<Real> in_space(const Vec3<Real>& m) const { return {m.x, m.y - y * m.x, m.z - zy * m.y - z * m.x}; }
};

// Identifies a line of the spectrum along x by its row y and its index kz.
struct SpectrumLine
{
    int y, kz;
};

// The influence function G along one line. It also sums energy and virial of the line's numbers.
template <class N, Compute compute, bool tilted, class Args>
class Influence
{
    using Real = typename N::Real;

public:
    // `counted` says whether the line contributes to energy and virial.
    __device__ Influence(const Args& arguments, const DeviceScalars& scalars, const std::array<int, 3>& all_points,
                         const Wave<Real>& y_wave, const Wave<Real>& z_wave, const SpectrumLine& of, bool counted)
        : args(arguments), points(all_points), line(of), my(y_wave.m), mz(z_wave.m), m2_yz(my * my + mz * mz),
          volume(scalars.box.volume()), scale(static_cast<Real>(scale_of(args)) * y_wave.factor * z_wave.factor),
          is_mirrored(of.kz == 0 || 2 * of.kz == points[2]), counts(counted)
    {
        if constexpr (tilted) { lean = LeaningWaves<Real>(scalars.shear); }
    }

    // Returns G s, for number s at index x of the line. Real and imaginary parts are exchanged, as the inverse transform needs.
    __device__ GpuComplex<Real> potential(int x, const Wave<Real>& x_wave, const GpuComplex<Real>& s)
    {
        Vec3<Real> m{x_wave.m, my, mz};
        Real m2, influence;
        if constexpr (tilted)
        {
            m = lean.in_space(m), m2 = norm2(m);
            influence = influence_of(x_wave, m2);
        }
        else
        {
            m2 = fma(m.x, m.x, m2_yz);
            if constexpr (is_of_dispersion<Args>) { influence = influence_of(x_wave, m2); }
            else { influence = m2 == 0 ? 0 : scale * x_wave.factor * inverse(m2); }
        }
        if constexpr (compute == Compute::ForcesEnergiesVirial)
        {
            if (counts && (is_of_dispersion<Args> || m2 != 0))
            {
                const double re = s.re, im = s.im;
                const double e = (is_mirrored ? 0.5 : 1) * influence * (re * re + im * im),
                             h = is_of_dispersion<Args> ? virial_factor(x_wave, m2, re * re + im * im)
                                                        : e * (1.0 / m2 + args.slope);
                const double of[3] = {m.x, m.y, m.z};
                add(e);
                for (int i = 0; i < 3; ++i)
                {
                    for (int j = 0; j < 3; ++j) { virial[3 * i + j] += to_sum<ScalarSum<N>>(h * (of[i] * of[j])); }
                }
            }
        }
        if constexpr (tilted)
        {
            if (is_mirrored)
            {
                influence = Real(0.5) * (influence + influence_of(x_wave, norm2(lean.in_space(mirrored(x, x_wave)))));
            }
        }
        return {influence * s.im, influence * s.re};
    }
    // Adds the sums to `energies`; all threads of the block call it. adds_background: true for one block of the rank of row 0.
    __device__ void add_sums(bool adds_background, EnergySums<N>* energies)
    {
        if constexpr (compute == Compute::ForcesEnergiesVirial)
        {
            if constexpr (!is_of_dispersion<Args>)
            {
                if (counts && adds_background) { add(args.background / volume); }
            }
            add_block_sums(energy, &energies->energy[static_cast<std::size_t>(Args::term)]);
            add_block_sums(virial, &energies->virial[0]);
        }
    }

private:
    __device__ double scale_of(const InfluenceArgs& of) const { return of.coulomb_factor / (units::pi * volume); }
    __device__ double scale_of(const DispersionArgs& of) const { return of.scale / volume; }
    // Returns the factor of m (x) m in the virial of dispersion. s2: the squared absolute value of a number of the spectrum.
    __device__ double virial_factor(const Wave<Real>& x_wave, Real m2, double s2) const
    {
        const DispersionWave<Real> f(static_cast<Real>(args.slope) * m2);
        return -args.slope * (is_mirrored ? 0.5 : 1) * (scale * x_wave.factor * f.slope) * s2;
    }
    __device__ Real influence_of(const Wave<Real>& x_wave, Real m2) const
    {
        if constexpr (is_of_dispersion<Args>)
        {
            return scale * x_wave.factor * DispersionWave<Real>(static_cast<Real>(args.slope) * m2).value;
        }
        else { return m2 == 0 ? 0 : scale * x_wave.factor * exp(-static_cast<Real>(args.slope) * m2) * inverse(m2); }
    }
    // Returns the wave number at the mirror image of a number of the half spectrum, if the half has that
    // image. It is -m, but the middle wave of an even number of points is its own mirror image. In a tilted
    // box a number and its image then have G of different waves; real potentials need the mean of these.
    __device__ Vec3<Real> mirrored(int x, const Wave<Real>& x_wave) const
    {
        return {2 * x == points[0] ? x_wave.m : -x_wave.m, 2 * line.y == points[1] ? my : -my,
                2 * line.kz == points[2] ? mz : -mz};
    }
    // Adds an energy, and the part of its virial that is -E / 2 on the diagonal.
    __device__ void add(double e)
    {
        energy[0] += to_sum<ScalarSum<N>>(e);
        for (int d = 0; d < 3; ++d) { virial[4 * d] += to_sum<ScalarSum<N>>(-0.5 * e); }
    }

    const Args& args;
    const std::array<int, 3>& points;
    SpectrumLine line;
    Real my, mz, m2_yz;
    double volume;
    Real scale;
    bool is_mirrored; // the line's mirror images are in the half spectrum as well, so each counts half
    bool counts;
    LeaningWaves<Real> lean;
    ScalarSum<N> energy[1] = {}, virial[9] = {};
};

} // namespace parhelion::mesh_transforms
