// SPDX-License-Identifier: Apache-2.0
// Boxes that are not rectangular: the crystal of a rectangular box described by other edges, and strains that shear it.
#include "support/compare.hpp"
#include "tilted_boxes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace parhelion;
using namespace parhelion::test;

namespace {

class TiltedBoxes : public ::testing::TestWithParam<std::string>
{
protected:
    bool has_mesh() const { return test::has_mesh(GetParam()); }
    Refdata rectangular() const { return test::rectangular(GetParam()); }
};

} // namespace

TEST_P(TiltedBoxes, have_the_energies_and_forces_of_the_rectangular_box_with_the_same_lattice)
{
    const Refdata data = rectangular();
    const SinglePoint one = simulate(data, Precision::Double).evaluate(),
                      four = simulate(in_tilted_box(data), Precision::Double).evaluate();
    const double tolerance = has_mesh() ? 2e-8 : 1e-12;
    EXPECT_LE(rms_relative(four.forces, repeated(one.forces)), tolerance);
    for (std::size_t term = 0; term < energy_terms; ++term)
    {
        const double expected = 4 * one.observables.forces.energy[term];
        EXPECT_NEAR(four.observables.forces.energy[term], expected, tolerance * std::abs(expected))
            << energy_term_table[term].name;
    }
    Mat3<double> virial = one.observables.virial;
    EXPECT_LE(max_relative(four.observables.virial, 4.0 * virial), 100 * tolerance);
    EXPECT_NEAR(four.observables.pressure, one.observables.pressure, has_mesh() ? 1e-2 : 1e-7);
}

TEST_P(TiltedBoxes, in_mixed_precision_have_the_forces_of_double)
{
    const Refdata tilted = in_tilted_box(rectangular());
    const SinglePoint exact = simulate(tilted, Precision::Double).evaluate();
    EXPECT_LE(rms_relative(simulate(tilted, Precision::Mixed).evaluate().forces, exact.forces), 1.5e-6);
}

TEST_P(TiltedBoxes, have_the_bits_of_one_rank_on_every_grid)
{
    const Refdata tilted = in_tilted_box(load_nve(GetParam()));
    const SinglePoint one = simulate(tilted, Precision::Mixed, Summation::Reproducible, 1).evaluate();
    std::size_t k = 0;
    for (const Grid& grid :
         {Grid{2, 1, 1}, Grid{1, 2, 1}, Grid{1, 1, 2}, Grid{2, 2, 1}, Grid{3, 1, 1}, Grid{2, 2, 2}, Grid{8, 1, 1}})
    {
        SimulationOptions options;
        options.precision = Precision::Mixed, options.summation = Summation::Reproducible;
        options.grid = grid, options.halo = halo_methods[k++ % 3], options.threads = 1;
        SCOPED_TRACE(testing::Message() << grid[0] << "x" << grid[1] << "x" << grid[2]);
        const SinglePoint point = Simulation(tilted.system, tilted.parameters, options).evaluate();
        EXPECT_EQ(point.forces, one.forces);
        EXPECT_EQ(point.observables.forces.energy, one.observables.forces.energy);
        EXPECT_EQ(point.observables.virial, one.observables.virial);
    }
}

TEST_P(TiltedBoxes, do_not_know_which_image_of_an_atom_they_were_given)
{
    Refdata tilted = in_tilted_box(load_nve(GetParam()));
    const SinglePoint here = simulate(tilted, Precision::Mixed, Summation::Reproducible).evaluate();
    int k = 0;
    for (Vec3<double>& x : tilted.system.x)
    {
        ++k;
        x += tilted.system.box.to_nm(
            {static_cast<double>(k % 5 - 2), static_cast<double>(k / 5 % 3 - 1), static_cast<double>(k % 2)});
    }
    const SinglePoint there = simulate(tilted, Precision::Mixed, Summation::Reproducible).evaluate();
    EXPECT_EQ(there.forces, here.forces);
    EXPECT_EQ(there.observables.potential, here.observables.potential);
}

namespace {

// Trajectories of both, with boxes that pressure changes.
void expect_the_same_steps(const Refdata& rectangular, const Refdata& tilted, double tolerance)
{
    Recorder of_one, of_four;
    Simulation one = simulate(rectangular, Precision::Double), four = simulate(tilted, Precision::Double);
    one.run(20, of_one, never), four.run(20, of_four, never);
    const Frame small = one.frame(), large = four.frame();
    const Vec3<double>& edge = small.box.diagonal();
    EXPECT_NE(edge, rectangular.system.box.diagonal());
    EXPECT_LE(norm(large.box.diagonal() - Vec3<double>{2 * edge.x, 2 * edge.y, edge.z}), tolerance);
    EXPECT_LE(norm(large.box.tilt() - Vec3<double>{edge.x, edge.x, edge.y}), tolerance);
    EXPECT_LE(largest_distance(large.x, repeated(small.x), small.box), tolerance);
    const Observables& end = of_one.observables.back();
    EXPECT_NEAR(of_four.observables.back().conserved, 4 * end.conserved, tolerance * std::abs(4 * end.potential));
}

void press(RunParameters& p, Barostat barostat, double tau)
{
    p.barostat = barostat, p.pressure_interval = 1, p.tau_p = tau;
    p.compressibility = {4.5e-5, 4.5e-5, 4.5e-5}, p.reference_pressure = {500, 500, 500};
    p.buffer_tolerance = 1e-12; // no pair may be missed
}

} // namespace

