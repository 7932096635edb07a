// SPDX-License-Identifier: Apache-2.0
#include "io/output/xtc_coding.hpp"

#include "base/error.hpp"
#include "io/output/xdr.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace parhelion {
namespace {

__extension__ using Wide = unsigned __int128; // three numbers of 24 bits

constexpr int first_window = 9, last_window = 72;
// The widest window whose triples fit into 64 bits. Wider windows would help only if neighbours were metres apart.
constexpr int last_written_window = 63;
constexpr int window_span = 8; // the writer uses at most this many widths below its widest one
constexpr int longest_run = 8;
constexpr std::uint32_t joint_limit = 1u << 24; // ranges of this size or more are stored component by component

// Returns the widths: widths[i] = floor(2^(i/3)), except for four entries that the format defines otherwise.
constexpr std::array<std::uint32_t, last_window + 1> make_widths()
{
    std::array<std::uint32_t, last_window + 1> widths{};
    for (int i = first_window; i <= last_window; ++i)
    {
        std::uint64_t low = 1, high = 1u << 25; // bisection keeps low^3 <= 2^i < high^3
        while (high - low > 1)
        {
            const std::uint64_t middle = (low + high) / 2;
            (static_cast<Wide>(middle) * middle * middle <= static_cast<Wide>(1) << i ? low : high) = middle;
        }
        widths[i] = static_cast<std::uint32_t>(low);
    }
    widths[37] = 5060, widths[57] = 524287, widths[69] = 8388607, widths[71] = 13316085;
    return widths;
}
constexpr auto widths = make_widths();

struct Triple
{
    std::uint32_t x, y, z;
};

// The code of atoms stored in full: three numbers below `size`, either as one mixed-radix number or one after another.
struct FullCode
{
    explicit FullCode(const XtcRange& range)
    {
        for (int d = 0; d < 3; ++d)
        {
            size[d] = static_cast<std::uint32_t>(range.high[d]) - static_cast<std::uint32_t>(range.low[d]) + 1;
            bits[d] = std::bit_width(size[d]);
            joint = joint && size[d] < joint_limit;
        }
        const Wide values = static_cast<Wide>(size[0]) * size[1] * size[2];
        const auto upper = static_cast<std::uint64_t>(values >> 64);
        joint_bits = upper ? 64 + std::bit_width(upper) : std::bit_width(static_cast<std::uint64_t>(values));
    }
    std::uint32_t size[3];
    int bits[3];
    bool joint = true;
    int joint_bits;
};

// Writes bits from the most significant to the least, 64 at a time.
class BitWriter
{
public:
    explicit BitWriter(std::vector<unsigned char>& bytes) : bytes_(bytes), used_(bytes.size()) {}

    // Reserves memory for the bits that are written until the next call.
    void reserve(std::size_t bytes)
    {
        if (used_ + bytes > bytes_.size()) { bytes_.resize(used_ + bytes + used_ / 2 + 4096); }
    }
    // Writes 1 to 64 bits. value < 2^bits.
    void put(int bits, std::uint64_t value)
    {
        const int free_bits = 64 - filled_;
        if (bits < free_bits)
        {
            word_ |= value << (free_bits - bits);
            filled_ += bits;
            return;
        }
        filled_ = bits - free_bits;
        store(word_ | value >> filled_);
        word_ = filled_ > 0 ? value << (64 - filled_) : 0;
    }
    // Writes a number of up to 72 bits: its bytes from the lowest to the highest, then the remaining bits.
    void put_number(int bits, std::uint64_t value)
    {
        const int whole = bits & ~7, rest = bits & 7;
        if (whole == 0) { return put(bits, value); }
        const std::uint64_t swapped = __builtin_bswap64(value) >> (64 - whole);
        put(bits, rest > 0 ? swapped << rest | value >> whole : swapped);
    }
    void put_number(int bits, Wide value)
    {
        if (bits <= 64) { return put_number(bits, static_cast<std::uint64_t>(value)); }
        put_number(64, static_cast<std::uint64_t>(value));
        put(bits - 64, static_cast<std::uint64_t>(value >> 64));
    }
    // Adds zeros up to a whole byte.
    void finish()
    {
        reserve(8);
        const std::size_t end = used_ + static_cast<std::size_t>(filled_ + 7) / 8;
        store(word_);
        bytes_.resize(end);
    }

private:
    void store(std::uint64_t word)
    {
        word = big_endian(word);
        std::memcpy(bytes_.data() + used_, &word, 8);
        used_ += 8;
    }

