// SPDX-License-Identifier: Apache-2.0
// What people and scripts read: log, report.
#include "run/log.hpp"
#include "run/report.hpp"

#include "io/scratch_file.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <limits>

namespace parhelion {
namespace {

using testing::HasSubstr;

TEST(Log, shows_energies_as_columns_of_name_above_value)
{
    const ScratchFile file("md.log");
    Log log(file.path());
    log.energies(500, 1.0, {"Bond", "Angle", "Ryckaert-Bell.", "LJ-14", "Coulomb-14", "Conserved En."},
                 std::vector<double>{1, 2, 3, 4, 5, -6.5e6});
    EXPECT_EQ(file.text(), "\n"
                           "           Step           Time\n"
                           "            500        1.00000\n"
                           "\n"
                           "   Energies (kJ/mol)\n"
                           "           Bond          Angle Ryckaert-Bell.          LJ-14     Coulomb-14\n"
                           "    1.00000e+00    2.00000e+00    3.00000e+00    4.00000e+00    5.00000e+00\n"
                           "  Conserved En.\n"
                           "   -6.50000e+06\n");
}

TEST(Log, keeps_sections_warnings_and_averages)
{
    const ScratchFile file("md.log");
    Log log(file.path());
    log.section("Plan", {{"threads", "2"}, {"pair list", "every 20 steps"}});
    Diagnostics diagnostics;
    diagnostics.warn("W012", {"topol.top", 17}, "odd charge");
    log.warning(diagnostics.warnings.front());
    TermAverages averages(1);
    averages.add(std::vector<double>{299.0});
    averages.add(std::vector<double>{301.0});
    BlockAverages blocks(1);
    for (int i = 0; i < 32; ++i) { blocks.add(std::vector<double>{i % 4 < 2 ? 299.0 : 301.0}); }
    log.averages({"Temperature"}, averages, blocks);
    log.close();
    const std::string text = file.text();
    EXPECT_THAT(text, HasSubstr("\nPlan\n   threads     2\n   pair list   every 20 steps\n"));
    EXPECT_THAT(text, HasSubstr("W012 topol.top:17  odd charge\n"));
    EXPECT_THAT(text, HasSubstr("Averages over 2 energy calculations"));
    EXPECT_THAT(text, HasSubstr("of 16 blocks of 2 energy calculations"));
    EXPECT_THAT(text, testing::ContainsRegex("Temperature +300 +0.26 +1 +K")); // 1 / sqrt(15)
}

TEST(Log, has_no_number_for_the_error_of_a_short_run)
{
    const ScratchFile file("md.log");
    Log log(file.path());
    TermAverages averages(1);
    BlockAverages blocks(1);
    averages.add(std::vector<double>{299.0});
    blocks.add(std::vector<double>{299.0});
    log.averages({"Temperature"}, averages, blocks);
    log.close();
    EXPECT_THAT(file.text(), HasSubstr("too few energy calculations for errors"));
    EXPECT_THAT(file.text(), testing::ContainsRegex("Temperature +299 +- +0 +K"));
    EXPECT_THAT(file.text(), testing::Not(HasSubstr("nan")));
}

TEST(Report, has_the_promised_fields_in_order)
{
    RunReport report;
    report.atoms = 3000;
    report.phases = {{"local pair forces", 120.5}};
    report.energies = {{"Potential", {-1.5, 0.25}}};
    report.conserved_drift_kT_per_ns_per_atom = std::numeric_limits<double>::quiet_NaN();
    const std::string json = to_json(report);
    std::size_t at = 0;
    for (const auto* field : {"atoms",
                              "steps",
                              "dt_ps",
                              "ns_per_day",
                              "us_per_step",
                              "wall_s",
                              "host_load",
                              "device",
                              "gpus",
                              "ranks",
                              "grid",
                              "halo",
                              "transport",
                              "pme",
                              "precision",
                              "threads",
                              "helpers",
                              "repartition_interval",
                              "pairlist",
                              "phases",
                              "energies",
                              "conserved_drift_kT_per_ns_per_atom",
                              "conserved_drift_error_kT_per_ns_per_atom",
                              "version"})
    {
        const std::size_t found = json.find("\n  \"" + std::string(field) + "\": ");
        ASSERT_NE(found, std::string::npos) << field;
        EXPECT_GE(found, at) << field;
        at = found;
    }
    EXPECT_THAT(json, HasSubstr("\"atoms\": 3000"));
    EXPECT_THAT(json, HasSubstr("\"local pair forces\": 120.5"));
    EXPECT_THAT(json, HasSubstr("\"mean\": -1.5"));
    EXPECT_THAT(json, HasSubstr("\"conserved_drift_kT_per_ns_per_atom\": null"));
}

} // namespace
} // namespace parhelion
