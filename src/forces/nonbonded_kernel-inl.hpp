// SPDX-License-Identifier: Apache-2.0
// The pair kernel, one source for every policy, option and instruction set. Included once per instruction set by Highway's
// foreach_target, from a .cpp per policy.
//
// A row holds 4 i atoms; an entry is one cluster of 8 j atoms, taken one vector at a time (one vector of 8 floats; several where
// vectors are shorter or numbers longer). For each i atom: distances to the 8 j atoms, one scalar force per pair, 3 fused
// multiply-adds into i and 3 into j. Forces on i stay in registers for the whole row.
//
// In the reproducible policies every pair's force, energy and virial is rounded to 64-bit fixed point before it is added, so sums
// do not depend on any order; and every expression is symmetric in i and j, so that it does not matter which atom is i. Cost: 25
// vector instructions per i atom and vector without Lennard-Jones, 32 with (bench/pairs).

#if defined(PARHELION_NONBONDED_KERNEL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PARHELION_NONBONDED_KERNEL_INL
#undef PARHELION_NONBONDED_KERNEL_INL
#else
#define PARHELION_NONBONDED_KERNEL_INL
#endif

#include "forces/nonbonded_kernel.hpp"

#include "hwy/highway.h"

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace parhelion::nonbonded {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

enum class Masking
{
    None,
    Excluded,
    Diagonal
};

// The vectors of a policy. Reproducible sums are 64 bits wide, so there as many numbers are taken as fit a vector of doubles.
template <class N>
struct Vectors
{
    static constexpr bool reproducible = N::summation == Summation::Reproducible;
    using Real = typename N::Real;
    using D64 = hn::CappedTag<double, cluster_size>;
    using D = std::conditional_t<reproducible, hn::Rebind<Real, D64>, hn::CappedTag<Real, cluster_size>>;
    using DSigned = hn::Rebind<std::make_signed_t<typename N::Fixed>, D>;
    using DFixed = hn::Rebind<typename N::Fixed, D>;
    using DSum = hn::Rebind<typename N::ForceSum, D>;
    using V = hn::Vec<D>;
    using VFixed = hn::Vec<DFixed>;
    using VSum = hn::Vec<DSum>; // sums of forces; of energies as well
};

// to_sum() of base/numerics.hpp, bit for bit, for a vector of doubles: the whole and the fractional part are rounded to integers
// by adding 1.5 * 2^52, which leaves the integer in the low bits of the number. `limit` is at most fixed_sum_limit.
template <class D64, class V64 = hn::Vec<D64>>
HWY_INLINE hn::Vec<hn::Rebind<std::int64_t, D64>> to_fixed_point(D64 d, V64 value, double limit)
{
    const hn::Rebind<std::int64_t, D64> di;
    const V64 magic = hn::Set(d, 6755399441055744.0), largest = hn::Set(d, limit);
    const V64 x = hn::Max(hn::Min(value, largest), hn::Neg(largest));
    const V64 whole_bits = hn::Add(x, magic);
    const V64 whole = hn::Sub(whole_bits, magic);
    const V64 rest_bits = hn::Add(hn::Mul(hn::Sub(x, whole), hn::Set(d, fixed_sum_scale)), magic);
    const auto zero = hn::BitCast(di, magic);
    return hn::Add(hn::ShiftLeft<32>(hn::Sub(hn::BitCast(di, whole_bits), zero)), hn::Sub(hn::BitCast(di, rest_bits), zero));
}
template <class N>
HWY_INLINE typename Vectors<N>::VSum to_sum_vector(typename Vectors<N>::V value, [[maybe_unused]] double limit)
{
    using T = Vectors<N>;
    if constexpr (!T::reproducible) { return value; }
    else if constexpr (std::is_same_v<typename T::Real, float>)
    {
        return to_fixed_point(typename T::D64(), hn::PromoteTo(typename T::D64(), value), limit);
    }
    else { return to_fixed_point(typename T::D64(), value, limit); }
}
template <class N>
HWY_INLINE typename Vectors<N>::VSum force_sum(typename Vectors<N>::V force)
{
    return to_sum_vector<N>(force, fixed_sum_limit);
}
// Energies of all pairs meet in one sum: the limit leaves room for 200 overlapping pairs before it wraps.
template <class N>
HWY_INLINE typename Vectors<N>::VSum energy_sum(typename Vectors<N>::V energy)
{
    return to_sum_vector<N>(energy, 1e7);
}

template <class N>
HWY_INLINE typename N::ForceSum sum_of_lanes(typename Vectors<N>::VSum sum)
{
    const typename Vectors<N>::DSum d;
    return hn::GetLane(hn::SumOfLanes(d, sum));
}

// 1 / sqrt(x) to the last bit or so. Floats: the hardware's 12 bits and one third-order step, y (1 + e / 2 + 3 e^2 / 8) with e =
// 1 - x y^2, whose error is e^3 / 3 < 1e-10; cheaper than square root and division.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V inverse_sqrt(D d, V x)
{
    if constexpr (std::is_same_v<hn::TFromD<D>, float>)
    {
        const V y = hn::ApproximateReciprocalSqrt(x);
        const V e = hn::NegMulAdd(hn::Mul(x, y), y, hn::Set(d, 1.0f));
        const V p = hn::MulAdd(e, hn::Set(d, 0.375f), hn::Set(d, 0.5f));
        return hn::MulAdd(hn::Mul(y, e), p, y);
    }
    else { return hn::Div(hn::Set(d, 1.0), hn::Sqrt(x)); }
}

// What is the same for all pairs.
template <class N>
struct Constants
{
    using Real = typename N::Real;

    explicit Constants(const KernelArgs<N>& args)
    {
        const NonbondedParameters& p = *args.parameters;
        for (int d = 0; d < 3; ++d) { nm_per_unit[d] = static_cast<Real>(args.nm_per_unit[d]); }
        cutoff2 = static_cast<Real>(p.cutoff * p.cutoff);
        two_k = static_cast<Real>(2 * p.reaction_field_k);
        k = static_cast<Real>(p.reaction_field_k), c = static_cast<Real>(p.reaction_field_c);
        lj_switch = static_cast<Real>(p.lj_switch);
        for (int m = 0; m < 2; ++m)
        {
            // The kernel's parameters are 6 c6 and 12 c12.
            const LjModifierTerm& term = m == 0 ? p.dispersion : p.repulsion;
            const double scale = m == 0 ? 1.0 / 6 : 1.0 / 12;
            shift[m] = static_cast<Real>(scale * term.constant);
            a[m] = static_cast<Real>(scale * term.a), b[m] = static_cast<Real>(scale * term.b);
            a_energy[m] = static_cast<Real>(scale * term.a / 3), b_energy[m] = static_cast<Real>(scale * term.b / 4);
        }
    }

    static constexpr Real smallest_r2 = static_cast<Real>(1e-5); // nm^2: r^-14 of it, times any c12, is a finite float
    Real nm_per_unit[3];
    Real cutoff2, two_k, k, c, lj_switch;
    Real shift[2], a[2], b[2], a_energy[2], b_energy[2]; // [0] dispersion, [1] repulsion
};

// The i atoms of a row.
template <class N>
struct RowAtoms
{
    typename N::Fixed middle[3];                   // Centred: the point that positions are relative to
    typename N::Fixed fixed[3][half_cluster_size]; // Exact
    typename N::Real x[3][half_cluster_size];      // Centred, nm
    typename N::Real charge[half_cluster_size], lj_first[half_cluster_size], lj_second[half_cluster_size];
    const typename N::Real* pair_parameters[half_cluster_size]; // Table: this type's row
    bool has_lj[half_cluster_size];
};

template <class N>
RowAtoms<N> load_row(const KernelArgs<N>& args, const Constants<N>& constants, std::int32_t half_cluster)
{
    using Fixed = typename N::Fixed;
    using Signed = std::make_signed_t<Fixed>;
    RowAtoms<N> atoms;
    const auto cluster = static_cast<std::size_t>(half_cluster / 2);
    const std::size_t first = half_cluster % 2 == 0 ? 0 : half_cluster_size;
    const Fixed* x = args.x + cluster * 3 * cluster_size + first;
    const typename N::Real* parameters = args.slot_parameters + cluster * 3 * cluster_size + first;
    for (std::size_t d = 0; d < 3; ++d)
    {
        const Fixed* xd = x + d * cluster_size;
        Signed mean = 0;
        for (std::size_t i = 1; i < half_cluster_size; ++i) { mean += static_cast<Signed>(xd[i] - xd[0]) / half_cluster_size; }
        atoms.middle[d] = xd[0] + static_cast<Fixed>(mean);
        for (std::size_t i = 0; i < half_cluster_size; ++i)
        {
            atoms.fixed[d][i] = xd[i];
            atoms.x[d][i] =
                static_cast<typename N::Real>(static_cast<Signed>(xd[i] - atoms.middle[d])) * constants.nm_per_unit[d];
        }
    }
    for (std::size_t i = 0; i < half_cluster_size; ++i)
    {
        atoms.charge[i] = parameters[i];
        atoms.lj_first[i] = parameters[cluster_size + i];
        atoms.lj_second[i] = parameters[2 * cluster_size + i];
        atoms.has_lj[i] = atoms.lj_first[i] != 0 || atoms.lj_second[i] != 0;
        const std::int32_t type = args.slot_types[cluster * cluster_size + first + i];
        atoms.pair_parameters[i] = args.rule == LjRule::Table ? args.pair_parameters + 2 * type * args.types : nullptr;
    }
    return atoms;
}

// Options that shape the code.
template <class N_, LjRule rule_, bool force_switch_, Compute compute_, Difference difference_>
struct Shape
{
    using N = N_;
    static constexpr LjRule rule = rule_;
    static constexpr bool force_switch = force_switch_;
    static constexpr bool energies = compute_ == Compute::ForcesEnergiesVirial;
    static constexpr Difference difference = difference_;
};

// The kernel of one shape: the state of a row in registers, and its steps.
template <class S>
struct Kernel
{
    using N = typename S::N;
    using T = Vectors<N>;
    using Real = typename T::Real;
    using V = typename T::V;
    using VSum = typename T::VSum;
    static constexpr std::size_t lanes = hn::MaxLanes(typename T::D());
    static constexpr int virial_elements = 6; // xx xy xz yy yz zz

    // One vector of j atoms.
    struct Partners
    {
        V x[3];                      // Centred
        typename T::VFixed fixed[3]; // Exact
        V charge, lj_first, lj_second;
        hn::Vec<hn::Rebind<std::int32_t, typename T::D>> type; // Table
        VSum f[3];
    };
    struct Sums
    {
        VSum f[half_cluster_size][3];
        VSum coulomb, lj, virial[virial_elements];
    };

    static HWY_INLINE V set(Real value) { return hn::Set(typename T::D(), value); }

    static HWY_INLINE void load_partners(const KernelArgs<N>& args, const Constants<N>& constants, const RowAtoms<N>& atoms,
                                         std::size_t cluster, std::size_t part, Partners& j)
    {
        const typename N::Fixed* x = args.x + cluster * 3 * cluster_size + part;
        const Real* parameters = args.slot_parameters + cluster * 3 * cluster_size + part;
        for (std::size_t d = 0; d < 3; ++d)
        {
            j.fixed[d] = hn::Load(typename T::DFixed(), x + d * cluster_size);
            if constexpr (S::difference == Difference::Centred)
            {
                j.x[d] = to_nm(hn::Sub(j.fixed[d], hn::Set(typename T::DFixed(), atoms.middle[d])), constants.nm_per_unit[d]);
            }
        }
        const typename T::D real;
        j.charge = hn::Load(real, parameters);
        if constexpr (S::rule == LjRule::Table)
        {
            j.type = hn::Load(hn::Rebind<std::int32_t, typename T::D>(), args.slot_types + cluster * cluster_size + part);
        }
        else
        {
            j.lj_first = hn::Load(real, parameters + cluster_size);
            j.lj_second = hn::Load(real, parameters + 2 * cluster_size);
        }
    }

    static HWY_INLINE V to_nm(typename T::VFixed difference, Real nm_per_unit)
    {
        return hn::Mul(hn::ConvertTo(typename T::D(), hn::BitCast(typename T::DSigned(), difference)), set(nm_per_unit));
    }

    // 6 c6 and 12 c12 of atom i with the partners.
    static HWY_INLINE void lj_parameters(const RowAtoms<N>& atoms, std::size_t i, const Partners& j, V& c6, V& c12)
    {
        if constexpr (S::rule == LjRule::Geometric)
        {
            c6 = hn::Mul(set(atoms.lj_first[i]), j.lj_first);
            c12 = hn::Mul(set(atoms.lj_second[i]), j.lj_second);
        }
        else if constexpr (S::rule == LjRule::LorentzBerthelot)
        {
            const V sigma = hn::Add(set(atoms.lj_first[i]), j.lj_first);
            const V sigma2 = hn::Mul(sigma, sigma);
            const V sigma6 = hn::Mul(hn::Mul(sigma2, sigma2), sigma2);
            c6 = hn::Mul(hn::Mul(set(atoms.lj_second[i]), j.lj_second), sigma6);
            c12 = hn::Mul(hn::Add(c6, c6), sigma6);
        }
        else
        {
            const typename T::D real;
            const hn::Rebind<hwy::MakeSigned<Real>, typename T::D> index_type;
            hn::Vec<decltype(index_type)> index;
            if constexpr (sizeof(Real) == sizeof(std::int32_t)) { index = hn::Add(j.type, j.type); }
            else { index = hn::PromoteTo(index_type, hn::Add(j.type, j.type)); }
            c6 = hn::GatherIndex(real, atoms.pair_parameters[i], index);
            c12 = hn::GatherIndex(real, atoms.pair_parameters[i] + 1, index);
        }
    }

    // Scalar force / r and energy of the Lennard-Jones pairs.
    static HWY_INLINE void lennard_jones(const Constants<N>& constants, V c6, V c12, V r2, V rinv, V rinv2, V& force, V& energy)
    {
        const V rinv6 = hn::Mul(hn::Mul(rinv2, rinv2), rinv2);
        force = hn::Mul(hn::Mul(hn::MulSub(c12, rinv6, c6), rinv6), rinv2);
        V s6 = set(constants.shift[0]), s12 = set(constants.shift[1]);
        if constexpr (S::force_switch)
        {
            const V t = hn::Max(hn::Zero(typename T::D()), hn::MulSub(r2, rinv, set(constants.lj_switch)));
            const V t2 = hn::Mul(t, t);
            const V f6 = hn::MulAdd(set(constants.b[0]), t, set(constants.a[0]));
            const V f12 = hn::MulAdd(set(constants.b[1]), t, set(constants.a[1]));
            force = hn::MulAdd(hn::Mul(t2, rinv), hn::MulSub(c12, f12, hn::Mul(c6, f6)), force);
            if constexpr (S::energies)
            {
                const V t3 = hn::Mul(t2, t);
                s6 = hn::MulAdd(t3, hn::MulAdd(set(constants.b_energy[0]), t, set(constants.a_energy[0])), s6);
                s12 = hn::MulAdd(t3, hn::MulAdd(set(constants.b_energy[1]), t, set(constants.a_energy[1])), s12);
            }
        }
        if constexpr (S::energies)
        {
            const V v12 = hn::MulSub(hn::Mul(rinv6, rinv6), set(static_cast<Real>(1.0 / 12)), s12);
            const V v6 = hn::MulSub(rinv6, set(static_cast<Real>(1.0 / 6)), s6);
            energy = hn::MulSub(c12, v12, hn::Mul(c6, v6));
        }
    }

    // The pairs of i atom `i` with the partners.
    template <Masking masking>
    static HWY_INLINE void interact(const Constants<N>& constants, const RowAtoms<N>& atoms, std::size_t i,
                                    std::uint32_t interacts, std::uint32_t exists, std::size_t part, Partners& j, Sums& sums)
    {
        const typename T::D real;
        V dx[3];
        for (std::size_t d = 0; d < 3; ++d)
        {
            if constexpr (S::difference == Difference::Centred) { dx[d] = hn::Sub(set(atoms.x[d][i]), j.x[d]); }
            else
            {
                dx[d] = to_nm(hn::Sub(hn::Set(typename T::DFixed(), atoms.fixed[d][i]), j.fixed[d]), constants.nm_per_unit[d]);
            }
        }
        const V r2_true = hn::MulAdd(dx[2], dx[2], hn::MulAdd(dx[1], dx[1], hn::Mul(dx[0], dx[0])));
        auto in_range = hn::Lt(r2_true, set(constants.cutoff2));
        const V r2 = hn::Max(r2_true, set(Constants<N>::smallest_r2));
        V rinv = inverse_sqrt(real, r2);
        if constexpr (masking != Masking::None)
        {
            const std::size_t shift = i * cluster_size + part;
            rinv = hn::IfThenElseZero(bits_to_mask(interacts >> shift), rinv);
            if constexpr (masking == Masking::Diagonal) { in_range = hn::And(in_range, bits_to_mask(exists >> shift)); }
        }
        const V rinv2 = hn::Mul(rinv, rinv);
        const V qq = hn::Mul(set(atoms.charge[i]), j.charge);
        V force = hn::Mul(qq, hn::MulSub(rinv, rinv2, set(constants.two_k)));
        if constexpr (S::energies)
        {
            const V potential = hn::Add(rinv, hn::MulSub(r2, set(constants.k), set(constants.c)));
            sums.coulomb = hn::Add(sums.coulomb, energy_sum<N>(hn::IfThenElseZero(in_range, hn::Mul(qq, potential))));
        }
        if (atoms.has_lj[i])
        {
            V c6, c12, lj_force, lj_energy = hn::Zero(real);
            lj_parameters(atoms, i, j, c6, c12);
            if constexpr (masking != Masking::None && S::energies)
            {
                const auto listed = bits_to_mask(interacts >> (i * cluster_size + part));
                c6 = hn::IfThenElseZero(listed, c6),
                c12 = hn::IfThenElseZero(listed, c12); // an excluded pair has no shift either
            }
            lennard_jones(constants, c6, c12, r2, rinv, rinv2, lj_force, lj_energy);
            force = hn::Add(force, lj_force);
            if constexpr (S::energies) { sums.lj = hn::Add(sums.lj, energy_sum<N>(hn::IfThenElseZero(in_range, lj_energy))); }
        }
        add_force(hn::IfThenElseZero(in_range, force), dx, i, j, sums);
    }

    static HWY_INLINE void add_force(V force, const V (&dx)[3], std::size_t i, Partners& j, Sums& sums)
    {
        for (std::size_t d = 0; d < 3; ++d)
        {
            if constexpr (T::reproducible)
            {
                const VSum f = force_sum<N>(hn::Mul(force, dx[d]));
                sums.f[i][d] = hn::Add(sums.f[i][d], f);
                j.f[d] = hn::Sub(j.f[d], f);
            }
            else
            {
                sums.f[i][d] = hn::MulAdd(force, dx[d], sums.f[i][d]);
                j.f[d] = hn::NegMulAdd(force, dx[d], j.f[d]);
            }
        }
        if constexpr (S::energies)
        {
            const V half = hn::Mul(force, set(static_cast<Real>(-0.5)));
            const V fx = hn::Mul(half, dx[0]), fy = hn::Mul(half, dx[1]), fz = hn::Mul(half, dx[2]);
            const V elements[virial_elements] = {hn::Mul(fx, dx[0]), hn::Mul(fx, dx[1]), hn::Mul(fx, dx[2]),
                                                 hn::Mul(fy, dx[1]), hn::Mul(fy, dx[2]), hn::Mul(fz, dx[2])};
            for (int e = 0; e < virial_elements; ++e) { sums.virial[e] = hn::Add(sums.virial[e], energy_sum<N>(elements[e])); }
        }
    }

    // Lane l of the mask is bit l.
    static HWY_INLINE hn::Mask<typename T::D> bits_to_mask(std::uint32_t bits)
    {
        using DBits = typename T::DFixed;
        const DBits d;
        const auto lane_bit = hn::Shl(hn::Set(d, 1), hn::Iota(d, 0));
        return hn::RebindMask(typename T::D(), hn::TestBit(hn::Set(d, bits), lane_bit));
    }

    template <Masking masking>
    static HWY_INLINE void entry(const KernelArgs<N>& args, const Constants<N>& constants, const RowAtoms<N>& atoms, PairEntry e,
                                 std::uint32_t exists, Sums& sums)
    {
        const typename T::DSum d_sum;
        const auto cluster = static_cast<std::size_t>(e.cluster);
        for (std::size_t part = 0; part < cluster_size; part += lanes)
        {
            Partners j;
            load_partners(args, constants, atoms, cluster, part, j);
            typename N::ForceSum* f = args.f + cluster * 3 * cluster_size + part;
            for (std::size_t d = 0; d < 3; ++d) { j.f[d] = hn::Load(d_sum, f + d * cluster_size); }
            interact<masking>(constants, atoms, 0, e.interacts, exists, part, j, sums);
            interact<masking>(constants, atoms, 1, e.interacts, exists, part, j, sums);
            interact<masking>(constants, atoms, 2, e.interacts, exists, part, j, sums);
            interact<masking>(constants, atoms, 3, e.interacts, exists, part, j, sums);
            for (std::size_t d = 0; d < 3; ++d) { hn::Store(j.f[d], d_sum, f + d * cluster_size); }
        }
    }

    static void run(const KernelArgs<N>& args)
    {
        const Constants<N> constants(args);
        const VSum zero = hn::Zero(typename T::DSum());
        for (const PairRow* row = args.rows; row != args.rows_end; ++row)
        {
            const RowAtoms<N> atoms = load_row(args, constants, row->half_cluster);
            Sums sums;
            for (std::size_t i = 0; i < half_cluster_size; ++i)
            {
                for (std::size_t d = 0; d < 3; ++d) { sums.f[i][d] = zero; }
            }
            sums.coulomb = sums.lj = zero;
            for (VSum& v : sums.virial) { v = zero; }

            const PairEntry* e = args.entries + row->begin;
            entry<Masking::Diagonal>(args, constants, atoms, *e++, diagonal_pairs(row->half_cluster % 2), sums);
            for (; e != args.entries + row->masked_end; ++e) { entry<Masking::Excluded>(args, constants, atoms, *e, 0, sums); }
            for (; e != args.entries + row->end; ++e) { entry<Masking::None>(args, constants, atoms, *e, 0, sums); }
            finish_row(args, row->half_cluster, sums);
        }
    }

    static void finish_row(const KernelArgs<N>& args, std::int32_t half_cluster, const Sums& sums)
    {
        const std::size_t first = half_cluster % 2 == 0 ? 0 : half_cluster_size;
        typename N::ForceSum* f = args.f + static_cast<std::size_t>(half_cluster / 2) * 3 * cluster_size + first;
        for (std::size_t i = 0; i < half_cluster_size; ++i)
        {
            for (std::size_t d = 0; d < 3; ++d) { f[d * cluster_size + i] += sum_of_lanes<N>(sums.f[i][d]); }
        }
        if constexpr (S::energies)
        {
            const auto scalar = [](VSum v) { return static_cast<ScalarSum<N>>(sum_of_lanes<N>(v)); };
            args.energies->energy[static_cast<std::size_t>(EnergyTerm::CoulombSr)] += scalar(sums.coulomb);
            args.energies->energy[static_cast<std::size_t>(EnergyTerm::LjSr)] += scalar(sums.lj);
            constexpr int element_of[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
            for (std::size_t k = 0; k < 9; ++k) { args.energies->virial[k] += scalar(sums.virial[element_of[k]]); }
        }
    }
};

template <class N, LjRule rule, bool force_switch, Compute compute>
void run_difference(const KernelArgs<N>& args)
{
    if constexpr (std::is_same_v<N, Mixed>)
    {
        if (args.difference == Difference::Centred)
        {
            return Kernel<Shape<N, rule, force_switch, compute, Difference::Centred>>::run(args);
        }
    }
    Kernel<Shape<N, rule, force_switch, compute, Difference::Exact>>::run(args);
}
template <class N, LjRule rule, bool force_switch>
void run_compute(const KernelArgs<N>& args)
{
    if (args.compute == Compute::Forces) { return run_difference<N, rule, force_switch, Compute::Forces>(args); }
    run_difference<N, rule, force_switch, Compute::ForcesEnergiesVirial>(args);
}
template <class N, LjRule rule>
void run_switch(const KernelArgs<N>& args)
{
    if (args.parameters->lj_switch < args.parameters->cutoff) { return run_compute<N, rule, true>(args); }
    run_compute<N, rule, false>(args);
}
template <class N>
void run_kernel(const KernelArgs<N>& args)
{
    switch (args.rule)
    {
    case LjRule::Geometric:
        return run_switch<N, LjRule::Geometric>(args);
    case LjRule::LorentzBerthelot:
        return run_switch<N, LjRule::LorentzBerthelot>(args);
    case LjRule::Table:
        return run_switch<N, LjRule::Table>(args);
    }
}

} // namespace HWY_NAMESPACE
} // namespace parhelion::nonbonded
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