    std::vector<unsigned char>& bytes_;
    std::size_t used_;
    std::uint64_t word_ = 0; // the next bits, left-aligned
    int filled_ = 0;         // number of bits in word_, 0..63
};

class BitReader
{
public:
    explicit BitReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    // Reads 1 to 56 bits. Beyond the end it reads zeros, and overrun() then returns true.
    std::uint64_t get(int bits)
    {
        std::uint64_t word = 0;
        const std::size_t first = position_ / 8;
        if (first + 8 <= bytes_.size()) { std::memcpy(&word, bytes_.data() + first, 8); }
        else if (first < bytes_.size()) { std::memcpy(&word, bytes_.data() + first, bytes_.size() - first); }
        word = big_endian(word) << position_ % 8 >> (64 - bits);
        position_ += static_cast<std::size_t>(bits);
        return word;
    }
    template <class Number>
    Number get_number(int bits)
    {
        if (bits > 56)
        {
            const Number low = get_number<Number>(32);
            return low | get_number<Number>(bits - 32) << 32;
        }
        const int whole = bits & ~7, rest = bits & 7;
        const std::uint64_t raw = get(bits);
        if (whole == 0) { return raw; }
        const std::uint64_t low = __builtin_bswap64(raw >> rest << (64 - whole));
        return low | (raw & ((std::uint64_t{1} << rest) - 1)) << whole;
    }
    // Reads three numbers below `size`, of which x is the most significant. Returns false if they are too large.
    bool get_triple(int bits, const std::uint32_t (&size)[3], Triple& triple)
    {
        return bits <= 64 ? split(get_number<std::uint64_t>(bits), size, triple) : split(get_number<Wide>(bits), size, triple);
    }
    bool overrun() const { return position_ > bytes_.size() * 8; }

private:
    template <class Number>
    static bool split(Number number, const std::uint32_t (&size)[3], Triple& triple)
    {
        triple.z = static_cast<std::uint32_t>(number % size[2]);
        number /= size[2];
        triple.y = static_cast<std::uint32_t>(number % size[1]);
        number /= size[1];
        triple.x = static_cast<std::uint32_t>(number);
        return number < size[0];
    }

    std::span<const std::byte> bytes_;
    std::size_t position_ = 0; // number of bits that were read
};

// Returns whether all components of a - b are within (-limit, limit). A frame's range is below 2^30, so nothing overflows.
bool within(const GridPoint& a, const GridPoint& b, std::uint32_t limit)
{
    const auto near = [&](std::int32_t p, std::int32_t q) {
        return static_cast<std::uint32_t>(p) - static_cast<std::uint32_t>(q) + (limit - 1) < 2 * limit - 1;
    };
    return near(a.x, b.x) && near(a.y, b.y) && near(a.z, b.z);
}

void put_full(BitWriter& out, const FullCode& code, const GridPoint& a, const GridPoint& low)
{
    std::uint32_t offset[3];
    for (int d = 0; d < 3; ++d) { offset[d] = static_cast<std::uint32_t>(a[d]) - static_cast<std::uint32_t>(low[d]); }
    if (!code.joint)
    {
        for (int d = 0; d < 3; ++d) { out.put(code.bits[d], offset[d]); }
    }
    else if (code.joint_bits <= 64)
    {
        out.put_number(code.joint_bits, (std::uint64_t{offset[0]} * code.size[1] + offset[1]) * code.size[2] + offset[2]);
    }
    else
    {
        out.put_number(code.joint_bits, (static_cast<Wide>(offset[0]) * code.size[1] + offset[1]) * code.size[2] + offset[2]);
    }
}

// The window of small differences: each component of a difference is within (-half, half).
struct Window
{
    explicit Window(int index_)
        : index(index_), width(widths[index]), half(width / 2), smaller(widths[std::max(first_window, index - 1)] / 2)
    {
    }
    int index;
    std::uint32_t width, half;
    std::uint32_t smaller; // half the width of the next narrower window
};

bool beyond(const GridPoint& d, std::uint32_t limit)
{
    const auto square = [](std::int64_t a) { return a * a; };
    return square(d.x) + square(d.y) + square(d.z) >= square(limit);
}

} // namespace

XtcRange range_of(std::span<const GridPoint> points)
{
    PARHELION_EXPECTS(!points.empty());
    XtcRange range{points[0], points[0], 0};
    std::uint64_t smallest_step = std::numeric_limits<std::uint64_t>::max();
    const auto distance = [](std::int32_t a, std::int32_t b) {
        return static_cast<std::uint64_t>(std::abs(static_cast<std::int64_t>(a) - b));
    };
    for (std::size_t i = 1; i < points.size(); ++i)
    {
        const GridPoint a = points[i - 1], b = points[i];
        range.low = {std::min(range.low.x, b.x), std::min(range.low.y, b.y), std::min(range.low.z, b.z)};
        range.high = {std::max(range.high.x, b.x), std::max(range.high.y, b.y), std::max(range.high.z, b.z)};
        smallest_step = std::min(smallest_step, distance(a.x, b.x) + distance(a.y, b.y) + distance(a.z, b.z));
    }
    range.window = first_window;
    while (range.window < last_written_window && widths[range.window] < smallest_step) { ++range.window; }
    return range;
}

