// SPDX-License-Identifier: Apache-2.0
// Damages run input files, and restart files of AMBER in NetCDF, in thousands of ways, as mutation_test.cpp does text: the reader
// gives a sound system or an InputError, in well under two seconds. A failure prints the seed: PARHELION_MUTATION_SEED=N repeats
// that one, PARHELION_MUTATIONS=N tries N seeds of each file.
#include "io/input/amber_coordinates.hpp"
#include "io/input/load.hpp"
#include "io/output/amber_restart.hpp"

#include "input_folder.hpp"
#include "small_input.hpp"
#include "sound_system.hpp"

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>

using namespace parhelion;

namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random() % n); }

void put_number(std::string& bytes, std::size_t at, std::uint32_t number)
{
    for (std::size_t i = 0; i < 4 && at + i < bytes.size(); ++i)
    {
        bytes[at + i] = static_cast<char>(number >> (24 - 8 * i) & 0xff);
    }
}

void mutate(Random& random, std::string& bytes)
{
    constexpr std::uint32_t numbers[] = {0,          1,          2,          3,          0xffffffff, 0x7fffffff, 0x80000000,
                                         0x7f800000, 0x7fc00000, 0xff800000, 0x10000,    0x1000000,  0x3f800000, 0xbf800000,
                                         100,        0x7f7fffff, 0x00000001, 0x40000000, 255,        256};
    const std::size_t at = below(random, bytes.size());
    switch (below(random, 8))
    {
    case 0:
    case 1:
        bytes[at] = static_cast<char>(random());
        return;
    case 2:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(random, 8)));
        return;
    case 3:
    case 4: // fields begin anywhere
        return put_number(bytes, at, numbers[below(random, std::size(numbers))]);
    case 5: // the header's length tells of it
        bytes.erase(at, 1 + below(random, 12));
        return;
    case 6:
        bytes.insert(at, bytes.substr(below(random, bytes.size()), 1 + below(random, 12)));
        return;
    default: // a part comes from elsewhere
    {
        const std::size_t from = below(random, bytes.size()), count = 1 + below(random, 64);
        const std::string part = bytes.substr(from, count);
        bytes.replace(at, std::min(part.size(), bytes.size() - at), part.substr(0, bytes.size() - at));
        return;
    }
    }
}

class BinaryMutation : public ::testing::TestWithParam<const char*>
{
protected:
    bool try_seed(const std::string& whole, std::uint64_t seed)
    {
        Random random(seed);
        std::string bytes = whole;
        for (std::size_t changes = 1 + below(random, 3); changes > 0 && !bytes.empty(); --changes) { mutate(random, bytes); }
        SCOPED_TRACE("PARHELION_MUTATION_SEED=" + std::to_string(seed));
        const std::filesystem::path damaged = folder_.write("damaged", bytes);
        const InputFiles files = files_with(damaged);
        const std::clock_t start = std::clock(); // of the processor: other programs do not count
        bool accepted = false;
        Diagnostics diagnostics;
        try
        {
            const LoadedInput loaded = load_gromacs(files, diagnostics);
            accepted = true;
            EXPECT_TRUE(finite(loaded.system.x) && finite(loaded.system.v) && finite(loaded.system.topology));
            EXPECT_TRUE(consistent(loaded.system));
        }
        catch (const InputError& error)
        {
            EXPECT_FALSE(error.where().file.empty()) << error.what();
            // A box that is too small for a cut-off is an error of the .mdp file, if there is one.
            if (!is_restart()) { EXPECT_EQ(error.where().file, damaged.string()) << error.what(); }
        }
        catch (const std::exception& error)
        {
            ADD_FAILURE() << "neither a system nor an InputError: " << error.what();
        }
        EXPECT_LT(std::clock() - start, 2 * CLOCKS_PER_SEC);
        return accepted;
    }

    std::string whole()
    {
        std::filesystem::path path = std::filesystem::path(PARHELION_SOURCE_DIR) / "tests/data/io/tpr" / GetParam();
        if (is_restart())
        {
            const GroFile text = read_amber_coordinates(MappedFile(amber_.path("conf.rst7")), {});
            path = folder_.path() / "whole.rst7";
            write_amber_restart(path, {"a title", "1.0", 12.625, text.box, text.x, text.v});
        }
        std::ifstream stream(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

private:
    bool is_restart() const { return std::string_view(GetParam()).ends_with(".rst7"); }
    InputFiles files_with(const std::filesystem::path& damaged) const
    {
        InputFiles files;
        if (is_restart())
        {
            files = amber_.files();
            files.structure = damaged;
        }
        else { files.run_input = damaged; }
        return files;
    }

    InputFolder folder_;
    SmallInput amber_{"amber"};
};

} // namespace

TEST_P(BinaryMutation, gives_a_sound_system_or_an_error)
{
    const std::string whole = this->whole();
    if (const char* const only = std::getenv("PARHELION_MUTATION_SEED"); only != nullptr)
    {
        try_seed(whole, std::strtoull(only, nullptr, 10));
        return;
    }
    const char* const number = std::getenv("PARHELION_MUTATIONS");
    const int mutations = number == nullptr ? 1500 : std::atoi(number);
    int accepted = 0;
    for (int seed = 0; seed < mutations && !HasFailure(); ++seed)
    {
        accepted += try_seed(whole, static_cast<std::uint64_t>(seed));
    }
    // The damage must be neither all fatal nor all harmless, or the test would look at nothing.
    EXPECT_GT(accepted, mutations / 50);
    EXPECT_LT(accepted, mutations / 10 * 9);
}

INSTANTIATE_TEST_SUITE_P(Files, BinaryMutation,
                         ::testing::Values("small_single.tpr", "small_double.tpr", "rare_single.tpr", "rare_double.tpr",
                                           "seldom_single.tpr", "seldom_double.tpr", "netcdf.rst7"),
                         [](const ::testing::TestParamInfo<const char*>& file) {
                             const std::string name = file.param;
                             return name.substr(0, name.find('.'));
                         });
