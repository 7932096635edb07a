// SPDX-License-Identifier: Apache-2.0
// Exchange buffers of the ranks of RanksOnGpu that are filled by what ranks tell, and atoms that move to other ranks meanwhile.
#pragma once

#include "support/gpu_ranks.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace parhelion::test {

// Boards of all ranks, in which only what is published can be right.
template <class N>
struct EmptyExchangeBuffers
{
    std::vector<DeviceBuffer<PositionCharge<N>>> x;
    std::vector<DeviceBuffer<VelocityMass<N>>> v;
    std::vector<DeviceBuffer<std::uint8_t>> zone;
    std::vector<GpuExchangeBuffer<N>> of_rank;
    DeviceBuffer<GpuExchangeBuffer<N>> all;

    explicit EmptyExchangeBuffers(RanksOnGpu<N>& d)
    {
        const std::size_t atoms = d.whole().slot_of_global.size();
        for (int r = 0; r < d.ranks(); ++r)
        {
            x.emplace_back(atoms), v.emplace_back(atoms), zone.emplace_back();
            x.back().clear(d.queue()), v.back().clear(d.queue());
            zone.back().upload(d.queue(), std::vector<std::uint8_t>(atoms, GpuExchangeBuffer<N>::not_here));
            of_rank.push_back({d.rank(r).cell, x.back().data(), v.back().data(), zone.back().data()});
        }
        all.upload(d.queue(), of_rank);
        d.queue().synchronize();
    }
    // As take_atoms() leaves it: what is there is old.
    void unmark(GpuQueue& queue)
    {
        for (auto& of_one : zone) { gpu_memory::set_bytes(queue, of_one.data(), GpuExchangeBuffer<N>::not_here, of_one.size()); }
    }
    std::ptrdiff_t marked(GpuQueue& queue, std::size_t rank) const
    {
        const auto zones = zone[rank].to_vector(queue);
        return std::count_if(zones.begin(), zones.end(), [](std::uint8_t z) { return z != GpuExchangeBuffer<N>::not_here; });
    }
};

// Gives home atoms other positions, by global number.
template <class N>
void put_in_states(RanksOnGpu<N>& d, const std::vector<PositionCharge<N>>& positions)
{
    for (int r = 0; r < d.ranks(); ++r)
    {
        GpuState<N>& state = d.rank(r).state;
        const auto zone = state.zone_of_supercluster.to_vector(d.queue());
        const auto global = state.global_of_slot.to_vector(d.queue());
        auto xq = state.xq.to_vector(d.queue());
        for (std::size_t slot = 0; slot < xq.size(); ++slot)
        {
            if (global[slot] < 0) { continue; }
            // Copies of others' atoms are where they were: nobody may ask them.
            if (zone[slot / supercluster_size] == 0) { xq[slot] = positions[static_cast<std::size_t>(global[slot])]; }
        }
        state.xq.upload(d.queue(), xq);
        d.queue().synchronize();
    }
}

// Moves home atoms, each molecule by a step of its own of up to a twentieth of the box, so that many change their cells; as the
// states and the complete exchange buffer have them.
template <class N>
void move_molecules(RanksOnGpu<N>& d, std::vector<PositionCharge<N>>& exchange_buffer)
{
    for (std::size_t g = 0; g < exchange_buffer.size(); ++g)
    {
        using Fixed = typename N::Fixed;
        std::mt19937_64 engine(static_cast<std::uint64_t>(d.topology().locate(static_cast<std::int64_t>(g)).molecule_first_atom));
        const auto step = [&] {
            return static_cast<Fixed>(static_cast<Fixed>(engine()) / 10 - static_cast<Fixed>(~Fixed{0}) / 20);
        };
        exchange_buffer[g].x += step(), exchange_buffer[g].y += step(), exchange_buffer[g].z += step();
    }
    put_in_states(d, exchange_buffer);
}

template <class T>
bool same_bits(GpuQueue& queue, const DeviceBuffer<T>& a, const DeviceBuffer<T>& b)
{
    const std::vector<T> of_a = a.to_vector(queue), of_b = b.to_vector(queue);
    return of_a.size() == of_b.size() && std::memcmp(of_a.data(), of_b.data(), of_a.size() * sizeof(T)) == 0;
}

} // namespace parhelion::test
