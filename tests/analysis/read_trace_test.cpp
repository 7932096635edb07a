// SPDX-License-Identifier: Apache-2.0
// A timeline that was written is read back span by span; one that is damaged is refused with its line.
#include "analysis/analysis.hpp"
#include "base/error.hpp"
#include "traces.hpp"

#include <fstream>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <iterator>

using namespace parhelion;
using namespace parhelion::test;
using testing::HasSubstr;

namespace {

std::vector<Timeline> two_ranks()
{
    TracedRanks ranks(2);
    for (std::int64_t step = 0; step < 4; ++step)
    {
        ranks.begin(step, 10.0 * static_cast<double>(step));
        for (const int r : {0, 1}) { ranks.add(r, Phase::Kick, 1, 5 + r); }
    }
    return ranks.timelines();
}

std::string written(const std::vector<Timeline>& timelines)
{
    write_chrome_trace(trace_file(), timelines);
    std::ifstream file(trace_file());
    return {std::istreambuf_iterator<char>(file), {}};
}

// The error that a file of this text meets.
InputError error_of(const std::string& text)
{
    std::ofstream(trace_file()) << text;
    try
    {
        read_trace(trace_file());
    }
    catch (const InputError& error)
    {
        return error;
    }
    return {"none", {}, "the file was read"};
}

std::string with(std::string text, const std::string& old, const std::string& now)
{
    const std::size_t at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return text.replace(at, old.size(), now);
}

} // namespace

TEST(ReadTrace, gives_back_every_span_that_was_written)
{
    std::vector<Timeline> timelines = two_ranks();
    const std::vector<NamedKernel> kernels = {{"pairs \"a\\b\"", Phase::Nonbonded}, {"update", Phase::Constrain}};
    TracedGpu gpu("GPU 7", kernels);
    gpu.begin(123456789012, 1e6);
    gpu.run("pairs \"a\\b\"", 0.001, 12.345, 3);
    gpu.run("update", 20, 20);
    timelines.push_back(gpu.timeline());
    const Trace trace = read_back(timelines);
    ASSERT_EQ(trace.processes.size(), 3u);
    for (const std::size_t r : {std::size_t{0}, std::size_t{1}})
    {
        const TracedProcess& rank = trace.processes[r];
        EXPECT_EQ(rank.name, timelines[r].process);
        EXPECT_FALSE(rank.is_gpu);
        ASSERT_EQ(rank.activities.size(), 4u);
        for (std::size_t i = 0; i < 4; ++i)
        {
            const Timeline::Span& s = timelines[r].spans[i];
            EXPECT_EQ(rank.activities[i].begin, s.begin - 1000) << "the first span begins at 1 us";
            EXPECT_EQ(rank.activities[i].end, s.end - 1000);
            EXPECT_EQ(rank.activities[i].step, s.step);
            EXPECT_EQ(rank.activities[i].phase, Phase::Kick);
        }
    }
    const TracedProcess& of_gpu = trace.processes[2];
    EXPECT_TRUE(of_gpu.is_gpu);
    ASSERT_EQ(of_gpu.activities.size(), 2u);
    EXPECT_EQ(trace.names[of_gpu.activities[0].name].name, "pairs \"a\\b\"");
    EXPECT_EQ(of_gpu.activities[0].phase, Phase::Nonbonded);
    EXPECT_EQ(of_gpu.activities[0].step, 123456789012);
    EXPECT_EQ(of_gpu.activities[0].end - of_gpu.activities[0].begin, 12344u);
    EXPECT_EQ(of_gpu.activities[1].phase, Phase::Constrain);
    ASSERT_EQ(of_gpu.blocks.size(), 4u);
    EXPECT_EQ(of_gpu.blocks[2].multiprocessor, 2);
    EXPECT_EQ(of_gpu.blocks[2].ns, 12344u);
    EXPECT_EQ(trace.names[of_gpu.blocks[3].name].name, "update");
}

TEST(ReadTrace, has_short_names_that_tell_processes_apart)
{
    std::vector<Timeline> timelines;
    for (const char* const name : {"GPU 0, for sm_90", "GPU 1, for sm_90", "GPU 0, for sm_90"})
    {
        timelines.push_back(TracedGpu(name, {}).timeline());
    }
    const Trace trace = read_back(timelines);
    EXPECT_EQ(trace.processes[0].name, "GPU 0 (rank 0)");
    EXPECT_EQ(trace.processes[1].name, "GPU 1");
    EXPECT_EQ(trace.processes[2].name, "GPU 0 (rank 2)");
}

