// SPDX-License-Identifier: Apache-2.0
// Runs with PME on a GPU against the CPU's, of so few atoms that the stand-in comes to an end.
#include "base/error.hpp"
#include "coupled_runs.hpp"
#include "support/compare.hpp"
#include "support/gpu_test.hpp"
#include "whole_molecules.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <tuple>

using namespace parhelion;
using namespace parhelion::test;
using ::testing::HasSubstr;

namespace {

class FewAtomsWithPme : public GpuTest, public ::testing::WithParamInterface<std::tuple<Precision, Summation>>
{
};

// Thermostat and barostat act every second step, lists serve four. Of a box that is divided along x alone a column is enough.
Refdata few_atoms(const Grid& grid = {1, 1, 1})
{
    Refdata data = coupled(coupled_cases[4], "etoh/pme");
    if (grid[1] == 1 && grid[2] == 1) { keep_column(data.system, 2); }
    RunParameters& p = data.parameters;
    p.coulomb_cutoff = p.lj_cutoff = 0.5, p.list_cutoff = 0.6;
    p.com_mode = ComMode::Linear, p.com_interval = 5;
    p.x_out = 3, p.v_out = 4, p.f_out = 6;
    return data;
}

SimulationOptions on(Device device)
{
    SimulationOptions options;
    options.device = device;
    options.threads = 2;
    return options;
}

// Of a run with LJ-PME "LJ recip.", too, is compared.
void expect_steps_of_the_cpu(const Refdata& data, Precision precision, Summation summation)
{
    const auto run = [&](Device device) {
        SimulationOptions options = on(device);
        options.precision = precision, options.summation = summation;
        Recorder recorder;
        Simulation simulation(data.system, data.parameters, options);
        EXPECT_EQ(simulation.plan().on_gpu, device == Device::Gpu);
        simulation.run(7, recorder, never);
        return std::pair(recorder, simulation.evaluate().forces); // these in a step that is taken back
    };
    const auto [cpu, forces_of_cpu] = run(Device::Cpu);
    const auto [gpu, forces_of_gpu] = run(Device::Gpu);
    // As of several ranks and one (ranks_gpu_test.cpp): rounding, and the order of sums.
    const double bound = precision == Precision::Double ? 1e-10 : 2e-5;
    expect_near(gpu.frames, cpu.frames, {bound, bound, bound});
    ASSERT_EQ(forces_of_gpu.size(), forces_of_cpu.size());
    EXPECT_LE(rms_relative(forces_of_gpu, forces_of_cpu), bound);
    ASSERT_EQ(gpu.observables.size(), cpu.observables.size());
    for (std::size_t i = 0; i < cpu.observables.size(); ++i)
    {
        const Observables &a = gpu.observables[i], &b = cpu.observables[i];
        SCOPED_TRACE("step " + std::to_string(b.step));
        for (const EnergyTerm term : {EnergyTerm::CoulombReciprocal, EnergyTerm::CoulombSr, EnergyTerm::LjSr})
        {
            EXPECT_NE(b.forces[term], 0);
            EXPECT_NEAR(a.forces[term], b.forces[term], bound * std::abs(b.forces[term])) << static_cast<int>(term);
        }
        EXPECT_NEAR(a.forces[EnergyTerm::LjReciprocal], b.forces[EnergyTerm::LjReciprocal],
                    bound * std::abs(b.forces[EnergyTerm::LjReciprocal]));
        EXPECT_EQ(b.forces[EnergyTerm::LjReciprocal] != 0, data.parameters.has_lj_mesh);
        EXPECT_NEAR(a.conserved, b.conserved, bound * std::abs(b.potential));
        EXPECT_NEAR(a.box.diagonal().x, b.box.diagonal().x, bound * b.box.diagonal().x);
        EXPECT_LE(max_relative(a.virial, b.virial), 10 * bound);
    }
    EXPECT_NE(cpu.observables.back().box.diagonal().x, data.system.box.diagonal().x) << "no barostat acted";
}

} // namespace

TEST_P(FewAtomsWithPme, take_the_steps_of_the_cpu_with_its_frames_and_its_box)
{
    const auto [precision, summation] = GetParam();
    expect_steps_of_the_cpu(few_atoms(), precision, summation);
}

// Forces are written, and energies and virial wanted, in steps with the mesh and in others.
TEST_P(FewAtomsWithPme, take_the_steps_of_the_cpu_where_the_mesh_acts_in_every_third)
{
    const auto [precision, summation] = GetParam();
    Refdata data = few_atoms();
    data.parameters.multiple_time_steps = true, data.parameters.mesh_factor = 3;
    data.parameters.f_out = 2;
    expect_steps_of_the_cpu(data, precision, summation);
}

