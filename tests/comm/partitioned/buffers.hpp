// SPDX-License-Identifier: Apache-2.0
// Buffers whose every byte says where and when it belongs, for the tests of partitioned messages.
#pragma once

#include "comm/partitioned/misuse_of.hpp"
#include "comm/partitioned/partitioned.hpp"
#include "comm/ranks.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace parhelion {

// A source's buffer, filled and marked ready partition by partition.
struct Outgoing
{
    SendRequest request;
    std::vector<std::byte> buffer;
    Partitioning partitioning;

    Outgoing(Partitioned& partitioned, Partitioning p, const Envelope& envelope, const SendOptions& options = {})
        : buffer(static_cast<std::size_t>(p.partitions) * p.bytes), partitioning(p)
    {
        request = partitioned.psend_init(buffer.data(), p, envelope, options);
    }
    void fill(int partition, const Payload& payload)
    {
        const std::size_t begin = static_cast<std::size_t>(partition) * partitioning.bytes;
        for (std::size_t i = begin; i < begin + partitioning.bytes; ++i) { buffer[i] = payload.at(i); }
    }
    void send(int partition, const Payload& payload)
    {
        fill(partition, payload);
        request.pready(partition);
    }
    // A whole epoch, in an order that the seed chooses; what remains in the buffer afterwards must reach nobody.
    void send_all(const Payload& payload, std::uint64_t seed)
    {
        std::vector<int> order(static_cast<std::size_t>(partitioning.partitions));
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
        for (const int p : order) { send(p, payload); }
    }
    void wait()
    {
        request.wait();
        std::fill(buffer.begin(), buffer.end(), std::byte{0xEE});
    }
};

// A destination's buffer.
enum class BufferOf
{
    Library,
    Caller // which messages are copied to
};
struct Incoming
{
    std::vector<std::byte> own;
    std::span<std::byte> buffer;
    ReceiveRequest request;
    Partitioning partitioning;

    Incoming(Partitioned& partitioned, Partitioning p, const Envelope& envelope, BufferOf buffer_of = BufferOf::Library)
        : partitioning(p)
    {
        const std::size_t bytes = static_cast<std::size_t>(p.partitions) * p.bytes;
        own.resize(buffer_of == BufferOf::Caller ? bytes : 0);
        buffer = buffer_of == BufferOf::Caller ? own : partitioned.allocate(bytes);
        request = partitioned.precv_init(buffer.data(), p, envelope);
    }
    // Poisons the buffer: a partition that is read too early shows.
    void start()
    {
        std::fill(buffer.begin(), buffer.end(), std::byte{0xDB});
        request.start();
    }
    void check(int partition, const Payload& payload) const
    {
        const std::size_t begin = static_cast<std::size_t>(partition) * partitioning.bytes;
        for (std::size_t i = begin; i < begin + partitioning.bytes; ++i)
        {
            if (buffer[i] != payload.at(i)) { payload.fail("byte", i); }
        }
    }
    void check_all(const Payload& payload) const
    {
        for (int p = 0; p < partitioning.partitions; ++p) { check(p, payload); }
    }
    // Reads each partition as soon as it has arrived, then waits for the end of the epoch.
    void receive_all(const Payload& payload)
    {
        request.pbuf_prepare();
        std::vector<bool> is_read(static_cast<std::size_t>(partitioning.partitions), false);
        const bool all_came = comes_true([&] {
            for (int p = 0; p < partitioning.partitions; ++p)
            {
                if (is_read[static_cast<std::size_t>(p)] || !request.parrived(p)) { continue; }
                check(p, payload);
                is_read[static_cast<std::size_t>(p)] = true;
            }
            return std::find(is_read.begin(), is_read.end(), false) == is_read.end();
        });
        if (!all_came) { throw std::runtime_error("a partition did not arrive"); }
        request.wait();
        check_all(payload);
    }
};

} // namespace parhelion
