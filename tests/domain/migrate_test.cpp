// SPDX-License-Identifier: Apache-2.0
// Atoms change hands: none is lost, none is doubled, each with all that is its own, groups whole; and one that is too far away is
// an error.
#include "domain/load_balance.hpp"
#include "support/domain_systems.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

// What must stay with an atom, by global atom.
template <class N>
struct Belongings
{
    Vec3<typename N::Fixed> x;
    Vec3<typename N::Real> v;
    typename N::Real charge, inverse_mass;
    std::int32_t lj_type;
    std::uint8_t temperature_group;
    friend bool operator==(const Belongings&, const Belongings&) = default;
};

template <class N>
Belongings<N> belongings(const ParticleState<N>& state, std::size_t atom)
{
    const std::size_t slot = Decomposition<N>::slot_of(state, atom);
    return {state.x.get(slot),        state.v.get(slot),   state.charge[slot],
            state.inverse_mass[slot], state.lj_type[slot], state.temperature_group[slot]};
}

template <class N>
std::vector<Belongings<N>> belongings(Decomposition<N>& d)
{
    const std::vector<int> owner = d.owners();
    std::vector<Belongings<N>> all;
    for (std::size_t atom = 0; atom < owner.size(); ++atom)
    {
        EXPECT_GE(owner[atom], 0) << "atom " << atom << " is lost";
        all.push_back(belongings(d.rank(std::max(0, owner[atom])).state, atom));
    }
    return all;
}

template <class N>
void expect_groups_whole_and_in_their_cells(Decomposition<N>& d)
{
    const std::vector<int> owner = d.owners();
    const auto x = d.positions();
    for (std::size_t atom = 0; atom < owner.size(); ++atom)
    {
        const AtomAddress address = d.topology().locate(static_cast<std::int64_t>(atom));
        const MoleculeUpdateGroups& groups = d.update_groups().molecule_types[static_cast<std::size_t>(address.type)];
        const auto reference = static_cast<std::size_t>(address.molecule_first_atom +
                                                        groups.reference_of_atom[static_cast<std::size_t>(address.local)]);
        const auto cell =
            d.grid().cell_at({leading_bits(x[reference].x), leading_bits(x[reference].y), leading_bits(x[reference].z)});
        ASSERT_EQ(owner[atom], d.grid().rank_of(cell)) << "atom " << atom;
    }
}

// Moves every home atom by up to `most` nm in each dimension, an update group's atoms together; a function of step and group.
template <class N>
void move_groups(Decomposition<N>& d, DomainRank<N>& r, int step, double most)
{
    for (std::size_t slot = 0; slot < r.state.home_slots(); ++slot)
    {
        const std::int32_t atom = r.state.global_of_slot[slot];
        if (atom < 0) { continue; }
        const AtomAddress address = d.topology().locate(atom);
        const auto& reference = d.update_groups().molecule_types[static_cast<std::size_t>(address.type)].reference_of_atom;
        std::mt19937_64 engine(
            static_cast<std::uint64_t>(step) << 32 |
            static_cast<std::uint64_t>(address.molecule_first_atom + reference[static_cast<std::size_t>(address.local)]));
        std::uniform_real_distribution<double> distance(-most, most);
        r.state.x.set(slot, r.state.box.displaced(r.state.x.get(slot), {distance(engine), distance(engine), distance(engine)}));
    }
}

template <class N>
System with_velocities(System system)
{
    std::mt19937_64 engine(9);
    std::normal_distribution<double> normal;
    for (std::size_t i = 0; i < system.x.size(); ++i) { system.v.push_back({normal(engine), normal(engine), normal(engine)}); }
    return system;
}

} // namespace

template <class N>
class Migration : public ::testing::Test
{
};
using Policies = ::testing::Types<Mixed, Double>;
TYPED_TEST_SUITE(Migration, Policies);

TYPED_TEST(Migration, keeps_every_atom_with_all_that_is_its_own)
{
    using N = TypeParam;
    for (const DomainCase& c : domain_cases())
    {
        for (const CellGrid& grid :
             {CellGrid{{2, 1, 1}}, CellGrid{{1, 3, 1}}, CellGrid{{2, 2, 2}}, CellGrid{{4, 1, 2}}, CellGrid{{1, 1, 7}}})
        {
            SCOPED_TRACE(testing::Message() << c.name << ", " << name_of(grid));
            Decomposition<N> d(with_velocities<N>(c.system), {.grid = grid, .reach = 0.4});
            const auto dealt = belongings(d);
            for (std::size_t atom = 0; atom < dealt.size(); ++atom) { ASSERT_EQ(dealt[atom], belongings(d.whole(), atom)); }
            d.on_ranks([](DomainRank<N>& r) {
                for (std::size_t slot = 0; slot < r.state.home_slots(); ++slot)
                {
                    if (r.state.global_of_slot[slot] < 0) { continue; }
                    r.state.temperature_group[slot] = static_cast<std::uint8_t>(r.state.global_of_slot[slot] % 7);
                }
            });
            for (int step = 0; step < 8; ++step)
            {
                // A cell of 3.6 / 7 nm is the thinnest: a group crosses one border at most.
                d.on_ranks([&](DomainRank<N>& r) { move_groups(d, r, step, 0.5); });
                const auto before = belongings(d);
                d.repartition(step);
                ASSERT_EQ(belongings(d), before);
                expect_groups_whole_and_in_their_cells(d);
                expect_halo_is_owners(d);
                expect_pairs_listed_once(d, 0.4);
                if (this->HasFatalFailure()) { return; }
            }
        }
    }
}

