// SPDX-License-Identifier: Apache-2.0
#include "engine/drift_remark.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <limits>

using namespace parhelion;
using testing::HasSubstr;

namespace {

RunParameters constant_energy()
{
    RunParameters run;
    run.dt = 0.002;
    run.coulomb = CoulombKind::ReactionField;
    return run;
}

// Of 1 ns.
RunSummary summary(double drift, double error, std::int64_t steps = 500'000)
{
    RunSummary s;
    s.drift = drift, s.drift_error = error, s.steps = steps;
    s.list_drift = 0.001, s.list_temperature = 300;
    return s;
}

std::string remark_on(double drift, double error, std::int64_t steps = 500'000)
{
    return drift_remark(summary(drift, error, steps), constant_energy());
}

} // namespace

TEST(DriftRemark, warns_of_a_drift_beyond_that_of_a_sound_run_and_its_own_error)
{
    EXPECT_THAT(remark_on(0.105, 0.005), HasSubstr("W140 the conserved quantity drifts by +0.105 +- 0.005 kT/ns/atom"));
    EXPECT_NE(remark_on(-0.018, 0.0006), "") << "a loss is as bad as a gain";
    EXPECT_EQ(remark_on(0.009, 0.0001), "") << "sound";
    EXPECT_EQ(remark_on(0.05, 0.0085), "") << "not certain";
}

TEST(DriftRemark, says_nothing_of_a_run_that_is_too_short_to_tell)
{
    EXPECT_EQ(remark_on(490, 1, 4), "") << "8 fs";
    EXPECT_EQ(remark_on(490, 1, 499), "") << "less than 1 ps";
    EXPECT_EQ(remark_on(490, 1, 999), "") << "9 energies";
    EXPECT_NE(remark_on(490, 1, 1000), "");
    EXPECT_EQ(remark_on(0.4, 0.01, 1000), "") << "0.0008 kT/atom, as a start that relaxes shifts it by";
    const double none = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(remark_on(none, none), "");
    EXPECT_EQ(remark_on(1, none), "") << "no error is known";
}

TEST(DriftRemark, names_constraints_that_were_off)
{
    RunSummary s = summary(0.2, 0.002);
    s.constraint_deviation = 3e-5;
    EXPECT_THAT(drift_remark(s, constant_energy()), HasSubstr("Constraints were off their lengths by up to 3e-05"));
    s.constraint_deviation = 9e-7; // as promised
    EXPECT_THAT(drift_remark(s, constant_energy()), testing::Not(HasSubstr("Constraints were off")));
}

TEST(DriftRemark, names_lists_that_lack_pairs)
{
    RunSummary s = summary(0.2, 0.002);
    s.list_drift = 0.3;
    EXPECT_THAT(drift_remark(s, constant_energy()), HasSubstr("that the pair list lacks"));
    EXPECT_THAT(drift_remark(s, constant_energy()), HasSubstr("0.3 kT/ns/atom at 300 K"));
    s.list_drift = 0.004;
    EXPECT_THAT(drift_remark(s, constant_energy()), testing::Not(HasSubstr("pair list lacks")));
}

TEST(DriftRemark, names_what_the_settings_make_likely)
{
    RunParameters run = constant_energy();
    EXPECT_THAT(drift_remark(summary(0.2, 0.002), run), HasSubstr("the time step (0.002 ps)")) << "nothing else is left";
    run.lj_modifier = LjModifier::None;
    EXPECT_THAT(drift_remark(summary(0.2, 0.002), run), HasSubstr("jump where pairs cross the cut-off"));

    run = constant_energy();
    run.thermostat = Thermostat::NoseHoover;
    run.temperature_interval = 100;
    run.temperature_groups = {{"System", 0.5, 300.0}};
    EXPECT_THAT(drift_remark(summary(0.2, 0.002), run), HasSubstr("acts too seldom"));
    run.temperature_interval = 10;
    EXPECT_THAT(drift_remark(summary(0.2, 0.002), run), HasSubstr("the time step"));
}

TEST(DriftRemark, names_a_start_far_from_rest)
{
    RunSummary s = summary(0.2, 0.002);
    s.list_temperature = 700;
    EXPECT_THAT(drift_remark(s, constant_energy()), HasSubstr("as hot as some 700 K"));
}

TEST(DriftRemark, names_a_box_that_is_still_changing)
{
    RunParameters run = constant_energy();
    run.barostat = Barostat::CRescale;
    RunSummary s = summary(0.2, 0.002);
    s.volume_change = -0.021;
    EXPECT_THAT(drift_remark(s, run), HasSubstr("The volume has changed by -2.1 %"));
    s.volume_change = 0.004;
    EXPECT_THAT(drift_remark(s, run), testing::Not(HasSubstr("The volume has changed"))) << "it fluctuates";
    s.volume_change = -0.021;
    run.barostat = Barostat::ParrinelloRahman; // which scales no positions
    EXPECT_THAT(drift_remark(s, run), HasSubstr("which leaves the coupling"));
}
