// SPDX-License-Identifier: Apache-2.0
// SETTLE, compiled once per vector instruction set. The set is chosen at run
// time. The code uses no fused multiply-add, so every set gives the same bits.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dynamics/settle.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "dynamics/settle_body.hpp"

HWY_BEFORE_NAMESPACE();
namespace parhelion {
namespace HWY_NAMESPACE {

inline Vec3<double> place(const double (&a)[3][settle_batch_size], int i) { return {a[0][i], a[1][i], a[2][i]}; }
inline void put(double (&a)[3][settle_batch_size], int i, const Vec3<double>& value)
{
    a[0][i] = value.x;
    a[1][i] = value.y;
    a[2][i] = value.z;
}

void settle_batch(const SettleWater& water, SettleBatch& __restrict batch)
{
    const SettleWater w = water;
    for (int i = 0; i < settle_batch_size; ++i)
    {
        const Vec3<double> oh_a = place(batch.oh_a, i), oh_b = place(batch.oh_b, i);
        const Vec3<double> o = place(batch.move_o, i), a = oh_a + place(batch.move_a, i), b = oh_b + place(batch.move_b, i);
        const SettleTriangle t = settle_triangle(w, oh_a, oh_b, o, a, b);
        put(batch.correct_o, i, t.correction(t.o, o));
        put(batch.correct_a, i, t.correction(t.a, a));
        put(batch.correct_b, i, t.correction(t.b, b));
        batch.margin[i] = t.margin;
    }
}

} // namespace HWY_NAMESPACE
} // namespace parhelion
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace parhelion {

HWY_EXPORT(settle_batch);

void settle(const SettleWater& water, SettleBatch& batch) { HWY_DYNAMIC_DISPATCH(settle_batch)(water, batch); }

SettleWater make_settle(int oxygen, int hydrogen_a, int hydrogen_b, double oh, double hh, double mass_o, double mass_h)
{
    const double height = std::sqrt(oh * oh - 0.25 * hh * hh);
    const double share_h = mass_h / (mass_o + 2 * mass_h), ra = 2 * share_h * height;
    return {oxygen,      hydrogen_a, hydrogen_b,      oh,      hh,     mass_o, mass_h, ra,
            height - ra, 0.5 * hh,   1 - 2 * share_h, share_h, 1 / ra, 1 / hh};
}

} // namespace parhelion
#endif
