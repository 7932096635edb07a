// SPDX-License-Identifier: Apache-2.0
#include "engine/prepared_run.hpp"

#include "base/error.hpp"
#include "comm/networks/networks.hpp"
#include "comm/world/world.hpp"
#include "device/cores.hpp"
#include "dynamics/degrees_of_freedom.hpp"
#include "dynamics/velocities.hpp"
#include "engine/assign.hpp"
#include "engine/guard.hpp"
#include "engine/unstable_atom.hpp"
#include "interactions/mesh/force_error.hpp"
#include "interactions/mesh/mesh_size.hpp"
#include "model/minimisers.hpp"
#include "pairs/cluster_order.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <random>
#include <string>
#include <utility>

namespace parhelion {

RunParameters with_seeds(RunParameters parameters, const SavedState* saved)
{
    if (saved != nullptr && !saved->of_another_run) { parameters.random_seed = saved->seed; }
    std::random_device entropy;
    const auto draw = [&] { return static_cast<std::int64_t>(entropy() >> 1); };
    if (parameters.random_seed == -1) { parameters.random_seed = draw(); }
    if (parameters.generation_seed == -1) { parameters.generation_seed = draw(); }
    return parameters;
}

bool is_one_ranks(const RunParameters& parameters) { return is_minimisation(parameters.integrator); }

namespace {

int threads_of_rank(const RunParameters& parameters, const SimulationOptions& options)
{
    const int asked = std::max(1, options.ranks_asked_for());
    const int threads = options.threads > 0 ? options.threads : std::max(1, (available_cores() - options.proxies) / asked);
    return is_one_ranks(parameters) ? threads * asked : threads;
}

template <class N>
RunSetup make_setup(System&& system, RunParameters&& parameters, const SimulationOptions& options, const SavedState* saved)
{
    RunSetup setup;
    setup.system = std::move(system);
    setup.parameters = with_seeds(std::move(parameters), saved);
    const System& s = setup.system;
    const RunParameters& p = setup.parameters;
    setup.first_step = p.first_step;
    setup.list_conditions = start_conditions(s, p);
    setup.list_plan =
        lists_miss_nothing<N> ? plan_complete_list(s, p, setup.list_conditions) : plan_pair_list(s, p, setup.list_conditions);
    setup.update_groups = make_update_groups(s.topology);
    setup.mesh = mesh_parameters(s.topology, p, s.box);
    setup.dispersion_meshes = dispersion_mesh_parameters(s.topology, p, s.box);
    setup.threads = threads_of_rank(p, options);
    setup.stream_interval = options.stream_every;
    return setup;
}

AtomGroups make_temperature_groups(const RunSetup& setup)
{
    std::vector<std::string> names;
    for (const TemperatureGroup& group : setup.parameters.temperature_groups) { names.push_back(group.name); }
    return make_atom_groups("tc-grps", names, setup.system.groups, setup.system.topology.atom_count(), Coverage::Every);
}

template <class N>
RunTables make_tables(const RunSetup& setup)
{
    const System& system = setup.system;
    const RunParameters& p = setup.parameters;
    const AtomGroups temperature_groups = make_temperature_groups(setup);
    ComGroups com =
        make_com_groups(make_atom_groups("comm-grps", p.com_groups, system.groups, system.topology.atom_count(), Coverage::Some),
                        system.topology);
    Mobility mobility = make_motion_groups(temperature_groups, system.topology).mobility;
    if (mobility.size() == static_cast<std::size_t>(temperature_groups.count)) { mobility.clear(); }
    check_resolution<N>(system.box);
    check_range<N>(system.topology, p, system.box, com.groups);
    std::vector<double> dof = degrees_of_freedom(system.topology, p.com_mode, temperature_groups, com.groups);
    const auto seed = static_cast<std::uint64_t>(p.random_seed);
    TemperatureCoupling temperature_coupling = make_temperature_coupling(p, dof, seed);
    const ConstraintMasses masses = is_minimisation(p.integrator) ? ConstraintMasses::Equal : ConstraintMasses::Physical;
    return {.nonbonded = make_nonbonded(system.topology, p),
            .bonded = make_bonded(system.topology, p),
            .restraints = make_position_restraints(system, p),
            .field = make_electric_field(p),
            .acceleration = make_acceleration(system, p),
            .dispersion = make_dispersion_correction(system.topology, p),
            .constraints = Constraints(system.topology, p, masses),
            .sites = VirtualSites(system.topology),
            .mobility = mobility,
            .com = std::move(com),
            .lincs_constraints = lincs_constraint_count(system.topology),
            .degrees_of_freedom = std::move(dof),
            .temperature_coupling = std::move(temperature_coupling),
            .pressure_coupling = make_pressure_coupling(p, seed, turning_share(system.topology)),
            .stochastic = make_stochastic_dynamics(p, seed, mobility)};
}

// Generates velocities if asked for. Unless the run continues another run, satisfies
// constraints and removes centre-of-mass motion. A minimisation starts with zero velocities.
template <class N>
void begin(Rank<N>& r)
{
    const RunParameters& p = r.parameters;
    const RunTables& tables = r.tables;
    if (is_minimisation(p.integrator))
    {
        auto& v = r.state.v.values();
        std::fill(v.begin(), v.end(), typename N::Real{});
        r.constraint_result = constrain_positions(r.queue, tables.constraints, r.assigned_constraints, r.state);
    }
    else
    {
        if (p.generate_velocities)
        {
            const VelocityGeneration generation{
                p.generation_temperature, static_cast<std::uint64_t>(p.generation_seed),
                std::accumulate(tables.degrees_of_freedom.begin(), tables.degrees_of_freedom.end(), 0.0)};
            generate_velocities(r.queue, generation, tables.constraints, r.assigned_constraints, r.state, tables.mobility);
        }
        stop_frozen(r.queue, tables.mobility, r.state); // another run's velocities of frozen atoms may not be zero
        if (!p.continuation)
        {
            const auto start_of = is_velocity_verlet(p.integrator) ? StartOf::FullStep : StartOf::HalfStep;
            r.constraint_result = constrain_start(r.queue, tables.constraints, r.assigned_constraints, r.state, p.dt, start_of);
            if (const ComMode mode = p.com_mode; mode != ComMode::None)
            {
                const auto sums = sum_com_motion(r.queue, tables.com.groups, r.state, mode);
                remove_com_motion(r.queue, tables.com.groups, finish_com_motion(sums, tables.com.frozen, mode), r.state,
                                  tables.mobility);
            }
        }
    }
    stop_if_constraints_failed(r);
    tables.sites.construct(r.queue, r.assigned_sites, r.state);
    const auto& v = r.state.v.values();
    if (p.generate_velocities && !std::all_of(v.begin(), v.end(), [](auto x) { return std::isfinite(x); }))
    {
        throw InputError(
            "E312", {},
            fmt::format("gen-temp = {} K makes velocities that constraints cannot follow over a step of {} ps. Use a "
                        "lower temperature or a shorter step.",
                        p.generation_temperature, p.dt));
    }
    r.coupling.half_step = joined(compute_kinetic(r.queue, r.state, r.motion_groups()), r.temperature_groups());
}

template <class N>
Snapshot<N> make_start(const RunSetup& setup, const RunTables& tables, const SavedState* saved)
{
    CpuQueue queue(setup.threads);
    const AtomGroups motion_groups = make_motion_groups(make_temperature_groups(setup), setup.system.topology).groups;
    Snapshot<N> start{setup.first_step, make_state<N>(setup.system, motion_groups.of_atom, queue),
                      initial_coupling(tables.temperature_coupling), setup.list_conditions};
    if (saved != nullptr && !saved->of_another_run)
    {
        put_back(*saved, queue, start);
        return start;
    }
    if (saved != nullptr) { start_from(*saved, queue, start); }
    WorldOptions of_one;
    of_one.payload_bytes = std::size_t{1} << 26; // address space; a lone rank receives no messages
    World alone(thread_network(1), of_one);
    Communicator comm = alone.communicator(0);
    Rank<N> r = make_rank<N>(setup, tables, RankDivision{}, queue, comm);
    put_back(std::move(start), r);
    assign_work(r);
    begin(r);
    take_snapshot(r, start);
    return start;
}

PlanSummary make_plan(const RunSetup& setup, const SimulationOptions& options)
{
    const System& system = setup.system;
    const RunParameters& p = setup.parameters;
    PlanSummary plan;
    plan.transport = options.network_text;
    plan.threads = setup.threads;
    if (p.coulomb == CoulombKind::Pme)
    {
        MeshPlan& mesh = plan.mesh.emplace();
        mesh.points = mesh_size(p, system.box);
        mesh.order = p.pme_order;
        mesh.beta = ewald_beta(p);
        mesh.force_error = ewald_force_error(system.topology, p, mesh.points, system.box).total();
        mesh.interval = mesh_interval(p);
        mesh.of_dispersion = static_cast<int>(setup.dispersion_meshes.size());
        mesh.dispersion_beta = p.has_lj_mesh ? lj_ewald_beta(p) : 0;
    }
    plan.list_temperature = setup.list_conditions.temperature;
    plan.list_crowding = most_crowded(setup.list_conditions);
    plan.temperature_interval = p.thermostat == Thermostat::None ? 0 : p.temperature_interval;
    plan.pressure_interval = p.barostat == Barostat::None ? 0 : p.pressure_interval;
    plan.energy_interval = p.energy_calc;
    const bool removes = p.com_mode != ComMode::None && !is_minimisation(p.integrator);
    plan.com_interval = removes ? p.com_interval : 0;
    plan.seed = p.random_seed;
    if (p.generate_velocities) { plan.velocity_seed = p.generation_seed; }
    return plan;
}

} // namespace

SimulationOptions on_one_rank(SimulationOptions options)
{
    options.ranks = 1;
    options.pme = MeshMethod::Auto;
    options.mesh_ranks = 0;
    options.grid = {};
    options.processes = 1;
    options.network = SimulationOptions{}.network;
    options.halo.reset();
    options.trace = false;
    if (options.threads == 0) { options.threads = std::max(1, available_cores() / options.processes_of_host - options.proxies); }
    return options;
}

template <class N>
PreparedRun<N>::PreparedRun(RunSetup&& of_run) : setup(std::move(of_run)), tables(make_tables<N>(setup))
{
}

template <class N>
std::shared_ptr<PreparedRun<N>> prepare_run(System&& system, RunParameters&& parameters, const SimulationOptions& options,
                                            const SavedState* saved)
{
    const auto run = std::make_shared<PreparedRun<N>>(make_setup<N>(std::move(system), std::move(parameters), options, saved));
    run->start = make_start<N>(run->setup, run->tables, saved);
    run->plan = make_plan(run->setup, options);
    return run;
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template struct PreparedRun<N>;                                                                                              \
    template std::shared_ptr<PreparedRun<N>> prepare_run<N>(System&&, RunParameters&&, const SimulationOptions&,                 \
                                                            const SavedState*);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
