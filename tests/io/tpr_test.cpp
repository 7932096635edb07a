// SPDX-License-Identifier: Apache-2.0
// Run input files that grompp made of the folders small, rare and seldom, in single and double precision, against the text files.
#include "io/input/tpr/tpr.hpp"

#include "input_folder.hpp"
#include "io/input/load.hpp"
#include "small_input.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <tuple>

using namespace parhelion;

namespace {

std::filesystem::path tpr_file(const std::string& name)
{
    return std::filesystem::path(PARHELION_SOURCE_DIR) / "tests/data/io/tpr" / (name + ".tpr");
}

std::string bytes_of(const std::filesystem::path& path)
{
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

LoadedInput load_tpr(const std::filesystem::path& path, Diagnostics& diagnostics)
{
    InputFiles files;
    files.run_input = path;
    return load_gromacs(files, diagnostics);
}

struct Case
{
    const char *folder, *precision;
    double tolerance; // relative: parameters are rounded to the file's precision, some of them after a computation in it
};

class RunInput : public ::testing::TestWithParam<Case>
{
protected:
    void SetUp() override
    {
        SmallInput input(GetParam().folder);
        std::string mdp = input.texts().at("run.mdp") + "ld-seed = 7\n";
        if (const std::size_t at = mdp.find("mass-repartition-factor"); at != std::string::npos)
        {
            mdp.erase(at, mdp.find('\n', at) - at);
        }
        input.put("run.mdp", mdp);
        InputFiles files = input.files();
        files.restraint_reference = files.structure;
        text = load_gromacs(files, diagnostics_of_text);
        tpr = load_tpr(tpr_file(std::string(GetParam().folder) + "_" + GetParam().precision), diagnostics);
    }
    void expect_near(double a, double b, const char* what) const
    {
        constexpr double nothing = 1e-37; // below it single precision has fewer digits
        EXPECT_NEAR(a, b, GetParam().tolerance * std::max(std::abs(a), std::abs(b)) + nothing) << what;
    }
    void expect_near(const std::vector<double>& a, const std::vector<double>& b, const char* what) const
    {
        ASSERT_EQ(a.size(), b.size()) << what;
        for (std::size_t i = 0; i < a.size(); ++i) { expect_near(a[i], b[i], what); }
    }

    Diagnostics diagnostics_of_text, diagnostics;
    LoadedInput text, tpr;
};

// The terms of a kind in an order that does not depend on the file's.
std::vector<std::pair<std::array<std::int32_t, most_atoms>, InteractionParameters>>
terms_of(const Topology& topology, const MoleculeType& type, InteractionKind kind)
{
    std::vector<std::pair<std::array<std::int32_t, most_atoms>, InteractionParameters>> terms;
    for (const Interaction& term : type.of(kind))
    {
        terms.emplace_back(term.atoms, topology.parameters_of(kind)[static_cast<std::size_t>(term.parameters)]);
        if (kind == InteractionKind::DistanceRestraint) { terms.back().second.resize(4); } // labels differ
    }
    std::ranges::sort(terms);
    return terms;
}

} // namespace

TEST(Tpr, takes_a_single_precision_number_for_the_shortest_decimal_that_rounds_to_it)
{
    EXPECT_EQ(decimal_of(0.1F), 0.1);
    EXPECT_EQ(decimal_of(-0.8476F), -0.8476);
    EXPECT_EQ(decimal_of(15.9994F), 15.9994);
    EXPECT_EQ(decimal_of(4.5e-5F), 4.5e-5);
    EXPECT_EQ(decimal_of(0.0F), 0);
    std::mt19937 random(1);
    for (int i = 0; i < 200000; ++i)
    {
        const auto x = i % 2 == 0 ? std::bit_cast<float>(static_cast<std::uint32_t>(random()))
                                  : static_cast<float>(random() % 1000000) / 1000;
        if (!std::isfinite(x)) { continue; }
        char shortest[64];
        double expected = 0;
        std::from_chars(shortest, std::to_chars(shortest, shortest + sizeof shortest, x).ptr, expected);
        ASSERT_EQ(decimal_of(x), expected) << x;
        ASSERT_EQ(static_cast<float>(decimal_of(x)), x);
    }
}

TEST_P(RunInput, has_the_configuration_of_the_text_files_to_the_last_bit)
{
    EXPECT_EQ(tpr.system.box.diagonal(), text.system.box.diagonal());
    EXPECT_EQ(tpr.system.box.tilt(), text.system.box.tilt());
    ASSERT_EQ(tpr.system.x.size(), text.system.x.size());
    for (std::size_t i = 0; i < tpr.system.x.size(); ++i)
    {
        const bool is_site = tpr.system.topology.atom(static_cast<std::int64_t>(i)).mass == 0;
        const double most = is_site ? GetParam().tolerance * 10 : 0; // sites are placed by parameters
        for (int d = 0; d < 3; ++d) { EXPECT_NEAR(tpr.system.x[i][d], text.system.x[i][d], most) << i; }
    }
    EXPECT_EQ(tpr.system.v, text.system.v);
}

TEST_P(RunInput, has_the_molecules_of_the_text_files)
{
    const Topology &ours = text.system.topology, &theirs = tpr.system.topology;
    ASSERT_EQ(theirs.molecule_types.size(), ours.molecule_types.size());
    EXPECT_EQ(theirs.blocks.size(), ours.blocks.size());
    EXPECT_EQ(theirs.atom_count(), ours.atom_count());
    EXPECT_EQ(theirs.fudge_qq, ours.fudge_qq);
    for (std::size_t t = 0; t < ours.molecule_types.size(); ++t)
    {
        const MoleculeType &a = ours.molecule_types[t], &b = theirs.molecule_types[t];
        SCOPED_TRACE(a.name);
        EXPECT_EQ(a.name, b.name);
        ASSERT_EQ(a.atoms.size(), b.atoms.size());
        EXPECT_EQ(a.exclusion_start, b.exclusion_start);
        EXPECT_EQ(a.excluded, b.excluded);
        for (std::size_t i = 0; i < a.atoms.size(); ++i)
        {
            EXPECT_EQ(a.atoms[i].name, b.atoms[i].name);
            EXPECT_EQ(a.atoms[i].mass, b.atoms[i].mass);
            EXPECT_EQ(a.atoms[i].charge, b.atoms[i].charge);
            const auto residue = [](const MoleculeType& type, const Atom& atom) {
                return type.residues[static_cast<std::size_t>(atom.residue)];
            };
            EXPECT_EQ(residue(a, a.atoms[i]).name, residue(b, b.atoms[i]).name);
            EXPECT_EQ(residue(a, a.atoms[i]).number, residue(b, b.atoms[i]).number);
        }
        ASSERT_EQ(a.constraints.size(), b.constraints.size());
        const auto lengths = [](const MoleculeType& type) {
            std::set<std::tuple<std::int32_t, std::int32_t, double>> set;
            for (const Constraint& c : type.constraints) { set.emplace(std::min(c.a, c.b), std::max(c.a, c.b), c.length); }
            return set;
        };
        EXPECT_EQ(lengths(a), lengths(b));
        ASSERT_EQ(a.settles.size(), b.settles.size());
        for (std::size_t i = 0; i < a.settles.size(); ++i)
        {
            EXPECT_EQ(a.settles[i].oxygen, b.settles[i].oxygen);
            EXPECT_EQ(a.settles[i].oh, b.settles[i].oh);
            EXPECT_EQ(a.settles[i].hh, b.settles[i].hh);
        }
        ASSERT_EQ(a.sites.size(), b.sites.size());
        for (const VirtualSite& site : a.sites)
        {
            const auto same = std::ranges::find(b.sites, site.atom, &VirtualSite::atom);
            ASSERT_NE(same, b.sites.end());
            EXPECT_EQ(same->kind, site.kind);
            EXPECT_EQ(same->from, site.from);
            expect_near(same->parameters, site.parameters, "virtual site");
        }
    }
}

TEST_P(RunInput, has_the_terms_of_the_text_files)
{
    const Topology &ours = text.system.topology, &theirs = tpr.system.topology;
    for (std::size_t t = 0; t < ours.molecule_types.size(); ++t)
    {
        for (const InteractionRow& row : interaction_table)
        {
            const auto a = terms_of(ours, ours.molecule_types[t], row.kind),
                       b = terms_of(theirs, theirs.molecule_types[t], row.kind);
            SCOPED_TRACE(ours.molecule_types[t].name + " " + std::string(row.name));
            ASSERT_EQ(a.size(), b.size());
            for (std::size_t i = 0; i < a.size(); ++i)
            {
                EXPECT_EQ(a[i].first, b[i].first);
                expect_near(a[i].second, b[i].second, "term");
            }
        }
    }
}

TEST_P(RunInput, has_the_lennard_jones_table_of_the_text_files)
{
    const Topology &ours = text.system.topology, &theirs = tpr.system.topology;
    const auto of = [](const Topology& topology, const std::vector<double>& table, std::int64_t a, std::int64_t b) {
        return table[static_cast<std::size_t>(topology.atom(a).type * topology.types() + topology.atom(b).type)];
    };
    for (std::int64_t a = 0; a < ours.atom_count(); ++a)
    {
        for (std::int64_t b = 0; b < ours.atom_count(); ++b)
        {
            expect_near(of(ours, ours.c6, a, b), of(theirs, theirs.c6, a, b), "c6");
            expect_near(of(ours, ours.c12, a, b), of(theirs, theirs.c12, a, b), "c12");
        }
    }
}

TEST_P(RunInput, has_the_restraints_places_of_the_text_files)
{
    ASSERT_EQ(tpr.system.restraint_reference.empty(), text.system.restraint_reference.empty());
    for (const MoleculeBlock& block : text.system.topology.blocks)
    {
        const MoleculeType& type = text.system.topology.molecule_types[static_cast<std::size_t>(block.type)];
        for (const InteractionKind kind : {InteractionKind::PositionRestraint, InteractionKind::FlatBottomRestraint})
        {
            for (const Interaction& term : type.of(kind))
            {
                const auto atom = static_cast<std::size_t>(block.first_atom + term.atoms[0]);
                const Vec3<double> off = tpr.system.restraint_reference[atom] - text.system.restraint_reference[atom];
                EXPECT_LT(norm(off), 4 * GetParam().tolerance);
            }
        }
    }
}

// The rest is of the text files alone: what grompp chose, and names.
TEST_P(RunInput, has_the_parameters_of_the_text_files)
{
    const NamedList<std::string> theirs = mdp_values(tpr.parameters);
    const std::set<std::string> chosen = {"define",     "include",    "constraints",       "nsttcouple", "nstpcouple",
                                          "fourier-nx", "fourier-ny", "fourier-nz",        "rlist",      "tc-grps",
                                          "comm-grps",  "freezegrps", "compressed-x-grps", "energygrps", "nh-chain-length",
                                          "gen-seed",   "nstcomm"};
    for (const auto& [name, value] : mdp_values(text.parameters))
    {
        if (chosen.contains(name)) { continue; }
        const auto same = std::ranges::find(theirs, name, &std::pair<std::string, std::string>::first);
        ASSERT_NE(same, theirs.end());
        EXPECT_EQ(same->second, value) << name;
    }
}

TEST_P(RunInput, has_the_groups_of_the_text_files)
{
    const auto atoms_of = [](const LoadedInput& input, const std::string& name) {
        const auto group = input.system.groups.find(name);
        return group == input.system.groups.end() ? std::vector<std::int64_t>{-1} : group->second;
    };
    ASSERT_EQ(tpr.parameters.temperature_groups.size(), text.parameters.temperature_groups.size());
    for (std::size_t i = 0; i < text.parameters.temperature_groups.size(); ++i)
    {
        EXPECT_EQ(atoms_of(tpr, tpr.parameters.temperature_groups[i].name),
                  atoms_of(text, text.parameters.temperature_groups[i].name));
    }
    ASSERT_EQ(tpr.parameters.frozen_groups.size(), text.parameters.frozen_groups.size());
    for (std::size_t i = 0; i < text.parameters.frozen_groups.size(); ++i)
    {
        EXPECT_EQ(tpr.parameters.frozen_groups[i].axes, text.parameters.frozen_groups[i].axes);
        EXPECT_EQ(atoms_of(tpr, tpr.parameters.frozen_groups[i].name), atoms_of(text, text.parameters.frozen_groups[i].name));
    }
    for (const auto list : {&RunParameters::com_groups, &RunParameters::compressed_groups})
    {
        const std::vector<std::string>&a = tpr.parameters.*list, &b = text.parameters.*list;
        if (b == std::vector<std::string>{"System"} && a.empty()) { continue; }
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) { EXPECT_EQ(atoms_of(tpr, a[i]), atoms_of(text, b[i])); }
    }
}

