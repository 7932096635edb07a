// SPDX-License-Identifier: Apache-2.0
#include "model/virtual_sites.hpp"

#include <gmock/gmock-matchers.h>
#include <utility>

namespace parhelion {
namespace {

using testing::SizeIs;

// Atoms 0, 1, 2 and a site on them, 3; atom 4 is apart.
MoleculeType with_site(SiteKind kind, std::vector<double> parameters)
{
    MoleculeType type;
    type.atoms.resize(5);
    for (const int atom : {0, 1, 2, 4}) { type.atoms[static_cast<std::size_t>(atom)].mass = 12; }
    type.sites = {{kind, 3, {0, 1, 2}, std::move(parameters)}};
    return type;
}

MoleculeType with_term(MoleculeType type, InteractionKind kind, std::array<std::int32_t, most_atoms> atoms)
{
    type.of(kind).push_back({atoms, 0});
    return type;
}

void hold_all(MoleculeType& type)
{
    for (const auto& [a, b] : {std::pair(0, 1), {1, 2}, {0, 2}}) { type.constraints.push_back({a, b, 0.15}); }
}

std::int64_t removed_from(MoleculeType type)
{
    Topology topology;
    topology.molecule_types = {std::move(type)};
    topology.blocks = {{0, 3, 0}};
    topology.finish();
    const ConstantTerms removed = remove_constant_terms(topology);
    EXPECT_EQ((removed.terms + removed.constraints) % 3, 0);
    return (removed.terms + removed.constraints) / 3;
}

} // namespace

TEST(VirtualSitesOfTopologies, are_placed_by_the_nearest_images_of_their_atoms)
{
    Topology topology;
    topology.molecule_types = {with_site(SiteKind::Linear, {0.25, 0.5})};
    topology.molecule_types[0].sites.push_back({SiteKind::Linear, 4, {3, 0}, {0.5}}); // of a site
    topology.blocks = {{0, 1, 0}};
    topology.finish();
    std::vector<Vec3<double>> x = {{0.1, 0, 0}, {2.9, 0, 0}, {0.1, 0.2, 3.0}, {9, 9, 9}, {9, 9, 9}};
    place_sites(topology, Box<double>(3, 3, 3), x);
    EXPECT_LE(norm(x[3] - Vec3<double>{0.1 - 0.25 * 0.2, 0.1, 0}), 1e-15);
    EXPECT_LE(norm(x[4] - Vec3<double>{0.1 - 0.125 * 0.2, 0.05, 0}), 1e-15);
}

// What grompp leaves out and what it keeps; tests/python/test_virtual_sites.py asks it.
TEST(ConstantTerms, of_a_site_and_its_atoms_are_removed)
{
    using enum InteractionKind;
    MoleculeType linear = with_site(SiteKind::Linear, {0.3, 0.3}), fixed = with_site(SiteKind::FixedDistance3, {0.3, 0.1}),
                 mean = with_site(SiteKind::Mean, {0.3, 0.3}), angle = with_site(SiteKind::FixedAngle3, {0.1, 0.1});
    EXPECT_EQ(removed_from(with_term(fixed, HarmonicBond, {3, 0})), 1);
    EXPECT_EQ(removed_from(with_term(fixed, HarmonicBond, {1, 3})), 1);
    EXPECT_EQ(removed_from(with_term(fixed, HarmonicBond, {2, 3})), 0);
    EXPECT_EQ(removed_from(with_term(fixed, HarmonicBond, {4, 3})), 0);
    EXPECT_EQ(removed_from(with_term(fixed, HarmonicBond, {0, 1})), 0);
    EXPECT_EQ(removed_from(with_term(linear, HarmonicBond, {3, 0})), 0);
    EXPECT_EQ(removed_from(with_term(fixed, HarmonicAngle, {1, 0, 3})), 0);
    EXPECT_EQ(removed_from(with_term(angle, HarmonicAngle, {1, 0, 3})), 1);
    EXPECT_EQ(removed_from(with_term(fixed, ProperDihedral, {1, 0, 2, 3})), 1);
    EXPECT_EQ(removed_from(with_term(fixed, ProperDihedral, {1, 4, 2, 3})), 0);
    EXPECT_EQ(removed_from(with_term(fixed, RyckaertBellemans, {1, 0, 2, 3})), 0);
    // Of a dihedral a site of another number of atoms than the first one does not count.
    MoleculeType two = fixed;
    two.sites.push_back({SiteKind::FixedDistance2, 4, {0, 1}, {0.1}});
    EXPECT_EQ(removed_from(with_term(two, ProperDihedral, {3, 0, 2, 4})), 1);
    EXPECT_EQ(removed_from(with_term(two, ProperDihedral, {4, 0, 2, 3})), 0);
    EXPECT_EQ(removed_from(with_term(two, ProperDihedral, {4, 0, 1, 3})), 1);
    for (MoleculeType* const type : {&linear, &fixed, &mean}) { hold_all(*type); }
    EXPECT_EQ(removed_from(with_term(linear, HarmonicBond, {3, 0})), 1);
    EXPECT_EQ(removed_from(with_term(linear, HarmonicAngle, {1, 0, 3})), 1);
    EXPECT_EQ(removed_from(with_term(fixed, HarmonicBond, {2, 3})), 1);
    EXPECT_EQ(removed_from(with_term(mean, HarmonicBond, {3, 0})), 0);
    EXPECT_EQ(removed_from(with_term(linear, HarmonicBond, {3, 4})), 0);
}

TEST(ConstantTerms, leave_a_constraint_of_a_site_that_no_atoms_fix)
{
    MoleculeType type = with_site(SiteKind::FixedDistance3, {0.3, 0.1});
    type.constraints = {{0, 3, 0.1}};
    EXPECT_EQ(removed_from(type), 1);
    EXPECT_EQ(constrained_site(type), 3);
    type.constraints = {{4, 3, 0.1}};
    EXPECT_EQ(removed_from(type), 0);
    type.constraints = {{4, 1, 0.1}};
    EXPECT_EQ(constrained_site(type), -1);
}

} // namespace parhelion
