// SPDX-License-Identifier: Apache-2.0
#include "pairs/cluster_order_gpu.hpp"

#include "device/launch.cuh"

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <bit>

namespace parhelion {

namespace {

constexpr int threads = 256;
constexpr std::uint32_t all_lanes = 0xffffffff;

// Sort keys: the column above, z below. Each eight bits are a pass of the sort; further bits of z would decide nothing that
// matters.
constexpr int key_bits = 24;
struct Keys
{
    std::uint32_t nx, ny;
    int z_bits;

    __device__ std::uint32_t key(std::uint32_t x, std::uint32_t y, std::uint32_t z) const
    {
        const std::uint32_t column = __umulhi(x, nx) * ny + __umulhi(y, ny);
        return column << z_bits | z >> (32 - z_bits);
    }
    __device__ int column(std::uint32_t key) const { return static_cast<int>(key >> z_bits); }
};

__device__ std::uint32_t leading(std::uint32_t x) { return x; }
__device__ std::uint32_t leading(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

// Purpose        sort keys of all atoms
// Work           a thread per atom, by global number, so that atoms in one place have a definite order
// Reads/Writes   positions / keys, slots
// Orders         nothing: stream order alone
// Requires       every atom on this rank
// Cost           32 bytes an atom
template <class N>
__global__ void make_keys_kernel(const PositionCharge<N>* xq, const std::int32_t* slot_of_global, int atoms, Keys keys,
                                 std::uint32_t* key, std::int32_t* slot)
{
    const int g = blockIdx.x * threads + threadIdx.x;
    if (g >= atoms) { return; }
    const std::int32_t s = slot_of_global[g];
    const PositionCharge<N> p = xq[s];
    key[g] = keys.key(leading(p.x), leading(p.y), leading(p.z));
    slot[g] = s;
}

// Purpose        where each column's atoms begin in the sorted order
// Work           a thread per atom and one more; whoever follows a border writes the columns that begin there
// Reads/Writes   sorted keys / column_begin
// Orders         nothing: stream order alone
// Requires       keys sorted
// Cost           8 bytes an atom
__global__ void find_columns_kernel(const std::uint32_t* key, int atoms, Keys keys, std::int32_t* column_begin)
{
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i > atoms) { return; }
    const int before = i == 0 ? -1 : keys.column(key[i - 1]);
    const int here = i == atoms ? static_cast<int>(keys.nx * keys.ny) : keys.column(key[i]);
    for (int column = before + 1; column <= here; ++column) { column_begin[column] = i; }
}

// Purpose        cut columns into superclusters
// Work           one block: each thread a run of columns, a scan over the threads between
// Reads/Writes   column_begin / first_supercluster, first_atom
// Orders         nothing: stream order alone
// Requires       1024 threads
// Cost           latency: some microseconds
constexpr int cut_threads = 1024;
__global__ void __launch_bounds__(cut_threads)
    cut_columns_kernel(const std::int32_t* column_begin, int columns, int superclusters, std::int32_t* first_supercluster,
                       std::int32_t* first_atom)
{
    __shared__ std::int32_t of_warp[32];
    const int t = threadIdx.x, lane = t % 32;
    const int run = (columns + cut_threads - 1) / cut_threads;
    const int begin = min(t * run, columns), end = min(begin + run, columns);
    const auto count = [&](int column) {
        return (column_begin[column + 1] - column_begin[column] + supercluster_size - 1) / supercluster_size;
    };
    std::int32_t mine = 0;
    for (int column = begin; column < end; ++column) { mine += count(column); }
    std::int32_t sum = mine;
    for (int distance = 1; distance < 32; distance *= 2)
    {
        const std::int32_t other = __shfl_up_sync(all_lanes, sum, distance);
        if (lane >= distance) { sum += other; }
    }
    if (lane == 31) { of_warp[t / 32] = sum; }
    __syncthreads();
    std::int32_t next = sum - mine;
    for (int w = 0; w < t / 32; ++w) { next += of_warp[w]; }
    for (int column = begin; column < end; ++column)
    {
        first_supercluster[column] = next;
        const int here = count(column);
        for (int k = 0; k < here; ++k) { first_atom[next + k] = column_begin[column] + k * supercluster_size; }
        next += here;
    }
    __shared__ std::int32_t used;
    if (t == cut_threads - 1) { used = first_supercluster[columns] = next; }
    __syncthreads();
    for (int s = used + t; s <= superclusters; s += cut_threads) { first_atom[s] = column_begin[columns]; }
}

// Ascending order of each `size` consecutive elements of 64, element r * 32 + lane being key[r].
template <int size>
__device__ void sort_groups(std::uint32_t (&key)[2])
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int run = 2; run <= size; run *= 2)
    {
#pragma unroll
        for (int distance = run / 2; distance > 0; distance /= 2)
        {
            if (distance == 32)
            {
                const std::uint32_t low = min(key[0], key[1]), high = max(key[0], key[1]);
                key[0] = low, key[1] = high;
                continue;
            }
#pragma unroll
            for (int r = 0; r < 2; ++r)
            {
                const int element = r * 32 + lane;
                const bool ascending = run == size || (element & run) == 0, lower = (lane & distance) == 0;
                const std::uint32_t other = __shfl_xor_sync(all_lanes, key[r], distance);
                key[r] = ascending == lower ? min(key[r], other) : max(key[r], other);
            }
        }
    }
}