TEST_P(FewAtomsWithPme, take_the_steps_of_the_cpu_with_lj_pme)
{
    const auto [precision, summation] = GetParam();
    Refdata data = few_atoms();
    data.parameters.has_lj_mesh = true;
    for (const LjMeshRule rule : {LjMeshRule::LorentzBerthelot, LjMeshRule::Geometric})
    {
        data.parameters.lj_mesh_rule = rule;
        expect_steps_of_the_cpu(data, precision, summation);
    }
    data.parameters.multiple_time_steps = true, data.parameters.mesh_factor = 3;
    data.parameters.f_out = 2;
    expect_steps_of_the_cpu(data, precision, summation);
}

INSTANTIATE_TEST_SUITE_P(Policies, FewAtomsWithPme,
                         ::testing::Combine(::testing::Values(Precision::Mixed, Precision::Double),
                                            ::testing::Values(Summation::Fast, Summation::Reproducible)),
                         [](const auto& test) {
                             return std::string(std::get<0>(test.param) == Precision::Mixed ? "mixed" : "double") +
                                    (std::get<1>(test.param) == Summation::Fast ? "" : "_reproducible");
                         });

namespace {

// Of ranks that share a GPU and of ranks that have one each, where there are as many.
struct RanksOfMesh
{
    MeshMethod method;
    std::array<int, 3> grid;
    int gpus;
    int without_cells = 0;  // ranks besides, of MeshMethod::Dedicated
    int ranks_per_node = 0; // 0: on no virtual nodes
};
std::string name_of(const RanksOfMesh& of)
{
    std::string name(mesh_method_names[static_cast<std::size_t>(of.method)]);
    for (const int cells : of.grid) { name.append("_").append(std::to_string(cells)); }
    if (of.without_cells > 0) { name.append("_and_").append(std::to_string(of.without_cells)); }
    name.append("_on_").append(std::to_string(of.gpus));
    if (of.ranks_per_node > 0) { name.append("_nodes_of_").append(std::to_string(of.ranks_per_node)); }
    return name;
}
void PrintTo(const RanksOfMesh& of, std::ostream* os) { *os << name_of(of); }

class MeshOnGpuRanks : public GpuTest, public ::testing::WithParamInterface<RanksOfMesh>
{
protected:
    void SetUp() override { take_gpus(GetParam().gpus); }
    static SimulationOptions lone(Precision precision, Summation summation)
    {
        SimulationOptions options = on(Device::Gpu);
        options.precision = precision, options.summation = summation;
        return options;
    }
    static SimulationOptions several(Precision precision, Summation summation)
    {
        SimulationOptions options = lone(precision, summation);
        options.grid = GetParam().grid, options.gpus = GetParam().gpus, options.pme = GetParam().method;
        options.mesh_ranks = GetParam().without_cells;
        put_on_nodes(options, GetParam().ranks_per_node);
        return options;
    }
};

} // namespace

TEST_P(MeshOnGpuRanks, computes_what_a_lone_rank_computes)
{
    const Refdata data = few_atoms(GetParam().grid);
    // In mixed precision pair forces, too, are other sums: the bound is that of forces against the reference.
    for (const auto& [precision, bound] : {std::pair(Precision::Double, 1e-12), {Precision::Mixed, 1.5e-6}})
    {
        const SinglePoint one = Simulation(data.system, data.parameters, lone(precision, Summation::Fast)).evaluate();
        Simulation ranks(data.system, data.parameters, several(precision, Summation::Fast));
        EXPECT_EQ(ranks.plan().gpus, GetParam().gpus);
        EXPECT_EQ(ranks.plan().mesh->method, GetParam().method);
        EXPECT_EQ(ranks.plan().mesh->ranks, GetParam().without_cells);
        const std::array<int, 3>& cells = GetParam().grid;
        EXPECT_EQ(ranks.plan().ranks, cells[0] * cells[1] * cells[2] + GetParam().without_cells);
        const SinglePoint point = ranks.evaluate();
        EXPECT_LE(rms_relative(point.forces, one.forces), bound);
        const auto reciprocal = [](const SinglePoint& p) { return p.observables.forces[EnergyTerm::CoulombReciprocal]; };
        EXPECT_NE(reciprocal(one), 0);
        EXPECT_NEAR(reciprocal(point), reciprocal(one), bound * std::abs(reciprocal(one)));
        EXPECT_LE(max_relative(point.observables.virial, one.observables.virial), 30 * bound);
    }
}

