// SPDX-License-Identifier: Apache-2.0
#include "generate/copies.hpp"
#include "io/input_folder.hpp"
#include "run/read_input.hpp"
#include "run/session.hpp"

#include <algorithm>
#include <gmock/gmock.h>

using namespace parhelion;

namespace {

// With a group, and positions in a box that leans if `tilt` is not zero.
LoadedInput ethanol(const std::string& more)
{
    const std::filesystem::path data = std::filesystem::path(PARHELION_SOURCE_DIR) / "tests/data/refdata/etoh";
    const InputFolder folder;
    RunInput input;
    input.files.mdp = folder.write("md.mdp", "integrator = md\ncutoff-scheme = Verlet\nrcoulomb = 0.7\nrvdw = 0.7\n" + more);
    input.files.structure = data / "conf.gro";
    input.files.topology = data / "topol.top";
    Diagnostics diagnostics;
    return read_input(input, Purpose::SinglePoint, diagnostics, [](const std::string&) {});
}

double potential(LoadedInput input)
{
    RunPlacement placement;
    placement.device = Device::Cpu, placement.threads = 1;
    Session session(std::move(input), {Precision::Double, Summation::Reproducible}, placement);
    const auto& names = session.energy_names();
    const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), "Potential") - names.begin());
    return session.evaluate().energies.at(at);
}

} // namespace

// Every copy sees the same neighbours as the one box did, so energies are as many times as large; in double precision, with the
// rounding of positions as fractions of another box.
TEST(Copies, have_the_energy_of_one_each)
{
    for (const char* const coulomb : {"coulombtype = reaction-field\nepsilon-rf = 0\n",
                                      "coulombtype = PME\nfourier-nx = 30\nfourier-ny = 30\nfourier-nz = 30\n"})
    {
        const LoadedInput one = ethanol(coulomb);
        const double expected = 2 * potential(one);
        for (const std::array<int, 3> copies : {std::array{2, 1, 1}, {1, 2, 1}, {1, 1, 2}})
        {
            EXPECT_NEAR(potential(copies_of(one, copies)), expected, 1e-7 * std::abs(expected)) << coulomb;
        }
    }
}

TEST(Copies, of_a_leaning_box_lean_as_it_does)
{
    LoadedInput one = ethanol("coulombtype = reaction-field\nepsilon-rf = 0\n");
    const Vec3<double> d = one.system.box.diagonal();
    one.system.box = Box<double>(d, {0.2 * d.x, -0.1 * d.x, 0.3 * d.y});
    const double expected = 2 * potential(one);
    for (const std::array<int, 3> copies : {std::array{2, 1, 1}, {1, 2, 1}, {1, 1, 2}})
    {
        EXPECT_NEAR(potential(copies_of(one, copies)), expected, 1e-7 * std::abs(expected)) << copies[0] << copies[1];
    }
}

TEST(Copies, have_the_groups_velocities_and_references_of_one_each)
{
    LoadedInput one = ethanol("coulombtype = reaction-field\nepsilon-rf = 0\n");
    const std::int64_t atoms = one.system.topology.atom_count();
    one.system.groups = {{"some", {0, 7}}, {"none", {}}};
    one.system.restraint_reference = one.system.x;
    one.system.restraint_reference_box = one.system.box;
    const LoadedInput many = copies_of(one, {1, 3, 1});
    EXPECT_THAT(many.system.groups.at("some"), testing::ElementsAre(0, 7, atoms, atoms + 7, 2 * atoms, 2 * atoms + 7));
    EXPECT_TRUE(many.system.groups.at("none").empty());
    EXPECT_EQ(many.system.topology.atom_count(), 3 * atoms);
    ASSERT_EQ(many.system.v.size(), 3 * one.system.v.size());
    ASSERT_FALSE(one.system.v.empty());
    EXPECT_EQ(many.system.v[static_cast<std::size_t>(2 * atoms + 5)], one.system.v[5]);
    EXPECT_EQ(many.system.restraint_reference, many.system.x);
    EXPECT_EQ(many.system.x[static_cast<std::size_t>(atoms)].y, one.system.x[0].y + one.system.box.diagonal().y);
}
