// SPDX-License-Identifier: Apache-2.0
#include "pairs/cluster_order_gpu.hpp"

#include "device/block_trace.cuh"
#include "device/launch.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <algorithm>
#include <bit>

namespace parhelion {

namespace {

constexpr int threads = 256;
constexpr std::uint32_t all_lanes = 0xffffffff;

// Sort keys: the column above, z below. Each eight bits are a pass of the sort, so that z is cut off where further bits would
// decide nothing that matters: to a small part of a supercluster's height.
constexpr int parts_of_layer = 32;
struct Keys
{
    GpuCell cell;
    GpuColumns columns;
    int bits, z_bits;

    Keys(const GpuCell& for_cell, const GpuColumns& with_columns) : cell(for_cell), columns(with_columns)
    {
        // One more than there are columns: of no atom at all.
        const auto highest = static_cast<unsigned>(columns.count - (cell.is_everything() ? 1 : 0));
        const int column_bits = std::max(1, static_cast<int>(std::bit_width(highest)));
        const int enough = column_bits + std::bit_width(static_cast<unsigned>(parts_of_layer * columns.layers));
        bits = std::min((enough + 7) / 8 * 8, 32);
        z_bits = bits - column_bits;
    }
    __device__ std::uint32_t key(int zone, std::uint32_t x, std::uint32_t y, std::uint32_t z) const
    {
        return static_cast<std::uint32_t>(columns.column(cell, zone, x, y)) << z_bits | cell.unrolled(2, z) >> (32 - z_bits);
    }
    __device__ std::uint32_t no_atom() const { return static_cast<std::uint32_t>(columns.count) << z_bits; }
    __device__ int column(std::uint32_t key) const { return static_cast<int>(key >> z_bits); }
};

__device__ std::uint32_t leading(std::uint32_t x) { return x; }
__device__ std::uint32_t leading(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }
template <class N>
__device__ Vec3<std::uint32_t> leading(const PositionCharge<N>& p)
{
    return {leading(p.x), leading(p.y), leading(p.z)};
}

template <class N>
__device__ Vec3<double> leading_nm_per_unit(const DeviceScalars& scalars)
{
    return (sizeof(typename N::Fixed) == 8 ? 4294967296.0 : 1.0) * scalars.nm_per_unit;
}

// How far an atom in a zone is in front of this rank's lower border, in leading units. The middle of its owner's cell says which
// image is meant; that cells' widths differ by a unit does not matter.
__device__ std::int64_t ahead_of_border(const GpuCell& cell, int d, int offset, std::uint32_t x)
{
    const std::uint32_t middle = static_cast<std::uint32_t>(offset) * cell.width[d] + cell.width[d] / 2;
    return std::int64_t{offset} * cell.width[d] + cell.width[d] / 2 + static_cast<std::int32_t>(x - cell.lower[d] - middle);
}

// The zone of an atom whose reference atom is at `reference`; -1 if it is not needed here.
__device__ int zone_of(const GpuCell& cell, const Vec3<double>& nm_per_unit, const Vec3<std::uint32_t>& reference,
                       const Vec3<std::uint32_t>& x)
{
    int offset[3] = {0, 0, 0};
    double distance2 = 0;
    for (int d = 0; d < 3; ++d)
    {
        if (!cell.is_divided(d)) { continue; }
        const int owner = static_cast<int>(__umulhi(reference[d], static_cast<std::uint32_t>(cell.cells[d])));
        offset[d] = owner - cell.cell[d] + (owner < cell.cell[d] ? cell.cells[d] : 0);
        if (offset[d] > cell.pulses[d]) { return -1; }
        if (offset[d] == 0) { continue; }
        // From the farthest that atoms of this cell may be.
        const double units = static_cast<double>(ahead_of_border(cell, d, offset[d], x[d]) - cell.width[d]);
        const double distance = fmax(0.0, units * nm_per_unit[d] - cell.straying[d]);
        distance2 += distance * distance;
    }
    return distance2 < cell.reach * cell.reach ? cell.zone_at(offset[0], offset[1], offset[2]) : -1;
}

// Is an atom in this zone where it may be: near enough to its owner's cell, and in the unrolled box?
__device__ bool is_in_place(const GpuCell& cell, const Vec3<double>& nm_per_unit, int zone, const Vec3<std::uint32_t>& x)
{
    for (int d = 0; d < 3; ++d)
    {
        if (!cell.is_divided(d)) { continue; }
        const int offset = cell.offset_of(zone, d);
        const std::int64_t ahead = ahead_of_border(cell, d, offset, x[d]);
        const std::int64_t begin = std::int64_t{offset} * cell.width[d], end = begin + cell.width[d];
        constexpr std::int64_t rounding = 64; // of borders and of what has been computed from positions
        const auto straying = static_cast<std::int64_t>(cell.straying[d] / nm_per_unit[d]) + rounding;
        if (ahead < begin - straying || ahead > end + straying) { return false; }
        const std::int64_t unrolled = ahead + cell.unrolled(d, cell.lower[d]);
        if (unrolled < 0 || unrolled >= std::int64_t{1} << 32) { return false; }
    }
    return true;
}

// Do the cells that atoms come from reach as far as the pair list, in a box of these units? Beyond the last there is this one.
__device__ bool are_cells_enough(const GpuCell& cell, const Vec3<double>& nm_per_unit)
{
    for (int d = 0; d < 3; ++d)
    {
        const double needed = cell.reach + 2 * cell.straying[d];
        if (cell.pulses[d] + 1 < cell.cells[d] && cell.pulses[d] * (nm_per_unit[d] * cell.width[d]) < needed) { return false; }
    }
    return true;
}

// Purpose        which atoms are here, and in which zone
// Work           a thread per atom of the system
// Reads/Writes   board, reference atoms / zone and one, or 0; slot_of_global of those that are not here, flags
// Orders         nothing: stream order alone
// Requires       a complete board
// Cost           41 bytes an atom of the system
template <class N>
__global__ void __launch_bounds__(threads)
    find_zones_kernel(BlockTrace tracing, GpuCell cell, const PositionCharge<N>* x, const std::int32_t* reference, int atoms,
                      std::uint8_t* zone_and_one, std::int32_t* slot_of_global, DeviceScalars* scalars)
{
    const BlockSpan span(tracing);

    const int g = blockIdx.x * threads + threadIdx.x;
    if (g >= atoms) { return; }
    const Vec3<double> nm_per_unit = leading_nm_per_unit<N>(*scalars);
    const Vec3<std::uint32_t> here = leading(x[g]);
    const int zone = zone_of(cell, nm_per_unit, leading(x[reference[g]]), here);
    zone_and_one[g] = static_cast<std::uint8_t>(zone + 1);
    slot_of_global[g] = -1;
    const bool is_right = zone < 0 || is_in_place(cell, nm_per_unit, zone, here);
    if (!is_right || (g == 0 && !are_cells_enough(cell, nm_per_unit))) { atomicOr(&scalars->flags, gpu_flag_ambiguous); }
}

// Purpose        sort keys of the atoms here
// Work           a thread per atom there is room for, by global number, so that atoms in one place have a definite order
// Reads/Writes   board, atoms here, zones / keys, atoms, flags
// Orders         nothing: stream order alone
// Requires       -
// Cost           32 bytes an atom
template <class N, bool lone>
__global__ void __launch_bounds__(threads)
    make_keys_kernel(BlockTrace tracing, Keys keys, const PositionCharge<N>* x, const std::int32_t* here,
                     const std::int32_t* count, const std::uint8_t* zone_and_one, int room, std::uint32_t* key,
                     std::int32_t* atom, DeviceScalars* scalars)
{
    const BlockSpan span(tracing);

    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= room) { return; }
    const int atoms = lone ? room : *count;
    if (!lone && i == 0 && atoms > room) { atomicOr(&scalars->flags, gpu_flag_slot_overflow); }
    if (i >= atoms)
    {
        key[i] = keys.no_atom(), atom[i] = 0;
        return;
    }
    const std::int32_t g = lone ? i : here[i];
    const Vec3<std::uint32_t> p = leading(x[g]);
    key[i] = keys.key(lone ? 0 : zone_and_one[g] - 1, p.x, p.y, p.z);
    atom[i] = g;
}

// Purpose        where each column's atoms begin in the sorted order
// Work           a thread per key and one more; whoever follows a border writes the columns that begin there
// Reads/Writes   sorted keys / column_begin
// Orders         nothing: stream order alone
// Requires       keys sorted
// Cost           8 bytes an atom
__global__ void __launch_bounds__(threads)
    find_columns_kernel(BlockTrace tracing, const std::uint32_t* key, int room, Keys keys, std::int32_t* column_begin)
{
    const BlockSpan span(tracing);

    const int i = blockIdx.x * threads + threadIdx.x;
    if (i > room) { return; }
    const int before = i == 0 ? -1 : keys.column(key[i - 1]);
    const int here = i == room ? keys.columns.count : keys.column(key[i]);
    for (int column = before + 1; column <= here; ++column) { column_begin[column] = i; }
}

// Purpose        cut columns into superclusters
// Work           one block: each thread a run of columns, a scan over the threads between
// Reads/Writes   column_begin / first_supercluster, zone_of_supercluster, first_atom
// Orders         nothing: stream order alone
// Requires       1024 threads; superclusters enough for any columns of so many atoms
// Cost           latency: some microseconds
constexpr int cut_threads = 1024;
__global__ void __launch_bounds__(cut_threads)
    cut_columns_kernel(BlockTrace tracing, GpuCell cell, GpuColumns grid, const std::int32_t* column_begin, int superclusters,
                       std::int32_t* first_supercluster, std::uint8_t* zone_of_supercluster, std::int32_t* first_atom)
{
    const BlockSpan span(tracing);

    __shared__ std::int32_t of_warp[32];
    const int t = threadIdx.x, lane = t % 32, columns = grid.count;
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
    int zone = 0;
    for (int column = begin; column < end; ++column)
    {
        while (zone + 1 < cell.zones() && grid.first(cell, zone + 1) <= column) { ++zone; }
        first_supercluster[column] = next;
        const int here = count(column);
        for (int k = 0; k < here; ++k)
        {
            first_atom[next + k] = column_begin[column] + k * supercluster_size;
            zone_of_supercluster[next + k] = static_cast<std::uint8_t>(zone);
        }
        next += here;
    }
    __shared__ std::int32_t used;
    if (t == cut_threads - 1) { used = first_supercluster[columns] = next; }
    __syncthreads();
    for (int s = used + t; s <= superclusters; s += cut_threads)
    {
        first_atom[s] = column_begin[columns];
        if (s < superclusters) { zone_of_supercluster[s] = 0; }
    }
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
struct PlaceArguments
{
    GpuCell cell;
    GpuBoard<N> board;
    const std::int32_t* lj_type_of_global;
    const std::uint8_t* temperature_group_of_global;
    const std::int32_t *sorted_atom, *first_atom;
    const std::uint8_t* zone_of_supercluster;
    int superclusters;

    PositionCharge<N>* xq;
    VelocityMass<N>* v;
    std::int32_t *lj_type, *global_of_slot, *slot_of_global;
    std::uint8_t* temperature_group;
};

// Purpose        order within superclusters, and what atoms have to its place
// Work           a warp per supercluster: three sorts of 64 keys (a coordinate and the place before), then a gather
// Reads/Writes   sorted atoms, board, table / everything of slots but forces, slot_of_global
// Orders         nothing: stream order alone
// Requires       a supercluster's atoms do not straddle the border of the (unrolled) box: columns and z order see to that
// Cost           66 bytes an atom twice, about 300 instructions a warp
constexpr int place_warps = 4;
template <class N>
__global__ void __launch_bounds__(32 * place_warps) place_atoms_kernel(BlockTrace tracing, PlaceArguments<N> a)
{
    const BlockSpan span(tracing);

    __shared__ std::uint32_t coordinate[place_warps][3][supercluster_size];
    __shared__ std::int32_t source[place_warps][supercluster_size];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int supercluster = blockIdx.x * place_warps + warp;
    if (supercluster >= a.superclusters) { return; }
    const int begin = a.first_atom[supercluster];
    const int atoms = min(a.first_atom[supercluster + 1] - begin, supercluster_size);
    for (int k = lane; k < supercluster_size; k += 32)
    {
        Vec3<std::uint32_t> at{~0u, ~0u, ~0u};
        if (k < atoms)
        {
            const std::int32_t global = a.sorted_atom[begin + k];
            source[warp][k] = global;
            at = leading(a.board.x[global]);
            for (int d = 0; d < 3; ++d) { at[d] = a.cell.unrolled(d, at[d]); }
        }
        for (int d = 0; d < 3; ++d) { coordinate[warp][d][k] = at[d]; }
    }
    const bool is_home = a.zone_of_supercluster[supercluster] == 0;
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
        if (atoms > 0) { p = a.board.x[source[warp][below]]; }
        if (!real) { p.charge = 0; }
        a.xq[slot] = p;
        const std::int32_t global = real ? source[warp][place] : -1;
        a.v[slot] = real && is_home ? a.board.v[global] : VelocityMass<N>{};
        a.lj_type[slot] = real ? a.lj_type_of_global[global] : 0;
        a.temperature_group[slot] = real ? a.temperature_group_of_global[global] : 0;
        a.global_of_slot[slot] = global;
        if (real) { a.slot_of_global[global] = slot; }
    }
}

// Purpose        a lone rank's table
// Work           a thread per slot
// Reads/Writes   what slots have / the same by global number
// Orders         nothing: stream order alone
// Requires       every atom on this rank
// Cost           14 bytes an atom, once
__global__ void __launch_bounds__(threads)
    fill_table_kernel(BlockTrace tracing, const std::int32_t* global_of_slot, const std::int32_t* lj_type,
                      const std::uint8_t* temperature_group, int slots, std::int32_t* lj_type_of_global,
                      std::uint8_t* temperature_group_of_global)
{
    const BlockSpan span(tracing);

    const int slot = blockIdx.x * threads + threadIdx.x;
    if (slot >= slots || global_of_slot[slot] < 0) { return; }
    lj_type_of_global[global_of_slot[slot]] = lj_type[slot];
    temperature_group_of_global[global_of_slot[slot]] = temperature_group[slot];
}

// Which atoms are here, in the order of their global numbers.
template <class N>
void choose_atoms(GpuQueue& queue, const GpuCell& cell, const GpuBoard<N>& board, const GpuAtomTable& table, TakeScratch& scratch,
                  GpuState<N>& state)
{
    const std::size_t globals = state.slot_of_global.size();
    const auto atoms = static_cast<int>(globals);
    scratch.zone_and_one.resize(globals), scratch.here.resize(globals), scratch.count.resize(1);
    launch(queue, Phase::Migrate, find_zones_kernel<N>, one_thread_each(globals, threads), cell, board.x, table.reference.data(),
           atoms, scratch.zone_and_one.data(), state.slot_of_global.data(), state.scalars.data());
    const auto select = [&](void* memory, std::size_t& bytes) {
        cuda_check(cub::DeviceSelect::Flagged(memory, bytes, thrust::counting_iterator<std::int32_t>(0),
                                              scratch.zone_and_one.data(), scratch.here.data(), scratch.count.data(), atoms,
                                              queue.stream()),
                   "choosing atoms");
    };
    std::size_t bytes = 0;
    select(nullptr, bytes);
    scratch.choice.resize(bytes);
    select(scratch.choice.data(), bytes);
}

// Equal keys stay in the order of their global numbers.
void sort_keys(GpuQueue& queue, cub::DoubleBuffer<std::uint32_t>& keys, cub::DoubleBuffer<std::int32_t>& atoms, int count,
               int key_bits, DeviceBuffer<unsigned char>& scratch)
{
    std::size_t bytes = 0;
    cuda_check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, atoms, count, 0, key_bits, queue.stream()), "sorting atoms");
    scratch.resize(bytes);
    cuda_check(cub::DeviceRadixSort::SortPairs(scratch.data(), bytes, keys, atoms, count, 0, key_bits, queue.stream()),
               "sorting atoms");
}

} // namespace

