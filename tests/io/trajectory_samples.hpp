// SPDX-License-Identifier: Apache-2.0
// Configurations for the tests of trajectory files, the same on every machine: splitmix64 (Steele, Lea and Flood, OOPSLA 2014)
// and no library distribution.
#pragma once

#include "base/units.hpp"
#include "base/vec3.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace parhelion::samples {

class Random
{
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t bits()
    {
        state_ += 0x9e3779b97f4a7c15u;
        std::uint64_t z = state_;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
    }
    // In [low, high).
    double uniform(double low, double high) { return low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53; }
    Vec3<double> point(double low, double high)
    {
        const double x = uniform(low, high), y = uniform(low, high);
        return {x, y, uniform(low, high)};
    }

private:
    std::uint64_t state_;
};

inline std::vector<Vec3<double>> random_points(std::size_t atoms, double low, double high, std::uint64_t seed)
{
    Random random(seed);
    std::vector<Vec3<double>> x(atoms);
    for (Vec3<double>& a : x) { a = random.point(low, high); }
    return x;
}

// Each atom within `step` of the one before it, in every component.
inline std::vector<Vec3<double>> random_walk(std::size_t atoms, double step, std::uint64_t seed)
{
    Random random(seed);
    std::vector<Vec3<double>> x(atoms);
    Vec3<double> a = random.point(-20, 20);
    for (Vec3<double>& b : x) { b = a += random.point(-step, step); }
    return x;
}

// Rigid three-site molecules (O H H, 0.1 nm, 109.47 degrees) in random orientations, on a jittered lattice of water's density.
inline std::vector<Vec3<double>> water(std::size_t molecules, std::uint64_t seed)
{
    Random random(seed);
    const auto edge = static_cast<std::size_t>(std::ceil(std::cbrt(static_cast<double>(molecules))));
    const double spacing = 0.3107, bond = 0.1, half_angle = 0.5 * 109.47 * units::degree;
    std::vector<Vec3<double>> x;
    for (std::size_t m = 0; m < molecules; ++m)
    {
        const Vec3<double> cell{static_cast<double>(m % edge), static_cast<double>(m / edge % edge),
                                static_cast<double>(m / edge / edge)};
        const Vec3<double> oxygen = spacing * cell + random.point(-0.05, 0.05);
        Vec3<double> u = random.point(-1, 1), w = random.point(-1, 1);
        u *= 1 / norm(u);
        w -= dot(u, w) * u;
        w *= 1 / norm(w);
        x.push_back(oxygen);
        x.push_back(oxygen + bond * (std::cos(half_angle) * u + std::sin(half_angle) * w));
        x.push_back(oxygen + bond * (std::cos(half_angle) * u - std::sin(half_angle) * w));
    }
    return x;
}

} // namespace parhelion::samples
