// SPDX-License-Identifier: Apache-2.0
// Atoms in exactly one place are found, named, and refused or parted; those that may be there are left alone.
#include "io/input/one_place.hpp"

#include "input_folder.hpp"
#include "small_input.hpp"
#include "support/pair_systems.hpp"

#include <algorithm>
#include <gmock/gmock-matchers.h>
#include <set>

using namespace parhelion;
using namespace parhelion::test;
using ::testing::HasSubstr;

namespace {

std::string refusal(System system)
{
    Diagnostics diagnostics;
    try
    {
        check_places({"conf.gro", 3}, AtomsInOnePlace::Refuse, system, diagnostics);
    }
    catch (const InputError& error)
    {
        return error.what();
    }
    return "";
}

} // namespace

TEST(OnePlace, names_the_two_atoms_and_their_line)
{
    System system = random_liquid({3, 4, 5}, 40, 10, 3); // of three atoms each, and ions
    EXPECT_EQ(refusal(system), "");
    system.x[100] = system.x[7];
    const std::string text = refusal(system);
    EXPECT_THAT(text, HasSubstr("E155 conf.gro:103 "));
    EXPECT_THAT(text,
                HasSubstr(system.topology.describe(7) + " and " + system.topology.describe(100) + " are in exactly one place ("));
    system.x[61] = system.x[7];
    EXPECT_THAT(refusal(system), HasSubstr(system.topology.describe(7) + " and " + system.topology.describe(61)));
    EXPECT_THAT(refusal(system), HasSubstr("the first of 2 such pairs"));
}

TEST(OnePlace, knows_images_of_the_box)
{
    System system = random_liquid({3, 4, 5}, 40, 10, 3);
    system.x[7] = {-0.001, 1.5, 4.999};
    system.x[100] = {2.999, -2.5, -0.001};
    EXPECT_THAT(refusal(system), HasSubstr("E155"));
    system.x[100].x += 1e-6;
    EXPECT_EQ(refusal(system), "") << "near, but not in one place";
}

TEST(OnePlace, may_be_that_of_atoms_that_do_not_interact)
{
    System system = random_liquid({3, 4, 5}, 40, 10, 3);
    System excluded = system;
    excluded.x[4] = excluded.x[3];
    EXPECT_EQ(refusal(excluded), "");
    // But a 1-4 interaction is one.
    excluded.topology.molecule_types[0].of(InteractionKind::Pair14).push_back({{1, 0, -1, -1}, 0});
    EXPECT_THAT(refusal(excluded), HasSubstr("E155"));

    // Hydrogens without Lennard-Jones parameters, and here without a charge.
    system.topology.molecule_types[0].atoms[1].charge = 0;
    system.x[4] = system.x[1];
    EXPECT_EQ(refusal(system), "");
}

TEST(OnePlace, is_found_among_very_many_atoms_in_one)
{
    System system = random_liquid({3, 4, 5}, 0, 1, 3);
    system.topology.blocks = {{1, 20000, 0}};
    system.topology.finish();
    system.x.assign(20000, {1, 1, 1});
    EXPECT_THAT(refusal(system), HasSubstr("the first of 19999 such pairs"));
}

TEST(OnePlace, is_left_by_a_little_in_a_minimisation)
{
    System system = random_liquid({3, 4, 5}, 40, 10, 3);
    for (const std::size_t atom : {100, 103, 106}) { system.x[atom] = system.x[7]; }
    const std::vector<Vec3<double>> before = system.x;
    Diagnostics diagnostics;
    check_places({"conf.gro", 3}, AtomsInOnePlace::Part, system, diagnostics);
    ASSERT_EQ(diagnostics.warnings.size(), 1U);
    EXPECT_EQ(diagnostics.warnings[0].id, "W127");
    EXPECT_THAT(diagnostics.warnings[0].message, HasSubstr("the first of 3 such pairs"));
    for (std::size_t i = 0; i < system.x.size(); ++i)
    {
        const bool moves = i == 100 || i == 103 || i == 106;
        EXPECT_NEAR(norm(system.x[i] - before[i]), moves ? 1e-5 : 0, 1e-14);
    }
    EXPECT_EQ(refusal(system), "");
    // The same again, always.
    System again = system;
    again.x = before;
    check_places({"conf.gro", 3}, AtomsInOnePlace::Part, again, diagnostics);
    EXPECT_EQ(again.x, system.x);
}

TEST(OnePlace, is_looked_for_when_a_system_is_read)
{
    SmallInput input;
    input.replace("conf.gro", "   1.721   0.774   0.434", "   0.910   2.066   1.347"); // the last water on the ion
    expect_refused(
        [&] {
            Diagnostics d;
            input.load(d);
        },
        "E155", "conf.gro", 40, "atom 37 NA of residue 9 NA and atom 38 OW of residue 10 SOL");
    input.replace("run.mdp", "integrator              = md", "integrator = steep");
    Diagnostics diagnostics;
    const LoadedInput loaded = input.load(diagnostics);
    ASSERT_EQ(diagnostics.warnings.size(), 1U);
    EXPECT_EQ(diagnostics.warnings[0].id, "W127");
    EXPECT_NE(loaded.system.x[37], loaded.system.x[36]);
}
