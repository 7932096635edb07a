// SPDX-License-Identifier: Apache-2.0
// The pair kernel, one source for every policy, option and instruction set. Included once per instruction set by Highway's
// foreach_target, from a .cpp per policy.
//
// A row holds 4 i atoms; an entry is one cluster of 8 j atoms. For each i atom: distances to the 8 j atoms, one scalar force per
// pair, 3 fused multiply-adds into i and 3 into j. Forces on i stay in registers for the whole row.
//
// In the reproducible policies every pair's force, energy and virial is rounded to 64-bit fixed point before it is added, so sums
// do not depend on any order; and every expression is symmetric in i and j, so that it does not matter which atom is i.
//
// PME's screening function is a polynomial in r^2 (interactions/pair/screening.hpp).
//
// Cost: 22 multiplications, fused multiply-adds and comparisons a vector without Lennard-Jones, 29 with (bench/pairs/README.md).

#if defined(PARHELION_NONBONDED_KERNEL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PARHELION_NONBONDED_KERNEL_INL
#undef PARHELION_NONBONDED_KERNEL_INL
#else
#define PARHELION_NONBONDED_KERNEL_INL
#endif

#include "interactions/pair/nonbonded_vectors-inl.hpp"

#include "hwy/highway.h"

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace parhelion::nonbonded {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

enum class Masking
{
    None,
    Excluded, // pairs with a clear bit are excluded
    Partial   // and some pairs do not exist
};

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
        lj_cutoff2 = static_cast<Real>(p.lj_cutoff * p.lj_cutoff);
        lj_is_shorter = p.lj_cutoff < p.cutoff;
        lj_is_switched = p.lj_switch < p.lj_cutoff;
        if (p.screening.is_used())
        {
            const auto& polynomial = p.screening.template polynomial<Real>();
            per_r2 = static_cast<Real>(2 / (p.cutoff * p.cutoff));
            for (std::size_t i = 0; i < std::size(screened_force); ++i)
            {
                screened_force[i] = static_cast<Real>(polynomial.force[i]);
                screened_energy[i] = static_cast<Real>(polynomial.energy[i]);
            }
        }
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

    static constexpr Real smallest_r2 = static_cast<Real>(1e-5); // nm^2, of 1 / r: r^-14, times any c12, is a finite float
    Real nm_per_unit[3];
    Real cutoff2, two_k, k, c, lj_switch, lj_cutoff2;
    bool lj_is_shorter, lj_is_switched;
    Real per_r2 = 0; // t = per_r2 r^2 - 1
    Real screened_force[screening_degree<Real> + 1] = {}, screened_energy[screening_degree<Real> + 1] = {};
    Real shift[2], a[2], b[2], a_energy[2], b_energy[2]; // [0] dispersion, [1] repulsion
};

enum class Electrostatics
{
    ReactionField,
    Screened // PME
};
enum class Switching
{
    Never,
    Always,
    IfAsked // a test for each pair of vectors: half as much to compile
};

// Options that shape the code.
template <class N_, Electrostatics electrostatics_, LjRule rule_, Switching switching_, Compute compute_>
struct Shape
{
    using N = N_;
    static constexpr bool screened = electrostatics_ == Electrostatics::Screened;
    static constexpr LjRule rule = rule_;
    static constexpr Switching switching = switching_;
    static constexpr bool energies = compute_ == Compute::ForcesEnergiesVirial;
};

// The kernel of one shape.
//
// A vector of more than 8 lanes holds the pairs of 8 j atoms with two i atoms one after the other. Either way two i atoms are
// worked on side by side (a *pair of i*): one atom's chain of dependent instructions, 60 cycles, would leave the arithmetic units
// idle half of the time.
template <class S>
struct Kernel
{
    using N = typename S::N;
    using T = Vectors<N>;
    using D = typename T::D;
    using Real = typename T::Real;
    using Fixed = typename N::Fixed;
    using V = typename T::V;
    using VFixed = typename T::VFixed;
    using VSum = typename T::VSum;
    using DType = hn::Rebind<std::int32_t, D>;

    static constexpr std::size_t lanes = hn::MaxLanes(D());
    static constexpr std::size_t i_per_vector = lanes > cluster_size ? lanes / cluster_size : 1;
    static constexpr std::size_t j_per_vector = lanes / i_per_vector;
    static constexpr std::size_t i_vectors = half_cluster_size / i_per_vector;
    static constexpr std::size_t side_by_side = 2 / i_per_vector; // vectors of a pair of i
    static_assert(i_per_vector <= 2);
    static constexpr int virial_elements = 6; // xx xy xz yy yz zz