void compress(std::span<GridPoint> points, const XtcRange& range, std::vector<unsigned char>& bytes)
{
    const FullCode code(range);
    const int widest = std::min(range.window + window_span, last_written_window),
              narrowest = std::max(first_window, widest - window_span);
    const std::uint32_t reach = widths[widest] / 2;

    BitWriter out(bytes);
    Window window(range.window);
    int last_run = -1;
    std::array<std::uint64_t, longest_run> small;
    for (std::size_t i = 0; i < points.size();)
    {
        // A jump that exceeds this window, but not the widest, asks for a wider window.
        // Otherwise a narrower window is tried, unless the next run needs this one.
        int change = 0;
        const bool jumped = i > 0 && !within(points[i], points[i - 1], window.half) && within(points[i], points[i - 1], reach);
        if (jumped && window.index < widest) { change = 1; }
        else if (window.index > narrowest) { change = -1; }

        bool near = i + 1 < points.size() && within(points[i], points[i + 1], window.half);
        if (near) { std::swap(points[i], points[i + 1]); }
        out.reserve(128); // more bytes than an atom in full, its flags and the longest run take
        put_full(out, code, points[i], range.low);
        ++i;

        int run = 0;
        while (near && run < longest_run)
        {
            const GridPoint d = points[i] - points[i - 1];
            if (change < 0 && beyond(d, window.smaller)) { change = 0; }
            const auto digit = [&](std::int32_t component) {
                return static_cast<std::uint64_t>(component + static_cast<std::int32_t>(window.half));
            };
            small[run++] = (digit(d.x) * window.width + digit(d.y)) * window.width + digit(d.z);
            ++i;
            near = i < points.size() && within(points[i], points[i - 1], window.half);
        }
        if (run == 0 && change < 0) { change = 0; }

        if (run == last_run && change == 0) { out.put(1, 0); }
        else
        {
            out.put(6, 32u | static_cast<unsigned>(3 * run + change + 1));
            last_run = run;
        }
        for (int k = 0; k < run; ++k) { out.put_number(window.index, small[k]); }
        if (change != 0) { window = Window(window.index + change); }
    }
    out.finish();
}

bool decompress(std::span<const std::byte> bytes, const XtcRange& range, std::span<GridPoint> points)
{
    for (int d = 0; d < 3; ++d)
    {
        const std::int64_t extent = static_cast<std::int64_t>(range.high[d]) - range.low[d];
        if (extent < 0 || extent >= xtc_widest_range) { return false; }
    }
    if (range.window < first_window || range.window > last_window) { return false; }
    const FullCode code(range);
    const auto in_range = [&](const Vec3<std::int64_t>& a) {
        return a.x >= range.low.x && a.x <= range.high.x && a.y >= range.low.y && a.y <= range.high.y && a.z >= range.low.z &&
               a.z <= range.high.z;
    };

    BitReader in(bytes);
    Window window(range.window);
    int run = 0;
    for (std::size_t i = 0; i < points.size();)
    {
        Triple offset{};
        if (!code.joint)
        {
            offset.x = static_cast<std::uint32_t>(in.get(code.bits[0]));
            offset.y = static_cast<std::uint32_t>(in.get(code.bits[1]));
            offset.z = static_cast<std::uint32_t>(in.get(code.bits[2]));
        }
        else if (!in.get_triple(code.joint_bits, code.size, offset)) { return false; }
        Vec3<std::int64_t> previous{std::int64_t{range.low.x} + offset.x, std::int64_t{range.low.y} + offset.y,
                                    std::int64_t{range.low.z} + offset.z};
        if (!in_range(previous)) { return false; }
        points[i] = static_cast<GridPoint>(previous);

        int change = 0;
        if (in.get(1) != 0)
        {
            const int runs_and_change = static_cast<int>(in.get(5));
            run = runs_and_change / 3;
            change = runs_and_change % 3 - 1;
        }
        if (in.overrun() || static_cast<std::size_t>(run) >= points.size() - i) { return false; }
        const std::uint32_t size[3] = {window.width, window.width, window.width};
        for (int k = 1; k <= run; ++k)
        {
            if (!in.get_triple(window.index, size, offset)) { return false; }
            const std::int64_t half = window.half;
            previous += {offset.x - half, offset.y - half, offset.z - half};
            if (!in_range(previous)) { return false; }
            points[i + static_cast<std::size_t>(k)] = static_cast<GridPoint>(previous);
        }
        if (run > 0) { std::swap(points[i], points[i + 1]); }
        i += static_cast<std::size_t>(run) + 1;

        if (change != 0)
        {
            const int index = window.index + change;
            if (index < first_window || index > last_window) { return false; }
            window = Window(index);
        }
    }
    return !in.overrun();
}

} // namespace parhelion
