// SPDX-License-Identifier: Apache-2.0
// LJ-PME against the exact Ewald sum of r^-6, against GROMACS in double precision, and against its own derivatives.
#include "base/error.hpp"
#include "interactions/mesh/evaluate_mesh.hpp"
#include "interactions/mesh/mesh_dispersion.hpp"
#include "support/compare.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <fstream>
#include <random>

using namespace parhelion;
using namespace parhelion::test;

namespace {

struct SigmaEpsilon
{
    double sigma, epsilon; // nm, kJ/mol
};

// Molecules of one atom of each type, which exclude each other. c6 and c12 follow Lorentz and Berthelot.
System molecules(const std::vector<Vec3<double>>& x, const std::vector<SigmaEpsilon>& types, const Box<double>& box)
{
    System system;
    system.box = box;
    system.x = x;
    Topology& t = system.topology;
    const std::size_t n = types.size();
    MoleculeType type;
    type.name = "M";
    type.exclusion_start.push_back(0);
    for (std::size_t a = 0; a < n; ++a)
    {
        t.type_names.push_back(std::string(1, static_cast<char>('A' + a)));
        for (std::size_t b = 0; b < n; ++b)
        {
            const bool acts = types[a].epsilon > 0 && types[b].epsilon > 0;
            const double s6 = acts ? std::pow(0.5 * (types[a].sigma + types[b].sigma), 6) : 0;
            t.c6.push_back(4 * std::sqrt(types[a].epsilon * types[b].epsilon) * s6);
            t.c12.push_back(t.c6.back() * s6);
            if (a != b) { type.excluded.push_back(static_cast<std::int32_t>(b)); }
        }
        Atom atom;
        atom.type = static_cast<std::int32_t>(a), atom.mass = 10;
        type.atoms.push_back(atom);
        type.exclusion_start.push_back(static_cast<std::int32_t>(type.excluded.size()));
    }
    t.molecule_types.push_back(type);
    MoleculeBlock block;
    block.count = static_cast<int>(x.size() / n);
    t.blocks.push_back(block);
    return system;
}

const std::vector<SigmaEpsilon> three_types = {{0.30, 0.9}, {0.36, 0.5}, {0.22, 0.2}};

System random_molecules(const Box<double>& box, int count)
{
    std::mt19937 random(23);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::normal_distribution<double> normal;
    std::vector<Vec3<double>> x;
    while (static_cast<int>(x.size()) < 3 * count)
    {
        const Vec3<double> first = box.to_nm({uniform(random), uniform(random), uniform(random)});
        std::vector<Vec3<double>> molecule{first};
        for (const double length : {0.15, 0.2})
        {
            const Vec3<double> v{normal(random), normal(random), normal(random)};
            molecule.push_back(first + (length / norm(v)) * v);
        }
        const bool is_free = std::ranges::all_of(x, [&](const Vec3<double>& old) {
            return std::ranges::all_of(molecule, [&](const Vec3<double>& a) { return norm(box.image(a - old)) > 0.27; });
        });
        if (is_free) { x.insert(x.end(), molecule.begin(), molecule.end()); }
    }
    return molecules(x, three_types, box);
}

RunParameters lj_pme()
{
    RunParameters run;
    run.coulomb = CoulombKind::Pme;
    run.coulomb_cutoff = run.lj_cutoff = 0.9;
    run.has_lj_mesh = true;
    return run;
}

double lennard_jones(const MeshResult& result)
{
    return result.energies[EnergyTerm::LjSr] + result.energies[EnergyTerm::LjReciprocal];
}

std::size_t type_of(const System& system, std::size_t atom)
{
    return static_cast<std::size_t>(system.topology.atom(static_cast<std::int64_t>(atom)).type);
}

// The incomplete gamma function gamma(n, s) over s^n, by its series.
double lower_gamma(int n, double s)
{
    double sum = 0, power = 1; // (-s)^k / k!
    for (int k = 0; k < 60; ++k)
    {
        sum += power / (k + n);
        power *= -s / (k + 1);
    }
    return sum;
}

// The dispersion -c6/r^6 of all pairs of atoms and images, with c6 of the mesh, by Ewald's sum as it is defined (Essmann et al.,
// J. Chem. Phys. 103, 8577 (1995), section 5): waves one by one, images up to two edges away. Excluded pairs are left out. In an
// upright box of 2 to 4 nm, with beta from 3 to 5 per nm. Added to it: what the force field has beyond that within the cut-off.
MeshResult exact_sum(const System& system, const RunParameters& run, double beta)
{
    const std::vector<double> of_mesh = mesh_c6(system.topology, run);
    const auto types = static_cast<std::size_t>(system.topology.types());
    const std::size_t atoms = system.x.size();
    const Vec3<double> box = system.box.diagonal();
    const double pi = units::pi, beta6 = std::pow(beta, 6);
    MeshResult result;
    result.forces.resize(atoms);
    double energy = 0;
    for (std::size_t i = 0; i < atoms; ++i)
    {
        for (std::size_t j = 0; j < atoms; ++j)
        {
            const std::size_t ij = type_of(system, i) * types + type_of(system, j);
            const double c6 = of_mesh[ij];
            const bool is_excluded = i != j && i / types == j / types;
            const Vec3<double> nearest = system.box.image(system.x[i] - system.x[j]);
            for (int n = 0; n < 125; ++n)
            {
                const Vec3<double> d = nearest + Vec3<double>{(n % 5 - 2) * box.x, (n / 5 % 5 - 2) * box.y, (n / 25 - 2) * box.z};
                const bool is_nearest = n == 62;
                if (i == j && is_nearest) { continue; }
                const double r2 = norm2(d), s = beta * beta * r2, gauss = std::exp(-s), r6 = r2 * r2 * r2;
                double v = -c6 * gauss * (1 + s + s * s / 2) / r6;
                double f = -6 * c6 * gauss * (1 + s + s * s / 2 + s * s * s / 6) / (r6 * r2); // force / r
                if (is_excluded && is_nearest)
                {
                    v = beta6 * c6 * lower_gamma(3, s) / 2;
                    f = beta6 * beta * beta * c6 * lower_gamma(4, s);
                }
                else if (r2 < run.lj_cutoff * run.lj_cutoff)
                {
                    const double more = system.topology.c6[ij] - c6, c12 = system.topology.c12[ij];
                    v += c12 / (r6 * r6) - more / r6;
                    f += (12 * c12 / r6 - 6 * more) / (r6 * r2);
                }
                energy += 0.5 * v;
                result.forces[i] += f * d;
            }
        }
        energy += beta6 / 12 * of_mesh[type_of(system, i) * types + type_of(system, i)];
    }
    const auto last = [&](double edge) { return static_cast<int>(std::ceil(edge * beta * 6.5 / pi)); };
    const double scale = -std::pow(pi, 1.5) * beta * beta * beta / (3 * box.x * box.y * box.z);
    std::vector<std::complex<double>> wave(atoms), potential(types);
    for (int a = -last(box.x); a <= last(box.x); ++a)
    {
        for (int b = -last(box.y); b <= last(box.y); ++b)
        {
            for (int c = -last(box.z); c <= last(box.z); ++c)
            {
                const Vec3<double> m{a / box.x, b / box.y, c / box.z};
                const double w = pi * norm(m) / beta;
                const double g = scale * ((1 - 2 * w * w) * std::exp(-w * w) + 2 * w * w * w * std::sqrt(pi) * std::erfc(w));
                std::vector<std::complex<double>> sums(types);
                for (std::size_t i = 0; i < atoms; ++i)
                {
                    wave[i] = std::polar(1.0, 2 * pi * dot(m, system.x[i]));
                    sums[type_of(system, i)] += wave[i];
                }
                for (std::size_t s = 0; s < types; ++s)
                {
                    potential[s] = 0;
                    for (std::size_t t = 0; t < types; ++t) { potential[s] += g * of_mesh[s * types + t] * sums[t]; }
                    energy += 0.5 * (std::conj(sums[s]) * potential[s]).real();
                }
                for (std::size_t i = 0; i < atoms; ++i)
                {
                    result.forces[i] -= 2 * pi * (std::conj(wave[i]) * potential[type_of(system, i)]).imag() * m;
                }
            }
        }
    }
    result.energies[EnergyTerm::LjSr] = energy;
    return result;
}

constexpr LjMeshRule rules[] = {LjMeshRule::Geometric, LjMeshRule::LorentzBerthelot};

} // namespace

