// SPDX-License-Identifier: Apache-2.0
// AMBER's topologies and coordinates: what is read, how molecules are found, and what is refused. That energies are right is
// tests/python/test_amber.py's to show.
#include "io/input/prmtop.hpp"

#include "io/input/amber_coordinates.hpp"
#include "io/input_folder.hpp"
#include "small_input.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <utility>

using namespace parhelion;

namespace {

// One change of one file, and what it must lead to.
struct Change
{
    const char* file;
    const char* from;
    const char* to;
    const char* id;
    const char* says;
};

void PrintTo(const Change& change, std::ostream* out) { *out << change.from << " -> " << change.to; }

std::string section(std::string_view name, std::string_view format, std::string_view values)
{
    return "%FLAG " + std::string(name) + "\n%FORMAT(" + std::string(format) + ")\n" + std::string(values) + "\n";
}

// Atoms without any term: a name, a residue, a charge and the atoms that each excludes.
std::string atoms_only(const std::string& names, const std::string& residues, const std::string& residue_starts,
                       std::size_t atoms, const std::string& bonds)
{
    const auto repeat = [&](const char* value) {
        std::string all;
        for (std::size_t i = 0; i < atoms; ++i) { all += std::string(value) + (i % 5 == 4 ? "\n" : ""); }
        return all;
    };
    const std::string none = "";
    const auto count = [](const std::string& text, std::size_t width) { return fmt::format("{:8}", text.size() / width); };
    const std::string of_residues = count(residue_starts, 8), of_bonds = count(bonds, 24);
    return "%VERSION\n" +
           section(
               "POINTERS", "31I8",
               fmt::format("{:8}{:8}{:8}{}{:8}{:8}{:8}{:8}{:8}{:8}{:8}{}{}{:8}{:8}{:8}{:8}{:8}", atoms, 1, 0, of_bonds, 0, 0, 0,
                           0, 0, 0, atoms, of_residues, of_bonds, 0, 0, 1, 0, 0) +
                   fmt::format("{:8}{:8}{:8}{:8}{:8}{:8}{:8}{:8}{:8}{:8}{:8}{:8}{:8}", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) +
           section("ATOM_NAME", "100a4", names) + section("CHARGE", "5E16.8", repeat("  1.82223000E+00")) +
           section("MASS", "5E16.8", repeat("  1.20000000E+01")) + section("ATOM_TYPE_INDEX", "5I8", repeat("       1")) +
           section("NUMBER_EXCLUDED_ATOMS", "5I8", repeat("       1")) +
           section("EXCLUDED_ATOMS_LIST", "5I8", repeat("       0")) + section("NONBONDED_PARM_INDEX", "10I8", "       1") +
           section("RESIDUE_LABEL", "100a4", residues) + section("RESIDUE_POINTER", "100I8", residue_starts) +
           section("BOND_FORCE_CONSTANT", "5E16.8", "  1.00000000E+02") +
           section("BOND_EQUIL_VALUE", "5E16.8", "  1.50000000E+00") + section("ANGLE_FORCE_CONSTANT", "5E16.8", none) +
           section("ANGLE_EQUIL_VALUE", "5E16.8", none) + section("DIHEDRAL_FORCE_CONSTANT", "5E16.8", none) +
           section("DIHEDRAL_PERIODICITY", "5E16.8", none) + section("DIHEDRAL_PHASE", "5E16.8", none) +
           section("LENNARD_JONES_ACOEF", "5E16.8", "  1.00000000E+06") +
           section("LENNARD_JONES_BCOEF", "5E16.8", "  5.00000000E+02") + section("BONDS_INC_HYDROGEN", "10I8", none) +
           section("BONDS_WITHOUT_HYDROGEN", "300I8", bonds) + section("ANGLES_INC_HYDROGEN", "10I8", none) +
           section("ANGLES_WITHOUT_HYDROGEN", "10I8", none) + section("DIHEDRALS_INC_HYDROGEN", "10I8", none) +
           section("DIHEDRALS_WITHOUT_HYDROGEN", "10I8", none) + section("AMBER_ATOM_TYPE", "5a4", repeat("CT  "));
}

Topology topology_of(const std::string& text)
{
    const InputFolder folder;
    Diagnostics diagnostics;
    return read_prmtop(MappedFile(folder.write("a.prmtop", text)), diagnostics).topology;
}

std::vector<std::int64_t> counts_of(const Topology& topology)
{
    std::vector<std::int64_t> counts;
    for (const MoleculeBlock& block : topology.blocks) { counts.push_back(block.count); }
    return counts;
}

} // namespace

TEST(Prmtop, is_read_into_what_a_top_is_read_into)
{
    const SmallInput input("amber");
    Diagnostics diagnostics;
    const System system = input.load(diagnostics).system;
    const Topology& topology = system.topology;
    EXPECT_EQ(topology.atom_count(), 37);
    EXPECT_THAT(counts_of(topology), testing::ElementsAre(1, 2, 1, 4)); // a chain, Na+, Cl-, waters
    const MoleculeType& chain = topology.molecule_types[0];
    ASSERT_EQ(chain.atoms.size(), 18U);
    EXPECT_EQ(chain.atoms[2].name, "CA");
    EXPECT_EQ(chain.residues[1].name, "GLY");
    EXPECT_EQ(chain.residues[2].number, 3);
    EXPECT_NEAR(chain.atoms[0].charge, -0.4157, 1e-9);
    EXPECT_DOUBLE_EQ(topology.fudge_qq, 1 / 1.2);
    EXPECT_EQ(chain.of(InteractionKind::Cmap).size(), 1U);
    EXPECT_EQ(chain.of(InteractionKind::PeriodicImproper).size(), 2U);
    EXPECT_TRUE(chain.excludes(0, 1) && chain.excludes(1, 0));
    EXPECT_FALSE(chain.excludes(0, 17));
    EXPECT_EQ(chain.of(InteractionKind::HarmonicAngle).size(), 23U);
    const MoleculeType& water = topology.molecule_types[3];
    ASSERT_EQ(water.sites.size(), 1U);
    EXPECT_EQ(water.sites[0].atom, 3);
    EXPECT_THAT(water.sites[0].from, testing::ElementsAre(0, 1, 2));
    EXPECT_NEAR(water.sites[0].parameters[0], 0.0125 / (2 * std::sqrt(0.09572 * 0.09572 - 0.07568 * 0.07568)), 1e-9);
    EXPECT_EQ(water.settles.size(), 1U); // of h-bonds
    EXPECT_DOUBLE_EQ(system.box.diagonal().x, 4.9);
    EXPECT_EQ(system.v.size(), 37U);
    EXPECT_EQ(topology.describe(18), "atom 19 Na+ of residue 4 Na+");
}

TEST(Prmtop, finds_molecules_as_runs_that_nothing_ties_together)
{
    // Two equal pairs, one atom, a pair with an atom between its ends, and such a pair again.
    const Topology topology = topology_of(atoms_only(
        "A   B   A   B   C   A   C   B   A   C   B   ", "AB  AB  C   X   X   ", "       1       3       5       6       9", 11,
        "       0       3       1       6       9       1      15      21       1      24      30       1"));
    EXPECT_THAT(counts_of(topology), testing::ElementsAre(2, 1, 2));
    EXPECT_EQ(topology.molecule_types[2].atoms.size(), 3U);
    EXPECT_EQ(topology.molecule_types[2].of(InteractionKind::HarmonicBond)[0].atoms[1], 2);
    EXPECT_EQ(topology.molecule_types[0].name, "AB");
    // Without the half, and in nm.
    EXPECT_DOUBLE_EQ(topology.parameters_of(InteractionKind::HarmonicBond)[0][1], 2 * 100 * 418.4);
    EXPECT_DOUBLE_EQ(topology.parameters_of(InteractionKind::HarmonicBond)[0][0], 0.15);
    EXPECT_DOUBLE_EQ(topology.c6[0], 500 * 4.184e-6);
    EXPECT_DOUBLE_EQ(topology.atom(4).charge, 0.1);
}

TEST(Prmtop, and_coordinates_in_each_others_place_are_named)
{
    const SmallInput input("amber");
    InputFiles files = input.files();
    Diagnostics diagnostics;
    std::swap(files.structure, files.topology);
    try
    {
        load_gromacs(files, diagnostics);
        FAIL() << "accepted";
    }
    catch (const InputError& error)
    {
        EXPECT_THAT(error.what(), testing::HasSubstr("is a file of AMBER's coordinates, but -p takes"));
        EXPECT_THAT(error.what(), testing::HasSubstr("is a topology of AMBER (prmtop), but -c takes"));
    }
}

class RefusedPrmtop : public testing::TestWithParam<Change>
{
};

TEST_P(RefusedPrmtop, names_the_place)
{
    SmallInput input("amber");
    const Change& change = GetParam();
    input.replace(change.file, change.from, change.to);
    if (HasFatalFailure()) { return; }
    try
    {
        Diagnostics diagnostics;
        input.load(diagnostics);
        ADD_FAILURE() << "accepted";
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), change.id) << error.what();
        EXPECT_NE(std::string(error.what()).find(change.says), std::string::npos) << error.what();
        EXPECT_TRUE(error.where().file.ends_with(change.file)) << error.what();
    }
}

