// SPDX-License-Identifier: Apache-2.0
// One line `key = value` of an .mdp file, and its value as a number, a word or a list. Every function throws InputError
// at the entry's line: E103 for text of the wrong type, E105 for a number out of range. Nothing is truncated or guessed.
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace parhelion {

struct MdpEntry
{
    std::string key;   // GROMACS' name of the option
    std::string value; // right-hand side, trimmed and without comment
    SourceLocation where;
};

enum class Bound : std::uint8_t
{
    Inclusive,
    Exclusive
};

// The range of an option's numbers. `also` is one value outside of it with a meaning of its own, such as -1 for "no limit".
template <class T>
struct Range
{
    T lowest = std::numeric_limits<T>::lowest();
    T highest = std::numeric_limits<T>::max();
    Bound bound = Bound::Inclusive; // says whether the lowest value itself is allowed
    bool has_also = false;
    T also{};

    bool holds(T x) const
    {
        if (has_also && x == also) { return true; }
        return (bound == Bound::Inclusive ? x >= lowest : x > lowest) && x <= highest;
    }
    std::string text() const; // for example "> 0", ">= 0 or -1", "1 ... 8"; empty: every number is allowed
};

// Returns the word in lower case, without '-' and '_'. Spellings with equal results mean the same option or word in GROMACS.
std::string normalised(std::string_view word);
std::vector<std::string> words_of(std::string_view text); // words are separated by blanks
std::string joined(const std::vector<std::string>& words, std::string_view separator);
// Returns the shortest text that reads back as x.
std::string number_text(double x);
template <class T>
std::string text_of(T x)
{
    if constexpr (std::is_floating_point_v<T>) { return number_text(x); }
    else { return std::to_string(x); }
}

template <class T>
T number_of(const MdpEntry& entry, std::string_view word, const Range<T>& range);

extern template double number_of(const MdpEntry&, std::string_view, const Range<double>&);
extern template std::int64_t number_of(const MdpEntry&, std::string_view, const Range<std::int64_t>&);
extern template int number_of(const MdpEntry&, std::string_view, const Range<int>&);

std::vector<double> numbers_of(const MdpEntry& entry, const Range<double>& range);
// Returns whether the word is a number equal to x. False if the word is no number.
bool equals_number(std::string_view word, double x);

} // namespace parhelion
