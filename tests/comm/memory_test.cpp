// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstraps/threads.hpp"
#include "comm/ranks.hpp"

#include <algorithm>
#include <optional>

using namespace parhelion;

namespace {

// Arenas of `ranks` ranks in this process.
struct Arenas
{
    Arenas(int ranks, std::size_t payload_bytes, std::size_t signal_slots)
        : bootstrap(ranks), memory(of(bootstrap, payload_bytes, signal_slots), payload_bytes, signal_slots, show)
    {
    }
    static void show(int, SignalSlot* first, int count, Word shown) { std::fill_n(first, count, SignalSlot{shown, 0}); }
    static std::vector<SymmetricMemory::Arenas> of(Bootstrap& bootstrap, std::size_t payload_bytes, std::size_t signal_slots)
    {
        std::vector<SymmetricMemory::Arenas> arenas;
        for (int r = 0; r < bootstrap.ranks(); ++r)
        {
            std::byte* const signals = bootstrap.pages("signals", r, signal_slots * sizeof(SignalSlot));
            arenas.push_back({bootstrap.pages("payload", r, payload_bytes), reinterpret_cast<SignalSlot*>(signals)});
        }
        return arenas;
    }
    ThreadsBootstrap bootstrap;
    SymmetricMemory memory;
};

} // namespace

TEST(FreeExtents, random_takes_and_returns_never_overlap_and_leave_nothing_behind)
{
    constexpr std::size_t size = 1 << 12;
    FreeExtents free(size);
    std::vector<bool> taken(size, false); // the oracle: a byte map
    std::vector<Window> windows;
    std::mt19937 random(7);
    for (int i = 0; i < 5000; ++i)
    {
        if (random() % 2 == 0 && !windows.empty())
        {
            const std::size_t w = random() % windows.size();
            free.give_back(windows[w]);
            std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(windows[w].offset), windows[w].bytes, false);
            windows.erase(windows.begin() + static_cast<std::ptrdiff_t>(w));
            continue;
        }
        const std::size_t bytes = 1 + random() % 300, from = random() % size;
        const std::size_t at = free.fit(from, bytes);
        std::size_t run = 0, expected = FreeExtents::none;
        for (std::size_t b = from; b < size && expected == FreeExtents::none; ++b)
        {
            run = taken[b] ? 0 : run + 1;
            if (run == bytes) { expected = b + 1 - bytes; }
        }
        ASSERT_EQ(at, expected);
        if (at == FreeExtents::none) { continue; }
        free.take({at, bytes});
        std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(at), bytes, true);
        windows.push_back({at, bytes});
    }
    for (const Window& w : windows) { free.give_back(w); }
    EXPECT_EQ(free.fit(0, size), 0u);
}

TEST(FreeExtents, a_window_given_back_twice_is_a_broken_contract)
{
    FreeExtents free(1024);
    free.take({128, 256});
    free.give_back({128, 256});
    EXPECT_THROW(free.give_back({128, 256}), ContractError);
    EXPECT_THROW(free.take({900, 256}), ContractError);
}

TEST(SymmetricMemory, a_group_gets_one_offset_that_is_free_for_every_member)
{
    Arenas arenas(3, 1 << 16, 16);
    SymmetricMemory& memory = arenas.memory;
    memory.allocate(0, 1000);
    memory.allocate(2, 5000);
    const int three[] = {0, 1, 2}, pair[] = {0, 1};
    const Window all = memory.allocate(three, 300);
    EXPECT_EQ(all.offset, round_up_window(5000));
    EXPECT_EQ(all.offset % window_alignment, 0u);
    EXPECT_EQ(memory.allocate(pair, 100).offset, round_up_window(1000)); // the gap that both members have
    memory.release(2, all);
    EXPECT_EQ(memory.allocate(2, 100).offset, all.offset);
}

TEST(SymmetricMemory, a_full_arena_and_too_many_signals_are_errors_that_name_the_rank)
{
    Arenas arenas(2, 1 << 12, 4);
    SymmetricMemory& memory = arenas.memory;
    memory.allocate(1, 1 << 12);
    EXPECT_THROW(memory.allocate(1, 1), CommError);
    EXPECT_NO_THROW(memory.allocate(0, 1));
    EXPECT_EQ(memory.reserve_signals(0, 2, 9), 1u); // after the abort word
    EXPECT_EQ(memory.signal(0, SymmetricMemory::abort_signal)->epoch, 0u);
    EXPECT_EQ(memory.signal(0, 2)->epoch, 9u);
    EXPECT_THROW(memory.reserve_signals(0, 2, 0), CommError);
}

TEST(SymmetricMemory, nothing_fits_into_a_full_arena)
{
    Arenas arenas(2, 1 << 12, 4);
    SymmetricMemory& memory = arenas.memory;
    const int both[] = {0, 1};
    memory.allocate(both, 1 << 12);
    const Window nothing = memory.allocate(both, 0);
    EXPECT_EQ(nothing.bytes, 0u);
    memory.release(0, nothing);
    EXPECT_THROW(memory.allocate(0, 1), CommError); // it gave nothing back
}

TEST(SymmetricMemory, members_of_overlapping_groups_agree_whoever_calls_first)
{
    World world(thread_network(4));
    std::vector<std::vector<std::size_t>> offsets(4);
    check_ranks(world, [&](Communicator& c) {
        Jitter jitter(static_cast<std::uint64_t>(c.rank()));
        RankGroup own = c.group({c.rank()});
        std::optional<RankGroup> even;
        if (c.rank() % 2 == 0) { even = c.group({0, 2}); }
        for (int i = 0; i < 50; ++i)
        {
            jitter();
            own.allocate(static_cast<std::size_t>(100 + 50 * c.rank())); // others come between
            if (even) { offsets[static_cast<std::size_t>(c.rank())].push_back(even->allocate(500).offset); }
            offsets[static_cast<std::size_t>(c.rank())].push_back(c.allocate(200).offset);
        }
    });
    EXPECT_EQ(offsets[0], offsets[2]);
    EXPECT_EQ(offsets[1], offsets[3]);
    for (std::size_t i = 0; i < 50; ++i) { EXPECT_EQ(offsets[0][2 * i + 1], offsets[1][i]); }
}
