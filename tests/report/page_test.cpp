// SPDX-License-Identifier: Apache-2.0
// The page as text; tests/python/test_report.py reads it as HTML.
#include "report/page.hpp"

#include <cmath>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <string>

namespace parhelion {
namespace {

using testing::HasSubstr;
using testing::Not;

RunRecord record_of(std::size_t terms, std::size_t frames)
{
    RunRecord record;
    record.prefix = "md";
    EnergyCourse& energies = record.energies;
    for (std::size_t i = 0; i < terms; ++i)
    {
        energies.terms.push_back({i == 0 ? "Temperature" : "T-" + std::to_string(i), "K"});
        energies.values.emplace_back();
        record.averages.emplace_back(energies.terms.back().name, RunReport::Spread{300, 2, 0.1});
    }
    for (std::size_t frame = 0; frame < frames; ++frame)
    {
        const auto t = static_cast<double>(frame);
        energies.times.push_back(t);
        for (std::size_t i = 0; i < terms; ++i)
        {
            energies.values[i].push_back(300 + std::sin(7.1 * t + static_cast<double>(i)) * 1.23456789);
        }
    }
    return record;
}

TEST(Page, does_not_take_a_title_for_markup)
{
    RunRecord record = record_of(1, 3);
    record.prefix = "a<b>&md";
    record.log.title = "<script>alert(1)</script> \xfc";
    record.log.warnings = {"W030 <img src=x onerror=alert(2)>"};
    record.log.about = {{"system", "<b>bold</b>"}};
    record.energies.terms[0].name = "T-<i>";
    record.averages[0].first = "T-<i>";
    const std::string page = report_page({&record, 1});
    EXPECT_THAT(page, HasSubstr("<h1>&lt;script&gt;alert(1)&lt;/script&gt; \ufffd</h1>"));
    for (const char* markup : {"<script>alert", "<img", "<b>bold", "a<b>", "<i>"}) { EXPECT_THAT(page, Not(HasSubstr(markup))); }
}

TEST(Page, needs_nothing_from_elsewhere_and_is_small)
{
    const std::vector<RunRecord> runs(2, record_of(60, 20000)); // more terms than a run has
    const std::string page = report_page(runs);
    EXPECT_LT(page.size(), 2'000'000u);
    for (const char* reference : {"http:", "https:", "src=", "href=", "url(", "@import"})
    {
        EXPECT_THAT(page, Not(HasSubstr(reference)));
    }
}

TEST(Page, shows_terms_of_the_same_values_in_one_chart)
{
    RunRecord record = record_of(2, 5);
    record.energies.values[1] = record.energies.values[0];
    EXPECT_THAT(report_page({&record, 1}), HasSubstr("<figcaption>Temperature, T-1 <small>"));
}

TEST(Page, of_a_run_that_is_hardly_there_is_one)
{
    const RunRecord record = record_of(0, 0);
    const std::string page = report_page({&record, 1});
    EXPECT_THAT(page, HasSubstr("There is no energy file"));
    EXPECT_THAT(page, Not(HasSubstr("nan")));
    EXPECT_THAT(report_page({&record, 1}), HasSubstr("it goes on, or was killed, or has failed"));
}

TEST(Page, says_what_phases_leave_of_a_step_on_cpus_alone)
{
    RunRecord record = record_of(1, 3);
    record.report.emplace();
    record.report->us_per_step = 100;
    record.report->phases = {{"nonbonded", 60}, {"fft", 0}};
    EXPECT_THAT(report_page({&record, 1}), HasSubstr("rest</th><td class=\"n\">40.0</td><td class=\"n\">40.0 %</td>"));
    EXPECT_THAT(report_page({&record, 1}), Not(HasSubstr("fft")));
    record.report->gpus = 1;
    EXPECT_THAT(report_page({&record, 1}), Not(HasSubstr("rest</th>")));
}

TEST(Page, tells_how_two_runs_differ)
{
    std::vector<RunRecord> runs = {record_of(1, 3), record_of(1, 3)};
    runs[1].prefix = "other";
    runs[1].averages[0].second.mean = 301;
    const std::string page = report_page(runs);
    EXPECT_THAT(
        page, HasSubstr("<td class=\"n\">300.00 ± 0.10</td><td class=\"n\">301.00 ± 0.10</td><td class=\"n\">1.00 ± 0.14</td>"));
    EXPECT_THAT(page, HasSubstr("curve c1"));
}

} // namespace
} // namespace parhelion
