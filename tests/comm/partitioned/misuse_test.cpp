// SPDX-License-Identifier: Apache-2.0
// Calls of partitioned messages that break the rules, and waits that are in vain.
#include "comm/partitioned/buffers.hpp"
#include "comm/partitioned/collectives.hpp"

#include <gmock/gmock.h>

using namespace parhelion;
using namespace std::chrono_literals;

namespace {

// More than a busy machine keeps a rank from running: only who waits for what never comes gets there.
WorldOptions short_deadline()
{
    WorldOptions options;
    options.payload_bytes = 1 << 20;
    options.deadline = 1s;
    return options;
}

// What each rank ended with.
std::vector<std::string> endings(World& world, const std::function<void(Communicator&, Partitioned&)>& body)
{
    std::vector<std::string> texts;
    const auto ends = outcomes(world, [&](Communicator& c) {
        Partitioned partitioned(c);
        body(c, partitioned);
    });
    for (const std::exception_ptr& end : ends)
    {
        texts.emplace_back();
        if (!end) { continue; }
        try
        {
            std::rethrow_exception(end);
        }
        catch (const std::exception& e)
        {
            texts.back() = e.what();
        }
    }
    return texts;
}

} // namespace

TEST(PartitionedMisuse, each_illegal_call_has_its_own_error_and_changes_nothing)
{
    World world(thread_network(1));
    check_ranks(world, [&](Communicator& c) {
        Partitioned partitioned(c);
        Outgoing out(partitioned, {3, 4}, {0});
        Incoming in(partitioned, {2, 6}, {0});
        const Payload payload{1, 0, 0};

        EXPECT_EQ(misuse_of([&] { out.request.pready(0); }), Misuse::NotActive);
        EXPECT_EQ(misuse_of([&] { out.request.pbuf_prepare(); }), Misuse::NotActive);
        out.request.start();
        in.start();
        EXPECT_EQ(misuse_of([&] { out.request.start(); }), Misuse::Active);
        EXPECT_EQ(misuse_of([&] { in.request.start(); }), Misuse::Active);
        EXPECT_EQ(misuse_of([&] { out.request.free(); }), Misuse::Active);
        EXPECT_EQ(misuse_of([&] { in.request.free(); }), Misuse::Active);
        for (const int p : {-1, 3})
        {
            EXPECT_EQ(misuse_of([&] { out.request.pready(p); }), Misuse::PartitionOutOfRange);
        }
        // None of these marks a partition: all three are marked below.
        EXPECT_EQ(misuse_of([&] { out.request.pready_range(2, 4); }), Misuse::PartitionOutOfRange);
        EXPECT_EQ(misuse_of([&] { out.request.pready_range(-1, 1); }), Misuse::PartitionOutOfRange);
        EXPECT_EQ(misuse_of([&] { out.request.pready_list({0, 2, -1}); }), Misuse::PartitionOutOfRange);
        EXPECT_EQ(misuse_of([&] { out.request.pready_list({0, 2, 0}); }), Misuse::ReadyTwice);
        EXPECT_EQ(misuse_of([&] { static_cast<void>(in.request.parrived(2)); }), Misuse::PartitionOutOfRange);
        out.send(1, payload);
        EXPECT_EQ(misuse_of([&] { out.request.pready(1); }), Misuse::ReadyTwice);
        EXPECT_EQ(misuse_of([&] { out.request.pready_range(0, 2); }), Misuse::ReadyTwice);
        EXPECT_EQ(misuse_of([&] { out.request.pready_list({2, 1}); }), Misuse::ReadyTwice);
        out.send(0, payload);
        out.send(2, payload);
        out.wait();
        EXPECT_EQ(misuse_of([&] { out.request.pready(1); }), Misuse::NotActive);
        in.receive_all(payload);

        out.request.free();
        in.request.free();
        EXPECT_TRUE(out.request.is_null());
        EXPECT_EQ(misuse_of([&] { out.request.start(); }), Misuse::Null);
        EXPECT_EQ(misuse_of([&] { out.request.pready(0); }), Misuse::Null);
        EXPECT_EQ(misuse_of([&] { in.request.free(); }), Misuse::Null);
        in.request.wait(); // as MPI: there is nothing to wait for
        EXPECT_TRUE(in.request.test());
        EXPECT_TRUE(in.request.parrived(0));
    });
}

