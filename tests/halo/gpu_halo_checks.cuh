// SPDX-License-Identifier: Apache-2.0
// Kernels that set, destroy and check what ranks exchange: positions are functions of (step, atom), forces whole numbers of
// (step, rank that computed them, atom). Errors are counted on the GPU. Cost: a look at every slot.
#pragma once

#include "comm/gpu/atomics_gpu.cuh"
#include "halo/gpu/copies.cuh"
#include "support/random_delay.cuh"

#include <cstdint>

namespace parhelion::test {

// Holds what the checking kernels know of a rank.
template <class N>
struct CheckedRank
{
    PositionCharge<N>* xq;
    ForceSlot<N>* f;
    const std::int32_t* global_of_slot;
    const std::uint32_t* holders; // by atom, a bit for each rank that has a copy
    std::int32_t slots, home_slots;
    int rank;
    std::int64_t* step;
    unsigned long long* errors; // of positions, of returned forces, of forces that should have left
};

constexpr int check_threads = 256, check_blocks = 32;
// They wait, and those of eight ranks side by side must leave multiprocessors free: with some on each, a late rank's next kernel,
// which has other shared memory, did not begin in one of sixty runs.
constexpr int move_blocks = 8;

template <class N>
__device__ PositionCharge<N> position_of(std::int64_t step, std::int32_t atom)
{
    using Fixed = typename N::Fixed;
    const std::uint64_t h = hash((static_cast<std::uint64_t>(step) << 24) + static_cast<std::uint64_t>(atom) + 1);
    return {static_cast<Fixed>(h), static_cast<Fixed>(h >> 16), static_cast<Fixed>(h >> 32),
            static_cast<typename N::Real>(atom % 1000)};
}
template <class N>
__device__ PositionCharge<N> no_position()
{
    using Fixed = typename N::Fixed;
    return {static_cast<Fixed>(~Fixed{0}), static_cast<Fixed>(~Fixed{0}), static_cast<Fixed>(~Fixed{0}), typename N::Real{-1}};
}
template <class Slot>
__device__ bool is_same(const Slot& a, const Slot& b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Whole numbers, so small that sums of eight are exact in any type.
template <class N>
__device__ ForceSlot<N> force_of(std::int64_t step, int computed_by, std::int32_t atom)
{
    using Sum = typename N::ForceSum;
    const std::uint64_t h = hash((static_cast<std::uint64_t>(step) << 30) + (static_cast<std::uint64_t>(computed_by) << 24) +
                                 static_cast<unsigned>(atom));
    const auto part = [&](int shift) { return static_cast<Sum>(static_cast<int>((h >> shift) % 4096) - 2048); };
    return {part(0), part(16), part(32), Sum{0}};
}
template <class N>
__device__ ForceSlot<N> filler_force()
{
    using Sum = typename N::ForceSum;
    return {Sum{77777}, Sum{88888}, Sum{99999}, Sum{0}};
}

template <class Body>
__device__ void for_slots(std::int32_t begin, std::int32_t end, Body&& body)
{
    const std::int32_t stride = static_cast<std::int32_t>(gridDim.x) * check_threads;
    for (std::int32_t i = begin + static_cast<std::int32_t>(blockIdx.x) * check_threads + threadIdx.x; i < end; i += stride)
    {
        body(i);
    }
}
__device__ inline void count_errors(int wrong, unsigned long long* errors)
{
    if (wrong > 0) { atomicAdd(errors, static_cast<unsigned long long>(wrong)); }
}

// Between what ranks queue: that many times a random delay.
template <class N>
__global__ void pause_kernel(const CheckedRank<N>* ranks, int place, bool is_new_step, int times)
{
    const CheckedRank<N>& r = ranks[blockIdx.x];
    if (is_new_step) { ++*r.step; }
    const std::uint64_t seed = (static_cast<std::uint64_t>(*r.step) << 8) + static_cast<unsigned>(r.rank * 4 + place) + 1;
    for (int k = 0; k < times; ++k) { random_delay(seed); }
}

template <class N>
__global__ void set_atoms_kernel(const CheckedRank<N>* ranks, bool with_halo)
{
    const CheckedRank<N>& r = ranks[blockIdx.y];
    for_slots(0, with_halo ? r.slots : r.home_slots, [&](std::int32_t slot) {
        const std::int32_t atom = r.global_of_slot[slot];
        r.xq[slot] = atom >= 0 ? position_of<N>(*r.step, atom) : no_position<N>();
        r.f[slot] = atom >= 0 ? force_of<N>(*r.step, r.rank, atom) : filler_force<N>();
    });
}

// What has come is destroyed as soon as it is checked, so that what does not come next time shows.
template <class N>
__global__ void check_halo_kernel(const CheckedRank<N>* ranks)
{
    const CheckedRank<N>& r = ranks[blockIdx.y];
    int wrong = 0;
    for_slots(r.home_slots, r.slots, [&](std::int32_t slot) {
        const std::int32_t atom = r.global_of_slot[slot];
        const PositionCharge<N> expected = atom >= 0 ? position_of<N>(*r.step, atom) : no_position<N>();
        wrong += is_same(r.xq[slot], expected) && r.xq[slot].charge == expected.charge ? 0 : 1;
        r.xq[slot] = no_position<N>();
        r.f[slot] = atom >= 0 ? force_of<N>(*r.step, r.rank, atom) : filler_force<N>();
    });
    count_errors(wrong, r.errors);
}

// Own force and those of all holders.
template <class N>
__device__ bool is_sum(const CheckedRank<N>& r, std::int32_t slot, const ForceSlot<N>& sum)
{
    const std::int32_t atom = r.global_of_slot[slot];
    ForceSlot<N> expected = atom >= 0 ? force_of<N>(*r.step, r.rank, atom) : filler_force<N>();
    for (std::uint32_t more = atom >= 0 ? r.holders[atom] : 0; more != 0; more &= more - 1)
    {
        const ForceSlot<N> part = force_of<N>(*r.step, __ffs(static_cast<int>(more)) - 1, atom);
        expected.x += part.x, expected.y += part.y, expected.z += part.z;
    }
    return is_same(sum, expected);
}
template <class N>
__device__ void check_cleared(const CheckedRank<N>& r)
{
    int left = 0;
    for_slots(r.home_slots, r.slots, [&](std::int32_t slot) { left += is_same(r.f[slot], ForceSlot<N>{}) ? 0 : 1; });
    count_errors(left, r.errors + 2);
}

template <class N>
__global__ void check_forces_kernel(const CheckedRank<N>* ranks)
{
    const CheckedRank<N>& r = ranks[blockIdx.y];
    int wrong = 0;
    for_slots(0, r.home_slots, [&](std::int32_t slot) { wrong += is_sum(r, slot, r.f[slot]) ? 0 : 1; });
    count_errors(wrong, r.errors + 1);
    check_cleared(r);
}

template <class N>
__global__ void check_cleared_kernel(const CheckedRank<N>* ranks)
{
    check_cleared(ranks[blockIdx.y]);
}

// In the place of the receiving half of return_f(), the sums of check_forces_kernel, set_atoms_kernel of the next step, the
// sending half of its exchange_x() and, if the task says so, the receiving half. A warp waits for forces as those of the update
// do: if one of its atoms has copies. Superclusters are whole warps.
template <class N>
__global__ void move_kernel(CheckedRank<N> r, CopyTask<N> task)
{
    ReturnedForces<N> returned(task);
    int wrong = 0;
    for_slots(0, r.home_slots, [&](std::int32_t slot) {
        const std::int32_t atom = r.global_of_slot[slot];
        ForceSlot<N> sum = r.f[slot];
        const AtomCopies<N> copies = load_copies(task, slot);
        if (__any_sync(0xffffffff, copies.count > 0) != 0) { returned.await(); }
        add_returned_forces(task, slot, copies, sum);
        wrong += is_sum(r, slot, sum) ? 0 : 1;
        if (atom < 0) { return; }
        r.xq[slot] = position_of<N>(*r.step + 1, atom);
        r.f[slot] = force_of<N>(*r.step + 1, r.rank, atom);
        store_copies(task, slot, copies, r.xq[slot]);
    });
    count_errors(wrong, r.errors + 1);
    end_copies(task);
}

template <class T>
__global__ void fill_kernel(T* values, std::int32_t n, T value)
{
    const auto i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) { values[i] = value; }
}

// Spins for up to so long, every block for a time of its own.
static __global__ void occupy_kernel(std::int64_t longest_ns, std::uint64_t seed)
{
    const auto ns = static_cast<std::int64_t>(hash(seed * 1024 + blockIdx.x) % static_cast<std::uint64_t>(longest_ns));
    for (const std::int64_t begin = CudaAtomics::nanoseconds(); CudaAtomics::nanoseconds() - begin < ns;) {}
}

} // namespace parhelion::test
