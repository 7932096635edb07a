// SPDX-License-Identifier: Apache-2.0
// PME where the answer is known exactly: ions beyond each other's cut-off, excluded charges in one place, copies of a system that
// only the arithmetic could tell apart.
#include "interactions/mesh/evaluate_mesh.hpp"
#include "interactions/mesh/ions.hpp"
#include "interactions/pair/screening.hpp"
#include "interactions/pair/screening_quotient.hpp"
#include "support/compare.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <utility>

using namespace parhelion;
using namespace parhelion::test;

namespace {

Vec3<double> vector_of(const nlohmann::json& v) { return {v[0], v[1], v[2]}; }

// A molecule of two charges, which exclude each other or do not, r apart along a diagonal.
System two_charges(double r, bool excluded, const std::vector<double>& charges = {1.0, -1.0})
{
    const Vec3<double> middle{1.3, 1.7, 0.9}, half = (0.5 * r / std::sqrt(3.0)) * Vec3<double>{1, 1, 1};
    System system = ions({middle - half, middle + half}, charges, {2.6, 3.0, 3.4});
    MoleculeType& type = system.topology.molecule_types[0];
    type.atoms.push_back(system.topology.molecule_types[1].atoms[0]);
    type.exclusion_start = excluded ? std::vector<std::int32_t>{0, 1, 2} : std::vector<std::int32_t>{0, 0, 0};
    type.excluded = excluded ? std::vector<std::int32_t>{1, 0} : std::vector<std::int32_t>{};
    system.topology.molecule_types.resize(1);
    system.topology.blocks.resize(1);
    return system;
}

RunParameters fine_pme()
{
    RunParameters run = pme_parameters();
    run.pme_order = 8, run.mesh_spacing = 0.03, run.ewald_tolerance = 1e-9, run.coulomb_potential_shift = false;
    return run;
}

double coulomb_energy(const MeshResult& result)
{
    return result.energies[EnergyTerm::CoulombReciprocal] + result.energies[EnergyTerm::CoulombSr];
}

} // namespace

