// SPDX-License-Identifier: Apache-2.0
// Bonded terms, restraints and self energies of ranks on GPUs: each of one rank, and together what one rank computes.
#include "interactions/bonded/gpu/bonded_gpu.hpp"
#include "interactions/pair/gpu/nonbonded_gpu.hpp"
#include "interactions/random_molecules.hpp"
#include "support/compare.hpp"
#include "support/gpu_parts.hpp"
#include "support/particles.hpp"
#include "support/refdata.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

constexpr Cells grids[] = {{2, 1, 1}, {8, 1, 1}, {1, 1, 5}, {1, 3, 2}, {2, 2, 2}};
constexpr double short_reach = 0.9, box_wide_reach = 20; // nm; with the second every rank has all atoms

using Record = std::vector<std::int32_t>; // kind, global atoms, body

// The terms that a rank has listed; counts those with a halo atom.
template <class N>
std::vector<Record> assigned_records(GpuQueue& queue, const GpuBonded& bonded, const GpuState<N>& state, int& with_halo)
{
    const std::vector<std::int32_t> words = bonded.assigned().to_vector(queue), terms = bonded.assigned_terms().to_vector(queue);
    const std::vector<std::int32_t> global_of_slot = state.global_of_slot.to_vector(queue);
    const std::vector<std::uint8_t> zones = state.zone_of_supercluster.to_vector(queue);
    std::vector<Record> records;
    for (std::int32_t of_part = 0; of_part < 2 * interaction_kinds; ++of_part)
    {
        const std::int32_t kind = of_part % interaction_kinds;
        const bool is_local = of_part < interaction_kinds;
        const int n = arity(static_cast<InteractionKind>(kind));
        const GpuTerms& all = bonded.kinds()[static_cast<std::size_t>(kind)];
        for (std::int32_t term = 0; term < terms[static_cast<std::size_t>(of_part)]; ++term)
        {
            const std::int64_t place = is_local ? term : all.terms - 1 - term;
            const auto first = static_cast<std::size_t>(all.first_word + place * (n + 1));
            Record record{kind};
            bool halo = false;
            for (std::size_t k = first; k < first + static_cast<std::size_t>(n); ++k)
            {
                const auto slot = static_cast<std::size_t>(words[k]);
                record.push_back(global_of_slot[slot]);
                halo = halo || zones[slot / supercluster_size] != 0;
            }
            record.push_back(words[first + static_cast<std::size_t>(n)]);
            records.push_back(record);
            EXPECT_EQ(halo, !is_local) << "kind " << kind << ", term " << term;
            with_halo += halo ? 1 : 0;
        }
    }
    return records;
}

struct Sums
{
    std::vector<Vec3<double>> forces; // by global atom
    std::vector<Vec3<std::int64_t>> bits;
    EnergyVirial energies;
};

// A system's bonded terms on one rank or several.
template <class N>
class BondedRanks
{
public:
    BondedRanks(GpuQueue& queue, const System& system, const PositionRestraints& restraints, const RunParameters& parameters,
                const Cells& cells, double reach)
        : queue_(queue), whole_(particles_in_input_order<N>(system)), ranks_(queue, whole_, system.topology, cells, reach)
    {
        const BondedTables tables = make_bonded(system.topology, parameters);
        const int more_ranks = 3 * static_cast<int>(ranks_.parts.size()); // so that these have more terms than they should
        for (GpuPart<N>& part : ranks_.parts)
        {
            bonded_.emplace_back(queue, tables, restraints, system.topology, more_ranks);
            bonded_.back().forget(queue);
            bonded_.back().resolve(queue, part.state, part.cell);
        }
    }

    // Of all ranks, in order.
    std::vector<Record> records()
    {
        std::vector<Record> all;
        for (std::size_t rank = 0; rank < bonded_.size(); ++rank)
        {
            const std::vector<Record> some = assigned_records(queue_, bonded_[rank], ranks_.parts[rank].state, with_halo_);
            all.insert(all.end(), some.begin(), some.end());
            most_terms_ = std::max(most_terms_, some.size());
        }
        std::sort(all.begin(), all.end());
        return all;
    }
    std::int64_t missing_terms()
    {
        std::int64_t missing = 0;
        for (const GpuPart<N>& part : ranks_.parts) { missing += part.state.scalars.to_vector(queue_)[0].missing_terms; }
        return missing;
    }
    int with_halo() const { return with_halo_; } // after records()
    std::size_t most_terms() const { return most_terms_; }

