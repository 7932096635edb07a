// SPDX-License-Identifier: Apache-2.0
#include "dynamics/gpu/update_gpu.cuh"

#include "base/error.hpp"
#include "base/units.hpp"
#include "device/gpu/append.cuh"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/instructions.cuh"
#include "device/gpu/launch.cuh"
#include "trace/phases.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace parhelion {

namespace {

using namespace update_gpu;

struct GroupTable // the tables of one kind in GpuUpdate
{
    std::int32_t atoms = 0;
    std::int64_t groups = 0, first_word = 0, first_home_word = 0;
};
template <int kinds>
struct GroupTables
{
    GroupTable kind[kinds];
    const std::int32_t *records, *record_of_global;
    std::int32_t *home, *home_groups;
};

// Purpose        lists the waters, stars and free atoms that are at home
// Work           by a thread per slot; the thread of a group's first atom lists the group
// Reads/Writes   global numbers, zones, tables, slot_of_global / records of home groups
// Orders         relaxed atomic additions: groups of a thread block are in the order of slots, blocks in any order
// Requires       slot_of_global of the present order; cleared lists and counts
// Cost           13 bytes per slot, 12 per atom and 8 per group at home
constexpr int listing_threads = 256;
template <class N, int kinds>
__global__ void __launch_bounds__(listing_threads)
    list_home_groups_kernel(BlockTrace tracing, GroupTables<kinds> tables, GpuView<N> state, std::int32_t slots)
{
    const BlockSpan span(tracing);

    const auto slot = static_cast<std::int32_t>(blockIdx.x * listing_threads + threadIdx.x);
    std::int32_t begin = -1;
    if (slot < slots && state.global_of_slot[slot] >= 0 && state.zone(slot) == 0)
    {
        begin = tables.record_of_global[state.global_of_slot[slot]];
    }
    int mine = kinds - 1;
    while (begin >= 0 && mine > 0 && begin < tables.kind[mine].first_word) { --mine; }
    const std::int32_t* const record = tables.records + begin;
    const int atoms = tables.kind[mine].atoms;
    // All atoms of a group are at home, unless there were too few slots, which raises a flag.
    for (int k = 0; begin >= 0 && k < atoms; ++k)
    {
        if (state.slot_of_global[record[k]] < 0) { begin = -1; }
    }
#pragma unroll
    for (int kind = 0; kind < kinds; ++kind)
    {
        if (tables.kind[kind].groups == 0) { continue; }
        const std::int32_t place = append(begin >= 0 && mine == kind, tables.home_groups + kind);
        if (place < 0) { continue; }
        std::int32_t* const home =
            tables.home + tables.kind[kind].first_home_word + static_cast<std::int64_t>(place) * (atoms + 1);
        for (int k = 0; k < atoms; ++k) { home[k] = state.slot_of_global[record[k]]; }
        home[atoms] = record[atoms];
    }
}

// Returns how many thread blocks move groups. They run beside the update blocks if these leave half of the GPU.
std::int32_t places_for_groups(const GpuQueue& queue, const RunParameters& parameters, std::int32_t blocks_of_others)
{
    const bool is_stochastic = parameters.integrator == Integrator::StochasticDynamics;
    const int all = queue.multiprocessors() * blocks_on_multiprocessor(is_stochastic ? Motion::Stochastic : Motion::LeapFrog);
    return std::max(all - blocks_of_others, all / 2);
}

} // namespace

GpuUpdate::GpuUpdate(GpuQueue& queue, const UpdateBlocks& blocks, const RunParameters& parameters, const UpdateCapacity& capacity)
    : constraints_(blocks.constraints()), blocks_(static_cast<std::int32_t>(blocks.blocks.size())),
      places_(capacity.places > 0 ? capacity.places : places_for_groups(queue, parameters, blocks_)),
      lincs_iterations_(parameters.lincs_iterations), warn_cosine_(std::cos(parameters.lincs_warn_angle * units::degree))
{
    PARHELION_EXPECTS(places_ >= kinds); // each kind of group has at least one block
    std::vector<std::int32_t> records;
    add_kind(0, 3, blocks.water_atoms, blocks.kind_of_water, records);
    for (int n = 0; n <= largest_star; ++n)
    {
        const Stars& stars = blocks.stars[static_cast<std::size_t>(n)];
        add_kind(1 + n, n + 1, stars.atoms, stars.shape, records);
    }
    add_kind(kinds - 1, 4, blocks.site_water_atoms, blocks.kind_of_site_water, records);
    std::vector<std::int32_t> record_of_global(static_cast<std::size_t>(blocks.all_atoms), -1);
    for (const Kind& kind : kind_)
    {
        for (std::int64_t group = 0; group < kind.groups; ++group)
        {
            const std::int64_t record = kind.first_word + group * (kind.atoms + 1);
            record_of_global[static_cast<std::size_t>(records[static_cast<std::size_t>(record)])] =
                static_cast<std::int32_t>(record);
        }
    }
    records_.upload(queue, records);
    record_of_global_.upload(queue, record_of_global);
    home_groups_.resize(kinds);
    water_kinds_.upload(queue, blocks.water_kinds);
    site_water_kinds_.upload(queue, blocks.site_water_kinds);
    star_shapes_.upload(queue, blocks.star_shapes);
    std::vector<UpdateBlock> table = blocks.blocks;
    const LincsArenas arenas =
        plan_arenas(table, capacity.shared_bytes > 0 ? capacity.shared_bytes : queue.shared_bytes_of_block());
    arena_bytes_ = arenas.largest;
    arena_.resize(arenas.all);
    block_global_.upload(queue, blocks.global_atoms);
    block_slot_.resize(blocks.global_atoms.size());
    shape_atoms_.upload(queue, blocks.shapes.atoms);
    shape_bonds_.upload(queue, blocks.shapes.bonds);
    ends_.upload(queue, blocks.shapes.ends);
    coupled_.upload(queue, blocks.shapes.coupled);
    coefficient_.upload(queue, blocks.shapes.coefficient);
    block_table_.upload(queue, table);
    atoms_.upload(queue, blocks.atoms);
    bonds_.upload(queue, blocks.bonds);
    bond_couplings_.upload(queue, blocks.bond_couplings);
    groups_.upload(queue, blocks.groups);
    queue.synchronize(); // the tables on the host may be destroyed afterwards
}