constexpr const char* top = "system.prmtop";
INSTANTIATE_TEST_SUITE_P(
    Cases, RefusedPrmtop,
    testing::Values(
        Change{top, "%FLAG TITLE", "%FLAG CTITLE", "E120", "LENNARD_JONES_14_ACOEF is missing"},
        Change{top, "%FLAG RADII", "%FLAG LENNARD_JONES_CCOEF", "E130", "12-6-4"},
        Change{top, "%FLAG RADII", "%FLAG AMOEBA_FORCEFIELD", "E130", "AMOEBA"},
        Change{top, "%FLAG IPOL\n%FORMAT(1I8)\n       0", "%FLAG IPOL\n%FORMAT(1I8)\n       1", "E130", "polarisable"},
        Change{top, "%FORMAT(2I8)\n       1       1", "%FORMAT(2I8)\n       1       2", "E120", "CMAP_RESOLUTION"},
        Change{top, "%FLAG MASS", "%FLAG MASSES", "E120", "MASS is missing"},
        Change{top, "%FLAG SOLTY", "%FLAG MASS", "E120", "twice"},
        Change{
            top,
            "  1.40100000E+01  1.00800000E+00  1.20100000E+01  1.00800000E+00  1.20100000E+01\n  1.60000000E+01  1.40100000E+01",
            "  1.40100000E+01  1.00800000E+00  1.2x100000E+01  1.00800000E+00  1.20100000E+01\n  1.60000000E+01  1.40100000E+01",
            "E121", "columns 33 to 48"},
        Change{
            top,
            "  1.40100000E+01  1.00800000E+00  1.20100000E+01  1.00800000E+00  1.20100000E+01\n  1.60000000E+01  1.40100000E+01",
            "  1.40100000E+01  0.00000000E+00  1.20100000E+01  1.00800000E+00  1.20100000E+01\n  1.60000000E+01  1.40100000E+01",
            "E130", "has no mass"},
        Change{top, "%FLAG SCEE_SCALE_FACTOR\n%FORMAT(5E16.8)\n  1.20000000E+00",
               "%FLAG SCEE_SCALE_FACTOR\n%FORMAT(5E16.8)\n  0.00000000E+00", "E125", "not positive"},
        Change{"conf.rst7", "    37  0.1000000E+02", "    36  0.1000000E+02", "E170", "numbers"},
        Change{"conf.rst7", "  49.0000000  49.0000000  49.0000000", "  49.0000000  ********** 49.0000000", "E170",
               "not a finite number"},
        Change{"conf.rst7", "  90.0000000  90.0000000  90.0000000", "  90.0000000 190.0000000  90.0000000", "E580",
               "make no cell"}));

