// SPDX-License-Identifier: Apache-2.0
// Restraints against GROMACS' double-precision program (tests/data/restraints/make_restraints.py), from the input files on.
// Gradients, net force, strain, ranks and GPUs: the tests of every bonded kind, and restraints_test.cpp.
#include "interactions/bonded/bonded.hpp"
#include "interactions/bonded/restraints.hpp"
#include "io/input/load.hpp"
#include "support/compare.hpp"
#include "support/particles.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

const nlohmann::json& reference()
{
    static const nlohmann::json data = [] {
        std::ifstream file(std::string(PARHELION_SOURCE_DIR) + "/tests/data/restraints/restraints.json");
        return nlohmann::json::parse(file);
    }();
    return data;
}

LoadedInput load(const nlohmann::json& files)
{
    const std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) / fmt::format("parhelion-{}-restraints", ::getpid());
    std::filesystem::create_directories(folder);
    for (const auto& [name, text] : files.items()) { std::ofstream(folder / name) << text.get<std::string>(); }
    InputFiles input;
    input.mdp = folder / "run.mdp", input.structure = folder / "conf.gro", input.topology = folder / "topol.top";
    input.restraint_reference = folder / "reference.gro";
    Diagnostics diagnostics;
    LoadedInput loaded = load_gromacs(input, diagnostics);
    std::filesystem::remove_all(folder);
    return loaded;
}

class RestraintsRefdata : public ::testing::TestWithParam<std::string>
{
protected:
    const nlohmann::json& expected = reference().at(GetParam());
    const LoadedInput input = load(expected["files"]);
};

} // namespace

TEST_P(RestraintsRefdata, have_the_energies_forces_and_virial_of_the_reference_program)
{
    const System& system = input.system;
    CpuQueue queue(2);
    ParticleState<Double> state = particles_in_input_order<Double>(system);
    const BondedTables tables = make_bonded(system.topology, input.parameters);
    ForceBuffers<Double> buffers;
    clear_forces(queue, buffers, state.slots());
    compute_bonded(queue, tables, all_terms(tables, system.topology), state, buffers, Compute::ForcesEnergiesVirial);
    compute_position_restraints(queue, make_position_restraints(system, input.parameters), state, buffers,
                                Compute::ForcesEnergiesVirial);
    sum_forces(queue, buffers, state);
    const EnergyVirial energies = sum_energies(buffers).result();

    double sum = 0;
    for (const EnergyTermRow& row : energy_term_table)
    {
        const auto named = expected["energies"].find(std::string(row.name));
        if (named == expected["energies"].end()) { continue; }
        EXPECT_NE(named->get<double>(), 0) << row.name;
        EXPECT_NEAR(energies[row.term], named->get<double>(), 1e-12 * std::abs(named->get<double>())) << row.name;
        sum += energies[row.term];
    }
    EXPECT_EQ(energies.potential(), sum); // no other term acts

    std::vector<Vec3<double>> forces(system.x.size());
    ASSERT_EQ(expected["forces"].size(), 3 * forces.size());
    Mat3<double> virial;
    for (std::size_t i = 0; i < 3 * forces.size(); ++i)
    {
        forces[i / 3][static_cast<int>(i % 3)] = expected["forces"][i].get<double>();
    }
    for (std::size_t i = 0; i < 9; ++i)
    {
        virial[static_cast<int>(i / 3)][static_cast<int>(i % 3)] = expected["virial"][i].get<double>();
    }
    EXPECT_LE(rms_relative(forces_of(state), forces), 1e-12);
    EXPECT_LE(max_relative(energies.virial, virial), 1e-12);
}

std::vector<std::string> case_names()
{
    std::vector<std::string> names;
    for (const auto& [name, data] : reference().items()) { names.push_back(name); }
    return names;
}
INSTANTIATE_TEST_SUITE_P(Cases, RestraintsRefdata, ::testing::ValuesIn(case_names()), [](const auto& test) {
    std::string name = test.param;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
});
