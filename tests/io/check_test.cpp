// SPDX-License-Identifier: Apache-2.0
// check_parameters: values that follow from others, contradictions, remarks. The expected intervals are those of GROMACS' manual.
#include "io/input/check.hpp"

#include <algorithm>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

using namespace parhelion;
using ::testing::HasSubstr;

namespace {

const std::string coupled = "tcoupl=v-rescale\ntc-grps=System\nref-t=300\ndt=0.002\n";
const std::string pressed = coupled + "tau-t=1\npcoupl=c-rescale\ncompressibility=4.5e-5\nref-p=1\n";
const std::string berendsen = "tcoupl=berendsen\ntc-grps=System\nref-t=300\ndt=0.002\n";
const std::string rahman = "pcoupl=parrinello-rahman\ncompressibility=4.5e-5\nref-p=1\n";

// Of groups A and B.
std::string of_two_groups(const std::string& tau_t, const std::string& ref_t)
{
    return "tcoupl=v-rescale\ntc-grps=A B\ntau-t=" + tau_t + "\nref-t=" + ref_t +
           "\ndt=0.002\npcoupl=C-rescale\ntau-p=1\ncompressibility=4.5e-5\nref-p=1\n";
}

RunParameters resolved(const std::string& text)
{
    Diagnostics diagnostics;
    return read_mdp_text(text, "a.mdp", diagnostics).parameters;
}

struct Case
{
    std::string text;
    std::string id;
    int line;
    std::string says;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.text; }

} // namespace

TEST(CheckParameters, thermostat_acts_often_enough_for_its_time_constant)
{
    // 100 steps, or fewer for the variance of the kinetic energy to be right within 2 % (model/coupling_error.hpp); a divisor of
    // 100.
    EXPECT_EQ(resolved(coupled + "tau-t=1\n").temperature_interval, 100);
    EXPECT_EQ(resolved(coupled + "tau-t=0.5\n").temperature_interval, 50);
    EXPECT_EQ(resolved(coupled + "tau-t=0.45\n").temperature_interval, 25);
    EXPECT_EQ(resolved(coupled + "tau-t=0.001\n").temperature_interval, 1);
    EXPECT_EQ(resolved(coupled + "tau-t=-1\n").temperature_interval, 100);
    EXPECT_EQ(resolved("tcoupl=nose-hoover\ntc-grps=A B\ntau-t=2 0.8\nref-t=1 2\ndt=0.0005").temperature_interval, 4);
    EXPECT_EQ(resolved("tcoupl=nose-hoover\ntc-grps=A\ntau-t=2\nref-t=1\ndt=0.002").temperature_interval, 1);
    EXPECT_EQ(resolved(berendsen + "tau-t=1\n").temperature_interval, 20);
    EXPECT_EQ(resolved(berendsen + "tau-t=5\n").temperature_interval, 100);
    EXPECT_EQ(resolved(coupled + "tau-t=1\nnsttcouple=7\n").temperature_interval, 7);
}

TEST(CheckParameters, tells_all_intervals_that_multiple_time_steps_do_not_divide_at_once)
{
    try
    {
        resolved(pressed +
                 "tau-p=5\nmts=yes\nmts-level2-factor=3\nnstcalcenergy=4\nnstenergy=8\nnstlog=10\nnstfout=7\nnstpcouple=5\n");
        FAIL() << "accepted";
    }
    catch (const InputError& error)
    {
        const std::string said = error.what();
        for (const std::string key : {"nstcalcenergy (4)", "nstenergy (8)", "nstlog (10)", "nstfout (7)", "nstpcouple (5)"})
        {
            EXPECT_THAT(said, HasSubstr(key + " is no multiple of mts-level2-factor (3)"));
        }
    }
}

TEST(CheckParameters, tells_all_that_is_wrong_with_multiple_time_steps_at_once)
{
    try
    {
        resolved("integrator=md-vv\ncoulombtype=pme\nmts=yes\nmts-levels=3\nmts-level2-forces=pair dihedral foo\n"
                 "mts-level2-factor=4\nnstcalcenergy=3\nnstenergy=9\nnstlog=7\n");
        FAIL() << "accepted";
    }
    catch (const InputError& error)
    {
        for (const char* const says : {"'3' is not a value of 'mts-levels'", "mts-level2-forces = pair is not supported",
                                       "mts-level2-forces = dihedral is not supported", "'foo' is not a value",
                                       "nstcalcenergy (3)", "nstenergy (9)", "nstlog (7)", "mts = yes does not go with"})
        {
            EXPECT_THAT(error.what(), HasSubstr(says));
        }
    }
}