template <class N>
void take_atoms(GpuQueue& queue, const GpuCell& cell, const GpuBoard<N>& board, const GpuAtomTable& table, TakeScratch& scratch,
                GpuState<N>& state)
{
    const bool lone = cell.is_everything();
    PARHELION_EXPECTS(!lone || state.atoms == state.slot_of_global.size());
    PARHELION_EXPECTS(state.first_supercluster.size() == static_cast<std::size_t>(state.columns.count) + 1);
    const auto room = static_cast<int>(state.atoms), superclusters = static_cast<int>(state.superclusters());
    const Keys keys(cell, state.columns);
    for (int i = 0; i < 2; ++i) { scratch.key[i].resize(state.atoms), scratch.atom[i].resize(state.atoms); }
    scratch.column_begin.resize(state.first_supercluster.size()), scratch.first_atom.resize(state.superclusters() + 1);

    if (!lone) { choose_atoms(queue, cell, board, table, scratch, state); }
    launch(queue, Phase::Reorder, lone ? make_keys_kernel<N, true> : make_keys_kernel<N, false>,
           one_thread_each(state.atoms, threads), keys, board.x, scratch.here.data(), scratch.count.data(),
           scratch.zone_and_one.data(), room, scratch.key[0].data(), scratch.atom[0].data(), state.scalars.data());
    cub::DoubleBuffer<std::uint32_t> key(scratch.key[0].data(), scratch.key[1].data());
    cub::DoubleBuffer<std::int32_t> atom(scratch.atom[0].data(), scratch.atom[1].data());
    sort_keys(queue, key, atom, room, keys.bits, scratch.sort);
    launch(queue, Phase::Reorder, find_columns_kernel, one_thread_each(state.atoms + 1, threads), key.Current(), room, keys,
           scratch.column_begin.data());
    launch(queue, Phase::Reorder, cut_columns_kernel, {1, cut_threads}, cell, state.columns, scratch.column_begin.data(),
           superclusters, state.first_supercluster.data(), state.zone_of_supercluster.data(), scratch.first_atom.data());
    const PlaceArguments<N> arguments{cell,
                                      board,
                                      table.lj_type.data(),
                                      table.temperature_group.data(),
                                      atom.Current(),
                                      scratch.first_atom.data(),
                                      state.zone_of_supercluster.data(),
                                      superclusters,
                                      state.xq.data(),
                                      state.v.data(),
                                      state.lj_type.data(),
                                      state.global_of_slot.data(),
                                      state.slot_of_global.data(),
                                      state.temperature_group.data()};
    launch(queue, Phase::Reorder, place_atoms_kernel<N>, one_thread_each(state.superclusters() * 32, 32 * place_warps),
           arguments);
}

template <class N>
void reorder(GpuQueue& queue, GpuState<N>& state, ReorderScratch<N>& scratch)
{
    const std::size_t atoms = state.slot_of_global.size();
    scratch.x.resize(atoms), scratch.v.resize(atoms);
    const GpuBoard<N> board{scratch.x.data(), scratch.v.data()};
    if (scratch.boards.size() == 0)
    {
        scratch.boards.upload(queue, {&board, 1});
        scratch.table.lj_type.resize(atoms), scratch.table.temperature_group.resize(atoms);
        launch(queue, Phase::Reorder, fill_table_kernel, one_thread_each(state.slots, threads), state.global_of_slot.data(),
               state.lj_type.data(), state.temperature_group.data(), static_cast<int>(state.slots), scratch.table.lj_type.data(),
               scratch.table.temperature_group.data());
    }
    publish_atoms(queue, state, scratch.boards);
    take_atoms(queue, GpuCell{}, board, scratch.table, scratch.take, state);
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void take_atoms<N>(GpuQueue&, const GpuCell&, const GpuBoard<N>&, const GpuAtomTable&, TakeScratch&, GpuState<N>&); \
    template void reorder<N>(GpuQueue&, GpuState<N>&, ReorderScratch<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
