// SPDX-License-Identifier: Apache-2.0
// Inputs of partitioned collectives, what must become of them, and buffers with room around them that must stay as it was.
#pragma once

#include "comm/partitioned/collectives.hpp"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace parhelion {

// Whole numbers from -15 to 15: sums of up to 16 of them are exact in every element type, whatever their order.
inline int whole_number(std::uint64_t epoch, int place, std::size_t i)
{
    std::uint64_t z = epoch * 0x9E3779B97F4A7C15 + static_cast<std::uint64_t>(place) * 0xBF58476D1CE4E5B9 + i;
    z = (z ^ (z >> 30)) * 0x94D049BB133111EB;
    return static_cast<int>((z >> 33) % 31) - 15;
}

// One element of any type as a number, and back.
inline double number_at(ElementType type, const std::byte* at)
{
    double number = 0;
    for_elements(type, Reduction::Sum, [&]<class T, Reduction>() {
        T value;
        std::memcpy(&value, at, sizeof value);
        number = static_cast<double>(widened(value));
    });
    return number;
}
inline void put_number(ElementType type, std::byte* at, double number)
{
    for_elements(type, Reduction::Sum, [&]<class T, Reduction>() {
        T value;
        narrow(value, static_cast<decltype(widened(T{}))>(number));
        std::memcpy(at, &value, sizeof value);
    });
}

// Says what is done, to which buffers.
struct CollectiveCase
{
    Collective collective;
    Algorithm algorithm;
    Elements elements;
    Reduction reduction = Reduction::Sum;
    int root = 0;
    bool is_in_place = false;
    std::size_t shift = 0; // elements by which the buffers miss an alignment of 128 bytes

    std::size_t block() const { return static_cast<std::size_t>(elements.partitions) * elements.count; }
    std::size_t inputs(int members) const
    {
        return collective == Collective::ReduceScatter ? block() * members_(members) : block();
    }
    std::size_t results(int members) const { return collective == Collective::AllGather ? block() * members_(members) : block(); }

    // Element i of this member's result.
    double expected(std::uint64_t epoch, int members, int place, std::size_t i) const
    {
        if (collective == Collective::Broadcast) { return whole_number(epoch, root, i); }
        if (collective == Collective::AllGather) { return whole_number(epoch, static_cast<int>(i / block()), i % block()); }
        const std::size_t at = collective == Collective::ReduceScatter ? i + static_cast<std::size_t>(place) * block() : i;
        double value = whole_number(epoch, 0, at);
        for (int m = 1; m < members; ++m)
        {
            const double term = whole_number(epoch, m, at);
            value = reduction == Reduction::Sum   ? value + term
                    : reduction == Reduction::Min ? std::min(value, term)
                                                  : std::max(value, term);
        }
        return value;
    }

private:
    static std::size_t members_(int n) { return static_cast<std::size_t>(n); }
};

// Elements within bytes of a known value.
class GuardedBuffer
{
public:
    GuardedBuffer(ElementType type, std::size_t elements, std::size_t shift)
        : type_(type), bytes_(elements * bytes_of(type)), memory_(bytes_ + 4 * guard, fill)
    {
        const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) + guard;
        begin_ = guard + (guard - address % guard) % guard + shift * bytes_of(type);
    }
    std::byte* data() { return memory_.data() + begin_; }
    std::byte* at(std::size_t i) { return data() + i * bytes_of(type_); }
    std::size_t bytes() const { return bytes_; }
    void clear() { std::fill_n(data(), bytes_, fill); }
    bool is_intact_around() const
    {
        const auto is_fill = [](std::byte b) { return b == fill; };
        const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(begin_);
        return std::all_of(memory_.begin(), begin, is_fill) &&
               std::all_of(begin + static_cast<std::ptrdiff_t>(bytes_), memory_.end(), is_fill);
    }

private:
    static constexpr std::size_t guard = 128;
    static constexpr std::byte fill{0xA5};
    ElementType type_;
    std::size_t bytes_, begin_ = 0;
    std::vector<std::byte> memory_;
};

// A member's request with its buffers.
struct Member
{
    CollectiveCase what;
    int members, place;
    GuardedBuffer input_memory, result_memory;
    CollectiveRequest request;