// Borders move to equal numbers of atoms while atoms move. Half of the box or more is empty in some of these cases.
TEST(Migration, follows_borders_that_move)
{
    for (const DomainCase& c : domain_cases())
    {
        for (const CellGrid& grid : {CellGrid{{2, 1, 1}}, CellGrid{{1, 3, 1}}, CellGrid{{2, 2, 2}}, CellGrid{{1, 1, 5}}})
        {
            SCOPED_TRACE(testing::Message() << c.name << ", " << name_of(grid));
            Decomposition<Mixed> d(with_velocities<Mixed>(c.system), {.grid = grid, .reach = 0.4});
            const std::array<double, 3> thinnest = thinnest_cells(grid, c.system.box, {0.4, 0.4, 0.4});
            for (int step = 0; step < 12; ++step)
            {
                d.on_ranks([&](DomainRank<Mixed>& r) { move_groups(d, r, step, 0.1); });
                const auto before = belongings(d);
                std::vector<RankWork> work(static_cast<std::size_t>(grid.ranks()));
                for (const int owner : d.owners()) { work[static_cast<std::size_t>(owner)].of_atoms += 1; }
                d.set_grid(with_moved_borders(d.grid(), work, thinnest));
                d.repartition(step);
                ASSERT_EQ(belongings(d), before);
                expect_groups_whole_and_in_their_cells(d);
                expect_halo_is_owners(d);
                expect_pairs_listed_once(d, 0.4);
                if (::testing::Test::HasFatalFailure()) { return; }
            }
        }
    }
}

TEST(Migration, forgets_the_halo)
{
    Decomposition<Mixed> d(domain_cases()[0].system, {.grid = {{2, 1, 2}}, .reach = 0.6});
    d.repartition();
    d.on_ranks([&](DomainRank<Mixed>& r) {
        migrate(r.queue, d.grid(), d.topology(), d.update_groups(), r.comm, 0, r.state);
        EXPECT_EQ(r.state.slots(), r.state.home_slots());
        EXPECT_TRUE(r.state.territory.is_everything());
        for (const std::int32_t slot : r.state.slot_of_global) { EXPECT_LT(slot, static_cast<std::int32_t>(r.state.slots())); }
    });
    EXPECT_EQ(belongings(d).size(), d.whole().slot_of_global.size());
}

TEST(Migration, ends_with_the_name_of_an_atom_that_moved_beyond_the_next_cell)
{
    const System system = atoms_at({8, 4, 4}, {{0.5, 1, 1}, {1.5, 1, 1}, {2.5, 1, 1}, {3.5, 1, 1}});
    for (const double distance : {-1.0, 1.0, 2.0, 3.0, 4.0, -3.0})
    {
        Decomposition<Mixed> d(system, {.grid = {{8, 1, 1}}, .reach = 0.9});
        const auto ends = d.outcomes([&](DomainRank<Mixed>& r) {
            if (const std::int32_t slot = r.state.slot_of_global[2]; slot >= 0)
            {
                const auto s = static_cast<std::size_t>(slot);
                r.state.x.set(s, r.state.box.displaced(r.state.x.get(s), {distance, 0, 0}));
            }
            d.repartition(r, 40);
        });
        const bool is_too_far = std::abs(distance) > 1;
        for (int rank = 0; rank < 8; ++rank)
        {
            const auto& end = ends[static_cast<std::size_t>(rank)];
            ASSERT_EQ(end != nullptr, is_too_far) << "rank " << rank << ", distance " << distance;
            if (!end) { continue; }
            try
            {
                std::rethrow_exception(end);
            }
            catch (const PhysicsError& error)
            {
                EXPECT_EQ(rank, 2);
                EXPECT_EQ(error.step(), 40);
                EXPECT_NE(std::string(error.what()).find("E504"), std::string::npos) << error.what();
                EXPECT_NE(std::string(error.what()).find("atom 3 I"), std::string::npos) << error.what();
            }
            catch (const PeerAborted&)
            {
                EXPECT_NE(rank, 2);
            }
        }
    }
}
