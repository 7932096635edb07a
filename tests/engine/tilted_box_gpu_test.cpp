// SPDX-License-Identifier: Apache-2.0
// Boxes that are not rectangular on GPUs: the cases of tilted_box_test.cpp against the CPU, and ranks against one.
#include "coupled_runs.hpp"
#include "ranks_gpu.hpp"
#include "support/compare.hpp"
#include "support/one_in.hpp"
#include "tilted_boxes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

using namespace parhelion;
using namespace parhelion::test;

namespace {

SimulationOptions on(Device device, Precision precision, Summation summation)
{
    SimulationOptions options;
    options.device = device, options.precision = precision, options.summation = summation;
    options.threads = 2;
    return options;
}
SimulationOptions on_ranks(const Layout& layout, HaloMethod method, Precision precision)
{
    SimulationOptions options = on(Device::Gpu, precision, Summation::Reproducible);
    options.grid = layout.grid, options.gpus = layout.gpus, options.halo = method;
    return options;
}

SinglePoint evaluate(const Refdata& data, const SimulationOptions& options)
{
    return Simulation(data.system, data.parameters, options).evaluate();
}

// So few that the stand-in comes to an end: there are four times as many atoms as in the rectangular box.
Refdata with_few_pairs(Refdata data)
{
    data.parameters.coulomb_cutoff = data.parameters.lj_cutoff = 0.5;
    return data;
}

class TiltedBoxesOnGpu : public GpuTest, public ::testing::WithParamInterface<std::string>
{
};
class TiltedMeshOnGpu : public GpuTest
{
};
class TiltedRunsOnRanks : public RanksOnGpus
{
};
class TiltedBoxesOnRanks : public RanksOnGpus, public ::testing::WithParamInterface<std::string>
{
};

void expect_same_bits(const SinglePoint& a, const SinglePoint& b)
{
    EXPECT_EQ(different(a.forces, b.forces), 0);
    EXPECT_EQ(a.observables.forces.energy, b.observables.forces.energy);
    EXPECT_EQ(a.observables.virial, b.observables.virial);
}

} // namespace

TEST_P(TiltedBoxesOnGpu, have_the_energies_and_forces_of_the_cpu)
{
    const Refdata tilted = in_tilted_box(rectangular(GetParam()));
    const SinglePoint exact = evaluate(tilted, on(Device::Cpu, Precision::Double, Summation::Fast));
    OneIn policies;
    for (const Summation summation : {Summation::Fast, Summation::Reproducible})
    {
        for (const Precision precision : {Precision::Double, Precision::Mixed})
        {
            if (!policies.takes_next()) { continue; }
            SCOPED_TRACE(testing::Message() << static_cast<int>(precision) << static_cast<int>(summation));
            const SinglePoint point = evaluate(tilted, on(Device::Gpu, precision, summation));
            // Of reproducible sums in double precision: forces are multiples of 2e-10 kJ/mol/nm.
            const bool is_double = precision == Precision::Double, is_exact = is_double && summation == Summation::Fast;
            const double tolerance = is_exact ? 1e-12 : is_double ? 1e-11 : 1.5e-6;
            EXPECT_LE(rms_relative(point.forces, exact.forces), tolerance);
            const double scale = std::abs(trace(exact.observables.forces.virial)) + std::abs(exact.observables.potential);
            for (std::size_t term = 0; term < energy_terms; ++term)
            {
                EXPECT_NEAR(point.observables.forces.energy[term], exact.observables.forces.energy[term], tolerance * scale)
                    << energy_term_table[term].name;
            }
            EXPECT_LE(max_relative(point.observables.virial, exact.observables.virial), 100 * tolerance);
        }
    }
}

TEST_P(TiltedBoxesOnGpu, do_not_know_which_image_of_an_atom_they_were_given)
{
    Refdata tilted = with_few_pairs(in_tilted_box(load_nve(GetParam())));
    const SimulationOptions options = on(Device::Gpu, Precision::Mixed, Summation::Reproducible);
    const SinglePoint here = evaluate(tilted, options);
    int k = 0;
    for (Vec3<double>& x : tilted.system.x)
    {
        ++k;
        x += tilted.system.box.to_nm(
            {static_cast<double>(k % 5 - 2), static_cast<double>(k / 5 % 3 - 1), static_cast<double>(k % 2)});
    }
    expect_same_bits(evaluate(tilted, options), here);
}

