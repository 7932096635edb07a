// SPDX-License-Identifier: Apache-2.0
// Rows of options that act on groups of atoms.
#include "io/input/mdp_table_builder.hpp"

namespace parhelion {

namespace {

using P = RunParameters;

const std::vector<std::string> annealing_words = {"no", "single", "periodic"};

// Returns the words that `text` returns for the temperature groups, one per group, joined by blanks. Empty words are left out.
template <class Text>
std::string of_each_group(const P& p, Text text)
{
    std::vector<std::string> words;
    for (const TemperatureGroup& group : p.temperature_groups)
    {
        if (const std::string word = text(group); !word.empty()) { words.push_back(word); }
    }
    return joined(words, " ");
}

std::string of_points(const TemperatureGroup& group, double AnnealingPoint::*value)
{
    std::vector<std::string> words;
    for (const AnnealingPoint& point : group.annealing_points) { words.push_back(number_text(point.*value)); }
    return joined(words, " ");
}

ElectricField field_of(const MdpEntry& entry)
{
    const std::vector<double> numbers = numbers_of(entry, {});
    if (numbers == std::vector<double>{0}) { return {}; }
    if (numbers.size() != 4)
    {
        throw InputError("E103", entry.where,
                         entry.key + " has " + std::to_string(numbers.size()) +
                             " numbers, and a field has four. Write E0 omega t0 sigma; of a constant field, E0 0 0 0.");
    }
    const ElectricField field{numbers[0], numbers[1], numbers[2], numbers[3]};
    if (field.width < 0 || (field.amplitude == 0 && numbers != std::vector<double>(4)))
    {
        throw InputError("E105", entry.where,
                         entry.key + " = " + entry.value +
                             (field.width < 0 ? ": the width of a pulse cannot be negative. Give "
                                                "sigma >= 0."
                                              : ": without an amplitude there is no field."));
    }
    return field;
}

// Returns whether the value means yes. It looks at the first letter only, as GROMACS does.
bool is_yes(const MdpEntry& entry, const std::string& word)
{
    const char first = normalised(word).substr(0, 1)[0];
    if (first != 'y' && first != 'n')
    {
        throw InputError("E106", entry.where,
                         in_quotes(word) + " in '" + entry.key +
                             "' is neither Y nor N. Write three of them for each group: one "
                             "for each of x, y and z.");
    }
    return first == 'y';
}

} // namespace

void add_annealing(TableBuilder& t)
{
    const auto none = [](const P& p) { return !is_annealed(p); };
    t.special(
        "annealing", "`no`, `single` or `periodic` for each of tc-grps",
        [](MdpInput& in, const MdpEntry& e) {
            in.annealing.clear();
            for (const std::string& word : words_of(e.value))
            {
                in.annealing.push_back(static_cast<Annealing>(word_index({e.key, word, e.where}, annealing_words, {})));
            }
        },
        [none](const P& p) {
            if (none(p)) { return std::string(); }
            return of_each_group(
                p, [](const TemperatureGroup& g) { return annealing_words[static_cast<std::size_t>(g.annealing)]; });
        },
        "reference temperatures that follow points in time in place of ref-t; single: the last one stays; periodic: from the "
        "first "
        "again");
    t.special(
        "annealing-npoints", "a whole number for each of tc-grps",
        [](MdpInput& in, const MdpEntry& e) {
            in.annealing_points.clear();
            for (const std::string& word : words_of(e.value))
            {
                in.annealing_points.push_back(number_of<int>(e, word, at_least(0)));
            }
        },
        [none](const P& p) {
            if (none(p)) { return std::string(); }
            return of_each_group(p, [](const TemperatureGroup& g) { return std::to_string(g.annealing_points.size()); });
        },
        "0 where annealing is no");
    t.special(
        "annealing-time", "numbers, of all points",
        [](MdpInput& in, const MdpEntry& e) { in.annealing_times = numbers_of(e, {}); },
        [](const P& p) {
            return of_each_group(p, [](const TemperatureGroup& g) { return of_points(g, &AnnealingPoint::time); });
        },
        "ps");
    t.special(
        "annealing-temp", "numbers >= 0, of all points",
        [](MdpInput& in, const MdpEntry& e) { in.annealing_temperatures = numbers_of(e, at_least(0.0)); },
        [](const P& p) {
            return of_each_group(p, [](const TemperatureGroup& g) { return of_points(g, &AnnealingPoint::temperature); });
        },
        "K");
}

void add_electric_field(TableBuilder& t)
{
    for (int d = 0; d < 3; ++d)
    {
        const auto axis = static_cast<std::size_t>(d);
        t.special(
             std::string("electric-field-") + "xyz"[d], "`0`, or E0 omega t0 sigma",
             [axis](MdpInput& in, const MdpEntry& e) { in.parameters.electric_field[axis] = field_of(e); },
             [axis](const P& p) {
                 const ElectricField& field = p.electric_field[axis];
                 return joined({number_text(field.amplitude), number_text(field.omega), number_text(field.centre),
                                number_text(field.width)},
                               " ");
             },
             d > 0
                 ? ""
                 : "V/nm, 1/ps, ps, ps: E0 cos(omega t), or with sigma > 0 the pulse E0 exp(-(t - t0)^2 / (2 sigma^2)) cos(omega "
                   "(t - t0)); it has no energy, so that none is conserved")
            .unused_if("with an amplitude of 0", [name = std::string("electric-field-") + "xyz"[d]](const MdpInput& in) {
                return equals_number(words_of(in.entries.find(name)->second.value)[0], 0);
            });
    }
}

void add_accelerated_groups(TableBuilder& t)
{
    t.special(
        "acc-grps", "groups", [](MdpInput& in, const MdpEntry& e) { in.accelerated_groups = words_of(e.value); },
        [](const P& p) {
            std::vector<std::string> names;
            for (const AcceleratedGroup& group : p.accelerated_groups) { names.push_back(group.name); }
            return joined(names, " ");
        });
    t.special(
        "accelerate", "three numbers of each group, for x, y and z",
        [](MdpInput& in, const MdpEntry& e) { in.accelerations = numbers_of(e, {}); },
        [](const P& p) {
            std::vector<std::string> numbers;
            for (const AcceleratedGroup& group : p.accelerated_groups)
            {
                for (int d = 0; d < 3; ++d) { numbers.push_back(number_text(group.acceleration[d])); }
            }
            return joined(numbers, " ");
        },
        "nm/ps^2; with comm-mode other than None, less the mean of the whole system. They have no energy, so that none is "
        "conserved");
}

void add_frozen_groups(TableBuilder& t)
{
    t.special(
        "freezegrps", "groups", [](MdpInput& in, const MdpEntry& e) { in.frozen_groups = words_of(e.value); },
        [](const P& p) {
            std::vector<std::string> names;
            for (const FrozenGroup& group : p.frozen_groups) { names.push_back(group.name); }
            return joined(names, " ");
        },
        "their atoms do not move along the axes of freezedim; a constraint may hold a frozen atom if it is frozen along all "
        "axes");
    t.special(
        "freezedim", "Y or N for x, y and z of each group",
        [](MdpInput& in, const MdpEntry& e) {
            in.frozen_axes.clear();
            for (const std::string& word : words_of(e.value)) { in.frozen_axes.push_back(is_yes(e, word)); }
        },
        [](const P& p) {
            std::vector<std::string> words;
            for (const FrozenGroup& group : p.frozen_groups)
            {
                for (int d = 0; d < 3; ++d) { words.emplace_back((group.axes >> d & 1) != 0 ? "Y" : "N"); }
            }
            return joined(words, " ");
        });
}

} // namespace parhelion
