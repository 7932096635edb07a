// SPDX-License-Identifier: Apache-2.0
// `parhelion gmx-args "grompp ..." "mdrun ..."`: translates the commands to options of this program, option by option.
#include "commands.hpp"
#include "gmx_flags.hpp"
#include "habits.hpp"
#include "shell_word.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

namespace parhelion {

namespace {

using Words = std::vector<std::string>;

// A line of the explanation: GROMACS' option, its equivalent here, and the reason.
struct Line
{
    std::string there, here, note;
};

struct Translation
{
    Words run; // options of `parhelion run`
    std::vector<Line> lines;
    bool has_input = false; // true if grompp was among the commands
};

bool is_command(const std::string& word) { return word == "grompp" || word == "mdrun"; }
// Returns whether a word is an option, such as -dd, and not a number, such as -1.
bool is_option(const std::string& word)
{
    return word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0;
}

// Returns the row of an option, or null. `is_off` says whether a switch was given as -no...
const GmxFlag* find_flag(GmxCommand command, const std::string& word, bool& is_off)
{
    for (const GmxFlag& flag : gmx_flags())
    {
        if (flag.command != command) { continue; }
        is_off = flag.values == 0 && word == fmt::format("-no{}", flag.name.substr(1));
        if (is_off || word == flag.name) { return &flag; }
    }
    return nullptr;
}

// Returns the values of a flag, starting at words[at], and moves `at` behind these values.
Words take_values(const GmxFlag& flag, const Words& words, std::size_t& at)
{
    Words values;
    const auto enough = [&] { return flag.values >= 0 && values.size() == static_cast<std::size_t>(flag.values); };
    while (!enough() && at < words.size() && !is_option(words[at]) && !is_command(words[at])) { values.push_back(words[at++]); }
    return values;
}

Line translate(const GmxFlag& flag, const std::string& word, const Words& values, bool is_off, Words& run)
{
    Line line{word, "", note_on(flag)};
    if (!values.empty()) { line.there += fmt::format(" {}", fmt::join(values, " ")); }
    if (flag.values > 0 && values.size() < static_cast<std::size_t>(flag.values))
    {
        line.here = "?", line.note = fmt::format("It wants {} value{}.", flag.values, flag.values == 1 ? "" : "s");
        return line;
    }
    const Words here = is_off ? Words{} : flag.here(values);
    run.insert(run.end(), here.begin(), here.end());
    line.here = !here.empty() ? fmt::format("{}", fmt::join(here, " ")) : flag.equal == Equal::None ? "not here" : "-";
    if (is_off && flag.equal == Equal::None) { line.here = "-"; }
    if (is_off && word == "-noappend") { line.note = advice_on_option(word); }
    return line;
}

// Explains the words, such as a launcher, that come before the name of a GROMACS command.
void note_launcher(const Words& before, Translation& result)
{
    const bool is_launched = !before.empty() && !before[0].starts_with("gmx");
    if (!is_launched) { return; }
    result.lines.push_back({fmt::format("{}", fmt::join(before, " ")), "-",
                            "On one host one process does it all; on several, the same launcher starts parhelion run."});
}

Translation translate(const Words& words)
{
    Translation result;
    Words before;
    std::optional<GmxCommand> command;
    for (std::size_t at = 0; at < words.size();)
    {
        const std::string word = words[at++];
        if (is_command(word))
        {
            command = word == "grompp" ? GmxCommand::Grompp : GmxCommand::Mdrun;
            result.has_input = result.has_input || word == "grompp";
            note_launcher(before, result);
            before.clear();
            continue;
        }
        bool is_off = false;
        const GmxFlag* const flag = command && is_option(word) ? find_flag(*command, word, is_off) : nullptr;
        if (flag != nullptr)
        {
            const Words values = take_values(*flag, words, at);
            result.lines.push_back(translate(*flag, word, values, is_off, result.run));
        }
        else if (command && is_option(word)) { result.lines.push_back({word, "?", "It is no option of GROMACS 2022 there."}); }
        else { before.push_back(word); }
    }
    if (!before.empty() && command)
    {
        result.lines.push_back({fmt::format("{}", fmt::join(before, " ")), "?", "No option takes this."});
    }
    if (!command)
    {
        throw InputError("E010", {},
                         "no grompp or mdrun is in what was given. Give such a command line, as in \"mdrun -deffnm md\".");
    }
    return result;
}

// Moves an option with its value from one list to another. If it was not given, adds its default value and explains that.
void move_option(const char* option, const std::string& usual, const char* note, Translation& translation, Words& to)
{
    Words& from = translation.run;
    const auto found = std::find(from.begin(), from.end(), option);
    const bool is_given = found != from.end();
    to.insert(to.end(), {option, is_given ? *(found + 1) : usual});
    if (is_given) { from.erase(found, found + 2); }
    else { translation.lines.push_back({"", fmt::format("{} {}", option, usual), note}); }
}

// Returns the words with files first, as users write them: grompp's files, or without grompp mdrun's .tpr.
Words in_order(Translation& translation)
{
    Words command = {"parhelion", "run"};
    Words& run = translation.run;
    if (translation.has_input)
    {
        if (const auto tpr = std::find(run.begin(), run.end(), "-s"); tpr != run.end()) { run.erase(tpr, tpr + 2); }
        move_option("-f", "grompp.mdp", "grompp's default.", translation, command);
        move_option("-c", "conf.gro", "grompp's default.", translation, command);
        move_option("-p", "topol.top", "grompp's default.", translation, command);
    }
    else
    {
        const auto named = std::find(run.begin(), run.end(), "-o"); // -o has the value of -deffnm
        move_option("-s", named != run.end() ? *(named + 1) + ".tpr" : "topol.tpr", "What mdrun reads then.", translation,
                    command);
    }
    command.insert(command.end(), run.begin(), run.end());
    return command;
}

} // namespace

void command_gmx_args(const GmxArgsOptions& options)
{
    if (options.table)
    {
        fmt::print("{}", gmx_flags_manual());
        return;
    }
    std::istringstream all(fmt::format("{}", fmt::join(options.words, " ")));
    const Words words{std::istream_iterator<std::string>(all), {}};
    Translation translation = translate(words);
    Words command = in_order(translation);
    std::transform(command.begin(), command.end(), command.begin(), shell_word);
    fmt::print("{}\n\n", fmt::join(command, " "));
    std::size_t widths[] = {0, 0};
    for (const Line& line : translation.lines)
    {
        widths[0] = std::max(widths[0], line.there.size()), widths[1] = std::max(widths[1], line.here.size());
    }
    for (const Line& line : translation.lines)
    {
        fmt::print("  {:<{}}  {:<{}}  {}\n", line.there, widths[0], line.here, widths[1], line.note);
    }
}

} // namespace parhelion