    Sums compute(Compute compute)
    {
        Sums sums;
        sums.forces.resize(whole_.slot_of_global.size()), sums.bits.resize(whole_.slot_of_global.size());
        EnergySums<N> energies;
        for (std::size_t rank = 0; rank < bonded_.size(); ++rank)
        {
            GpuState<N>& state = ranks_.parts[rank].state;
            state.f.clear(queue_), state.energies.clear(queue_);
            compute_bonded(queue_, bonded_[rank], state, compute);
            energies += state.energies.to_vector(queue_)[0];
            const std::vector<ForceSlot<N>> f = state.f.to_vector(queue_);
            ranks_.for_each_atom(ranks_.parts[rank], [&](std::size_t slot, std::size_t atom, bool) {
                sums.forces[atom] += Vec3<double>{from_sum(f[slot].x), from_sum(f[slot].y), from_sum(f[slot].z)};
                if constexpr (N::summation == Summation::Reproducible)
                {
                    sums.bits[atom] += Vec3<std::int64_t>{f[slot].x, f[slot].y, f[slot].z};
                }
            });
        }
        sums.energies = energies.result();
        return sums;
    }

private:
    GpuQueue& queue_;
    ParticleState<N> whole_;
    GpuParts<N> ranks_;
    std::vector<GpuBonded> bonded_;
    int with_halo_ = 0;
    std::size_t most_terms_ = 0;
};

template <class N>
void expect_sums_of_one_rank(const System& system, const PositionRestraints& restraints, const RunParameters& parameters)
{
    GpuQueue queue;
    const Sums expected =
        BondedRanks<N>(queue, system, restraints, parameters, {1, 1, 1}, short_reach).compute(Compute::ForcesEnergiesVirial);
    EXPECT_NE(expected.energies.potential(), 0);
    for (const Cells& cells : grids)
    {
        for (const double reach : {short_reach, box_wide_reach})
        {
            SCOPED_TRACE(testing::Message() << name_of(cells) << ", reach " << reach);
            BondedRanks<N> ranks(queue, system, restraints, parameters, cells, reach);
            const Sums sums = ranks.compute(Compute::ForcesEnergiesVirial), forces = ranks.compute(Compute::Forces);
            EXPECT_EQ(forces.energies.potential(), 0);
            if constexpr (N::summation == Summation::Reproducible)
            {
                EXPECT_TRUE(sums.bits == expected.bits);
                EXPECT_TRUE(forces.bits == expected.bits);
                EXPECT_EQ(sums.energies.energy, expected.energies.energy);
                EXPECT_EQ(sums.energies.virial, expected.energies.virial);
            }
            else
            {
                const double tolerance = N::precision == Precision::Mixed ? 1e-6 : 1e-13;
                EXPECT_LE(rms_relative(sums.forces, expected.forces), tolerance);
                EXPECT_LE(rms_relative(forces.forces, expected.forces), tolerance);
                EXPECT_LE(max_relative(sums.energies.virial, expected.energies.virial), 1e-9);
                EXPECT_NEAR(sums.energies.potential(), expected.energies.potential(),
                            1e-9 * std::abs(expected.energies.potential()));
            }
        }
    }
}

class RanksOnGpu : public ::testing::Test
{
protected:
    void SetUp() override
    {
        if (gpu_count() == 0) { GTEST_SKIP() << "no GPU"; }
    }
};
class RefdataRanksOnGpu : public RanksOnGpu, public ::testing::WithParamInterface<std::string>
{
protected:
    const Refdata data = load_refdata(GetParam(), ConstraintMode::None);
};
class EveryKindOnRanks : public RanksOnGpu, public ::testing::WithParamInterface<int>
{
protected:
    const InteractionKind kind = static_cast<InteractionKind>(GetParam());
};

PositionRestraints restraints_near(System& system)
{
    Random random(6);
    for (const auto& x : system.x) { system.restraint_reference.push_back(x + random.vector(random(0, 0.03))); }
    system.restraint_reference_box = system.box;
    return make_position_restraints(system, {});
}

} // namespace

TEST_P(RefdataRanksOnGpu, have_each_term_once)
{
    GpuQueue queue;
    BondedRanks<Mixed> one(queue, data.system, {}, data.parameters, {1, 1, 1}, short_reach);
    const std::vector<Record> expected = one.records();
    std::int64_t terms = 0;
    for (int kind = 0; kind < bonded_kinds; ++kind)
    {
        terms += data.system.topology.interaction_count(static_cast<InteractionKind>(kind));
    }
    EXPECT_GT(terms, 0);
    EXPECT_EQ(static_cast<std::int64_t>(expected.size()), terms);
    for (const Cells& cells : grids)
    {
        for (const double reach : {short_reach, box_wide_reach})
        {
            SCOPED_TRACE(testing::Message() << name_of(cells) << ", reach " << reach);
            BondedRanks<Mixed> ranks(queue, data.system, {}, data.parameters, cells, reach);
            EXPECT_EQ(ranks.records(), expected);
            EXPECT_GT(ranks.with_halo(), 0);
            EXPECT_LT(ranks.most_terms(), expected.size());
            EXPECT_EQ(ranks.missing_terms(), 0);
        }
    }
    BondedRanks<Mixed> blind(queue, data.system, {}, data.parameters, {8, 1, 1}, 0.01);
    EXPECT_GT(blind.missing_terms(), 0);
    EXPECT_EQ(blind.missing_terms(), terms - static_cast<std::int64_t>(blind.records().size()));
}

