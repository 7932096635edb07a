// SPDX-License-Identifier: Apache-2.0
// A collective of all ranks of a world of GPUs, for tests: requests, buffers, what is in them. Of several processes each has the
// requests of all ranks, and buffers of its own.
#pragma once

#include "comm/partitioned/collective_buffers.hpp"
#include "comm/partitioned/gpu/collectives_gpu.hpp"

namespace parhelion::test {

// The requests of all ranks, with buffers on their GPUs. In place: the input is in the result or the result in the input, as for
// threads; `shift` elements off an alignment of 128 bytes.
struct Members
{
    CollectiveCase what;
    std::vector<DeviceBuffer<std::byte>> inputs, results;
    std::vector<GpuCollectiveRequest> requests;

    Members(GpuWorld& world, const CollectiveCase& of, const CollectiveOptions& options = {}) : what(of)
    {
        const int n = world.ranks();
        std::vector<GpuCollectiveBuffers> buffers;
        for (int r = 0; r < n; ++r)
        {
            inputs.emplace_back(), results.emplace_back();
            if (!world.is_here(r)) { continue; }
            world.setup_queue(r).make_current();
            inputs.back().resize(bytes(of.inputs(n) + of.shift));
            results.back().resize(bytes(of.results(n) + of.shift));
        }
        for (int r = 0; r < n; ++r) { buffers.push_back({input(r), result(r)}); }
        CollectiveOptions with_algorithm = options;
        with_algorithm.algorithm = of.algorithm;
        requests = make_collective(world, of.collective, of.elements, of.reduction, buffers, of.root, with_algorithm);
    }
    std::size_t bytes(std::size_t n) const { return n * bytes_of(what.elements.type); }
    std::byte* input(int rank)
    {
        const auto r = static_cast<std::size_t>(rank);
        if (what.collective == Collective::Broadcast) { return result(rank); }
        if (!what.is_in_place || what.collective == Collective::ReduceScatter) { return inputs[r].data() + bytes(what.shift); }
        return result(rank) + (what.collective == Collective::AllGather ? bytes(r * what.block()) : 0);
    }
    std::byte* result(int rank)
    {
        const auto r = static_cast<std::size_t>(rank);
        const bool is_block = what.is_in_place && what.collective == Collective::ReduceScatter;
        return is_block ? inputs[r].data() + bytes(what.shift + r * what.block()) : results[r].data() + bytes(what.shift);
    }
    bool has_input(int rank) const { return what.collective != Collective::Broadcast || rank == what.root; }

    void fill(GpuWorld& world, std::uint64_t epoch)
    {
        for (int r = 0; r < world.ranks(); ++r)
        {
            if (!world.is_here(r) || !has_input(r)) { continue; }
            std::vector<std::byte> values(bytes(what.inputs(world.ranks())));
            for (std::size_t i = 0; i < what.inputs(world.ranks()); ++i)
            {
                put_number(what.elements.type, values.data() + bytes(i), whole_number(epoch, r, i));
            }
            gpu_memory::to_device(world.setup_queue(r), input(r), values.data(), values.size());
        }
    }
    int wrong(GpuWorld& world, std::uint64_t epoch)
    {
        int wrong = 0;
        const std::size_t n = what.results(world.ranks());
        for (int r = 0; r < world.ranks(); ++r)
        {
            if (!world.is_here(r)) { continue; }
            std::vector<std::byte> values(bytes(n));
            gpu_memory::to_host(world.setup_queue(r), values.data(), result(r), values.size());
            world.setup_queue(r).synchronize();
            for (std::size_t i = 0; i < n; ++i)
            {
                const double expected = what.expected(epoch, world.ranks(), r, i);
                wrong += number_at(what.elements.type, values.data() + bytes(i)) != expected ? 1 : 0;
            }
        }
        return wrong;
    }
};

} // namespace parhelion::test
