// SPDX-License-Identifier: Apache-2.0
#include "io/input/gro.hpp"

#include "io/input/top.hpp"
#include "io/input_folder.hpp"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock-more-matchers.h>
#include <random>
#include <utility>

using namespace parhelion;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

// One water and one ion, without a force field.
Topology small_topology(std::int64_t waters)
{
    Topology topology;
    MoleculeType water{
        "SOL", {{"OW", 0, 0, 16, -1}, {"HW1", 0, 0, 1, 0.5}, {"HW2", 0, 0, 1, 0.5}}, {{"SOL", 1}}, {}, {}, {}, {}, {}, {}};
    MoleculeType dimer{"DIM", {{"A", 0, 0, 1, 0}, {"LONGNAME", 0, 1, 1, 0}}, {{"ONE", 7}, {"TWO", 9}}, {}, {}, {}, {}, {}, {}};
    topology.molecule_types = {std::move(water), std::move(dimer)};
    topology.blocks = {{0, waters, 0}, {1, 1, 0}};
    topology.finish();
    return topology;
}

class GroTest : public testing::Test
{
protected:
    GroFile read(std::string_view text) { return read_gro(folder_.write("conf.gro", text)); }
    void expect_error(std::string_view text, std::string_view id, int line, std::string_view part)
    {
        SCOPED_TRACE(std::string(text));
        expect_refused([&] { read(text); }, id, "conf.gro", line, part);
    }
    InputFolder folder_;
};

constexpr std::string_view two_lines =
    "    1SOL     OW    1   0.230   0.628   0.113\n    1SOL    HW1    2   0.137  -0.626   9.150\n";

} // namespace

TEST_F(GroTest, fixed_columns_are_read_even_without_blanks_between_them)
{
    const GroFile file = read("title, t= 1.0\n 2\n99999LONGRABCDE99999-123.456-999.999   1.000\n    0SOL     OW    0   0.001   "
                              "0.002   0.003\n 1 2.5 3e0\n");
    EXPECT_EQ(file.title, "title, t= 1.0");
    EXPECT_EQ(file.x[0], (Vec3<double>{-123.456, -999.999, 1.0}));
    EXPECT_EQ(file.x[1], (Vec3<double>{0.001, 0.002, 0.003}));
    EXPECT_EQ(file.box, (Vec3<double>{1, 2.5, 3}));
    EXPECT_EQ(file.names[0].residue, (std::array<char, 5>{'L', 'O', 'N', 'G', 'R'}));
    EXPECT_EQ(file.names[0].atom, (std::array<char, 5>{'A', 'B', 'C', 'D', 'E'}));
    EXPECT_EQ(file.names[1].atom, (std::array<char, 5>{'O', 'W', 0, 0, 0}));
    EXPECT_THAT(file.v, IsEmpty());
    EXPECT_FALSE(file.has_more_frames);
}

TEST_F(GroTest, carriage_returns_and_nine_numbers_of_a_rectangular_box_are_fine)
{
    const GroFile file = read("t\r\n1\r\n    1SOL     OW    1   0.230   0.628   0.113\r\n 3 3 3 0 0 0 0 0 0\r\n");
    EXPECT_EQ(file.x[0].z, 0.113);
    EXPECT_EQ(file.box.diagonal().z, 3);
}

// The edges of a rhombic dodecahedron, as gmx editconf writes them: the diagonal, then a, b and c without it.
TEST_F(GroTest, nine_numbers_are_the_edges_of_a_tilted_box)
{
    const std::string line = "   3.00000   3.00000   2.12132   0.00000   0.00000   0.10000   0.00000   1.50000   1.20000\n";
    const GroFile file = read("t\n2\n" + std::string(two_lines) + line);
    EXPECT_EQ(file.box, Box<double>({3, 3, 2.12132}, {0.1, 1.5, 1.2}));
}

TEST_F(GroTest, the_first_of_several_frames_is_read_and_that_is_told)
{
    const std::string frame = "t\n2\n" + std::string(two_lines) + "3 3 3\n";
    EXPECT_TRUE(read(frame + frame).has_more_frames);
    EXPECT_FALSE(read(frame + "\n \n").has_more_frames);
}

