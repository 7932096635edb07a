// SPDX-License-Identifier: Apache-2.0
// mdp_manual(): writes the table as a page of the manual.
#include "io/input/mdp_table.hpp"

namespace parhelion {

namespace {

std::string code(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }
std::string outlook_text(Outlook outlook) { return outlook == Outlook::Planned ? "planned" : "not planned"; }

std::string unused_text(const MdpOption& option) { return option.unused_where.empty() ? "" : "not used " + option.unused_where; }

std::string honoured_row(const MdpOption& option)
{
    std::vector<std::string> words;
    for (const std::string& word : option.words) { words.push_back(code(word)); }
    std::string notes = option.remark;
    for (const Outlook outlook : {Outlook::Planned, Outlook::NotPlanned})
    {
        std::vector<std::string> refused;
        for (const RefusedWord& word : option.refused_words)
        {
            if (word.outlook == outlook) { refused.push_back(code(word.word)); }
        }
        if (!refused.empty())
        {
            notes += (notes.empty() ? "" : "; ") + ("refused (" + outlook_text(outlook) + "): ") + joined(refused, ", ");
        }
    }
    notes += (notes.empty() || option.unused_where.empty() ? "" : "; ") + unused_text(option);
    const std::string values = words.empty() ? option.numbers : joined(words, ", ");
    return "| `" + option.name + "` | " + values + " | " + code(option.print({})) + " | " + notes + " |\n";
}

std::string refused_row(const MdpOption& option)
{
    std::string accepted = option.words.empty() ? "only empty" : "only " + code(joined(option.words, "`, `"));
    if (option.asked != nullptr)
    {
        accepted += "; " + code(joined(option.words_for_topology, "`, `")) + " where the topology has nothing for it";
    }
    return "| `" + option.name + "` | " + accepted + " | " + code(option.words.empty() ? "" : option.words[0]) +
           " | refused: " + option.remark + " (" + outlook_text(option.outlook) + ")" +
           (option.unused_where.empty() ? "" : "; " + unused_text(option)) + " |\n";
}

// Returns the list of harmless options. Consecutive rows with the same reason share a paragraph.
std::string harmless_list(const std::vector<const MdpOption*>& options)
{
    std::string text;
    for (std::size_t i = 0; i < options.size(); ++i)
    {
        if (i == 0 || options[i]->remark != options[i - 1]->remark)
        {
            text += (text.empty() ? "\n" : ".\n") + ("- " + options[i]->remark + ": ");
        }
        else { text += ", "; }
        text += code(options[i]->name);
    }
    return text.empty() ? text : "\nWithout effect here:\n" + text + ".\n";
}

} // namespace

std::string mdp_manual()
{
    std::string text =
        "<!-- SPDX-License-Identifier: Apache-2.0. Made from the program's table by the build's target mdp_manual; do not edit. "
        "-->\n"
        "# Run parameters (.mdp)\n\n"
        "Every option that GROMACS knows is honoured, refused, or without effect here; any other name is an error. Case, `-` and "
        "`_`\n"
        "do not matter. An option without a value keeps its default, which is GROMACS'. `#` stands for a number. A refused "
        "option stops\n"
        "the program unless its value says that the feature is off. What is without effect is listed in the log, as is a value "
        "that\n"
        "would be refused, or is out of range, where nothing uses the option (\"not used\" in the notes).\n";
    std::string section;
    std::vector<const MdpOption*> without_effect;
    bool in_table = false;
    const auto close = [&] {
        text += harmless_list(without_effect);
        without_effect.clear();
        in_table = false;
    };
    for (const MdpOption& option : mdp_table())
    {
        if (option.section != section)
        {
            close();
            section = option.section;
            text += "\n## " + section + "\n";
        }
        if (option.support == Support::Harmless)
        {
            without_effect.push_back(&option);
            continue;
        }
        if (!in_table) { text += "\n| option | values | default | notes |\n|---|---|---|---|\n"; }
        in_table = true;
        text += option.support == Support::Honoured ? honoured_row(option) : refused_row(option);
    }
    close();
    return text;
}

} // namespace parhelion