TEST(ReadTrace, takes_events_that_are_written_in_another_way)
{
    const std::string text = written(two_ranks());
    const std::string other = with(
        text, R"({"ph":"X","name":"kick","pid":0,"tid":0,"ts":0.000,"dur":4.000,"args":{"step":0}})",
        R"({ "name": "k\u0069ck", "ph": "X", "args": {"step": 0, "colour": "red"}, "dur": 4, "ts": 0, "tid": 0, "pid": 0 })");
    std::ofstream(trace_file()) << other;
    const Trace trace = read_trace(trace_file());
    EXPECT_EQ(trace.processes[0].activities.size(), 4u);
    EXPECT_EQ(trace.processes[0].activities[0].end, 4000u);
    EXPECT_EQ(trace.names[trace.processes[0].activities[0].name].name, "kick");
}

TEST(ReadTrace, refuses_a_file_that_ends_early)
{
    const std::string text = written(two_ranks());
    for (std::size_t length = 0; length + 3 < text.size(); length += 3)
    {
        EXPECT_EQ(error_of(text.substr(0, length)).id(), "E197") << length;
    }
    const InputError cut = error_of(text.substr(0, text.find("\"dur\"")));
    EXPECT_EQ(cut.where().line, 4) << cut.what();
    EXPECT_THAT(cut.what(), HasSubstr(trace_file() + ":4"));
}

TEST(ReadTrace, refuses_what_no_run_writes_and_says_where)
{
    const std::string text = written(two_ranks()), step = R"("args":{"step":0}})";
    const auto expect = [&](const std::string& old, const std::string& now, int line, const std::string& says) {
        const InputError error = error_of(with(text, old, now));
        EXPECT_EQ(error.id(), "E197") << now;
        EXPECT_EQ(error.where().line, line) << now;
        EXPECT_THAT(error.what(), HasSubstr(says)) << now;
    };
    expect("\"dur\":4.000", "\"dur\":-4.000", 4, "lasts -4 us");
    expect("\"dur\":4.000", "\"dur\":1e300", 4, "lasts 1e+300 us");
    expect("\"dur\":4.000", "\"dur\":nan", 4, "lasts nan us");
    expect("\"ts\":0.000", "\"ts\":\"0\"", 4, "is no event");
    expect("\"tid\":0,\"ts\"", "\"tid\":99,\"ts\"", 4, "track 99 of process 0");
    expect("\"pid\":0,\"tid\":0,\"ts\"", "\"pid\":18446744073709551615,\"tid\":0,\"ts\"", 4, "track 0 of process");
    expect("\"name\":\"kick\"", "\"name\":\"kiss\"", 4, "no phase");
    expect("\"pid\":1,\"tid\":0,\"args\"", "\"pid\":3,\"tid\":0,\"args\"", 8, "numbered");
    expect(step, "]}", 4, "is no event");
    expect(step, R"("args":{"step":9223372036854775807}})", 4, "of no step");
    expect(step, R"("args":{"step":9223372036854775808}})", 4, "of no step");
    std::string many =
        "{\"traceEvents\":[\n" + text.substr(text.find("{\"ph\""), text.find("{\"ph\":\"X\"") - text.find("{\"ph\""));
    many = with(many, "\"phases\"", "\"nonbonded\"");
    for (int i = 0; i < 1025; ++i)
    {
        many +=
            R"({"ph":"X","name":"kernel)" + std::to_string(i) + R"(","pid":0,"tid":0,"ts":0,"dur":1,"args":{"step":0}})" + ",\n";
    }
    EXPECT_THAT(error_of(many).what(), HasSubstr("too many names"));
    EXPECT_THAT(error_of("{}").what(), HasSubstr("no timeline"));
    EXPECT_THAT(error_of("").what(), HasSubstr("no timeline"));
    EXPECT_EQ(error_of(std::string(100000, '[')).id(), "E197");
    EXPECT_EQ(error_of("{\"traceEvents\":[\n" + std::string(100000, '[')).id(), "E197");
    EXPECT_EQ(error_of("{\"traceEvents\":[\n{\"a\":" + std::string(100000, '[')).id(), "E197") << "deep nesting";
}

TEST(ReadTrace, of_a_byte_that_has_changed_ends_with_an_error_or_numbers)
{
    const std::string text = written(two_ranks());
    for (std::size_t at = 0; at < text.size(); at += 7)
    {
        for (const char c : {'\0', '"', '9', '}', '\n', '-', '\xff'})
        {
            std::string damaged = text;
            damaged[at] = c;
            std::ofstream(trace_file()) << damaged;
            try
            {
                analyse(read_trace(trace_file()));
            }
            catch (const InputError&)
            {
            }
        }
    }
}
