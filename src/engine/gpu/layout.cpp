// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu/layout.hpp"

#include "base/error.hpp"
#include "comm/gpu/self_test.hpp"
#include "domain/gpu/grid_gpu.hpp"
#include "engine/choose_gpus.hpp"
#include "engine/gpu/exchange_gpu.hpp"
#include "engine/option_rules.hpp"
#include "halo/gpu/no_halo.hpp"
#include "model/minimisers.hpp"
#include "state/rank_slots.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

namespace {

constexpr double first_density_factor = 1.25; // slots of a rank over atoms at the mean density, if ranks are several
constexpr double density_factor_growth = 1.5;

template <class N>
void set_box_and_step(GpuQueue& queue, const Box<double>& box, std::int64_t step, GpuState<N>& state)
{
    DeviceScalars scalars;
    scalars.set_box<N>(box);
    scalars.step = step;
    state.scalars.upload(queue, {&scalars, 1});
    queue.synchronize();
}

// Returns the priority of halo work over forces on home atoms. With priority, halo forces return sooner. With many atoms they
// return soon enough without it, and kernels of all branches that run together use the GPU better. Measured in bench/gpu/scaling.
GpuQueue::Priority priority_of_halo(int ranks, std::size_t atoms_of_gpu)
{
    constexpr std::size_t many = 200'000;
    return ranks > 1 && atoms_of_gpu <= many ? GpuQueue::Priority::First : GpuQueue::Priority::Normal;
}

// Throws if the exchange memory does not fit. It has places for a maximum number of ranks, and of cells within reach of a cell.
template <class N>
void check_halo_fits(const CellGrid& grid, int mesh_ranks, const GpuCell& cell, HaloMethod method)
{
    const auto refuse = [&](const std::string& why) {
        throw InputError(
            "E632", {},
            fmt::format("the grid {}x{}x{} is too fine for GPUs: {}", grid.cells[0], grid.cells[1], grid.cells[2], why));
    };
    if (const int ranks = grid.ranks() + mesh_ranks; ranks > GpuWorld::most_ranks)
    {
        refuse(fmt::format("there are {} ranks, and {} can be there. Use fewer ranks.", ranks, GpuWorld::most_ranks));
    }
    const int farthest = std::max(cell.pulses[0], cell.pulses[1]);
    if (farthest >= GpuStrips::most_offsets)
    {
        refuse(fmt::format("a rank needs atoms from {} cells ahead along x or y, and {} can be there. Use fewer ranks along it.",
                           farthest, GpuStrips::most_offsets - 1));
    }
    if (const std::size_t messages = gpu_halo_messages<N>(method, cell), most = most_gpu_messages; messages > most)
    {
        const bool fits_staged = gpu_halo_messages<N>(HaloMethod::StagedFused, cell) <= most;
        refuse(fmt::format("a rank's halo is of {} messages, and {} can be there. Use fewer ranks{}.", messages, most,
                           fits_staged ? ", or --halo staged-fused" : ""));
    }
}

// Returns the cells of `grid`, for lists of reach `cutoff` and atoms that are up to `overhang` (both nm) outside of their cells.
MeshCells mesh_cells(const RunSetup& setup, const CellGrid& grid, int mesh_ranks, double cutoff, double overhang)
{
    return {.cells = grid.cells,
            .mesh_ranks = mesh_ranks,
            .box = setup.system.box,
            .reach = cutoff,
            .ahead = overhang,
            .may_fall_back = false,
            .forces_have_rest = mesh_interval(setup.parameters) > 1};
}

// Returns the topology with the masses against which the constraints of a run act: those of ConstraintMasses::Equal in a
// minimisation.
Topology with_constraint_masses(Topology topology, const RunParameters& parameters)
{
    if (!is_minimisation(parameters.integrator)) { return topology; }
    for (MoleculeType& type : topology.molecule_types)
    {
        for (Atom& atom : type.atoms) { atom.mass = atom.mass > 0 ? 1 : 0; }
    }
    return topology;
}

} // namespace

