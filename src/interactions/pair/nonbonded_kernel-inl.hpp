// SPDX-License-Identifier: Apache-2.0
// The pair kernel for CPUs, one source for every policy, option and instruction set. One .cpp
// per policy includes this file, once per instruction set, through Highway's foreach_target.
//
// A row has 4 i atoms, and an entry is a cluster of 8 j atoms. For each i atom the kernel computes the distances to the 8 j
// atoms, one scalar force per pair, and 3 fused multiply-adds each into i and j. Forces on i stay in registers for a whole row.
//
// Reproducible policies round every pair's force, energy and virial to 64-bit fixed point before adding it, so that
// the order of pairs does not matter. Every expression is symmetric in i and j, so it does not matter which atom is i.
//
// Cost, operations a vector: 22 multiplications, fused multiply-adds, comparisons; 29 with Lennard-Jones (bench/pairs/README.md).

#if defined(PARHELION_NONBONDED_KERNEL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PARHELION_NONBONDED_KERNEL_INL
#undef PARHELION_NONBONDED_KERNEL_INL
#else
#define PARHELION_NONBONDED_KERNEL_INL
#endif

#include "interactions/pair/nonbonded_vectors-inl.hpp"
#include "pairs/nearest_image-inl.hpp"

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
    Partial   // pairs with a clear bit are excluded, and some pairs do not exist
};

// The numbers of a kernel that are the same for all pairs.
template <class N>
struct Constants : PairConstants<typename N::Real>
{
    using Real = typename N::Real;

    explicit Constants(const KernelArgs<N>& args) : PairConstants<Real>(*args.parameters), of_mesh(*args.parameters)
    {
        mesh_rule = args.parameters->mesh_rule;
        for (int d = 0; d < 3; ++d) { nm_per_unit[d] = static_cast<Real>(args.nm_per_unit.diagonal()[d]); }
        shear = static_cast<Vec3<Real>>(args.nm_per_unit.shear());
        edge = static_cast<Vec3<Real>>(args.edge);
        is_tilted = !args.nm_per_unit.is_rectangular();
        is_low = args.is_low;
        rule = args.rule;
        screening = &args.parameters->screening;
    }

    Real nm_per_unit[3]; // along the diagonal of the box
    Vec3<Real> shear;    // Box::shear()
    Vec3<Real> edge;     // Box::diagonal(), nm
    bool is_tilted, is_low;
    LjRule rule;
    const Screening* screening;
    DispersionConstants<Real> of_mesh; // for LJ-PME only
    LjMeshRule mesh_rule;
};

// A shape fixes some options at compile time. Any other option costs a branch for each pair of i atoms. The branch is
// predicted, but it splits arithmetic that needs more registers than there are: 15 to 30 % more instructions. So common options
// have shapes of their own. All others share one shape, as do all options on processors without AVX2, which saves compile time.
template <class N_, Compute compute, Electrostatics electrostatics, LjRule lj_rule, bool tilted>
struct CommonShape
{
    using N = N_;
    static constexpr bool is_tilted(const Constants<N>&) { return tilted; }
    static constexpr bool energies = compute == Compute::ForcesEnergiesVirial;
    static constexpr bool has_lj_mesh = false;
    static constexpr Switching switching =
        electrostatics == Electrostatics::Screened ? Switching::ForceIfAsked : Switching::Never;
    static constexpr bool may_have_table = lj_rule == LjRule::Table;
    static constexpr bool is_screened(const Constants<N>&) { return electrostatics == Electrostatics::Screened; }
    static constexpr bool is_tight(const Constants<N>&) { return false; }
    static constexpr LjRule rule(const Constants<N>&) { return lj_rule; }
};
template <class N_, Compute compute>
struct AnyShape
{
    using N = N_;
    static bool is_tilted(const Constants<N>& k) { return k.is_tilted; }
    static constexpr bool energies = compute == Compute::ForcesEnergiesVirial;
    static constexpr bool has_lj_mesh = false;
    static constexpr Switching switching = Switching::IfAsked;
    static constexpr bool may_have_table = true;
    static bool is_screened(const Constants<N>& k) { return k.is_screened; }
    static bool is_tight(const Constants<N>& k) { return k.is_tightly_screened; }
    static LjRule rule(const Constants<N>& k) { return k.rule; }
};
// LJ-PME, which has a shape of its own, so that no other shape has instructions for it.
template <class N_, Compute compute>
struct LjMeshShape : AnyShape<N_, compute>
{
    static constexpr bool has_lj_mesh = true;
    static constexpr Switching switching = Switching::Never;
    static constexpr bool is_screened(const Constants<N_>&) { return true; }
};

