// SPDX-License-Identifier: Apache-2.0
// Four-site water, and virtual sites of every kind, on GPUs: as on the CPU, and on ranks with the bits of one.
#include "coupled_runs.hpp"
#include "ranks_gpu.hpp"
#include "site_runs.hpp"
#include "support/one_in.hpp"

#include <algorithm>

using namespace parhelion;
using namespace parhelion::test;

namespace {

// Gives each water of the data the charge of its oxygen in a place between the three atoms.
Refdata with_fourth_sites(Refdata data)
{
    const System three = data.system;
    MoleculeType& water = data.system.topology.molecule_types.at(0);
    water.atoms.push_back({"MW", water.atoms[1].type, 0, 0, water.atoms[0].charge});
    water.atoms[0].charge = 0;
    water.sites = {{SiteKind::Linear, 3, {0, 1, 2}, {0.12, 0.13}}};
    water.exclusion_start = {0, 3, 6, 9, 12};
    water.excluded = {1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2};
    data.system.topology.finish();
    data.system.x.clear(), data.system.v.clear();
    for (std::size_t i = 0; i < three.x.size(); ++i)
    {
        data.system.x.push_back(three.x[i]), data.system.v.push_back(three.v[i]);
        if (i % 3 == 2) { data.system.x.push_back({}), data.system.v.push_back({}); }
    }
    place_sites(data.system.topology, data.system.box, data.system.x);
    return data;
}

Refdata four_site_water(const std::string& coupling)
{
    const auto c = std::ranges::find(coupled_cases, coupling, &Case::name);
    Refdata data = with_fourth_sites(coupled(*c, "spce"));
    RunParameters& p = data.parameters;
    // Short, or ranks on GPUs would find the box too small to be divided; lists of CPU and GPU must not differ in effect.
    p.coulomb_cutoff = p.lj_cutoff = 0.6, p.list_cutoff = 0.72;
    p.x_out = p.v_out = p.f_out = 4;
    return data;
}

struct Outcome
{
    SinglePoint point;
    Recorder recorder;
};

Outcome run_on(const Refdata& data, const SimulationOptions& options, std::int64_t steps = 8)
{
    Outcome outcome;
    Simulation simulation(data.system, data.parameters, options);
    outcome.point = simulation.evaluate();
    simulation.run(steps, outcome.recorder, never);
    outcome.recorder.frames.push_back(simulation.frame());
    return outcome;
}

SimulationOptions on(Device device, Precision precision, Summation summation)
{
    SimulationOptions options;
    options.device = device, options.precision = precision, options.summation = summation, options.threads = 2;
    return options;
}

class VirtualSitesOnGpu : public RanksOnGpus
{
};

// A step's frames of the GPU and of the CPU.
void expect_same_motion(const Outcome& gpu, const Outcome& cpu)
{
    expect_near(gpu.recorder.frames, cpu.recorder.frames, {1e-9, 1e-8, 1e-8});
    ASSERT_EQ(gpu.recorder.observables.size(), cpu.recorder.observables.size());
    for (std::size_t i = 0; i < cpu.recorder.observables.size(); ++i)
    {
        const Observables &a = gpu.recorder.observables[i], &b = cpu.recorder.observables[i];
        EXPECT_NEAR(a.temperature, b.temperature, 1e-9 * b.temperature);
        EXPECT_NEAR(a.conserved, b.conserved, 1e-9 * std::abs(b.conserved));
    }
}

void expect_same_bits(const std::vector<Frame>& more, const std::vector<Frame>& one)
{
    ASSERT_EQ(more.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i)
    {
        EXPECT_EQ(different(more[i].x, one[i].x), 0);
        EXPECT_EQ(different(more[i].v, one[i].v), 0);
        EXPECT_EQ(different(more[i].f, one[i].f), 0);
    }
}

// Runs of tests/data/sites.
class EverySiteOnGpu : public RanksOnGpus, public ::testing::WithParamInterface<std::string>
{
};

} // namespace

TEST_F(VirtualSitesOnGpu, move_as_on_the_cpu)
{
    OneIn couplings;
    for (const std::string coupling : {"c_rescale", "nve", "parrinello_rahman", "stochastic_dynamics"})
    {
        if (!couplings.takes_next()) { continue; }
        SCOPED_TRACE(coupling);
        const Refdata data = four_site_water(coupling);
        const Outcome gpu = run_on(data, on(Device::Gpu, Precision::Double, Summation::Fast));
        const Outcome cpu = run_on(data, on(Device::Cpu, Precision::Double, Summation::Fast));
        EXPECT_LE(rms_relative(gpu.point.forces, cpu.point.forces), 1e-11);
        EXPECT_LE(max_relative(gpu.point.observables.virial, cpu.point.observables.virial), 1e-9);
        for (std::size_t atom = 3; atom < gpu.point.forces.size(); atom += 4)
        {
            EXPECT_EQ(gpu.point.forces[atom], Vec3<double>{});
        }
        expect_same_motion(gpu, cpu);
    }
}