// tests/data/mesh/make_ions.py: orders 3 to 8, an even and an odd grid, without and with a net charge.
TEST(MeshOfFarIons, is_that_of_gromacs_in_double_precision)
{
    std::ifstream file(std::string(PARHELION_SOURCE_DIR) + "/tests/data/mesh/ions.json");
    const nlohmann::json data = nlohmann::json::parse(file);
    std::vector<Vec3<double>> x;
    for (const auto& place : data["x"]) { x.push_back(vector_of(place)); }
    ASSERT_EQ(data["cases"].size(), 24u);
    for (const auto& expected : data["cases"])
    {
        const System system = ions(x, data["charges"][std::string(expected["charges"])], vector_of(data["box"]));
        RunParameters run = pme_parameters();
        run.coulomb_cutoff = run.lj_cutoff = data["cutoff"];
        run.pme_order = expected["order"];
        run.mesh_nx = expected["points"][0], run.mesh_ny = expected["points"][1], run.mesh_nz = expected["points"][2];
        SCOPED_TRACE(testing::Message() << expected["charges"] << " " << run.pme_order << " " << run.mesh_nx);
        const MeshResult all = evaluate<Double>(system, run, Parts::Coulomb);
        std::vector<Vec3<double>> forces;
        for (const auto& f : expected["forces"]) { forces.push_back(vector_of(f)); }
        EXPECT_LE(rms_relative(all.forces, forces), 1e-12);
        const double energy = expected["energy"];
        EXPECT_NEAR(all.energies[EnergyTerm::CoulombReciprocal], energy, 1e-12 * std::abs(energy));
        if (expected["virial"].is_null()) { continue; }
        constexpr int elements[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
        for (std::size_t e = 0; e < 6; ++e)
        {
            const double virial = expected["virial"][e];
            EXPECT_NEAR(all.energies.virial[elements[e][0]][elements[e][1]], virial, 1e-11 * std::abs(energy)) << e;
        }
    }
}

// What excluded charges do to each other is taken away to the last bit of Coulomb's law: what is left is what the images do.
TEST(ExcludedCharges, have_the_energy_of_all_pairs_without_their_own)
{
    for (const double r : {0.05, 0.1, 0.3, 0.8})
    {
        const MeshResult with = evaluate<Double>(two_charges(r, false), fine_pme(), Parts::Coulomb),
                         without = evaluate<Double>(two_charges(r, true), fine_pme(), Parts::Coulomb);
        const double bare = -units::coulomb / r;
        EXPECT_NEAR(coulomb_energy(without), coulomb_energy(with) - bare, 1e-12 * std::abs(bare)) << r;
        const double change = (without.forces[0] - with.forces[0]).x * std::sqrt(3.0);
        EXPECT_NEAR(change, -units::coulomb / (r * r), 1e-12 * units::coulomb / (r * r)) << r;
    }
}

// A dipole without length has no energy and no forces, and its limit is smooth: self energy, mesh and correction cancel.
TEST(ExcludedCharges, in_one_place_and_nearly_there_cancel)
{
    for (const double r : {0.0, 1e-6})
    {
        const MeshResult result = evaluate<Double>(two_charges(r, true), fine_pme(), Parts::Coulomb);
        EXPECT_NEAR(coulomb_energy(result), 0, 1e-10 * units::coulomb) << r;
        // Of the images of a dipole of length r: f 4 pi / (3 V) r in a cube.
        EXPECT_LE(norm(result.forces[0]), 1e-8 + 2 * units::coulomb * 4 * units::pi / (3 * 26.5) * r) << r;
        const MeshResult mixed = evaluate<Mixed>(two_charges(r, true), fine_pme(), Parts::Coulomb);
        EXPECT_NEAR(coulomb_energy(mixed), 0, 2e-5 * units::coulomb) << r;
        EXPECT_LE(norm(mixed.forces[0]), 1e-2) << r;
    }
    // Equal charges are one of twice the size.
    const MeshResult two = evaluate<Double>(two_charges(0, true, {1.0, 1.0}), fine_pme(), Parts::Coulomb);
    const MeshResult lone = evaluate<Double>(ions({{1.3, 1.7, 0.9}}, {1.0}, {2.6, 3.0, 3.4}), fine_pme(), Parts::Coulomb);
    EXPECT_NEAR(coulomb_energy(two), 4 * coulomb_energy(lone), 1e-9 * std::abs(coulomb_energy(lone)));
}

TEST(ScreenedPairs, shifted_have_the_same_forces_and_energies_less_a_constant_for_each)
{
    const System system = charged_ions({2.1, 2.6, 3.3});
    RunParameters run = pme_parameters();
    const MeshResult shifted = evaluate<Double>(system, run, Parts::Coulomb);
    run.coulomb_potential_shift = false;
    const MeshResult plain = evaluate<Double>(system, run, Parts::Coulomb);
    EXPECT_TRUE(shifted.forces == plain.forces);
    EXPECT_TRUE(shifted.energies.virial == plain.energies.virial);
    double products = 0;
    const auto charge = [&](std::size_t i) { return system.topology.atom(static_cast<std::int64_t>(i)).charge; };
    for (std::size_t i = 0; i < system.x.size(); ++i)
    {
        for (std::size_t j = 0; j < i; ++j)
        {
            Vec3<double> d = system.x[i] - system.x[j];
            for (int k = 0; k < 3; ++k) { d[k] -= system.box.diagonal()[k] * std::round(d[k] / system.box.diagonal()[k]); }
            if (norm(d) < run.coulomb_cutoff) { products += charge(i) * charge(j); }
        }
    }
    const double constant = std::erfc(ewald_beta(run) * run.coulomb_cutoff) / run.coulomb_cutoff;
    EXPECT_NEAR(plain.energies[EnergyTerm::CoulombSr] - shifted.energies[EnergyTerm::CoulombSr],
                units::coulomb * constant * products, 1e-10 * std::abs(plain.energies[EnergyTerm::CoulombSr]));
    EXPECT_NE(products, 0);
}

// Largest error over the cut-off of what the polynomials are for, relative to its value at contact.
template <class Real>
void expect_screening(double tolerance, double bound)
{
    RunParameters run;
    run.ewald_tolerance = tolerance, run.coulomb_cutoff = 0.9;
    const long double beta = ewald_beta(run), rc = run.coulomb_cutoff, pi = std::acos(-1.0L);
    const Screening screening = make_screening(static_cast<double>(beta), run.coulomb_cutoff);
    const auto& polynomial = screening.polynomial<Real>();
    const auto sum = [](const auto& coefficients, Real t) {
        Real value = 0;
        for (std::size_t i = coefficients.size(); i-- > 0;) { value = std::fma(value, t, static_cast<Real>(coefficients[i])); }
        return static_cast<double>(value);
    };
    const auto at_contact = static_cast<double>(4 * beta * beta * beta / (3 * std::sqrt(pi)));
    double of_force = 0, of_energy = 0;
    for (int i = 100; i <= 1000; ++i) // nearer the closed form cancels
    {
        const long double r = rc * i / 1000, s = beta * r;
        const auto t = static_cast<Real>(2 * (r / rc) * (r / rc) - 1);
        const long double force = 2 * beta * std::exp(-s * s) / (std::sqrt(pi) * r * r) - std::erf(s) / (r * r * r);
        of_force = std::max(of_force, std::abs(sum(polynomial.force, t) - static_cast<double>(force)) / at_contact);
        of_energy = std::max(of_energy, std::abs(sum(polynomial.energy, t) + static_cast<double>(std::erf(s) / r)) /
                                            static_cast<double>(2 * beta / std::sqrt(pi)));
    }
    EXPECT_LE(of_force, bound) << tolerance;
    EXPECT_LE(of_energy, bound) << tolerance;
}

TEST(ScreenedPairs, have_polynomials_that_are_exact_to_rounding)
{
    for (const double tolerance : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12, 1e-14, 1e-16})
    {
        expect_screening<double>(tolerance, tolerance < 5e-6 ? 5e-15 : 2e-15);
        expect_screening<float>(tolerance, tolerance < 5e-8 ? 3.5e-7 : 2.5e-7); // 23 terms to round, or 15
    }
}