TEST(AmberCoordinates, hold_what_the_number_of_their_numbers_says)
{
    const std::string head = "title\n     3\n", positions =
                                                    "   1.0000000   2.0000000   3.0000000   4.0000000   5.0000000   6.0000000\n"
                                                    "   7.0000000   8.0000000   9.0000000\n";
    const std::string lengths = "  40.0000000  50.0000000  60.0000000", angles = "  90.0000000  90.0000000  90.0000000";
    const InputFolder folder;
    const auto read = [&](const std::string& text, const std::optional<AmberBox>& box = {}) {
        EXPECT_TRUE(is_amber_coordinates(text));
        return read_amber_coordinates(MappedFile(folder.write("a.rst7", text)), box);
    };
    const GroFile all = read(head + positions + positions + lengths + angles + "\n");
    ASSERT_EQ(all.x.size(), 3U);
    ASSERT_EQ(all.v.size(), 3U);
    EXPECT_DOUBLE_EQ(all.x[2].y, 0.8);
    EXPECT_DOUBLE_EQ(all.v[0].z, 3 * 2.0455);
    EXPECT_DOUBLE_EQ(all.box.diagonal().z, 6);
    EXPECT_TRUE(all.box.is_rectangular());
    EXPECT_TRUE(read(head + positions + lengths + "\n").v.empty());
    EXPECT_DOUBLE_EQ(read(head + positions, AmberBox{{3, 4, 5}, {90, 90, 90}}).box.diagonal().y, 4);
    expect_refused([&] { read(head + positions); }, "E170", "a.rst7", 4, "no box");
    expect_refused([&] { read(head + positions + "   1.0000000\n", {}); }, "E170", "a.rst7", 5, "10 numbers");
    expect_refused([&] { read("title\n 2\n" + positions.substr(0, 73) + lengths + angles + "\n"); }, "E170", "a.rst7", 2,
                   "velocities");
}

