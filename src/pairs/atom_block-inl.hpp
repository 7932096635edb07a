// SPDX-License-Identifier: Apache-2.0
// The distance test of pair search and pruning. It finds which halves of a block of i atoms have an atom within
// the cut-off of an atom of a j cluster. Highway's foreach_target includes this file once per instruction set.

#if defined(PARHELION_ATOM_BLOCK_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PARHELION_ATOM_BLOCK_INL
#undef PARHELION_ATOM_BLOCK_INL
#else
#define PARHELION_ATOM_BLOCK_INL
#endif

#include "pairs/nearest_image-inl.hpp"
#include "pairs/pair_search.hpp"

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace parhelion::pair_search {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As in the force kernels, a vector of 16 lanes holds the 8 j atoms twice: once for each of two i atoms.
using D16 = hn::CappedTag<float, 2 * cluster_size>;
using U16 = hn::Rebind<std::uint32_t, D16>;
using V16 = hn::Vec<D16>;
constexpr int i_per_vector = hn::MaxLanes(D16()) > cluster_size ? 2 : 1;
constexpr int j_per_vector = static_cast<int>(hn::MaxLanes(D16())) / i_per_vector;

HWY_INLINE V16 to_nm(hn::Vec<U16> difference, float nm_per_unit)
{
    return hn::Mul(hn::ConvertTo(D16(), hn::BitCast(hn::Rebind<std::int32_t, D16>(), difference)), hn::Set(D16(), nm_per_unit));
}

HWY_INLINE hn::Vec<U16> load_j(const std::uint32_t* from)
{
    if constexpr (i_per_vector == 1) { return hn::Load(U16(), from); }
    else
    {
        const auto once = hn::Load(hn::Half<U16>(), from);
        return hn::Combine(U16(), once, once);
    }
}
HWY_INLINE hn::Vec<U16> load_i(const std::uint32_t* of_atom, int v)
{
    if constexpr (i_per_vector == 1) { return hn::Set(U16(), of_atom[v]); }
    else { return hn::Combine(U16(), hn::Set(hn::Half<U16>(), of_atom[2 * v + 1]), hn::Set(hn::Half<U16>(), of_atom[2 * v])); }
}

// A block of `atoms` consecutive atoms of a cluster: their positions, and their offsets (nm) from the first atom of the block.
template <int atoms, bool tilted>
struct AtomBlock
{
    static constexpr int vectors = atoms / i_per_vector;
    std::uint32_t first[3];
    hn::Vec<U16> x[3][vectors];
    V16 offset[vectors][3];

    // x_of_first points to the position of the block's first atom, in the memory of its cluster.
    HWY_INLINE AtomBlock(const Distances& in, const std::uint32_t* x_of_first)
    {
        for (int d = 0; d < 3; ++d)
        {
            first[d] = x_of_first[d * cluster_size];
            for (int v = 0; v < vectors; ++v)
            {
                x[d][v] = load_i(x_of_first + d * cluster_size, v);
                offset[v][d] = to_nm(hn::Sub(x[d][v], hn::Set(U16(), first[d])), in.nm_per_unit[d]);
            }
        }
        for (int v = 0; v < vectors && tilted; ++v) { lean(D16(), in.shear, offset[v]); }
    }
};

// Returns a bit per half of the block. Bit h is set if half h has an atom within the cut-off of an atom of the cluster at xj.
template <bool centred, int atoms, bool tilted>
HWY_INLINE std::uint32_t halves_in_range(const Distances& in, const AtomBlock<atoms, tilted>& block,
                                         const std::uint32_t* HWY_RESTRICT xj)
{
    const D16 d;
    const V16 r2_max = hn::Set(d, in.cutoff * in.cutoff);
    std::uint32_t in_range = 0;
    for (int part = 0; part < cluster_size; part += j_per_vector)
    {
        hn::Vec<U16> j[3];
        V16 dj[3];
        for (int k = 0; k < 3; ++k)
        {
            j[k] = load_j(xj + k * cluster_size + part);
            dj[k] = to_nm(hn::Sub(j[k], hn::Set(U16(), block.first[k])), in.nm_per_unit[k]);
        }
        if constexpr (tilted) { lean(d, in.shear, dj); }
        constexpr int per_half = AtomBlock<atoms, tilted>::vectors / 2;
        for (int half = 0; half < 2; ++half)
        {
            V16 nearest = r2_max;
            for (int v = half * per_half; v < (half + 1) * per_half; ++v)
            {
                V16 dx[3];
                for (int k = 0; k < 3; ++k)
                {
                    dx[k] = centred ? hn::Sub(dj[k], block.offset[v][k]) : to_nm(hn::Sub(j[k], block.x[k][v]), in.nm_per_unit[k]);
                }
                if constexpr (tilted && !centred) { in.is_low ? take_nearest(d, in.edge, in.shear, dx) : lean(d, in.shear, dx); }
                const V16 r2 = hn::MulAdd(dx[2], dx[2], hn::MulAdd(dx[1], dx[1], hn::Mul(dx[0], dx[0])));
                nearest = per_half == 1 ? r2 : hn::Min(nearest, r2);
            }
            in_range |= static_cast<std::uint32_t>(!hn::AllFalse(d, hn::Lt(nearest, r2_max))) << half;
        }
    }
    return in_range;
}

} // namespace HWY_NAMESPACE
} // namespace parhelion::pair_search
HWY_AFTER_NAMESPACE();

#endif // end of the include guard, which is per instruction set
