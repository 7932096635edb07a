// SPDX-License-Identifier: Apache-2.0
// Inputs with all kinds of terms, sites, restraints and groups are written as text files and read back.
#include "io/input/write_input.hpp"

#include "input_folder.hpp"
#include "io/input/mdp.hpp"

#include <algorithm>
#include <gtest/gtest.h>

using namespace parhelion;

namespace {

LoadedInput read_back(const std::filesystem::path& folder, const std::vector<std::string>& options)
{
    InputFiles files;
    for (std::size_t i = 0; i < options.size(); i += 2)
    {
        const std::filesystem::path path = folder / options[i + 1];
        (options[i] == "-f"   ? files.mdp
         : options[i] == "-c" ? files.structure
         : options[i] == "-p" ? files.topology
         : options[i] == "-r" ? files.restraint_reference
                              : files.index) = path;
    }
    Diagnostics diagnostics;
    return load_gromacs(files, diagnostics);
}

using Terms = std::vector<std::pair<std::array<std::int32_t, most_atoms>, InteractionParameters>>;

// The terms with their numbers.
Terms terms_of_kind(const Topology& topology, const MoleculeType& type, InteractionKind kind)
{
    Terms terms;
    for (const Interaction& term : type.of(kind))
    {
        terms.emplace_back(term.atoms, topology.parameters_of(kind)[static_cast<std::size_t>(term.parameters)]);
    }
    return terms;
}

} // namespace

class WriteInput : public ::testing::TestWithParam<const char*>
{
};

TEST_P(WriteInput, gives_text_files_that_read_back_to_the_same_input)
{
    InputFiles files;
    files.run_input = std::filesystem::path(PARHELION_SOURCE_DIR) / "tests/data/io/tpr" / GetParam();
    Diagnostics diagnostics;
    const LoadedInput first = load_gromacs(files, diagnostics);
    const InputFolder folder;
    const LoadedInput second = read_back(folder.path(), write_input(folder.path(), first));
    const Topology &a = first.system.topology, &b = second.system.topology;
    ASSERT_EQ(a.molecule_types.size(), b.molecule_types.size());
    EXPECT_EQ(a.fudge_qq, b.fudge_qq);
    for (std::size_t t = 0; t < a.molecule_types.size(); ++t)
    {
        const MoleculeType &m = a.molecule_types[t], &n = b.molecule_types[t];
        SCOPED_TRACE(m.name);
        EXPECT_EQ(m.excluded, n.excluded);
        ASSERT_EQ(m.atoms.size(), n.atoms.size());
        for (std::size_t i = 0; i < m.atoms.size(); ++i)
        {
            EXPECT_EQ(m.atoms[i].name, n.atoms[i].name);
            EXPECT_EQ(m.atoms[i].charge, n.atoms[i].charge);
            EXPECT_EQ(m.atoms[i].mass, n.atoms[i].mass);
            EXPECT_EQ(m.atoms[i].residue, n.atoms[i].residue);
            EXPECT_EQ(m.atoms[i].frozen, n.atoms[i].frozen);
        }
        for (const InteractionRow& row : interaction_table)
        {
            EXPECT_EQ(terms_of_kind(a, m, row.kind), terms_of_kind(b, n, row.kind)) << row.name;
        }
        EXPECT_EQ(m.constraints.size(), n.constraints.size());
        EXPECT_EQ(m.settles.size(), n.settles.size());
        ASSERT_EQ(m.sites.size(), n.sites.size());
        for (std::size_t i = 0; i < m.sites.size(); ++i)
        {
            EXPECT_EQ(m.sites[i].kind, n.sites[i].kind);
            EXPECT_EQ(m.sites[i].from, n.sites[i].from);
            ASSERT_EQ(m.sites[i].parameters.size(), n.sites[i].parameters.size());
            for (std::size_t k = 0; k < m.sites[i].parameters.size(); ++k)
            {
                EXPECT_NEAR(m.sites[i].parameters[k], n.sites[i].parameters[k], 1e-15); // rounded once or twice more
            }
        }
    }
    for (std::int64_t i = 0; i < a.atom_count(); ++i)
    {
        for (std::int64_t j = 0; j < a.atom_count(); ++j)
        {
            const auto of = [&](const Topology& topology, const std::vector<double>& table) {
                return table[static_cast<std::size_t>(topology.atom(i).type * topology.types() + topology.atom(j).type)];
            };
            ASSERT_EQ(of(a, a.c6), of(b, b.c6));
            ASSERT_EQ(of(a, a.c12), of(b, b.c12));
        }
    }
    ASSERT_EQ(first.system.x.size(), second.system.x.size());
    for (std::size_t i = 0; i < first.system.x.size(); ++i) { EXPECT_LT(norm(first.system.x[i] - second.system.x[i]), 2e-12); }
    EXPECT_EQ(first.system.groups, second.system.groups);
    EXPECT_EQ(mdp_values(first.parameters), mdp_values(second.parameters));
}

INSTANTIATE_TEST_SUITE_P(Files, WriteInput, ::testing::Values("small_double.tpr", "rare_double.tpr"),
                         [](const ::testing::TestParamInfo<const char*>& file) {
                             const std::string name = file.param;
                             return name.substr(0, name.find('.'));
                         });
