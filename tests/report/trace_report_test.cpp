// SPDX-License-Identifier: Apache-2.0
// Of an analysis with known numbers: its tables, also of two beside each other, its JSON and its page.
#include "report/trace_report.hpp"

#include "report/trace_figures.hpp"
#include "report/trace_tables.hpp"

#include <algorithm>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace parhelion {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TraceAnalysis analysis_of(const std::string& path, double pairs)
{
    TraceAnalysis a;
    a.path = path;
    a.is_of_gpus = true;
    a.all = a.plain = {3, pairs + 50, 1, pairs + 49, pairs + 50, pairs + 51, pairs + 51};
    a.steps = {{7, pairs + 49, false}, {8, pairs + 50, false}, {9, pairs + 51, false}};
    a.names = {{"<pairs>", "nonbonded", 2, pairs + 10, pairs, 1}, {"update", "constrain", 1, 30, 30, 0.5}};
    a.path_gaps = 20;
    ProcessTimes gpu;
    gpu.name = "GPU 0, cells", gpu.compute = pairs + 30, gpu.work.step = pairs + 50, gpu.work.nonoverlap = 4;
    a.processes = {gpu};
    a.waits = {{"GPU 0", "GPU 1", "update", "<pairs>", 5, 0.25}};
    a.occupancy = {{"GPU 0, cells", 4, 0.5, pairs + 50, {1, 0}, {{"<pairs>", 0.5, {1, 0}}}}};
    a.slow = {{9, 900, 150, "outside", "nothing ran"}};
    a.typical = {{"GPU 0 nonbonded", {{0, pairs, "<pairs>", true}, {2, 5, "update", false}}}};
    a.typical_us = pairs + 50;
    a.advice = {"A step takes long.", "Change <something>."};
    return a;
}

const Table& table(const std::vector<Table>& tables, const std::string& title)
{
    const auto at = std::find_if(tables.begin(), tables.end(), [&](const Table& t) { return t.title.starts_with(title); });
    EXPECT_NE(at, tables.end()) << title;
    return at == tables.end() ? tables.front() : *at;
}

TEST(TraceTables, have_the_numbers_of_an_analysis)
{
    const std::vector<TraceAnalysis> one = {analysis_of("a.json", 100)};
    const std::vector<Table> tables = trace_tables(one, 10, Columns::All);
    const Table& path = table(tables, "Critical path");
    EXPECT_THAT(path.head, ElementsAre("kernel", "phase", "on the path", "of the time", "in steps", "busy", "calls"));
    ASSERT_EQ(path.rows.size(), 3u);
    EXPECT_THAT(path.rows[0], ElementsAre("<pairs>", "nonbonded", "100.00", "66.7 %", "100.0 %", "110.00", "2.00"));
    EXPECT_THAT(path.rows[2], ElementsAre("no kernel", "", "20.00", "13.3 %", "", "", ""));
    EXPECT_THAT(table(tables, "Slow steps").rows[0], ElementsAre("9", "outside", "nothing ran", "900.00", "150.00"));
    EXPECT_TRUE(std::none_of(tables.begin(), tables.end(), [](const Table& t) { return t.title.starts_with("Kernels beside"); }))
        << "a table without rows";
    const std::vector<Table> short_ones = trace_tables(one, 1, Columns::All);
    EXPECT_EQ(table(short_ones, "Critical path").rows.size(), 1u);
    EXPECT_THAT(table(short_ones, "Critical path").note, HasSubstr("2 more rows"));
}

TEST(TraceTables, of_two_have_what_has_changed)
{
    std::vector<TraceAnalysis> two = {analysis_of("a.json", 100), analysis_of("b.json", 80)};
    two[1].names[1].name = "new_update";
    const std::vector<Table> tables = trace_tables(two, 10, Columns::All);
    const Table& path = table(tables, "Critical path");
    EXPECT_EQ(path.head.back(), "B - A, on the path");
    ASSERT_EQ(path.rows.size(), 4u);
    EXPECT_EQ(path.rows[0].back(), "-20.00");
    EXPECT_EQ(path.rows[1][0], "update");
    EXPECT_EQ(path.rows[1].back(), "") << "B has none";
    EXPECT_EQ(path.rows[3][0], "new_update");
    EXPECT_EQ(table(tables, "Lengths of steps").rows[0].back(), "-20.00");
    EXPECT_THAT(table(trace_tables(two, 10, Columns::Compared), "Critical path").head,
                ElementsAre("kernel", "phase", "A on the path", "B on the path", "B - A, on the path"));
    EXPECT_THAT(trace_advice(two), HasSubstr("What limits the steps of b.json\n- A step takes long.\n"));
}

TEST(TraceNumbers, are_json_with_all_of_it)
{
    const std::vector<TraceAnalysis> one = {analysis_of("a.json", 100)};
    const nlohmann::json json = nlohmann::json::parse(trace_numbers(one)).at("traces").at(0);
    EXPECT_EQ(json.at("kind"), "GPUs");
    EXPECT_EQ(json.at("steps").at("all").at("mean_us"), 150);
    EXPECT_TRUE(json.at("steps").at("repartition").is_null());
    EXPECT_EQ(json.at("names").at(0).at("path_us"), 100);
    EXPECT_EQ(json.at("processes").at(0).at("work_us").at("non-overlap"), 4);
    EXPECT_EQ(json.at("occupancy").at(0).at("kernels").at("<pairs>").at("mean"), 0.5);
    EXPECT_EQ(json.at("waits").at(0).at("cause"), "<pairs>");
    EXPECT_EQ(json.at("slow_steps").at(0).at("step"), 9);
    EXPECT_EQ(json.at("advice").size(), 2u);
}

TEST(TracePage, has_figures_and_no_markup_of_names)
{
    const std::vector<TraceAnalysis> one = {analysis_of("a<b>.json", 100)};
    const std::string page = trace_page(one);
    EXPECT_THAT(page, Not(HasSubstr("<pairs>")));
    EXPECT_THAT(page, Not(HasSubstr("a<b>.json")));
    EXPECT_THAT(page, HasSubstr("Change &lt;something&gt;."));
    EXPECT_THAT(page, HasSubstr("Length of steps over step"));
    const std::string step = draw_typical_step(one[0]);
    EXPECT_THAT(step, HasSubstr("<rect class=\"k0\""));
    EXPECT_THAT(step, HasSubstr("<rect class=\"k1 off\"")) << "not on the critical path";
    EXPECT_THAT(draw_occupancy(one[0], one[0].occupancy[0]), HasSubstr("share of 4 multiprocessors"));
    EXPECT_EQ(draw_typical_step({}), "");
}

} // namespace
} // namespace parhelion
