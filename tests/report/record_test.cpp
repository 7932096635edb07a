// SPDX-License-Identifier: Apache-2.0
// What is gathered of a run, from files that writers of ours have made.
#include "report/record.hpp"

#include "io/input_folder.hpp"

#include <cmath>
#include <filesystem>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

namespace parhelion {
namespace {

using testing::HasSubstr;

// Energies of 201 calculations, every fifth of which is a frame.
class Energies
{
public:
    explicit Energies(const std::string& path, int frames = 41)
    {
        EdrWriter writer(path, {"Potential", "Temperature"}, 0, 0.002);
        TermAverages since_last(2);
        for (int i = 0; i <= 5 * (frames - 1); ++i)
        {
            const double values[] = {-1e6 + 10 * std::sin(i), 300 + std::cos(i)};
            all.add(values);
            since_last.add(values);
            if (i % 5 != 0) { continue; }
            writer.write(10 * i, 0.02 * i, values, since_last);
            since_last.clear();
        }
        writer.close();
    }
    TermAverages all{2};
};

RunReport report_of(std::int64_t steps)
{
    RunReport report;
    report.steps = report.steps_of_whole_run = steps;
    report.energies = {{"Potential", {-1e6, 7, 1}}, {"Temperature", {300, 0.7, 0.1}}};
    return report;
}

TEST(RunRecord, has_the_averages_of_all_energy_calculations_though_few_are_in_the_file)
{
    const InputFolder folder;
    const std::string prefix = (folder.path() / "md").string();
    const Energies energies(prefix + ".edr");
    const RunRecord record = read_record(prefix);
    ASSERT_EQ(record.energies.frames(), 41u);
    EXPECT_EQ(record.energies.last_step, 2000);
    EXPECT_EQ(record.energies.averages.count(), 201);
    ASSERT_EQ(record.averages.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i)
    {
        EXPECT_NEAR(record.averages[i].second.mean, energies.all.mean(i), 1e-12 * std::abs(energies.all.mean(i)));
        EXPECT_NEAR(record.averages[i].second.stddev, energies.all.standard_deviation(i), 1e-6);
        EXPECT_GT(record.averages[i].second.error, 0);
    }
    EXPECT_EQ(record.energies.of("Temperature")[1], 300 + std::cos(5));
    EXPECT_TRUE(record.energies.of("Density").empty());
}

TEST(RunRecord, takes_the_averages_of_the_report_unless_the_run_has_gone_on)
{
    const InputFolder folder;
    const std::string prefix = (folder.path() / "md").string();
    const Energies energies(prefix + ".edr");
    write_report(report_of(2000), prefix + ".report.json");
    EXPECT_EQ(read_record(prefix).averages[1].second.mean, 300);
    write_report(report_of(1999), prefix + ".report.json");
    EXPECT_NEAR(read_record(prefix).averages[1].second.mean, energies.all.mean(1), 1e-10);
}

TEST(RunRecord, of_a_run_without_energies_has_the_averages_of_the_report)
{
    const InputFolder folder;
    const std::string prefix = (folder.path() / "md").string();
    write_report(report_of(2000), prefix + ".report.json");
    const RunRecord record = read_record(prefix);
    EXPECT_EQ(record.averages[0].second.error, 1);
    EXPECT_EQ(record.energies.frames(), 0u);
}

TEST(RunRecord, reads_an_energy_file_up_to_where_it_is_whole)
{
    const InputFolder folder;
    const std::string prefix = (folder.path() / "md").string();
    const Energies energies(prefix + ".edr");
    std::filesystem::resize_file(prefix + ".edr", std::filesystem::file_size(prefix + ".edr") - 3);
    const RunRecord record = read_record(prefix);
    EXPECT_EQ(record.energies.frames(), 40u);
    EXPECT_THAT(record.energies.damage, HasSubstr("E182"));
}

TEST(RunRecord, of_nothing_is_refused_with_advice)
{
    const InputFolder folder;
    const std::string prefix = (folder.path() / "md").string();
    expect_refused([&] { static_cast<void>(read_record(prefix)); }, "E187", "md", 0, "there is no");
    folder.write("md.log", ""); // of a run that was refused
    expect_refused([&] { static_cast<void>(read_record(prefix)); }, "E187", "md", 0, "there is no");
    expect_refused([&] { static_cast<void>(read_record(prefix + ".edr")); }, "E187", "md.edr", 0, "/md.");
}

TEST(RunRecord, refuses_a_report_that_is_none)
{
    const InputFolder folder;
    const std::string prefix = (folder.path() / "md").string();
    for (const char* text :
         {"{}", "[1]", "{\"steps\": \"many\"}", "{\"steps\": 1", "\xff\xfe", "{\"steps\": 1, \"energies\": {\"a\": 3}}"})
    {
        folder.write("md.report.json", text);
        expect_refused([&] { static_cast<void>(read_record(prefix)); }, "E186", "md.report.json", 0, "not the report");
    }
}

} // namespace
} // namespace parhelion
