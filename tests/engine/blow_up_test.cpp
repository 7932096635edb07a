// SPDX-License-Identifier: Apache-2.0
// A simulation that goes wrong says so at once, names the atom, and keeps the last good frame.
#include "base/error.hpp"
#include "run_helpers.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {

// Runs until it throws; returns the error.
PhysicsError blow_up(Simulation& simulation, std::int64_t steps)
{
    Observer nobody;
    try
    {
        simulation.run(steps, nobody, never);
    }
    catch (const PhysicsError& error)
    {
        return error;
    }
    ADD_FAILURE() << "the run went on";
    return {-1, ""};
}

bool finite(const Frame& frame)
{
    return std::all_of(frame.x.begin(), frame.x.end(), [](const Vec3<double>& x) { return std::isfinite(norm(x)); });
}

} // namespace

TEST(BlowUp, of_overlapping_molecules_is_noticed_in_the_first_step_and_named)
{
    for (const Precision precision : {Precision::Mixed, Precision::Double})
    {
        Refdata data = load_nve("etoh");
        // Ethanol 1's C1 within 0.01 nm of water 1000's oxygen: the water, as it is, moved there.
        const std::size_t water = 9 * 100 + 3 * 500;
        const Vec3<double> shift = data.system.x[0] + Vec3<double>{0.01, 0, 0} - data.system.x[water];
        for (std::size_t a = water; a < water + 3; ++a) { data.system.x[a] += shift; }
        Simulation simulation = simulate(data, precision);
        const PhysicsError error = blow_up(simulation, 100);
        EXPECT_EQ(error.step(), 0);
        EXPECT_THAT(error.what(), AllOf(HasSubstr("step 0"), HasSubstr("atom "), HasSubstr("residue "))) << error.what();
        EXPECT_THAT(error.what(), ::testing::AnyOf(HasSubstr("non-bonded interaction"), HasSubstr("constraint"))) << error.what();
        EXPECT_THAT(error.what(), HasSubstr("Nearest to " + data.system.topology.describe(static_cast<std::int64_t>(water)) +
                                            ": " + data.system.topology.describe(0) + ", at 0.0100 nm"));
        EXPECT_TRUE(finite(simulation.last_good_frame()));
    }
}

TEST(BlowUp, of_atoms_on_top_of_each_other_is_an_error_not_a_nan)
{
    Refdata data = load_nve("spce");
    for (int a = 0; a < 3; ++a) { data.system.x[static_cast<std::size_t>(3 + a)] = data.system.x[static_cast<std::size_t>(a)]; }
    for (const Summation summation : {Summation::Fast, Summation::Reproducible})
    {
        Simulation simulation = simulate(data, Precision::Mixed, summation);
        EXPECT_LE(blow_up(simulation, 100).step(), data.parameters.list_interval);
    }
}

TEST(BlowUp, by_a_time_step_of_20_fs_is_noticed_before_any_frame_is_bad)
{
    Refdata data = load_nve("etoh");
    data.parameters.dt = 0.02;
    data.parameters.list_interval = 10;
    Recorder recorder;
    data.parameters.compressed_out = 1;
    Simulation simulation = simulate(data, Precision::Mixed);
    EXPECT_THROW(simulation.run(2000, recorder, never), PhysicsError);
    EXPECT_FALSE(recorder.frames.empty());
    for (const Frame& frame : recorder.frames) { EXPECT_TRUE(finite(frame)) << frame.step; }
    const Frame good = simulation.last_good_frame();
    EXPECT_TRUE(finite(good));
    EXPECT_EQ(good.x.size(), data.system.x.size());
}

