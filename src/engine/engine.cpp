// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.hpp"

#include "base/error.hpp"
#include "comm/launch/run_ranks.hpp"
#include "comm/networks/networks.hpp"
#include "engine/deadline_pause.hpp"
#include "engine/guard.hpp"
#include "engine/run_length.hpp"
#include "model/minimisers.hpp"
#include "pairs/simd_target_name.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace parhelion {

namespace {

// Returns the largest distance, nm, of an atom from its update group's reference atom at the start, for each dimension.
Vec3<double> largest_groups(const System& system, const UpdateGroups& groups)
{
    Vec3<double> largest;
    for (const MoleculeBlock& block : system.topology.blocks)
    {
        const std::vector<std::int32_t>& reference =
            groups.molecule_types[static_cast<std::size_t>(block.type)].reference_of_atom;
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            const Vec3<double>* const x = system.x.data() + block.first_atom + copy * static_cast<std::int64_t>(reference.size());
            for (std::size_t a = 0; a < reference.size(); ++a)
            {
                const Vec3<double> away = system.box.image(x[a] - x[reference[a]]);
                // In a tilted cell, the distance across two faces is at most the distance in space.
                const double in_space = system.box.is_rectangular() ? 0 : norm(away);
                for (int d = 0; d < 3; ++d) { largest[d] = std::max({largest[d], std::abs(away[d]), in_space}); }
            }
        }
    }
    return largest;
}

// Returns the reach, nm, for two update groups that extend out of their cells towards each other and move until repartition.
Vec3<double> reach_of_groups(const RunSetup& setup)
{
    constexpr double wandering = 1.25; // factor for groups that stretch and turn between repartitions
    return 2 * wandering * largest_groups(setup.system, setup.update_groups);
}

CellGrid make_grid(const RunSetup& setup, const SimulationOptions& options, int ranks, const Box<double>& box)
{
    if (ranks == 1) { return {}; }
    // `reach` is the distance from a cell up to which the partner atoms of its rank can be; `of_groups` is the part of groups.
    const Vec3<double> of_groups = reach_of_groups(setup), reach = of_groups + setup.list_plan.cutoff * Vec3<double>{1, 1, 1};
    const bool has_slabs = options.pme == MeshMethod::Shared && setup.parameters.coulomb == CoulombKind::Pme;
    if (options.grid[0] == 0 && !has_slabs) { return choose_grid(ranks, box, cpu_grid_criteria(reach, of_groups)); }
    const CellGrid grid{options.grid[0] == 0 ? std::array{ranks, 1, 1} : options.grid};
    check_grid(grid, box, reach, of_groups);
    return grid;
}

} // namespace

int mesh_ranks(const RunParameters& parameters, const SimulationOptions& options, int ranks)
{
    if (options.pme != MeshMethod::Dedicated || (is_one_ranks(parameters) && !options.wants_gpus())) { return 0; }
    if (parameters.coulomb != CoulombKind::Pme)
    {
        throw InputError("E635", {}, "--pme dedicated needs a mesh to do, and coulombtype is not PME. Leave it out.");
    }
    if (options.mesh_ranks >= ranks)
    {
        throw InputError(
            "E635", {},
            fmt::format("--pme dedicated:{} leaves no rank for the atoms (there {} {}). Give more --ranks, or dedicate "
                        "fewer.",
                        options.mesh_ranks, ranks == 1 ? "is" : "are", ranks));
    }
    return options.mesh_ranks;
}