// Adds the groups of one kind to the tables. `shapes` may be empty, because free atoms have no shape.
void GpuUpdate::add_kind(int kind, int atoms, const std::vector<std::int32_t>& members, const std::vector<std::int32_t>& shapes,
                         std::vector<std::int32_t>& records)
{
    Kind& k = kind_[static_cast<std::size_t>(kind)];
    k.atoms = atoms;
    k.groups = static_cast<std::int64_t>(members.size()) / atoms;
    k.first_word = static_cast<std::int64_t>(records.size());
    for (std::size_t group = 0; group < static_cast<std::size_t>(k.groups); ++group)
    {
        const auto first = members.begin() + static_cast<std::ptrdiff_t>(group) * atoms;
        records.insert(records.end(), first, first + atoms);
        records.push_back(shapes.empty() ? 0 : shapes[group]);
    }
}

// Allocates the lists of home groups. Groups share no atoms, so the number of slots limits the number of groups.
void GpuUpdate::reserve(GpuQueue& queue, std::size_t slots, const GpuCell& cell)
{
    // With several ranks, a rank rarely exceeds its share by three standard deviations. If so, its thread blocks loop once more.
    const int ranks = cell.cells[0] * cell.cells[1] * cell.cells[2];
    const auto expected = [&](std::int64_t groups) {
        const double share = static_cast<double>(groups) / ranks;
        return ranks == 1 ? share : share + 3 * std::sqrt(share);
    };
    std::int64_t words = 0;
    double all_blocks = 0; // number of thread blocks if none of them loops
    for (Kind& kind : kind_)
    {
        const int groups_of_block = threads / lanes_of(kind.atoms);
        const auto blocks_for = [&](double groups) { return static_cast<std::int32_t>(std::ceil(groups / groups_of_block)); };
        const auto most = static_cast<double>(std::min(kind.groups, static_cast<std::int64_t>(slots) / kind.atoms));
        kind.blocks = blocks_for(std::min(expected(kind.groups), most));
        kind.first_home_word = words;
        words += std::int64_t{blocks_for(most)} * groups_of_block * (kind.atoms + 1);
        all_blocks += kind.blocks;
    }
    if (static_cast<std::size_t>(words) > home_.size()) { home_.resize(static_cast<std::size_t>(words)), home_.clear(queue); }
    for (Kind& kind : kind_)
    {
        const double share = kind.blocks * std::min(1.0, places_ / all_blocks);
        kind.blocks = std::max(static_cast<std::int32_t>(share), std::min(kind.blocks, 1));
    }
}

GpuUpdate::View GpuUpdate::view() const
{
    View view;
    view.water_kinds = water_kinds_.data();
    view.site_water_kinds = site_water_kinds_.data();
    view.star_shapes = star_shapes_.data();
    view.first_block = 0;
    for (std::size_t k = 0; k < kinds; ++k)
    {
        const Kind& kind = kind_[k];
        view.groups[k] = {home_.data() + kind.first_home_word, home_groups_.data() + k, view.first_block, kind.blocks};
        view.first_block += kind.blocks;
    }
    view.block_slots = block_slot_.data();
    view.blocks = {shape_atoms_.data(), shape_bonds_.data(), ends_.data(),  coupled_.data(),        coefficient_.data(),
                   block_table_.data(), atoms_.data(),       bonds_.data(), bond_couplings_.data(), groups_.data()};
    view.lincs = {lincs_iterations_, warn_cosine_};
    view.arena = arena_.size() == 0 ? nullptr : const_cast<std::byte*>(arena_.data()); // the kernels use it as scratch memory
    view.arena_bytes = arena_bytes_;
    return view;
}

void GpuUpdate::forget(GpuQueue& queue, std::size_t slots, const GpuCell& cell)
{
    reserve(queue, slots, cell);
    home_groups_.clear(queue);
}

template <class N>
void GpuUpdate::resolve(GpuQueue& queue, GpuState<N>& state)
{
    GroupTables<kinds> tables{{}, records_.data(), record_of_global_.data(), home_.data(), home_groups_.data()};
    for (std::size_t k = 0; k < kinds; ++k)
    {
        tables.kind[k] = {kind_[k].atoms, kind_[k].groups, kind_[k].first_word, kind_[k].first_home_word};
    }
    launch(queue, Phase::Reorder, list_home_groups_kernel<N, kinds>, one_thread_each(state.slots, listing_threads), tables,
           GpuView<N>(state), static_cast<std::int32_t>(state.slots));
    resolve_home_slots(queue, state, block_global_, block_slot_);
}

int GpuUpdate::step_blocks() const
{
    return std::accumulate(kind_.begin(), kind_.end(), static_cast<int>(blocks_),
                           [](int sum, const Kind& kind) { return sum + kind.blocks; });
}

#define PARHELION_INSTANTIATE(N) template void GpuUpdate::resolve<N>(GpuQueue&, GpuState<N>&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
