// SPDX-License-Identifier: Apache-2.0
// From records of blocks to spans, covered time, tracks, and a file that a JSON reader reads.
#include "trace/chrome_trace.hpp"

#include "base/error.hpp"
#include "trace/phases.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

using namespace parhelion;

namespace {

const std::vector<NamedKernel> pair_and_update = {{"pair_kernel", Phase::Nonbonded}, {"update_kernel", Phase::Constrain}};

// Two steps of a pair kernel of four blocks on two multiprocessors, two at a time, and an update of one.
std::vector<BlockRecord> two_steps()
{
    std::vector<BlockRecord> records;
    for (std::int64_t step = 40; step < 42; ++step)
    {
        const auto t = static_cast<std::uint64_t>(1000 + 100 * (step - 40));
        const auto launch = static_cast<std::uint32_t>(2 * (step - 40));
        for (std::uint16_t block = 0; block < 4; ++block)
        {
            records.push_back({t + block, t + 50u + 5u * block, step, launch, 0, static_cast<std::uint16_t>(block / 2)});
        }
        records.push_back({t + 70, t + 90, step, launch + 1, 1, 1});
    }
    return records;
}

std::int64_t ns(double us) { return std::llround(us * 1000); }

std::string written(std::span<const Timeline> timelines)
{
    const std::string path = testing::TempDir() + "parhelion_timeline.json";
    write_chrome_trace(path, timelines);
    std::ifstream file(path);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    std::remove(path.c_str());
    return text;
}

} // namespace

TEST(Timeline, a_kernel_lasts_from_its_first_block_to_its_last)
{
    const std::vector<KernelSpan> spans = kernel_spans(two_steps());
    ASSERT_EQ(spans.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i)
    {
        EXPECT_EQ(spans[i].step, i < 2 ? 40 : 41);
        EXPECT_EQ(spans[i].kernel, i % 2);
        const std::uint64_t t = i < 2 ? 1000 : 1100;
        EXPECT_EQ(spans[i].begin, i % 2 == 0 ? t : t + 70);
        EXPECT_EQ(spans[i].end, i % 2 == 0 ? t + 65 : t + 90);
    }
}

TEST(Timeline, two_launches_of_a_kernel_in_a_step_are_two_spans)
{
    std::vector<BlockRecord> records = two_steps();
    records.resize(4);
    for (BlockRecord r : std::vector<BlockRecord>(records))
    {
        r.launch = 1, r.begin += 200, r.end += 200;
        records.push_back(r);
    }
    EXPECT_EQ(kernel_spans(records).size(), 2u);
}

TEST(Timeline, time_is_covered_once_however_many_spans_run)
{
    EXPECT_EQ(covered_time({}), 0u);
    EXPECT_EQ(covered_time({{10, 20}, {30, 45}}), 25u);
    EXPECT_EQ(covered_time({{15, 40}, {10, 20}, {12, 13}}), 30u);
    EXPECT_EQ(covered_time({{10, 20}, {20, 30}}), 20u);
}

TEST(Timeline, spans_of_a_track_do_not_overlap_and_no_block_is_lost)
{
    const std::vector<BlockRecord> records = two_steps();
    const Timeline timeline = timeline_of_blocks("GPU 0", pair_and_update, records);
    std::map<std::size_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> of_track;
    std::size_t blocks = 0;
    for (const Timeline::Span& s : timeline.spans)
    {
        ASSERT_LT(s.track, timeline.tracks.size());
        of_track[s.track].emplace_back(s.begin, s.end);
        blocks += timeline.tracks[s.track].starts_with("multiprocessor") ? 1 : 0;
    }
    EXPECT_EQ(blocks, records.size());
    EXPECT_EQ(timeline.tracks.size(), static_cast<std::size_t>(phases) + 1 + 4) << "two blocks at a time on two multiprocessors";
    for (auto& [track, spans] : of_track)
    {
        std::sort(spans.begin(), spans.end());
        for (std::size_t i = 1; i < spans.size(); ++i) { EXPECT_LE(spans[i - 1].second, spans[i].first) << track; }
    }
}

TEST(Timeline, says_where_steps_left_no_records_and_how_many_did)
{
    const auto gaps = [](std::span<const BlockRecord> records) {
        const Timeline timeline = timeline_of_blocks("GPU 0", pair_and_update, records);
        std::vector<Timeline::Span> spans;
        for (const Timeline::Span& s : timeline.spans)
        {
            if (timeline.tracks[s.track] != "not recorded") { continue; }
            EXPECT_EQ(timeline.names[s.name], "steps not recorded");
            spans.push_back(s);
        }
        return spans;
    };
    std::vector<BlockRecord> records = two_steps(); // 40 and 41, until 1190
    EXPECT_TRUE(gaps(records).empty());
    EXPECT_EQ(recorded_steps(records), 2);
    for (BlockRecord r : two_steps()) // 46 and 47; the first of them begins with the block that is recorded second
    {
        r.step += 6, r.begin += 600, r.end += 600;
        if (r.begin == 1601) { r.begin = 1599; }
        records.push_back(r);
    }
    ASSERT_EQ(gaps(records).size(), 1u);
    EXPECT_EQ(recorded_steps(records), 4);
    const Timeline::Span gap = gaps(records)[0];
    EXPECT_EQ(gap.step, 42);
    EXPECT_EQ(gap.begin, 1190u);
    EXPECT_EQ(gap.end, 1599u);
    for (BlockRecord r : two_steps()) // done again
    {
        r.begin += 900, r.end += 900;
        records.push_back(r);
    }
    EXPECT_EQ(gaps(records).size(), 1u) << "a step back is no gap";
    EXPECT_EQ(recorded_steps(records), 6);
    EXPECT_EQ(recorded_steps(std::vector<BlockRecord>{{10, 20, 5, 0, 0, 0}, {30, 40, 5, 1, 1, 0}, {50, 60, 5, 0, 0, 0}}), 2)
        << "one step, taken twice in a row";
}

