// SPDX-License-Identifier: Apache-2.0
#include "pairs/gpu/cluster_order_gpu.hpp"

#include "device/gpu/atomics.cuh"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/instructions.cuh"
#include "device/gpu/launch.cuh"
#include "device/gpu/warp.cuh"
#include "state/gpu/zones.cuh"
#include "trace/phases.hpp"

#include <algorithm>

namespace parhelion {

namespace {

using namespace gpu_zones;

// Returns true if an atom of this zone is near enough to its owner's cell and inside the unrolled box.
__device__ bool is_in_place(const GpuCell& cell, const Vec3<double>& nm_per_unit, int zone, const Vec3<std::uint32_t>& x)
{
    for (int d = 0; d < 3; ++d)
    {
        if (!cell.is_divided(d)) { continue; }
        const int offset = cell.offset_of(zone, d);
        const std::int64_t ahead = ahead_of_border(cell, d, offset, x[d]);
        const std::int64_t begin = std::int64_t{offset} * cell.width[d], end = begin + cell.width[d];
        constexpr std::int64_t rounding = 64; // allowance for rounding of cell borders and of values computed from positions
        const auto overhang = static_cast<std::int64_t>(cell.overhang[d] / nm_per_unit[d]) + rounding;
        if (ahead < begin - overhang || ahead > end + overhang) { return false; }
        const std::int64_t unrolled = ahead + cell.unrolled(d, cell.lower[d]);
        if (unrolled < 0 || unrolled >= std::int64_t{1} << 32) { return false; }
    }
    return true;
}

// Returns true if the cells from which halo atoms come cover the reach of the pair list. nm_per_unit is that of the present box.
__device__ bool are_cells_enough(const GpuCell& cell, const Vec3<double>& nm_per_unit)
{
    for (int d = 0; d < 3; ++d)
    {
        const double needed = cell.reach + 2 * cell.overhang[d];
        if (cell.pulses[d] + 1 < cell.cells[d] && cell.pulses[d] * (nm_per_unit[d] * cell.width[d]) < needed) { return false; }
    }
    return true;
}

// Purpose        finds the columns of this rank's atoms
// Work           by a thread per atom of the system; a block counts its atoms by column first, to reduce additions to the
//                same word
// Reads/Writes   exchange buffer / which atoms are here, their place in a column, atoms of columns, slot_of_global of
//                other atoms, flags; marks of the exchange buffer, which are cleared
// Orders         no memory accesses; atoms of a column come in any order, and are sorted afterwards
// Requires       every atom of this rank is marked on the exchange buffer; counts of columns are zero;
//                shared memory for a count per column
// Cost           5 bytes an atom of the system, 24 one of this rank; an addition
//                for each block and column; additions to one word take 30 ns
//                each
constexpr int count_threads = 1024;
template <class N, bool lone>
__global__ void PARHELION_LAUNCH_BOUNDS(count_threads, 2)
    find_columns_kernel(BlockTrace tracing, GpuExchangeBuffer<N> exchange_buffer, GpuColumns columns, int atoms,
                        std::uint32_t* taken, ColumnPlace* place, std::int32_t* in_column, std::int32_t* slot_of_global,
                        DeviceScalars* scalars)
{
    const BlockSpan span(tracing);

    const GpuCell& cell = exchange_buffer.cell;
    PARHELION_DYNAMIC_SHARED(std::int32_t, of_block); // first counts, then the places where this block's atoms begin
    for (int column = threadIdx.x; column < columns.count; column += count_threads) { of_block[column] = 0; }
    const int g = blockIdx.x * count_threads + threadIdx.x;
    int zone = 0;
    if constexpr (!lone) { zone = g < atoms ? exchange_buffer.zone[g] : GpuExchangeBuffer<N>::not_here; }
    const bool is_here = g < atoms && zone != GpuExchangeBuffer<N>::not_here;
    Vec3<std::uint32_t> here{};
    if (is_here) { here = leading(exchange_buffer.x[g]); }
    if constexpr (!lone)
    {
        // A mark is read only once. After a failed wait other ranks may change it
        // meanwhile, and an atom could then get a place without having been counted.
        const std::uint32_t of_warp = lanes_where(is_here);
        if (g % 32 == 0 && g < atoms) { taken[g / 32] = of_warp; }
        if (is_here) { exchange_buffer.zone[g] = GpuExchangeBuffer<N>::not_here; }
    }
    __syncthreads();
    ColumnPlace at{};
    if (is_here)
    {
        at.column = columns.column(cell, zone, here.x, here.y);
        at.place = atomic_add(of_block + at.column, 1);
    }
    __syncthreads();
    for (int column = threadIdx.x; column < columns.count; column += count_threads)
    {
        const std::int32_t count = of_block[column];
        if (count > 0) { of_block[column] = atomic_add(in_column + column, count); }
    }
    __syncthreads();
    if (is_here)
    {
        at.place += of_block[at.column];
        place[g] = at;
    }
    if constexpr (!lone)
    {
        const Vec3<double> nm_per_unit = leading_nm_per_unit<N>(*scalars);
        const bool is_right = !is_here || is_in_place(cell, nm_per_unit, zone, here);
        if (!is_right || (g == 0 && !are_cells_enough(cell, nm_per_unit))) { atomic_or(&scalars->flags, gpu_flag_ambiguous); }
        if (g < atoms && !is_here) { slot_of_global[g] = -1; }
    }
}

// Returns the sum of `value` over the threads before this one. All threads of a block must call it.
constexpr int wide_threads = 1024;
__device__ std::int32_t sum_before(std::int32_t value)
{
    __shared__ std::int32_t of_warp[wide_threads / 32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    std::int32_t sum = value;
    for (int distance = 1; distance < 32; distance *= 2)
    {
        const std::int32_t other = from_lane_below(sum, distance);
        if (lane >= distance) { sum += other; }
    }
    if (lane == 31) { of_warp[warp] = sum; }
    __syncthreads();
    return sum - value + sum_of_lanes(lane < warp ? of_warp[lane] : 0);
}

// Sums over the columns before each column; the last element is the sum over all columns.
struct ColumnSums
{
    std::int32_t *atoms, *superclusters; // in shared memory; one value per column, then the total
};

// Computes the sums. All threads of a block of wide_threads call it; each thread sums consecutive columns.
__device__ void add_up_columns(const std::int32_t* in_column, int columns, const ColumnSums& before)
{
    const auto superclusters_of = [](int atoms) { return (atoms + supercluster_size - 1) / supercluster_size; };
    const int run = columns / wide_threads + 1, begin = threadIdx.x * run, end = min(begin + run, columns + 1);
    const auto atoms_of = [&](int column) { return column < columns ? in_column[column] : 0; };
    int atoms = 0, superclusters = 0;
    for (int column = begin; column < end; ++column)
    {
        atoms += atoms_of(column), superclusters += superclusters_of(atoms_of(column));
    }
    atoms = sum_before(atoms);
    __syncthreads(); // needed because sum_before() is called again
    superclusters = sum_before(superclusters);
    for (int column = begin; column < end; ++column)
    {
        before.atoms[column] = atoms, before.superclusters[column] = superclusters;
        atoms += atoms_of(column), superclusters += superclusters_of(atoms_of(column));
    }
    __syncthreads();
}

struct CutArguments
{
    GpuCell cell;
    GpuColumns columns;
    const std::int32_t* in_column;
    int capacity, superclusters;

    std::int32_t *column_begin, *first_supercluster;
    std::uint8_t* zone_of_supercluster;
    std::int32_t* first_atom;
    DeviceScalars* scalars;
};

// Divides columns into superclusters. The reserved superclusters suffice for any columns of a.capacity atoms.
// If there are more atoms, it raises a flag and takes none of them. A warp of the grid works on a column.
__device__ void cut_columns(const CutArguments& a, const ColumnSums& before)
{
    const int t = blockIdx.x * wide_threads + threadIdx.x, all = gridDim.x * wide_threads, columns = a.columns.count;
    const bool takes = before.atoms[columns] <= a.capacity;
    if (!takes && t == 0) { atomic_or(&a.scalars->flags, gpu_flag_slot_overflow); }
    for (int column = t; column <= columns; column += all)
    {
        a.column_begin[column] = takes ? before.atoms[column] : 0;
        a.first_supercluster[column] = takes ? before.superclusters[column] : 0;
    }
    int zone = 0;
    for (int column = t / 32; takes && column < columns; column += all / 32)
    {
        while (zone + 1 < a.cell.zones() && a.columns.first(a.cell, zone + 1) <= column) { ++zone; }
        const int first = before.superclusters[column], end = before.superclusters[column + 1];
        for (int s = first + t % 32; s < end; s += 32)
        {
            a.first_atom[s] = before.atoms[column] + (s - first) * supercluster_size;
            a.zone_of_supercluster[s] = static_cast<std::uint8_t>(zone);
        }
    }
    const int atoms = takes ? before.atoms[columns] : 0, used = takes ? before.superclusters[columns] : 0;
    for (int s = used + t; s <= a.superclusters; s += all)
    {
        a.first_atom[s] = atoms;
        if (s < a.superclusters) { a.zone_of_supercluster[s] = 0; }
    }
}

// Purpose        divides columns into superclusters, and puts atoms into their columns
// Work           by a thread per atom of the system and a warp per column. Every block adds up all columns for itself, as blocks
//                of one launch cannot wait for each other
// Reads/Writes   atoms of columns, exchange buffer, bits of atoms here, places / column_begin, first_supercluster,
//                zone_of_supercluster, first_atom, flags; atoms by column: z in the upper half, the atom in the lower
// Orders         no memory accesses; the order of the stream suffices
// Requires       shared memory for sums over columns
// Cost           latency, some microseconds; a bit per atom of the system, 35 bytes per atom here
template <class N, bool lone>
__global__ void __launch_bounds__(wide_threads)
    fill_columns_kernel(BlockTrace tracing, CutArguments cut, GpuExchangeBuffer<N> exchange_buffer, int atoms,
                        const std::uint32_t* taken, const ColumnPlace* place, ColumnAtom* by_column)
{
    const BlockSpan span(tracing);

    PARHELION_DYNAMIC_SHARED(std::int32_t, of_columns);
    const int columns = cut.columns.count;
    const ColumnSums before{of_columns, of_columns + columns + 1};
    const int g = blockIdx.x * wide_threads + threadIdx.x;
    bool is_here = g < atoms;
    if constexpr (!lone) { is_here = is_here && (taken[g / 32] >> g % 32 & 1) != 0; }
    ColumnPlace at{};
    ColumnAtom atom = 0;
    if (is_here)
    {
        at = place[g];
        atom = static_cast<ColumnAtom>(exchange_buffer.cell.unrolled(2, leading(exchange_buffer.x[g].z))) << 32 |
               static_cast<ColumnAtom>(g);
    }
    add_up_columns(cut.in_column, columns, before);
    cut_columns(cut, before);
    if (is_here && before.atoms[columns] <= cut.capacity) { by_column[before.atoms[at.column] + at.place] = atom; }
}

// Purpose        sorts the atoms of a column by z
// Work           by a block per column: puts atoms into buckets by z, then each atom to its place within its bucket
// Reads/Writes   atoms by column (read and written); by_bucket in between; atoms of columns, left zero for the next count
// Orders         no memory accesses; atoms of equal z are sorted by their global numbers
// Requires       nothing
// Cost           48 bytes an atom; if many atoms have the same z, a comparison with each of these
constexpr int sort_threads = 512, buckets = sort_threads;
__global__ void __launch_bounds__(sort_threads)
    sort_columns_kernel(BlockTrace tracing, const std::int32_t* column_begin, std::int32_t* in_column, ColumnAtom* by_column,
                        ColumnAtom* by_bucket)
{
    const BlockSpan span(tracing);

    __shared__ std::uint32_t lowest, highest;
    __shared__ std::int32_t bucket_begin[buckets], bucket_end[buckets];
    const int begin = column_begin[blockIdx.x], n = column_begin[blockIdx.x + 1] - begin, t = threadIdx.x;
    ColumnAtom *const column = by_column + begin, *const bucketed = by_bucket + begin;
    if (t == 0) { in_column[blockIdx.x] = 0, lowest = ~0u, highest = 0; }
    if (n == 0) { return; }
    bucket_end[t] = 0;
    __syncthreads();
    const auto z_of = [](ColumnAtom atom) { return static_cast<std::uint32_t>(atom >> 32); };
    std::uint32_t low = ~0u, high = 0;
    for (int k = t; k < n; k += sort_threads) { low = min(low, z_of(column[k])), high = max(high, z_of(column[k])); }
    low = least_of_lanes(low), high = greatest_of_lanes(high);
    if (t % 32 == 0) { atomic_least(&lowest, low), atomic_greatest(&highest, high); }
    __syncthreads();
    const std::uint32_t base = lowest;
    const float per_unit = buckets / (static_cast<float>(highest - base) + 1);
    const auto bucket_of = [&](ColumnAtom atom) {
        return min(static_cast<int>(static_cast<float>(z_of(atom) - base) * per_unit), buckets - 1); // monotonic in z
    };
    for (int k = t; k < n; k += sort_threads) { atomic_add(bucket_end + bucket_of(column[k]), 1); }
    __syncthreads();
    bucket_end[t] = bucket_begin[t] = sum_before(bucket_end[t]);
    __syncthreads();
    for (int k = t; k < n; k += sort_threads)
    {
        const ColumnAtom atom = column[k];
        bucketed[atomic_add(bucket_end + bucket_of(atom), 1)] = atom;
    }
    __syncthreads();
    for (int k = t; k < n; k += sort_threads)
    {
        const ColumnAtom atom = bucketed[k];
        const int bucket = bucket_of(atom), end = bucket_end[bucket];
        int place = bucket_begin[bucket];
        for (int other = place; other < end; ++other) { place += bucketed[other] < atom ? 1 : 0; }
        column[place] = atom;
    }
}

// Sorts each `size` consecutive elements of 64 in ascending order. Element r * 32 + lane is key[r] of that lane.
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
                const std::uint32_t other = from_lane_across(key[r], distance);
                key[r] = ascending == lower ? min(key[r], other) : max(key[r], other);
            }
        }
    }
}