StepSize step_size(const RunSetup& setup, const SimulationOptions& options, double cutoff, double overhang)
{
    const MeshParameters& mesh = setup.mesh;
    return {.atoms = setup.system.topology.atom_count(),
            .mesh_points = mesh.all_points(),
            .mesh_prefers_slabs = mesh.order > 0 && options.pme == MeshMethod::Auto &&
                                  slabs_can_share(mesh, mesh_cells(setup, {}, 0, cutoff, overhang)),
            .has_lj_mesh = !setup.dispersion_meshes.empty()};
}

template <class N>
GpuLayout<N>::GpuLayout(const PreparedRun<N>& run, const ListPlan& list_plan, const SimulationOptions& options,
                        std::size_t records, GpuProcesses& processes, const GpuWorldOptions& world)
    : run_(run), setup_(run.setup), list_plan_(list_plan), processes_(processes), box_(run.start.state.box.edges()),
      method_(options.halo_method()),
      looks_for_images_(box_.is_low(1.1 * list_plan.cutoff)), // the factor is a margin for a box that shrinks
      atoms_(run.start.state.slot_of_global.size()), mesh_ranks_(options.mesh_ranks)
{
    const double overhang = longest_overhang(setup_.system.topology, setup_.update_groups, distances_in(run.start.state));
    const GpuChoice choice =
        choose_gpus(options, find_gpus(), step_size(setup_, options, list_plan.cutoff, overhang), box_,
                    gpu_grid_criteria(list_plan.cutoff, overhang, static_cast<std::int64_t>(atoms_), box_), time_links);
    grid_ = choice.grid, remark_ = choice.remark;
    for (int rank = 0; rank < grid_.ranks(); ++rank)
    {
        cells_.push_back(make_gpu_cell(grid_, rank, box_, list_plan.cutoff, overhang));
    }
    check_halo_fits<N>(grid_, mesh_ranks_, cells_[0], method_);
    mesh_setup_ =
        make_mesh_setup(setup_.mesh, options.pme, mesh_cells(setup_, grid_, mesh_ranks_, list_plan.cutoff, cells_[0].overhang.x));
    mesh_setup_.dispersion = setup_.dispersion_meshes;
    gpus_of_all_ = options.has_gpu_of_process() ? grid_.ranks() + mesh_ranks_ : choice.gpus();
    make_ranks(choice, records);
    density_factor_ = grid_.ranks() == 1 ? 1 : first_density_factor;
    check_slots(most_slots(density_factor_), grid_.ranks());
    make_world(options, choice, world);
    reserve(density_factor_);
    make_sums();
    make_exchange_buffers();
    make_halos();
    make_mesh_memory();
    make_meshes();
    for_each_rank<N>(all_, [&](GpuWithRanks<N>& gpu, GpuRank<N>& r) {
        r.coupling.state().upload(gpu.queue, run.start.coupling);
        set_box_and_step(gpu.queue, box_, run.start.step, r.state);
    });
    processes_.meet(); // no rank signals before all ranks have set up their signals
}

// Spreads ranks over GPUs evenly, so that neighbouring ranks share a GPU, and makes the ranks of this process.
template <class N>
void GpuLayout<N>::make_ranks(const GpuChoice& choice, std::size_t records)
{
    const int ranks = this->ranks();
    const RankRange here = processes_.here(ranks);
    const GpuQueue::Priority priority = priority_of_halo(ranks, atoms_ / static_cast<std::size_t>(gpus_of_all_));
    for (int t = 0; t < choice.gpus(); ++t)
    {
        const int first = std::max(t * ranks / choice.gpus(), here.first);
        const int end = std::min((t + 1) * ranks / choice.gpus(), here.first + here.count);
        if (first >= end) { continue; }
        gpus_.push_back(std::make_unique<GpuWithRanks<N>>(choice.devices[static_cast<std::size_t>(t)], priority));
        all_.push_back(gpus_.back().get());
        for (int rank = first; rank < end; ++rank) { gpus_.back()->ranks.push_back(make_rank(*gpus_.back(), rank, records)); }
    }
}