// As gmx editconf 2022.5 reads them; where it would take numbers out of the text, it is refused.
TEST_F(GroTest, text_behind_the_columns_is_a_remark)
{
    const std::string position = "    1SOL     OW    1   0.230   0.628   0.113", velocity = "  0.1000 -0.2000  0.3000";
    const auto file = [&](const std::string& a, const std::string& b, const std::string& box = "3 3 3") {
        return "t\n2\n" + position + a + "\n" + position + b + "\n" + box + "\n";
    };
    for (const std::string remark : {" ; a remark", " # r", "; r", " a long remark, longer than velocities would be", " ! 1"})
    {
        SCOPED_TRACE(remark);
        for (const std::string& text : {file(remark, remark), file(remark, ""), file(remark, " \r")})
        {
            const GroFile gro = read(text);
            EXPECT_THAT(gro.v, IsEmpty());
            EXPECT_EQ(gro.x[0].z, 0.113);
            EXPECT_EQ(gro.first_remark, 3);
        }
        EXPECT_EQ(read(file("", remark)).first_remark, 4);
        const GroFile moving = read(file(velocity + remark, velocity + remark));
        EXPECT_EQ(moving.v[1], (Vec3<double>{0.1, -0.2, 0.3}));
        EXPECT_EQ(moving.first_remark, 3);
        EXPECT_EQ(read(file(velocity, velocity + remark)).first_remark, 4);
        EXPECT_EQ(read(file("", "", "3 3 3" + std::string(" ; box"))).box, (Vec3<double>{3, 3, 3}));
    }
    EXPECT_EQ(read(file("", "", "3 3 3 0 0 0 0 0 0 ; box")).first_remark, 5);
    EXPECT_EQ(read(file("", "")).first_remark, 0);
    EXPECT_EQ(read(file(velocity + " \r", velocity)).first_remark, 0);
    expect_error(file(velocity, " ; a remark"), "E170", 4, "some atoms only");
    expect_error(file("  0.5", ""), "E170", 3, "incomplete");
    expect_error(file(" ; 1 2 3 4 5 6 7 8 9", ""), "E170", 3, "not a finite number");
    expect_error(file(" C 12.011 0.5", ""), "E170", 3, "incomplete");
    expect_error(file("     nan     nan     nan", ""), "E170", 3, "not a finite number");
    expect_error(file("     inf     0.1     0.1", ""), "E170", 3, "not a finite number");
    expect_error(file("  0.1000  0.2x00  0.3000", ""), "E170", 3, "not a finite number");
}

