// SPDX-License-Identifier: Apache-2.0
// What code of a kernel asks of the stand-in: who am I, meet the other threads of the block or the warp, wait for another block.
#pragma once

#include <cstdint>
#include <cstring>

namespace standin {

struct Index
{
    unsigned x, y, z;
};

enum class BlockMeeting : unsigned char
{
    Barrier,
    Or,
    And,
    Count
};

// Says what becomes of the values that the lanes of a group bring (a bit each). `from`: the lane whose value a lane asks for.
struct Lane
{
    std::uint64_t value, result;
    int from;
    const struct WarpOperation* operation; // null: does not wait
    std::uint32_t mask;
};
struct WarpOperation
{
    const char* name;
    void (*finish)(Lane* lanes, std::uint32_t group);
};

// Returns the index of the running thread. The addresses are good until the thread ends.
[[gnu::const]] const Index& thread_index();
[[gnu::const]] const Index& block_index();
[[gnu::const]] const Index& block_size();
[[gnu::const]] const Index& grid_size();
[[gnu::const]] void* dynamic_shared_memory();
[[gnu::const]] int lane();
unsigned multiprocessor();

// All threads of the block that have not ended. How many of them voted for it, or the logical sum or product.
int meet_block(BlockMeeting how, bool vote);
// All lanes in the mask that have not ended.
std::uint64_t meet_warp(const WarpOperation& operation, std::uint32_t mask, std::uint64_t value, int from);
// A look at memory that another block or the host may change: these go on meanwhile. Does nothing outside of kernels.
void poll();
void trap();
// A clock that stands still while any block gets on: waits with a deadline do not expire because the stand-in is slow.
std::uint64_t nanoseconds();

template <class T>
std::uint64_t bits(const T& value)
{
    static_assert(sizeof(T) <= 8);
    std::uint64_t raw = 0;
    std::memcpy(&raw, &value, sizeof value);
    return raw;
}
template <class T>
T from_bits(std::uint64_t raw)
{
    T value;
    std::memcpy(&value, &raw, sizeof value);
    return value;
}

// f(lane) for the lanes of a group, in order.
template <class F>
void for_each_lane(std::uint32_t group, F&& f)
{
    for (; group != 0; group &= group - 1) { f(__builtin_ctz(group)); }
}

// Lanes that ask for the value of one that is not in the group get ones in all bits, which hardware leaves undefined.
inline constexpr WarpOperation barrier{"__syncwarp()", [](Lane*, std::uint32_t) {}};
inline constexpr WarpOperation shuffle{"a shuffle", [](Lane* lanes, std::uint32_t group) {
                                           for_each_lane(group, [&](int l) {
                                               const int from = lanes[l].from;
                                               lanes[l].result = (group >> from & 1) != 0 ? lanes[from].value : ~std::uint64_t{0};
                                           });
                                       }};
inline constexpr WarpOperation ballot{"a vote", [](Lane* lanes, std::uint32_t group) {
                                          std::uint64_t votes = 0;
                                          for_each_lane(group, [&](int l) { votes |= lanes[l].value << l; });
                                          for_each_lane(group, [&](int l) { lanes[l].result = votes; });
                                      }};
template <class T, T combine(T, T)>
inline constexpr WarpOperation reduce{"a reduction", [](Lane* lanes, std::uint32_t group) {
                                          T all = from_bits<T>(lanes[__builtin_ctz(group)].value);
                                          for_each_lane(group & (group - 1),
                                                        [&](int l) { all = combine(all, from_bits<T>(lanes[l].value)); });
                                          for_each_lane(group, [&](int l) { lanes[l].result = bits(all); });
                                      }};

} // namespace standin
