// SPDX-License-Identifier: Apache-2.0
// lincs_project where the series of LINCS diverges: bonds of one atom within a narrow cone, equal masses, as in a minimisation.
#include "dynamics/lincs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace parhelion;

namespace {

// Bonds 0-1 ... 0-n, all within `angle` of the z axis, about which they are spread.
struct Cone
{
    Cone(int bonds, double angle)
    {
        std::vector<LincsBond> list;
        for (int i = 1; i <= bonds; ++i) { list.push_back({0, i, 1.0}); }
        groups = make_lincs_groups(list, std::vector<double>(static_cast<std::size_t>(bonds) + 1, 1.0));
        work.make_room(groups.at(0));
        for (int i = 0; i < bonds; ++i)
        {
            const double azimuth = 2 * 3.14159265358979 * i / bonds;
            work.reference[static_cast<std::size_t>(i)] = {-std::sin(angle) * std::cos(azimuth),
                                                           -std::sin(angle) * std::sin(azimuth), -std::cos(angle)};
        }
        for (std::size_t i = 0; i < work.move.size(); ++i)
        {
            const auto k = static_cast<double>(i);
            work.move[i] = {std::sin(3 * k + 1), std::cos(5 * k), std::sin(7 * k + 2)};
        }
    }
    std::vector<LincsGroup> groups;
    LincsWork work;
};

} // namespace

TEST(LincsProject, leaves_nothing_along_bonds_however_narrow_their_cone)
{
    for (const int bonds : {2, 3, 4})
    {
        for (const double angle : {0.05, 0.2, 0.5, 1.0})
        {
            if (bonds == 4 && angle < 0.1) { continue; } // four directions of three dimensions that hardly differ
            SCOPED_TRACE(testing::Message() << bonds << " bonds, " << angle);
            Cone cone(bonds, angle);
            const LincsGroup& group = cone.groups.at(0);
            Vec3<double> momentum;
            for (const Vec3<double>& m : cone.work.move) { momentum += m; }
            ASSERT_TRUE(lincs_project(group, cone.work));
            for (std::size_t i = 0; i < group.bonds.size(); ++i)
            {
                const Vec3<double> apart = cone.work.move[static_cast<std::size_t>(group.bonds[i].a)] -
                                           cone.work.move[static_cast<std::size_t>(group.bonds[i].b)];
                EXPECT_NEAR(dot(cone.work.direction[i], apart), 0, 1e-12);
            }
            for (const Vec3<double>& m : cone.work.move) { momentum -= m; }
            EXPECT_LT(norm(momentum), 1e-12); // only forces between atoms have acted
        }
    }
}

// The next copy uses the same memory: a group is moved by the same bits after a larger one.
TEST(Lincs, takes_nothing_over_from_a_larger_group)
{
    for (const bool projects : {false, true})
    {
        const Cone large(4, 1.0), small(2, 0.5);
        LincsWork used = large.work, fresh = small.work;
        const LincsGroup& group = small.groups.at(0);
        const auto constrain = [&](const LincsGroup& of, LincsWork& work) {
            if (projects) { ASSERT_TRUE(lincs_project(of, work)); }
            else { lincs(of, {}, work); }
        };
        for (Vec3<double>& m : used.move) { m = 0.001 * m; }
        for (Vec3<double>& m : fresh.move) { m = 0.001 * m; }
        constrain(large.groups.at(0), used);
        used.make_room(group);
        std::copy(fresh.reference.begin(), fresh.reference.end(), used.reference.begin());
        std::copy(fresh.move.begin(), fresh.move.end(), used.move.begin());
        constrain(group, used);
        constrain(group, fresh);
        for (std::size_t i = 0; i < group.atoms.size(); ++i) { EXPECT_EQ(used.move[i], fresh.move[i]); }
        for (std::size_t i = 0; i < group.bonds.size(); ++i) { EXPECT_EQ(used.multiplier[i], fresh.multiplier[i]); }
        EXPECT_EQ(used.largest_deviation, fresh.largest_deviation);
    }
}
