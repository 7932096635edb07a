// SPDX-License-Identifier: Apache-2.0
// Boxes that pressure shears (off-diagonal compressibilities): against GROMACS in double precision (make_axes.sh), and boxes that
// come to lean so far that other edges describe them better.
#include "dynamics/shear_body.hpp"
#include "tilted_boxes.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

void let_shear(RunParameters& p)
{
    p.box_coupling = BoxCoupling::Anisotropic;
    p.compressibility = {4.5e-5, 3e-5, 4e-5}, p.shear_compressibility = {2e-5, 3e-5, 4e-5};
    p.reference_pressure = {1, 200, -100};
}

// Leans by half already, and is pushed on along x.
Refdata leaning(Barostat barostat)
{
    Refdata data = in_tilted_box(rectangular("spce"));
    RunParameters& p = data.parameters;
    p.barostat = barostat, p.pressure_interval = 1, p.tau_p = barostat == Barostat::Berendsen ? 0.1 : 0.3;
    p.box_coupling = BoxCoupling::Anisotropic;
    p.compressibility = {4.5e-5, 4.5e-5, 4.5e-5}, p.shear_compressibility = {4.5e-5, 0, 0};
    p.reference_pressure = {1, 1, 1}, p.shear_reference_pressure = {-2000, 0, 0};
    return data;
}
Refdata with_other_edges(Refdata data)
{
    const Vec3<double>&edge = data.system.box.diagonal(), &tilt = data.system.box.tilt();
    data.system.box = {edge, {tilt.x - edge.x, tilt.y, tilt.z}};
    return data;
}

} // namespace

TEST(ShearedBox, of_parrinello_and_rahman_follows_the_reference)
{
    Refdata data = load_nve("spce");
    couple_as_nhpr(data.parameters);
    let_shear(data.parameters);
    Simulation simulation = simulate(data, Precision::Double);
    Recorder recorder;
    const std::vector<EnergyTable> reference = refdata_energy_series("spce", "axes_nhpr_shear");
    simulation.run(static_cast<std::int64_t>(reference.size()) - 1, recorder, never);
    ASSERT_EQ(recorder.observables.size(), reference.size());
    for (std::size_t step = 0; step < reference.size(); ++step)
    {
        const Observables& o = recorder.observables[step];
        const EnergyTable& expected = reference[step];
        const Vec3<double> edge{expected["Box-XX"], expected["Box-YY"], expected["Box-ZZ"]},
            tilt{expected["Box-YX"], expected["Box-ZX"], expected["Box-ZY"]},
            velocity{expected["Box-Vel-XX"], expected["Box-Vel-YY"], expected["Box-Vel-ZZ"]},
            of_tilt{expected["Box-Vel-YX"], expected["Box-Vel-ZX"], expected["Box-Vel-ZY"]};
        // The reference's unit of pressure is smaller by 3.5e-10.
        EXPECT_LE(norm(o.box.diagonal() - edge), 3e-10) << step;
        EXPECT_LE(norm(o.box.tilt() - tilt), 3e-10) << step;
        EXPECT_LE(norm(o.box_velocity - velocity), 1e-10) << step; // nm/ps, below 0.03
        EXPECT_LE(norm(o.tilt_velocity - of_tilt), 1e-10) << step;
        EXPECT_NEAR(o.temperature, expected["Temperature"], 1e-10 * expected["Temperature"]) << step;
    }
    EXPECT_GT(norm(recorder.observables.back().box.tilt()), 1e-3);
}

// From the pressures of the reference: constraints are mended elsewhere there, so that the trajectories differ.
TEST(ShearedBox, of_berendsen_is_the_references_by_its_pressures)
{
    Refdata data = load_nve("spce");
    let_shear(data.parameters);
    data.parameters.barostat = Barostat::Berendsen, data.parameters.pressure_interval = 1, data.parameters.tau_p = 20;
    const PressureCoupling coupling = make_pressure_coupling(data.parameters, 0);
    BarostatState state;
    Box<double> box = data.system.box;
    const std::vector<EnergyTable> reference = refdata_energy_series("spce", "axes_berendsen_shear");
    ASSERT_EQ(reference.size(), 101u);
    for (const EnergyTable& expected : reference)
    {
        // Their strains are those here to first order: 1e-12 a step.
        EXPECT_LE(norm(box.diagonal() - Vec3<double>{expected["Box-XX"], expected["Box-YY"], expected["Box-ZZ"]}), 1e-9);
        EXPECT_LE(norm(box.tilt() - Vec3<double>{expected["Box-YX"], expected["Box-ZX"], expected["Box-ZY"]}), 1e-9);
        const PressureObservables now{{},
                                      {expected["Pres-XX"], expected["Pres-YY"], expected["Pres-ZZ"]},
                                      {},
                                      {expected["Pres-XY"], expected["Pres-XZ"], expected["Pres-YZ"]}};
        box = next_sheared_box(coupling, now, box, state);
    }
    EXPECT_GT(norm(box.tilt()), 1e-4);
}

// Berendsen's strains do not know by which edges a lattice is described: these lean back to the half without a flip.
TEST(ShearedBox, that_flips_follows_the_one_whose_edges_are_the_others)
{
    const Refdata data = leaning(Barostat::Berendsen);
    Recorder of_flipped, of_other;
    Simulation flipped = simulate(data, Precision::Double), other = simulate(with_other_edges(data), Precision::Double);
    flipped.run(20, of_flipped, never), other.run(20, of_other, never);
    const Frame a = flipped.frame(), b = other.frame();
    EXPECT_LT(a.box.tilt().x, 0) << "no flip";
    EXPECT_GT(of_flipped.observables.front().box.tilt().x, 0);
    EXPECT_LE(norm(a.box.diagonal() - b.box.diagonal()), 1e-10);
    EXPECT_LE(norm(a.box.tilt() - b.box.tilt()), 1e-10);
    EXPECT_LE(largest_distance(a.x, b.x, b.box), 1e-10);
    const Observables& end = of_other.observables.back();
    EXPECT_NEAR(of_flipped.observables.back().conserved, end.conserved, 1e-10 * std::abs(end.potential));
}

TEST(ShearedBox, that_flips_has_a_conserved_energy_without_a_jump_and_goes_on_from_a_saved_state)
{
    const Refdata data = leaning(Barostat::ParrinelloRahman);
    SimulationOptions options;
    options.summation = Summation::Reproducible, options.threads = 1;
    Recorder recorder;
    Simulation whole(data.system, data.parameters, options);
    whole.run(60, recorder, never);
    double largest_step = 0, at_flip = 0;
    for (std::size_t step = 1; step < recorder.observables.size(); ++step)
    {
        const Observables &before = recorder.observables[step - 1], &now = recorder.observables[step];
        const double change = std::abs(now.conserved - before.conserved);
        const bool has_flipped = now.box.tilt().x < 0 && before.box.tilt().x > 0;
        (has_flipped ? at_flip : largest_step) = std::max(has_flipped ? at_flip : largest_step, change);
    }
    ASSERT_LT(recorder.observables.back().box.tilt().x, 0) << "no flip";
    EXPECT_LE(at_flip, largest_step);

    Observer nobody;
    Simulation first(data.system, data.parameters, options);
    first.run(40, nobody, never);
    const SavedState saved = first.saved_state();
    Simulation second(data.system, data.parameters, options, &saved);
    second.run(60 - saved.step, nobody, never);
    EXPECT_EQ(second.frame().x, whole.frame().x);
    EXPECT_EQ(second.frame().box, whole.frame().box);
}
