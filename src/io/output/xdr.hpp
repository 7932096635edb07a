// SPDX-License-Identifier: Apache-2.0
// XDR (RFC 4506), the encoding of .xtc, .trr and .edr: big-endian, in multiples of four bytes. XdrBuffer builds
// a record in memory, so that it is written to disk as a whole. XdrReader reads records with untrusted contents.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace parhelion {

inline std::uint32_t big_endian(std::uint32_t a) { return std::endian::native == std::endian::big ? a : __builtin_bswap32(a); }
inline std::uint64_t big_endian(std::uint64_t a) { return std::endian::native == std::endian::big ? a : __builtin_bswap64(a); }

class XdrBuffer
{
public:
    void clear() { bytes_.clear(); }
    const std::vector<unsigned char>& bytes() const { return bytes_; }

    void put(std::int32_t a) { append(big_endian(std::bit_cast<std::uint32_t>(a))); }
    void put(std::int64_t a) { append(big_endian(std::bit_cast<std::uint64_t>(a))); }
    void put(float a) { append(big_endian(std::bit_cast<std::uint32_t>(a))); }
    void put(double a) { append(big_endian(std::bit_cast<std::uint64_t>(a))); }
    // Writes a text: its length, its characters, and zeros up to a multiple of four bytes.
    void put(std::string_view text)
    {
        put(static_cast<std::int32_t>(text.size()));
        put_padded(text);
    }
    void put_padded(std::string_view text) // without its length
    {
        append(text.data(), text.size());
        bytes_.resize((bytes_.size() + 3) / 4 * 4);
    }
    // Writes the vectors' components, rounded to `Real`.
    template <class Real>
    void put_vectors(std::span<const Vec3<double>> vectors)
    {
        using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
        const std::size_t begin = bytes_.size();
        bytes_.resize(begin + vectors.size() * 3 * sizeof(Bits));
        unsigned char* out = bytes_.data() + begin;
        for (const Vec3<double>& a : vectors)
        {
            for (int d = 0; d < 3; ++d, out += sizeof(Bits))
            {
                const Bits word = big_endian(std::bit_cast<Bits>(static_cast<Real>(a[d])));
                std::memcpy(out, &word, sizeof(Bits));
            }
        }
    }
    // Writes the three edge vectors.
    template <class Real>
    void put_box(const Box<double>& box)
    {
        const Vec3<double>&diagonal = box.diagonal(), &tilt = box.tilt();
        const Vec3<double> edges[] = {{diagonal.x, 0, 0}, {tilt.x, diagonal.y, 0}, {tilt.y, tilt.z, diagonal.z}};
        put_vectors<Real>(edges);
    }

private:
    template <class Word>
    void append(Word word)
    {
        append(&word, sizeof(Word));
    }
    void append(const void* data, std::size_t size)
    {
        const std::size_t begin = bytes_.size();
        bytes_.resize(begin + size);
        std::memcpy(bytes_.data() + begin, data, size);
    }

    std::vector<unsigned char> bytes_;
};

// Reads the bytes of a file with untrusted contents. Reading past the end throws the InputError of damaged().
class XdrReader
{
public:
    // `bytes` must outlive the reader. Messages use `name` for the file.
    XdrReader(std::span<const std::byte> bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

    std::size_t bytes_left() const { return bytes_.size() - position_; }
    std::int32_t get_int() { return std::bit_cast<std::int32_t>(big_endian(get_word<std::uint32_t>())); }
    std::int64_t get_hyper() { return std::bit_cast<std::int64_t>(big_endian(get_word<std::uint64_t>())); }
    float get_float() { return std::bit_cast<float>(get_int()); }
    double get_double() { return std::bit_cast<double>(get_hyper()); }
    // Returns the next `count` bytes, and skips the padding behind these.
    std::span<const std::byte> get_opaque(std::size_t count);
    // Throws the InputError of a file with invalid contents, with the text "<problem> before byte N (...)".
    [[noreturn]] void damaged(std::string_view problem) const;

private:
    template <class Word>
    Word get_word()
    {
        Word word;
        std::memcpy(&word, get_opaque(sizeof(Word)).data(), sizeof(Word));
        return word;
    }

    std::span<const std::byte> bytes_;
    std::string name_;
    std::size_t position_ = 0;
};

} // namespace parhelion