    // The i atoms of a row.
    struct Row
    {
        VFixed x[i_vectors][3];
        V charge[i_vectors], lj_first[i_vectors], lj_second[i_vectors];
        hn::Vec<DType> type_row[i_vectors]; // Table: where the type's row begins
        bool has_lj[half_cluster_size / 2];
    };
    // One vector of j atoms, repeated for the i atoms of a vector.
    struct Partners
    {
        VFixed x[3];
        V charge, lj_first, lj_second;
        hn::Vec<DType> type; // Table
        VSum f[3];           // the sum of the forces on i
    };
    // Of a row. Forces on i are summed block by block: a hundred additions to one float, most of them small, would round more
    // than the arithmetic of the pairs does.
    struct Sums
    {
        VSum f[i_vectors][3];     // of the block
        VSum total[i_vectors][3]; // of the blocks before
        VSum coulomb, lj, virial[virial_elements];
    };
    static constexpr std::ptrdiff_t entries_per_block = 16;

    static HWY_INLINE V set(Real value) { return hn::Set(D(), value); }

    // 8 / parts consecutive numbers of one j cluster, once for each i atom of a vector.
    template <class DT, class X>
    static HWY_INLINE hn::Vec<DT> load_j(DT d, const X* from)
    {
        if constexpr (i_per_vector == 1) { return hn::Load(d, from); }
        else
        {
            const auto once = hn::Load(hn::Half<DT>(), from);
            return hn::Combine(d, once, once);
        }
    }
    // The numbers of the i atoms of vector v, each once for every j.
    template <class DT, class X>
    static HWY_INLINE hn::Vec<DT> load_i(DT d, const X* of_atom, std::size_t v)
    {
        if constexpr (i_per_vector == 1) { return hn::Set(d, of_atom[v]); }
        else
        {
            const hn::Half<DT> half;
            return hn::Combine(d, hn::Set(half, of_atom[2 * v + 1]), hn::Set(half, of_atom[2 * v]));
        }
    }

    static HWY_INLINE V to_nm(VFixed difference, Real nm_per_unit)
    {
        return hn::Mul(hn::ConvertTo(D(), hn::BitCast(typename T::DSigned(), difference)), set(nm_per_unit));
    }

    static HWY_INLINE Row load_row(const KernelArgs<N>& args, std::int32_t half_cluster)
    {
        Row row;
        const auto cluster = static_cast<std::size_t>(half_cluster / 2);
        const std::size_t first = half_cluster % 2 == 0 ? 0 : half_cluster_size;
        const Real* parameters = args.slot_parameters + cluster * 3 * cluster_size + first;
        const std::int32_t* types = args.slot_types + cluster * cluster_size + first;
        for (std::size_t d = 0; d < 3; ++d)
        {
            const Fixed* x = args.x + cluster * 3 * cluster_size + d * cluster_size + first;
            for (std::size_t v = 0; v < i_vectors; ++v) { row.x[v][d] = load_i(typename T::DFixed(), x, v); }
        }
        for (std::size_t v = 0; v < i_vectors; ++v)
        {
            row.charge[v] = load_i(D(), parameters, v);
            row.lj_first[v] = load_i(D(), parameters + cluster_size, v);
            row.lj_second[v] = load_i(D(), parameters + 2 * cluster_size, v);
            row.type_row[v] = hn::Mul(load_i(DType(), types, v), hn::Set(DType(), 2 * args.types));
        }
        for (std::size_t pair = 0; pair < half_cluster_size / 2; ++pair)
        {
            const Real *lj_first = parameters + cluster_size + 2 * pair, *lj_second = lj_first + cluster_size;
            row.has_lj[pair] = lj_first[0] != 0 || lj_first[1] != 0 || lj_second[0] != 0 || lj_second[1] != 0;
        }
        return row;
    }