template <class N>
struct PlaceArguments
{
    GpuExchangeBuffer<N> exchange_buffer;
    const std::int32_t* lj_type_of_global;
    const std::uint8_t* temperature_group_of_global;
    const ColumnAtom* by_column; // sorted
    const std::int32_t* first_atom;
    const std::uint8_t* zone_of_supercluster;
    int superclusters;

    PositionCharge<N>* xq;
    VelocityMass<N>* v;
    std::int32_t *lj_type, *global_of_slot, *slot_of_global;
    std::uint8_t* temperature_group;
};

// Purpose        orders the atoms within superclusters, and moves all data of an atom to its slot
// Work           by a warp per supercluster: three sorts of 64 keys (a coordinate and the place before), then a gather
// Reads/Writes   sorted atoms, exchange buffer, table / all per-slot data but forces, slot_of_global
// Orders         no memory accesses; the order of the stream suffices
// Requires       no supercluster on both sides of a face of the (unrolled) box; columns and the order in z ensure this
// Cost           66 bytes read and 66 written per atom, about 300 instructions a warp
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
            const auto global = static_cast<std::int32_t>(a.by_column[begin + k]);
            source[warp][k] = global;
            at = leading(a.exchange_buffer.x[global]);
            for (int d = 0; d < 3; ++d) { at[d] = a.exchange_buffer.cell.unrolled(d, at[d]); }
        }
        for (int d = 0; d < 3; ++d) { coordinate[warp][d][k] = at[d]; }
    }
    const bool is_home = a.zone_of_supercluster[supercluster] == 0;
    warp_barrier();
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
        // A filler gets the position of an atom of its cluster, or of an atom of its supercluster if its cluster has none.
        const std::uint32_t reals = lanes_where(real), cluster = reals >> (lane & ~7) & 0xff;
        const int first_of_cluster = from_lane(place, cluster == 0 ? lane : (lane & ~7) + __ffs(cluster) - 1);
        const int below = real ? place : cluster != 0 ? first_of_cluster : 0;
        const int slot = supercluster * supercluster_size + r * 32 + lane;
        PositionCharge<N> p{};
        if (atoms > 0) { p = a.exchange_buffer.x[source[warp][below]]; }
        if (!real) { p.charge = 0; }
        a.xq[slot] = p;
        const std::int32_t global = real ? source[warp][place] : -1;
        a.v[slot] = real && is_home ? a.exchange_buffer.v[global] : VelocityMass<N>{};
        a.lj_type[slot] = real ? a.lj_type_of_global[global] : 0;
        a.temperature_group[slot] = real ? a.temperature_group_of_global[global] : 0;
        a.global_of_slot[slot] = global;
        if (real) { a.slot_of_global[global] = slot; }
    }
}

} // namespace