// The force by segments, as the pair kernels take it apart, relative to its value at contact. of_polynomials: the bound for their
// error. Rounding adds that of the sum, and that of r^2 and w = 1 + 3 (r / rc)^2, of which the force has a slope of up to 0.2
// (beta rc)^2.
template <std::size_t segments, std::size_t degree>
void expect_segments(ScreeningSegments<segments, degree> Screening::*of, double tolerance, double of_polynomials)
{
    RunParameters run;
    run.ewald_tolerance = tolerance, run.coulomb_cutoff = 0.9;
    const double beta = ewald_beta(run), rc = run.coulomb_cutoff, pi = std::acos(-1.0);
    const Screening screening = make_screening(beta, rc);
    const double at_contact = 4 * beta * beta * beta / (3 * std::sqrt(pi));
    double error = 0;
    for (int i = 1000; i < 10000; ++i) // nearer the closed form cancels
    {
        const double r = rc * i / 10000, s = beta * r;
        const float w = std::fma(static_cast<float>(r * r), screening.segments_per_r2, 1.0f);
        ASSERT_LT(w, 4);
        const float octave = w < 2 ? 1 : 2, width = 2 * octave / segments, number = std::floor((w - octave) / width);
        const std::size_t segment = static_cast<std::size_t>(number) + (w < 2 ? segments / 2 : 0);
        const float x = w - (octave + number * width);
        float found = 0;
        for (std::size_t k = degree + 1; k-- > 0;) { found = std::fma(found, x, (screening.*of).force[k][segment]); }
        const double force = 2 * beta * std::exp(-s * s) / (std::sqrt(pi) * r * r) - std::erf(s) / (r * r * r);
        error = std::max(error, std::abs(static_cast<double>(found) - force) / at_contact);
    }
    const double range = beta * rc;
    EXPECT_LE(error, of_polynomials + (2 * 0.2 * range * range + 1) * 0x1p-24) << tolerance << ", " << segments;
    EXPECT_LT(std::fma(std::nextafter(static_cast<float>(rc * rc), 0.0f), screening.segments_per_r2, 1.0f), 4);
}

