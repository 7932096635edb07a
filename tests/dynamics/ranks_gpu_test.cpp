// SPDX-License-Identifier: Apache-2.0
// Motion of a system dealt out to ranks on GPUs: home atoms move as with one rank, bit for bit, and as on the CPU; nobody moves
// the halo; what ranks sum adds up.
#include "dynamics/constraints.hpp"
#include "dynamics/gpu/kinetic_gpu.hpp"
#include "dynamics/gpu/update_gpu.hpp"
#include "dynamics/leap_frog.hpp"
#include "dynamics/toy_systems.hpp"
#include "dynamics/virtual_sites.hpp"
#include "support/compare.hpp"
#include "support/constraint_deviation.hpp"
#include "support/gpu_parts.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

constexpr double dt = 0.002;
constexpr std::int64_t step = 17;
constexpr Cells grids[] = {{1, 1, 1}, {2, 1, 1}, {8, 1, 1}, {1, 3, 2}, {2, 2, 2}};

// Every kind of update group, in numbers that leave the last lanes of warps and blocks empty, and enough rings that blocks of
// them are of several ranks, or of no atom of a rank.
System every_update_group()
{
    return toy_system({{rigid_water(), 401},
                       {methyl(), 150},
                       {ring(), 40},
                       {triangle(), 30},
                       {single_atom(40), 90},
                       {tetrahedron(), 11},
                       {bipyramid(), 5},
                       {carbon_with_hydrogens(1), 67},
                       {carbon_with_hydrogens(2), 35},
                       {carbon_with_hydrogens(4), 19},
                       {rigid_water_with_site(), 53}},
                      {3.1, 2.9, 3.3}, 300, 7);
}

// The same with all molecules in one eighth of the box: more than a rank's share.
System crowded_update_groups()
{
    System system = every_update_group();
    std::size_t first = 0;
    for (const MoleculeBlock& block : system.topology.blocks)
    {
        const std::size_t size = system.topology.molecule_types[static_cast<std::size_t>(block.type)].atoms.size();
        for (std::int64_t copy = 0; copy < block.count; ++copy, first += size)
        {
            const Vec3<double> shift = -0.6 * system.x[first] + 0.05 * system.box.diagonal();
            for (std::size_t a = 0; a < size; ++a) { system.x[first + a] += shift; }
        }
    }
    return system;
}

