// SPDX-License-Identifier: Apache-2.0
// The table of .mdp options: every name that GROMACS knows or knew (2016 to 2026), and how Parhelion treats it.
// The reader, the printed list of values in use, the user manual (docs/user/mdp.md) and the tests all use it.
#pragma once

#include "io/input/mdp.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace parhelion {

enum class Support : std::uint8_t
{
    Honoured, // sets a field of RunParameters
    Refused,  // an error, unless its value switches the feature off
    Harmless, // has no effect here, whatever its value
};
enum class Outlook : std::uint8_t
{
    Planned,
    NotPlanned
};

// A word that GROMACS accepts as the value of an honoured option, but Parhelion does not support.
struct RefusedWord
{
    std::string word;
    Outlook outlook = Outlook::NotPlanned;
    std::string advice; // a sentence for the user; may be empty
};

struct MdpOption
{
    std::string section; // heading in the manual
    std::string name;    // GROMACS' spelling of the name; '#' stands for a number
    Support support = Support::Harmless;
    std::string remark;                    // refused: the feature; harmless: the reason; honoured: text for the manual
    Outlook outlook = Outlook::NotPlanned; // only for refused options
    // Honoured: the accepted words. Refused: the values that switch the feature off, which are accepted.
    std::vector<std::string> words{};
    std::vector<RefusedWord> refused_words{};
    bool sets_nothing = false; // true if a refused value leaves all parameters as they would be with an accepted one
    std::string numbers{};     // allowed range of a numeric option

    // Returns whether no value of the option can have an effect; unused_where says in which runs.
    // Only then is a value that would be refused as unsupported or out of range ignored, with a note.
    std::function<bool(const MdpInput&)> is_unused{};
    std::string unused_where{};
    // Values that are refused only if the topology has something on which they act. `asked` is the flag of such values.
    std::vector<std::string> words_for_topology{};
    bool MdpInput::*asked = nullptr;

    std::function<void(MdpInput&, const MdpEntry&)> set{};    // stores a value; only for honoured options
    std::function<std::string(const RunParameters&)> print{}; // prints the value in use; only for honoured options

    MdpOption& unused_if(std::string where, std::function<bool(const MdpInput&)> condition)
    {
        unused_where = std::move(where);
        is_unused = std::move(condition);
        return *this;
    }
    MdpOption& unless_topology_has_it(bool MdpInput::*in, std::vector<std::string> values)
    {
        asked = in;
        words_for_topology = std::move(values);
        return *this;
    }
};

const std::vector<MdpOption>& mdp_table();
// Returns the option with this name, which may be any spelling of GROMACS or an older name; null if there is none.
const MdpOption* find_mdp_option(std::string_view name);
// Returns the known name nearest to `name`, or nothing.
std::string nearest_mdp_option(std::string_view name);
// Returns the text of the manual page docs/user/mdp.md.
std::string mdp_manual();

} // namespace parhelion