// A coarse mesh shows all waves: those of half an even number of points, odd numbers of points, transforms of all kinds.
TEST_F(TiltedMeshOnGpu, has_the_forces_of_the_cpu_for_any_numbers_of_points)
{
    Refdata data = load_refdata("etoh/pme", ConstraintMode::None);
    OneIn combinations;
    for (const std::array<int, 3>& points : {std::array{16, 16, 16}, {18, 25, 14}, {25, 22, 15}, {22, 26, 34}})
    {
        for (const Precision precision : {Precision::Double, Precision::Mixed})
        {
            if (!combinations.takes_next()) { continue; }
            SCOPED_TRACE(testing::Message() << points[0] << " " << points[1] << " " << points[2]);
            RunParameters& p = data.parameters;
            p.mesh_nx = points[0], p.mesh_ny = points[1], p.mesh_nz = points[2];
            const Refdata tilted = with_few_pairs(in_tilted_box(data));
            const SinglePoint exact = evaluate(tilted, on(Device::Cpu, Precision::Double, Summation::Fast)),
                              point = evaluate(tilted, on(Device::Gpu, precision, Summation::Fast));
            const double tolerance = precision == Precision::Double ? 1e-12 : 1.5e-6;
            EXPECT_LE(rms_relative(point.forces, exact.forces), tolerance);
            const double reciprocal = exact.observables.forces[EnergyTerm::CoulombReciprocal];
            EXPECT_NEAR(point.observables.forces[EnergyTerm::CoulombReciprocal], reciprocal, tolerance * std::abs(reciprocal));
            EXPECT_LE(max_relative(point.observables.virial, exact.observables.virial), 100 * tolerance);
        }
    }
}