TEST_P(RefdataRanksOnGpu, add_up_to_the_bonded_forces_energies_and_virial_of_one)
{
    expect_sums_of_one_rank<Mixed>(data.system, {}, data.parameters);
    expect_sums_of_one_rank<Double>(data.system, {}, data.parameters);
    expect_sums_of_one_rank<MixedReproducible>(data.system, {}, data.parameters);
    expect_sums_of_one_rank<DoubleReproducible>(data.system, {}, data.parameters);
}

INSTANTIATE_TEST_SUITE_P(Refdata, RefdataRanksOnGpu, ::testing::Values("etoh", "villin"),
                         [](const auto& test) { return test.param; });

// The chains' atoms are on both sides of every border and of the box's faces.
TEST_P(EveryKindOnRanks, adds_up_to_the_forces_energies_and_virial_of_one)
{
    System system = random_chains(kind, 50, 77);
    const PositionRestraints restraints = GetParam() >= bonded_kinds ? restraints_near(system) : PositionRestraints{};
    expect_sums_of_one_rank<Double>(system, restraints, {});
    expect_sums_of_one_rank<MixedReproducible>(system, restraints, {});
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKindOnRanks, ::testing::Range(0, static_cast<int>(interaction_kinds)));

// 3 restraints of several pairs in each chain beside 6 of one pair.
TEST_F(RanksOnGpu, take_each_joint_distance_once)
{
    const System system = random_chains(InteractionKind::DistanceRestraint, 50, 77);
    RunParameters equal;
    equal.equal_distance_forces = true;
    expect_sums_of_one_rank<Double>(system, {}, equal);
    expect_sums_of_one_rank<MixedReproducible>(system, {}, equal);
    GpuQueue queue;
    for (const Cells& cells : grids)
    {
        EXPECT_EQ(BondedRanks<Mixed>(queue, system, {}, {}, cells, short_reach).missing_terms(), 0) << name_of(cells);
    }
    BondedRanks<Mixed> blind(queue, system, {}, {}, {2, 2, 2}, 0);
    EXPECT_GT(blind.missing_terms(), 50 * 6 - static_cast<std::int64_t>(blind.records().size()));
}

TEST_F(RanksOnGpu, show_by_their_counts_that_terms_are_lost)
{
    GpuQueue queue;
    const System system = random_chains(InteractionKind::ProperDihedral, 50, 5);
    const auto terms = [&](double reach) { return BondedRanks<Mixed>(queue, system, {}, {}, {2, 2, 2}, reach).records().size(); };
    EXPECT_EQ(terms(short_reach), 200u); // 4 of each chain
    EXPECT_LT(terms(0), 200u);
}

TEST_F(RanksOnGpu, charge_home_atoms_only)
{
    using N = MixedReproducible;
    GpuQueue queue;
    const System system = random_chains(InteractionKind::HarmonicBond, 20, 78);
    RunParameters run;
    run.coulomb = CoulombKind::ReactionField;
    run.coulomb_cutoff = run.lj_cutoff = 1.0;
    const auto whole = particles_in_input_order<N>(system);
    const auto self_energy = [&](const Cells& cells) {
        GpuParts<N> ranks(queue, whole, system.topology, cells, short_reach);
        EnergySums<N> sums;
        for (GpuPart<N>& part : ranks.parts)
        {
            GpuNonbondedTables<N> tables(queue, NonbondedTables<N>(make_nonbonded(system.topology, run)));
            GpuPairList no_pairs;
            no_pairs.rows.resize(part.state.superclusters()), no_pairs.rows.clear(queue);
            no_pairs.busy_rows.resize(1), no_pairs.busy_rows.clear(queue);
            no_pairs.shares.resize(2), no_pairs.shares.clear(queue);
            resolve_nonbonded(queue, part.state, tables);
            compute_nonbonded(queue, tables, no_pairs, part.state, Compute::ForcesEnergiesVirial);
            sums += part.state.energies.to_vector(queue)[0];
        }
        return sums.result()[EnergyTerm::CoulombSr];
    };
    const double expected = self_energy({1, 1, 1});
    EXPECT_LT(expected, 0);
    for (const Cells& cells : grids) { EXPECT_EQ(self_energy(cells), expected) << name_of(cells); }
}