// Ewald's sum does not depend on beta, and is the sum over images, -1/2 sum c6/r^6, with an even density beyond them.
TEST(LjMesh, exact_sum_is_that_over_images)
{
    const System system = random_molecules({2.1, 2.3, 2.2}, 3);
    RunParameters run = lj_pme();
    for (const LjMeshRule rule : rules)
    {
        run.lj_mesh_rule = rule;
        const MeshResult a = exact_sum(system, run, 3.4), b = exact_sum(system, run, 4.4);
        EXPECT_LE(rms_relative(a.forces, b.forces), 1e-11);
        EXPECT_NEAR(lennard_jones(a), lennard_jones(b), 5e-12); // terms of 10 kJ/mol cancel

        const std::vector<double> of_mesh = mesh_c6(system.topology, run);
        const Vec3<double> box = system.box.diagonal();
        constexpr int images = 14;
        const double radius = images * 2.1, volume = system.box.volume();
        double plain = 0;
        for (std::size_t i = 0; i < system.x.size(); ++i)
        {
            for (std::size_t j = 0; j < system.x.size(); ++j)
            {
                const std::size_t ij = type_of(system, i) * 3 + type_of(system, j);
                const Vec3<double> nearest = system.box.image(system.x[i] - system.x[j]);
                for (int x = -images - 1; x <= images + 1; ++x)
                {
                    for (int y = -images - 1; y <= images + 1; ++y)
                    {
                        for (int z = -images - 1; z <= images + 1; ++z)
                        {
                            const double r2 = norm2(nearest + Vec3<double>{x * box.x, y * box.y, z * box.z});
                            const bool is_nearest = x == 0 && y == 0 && z == 0;
                            if (r2 >= radius * radius || (is_nearest && i / 3 == j / 3)) { continue; }
                            plain -= 0.5 * of_mesh[ij] / (r2 * r2 * r2);
                            if (r2 >= run.lj_cutoff * run.lj_cutoff) { continue; }
                            const double more = system.topology.c6[ij] - of_mesh[ij];
                            plain += 0.5 * (system.topology.c12[ij] / std::pow(r2, 6) - more / std::pow(r2, 3));
                        }
                    }
                }
                plain -= 0.5 * of_mesh[ij] * 4 * units::pi / (3 * volume * radius * radius * radius);
            }
        }
        EXPECT_NEAR(lennard_jones(a), plain, 1e-7 * std::abs(plain));
    }
}

