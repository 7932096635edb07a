// SPDX-License-Identifier: Apache-2.0
#include "io/input/mdp_value.hpp"

#include "io/input/text.hpp"

#include <cctype>
#include <charconv>
#include <optional>
#include <type_traits>
#include <utility>

namespace parhelion {

std::string number_text(double x)
{
    char buffer[40];
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, x);
    return error == std::errc{} ? std::string(buffer, end) : std::to_string(x);
}

template <class T>
std::string Range<T>::text() const
{
    std::string s;
    if (lowest != std::numeric_limits<T>::lowest())
    {
        if (highest != std::numeric_limits<T>::max()) { s = text_of(lowest) + " ... " + text_of(highest); }
        else { s = (bound == Bound::Inclusive ? ">= " : "> ") + text_of(lowest); }
    }
    if (has_also) { s += " or " + text_of(also); }
    return s;
}

template struct Range<double>;
template struct Range<std::int64_t>;
template struct Range<int>;

std::string normalised(std::string_view word)
{
    std::string s;
    for (const char c : word)
    {
        if (c != '-' && c != '_') { s += static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
    }
    return s;
}

std::vector<std::string> words_of(std::string_view text)
{
    std::vector<std::string_view> words;
    split_words(text, words);
    return {words.begin(), words.end()};
}

std::string joined(const std::vector<std::string>& words, std::string_view separator)
{
    std::string s;
    for (const std::string& word : words) { (s.empty() ? s : s.append(separator)) += word; }
    return s;
}

template <class T>
T number_of(const MdpEntry& entry, std::string_view word, const Range<T>& range)
{
    std::optional<T> number;
    constexpr bool real = std::is_floating_point_v<T>;
    if constexpr (real) { number = to_real(word); }
    else if (const std::optional<std::int64_t> wide = to_integer(word); wide && std::in_range<T>(*wide))
    {
        number = static_cast<T>(*wide);
    }
    if (!number)
    {
        throw InputError("E103", entry.where,
                         in_quotes(word) + " for '" + entry.key + "' is not " +
                             (real ? "a finite number. Give one number."
                                   : "a whole number of the size that fits (1e6 is not read as one). Write all digits."));
    }
    if (!range.holds(*number))
    {
        throw InputError("E105", entry.where,
                         in_quotes(word) + " for '" + entry.key + "' is out of range. Give a number " + range.text() + ".");
    }
    return *number;
}

template double number_of(const MdpEntry&, std::string_view, const Range<double>&);
template std::int64_t number_of(const MdpEntry&, std::string_view, const Range<std::int64_t>&);
template int number_of(const MdpEntry&, std::string_view, const Range<int>&);

std::vector<double> numbers_of(const MdpEntry& entry, const Range<double>& range)
{
    std::vector<double> numbers;
    for (const std::string& word : words_of(entry.value)) { numbers.push_back(number_of<double>(entry, word, range)); }
    return numbers;
}

bool equals_number(std::string_view word, double x)
{
    const std::optional<double> number = to_real(word);
    return number && *number == x;
}

} // namespace parhelion
