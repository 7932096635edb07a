// SPDX-License-Identifier: Apache-2.0
// freezegrps and freezedim: what is frozen, and what is refused.
#include "input_folder.hpp"
#include "model/frozen_atoms.hpp"
#include "small_input.hpp"

#include <algorithm>
#include <gmock/gmock-more-matchers.h>

namespace parhelion {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// The small input (two ethanols, seven waters, an ion) with these lines.
struct Frozen
{
    SmallInput input;
    explicit Frozen(const std::string& lines)
    {
        input.replace("run.mdp", "free-energy             = no", "free-energy = no\n" + lines);
        // Groups of atoms by number: a carbon and one of its hydrogens of the first ethanol; a part of a water; every second
        // water.
        input.put("index.ndx", input.texts().at("index.ndx") + "[ CarbonOfOne ]\n1\n[ Hydrogen ]\n2\n[ Oxygen ]\n19\n"
                                                               "[ Alternating ]\n19 20 21 25 26 27 31 32 33\n");
    }
    LoadedInput load()
    {
        Diagnostics diagnostics;
        return input.load(diagnostics);
    }
};

std::vector<std::uint8_t> axes_of(const Topology& topology)
{
    std::vector<std::uint8_t> axes;
    for (std::int64_t atom = 0; atom < topology.atom_count(); ++atom) { axes.push_back(topology.atom(atom).frozen); }
    return axes;
}

TEST(FrozenGroups, freeze_atoms_and_their_velocities)
{
    Frozen frozen("freezegrps = CarbonOfOne NA\nfreezedim = Y Y Y n Yes N\n");
    const LoadedInput loaded = frozen.load();
    std::vector<std::uint8_t> expected(static_cast<std::size_t>(loaded.system.topology.atom_count()));
    expected[0] = 7, expected[36] = 2;
    EXPECT_EQ(axes_of(loaded.system.topology), expected);
    EXPECT_EQ(loaded.system.topology.atom_count(), 40);
    if (!loaded.system.v.empty())
    {
        EXPECT_EQ(loaded.system.v[0], (Vec3<double>{}));
        EXPECT_EQ(loaded.system.v[36].y, 0);
    }
    ASSERT_THAT(loaded.parameters.frozen_groups, SizeIs(2));
}

// Copies that are frozen differently are types of their own, whose name stays; rigid waters that stay need no SETTLE.
TEST(FrozenGroups, divide_molecules_that_are_frozen_differently)
{
    const Topology topology = Frozen("freezegrps = Alternating\nfreezedim = Y Y Y\n").load().system.topology;
    std::vector<std::pair<std::string, std::int64_t>> blocks;
    std::vector<std::size_t> settles;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(block.type)];
        blocks.emplace_back(type.name, block.count);
        settles.push_back(type.settles.size());
    }
    using Block = std::pair<std::string, std::int64_t>;
    EXPECT_THAT(blocks, ElementsAre(Block("ETH", 2), Block("SOL", 1), Block("SOL", 1), Block("SOL", 1), Block("SOL", 1),
                                    Block("SOL", 1), Block("SOL", 1), Block("ION", 1), Block("SOL", 1)));
    EXPECT_THAT(settles, ElementsAre(0, 0, 1, 0, 1, 0, 1, 0, 1));
    EXPECT_THAT(topology.molecule_types, SizeIs(4));
}

TEST(FrozenGroups, along_no_axis_are_none)
{
    EXPECT_THAT(Frozen("freezegrps = ETH\nfreezedim = N N N\n").load().parameters.frozen_groups, SizeIs(0));
}

TEST(FrozenGroups, are_refused_where_something_would_be_lost)
{
    const auto refuse = [](const std::string& lines, const char* id, const char* part) {
        Frozen frozen(lines);
        expect_refused([&] { frozen.load(); }, id, frozen.input.path("run.mdp"), 34, part);
    };
    refuse("freezegrps = Oxygen\nfreezedim = Y Y Y\n", "E584", "Freeze whole waters");
    refuse("freezegrps = System\nfreezedim = Y Y Y\n", "E156", "all atoms");
    refuse("freezegrps = Nobody\nfreezedim = Y Y Y\n", "E150", "Nobody");
    refuse("freezedim = Y N N\nfreezegrps = Hydrogen\n", "E583", "atom 2");
    refuse("freezedim = Y Y\nfreezegrps = ETH\n", "E107", "freezedim has 2 values");
    refuse("freezedim = Y Y Y\n", "E107", "names 0 groups");
    refuse("freezedim = Y Y x\nfreezegrps = ETH\n", "E106", "'x'");
    refuse("freezegrps = ETH Hydrogen\nfreezedim = Y Y Y Y Y Y\n", "E154", "more than one group of freezegrps");
}

} // namespace
} // namespace parhelion