TEST_P(TiltedBoxesOnRanks, have_the_bits_of_one_on_every_grid)
{
    const Refdata tilted = with_few_pairs(in_tilted_box(load_nve(GetParam())));
    const SinglePoint one = evaluate(tilted, on_ranks({{1, 1, 1}, 1}, HaloMethod::Direct, Precision::Mixed));
    OneIn combinations;
    std::size_t k = 0;
    for (const Layout& layout : layouts({{2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {2, 2, 1}, {3, 1, 1}, {1, 3, 2}, {2, 2, 2}, {8, 1, 1}}))
    {
        const HaloMethod method = method_of(k++);
        if (!combinations.takes_next()) { continue; }
        SCOPED_TRACE(name_of(layout, method));
        expect_same_bits(evaluate(tilted, on_ranks(layout, method, Precision::Mixed)), one);
    }
}

TEST_F(TiltedRunsOnRanks, have_the_bits_of_one_however_the_mesh_is_shared)
{
    const Refdata tilted = with_few_pairs(in_tilted_box(load_nve("etoh/pme")));
    const SinglePoint one = evaluate(tilted, on_ranks({{1, 1, 1}, 1}, HaloMethod::Direct, Precision::Mixed));
    struct Sharing
    {
        MeshMethod method;
        Grid grid;
        int without_cells = 0;
    };
    OneIn combinations; // that of four ranks is the first
    for (const Sharing& sharing : {Sharing{MeshMethod::Bricks, {1, 2, 2}}, Sharing{MeshMethod::Gathered, {1, 2, 1}},
                                   Sharing{MeshMethod::Shared, {3, 1, 1}}, Sharing{MeshMethod::Dedicated, {2, 1, 1}, 2}})
    {
        if (!combinations.takes_next()) { continue; }
        SimulationOptions options = on_ranks({sharing.grid, 1}, HaloMethod::StagedFused, Precision::Mixed);
        options.pme = sharing.method, options.mesh_ranks = sharing.without_cells;
        SCOPED_TRACE(mesh_method_names[static_cast<std::size_t>(sharing.method)]);
        Simulation ranks(tilted.system, tilted.parameters, options);
        EXPECT_EQ(ranks.plan().mesh->method, sharing.method);
        expect_same_bits(ranks.evaluate(), one);
    }
}

namespace {

// Thermostat and barostat act every second step, lists serve four. Of all atoms, or of those of a column: of a box that is not
// divided across it, or on one GPU, a column is enough.
Refdata under_pressure(std::size_t coupled_case, const std::string& system, double width = 0)
{
    Refdata data = with_few_pairs(coupled(coupled_cases[coupled_case], system));
    if (width > 0) { keep_column(data.system, width); }
    RunParameters& p = data.parameters;
    p.list_cutoff = 0.55;
    p.com_mode = ComMode::Linear, p.com_interval = 5;
    p.x_out = 3, p.v_out = 4, p.f_out = 6;
    return in_tilted_box(data);
}

constexpr std::size_t berendsen = 2, c_rescale = 4, parrinello_rahman = 5, stochastic_c_rescale = 7, semi_isotropic = 8;

class TiltedRunsOnGpu : public GpuTest, public ::testing::WithParamInterface<std::tuple<Precision, Summation>>
{
};

} // namespace

TEST_P(TiltedRunsOnGpu, take_the_steps_of_the_cpu_with_its_box)
{
    const auto [precision, summation] = GetParam();
    OneIn combinations;
    for (const auto& [coupling, system] : {std::pair(c_rescale, "etoh/pme"),
                                           {semi_isotropic, "etoh"},
                                           {berendsen, "etoh"},
                                           {stochastic_c_rescale, "etoh"},
                                           {parrinello_rahman, "etoh/pme"}})
    {
        if (!combinations.takes_next()) { continue; }
        SCOPED_TRACE(coupled_cases[coupling].name);
        const Refdata data = under_pressure(coupling, system, 2);
        Recorder cpu, gpu;
        Simulation(data.system, data.parameters, on(Device::Cpu, precision, summation)).run(7, cpu, never);
        Simulation(data.system, data.parameters, on(Device::Gpu, precision, summation)).run(7, gpu, never);
        // As of several ranks and one (ranks_gpu_test.cpp): rounding, and the order of sums.
        const double bound = precision == Precision::Double ? 1e-10 : 2e-5;
        expect_near(gpu.frames, cpu.frames, {bound, bound, bound});
        ASSERT_EQ(gpu.observables.size(), cpu.observables.size());
        const Observables &a = gpu.observables.back(), &b = cpu.observables.back();
        EXPECT_NEAR(a.conserved, b.conserved, bound * std::abs(b.potential));
        EXPECT_LE(norm(a.box.diagonal() - b.box.diagonal()), bound);
        EXPECT_LE(norm(a.box.tilt() - b.box.tilt()), bound);
        EXPECT_NE(b.box.tilt(), data.system.box.tilt()) << "no barostat acted";
        EXPECT_LE(max_relative(a.virial, b.virial), 10 * bound);
    }
}

INSTANTIATE_TEST_SUITE_P(Policies, TiltedRunsOnGpu,
                         ::testing::Combine(::testing::Values(Precision::Mixed, Precision::Double),
                                            ::testing::Values(Summation::Fast, Summation::Reproducible)),
                         [](const auto& test) {
                             return std::string(std::get<0>(test.param) == Precision::Mixed ? "mixed" : "double") +
                                    (std::get<1>(test.param) == Summation::Fast ? "" : "_reproducible");
                         });

// From a checkpoint on, by the same ranks and by a lone one.
TEST_F(TiltedRunsOnRanks, take_the_steps_of_one_under_pressure_and_hand_them_on)
{
    OneIn combinations; // with the mesh first
    std::size_t k = 0;
    for (const std::string system : {"etoh/pme", "etoh"})
    {
        const Layout lone{{1, 1, 1}, 1};
        for (const Layout& layout : layouts({{2, 1, 1}, {1, 2, 2}, {2, 2, 2}}))
        {
            const HaloMethod method = method_of(k++);
            if (!combinations.takes_next()) { continue; }
            SCOPED_TRACE(system + " " + name_of(layout, method));
            const bool is_divided_along_x_alone = layout.grid[1] == 1 && layout.grid[2] == 1;
            const Refdata data = under_pressure(c_rescale, system, is_divided_along_x_alone ? 2 : 0);
            Recorder of_one;
            Observer nobody;
            Simulation one(data.system, data.parameters, on_ranks(lone, method, Precision::Mixed));
            one.run(5, of_one, never);
            Simulation ranks(data.system, data.parameters, on_ranks(layout, method, Precision::Mixed));
            ranks.run(3, nobody, never);
            const SavedState saved = ranks.saved_state();
            const Frame expected = one.frame();
            EXPECT_NE(expected.box.tilt(), data.system.box.tilt()) << "no barostat acted";
            for (const Layout& next_layout : {layout, lone})
            {
                Recorder of_next;
                Simulation next(data.system, data.parameters, on_ranks(next_layout, method, Precision::Mixed), &saved);
                next.run(5 - saved.step, of_next, never);
                const Frame frame = next.frame();
                EXPECT_EQ(frame.box, expected.box);
                EXPECT_EQ(different(frame.x, expected.x), 0);
                EXPECT_EQ(different(frame.v, expected.v), 0);
                EXPECT_EQ(of_next.observables.back().conserved, of_one.observables.back().conserved);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Refdata, TiltedBoxesOnGpu, ::testing::ValuesIn(tilted_systems), name_of_system);
INSTANTIATE_TEST_SUITE_P(Refdata, TiltedBoxesOnRanks, ::testing::ValuesIn(tilted_systems), name_of_system);