template <class N>
GpuRank<N> GpuLayout<N>::make_rank(GpuWithRanks<N>& gpu, int rank, std::size_t records)
{
    const RunParameters& p = setup_.parameters;
    const Topology& topology = setup_.system.topology;
    const RunTables& tables = run_.tables;
    const bool stochastic = p.integrator == Integrator::StochasticDynamics;
    const UpdateBlocks blocks = make_update_blocks(with_constraint_masses(topology, p), {p.lincs_order, p.lincs_iterations});
    const CouplingPlan coupling{.temperature = tables.temperature_coupling,
                                .pressure = tables.pressure_coupling,
                                .stochastic = stochastic ? tables.stochastic : StochasticDynamics{},
                                .dispersion = tables.dispersion,
                                .lincs_constraints = tables.lincs_constraints,
                                .dt = p.dt,
                                .start_time = p.start_time,
                                .mobility = tables.mobility,
                                .com_mode = p.com_mode};
    GpuQueue& queue = gpu.queue;
    queue.make_current();
    const bool has_cell = grid_.has_cell(rank);
    return {.rank = rank,
            .has_cell = has_cell,
            .queue = GpuBranch(gpu.queue),
            .nonlocal = GpuBranch(gpu.nonlocal),
            .bonded_branch = GpuBranch(gpu.bonded_branch),
            .background = GpuBranch(gpu.background),
            .mesh_branch = GpuBranch(gpu.mesh_branch),
            .cell = has_cell ? cells_[static_cast<std::size_t>(rank)] : GpuCell{},
            .list_plan = list_plan_,
            .checks_lists = lists_miss_nothing<N> || is_minimisation(p.integrator),
            .exclusions = make_gpu_exclusions(queue, topology),
            .atoms = make_atom_table(queue, run_.start.state, topology, setup_.update_groups),
            .nonbonded = GpuNonbondedTables<N>(queue, NonbondedTables<N>(tables.nonbonded)),
            .bonded = GpuBonded(queue, tables.bonded, tables.restraints, topology, grid_.ranks()),
            .field = tables.field,
            .acceleration = GpuAcceleration(queue, tables.acceleration),
            .update = GpuUpdate(queue, blocks, p),
            .sites = GpuVirtualSites(queue, topology),
            .exchange_buffer = {},
            .exchange_buffers = {},
            .travellers = {},
            .collectors = {},
            .state = {},
            .coupling = GpuCoupling<N>(queue, coupling, tables.com, records),
            .halo = {},
            .mesh = {},
            .pairs = {},
            .listed = GpuListedPositions<N>(list_plan_.cutoff, std::max(p.lj_cutoff, p.coulomb_cutoff)),
            .scratch = {},
            .half_step = {},
            .returning = GpuEvent(EventFor::Queues)};
}

// Reserves slots and pair lists for `density_factor` times the number of atoms at the mean density.
template <class N>
void GpuLayout<N>::reserve(double density_factor)
{
    density_factor_ = density_factor;
    if (positions_.bytes > 0) { world_->release(positions_); }
    if (ranks() > 1) { positions_ = world_->allocate(most_slots(density_factor) * sizeof(PositionCharge<N>)); }
    const bool has_mesh_beside = setup_.mesh.order > 0 && ranks() == 1; // the effect on several ranks was not measured
    const PairSharing sharing = has_mesh_beside ? sharing_beside_mesh(atoms_) : PairSharing{};
    for_each_rank<N>(all_, [&](GpuWithRanks<N>& gpu, GpuRank<N>& r) {
        gpu.queue.make_current();
        if (ranks() > 1)
        {
            auto* const lent = reinterpret_cast<PositionCharge<N>*>(world_->data(r.rank, positions_));
            r.state.xq = DeviceBuffer<PositionCharge<N>>(lent, positions_.bytes / sizeof(PositionCharge<N>));
        }
        if (!r.has_cell)
        {
            r.state.is_tilted = !box_.is_rectangular();
            r.state.scalars.resize(1), r.state.energies.resize(1);
            r.state.energies.clear(gpu.queue);
            return;
        }
        reserve_slots(gpu.queue, r.cell, box_, atoms_, density_factor, r.state);
        if (is_velocity_verlet(setup_.parameters.integrator)) { r.half_step.resize(r.state.slots); }
        r.state.is_low = looks_for_images();
        reserve_pair_list(gpu.queue, r.state, box_, list_plan_.cutoff, PairPart::Local, r.pairs[0], sharing);
        if (grid_.ranks() > 1) { reserve_pair_list(gpu.queue, r.state, box_, list_plan_.cutoff, PairPart::Nonlocal, r.pairs[1]); }
    });
}

