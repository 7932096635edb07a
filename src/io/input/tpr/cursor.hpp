// SPDX-License-Identifier: Apache-2.0
// Reads the bytes of a run input file (.tpr) in sequence. It never reads past the end. A count that exceeds
// what the rest of the file can hold is refused before memory is allocated, since files may come from anywhere.
//
// Numbers are big-endian. There are two layouts: XDR, in which every small number
// takes four bytes, and, since GROMACS 2020, a packed layout for the body of the file.
#pragma once

#include "base/vec3.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

enum class TprLayout : std::uint8_t
{
    Xdr,
    Packed
};

// Returns the shortest decimal number nearest to x: 0.1 for 0.1f. Numbers that a program wrote in single precision were
// mostly decimal numbers, and are restored to the last bit. Others change by at most half a unit in the last place.
double decimal_of(float x);

class TprCursor
{
public:
    // `bytes` and `file` must outlive this object. Reading begins with the XDR layout and reals of four bytes.
    TprCursor(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

    TprLayout layout = TprLayout::Xdr;
    int real_bytes = 4; // bytes of a real: 4, or 8 in double precision

    // Each of these functions reads one value. Throws InputError E118 at the end of the file. Reals must be finite, below 1e20.
    std::int32_t integer();
    std::int64_t long_integer();
    double real();
    double real64();
    bool truth();
    int byte();
    int short_integer();
    std::string text();
    Vec3<double> vector();
    std::vector<double> reals(std::size_t count);
    std::vector<Vec3<double>> vectors(std::size_t count);
    std::vector<std::int32_t> integers(std::size_t count);
    std::vector<std::uint8_t> bytes(std::size_t count);

    // Skip numbers that this program does not use and that may have any value.
    void skip_integers(std::size_t count) { take(count, 4); }
    void skip_reals(std::size_t count) { take(count, static_cast<std::size_t>(real_bytes)); }
    void skip_doubles(std::size_t count) { take(count, 8); }

    // Reads and returns a number of elements, each of which takes at least `least_bytes` bytes in the file.
    std::size_t count(std::string_view what, std::size_t least_bytes);
    // Reads and returns a number from 0 to end - 1.
    std::int32_t index(std::string_view what, std::size_t end);
    // Reads the index of a word in a list and returns the word. Empty entries are values that no file of these versions has.
    std::string_view word(std::string_view what, const std::vector<std::string_view>& words);

    std::size_t position() const { return at_; }
    std::size_t left() const { return bytes_.size() - at_; }
    // Throws InputError E118 with the text of `problem`, for example "an index of a symbol is 17 of 12".
    [[noreturn]] void fail(const std::string& problem) const;

private:
    const unsigned char* take(std::size_t count, std::size_t bytes_each);

    std::string_view bytes_;
    const std::string& file_;
    std::size_t at_ = 0;
};

} // namespace parhelion
