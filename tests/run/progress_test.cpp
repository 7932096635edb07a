// SPDX-License-Identifier: Apache-2.0
#include "run/progress.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

namespace parhelion {
namespace {

using testing::HasSubstr;

// A stream that ends in a string.
class Screen
{
public:
    Screen() : file_(::open_memstream(&data_, &size_)) {}
    ~Screen()
    {
        std::fclose(file_);
        std::free(data_);
    }
    std::FILE* file() { return file_; }
    std::string text()
    {
        std::fflush(file_);
        return {data_, size_};
    }

private:
    char* data_ = nullptr;
    std::size_t size_ = 0;
    std::FILE* file_;
};

const ProgressValues warm{.temperature = 300.0, .pressure = {}, .density = {}, .potential = {}, .largest_force = {}};
using Time = Progress::Clock::time_point;
Time at(double seconds)
{
    return Time(std::chrono::duration_cast<Progress::Clock::duration>(std::chrono::duration<double>(seconds)));
}

TEST(Progress, writes_twenty_lines_to_a_file_and_the_last_says_100_percent)
{
    Screen screen;
    Progress progress(screen.file(), ProgressStyle::Lines, 0.002, at(0));
    for (int step = 0; step <= 5000; step += 10) { progress.update(step, 5000, warm, at(step * 0.001)); }
    progress.finish();
    const std::string text = screen.text();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 20);
    EXPECT_THAT(text, HasSubstr("\n100 %  step 5000/5000  10 ps  300.0 K"));
    EXPECT_THAT(text, testing::Not(HasSubstr("\r")));
}

TEST(Progress, writes_a_line_every_ten_minutes_of_a_long_run)
{
    Screen screen;
    Progress progress(screen.file(), ProgressStyle::Lines, 0.002, at(0));
    for (int second = 0; second <= 3600; second += 5) { progress.update(second, 10000000, warm, at(second)); }
    const std::string text = screen.text();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);
}

TEST(Progress, knows_speed_and_time_to_go)
{
    Screen screen;
    Progress progress(screen.file(), ProgressStyle::Lines, 0.002, at(0));
    progress.update(1000, 2000, warm, at(10)); // 100 steps/s of 2 fs: 17.28 ns/day, 10 s to go
    EXPECT_THAT(screen.text(), testing::EndsWith(" 50 %  step 1000/2000  2 ps  300.0 K  17.28 ns/day  ETA 10 s\n"));
}

TEST(Progress, forgets_an_old_speed)
{
    Screen screen;
    Progress progress(screen.file(), ProgressStyle::Lines, 0, at(0));
    progress.update(1000, 100000, {}, at(10)); // 100 steps/s, then 10
    for (int i = 1; i <= 300; ++i) { progress.update(1000 + 10 * i, 100000, {}, at(10 + i)); }
    progress.finish();
    EXPECT_THAT(screen.text(), HasSubstr("  10 steps/s  at most 2 h "));
}

TEST(Progress, tells_what_there_is)
{
    Screen screen;
    Progress md(screen.file(), ProgressStyle::Lines, 0.002, at(0)), minimisation(screen.file(), ProgressStyle::Lines, 0, at(0));
    md.update(2000, 2000, {300.04, -12.4, 996.06, {}, {}}, at(0));
    minimisation.update(1000, 2000, {{}, {}, {}, -123456.7, 98.76, 1234.5}, at(0));
    minimisation.update(2000, 2000, {{}, {}, {}, -123456.7, 9.876, 0}, at(0));
    EXPECT_EQ(screen.text(),
              "100 %  step 2000/2000  4 ps  300.0 K  -12 bar  996.1 kg/m^3\n"
              " 50 %  step 1000/2000  -123457 kJ/mol  largest force 98.8 kJ/mol/nm  about 1300 steps to go at this rate\n"
              "100 %  step 2000/2000  -123457 kJ/mol  largest force 9.88 kJ/mol/nm\n");
}

TEST(Progress, tells_times_as_people_do)
{
    EXPECT_EQ(duration_text(41.4), "41 s");
    EXPECT_EQ(duration_text(900), "15 min");
    EXPECT_EQ(duration_text(125), "2 min 05 s");
    EXPECT_EQ(duration_text(88604), "1 d 00 h");
    EXPECT_EQ(duration_text(23279), "6 h 27 min");
}

TEST(Progress, rewrites_one_line_of_a_terminal_a_few_times_a_second)
{
    Screen screen;
    Progress progress(screen.file(), ProgressStyle::LiveLine, 0.002, at(0));
    for (int i = 1; i <= 1000; ++i) { progress.update(i, 2000, warm, at(i * 0.001)); }
    progress.finish();
    const std::string text = screen.text();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
    const auto drawn = std::count(text.begin(), text.end(), '\r');
    EXPECT_GE(drawn, 5);
    EXPECT_LE(drawn, 6);
}

TEST(Progress, leaves_nothing_of_a_longer_line_behind)
{
    Screen screen;
    Progress progress(screen.file(), ProgressStyle::LiveLine, 0.002, at(0));
    progress.update(1000, -1, warm, at(1));
    progress.update(1001, -1, {}, at(2));
    const std::string text = screen.text();
    const std::size_t second = text.rfind('\r');
    EXPECT_GE(text.size() - second, second);
}

} // namespace
} // namespace parhelion