TEST(BlowUp, by_a_broken_bond_names_the_bonded_term)
{
    Refdata data = load_nve("villin");
    const std::size_t heavy = 4; // a backbone carbon, dragged away from its neighbours but not onto others
    data.system.x[heavy] += {0.0, 0.0, 0.35};
    data.parameters.constraints = ConstraintMode::None;
    Refdata flexible = load_refdata("villin", ConstraintMode::None);
    flexible.system.x[heavy] += {0.0, 0.0, 0.35};
    for (auto& p : flexible.system.topology.parameters[static_cast<std::size_t>(InteractionKind::HarmonicBond)]) { p[1] *= 1e4; }
    Simulation simulation = simulate(flexible, Precision::Mixed);
    EXPECT_THAT(blow_up(simulation, 10).what(), HasSubstr("bond"));
}

// Every molecule of a box whole, at a place of its own on a lattice of 10 nm, and its atoms excluded from each other: no atom has
// a partner within the cut-off.
void spread(System& system)
{
    for (MoleculeType& type : system.topology.molecule_types)
    {
        const auto atoms = static_cast<std::int32_t>(type.atoms.size());
        type.exclusion_start = {0}, type.excluded.clear();
        for (std::int32_t a = 0; a < atoms; ++a)
        {
            for (std::int32_t b = 0; b < atoms; ++b)
            {
                if (a != b) { type.excluded.push_back(b); }
            }
            type.exclusion_start.push_back(static_cast<std::int32_t>(type.excluded.size()));
        }
    }
    const Vec3<double> old_box = system.box.diagonal();
    system.box = {100, 100, 100};
    int place = 0;
    for (const MoleculeBlock& block : system.topology.blocks)
    {
        const std::size_t atoms = system.topology.molecule_types[static_cast<std::size_t>(block.type)].atoms.size();
        for (std::int64_t copy = 0; copy < block.count; ++copy, ++place)
        {
            Vec3<double>* const x =
                &system.x[static_cast<std::size_t>(block.first_atom) + static_cast<std::size_t>(copy) * atoms];
            const Vec3<double> first = x[0];
            const Vec3<double> centre{5.0 + 10 * (place % 10), 5.0 + 10 * (place / 10 % 10), 5.0 + 10 * (place / 100 % 10)};
            for (std::size_t a = 0; a < atoms; ++a)
            {
                Vec3<double> from_first = x[a] - first;
                for (int d = 0; d < 3; ++d) { from_first[d] -= old_box[d] * std::round(from_first[d] / old_box[d]); }
                x[a] = centre + from_first;
            }
        }
    }
}

TEST(BlowUp, of_a_constraint_names_the_term_and_no_neighbour_beyond_the_cut_off)
{
    Refdata data = load_nve("etoh");
    data.parameters.continuation = true; // the start is not made to obey its constraints
    data.system.v[7] += {900, 0, 0};
    for (const bool alone : {false, true})
    {
        if (alone) { spread(data.system); }
        Simulation simulation = simulate(data, Precision::Mixed);
        const std::string text = blow_up(simulation, 1).what();
        EXPECT_THAT(text, AllOf(HasSubstr("E501"), HasSubstr("Largest force on"), HasSubstr(" kJ/mol/nm, from the "))) << text;
        EXPECT_EQ(text.find("Nearest to") == std::string::npos, alone) << text;
        EXPECT_EQ(text.find("No other atom is within the cut-off; the box is 100 x 100 x 100 nm") != std::string::npos, alone)
            << text;
    }
}

TEST(BlowUp, of_a_box_that_shrinks_below_its_pair_list_is_an_error_with_advice)
{
    // A compressibility that lets the barostat halve the box within a few steps.
    Refdata data = load_nve("spce");
    data.parameters.barostat = Barostat::Berendsen;
    data.parameters.pressure_interval = 1;
    data.parameters.tau_p = 0.1;
    data.parameters.compressibility = {4.5e-4, 4.5e-4, 4.5e-4};
    data.parameters.reference_pressure = {1e5, 1e5, 1e5};
    data.parameters.lj_cutoff = data.parameters.coulomb_cutoff = 1.5;
    data.parameters.list_cutoff = 1.55;
    Simulation simulation = simulate(data, Precision::Mixed);
    EXPECT_THAT(blow_up(simulation, 1000).what(), AllOf(HasSubstr("E503"), HasSubstr("the box has shrunk")));
}
