// SPDX-License-Identifier: Apache-2.0
// Molecules of which some atoms have a charge alone and others Lennard-Jones alone, on a GPU: their order, pair list and forces.
#include "interactions/pair/gpu/nonbonded_gpu.hpp"
#include "model/pair_kinds.hpp"
#include "support/gpu_pairs.hpp"
#include "support/gpu_particles.hpp"
#include "support/gpu_test.hpp"
#include "support/pair_systems.hpp"

#include <algorithm>
#include <bit>

using namespace parhelion;
using namespace parhelion::test;

namespace {

constexpr double list_cutoff = 0.9, cutoff = 0.8; // nm

// Water whose oxygen has no charge, and ions, which have a charge and Lennard-Jones. One of three atoms comes last.
System split_water()
{
    System system = random_liquid({3.7, 3.8, 3.9}, 1650, 20, 7);
    system.topology.molecule_types[0].atoms[0].charge = 0;
    return system;
}

enum class Order
{
    ByKind,
    Usual
};

template <class N>
struct Listed
{
    GpuState<N> state;
    GpuPairList list;
};

template <class N>
Listed<N> listed(GpuQueue& queue, const System& system, Order order)
{
    const ParticleState<N> particles = particles_in_input_order<N>(system);
    const std::size_t atoms = system.x.size();
    Listed<N> result;
    if (order == Order::Usual) { result.state = sorted_gpu_state(queue, particles); }
    else
    {
        const GpuAtomTable table = make_atom_table(queue, particles, system.topology, make_update_groups(system.topology));
        DeviceBuffer<PositionCharge<N>> x(atoms);
        DeviceBuffer<VelocityMass<N>> v(atoms);
        const GpuExchangeBuffer<N> all{{}, x.data(), v.data()};
        fill_exchange_buffer(queue, particles, all);
        const auto last = static_cast<std::size_t>(pair_kind::count_last_atoms(system.topology));
        reserve_slots(queue, GpuCell{}, system.box, atoms, 1, result.state, last);
        TakeScratch scratch;
        take_atoms(queue, all, table, scratch, result.state);
        queue.synchronize(); // before the scratch goes
    }
    reserve_pair_list(queue, result.state, system.box, list_cutoff, result.list);
    build_pair_list(queue, result.state, make_gpu_exclusions(queue, system.topology), list_cutoff, result.list);
    prune_pair_list(queue, result.state, cutoff, result.list);
    EXPECT_EQ(result.state.scalars.to_vector(queue)[0].flags, 0u);
    return result;
}

// The bits of every atom, and the first atom of its molecule.
struct Atoms
{
    std::vector<std::uint8_t> kind;
    std::vector<std::int64_t> molecule;
};
Atoms atoms_of(const Topology& topology)
{
    const auto kinds = pair_kind::find_pair_kinds(topology);
    Atoms atoms;
    for (std::int64_t g = 0; g < topology.atom_count(); ++g)
    {
        const AtomAddress at = topology.locate(g);
        atoms.kind.push_back(kinds[static_cast<std::size_t>(at.type)][static_cast<std::size_t>(at.local)]);
        atoms.molecule.push_back(at.molecule_first_atom);
    }
    return atoms;
}

int tiles(const HostPairList& list)
{
    int count = 0;
    for (const GpuPairRow& row : list.rows)
    {
        for (std::int32_t e = 0; e < row.pruned; ++e)
        {
            count += std::popcount(list.entries[static_cast<std::size_t>(row.begin + e)] & 0xff);
        }
    }
    return count;
}

// Forces, by global atom, energies and virial.
template <class N>
EnergyVirial evaluate(GpuQueue& queue, const System& system, const RunParameters& run, Order order,
                      std::vector<Vec3<double>>& forces)
{
    Listed<N> l = listed<N>(queue, system, order);
    GpuNonbondedTables<N> tables(queue, NonbondedTables<N>(make_nonbonded(system.topology, run)));
    resolve_nonbonded(queue, l.state, tables);
    l.state.f.clear(queue), l.state.energies.clear(queue);
    compute_nonbonded(queue, tables, l.list, l.state, Compute::ForcesEnergiesVirial);
    ParticleState<N> particles = particles_in_input_order<N>(system);
    download(queue, l.state, particles);
    forces = forces_of(particles);
    return l.state.energies.to_vector(queue)[0].result();
}

template <class N>
class PairKindsOnGpu : public GpuTest
{
};
using Policies = ::testing::Types<MixedReproducible, DoubleReproducible>;
TYPED_TEST_SUITE(PairKindsOnGpu, Policies);

} // namespace