TEST_P(TiltedBoxes, follow_the_rectangular_box_with_the_same_lattice)
{
    Refdata data = rectangular();
    press(data.parameters, Barostat::Berendsen, 0.1);
    expect_the_same_steps(data, in_tilted_box(data), has_mesh() ? 1e-7 : 1e-10);
}

// The mass of a strain is tau^2 times the longest edge and the sum of squared edges (barostat_body.hpp): four boxes move as one
// if theirs is four times as large.
TEST_P(TiltedBoxes, follow_the_rectangular_box_that_parrinello_and_rahman_move)
{
    Refdata data = rectangular();
    press(data.parameters, Barostat::ParrinelloRahman, 0.2);
    Refdata tilted = in_tilted_box(data);
    const auto mass = [](const Vec3<double>& edge) { return std::max({edge.x, edge.y, edge.z}) * norm2(edge); };
    tilted.parameters.tau_p *= std::sqrt(4 * mass(data.system.box.diagonal()) / mass(tilted.system.box.diagonal()));
    expect_the_same_steps(data, tilted, has_mesh() ? 1e-7 : 1e-10);
}

INSTANTIATE_TEST_SUITE_P(Refdata, TiltedBoxes, ::testing::ValuesIn(tilted_systems), name_of_system);

// Strains of the two other axes along x, and of z along y: dE/d(strain_ab) = 2 Xi_ab, at an angle of 90 degrees and at others.
// Force-switch and PME have no steps at the cut-off; molecules must be flexible.
TEST(TiltedBox, has_the_virial_of_its_energys_shear_derivative)
{
    for (const std::string name : {"etoh", "etoh/pme"})
    {
        Refdata data = load_refdata(name, ConstraintMode::None);
        for (MoleculeType& type : data.system.topology.molecule_types) { type.settles.clear(); }
        data.parameters.lj_modifier = LjModifier::ForceSwitch, data.parameters.lj_switch = 0.7;
        data.parameters.pme_order = 8;
        for (const Refdata& start : {data, in_tilted_box(data)})
        {
            const Vec3<double>& edge = start.system.box.diagonal();
            const auto evaluate = [&](int a, int b, double strain) {
                Refdata strained = start;
                Vec3<double> tilt = strained.system.box.tilt();
                if (b == 1) { tilt.x += strain * edge.y, tilt.y += strain * tilt.z; }
                else { tilt[a == 0 ? 1 : 2] += strain * edge.z; }
                strained.system.box = {edge, tilt};
                for (Vec3<double>& x : strained.system.x) { x[a] += strain * x[b]; }
                return simulate(strained, Precision::Double).evaluate().observables;
            };
            constexpr int strains[3][2] = {{0, 1}, {0, 2}, {1, 2}};
            for (const auto& [a, b] : strains)
            {
                constexpr double h = 2e-5;
                const double derivative = (8 * (evaluate(a, b, h).potential - evaluate(a, b, -h).potential) -
                                           (evaluate(a, b, 2 * h).potential - evaluate(a, b, -2 * h).potential)) /
                                          (12 * h);
                const Observables middle = evaluate(a, b, 0);
                const double scale =
                    norm(Vec3<double>{middle.forces.virial[0][0], middle.forces.virial[1][1], middle.forces.virial[2][2]});
                EXPECT_NEAR(derivative, 2 * middle.forces.virial[a][b], 1e-6 * scale)
                    << name << " " << a << b << " of " << start.system.x.size();
                EXPECT_NEAR(middle.forces.virial[a][b], middle.forces.virial[b][a], 1e-9 * scale);
            }
        }
    }
}

// On a coarse mesh, with waves of half an even number of points that count: they are not their own mirror images there.
TEST(TiltedBox, has_forces_that_are_the_gradient_of_a_coarse_meshs_energy)
{
    Refdata data = load_refdata("etoh/pme", ConstraintMode::None);
    for (MoleculeType& type : data.system.topology.molecule_types) { type.settles.clear(); }
    data.parameters.lj_modifier = LjModifier::ForceSwitch, data.parameters.lj_switch = 0.7;
    data.parameters.mesh_nx = data.parameters.mesh_ny = data.parameters.mesh_nz = 16;
    data = in_tilted_box(data);
    const std::vector<Vec3<double>> forces = simulate(data, Precision::Double).evaluate().forces;
    double sum2 = 0;
    for (const Vec3<double>& f : forces) { sum2 += norm2(f); }
    const double rms = std::sqrt(sum2 / static_cast<double>(forces.size()));
    for (std::size_t atom = 0; atom < forces.size(); atom += forces.size() / 7)
    {
        for (int d = 0; d < 3; ++d)
        {
            const auto energy = [&](double by) {
                Refdata moved = data;
                moved.system.x[atom][d] += by;
                return simulate(moved, Precision::Double).evaluate().observables.potential;
            };
            constexpr double h = 1e-5;
            const double derivative = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h);
            EXPECT_NEAR(-derivative, forces[atom][d], 1e-7 * rms) << atom << " " << d;
        }
    }
}
