// SPDX-License-Identifier: Apache-2.0
// The state of a run as plain data, in input order: what a checkpoint keeps, and all that a simulation needs to go on with the
// same bits. It knows nothing of threads, ranks or the order of atoms in memory.
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
    std::int64_t seed = 0; // of everything random in the run
    Box<double> box;
    // Exactly what the engine computes with: 32-bit fractions of the box and float in mixed precision, 64-bit and double in
    // double.
    std::variant<std::vector<Vec3<std::uint32_t>>, std::vector<Vec3<std::uint64_t>>> x; // see state/periodic_box.hpp
    std::variant<std::vector<Vec3<float>>, std::vector<Vec3<double>>> v;                // nm/ps, at t - dt/2
    std::map<std::string, std::vector<double>> coupling; // thermostat, barostat and bath, by the engine's names
    // A run with other parameters starts from it: step and seed are that run's own, and what is lacking in `coupling` begins
    // anew.
    bool of_another_run = false;
};

} // namespace parhelion
