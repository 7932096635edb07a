// SPDX-License-Identifier: Apache-2.0
// What people and scripts read: log, report.
#include "run/log.hpp"
#include "run/report.hpp"

#include "io/scratch_file.hpp"

#include <cmath>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

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
                              "load_balance",
                              "borders",
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

TEST(Report, reads_back_what_it_was_written_from)
{
    RunReport report;
    report.atoms = 3000;
    report.steps_of_whole_run = 123456789012345;
    report.ns_per_day = 116.93;
    report.grid = "2x1x1";
    report.helpers = {{"proxy", 3}};
    report.phases = {{"local pair forces", 120.5}, {"a second", 0}};
    report.energies = {{"Potential", {-1.5, 0.25, std::numeric_limits<double>::quiet_NaN()}}, {"Temperature", {300, 2, 0.5}}};
    report.conserved_drift_kT_per_ns_per_atom = std::numeric_limits<double>::quiet_NaN();
    report.version = {{"program", "parhelion"}};
    const ScratchFile file("md.report.json");
    write_report(report, file.path());
    const RunReport read = read_report(file.path());
    EXPECT_EQ(to_json(read), to_json(report));
    EXPECT_EQ(read.energies[1].second.error, 0.5);
    EXPECT_TRUE(std::isnan(read.energies[0].second.error));
}

TEST(Report, of_an_earlier_version_lacks_what_that_did_not_have)
{
    const ScratchFile file("md.report.json");
    write_text_file(file.path(), R"({"steps": 5, "energies": {"Potential": {"mean": -1.5, "stddev": 0.25}}})");
    const RunReport read = read_report(file.path());
    EXPECT_EQ(read.steps, 5);
    EXPECT_EQ(read.device, "cpu");
    EXPECT_TRUE(std::isnan(read.energies[0].second.error));
}

TEST(Log, tells_what_the_latest_part_of_its_run_was)
{
    const ScratchFile file("md.log");
    Log log(file.path());
    Diagnostics diagnostics;
    diagnostics.warn("W121", {"topol.top", 17}, "odd charge");
    for (const char* threads : {"1", "2"})
    {
        log.line(
            std::string("parhelion 0.1.0\na machine\nsystem    water: 3 atoms\n          1 virtual sites\nmolecules 1 x SOL\n"));
        log.section("Input", {{"started", std::string("2026-11-27 0") + threads + ":00:00 UTC"},
                              {"title", "parhelion in <water>"},
                              {"restraint reference", "ref.gro"}});
        log.warning(diagnostics.warnings.front());
        log.line(std::string("plan      CPU, ") + threads + " threads\npair list rebuilt\nread in 12.31 s; seed 7\n");
        log.line("warning: the disk is nearly full");
    }
    log.close();
    const LoggedRun run = read_log(file.path());
    EXPECT_EQ(run.version, "parhelion 0.1.0");
    EXPECT_EQ(run.machine, "a machine");
    EXPECT_EQ(run.title, "parhelion in <water>");
    EXPECT_EQ(run.warnings, (std::vector<std::string>{"W121 topol.top:17  odd charge", "the disk is nearly full"}));
    EXPECT_EQ(run.started, (std::vector<std::string>{"2026-11-27 01:00:00 UTC", "2026-11-27 02:00:00 UTC"}));
    const NamedList<std::string> about = {{"system", "water: 3 atoms; 1 virtual sites"},
                                          {"molecules", "1 x SOL"},
                                          {"plan", "CPU, 2 threads"},
                                          {"pair list", "rebuilt"}};
    EXPECT_EQ(run.about, about);
}

TEST(Log, that_holds_nothing_tells_nothing)
{
    const ScratchFile file("md.log");
    write_text_file(file.path(), "");
    const LoggedRun run = read_log(file.path());
    EXPECT_TRUE(run.version.empty() && run.about.empty() && run.warnings.empty());
}

} // namespace
} // namespace parhelion
