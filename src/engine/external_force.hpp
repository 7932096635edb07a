// SPDX-License-Identifier: Apache-2.0
// A force that code outside of the engine computes: a script, a learned model, a method of enhanced sampling. A simulation
// asks for it in every step; its forces, energy and virial count like those of any other term of the potential.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace parhelion {

class ExternalForce
{
public:
    // The positions of the force's atoms, in the order of atoms(). They are as in frames: molecules are whole, and the first
    // atom of each is in the box. Exception: if a molecule is bonded to its own periodic image, all its atoms are in the box.
    struct Configuration
    {
        std::int64_t step = 0;
        double time = 0; // ps
        Box<double> box;
        std::vector<Vec3<double>> x; // nm
    };
    struct Answer
    {
        double energy = 0;           // kJ/mol
        std::vector<Vec3<double>> f; // kJ/mol/nm, in the order of atoms()
        Mat3<double> virial{};       // -1/2 sum r (x) f, kJ/mol: half the derivative of the energy by a strain of the system
    };

    virtual ~ExternalForce() = default;
    // Returns the global numbers of the atoms on which the force acts, in any order. The list must not change.
    virtual const std::vector<std::int64_t>& atoms() const = 0;
    // Computes the force; must not throw. The thread of rank 0 calls it in every step, while the other ranks wait
    // without a deadline. It is called again for the last step of a run, for the first step of the next run, and for
    // evaluations. An answer has one force per atom, all finite. Without an answer (nullopt) the step is abandoned.
    virtual std::optional<Answer> at(Configuration&& configuration) = 0;
};

} // namespace parhelion