    static HWY_INLINE void load_partners(const KernelArgs<N>& args, std::size_t cluster, std::size_t part, Partners& j)
    {
        const Fixed* x = args.x + cluster * 3 * cluster_size + part;
        const Real* parameters = args.slot_parameters + cluster * 3 * cluster_size + part;
        for (std::size_t d = 0; d < 3; ++d)
        {
            j.x[d] = load_j(typename T::DFixed(), x + d * cluster_size);
            j.f[d] = hn::Zero(typename T::DSum());
        }
        j.charge = load_j(D(), parameters);
        if constexpr (S::rule == LjRule::Table) { j.type = load_j(DType(), args.slot_types + cluster * cluster_size + part); }
        else
        {
            j.lj_first = load_j(D(), parameters + cluster_size);
            j.lj_second = load_j(D(), parameters + 2 * cluster_size);
        }
    }

    // 6 c6 and 12 c12 of the i atoms of vector v with the partners.
    static HWY_INLINE void lj_parameters(const KernelArgs<N>& args, const Row& row, std::size_t v, const Partners& j, V& c6,
                                         V& c12)
    {
        if constexpr (S::rule == LjRule::Geometric)
        {
            c6 = hn::Mul(row.lj_first[v], j.lj_first);
            c12 = hn::Mul(row.lj_second[v], j.lj_second);
        }
        else if constexpr (S::rule == LjRule::LorentzBerthelot)
        {
            const V sigma = hn::Add(row.lj_first[v], j.lj_first);
            const V sigma2 = hn::Mul(sigma, sigma);
            const V sigma6 = hn::Mul(hn::Mul(sigma2, sigma2), sigma2);
            c6 = hn::Mul(hn::Mul(row.lj_second[v], j.lj_second), sigma6);
            c12 = hn::Mul(hn::Add(c6, c6), sigma6);
        }
        else
        {
            const hn::Rebind<hwy::MakeSigned<Real>, D> index_type;
            const auto narrow = hn::Add(row.type_row[v], hn::Add(j.type, j.type));
            hn::Vec<decltype(index_type)> index;
            if constexpr (sizeof(Real) == sizeof(std::int32_t)) { index = narrow; }
            else { index = hn::PromoteTo(index_type, narrow); }
            c6 = hn::GatherIndex(D(), args.pair_parameters, index);
            c12 = hn::GatherIndex(D(), args.pair_parameters + 1, index);
        }
    }