TEST(CheckParameters, barostat_acts_often_enough_for_its_time_constant)
{
    EXPECT_EQ(resolved(pressed + "tau-p=5\n").pressure_interval, 50);
    EXPECT_EQ(resolved(pressed + "tau-p=1\n").pressure_interval, 10);
    EXPECT_EQ(resolved(rahman + "dt=0.002\ntau-p=2\n").pressure_interval, 2);
    EXPECT_EQ(resolved(rahman + "dt=0.001\ntau-p=1\n").pressure_interval, 5);
    EXPECT_EQ(resolved(rahman + "dt=0.004\ntau-p=1\n").pressure_interval, 2);
}

TEST(CheckParameters, the_noise_of_a_barostat_has_the_temperature_of_all_groups_or_the_one_that_is_given)
{
    EXPECT_EQ(ensemble_temperature(resolved(of_two_groups("0.5 0.1", "310 310"))), 310);
    for (const auto* given : {"ensemble-temperature=250\n", "ensemble-temperature=250\nensemble-temperature-setting=constant\n"})
    {
        EXPECT_EQ(ensemble_temperature(resolved(of_two_groups("-1 0.5", "0 300") + given)), 250);
        EXPECT_EQ(ensemble_temperature(resolved(of_two_groups("0.5 0.5", "120 300") + given)), 250);
    }
    // Only C-rescale asks for it.
    EXPECT_FALSE(ensemble_temperature(resolved("tcoupl=v-rescale\ntc-grps=A B\ntau-t=1 -1\nref-t=1 2\n")));
}

TEST(CheckParameters, energy_intervals_fit_each_other)
{
    const auto intervals = [](const std::string& text) {
        const RunParameters p = resolved(text);
        return std::pair(p.energy_calc, p.energy_out);
    };
    // As gmx grompp changes them.
    EXPECT_EQ(intervals("nstcalcenergy=100\nnstenergy=50\n"), std::pair(50, 50));
    EXPECT_EQ(intervals("nstcalcenergy=100\nnstenergy=105\n"), std::pair(100, 200));
    EXPECT_EQ(intervals("nstcalcenergy=10\nnstenergy=100\n"), std::pair(10, 100));
    EXPECT_EQ(intervals("nstcalcenergy=100\nnstenergy=0\n"), std::pair(100, 0));
    EXPECT_EQ(intervals("nstcalcenergy=0\nnstenergy=500\n"), std::pair(500, 500));
    EXPECT_EQ(intervals("nstcalcenergy=-1\nnstenergy=1000\n"), std::pair(100, 1000));
}

TEST(CheckParameters, integrators_take_what_they_use)
{
    const RunParameters sd = resolved("integrator=sd\n" + coupled + "tau-t=2\n");
    EXPECT_EQ(sd.thermostat, Thermostat::None);
    ASSERT_EQ(sd.temperature_groups.size(), 1U);
    EXPECT_EQ(sd.temperature_groups[0].tau, 2);
    const RunParameters steep = resolved("integrator=steep\n" + pressed + "tau-p=1\n");
    EXPECT_EQ(steep.thermostat, Thermostat::None);
    EXPECT_EQ(steep.barostat, Barostat::None);
    EXPECT_EQ(resolved("nstcomm=0\n").com_mode, ComMode::None);
}

TEST(CheckParameters, nose_hoover_chains_are_of_length_1_and_who_asks_for_others_is_told)
{
    const auto is_told = [](const std::string& text) {
        Diagnostics diagnostics;
        read_mdp_text("tc-grps=A\ntau-t=2\nref-t=1\n" + text, "a.mdp", diagnostics);
        return std::any_of(diagnostics.notes.begin(), diagnostics.notes.end(), [](const Warning& n) { return n.id == "N115"; });
    };
    EXPECT_TRUE(is_told("tcoupl=nose-hoover\nnh-chain-length=10\n"));
    EXPECT_TRUE(is_told("tcoupl=nose-hoover\nnh-chain-length=2\n"));
    EXPECT_TRUE(is_told("tcoupl=nose-hoover\n")) << "the default is 10, as in GROMACS";
    EXPECT_FALSE(is_told("tcoupl=nose-hoover\nnh-chain-length=1\n"));
    EXPECT_FALSE(is_told("tcoupl=v-rescale\nnh-chain-length=4\n"));
    EXPECT_THROW(resolved("nh-chain-length=0\n"), InputError);
    const std::string used = mdp_text(resolved("tcoupl=nose-hoover\ntc-grps=A\ntau-t=2\nref-t=1\nnh-chain-length=7\n"));
    EXPECT_THAT(used, HasSubstr("\nnh-chain-length          = 1\n"));
}