INSTANTIATE_TEST_SUITE_P(Files, RunInput,
                         ::testing::Values(Case{"small", "single", 1e-6}, Case{"small", "double", 1e-13},
                                           Case{"rare", "single", 1e-6}, Case{"rare", "double", 1e-13},
                                           Case{"seldom", "single", 1e-6}, Case{"seldom", "double", 1e-13}),
                         [](const ::testing::TestParamInfo<Case>& one) {
                             return std::string(one.param.folder) + "_" + one.param.precision;
                         });

TEST(Tpr, refuses_a_file_that_ends_anywhere)
{
    const InputFolder folder;
    for (const auto& [name, step] : {std::pair("small_single", std::size_t{1}), {"rare_double", std::size_t{7}}})
    {
        const std::string whole = bytes_of(tpr_file(name));
        const std::filesystem::path path = folder.write("cut.tpr", whole);
        for (std::size_t size = whole.size() - 1; size >= step; size -= step)
        {
            std::filesystem::resize_file(path, size);
            Diagnostics diagnostics;
            try
            {
                read_tpr(MappedFile(path), diagnostics);
                ADD_FAILURE() << size;
            }
            catch (const InputError& error)
            {
                ASSERT_EQ(error.id(), "E118") << error.what();
            }
        }
    }
}

