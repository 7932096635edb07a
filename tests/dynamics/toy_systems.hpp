// SPDX-License-Identifier: Apache-2.0
// Small systems made by hand for the dynamics tests: waters, rings, and ideal gases, placed at random in a box.
#pragma once

#include "model/system.hpp"
#include "state/molecules.hpp"
#include "state/particle_state.hpp"
#include "support/particles.hpp"

#include <cmath>
#include <fmt/format.h>
#include <random>
#include <string>
#include <vector>

namespace parhelion::test {

inline Atom toy_atom(const std::string& name, double mass)
{
    Atom atom;
    atom.name = name;
    atom.mass = mass;
    return atom;
}

// A molecule type and the positions of one copy that satisfy its constraints.
struct ToyMolecule
{
    MoleculeType type;
    std::vector<Vec3<double>> x;
};

// Fixes the distance of two atoms at its value in the positions.
inline void constrain(ToyMolecule& molecule, int a, int b)
{
    molecule.type.constraints.push_back(
        {a, b, norm(molecule.x[static_cast<std::size_t>(a)] - molecule.x[static_cast<std::size_t>(b)])});
}

// SPC/E geometry.
inline ToyMolecule rigid_water()
{
    ToyMolecule water;
    water.type.name = "SOL";
    water.type.atoms = {toy_atom("OW", 15.9994), toy_atom("HW1", 1.008), toy_atom("HW2", 1.008)};
    water.type.settles = {{0, 1, 2, 0.1, 0.1633}};
    const double height = std::sqrt(0.01 - 0.25 * 0.1633 * 0.1633);
    water.x = {{0, 0, 0}, {0.5 * 0.1633, height, 0}, {-0.5 * 0.1633, height, 0}};
    return water;
}

// With a fourth site, which is not on the axis of symmetry, so that it matters which hydrogen is which.
inline ToyMolecule rigid_water_with_site()
{
    ToyMolecule water = rigid_water();
    water.type.name = "SOL4";
    water.type.atoms.push_back(toy_atom("MW", 0));
    water.type.sites = {{SiteKind::Linear, 3, {1, 0, 2}, {0.7, 0.1}}};
    water.x.push_back(0.2 * water.x[1] + 0.7 * water.x[0] + 0.1 * water.x[2]);
    return water;
}

// A methyl group, as h-bonds constrains it.
inline ToyMolecule methyl()
{
    ToyMolecule m;
    m.type.name = "CH3";
    m.type.atoms = {toy_atom("C", 12.011), toy_atom("H1", 1.008), toy_atom("H2", 1.008), toy_atom("H3", 1.008)};
    m.x = {{0, 0, 0}, {0.1028, 0, 0.0363}, {-0.0514, 0.0890, 0.0363}, {-0.0514, -0.0890, 0.0363}};
    for (int h = 1; h <= 3; ++h) { constrain(m, 0, h); }
    return m;
}

// A carbon with one to four hydrogens in the directions of a tetrahedron's corners.
inline ToyMolecule carbon_with_hydrogens(int hydrogens)
{
    ToyMolecule m;
    m.type.name = "CH" + std::to_string(hydrogens);
    m.type.atoms = {toy_atom("C", 12.011)};
    m.x = {{0, 0, 0}};
    for (int h = 1; h <= hydrogens; ++h)
    {
        const Vec3<double> corners[] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
        m.type.atoms.push_back(toy_atom(fmt::format("H{}", h), h == 2 ? 2.014 : 1.008));
        m.x.push_back((0.109 / std::sqrt(3.0)) * corners[h - 1]);
        constrain(m, 0, h);
    }
    return m;
}

// A six-membered ring with a hydrogen on each carbon, all bonds constrained.
inline ToyMolecule ring()
{
    ToyMolecule m;
    m.type.name = "RING";
    for (int i = 0; i < 6; ++i)
    {
        const double angle = i * 3.14159265358979323846 / 3;
        m.type.atoms.push_back(toy_atom("C", 12.011));
        m.x.push_back({0.139 * std::cos(angle), 0.139 * std::sin(angle), i % 2 ? 0.025 : -0.025});
    }
    for (int i = 0; i < 6; ++i)
    {
        m.type.atoms.push_back(toy_atom("H", 1.008));
        m.x.push_back(m.x[static_cast<std::size_t>(i)] * (1 + 0.109 / 0.139));
    }
    for (int i = 0; i < 6; ++i)
    {
        constrain(m, i, (i + 1) % 6);
        constrain(m, i, i + 6);
    }
    return m;
}

// A zigzag of so many atoms, each bond constrained: one LINCS group.
inline ToyMolecule chain(int atoms)
{
    ToyMolecule m;
    m.type.name = "CHAIN";
    for (int i = 0; i < atoms; ++i)
    {
        m.type.atoms.push_back(toy_atom("C", i % 3 == 0 ? 14.027 : 12.011));
        m.x.push_back({0.125 * i, i % 2 == 0 ? 0.0 : 0.083, 0.01 * (i % 5)});
        if (i > 0) { constrain(m, i - 1, i); }
    }
    return m;
}

// Three atoms kept at mutual distances, with a tail: a triangle for LINCS.
inline ToyMolecule triangle()
{
    ToyMolecule m;
    m.type.name = "TRI";
    m.type.atoms = {toy_atom("N", 14.007), toy_atom("M1", 8), toy_atom("M2", 8), toy_atom("C", 12.011)};
    m.x = {{0, 0, 0}, {0.1, 0.05, 0}, {0.1, -0.05, 0.02}, {-0.14, 0.01, 0.03}};
    constrain(m, 0, 1);
    constrain(m, 0, 2);
    constrain(m, 1, 2);
    constrain(m, 0, 3);
    return m;
}

// Four atoms and the bonds of a rhombus, of which nothing keeps the angles: constraints that close a ring.
inline ToyMolecule diamond()
{
    ToyMolecule m;
    m.type.name = "DIAMOND";
    for (const double mass : {12.011, 14.007, 12.011, 15.999}) { m.type.atoms.push_back(toy_atom("C", mass)); }
    m.x = {{0, 0, 0}, {0.13, 0.075, 0}, {0, 0.15, 0.03}, {-0.13, 0.075, 0}};
    for (int i = 0; i < 4; ++i) { constrain(m, i, (i + 1) % 4); }
    return m;
}

// All six distances of four atoms: a rigid figure.
inline ToyMolecule tetrahedron()
{
    ToyMolecule m;
    m.type.name = "TETRA";
    for (const double mass : {12.011, 12.011, 14.007, 12.011}) { m.type.atoms.push_back(toy_atom("C", mass)); }
    m.x = {{0.053, 0.053, 0.053}, {0.053, -0.053, -0.053}, {-0.053, 0.053, -0.053}, {-0.053, -0.053, 0.053}};
    for (int b = 1; b < 4; ++b)
    {
        for (int a = 0; a < b; ++a) { constrain(m, a, b); }
    }
    return m;
}

// Nine distances of five: two atoms that three hold.
inline ToyMolecule bipyramid()
{
    ToyMolecule m;
    m.type.name = "BIPYR";
    for (int a = 0; a < 5; ++a) { m.type.atoms.push_back(toy_atom("C", 12.011)); }
    m.x = {{0, 0, 0.12}, {0, 0, -0.12}, {0.1, 0, 0}, {-0.05, 0.0866, 0}, {-0.05, -0.0866, 0}};
    for (int b = 2; b < 5; ++b)
    {
        for (int a = 0; a < b; ++a) { constrain(m, a, b); }
    }
    return m;
}

inline ToyMolecule ring_of_heavy_atoms()
{
    ToyMolecule m = ring();
    m.type.name = "HEAVY";
    for (Atom& atom : m.type.atoms) { atom.mass = std::max(atom.mass, 12.0); }
    return m;
}

// An atom of mass 3 that holds four of mass 4, all of them within `angle` of an axis: the smaller it is, the more the
// constraints couple. Beyond 0.594 LINCS' series converges.
inline ToyMolecule light_centre(double angle)
{
    ToyMolecule m;
    m.type.name = "LIGHT";
    m.type.atoms = {toy_atom("X", 3)};
    m.x = {{0, 0, 0}};
    for (int i = 0; i < 4; ++i)
    {
        m.type.atoms.push_back(toy_atom("Y", 4));
        const double azimuth = i * 1.5707963267948966, across = 0.11 * std::sin(angle);
        m.x.push_back({across * std::cos(azimuth), across * std::sin(azimuth), 0.11 * std::cos(angle)});
        constrain(m, 0, i + 1);
    }
    return m;
}

// Four atoms with a virtual site of every kind, two of them made of others; only the first two atoms keep their distance. Where
// the sites are is for the caller to construct.
inline ToyMolecule molecule_with_sites()
{
    ToyMolecule m;
    m.type.name = "SITES";
    m.type.atoms = {toy_atom("A", 12.011), toy_atom("B", 1.008), toy_atom("C", 15.999), toy_atom("D", 14.007)};
    m.x = {{0, 0, 0}, {0.11, 0.02, 0}, {-0.04, 0.14, 0.01}, {-0.05, -0.06, 0.12}};
    constrain(m, 0, 1);
    m.type.sites = {{SiteKind::Linear, 4, {0, 1, 2}, {0.2, 0.3}},
                    {SiteKind::FixedDistance2, 5, {1, 0}, {0.05}},
                    {SiteKind::FixedDistance3, 6, {0, 1, 2}, {0.4, -0.1}},
                    {SiteKind::FixedAngle3, 7, {0, 1, 2}, {-0.05, 0.09}},
                    {SiteKind::OutOfPlane3, 8, {0, 1, 2}, {-0.3, -0.3, 6}},
                    {SiteKind::FixedDistance4, 9, {0, 1, 2, 3}, {0.9, 1.1, 0.1}},
                    {SiteKind::Mean, 10, {3, 9, 6, 2, 0}, {0.3, 0.2, 0.1, 0.3}},
                    {SiteKind::FixedDistance3, 11, {10, 3, 8}, {0.5, 0.08}}};
    for (int site = 0; site < 8; ++site)
    {
        m.type.atoms.push_back(toy_atom("S", 0));
        m.x.push_back({0.2, 0.01 * site, 0});
    }
    return m;
}

inline ToyMolecule single_atom(double mass)
{
    ToyMolecule m;
    m.type.name = "AR";
    m.type.atoms = {toy_atom("AR", mass)};
    m.x = {{0, 0, 0}};
    return m;
}

// Copies of the molecules at random places and orientations of a box, with normal velocities of the given temperature
// (constraints not heeded).
inline System toy_system(const std::vector<std::pair<ToyMolecule, int>>& molecules, const Vec3<double>& box, double temperature,
                         unsigned seed)
{
    System system;
    system.box = box;
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    for (const auto& [molecule, count] : molecules)
    {
        MoleculeBlock block;
        block.type = static_cast<std::int32_t>(system.topology.molecule_types.size());
        block.count = count;
        system.topology.molecule_types.push_back(molecule.type);
        system.topology.blocks.push_back(block);
        for (int copy = 0; copy < count; ++copy)
        {
            // Gram-Schmidt of two random vectors gives a rotation.
            Vec3<double> e1{normal(engine), normal(engine), normal(engine)}, e2{normal(engine), normal(engine), normal(engine)};
            e1 *= 1 / norm(e1);
            e2 -= dot(e1, e2) * e1;
            e2 *= 1 / norm(e2);
            const Vec3<double> e3 = cross(e1, e2);
            const Vec3<double> place{box.x * uniform(engine), box.y * uniform(engine), box.z * uniform(engine)};
            for (std::size_t a = 0; a < molecule.x.size(); ++a)
            {
                const Vec3<double>& x = molecule.x[a];
                system.x.push_back(place + x.x * e1 + x.y * e2 + x.z * e3);
                const double mass = molecule.type.atoms[a].mass;
                const double sigma = mass > 0 ? std::sqrt(8.31446261815324e-3 * temperature / mass) : 0;
                system.v.push_back({sigma * normal(engine), sigma * normal(engine), sigma * normal(engine)});
            }
        }
    }
    system.topology.finish();
    return system;
}

} // namespace parhelion::test