TEST_F(GroTest, broken_files_are_refused_at_their_line)
{
    const std::string atoms(two_lines);
    expect_error("", "E170", 2, "number of atoms");
    expect_error("t\nmany\n" + atoms + "3 3 3\n", "E170", 2, "number of atoms");
    expect_error("t\n-1\n" + atoms + "3 3 3\n", "E170", 2, "number of atoms");
    expect_error("t\n0\n3 3 3\n", "E170", 2, "number of atoms");
    expect_error("t\n1000000000000000000\n" + atoms + "3 3 3\n", "E170", 2, "too short");
    expect_error("t\n3\n" + atoms + "3 3 3\n", "E170", 5, "too short");
    expect_error("t\n2\n" + atoms, "E170", 4, "before the line of the box");
    expect_error("t\n1\n" + atoms + "3 3 3\n", "E170", 4, "box");
    expect_error("t\n2\n" + atoms + "3 3\n", "E170", 5, "box");
    expect_error("t\n2\n" + atoms + "3 nan 3\n", "E170", 5, "'nan'");
    expect_error("t\n2\n" + atoms + "3 0 3\n", "E170", 5, "edge 2");
    expect_error("t\n2\n" + atoms + "3 3 -1\n", "E170", 5, "edge 3");
    expect_error("t\n2\n" + atoms + "3 3 3 0.1 0 0 0 0 0\n", "E580", 5, "not along x");
    expect_error("t\n2\n" + atoms + "3 3 3 0 0 0 0.1 0 0\n", "E580", 5, "xy plane");
    expect_error("t\n2\n" + atoms + "3 3 3 0 0 1.6 0 0 0\n", "E580", 5, "leans by more than half");
    expect_error("t\n2\n" + atoms + "3 3 3 0 0 0 0 0 -1.6\n", "E580", 5, "leans by more than half");
    expect_error("t\n1\n    1SOL     OW    1   0.230     nan   0.113\n3 3 3\n", "E170", 3, "");
    expect_error("t\n2\n    1SOL     OW    1   0.230   0.628   0.113\n    1SOL    HW1    2   0.137     inf   0.150\n3 3 3\n",
                 "E170", 4, "not a finite number");
    expect_error("t\n2\n    1SOL     OW    1   0.230   0.628   0.113\n    1SOL    HW1    2   0.137   0.1 7   0.150\n3 3 3\n",
                 "E170", 4, "not a finite number");
    expect_error("t\n2\n    1SOL     OW    1   0.230   0.628   0.113\n    1SOL    HW1    2   0.137           0.150\n3 3 3\n",
                 "E170", 4, "not a finite number");
    expect_error("t\n1\n1 SOL OW 1 0.230 0.628 0.113\n3 3 3\n", "E170", 3, "fixed columns");
    expect_error("t\n2\n    1SOL     OW    1   0.230   0.628   0.113  0.1000  0.2000  0.3000\n    1SOL    HW1    2   0.137   "
                 "0.626   0.150\n3 3 3\n",
                 "E170", 4, "some atoms only");
    expect_error("t\n1\n    1SOL     OW    1   0.230   0.628   0.113  0.1000  0.2000\n3 3 3\n", "E170", 3, "incomplete");
}

TEST_F(GroTest, what_is_written_is_read_back_to_the_last_digit_written)
{
    const Topology topology = small_topology(40);
    const auto atoms = static_cast<std::size_t>(topology.atom_count());
    std::mt19937 random(5);
    std::uniform_real_distribution<double> anywhere(-99, 99);
    for (const int decimals : {1, 3, 6, 9, 12})
    {
        for (const bool with_velocities : {false, true})
        {
            std::vector<Vec3<double>> x(atoms), v(with_velocities ? atoms : 0);
            for (auto& r : x) { r = {anywhere(random), anywhere(random), anywhere(random)}; }
            for (auto& r : v) { r = {anywhere(random) / 100, anywhere(random) / 100, anywhere(random) / 100}; }
            x[0] = {-0.0, 0, 9.96};
            const auto path = folder_.path() / "out.gro";
            write_gro(path, topology, "two\nlines", {4.5, 5.5, 6.25}, x, v, decimals);
            const GroFile file = read_gro(path);
            ASSERT_THAT(file.x, SizeIs(atoms));
            ASSERT_EQ(file.v.size(), v.size());
            for (std::size_t i = 0; i < atoms; ++i)
            {
                for (int d = 0; d < 3; ++d)
                {
                    EXPECT_LE(std::abs(file.x[i][d] - x[i][d]), 0.5 * std::pow(10, -decimals) + 1e-13) << decimals;
                    if (with_velocities)
                    {
                        EXPECT_LE(std::abs(file.v[i][d] - v[i][d]), 0.5 * std::pow(10, -decimals - 1) + 1e-13);
                    }
                }
            }
            EXPECT_EQ(file.box, (Vec3<double>{4.5, 5.5, 6.25}));
            EXPECT_EQ(file.title, "two");
            Diagnostics diagnostics;
            compare_names(file, topology, diagnostics);
            EXPECT_THAT(diagnostics.warnings, IsEmpty());
        }
    }
}

TEST_F(GroTest, numbers_of_any_size_are_read_back)
{
    const Topology topology = small_topology(1);
    const auto atoms = static_cast<std::size_t>(topology.atom_count());
    const auto path = folder_.path() / "large.gro";
    const Vec3<double> box{1500, 999.9999999, 123456.5};
    for (const double size : {999.25, 1000.5, 12345.75, 1e7})
    {
        for (const int decimals : {3, 6})
        {
            const std::vector<Vec3<double>> x(atoms, {size, -size, 0.5}), v(atoms, {-size, size, -size});
            for (const auto& velocities : {v, std::vector<Vec3<double>>()})
            {
                write_gro(path, topology, "t", box, x, velocities, decimals);
                const GroFile file = read_gro(path);
                EXPECT_EQ(file.x, x);
                EXPECT_EQ(file.v, velocities);
                EXPECT_LE(norm(file.box.diagonal() - box), 1e-5);
            }
        }
    }
}

