// SPDX-License-Identifier: Apache-2.0
// What ties atoms to each other, and when a molecule is tied to its own image.
#include "model/ties.hpp"

#include <cmath>
#include <gmock/gmock-more-matchers.h>
#include <numbers>
#include <tuple>
#include <vector>

namespace parhelion {
namespace {

const Vec3<double> box_of_ring{2, 3, 4};

// `atoms` carbons, each bound to the next by 0.15 nm, the last to the first if the ring is closed; `copies` of them.
Topology ring(int atoms, bool is_closed, std::int64_t copies = 1)
{
    Topology topology;
    topology.parameters[static_cast<int>(InteractionKind::HarmonicBond)] = {{0.15, 1000}};
    MoleculeType type;
    for (int i = 0; i < atoms; ++i)
    {
        type.atoms.push_back({"C", 0, 0, 12, 0});
        if (i + 1 < atoms || is_closed) { type.of(InteractionKind::HarmonicBond).push_back({{i, (i + 1) % atoms}, 0}); }
    }
    topology.molecule_types = {type};
    topology.blocks = {{0, copies}};
    topology.finish();
    return topology;
}

// Along an edge of the box, from anywhere on and in any images.
std::vector<Vec3<double>> straight(int atoms, int axis)
{
    std::vector<Vec3<double>> x;
    for (int i = 0; i < atoms; ++i)
    {
        Vec3<double> place{0.3, 0.4, 0.5};
        place[axis] = 1.7 + box_of_ring[axis] * (i * 1.0 / atoms + (i % 3) - 1);
        x.push_back(place);
    }
    return x;
}
std::vector<Vec3<double>> circle(int atoms, double radius)
{
    std::vector<Vec3<double>> x;
    for (int i = 0; i < atoms; ++i)
    {
        const double angle = 2 * std::numbers::pi * i / atoms;
        x.push_back({0.1 + radius * std::cos(angle), radius * std::sin(angle), 3.95});
    }
    return x;
}
bool is_tied(const Topology& topology, const std::vector<Vec3<double>>& x)
{
    return is_tied_to_image(topology, topology.blocks[0], x, box_of_ring);
}

TEST(Ties, are_bonds_constraints_and_settles)
{
    Topology topology = ring(2, false);
    MoleculeType& type = topology.molecule_types[0];
    type.constraints = {{1, 2, 0.1}};
    type.settles = {{3, 4, 5, 0.09, 0.15}};
    std::vector<std::tuple<int, int, double>> found;
    for (const Tie& tie : ties_of(topology, type)) { found.emplace_back(tie.a, tie.b, tie.length); }
    EXPECT_THAT(found, testing::ElementsAre(std::tuple(0, 1, 0.15), std::tuple(1, 2, 0.1), std::tuple(3, 4, 0.09),
                                            std::tuple(3, 5, 0.09)));
}

TEST(Ties, lead_to_the_image_of_a_chain_through_the_box)
{
    for (int axis = 0; axis < 3; ++axis)
    {
        EXPECT_TRUE(is_tied(ring(20, true), straight(20, axis))) << axis;
        EXPECT_FALSE(is_tied(ring(20, false), straight(20, axis))) << "without the bond that closes it";
    }
}

TEST(Ties, of_a_ring_in_the_box_lead_back_to_it_wherever_it_is) { EXPECT_FALSE(is_tied(ring(20, true), circle(20, 0.45))); }

TEST(Ties, of_any_copy_count)
{
    std::vector<Vec3<double>> x = circle(20, 0.45);
    const std::vector<Vec3<double>> second = straight(20, 1);
    x.insert(x.end(), second.begin(), second.end());
    EXPECT_TRUE(is_tied(ring(20, true, 2), x));
}

TEST(Ties, by_constraints_count)
{
    Topology topology = ring(20, true);
    convert_bonds_to_constraints(topology, ConstraintMode::AllBonds);
    EXPECT_TRUE(is_tied(topology, straight(20, 2)));
}

TEST(Ties, that_are_too_short_for_the_box_lead_to_no_image) { EXPECT_FALSE(is_tied(ring(3, true), circle(3, 0.08))); }

} // namespace
} // namespace parhelion