TEST(AmberCoordinates, of_a_truncated_octahedron_are_in_a_lattice_of_its_volume)
{
    std::string problem;
    const double angle = 109.4712190;
    const Box<double> box = cell_of({{5, 5, 5}, {angle, angle, angle}}, problem);
    EXPECT_EQ(problem, "");
    EXPECT_NEAR(box.volume(), 125 * 4 * std::sqrt(3.0) / 9, 1e-5); // the angle is 1.6e-6 degrees off
    // Whose shortest vectors are the edges: fourteen neighbours, eight of them at this distance.
    EXPECT_NEAR(box.largest_cutoff(), 2.5, 1e-6);
    // A cell that leans far has the same lattice by shorter edges.
    const Box<double> leaning = cell_of({{3, 4, 5}, {90, 90, 30}}, problem);
    EXPECT_EQ(problem, "");
    EXPECT_NEAR(leaning.volume(), 3 * 4 * 5 * 0.5, 1e-12);
    EXPECT_LE(std::abs(leaning.tilt().x), 0.5 * leaning.diagonal().x);
}

namespace {

// A NetCDF file of format 1 or 2 with three atoms.
class NetcdfText
{
public:
    explicit NetcdfText(char version) : version_(version)
    {
        text_ = std::string("CDF") + version;
        number(0); // records
        number(10), number(3), dimension("atom", 3), dimension("spatial", 3), dimension("cell", 3);
        number(12), number(1), name("Conventions"), number(2), name("AMBERRESTART");
        number(11), number(3);
        variable("coordinates", {0, 1}, 0, false);
        variable("velocities", {0, 1}, 72, true);
        variable("cell_lengths", {2}, 144, false);
        const auto begin = static_cast<std::uint32_t>(text_.size());
        for (const std::size_t at : offsets_) { put(at, begin); }
        for (int i = 1; i <= 18; ++i) { real(i); }
        for (const double length : {30.0, 40.0, 50.0}) { real(length); }
    }
    const std::string& text() const { return text_; }

private:
    void number(std::uint32_t value)
    {
        for (int shift = 24; shift >= 0; shift -= 8) { text_ += static_cast<char>(value >> shift); }
    }
    void put(std::size_t at, std::uint32_t add)
    {
        std::uint32_t value = add;
        for (std::size_t i = 0; i < 4; ++i)
        {
            value += static_cast<std::uint32_t>(static_cast<unsigned char>(text_[at + i])) << (24 - 8 * i);
        }
        for (std::size_t i = 0; i < 4; ++i) { text_[at + i] = static_cast<char>(value >> (24 - 8 * i)); }
    }
    void name(std::string_view text)
    {
        number(static_cast<std::uint32_t>(text.size()));
        text_ += text;
        text_.append((4 - text.size() % 4) % 4, '\0');
    }
    void dimension(std::string_view text, std::uint32_t length) { name(text), number(length); }
    void real(double value)
    {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        number(static_cast<std::uint32_t>(bits >> 32)), number(static_cast<std::uint32_t>(bits));
    }
    void variable(std::string_view text, const std::vector<std::uint32_t>& shape, std::uint32_t at, bool scaled)
    {
        name(text), number(static_cast<std::uint32_t>(shape.size()));
        for (const std::uint32_t dimension : shape) { number(dimension); }
        number(scaled ? 12 : 0), number(scaled ? 1 : 0);
        if (scaled) { name("scale_factor"), number(6), number(1), real(20.455); }
        number(6), number(shape.size() == 2 ? 72 : 24);
        if (version_ == 2) { number(0); }
        offsets_.push_back(text_.size());
        number(at);
    }

