// SPDX-License-Identifier: Apache-2.0
#include "io/input/mdp.hpp"

#include "io/input/check.hpp"
#include "io/input/mdp_table.hpp"

#include <algorithm>

namespace parhelion {

namespace {

// Returns whether every word of the value is in `these`. Numbers are compared by value.
bool consists_of(const std::vector<std::string>& these, const std::string& value)
{
    const std::vector<std::string> words = words_of(value);
    return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
        return std::any_of(these.begin(), these.end(), [&](const std::string& one) {
            return normalised(one) == normalised(word) || (equals_number(one, 1) && equals_number(word, 1)) ||
                   (equals_number(one, 0) && equals_number(word, 0));
        });
    });
}

void refuse(const MdpOption& option, const MdpEntry& entry)
{
    const std::string outlook = option.outlook == Outlook::Planned ? "yet (planned)" : "(not planned)";
    throw InputError("E140", entry.where,
                     entry.key + " = " + entry.value + " asks for " + option.remark + ", which is not supported " + outlook +
                         "; a run without it would be another simulation. " +
                         (option.words.empty() ? "Remove the line" : "Set it to " + option.words[0]) + " or use GROMACS.");
}

class MdpReader
{
public:
    MdpReader(const std::string& name, Diagnostics& diagnostics) : diagnostics_(diagnostics) { input_.file = name; }
    void say_that_grompp_wrote_it() { input_.is_of_grompp = true; }

    void read_line(std::string_view line, int number)
    {
        const SourceLocation where{input_.file, number};
        if (trimmed(line).find('\r') != std::string_view::npos)
        {
            throw InputError(
                "E101", where,
                "a carriage return in the middle of a line (lines of old Macs would be one comment). Write line ends "
                "as your system does.");
        }
        line = trimmed(line.substr(0, line.find(';')));
        if (line.empty()) { return; }
        const std::size_t equals = line.find('=');
        const std::string name(trimmed(line.substr(0, equals)));
        if (equals == std::string_view::npos)
        {
            throw InputError("E101", where,
                             "no '=' after " + in_quotes(name) + " (the line sets nothing). Write 'option = value'.");
        }
        if (name.empty()) { throw InputError("E101", where, "no option before '='. Write 'option = value'."); }
        take(name, std::string(trimmed(line.substr(equals + 1))), where);
    }

    void take(const std::string& name, const std::string& value, const SourceLocation& where)
    {
        const MdpOption* const option = find_mdp_option(name);
        if (option == nullptr) { unknown(name, where); }
        std::string key = option->name;
        if (key.find('#') != std::string::npos) { key = name; }
        else if (normalised(key) != normalised(name))
        {
            diagnostics_.note("N103", where, "'" + name + "' is the old name of '" + key + "'.");
        }
        if (const auto [first, added] = first_line_.emplace(normalised(key), where.line); !added)
        {
            throw InputError("E102", where,
                             "'" + key + "' is set twice (first in line " + std::to_string(first->second) +
                                 "). Remove one of the two lines.");
        }
        apply(*option, {key, value, where});
    }

    // Judges values that are refused unless no other option uses them. Called after all lines have been read.
    // Returns whether all parameters are known. Lines with error E140 (not supported) were read.
    bool judge_undecided(ErrorList& errors)
    {
        bool are_known = errors.holds_only("E140");
        for (const Undecided& one : undecided_)
        {
            const auto& [option, entry, refusal] = one;
            const std::string& id = refusal.worst().id();
            if (!can_be_unused(*option, id) || !option->is_unused(input_))
            {
                errors.attempt([&] { refusal.throw_if_any(); });
                are_known = are_known && (option->sets_nothing || id == "E140");
                continue;
            }
            diagnostics_.note("N170", entry.where,
                              entry.key + " = " + entry.value + " is not used " + option->unused_where + ".");
        }
        return are_known;
    }

    MdpInput finish()
    {
        if (!ignored_.empty())
        {
            diagnostics_.note("N101", {input_.file, 0}, "without effect here: " + joined(ignored_, ", ") + ".");
        }
        if (!empty_.empty())
        {
            diagnostics_.note("N102", {input_.file, 0}, "no value given, default used: " + joined(empty_, ", ") + ".");
        }
        return std::move(input_);
    }

private:
    [[noreturn]] void unknown(const std::string& name, const SourceLocation& where)
    {
        const std::string nearest = nearest_mdp_option(name);
        throw InputError("E104", where,
                         "unknown option " + in_quotes(name) + ". " +
                             (nearest.empty() ? "(Ignoring it could change the simulation.) Remove the line."
                                              : "Did you mean '" + nearest + "'? (Ignoring it could change the simulation.)"));
    }

