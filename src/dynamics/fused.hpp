// SPDX-License-Identifier: Apache-2.0
// Fused multiply-add. A GPU rounds it once, which saves an instruction; the host rounds twice, as not every
// processor has it. It shortens chains of dependent operations, whose latency limits the update (measured in bench/gpu/update).
#pragma once

#include "base/vec3.hpp"

#include <cmath>

namespace parhelion::fused {

PARHELION_HD inline double multiply_add(double a, double b, double c)
{
#ifdef PARHELION_ON_DEVICE
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}
PARHELION_HD inline Vec3<double> multiply_add(double s, const Vec3<double>& a, const Vec3<double>& b)
{
    return {multiply_add(s, a.x, b.x), multiply_add(s, a.y, b.y), multiply_add(s, a.z, b.z)};
}
PARHELION_HD inline double dot(const Vec3<double>& a, const Vec3<double>& b)
{
    return multiply_add(a.x, b.x, multiply_add(a.y, b.y, a.z * b.z));
}
PARHELION_HD inline double norm2(const Vec3<double>& a) { return dot(a, a); }
PARHELION_HD inline Vec3<double> cross(const Vec3<double>& a, const Vec3<double>& b)
{
    return {multiply_add(a.y, b.z, -(a.z * b.y)), multiply_add(a.z, b.x, -(a.x * b.z)), multiply_add(a.x, b.y, -(a.y * b.x))};
}

} // namespace parhelion::fused