namespace {

// Returns the address space, bytes, of each rank for received messages. Halo buffers take less than 1 kB per atom,
// and a halo has no more atoms than the system. The rest is for buffers that grow. A lone rank receives no messages.
std::size_t payload_bytes(std::int64_t atoms, int ranks)
{
    constexpr std::size_t least = std::size_t{1} << 26, of_atom = 4096, most = std::size_t{1} << 30;
    return ranks == 1 ? least : std::min(most, least + of_atom * static_cast<std::size_t>(atoms));
}

// box: at the start of the run, maybe begun by an earlier simulation.
RankDivision divide(const RunSetup& setup, const SimulationOptions& options, int ranks, const Box<double>& box)
{
    const System& system = setup.system;
    const int of_mesh = mesh_ranks(setup.parameters, options, ranks);
    RankDivision division;
    division.grid = make_grid(setup, options, ranks - of_mesh, box);
    division.balancing = is_one_ranks(setup.parameters) ? Balancing::Off : options.balancing;
    division.thinnest =
        thinnest_cells(division.grid, system.box, reach_of_groups(setup) + setup.list_plan.cutoff * Vec3<double>{1, 1, 1});
    division.halo_method = options.halo_method();
    division.mesh = make_mesh_setup(setup.mesh, options.pme,
                                    {.cells = division.grid.cells,
                                     .mesh_ranks = of_mesh,
                                     .box = system.box,
                                     .reach = setup.list_plan.cutoff,
                                     .ahead = largest_groups(system, setup.update_groups).x});
    division.mesh.dispersion = setup.dispersion_meshes;
    return division;
}

constexpr std::size_t kept_spans = 1 << 18; // number of phase spans that each rank keeps for a timeline

// The ranks that a halo without forwarding goes to or comes from.
std::vector<std::size_t> peers_in(const HaloPlan& plan)
{
    std::set<std::size_t> peers;
    for (const HaloMessage& message : plan.messages)
    {
        for (const int rank : {message.send_to, message.receive_from}) { peers.insert(static_cast<std::size_t>(rank)); }
    }
    return {peers.begin(), peers.end()};
}

} // namespace

template <class N>
Engine<N>::Engine(std::shared_ptr<PreparedRun<N>> run, const SimulationOptions& options)
    : run_(std::move(run)), setup_(run_->setup)
{
    const int ranks = is_one_ranks(setup_.parameters) ? 1 : std::max(1, options.ranks_asked_for());
    division_ = divide(setup_, options, ranks, run_->start.state.box.edges());

    WorldOptions world;
    world.deadline = options.comm_timeout;
    world.tag_name = "step";
    world.payload_bytes = payload_bytes(setup_.system.topology.atom_count(), ranks) + RankMesh<N>::payload_bytes(division_.mesh);
    world_ = std::make_unique<World>(options.network(ranks), world);
    PARHELION_EXPECTS(world_->ranks() == ranks);
    cores_.emplace(world_->here().count * setup_.threads * options.processes_of_host, options.process_of_host,
                   options.processes_of_host);
    for (int place = 0; place < world_->here().count; ++place)
    {
        runs_.push_back(std::make_unique<RankRun<N>>(*run_, division_, world_->communicator(world_->here().first + place)));
        if (options.trace) { runs_.back()->queue().clock().keep(kept_spans); }
    }
    make_plan(options);
}

