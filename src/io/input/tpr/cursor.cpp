// SPDX-License-Identifier: Apache-2.0
#include "io/input/tpr/cursor.hpp"

#include "base/error.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace parhelion {

namespace {

template <class T>
T number_at(const unsigned char* bytes)
{
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) { value = static_cast<T>(value << 8 | bytes[i]); }
    return value;
}

std::int32_t integer_at(const unsigned char* bytes) { return static_cast<std::int32_t>(number_at<std::uint32_t>(bytes)); }

// The largest number that is accepted, as in text files. A larger value means that the bytes are no real number.
constexpr double largest_real = 1e20;

// Returns whether x is nearest to a decimal number of this scale, and such numbers are farther apart than floats near x.
bool is_decimal(double x, double scale, double& decimal)
{
    decimal = std::nearbyint(x * scale) / scale;
    return std::abs(x) * scale < 4e6 && static_cast<float>(decimal) == static_cast<float>(x);
}

} // namespace

double decimal_of(float x)
{
    double decimal = 0;
    if (!std::isfinite(x) || is_decimal(x, 1e3, decimal) || is_decimal(x, 1e4, decimal))
    {
        return std::isfinite(x) ? decimal : x;
    }
    char text[32];
    const auto end = std::to_chars(std::begin(text), std::end(text), x).ptr;
    std::from_chars(text, end, decimal);
    return decimal;
}

void TprCursor::fail(const std::string& problem) const
{
    throw InputError("E118", {file_, 0},
                     fmt::format("{}, at byte {} (the file is damaged, or a build between releases of GROMACS wrote it). Make it "
                                 "anew with gmx grompp.",
                                 problem, at_));
}

const unsigned char* TprCursor::take(std::size_t count, std::size_t bytes_each)
{
    if (count > left() / bytes_each) { fail(fmt::format("the file ends where {} more bytes are needed", count * bytes_each)); }
    const auto* const data = reinterpret_cast<const unsigned char*>(bytes_.data()) + at_;
    at_ += count * bytes_each;
    return data;
}

std::int32_t TprCursor::integer() { return integer_at(take(1, 4)); }
std::int64_t TprCursor::long_integer() { return static_cast<std::int64_t>(number_at<std::uint64_t>(take(1, 8))); }

double TprCursor::real64()
{
    const auto value = std::bit_cast<double>(number_at<std::uint64_t>(take(1, 8)));
    if (!(std::abs(value) < largest_real)) { fail("a number is not finite, or too large for any use"); }
    return value;
}

double TprCursor::real()
{
    if (real_bytes == 8) { return real64(); }
    const auto value = std::bit_cast<float>(number_at<std::uint32_t>(take(1, 4)));
    if (!(std::abs(value) < static_cast<float>(largest_real))) { fail("a number is not finite, or too large for any use"); }
    return decimal_of(value);
}

bool TprCursor::truth()
{
    if (layout == TprLayout::Xdr) { return integer() != 0; }
    const int value = *take(1, 1);
    if (value > 1) { fail(fmt::format("{} stands where 0 or 1 is expected", value)); }
    return value == 1;
}

int TprCursor::byte() { return layout == TprLayout::Packed ? *take(1, 1) : integer() & 0xff; }

int TprCursor::short_integer() { return layout == TprLayout::Packed ? number_at<std::uint16_t>(take(1, 2)) : integer() & 0xffff; }

// Reads a text. In XDR its length is stored twice, first with a zero byte that is not stored, and it is padded to four bytes.
std::string TprCursor::text()
{
    std::uint64_t length = 0;
    if (layout == TprLayout::Packed) { length = number_at<std::uint64_t>(take(1, 8)); }
    else
    {
        const std::int64_t with_zero = integer();
        length = number_at<std::uint32_t>(take(1, 4));
        if (with_zero != static_cast<std::int64_t>(length) + 1) { fail("the two lengths of a text disagree"); }
    }
    if (length > left()) { fail("a text is longer than the rest of the file"); }
    std::string text(reinterpret_cast<const char*>(take(length, 1)), length);
    if (layout == TprLayout::Xdr) { take((4 - length % 4) % 4, 1); }
    return text;
}

Vec3<double> TprCursor::vector()
{
    Vec3<double> v;
    for (int d = 0; d < 3; ++d) { v[d] = real(); }
    return v;
}

std::vector<double> TprCursor::reals(std::size_t count)
{
    if (count > left() / static_cast<std::size_t>(real_bytes)) { take(count, static_cast<std::size_t>(real_bytes)); }
    std::vector<double> list(count);
    for (double& value : list) { value = real(); }
    return list;
}

std::vector<Vec3<double>> TprCursor::vectors(std::size_t count)
{
    const std::size_t bytes_each = 3 * static_cast<std::size_t>(real_bytes);
    if (count > left() / bytes_each) { take(count, bytes_each); }
    std::vector<Vec3<double>> list(count);
    for (Vec3<double>& v : list) { v = vector(); }
    return list;
}

std::vector<std::int32_t> TprCursor::integers(std::size_t count)
{
    const unsigned char* const data = take(count, 4);
    std::vector<std::int32_t> list(count);
    for (std::size_t i = 0; i < count; ++i) { list[i] = integer_at(data + 4 * i); }
    return list;
}

std::vector<std::uint8_t> TprCursor::bytes(std::size_t count)
{
    const std::size_t bytes_each = layout == TprLayout::Packed ? 1 : 4;
    const unsigned char* const data = take(count, bytes_each);
    std::vector<std::uint8_t> list(count);
    for (std::size_t i = 0; i < count; ++i) { list[i] = data[(i + 1) * bytes_each - 1]; }
    return list;
}

std::size_t TprCursor::count(std::string_view what, std::size_t least_bytes)
{
    const std::int32_t number = integer();
    if (number < 0 || static_cast<std::size_t>(number) > left() / least_bytes)
    {
        fail(fmt::format("the number of {} is {}, which the rest of the file cannot hold", what, number));
    }
    return static_cast<std::size_t>(number);
}

std::int32_t TprCursor::index(std::string_view what, std::size_t end)
{
    const std::int32_t number = integer();
    if (number < 0 || static_cast<std::size_t>(number) >= end) { fail(fmt::format("{} is number {} of {}", what, number, end)); }
    return number;
}

std::string_view TprCursor::word(std::string_view what, const std::vector<std::string_view>& words)
{
    const std::int32_t number = integer();
    if (number < 0 || static_cast<std::size_t>(number) >= words.size() || words[static_cast<std::size_t>(number)].empty())
    {
        fail(fmt::format("{} has the unknown value {}", what, number));
    }
    return words[static_cast<std::size_t>(number)];
}

} // namespace parhelion
