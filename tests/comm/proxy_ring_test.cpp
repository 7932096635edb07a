// SPDX-License-Identifier: Apache-2.0
// The ring of a proxy among threads: what kernels do, so that the thread sanitizer sees it.
#include "comm/core/proxy_ring.hpp"

#include "support/number_in.hpp"

#include <array>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

using namespace parhelion;

namespace {

constexpr std::size_t places = 4;
constexpr int sources = 4; // of a signal slot each

struct Source
{
    alignas(128) Word data = 0;
    alignas(128) Word read = 0;
    alignas(128) Word credit = 1; // from its destination
};

std::int64_t messages_of_each() { return test::number_in<std::int64_t>("PARHELION_TEST_EXCHANGES", 20'000); }

} // namespace

// Each source has one message under way. The reader is proxy and destinations: it checks the message, says that it has been read,
// and gives the credit for the next.
TEST(ProxyRing, hands_over_each_message_once_and_whole_where_as_many_places_as_signals_are)
{
    const auto messages = static_cast<Word>(messages_of_each());
    std::array<Descriptor, places> descriptors{};
    ProxyRing<HostAtomics> ring(descriptors.data(), places);
    ProxyRingReader reader(descriptors.data(), places);
    std::array<Source, sources> of{};
    std::vector<std::jthread> threads;
    for (int s = 0; s < sources; ++s)
    {
        threads.emplace_back([&, s] {
            Source& source = of[static_cast<std::size_t>(s)];
            const ProxyTransport<HostAtomics> transport{&ring, static_cast<std::size_t>(100 + s), &source.read};
            for (Word epoch = 1; epoch <= messages; ++epoch)
            {
                source.data = epoch * 8 + static_cast<Word>(s);
                for (int polls = 0; !reached(HostAtomics::load_acquire_system(&source.credit), epoch); ++polls)
                {
                    HostAtomics::pause(polls);
                }
                transport.put_signal({s, s + 1, epoch % 1000, reinterpret_cast<const std::byte*>(&source.data),
                                      sizeof source.data, static_cast<std::size_t>(100 + s), epoch});
                for (int polls = 0; !reached(HostAtomics::load_acquire_system(&source.read), epoch); ++polls)
                {
                    HostAtomics::pause(polls);
                }
                source.data = 0; // nobody reads it any more
            }
        });
    }
    std::array<Word, sources> epochs{};
    Word wrong = 0;
    for (Word taken = 0; taken < messages * sources;)
    {
        Descriptor next;
        if (!reader.take(next))
        {
            HostAtomics::pause(1000);
            continue;
        }
        const Put& put = next.put;
        const auto s = static_cast<std::size_t>(put.source);
        ASSERT_LT(s, std::size_t{sources});
        const Word epoch = ++epochs[s];
        wrong += next.number != ++taken || put.destination != put.source + 1 || put.epoch != epoch || put.signal != 100 + s ||
                 put.offset != epoch % 1000 || next.read != &of[s].read;
        wrong += *reinterpret_cast<const Word*>(put.data) != epoch * 8 + s;
        HostAtomics::store_release_system(next.read, epoch);
        HostAtomics::store_release_system(&of[s].credit, epoch + 1);
    }
    EXPECT_EQ(wrong, 0u);
    Descriptor none;
    EXPECT_FALSE(reader.take(none));
}

// Nobody asks when a credit has been read.
TEST(ProxyRing, takes_messages_without_data_or_a_word_for_the_end_of_reading)
{
    std::array<Descriptor, 1> descriptors{};
    ProxyRing<HostAtomics> ring(descriptors.data(), 1);
    ProxyRingReader reader(descriptors.data(), 1);
    const ProxyTransport<HostAtomics> transport{&ring, 0, nullptr};
    Descriptor next;
    for (Word epoch = 1; epoch <= 3; ++epoch)
    {
        EXPECT_FALSE(reader.take(next));
        transport.put_signal({1, 0, 0, nullptr, 5, 7, epoch});
        ASSERT_TRUE(reader.take(next));
        EXPECT_EQ(next.put.epoch, epoch);
        EXPECT_EQ(next.put.data, nullptr);
        EXPECT_EQ(next.read, nullptr);
    }
}
