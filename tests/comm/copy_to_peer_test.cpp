// SPDX-License-Identifier: Apache-2.0
#include "comm/core/copy_to_peer.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <vector>

using namespace parhelion;

TEST(CopyToPeer, copies_any_bytes_from_anywhere_to_anywhere_and_no_others)
{
    constexpr std::size_t most = 40000, margin = 128;
    std::vector<std::byte> from(most + margin), to(most + 2 * margin);
    std::mt19937_64 random(1);
    for (std::byte& b : from) { b = static_cast<std::byte>(random() % 255); }
    const std::byte untouched{255};
    for (int i = 0; i < 2000; ++i)
    {
        const std::size_t bytes = i < 70 ? static_cast<std::size_t>(i) : random() % most, message = random() % 2 * most + bytes;
        const std::size_t source = random() % margin, target = margin + random() % 64;
        std::fill(to.begin(), to.end(), untouched);
        copy_to_peer(to.data() + target, from.data() + source, bytes, message);
        ASSERT_TRUE(std::equal(from.data() + source, from.data() + source + bytes, to.data() + target));
        ASSERT_TRUE(std::all_of(to.data(), to.data() + target, [&](std::byte b) { return b == untouched; }));
        ASSERT_TRUE(std::all_of(to.data() + target + bytes, to.data() + to.size(), [&](std::byte b) { return b == untouched; }));
    }
}

// Fails without the fence behind stores past the caches: the flag then overtakes the last lines.
TEST(CopyToPeer, is_whole_once_a_release_store_is_seen)
{
    constexpr std::size_t words = 4096;
    std::vector<std::uint64_t> there(words);
    std::atomic<std::uint64_t> sent = 0, seen = 0;
    constexpr std::uint64_t epochs = 20000;
    std::uint64_t wrong = 0;
    std::thread reader([&] {
        for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch)
        {
            while (sent.load(std::memory_order_acquire) < epoch) {}
            for (std::size_t i = words; i-- > 0;) { wrong += there[i] != epoch ? 1 : 0; }
            seen.store(epoch, std::memory_order_release);
        }
    });
    std::vector<std::uint64_t> mine(words);
    for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch)
    {
        std::fill(mine.begin(), mine.end(), epoch);
        while (seen.load(std::memory_order_acquire) < epoch - 1) {}
        copy_to_peer(reinterpret_cast<std::byte*>(there.data()), reinterpret_cast<const std::byte*>(mine.data()),
                     words * sizeof(std::uint64_t), words * sizeof(std::uint64_t));
        sent.store(epoch, std::memory_order_release);
    }
    reader.join();
    EXPECT_EQ(wrong, 0U);
}