template <class N>
std::size_t GpuLayout<N>::bytes_for(std::size_t slots) const
{
    return gpu_halo_bytes<N>(method_, cells_[0], slots) + gpu_visit_bytes<N>(mesh_setup_, slots);
}

// Returns the largest number of values that ranks add up in one exchange.
template <class N>
std::size_t most_sums(GpuRank<N>& r)
{
    return std::max({r.coupling.sums().size(), r.coupling.com_sums().size(), energy_sums(r.state).size()});
}

template <class N>
void GpuLayout<N>::make_world(const SimulationOptions& options, const GpuChoice& choice, GpuWorldOptions world)
{
    std::vector<int> devices;
    for (int t = 0; t < choice.gpus(); ++t)
    {
        const auto end = static_cast<std::size_t>((t + 1) * this->ranks() / choice.gpus());
        devices.resize(end, choice.devices[static_cast<std::size_t>(t)]);
    }
    constexpr std::size_t slack = std::size_t{1} << 20;
    const std::size_t per_atom =
        sizeof(PositionCharge<N>) + sizeof(VelocityMass<N>) + sizeof(std::uint8_t) + sizeof(Vec3<typename N::ForceSum>);
    const std::size_t ranks = devices.size(), sum_bytes = most_sums(gpus_[0]->ranks[0]) * sizeof(ScalarSum<N>);
    const std::size_t slots = most_slots(density_factor_growth * density_factor_);
    world.deadline = options.comm_timeout;
    world.phase = Phase::Reduce;
    world.tag_name = "step";
    world.compute_threads = 0; // GpuEngine::start() sets the number
    // The window is twice as large as halos, visiting atoms and positions need, so that they can grow later.
    slots_bytes_ = 2 * bytes_for(slots);
    const std::size_t position_bytes = ranks > 1 ? 2 * slots * sizeof(PositionCharge<N>) : 0;
    world.payload_bytes = window_bytes_ =
        round_up_window(slack + atoms_ * per_atom + 2 * ranks * round_up_window(sum_bytes) + position_bytes + slots_bytes_) +
        gpu_mesh_bytes<N>(mesh_setup_);
    // A node that relays data to other nodes stores them as well.
    const std::size_t with_relays = 2 * window_bytes_ + traveller_bytes<N>(this->ranks(), atoms_);
    if (const NicEmulation* const nodes = options.emulated_nodes()) { world.nodes = *nodes; }
    world.bootstrap = processes_.bootstrap();
    queue().make_current();
    constexpr std::size_t of_heap = std::size_t{1} << 22; // bytes of overhead of the heap itself
    world.heap = processes_.make_heap(with_relays + world.signal_slots * sizeof(SignalSlot) + of_heap);
    const bool has_nodes = world.nodes ? world.nodes->nodes > 1 : world.heap != nullptr && world.heap->has_several_domains();
    if (has_nodes)
    {
        expect_to_leave_nodes(method_, mesh_setup_.method);
        world.payload_bytes = window_bytes_ = with_relays;
    }
    world_ = std::make_unique<GpuWorld>(devices, world);
    processes_.on_loss([this](const std::string& sentence) { world_->lose(sentence); });
}