TEST(LjMesh, with_a_fine_grid_is_the_exact_sum)
{
    const System system = random_molecules({3.2, 3.3, 3.1}, 20);
    RunParameters run = lj_pme();
    run.coulomb_cutoff = run.lj_cutoff = 1.54;
    run.lj_modifier = LjModifier::None;
    run.pme_order = 8, run.mesh_nx = run.mesh_ny = run.mesh_nz = 192, run.lj_ewald_tolerance = 1e-7;
    for (const LjMeshRule rule : rules)
    {
        run.lj_mesh_rule = rule;
        const MeshResult exact = exact_sum(system, run, 3.2);
        const MeshResult result = evaluate<Double>(system, run, Parts::Coulomb);
        EXPECT_LE(rms_relative(result.forces, exact.forces), 2e-10);
        EXPECT_NEAR(lennard_jones(result), lennard_jones(exact), 2e-10 * std::abs(result.energies[EnergyTerm::LjReciprocal]));
    }
}

// tests/data/mesh/make_lj_mesh.py: both rules, with and without shift, three orders and tolerances, DispCorr.
TEST(LjMesh, is_that_of_gromacs_in_double_precision)
{
    std::ifstream file(std::string(PARHELION_SOURCE_DIR) + "/tests/data/mesh/lj_mesh.json");
    const nlohmann::json data = nlohmann::json::parse(file);
    const auto vectors = [](const nlohmann::json& list) {
        std::vector<Vec3<double>> result;
        for (const auto& v : list) { result.push_back({v[0], v[1], v[2]}); }
        return result;
    };
    std::vector<SigmaEpsilon> types;
    for (const auto& type : data["types"]) { types.push_back({type[0], type[1]}); }
    const System system = molecules(vectors(data["x"]), types, {data["box"][0], data["box"][1], data["box"][2]});
    ASSERT_EQ(data["cases"].size(), 5u);
    for (const auto& expected : data["cases"])
    {
        SCOPED_TRACE(expected["rule"].get<std::string>() + " " + expected["modifier"].get<std::string>());
        RunParameters run = lj_pme();
        run.coulomb_cutoff = run.lj_cutoff = data["cutoff"];
        run.lj_mesh_rule = expected["rule"] == "Geometric" ? LjMeshRule::Geometric : LjMeshRule::LorentzBerthelot;
        run.lj_modifier = expected["modifier"] == "None" ? LjModifier::None : LjModifier::PotentialShift;
        run.lj_ewald_tolerance = expected["tolerance"], run.pme_order = expected["order"];
        run.mesh_nx = data["points"][0], run.mesh_ny = data["points"][1], run.mesh_nz = data["points"][2];
        if (expected["correction"] == "EnerPres") { run.dispersion_correction = DispersionCorrection::EnergyPressure; }
        if (expected["correction"] == "AllEnerPres") { run.dispersion_correction = DispersionCorrection::AllEnergyPressure; }
        const MeshResult result = evaluate<Double>(system, run, Parts::All);
        EXPECT_LE(rms_relative(result.forces, vectors(expected["forces"])), 1e-9);
        const double scale = std::abs(expected["reciprocal"].get<double>());
        EXPECT_NEAR(result.energies[EnergyTerm::LjReciprocal], expected["reciprocal"], 1e-9 * scale);
        EXPECT_NEAR(result.energies[EnergyTerm::LjSr], expected["lj"], 1e-9 * scale);
        EXPECT_NEAR(result.energies[EnergyTerm::DispersionCorrection], expected["corrected"], 1e-9 * scale);
        const double of_tail = make_dispersion_correction(system.topology, run).virial(system.box.volume());
        constexpr int elements[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
        for (std::size_t e = 0; e < 6; ++e)
        {
            const auto [row, column] = elements[e];
            const double virial = result.energies.virial[row][column] + (row == column ? of_tail : 0);
            EXPECT_NEAR(virial, expected["virial"][e], 1e-9 * scale) << e;
        }
    }
}

// The energy of a fine grid: forces are its gradient, the virial is its derivative by strain, in upright and tilted boxes.
TEST(LjMesh, forces_are_the_gradient_and_the_virial_is_the_derivative_by_strain)
{
    for (const Box<double>& box : {Box<double>{2.1, 2.6, 2.4}, Box<double>({2.3, 2.4, 2.5}, {0.5, -0.4, 0.6})})
    {
        const System system = random_molecules(box, 10);
        RunParameters run = lj_pme();
        run.pme_order = 8, run.mesh_nx = run.mesh_ny = run.mesh_nz = 40;
        for (const LjMeshRule rule : rules)
        {
            run.lj_mesh_rule = rule;
            const MeshResult result = evaluate<Double>(system, run, Parts::Coulomb);
            double size = 0;
            for (const Vec3<double>& f : result.forces) { size = std::max(size, norm(f)); }
            constexpr double h = 1e-5;
            const auto energy = [&](const System& s) { return lennard_jones(evaluate<Double>(s, run, Parts::Coulomb)); };
            for (const std::size_t atom : {0u, 4u, 17u})
            {
                for (int d = 0; d < 3; ++d)
                {
                    const auto moved = [&](double by) {
                        System s = system;
                        s.x[atom][d] += by;
                        return energy(s);
                    };
                    // The difference of fourth order: pairs that cross the cut-off have a jump of the force, 1e-3 of a small one.
                    const double slope = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
                    EXPECT_NEAR(result.forces[atom][d], -slope, 1e-8 * size) << atom << " " << d;
                }
            }
            const auto strained = [&](int row, int column, double by) {
                System s = system;
                const auto apply = [&](Vec3<double> v) {
                    v[row] += by * v[column];
                    return v;
                };
                const Vec3<double>&diagonal = system.box.diagonal(), &tilt = system.box.tilt();
                const Vec3<double> x = apply({diagonal.x, 0, 0}), y = apply({tilt.x, diagonal.y, 0}),
                                   z = apply({tilt.y, tilt.z, diagonal.z});
                s.box = Box<double>({x.x, y.y, z.z}, {y.x, z.x, z.y});
                for (Vec3<double>& atom : s.x) { atom = apply(atom); }
                return energy(s);
            };
            double largest = 0;
            for (int d = 0; d < 3; ++d) { largest = std::max(largest, std::abs(result.energies.virial[d][d])); }
            for (int row = 0; row < 3; ++row)
            {
                for (int column = row; column < 3; ++column) // strains that keep the box lower triangular
                {
                    const double slope = (8 * (strained(row, column, h) - strained(row, column, -h)) -
                                          (strained(row, column, 2 * h) - strained(row, column, -2 * h))) /
                                         (12 * h);
                    EXPECT_NEAR(result.energies.virial[row][column], 0.5 * slope, 1e-7 * largest) << row << column;
                }
            }
        }
    }
}

TEST(LjMesh, has_the_same_bits_for_any_number_of_threads_in_reproducible_mode)
{
    const System system = random_molecules({2.1, 2.6, 2.4}, 20);
    RunParameters run = lj_pme();
    for (const LjMeshRule rule : rules)
    {
        run.lj_mesh_rule = rule;
        const MeshResult one = evaluate<MixedReproducible>(system, run, Parts::Coulomb, 1);
        for (const int threads : {2, 5})
        {
            const MeshResult many = evaluate<MixedReproducible>(system, run, Parts::Coulomb, threads);
            EXPECT_TRUE(one.forces == many.forces);
            EXPECT_EQ(one.energies.energy, many.energies.energy);
            EXPECT_TRUE(one.energies.virial == many.energies.virial);
        }
        const MeshResult fine = evaluate<DoubleReproducible>(system, run, Parts::Coulomb),
                         fast = evaluate<Double>(system, run, Parts::Coulomb);
        EXPECT_LE(rms_relative(one.forces, fine.forces), 1.5e-6);
        EXPECT_LE(rms_relative(fine.forces, fast.forces), 1e-11);
    }
}

TEST(DispersionParts, add_up_to_the_matrix_with_as_few_parts_as_it_has_ranks)
{
    RunParameters run = lj_pme();
    std::vector<SigmaEpsilon> types;
    std::vector<Vec3<double>> x;
    for (int i = 0; i < 12; ++i)
    {
        types.push_back({0.2 + 0.02 * i, i == 5 ? 0.0 : 0.3 + 0.1 * (i % 4)}), x.push_back({0.1 * i, 0, 0});
    }
    const System system = molecules(x, types, {3, 3, 3});
    for (const LjMeshRule rule : rules)
    {
        run.lj_mesh_rule = rule;
        const std::vector<double> matrix = mesh_c6(system.topology, run);
        const std::vector<DispersionPart> parts = dispersion_parts(system.topology, run);
        if (rule == LjMeshRule::Geometric) { EXPECT_EQ(parts.size(), 1u); }
        else
        {
            EXPECT_GT(parts.size(), 3u);
            EXPECT_LE(parts.size(), 7u);
            EXPECT_TRUE(std::ranges::any_of(parts, [](const DispersionPart& part) { return part.factor < 0; }));
        }
        const double largest = *std::ranges::max_element(matrix);
        for (std::size_t a = 0; a < 12; ++a)
        {
            for (std::size_t b = 0; b < 12; ++b)
            {
                double sum = 0;
                for (const DispersionPart& part : parts)
                {
                    sum += part.factor * part.strength_of_type[a] * part.strength_of_type[b];
                    EXPECT_LE(std::abs(part.strength_of_type[a]), 1);
                }
                EXPECT_NEAR(sum, matrix[a * 12 + b], 1e-12 * largest);
                if (rule == LjMeshRule::LorentzBerthelot)
                {
                    EXPECT_NEAR(matrix[a * 12 + b], system.topology.c6[a * 12 + b], 1e-14 * largest);
                }
            }
            EXPECT_NEAR(matrix[a * 13], system.topology.c6[a * 13], 1e-14 * largest);
        }
    }
}

TEST(DispersionParts, refuse_types_that_have_no_root_or_no_sigma)
{
    RunParameters run = lj_pme();
    System system = random_molecules({2.1, 2.6, 2.4}, 2);
    const auto refuses = [&] {
        try
        {
            dispersion_parts(system.topology, run);
            return false;
        }
        catch (const InputError& error)
        {
            return error.id() == "E262";
        }
    };
    EXPECT_FALSE(refuses());
    system.topology.c12[4] = 0;
    EXPECT_FALSE(refuses());
    run.lj_mesh_rule = LjMeshRule::LorentzBerthelot;
    EXPECT_TRUE(refuses());
    run.lj_mesh_rule = LjMeshRule::Geometric;
    system.topology.c6[4] = -1e-3;
    EXPECT_TRUE(refuses());
}