template <class N>
bool same(const VelocityMass<N>& a, const VelocityMass<N>& b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z && a.inverse_mass == b.inverse_mass;
}
template <class N>
bool same(const PositionCharge<N>& a, const PositionCharge<N>& b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z && a.charge == b.charge;
}
template <class N>
bool same(const ForceSlot<N>& a, const ForceSlot<N>& b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

template <class N>
ParticleState<N> pushed_particles(const System& system)
{
    ParticleState<N> whole = particles_in_input_order<N>(system);
    for (std::size_t slot = 0; slot < whole.slots(); ++slot)
    {
        if (whole.global_of_slot[slot] < 0) { continue; }
        whole.temperature_group[slot] = slot % 3 == 0;
        Vec3<typename N::ForceSum> f;
        for (int d = 0; d < 3; ++d) { f[d] = to_sum<typename N::ForceSum>(100 * std::sin(7.0 * static_cast<double>(slot) + d)); }
        whole.f.set(slot, f);
    }
    return whole;
}

// What a step leaves behind, by global atom and summed over ranks.
template <class N>
struct Outcome
{
    std::vector<PositionCharge<N>> xq;
    std::vector<VelocityMass<N>> v;
    ScalarSum<N> sums[11] = {}; // virial, heat, squares of deviations
    std::int32_t failed = -1;   // atom
    int flagged = 0;            // ranks
};

// A system on ranks that share a GPU.
template <class N>
class UpdateRanks
{
public:
    UpdateRanks(GpuQueue& queue, const System& system, const ParticleState<N>& whole, const Cells& cells,
                const UpdateCapacity& capacity = {})
        : queue_(queue), ranks_(queue, whole, system.topology, cells, 0.5)
    {
        const UpdateBlocks blocks = make_update_blocks(system.topology, {});
        for (GpuPart<N>& part : ranks_.parts)
        {
            updates_.emplace_back(queue, blocks, RunParameters(), capacity);
            updates_.back().forget(queue, part.state.slots, part.cell);
            updates_.back().resolve(queue, part.state);
        }
        const std::vector<GroupKick> kicks = {group_kick(dt, 1, 0, {}), group_kick(dt, 1.01, 0.02, {0.001, 0.002, 0.003})};
        const std::vector<StochasticDynamics::Group> frictions = {{0.99, 2.5}, {0.9, 3}};
        kick_.upload(queue, kicks), friction_.upload(queue, frictions);
        queue.synchronize();
    }

    GpuParts<N>& ranks() { return ranks_; }

    // act(update, state, failure, sums) for every rank.
    template <class Act>
    Outcome<N> on_ranks(Act&& act)
    {
        Outcome<N> outcome;
        for (std::size_t rank = 0; rank < updates_.size(); ++rank)
        {
            GpuState<N>& state = ranks_.parts[rank].state;
            DeviceBuffer<FailureReport> failure;
            DeviceBuffer<ScalarSum<N>> sums(11);
            const FailureReport none;
            failure.upload(queue_, {&none, 1});
            sums.clear(queue_);
            const auto x = state.xq.to_vector(queue_);
            const auto v = state.v.to_vector(queue_);
            const auto f = state.f.to_vector(queue_);
            act(updates_[rank], state, failure.data(), sums.data());
            add(outcome, state, failure.to_vector(queue_)[0], sums.to_vector(queue_));
            const auto new_x = state.xq.to_vector(queue_);
            const auto new_v = state.v.to_vector(queue_);
            const auto new_f = state.f.to_vector(queue_);
            ranks_.for_each_atom(ranks_.parts[rank], [&](std::size_t slot, std::size_t, bool home) {
                if (home) { return; }
                EXPECT_TRUE(same(new_x[slot], x[slot]) && same(new_v[slot], v[slot]) && same(new_f[slot], f[slot])) << "halo";
            });
        }
        outcome.xq = ranks_.of_home_atoms([](const GpuPart<N>& part) -> auto& { return part.state.xq; });
        outcome.v = ranks_.of_home_atoms([](const GpuPart<N>& part) -> auto& { return part.state.v; });
        return outcome;
    }
    Outcome<N> take_step(bool stochastic, bool virial, const UpdateLimits& limits = {1e9, 0.5})
    {
        Outcome<N> outcome = on_ranks([&](GpuUpdate& update, GpuState<N>& state, FailureReport* failure, ScalarSum<N>* sums) {
            UpdateArgs<N, NoCopies> args;
            args.step_offset = step;
            args.dt = dt;
            args.kick = kick_.data();
            args.friction = stochastic ? friction_.data() : nullptr;
            args.seed = 99;
            args.limits = limits;
            args.failure = failure;
            args.virial = virial ? sums : nullptr;
            args.heat = sums + 9;
            args.deviation_squares = sums + 10;
            update.step(queue_, args, state);
        });
        for (const ForceSlot<N>& f : ranks_.of_home_atoms([](const GpuPart<N>& part) -> auto& { return part.state.f; }))
        {
            EXPECT_TRUE(f.x == 0 && f.y == 0 && f.z == 0);
        }
        return outcome;
    }

private:
    void add(Outcome<N>& outcome, const GpuState<N>& state, const FailureReport& failure,
             const std::vector<ScalarSum<N>>& sums) const
    {
        for (std::size_t i = 0; i < sums.size(); ++i) { outcome.sums[i] += sums[i]; }
        outcome.flagged += (state.scalars.to_vector(queue_)[0].flags & gpu_flag_unstable_atom) != 0;
        if (failure.atom < 0) { return; }
        EXPECT_EQ(failure.step, step);
        outcome.failed = failure.atom;
    }

    GpuQueue& queue_;
    GpuParts<N> ranks_;
    std::vector<GpuUpdate> updates_;
    DeviceBuffer<GroupKick> kick_;
    DeviceBuffer<StochasticDynamics::Group> friction_;
};

// Bitwise in reproducible policies, else to rounding.
template <class N>
void expect_sum(ScalarSum<N> sum, ScalarSum<N> expected)
{
    if constexpr (N::summation == Summation::Reproducible) { EXPECT_EQ(sum, expected); }
    else { EXPECT_NEAR(sum, expected, 1e-10 * (1 + std::abs(expected))); }
}
template <class N>
void expect_same(const Outcome<N>& outcome, const Outcome<N>& expected)
{
    ASSERT_EQ(outcome.xq.size(), expected.xq.size());
    std::size_t differ = 0;
    for (std::size_t atom = 0; atom < expected.xq.size(); ++atom)
    {
        differ += !same(outcome.xq[atom], expected.xq[atom]) || !same(outcome.v[atom], expected.v[atom]);
    }
    EXPECT_EQ(differ, 0u);
    for (int i = 0; i < 11; ++i) { expect_sum<N>(outcome.sums[i], expected.sums[i]); }
    EXPECT_EQ(outcome.flagged, expected.flagged);
}

// To rounding, in nm.
template <class N>
void expect_positions(const Outcome<N>& outcome, const ParticleState<N>& expected)
{
    double largest = 0;
    for (std::size_t atom = 0; atom < outcome.xq.size(); ++atom)
    {
        const PositionCharge<N>& x = outcome.xq[atom];
        const auto slot = static_cast<std::size_t>(expected.slot_of_global[atom]);
        largest = std::max(largest, norm(expected.box.difference({x.x, x.y, x.z}, expected.x.get(slot))));
    }
    EXPECT_LE(largest, N::precision == Precision::Mixed ? 1e-8 : 1e-12);
}

// To rounding, in nm/ps.
template <class N>
void expect_velocities(const Outcome<N>& outcome, const ParticleState<N>& expected)
{
    double largest = 0;
    for (std::size_t atom = 0; atom < outcome.v.size(); ++atom)
    {
        const VelocityMass<N>& v = outcome.v[atom];
        const auto slot = static_cast<std::size_t>(expected.slot_of_global[atom]);
        const Vec3<double> on_gpu{static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
        largest = std::max(largest, norm(on_gpu - static_cast<Vec3<double>>(expected.v.get(slot))));
    }
    EXPECT_LE(largest, N::precision == Precision::Mixed ? 1e-5 : 1e-9);
}

template <class N>
class RanksOnGpu : public ::testing::Test
{
protected:
    void SetUp() override
    {
        if (gpu_count() == 0) { GTEST_SKIP() << "no GPU"; }
    }

    const System system = every_update_group();
    const ParticleState<N> whole = pushed_particles<N>(system);
};
using Policies = ::testing::Types<Mixed, Double, MixedReproducible, DoubleReproducible>;
TYPED_TEST_SUITE(RanksOnGpu, Policies);

} // namespace

TYPED_TEST(RanksOnGpu, kick_constrain_and_drift_as_the_cpu)
{
    using N = TypeParam;
    GpuQueue queue;
    CpuQueue cpu(1);
    ParticleState<N> expected = this->whole;
    KickCoefficients kicks = kick_coefficients(dt, 2, {});
    kicks.group[1] = group_kick(dt, 1.01, 0.02, {0.001, 0.002, 0.003});
    const VirtualSites sites(this->system.topology);
    sites.spread_forces(cpu, sites.assign_all(this->system.topology), expected);
    kick(cpu, kicks, expected);
    const Constraints constraints(this->system.topology, RunParameters());
    const auto result = constraints.apply(cpu, constraints.assign_all(this->system.topology), expected, dt, Virial::Compute);
    drift(cpu, dt, expected);
    sites.construct(cpu, sites.assign_all(this->system.topology), expected);
    for (const Cells& cells : grids)
    {
        SCOPED_TRACE(name_of(cells));
        const Outcome<N> outcome = UpdateRanks<N>(queue, this->system, this->whole, cells).take_step(false, true);
        EXPECT_EQ(outcome.flagged, 0);
        expect_positions<N>(outcome, expected);
        expect_velocities<N>(outcome, expected);
        Mat3<double> virial;
        for (int i = 0; i < 9; ++i) { virial[i / 3][i % 3] = from_sum(outcome.sums[i]); }
        EXPECT_LE(max_relative(virial, result.virial()), N::precision == Precision::Mixed ? 1e-5 : 1e-10);
        const double squares = from_sum(result.deviation_squares); // at the GPU to first order
        EXPECT_NEAR(from_sum(outcome.sums[10]), squares, 1e-3 * squares);
    }
}

// Velocity Verlet. On the CPU these are the functions of engine/full_step.hpp.
TYPED_TEST(RanksOnGpu, reach_full_steps_and_go_back_from_them_as_the_cpu)
{
    using N = TypeParam;
    GpuQueue queue;
    CpuQueue cpu(1);
    const VirtualSites sites(this->system.topology);
    const Constraints constraints(this->system.topology, RunParameters());
    const ConstraintAssignment all = constraints.assign_all(this->system.topology);
    for (const bool goes_back : {false, true})
    {
        const double time = goes_back ? -dt : 0.5 * dt;
        const KickCoefficients half = kick_coefficients(goes_back ? -0.5 * dt : 0.5 * dt, 2, {});
        ParticleState<N> expected = this->whole;
        sites.spread_forces(cpu, sites.assign_all(this->system.topology), expected);
        kick(cpu, half, expected);
        if (goes_back) { constraints.apply(cpu, all, expected, time, Virial::Skip); }
        else { constraints.project(cpu, all, expected, expected.v); }
        sites.construct(cpu, sites.assign_all(this->system.topology), expected);
        DeviceBuffer<GroupKick> coefficients;
        coefficients.upload(queue, half.group);
        queue.synchronize();
        for (const Cells& cells : grids)
        {
            SCOPED_TRACE(testing::Message() << name_of(cells) << (goes_back ? " back" : " forward"));
            UpdateRanks<N> ranks(queue, this->system, this->whole, cells);
            const Outcome<N> outcome =
                ranks.on_ranks([&](GpuUpdate& update, GpuState<N>& state, FailureReport* failure, ScalarSum<N>*) {
                    UpdateArgs<N, NoCopies> args;
                    args.step_offset = step;
                    args.dt = time;
                    args.kick = coefficients.data();
                    args.limits = {1e9, 0.5};
                    args.failure = failure;
                    goes_back ? update.go_back(queue, args, state) : update.to_full_step(queue, args, state);
                });
            EXPECT_EQ(outcome.flagged, 0);
            expect_velocities<N>(outcome, expected);
            std::size_t moved = 0;
            for (std::size_t atom = 0; atom < outcome.xq.size(); ++atom)
            {
                const Vec3<typename N::Fixed> x = this->whole.x.get(static_cast<std::size_t>(this->whole.slot_of_global[atom]));
                moved += outcome.xq[atom].x != x.x || outcome.xq[atom].y != x.y || outcome.xq[atom].z != x.z;
            }
            EXPECT_EQ(moved, 0u);
            std::size_t cleared = 0;
            for (const ForceSlot<N>& f :
                 ranks.ranks().of_home_atoms([](const GpuPart<N>& part) -> auto& { return part.state.f; }))
            {
                cleared += f.x == 0 && f.y == 0 && f.z == 0;
            }
            EXPECT_EQ(cleared, 0u) << "the step needs the forces";
        }
    }
}

TYPED_TEST(RanksOnGpu, kick_constrain_and_drift_as_one)
{
    using N = TypeParam;
    GpuQueue queue;
    for (const bool stochastic : {false, true})
    {
        const Outcome<N> expected = UpdateRanks<N>(queue, this->system, this->whole, {1, 1, 1}).take_step(stochastic, true);
        EXPECT_EQ(expected.flagged, 0);
        EXPECT_NE(expected.sums[0], 0);
        EXPECT_EQ(expected.sums[9] != 0, stochastic);
        for (const Cells& cells : grids)
        {
            SCOPED_TRACE(testing::Message() << name_of(cells) << (stochastic ? " stochastic" : ""));
            expect_same(UpdateRanks<N>(queue, this->system, this->whole, cells).take_step(stochastic, true), expected);
            Outcome<N> silent = UpdateRanks<N>(queue, this->system, this->whole, cells).take_step(stochastic, false);
            std::copy(expected.sums, expected.sums + 9, silent.sums); // the virial, which it was not asked for
            silent.sums[10] = expected.sums[10];
            expect_same(silent, expected);
        }
    }
}

// On the CPU such a group is a failure, too (LincsConvergence); the others move as they would without it.
TYPED_TEST(RanksOnGpu, report_constraints_that_do_not_converge)
{
    using N = TypeParam;
    GpuQueue queue;
    // A star, and the same with a tail, which goes into a block.
    ToyMolecule with_tail = light_centre(0.2);
    with_tail.type.atoms.push_back(toy_atom("Z", 12));
    with_tail.x.push_back(with_tail.x[1] + Vec3<double>{0.1, 0.05, 0.03});
    constrain(with_tail, 1, 5);
    for (const ToyMolecule& molecule : {light_centre(0.2), with_tail})
    {
        for (const double angle : {0.2, 1.0})
        {
            const System some = toy_system({{methyl(), 40}, {ring(), 20}, {angle < 1 ? molecule : light_centre(angle), 1}},
                                           {3.1, 2.9, 3.3}, 300, 5);
            UpdateRanks<N> ranks(queue, some, pushed_particles<N>(some), {2, 1, 1});
            const Outcome<N> outcome = ranks.take_step(false, true);
            EXPECT_EQ(outcome.flagged, angle < 1 ? 1 : 0);
            EXPECT_EQ(outcome.failed >= 40 * 4 + 20 * 12, angle < 1) << outcome.failed;
        }
    }
}

// Chains whose working arrays fit in the shared memory of some GPUs and not of others: moved as on the CPU, and to the bit alike
// wherever the arrays are. A GPU has 99 KiB for a block at least.
TYPED_TEST(RanksOnGpu, constrain_long_chains_alike_in_shared_and_in_global_memory)
{
    using N = TypeParam;
    GpuQueue queue;
    CpuQueue cpu(1);
    for (const int atoms : {700, 1000, 1134})
    {
        const System chains = toy_system({{chain(atoms), 3}, {rigid_water(), 50}, {ring(), 20}}, {4, 4, 4}, 300, 11);
        const ParticleState<N> particles = pushed_particles<N>(chains);
        const auto move = [&](std::size_t shared_bytes) {
            const auto ranks = [&] {
                return UpdateRanks<N>(queue, chains, particles, {1, 1, 1}, UpdateCapacity{0, shared_bytes});
            };
            std::vector<Outcome<N>> outcomes = {ranks().take_step(false, true), ranks().take_step(true, true)};
            UpdateRanks<N> mended = ranks();
            outcomes.push_back(mended.on_ranks([&](GpuUpdate& update, GpuState<N>& state, FailureReport* failure, ScalarSum<N>*) {
                update.reconstrain(queue, step, failure, NoCopies{}, state);
            }));
            return outcomes;
        };
        const std::vector<Outcome<N>> expected = move(0);
        EXPECT_EQ(expected[0].flagged, 0);
        for (const std::size_t kib : {48, 99, 163, 227})
        {
            if (kib * 1024 > queue.shared_bytes_of_block()) { continue; }
            SCOPED_TRACE(testing::Message() << atoms << " atoms, " << kib << " KiB");
            const std::vector<Outcome<N>> outcomes = move(kib * 1024);
            for (std::size_t i = 0; i < outcomes.size(); ++i) { expect_same(outcomes[i], expected[i]); }
        }
        ParticleState<N> on_cpu = particles;
        KickCoefficients kicks = kick_coefficients(dt, 2, {});
        kicks.group[1] = group_kick(dt, 1.01, 0.02, {0.001, 0.002, 0.003});
        kick(cpu, kicks, on_cpu);
        const Constraints constraints(chains.topology, RunParameters());
        constraints.apply(cpu, constraints.assign_all(chains.topology), on_cpu, dt, Virial::Skip);
        drift(cpu, dt, on_cpu);
        expect_positions<N>(expected[0], on_cpu);
    }
}

TYPED_TEST(RanksOnGpu, move_more_than_their_share_as_one)
{
    using N = TypeParam;
    GpuQueue queue;
    const System crowded = crowded_update_groups();
    const ParticleState<N> particles = pushed_particles<N>(crowded);
    UpdateRanks<N> one(queue, crowded, particles, {1, 1, 1}), ranks(queue, crowded, particles, {2, 2, 2});
    const auto of_first_rank = ranks.ranks().parts[0].state.global_of_slot.to_vector(queue);
    ASSERT_GT(std::count_if(of_first_rank.begin(), of_first_rank.end(), [](std::int32_t atom) { return atom >= 0; }),
              static_cast<std::ptrdiff_t>(crowded.x.size() / 2));
    expect_same(ranks.take_step(true, true), one.take_step(true, true));
}

TYPED_TEST(RanksOnGpu, move_alike_however_few_blocks_go_round)
{
    using N = TypeParam;
    GpuQueue queue;
    for (const Cells& cells : {Cells{1, 1, 1}, Cells{1, 3, 2}})
    {
        const auto move = [&](int places) {
            const auto ranks = [&] { return UpdateRanks<N>(queue, this->system, this->whole, cells, UpdateCapacity{places, 0}); };
            std::vector<Outcome<N>> outcomes = {ranks().take_step(false, true), ranks().take_step(true, true)};
            UpdateRanks<N> mended = ranks();
            outcomes.push_back(mended.on_ranks([&](GpuUpdate& update, GpuState<N>& state, FailureReport* failure, ScalarSum<N>*) {
                update.reconstrain(queue, step, failure, NoCopies{}, state);
            }));
            return outcomes;
        };
        const std::vector<Outcome<N>> expected = move(0);
        for (const int places : {7, 19})
        {
            SCOPED_TRACE(testing::Message() << places << " places, " << name_of(cells));
            const std::vector<Outcome<N>> outcomes = move(places);
            for (std::size_t i = 0; i < outcomes.size(); ++i) { expect_same(outcomes[i], expected[i]); }
        }
    }
}

TYPED_TEST(RanksOnGpu, mend_positions_as_one)
{
    using N = TypeParam;
    GpuQueue queue;
    System bent = this->system;
    for (std::size_t i = 0; i < bent.x.size(); ++i) { bent.x[i].x += 0.001 * std::sin(static_cast<double>(i)); }
    const ParticleState<N> particles = particles_in_input_order<N>(bent);
    const auto mend = [&](UpdateRanks<N>& ranks) {
        return ranks.on_ranks([&](GpuUpdate& update, GpuState<N>& state, FailureReport* failure, ScalarSum<N>*) {
            update.reconstrain(queue, step, failure, NoCopies{}, state);
        });
    };
    UpdateRanks<N> one(queue, bent, particles, {1, 1, 1});
    const Outcome<N> expected = mend(one);
    const ConstraintDeviation before = deviation_of_constraints(bent.topology, particles);
    const ConstraintDeviation after = deviation_of_constraints(bent.topology, [&](std::size_t a, std::size_t b) {
        const PositionCharge<N>&x = expected.xq[a], &y = expected.xq[b];
        return particles.box.difference({x.x, x.y, x.z}, {y.x, y.y, y.z});
    });
    EXPECT_GT(before.rms, 1e-3);
    EXPECT_LT(after.max, 2e-6); // LINCS goes on to 1e-6
    for (const Cells& cells : grids)
    {
        SCOPED_TRACE(name_of(cells));
        UpdateRanks<N> ranks(queue, bent, particles, cells);
        expect_same(mend(ranks), expected);
    }
}

TYPED_TEST(RanksOnGpu, report_an_unstable_atom_by_its_owner)
{
    using N = TypeParam;
    GpuQueue queue;
    const auto ring_atom = std::int32_t{401 * 3 + 150 * 4 + 5 * 12 + 7}; // waters, methyls, five rings
    for (const std::int32_t atom : {4, 401 * 3 + 9, ring_atom})
    {
        ParticleState<N> particles = this->whole;
        particles.f.set(static_cast<std::size_t>(atom), {to_sum<typename N::ForceSum>(1e5), {}, {}});
        for (const Cells& cells : grids)
        {
            SCOPED_TRACE(testing::Message() << name_of(cells) << ", atom " << atom);
            const Outcome<N> outcome = UpdateRanks<N>(queue, this->system, particles, cells).take_step(false, false, {1e4, 10});
            EXPECT_EQ(outcome.failed, atom);
            EXPECT_EQ(outcome.flagged, 1);
        }
    }
}

TYPED_TEST(RanksOnGpu, add_up_kinetic_energies_and_momenta)
{
    using N = TypeParam;
    GpuQueue queue;
    AtomGroups groups;
    groups.count = 2;
    for (std::size_t atom = 0; atom < this->system.x.size(); ++atom)
    {
        groups.of_atom.push_back(atom % 5 == 0 ? AtomGroups::none : static_cast<std::uint8_t>(atom % 2));
    }
    const GpuComGroups com_groups(queue, {groups, {}});
    const auto add_up = [&](GpuParts<N>& ranks) {
        DeviceBuffer<ScalarSum<N>> sums(2 * kinetic_elements + 2 * linear_com_sums);
        sums.clear(queue);
        for (GpuPart<N>& part : ranks.parts)
        {
            add_kinetic(queue, part.state, 2, sums.data());
            add_com_motion(queue, com_groups, part.state, sums.data() + 2 * kinetic_elements);
        }
        return sums;
    };
    GpuParts<N> one(queue, this->whole, this->system.topology, {1, 1, 1}, 0.5);
    const DeviceBuffer<ScalarSum<N>> expected_sums = add_up(one);
    const auto expected = expected_sums.to_vector(queue);
    const Vec3<double> factor_on_host{0.75, 0.875, 1.25};
    DeviceBuffer<Vec3<double>> factor;
    factor.upload(queue, {&factor_on_host, 1});
    const auto without_motion = [&](GpuParts<N>& ranks) {
        for (GpuPart<N>& part : ranks.parts)
        {
            subtract_com_motion(queue, com_groups, expected_sums.data() + 2 * kinetic_elements, part.state);
            scale_velocities(queue, factor.data(), part.state);
        }
        return ranks.of_home_atoms([](const GpuPart<N>& part) -> auto& { return part.state.v; });
    };
    const std::vector<VelocityMass<N>> expected_v = without_motion(one);
    EXPECT_NEAR(static_cast<double>(expected_v[5].y), factor_on_host.y * static_cast<double>(this->whole.v.get(5).y), 1e-6);
    for (const Cells& cells : grids)
    {
        SCOPED_TRACE(name_of(cells));
        GpuParts<N> ranks(queue, this->whole, this->system.topology, cells, 0.5);
        const auto sums = add_up(ranks).to_vector(queue);
        for (std::size_t i = 0; i < sums.size(); ++i)
        {
            EXPECT_NE(sums[i], 0);
            expect_sum<N>(sums[i], expected[i]);
        }
        const std::vector<VelocityMass<N>> v = without_motion(ranks);
        for (std::size_t atom = 0; atom < v.size(); ++atom) { EXPECT_TRUE(same(v[atom], expected_v[atom])) << atom; }
    }
}
