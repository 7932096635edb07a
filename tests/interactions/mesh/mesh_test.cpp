// SPDX-License-Identifier: Apache-2.0
// PME against the reference data (tests/data/refdata), exact sums, and its own invariants.
#include "interactions/mesh/force_error.hpp"
#include "interactions/mesh/mesh_size.hpp"

#include "interactions/mesh/evaluate_mesh.hpp"
#include "interactions/mesh/ions.hpp"
#include "support/compare.hpp"
#include "support/refdata.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <random>

using namespace parhelion;
using namespace parhelion::test;

namespace {

class MeshRefdata : public ::testing::TestWithParam<std::string>
{
};

} // namespace

TEST_P(MeshRefdata, forces_of_the_mesh_are_those_of_the_reference)
{
    const Refdata data = load_refdata(GetParam());
    const auto expected = refdata_forces(GetParam(), "mesh"), all = refdata_forces(GetParam());
    EXPECT_LE(rms_relative(evaluate<Double>(data.system, data.parameters, Parts::Mesh).forces, expected),
              2e-9); // differences of the program's totals, with its tables of 1-4 pairs in them
    const auto mixed = evaluate<Mixed>(data.system, data.parameters, Parts::Mesh).forces;
    double error = 0, scale = 0;
    for (std::size_t i = 0; i < mixed.size(); ++i) { error += norm2(mixed[i] - expected[i]), scale += norm2(all[i]); }
    EXPECT_LE(std::sqrt(error / scale), 5e-7);
}

// The reference's 1-4 terms are interpolated.
TEST_P(MeshRefdata, all_forces_and_energies_are_those_of_the_reference)
{
    const Refdata data = load_refdata(GetParam());
    const auto forces = refdata_forces(GetParam());
    const EnergyTable energies = refdata_energies(GetParam());
    const MeshResult in_double = evaluate<Double>(data.system, data.parameters, Parts::All);
    EXPECT_LE(rms_relative(in_double.forces, forces), 1e-8);
    for (const EnergyTerm term :
         {EnergyTerm::CoulombReciprocal, EnergyTerm::CoulombSr, EnergyTerm::LjSr, EnergyTerm::DispersionCorrection})
    {
        const std::string name(energy_term_table[static_cast<std::size_t>(term)].name);
        EXPECT_NEAR(in_double.energies[term], energies[name], 1e-9 * std::abs(energies[name])) << name;
    }
    EXPECT_NEAR(in_double.energies.potential(), energies["Potential"], 1e-9 * std::abs(energies["Potential"]));
    const MeshResult mixed = evaluate<Mixed>(data.system, data.parameters, Parts::All);
    EXPECT_LE(rms_relative(mixed.forces, in_double.forces), 1.5e-6);
    EXPECT_LE(largest_relative(mixed.forces, in_double.forces), 5e-6);
    EXPECT_NEAR(mixed.energies[EnergyTerm::CoulombReciprocal], energies["Coul. recip."],
                2e-6 * std::abs(energies["Coul. recip."]));
    EXPECT_NEAR(mixed.energies.potential(), energies["Potential"], 2e-6 * std::abs(energies["Potential"]));
}

TEST_P(MeshRefdata, a_fine_grid_gives_the_exact_ewald_sum)
{
    Refdata data = load_refdata(GetParam());
    for (MoleculeType& type : data.system.topology.molecule_types) { type.of(InteractionKind::Pair14).clear(); }
    const auto coarse = evaluate<Double>(data.system, data.parameters, Parts::All).forces;
    data.parameters.pme_order = 8, data.parameters.mesh_spacing = 0.03;
    const auto fine = evaluate<Double>(data.system, data.parameters, Parts::All).forces;
    // What 1-4 terms and bonds add is the same in both references.
    const auto reference = refdata_forces(GetParam()), tight = refdata_forces(GetParam(), "tight");
    std::vector<Vec3<double>> change, expected;
    for (std::size_t i = 0; i < fine.size(); ++i)
    {
        change.push_back(fine[i] - coarse[i]);
        expected.push_back(tight[i] - reference[i]);
    }
    double scale = 0, error = 0;
    for (std::size_t i = 0; i < fine.size(); ++i) { scale += norm2(tight[i]), error += norm2(change[i] - expected[i]); }
    EXPECT_LE(std::sqrt(error / scale), 2e-10);
}

