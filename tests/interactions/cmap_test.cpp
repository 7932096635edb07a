// SPDX-License-Identifier: Apache-2.0
// CMAP against GROMACS' double-precision program (tests/data/cmap/make_cmap.py), at the nodes of its map and over its border.
// Gradients, net force, virial, ranks and GPUs: the tests of every bonded kind.
#include "base/units.hpp"
#include "interactions/bonded/bonded.hpp"
#include "interactions/bonded/cmap/cmap.hpp"
#include "io/input/top.hpp"
#include "support/particles.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

using Places = std::array<Vec3<double>, 5>;

// Bonds of 0.15 nm, bond angles of 110 degrees, the dihedrals phi of atoms 0-3 and psi of atoms 1-4 (degrees).
Places places(double phi, double psi)
{
    constexpr double bond = 0.15;
    const double along = -bond * std::cos(110 * units::degree), across = bond * std::sin(110 * units::degree);
    Places x{Vec3<double>{0, 0, 0}, {bond, 0, 0}, {bond + along, across, 0}};
    for (std::size_t last = 3; last < 5; ++last)
    {
        const double angle = (last == 3 ? phi : psi) * units::degree;
        Vec3<double> axis = x[last - 1] - x[last - 2], normal = cross(x[last - 2] - x[last - 3], axis);
        axis *= 1 / norm(axis), normal *= 1 / norm(normal);
        x[last] = x[last - 1] + along * axis + across * (std::cos(angle) * cross(normal, axis) + std::sin(angle) * normal);
    }
    return x;
}

struct EnergyAndForces
{
    double energy;
    Places f;
};

class CmapTest : public ::testing::Test
{
protected:
    CmapTest()
    {
        std::ifstream file(std::string(PARHELION_SOURCE_DIR) + "/tests/data/cmap/cmap.json");
        file >> expected;
        grid = expected["grid"].get<std::vector<double>>();
        angles = expected["angles"].get<std::vector<double>>();
        table = cmap_table(grid);
    }
    EnergyAndForces at(double phi, double psi) const
    {
        const Places x = places(phi, psi);
        const Vec3<double> d[4] = {x[0] - x[1], x[2] - x[1], x[3] - x[2], x[4] - x[3]};
        const auto r = Cmap<double>{nodes, 0}(d, table.data());
        return {r.energy[0], {r.f[0], -(r.f[0] + r.f[1]), r.f[1] - r.f[2], r.f[2] - r.f[3], r.f[3]}};
    }

    static constexpr int nodes = 24;
    nlohmann::json expected;
    std::vector<double> grid, angles, table;
};

} // namespace

TEST_F(CmapTest, has_the_energies_and_forces_of_the_reference_program)
{
    ASSERT_EQ(angles.size(), 36U);
    std::size_t frame = 0;
    for (const double phi : angles)
    {
        for (const double psi : angles)
        {
            const EnergyAndForces result = at(phi, psi);
            // 1e-12: its energies are written with 12 decimals.
            EXPECT_NEAR(result.energy, expected["energies"][frame].get<double>(), 1e-12) << phi << " " << psi;
            if (frame % 100 == 0)
            {
                const nlohmann::json& f = expected["forces_of_every_100th"][frame / 100];
                for (std::size_t i = 0; i < 15; ++i)
                {
                    // Of 100 kJ/mol/nm; atoms are where they are to 1e-16 nm.
                    EXPECT_NEAR(result.f[i / 3][static_cast<int>(i % 3)], f[i].get<double>(), 1e-11) << phi << " " << psi;
                }
            }
            ++frame;
        }
    }
}

TEST_F(CmapTest, has_the_values_of_its_map_at_all_nodes)
{
    for (int i = 0; i <= nodes; ++i)
    {
        for (int j = 0; j <= nodes; ++j)
        {
            const std::size_t node = static_cast<std::size_t>((i % nodes) * nodes + j % nodes);
            EXPECT_NEAR(at(-180 + i * 15.0, -180 + j * 15.0).energy, grid[node], 1e-12) << i << " " << j;
        }
    }
}