TEST(ScreenedPairs, have_segments_that_are_exact_to_rounding)
{
    using Case = std::pair<double, double>;
    for (const auto& [tolerance, of_polynomials] :
         {Case{1e-3, 5e-8}, Case{1e-4, 5e-8}, Case{1e-5, 9e-8}, Case{1e-6, 1.5e-7}, Case{1e-7, 2.5e-7}})
    {
        expect_segments(&Screening::eight_segments, tolerance, of_polynomials);
        expect_segments(&Screening::sixteen_segments, tolerance, of_polynomials);
    }
}

// On a GPU, in floats; the tolerance of 1e-7 has the longest range.
TEST(ScreenedPairs, have_a_quotient_that_is_exact_to_rounding_and_has_no_pole)
{
    for (const double tolerance : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7})
    {
        RunParameters run;
        run.ewald_tolerance = tolerance, run.coulomb_cutoff = 0.9;
        const double beta = ewald_beta(run), rc = run.coulomb_cutoff, pi = std::acos(-1.0);
        const ScreeningQuotient quotient(make_screening(beta, rc), rc);
        const auto sum = [](const auto& coefficients, float r2) {
            float value = 0;
            for (std::size_t i = coefficients.size(); i-- > 0;)
            {
                value = std::fma(value, r2, static_cast<float>(coefficients[i]));
            }
            return value;
        };
        const double at_contact = 4 * beta * beta * beta / (3 * std::sqrt(pi));
        double error = 0;
        for (int i = 100; i <= 1000; ++i) // nearer the closed form cancels
        {
            const double r = rc * i / 1000, s = beta * r;
            const float r2 = static_cast<float>(r * r), found = sum(quotient.numerator, r2) * (1 / sum(quotient.denominator, r2));
            const double force = 2 * beta * std::exp(-s * s) / (std::sqrt(pi) * r * r) - std::erf(s) / (r * r * r);
            error = std::max(error, std::abs(found - force) / at_contact);
        }
        EXPECT_LE(error, 2.5e-7) << tolerance;
        for (const double coefficient : quotient.denominator) { EXPECT_GT(coefficient, 0) << tolerance; }
    }
}

// What is left of the mesh's error for a tight tolerance is far below that of a polynomial of the usual degree.
TEST(ScreenedPairs, of_a_tight_tolerance_have_the_forces_of_a_usual_one)
{
    const System system = charged_ions({2.1, 2.6, 3.3});
    RunParameters run = pme_parameters();
    run.ewald_tolerance = 1e-5;
    run.pme_order = 8, run.mesh_nx = run.mesh_ny = run.mesh_nz = 96;
    const MeshResult usual = evaluate<Double>(system, run, Parts::Coulomb);
    double size = 0;
    for (const Vec3<double>& f : usual.forces) { size = std::max(size, norm(f)); }
    for (const double tolerance : {1e-7, 1e-10, 1e-12, 1e-16})
    {
        run.ewald_tolerance = tolerance;
        const MeshResult tight = evaluate<Double>(system, run, Parts::Coulomb),
                         mixed = evaluate<Mixed>(system, run, Parts::Coulomb);
        for (std::size_t i = 0; i < usual.forces.size(); ++i)
        {
            // The usual forces are off by what ewald-rtol leaves out, 1e-5 of a force between charges at the cut-off.
            EXPECT_LE(norm(tight.forces[i] - usual.forces[i]), 1e-4 * size) << tolerance;
            EXPECT_LE(norm(mixed.forces[i] - tight.forces[i]), 3e-6 * size) << tolerance;
        }
    }
}