TEST(CheckParameters, nose_hoover_chains_of_velocity_verlet_have_the_length_that_is_given)
{
    const std::string hoover = "integrator=md-vv\ntcoupl=nose-hoover\ntc-grps=A\ntau-t=2\nref-t=1\n";
    EXPECT_EQ(resolved(hoover + "nh-chain-length=3\n").nose_hoover_chain, 3);
    EXPECT_EQ(resolved(hoover).nose_hoover_chain, 10);
    EXPECT_THROW(resolved(hoover + "nh-chain-length=11\n"), InputError);
    EXPECT_THAT(mdp_text(resolved(hoover + "nh-chain-length=7\n")), HasSubstr("\nnh-chain-length          = 7\n"));
}

TEST(CheckParameters, velocity_verlet_refuses_what_does_not_go_with_it)
{
    const auto id = [](const std::string& text) {
        try
        {
            resolved(text);
        }
        catch (const InputError& error)
        {
            return error.id();
        }
        return std::string();
    };
    const std::string hoover = "tcoupl=nose-hoover\ntc-grps=A\ntau-t=2\nref-t=1\n";
    for (const std::string integrator : {"integrator=md-vv\n", "integrator=md-vv-avek\n"})
    {
        EXPECT_EQ(id(integrator + pressed + "tau-p=1\n"), "");
        EXPECT_EQ(id(integrator + coupled + rahman + "tau-t=1\ntau-p=5\n"), "E231");
        EXPECT_EQ(id(integrator + "coulombtype=pme\nmts=yes\n"), "E230");
    }
    EXPECT_EQ(id("integrator=md-vv\n" + hoover), "");
    EXPECT_EQ(id("integrator=md-vv-avek\n" + hoover), "E232");
}

TEST(CheckParameters, pressure_options_do_not_matter_without_a_barostat)
{
    EXPECT_NO_THROW(resolved("pcoupltype=semiisotropic\nref-p=1\ncompressibility=4e-5 -4e-5 1\n"));
}

TEST(CheckParameters, pressures_and_compressibilities_are_by_axis_as_pcoupltype_says)
{
    const std::string barostat = "pcoupl=parrinello-rahman\ntau-p=5\n";
    const auto values = [&](const std::string& type, const std::string& reference, const std::string& compressibility) {
        return resolved(barostat + "pcoupltype=" + type + "\nref-p=" + reference + "\ncompressibility=" + compressibility + "\n");
    };
    const RunParameters semi = values("semiisotropic", "1 2", "4e-5 0");
    EXPECT_EQ(semi.box_coupling, BoxCoupling::SemiIsotropic);
    EXPECT_EQ(semi.reference_pressure, (Vec3<double>{1, 1, 2}));
    EXPECT_EQ(semi.compressibility, (Vec3<double>{4e-5, 4e-5, 0}));
    const RunParameters each = values("anisotropic", "1 2 3 0 0 0", "4e-5 0 5e-5 0 0 0");
    EXPECT_EQ(each.box_coupling, BoxCoupling::Anisotropic);
    EXPECT_EQ(each.reference_pressure, (Vec3<double>{1, 2, 3}));
    EXPECT_EQ(each.compressibility, (Vec3<double>{4e-5, 0, 5e-5}));
    const RunParameters tension = values("surface-tension", "600 2", "4e-5 0");
    EXPECT_EQ(tension.box_coupling, BoxCoupling::SurfaceTension);
    EXPECT_EQ(tension.surface_tension, 600);
    EXPECT_EQ(tension.reference_pressure, (Vec3<double>{2, 2, 2}));
    EXPECT_EQ(tension.compressibility, (Vec3<double>{4e-5, 4e-5, 0}));
    for (const RunParameters& p : {semi, each, tension})
    {
        const RunParameters again = resolved(mdp_text(p));
        EXPECT_EQ(mdp_text(again), mdp_text(p));
        EXPECT_EQ(again.reference_pressure, p.reference_pressure);
        EXPECT_EQ(again.compressibility, p.compressibility);
        EXPECT_EQ(again.surface_tension, p.surface_tension);
    }
}