template <class N>
void take_atoms(GpuQueue& queue, const GpuExchangeBuffer<N>& exchange_buffer, const GpuAtomTable& table, TakeScratch& scratch,
                GpuState<N>& state)
{
    const GpuCell& cell = exchange_buffer.cell;
    const bool lone = cell.is_everything();
    PARHELION_EXPECTS(!lone || state.atoms == state.slot_of_global.size());
    PARHELION_EXPECTS(state.first_supercluster.size() == static_cast<std::size_t>(state.columns.count) + 1);
    const std::size_t globals = state.slot_of_global.size(), columns = static_cast<std::size_t>(state.columns.count);
    const auto atoms = static_cast<int>(globals), superclusters = static_cast<int>(state.superclusters());
    if (!lone) { scratch.taken.resize((globals + 31) / 32); }
    scratch.place.resize(globals), scratch.by_column.resize(state.atoms), scratch.by_bucket.resize(state.atoms);
    scratch.column_begin.resize(columns + 1), scratch.first_atom.resize(state.superclusters() + 1);
    if (scratch.in_column.size() != columns)
    {
        scratch.in_column.resize(columns);
        scratch.in_column.clear(queue);
    }
    const auto find_columns = lone ? find_columns_kernel<N, true> : find_columns_kernel<N, false>;
    LaunchShape count_shape = one_thread_each(globals, count_threads);
    count_shape.shared_bytes = columns * sizeof(std::int32_t);
    allow_shared_memory(queue, find_columns, count_shape.shared_bytes);
    launch(queue, Phase::Reorder, find_columns, count_shape, exchange_buffer, state.columns, atoms, scratch.taken.data(),
           scratch.place.data(), scratch.in_column.data(), state.slot_of_global.data(), state.scalars.data());
    const auto fill_columns = lone ? fill_columns_kernel<N, true> : fill_columns_kernel<N, false>;
    LaunchShape fill_shape = one_thread_each(globals, wide_threads);
    fill_shape.shared_bytes = 2 * (columns + 1) * sizeof(std::int32_t);
    allow_shared_memory(queue, fill_columns, fill_shape.shared_bytes);
    const CutArguments cut{cell,
                           state.columns,
                           scratch.in_column.data(),
                           static_cast<int>(state.atoms),
                           superclusters,
                           scratch.column_begin.data(),
                           state.first_supercluster.data(),
                           state.zone_of_supercluster.data(),
                           scratch.first_atom.data(),
                           state.scalars.data()};
    launch(queue, Phase::Reorder, fill_columns, fill_shape, cut, exchange_buffer, atoms, scratch.taken.data(),
           scratch.place.data(), scratch.by_column.data());
    launch(queue, Phase::Reorder, sort_columns_kernel, {state.columns.count, sort_threads}, scratch.column_begin.data(),
           scratch.in_column.data(), scratch.by_column.data(), scratch.by_bucket.data());
    const PlaceArguments<N> arguments{exchange_buffer,
                                      table.lj_type.data(),
                                      table.temperature_group.data(),
                                      scratch.by_column.data(),
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

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void take_atoms<N>(GpuQueue&, const GpuExchangeBuffer<N>&, const GpuAtomTable&, TakeScratch&, GpuState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
