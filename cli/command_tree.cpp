// SPDX-License-Identifier: Apache-2.0
#include "command_tree.hpp"

#include <string_view>
#include <utility>

namespace parhelion {

namespace {

// Returns the words of a type such as "TEXT:{auto,cpu,gpu}", which an option's checks produce, or "rf|pme".
std::vector<std::string> words_of(std::string_view type)
{
    const std::size_t brace = type.find(":{"), end = type.find('}');
    const bool is_list =
        brace != std::string_view::npos && end != std::string_view::npos && type.find("->") == std::string_view::npos;
    const char comma = is_list ? ',' : '|';
    std::string_view rest = is_list ? type.substr(brace + 2, end - brace - 2) : type.substr(0, type.find(':'));
    std::vector<std::string> words;
    for (std::size_t at = 0; at != std::string_view::npos; rest.remove_prefix(at == std::string_view::npos ? 0 : at + 1))
    {
        at = rest.find(comma);
        words.emplace_back(rest.substr(0, at));
    }
    return words.size() > 1 ? words : std::vector<std::string>{};
}

TreeOption option_of(const CLI::Option& option)
{
    TreeOption result;
    for (const std::string& name : option.get_snames()) { result.names.push_back("-" + name); }
    for (const std::string& name : option.get_lnames()) { result.names.push_back("--" + name); }
    result.about = option.get_description();
    if (option.get_items_expected_max() == 0) { return result; }
    const std::string type = option.get_type_name();
    result.value = type.substr(0, type.find(':'));
    result.words = words_of(type);
    if (type.starts_with("FILE") || result.value == "PREFIX") { result.takes = Takes::File; }
    else if (type.starts_with("DIR")) { result.takes = Takes::Folder; }
    else { result.takes = result.words.empty() ? Takes::Text : Takes::Word; }
    return result;
}

void add(const CLI::App& app, const std::string& path, std::vector<TreeCommand>& tree)
{
    TreeCommand command{path, app.get_description(), app.get_footer(), {}, {}};
    for (const CLI::Option* option : app.get_options())
    {
        TreeOption one = option_of(*option);
        if (!option->get_positional()) { command.options.push_back(std::move(one)); }
        else
        {
            for (std::string& word : one.words) { command.inside.emplace_back(std::move(word), one.about); }
        }
    }
    const auto inside = app.get_subcommands([](const CLI::App*) { return true; });
    for (const CLI::App* one : inside) { command.inside.emplace_back(one->get_name(), one->get_description()); }
    tree.push_back(std::move(command));
    for (const CLI::App* one : inside) { add(*one, path.empty() ? one->get_name() : path + " " + one->get_name(), tree); }
}

} // namespace

std::vector<TreeCommand> command_tree(const CLI::App& program)
{
    std::vector<TreeCommand> tree;
    add(program, "", tree);
    return tree;
}

} // namespace parhelion
