// SPDX-License-Identifier: Apache-2.0
// The pair kernel of the GPU, one source for every policy and option.
//
// A warp works on a share of the pair list: some entries of one row, or of a few rows. The 64 i atoms of the row stay with the
// warp. Their forces are in registers, eight atoms a lane, and all their other data in shared memory, so 20 warps fit on a
// multiprocessor. The eight j atoms of an entry are computed with one i cluster after another, a tile of 8 x 8 pairs at a time. A
// lane has two of these pairs, whose latencies overlap. Meanwhile the next entry's atoms are loaded. Forces are summed on i until
// the row ends, on j until the entry ends. Then they are summed over lanes and added to memory.
//
// Mixed: positions are floats relative to the middle of the supercluster, with one conversion per j atom and entry.
// Other policies, and rows that reach half a box, subtract integers for each pair, so the force of a pair depends on its two
// atoms alone. Expressions are symmetric in i and j. Products and sums are fused only where the source says so.
//
// Reproducible policies round each pair's force, energy and virial to 64-bit fixed point before adding it.
#pragma once

#include "device/gpu/block_trace.cuh"
#include "device/gpu/shared_memory.cuh"
#include "device/gpu/warp.cuh"
#include "interactions/pair/gpu/nonbonded_gpu.cuh"
#include "interactions/pair/gpu/nonbonded_gpu_law.cuh"
#include "pairs/gpu/pair_tiles.cuh"
#include "trace/phases.hpp"

#include <type_traits>

namespace parhelion::nonbonded_gpu {

using namespace pair_tiles;

// The shape of the box. Low: the box is tilted, and its least height is below twice the cut-off (Box::is_low()).
enum class CellShape
{
    Rectangular,
    Tilted,
    Low
};

// The compile-time options of the kernel.
template <class N_, Electrostatics electrostatics_, LjRule rule_, Switching switching_, Compute compute_,
          CellShape cell_ = CellShape::Rectangular, bool has_lj_mesh_ = false>
struct Shape
{
    using N = N_;
    static constexpr bool screened = electrostatics_ == Electrostatics::Screened;
    static constexpr LjRule rule = rule_;
    static constexpr Switching switching =
        switching_; // IfAsked: a switch, a shorter Lennard-Jones cut-off and a tight ewald-rtol are possible
    static constexpr bool energies = compute_ == Compute::ForcesEnergiesVirial;
    static constexpr bool has_lj_mesh = has_lj_mesh_; // LJ-PME
    static constexpr bool fast = std::is_same_v<N, Mixed>;
    static constexpr bool tilted = cell_ != CellShape::Rectangular, low = cell_ == CellShape::Low; // properties of the box
};

constexpr int virial_elements = 6; // xx xy xz yy yz zz

// The i atoms of a row. One load has the position (set_position()) and charge (i_charge_scale()), another the parameters.
template <class N>
struct RowAtoms
{
    struct alignas(4 * sizeof(typename N::Fixed)) Atom
    {
        typename N::Fixed x[3];
        typename N::Real charge;
    };
    Atom atom[supercluster_size];
    LjParameters<typename N::Real> lj[supercluster_size];
};

// With LJ-PME: their parameters on the mesh of dispersion, too.
template <class N>
struct LjMeshRowAtoms : RowAtoms<N>
{
    LjParameters<typename N::Real> on_mesh[supercluster_size];
};
struct NotOnMesh
{
};

template <class S>
using ArgumentsOf = std::conditional_t<S::has_lj_mesh, LjMeshArguments<typename S::N>, Arguments<typename S::N>>;
template <class S>
using RowAtomsOf = std::conditional_t<S::has_lj_mesh, LjMeshRowAtoms<typename S::N>, RowAtoms<typename S::N>>;

template <class S>
class Warp
{
    using N = typename S::N;
    using Real = typename N::Real;
    using Fixed = typename N::Fixed;
    using Sum = typename N::ForceSum;
    using EnergySum = ScalarSum<N>;
    using Ops = LaneOps<Real>;
    using Usual = ScreenedCoulomb<Ops>;
    using Tight = ScreenedCoulomb<Ops, true>;
    using OnMesh = std::conditional_t<S::has_lj_mesh, LjParameters<Real>, NotOnMesh>; // an atom on the mesh of dispersion
    // true in kernels that a launch chooses where ewald-rtol may be tight
    static constexpr bool may_be_tight = S::switching == Switching::IfAsked;
    static constexpr bool reproducible = N::summation == Summation::Reproducible;
    static constexpr Real smallest_r2 = static_cast<Real>(1e-5); // nm^2, least r^2: r^-14 times any c12 is then finite
    // The force-only kernel, which runs in nearly every step, omits this bound to save instructions: coincident atoms have
    // infinite forces. Fillers coincide with atoms, and their pairs must exert no force, so at least r^-6 is kept finite.
    static constexpr bool lean = S::fast && !S::energies;
    static constexpr Real tiny_r2 = lean ? static_cast<Real>(1e-12) : 0;

public:
    __device__ Warp(const ArgumentsOf<S>& arguments, RowAtomsOf<S>& shared)
        : a(arguments), row_atoms(shared), lane(static_cast<int>(threadIdx.x)), two_k(a.law.two_k), cutoff2(a.law.cutoff2)
    {
        const Vec3<double>& s = a.scalars->nm_per_unit.diagonal();
        if constexpr (S::tilted) { shear = static_cast<Vec3<Real>>(a.scalars->shear); }
        nm[0] = static_cast<Real>(s.x), nm[1] = static_cast<Real>(s.y), nm[2] = static_cast<Real>(s.z);
        keep(nm[0]), keep(nm[1]), keep(nm[2]); // loaded at the same time as the share
        j_lane = static_cast<unsigned>(j_of_lane(lane));
        j_component = static_cast<unsigned>((lane & 8) / 8 + (lane & 4) / 2);
        j_of_force = j_lane + (lane & 16) / 4;
        keep(j_of_force), keep(j_lane), keep(j_component);
        if constexpr (!S::screened) { keep(two_k); }
        keep(cutoff2);
    }