TEST_F(GroTest, numbers_agree_with_those_of_the_c_library_for_any_width)
{
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> anywhere(-999, 999);
    for (int decimals = 1; decimals <= 25; ++decimals)
    {
        std::string text = "t\n200\n";
        std::vector<Vec3<double>> expected;
        for (int i = 0; i < 200; ++i)
        {
            text += "    1SOL     OW    1";
            Vec3<double> r;
            for (int d = 0; d < 3; ++d)
            {
                const std::string column = fmt::format("{:{}.{}f}", anywhere(random), decimals + 5, decimals);
                r[d] = std::stod(column);
                text += column;
            }
            expected.push_back(r);
            text += '\n';
        }
        EXPECT_EQ(read(text + "3 3 3\n").x, expected) << decimals;
    }
}

TEST_F(GroTest, residue_and_atom_numbers_start_again_after_99999)
{
    const Topology topology = small_topology(100001);
    const std::vector<Vec3<double>> x(static_cast<std::size_t>(topology.atom_count()), Vec3<double>{1, 1, 1});
    const auto path = folder_.path() / "out.gro";
    write_gro(path, topology, "t", {3, 3, 3}, x, {}, 3);
    EXPECT_EQ(read_gro(path).x.size(), x.size());
    std::ifstream in(path);
    std::string line;
    std::vector<std::string> numbers;
    while (std::getline(in, line)) { numbers.push_back(line.size() > 20 ? line.substr(0, 5) + line.substr(15, 5) : ""); }
    EXPECT_EQ(numbers[2], "    1    1");
    EXPECT_EQ(numbers[2 + 99998], "3333399999");
    EXPECT_EQ(numbers[2 + 99999], "33334    0");
    EXPECT_EQ(numbers[2 + 3 * 99998], "99999" + fmt::format("{:5}", (3 * 99998 + 1) % 100000));
    EXPECT_EQ(numbers[2 + 3 * 99999].substr(0, 5), "    0");
    EXPECT_EQ(numbers[2 + 3 * 100001].substr(0, 5), "    7"); // residues of larger molecules keep their numbers
}

TEST_F(GroTest, atoms_must_match_the_topology_in_number_and_should_in_name)
{
    const Topology topology = small_topology(1);
    Diagnostics diagnostics;
    const std::string head = "t\n5\n",
                      tail =
                          "    7ONE      A    4   1.000   1.000   1.000\n    9TWO  LONGN    5   1.000   1.000   1.000\n3 3 3\n";
    const std::string third = "    1SOL    HW2    3   1.000   1.000   1.000\n";
    compare_names(read(head + std::string(two_lines) + third + tail), topology, diagnostics);
    EXPECT_THAT(diagnostics.warnings, IsEmpty()); // names are compared as far as the columns hold them
    compare_names(read(head + third + std::string(two_lines) + tail), topology, diagnostics);
    ASSERT_THAT(diagnostics.warnings, SizeIs(1));
    EXPECT_EQ(diagnostics.warnings[0].id, "W030");
    EXPECT_EQ(diagnostics.warnings[0].where.line, 3);
    EXPECT_THAT(diagnostics.warnings[0].message, HasSubstr("3 atom names"));
    expect_refused([&] { compare_names(read("t\n2\n" + std::string(two_lines) + "3 3 3\n"), topology, diagnostics); }, "E171",
                   "conf.gro", 2, "2 atoms");
}

TEST_F(GroTest, a_file_that_cannot_be_written_is_a_system_error)
{
    const Topology topology = small_topology(1);
    EXPECT_THROW(write_gro(folder_.path() / "no" / "out.gro", topology, "t", {3, 3, 3}, std::vector<Vec3<double>>(5), {}, 3),
                 SystemError);
}