// Pairs and mesh cancel in the limit; what is left depends on beta by the error of the grid.
TEST_P(MeshRefdata, the_splitting_does_not_matter)
{
    Refdata data = load_refdata(GetParam());
    data.parameters.pme_order = 8, data.parameters.mesh_spacing = 0.04;
    data.parameters.coulomb_potential_shift = false;
    data.parameters.ewald_tolerance = 1e-10;
    const MeshResult narrow = evaluate<Double>(data.system, data.parameters, Parts::Coulomb);
    data.parameters.ewald_tolerance = 1e-11;
    const MeshResult other = evaluate<Double>(data.system, data.parameters, Parts::Coulomb);
    EXPECT_LE(rms_relative(other.forces, narrow.forces), 1e-7);
    EXPECT_NEAR(other.energies.potential(), narrow.energies.potential(), 1e-7 * std::abs(narrow.energies.potential()));
    EXPECT_LE(max_relative(other.energies.virial, narrow.energies.virial), 2e-7);
}

TEST_P(MeshRefdata, reproducible_forces_and_energies_have_the_same_bits_for_any_number_of_threads)
{
    const Refdata data = load_refdata(GetParam());
    const MeshResult one = evaluate<MixedReproducible>(data.system, data.parameters, Parts::Coulomb, 1);
    for (const int threads : {2, 3, 7})
    {
        const MeshResult many = evaluate<MixedReproducible>(data.system, data.parameters, Parts::Coulomb, threads);
        EXPECT_TRUE(one.forces == many.forces) << threads;
        EXPECT_EQ(one.energies.energy, many.energies.energy) << threads;
        EXPECT_TRUE(one.energies.virial == many.energies.virial) << threads;
    }
    const MeshResult in_double = evaluate<DoubleReproducible>(data.system, data.parameters, Parts::Coulomb, 2);
    EXPECT_LE(rms_relative(one.forces, in_double.forces), 1.5e-6);
    const MeshResult fast = evaluate<Double>(data.system, data.parameters, Parts::Coulomb, 2);
    EXPECT_LE(rms_relative(in_double.forces, fast.forces), 1e-11);
}

INSTANTIATE_TEST_SUITE_P(Refdata, MeshRefdata, ::testing::ValuesIn(mesh_refdata),
                         [](const auto& test) { return test.param.substr(0, test.param.find('/')); });

namespace {

// The sum over waves by its definition (Essmann et al. 1995, eq. 2.4), and the background of the net charge.
MeshResult exact_reciprocal(const System& system, const RunParameters& run)
{
    const double beta = ewald_beta(run), f = coulomb_factor(run), pi = units::pi;
    const Vec3<double>& box = system.box.diagonal();
    const double volume = box.x * box.y * box.z;
    MeshResult result;
    result.forces.resize(system.x.size());
    double charge = 0;
    std::vector<double> q;
    for (std::size_t i = 0; i < system.x.size(); ++i)
    {
        q.push_back(system.topology.atom(static_cast<std::int64_t>(i)).charge), charge += q.back();
    }
    const auto last = [&](double edge) { return static_cast<int>(std::ceil(edge * beta * 7.0 / pi)); };
    double energy = -pi * f * charge * charge / (2 * volume * beta * beta);
    for (int a = -last(box.x); a <= last(box.x); ++a)
    {
        for (int b = -last(box.y); b <= last(box.y); ++b)
        {
            for (int c = -last(box.z); c <= last(box.z); ++c)
            {
                if (a == 0 && b == 0 && c == 0) { continue; }
                const Vec3<double> m{a / box.x, b / box.y, c / box.z};
                const double g = f * std::exp(-pi * pi * norm2(m) / (beta * beta)) / (pi * volume * norm2(m));
                std::complex<double> s = 0;
                std::vector<std::complex<double>> wave;
                for (std::size_t i = 0; i < q.size(); ++i)
                {
                    wave.push_back(std::polar(1.0, 2 * pi * (m.x * system.x[i].x + m.y * system.x[i].y + m.z * system.x[i].z)));
                    s += q[i] * wave.back();
                }
                energy += 0.5 * g * std::norm(s);
                for (std::size_t i = 0; i < q.size(); ++i)
                {
                    result.forces[i] -= 2 * pi * g * q[i] * (std::conj(wave[i]) * s).imag() * m;
                }
            }
        }
    }
    result.energies[EnergyTerm::CoulombReciprocal] = energy;
    return result;
}

} // namespace

