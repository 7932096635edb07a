// SPDX-License-Identifier: Apache-2.0
// Damages small but complete inputs in thousands of ways and loads them. Whatever the damage, the reader either gives a system of
// finite numbers or throws an InputError that names a file and a line, in well under two seconds; nothing else. A failure prints
// the seed and writes the damaged file's text: run with PARHELION_MUTATION_SEED=N to repeat that one, with PARHELION_MUTATIONS=N
// for N seeds of each file.
#include "io/input/load.hpp"

#include "small_input.hpp"
#include "sound_system.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

using namespace parhelion;

namespace {

int mutations_per_kind()
{
    const char* const number = std::getenv("PARHELION_MUTATIONS");
    return number == nullptr ? 1500 : std::atoi(number);
}

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random() % n); }

template <class Container>
const auto& any_of(Random& random, const Container& list)
{
    return list[below(random, std::size(list))];
}

std::vector<std::string> split_lines(const std::string& text)
{
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) { lines.push_back(line); }
    return lines;
}

std::string text_of(const std::vector<std::string>& lines)
{
    std::string text;
    for (const std::string& line : lines) { text += line + "\n"; }
    return text;
}

// [begin, end) of a random word of the text; empty if there is none.
std::pair<std::size_t, std::size_t> any_word(Random& random, const std::string& text, const char* letters)
{
    if (text.empty()) { return {0, 0}; }
    const std::size_t begin = text.find_first_of(letters, below(random, text.size()));
    if (begin == std::string::npos) { return {0, 0}; }
    return {begin, std::min(text.find_first_not_of(letters, begin), text.size())};
}

constexpr const char* number_letters = "0123456789.+-eE";
constexpr const char* word_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+";
const std::vector<std::string> numbers = {"0",           "-1",
                                          "1",           "2",
                                          "3",           "7",
                                          "1e400",       "-1e400",
                                          "1e-400",      "nan",
                                          "inf",         "-inf",
                                          "1.5",         "99999999999999999999",
                                          "2147483647",  "2147483648",
                                          "-2147483648", "9223372036854775807",
                                          "1e308",       "-1e308",
                                          "1e-300",      "0x10",
                                          "1,5",         "1e",
                                          ".",           "-",
                                          "+5",          "5.",
                                          ".5",          "1000000000"};
const std::vector<std::string> fragments = {
    "#include \"topol.top\"",
    "#include \"missing.itp\"",
    "#include \"water.itp\"",
    "#include",
    "#define HC CT HC",
    "#define CT CT CT",
    "#define LOOP LOOP LOOP",
    "#define A B\n#define B A",
    "#undef WITH_WATER",
    "#ifdef X",
    "#ifndef X",
    "#else",
    "#endif",
    "#if 1",
    "[ atoms ]",
    "[ bonds ]",
    "[ moleculetype ]",
    "[ molecules ]",
    "[ cmap ]",
    "[ nonsense ]",
    "[ settles ]",
    "[ system ]",
    "[",
    "]",
    "[ ]",
    "\\",
    ";",
    "=",
    "= =",
    "tcoupl = ",
    "SOL 1000000000000",
    "SOL -3",
    "ETH 0",
    "integrator = md",
    "1 2 3 4 5 6 7 8 9 10",
    " # a remark",
    "1 2 1 # 0.1 100",
    "1 2 3 4 5 1.5 -0.75 2.25 0.5",
    "[ distance_restraints ]\n1 2 1 0 1 0.1 0.2 0.3 1",
    "[ dihedral_restraints ]\n1 2 3 4 1 -120 2.5 300",
    "[ angle_restraints ]\n1 2 1 3 1 40 100 2",
    "[ angle_restraints_z ]\n1 2 1 40 100 2",
    "[ position_restraints ]\n1 2 1 -0.5 1000",
    "1 2 3 4 1 0 2.5 FC",
    "define = -DFC=100 -DPOSRES",
    "disre = simple",
    "free-energy = yes",
    "vdwtype = shift",
    "vdwtype = switch\nrvdw-switch = 0.7",
    "integrator = steep\ndt = 0",
    "pcoupltype = semiisotropic",
    "pcoupltype = anisotropic",
    "compressibility = 4.5e-5 0",
    "ref-p = 1 1 1 0 0 0",
    "[ virtual_sites1 ]\n4 1 1",
    "[ virtual_sites2 ]\n4 1 2 2 0.1",
    "[ virtual_sites3 ]\n4 1 2 3 4 -0.3 -0.3 6.4",
    "[ virtual_sites4 ]\n5 1 2 3 4 2 0.9 1.1 -0.1",
    "[ virtual_sitesn ]\n5 3 1 0.2 2 0.3 4 0.5",
    "[ constraints ]\n1 2 1 0.15",
    "#include \"sites.itp\"",
    "freezegrps = System\nfreezedim = Y Y Y",
    "annealing = periodic no",
    "annealing-npoints = 1000000000 2",
    "electric-field-x = 1 2 3 4",
    "periodic-molecules = yes",
    "mass-repartition-factor = 1e9",
    "coulombtype = PME\nfourierspacing = 1e-3",
    "pcoupltype = surface-tension",
    "    1SOL     OW    1   0.230   0.628   0.113 ; text",
    "   2.60000   2.50000   2.40000   0.00000   0.00000   1.30000   0.00000  -1.30000   1.25000",
    "\t",
    "0 0 0",
    "10 0 0",
    std::string(3, '\0'),
    "\xff\xfe",
    "\r"};

