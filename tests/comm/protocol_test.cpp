// SPDX-License-Identifier: Apache-2.0
// The core alone, as a kernel would use it: no host classes, no virtual calls, polls in place of waits.
#include "comm/ranks.hpp"

#include <algorithm>
#include <array>
#include <vector>

using namespace parhelion;
using namespace std::chrono_literals;

namespace {

// A transport that is never asked: both ends reach everything.
struct Unused
{
    void put_signal(const Put&) { std::abort(); }
};

// Whoever raises an abort word takes his time.
struct SlowToRaise : HostAtomics
{
    static void store_release_system(Word* w, Word value)
    {
        std::this_thread::sleep_for(20ms);
        HostAtomics::store_release_system(w, value);
    }
};

// Three ranks that share one record of the first failure, and a host.
struct Waiters
{
    FirstFailure first_failure;
    SignalSlot host_abort{}, never_raised{};
    std::array<SignalSlot, 3> aborts{};
    std::array<SignalSlot*, 3> abort_slots{&aborts[0], &aborts[1], &aborts[2]};
    std::int64_t step = 7;

    Watch watch(int rank, std::chrono::nanoseconds deadline)
    {
        return {rank,           3,     deadline.count(), abort_slots[static_cast<std::size_t>(rank)], abort_slots.data(),
                &first_failure, &step, &host_abort};
    }
};

struct Memory
{
    alignas(128) std::array<std::byte, 256> payload{};
    std::array<SignalSlot, 2> signals{}, credits{};
};

} // namespace

TEST(Signals, epochs_compare_right_across_the_wrap)
{
    for (const Word epoch : {Word{1}, Word{0x7FFFFFFB}, Word{0xFFFFFFFB}, ~Word{0}, Word{0}})
    {
        EXPECT_TRUE(reached(epoch, epoch));
        EXPECT_TRUE(reached(epoch + 3, epoch));
        EXPECT_FALSE(reached(epoch - 1, epoch));
        EXPECT_TRUE(reached(epoch + (Word{1} << 32), epoch));
        EXPECT_FALSE(reached(epoch - (Word{1} << 32), epoch));
    }
}

// As the host sees the work of a GPU end whose wait was in vain, it must see the failure, or it would hand on what came of it: of
// the rank that fails first, of one that fails at the same time, and of one that is told.
TEST(Signals, no_wait_ends_in_vain_before_the_host_is_told)
{
    Waiters waiters;
    const std::array<std::chrono::nanoseconds, 3> deadlines{2s, 2s, 60s}; // far longer than the words take
    std::array<Verdict, 3> verdicts{};
    std::array<Word, 3> host_words{};
    std::vector<std::thread> ranks;
    for (std::size_t r = 0; r < 3; ++r)
    {
        ranks.emplace_back([&, r] {
            const Watch watch = waiters.watch(static_cast<int>(r), deadlines[r]);
            FailureRecord record{};
            record.expected = 1;
            verdicts[r] = wait_until<SlowToRaise>(&waiters.never_raised, watch, record);
            host_words[r] = HostAtomics::load_relaxed_system(&waiters.host_abort.epoch);
        });
    }
    for (std::thread& rank : ranks) { rank.join(); }
    EXPECT_EQ(std::count(verdicts.begin(), verdicts.end(), Verdict::Expired), 1);
    EXPECT_EQ(std::count(verdicts.begin(), verdicts.end(), Verdict::Aborted), 2);
    for (const Word word : host_words) { EXPECT_EQ(word, 1); }
}

TEST(Signals, who_fails_second_does_not_wait_for_ever_for_the_first)
{
    Waiters waiters;
    waiters.first_failure.claimed = 1; // by a rank that is stuck
    EXPECT_EQ(fail<HostAtomics>(waiters.watch(1, 50ms), {}), Verdict::Aborted);
    EXPECT_EQ(waiters.host_abort.epoch, 0);
}

TEST(Protocol, ends_that_poll_instead_of_waiting_deliver_every_message)
{
    constexpr int epochs = 20000;
    Memory memory;
    SendRoute to{};
    to.depth = 2;
    to.has_credits = true;
    to.stride = 128;
    to.payload = memory.payload.data();
    to.signals = memory.signals.data();
    to.credits = memory.credits.data();
    ReceiveRoute from{};
    from.depth = 2;
    from.has_credits = true;
    from.stride = 128;
    from.payload = memory.payload.data();
    from.signals = memory.signals.data();
    from.credits = memory.credits.data();
    std::thread source([&] {
        Sender<HostAtomics, Unused> send(to, nullptr, 1);
        for (int e = 0; e < epochs; ++e)
        {
            if (!comes_true([&] { return send.is_ready(); })) { return; }
            const std::size_t bytes = send.next_epoch() % 128;
            Payload{send.next_epoch(), 0, 1}.pack(send.slot(), bytes);
            send.publish(bytes);
        }
    });
    Receiver<HostAtomics, Unused> receive(from, nullptr, 1);
    int wrong = 0;
    for (int e = 0; e < epochs; ++e)
    {
        if (!comes_true([&] { return receive.has_arrived(); }))
        {
            ++wrong;
            break;
        }
        const Payload payload{receive.next_epoch(), 0, 1};
        wrong += receive.bytes() != receive.next_epoch() % 128 ? 1 : 0;
        for (std::size_t i = 0; i < receive.bytes(); ++i) { wrong += receive.slot()[i] != payload.at(i) ? 1 : 0; }
        poison({receive.slot(), receive.bytes()});
        receive.take();
        receive.acknowledge();
    }
    source.join();
    EXPECT_EQ(wrong, 0);
}
