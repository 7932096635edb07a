// SPDX-License-Identifier: Apache-2.0
#include "io/output/amber_restart.hpp"

#include "io/input/amber_coordinates.hpp"
#include "io/input/netcdf.hpp"
#include "io/output/amber_units.hpp"

#include "input_folder.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace parhelion;

namespace {

// Atoms also far outside of the box, and a title whose length is no multiple of four.
AmberRestart random_restart(const Box<double>& box, bool has_velocities)
{
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> place(-12, 1500), speed(-3, 3);
    AmberRestart restart{"a title", "1.0", 12.625, box, {}, {}};
    for (int atom = 0; atom < 7; ++atom)
    {
        restart.x.push_back({place(random), place(random), place(random)});
        if (has_velocities) { restart.v.push_back({speed(random), speed(random), speed(random)}); }
    }
    return restart;
}

// Conversions round: twice on the way there and back for positions, three times for velocities.
void expect_near(const std::vector<Vec3<double>>& read, const std::vector<Vec3<double>>& written, int roundings)
{
    ASSERT_EQ(read.size(), written.size());
    for (std::size_t i = 0; i < read.size(); ++i)
    {
        for (int d = 0; d < 3; ++d)
        {
            const double most = roundings * std::numeric_limits<double>::epsilon() * std::abs(written[i][d]);
            EXPECT_NEAR(read[i][d], written[i][d], most);
        }
    }
}

} // namespace

TEST(AmberRestart, is_read_back_to_a_rounding)
{
    const Box<double> rectangular{{4.5, 5.25, 6.125}, {0, 0, 0}},
        octahedral{{6, 6 * std::sqrt(8.0) / 3, 6 * std::sqrt(6.0) / 3}, {2, -2, 6 * std::sqrt(2.0) / 3}};
    const InputFolder folder;
    const std::string path = folder.path() / "last.rst7";
    for (const Box<double>& box : {rectangular, octahedral})
    {
        for (const bool has_velocities : {true, false})
        {
            const AmberRestart written = random_restart(box, has_velocities);
            write_amber_restart(path, written);
            const GroFile read = read_amber_coordinates(MappedFile(path), {});
            EXPECT_EQ(read.title, written.title);
            expect_near(read.x, written.x, 2);
            expect_near(read.v, written.v, 3);
            for (int d = 0; d < 3; ++d)
            {
                EXPECT_NEAR(read.box.diagonal()[d], box.diagonal()[d], 1e-13); // lengths and angles stand between
                EXPECT_NEAR(read.box.tilt()[d], box.tilt()[d], 1e-13);
            }
        }
    }
}

TEST(AmberRestart, has_every_bit_of_the_numbers_in_its_units)
{
    const AmberRestart written = random_restart(Box<double>{{4.5, 5.25, 6.125}, {0, 0, 0}}, true);
    const InputFolder folder;
    const std::string path = folder.path() / "last.rst7";
    write_amber_restart(path, written);
    const NetcdfFile file{MappedFile(path)};
    EXPECT_EQ(file.attribute("Conventions"), "AMBERRESTART");
    EXPECT_EQ(file.values("time", 1e15), std::vector<double>{12.625});
    EXPECT_EQ(file.values("cell_lengths", 1e15), (std::vector<double>{45, 52.5, 61.25}));
    EXPECT_EQ(file.values("cell_angles", 1e15), (std::vector<double>{90, 90, 90}));
    const std::vector<double> x = file.values("coordinates", 1e15), v = file.values("velocities", 1e15);
    ASSERT_EQ(x.size(), 21U);
    ASSERT_EQ(v.size(), 21U);
    for (std::size_t i = 0; i < 21; ++i)
    {
        const int d = static_cast<int>(i % 3);
        EXPECT_EQ(x[i], written.x[i / 3][d] / nm_per_angstrom);
        EXPECT_EQ(v[i], amber_velocity * (written.v[i / 3][d] / nm_per_angstrom / amber_velocity)); // scale_factor
    }
}
