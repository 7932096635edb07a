// SPDX-License-Identifier: Apache-2.0
// Turns differences of two positions along the box edges into differences in space, and in a low box into
// differences to the nearest image. Highway's foreach_target includes this file once per instruction set.
//
// A wrapped difference is the nearest image if it is shorter than half the least height of the box. If the nearest image is
// within a height, each of its fractions is the wrapped fraction or the one on the other side of zero: eight candidates.

#if defined(PARHELION_NEAREST_IMAGE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PARHELION_NEAREST_IMAGE_INL
#undef PARHELION_NEAREST_IMAGE_INL
#else
#define PARHELION_NEAREST_IMAGE_INL
#endif

#include "base/vec3.hpp"

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace parhelion::pair_search {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Turns differences along the box edges into differences in space. shear: Box::shear().
template <class D>
HWY_INLINE void lean(D d, const Vec3<hn::TFromD<D>>& shear, hn::Vec<D> (&difference)[3])
{
    difference[0] = hn::MulAdd(hn::Set(d, shear.x), difference[1], difference[0]);
    difference[0] = hn::MulAdd(hn::Set(d, shear.y), difference[2], difference[0]);
    difference[1] = hn::MulAdd(hn::Set(d, shear.z), difference[2], difference[1]);
}

// Does what lean() does, but gives the difference to the nearest image. edge: Box::diagonal(), nm. Precondition: this image is
// nearer than all box heights.
template <class D>
HWY_INLINE void take_nearest(D d, const Vec3<hn::TFromD<D>>& edge, const Vec3<hn::TFromD<D>>& shear, hn::Vec<D> (&difference)[3])
{
    using V = hn::Vec<D>;
    const V along[3] = {difference[0], difference[1], difference[2]};
    V other[3], least = hn::Zero(d);
    for (int k = 0; k < 3; ++k) { other[k] = hn::Sub(along[k], hn::CopySign(hn::Set(d, edge[k]), along[k])); }
    for (int way = 0; way < 8; ++way)
    {
        V image[3];
        for (int k = 0; k < 3; ++k) { image[k] = (way >> k & 1) != 0 ? other[k] : along[k]; }
        lean(d, shear, image);
        const V r2 = hn::MulAdd(image[2], image[2], hn::MulAdd(image[1], image[1], hn::Mul(image[0], image[0])));
        const auto is_nearer = way == 0 ? hn::Eq(r2, r2) : hn::Lt(r2, least);
        least = hn::IfThenElse(is_nearer, r2, least);
        for (int k = 0; k < 3; ++k) { difference[k] = hn::IfThenElse(is_nearer, image[k], difference[k]); }
    }
}

} // namespace HWY_NAMESPACE
} // namespace parhelion::pair_search
HWY_AFTER_NAMESPACE();

#endif // end of the include guard, which is per instruction set