    // Adds the scalar force / r of the Lennard-Jones pairs to `force`.
    static HWY_INLINE void lennard_jones(const Constants<N>& constants, V c6, V c12, V r2, V rinv, V rinv2, V& force, V& energy)
    {
        const V rinv6 = hn::Mul(hn::Mul(rinv2, rinv2), rinv2);
        force = hn::MulAdd(hn::Mul(hn::MulSub(c12, rinv6, c6), rinv6), rinv2, force);
        V s6 = set(constants.shift[0]), s12 = set(constants.shift[1]);
        if (S::switching == Switching::Always || (S::switching == Switching::IfAsked && constants.lj_is_switched))
        {
            const V t = hn::Max(hn::Zero(D()), hn::MulSub(r2, rinv, set(constants.lj_switch)));
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

    // sum_i of[i] t^i, even and odd powers side by side.
    template <std::size_t terms>
    static HWY_INLINE V polynomial(const Real (&of)[terms], V t)
    {
        static_assert(terms % 2 == 1 && terms >= 5);
        const V t2 = hn::Mul(t, t);
        V even = hn::MulAdd(set(of[terms - 1]), t2, set(of[terms - 3])), odd = set(of[terms - 2]);
        for (std::size_t i = terms - 3; i > 0; i -= 2)
        {
            even = hn::MulAdd(even, t2, set(of[i - 2]));
            odd = hn::MulAdd(odd, t2, set(of[i - 1]));
        }
        return hn::MulAdd(odd, t, even);
    }

    struct Distance
    {
        V r2, rinv, rinv2;
    };
    // Adds the Lennard-Jones forces of vector v to `force`, and the energies of those in range to `sums`.
    template <Masking masking>
    static HWY_INLINE void add_lennard_jones(const KernelArgs<N>& args, const Constants<N>& constants, const Row& row,
                                             std::size_t v, const Partners& j, const Distance& r,
                                             [[maybe_unused]] hn::Mask<D> listed, [[maybe_unused]] hn::Mask<D> in_range, V& force,
                                             [[maybe_unused]] Sums& sums)
    {
        V c6, c12, energy = hn::Zero(D());
        lj_parameters(args, row, v, j, c6, c12);
        if constexpr (masking != Masking::None && S::energies) // an excluded pair has no shift either
        {
            c6 = hn::IfThenElseZero(listed, c6), c12 = hn::IfThenElseZero(listed, c12);
        }
        if (S::screened && constants.lj_is_shorter)
        {
            const auto near = hn::Lt(r.r2, set(constants.lj_cutoff2));
            c6 = hn::IfThenElseZero(near, c6), c12 = hn::IfThenElseZero(near, c12);
        }
        lennard_jones(constants, c6, c12, r.r2, r.rinv, r.rinv2, force, energy);
        if constexpr (S::energies) { sums.lj = hn::Add(sums.lj, energy_sum<N>(hn::IfThenElseZero(in_range, energy))); }
    }

    // The pairs of two i atoms, vectors v .. v + side_by_side, with the partners.
    template <Masking masking>
    static HWY_INLINE void interact(const KernelArgs<N>& args, const Constants<N>& constants, const Row& row,
                                    std::size_t pair_of_i, std::uint32_t interacts, std::uint32_t exists, std::size_t part,
                                    Partners& j, Sums& sums)
    {
        const D real;
        const std::size_t first = pair_of_i * side_by_side;
        V dx[side_by_side][3], r2[side_by_side], rinv[side_by_side], rinv2[side_by_side], qq[side_by_side], force[side_by_side],
            t[side_by_side]; // t: screened only
        hn::Mask<D> in_range[side_by_side], listed[side_by_side] = {};
        for (std::size_t d = 0; d < 3; ++d)
        {
            for (std::size_t u = 0; u < side_by_side; ++u)
            {
                dx[u][d] = to_nm(hn::Sub(row.x[first + u][d], j.x[d]), constants.nm_per_unit[d]);
            }
        }
        for (std::size_t u = 0; u < side_by_side; ++u) { r2[u] = hn::Mul(dx[u][0], dx[u][0]); }
        for (std::size_t u = 0; u < side_by_side; ++u) { r2[u] = hn::MulAdd(dx[u][1], dx[u][1], r2[u]); }
        for (std::size_t u = 0; u < side_by_side; ++u) { r2[u] = hn::MulAdd(dx[u][2], dx[u][2], r2[u]); }
        for (std::size_t u = 0; u < side_by_side; ++u)
        {
            in_range[u] = hn::Lt(r2[u], set(constants.cutoff2));
            V least = set(Constants<N>::smallest_r2);
            if constexpr (masking != Masking::None)
            {
                const std::size_t shift = (first + u) * i_per_vector * cluster_size + part;
                listed[u] = bits_to_mask(interacts >> shift);
                if constexpr (S::energies) { least = hn::IfThenElseZero(listed[u], least); } // an excluded pair has no 1 / r
                if constexpr (masking == Masking::Partial) { in_range[u] = hn::And(in_range[u], bits_to_mask(exists >> shift)); }
            }
            r2[u] = hn::Max(r2[u], least);
        }
        inverse_sqrt(real, r2, rinv);
        for (std::size_t u = 0; u < side_by_side; ++u)
        {
            if constexpr (masking != Masking::None) { rinv[u] = hn::IfThenElseZero(listed[u], rinv[u]); }
            rinv2[u] = hn::Mul(rinv[u], rinv[u]);
            qq[u] = hn::Mul(row.charge[first + u], j.charge);
        }
        for (std::size_t u = 0; u < side_by_side; ++u)
        {
            if constexpr (S::screened)
            {
                t[u] = hn::MulSub(r2[u], set(constants.per_r2), set(1));
                force[u] = hn::Mul(qq[u], hn::MulAdd(rinv[u], rinv2[u], polynomial(constants.screened_force, t[u])));
            }
            else { force[u] = hn::Mul(qq[u], hn::MulSub(rinv[u], rinv2[u], set(constants.two_k))); }
        }
        if constexpr (S::energies)
        {
            for (std::size_t u = 0; u < side_by_side; ++u)
            {
                V potential;
                if constexpr (S::screened)
                {
                    V shift = set(constants.c); // excluded pairs have none
                    if constexpr (masking != Masking::None) { shift = hn::IfThenElseZero(listed[u], shift); }
                    potential = hn::Add(rinv[u], hn::Sub(polynomial(constants.screened_energy, t[u]), shift));
                }
                else { potential = hn::Add(rinv[u], hn::MulSub(r2[u], set(constants.k), set(constants.c))); }
                sums.coulomb = hn::Add(sums.coulomb, energy_sum<N>(hn::IfThenElseZero(in_range[u], hn::Mul(qq[u], potential))));
            }
        }
        if (row.has_lj[pair_of_i])
        {
            for (std::size_t u = 0; u < side_by_side; ++u)
            {
                add_lennard_jones<masking>(args, constants, row, first + u, j, {r2[u], rinv[u], rinv2[u]}, listed[u], in_range[u],
                                           force[u], sums);
            }
        }
        for (std::size_t u = 0; u < side_by_side; ++u) { force[u] = hn::IfThenElseZero(in_range[u], force[u]); }
        for (std::size_t u = 0; u < side_by_side; ++u) { add_force(force[u], dx[u], first + u, j, sums); }
    }

    static HWY_INLINE void add_force(V force, const V (&dx)[3], std::size_t v, Partners& j, Sums& sums)
    {
        for (std::size_t d = 0; d < 3; ++d)
        {
            if constexpr (T::reproducible)
            {
                const VSum f = force_sum<N>(hn::Mul(force, dx[d]));
                sums.f[v][d] = hn::Add(sums.f[v][d], f);
                j.f[d] = hn::Add(j.f[d], f);
            }
            else
            {
                sums.f[v][d] = hn::MulAdd(force, dx[d], sums.f[v][d]);
                j.f[d] = hn::MulAdd(force, dx[d], j.f[d]);
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
    static HWY_INLINE hn::Mask<D> bits_to_mask(std::uint32_t bits)
    {
        const typename T::DFixed d;
        const auto lane_bit = hn::Shl(hn::Set(d, 1), hn::Iota(d, 0));
        return hn::RebindMask(D(), hn::TestBit(hn::Set(d, bits), lane_bit));
    }

    template <Masking masking>
    static HWY_INLINE void entry(const KernelArgs<N>& args, const Constants<N>& constants, const Row& row, PairEntry e,
                                 std::uint32_t exists, Sums& sums)
    {
        const auto cluster = static_cast<std::size_t>(e.cluster);
        for (std::size_t part = 0; part < cluster_size; part += j_per_vector)
        {
            Partners j;
            load_partners(args, cluster, part, j);
            // A pair of i that is out of range of the entry is passed over.
            if (masking != Masking::None || (e.interacts & 0xffffu) != 0)
            {
                interact<masking>(args, constants, row, 0, e.interacts, exists, part, j, sums);
            }
            if (masking != Masking::None || (e.interacts >> 16) != 0)
            {
                interact<masking>(args, constants, row, 1, e.interacts, exists, part, j, sums);
            }
            subtract_from_j(j, args.f + cluster * 3 * cluster_size + part);
        }
    }

    static HWY_INLINE void subtract_from_j(const Partners& j, typename N::ForceSum* f)
    {
        for (std::size_t d = 0; d < 3; ++d)
        {
            if constexpr (i_per_vector == 1)
            {
                const typename T::DSum sum;
                hn::Store(hn::Sub(hn::Load(sum, f + d * cluster_size), j.f[d]), sum, f + d * cluster_size);
            }
            else
            {
                const hn::Half<typename T::DSum> half;
                const auto both = hn::Add(hn::LowerHalf(half, j.f[d]), hn::UpperHalf(half, j.f[d]));
                hn::Store(hn::Sub(hn::Load(half, f + d * cluster_size), both), half, f + d * cluster_size);
            }
        }
    }

    static HWY_INLINE void close_block(Sums& sums)
    {
        for (std::size_t v = 0; v < i_vectors; ++v)
        {
            for (std::size_t d = 0; d < 3; ++d)
            {
                sums.total[v][d] = hn::Add(sums.total[v][d], sums.f[v][d]);
                sums.f[v][d] = hn::Zero(typename T::DSum());
            }
        }
    }

    template <Masking masking>
    static HWY_INLINE void add_entries(const KernelArgs<N>& args, const Constants<N>& constants, const Row& row,
                                       const PairEntry* e, const PairEntry* end, Sums& sums)
    {
        while (e != end)
        {
            const PairEntry* const block_end = e + std::min(entries_per_block, end - e);
            for (; e != block_end; ++e) { entry<masking>(args, constants, row, *e, 0, sums); }
            close_block(sums);
        }
    }

    static void run(const KernelArgs<N>& args)
    {
        const Constants<N> constants(args);
        const VSum zero = hn::Zero(typename T::DSum());
        for (const PairRow* pair_row = args.rows; pair_row != args.rows_end; ++pair_row)
        {
            const Row row = load_row(args, pair_row->half_cluster);
            Sums sums;
            for (auto& f : sums.f) { f[0] = f[1] = f[2] = zero; }
            for (auto& f : sums.total) { f[0] = f[1] = f[2] = zero; }
            sums.coulomb = sums.lj = zero;
            for (VSum& v : sums.virial) { v = zero; }

            const PairEntry *const first = args.entries + pair_row->begin, *const masked_end =
                                                                               args.entries + pair_row->masked_end;
            add_entries<Masking::None>(args, constants, row, masked_end, args.entries + pair_row->end, sums);
            // The nearest, and so the largest forces, last.
            entry<Masking::Partial>(args, constants, row, *first, pair_row->exists, sums);
            close_block(sums);
            add_entries<Masking::Excluded>(args, constants, row, first + 1, masked_end, sums);
            finish_row(args, pair_row->half_cluster, sums);
        }
    }

    static typename N::ForceSum sum_of_j(VSum sum, [[maybe_unused]] std::size_t i)
    {
        const typename T::DSum d;
        if constexpr (i_per_vector == 1) { return hn::GetLane(hn::SumOfLanes(d, sum)); }
        else
        {
            const hn::Half<typename T::DSum> half;
            return hn::GetLane(hn::SumOfLanes(half, i % 2 == 0 ? hn::LowerHalf(half, sum) : hn::UpperHalf(half, sum)));
        }
    }

    static void finish_row(const KernelArgs<N>& args, std::int32_t half_cluster, const Sums& sums)
    {
        const std::size_t first = half_cluster % 2 == 0 ? 0 : half_cluster_size;
        typename N::ForceSum* f = args.f + static_cast<std::size_t>(half_cluster / 2) * 3 * cluster_size + first;
        for (std::size_t i = 0; i < half_cluster_size; ++i)
        {
            for (std::size_t d = 0; d < 3; ++d) { f[d * cluster_size + i] += sum_of_j(sums.total[i / i_per_vector][d], i); }
        }
        if constexpr (S::energies)
        {
            const auto scalar = [](VSum v) {
                return static_cast<ScalarSum<N>>(hn::GetLane(hn::SumOfLanes(typename T::DSum(), v)));
            };
            args.energies->energy[static_cast<std::size_t>(EnergyTerm::CoulombSr)] += scalar(sums.coulomb);
            args.energies->energy[static_cast<std::size_t>(EnergyTerm::LjSr)] += scalar(sums.lj);
            constexpr int element_of[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
            for (std::size_t k = 0; k < 9; ++k) { args.energies->virial[k] += scalar(sums.virial[element_of[k]]); }
        }
    }
};

template <class N, Electrostatics electrostatics, LjRule rule, Switching switching>
void run_compute(const KernelArgs<N>& args)
{
    if (args.compute == Compute::Forces) { return Kernel<Shape<N, electrostatics, rule, switching, Compute::Forces>>::run(args); }
    Kernel<Shape<N, electrostatics, rule, switching, Compute::ForcesEnergiesVirial>>::run(args);
}
template <class N, LjRule rule>
void run_rule(const KernelArgs<N>& args)
{
    const NonbondedParameters& p = *args.parameters;
    if (p.screening.is_used()) { return run_compute<N, Electrostatics::Screened, rule, Switching::IfAsked>(args); }
    if (p.lj_switch < p.lj_cutoff) { return run_compute<N, Electrostatics::ReactionField, rule, Switching::Always>(args); }
    run_compute<N, Electrostatics::ReactionField, rule, Switching::Never>(args);
}
template <class N>
void run_kernel(const KernelArgs<N>& args)
{
    switch (args.rule)
    {
    case LjRule::Geometric:
        return run_rule<N, LjRule::Geometric>(args);
    case LjRule::LorentzBerthelot:
        return run_rule<N, LjRule::LorentzBerthelot>(args);
    case LjRule::Table:
        return run_rule<N, LjRule::Table>(args);
    }
}

} // namespace HWY_NAMESPACE
} // namespace parhelion::nonbonded
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
