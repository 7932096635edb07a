// SPDX-License-Identifier: Apache-2.0
// Shell completion: finds the command by its words, then completes an option's value, or otherwise an option or a subcommand.
#include "completion.hpp"
#include "command_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>

namespace parhelion {

namespace {

std::string replaced(std::string text, std::string_view what, std::string_view by)
{
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    {
        text.replace(at, what.size(), by);
    }
    return text;
}

// Returns the text in single quotation marks, for bash and zsh.
std::string quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

// Returns the patterns "run -f"|"run -c" of all options in the tree that take such a value.
std::string patterns(const std::vector<TreeCommand>& tree, Takes takes)
{
    std::vector<std::string> all;
    for (const TreeCommand& command : tree)
    {
        for (const TreeOption& option : command.options)
        {
            if (option.takes != takes) { continue; }
            for (const std::string& name : option.names) { all.push_back(fmt::format("\"{} {}\"", command.path, name)); }
        }
    }
    return all.empty() ? "none" : fmt::format("{}", fmt::join(all, "|"));
}

// Returns the patterns of `case "$command $word" in` that select a command.
std::string paths(const std::vector<TreeCommand>& tree)
{
    std::vector<std::string> all;
    for (const TreeCommand& command : tree)
    {
        const bool is_inside = command.path.find(' ') != std::string::npos;
        if (!command.path.empty()) { all.push_back(fmt::format("\"{}{}\"", is_inside ? "" : " ", command.path)); }
    }
    return fmt::format("{}", fmt::join(all, "|"));
}

// Returns a line for each option that takes one of several words. offer(words) is the shell's code that offers these words.
std::string word_cases(const std::vector<TreeCommand>& tree, const std::function<std::string(const std::string&)>& offer)
{
    std::string lines;
    for (const TreeCommand& command : tree)
    {
        for (const TreeOption& option : command.options)
        {
            if (option.takes != Takes::Word) { continue; }
            std::vector<std::string> names;
            for (const std::string& name : option.names) { names.push_back(fmt::format("\"{} {}\"", command.path, name)); }
            lines += fmt::format("        {}) {}; return ;;\n", fmt::join(names, "|"),
                                 offer(fmt::format("{}", fmt::join(option.words, " "))));
        }
    }
    return lines;
}

std::string for_bash(const std::vector<TreeCommand>& tree)
{
    std::string text = R"(# bash completion for parhelion, written by: parhelion completion bash
_parhelion()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= words= i
    for ((i = 1; i < COMP_CWORD; ++i)); do
        case "$command ${COMP_WORDS[i]}" in
)";
    text += fmt::format("            {}) command=${{command:+$command }}${{COMP_WORDS[i]}} ;;\n        esac\n    done\n",
                        paths(tree));
    text += "    case \"$command $before\" in\n";
    text += word_cases(
        tree, [](const std::string& words) { return fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))", words); });
    text += fmt::format("        {}) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n", patterns(tree, Takes::File));
    text += fmt::format("        {}) COMPREPLY=($(compgen -d -- \"$word\")); return ;;\n", patterns(tree, Takes::Folder));
    text += fmt::format("        {}) COMPREPLY=(); return ;;\n    esac\n", patterns(tree, Takes::Text));
    text += "    case \"$command\" in\n";
    for (const TreeCommand& command : tree)
    {
        std::vector<std::string> words;
        for (const auto& [name, about] : command.inside) { words.push_back(name); }
        for (const TreeOption& option : command.options) { words.insert(words.end(), option.names.begin(), option.names.end()); }
        text += fmt::format("        \"{}\") words=\"{}\" ;;\n", command.path, fmt::join(words, " "));
    }
    return text +
           "    esac\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\ncomplete -o filenames -F _parhelion parhelion\n";
}

// Returns "name:description", as _describe takes it.
std::string described(const std::string& name, const std::string& about)
{
    return quoted(replaced(name, ":", "\\:") + ":" + about);
}

std::string for_zsh(const std::vector<TreeCommand>& tree)
{
    std::string text = R"(#compdef parhelion
# zsh completion for parhelion, written by: parhelion completion zsh
_parhelion()
{
    local command= before=${words[CURRENT-1]} i
    local -a offered
    for ((i = 2; i < CURRENT; ++i)); do
        case "$command ${words[i]}" in
)";
    text += fmt::format("            {}) command=${{command:+$command }}${{words[i]}} ;;\n        esac\n    done\n", paths(tree));
    text += "    case \"$command $before\" in\n";
    text += word_cases(tree, [](const std::string& words) { return "compadd -- " + words; });
    text += fmt::format("        {}) _files; return ;;\n", patterns(tree, Takes::File));
    text += fmt::format("        {}) _files -/; return ;;\n", patterns(tree, Takes::Folder));
    text += fmt::format("        {}) _message value; return ;;\n    esac\n", patterns(tree, Takes::Text));
    text += "    case \"$command\" in\n";
    for (const TreeCommand& command : tree)
    {
        std::vector<std::string> offered;
        for (const auto& [name, about] : command.inside) { offered.push_back(described(name, about)); }
        for (const TreeOption& option : command.options)
        {
            for (const std::string& name : option.names) { offered.push_back(described(name, option.about)); }
        }
        text += fmt::format("        \"{}\") offered=({}) ;;\n", command.path, fmt::join(offered, " "));
    }
    return text + "    esac\n    _describe -o parhelion offered\n}\nif [ \"$funcstack[1]\" = _parhelion ]; then _parhelion "
                  "\"$@\"; else compdef _parhelion parhelion; fi\n";
}

// Returns the text in single quotation marks, for fish.
std::string fish_quoted(const std::string& text) { return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'"; }

std::string for_fish(const std::vector<TreeCommand>& tree)
{
    std::string text = R"(# fish completion for parhelion, written by: parhelion completion fish
function __parhelion_command
    set -l command
    for word in (commandline -opc)[2..]
        switch "$command $word"
)";
    text += fmt::format("            case {}\n                set command (string trim \"$command $word\")\n        end\n    "
                        "end\n    echo $command\nend\n",
                        replaced(paths(tree), "|", " "));
    text += "complete -c parhelion -f\n";
    for (const TreeCommand& command : tree)
    {
        const std::string at = fmt::format("complete -c parhelion -n 'test \"$(__parhelion_command)\" = \"{}\"'", command.path);
        for (const auto& [name, about] : command.inside)
        {
            text += fmt::format("{} -a {} -d {}\n", at, name, fish_quoted(about));
        }
        for (const TreeOption& option : command.options)
        {
            text += at;
            for (const std::string& name : option.names)
            {
                text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            }
            if (option.takes == Takes::Word) { text += fmt::format(" -xa \"{}\"", fmt::join(option.words, " ")); }
            else if (option.takes == Takes::Folder) { text += " -xa \"(__fish_complete_directories)\""; }
            else if (option.takes == Takes::File) { text += " -rF"; }
            else if (option.takes == Takes::Text) { text += " -x"; }
            text += fmt::format(" -d {}\n", fish_quoted(option.about));
        }
    }
    return text;
}

} // namespace

std::string completion_script(const CLI::App& program, const std::string& shell)
{
    const std::vector<TreeCommand> tree = command_tree(program);
    return shell == "bash" ? for_bash(tree) : shell == "zsh" ? for_zsh(tree) : for_fish(tree);
}

} // namespace parhelion