TEST(CheckParameters, checking_twice_changes_nothing)
{
    Diagnostics first, second;
    MdpInput input = read_mdp_text(pressed + "nstenergy=105\n", "a.mdp", first);
    const std::string before = mdp_text(input.parameters);
    check_parameters(input, second);
    EXPECT_EQ(mdp_text(input.parameters), before);
}

TEST(CheckParameters, nothing_is_said_of_what_grompp_takes_without_a_warning)
{
    const std::string steep = "integrator=steep\n";
    for (const std::string& text :
         {coupled + "tau-t=0.0001\nnsttcouple=10\n", coupled + "tau-t=0.01\n", rahman + "tau-p=0.4\ndt=0.002\n",
          rahman + "tau-p=0.39\ndt=0.001\n", rahman + "tau-p=0.12\ndt=0.002\nnstpcouple=2\n", pressed + "tau-p=1\n",
          steep + berendsen + "tau-t=1\n", std::string("vdw-modifier=force-switch\n")})
    {
        Diagnostics diagnostics;
        read_mdp_text(text, "a.mdp", diagnostics);
        EXPECT_TRUE(diagnostics.warnings.empty()) << text << diagnostics.warnings[0].text();
    }
    // The box stays: there is nothing to be wrong by orders of magnitude.
    Diagnostics diagnostics;
    read_mdp_text(coupled + "tau-t=1\npcoupl=c-rescale\nref-p=1\ntau-p=2\ncompressibility=0\n", "a.mdp", diagnostics);
    EXPECT_TRUE(diagnostics.warnings.empty());
}

class ParameterRefusal : public ::testing::TestWithParam<Case>
{
};

