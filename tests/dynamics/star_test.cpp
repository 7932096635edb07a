// SPDX-License-Identifier: Apache-2.0
// The constraints of a star in registers against LINCS of the same group, and the blocks that the GPU's update deals atoms to.
#include "dynamics/star_body.hpp"

#include "dynamics/update_blocks.hpp"
#include "support/refdata.hpp"

#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace parhelion;
using namespace parhelion::test;

namespace {

// A carbon with n hydrogens, every second constraint named from its other end.
std::vector<LincsBond> star_bonds(int n)
{
    std::vector<LincsBond> bonds;
    for (int i = 1; i <= n; ++i) { bonds.push_back(i % 2 == 0 ? LincsBond{0, i, 0.109} : LincsBond{i, 0, 0.109}); }
    return bonds;
}

template <int n>
void compare_with_lincs()
{
    const std::vector<double> inverse_mass{1 / 12.011, 1 / 1.008, 1 / 1.1, 1 / 2.014, 1 / 1.008};
    const LincsSettings settings;
    const LincsGroup group = make_lincs_groups(star_bonds(n), inverse_mass).front();
    LincsWork work;
    work.resize(group);

    StarShape shape;
    shape.series_order = series_order(group, settings);
    std::vector<std::size_t> place(n + 1); // in the group
    for (std::size_t k = 0; k < group.atoms.size(); ++k)
    {
        place[static_cast<std::size_t>(group.atoms[k])] = k;
        shape.inverse_mass[group.atoms[k]] = group.inverse_mass[k];
    }
    std::mt19937 random(n);
    std::normal_distribution<double> step(0, 0.003); // nm
    Vec3<double> bond[n], move[n + 1];
    const Vec3<double> corners[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    for (int k = 0; k <= n; ++k)
    {
        move[k] = {step(random), step(random), step(random)};
        work.move[place[static_cast<std::size_t>(k)]] = move[k];
    }
    for (int i = 0; i < n; ++i)
    {
        shape.length[i] = 0.109;
        shape.weight[i] = group.weight[static_cast<std::size_t>(i)];
        bond[i] = 0.109 / std::sqrt(3.0) * corners[i];
        const bool from_centre = static_cast<std::size_t>(group.bonds[static_cast<std::size_t>(i)].a) == place[0];
        work.reference[static_cast<std::size_t>(i)] = from_centre ? -bond[i] : bond[i];
    }
    lincs(group, settings, work);
    const StarForces<n> forces = constrain_star<n>(shape, settings.iterations, bond, move);
    for (int k = 0; k <= n; ++k) { EXPECT_LE(norm(move[k] - work.move[place[static_cast<std::size_t>(k)]]), 1e-15) << k; }
    for (int i = 0; i < n; ++i)
    {
        EXPECT_NEAR(std::abs(forces.multiplier[i]), std::abs(work.multiplier[static_cast<std::size_t>(i)]), 1e-14);
        EXPECT_NEAR(norm(bond[i] + (move[i + 1] - move[0])), 0.109, 0.109 * LincsSettings::tolerance);
    }
}

} // namespace

TEST(Star, moves_its_atoms_as_lincs_does)
{
    compare_with_lincs<1>();
    compare_with_lincs<2>();
    compare_with_lincs<3>();
    compare_with_lincs<4>();
}

TEST(UpdateBlocks, hold_every_atom_and_every_constraint_once)
{
    for (const std::string& name : refdata_systems)
    {
        for (const ConstraintMode mode : {ConstraintMode::HBonds, ConstraintMode::None})
        {
            const Refdata data = load_refdata(name, mode);
            const UpdateBlocks blocks = make_update_blocks(data.system.topology, {});
            std::multiset<std::int32_t> atoms(blocks.water_atoms.begin(), blocks.water_atoms.end());
            atoms.insert(blocks.global_atoms.begin(), blocks.global_atoms.end());
            for (const Stars& stars : blocks.stars) { atoms.insert(stars.atoms.begin(), stars.atoms.end()); }
            EXPECT_EQ(static_cast<std::int64_t>(atoms.size()), data.system.topology.atom_count());
            EXPECT_EQ(std::set<std::int32_t>(atoms.begin(), atoms.end()).size(), atoms.size());
            EXPECT_EQ(blocks.constraints(), data.system.topology.constraint_count()) << name;
        }
    }
}

TEST(UpdateBlocks, take_a_carbon_and_its_hydrogens_for_a_star_but_not_a_chain)
{
    const Refdata hydrogens = load_refdata("etoh");
    const UpdateBlocks stars = make_update_blocks(hydrogens.system.topology, {});
    EXPECT_TRUE(stars.blocks.empty());
    const std::size_t ethanols = stars.stars[3].shape.size(); // one CH3, one CH2, one OH each
    EXPECT_GT(ethanols, 0u);
    EXPECT_EQ(stars.stars[2].shape.size(), ethanols);
    EXPECT_EQ(stars.stars[1].shape.size(), ethanols);

    Refdata chain = load_refdata("etoh");
    for (MoleculeType& type : chain.system.topology.molecule_types)
    {
        if (type.constraints.empty()) { continue; }
        const Constraint& first = type.constraints.front();
        const Constraint& last = type.constraints.back();
        type.constraints.push_back({first.a, last.a, 0.15});
    }
    const UpdateBlocks blocks = make_update_blocks(chain.system.topology, {});
    EXPECT_FALSE(blocks.blocks.empty());
}