    Member(Partitioned& partitioned, const CollectiveCase& of, int n, int at, CollectiveOptions options = {})
        : what(of), members(n), place(at), input_memory(of.elements.type, of.inputs(n), of.shift),
          result_memory(of.elements.type, of.results(n), of.shift)
    {
        options.algorithm = of.algorithm;
        switch (of.collective)
        {
        case Collective::AllReduce:
            request = pallreduce_init(partitioned, input(), result(), of.elements, of.reduction, options);
            break;
        case Collective::AllGather:
            request = pallgather_init(partitioned, input(), result(), of.elements, options);
            break;
        case Collective::ReduceScatter:
            request = preduce_scatter_init(partitioned, input(), result(), of.elements, of.reduction, options);
            break;
        case Collective::Broadcast:
            request = pbroadcast_init(partitioned, result(), of.elements, of.root, options);
            break;
        }
    }

    bool has_input() const { return what.collective != Collective::Broadcast || place == what.root; }
    std::byte* input()
    {
        if (what.collective == Collective::Broadcast) { return result(); }
        if (!what.is_in_place) { return input_memory.data(); }
        if (what.collective != Collective::AllGather)
        {
            return what.collective == Collective::AllReduce ? result() : input_memory.data();
        }
        return result_memory.at(static_cast<std::size_t>(place) * what.block());
    }
    std::byte* result()
    {
        const bool is_block = what.is_in_place && what.collective == Collective::ReduceScatter;
        return is_block ? input_memory.at(static_cast<std::size_t>(place) * what.block()) : result_memory.data();
    }

    // Writes an input partition: of a reduce-scatter in all blocks.
    void fill(std::uint64_t epoch, int partition)
    {
        const std::size_t bytes = bytes_of(what.elements.type);
        for (std::size_t block = 0; block < what.inputs(members); block += what.block())
        {
            for (std::size_t k = 0; k < what.elements.count; ++k)
            {
                const std::size_t i = block + static_cast<std::size_t>(partition) * what.elements.count + k;
                put_number(what.elements.type, input() + i * bytes, whole_number(epoch, place, i));
            }
            if (what.block() == 0) { break; }
        }
    }
    void start_and_fill(std::uint64_t epoch)
    {
        if (!what.is_in_place) { result_memory.clear(); }
        request.start();
        for (int p = 0; p < what.elements.partitions && has_input(); ++p)
        {
            fill(epoch, p);
            request.pready(p);
        }
    }
    // How many elements of a result partition are wrong.
    int wrong(std::uint64_t epoch, int partition)
    {
        const std::size_t bytes = bytes_of(what.elements.type);
        int wrong = 0;
        for (std::size_t block = 0; block < what.results(members); block += what.block())
        {
            for (std::size_t k = 0; k < what.elements.count; ++k)
            {
                const std::size_t i = block + static_cast<std::size_t>(partition) * what.elements.count + k;
                wrong += number_at(what.elements.type, result() + i * bytes) != what.expected(epoch, members, place, i) ? 1 : 0;
            }
        }
        return wrong;
    }
    void wait_and_check(std::uint64_t epoch)
    {
        request.wait();
        int wrong_elements = 0;
        for (int p = 0; p < what.elements.partitions; ++p) { wrong_elements += wrong(epoch, p); }
        EXPECT_EQ(wrong_elements, 0) << "collective " << static_cast<int>(what.collective) << ", algorithm "
                                     << static_cast<int>(what.algorithm) << ", " << what.elements.count << " elements, place "
                                     << place;
        EXPECT_TRUE(input_memory.is_intact_around() && result_memory.is_intact_around());
    }
};

// All collectives by all their algorithms.
inline std::vector<CollectiveCase> all_cases(const Elements& elements)
{
    std::vector<CollectiveCase> cases;
    for (const Collective c : {Collective::AllReduce, Collective::AllGather, Collective::ReduceScatter, Collective::Broadcast})
    {
        for (const Algorithm a : {Algorithm::OneShot, Algorithm::TwoShot, Algorithm::Ring})
        {
            if (exists(c, a)) { cases.push_back({c, a, elements}); }
        }
    }
    return cases;
}

} // namespace parhelion