// Edges that are powers of 2 and places that are binary fractions, so that a shift by edges is exact.
TEST(Mesh, has_the_same_bits_for_atoms_moved_by_edges_of_the_box_and_in_any_order)
{
    const Vec3<double> box{2, 2, 4};
    System system = charged_ions(box);
    for (Vec3<double>& x : system.x)
    {
        for (int d = 0; d < 3; ++d) { x[d] = std::floor(x[d] * 0x1p20) * 0x1p-20; }
    }
    System moved = system;
    for (std::size_t i = 0; i < moved.x.size(); ++i)
    {
        const int shift = static_cast<int>(i) % 5 - 2;
        moved.x[i] += Vec3<double>{shift * box.x, -shift * box.y, 2 * shift * box.z};
    }
    const RunParameters run = pme_parameters();
    const MeshResult a = evaluate<DoubleReproducible>(system, run, Parts::Coulomb),
                     b = evaluate<DoubleReproducible>(moved, run, Parts::Coulomb);
    EXPECT_TRUE(a.forces == b.forces);
    EXPECT_EQ(a.energies.energy, b.energies.energy);
    EXPECT_TRUE(a.energies.virial == b.energies.virial);

    std::vector<std::size_t> order(system.x.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937(3));
    std::vector<Vec3<double>> x;
    std::vector<double> charges;
    for (const std::size_t i : order)
    {
        x.push_back(system.x[i]), charges.push_back(system.topology.atom(static_cast<std::int64_t>(i)).charge);
    }
    const MeshResult shuffled = evaluate<MixedReproducible>(ions(x, charges, box), run, Parts::Mesh),
                     sorted = evaluate<MixedReproducible>(system, run, Parts::Mesh);
    for (std::size_t i = 0; i < order.size(); ++i) { EXPECT_EQ(shuffled.forces[i], sorted.forces[order[i]]); }
    EXPECT_EQ(shuffled.energies.energy, sorted.energies.energy);
}

// Whatever numbers are on the grid: the gather of potentials is the negative gradient of sum Q phi, Q spread from the atoms.
TEST(MeshAtoms, gather_what_their_spread_is_adjoint_to)
{
    const System system = charged_ions({2.1, 2.6, 3.3});
    CpuQueue queue(2);
    for (int order = 4; order <= 8; ++order) // order 3 has kinks
    {
        RunParameters run = pme_parameters();
        run.pme_order = order, run.mesh_nx = 20, run.mesh_ny = 21, run.mesh_nz = 22;
        const mesh::Layout layout = MeshTransforms<double>(mesh_parameters(system.topology, run, system.box)).layout();
        MeshAtoms<Double> atoms(layout, order);
        std::mt19937 random(17);
        std::uniform_real_distribution<double> uniform(-1, 1);
        AlignedVector<double> phi(20 * layout.plane()), q(phi.size());
        for (std::size_t row = 0; row < phi.size(); row += layout.row)
        {
            for (std::size_t z = 0; z < 22; ++z) { phi[row + z] = uniform(random); }
            for (std::size_t z = 22; z < layout.row; ++z) { phi[row + z] = phi[row + z - 22]; }
        }
        const auto sum = [&](const System& s) {
            ParticleState<Double> state = make_state<Double>(s, {}, queue);
            atoms.sort(queue, state, state.clusters(), {0, 20});
            atoms.spread(queue, state, q.data());
            double total = 0;
            for (std::size_t row = 0; row < phi.size(); row += layout.row)
            {
                for (std::size_t z = 0; z < 22; ++z) { total += q[row + z] * phi[row + z]; }
            }
            return total;
        };
        ParticleState<Double> state = make_state<Double>(system, {}, queue);
        state.f.resize(state.slots());
        atoms.sort(queue, state, state.clusters(), {0, 20});
        atoms.gather(queue, state, phi.data(), 1, state.f);
        for (const std::size_t atom : {0u, 7u, 19u})
        {
            const Vec3<double> force = state.f.get(static_cast<std::size_t>(state.slot_of_global[atom]));
            for (int d = 0; d < 3; ++d)
            {
                constexpr double h = 2e-6;
                System above = system, below = system;
                above.x[atom][d] += h, below.x[atom][d] -= h;
                EXPECT_NEAR(force[d], (sum(below) - sum(above)) / (2 * h), 2e-7 * norm(force))
                    << order << " " << atom << " " << d;
            }
        }
    }
}