void mutate(Random& random, std::string& text)
{
    std::vector<std::string> lines = split_lines(text);
    switch (below(random, 14))
    {
    case 0: // a number becomes another
    {
        const auto [begin, end] = any_word(random, text, number_letters);
        text.replace(begin, end - begin, any_of(random, numbers));
        return;
    }
    case 1: // a word becomes another word of the text
    {
        const auto [begin, end] = any_word(random, text, word_letters);
        const auto [from, to] = any_word(random, text, word_letters);
        text.replace(begin, end - begin, text.substr(from, to - from));
        return;
    }
    case 2: // a word goes
    {
        const auto [begin, end] = any_word(random, text, word_letters);
        text.erase(begin, end - begin);
        return;
    }
    case 3: // a letter changes
        if (!text.empty()) { text[below(random, text.size())] = static_cast<char>(random()); }
        return;
    case 4: // letters go
    {
        const std::size_t begin = below(random, text.size());
        text.erase(begin, 1 + below(random, 12));
        return;
    }
    case 5:
        text.resize(below(random, text.size() + 1));
        return; // the end is missing
    case 6:
        text.erase(0, below(random, text.size() + 1));
        return; // the beginning is missing
    case 7:     // a line goes
        if (!lines.empty()) { lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(below(random, lines.size()))); }
        break;
    case 8: // a line comes twice
        if (!lines.empty())
        {
            const std::size_t at = below(random, lines.size());
            lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), lines[at]);
        }
        break;
    case 9: // two lines change places
        if (!lines.empty()) { std::swap(lines[below(random, lines.size())], lines[below(random, lines.size())]); }
        break;
    case 10: // something out of place is put in
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(below(random, lines.size() + 1)), any_of(random, fragments));
        break;
    case 11: // a block of lines moves
    {
        const std::size_t begin = below(random, lines.size()),
                          count = std::min<std::size_t>(1 + below(random, 8), lines.size() - begin);
        const auto first = lines.begin() + static_cast<std::ptrdiff_t>(begin);
        std::vector<std::string> block(first, first + static_cast<std::ptrdiff_t>(count));
        lines.erase(first, first + static_cast<std::ptrdiff_t>(count));
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(below(random, lines.size() + 1)), block.begin(), block.end());
        break;
    }
    case 12: // a line becomes very long
        if (!lines.empty())
        {
            std::string& line = lines[below(random, lines.size())];
            const std::string once = line + " ";
            for (const std::size_t longest = below(random, 100000); line.size() < longest;) { line += once; }
        }
        break;
    default: // a number is put in
        text.insert(below(random, text.size() + 1), " " + any_of(random, numbers) + " ");
        return;
    }
    text = text_of(lines);
}

