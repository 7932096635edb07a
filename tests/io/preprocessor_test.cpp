// SPDX-License-Identifier: Apache-2.0
#include "io/input/preprocessor.hpp"

#include "io/input_folder.hpp"

#include <chrono>
#include <gmock/gmock-more-matchers.h>

using namespace parhelion;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

namespace {

struct Options
{
    std::vector<std::string> defines;
    std::vector<std::filesystem::path> include_paths;
};

std::vector<std::string> lines_of(const std::filesystem::path& file, const Options& options = {})
{
    Preprocessor source(file, options.defines, options.include_paths);
    std::vector<std::string> lines;
    for (SourceLine line; source.next(line);) { lines.emplace_back(line.text); }
    return lines;
}

class PreprocessorTest : public testing::Test
{
protected:
    std::vector<std::string> lines(std::string_view text, const Options& options = {})
    {
        return lines_of(folder_.write("main.top", text), options);
    }
    void expect_error(std::string_view text, std::string_view id, int line, std::string_view part = {},
                      const Options& options = {})
    {
        SCOPED_TRACE(std::string(text.substr(0, 200)));
        expect_refused([&] { lines(text, options); }, id, line == 0 ? "" : "main.top", line, part);
    }

    InputFolder folder_;
};

} // namespace

// Were a line looked at once for each condition around it, a million conditions would take minutes.
TEST_F(PreprocessorTest, reads_conditions_in_conditions_in_a_time_that_grows_with_their_number)
{
    constexpr int depth = 1'000'000;
    std::string text;
    for (int i = 0; i < depth; ++i) { text += "#ifndef A\n"; }
    text += "inside\n#else\nno\n";
    for (int i = 0; i < depth; ++i) { text += "#endif\n"; }
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THAT(lines(text + "outside\n"), ElementsAre("inside", "outside"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(PreprocessorTest, comments_blank_lines_and_line_ends_of_any_system_leave_the_words)
{
    EXPECT_THAT(lines("a b ; c\r\n\r\n;d\n   e\t\nlast"), ElementsAre("a b", "e", "last"));
    EXPECT_THAT(lines("\xEF\xBB\xBF"
                      "a b\na"),
                ElementsAre("a b", "a"));
    EXPECT_THAT(lines(""), IsEmpty());
}

TEST_F(PreprocessorTest, a_backslash_joins_lines_even_that_of_a_comment)
{
    EXPECT_THAT(lines("1 \\\n 2\\  \n3\n4 ; note \\\nswallowed\n5\n6 \\"), ElementsAre("1  2 3", "4", "5", "6"));
}

TEST_F(PreprocessorTest, every_line_knows_the_file_and_the_line_it_began_on)
{
    folder_.write("sub/inner.itp", "; nothing\ninner\n");
    Preprocessor source(folder_.write("main.top", "one \\\n two\n\n#include \"sub/inner.itp\"\nthree\n"), {}, {});
    SourceLine line;
    std::vector<std::pair<std::string, int>> seen;
    while (source.next(line))
    {
        seen.emplace_back(std::filesystem::path(source.where(line.place).file).filename(), source.where(line.place).line);
    }
    EXPECT_THAT(seen, ElementsAre(std::pair("main.top", 1), std::pair("inner.itp", 2), std::pair("main.top", 5)));
}

TEST_F(PreprocessorTest, conditions_nest_and_what_they_exclude_is_not_even_opened)
{
    const std::string_view text = "#ifdef A\n#ifdef B\nab\n#else\na\n#endif\n#else\n#include \"missing.itp\"\n#ifndef "
                                  "B\nneither\n#else\nb\n#endif\n#endif\n";
    EXPECT_THAT(lines(text, {{"A", "B"}, {}}), ElementsAre("ab"));
    EXPECT_THAT(lines(text, {{"A"}, {}}), ElementsAre("a"));
    expect_refused([&] { lines(text); }, "E111", "main.top", 8, "missing.itp");
    EXPECT_THAT(lines("#define A\n#undef A\n#ifdef A\nx\n#endif\n#ifndef A\ny\n#endif"), ElementsAre("y"));
    EXPECT_THAT(lines("#ifdef A\n#unknown directive\n#endif\n# define A 1\nA"), ElementsAre("1"));
}

TEST_F(PreprocessorTest, macros_replace_whole_words_and_what_they_expand_to)
{
    EXPECT_THAT(lines("#define k 5\n#define kk k 2*k\nk kk k_ xk k* (k)"), ElementsAre("5 5 2*5 k_ xk 5* (5)"));
    EXPECT_THAT(lines("#define a b\n#define b a c\na"), ElementsAre("a c")); // a macro is not replaced inside itself
    EXPECT_THAT(lines("#define flag\nflag 1"), ElementsAre("flag 1"));
    EXPECT_THAT(lines("k 1", {{"k=0.5 2"}, {}}), ElementsAre("0.5 2 1"));
    EXPECT_THAT(lines("#define k 1\n#define k 2\nk"), ElementsAre("2"));
}

TEST_F(PreprocessorTest, includes_are_looked_for_beside_the_including_file_and_then_in_the_given_order)
{
    folder_.write("lib1/ff.itp", "from lib1\n");
    folder_.write("lib2/ff.itp", "from lib2\n#include \"near.itp\"\n");
    folder_.write("lib2/near.itp", "near lib2\n");
    folder_.write("near.itp", "near main\n");
    const auto a = folder_.path() / "lib1", b = folder_.path() / "lib2";
    EXPECT_THAT(lines("#include \"ff.itp\"\n#include <near.itp>\n", {{}, {a, b}}), ElementsAre("from lib1", "near main"));
    EXPECT_THAT(lines("#include \"ff.itp\"", {{}, {b, a}}), ElementsAre("from lib2", "near lib2"));
}

TEST_F(PreprocessorTest, broken_directives_are_errors_at_their_line)
{
    expect_error("x\n#ifdef A\n#else\n", "E112", 2, "no #endif");
    expect_error("#ifdef A\n#ifdef B\n#endif\n", "E112", 1, "no #endif");
    expect_error("#endif\n", "E112", 1, "without");
    expect_error("#else\n", "E112", 1, "without");
    expect_error("#ifdef A\n#else\n#else\n#endif", "E112", 3, "second #else");
    expect_error("\n#inclde \"x\"\n", "E112", 2, "'#include'");
    expect_error("#ifdef\n#endif", "E112", 1, "without a name");
    expect_error("#define\n", "E112", 1);
    expect_error("#include\n", "E112", 1);
    expect_error("#include x.itp\n", "E112", 1);
    expect_error("#include \"x.itp\n", "E112", 1);
    expect_error("#include \"x.itp\"\n", "E111", 1, "'x.itp'");
}

TEST_F(PreprocessorTest, a_condition_must_end_in_the_file_it_began_in)
{
    folder_.write("open.itp", "\n#ifdef A\n");
    expect_refused([&] { lines("#include \"open.itp\"\n#endif\n"); }, "E112", "open.itp", 2);
}

TEST_F(PreprocessorTest, includes_and_macros_without_end_are_refused)
{
    expect_error("#include \"main.top\"\n", "E111", 1, "for ever");
    folder_.write("a.itp", "#include \"./b.itp\"\n");
    folder_.write("b.itp", "#include \"../" + folder_.path().filename().string() + "/a.itp\"\n");
    expect_refused([&] { lines("#include \"a.itp\"\n"); }, "E111", "b.itp", 1);

    std::string doubling = "#define m0 x x\n", chain = "#define c0 x\n";
    for (int i = 1; i < 60; ++i)
    {
        doubling += "#define m" + std::to_string(i) + " m" + std::to_string(i - 1) + " m" + std::to_string(i - 1) + "\n";
    }
    for (int i = 1; i < 5000; ++i) { chain += "#define c" + std::to_string(i) + " c" + std::to_string(i - 1) + "\n"; }
    expect_error(doubling + "m59\n", "E114", 61);
    expect_error(chain + "c4999\n", "E114", 5001);
}

TEST_F(PreprocessorTest, a_definition_that_nothing_uses_is_warned_of_with_a_suggestion)
{
    const auto warnings = [&](std::string_view text, const std::string& name) {
        Preprocessor source(folder_.write("main.top", text), {name}, {}, {"run.mdp", 5});
        for (SourceLine line; source.next(line);) {}
        Diagnostics diagnostics;
        source.warn_of_unused_defines(diagnostics);
        std::vector<std::string> found;
        for (const Warning& warning : diagnostics.warnings) { found.push_back(warning.text()); }
        return found;
    };
    EXPECT_THAT(warnings("#ifdef POSRES\n#endif\n", "POSRE"),
                ElementsAre(AllOf(StartsWith("W024 run.mdp:5  -DPOSRE is not used"), HasSubstr("'POSRES'"))));
    EXPECT_THAT(warnings("#ifdef A\n#ifdef B\n#endif\n#endif\n", "B"), ElementsAre(HasSubstr("-DB")));
    EXPECT_THAT(warnings("#ifndef FLEXIBLE\n#endif\n", "FLEXIBLE"), IsEmpty());
    expect_error("x\n", "E112", 0, "valid name", {{"a b"}, {}});
    expect_error("x\n", "E112", 0, "valid name", {{"=3"}, {}});
}

TEST_F(PreprocessorTest, a_missing_file_and_a_folder_are_refused)
{
    expect_refused([&] { lines_of(folder_.path() / "none.top"); }, "E110", "none.top", 0);
    expect_refused([&] { lines_of(folder_.path()); }, "E110", folder_.path().filename().string(), 0, "not a regular file");
}