template <class N>
void GpuLayout<N>::make_sums()
{
    const std::size_t sum_bytes = most_sums(gpus_[0]->ranks[0]) * sizeof(ScalarSum<N>);
    sums_ = std::make_unique<GpuCollective>(*world_, "sums", sum_bytes);
    buffers_read_ = std::make_unique<GpuCollective>(*world_, "exchange buffers", 0);
    for_each_rank<N>(all_, [&](GpuWithRanks<N>&, GpuRank<N>& r) {
        r.sums = sums_.get(), r.buffers_read = buffers_read_.get();
        world_->set_tag_word(r.rank, &r.state.scalars.data()->step);
    });
}

template <class N>
void GpuLayout<N>::make_exchange_buffers()
{
    const Window x = world_->allocate(atoms_ * sizeof(PositionCharge<N>));
    const Window v = world_->allocate(atoms_ * sizeof(VelocityMass<N>));
    const Window zone = world_->allocate(atoms_ * sizeof(std::uint8_t));
    const Window forces = world_->allocate(atoms_ * sizeof(Vec3<typename N::ForceSum>));
    const int first_here = world_->here().first; // if rank 0's memory is out of reach, this one is read but not used
    framed_forces_ =
        reinterpret_cast<Vec3<typename N::ForceSum>*>(world_->data(world_->reaches(first_here, 0) ? 0 : first_here, forces));
    std::vector<GpuExchangeBuffer<N>> exchange_buffers;
    for (int rank = 0; rank < ranks(); ++rank)
    {
        exchange_buffers.push_back({grid_.has_cell(rank) ? cells_[static_cast<std::size_t>(rank)] : GpuCell{},
                                    reinterpret_cast<PositionCharge<N>*>(world_->data(rank, x)),
                                    reinterpret_cast<VelocityMass<N>*>(world_->data(rank, v)),
                                    reinterpret_cast<std::uint8_t*>(world_->data(rank, zone))});
    }
    if (has_nodes()) { travellers_.emplace(open_travellers<N>(*world_, world_->all_ranks(), atoms_)); }
    const RankRange here = world_->here();
    queue().make_current();
    exchange_buffers_here_.upload(
        queue(), std::span(exchange_buffers).subspan(static_cast<std::size_t>(here.first), static_cast<std::size_t>(here.count)));
    for_each_rank<N>(all_, [&](GpuWithRanks<N>& gpu, GpuRank<N>& r) {
        gpu.queue.make_current();
        r.exchange_buffer = exchange_buffers[static_cast<std::size_t>(r.rank)];
        const auto in_reach = [&](std::span<const int> ranks) {
            std::vector<GpuExchangeBuffer<N>> found;
            for (const int peer : ranks)
            {
                if (world_->reaches(r.rank, peer)) { found.push_back(exchange_buffers[static_cast<std::size_t>(peer)]); }
            }
            return found;
        };
        r.exchange_buffers.upload(gpu.queue, in_reach(std::span(world_->all_ranks()).first(cells_.size())));
        r.collectors.upload(gpu.queue, in_reach(processes_.leaders()));
        if (travellers_)
        {
            r.travellers = std::make_unique<GpuTravellers<N>>(gpu.queue, *world_, r.rank, cells_, processes_.leaders(),
                                                              travellers_->of(r.rank));
        }
        r.collects = r.rank == here.first;
        fill_exchange_buffer(gpu.queue, run_.start.state, r.exchange_buffer);
    });
}

template <class N>
std::size_t GpuLayout<N>::most_slots(double density_factor)
{
    std::size_t slots = 0;
    for (const GpuCell& cell : cells_)
    {
        slots = std::max(slots, plan_slots(cell, box_, atoms_, density_factor, queue().shared_bytes_of_block()).slots);
    }
    return slots;
}

template <class N>
void GpuLayout<N>::release_halos()
{
    for (const Window& window : halo_memory_.windows) { world_->release(window); }
    halo_memory_.windows.clear();
}

template <class N>
void GpuLayout<N>::make_halos()
{
    const std::size_t slots = most_slots(density_factor_);
    halo_memory_ = make_gpu_halo_memory<N>(*world_, method_, cells_, slots, world_->ranks_share_gpus());
    halo_memory_.in_update = gpus_[0]->ranks[0].sites.is_empty(); // these sites spread their forces before the update
    for_each_rank<N>(all_, [&](GpuWithRanks<N>& gpu, GpuRank<N>& r) {
        gpu.queue.make_current();
        if (r.has_cell) { r.halo = make_gpu_halo<N>(gpu.queue, halo_memory_, r.rank); }
        else { r.halo = std::make_unique<NoHalo<N>>(gpus_[0]->ranks[0].halo.get()); }
    });
}

