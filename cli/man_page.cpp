// SPDX-License-Identifier: Apache-2.0
// Writes parhelion.1: the help of all commands, one after another.
#include "command_tree.hpp"
#include "completion.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

namespace {

// Returns the text for roff: dashes become minus signs, and no line begins with a request.
std::string roff(const std::string& text)
{
    std::string result;
    bool begins = true;
    for (const char c : text)
    {
        if (begins && (c == '.' || c == '\'')) { result += "\\&"; }
        result += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
        begins = c == '\n';
    }
    return result;
}

std::string upper(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return text;
}

// Returns, for example, "-q, --quiet" or "--device auto|cpu|gpu".
std::string tag(const TreeOption& option)
{
    std::string text;
    for (const std::string& name : option.names) { text += fmt::format("{}\\fB{}\\fR", text.empty() ? "" : ", ", roff(name)); }
    std::string value = option.value;
    if (option.takes == Takes::Word && option.words.size() <= 6)
    {
        value.clear();
        for (const std::string& word : option.words) { value += (value.empty() ? "" : "|") + word; }
    }
    return value.empty() ? text : fmt::format("{} \\fI{}\\fR", text, roff(value));
}

std::string section(const TreeCommand& command)
{
    std::string text =
        command.path.empty() ? ".SH OPTIONS\n" : fmt::format(".SH {}\n{}.\n", upper(roff(command.path)), roff(command.about));
    for (const TreeOption& option : command.options)
    {
        if (command.path.empty() || option.names.back() != "--help")
        {
            text += fmt::format(".TP\n{}\n{}\n", tag(option), roff(option.about));
        }
    }
    if (!command.footer.empty()) { text += fmt::format(".PP\n.nf\n{}.fi\n", roff(command.footer)); }
    return text;
}

constexpr const char* end_of_page = R"(.SH EXIT STATUS
.TP
0
done
.TP
1
an internal error: please report it
.TP
2
a command line that makes no sense
.TP
3
stopped early, as asked; the same command continues
.TP
4
input that cannot be used, or an option that does not suit it
.TP
5
the simulation blew up
.TP
6
disk, device, or a rank that no longer answers
.SH ENVIRONMENT
.TP
.B GMXLIB
folders of force fields
.TP
.BR PARHELION_RANK ", " PARHELION_SIZE ", " PARHELION_HOST
number of this process, how many there are, and the host of the first, where no launcher tells
.SH SEE ALSO
.BR gmx (1)
)";

} // namespace

std::string man_page(const CLI::App& program, const std::string& version)
{
    const std::string name_and_number = version.substr(0, version.find(' ', version.find(' ') + 1));
    const std::vector<TreeCommand> tree = command_tree(program);
    std::string text =
        fmt::format(".TH PARHELION 1 \"\" \"{}\" \"User Commands\"\n.SH NAME\nparhelion \\- molecular dynamics from GROMACS "
                    "inputs, on CPUs and GPUs\n.SH SYNOPSIS\n.B parhelion\n.I COMMAND\n[\\fIOPTION\\fR]...\n.SH COMMANDS\n",
                    name_and_number);
    for (const TreeCommand& command : tree)
    {
        if (!command.path.empty()) { text += fmt::format(".TP\n.B {}\n{}\n", roff(command.path), roff(command.about)); }
    }
    for (const TreeCommand& command : tree) { text += section(command); }
    return text + end_of_page;
}

} // namespace parhelion