template <class N>
struct Arrays
{
    PositionCharge<N>* xq;
    VelocityMass<N>* v;
    std::int32_t *lj_type, *global_of_slot;
    std::uint8_t* temperature_group;
};

// Purpose        order within superclusters, and what atoms have to its place
// Work           a warp per supercluster: three sorts of 64 keys (a coordinate and the place before), then a gather
// Reads/Writes   sorted slots and the arrays as they were / the arrays in a copy
// Orders         nothing: stream order alone
// Requires       a supercluster's atoms do not straddle the border of the box: columns and z order see to that
// Cost           66 bytes an atom twice, about 300 instructions a warp
constexpr int place_warps = 4;
template <class N>
__global__ void __launch_bounds__(32 * place_warps)
    place_atoms_kernel(const std::int32_t* sorted_slot, const std::int32_t* first_atom, int superclusters, Arrays<N> from,
                       Arrays<N> to)
{
    __shared__ std::uint32_t coordinate[place_warps][3][supercluster_size];
    __shared__ std::int32_t source[place_warps][supercluster_size];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int supercluster = blockIdx.x * place_warps + warp;
    if (supercluster >= superclusters) { return; }
    const int begin = first_atom[supercluster];
    const int atoms = min(first_atom[supercluster + 1] - begin, supercluster_size);
    for (int k = lane; k < supercluster_size; k += 32)
    {
        std::uint32_t x = ~0u, y = ~0u, z = ~0u;
        if (k < atoms)
        {
            const std::int32_t slot = sorted_slot[begin + k];
            const PositionCharge<N> p = from.xq[slot];
            source[warp][k] = slot;
            x = leading(p.x), y = leading(p.y), z = leading(p.z);
        }
        coordinate[warp][0][k] = x, coordinate[warp][1][k] = y, coordinate[warp][2][k] = z;
    }
    __syncwarp();
    std::uint32_t key[2] = {static_cast<std::uint32_t>(lane), static_cast<std::uint32_t>(lane + 32)};
    const auto set_coordinate = [&](int d) {
        for (std::uint32_t& k : key)
        {
            const std::uint32_t place = k % supercluster_size;
            k = (coordinate[warp][d][place] & ~(supercluster_size - 1u)) | place;
        }
    };
    set_coordinate(1), sort_groups<64>(key);
    set_coordinate(0), sort_groups<32>(key);
    set_coordinate(2), sort_groups<16>(key);
    for (int r = 0; r < 2; ++r)
    {
        const int place = static_cast<int>(key[r] % supercluster_size);
        const bool real = place < atoms;
        // A filler sits on an atom of its cluster, or of its supercluster if the cluster has none.
        const std::uint32_t reals = __ballot_sync(all_lanes, real), cluster = reals >> (lane & ~7) & 0xff;
        const int first_of_cluster = __shfl_sync(all_lanes, place, cluster == 0 ? lane : (lane & ~7) + __ffs(cluster) - 1);
        const int below = real ? place : cluster != 0 ? first_of_cluster : 0;
        const int slot = supercluster * supercluster_size + r * 32 + lane;
        PositionCharge<N> p{};
        if (atoms > 0) { p = from.xq[source[warp][below]]; }
        if (!real) { p.charge = 0; }
        to.xq[slot] = p;
        const std::int32_t old = real ? source[warp][place] : -1;
        to.v[slot] = real ? from.v[old] : VelocityMass<N>{};
        to.lj_type[slot] = real ? from.lj_type[old] : 0;
        to.temperature_group[slot] = real ? from.temperature_group[old] : 0;
        to.global_of_slot[slot] = real ? from.global_of_slot[old] : -1;
    }
}