template <class N>
void Engine<N>::make_plan(const SimulationOptions& options)
{
    const RunParameters& p = setup_.parameters;
    plan_ = run_->plan;
    plan_.ranks = world_->ranks();
    plan_.processes = options.processes;
    plan_.grid = division_.grid.cells;
    plan_.halo = options.halo_method();
    plan_.helpers = cores_->places();
    if (plan_.mesh) { plan_.mesh->method = division_.mesh.method, plan_.mesh->ranks = plan_.ranks - division_.grid.ranks(); }
    plan_.list_interval = setup_.list_plan.interval;
    plan_.keeps_lists = is_minimisation(p.integrator);
    plan_.list_cutoff = setup_.list_plan.cutoff;
    plan_.buffer = setup_.list_plan.cutoff - std::max(p.coulomb_cutoff, p.lj_cutoff);
    plan_.kernel = simd_target_name();
    // The estimate per slot has the state (twice, as the last good state is kept), a force buffer per thread, and
    // about 35 entries of the pair list with 8 bytes each. Several ranks also have halos with about as many atoms as
    // their cells, and message buffers for these. Every rank adds a constant number of bytes for message buffers.
    constexpr std::size_t of_program = 8'000'000, of_rank = 4'000'000;
    const std::size_t state_bytes =
        3 * (sizeof(typename N::Fixed) + sizeof(typename N::Real) + sizeof(typename N::ForceSum)) + 32;
    plan_.bytes = of_program;
    for (const auto& run : runs_)
    {
        const std::size_t slot =
            2 * state_bytes + static_cast<std::size_t>(setup_.threads) * 3 * sizeof(typename N::ForceSum) + 280;
        // A rank without a cell, i.e. a mesh rank, holds atoms of other ranks.
        const std::size_t slots = division_.grid.has_cell(run->comm().rank())
                                      ? run->rank().state.slots()
                                      : static_cast<std::size_t>(setup_.system.topology.atom_count()) /
                                            static_cast<std::size_t>(plan_.ranks - division_.grid.ranks());
        plan_.bytes += slots * slot * (plan_.ranks > 1 ? 2 : 1) + (plan_.ranks > 1 ? of_rank : 0);
        plan_.bytes += RankMesh<N>::payload_bytes(division_.mesh) +
                       RankMesh<N>::bytes(division_.mesh, run->comm().rank(), division_.grid.cells[0], slots, setup_.threads);
    }
    plan_.bytes = plan_.bytes * static_cast<std::size_t>(plan_.ranks) / runs_.size(); // other processes use as much memory
}

template <class N>
void Engine<N>::on_every_run(const std::function<void(RankRun<N>&)>& body)
{
    const auto run = [&](int rank) -> RankRun<N>& { return *runs_[static_cast<std::size_t>(rank - world_->here().first)]; };
    run_ranks(
        world_->here(), [&](int rank) { body(run(rank)); }, [&](int rank) { run(rank).comm().abort(); });
}

void set_output(const OutputIntervals& intervals, RunParameters& parameters)
{
    parameters.x_out = parameters.v_out = intervals.configurations;
    parameters.f_out = intervals.forces;
    parameters.energy_out = intervals.energies;
    parameters.compressed_out = parameters.log_out = 0;
}

void Simulation::Implementation::add_force(std::shared_ptr<ExternalForce> /*force*/)
{
    throw InputError("E636", {},
                     "a force from outside acts in simulations on CPUs, and this one is on a GPU. Make it with device cpu.");
}

template <class N>
void Engine<N>::add_force(std::shared_ptr<ExternalForce> force)
{
    for (const auto& run : runs_) { run->rank().external.list.push_back(place(force, setup_.system.topology)); }
}

template <class N>
SinglePoint Engine<N>::evaluate()
{
    PARHELION_EXPECTS(!is_spread());
    std::vector<SinglePoint> points(runs_.size());
    on_every_run([&](RankRun<N>& run) { points[static_cast<std::size_t>(run.comm().rank())] = run.evaluate(); });
    const Rank<N>& first = runs_[0]->rank();
    if (first.external.has_failed) { throw PhysicsError(first.step, "a force from outside has no answer."); }
    const auto troubled = std::find_if(points.begin(), points.end(), [](const SinglePoint& p) { return !p.trouble.empty(); });
    if (troubled != points.end()) { points[0].trouble = troubled->trouble; }
    points[0].remark = range_remark<N>(points[0].forces, points[0].observables.forces);
    return std::move(points[0]);
}