TEST_F(CmapTest, is_continuous_from_cell_to_cell_and_over_the_border)
{
    constexpr double aside = 1e-9; // degrees
    for (int node = 0; node <= nodes; ++node)
    {
        for (const double other : {-180.0, -179.9, -7.3, 61.0, 180.0})
        {
            const double edge = -180 + node * 15.0;
            for (const bool is_phi : {true, false})
            {
                const auto near = [&](double angle) { return is_phi ? at(angle, other) : at(other, angle); };
                const EnergyAndForces before = near(edge - aside), after = near(edge + aside);
                EXPECT_NEAR(before.energy, after.energy, 1e-8) << edge << " " << other;
                for (std::size_t a = 0; a < 5; ++a) { EXPECT_LE(norm(before.f[a] - after.f[a]), 1e-6) << edge << " " << other; }
            }
        }
    }
}

TEST_F(CmapTest, a_map_may_have_an_odd_number_of_nodes_and_is_the_same_in_each_row_if_psi_does_not_matter)
{
    std::vector<double> waves;
    for (int i = 0; i < 15; ++i)
    {
        for (int j = 0; j < 15; ++j) { waves.push_back(5 * std::cos(i * 24 * units::degree)); }
    }
    table = cmap_table(waves);
    const Places x = places(31, -100), y = places(31, 77);
    const auto energy = [&](const Places& p) {
        const Vec3<double> d[4] = {p[0] - p[1], p[2] - p[1], p[3] - p[2], p[4] - p[3]};
        return Cmap<double>{15, 0}(d, table.data()).energy[0];
    };
    EXPECT_NEAR(energy(x), energy(y), 1e-13);
    EXPECT_NEAR(energy(x), 5 * std::cos((31 + 180) * units::degree), 2e-3); // the spline's own error, h^4/384 of 5
}

TEST_F(CmapTest, a_topology_with_a_map_has_the_energy_of_the_reference_program)
{
    std::string text = "[ defaults ]\n1 1 no 1 1\n[ atomtypes ]\nA 12 0 A 0 0\nB 12 0 A 0 0\n[ cmaptypes ]\nA B A B A 1 24 24";
    for (std::size_t i = 0; i < grid.size(); ++i) { text += fmt::format("{}{}", i % 10 == 0 ? "\\\n" : " ", grid[i]); }
    text += "\n[ moleculetype ]\nM 4\n[ atoms ]\n";
    for (int i = 1; i <= 5; ++i) { text += fmt::format("{} {} 1 R X{} 1\n", i, i % 2 == 1 ? "A" : "B", i); }
    text += "[ cmap ]\n1 2 3 4 5 1\n[ system ]\ns\n[ molecules ]\nM 2\n";
    const std::filesystem::path path = std::filesystem::temp_directory_path() / fmt::format("cmap_{}.top", ::getpid());
    std::ofstream(path) << text;
    Diagnostics diagnostics;
    System system;
    system.topology = read_topology(path, {}, diagnostics);
    std::filesystem::remove(path);
    system.box = {3, 3, 3};
    const std::size_t frames[2] = {7, 1200};
    for (const std::size_t frame : frames)
    {
        const Places x = places(angles[frame / 36], angles[frame % 36]);
        system.x.insert(system.x.end(), x.begin(), x.end());
    }

    CpuQueue queue(1);
    ParticleState<Double> state = particles_in_input_order<Double>(system);
    const BondedTables tables = make_bonded(system.topology, {});
    ForceBuffers<Double> buffers;
    clear_forces(queue, buffers, state.slots());
    compute_bonded(queue, tables, all_terms(tables, system.topology), state, buffers, Compute::ForcesEnergiesVirial);
    const double sum = expected["energies"][frames[0]].get<double>() + expected["energies"][frames[1]].get<double>();
    EXPECT_NEAR(sum_energies(buffers).result()[EnergyTerm::Cmap], sum, 1e-11);
}