// Orders of splines that CPUs take, and a grid that no number of ranks divides.
TEST_P(MeshOnGpuRanks, computes_the_bits_of_a_lone_rank_in_reproducible_mode)
{
    Refdata data = few_atoms(GetParam().grid);
    data.parameters.mesh_nx = 45, data.parameters.mesh_ny = 25, data.parameters.mesh_nz = 28;
    for (const auto& [precision, order] : {std::pair(Precision::Mixed, 4), {Precision::Double, 5}, {Precision::Mixed, 8}})
    {
        SCOPED_TRACE(order);
        data.parameters.pme_order = order;
        const SinglePoint one = Simulation(data.system, data.parameters, lone(precision, Summation::Reproducible)).evaluate();
        const SinglePoint point =
            Simulation(data.system, data.parameters, several(precision, Summation::Reproducible)).evaluate();
        EXPECT_TRUE(point.forces == one.forces); // values would fill screens
        EXPECT_EQ(point.observables.forces.energy, one.observables.forces.energy);
        EXPECT_TRUE(point.observables.virial == one.observables.virial);
    }
}

// Both rules: one more mesh, or as many as the atoms have types with dispersion. Then steps with a barostat.
TEST_P(MeshOnGpuRanks, computes_the_bits_of_a_lone_rank_with_lj_pme)
{
    Refdata data = few_atoms(GetParam().grid);
    data.parameters.has_lj_mesh = true;
    const SimulationOptions one = lone(Precision::Mixed, Summation::Reproducible),
                            ranks = several(Precision::Mixed, Summation::Reproducible);
    if (GetParam().method == MeshMethod::Dedicated)
    {
        EXPECT_THROW(Simulation(data.system, data.parameters, ranks), InputError);
        return;
    }
    for (const LjMeshRule rule : {LjMeshRule::LorentzBerthelot, LjMeshRule::Geometric})
    {
        data.parameters.lj_mesh_rule = rule;
        const SinglePoint expected = Simulation(data.system, data.parameters, one).evaluate();
        const SinglePoint point = Simulation(data.system, data.parameters, ranks).evaluate();
        EXPECT_LT(expected.observables.forces[EnergyTerm::LjReciprocal], -1);
        EXPECT_TRUE(point.forces == expected.forces);
        EXPECT_EQ(point.observables.forces.energy, expected.observables.forces.energy);
        EXPECT_TRUE(point.observables.virial == expected.observables.virial);
    }
    Observer nobody;
    Simulation a(data.system, data.parameters, one), b(data.system, data.parameters, ranks);
    for (Simulation* const simulation : {&a, &b}) { simulation->run(5, nobody, never); }
    EXPECT_NE(a.frame().box, data.system.box) << "no barostat acted";
    EXPECT_EQ(b.frame().box, a.frame().box);
    EXPECT_TRUE(b.frame().x == a.frame().x);
    EXPECT_TRUE(b.frame().v == a.frame().v);
}

// With thermostat and barostat, and from a checkpoint on, by the same ranks and by a lone one.
TEST_P(MeshOnGpuRanks, takes_the_steps_of_a_lone_rank_under_pressure_coupling_and_hands_them_on)
{
    const Refdata data = few_atoms(GetParam().grid);
    Observer nobody;
    Recorder of_one;
    Simulation one(data.system, data.parameters, lone(Precision::Mixed, Summation::Reproducible));
    one.run(10, of_one, never);
    Simulation ranks(data.system, data.parameters, several(Precision::Mixed, Summation::Reproducible));
    ranks.run(7, nobody, never);
    const SavedState saved = ranks.saved_state();
    const Frame expected = one.frame();
    EXPECT_NE(expected.box, data.system.box) << "no barostat acted";
    for (const auto& options : {several, lone})
    {
        Recorder of_next;
        Simulation next(data.system, data.parameters, options(Precision::Mixed, Summation::Reproducible), &saved);
        next.run(10 - saved.step, of_next, never);
        const Frame frame = next.frame();
        EXPECT_EQ(frame.box, expected.box);
        EXPECT_TRUE(frame.x == expected.x);
        EXPECT_TRUE(frame.v == expected.v);
        EXPECT_EQ(of_next.observables.back().pressure_tensor, of_one.observables.back().pressure_tensor);
        EXPECT_EQ(of_next.observables.back().conserved, of_one.observables.back().conserved);
    }
}

