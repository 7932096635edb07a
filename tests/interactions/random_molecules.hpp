// SPDX-License-Identifier: Apache-2.0
// Made-up molecules for tests of bonded terms: chains of atoms at random bond-like distances, with one kind of interaction along
// the chain. A new InteractionKind needs parameters here and nothing else.
#pragma once

#include "base/error.hpp"
#include "model/system.hpp"

#include <array>
#include <random>
#include <vector>

namespace parhelion::test {

class Random
{
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    double operator()(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
    // Returns a vector of the given length, in any direction.
    Vec3<double> vector(double length)
    {
        std::normal_distribution<double> normal;
        const Vec3<double> v{normal(engine_), normal(engine_), normal(engine_)};
        return (length / norm(v)) * v;
    }

private:
    std::mt19937_64 engine_;
};

inline InteractionParameters random_parameters(InteractionKind kind, Random& random)
{
    switch (kind)
    {
    case InteractionKind::HarmonicBond:
        return {random(0.10, 0.16), random(2e5, 4e5)};
    case InteractionKind::HarmonicPotential:
        return {random(0.10, 0.3), random(100, 1e4)};
    case InteractionKind::G96Bond:
        return {random(0.10, 0.16), random(1e6, 1e7)};
    case InteractionKind::MorseBond:
        return {random(0.10, 0.16), random(300, 500), random(10, 20)};
    case InteractionKind::CubicBond:
        return {random(0.10, 0.16), random(1e4, 1e5), random(-3, 3)};
    case InteractionKind::FeneBond: // longer than any bond here
        return {random(1.0, 1.5), random(1e3, 1e4)};
    case InteractionKind::BoundedBond: // below, above and far above its flat part
    {
        const double k = random(500, 2000);
        const InteractionParameters choices[] = {{0.3, 0.4, 0.5, k}, {0.01, 0.05, 0.4, k}, {0.01, 0.03, 0.06, k}};
        return choices[static_cast<std::size_t>(random(0, std::size(choices)))];
    }
    case InteractionKind::QuarticAngle:
        return {random(80, 180), random(-10, 10), random(-10, 10), random(100, 600), random(-50, 50), random(-50, 50)};
    case InteractionKind::CrossBondBond:
        return {random(0.10, 0.16), random(0.10, 0.16), random(1e3, 1e4)};
    case InteractionKind::CrossBondAngle:
        return {random(0.10, 0.16), random(0.10, 0.16), random(0.2, 0.25), random(1e3, 1e4)};
    case InteractionKind::RestrictedDihedral:
        return {random(-180, 180), random(1, 10)};
    case InteractionKind::BendingTorsion:
        return {random(0.5, 2), random(-10, 10), random(-10, 10), random(-10, 10), random(-10, 10), random(-10, 10)};
    case InteractionKind::HarmonicAngle:
        return {random(80, 180), random(100, 600)};
    case InteractionKind::G96Angle:
        return {random(80, 180), random(100, 600)};
    case InteractionKind::RestrictedAngle:
        return {random(80, 150), random(10, 100)};
    case InteractionKind::UreyBradley:
        return {random(80, 180), random(100, 600), random(0.2, 0.25), random(1e3, 1e5)};
    case InteractionKind::ProperDihedral:
        return {random(-180, 180), random(-30, 30), std::floor(random(-6, 7))};
    case InteractionKind::PeriodicImproper:
        return {random(-180, 180), random(-30, 30), std::floor(random(1, 7))};
    case InteractionKind::HarmonicImproper:
        return {random(-180, 180), random(50, 500)};
    case InteractionKind::RyckaertBellemans:
        return {random(-10, 10), random(-10, 10), random(-10, 10), random(-10, 10), random(-10, 10), random(-10, 10)};
    case InteractionKind::Cmap: // few nodes, so that finite differences seldom cross one
    {
        InteractionParameters grid(6 * 6);
        for (double& value : grid) { value = random(-20, 20); }
        return grid;
    }
    case InteractionKind::Pair14: {
        InteractionParameters pair = {random(1e-4, 1e-3), random(1e-7, 1e-6)};
        if (random(0, 1) < 0.3) { pair.push_back(random(-0.3, 0.3)); } // charges of its own
        return pair;
    }
    case InteractionKind::NonbondedPair:
        return {random(1e-4, 1e-3), random(1e-7, 1e-6), random(-0.3, 0.3)};
    case InteractionKind::DistanceRestraint: // below, above and far above its flat part, not at an edge
    {
        const double factor = random(0.5, 2);
        const InteractionParameters choices[] = {{0.3, 0.4, 0.5, factor}, {0.01, 0.05, 0.4, factor}, {0.01, 0.03, 0.06, factor}};
        return choices[static_cast<std::size_t>(random(0, std::size(choices)))];
    }
    case InteractionKind::AngleRestraint:
    case InteractionKind::AngleRestraintZ:
        return {random(0, 180), random(10, 500), std::floor(random(1, 4))};
    case InteractionKind::DihedralRestraint:
        return {random(-180, 180), random(0, 60), random(50, 500)};
    case InteractionKind::PositionRestraint:
        return {random(0, 1e4), random(0, 1e4), random(0, 1e4)};
    case InteractionKind::FlatBottomRestraint:
        return {std::floor(random(1, 9)), random(-0.05, 0.02), random(1e3, 1e4)};
    }
    throw ContractError("no random parameters for this kind of interaction");
}

// Restraints of several pairs (model/joint_distances.hpp): within the harmonic part, far above it, and below the flat part.
inline void add_joint_distances(Topology& topology, MoleculeType& chain)
{
    constexpr auto kind = static_cast<std::size_t>(InteractionKind::DistanceRestraint);
    const InteractionParameters sets[] = {{0.05, 0.1, 1, 1.3, 1, 1}, {0.01, 0.03, 0.06, 0.8, 2, 2}, {0.8, 0.9, 1, 1.1, 0, 1}};
    const std::vector<std::array<std::int32_t, 2>> pairs[] = {
        {{0, 2}, {4, 1}, {3, 6}}, {{0, 5}, {2, 6}}, {{1, 3}, {3, 5}, {2, 0}, {1, 6}}};
    for (std::size_t i = 0; i < std::size(sets); ++i)
    {
        for (const std::array<std::int32_t, 2>& pair : pairs[i])
        {
            Interaction interaction;
            interaction.atoms[0] = pair[0], interaction.atoms[1] = pair[1];
            interaction.parameters = static_cast<std::int32_t>(topology.parameters[kind].size());
            chain.of(InteractionKind::DistanceRestraint).push_back(interaction);
        }
        topology.parameters[kind].push_back(sets[i]);
    }
}

// Copies of a chain of 7 atoms and, between two blocks of them, lone atoms, in a box whose faces cut molecules in two; `kind`
// acts on each run of successive atoms.
// Without its sign, of the last three places and another one.
inline double sine_of_dihedral(const std::vector<Vec3<double>>& x, const Vec3<double>& next)
{
    const Vec3<double> a = x[x.size() - 3], b = x[x.size() - 2], c = x[x.size() - 1];
    const Vec3<double> m = cross(a - b, c - b), n = cross(next - c, c - b);
    return norm(cross(m, n)) / (norm(m) * norm(n));
}

inline System random_chains(InteractionKind kind, int copies, std::uint64_t seed)
{
    Random random(seed);
    constexpr int length = 7;
    MoleculeType chain, lone;
    for (int a = 0; a < length; ++a) { chain.atoms.push_back({"C", 0, 0, random(1, 20), random(-0.5, 0.5)}); }
    chain.name = "CHAIN", lone.name = "LONE";
    chain.residues = lone.residues = {{"RES", 1}};
    chain.exclusion_start.assign(length + 1, 0);
    lone.atoms = {{"A", 0, 0, 10.0, 0.3}};
    lone.exclusion_start = {0, 0};

    System system;
    Topology& topology = system.topology;
    topology.type_names = {"C"};
    topology.c6 = {1e-3}, topology.c12 = {1e-6};
    topology.fudge_qq = 0.7;
    for (int first = 0; first + arity(kind) <= length; ++first)
    {
        Interaction interaction;
        for (int i = 0; i < arity(kind); ++i) { interaction.atoms[i] = first + i; }
        interaction.parameters = first;
        chain.of(kind).push_back(interaction);
        topology.parameters[static_cast<int>(kind)].push_back(random_parameters(kind, random));
    }
    if (kind == InteractionKind::DistanceRestraint) { add_joint_distances(topology, chain); }
    topology.molecule_types = {chain, lone};
    topology.blocks = {{0, copies / 2, 0}, {1, 3, 0}, {0, copies - copies / 2, 0}};
    topology.finish();

    system.box = {3.1, 3.7, 4.3};
    for (std::int64_t atom = 0; atom < topology.atom_count(); ++atom)
    {
        const Vec3<double> anywhere{random(-5, 5), random(-5, 5), random(-5, 5)};
        const std::int32_t local = topology.locate(atom).local;
        const Vec3<double> last = local > 0 ? system.x.back() : Vec3<double>{};
        Vec3<double> place = local > 0 ? last + random.vector(random(0.12, 0.2)) : anywhere;
        // Restricted dihedrals have no end at cis and trans, where forces are of no use in single precision.
        while (kind == InteractionKind::RestrictedDihedral && local > 2 && sine_of_dihedral(system.x, place) < 0.3)
        {
            place = last + random.vector(random(0.12, 0.2));
        }
        system.x.push_back(place);
    }
    return system;
}

} // namespace parhelion::test
