// SPDX-License-Identifier: Apache-2.0
// The table of .mdp options: every name GROMACS knows or knew (2016 to 2026), and what Parhelion does with it. The reader, the
// printed list of values in use, the user manual (docs/user/mdp.md) and the tests all come from it.
#pragma once

#include "io/mdp.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace parhelion {

enum class Support : std::uint8_t
{
    Honoured, // sets a field of RunParameters
    Refused,  // an error, unless the value says that the feature is off
    Harmless, // without effect here, whatever the value
};
enum class Outlook : std::uint8_t
{
    Planned,
    NotPlanned
};

// A word GROMACS knows as the value of an honoured option, but that Parhelion does not offer.
struct RefusedWord
{
    std::string word;
    Outlook outlook = Outlook::NotPlanned;
    std::string advice; // a sentence, or empty
};

struct MdpOption
{
    std::string section; // heading in the manual
    std::string name;    // as GROMACS spells it; '#' stands for a number
    Support support = Support::Harmless;
    std::string remark;                    // refused: the feature; harmless: why; honoured: what the manual should add
    Outlook outlook = Outlook::NotPlanned; // refused
    // Honoured: what it takes. Refused: the values that turn the feature off, which are accepted.
    std::vector<std::string> words{};
    std::vector<RefusedWord> refused_words{};
    std::string numbers{}; // the range of a numeric option

    // Where no value of the option can have an effect, and in words. There, and only there, a value that would be refused as not
    // supported or out of range is told in a note and not used.
    std::function<bool(const MdpInput&)> is_unused{};
    std::string unused_where{};
    // Refused, but not with these values as long as the topology has nothing that they act on; which is told to `asked`.
    std::vector<std::string> words_for_topology{};
    bool MdpInput::*asked = nullptr;

    std::function<void(MdpInput&, const MdpEntry&)> set{};    // honoured
    std::function<std::string(const RunParameters&)> print{}; // honoured

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
// The option of that name in any of GROMACS' spellings, or of the name that replaced it; null if there is none.
const MdpOption* find_mdp_option(std::string_view name);
// The nearest known name, or empty.
std::string nearest_mdp_option(std::string_view name);
// The manual page.
std::string mdp_manual();

} // namespace parhelion