TEST(Mesh, of_ions_with_a_net_charge_approaches_the_exact_sum)
{
    const System system = charged_ions({2.1, 2.6, 3.3});
    RunParameters run = pme_parameters();
    run.epsilon_r = 2;
    const MeshResult exact = exact_reciprocal(system, run);
    // The sum's force is the gradient of its energy.
    System moved = system;
    constexpr double h = 1e-5;
    moved.x[3].y += h;
    const double above = exact_reciprocal(moved, run).energies.potential();
    moved.x[3].y -= 2 * h;
    const double below = exact_reciprocal(moved, run).energies.potential();
    EXPECT_NEAR(exact.forces[3].y, (below - above) / (2 * h), 1e-5);

    double before = 1;
    for (const auto& [order, spacing, bound] :
         {std::tuple(4, 0.12, 1e-2), {5, 0.1, 1e-3}, {6, 0.06, 2e-5}, {7, 0.04, 1e-7}, {8, 0.03, 2e-9}})
    {
        run.pme_order = order, run.mesh_spacing = spacing;
        const MeshResult result = evaluate<Double>(system, run, Parts::Mesh);
        const double error = rms_relative(result.forces, exact.forces);
        EXPECT_LE(error, bound) << "order " << order;
        EXPECT_LT(error, before);
        before = error;
        EXPECT_NEAR(result.energies.potential(), exact.energies.potential(), bound * std::abs(exact.energies.potential()))
            << order;
    }
}

TEST(Mesh, forces_are_gradients_of_the_energy_for_every_order)
{
    const System system = charged_ions({2.1, 2.6, 3.3});
    RunParameters run = pme_parameters();
    run.mesh_nx = 21, run.mesh_ny = 26, run.mesh_nz = 45;
    for (int order = 3; order <= 8; ++order)
    {
        run.pme_order = order;
        const MeshResult result = evaluate<Double>(system, run, Parts::Mesh);
        for (int d = 0; d < 3; ++d)
        {
            constexpr double h = 1e-5;
            System moved = system;
            moved.x[5][d] += h;
            const double above = evaluate<Double>(moved, run, Parts::Mesh).energies.potential();
            moved.x[5][d] -= 2 * h;
            const double below = evaluate<Double>(moved, run, Parts::Mesh).energies.potential();
            // Order 3 has a force with kinks.
            EXPECT_NEAR(result.forces[5][d], (below - above) / (2 * h), (order == 3 ? 1e-3 : 2e-6) * norm(result.forces[5]))
                << order;
        }
    }
}

// The derivative of the energy with respect to a strain of box and positions; with it the background's.
TEST(Mesh, virial_is_the_derivative_with_respect_to_strain)
{
    const Vec3<double> box{2.1, 2.6, 3.3};
    System system = charged_ions(box);
    RunParameters run = pme_parameters();
    run.mesh_nx = 20, run.mesh_ny = 25, run.mesh_nz = 32;
    const EnergyVirial at_rest = evaluate<Double>(system, run, Parts::Mesh).energies;
    for (int d = 0; d < 3; ++d)
    {
        constexpr double h = 1e-5;
        const auto strained = [&](double strain) {
            System s = system;
            s.box.diagonal()[d] *= 1 + strain;
            for (Vec3<double>& x : s.x) { x[d] *= 1 + strain; }
            return evaluate<Double>(s, run, Parts::Mesh).energies.potential();
        };
        // Xi = -1/2 sum r f = 1/2 dE / dstrain.
        EXPECT_NEAR(at_rest.virial[d][d], (strained(h) - strained(-h)) / (4 * h), 1e-7 * std::abs(at_rest.virial[d][d])) << d;
    }
    for (int a = 0; a < 3; ++a)
    {
        for (int b = 0; b < a; ++b) { EXPECT_EQ(at_rest.virial[a][b], at_rest.virial[b][a]); }
    }
}