    // Computes the entries begin .. end of a row, whose i atoms are those of `supercluster`.
    __device__ void run(int supercluster, const GpuPairRow& row, int begin, int end)
    {
        if constexpr (S::fast && !S::low)
        {
            if (row.exact == 0) { return run_row<false>(supercluster, row, begin, end); }
        }
        run_row<true>(supercluster, row, begin, end);
    }

    __device__ void finish()
    {
        if constexpr (S::energies)
        {
            // Each lane adds another sum, so one instruction adds all sums. Every warp adds to the same few words.
            constexpr int element_of[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
            coulomb = warp_sum(coulomb), lj = warp_sum(lj);
            for (EnergySum& v : virial) { v = warp_sum(v); }
            EnergySum mine = lane == 9 ? coulomb : lj;
            for (int k = 0; k < 9; ++k) { mine = lane == k ? virial[element_of[k]] : mine; }
            const EnergyTerm term = lane == 9 ? EnergyTerm::CoulombSr : EnergyTerm::LjSr;
            EnergySum* const sum =
                lane < 9 ? a.energies->virial.data() + lane : a.energies->energy.data() + static_cast<int>(term);
            if (lane < 11) { add_to(sum, mine); }
        }
    }

private:
    // Data that are loaded before use: the next entry, the atoms of it, and the entry after it, entries[next].
    struct Ahead
    {
        PairWord word, next_word;
        unsigned next;
        PositionCharge<N> xq[2];
        LjParameters<Real> lj[2];
        OnMesh on_mesh[2];
    };
    // One of the two j atoms of a lane.
    struct Partner
    {
        Fixed x[3]; // in the format of set_position()
        Real charge;
        LjParameters<Real> lj;
        Sum f[3];
        OnMesh on_mesh;
    };

    template <bool exact>
    __device__ void run_row(int supercluster, const GpuPairRow& row, int begin, int end)
    {
        const unsigned first = static_cast<unsigned>(row.begin), last = first + static_cast<unsigned>(end) - 1;
        Ahead ahead; // loaded at the same time as the row's atoms
        ahead.word = a.entries[first + static_cast<unsigned>(begin)];
        ahead.next = min(first + static_cast<unsigned>(begin) + 1, last);
        ahead.next_word = a.entries[ahead.next];
        begin_row<exact>(supercluster, ahead);
        int e = begin;
        const int masked_end = min(end, row.masked);
        if (e < masked_end)
        {
            const std::uint16_t* const masks = a.masks + static_cast<std::size_t>(row.masks) * masks_per_entry + lane;
            std::uint32_t mask = masks[e * masks_per_entry];
            for (; e < masked_end; ++e)
            {
                const std::uint32_t mask_ahead = masks[min(e + 1, masked_end - 1) * masks_per_entry];
                entry<exact, true>(ahead, last, mask);
                mask = mask_ahead;
            }
        }
        for (; e < end; ++e) { entry<exact, false>(ahead, last, 0); }
        end_row();
    }

    // Begins a row. The atoms of the row's first entry are loaded at the same time, which saves one latency.
    template <bool exact>
    __device__ void begin_row(int supercluster, Ahead& ahead)
    {
        middle[0] = middle[1] = middle[2] = 0;
        if constexpr (!exact)
        {
            const AtomBounds bounds = a.superclusters[supercluster];
            middle[0] = bounds.x, middle[1] = bounds.y, middle[2] = bounds.z;
        }
        first_slot = supercluster * supercluster_size;
        const int own[2] = {lane, lane + 32}; // the i atoms that this lane loads
        PositionCharge<N> p[2];
        LjParameters<Real> own_lj[2];
        for (int h = 0; h < 2; ++h) { p[h] = a.xq[first_slot + own[h]], own_lj[h] = a.of_slot[first_slot + own[h]]; }
        load(ahead);
        warp_barrier(); // all lanes have finished reading the previous row
        for (int h = 0; h < 2; ++h)
        {
            typename RowAtoms<N>::Atom atom;
            set_position<exact>(p[h], atom.x);
            atom.charge = p[h].charge * i_charge_scale();
            row_atoms.atom[own[h]] = atom, row_atoms.lj[own[h]] = own_lj[h];
            if constexpr (S::has_lj_mesh) { row_atoms.on_mesh[own[h]] = a.mesh_of_slot[first_slot + own[h]]; }
        }
#pragma unroll
        for (int c = 0; c < clusters_per_supercluster; ++c) { fi[c][0] = fi[c][1] = fi[c][2] = 0; }
        warp_barrier();
    }

    __device__ void end_row()
    {
        Sum mine[clusters_per_supercluster];
#pragma unroll
        for (int c = 0; c < clusters_per_supercluster; ++c) { mine[c] = scatter_sums<1, 2>(fi[c][0], fi[c][1], fi[c][2], lane); }
        const int component = lane & 3; // of four lanes, three add x, y and z; the fourth adds nothing
        if (component != 3)
        {
            Sum* const f = &a.f[first_slot + i_of_lane(lane)].x + component;
#pragma unroll
            for (int c = 0; c < clusters_per_supercluster; ++c)
            {
                add_to(f + c * (sizeof(ForceSlot<N>) / sizeof(Sum)) * cluster_size, mine[c]);
            }
        }
        if constexpr (S::energies && !reproducible)
        {
            coulomb += row_coulomb, lj += row_lj;
            row_coulomb = row_lj = 0;
            for (int k = 0; k < virial_elements; ++k) { virial[k] += row_virial[k], row_virial[k] = 0; }
        }
    }

    // Stores a position in x: as fixed point, or as the bits of floats relative to the middle of the supercluster.
    template <bool exact>
    __device__ void set_position(const PositionCharge<N>& p, Fixed (&x)[3]) const
    {
        x[0] = p.x, x[1] = p.y, x[2] = p.z;
        if constexpr (!exact)
        {
            Real nm_from_middle[3];
            for (int d = 0; d < 3; ++d) { nm_from_middle[d] = to_nm(x[d] - middle[d], d); }
            shear_to_space(nm_from_middle);
            for (int d = 0; d < 3; ++d) { x[d] = __float_as_uint(nm_from_middle[d]); }
        }
    }
    // Converts components along the edges of the box to Cartesian ones, nm.
    __device__ void shear_to_space(Real (&d)[3]) const
    {
        if constexpr (S::tilted)
        {
            d[0] = fused(shear.y, d[2], fused(shear.x, d[1], d[0]));
            d[1] = fused(shear.z, d[2], d[1]);
        }
    }
    // Converts to Cartesian components of the nearest image, as pairs/nearest_image-inl.hpp does.
    __device__ void nearest_to_space(Real (&d)[3]) const
    {
        constexpr Real whole = static_cast<Real>(sizeof(Fixed) == 8 ? 0x1p64 : 0x1p32);
        const Real along[3] = {d[0], d[1], d[2]};
        Real least = 0;
        for (unsigned way = 0; way < 8; ++way)
        {
            Real image[3];
            for (unsigned k = 0; k < 3; ++k)
            {
                image[k] = (way >> k & 1) != 0 ? along[k] - copysign(whole * nm[k], along[k]) : along[k];
            }
            shear_to_space(image);
            const Real r2 = fused(image[2], image[2], fused(image[1], image[1], image[0] * image[0]));
            const bool is_nearer = way == 0 || r2 < least;
            least = is_nearer ? r2 : least;
            for (int k = 0; k < 3; ++k) { d[k] = is_nearer ? image[k] : d[k]; }
        }
    }
    template <bool exact>
    __device__ Real difference(Fixed i, Fixed j, int d) const
    {
        if constexpr (exact) { return to_nm(i - j, d); }
        else { return __uint_as_float(i) - __uint_as_float(j); }
    }
    __device__ Real to_nm(Fixed difference, int d) const
    {
        return static_cast<Real>(static_cast<std::make_signed_t<Fixed>>(difference)) * nm[d];
    }
    // Charges have a factor sqrt(f) each. If i and j need not be symmetric, i charges get f, and the more frequent j charges get
    // 1.
    __device__ Real i_charge_scale() const { return S::fast ? a.charge_scale * a.charge_scale : a.charge_scale; }
    __device__ Real j_charge(const PositionCharge<N>& p) const { return S::fast ? p.charge : p.charge * a.charge_scale; }
    __device__ unsigned slot_of(PairWord word) const { return (word >> 8) * cluster_size | j_lane; }
    __device__ void load(Ahead& ahead) const
    {
        const unsigned slot = slot_of(ahead.word);
        const PositionCharge<N>* const xq = a.xq + slot;
        const LjParameters<Real>* const of_slot = a.of_slot + slot;
        for (int h = 0; h < 2; ++h) { ahead.xq[h] = xq[h * j_lanes], ahead.lj[h] = of_slot[h * j_lanes]; }
        if constexpr (S::has_lj_mesh)
        {
            for (int h = 0; h < 2; ++h) { ahead.on_mesh[h] = a.mesh_of_slot[slot + h * j_lanes]; }
        }
    }

    // Computes the entry in `ahead`, loads the next entry, and looks up the one after that. No entry comes after `last`.
    template <bool exact, bool masked>
    __device__ void entry(Ahead& ahead, unsigned last, std::uint32_t mask)
    {
        Partner j[2];
        for (int h = 0; h < 2; ++h)
        {
            j[h] = {{}, j_charge(ahead.xq[h]), ahead.lj[h], {}, ahead.on_mesh[h]};
            set_position<exact>(ahead.xq[h], j[h].x);
        }
        const PairWord word = uniform(ahead.word);
        const unsigned slot = slot_of(word), j_of_row = slot - static_cast<unsigned>(first_slot);
        ahead.word = ahead.next_word;
        load(ahead);
        ahead.next = min(ahead.next + 1, last);
        ahead.next_word = a.entries[ahead.next];
        const auto meet = [&](int c, Partner& partner, int h) {
            // A pair within the supercluster belongs to the earlier of its atoms, so it is computed once.
            const unsigned i_of_row = static_cast<unsigned>(c * cluster_size + i_of_lane(lane));
            const bool exists = !masked || j_of_row + static_cast<unsigned>(j_lanes * h) > i_of_row;
            tile<exact, masked>(c, partner, exists, (mask >> (c + clusters_per_supercluster * h) & 1) != 0);
        };
        if constexpr (S::fast && !(S::screened && S::energies))
        {
#pragma unroll
            for (int c = 0; c < clusters_per_supercluster; ++c)
            {
                if ((word >> c & 1) != 0) { meet(c, j[0], 0), meet(c, j[1], 1); }
            }
        }
        else
        {
            // The loop is not unrolled, so that this much code exists once and serves one j atom after the other.
#pragma unroll 1
            for (int h = 0; h < 2; ++h)
            {
#pragma unroll
                for (int c = 0; c < clusters_per_supercluster; ++c)
                {
                    if ((word >> c & 1) != 0) { meet(c, j[0], h); }
                }
                const Partner met = j[0];
                j[0] = j[1], j[1] = met;
            }
        }
        // Half of the lanes continue with the sums for the first j atoms, the other half with the sums for the second j atoms.
        const bool second = (lane & 16) != 0;
        Sum f[3];
        for (int d = 0; d < 3; ++d)
        {
            const Sum give = second ? j[0].f[d] : j[1].f[d];
            f[d] = (second ? j[1].f[d] : j[0].f[d]) + from_lane_across(give, 16);
        }
        const Sum mine = scatter_sums<8, 4>(f[0], f[1], f[2], lane);
        if (j_component < 3) { add_to(&a.f[(word >> 8) * cluster_size | j_of_force].x + j_component, mine); }
    }

    __device__ void lj_parameters(const LjParameters<Real>& i, const LjParameters<Real>& j, Real& c6, Real& c12) const
    {
        if constexpr (S::rule == LjRule::Geometric) { combine_geometric<Ops>(i.first, i.second, j.first, j.second, c6, c12); }
        else if constexpr (S::rule == LjRule::LorentzBerthelot)
        {
            combine_lorentz_berthelot<Ops>(i.first, i.second, j.first, j.second, c6, c12);
        }
        else
        {
            const LjParameters<Real> p = a.of_pair[static_cast<int>(i.first) * a.types + static_cast<int>(j.first)];
            c6 = p.first, c12 = p.second;
        }
    }

    // Subtracts from a pair the dispersion that the mesh has, also if the pair is excluded (not `listed`).
    __device__ void lose_dispersion(Real c6, Real r2, bool listed, Real& force, Real& energy) const
    {
        if constexpr (S::energies) { lose_dispersion_once(a.of_mesh, c6, r2, listed ? a.of_mesh.shift : 0, force, energy); }
        else if (may_be_tight && a.of_mesh.is_tight) { lose_dispersion_force<MeshDispersion<Ops, true>>(c6, r2, force); }
        else { lose_dispersion_force<MeshDispersion<Ops>>(c6, r2, force); }
    }
    template <class Law>
    __device__ void lose_dispersion_force(Real c6, Real r2, Real& force) const
    {
        force = Law::force(a.of_mesh, c6, Law::t(a.of_mesh, r2), force);
    }
    // A function that is called, not repeated for each tile: the kernel with energies takes a minute to compile otherwise.
    __attribute__((noinline)) __device__ static void lose_dispersion_once(const DispersionConstants<Real>& k, Real c6, Real r2,
                                                                          Real shift, Real& force, Real& energy)
    {
        const auto lose = [&](auto law) {
            using Law = decltype(law);
            const Real t = Law::t(k, r2);
            force = Law::force(k, c6, t, force), energy = Law::energy(k, c6, t, shift, energy);
        };
        if (may_be_tight && k.is_tight) { lose(MeshDispersion<Ops, true>()); }
        else { lose(MeshDispersion<Ops>()); }
    }

    __device__ bool is_tight() const { return may_be_tight && a.law.is_tightly_screened; }

    // Computes one pair of the tile of cluster c. `exists`: the pair is not computed elsewhere. `listed`: it is not excluded.
    template <bool exact, bool masked>
    __device__ void tile(int c, Partner& j, bool exists, bool listed)
    {
        const int i = c * cluster_size + i_of_lane(lane);
        const typename RowAtoms<N>::Atom atom = row_atoms.atom[i];
        Real d[3] = {difference<exact>(atom.x[0], j.x[0], 0), difference<exact>(atom.x[1], j.x[1], 1),
                     difference<exact>(atom.x[2], j.x[2], 2)};
        if constexpr (S::low) { nearest_to_space(d); }
        else if constexpr (exact) { shear_to_space(d); }
        Real r2 = fused(d[2], d[2], fused(d[1], d[1], lean ? fused(d[0], d[0], tiny_r2) : d[0] * d[0]));
        const bool in_range = r2 < cutoff2 && exists;
        if constexpr (masked && S::energies) { r2 = max(r2, listed ? smallest_r2 : 0); } // without 1 / r if excluded
        else if constexpr (!lean) { r2 = max(r2, smallest_r2); }
        Real rinv = inverse_sqrt(r2);
        if constexpr (masked) { rinv = listed ? rinv : 0; }
        const Real rinv2 = rinv * rinv, qq = atom.charge * j.charge;
        Real force, t = 0; // t is set for screened pairs only
        if constexpr (S::screened && lean)
        {
            // In double precision a reciprocal is slow, and energies need the polynomials anyway.
            const Real screening = horner(a.numerator, r2) * approximate_reciprocal(horner(a.denominator, r2));
            force = qq * fused(rinv, rinv2, screening);
            if (is_tight()) { force = Tight::force(a.law, qq, rinv, rinv2, Tight::t(a.law, r2)); }
        }
        else if constexpr (S::screened)
        {
            t = Usual::t(a.law, r2);
            force = is_tight() ? Tight::force(a.law, qq, rinv, rinv2, t) : Usual::force(a.law, qq, rinv, rinv2, t);
        }
        else { force = ReactionField<Ops>::force(two_k, qq, rinv, rinv2); }
        Real c6, c12, energy = 0;
        lj_parameters(row_atoms.lj[i], j.lj, c6, c12);
        if constexpr (masked && (S::energies || S::switching != Switching::Never)) // an excluded pair has no shift
        {
            c6 = listed ? c6 : 0, c12 = listed ? c12 : 0;
        }
        using Lj = LennardJones<Ops, S::switching, S::energies>;
        if (S::switching == Switching::IfAsked && a.law.lj_is_shorter) { Lj::cut(a.law, r2, c6, c12); }
        Lj::add(a.law, c6, c12, r2, rinv, rinv2, force, energy);
        if constexpr (S::has_lj_mesh)
        {
            lose_dispersion(mesh_c6(a.mesh_rule, row_atoms.on_mesh[i], j.on_mesh), r2, !masked || listed, force, energy);
        }
        if constexpr (lean) { return exchange_if_below(exists ? r2 : cutoff2, cutoff2, force, d, fi[c], j.f); }
        force = in_range ? force : 0;
        add_force(c, j, d, force);
        if constexpr (S::energies)
        {
            const auto coulomb_energy = [&] {
                if constexpr (!S::screened) { return qq * ReactionField<Ops>::potential(a.law, rinv, r2); }
                else
                {
                    const Real shift = !masked || listed ? a.law.c : 0;
                    return qq * (is_tight() ? Tight::potential(a.law, rinv, t, shift) : Usual::potential(a.law, rinv, t, shift));
                }
            };
            add_energies(d, force, in_range ? coulomb_energy() : 0, in_range ? energy : 0);
        }
    }

    __device__ void add_force(int c, Partner& j, const Real (&d)[3], Real force)
    {
        for (int k = 0; k < 3; ++k)
        {
            if constexpr (reproducible)
            {
                const std::int64_t f = to_fixed_point(static_cast<double>(force * d[k]), fixed_sum_limit);
                fi[c][k] += f, j.f[k] -= f;
            }
            else { fi[c][k] = fused(force, d[k], fi[c][k]), j.f[k] = fused(-force, d[k], j.f[k]); }
        }
    }

    __device__ void add_energies(const Real (&d)[3], Real force, Real coulomb_energy, Real lj_energy)
    {
        const Real half = force * static_cast<Real>(-0.5);
        const Real fx = half * d[0], fy = half * d[1], fz = half * d[2];
        const Real elements[virial_elements] = {fx * d[0], fx * d[1], fx * d[2], fy * d[1], fy * d[2], fz * d[2]};
        if constexpr (reproducible)
        {
            constexpr double limit = fixed_sum_pair_limit;
            coulomb += to_fixed_point(coulomb_energy, limit), lj += to_fixed_point(lj_energy, limit);
            for (int k = 0; k < virial_elements; ++k) { virial[k] += to_fixed_point(elements[k], limit); }
        }
        else
        {
            row_coulomb += coulomb_energy, row_lj += lj_energy;
            for (int k = 0; k < virial_elements; ++k) { row_virial[k] += elements[k]; }
        }
    }

    __device__ static EnergySum warp_sum(EnergySum value)
    {
        for (int distance = 16; distance > 0; distance /= 2) { value += from_lane_across(value, distance); }
        return value;
    }

    const ArgumentsOf<S>& a;
    RowAtomsOf<S>& row_atoms; // in shared memory of the block
    const int lane;
    Real nm[3], two_k, cutoff2;
    Vec3<Real> shear; // for tilted boxes only
    unsigned j_lane, j_of_force,
        j_component; // the lane's first j atom; the j atom whose force it adds, and the component of it: x, y, z or none
    // The next members belong to the current row.
    int first_slot = 0;
    Fixed middle[3];
    Sum fi[clusters_per_supercluster][3];
    Real row_coulomb = 0, row_lj = 0, row_virial[virial_elements] = {}; // sums over one row, in the precision of pairs
    // The next members are sums over all rows.
    EnergySum coulomb = 0, lj = 0, virial[virial_elements] = {};
};

// Purpose        computes forces, energies and virial of all listed pairs
// Work           by a block of one warp per share; a lane has two pairs of a tile (see the top of this file)
// Reads/Writes   positions, charges, parameters, list / adds to f and energies
// Orders         no memory accesses: additions are relaxed atomics, and the next kernel of the stream sees all of them
// Requires       a pruned list, and parameters for this order of atoms
// Cost           54 instructions a tile, 91 an entry, some 300 a share and row; three dependent loads before the first tile
template <class S>
__global__ void PARHELION_LAUNCH_BOUNDS(32, S::fast && !S::energies ? shares_per_multiprocessor / 2 : 1)
    pair_kernel(BlockTrace tracing, const ArgumentsOf<S> a)
{
    const BlockSpan span(tracing);

    __shared__ RowAtomsOf<S> row_atoms;
    const PairShare share = a.shares[blockIdx.x];
    const PairPlace next = a.shares[blockIdx.x + 1].begin;
    Warp<S> warp(a, row_atoms);
    GpuPairRow row = share.first;
    const int last = uniform(next.row);
    int r = uniform(share.begin.row), begin = uniform(share.begin.entry);
    if (r == last && begin == next.entry) { return; }
    while (true)
    {
        keep(row.begin); // loads the whole row at once
        const int end = uniform(r == last ? next.entry : row.pruned);
        if (begin < end) { warp.run(row.supercluster, row, begin, end); }
        if (r >= last) { break; }
        row = a.rows[++r], begin = 0;
    }
    warp.finish();
}

} // namespace parhelion::nonbonded_gpu