// Purpose        the copy becomes the state, at the addresses that graphs know
// Work           a thread per slot
// Reads/Writes   the copy / the state, slot_of_global
// Orders         nothing: stream order alone
// Requires       every atom on this rank
// Cost           66 bytes an atom twice
template <class N>
__global__ void take_over_kernel(Arrays<N> from, Arrays<N> to, int slots, std::int32_t* slot_of_global)
{
    const int slot = blockIdx.x * threads + threadIdx.x;
    if (slot >= slots) { return; }
    to.xq[slot] = from.xq[slot];
    to.v[slot] = from.v[slot];
    to.lj_type[slot] = from.lj_type[slot];
    to.temperature_group[slot] = from.temperature_group[slot];
    const std::int32_t global = from.global_of_slot[slot];
    to.global_of_slot[slot] = global;
    if (global >= 0) { slot_of_global[global] = slot; }
}

template <class N, class Holder>
Arrays<N> arrays(Holder& holder)
{
    return {holder.xq.data(), holder.v.data(), holder.lj_type.data(), holder.global_of_slot.data(),
            holder.temperature_group.data()};
}

// Equal keys stay in the order of their global numbers.
void sort_keys(GpuQueue& queue, cub::DoubleBuffer<std::uint32_t>& keys, cub::DoubleBuffer<std::int32_t>& slots, int atoms,
               DeviceBuffer<unsigned char>& scratch)
{
    std::size_t bytes = 0;
    cuda_check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, slots, atoms, 0, key_bits, queue.stream()), "sorting atoms");
    scratch.resize(bytes);
    cuda_check(cub::DeviceRadixSort::SortPairs(scratch.data(), bytes, keys, slots, atoms, 0, key_bits, queue.stream()),
               "sorting atoms");
}

template <class N>
void resize(const GpuState<N>& state, ReorderScratch<N>& scratch)
{
    for (int i = 0; i < 2; ++i) { scratch.key[i].resize(state.atoms), scratch.slot[i].resize(state.atoms); }
    scratch.column_begin.resize(state.columns() + 1), scratch.first_atom.resize(state.superclusters() + 1);
    scratch.xq.resize(state.slots), scratch.v.resize(state.slots), scratch.lj_type.resize(state.slots);
    scratch.global_of_slot.resize(state.slots), scratch.temperature_group.resize(state.slots);
}

} // namespace

template <class N>
void reorder(GpuQueue& queue, GpuState<N>& state, ReorderScratch<N>& scratch)
{
    PARHELION_EXPECTS(state.atoms == state.slot_of_global.size());
    resize(state, scratch);
    const auto atoms = static_cast<int>(state.atoms), superclusters = static_cast<int>(state.superclusters());
    const auto columns = static_cast<int>(state.columns());
    const auto column_bits = std::max(1, static_cast<int>(std::bit_width(state.columns() - 1)));
    const Keys keys{static_cast<std::uint32_t>(state.columns_x), static_cast<std::uint32_t>(state.columns_y),
                    key_bits - column_bits};
    launch(queue, Phase::Reorder, make_keys_kernel<N>, one_thread_each(state.atoms, threads), state.xq.data(),
           state.slot_of_global.data(), atoms, keys, scratch.key[0].data(), scratch.slot[0].data());
    cub::DoubleBuffer<std::uint32_t> key(scratch.key[0].data(), scratch.key[1].data());
    cub::DoubleBuffer<std::int32_t> slot(scratch.slot[0].data(), scratch.slot[1].data());
    sort_keys(queue, key, slot, atoms, scratch.sort);
    launch(queue, Phase::Reorder, find_columns_kernel, one_thread_each(state.atoms + 1, threads), key.Current(), atoms, keys,
           scratch.column_begin.data());
    launch(queue, Phase::Reorder, cut_columns_kernel, {1, cut_threads}, scratch.column_begin.data(), columns, superclusters,
           state.first_supercluster.data(), scratch.first_atom.data());
    launch(queue, Phase::Reorder, place_atoms_kernel<N>, one_thread_each(state.superclusters() * 32, 32 * place_warps),
           slot.Current(), scratch.first_atom.data(), superclusters, arrays<N>(state), arrays<N>(scratch));
    launch(queue, Phase::Reorder, take_over_kernel<N>, one_thread_each(state.slots, threads), arrays<N>(scratch),
           arrays<N>(state), static_cast<int>(state.slots), state.slot_of_global.data());
}

#define PARHELION_INSTANTIATE(N) template void reorder<N>(GpuQueue&, GpuState<N>&, ReorderScratch<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