// The wave in the middle of an even number of points counts with one sign only, and half of the waves along z stand for all.
// A rotation of a cubic box by 90 degrees about z turns off-diagonal elements, which no strain of a rectangular box shows, into
// each other; one about the diagonal moves all.
TEST(Mesh, turns_with_the_box)
{
    const double edge = 2.5;
    System system = charged_ions({edge, edge, edge}), turned = system;
    for (Vec3<double>& x : turned.x) { x = {x.y, x.z, x.x}; }
    const RunParameters run = pme_parameters();
    const MeshResult a = evaluate<Double>(system, run, Parts::Mesh), b = evaluate<Double>(turned, run, Parts::Mesh);
    for (std::size_t i = 0; i < a.forces.size(); ++i)
    {
        const Vec3<double> expected{a.forces[i].y, a.forces[i].z, a.forces[i].x};
        EXPECT_LE(norm(b.forces[i] - expected), 1e-12 * norm(expected));
    }
    for (int i = 0; i < 3; ++i)
    {
        for (int j = 0; j < 3; ++j)
        {
            EXPECT_NEAR(b.energies.virial[i][j], a.energies.virial[(i + 1) % 3][(j + 1) % 3],
                        1e-9 * std::abs(a.energies.potential()));
        }
    }
}

// Lengths scaled by s scale the energy of pairs and mesh together by 1 / s, so that tr Xi = 1/2 dE/ds = -E / 2.
TEST(Mesh, with_pairs_obeys_the_scaling_of_coulombs_law)
{
    const Vec3<double> box{2.1, 2.6, 3.3};
    const System system = charged_ions(box);
    RunParameters run = pme_parameters();
    run.pme_order = 8, run.mesh_spacing = 0.03, run.ewald_tolerance = 1e-10, run.coulomb_potential_shift = false;
    const EnergyVirial energies = evaluate<Double>(system, run, Parts::Coulomb).energies;
    double trace = 0;
    for (int d = 0; d < 3; ++d) { trace += energies.virial[d][d]; }
    EXPECT_NEAR(2 * trace, -energies.potential(), 1e-8 * std::abs(energies.potential()));
}

// Charges without correlation are what the estimate is made for.
TEST(EwaldForceError, is_that_of_random_charges)
{
    std::mt19937 random(5);
    std::uniform_real_distribution<double> uniform(0, 1);
    const Vec3<double> box{2.4, 2.7, 3.0};
    std::vector<Vec3<double>> x;
    std::vector<double> charges;
    for (int i = 0; i < 2000; ++i)
    {
        x.push_back({box.x * uniform(random), box.y * uniform(random), box.z * uniform(random)});
        charges.push_back(i % 2 == 0 ? 1 : -1);
    }
    const System system = ions(x, charges, box);
    RunParameters fine = pme_parameters();
    fine.pme_order = 8, fine.mesh_spacing = 0.03;
    const auto exact_mesh = evaluate<Double>(system, fine, Parts::Mesh).forces;
    for (const auto& [order, spacing] : {std::pair(3, 0.12), {4, 0.12}, {4, 0.09}, {5, 0.12}, {6, 0.15}})
    {
        RunParameters run = pme_parameters();
        run.pme_order = order, run.mesh_spacing = spacing;
        const auto forces = evaluate<Double>(system, run, Parts::Mesh).forces;
        double error = 0;
        for (std::size_t i = 0; i < forces.size(); ++i) { error += norm2(forces[i] - exact_mesh[i]) / 2000; }
        const EwaldForceError estimate = ewald_force_error(system.topology, run, mesh_size(run, box), box);
        EXPECT_NEAR(estimate.mesh / std::sqrt(error), 1, 0.2) << order << " " << spacing;
    }
    // A splitting so narrow that real space leaves nothing out, against the usual one.
    RunParameters narrow = fine;
    narrow.ewald_tolerance = 1e-9;
    const auto exact = evaluate<Double>(system, narrow, Parts::Coulomb).forces;
    fine.ewald_tolerance = 1e-3;
    const auto cut = evaluate<Double>(system, fine, Parts::Coulomb).forces;
    double error = 0;
    for (std::size_t i = 0; i < cut.size(); ++i) { error += norm2(cut[i] - exact[i]) / 2000; }
    EXPECT_NEAR(ewald_force_error(system.topology, fine, mesh_size(fine, box), box).cutoff / std::sqrt(error), 1, 0.25);
}
