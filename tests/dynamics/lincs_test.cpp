// SPDX-License-Identifier: Apache-2.0
// lincs_project where the series of LINCS diverges: bonds of one atom within a narrow cone, equal masses, as in a minimisation.
#include "dynamics/lincs.hpp"

#include <gtest/gtest.h>

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
        work.resize(groups.at(0));
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