struct Kind
{
    const char *folder, *file;
};

class Mutation : public ::testing::TestWithParam<Kind>
{
protected:
    // Whether the message points at one of the input files, and at a line unless the file as a whole is to blame.
    static bool well_placed(const InputError& error)
    {
        static const std::vector<std::string> of_whole_file = {"E107", "E110", "E115", "E570", "E132", "E150", "E151", "E134",
                                                               "E152", "E153", "E154", "E155", "E156", "E157", "E158", "E171"};
        if (error.id().empty() || error.where().file.empty() || error.message().empty()) { return false; }
        return error.where().line > 0 || std::find(of_whole_file.begin(), of_whole_file.end(), error.id()) != of_whole_file.end();
    }

    // Loads the input damaged by the seed; true if it was accepted.
    static bool try_seed(SmallInput& input, const std::string& name, const std::string& original, std::uint64_t seed)
    {
        Random random(seed);
        std::string text = original;
        for (std::size_t changes = 1 + below(random, 3); changes > 0; --changes) { mutate(random, text); }
        input.put(name, text);
        SCOPED_TRACE("PARHELION_MUTATION_SEED=" + std::to_string(seed) + " in " + name);
        const std::clock_t start = std::clock(); // of the processor: other programs do not count
        bool accepted = false;
        Diagnostics diagnostics;
        try
        {
            const LoadedInput loaded = input.load(diagnostics);
            accepted = true;
            EXPECT_TRUE(finite(loaded.system.x) && finite(loaded.system.v) &&
                        finite(std::vector<Vec3<double>>{loaded.system.box.diagonal(), loaded.system.box.tilt()}) &&
                        finite(loaded.system.topology));
            EXPECT_TRUE(consistent(loaded.system));
        }
        catch (const InputError& error)
        {
            EXPECT_TRUE(well_placed(error)) << error.what();
        }
        catch (const std::exception& error)
        {
            ADD_FAILURE() << "neither a system nor an InputError: " << error.what();
        }
        EXPECT_LT(std::clock() - start, 2 * CLOCKS_PER_SEC);
        if (HasFailure()) { std::printf("%s\n", text.substr(0, 4000).c_str()); }
        return accepted;
    }
};

} // namespace

TEST_P(Mutation, gives_a_finite_system_or_a_placed_error)
{
    const std::string name = GetParam().file;
    SmallInput input(GetParam().folder);
    const int mutations = mutations_per_kind();
    const std::string original = input.texts().at(name);
    if (const char* const only = std::getenv("PARHELION_MUTATION_SEED"); only != nullptr)
    {
        try_seed(input, name, original, std::strtoull(only, nullptr, 10));
        return;
    }
    int accepted = 0;
    for (int seed = 0; seed < mutations && !HasFailure(); ++seed)
    {
        accepted += try_seed(input, name, original, static_cast<std::uint64_t>(seed));
    }
    // The damage must be neither all fatal nor all harmless, or the test would look at nothing.
    EXPECT_GT(accepted, mutations / 50);
    EXPECT_LT(accepted, mutations / 10 * 9);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Mutation,
                         ::testing::Values(Kind{"small", "run.mdp"}, Kind{"small", "topol.top"}, Kind{"small", "forcefield.itp"},
                                           Kind{"small", "water.itp"}, Kind{"small", "conf.gro"}, Kind{"small", "index.ndx"},
                                           Kind{"rare", "run.mdp"}, Kind{"rare", "topol.top"}, Kind{"rare", "sites.itp"},
                                           Kind{"rare", "ring.itp"}, Kind{"rare", "conf.gro"}, Kind{"rare", "index.ndx"},
                                           Kind{"seldom", "topol.top"}, Kind{"amber", "system.prmtop"},
                                           Kind{"amber", "conf.rst7"}),
                         [](const ::testing::TestParamInfo<Kind>& kind) {
                             std::string name = std::string(kind.param.folder) + "_" + kind.param.file;
                             name[name.find('.')] = '_';
                             return name;
                         });
