// SPDX-License-Identifier: Apache-2.0
// The state of a run as plain data in input order. A checkpoint stores it, and a simulation that starts
// from it continues bit by bit. It knows nothing of threads, ranks or the order of atoms in memory.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace parhelion {

struct SavedState
{
    std::int64_t step = 0;
    std::int64_t seed = 0; // seed of all random numbers of the run
    Box<double> box;
    // The numbers are exactly those that the engine computes with. In mixed precision they are
    // 32-bit fractions of the box and floats, in double precision 64-bit fractions and doubles.
    std::variant<std::vector<Vec3<std::uint32_t>>, std::vector<Vec3<std::uint64_t>>> x; // format: state/periodic_box.hpp
    std::variant<std::vector<Vec3<float>>, std::vector<Vec3<double>>> v;                // nm/ps, at t - dt/2
    std::map<std::string, std::vector<double>> coupling; // state of thermostat, barostat and bath, by the engine's names
    // True if the state comes from a run with other parameters. Step and seed are then
    // the new run's own, and values that `coupling` lacks begin at their initial values.
    bool of_another_run = false;
};

} // namespace parhelion
