// SPDX-License-Identifier: Apache-2.0
// Boxes lower than twice the cut-off, where the wrapped difference of two positions need not be their nearest image: the same
// crystal in a rectangular box that is high enough.
#include "support/compare.hpp"
#include "tilted_boxes.hpp"

#include <gtest/gtest.h>

#include <cmath>

using namespace parhelion;
using namespace parhelion::test;

namespace {

class LowBoxes : public ::testing::TestWithParam<std::string>
{
protected:
    bool has_mesh() const { return test::has_mesh(GetParam()); }
    Refdata rectangular() const { return with_long_cutoff(test::rectangular(GetParam())); }
};

// Of `copies` against `expected` of eight.
void expect_the_same(const SinglePoint& point, std::size_t copies, const SinglePoint& expected, double tolerance)
{
    const double share = static_cast<double>(copies) / 8;
    const std::vector<Vec3<double>>& forces = expected.forces;
    const std::vector<Vec3<double>> of_one(forces.begin(), forces.begin() + static_cast<std::ptrdiff_t>(forces.size() / 8));
    EXPECT_LE(rms_relative(point.forces, repeated(of_one, copies)), tolerance);
    for (std::size_t term = 0; term < energy_terms; ++term)
    {
        const double energy = share * expected.observables.forces.energy[term];
        EXPECT_NEAR(point.observables.forces.energy[term], energy, tolerance * std::abs(energy)) << energy_term_table[term].name;
    }
    EXPECT_LE(max_relative(point.observables.virial, share * expected.observables.virial), 100 * tolerance);
}

} // namespace

TEST_P(LowBoxes, have_the_energies_and_forces_of_the_rectangular_box_with_the_same_lattice)
{
    const Refdata data = rectangular();
    const SinglePoint expected = simulate(in_double_box(data), Precision::Double).evaluate();
    const double tolerance = has_mesh() ? 2e-8 : 1e-12;
    for (const Refdata& low : {in_dodecahedron(data), in_octahedron(data)})
    {
        ASSERT_TRUE(low.system.box.is_low(low.parameters.coulomb_cutoff));
        const std::size_t copies = low.system.x.size() / data.system.x.size();
        SCOPED_TRACE(copies);
        expect_the_same(simulate(low, Precision::Double).evaluate(), copies, expected, tolerance);
        const SinglePoint mixed = simulate(low, Precision::Mixed).evaluate();
        EXPECT_LE(rms_relative(mixed.forces, simulate(low, Precision::Double).evaluate().forces), 1.5e-6);
    }
}

TEST_P(LowBoxes, do_not_know_which_image_of_an_atom_they_were_given)
{
    Refdata low = in_dodecahedron(rectangular());
    const SinglePoint here = simulate(low, Precision::Mixed, Summation::Reproducible, 1).evaluate();
    int k = 0;
    for (Vec3<double>& x : low.system.x)
    {
        ++k;
        x += low.system.box.to_nm(
            {static_cast<double>(k % 5 - 2), static_cast<double>(k / 5 % 3 - 1), static_cast<double>(k % 2)});
    }
    const SinglePoint there = simulate(low, Precision::Mixed, Summation::Reproducible).evaluate();
    EXPECT_EQ(there.forces, here.forces);
    EXPECT_EQ(there.observables.potential, here.observables.potential);
}

// Under pressure, with lists that are kept for steps and pruned.
TEST_P(LowBoxes, follow_the_rectangular_box_with_the_same_lattice)
{
    Refdata data = rectangular();
    RunParameters& p = data.parameters;
    p.barostat = Barostat::Berendsen, p.pressure_interval = 1, p.tau_p = 0.1;
    p.compressibility = {4.5e-5, 4.5e-5, 4.5e-5}, p.reference_pressure = {500, 500, 500};
    p.list_interval = 5, p.buffer_tolerance = 1e-12; // no pair may be missed
    Recorder of_two, of_eight;
    const Refdata low = in_dodecahedron(data);
    Simulation two = simulate(low, Precision::Double), eight = simulate(in_double_box(data), Precision::Double);
    two.run(10, of_two, never), eight.run(10, of_eight, never);
    const Frame small = two.frame(), large = eight.frame();
    ASSERT_TRUE(low.system.box.is_low(p.coulomb_cutoff));
    EXPECT_NE(small.box, low.system.box);
    const double tolerance = has_mesh() ? 1e-7 : 1e-10;
    const Vec3<double> edge = 0.5 * large.box.diagonal();
    EXPECT_LE(norm(small.box.diagonal() - Vec3<double>{2 * edge.x, edge.y, edge.z}), tolerance);
    EXPECT_LE(norm(small.box.tilt() - Vec3<double>{edge.x, edge.x, 0}), tolerance);
    const std::vector<Vec3<double>> first_two(large.x.begin(), large.x.begin() + static_cast<std::ptrdiff_t>(small.x.size()));
    EXPECT_LE(largest_distance(small.x, first_two, small.box), tolerance);
    const Observables& end = of_eight.observables.back();
    EXPECT_NEAR(of_two.observables.back().conserved, 0.25 * end.conserved, tolerance * std::abs(end.potential));
}

INSTANTIATE_TEST_SUITE_P(Refdata, LowBoxes, ::testing::Values("spce", "etoh", "etoh/pme"), name_of_system);