template <class N>
RunSummary Engine<N>::run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop)
{
    steps = steps_to_take(steps, setup_.parameters);
    if (is_minimisation(setup_.parameters.integrator)) { return runs_[0]->minimize(steps, observer, stop); }
    std::vector<RunSummary> summaries(runs_.size());
    on_every_run([&](RankRun<N>& run) {
        Observer silent;
        const bool speaks = run.comm().rank() == 0;
        PausingObserver pausing(run.comm(), observer);
        Observer& heard = speaks ? static_cast<Observer&>(pausing) : silent;
        RunSummary& summary = summaries[static_cast<std::size_t>(run.comm().rank() - world_->here().first)];
        summary = run.integrate(steps, heard, stop);
        if (is_spread()) { gather_end(run, summary); }
    });
    plan_.list_interval = runs_[0]->rank().list_plan.interval; // the list interval may have become shorter during the run
    if (is_spread()) { return summaries[0]; }
    for (std::size_t rank = 1; rank < runs_.size(); ++rank) { summaries[0].pairs_per_atom += summaries[rank].pairs_per_atom; }
    return summaries[0];
}

// Gathers frame, state and sums on the first process at the end of a run. Afterwards no process can reach other processes' ranks.
template <class N>
void Engine<N>::gather_end(RankRun<N>& run, RunSummary& summary)
{
    run.comm().sum(std::span(&summary.pairs_per_atom, 1));
    Frame frame = run.gather_frame(positions_and_velocities());
    SavedState saved = run.gather_saved_state();
    if (run.comm().rank() == 0) { end_ = End{std::move(frame), std::move(saved)}; }
}

template <class N>
void Engine<N>::stop_if_not_here(const char* what) const
{
    if (!is_spread()) { return; }
    throw SystemError(fmt::format("{} is spread over processes, which have parted. The same run in one process has it.", what));
}

template <class N>
Frame Engine<N>::frame()
{
    if (end_) { return end_->frame; }
    stop_if_not_here("The configuration");
    std::vector<AtomData<N>> parts;
    for (const auto& run : runs_) { parts.push_back(atom_data(run->rank().state, positions_and_velocities())); }
    const Rank<N>& r = runs_[0]->rank();
    Frame frame = make_frame(runs_[0]->queue(), setup_.system.topology, r.state.box, parts);
    frame.step = r.step;
    frame.time = r.time();
    return frame;
}

template <class N>
Frame Engine<N>::last_good_frame()
{
    stop_if_not_here("The last good frame");
    const Snapshot<N>& good = runs_[0]->at_repartition();
    Frame frame = make_frame(runs_[0]->queue(), setup_.system.topology, good.state.box, collect_last_good());
    frame.step = good.step;
    frame.time = setup_.parameters.start_time + static_cast<double>(good.step) * setup_.parameters.dt;
    return frame;
}

template <class N>
SavedState Engine<N>::saved_state()
{
    if (end_) { return end_->saved; }
    stop_if_not_here("The state");
    return to_saved_state(runs_[0]->at_repartition(), collect_last_good(), setup_.parameters.random_seed);
}

template <class N>
std::vector<Timeline> Engine<N>::timelines()
{
    std::vector<Timeline> timelines;
    for (const auto& run : runs_)
    {
        Timeline& timeline = timelines.emplace_back(
            timeline_of_phases("rank " + std::to_string(run->comm().rank()), run->queue().clock().spans()));
        const ParticleState<N>& state = run->rank().state;
        const auto end_of_home = state.global_of_slot.begin() + static_cast<std::ptrdiff_t>(state.home_slots());
        timeline.atoms = std::count_if(state.global_of_slot.begin(), end_of_home, [](auto atom) { return atom >= 0; });
        if (run->rank().halo.pattern() == HaloPattern::Direct) { timeline.peers = peers_in(run->rank().halo.plan()); }
    }
    return timelines;
}

template <class N>
std::vector<AtomData<N>> Engine<N>::collect_last_good() const
{
    std::vector<AtomData<N>> parts;
    for (const auto& run : runs_) { parts.push_back(atom_data(run->at_repartition().state, positions_and_velocities())); }
    return parts;
}

#define PARHELION_INSTANTIATE(N) template class Engine<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
