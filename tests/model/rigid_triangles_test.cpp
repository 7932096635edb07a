// SPDX-License-Identifier: Apache-2.0
// Which triangles of constraints become settles, and which stay.
#include "model/rigid_triangles.hpp"

#include "model/update_groups.hpp"

#include <cmath>
#include <gmock/gmock-more-matchers.h>
#include <tuple>
#include <vector>

namespace parhelion {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

using Corners = std::tuple<int, int, int, double, double>;

Topology held_atoms(const std::vector<double>& masses, std::vector<Constraint> constraints)
{
    Topology topology;
    MoleculeType type;
    for (const double mass : masses) { type.atoms.push_back({"X", 0, 0, mass, 0}); }
    type.constraints = std::move(constraints);
    topology.molecule_types = {type};
    topology.blocks = {{0, 5}};
    topology.finish();
    return topology;
}
Topology rigid_water() { return held_atoms({16, 1, 1}, {{0, 1, 0.1}, {0, 2, 0.1}, {1, 2, 0.16}}); }

std::vector<Corners> found_settles(const Topology& topology)
{
    std::vector<Corners> result;
    for (const Settle& s : topology.molecule_types[0].settles)
    {
        result.emplace_back(s.oxygen, s.hydrogen_a, s.hydrogen_b, s.oh, s.hh);
    }
    return result;
}

void expect_untouched(Topology topology)
{
    const std::size_t constraints = topology.molecule_types[0].constraints.size();
    EXPECT_EQ(settle_rigid_triangles(topology), 0);
    EXPECT_THAT(found_settles(topology), IsEmpty());
    EXPECT_THAT(topology.molecule_types[0].constraints, SizeIs(constraints));
}

TEST(RigidTriangles, of_a_water_are_its_settle)
{
    Topology topology = rigid_water();
    EXPECT_EQ(settle_rigid_triangles(topology), 5) << "one a copy";
    EXPECT_THAT(found_settles(topology), ElementsAre(Corners{0, 1, 2, 0.1, 0.16}));
    EXPECT_THAT(topology.molecule_types[0].constraints, IsEmpty());
    EXPECT_EQ(topology.constraint_count(), 15);
    EXPECT_THAT(make_update_groups(topology).molecule_types[0].reference_of_atom, ElementsAre(0, 0, 0));
}

TEST(RigidTriangles, are_found_in_any_order_of_atoms_and_constraints)
{
    Topology topology = held_atoms({1, 1, 16}, {{1, 0, 0.16}, {2, 1, 0.1}, {0, 2, 0.1}});
    EXPECT_EQ(settle_rigid_triangles(topology), 5);
    EXPECT_THAT(found_settles(topology), ElementsAre(Corners{2, 0, 1, 0.1, 0.16}));
}

TEST(RigidTriangles, with_three_equal_sides_stand_on_equal_masses)
{
    Topology topology = held_atoms({1, 16, 1}, {{0, 1, 0.1}, {1, 2, 0.1}, {2, 0, 0.1}});
    EXPECT_EQ(settle_rigid_triangles(topology), 5);
    EXPECT_THAT(found_settles(topology), ElementsAre(Corners{1, 0, 2, 0.1, 0.1}));
}

TEST(RigidTriangles, are_found_beside_others_of_their_molecule)
{
    // A bond, a water, another bond, another water, and a settle that the topology has.
    Topology topology = held_atoms(
        {12, 1, 16, 1, 1, 12, 1, 1, 1, 16, 16, 1, 1},
        {{0, 1, 0.11}, {2, 3, 0.1}, {2, 4, 0.1}, {3, 4, 0.16}, {5, 6, 0.11}, {7, 8, 0.15}, {7, 9, 0.09}, {8, 9, 0.09}});
    topology.molecule_types[0].settles = {{10, 11, 12, 0.1, 0.16}};
    EXPECT_EQ(settle_rigid_triangles(topology), 10);
    EXPECT_THAT(found_settles(topology),
                ElementsAre(Corners{10, 11, 12, 0.1, 0.16}, Corners{2, 3, 4, 0.1, 0.16}, Corners{9, 7, 8, 0.09, 0.15}));
    const std::vector<Constraint>& left = topology.molecule_types[0].constraints;
    ASSERT_THAT(left, SizeIs(2));
    EXPECT_EQ(left[0].a, 0);
    EXPECT_EQ(left[1].a, 5);
}

TEST(RigidTriangles, of_other_kinds_stay_constraints)
{
    expect_untouched(held_atoms({16, 1, 1}, {{0, 1, 0.1}, {0, 2, 0.1}}));                                 // open
    expect_untouched(held_atoms({16, 1, 2}, {{0, 1, 0.1}, {0, 2, 0.1}, {1, 2, 0.16}}));                   // masses differ
    expect_untouched(held_atoms({16, 1, 1}, {{0, 1, 0.1}, {0, 2, 0.101}, {1, 2, 0.16}}));                 // lengths differ
    expect_untouched(held_atoms({16, 1, 1, 1}, {{0, 1, 0.1}, {0, 2, 0.1}, {1, 2, 0.16}, {2, 3, 0.1}}));   // held by another
    expect_untouched(held_atoms({0, 1, 1}, {{0, 1, 0.1}, {0, 2, 0.1}, {1, 2, 0.16}}));                    // no mass
    expect_untouched(held_atoms({12, 12, 12, 12}, {{0, 1, 0.1}, {1, 2, 0.1}, {2, 3, 0.1}, {3, 0, 0.1}})); // a ring of four
    expect_untouched(held_atoms({16, 1, 1}, {{0, 1, 0.1}, {0, 2, 0.1}, {1, 2, 0.2 * std::cos(0.3)}}));    // flat: 17 degrees
    expect_untouched(held_atoms({16, 1, 1}, {{0, 1, 0.1}, {0, 2, 0.1}, {1, 2, 0.2 * std::sin(0.15)}}));   // sharp: 17 degrees
}

} // namespace
} // namespace parhelion