TEST(PartitionedMisuse, of_what_makes_a_request_is_refused)
{
    World world(thread_network(2));
    check_ranks(world, [&](Communicator& c) {
        Partitioned partitioned(c);
        std::array<std::byte, 8> anywhere{};
        const auto send = [&](Partitioning p, int peer, int per_signal) {
            return misuse_of([&] { partitioned.psend_init(anywhere.data(), p, {peer}, {.per_signal = per_signal}); });
        };
        EXPECT_EQ(send({0, 4}, 1, 1), Misuse::BadArgument);
        EXPECT_EQ(send({2, 4}, 2, 1), Misuse::BadArgument);
        EXPECT_EQ(send({most_partitions + 1, 0}, 1, 1), Misuse::BadArgument);
        EXPECT_EQ(send({2, std::size_t{1} << 63}, 1, 1), Misuse::BadArgument);
        EXPECT_EQ(send({2, 4}, -1, 1), Misuse::BadArgument);
        EXPECT_EQ(send({2, 4}, 1, 0), Misuse::BadArgument);
        const auto receive = [&](std::byte* buffer, Partitioning p) {
            return misuse_of([&] { partitioned.precv_init(buffer, p, {1 - c.rank()}); });
        };
        const std::span<std::byte> inside = partitioned.allocate(256);
        EXPECT_EQ(receive(inside.data(), {0, 8}), Misuse::BadArgument);
        std::byte* const arena = world.memory().payload(c.rank(), 0);
        EXPECT_EQ(receive(arena - 1, {1, 8}), Misuse::NotSymmetric);
        EXPECT_EQ(receive(arena + (std::size_t{1} << 30) - 7, {1, 8}), Misuse::NotSymmetric);
        EXPECT_EQ(receive(inside.data(), {1, std::size_t{1} << 40}), Misuse::NotSymmetric);
    });
}

TEST(PartitionedMisuse, releases_what_was_not_allocated_or_is_in_use)
{
    World world(thread_network(1));
    check_ranks(world, [&](Communicator& c) {
        Partitioned partitioned(c);
        std::array<std::byte, 256> own{};
        const auto release = [&](std::byte* begin, std::size_t bytes) {
            return misuse_of([&] { partitioned.release({begin, bytes}); });
        };
        const std::span<std::byte> a = partitioned.allocate(256), b = partitioned.allocate(256);
        EXPECT_EQ(release(own.data(), own.size()), Misuse::BadArgument);
        for (const std::size_t bytes : {0, 128, 255, 257, 512}) { EXPECT_EQ(release(a.data(), bytes), Misuse::BadArgument); }
        EXPECT_EQ(release(a.data() + 128, 128), Misuse::BadArgument);
        {
            std::array<double, 8> sum{};
            const ReceiveRequest receive = partitioned.precv_init(a.data() + 100, {1, 50}, {0});
            const CollectiveRequest reduce =
                pallreduce_init(partitioned, b.data(), sum.data(), {ElementType::Double, 1, 8}, Reduction::Sum);
            EXPECT_EQ(release(a.data(), 256), Misuse::InUse);
            EXPECT_EQ(release(b.data(), 256), Misuse::InUse);
        }
        EXPECT_EQ(release(a.data(), 256), std::nullopt);
        EXPECT_EQ(release(a.data(), 256), Misuse::BadArgument);
        EXPECT_EQ(misuse_of([&] { partitioned.precv_init(a.data(), {1, 8}, {0}); }), Misuse::NotSymmetric);
        EXPECT_EQ(partitioned.allocate(200).data(), a.data()); // what has been refused has changed nothing
        EXPECT_EQ(release(b.data(), 256), std::nullopt);
    });
}

TEST(PartitionedMisuse, sides_of_different_sizes_are_told_both)
{
    World world(thread_network(2));
    check_ranks(world, [&](Communicator& c) {
        Partitioned partitioned(c);
        if (c.rank() == 0)
        {
            Outgoing out(partitioned, {4, 3}, {1});
            out.request.start();
            EXPECT_EQ(misuse_of([&] { out.request.pbuf_prepare(); }), Misuse::BytesDiffer);
            EXPECT_EQ(misuse_of([&] { out.request.wait(); }), Misuse::BytesDiffer);
            out.request.free();
            return;
        }
        Incoming in(partitioned, {4, 2}, {0});
        EXPECT_EQ(misuse_of([&] {
                      in.request.start();
                      in.request.wait();
                  }),
                  Misuse::BytesDiffer);
    });
}

TEST(PartitionedMisuse, a_source_is_told_that_its_destination_has_been_freed)
{
    World world(thread_network(2));
    check_ranks(world, [&](Communicator& c) {
        Partitioned partitioned(c);
        if (c.rank() == 0)
        {
            Outgoing out(partitioned, {2, 2}, {1});
            out.request.start();
            out.send_all({1, 0, 1}, 1);
            out.wait();
            c.barrier();
            out.request.start();
            out.send(0, {2, 0, 1}); // goes nowhere
            EXPECT_EQ(misuse_of([&] { out.request.wait(); }), Misuse::PeerFreed);
            c.barrier();
            return;
        }
        Incoming in(partitioned, {2, 2}, {0});
        in.start();
        in.receive_all({1, 0, 1});
        in.request.free();
        std::fill(in.buffer.begin(), in.buffer.end(), std::byte{7});
        c.barrier();
        c.barrier();
        for (const std::byte b : in.buffer) { EXPECT_EQ(b, std::byte{7}); }
    });
}