// All atoms in one half of a box that is twice as long: the rank there has more than anybody has made room for at first.
TEST_P(MeshOnGpuRanks, makes_room_where_a_rank_has_most_of_the_atoms)
{
    Refdata data = few_atoms(GetParam().grid);
    data.parameters.barostat = Barostat::None;
    make_molecules_whole(data.system);
    data.system.box.diagonal().x *= 2;
    if (GetParam().method == MeshMethod::Shared) // the grid is coarser, and splines reach too far
    {
        EXPECT_THROW(Simulation(data.system, data.parameters, several(Precision::Mixed, Summation::Reproducible)), InputError);
        return;
    }
    Simulation one(data.system, data.parameters, lone(Precision::Mixed, Summation::Reproducible));
    Simulation ranks(data.system, data.parameters, several(Precision::Mixed, Summation::Reproducible));
    for (Simulation* const simulation : {&one, &ranks})
    {
        Observer nobody;
        simulation->run(5, nobody, never);
    }
    EXPECT_TRUE(ranks.frame().x == one.frame().x);
    EXPECT_TRUE(ranks.frame().v == one.frame().v);
}

// In every second step, twice; observed in every third, so that plain forces are wanted in some of both kinds.
TEST_P(MeshOnGpuRanks, takes_multiple_time_steps_as_a_lone_rank_does)
{
    Refdata data = few_atoms(GetParam().grid);
    data.parameters.barostat = Barostat::None;
    data.parameters.multiple_time_steps = true, data.parameters.mesh_factor = 2;
    if (GetParam().method == MeshMethod::Shared)
    {
        EXPECT_THROW(Simulation(data.system, data.parameters, several(Precision::Mixed, Summation::Fast)), InputError);
        return;
    }
    Recorder of_one, of_ranks;
    Simulation one(data.system, data.parameters, lone(Precision::Mixed, Summation::Reproducible));
    one.run(5, of_one, never);
    Simulation ranks(data.system, data.parameters, several(Precision::Mixed, Summation::Reproducible));
    ranks.run(5, of_ranks, never);
    EXPECT_TRUE(ranks.frame().x == one.frame().x);
    EXPECT_TRUE(ranks.frame().v == one.frame().v);
    EXPECT_EQ(of_ranks.observables.back().pressure_tensor, of_one.observables.back().pressure_tensor);
}

// All atoms move together, so fast that they leave their ranks' reach within a list's life, and so slow that they do not in a
// step.
TEST_P(MeshOnGpuRanks, build_newer_lists_when_an_atom_strays)
{
    if (GetParam().method != MeshMethod::Shared) { GTEST_SKIP() << "takes atoms anywhere"; }
    Refdata data = few_atoms(GetParam().grid);
    data.parameters.barostat = Barostat::None, data.parameters.thermostat = Thermostat::None;
    data.parameters.com_mode = ComMode::None;
    for (Vec3<double>& v : data.system.v) { v.x += 60; } // nm/ps
    const auto run = [&](const SimulationOptions& options) {
        Recorder recorder;
        Simulation simulation(data.system, data.parameters, options);
        simulation.run(4, recorder, never);
        const auto is_told = testing::Contains(HasSubstr("built before their time"));
        return std::pair(simulation.frame(), testing::Value(recorder.messages, is_told));
    };
    // Where lists may miss pairs, nothing but the mesh asks for newer ones.
    EXPECT_FALSE(run(lone(Precision::Mixed, Summation::Fast)).second);
    EXPECT_TRUE(run(several(Precision::Mixed, Summation::Fast)).second);
    const auto [one, one_is_told] = run(lone(Precision::Mixed, Summation::Reproducible));
    const auto [ranks, ranks_are_told] = run(several(Precision::Mixed, Summation::Reproducible));
    EXPECT_TRUE(ranks.x == one.x);
    EXPECT_TRUE(ranks.v == one.v);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, MeshOnGpuRanks,
    ::testing::Values(RanksOfMesh{MeshMethod::Gathered, {2, 1, 1}, 1}, RanksOfMesh{MeshMethod::Gathered, {1, 2, 1}, 2},
                      RanksOfMesh{MeshMethod::Bricks, {2, 1, 1}, 1}, RanksOfMesh{MeshMethod::Bricks, {2, 1, 1}, 2},
                      RanksOfMesh{MeshMethod::Bricks, {1, 2, 2}, 2}, RanksOfMesh{MeshMethod::Bricks, {2, 2, 2}, 1},
                      RanksOfMesh{MeshMethod::Bricks, {2, 2, 2}, 8}, RanksOfMesh{MeshMethod::Shared, {2, 1, 1}, 1},
                      RanksOfMesh{MeshMethod::Shared, {2, 1, 1}, 2}, RanksOfMesh{MeshMethod::Shared, {3, 1, 1}, 2},
                      RanksOfMesh{MeshMethod::Shared, {4, 1, 1}, 4}, RanksOfMesh{MeshMethod::Dedicated, {1, 1, 1}, 1, 1},
                      RanksOfMesh{MeshMethod::Dedicated, {1, 1, 1}, 2, 1}, RanksOfMesh{MeshMethod::Dedicated, {2, 1, 1}, 1, 2},
                      RanksOfMesh{MeshMethod::Dedicated, {2, 1, 1}, 2, 1}, RanksOfMesh{MeshMethod::Dedicated, {1, 2, 2}, 2, 3},
                      RanksOfMesh{MeshMethod::Dedicated, {3, 1, 1}, 4, 1}, RanksOfMesh{MeshMethod::Dedicated, {2, 2, 1}, 8, 4},
                      RanksOfMesh{MeshMethod::Gathered, {2, 1, 1}, 1, 0, 1},
                      RanksOfMesh{MeshMethod::Gathered, {2, 2, 1}, 2, 0, 2}, RanksOfMesh{MeshMethod::Bricks, {2, 1, 1}, 1, 0, 1},
                      RanksOfMesh{MeshMethod::Bricks, {2, 2, 1}, 1, 0, 2}, RanksOfMesh{MeshMethod::Bricks, {4, 1, 1}, 1, 0, 1},
                      RanksOfMesh{MeshMethod::Bricks, {2, 2, 2}, 2, 0, 4}, RanksOfMesh{MeshMethod::Shared, {2, 1, 1}, 1, 0, 1},
                      RanksOfMesh{MeshMethod::Shared, {4, 1, 1}, 1, 0, 2}, RanksOfMesh{MeshMethod::Shared, {4, 1, 1}, 2, 0, 1}),
    [](const auto& test) { return name_of(test.param); });

