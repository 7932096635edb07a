// SPDX-License-Identifier: Apache-2.0
// The longest bonded term is found among copies and kinds, around the border of the box, by any two of its atoms.
#include "engine/longest_term.hpp"

#include <gtest/gtest.h>

using namespace parhelion;

namespace {

MoleculeType molecule(int atoms)
{
    MoleculeType type;
    type.atoms.resize(static_cast<std::size_t>(atoms));
    type.exclusion_start.assign(static_cast<std::size_t>(atoms) + 1, 0);
    return type;
}

} // namespace

TEST(LongestTerm, is_found_wherever_it_is)
{
    Topology topology;
    topology.molecule_types = {molecule(1), molecule(4)};
    topology.molecule_types[1].of(InteractionKind::HarmonicBond) = {{{0, 1, -1, -1}, 0}};
    topology.molecule_types[1].of(InteractionKind::RyckaertBellemans) = {{{0, 1, 2, 3}, 0}};
    topology.blocks = {{0, 5, 0}, {1, 3, 0}};
    topology.finish();
    const Vec3<double> box{4, 4, 4};
    std::vector<Vec3<double>> x(17);
    x[0] = {2, 2, 2};                                                                   // in no term
    x[14] = {3.5, 0, 0}, x[15] = {3.6, 0, 0}, x[13] = {3.4, 0, 0}, x[16] = {0.5, 0, 0}; // of the last copy
    const LongestTerm longest = longest_term(topology, x, box);
    EXPECT_NEAR(longest.length, 1.1, 1e-12);
    EXPECT_EQ(longest.a, 13);
    EXPECT_EQ(longest.b, 16);
}

TEST(LongestTerm, is_none_without_terms)
{
    Topology topology;
    topology.molecule_types = {molecule(1)};
    topology.blocks = {{0, 2, 0}};
    topology.finish();
    EXPECT_LT(longest_term(topology, {{}, {1, 1, 1}}, {4, 4, 4}).length, 0);
}
