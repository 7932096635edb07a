// SPDX-License-Identifier: Apache-2.0
// Point charges for tests of the mesh.
#pragma once

#include "model/run_parameters.hpp"
#include "model/system.hpp"

#include <random>
#include <string>
#include <vector>

namespace parhelion::test {

// Point charges without any other interaction, each a molecule of its own.
inline System ions(const std::vector<Vec3<double>>& x, const std::vector<double>& charges, const Vec3<double>& box)
{
    System system;
    system.box = box;
    system.x = x;
    Topology& t = system.topology;
    t.type_names = {"ION"};
    t.c6 = t.c12 = {0};
    for (std::size_t i = 0; i < x.size(); ++i)
    {
        MoleculeType type;
        type.name = "ION" + std::to_string(i);
        Atom atom;
        atom.type = 0, atom.charge = charges[i], atom.mass = 10;
        type.atoms.push_back(atom);
        t.molecule_types.push_back(type);
        MoleculeBlock block;
        block.type = static_cast<int>(i), block.count = 1, block.first_atom = static_cast<std::int64_t>(i);
        t.blocks.push_back(block);
    }
    return system;
}

inline RunParameters pme_parameters()
{
    RunParameters run;
    run.coulomb = CoulombKind::Pme;
    run.coulomb_cutoff = run.lj_cutoff = 0.9;
    run.lj_modifier = LjModifier::None;
    return run;
}

// Ions with a net charge in a box of three edges; odd and even numbers of points.
inline System charged_ions(const Vec3<double>& box)
{
    std::mt19937 random(11);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::vector<Vec3<double>> x;
    std::vector<double> charges;
    for (int i = 0; i < 20; ++i)
    {
        x.push_back({box.x * uniform(random), box.y * uniform(random), box.z * uniform(random)});
        charges.push_back(i % 2 == 0 ? 1.0 : -0.7);
    }
    return ions(x, charges, box);
}

} // namespace parhelion::test