TEST(Timeline, of_a_rank_has_its_phases_and_their_steps)
{
    PhaseClock clock;
    clock.keep(2);
    const PhaseClock::Time t{std::chrono::microseconds(500)};
    for (std::int64_t step = 0; step < 3; ++step)
    {
        clock.set_step(step);
        clock.add(Phase::Bonded, t + std::chrono::microseconds(10 * step), t + std::chrono::microseconds(10 * step + 4));
    }
    EXPECT_DOUBLE_EQ(clock.seconds(Phase::Bonded), 12e-6);
    const Timeline timeline = timeline_of_phases("rank 3", clock.spans());
    ASSERT_EQ(timeline.spans.size(), 2u) << "the latest two";
    EXPECT_EQ(timeline.spans[0].step, 1);
    EXPECT_EQ(timeline.names[timeline.spans[0].name], "bonded");
    EXPECT_EQ(timeline.spans[1].end - timeline.spans[1].begin, 4000u);
}

TEST(ChromeTrace, is_json_with_every_span_on_a_named_track)
{
    const Timeline gpu = timeline_of_blocks("GPU 0, \"a\\b\"", pair_and_update, two_steps());
    Timeline rank;
    rank.process = "rank 1";
    rank.tracks = {"phases"};
    rank.names = {"kick"};
    rank.spans = {{900, 950, 7, 0, 0}};
    const nlohmann::json json = nlohmann::json::parse(written(std::vector<Timeline>{gpu, rank}));

    std::map<std::pair<int, int>, std::string> threads;
    std::map<int, std::string> processes;
    std::multiset<std::tuple<int, std::string, std::int64_t, std::int64_t, std::int64_t>> spans, expected; // ns
    for (const nlohmann::json& event : json.at("traceEvents"))
    {
        const int process = event.at("pid"), track = event.at("tid");
        if (event.at("ph") == "M" && event.at("name") == "process_name") { processes[process] = event.at("args").at("name"); }
        else if (event.at("ph") == "M") { threads[{process, track}] = event.at("args").at("name"); }
        else
        {
            EXPECT_EQ(event.at("ph"), "X");
            EXPECT_TRUE(threads.contains({process, track}));
            spans.emplace(process, event.at("name"), event.at("args").at("step"), ns(event.at("ts")), ns(event.at("dur")));
        }
    }
    for (const Timeline::Span& s : gpu.spans) { expected.emplace(0, gpu.names[s.name], s.step, s.begin - 900, s.end - s.begin); }
    expected.emplace(1, "kick", 7, 0, 50);
    EXPECT_EQ(spans, expected);
    EXPECT_EQ(processes[0], "GPU 0, \"a\\b\"");
    EXPECT_EQ(processes[1], "rank 1");
    EXPECT_EQ((threads[{0, static_cast<int>(Phase::Nonbonded)}]), "nonbonded");
}

TEST(ChromeTrace, tells_atoms_and_peers_where_a_timeline_knows_them)
{
    Timeline first, second;
    first.process = "rank 0", first.atoms = 1503, first.peers = {1, 3};
    second.process = "rank 1";
    const nlohmann::json events = nlohmann::json::parse(written(std::vector<Timeline>{first, second})).at("traceEvents");
    EXPECT_EQ(events.at(0).at("args"), (nlohmann::json{{"name", "rank 0"}, {"atoms", 1503}, {"peers", {1, 3}}}));
    EXPECT_EQ(events.at(1).at("args"), (nlohmann::json{{"name", "rank 1"}}));
}

TEST(ChromeTrace, of_nothing_is_json_too)
{
    EXPECT_TRUE(nlohmann::json::parse(written({})).at("traceEvents").empty());
    EXPECT_EQ(nlohmann::json::parse(written(std::vector<Timeline>{{"GPU 0", {}, {}, {}}})).at("traceEvents").size(), 1u);
}

TEST(ChromeTrace, that_cannot_be_written_is_an_error_with_its_path)
{
    try
    {
        write_chrome_trace("/nowhere/trace.json", {});
        FAIL();
    }
    catch (const SystemError& error)
    {
        EXPECT_NE(std::string(error.what()).find("/nowhere/trace.json"), std::string::npos);
    }
}