TEST_F(VirtualSitesOnGpu, have_the_bits_of_one_rank_on_every_grid)
{
    const Refdata data = four_site_water("c_rescale");
    SimulationOptions options = on(Device::Gpu, Precision::Mixed, Summation::Reproducible);
    const std::vector<Frame> one = run_on(data, options).recorder.frames;
    OneIn combinations;
    std::size_t k = 0;
    for (const Layout& layout : layouts({{1, 2, 2}, {2, 1, 1}}))
    {
        const HaloMethod method = method_of(k++);
        if (!combinations.takes_next()) { continue; }
        options.grid = layout.grid, options.gpus = layout.gpus, options.halo = method;
        options.comm_timeout = std::chrono::seconds(60); // the stand-in on a busy machine takes its time
        SCOPED_TRACE(name_of(layout, options.halo_method()));
        expect_same_bits(run_on(data, options).recorder.frames, one);
    }
}

// Bounds: of the CPU's test (virtual_sites_test.cpp).
TEST_P(EverySiteOnGpu, has_the_forces_and_virial_of_the_reference)
{
    const Refdata data = load_sites(GetParam());
    const bool has_mesh = GetParam() == "pme";
    for (const auto& [precision, bound] : {std::pair{Precision::Double, has_mesh ? 1e-8 : 1e-12}, {Precision::Mixed, 2e-6}})
    {
        Simulation simulation(data.system, data.parameters, on(Device::Gpu, precision, Summation::Fast));
        const SinglePoint point = simulation.evaluate();
        EXPECT_LE(rms_relative(point.forces, reference_forces(GetParam())), bound);
        if (precision == Precision::Mixed) { continue; }
        EXPECT_LE(max_relative(point.observables.virial, reference_virial(GetParam())), has_mesh ? 1e-7 : 1e-12);
    }
}

TEST_P(EverySiteOnGpu, moves_as_on_the_cpu)
{
    for (const Integrator integrator : {Integrator::LeapFrog, Integrator::StochasticDynamics})
    {
        const Refdata data = moved_by_everything(GetParam(), integrator);
        const Outcome gpu = run_on(data, on(Device::Gpu, Precision::Double, Summation::Fast), 12);
        expect_same_motion(gpu, run_on(data, on(Device::Cpu, Precision::Double, Summation::Fast), 12));
        EXPECT_LE(off_place(data, gpu.recorder.frames.back()), 1e-13);
    }
}

// What the mesh gives besides comes to sites when their other forces have been spread.
TEST_F(VirtualSitesOnGpu, take_multiple_time_steps_as_on_the_cpu)
{
    Refdata data = moved_by_everything("pme", Integrator::LeapFrog);
    data.parameters.barostat = Barostat::None, data.parameters.multiple_time_steps = true, data.parameters.mesh_factor = 2;
    constexpr std::int64_t steps = 6; // two pair lists, and the mesh three times
    const Outcome gpu = run_on(data, on(Device::Gpu, Precision::Double, Summation::Fast), steps);
    expect_same_motion(gpu, run_on(data, on(Device::Cpu, Precision::Double, Summation::Fast), steps));
}

// A box of 2.6 nm is too short for two cells.
TEST_P(EverySiteOnGpu, has_the_bits_of_one_rank_by_every_way_to_exchange)
{
    struct Exchange
    {
        HaloMethod halo;
        MeshMethod mesh;
        int gpus, mesh_ranks = 0;
    };
    constexpr Exchange ways[] = {{HaloMethod::Direct, MeshMethod::Bricks, 2},
                                 {HaloMethod::Direct, MeshMethod::Shared, 1},
                                 {HaloMethod::StagedFused, MeshMethod::Gathered, 2},
                                 {HaloMethod::StagedDma, MeshMethod::Dedicated, 1, 1},
                                 {HaloMethod::StagedHost, MeshMethod::Bricks, 1}};
    const bool has_mesh = GetParam() == "pme";
    const Refdata data = twice_along_x(moved_by_everything(GetParam(), Integrator::LeapFrog));
    SimulationOptions options = on(Device::Gpu, Precision::Mixed, Summation::Reproducible);
    options.comm_timeout = std::chrono::seconds(60); // the stand-in on a busy machine takes its time
    const std::vector<Frame> one = run_on(data, options, 12).recorder.frames;
    ASSERT_GE(one.size(), 4u);
    EXPECT_LE(off_place(data, one.back()), 1e-8);
    options.grid = {2, 1, 1};
    for (const Exchange& way : ways)
    {
        options.halo = way.halo, options.gpus = std::min(way.gpus, gpu_count());
        if (has_mesh) { options.pme = way.mesh, options.mesh_ranks = way.mesh_ranks; }
        SCOPED_TRACE(std::string(halo_method_names[static_cast<std::size_t>(way.halo)]) + " " +
                     std::string(mesh_method_names[static_cast<std::size_t>(way.mesh)]));
        expect_same_bits(run_on(data, options, 12).recorder.frames, one);
    }
}

INSTANTIATE_TEST_SUITE_P(Sites, EverySiteOnGpu, ::testing::Values("rf", "pme"), [](const auto& test) { return test.param; });