TEST(PartitionedFailures, say_what_a_wait_lacked_and_end_all_others)
{
    using Body = std::function<void(World&, Communicator&, Partitioned&)>;
    const auto first_of = [](const Body& body) {
        World world(thread_network(2), short_deadline());
        const std::vector<std::string> texts = endings(world, [&](Communicator& c, Partitioned& p) { body(world, c, p); });
        EXPECT_EQ(texts[1], "Rank 1 stopped because rank 0 did.");
        return texts[0];
    };
    // Rank 1 waits for the end of rank 0, however long that takes.
    const auto linger = [](World& world) {
        SignalSlot* const abort = world.watch(1).own_abort;
        EXPECT_TRUE(comes_true([&] { return HostAtomics::load_acquire_system(&abort->epoch) != 0; }));
        world.throw_failure(1, Verdict::Aborted);
    };
    EXPECT_EQ(
        first_of([&](World& w, Communicator& c, Partitioned& p) {
            if (c.rank() == 1) { return linger(w); }
            Outgoing out(p, {2, 2}, {1, 5, "west"});
            out.request.start();
            out.request.pready_range(0, 1);
            out.request.wait();
        }),
        "Rank 0 timed out after 1 s waiting for rank 1 to call precv_init: partitioned message from rank 0 to rank 1, tag 5, "
        "group 'west', epoch 1.");
    EXPECT_EQ(first_of([&](World& w, Communicator& c, Partitioned& p) {
                  if (c.rank() == 1)
                  {
                      Incoming in(p, {2, 2}, {0});
                      EXPECT_TRUE(comes_true([&] {
                          static_cast<void>(in.request.test());
                          p.allocate(0);
                          return true;
                      }));
                      in.start();
                      in.receive_all({1, 0, 1});
                      return linger(w);
                  }
                  Outgoing out(p, {2, 2}, {1});
                  for (std::uint64_t epoch = 1; epoch <= 2; ++epoch)
                  {
                      out.request.start();
                      out.send_all({epoch, 0, 1}, epoch);
                      out.wait();
                  }
              }),
              "Rank 0 timed out after 1 s waiting for rank 1 to start the epoch: partitioned message from rank 0 to rank 1, "
              "tag 0, epoch 2.");
    EXPECT_EQ(first_of([&](World& w, Communicator& c, Partitioned& p) {
                  if (c.rank() == 1)
                  {
                      Incoming in(p, {2, 2}, {0});
                      in.start();
                      in.request.pbuf_prepare();
                      return linger(w);
                  }
                  Outgoing out(p, {2, 2}, {1});
                  out.request.start();
                  out.send(1, {1, 0, 1});
                  out.wait();
              }),
              "Rank 0 timed out after 1 s waiting for 1 of 2 partitions of its own to be marked ready: partitioned message "
              "from rank 0 to "
              "rank 1, tag 0, epoch 1.");
    EXPECT_EQ(first_of([&](World& w, Communicator& c, Partitioned& p) {
                  if (c.rank() == 1) { return linger(w); }
                  Incoming in(p, {2, 2}, {1});
                  in.start();
                  in.request.wait();
              }),
              "Rank 0 timed out after 1 s waiting for rank 1 to call psend_init: partitioned message from rank 1 to rank 0, "
              "tag 0, epoch 1.");
    EXPECT_EQ(first_of([&](World& w, Communicator& c, Partitioned& p) {
                  if (c.rank() == 1)
                  {
                      Outgoing out(p, {4, 1}, {0});
                      out.request.start();
                      out.request.pbuf_prepare();
                      out.request.pready_list({0, 2});
                      return linger(w);
                  }
                  Incoming in(p, {2, 2}, {1});
                  in.start();
                  in.request.wait();
              }),
              "Rank 0 timed out after 1 s waiting for signal 2 of 4 from rank 1: partitioned message from rank 1 to rank 0, "
              "tag 0, epoch 1.");
}

TEST(PartitionedFailures, of_another_rank_end_a_wait)
{
    World world(thread_network(2));
    const std::vector<std::string> texts = endings(world, [&](Communicator& c, Partitioned& p) {
        if (c.rank() == 0) { throw std::runtime_error("a reason of its own"); }
        Incoming in(p, {2, 2}, {0});
        in.start();
        in.request.wait();
    });
    EXPECT_EQ(texts[1], "Rank 1 stopped because rank 0 did.");
}