// The kernel of one shape.
//
// A vector of more than 8 lanes has the pairs of 8 j atoms with two i atoms, first of one, then of
// the other. Two i atoms are always computed side by side (a *pair of i*). The chain of dependent
// instructions of one atom, 60 cycles long, would leave the arithmetic units idle half of the time.
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
    using Ops = VectorOps<N>;
    using Lj = LennardJones<Ops, S::switching, S::energies>;
    using DType = hn::Rebind<std::int32_t, D>;

    static constexpr std::size_t lanes = hn::MaxLanes(D());
    static constexpr std::size_t i_per_vector = lanes > cluster_size ? lanes / cluster_size : 1;
    static constexpr std::size_t j_per_vector = lanes / i_per_vector;
    static constexpr std::size_t i_vectors = half_cluster_size / i_per_vector;
    static constexpr std::size_t side_by_side = 2 / i_per_vector; // number of vectors of a pair of i
    static_assert(i_per_vector <= 2);
    static constexpr int virial_elements = 6;                    // xx xy xz yy yz zz
    static constexpr Real smallest_r2 = static_cast<Real>(1e-5); // nm^2, for 1 / r: r^-14 times any c12 is a finite float

    // The i atoms of a row.
    struct Row
    {
        VFixed x[i_vectors][3];
        V charge[i_vectors], lj_first[i_vectors], lj_second[i_vectors];
        V mesh_first[i_vectors], mesh_second[i_vectors]; // for LJ-PME only
        hn::Vec<DType> type_row[i_vectors];              // LjRule::Table: index at which the row of the atom's type begins
        bool has_lj[half_cluster_size / 2];
    };
    // One vector of j atoms, with copies for each i atom of a vector.
    struct Partners
    {
        VFixed x[3];
        V charge, lj_first, lj_second;
        V mesh_first, mesh_second; // for LJ-PME only
        hn::Vec<DType> type;       // for LjRule::Table only
        VSum f[3];                 // sum of the forces on i
    };
    // The sums of a row. Forces on i are summed block by block. If a hundred mostly small numbers
    // were added to one float, the rounding error would exceed that of the arithmetic of pairs.
    struct Sums
    {
        VSum f[i_vectors][3];     // sum over the current block
        VSum total[i_vectors][3]; // sum over earlier blocks
        VSum coulomb, lj, virial[virial_elements];
    };
    static constexpr std::ptrdiff_t entries_per_block = 16;

    static HWY_INLINE V set(Real value) { return hn::Set(D(), value); }

    // Returns 8 / parts consecutive numbers of one j cluster, with copies for each i atom of a vector.
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
    // Returns the numbers of the i atoms of vector v, each with copies for every j atom.
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
            if constexpr (S::has_lj_mesh)
            {
                const Real* const of_mesh = args.mesh_parameters + cluster * 2 * cluster_size + first;
                row.mesh_first[v] = load_i(D(), of_mesh, v);
                row.mesh_second[v] = load_i(D(), of_mesh + cluster_size, v);
            }
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
        j.lj_first = load_j(D(), parameters + cluster_size);
        j.lj_second = load_j(D(), parameters + 2 * cluster_size);
        if constexpr (S::has_lj_mesh)
        {
            const Real* const of_mesh = args.mesh_parameters + cluster * 2 * cluster_size + part;
            j.mesh_first = load_j(D(), of_mesh), j.mesh_second = load_j(D(), of_mesh + cluster_size);
        }
        if constexpr (S::may_have_table) { j.type = load_j(DType(), args.slot_types + cluster * cluster_size + part); }
    }

    // Computes 6 c6 and 12 c12 of the pairs between the i atoms of vector v and the j atoms.
    static HWY_INLINE void lj_parameters(const KernelArgs<N>& args, const Constants<N>& k, const Row& row, std::size_t v,
                                         const Partners& j, V& c6, V& c12)
    {
        if (S::rule(k) == LjRule::Geometric)
        {
            combine_geometric<Ops>(row.lj_first[v], row.lj_second[v], j.lj_first, j.lj_second, c6, c12);
        }
        else if (!S::may_have_table || S::rule(k) == LjRule::LorentzBerthelot)
        {
            combine_lorentz_berthelot<Ops>(row.lj_first[v], row.lj_second[v], j.lj_first, j.lj_second, c6, c12);
        }
        else if constexpr (S::may_have_table)
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

    struct Distance
    {
        V r2, rinv, rinv2;
    };
    // Adds the Lennard-Jones forces of vector v to `force`, and the energies of the pairs within range to `sums`.
    template <Masking masking>
    static HWY_INLINE void add_lennard_jones(const KernelArgs<N>& args, const Constants<N>& k, const Row& row, std::size_t v,
                                             const Partners& j, const Distance& r, [[maybe_unused]] hn::Mask<D> listed,
                                             [[maybe_unused]] hn::Mask<D> in_range, V& force, [[maybe_unused]] Sums& sums)
    {
        V c6, c12, energy = hn::Zero(D());
        lj_parameters(args, k, row, v, j, c6, c12);
        if constexpr (masking != Masking::None && S::energies) // an excluded pair has no shift
        {
            c6 = hn::IfThenElseZero(listed, c6), c12 = hn::IfThenElseZero(listed, c12);
        }
        if (S::is_screened(k) && k.lj_is_shorter) { Lj::cut(k, r.r2, c6, c12); }
        Lj::add(k, c6, c12, r.r2, r.rinv, r.rinv2, force, energy);
        if constexpr (S::has_lj_mesh)
        {
            if (k.of_mesh.is_tight)
            {
                lose_dispersion<masking, MeshDispersion<Ops, true>>(k, row, v, j, r, listed, force, energy);
            }
            else { lose_dispersion<masking, MeshDispersion<Ops>>(k, row, v, j, r, listed, force, energy); }
        }
        if constexpr (S::energies) { sums.lj = hn::Add(sums.lj, energy_sum<N>(hn::IfThenElseZero(in_range, energy))); }
    }

    // Subtracts from all pairs of vector v, listed or not, the dispersion that LJ-PME's mesh adds for them.
    template <Masking masking, class Law>
    static HWY_INLINE void lose_dispersion(const Constants<N>& k, const Row& row, std::size_t v, const Partners& j,
                                           const Distance& r, [[maybe_unused]] hn::Mask<D> listed, V& force,
                                           [[maybe_unused]] V& energy)
    {
        V c6, c12;
        if (k.mesh_rule == LjMeshRule::Geometric) { c6 = c12 = hn::Mul(row.mesh_first[v], j.mesh_first); }
        else { combine_lorentz_berthelot<Ops>(row.mesh_first[v], row.mesh_second[v], j.mesh_first, j.mesh_second, c6, c12); }
        const V t = Law::t(k.of_mesh, r.r2);
        force = Law::force(k.of_mesh, c6, t, force);
        if constexpr (S::energies)
        {
            V shift = set(k.of_mesh.shift);
            if constexpr (masking != Masking::None) { shift = hn::IfThenElseZero(listed, shift); }
            energy = Law::energy(k.of_mesh, c6, t, shift, energy);
        }
    }

    // Computes screened Coulomb forces. Their bits are the same with and without energies.
    template <Masking masking, class Law>
    static HWY_INLINE void screen(const Constants<N>& k, const Distance& r, V qq, [[maybe_unused]] hn::Mask<D> listed, V& force,
                                  [[maybe_unused]] V& potential)
    {
        [[maybe_unused]] const V t = Law::t(k, r.r2);
        if constexpr (SegmentedCoulomb<N>::is_possible && std::is_same_v<Law, ScreenedCoulomb<Ops>>)
        {
            force = SegmentedCoulomb<N>::force(*k.screening, qq, r.r2, r.rinv, r.rinv2);
        }
        else { force = Law::force(k, qq, r.rinv, r.rinv2, t); }
        if constexpr (S::energies)
        {
            V shift = set(k.c);
            if constexpr (masking != Masking::None) { shift = hn::IfThenElseZero(listed, shift); }
            potential = Law::potential(k, r.rinv, t, shift);
        }
    }

    // Computes the pairs of two i atoms (vectors v .. v + side_by_side) with the j atoms.
    template <Masking masking>
    static HWY_INLINE void interact(const KernelArgs<N>& args, const Constants<N>& k, const Row& row, std::size_t pair_of_i,
                                    std::uint32_t interacts, std::uint32_t exists, std::size_t part, Partners& j, Sums& sums)
    {
        const D real;
        const std::size_t first = pair_of_i * side_by_side;
        V dx[side_by_side][3], r2[side_by_side], rinv[side_by_side], rinv2[side_by_side], qq[side_by_side], force[side_by_side],
            potential[side_by_side]; // the last of these is used for energies only
        hn::Mask<D> in_range[side_by_side], listed[side_by_side] = {};
        for (std::size_t d = 0; d < 3; ++d)
        {
            for (std::size_t u = 0; u < side_by_side; ++u)
            {
                dx[u][d] = to_nm(hn::Sub(row.x[first + u][d], j.x[d]), k.nm_per_unit[d]);
            }
        }
        if (S::is_tilted(k))
        {
            using pair_search::HWY_NAMESPACE::lean, pair_search::HWY_NAMESPACE::take_nearest;
            for (std::size_t u = 0; u < side_by_side; ++u)
            {
                k.is_low ? take_nearest(real, k.edge, k.shear, dx[u]) : lean(real, k.shear, dx[u]);
            }
        }
        for (std::size_t u = 0; u < side_by_side; ++u) { r2[u] = hn::Mul(dx[u][0], dx[u][0]); }
        for (std::size_t u = 0; u < side_by_side; ++u) { r2[u] = hn::MulAdd(dx[u][1], dx[u][1], r2[u]); }
        for (std::size_t u = 0; u < side_by_side; ++u) { r2[u] = hn::MulAdd(dx[u][2], dx[u][2], r2[u]); }
        for (std::size_t u = 0; u < side_by_side; ++u)
        {
            in_range[u] = hn::Lt(r2[u], set(k.cutoff2));
            V least = set(smallest_r2);
            if constexpr (masking != Masking::None)
            {
                const std::size_t shift = (first + u) * i_per_vector * cluster_size + part;
                listed[u] = bits_to_mask(interacts >> shift);
                if constexpr (S::energies) { least = hn::IfThenElseZero(listed[u], least); } // excluded pairs have no 1 / r
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
        if (S::is_screened(k))
        {
            for (std::size_t u = 0; u < side_by_side; ++u)
            {
                if (S::is_tight(k))
                {
                    screen<masking, ScreenedCoulomb<Ops, true>>(k, {r2[u], rinv[u], rinv2[u]}, qq[u], listed[u], force[u],
                                                                potential[u]);
                }
                else
                {
                    screen<masking, ScreenedCoulomb<Ops>>(k, {r2[u], rinv[u], rinv2[u]}, qq[u], listed[u], force[u],
                                                          potential[u]);
                }
            }
        }
        else
        {
            for (std::size_t u = 0; u < side_by_side; ++u)
            {
                force[u] = ReactionField<Ops>::force(set(k.two_k), qq[u], rinv[u], rinv2[u]);
                if constexpr (S::energies) { potential[u] = ReactionField<Ops>::potential(k, rinv[u], r2[u]); }
            }
        }
        for (std::size_t u = 0; S::energies && u < side_by_side; ++u)
        {
            const V energy = hn::IfThenElseZero(in_range[u], hn::Mul(qq[u], potential[u]));
            sums.coulomb = hn::Add(sums.coulomb, energy_sum<N>(energy));
        }
        if (row.has_lj[pair_of_i])
        {
            for (std::size_t u = 0; u < side_by_side; ++u)
            {
                add_lennard_jones<masking>(args, k, row, first + u, j, {r2[u], rinv[u], rinv2[u]}, listed[u], in_range[u],
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

    // Returns a mask: lane l of it is bit l of `bits`.
    static HWY_INLINE hn::Mask<D> bits_to_mask(std::uint32_t bits)
    {
        const typename T::DFixed d;
        const auto lane_bit = hn::Shl(hn::Set(d, 1), hn::Iota(d, 0));
        return hn::RebindMask(D(), hn::TestBit(hn::Set(d, bits), lane_bit));
    }

    template <Masking masking>
    static HWY_INLINE void entry(const KernelArgs<N>& args, const Constants<N>& k, const Row& row, PairEntry e,
                                 std::uint32_t exists, Sums& sums)
    {
        const auto cluster = static_cast<std::size_t>(e.cluster);
        for (std::size_t part = 0; part < cluster_size; part += j_per_vector)
        {
            Partners j;
            load_partners(args, cluster, part, j);
            // Skips a pair of i of which no pair of atoms is in range.
            if (masking != Masking::None || (e.interacts & 0xffffu) != 0)
            {
                interact<masking>(args, k, row, 0, e.interacts, exists, part, j, sums);
            }
            if (masking != Masking::None || (e.interacts >> 16) != 0)
            {
                interact<masking>(args, k, row, 1, e.interacts, exists, part, j, sums);
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
    static HWY_INLINE void add_entries(const KernelArgs<N>& args, const Constants<N>& k, const Row& row, const PairEntry* e,
                                       const PairEntry* end, Sums& sums)
    {
        while (e != end)
        {
            const PairEntry* const block_end = e + std::min(entries_per_block, end - e);
            for (; e != block_end; ++e) { entry<masking>(args, k, row, *e, 0, sums); }
            close_block(sums);
        }
    }

    static void run(const KernelArgs<N>& args)
    {
        const Constants<N> k(args);
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
            add_entries<Masking::None>(args, k, row, masked_end, args.entries + pair_row->end, sums);
            // This entry comes last because its atoms are nearest, and their forces largest.
            entry<Masking::Partial>(args, k, row, *first, pair_row->exists, sums);
            close_block(sums);
            add_entries<Masking::Excluded>(args, k, row, first + 1, masked_end, sums);
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

template <class N, Compute compute, Electrostatics electrostatics, bool tilted>
void run_rule(const KernelArgs<N>& args)
{
    using Table = std::conditional_t<compute == Compute::Forces, CommonShape<N, compute, electrostatics, LjRule::Table, tilted>,
                                     AnyShape<N, compute>>;
    switch (args.rule)
    {
    case LjRule::Geometric:
        return Kernel<CommonShape<N, compute, electrostatics, LjRule::Geometric, tilted>>::run(args);
    case LjRule::LorentzBerthelot:
        return Kernel<CommonShape<N, compute, electrostatics, LjRule::LorentzBerthelot, tilted>>::run(args);
    case LjRule::Table:
        return Kernel<Table>::run(args);
    }
}
template <class N, Compute compute, Electrostatics electrostatics>
void run_electrostatics(const KernelArgs<N>& args)
{
    // In tilted boxes, energies are computed by the shape that serves all options, since few steps ask for energies.
    if (args.nm_per_unit.is_rectangular()) { return run_rule<N, compute, electrostatics, false>(args); }
    if constexpr (compute == Compute::Forces) { return run_rule<N, compute, electrostatics, true>(args); }
    Kernel<AnyShape<N, compute>>::run(args);
}
template <class N, Compute compute>
void run_compute(const KernelArgs<N>& args)
{
    const NonbondedParameters& p = *args.parameters;
    if (p.mesh_dispersion.is_used()) { return Kernel<LjMeshShape<N, compute>>::run(args); }
    if constexpr (HWY_TARGET <= HWY_AVX2) // better instruction sets have lower numbers
    {
        const bool is_rare = p.screening.is_tight<typename N::Real>() || p.switches_potential;
        if (p.screening.is_used() && !is_rare) { return run_electrostatics<N, compute, Electrostatics::Screened>(args); }
        if (!p.screening.is_used() && p.lj_switch >= p.lj_cutoff)
        {
            return run_electrostatics<N, compute, Electrostatics::ReactionField>(args);
        }
    }
    Kernel<AnyShape<N, compute>>::run(args);
}
template <class N>
void run_kernel(const KernelArgs<N>& args)
{
    if (args.compute == Compute::Forces) { return run_compute<N, Compute::Forces>(args); }
    run_compute<N, Compute::ForcesEnergiesVirial>(args);
}

} // namespace HWY_NAMESPACE
} // namespace parhelion::nonbonded
HWY_AFTER_NAMESPACE();

#endif // end of the include guard, which is per instruction set