TEST_P(ParameterRefusal, has_id_line_and_words)
{
    try
    {
        resolved(GetParam().text);
        FAIL() << "accepted";
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), GetParam().id);
        EXPECT_EQ(error.where().line, GetParam().line);
        EXPECT_THAT(error.message(), HasSubstr(GetParam().says));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Check, ParameterRefusal,
    ::testing::Values(
        Case{coupled, "E107", 0, "tau-t has 0"}, Case{coupled + "tau-t=1 2\n", "E107", 5, "tau-t has 2 and ref-t 1"},
        Case{"ref-t=300\n", "E107", 1, "names 0 groups"}, Case{"\ntcoupl=yes\n", "E107", 2, "without tc-grps"},
        Case{"integrator=sd\n", "E107", 1, "without tc-grps"},
        Case{"integrator=sd\n" + coupled + "tau-t=0\n", "E107", 6, "needs tau-t > 0"},
        Case{coupled + "tau-t=0\n", "E107", 5, "v-rescale with tau-t = 0"},
        Case{"tcoupl=nose-hoover\ntc-grps=A B\nref-t=0 300\ntau-t=1 1\n", "E107", 3, "needs ref-t > 0"},
        Case{"pcoupl=parrinello-rahman\nref-p=1\ntau-p=5\ncompressibility=0\n", "E107", 4, "needs compressibility > 0"},
        Case{"rvdw=1.2\n\nrcoulomb=1\n", "E107", 3, "Make them equal"},
        Case{"verlet-buffer-tolerance=-1\nrlist=0.9\n", "E107", 2, "shorter than the cut-off (1 nm)"},
        Case{"vdw-modifier=force-switch\nrvdw-switch=1\n", "E107", 2, "must be below rvdw"},
        Case{"nsteps=9223372036854775807\ninit-step=1\n", "E107", 1, "step counter"},
        Case{coupled + "tau-t=1\npcoupl=berendsen\nref-p=1\n", "E107", 6, "one value of compressibility, found 0"},
        Case{coupled + "tau-t=1\npcoupl=berendsen\ncompressibility=1e-5\n", "E107", 6, "one value of ref-p, found 0"},
        Case{coupled + "tau-t=1\npcoupl=berendsen\ncompressibility=-1\nref-p=1\n", "E105", 7, "negative compressibility"},
        Case{coupled + "tau-t=1\npcoupl=berendsen\npcoupltype=semiisotropic\ncompressibility=1e-5 -1\nref-p=1 1\n", "E105", 8,
             "negative compressibility"},
        Case{
            coupled + "tau-t=1\npcoupl=berendsen\npcoupltype=semiisotropic\ncompressibility=1e-5\nref-p=1 1\n", "E107", 8,
            "semiisotropic pressure coupling needs two values of compressibility, found 1. Give two values: for x and y, for z."},
        Case{coupled + "tau-t=1\npcoupl=berendsen\npcoupltype=surface-tension\ncompressibility=1e-5 0\nref-p=1 2 3\n", "E107", 9,
             "surface-tension pressure coupling needs two values of ref-p, found 3"},
        Case{coupled + "tau-t=1\npcoupl=berendsen\npcoupltype=anisotropic\ncompressibility=1e-5 1e-5 1e-5 0 0 0\n", "E107", 6,
             "anisotropic pressure coupling needs six values of ref-p, found 0"},
        Case{
            coupled +
                "tau-t=1\npcoupl=c-rescale\npcoupltype=anisotropic\ncompressibility=1e-5 1e-5 1e-5 0 1e-6 0\nref-p=1 1 1 0 0 0\n",
            "E140", 8, "C-rescale with off-diagonal compressibilities"},
        Case{coupled + "tau-t=1\npcoupl=berendsen\npcoupltype=anisotropic\ncompressibility=1e-5 1e-5 1e-5 0 -1e-6 0\nref-p=1 1 1 "
                       "0 0 0\n",
             "E105", 8, "negative compressibility"},
        Case{"pcoupl=parrinello-rahman\npcoupltype=semiisotropic\nref-p=1 1\ntau-p=5\ncompressibility=0 0\n", "E107", 5,
             "needs compressibility > 0"},
        Case{"pcoupl=C-rescale\ncompressibility=1e-5\nref-p=1\n", "E107", 1, "reference temperature"},
        Case{of_two_groups("0.5 0.5", "120 300"), "E107", 6, "the groups differ in ref-t. Set ensemble-temperature-setting"},
        Case{of_two_groups("-1 0.5", "300 300"), "E107", 6, "the group A is not coupled. Set"},
        Case{of_two_groups("0.5 0.5", "300 300") + "ensemble-temperature-setting=not-available\n", "E107", 6,
             "says so. Use ensemble-temperature-setting = auto"},
        Case{of_two_groups("0.5 -1", "300 0") + "ensemble-temperature-setting=constant\n", "E107", 6, "is not given"},
        Case{of_two_groups("0.5 0.5", "300 300") + "ensemble-temperature=310\n", "E107", 10,
             "ensemble-temperature (310 K) is not the temperature that all groups are coupled to (300 K)"},
        Case{of_two_groups("0.5 0.5", "300 310") + "ensemble-temperature=700\nensemble-temperature-setting=constant\n", "E107",
             10, "ensemble-temperature (700 K) is not between the temperatures that groups are coupled to"},
        Case{"ensemble-temperature-setting=varying\n", "E106", 1, "variable"},
        Case{"coulombtype=PME\newald-rtol=1e-17\n", "E105", 2, "1e-16"},
        Case{pressed + "pcoupltype=semiisotropic\n", "E107", 7, "needs two values of compressibility, found 1"},
        Case{pressed + "pcoupltype=surface-tension\n", "E107", 7,
             "Give two values: for x and y (of ref-p the surface tension), for z."},
        Case{"nstcalcenergy=2147483646\nnstenergy=2147483647\n", "E107", 2, "multiple"},
        Case{"coulombtype=PME\npme-order=2\n", "E105", 2, "3 ... 8"},
        Case{"coulombtype=PME\npme-order=6\nfourier-ny=9\n", "E107", 3, "Use 10 or more"},
        Case{"coulombtype=PME\newald-geometry=3dc\n", "E140", 2, "3dc"},
        Case{"coulombtype=PME\n\nepsilon-surface=1\n", "E140", 3, "surface"},
        Case{"coulombtype=PME\nrcoulomb=0.9\nrvdw=1\n", "E107", 2, "Raise rcoulomb to rvdw"},
        Case{"vdwtype=PME\n", "E260", 1, "coulombtype = PME"},
        Case{"coulombtype=PME\nvdwtype=PME\nvdw-modifier=force-switch\n", "E261", 3, "Potential-shift or None"},
        Case{"coulombtype=PME\nvdwtype=PME\nrcoulomb=1\nrvdw=0.9\n", "E261", 4, "Make them equal"},
        Case{"coulombtype=PME\nvdwtype=PME\newald-rtol-lj=1e-13\n", "E105", 3, "1e-12"},
        Case{"coulombtype=PME\nvdwtype=PME\nlj-pme-comb-rule=LB\n", "E106", 3, "Lorentz-Berthelot"},
        Case{"mts=yes\nnstcalcenergy=5\nnstenergy=10\n", "E107", 2, "nstcalcenergy (5) is no multiple of mts-level2-factor (2)"},
        Case{"mts=yes\nmts-level2-factor=3\nnstcalcenergy=3\nnstenergy=100\n", "E107", 0, "nstlog (1000)"},
        Case{"mts=yes\nmts-level2-factor=3\nnstcalcenergy=1\nnstenergy=10\nnstlog=0\n", "E107", 3, "nstcalcenergy (1)"},
        Case{"mts=yes\nnstlog=7\n", "E107", 2, "nstlog (7)"}, Case{"mts=yes\nnstfout=7\n", "E107", 2, "nstfout (7)"},
        Case{pressed + "tau-p=5\nmts=yes\nnstpcouple=7\n", "E107", 11, "nstpcouple (7)"},
        Case{"mts=yes\nmts-levels=3\n", "E106", 2, "Choose one of: 2"},
        Case{"mts=yes\nmts-level2-factor=1\n", "E105", 2, "mts-level2-factor"},
        Case{"mts=yes\nmts-level2-forces=longrange-nonbonded pair\n", "E140", 2, "pair is not supported (not planned)"},
        Case{"mts=yes\nmts-level2-forces=longrange-nonbonded pull\n", "E140", 2, "pull is not supported yet"},
        Case{"mts=yes\nmts-level2-forces=foo\n", "E106", 2, "'foo' is not a value"}));