    void apply(const MdpOption& option, const MdpEntry& entry)
    {
        if (entry.value.empty())
        {
            if (option.support == Support::Honoured && !option.print({}).empty()) { empty_.push_back(entry.key); }
            return;
        }
        input_.entries.emplace(entry.key, entry);
        ErrorList refusal;
        if (refusal.attempt([&] { use(option, entry); })) { return; }
        if (!option.sets_nothing && !can_be_unused(option, refusal.worst().id())) { refusal.throw_if_any(); }
        undecided_.push_back({&option, entry, std::move(refusal)});
    }

    // Returns whether a value with this error is ignored in runs where the option has no effect.
    static bool can_be_unused(const MdpOption& option, std::string_view id)
    {
        return option.is_unused && (id == "E105" || id == "E140");
    }

    void use(const MdpOption& option, const MdpEntry& entry)
    {
        switch (option.support)
        {
        case Support::Honoured:
            option.set(input_, entry);
            break;
        case Support::Refused:
            if (consists_of(option.words, entry.value)) { break; }
            if (option.asked == nullptr || !consists_of(option.words_for_topology, entry.value)) { refuse(option, entry); }
            input_.*option.asked = true;
            break;
        case Support::Harmless:
            ignored_.push_back(entry.key);
            break;
        }
    }

    struct Undecided
    {
        const MdpOption* option;
        MdpEntry entry;
        ErrorList refusal;
    };

    Diagnostics& diagnostics_;
    MdpInput input_;
    std::map<std::string, int> first_line_;
    std::vector<std::string> ignored_, empty_;
    std::vector<Undecided> undecided_;
};

} // namespace

SourceLocation MdpInput::where(std::string_view key) const
{
    const auto entry = entries.find(key);
    return entry == entries.end() ? SourceLocation{file, 0} : entry->second.where;
}

namespace {

// Judges the options and returns them. Called after all options have been read.
MdpInput judge(MdpReader& reader, Diagnostics& diagnostics, ErrorList& errors)
{
    const bool are_known = reader.judge_undecided(errors);
    MdpInput input = reader.finish();
    if (are_known)
    {
        errors.attempt([&] { check_parameters(input, diagnostics); });
    } // an option may need any other one
    return input;
}

MdpInput read_text(std::string_view text, const std::string& name, Diagnostics& diagnostics, ErrorList& errors)
{
    MdpReader reader(name, diagnostics);
    for (int number = 1; !text.empty(); ++number)
    {
        errors.attempt([&] { reader.read_line(take_line(text), number); });
    }
    return judge(reader, diagnostics, errors);
}

} // namespace

MdpInput read_mdp_options(const NamedList<std::string>& options, const std::string& name, Diagnostics& diagnostics,
                          ErrorList& errors)
{
    MdpReader reader(name, diagnostics);
    reader.say_that_grompp_wrote_it();
    for (const auto& [key, value] : options)
    {
        errors.attempt([&, key = key, value = value] { reader.take(key, value, {name, 0}); });
    }
    return judge(reader, diagnostics, errors);
}

MdpInput read_mdp_text(std::string_view text, const std::string& name, Diagnostics& diagnostics)
{
    ErrorList errors;
    MdpInput input = read_text(text, name, diagnostics, errors);
    errors.throw_if_any();
    return input;
}

MdpInput read_mdp_input(const MappedFile& file, Diagnostics& diagnostics, ErrorList& errors)
{
    return read_text(file.text_without_mark(), file.path().string(), diagnostics, errors);
}

RunParameters read_mdp(const std::filesystem::path& path, Diagnostics& diagnostics)
{
    const MappedFile file(path);
    return read_mdp_text(file.text_without_mark(), path.string(), diagnostics).parameters;
}

NamedList<std::string> mdp_values(const RunParameters& parameters)
{
    NamedList<std::string> values;
    for (const MdpOption& option : mdp_table())
    {
        if (option.support == Support::Honoured) { values.emplace_back(option.name, option.print(parameters)); }
    }
    return values;
}

std::string mdp_text(const RunParameters& parameters)
{
    std::string text;
    for (const auto& [name, value] : mdp_values(parameters))
    {
        text += name + std::string(name.size() < 24 ? 24 - name.size() : 0, ' ') + " = " + value + "\n";
    }
    return text;
}

} // namespace parhelion