TEST(Tpr, refuses_bytes_behind_the_end)
{
    const InputFolder folder;
    const std::filesystem::path path = folder.write("long.tpr", bytes_of(tpr_file("small_single")) + std::string(4, '\0'));
    Diagnostics diagnostics;
    expect_refused([&] { read_tpr(MappedFile(path), diagnostics); }, "E118", "long.tpr", 0, "bytes follow");
}

TEST(Tpr, refuses_other_versions_by_name)
{
    const std::string whole = bytes_of(tpr_file("small_single"));
    // program (two lengths, text, filled up), bytes of a real, version, generation, tag
    const auto length = static_cast<std::size_t>(static_cast<unsigned char>(whole[7]));
    const std::size_t version = 8 + (length + 3) / 4 * 4 + 4, generation = version + 4, tag = generation + 12;
    const InputFolder folder;
    const auto with = [&](std::size_t at, char byte) {
        std::string changed = whole;
        changed[at] = byte;
        return folder.write("other.tpr", changed);
    };
    Diagnostics diagnostics;
    const auto read = [&](const std::filesystem::path& path) { return [&, path] { read_tpr(MappedFile(path), diagnostics); }; };
    expect_refused(read(with(version + 3, 110)), "E119", "other.tpr", 0, "file version 110, generation 28");
    expect_refused(read(with(version + 3, static_cast<char>(140))), "E119", "other.tpr", 0, "too new");
    expect_refused(read(with(generation + 3, 30)), "E119", "other.tpr", 0, "generation 30");
    expect_refused(read(with(tag, 'R')), "E119", "other.tpr", 0, "a private format, 'Release'");
    EXPECT_TRUE(diagnostics.warnings.empty());
    const std::filesystem::path between = with(version + 3, 126);
    read_tpr(MappedFile(between), diagnostics);
    ASSERT_EQ(diagnostics.warnings.size(), 1U);
    EXPECT_EQ(diagnostics.warnings[0].id, "W175");
}

TEST(Tpr, refuses_other_kinds_of_files)
{
    const InputFolder folder;
    Diagnostics diagnostics;
    const std::filesystem::path text = folder.write("run.mdp", "integrator = md\n");
    expect_refused([&] { load_tpr(text, diagnostics); }, "E115", "run.mdp", 0, "-s takes a run input file");
    InputFiles files;
    files.mdp = tpr_file("small_single");
    files.structure = files.topology = text;
    try
    {
        load_gromacs(files, diagnostics);
        ADD_FAILURE();
    }
    catch (const InputError& error)
    {
        EXPECT_NE(std::string(error.what()).find("Give it with -s"), std::string::npos) << error.what();
    }
}
