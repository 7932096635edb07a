// SPDX-License-Identifier: Apache-2.0
// Builds the rows of the .mdp table (mdp_table.cpp, mdp_table_off.cpp), one call per option. A honoured
// row names a field of RunParameters, so parsing, printing and the default in the manual always agree.
#pragma once

#include "io/input/mdp_table.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace parhelion {

template <class T>
constexpr Range<T> at_least(T lowest)
{
    return {.lowest = lowest};
}
template <class T>
constexpr Range<T> at_least_or(T lowest, T also)
{
    return {.lowest = lowest, .has_also = true, .also = also};
}
template <class T>
constexpr Range<T> between(T lowest, T highest)
{
    return {.lowest = lowest, .highest = highest};
}
constexpr Range<double> positive{.lowest = 0.0, .bound = Bound::Exclusive};
constexpr Outlook planned = Outlook::Planned, never = Outlook::NotPlanned; // short names for the rows of refused options

// Returns the index of the entry's value among the words. Throws E106 for an unknown word, E140 for an unsupported word.
std::size_t word_index(const MdpEntry& entry, const std::vector<std::string>& words,
                       const std::vector<RefusedWord>& refused_words);

// Collects rows under the heading of the current section.
class TableBuilder
{
public:
    std::vector<MdpOption> rows;

    void section(std::string heading) { section_ = std::move(heading); }

    template <class T>
    MdpOption& number(std::string name, T RunParameters::*field, Range<T> range = {}, std::string remark = "")
    {
        MdpOption& row = honoured(std::move(name), std::move(remark));
        row.numbers = std::is_floating_point_v<T> ? "number" : "whole number";
        if (const std::string limits = range.text(); !limits.empty()) { row.numbers += " " + limits; }
        row.set = [field, range](MdpInput& in, const MdpEntry& e) { in.parameters.*field = number_of<T>(e, e.value, range); };
        row.print = [field](const RunParameters& p) { return text_of(p.*field); };
        return row;
    }

    template <class E>
    MdpOption& word(std::string name, E RunParameters::*field, const std::vector<std::pair<std::string, E>>& accepted,
                    std::vector<RefusedWord> refused_words = {}, std::string remark = "")
    {
        MdpOption& row = honoured(std::move(name), std::move(remark));
        std::vector<E> values;
        for (const auto& [spelling, value] : accepted)
        {
            row.words.push_back(spelling);
            values.push_back(value);
        }
        row.refused_words = std::move(refused_words);
        row.set = [field, values, words = row.words, refused = row.refused_words](MdpInput& in, const MdpEntry& e) {
            in.parameters.*field = values[word_index(e, words, refused)];
        };
        row.print = [field, values, words = row.words](const RunParameters& p) {
            return words[static_cast<std::size_t>(std::find(values.begin(), values.end(), p.*field) - values.begin())];
        };
        return row;
    }
    void yes_no(std::string name, bool RunParameters::*field, std::string remark = "")
    {
        word<bool>(std::move(name), field, {{"no", false}, {"yes", true}}, {}, std::move(remark));
    }
    // Adds an option with a single accepted word. All other words are refused.
    MdpOption& only(std::string name, std::string accepted, std::vector<RefusedWord> refused_words, std::string remark = "")
    {
        MdpOption& row = honoured(std::move(name), std::move(remark));
        row.words = {accepted};
        row.sets_nothing = true;
        row.refused_words = std::move(refused_words);
        row.set = [words = row.words, refused = row.refused_words](MdpInput&, const MdpEntry& e) {
            word_index(e, words, refused);
        };
        row.print = [accepted](const RunParameters&) { return accepted; };
        return row;
    }
    void list(std::string name, std::vector<std::string> RunParameters::*field, std::string values, std::string remark = "")
    {
        MdpOption& row = honoured(std::move(name), std::move(remark));
        row.numbers = std::move(values);
        row.set = [field](MdpInput& in, const MdpEntry& e) { in.parameters.*field = words_of(e.value); };
        row.print = [field](const RunParameters& p) { return joined(p.*field, " "); };
    }
    template <class Set, class Print>
    MdpOption& special(std::string name, std::string values, Set set, Print print, std::string remark = "")
    {
        MdpOption& row = honoured(std::move(name), std::move(remark));
        row.numbers = std::move(values);
        row.set = set;
        row.print = print;
        return row;
    }
    // Adds a refused feature with switches "name=off|other-off"; without '=' only an empty value is off. Returns the last row.
    MdpOption& refused(Outlook outlook, const std::string& feature, const std::vector<std::string>& switches)
    {
        for (const std::string& text : switches)
        {
            const std::size_t equals = std::min(text.find('='), text.size());
            MdpOption row{.section = section_, .name = text.substr(0, equals), .support = Support::Refused, .remark = feature};
            row.outlook = outlook;
            for (std::size_t at = equals; at < text.size();)
            {
                const std::size_t end = std::min(text.find('|', at + 1), text.size());
                row.words.push_back(text.substr(at + 1, end - at - 1));
                at = end;
            }
            rows.push_back(std::move(row));
        }
        return rows.back();
    }
    void harmless(const std::string& reason, std::string_view names)
    {
        for (const std::string& name : words_of(names))
        {
            rows.push_back({.section = section_, .name = name, .support = Support::Harmless, .remark = reason});
        }
    }

private:
    MdpOption& honoured(std::string name, std::string remark)
    {
        rows.push_back({.section = section_, .name = std::move(name), .support = Support::Honoured, .remark = std::move(remark)});
        return rows.back();
    }
    std::string section_;
};

// The next functions add rows of options that act on groups of atoms.
void add_annealing(TableBuilder& t);
void add_electric_field(TableBuilder& t);
void add_frozen_groups(TableBuilder& t);
void add_accelerated_groups(TableBuilder& t);

// The next functions add rows of unsupported features: refused switches, and options that matter only with these features.
void add_special_forces(TableBuilder& t);
void add_free_energy(TableBuilder& t);

} // namespace parhelion
