// SPDX-License-Identifier: Apache-2.0
#include "io/mdp_value.hpp"

#include <cctype>
#include <charconv>
#include <cmath>
#include <type_traits>

namespace parhelion {

namespace {

// std::from_chars of the whole word; a leading '+' is allowed as in C.
template <class T>
std::errc parse(std::string_view word, T& x)
{
    if (word.size() > 1 && word[0] == '+' && word[1] != '-') { word.remove_prefix(1); }
    const char* const end = word.data() + word.size();
    const auto [stopped, error] = std::from_chars(word.data(), end, x);
    if (error != std::errc{}) { return error; }
    return stopped == end ? std::errc{} : std::errc::invalid_argument;
}

} // namespace

std::string number_text(double x)
{
    char buffer[40];
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, x);
    return error == std::errc{} ? std::string(buffer, end) : std::to_string(x);
}

template <class T>
std::string Range<T>::text() const
{
    const auto plain = [](T x) {
        if constexpr (std::is_floating_point_v<T>) { return number_text(x); }
        else { return std::to_string(x); }
    };
    std::string s;
    if (lowest != std::numeric_limits<T>::lowest())
    {
        if (highest != std::numeric_limits<T>::max()) { s = plain(lowest) + " ... " + plain(highest); }
        else { s = (bound == Bound::Inclusive ? ">= " : "> ") + plain(lowest); }
    }
    if (has_also) { s += " or " + plain(also); }
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
    constexpr std::string_view blank = " \t\r\v\f";
    std::vector<std::string> words;
    for (std::size_t at = text.find_first_not_of(blank); at != std::string_view::npos; at = text.find_first_not_of(blank, at))
    {
        const std::size_t end = std::min(text.find_first_of(blank, at), text.size());
        words.emplace_back(text.substr(at, end - at));
        at = end;
    }
    return words;
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
    constexpr bool real = std::is_floating_point_v<T>;
    T x{};
    std::errc error = parse(word, x);
    if constexpr (real)
    {
        if (error == std::errc{} && !std::isfinite(x)) { error = std::errc::invalid_argument; }
    }
    const std::string quoted = "'" + std::string(word) + "'";
    if (error == std::errc::result_out_of_range)
    {
        throw InputError("E105", entry.where,
                         quoted + " for '" + entry.key + "' does not fit the machine's numbers. Give a smaller number.");
    }
    if (error != std::errc{})
    {
        throw InputError(
            "E103", entry.where,
            quoted + " for '" + entry.key + "' is not " + (real ? "a finite number" : "a whole number") +
                (real ? ". Give one number." : " (exponents such as 1e6 are not read as whole numbers). Write all digits."));
    }
    if (!range.holds(x))
    {
        throw InputError("E105", entry.where,
                         quoted + " for '" + entry.key + "' is out of range. Give a number " + range.text() + ".");
    }
    return x;
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
    double y = 0;
    return parse(word, y) == std::errc{} && y == x;
}

} // namespace parhelion
