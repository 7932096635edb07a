// SPDX-License-Identifier: Apache-2.0
#include "io/input/top_fields.hpp"

#include <cmath>

namespace parhelion {

bool Fields::end_at_remark(std::size_t first)
{
    for (std::size_t i = first; i < words_.size(); ++i)
    {
        const std::size_t at = words_[i].find('#');
        if (at == words_[i].npos) { continue; }
        if (!to_real(at > 0 ? words_[i].substr(0, at) : words_[i - 1])) { continue; }
        words_[i] = words_[i].substr(0, at);
        words_.resize(at > 0 ? i + 1 : i);
        return true;
    }
    return false;
}

void Fields::fail(const char* id, const std::string& message) const { throw InputError(id, where(), message); }

std::string_view Fields::word(std::size_t i, std::string_view what) const
{
    if (i >= words_.size())
    {
        fail("E121", "column " + std::to_string(i + 1) + " (" + std::string(what) + ") is missing: the line has " +
                         std::to_string(words_.size()) + " columns. Complete the line.");
    }
    return words_[i];
}

double Fields::real(std::size_t i, std::string_view what) const
{
    const std::string_view text = word(i, what);
    const auto value = to_real(text);
    if (!value)
    {
        fail("E121", "column " + std::to_string(i + 1) + " (" + std::string(what) + ") is " + in_quotes(text) +
                         ", not a finite number. Correct it, or define the macro it should be.");
    }
    // Powers and sums of numbers below this limit stay finite. No real value in nm, kJ/mol, u and e is near it.
    constexpr double largest = 1e20;
    if (std::abs(*value) > largest)
    {
        fail("E123", "column " + std::to_string(i + 1) + " (" + std::string(what) + ") is " + in_quotes(text) +
                         ", which is larger than anything physical. Correct it.");
    }
    return *value;
}

std::int64_t Fields::integer(std::size_t i, std::string_view what, std::int64_t lowest, std::int64_t highest) const
{
    const std::string_view text = word(i, what);
    const auto value = to_integer(text);
    if (!value || *value < lowest || *value > highest)
    {
        fail(value ? "E123" : "E121", "column " + std::to_string(i + 1) + " (" + std::string(what) + ") is " + in_quotes(text) +
                                          ", not a whole number from " + std::to_string(lowest) + " to " +
                                          std::to_string(highest) + ". Correct it.");
    }
    return *value;
}

std::int32_t Fields::atom(std::size_t i, std::size_t atoms) const
{
    if (atoms == 0) { fail("E120", "this line numbers atoms, but the molecule has none yet. Put [ atoms ] first."); }
    return static_cast<std::int32_t>(integer(i, "atom number", 1, static_cast<std::int64_t>(atoms)) - 1);
}

void Fields::expect_at_most(std::size_t columns) const
{
    if (words_.size() > columns)
    {
        fail("E121", "has " + std::to_string(words_.size()) + " columns where at most " + std::to_string(columns) +
                         " have a meaning (the rest would be ignored). Remove " + in_quotes(words_[columns]) +
                         " or put a ';' before it.");
    }
}

} // namespace parhelion