template <class N>
void GpuLayout<N>::make_mesh_memory()
{
    if (mesh_setup_.parameters.order == 0 || ranks() == 1) { return; }
    mesh_memory_ = make_gpu_mesh_memory<N>(*world_, mesh_setup_, most_slots(density_factor_));
}

template <class N>
void GpuLayout<N>::make_meshes()
{
    if (mesh_setup_.parameters.order == 0) { return; }
    for_each_rank<N>(all_, [&](GpuWithRanks<N>& gpu, GpuRank<N>& r) {
        r.mesh = ranks() > 1 ? make_gpu_mesh<N>(gpu.queue, mesh_memory_, cells_, r.rank)
                             : make_lone_gpu_mesh<N>(gpu.queue, mesh_setup_);
    });
}

template <class N>
void GpuLayout<N>::synchronize()
{
    for (const auto& gpu : gpus_)
    {
        gpu->queue.make_current();
        GpuEvent done;
        done.record(gpu->queue);
        world_->wait(gpu->ranks[0].rank, done);
    }
    world_->check();
}

template <class N>
void GpuLayout<N>::take_from_exchange_buffers()
{
    for_each_rank<N>(all_, [&](GpuWithRanks<N>& gpu, GpuRank<N>& r) {
        if (!r.has_cell) { return; }
        gpu.queue.make_current();
        find_zones(gpu.queue, r.state, r.atoms, r.exchange_buffer);
        take_atoms(gpu.queue, r.exchange_buffer, r.atoms, r.scratch, r.state);
    });
}

// Grows buffers now, because they must not grow during a repartition. cudaFree() would hold the driver and wait
// for the GPU; the GPU would wait for a message that its proxy carries, and the proxy would wait for the driver.
template <class N>
void GpuLayout<N>::make_room_for_repartition()
{
    for_each_rank<N>(all_, [&](GpuWithRanks<N>& gpu, GpuRank<N>& r) {
        if (!r.has_cell) { return; }
        gpu.queue.make_current();
        if (r.mesh) { r.mesh->after_repartition(gpu.queue, r.state); }
        resolve_nonbonded(gpu.queue, r.state, r.nonbonded);
        r.update.forget(gpu.queue, r.state.slots, r.cell);
        if (r.checks_lists) { r.listed.keep(gpu.queue, r.state); }
    });
}

template <class N>
Growth GpuLayout<N>::grow(std::uint32_t flags)
{
    if ((flags & gpu_flag_slot_overflow) != 0) // checked first: after an overflow the other flags mean nothing
    {
        const std::size_t slots = most_slots(density_factor_growth * density_factor_);
        if (slots > most_gpu_clusters * cluster_size) { return Growth::NotInHalos; }
        if (bytes_for(slots) > slots_bytes_) { return Growth::NotInHalos; }
        release_halos(); // frees memory before larger arrays are allocated
        reserve(density_factor_growth * density_factor_);
        make_halos();
        if (!mesh_memory_.empty() && mesh_memory_.front().visits)
        {
            make_room_for_visits<N>(mesh_memory_.front(), slots);
            make_meshes();
        }
        processes_.meet();
        return Growth::Made;
    }
    if ((flags & gpu_flag_scratch_overflow) != 0) { return Growth::NotInLists; }
    for_each_rank<N>(all_, [&](GpuWithRanks<N>& gpu, GpuRank<N>& r) {
        gpu.queue.make_current();
        for (GpuPairList& list : r.pairs)
        {
            if (list.demand.size() > 0) { enlarge_pair_list(gpu.queue, list); }
        }
    });
    return Growth::Made;
}

#define PARHELION_INSTANTIATE(N) template class GpuLayout<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