class ParameterRemark : public ::testing::TestWithParam<Case>
{
};

TEST_P(ParameterRemark, has_id_line_and_words)
{
    Diagnostics diagnostics;
    read_mdp_text(GetParam().text, "a.mdp", diagnostics);
    const std::vector<Warning>& list = GetParam().id[0] == 'W' ? diagnostics.warnings : diagnostics.notes;
    const auto found = std::find_if(list.begin(), list.end(), [&](const Warning& w) { return w.id == GetParam().id; });
    ASSERT_NE(found, list.end());
    EXPECT_EQ(found->where.line, GetParam().line);
    EXPECT_THAT(found->message, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Check, ParameterRemark,
    ::testing::Values(
        Case{"userint1=3\nrtpi=1\n", "N101", 0, "userint1, rtpi"}, Case{"\nxtc-grps=SOL\n", "N103", 2, "'compressed-x-grps'"},
        Case{"nstcomm=0\n", "N110", 1, "comm-mode = None"}, Case{"integrator=steep\ntcoupl=yes\n", "N111", 2, "no temperature"},
        Case{"integrator=sd\n" + coupled + "tau-t=2\n", "N112", 2, "inverse friction"}, Case{"rlist=1.1\n", "N113", 1, "0.005"},
        Case{"epsilon-rf=78\n", "N114", 1, "not used"}, Case{coupled + "tau-t=1\n", "N116", 0, "nsttcouple = 100"},
        Case{"tcoupl=nose-hoover\ntc-grps=A\ntau-t=2\nref-t=1\ndt=0.002\n", "N116", 0,
             "nsttcouple = 1 steps is used: the variance of the kinetic energy is right within about 1.9 %."},
        Case{"nstenergy=50\n", "N117", 0, "nstcalcenergy = 50"}, Case{"nstenergy=150\n", "N118", 1, "200 is used"},
        Case{"vdw-modifier=force-switch\n", "N119", 1, "from 0 nm"},
        Case{"coulombtype=PME\nfourier-nx=101\n", "N136", 2,
             "prime factor 101, which makes the transforms of PME slow. The next "
             "good size is 105."},
        Case{"coulombtype=reaction-field\nepsilon-r=2\nepsilon-rf=1\n", "W111", 3, "smaller"},
        Case{"coulombtype=reaction-field\nepsilon-r=0\nepsilon-rf=78\n", "W111", 3, "smaller"},
        Case{berendsen + "tau-t=0.01\nnsttcouple=10\n", "W112", 6,
             "will be about 100 % or more too large. To have it within 2 %, lower nsttcouple to 1 or raise tau-t."},
        Case{"tcoupl=nose-hoover\ntc-grps=A\ntau-t=2\nref-t=1\ndt=0.002\nnsttcouple=50\n", "W112", 6,
             "will be about 100 % or more too large. To have it within 2 %, lower nsttcouple to 1."},
        Case{pressed + "tau-p=1\nnstpcouple=50\n", "W112", 10, "the variance of the volume will be about 8.3 % too large"},
        Case{rahman + "tau-p=2\ndt=0.002\nnstpcouple=10\n", "W112", 6,
             "about 8.2 % too large. To have it within 2 %, lower nstpcouple to 2."},
        Case{rahman + "tau-p=5\ndt=0.002\nnstpcouple=1\n", "W112", 6, "pumps energy into it"},
        Case{"tcoupl=nose-hoover\ntc-grps=A\ntau-t=2\nref-t=1\ndt=0.004\n", "N116", 0,
             "0.004 ps is too long: the variance of the kinetic energy will be about 3.8 % too large. To have it within 2 %, use "
             "v-rescale, or a shorter dt."},
        Case{"tcoupl=nose-hoover\ntc-grps=A\ntau-t=2\nref-t=1\ndt=0.004\nnsttcouple=1\n", "N116", 6, "about 3.8 % too large"},
        Case{rahman + "tau-p=5\ndt=0.002\nmts=yes\nmts-level2-factor=4\nnstcalcenergy=4\nnstenergy=0\nnstlog=0\n", "N116", 0,
             "about 3.1 % too large. To have it within 2 %, lower mts-level2-factor, use C-rescale, or a shorter dt."},
        Case{berendsen + "tau-t=0.009\n", "W112", 5, "interval of 0.002 ps is too long for tau-t = 0.009 ps"},
        Case{pressed + "tau-p=0.019\n", "W112", 9, "interval of 0.002 ps is too long for tau-p = 0.019 ps"},
        Case{pressed, "W113", 6, "tau-p is not given"},
        Case{
            "tcoupl=nose-hoover\ntc-grps=A\ntau-t=1\nref-t=1\npcoupl=parrinello-rahman\ncompressibility=1e-5\nref-p=1\ntau-p=1\n",
            "W114", 8, "resonate"},
        Case{"pcoupl=parrinello-rahman\ncompressibility=1e-5\nref-p=1\ntau-p=1\ngen-vel=yes\n", "W115", 1, "Equilibrate"},
        Case{"gen-vel=yes\ncontinuation=yes\n", "W116", 1, "Set one of them to no"},
        Case{berendsen + "tau-t=1\n", "W117", 1, "kinetic energy"},
        Case{coupled + "tau-t=1\npcoupl=berendsen\ncompressibility=4.5e-5\nref-p=1\ntau-p=1\n", "W117", 6, "volume"},
        Case{rahman + "tau-p=0.1\n", "W118", 4, "0.1 ps"}, Case{rahman + "tau-p=0.39\ndt=0.002\n", "W118", 4, "200 time steps"},
        Case{"pcoupl=parrinello-rahman\nref-p=1\ntau-p=2\ncompressibility=4.5\n", "W119", 4, "too fast"},
        Case{"pcoupl=parrinello-rahman\nref-p=1\ntau-p=2\ncompressibility=4.5e-10\n", "W119", 4, "too slowly"},
        Case{"integrator=steep\nmts=yes\n", "N111", 2, "mts is not used"},
        Case{"mts=yes\nmts-level2-factor=3\nnstcalcenergy=-1\nnstenergy=0\nnstlog=0\n", "N117", 3, "nstcalcenergy = 99"},
        Case{pressed + "tau-p=5\nmts=yes\nmts-level2-factor=7\nnstcalcenergy=7\nnstenergy=70\nnstlog=70\nnsttcouple=9\n", "N116",
             0, "nstpcouple = 49"}));