namespace {

class PmeOnGpus : public GpuTest
{
protected:
    void SetUp() override { take_gpus(1, 2); }
};

} // namespace

// Charges, potentials and half a spectrum, which has two numbers for each that it leaves out; and what transforms work in.
TEST_F(PmeOnGpus, has_its_grids_counted_as_memory)
{
    Refdata data = few_atoms();
    const auto bytes_with = [&](int points) {
        data.parameters.mesh_nx = data.parameters.mesh_ny = data.parameters.mesh_nz = points;
        return static_cast<double>(Simulation(data.system, data.parameters, on(Device::Gpu)).plan().bytes);
    };
    const double more = bytes_with(96) - bytes_with(32), of_grids = 3 * sizeof(float) * (96.0 * 96 * 96 - 32 * 32 * 32);
    EXPECT_GE(more, of_grids);
    EXPECT_LE(more, 3 * of_grids);
}

TEST_F(PmeOnGpus, runs_on_one_of_several_unless_more_are_asked_for)
{
    const Refdata data = few_atoms();
    const Simulation simulation(data.system, data.parameters, on(Device::Gpu));
    EXPECT_EQ(simulation.plan().gpus, 1);
    EXPECT_EQ(simulation.plan().ranks, 1);
    if (gpu_count() < 2) { return; }
    EXPECT_THAT(simulation.plan().gpus_remark, HasSubstr("more would not help"));
    SimulationOptions options = on(Device::Gpu);
    options.pme = MeshMethod::Bricks; // whose steps nobody has fitted
    EXPECT_THAT(Simulation(data.system, data.parameters, options).plan().gpus_remark, HasSubstr("with PME --gpus takes more"));
}

TEST_F(PmeOnGpus, are_refused_where_no_rank_is_left_for_the_atoms_or_there_is_no_mesh)
{
    Refdata data = few_atoms();
    SimulationOptions options = on(Device::Gpu);
    options.pme = MeshMethod::Dedicated, options.mesh_ranks = 1;
    const auto refusal = [&] {
        try
        {
            const Simulation simulation(data.system, data.parameters, options);
        }
        catch (const InputError& error)
        {
            return std::string(error.what());
        }
        return std::string("taken");
    };
    EXPECT_THAT(refusal(), HasSubstr("dedicated:1 leaves no rank for the atoms (there is 1)"));
    options.ranks = 3, options.mesh_ranks = 3;
    EXPECT_THAT(refusal(), HasSubstr("dedicated:3 leaves no rank for the atoms (there are 3)"));
    options.mesh_ranks = 1;
    data.parameters.coulomb = CoulombKind::ReactionField;
    EXPECT_THAT(refusal(), HasSubstr("needs a mesh to do"));
}