    char version_;
    std::string text_;
    std::vector<std::size_t> offsets_;
};

} // namespace

TEST(AmberCoordinates, are_read_from_netcdf)
{
    const InputFolder folder;
    for (const char version : {'\1', '\2'})
    {
        const GroFile read = read_amber_coordinates(MappedFile(folder.write("a.rst7", NetcdfText(version).text())), {});
        ASSERT_EQ(read.x.size(), 3U);
        ASSERT_EQ(read.v.size(), 3U);
        EXPECT_DOUBLE_EQ(read.x[1].x, 0.4);
        EXPECT_DOUBLE_EQ(read.v[0].x, 10 * 2.0455);
        EXPECT_DOUBLE_EQ(read.box.diagonal().y, 4);
    }
}

TEST(AmberCoordinates, of_a_damaged_netcdf_are_read_or_refused)
{
    const InputFolder folder;
    const std::string whole = NetcdfText('\1').text();
    const auto read = [&](const std::string& text) { return read_amber_coordinates(MappedFile(folder.write("a.nc", text)), {}); };
    for (std::size_t size = 4; size < whole.size(); ++size) { EXPECT_THROW(read(whole.substr(0, size)), InputError) << size; }
    for (std::size_t at = 4; at < whole.size(); ++at)
    {
        for (const char byte : {'\xff', '\x7f', '\0', '\1'})
        {
            std::string damaged = whole;
            damaged[at] = byte;
            try
            {
                const GroFile file = read(damaged);
                EXPECT_LE(file.x.size(), 3U) << at; // no more than the file holds
                for (const Vec3<double>& x : file.x) { EXPECT_TRUE(std::isfinite(x.x + x.y + x.z)) << at; }
            }
            catch (const InputError&)
            {
                continue;
            }
        }
    }
}