TYPED_TEST(PairKindsOnGpu, lists_every_pair_that_interacts)
{
    GpuQueue queue;
    const System system = split_water();
    const Listed<TypeParam> l = listed<TypeParam>(queue, system, Order::ByKind);
    const std::vector<GlobalPair> pairs = listed_pairs(read(queue, l.state, l.list, true));
    EXPECT_EQ(std::ranges::adjacent_find(pairs), pairs.end()) << "listed twice";
    const ParticleState<TypeParam> particles = particles_in_input_order<TypeParam>(system);
    const Atoms atoms = atoms_of(system.topology);
    int missing = 0, in_range = 0;
    for (std::size_t i = 0; i < system.x.size(); ++i)
    {
        for (std::size_t j = i + 1; j < system.x.size(); ++j)
        {
            const double distance = norm(particles.box.nearest(particles.x.get(i), particles.x.get(j)));
            if (distance >= cutoff || (atoms.kind[i] & atoms.kind[j] & pair_kind::any) == 0) { continue; }
            const bool is_listed =
                std::ranges::binary_search(pairs, GlobalPair{static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)});
            if (atoms.molecule[i] == atoms.molecule[j]) { EXPECT_FALSE(is_listed) << i << " and " << j << " are excluded"; }
            else { ++in_range, missing += is_listed ? 0 : 1; }
        }
    }
    EXPECT_GT(in_range, 100'000);
    EXPECT_EQ(missing, 0);
}

TYPED_TEST(PairKindsOnGpu, lists_fewer_tiles_than_the_usual_order)
{
    GpuQueue queue;
    const System system = split_water();
    const auto count = [&](Order order) {
        const Listed<TypeParam> l = listed<TypeParam>(queue, system, order);
        return tiles(read(queue, l.state, l.list, true));
    };
    // Four of nine pairs of two molecules do nothing; clusters of oxygens are wider.
    EXPECT_LT(count(Order::ByKind), 0.8 * count(Order::Usual));
}

TYPED_TEST(PairKindsOnGpu, keeps_superclusters_compact)
{
    GpuQueue queue;
    const System system = split_water();
    const Listed<TypeParam> l = listed<TypeParam>(queue, system, Order::ByKind);
    const std::vector<AtomBounds> bounds = l.list.superclusters.to_vector(queue);
    int mixed = 0;
    for (const AtomBounds& b : bounds)
    {
        // 64 oxygens of a column as wide as a cube of 64 charged atoms are twice as high as this cube: 2 nm. The one that begins
        // at the top of the column has some charged atoms, too.
        EXPECT_LT(b.half_z, 0.35 * system.box.heights().z);
        mixed += b.pair_kinds == pair_kind::any ? 1 : 0;
    }
    EXPECT_LT(mixed, 0.6 * static_cast<double>(bounds.size()));
}

TYPED_TEST(PairKindsOnGpu, has_the_bits_of_the_usual_order)
{
    GpuQueue queue;
    const System system = split_water();
    for (const RunParameters& run : {reaction_field(cutoff), pme(cutoff)})
    {
        std::vector<Vec3<double>> by_kind, usual;
        const EnergyVirial a = evaluate<TypeParam>(queue, system, run, Order::ByKind, by_kind);
        const EnergyVirial b = evaluate<TypeParam>(queue, system, run, Order::Usual, usual);
        EXPECT_EQ(by_kind, usual);
        EXPECT_EQ(a.energy, b.energy);
        EXPECT_EQ(a.virial, b.virial);
    }
}
