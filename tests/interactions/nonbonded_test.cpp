// SPDX-License-Identifier: Apache-2.0
// Pair forces against sums of the pair law (pair_law_test.cpp) over all pairs of atoms, and their invariants, in every policy and
// option.
#include "pairs/simd_targets.hpp" // before anything of Highway

#include "interactions/pair/pair_law.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "pairs/cluster_order.hpp"
#include "support/boxes.hpp"
#include "support/compare.hpp"
#include "support/pair_systems.hpp"
#include "support/particles.hpp"
#include "support/refdata.hpp"

#include <gtest/gtest.h>

#include <hwy/targets.h>

#include <numeric>

using namespace parhelion;
using namespace parhelion::test;

namespace {

struct PairResult
{
    std::vector<Vec3<double>> forces; // by global atom
    EnergyVirial energies;
    std::array<double, energy_terms> energy_scale{}; // sum of absolute pair energies; all_pairs only
    double error_of_virial = 0;                      // that sums of floats may have, kJ/mol; all_pairs only
};

struct Options
{
    int threads = 1;
    double buffer = 0.1; // list cutoff - cutoff; clipped at Box::largest_cutoff()
    Compute compute = Compute::ForcesEnergiesVirial;
    double pruned_buffer = -1; // < 0: not pruned
};

template <class N>
PairResult evaluate(ParticleState<N>& state, const System& system, const RunParameters& run, const Options& options)
{
    CpuQueue queue(options.threads);
    PairList list;
    const double most = state.box.edges().largest_cutoff();
    build_pair_list(queue, state, system.topology, std::min(run.coulomb_cutoff + options.buffer, most), list);
    if (options.pruned_buffer >= 0) { prune_pair_list(queue, state, run.coulomb_cutoff + options.pruned_buffer, list); }
    NonbondedTables<N> tables(make_nonbonded(system.topology, run));
    ForceBuffers<N> buffers;
    clear_forces(queue, buffers, state.slots());
    compute_nonbonded(queue, tables, list, state, buffers, options.compute);
    sum_forces(queue, buffers, state);
    return {forces_of(state), sum_energies(buffers).result()};
}
template <class N>
PairResult evaluate(const System& system, const RunParameters& run, const Options& options = {})
{
    CpuQueue queue(options.threads);
    ParticleState<N> state = make_state<N>(system, {}, queue);
    return evaluate(state, system, run, options);
}

bool are_excluded(const Topology& topology, std::int64_t a, std::int64_t b)
{
    const AtomAddress i = topology.locate(a), j = topology.locate(b);
    if (i.molecule_first_atom != j.molecule_first_atom) { return false; }
    const MoleculeType& m = topology.molecule_types[static_cast<std::size_t>(i.type)];
    return std::binary_search(m.excluded.begin() + m.exclusion_start[static_cast<std::size_t>(i.local)],
                              m.excluded.begin() + m.exclusion_start[static_cast<std::size_t>(i.local) + 1], j.local);
}

// Of floats. The edges of the box are rounded, and with them all distances alike: where r^-14 acts, 14 times as much. 1 / r is
// off at random by up to 1.0e-7, and otherwise on each processor, whose own estimate it begins with. So is the virial of a close
// pair, r^-12, by up to 1.6e-6, and 4.2e-7 is its root mean square; that of two charges, 1.5e-7. A sum is taken to be within five
// of these.
constexpr double float_rounding = 0x1p-24, error_of_close_pair = 4.2e-7, error_of_charges = 1.5e-7;
constexpr double square(double x) { return x * x; }

// Sums over all pairs of the atoms' positions as given.
PairResult all_pairs(const System& system, const RunParameters& run, const std::vector<Vec3<double>>& x)
{
    const Topology& topology = system.topology;
    const NonbondedParameters parameters = make_nonbonded(topology, run);
    const double f = parameters.coulomb_factor;
    // Of a charge: of its reaction field half the shift, of its cloud on the mesh the whole potential in the middle.
    const double self =
        run.coulomb == CoulombKind::Pme ? ewald_beta(run) / std::sqrt(units::pi) : 0.5 * parameters.reaction_field_c;
    PairResult result;
    double of_lj = 0, squares = 0; // of virials: sum without signs; errors
    result.forces.resize(x.size());
    std::vector<const Atom*> atoms;
    for (std::size_t i = 0; i < x.size(); ++i) { atoms.push_back(&topology.atom(static_cast<std::int64_t>(i))); }
    for (std::size_t i = 0; i < x.size(); ++i)
    {
        result.energies[EnergyTerm::CoulombSr] -= f * self * atoms[i]->charge * atoms[i]->charge;
        if (run.has_lj_mesh)
        {
            const auto ii = static_cast<std::size_t>(atoms[i]->type * (topology.types() + 1));
            result.energies[EnergyTerm::LjSr] += std::pow(lj_ewald_beta(run), 6) / 12 * parameters.mesh_c6[ii];
        }
        for (std::size_t j = i + 1; j < x.size(); ++j)
        {
            const Vec3<double> d = system.box.image(x[i] - x[j]);
            const double r = norm(d);
            if (r >= parameters.cutoff) { continue; }
            const bool excluded = are_excluded(topology, static_cast<std::int64_t>(i), static_cast<std::int64_t>(j));
            const auto ij = static_cast<std::size_t>(atoms[i]->type * topology.types() + atoms[j]->type);
            const double of_mesh = run.has_lj_mesh ? parameters.mesh_c6[ij] : 0;
            const PairForce pair = pair_force(parameters, topology.c6[ij], topology.c12[ij],
                                              f * atoms[i]->charge * atoms[j]->charge, r, excluded, of_mesh);
            result.energies[EnergyTerm::CoulombSr] += pair.coulomb;
            result.energies[EnergyTerm::LjSr] += pair.lj;
            result.energy_scale[static_cast<std::size_t>(EnergyTerm::CoulombSr)] += std::abs(pair.coulomb);
            result.energy_scale[static_cast<std::size_t>(EnergyTerm::LjSr)] += std::abs(pair.lj);
            const Vec3<double> on_i = pair.force_over_r * d;
            result.forces[i] += on_i;
            result.forces[j] -= on_i;
            result.energies.virial += -0.5 * outer(d, on_i);
            const double lj =
                             0.5 * r * r *
                             std::abs(
                                 pair_force(parameters, topology.c6[ij], topology.c12[ij], 0, r, excluded, of_mesh).force_over_r),
                         all = 0.5 * r * norm(on_i);
            of_lj += lj;
            squares += square(error_of_close_pair * lj) + square(error_of_charges * (all + lj));
        }
    }
    result.error_of_virial = 14 * float_rounding * of_lj + 5 * std::sqrt(squares);
    return result;
}

void expect_near(const PairResult& a, const PairResult& b, double force_rms, double energy, double virial)
{
    EXPECT_LE(rms_relative(a.forces, b.forces), force_rms);
    for (const EnergyTerm term : {EnergyTerm::LjSr, EnergyTerm::CoulombSr})
    {
        // Random orientations make large energies that cancel: float errors go with their size.
        const double scale = std::max(std::abs(b.energies[term]), b.energy_scale[static_cast<std::size_t>(term)]);
        EXPECT_NEAR(a.energies[term], b.energies[term], energy * scale) << static_cast<int>(term);
    }
    EXPECT_LE(max_relative(a.energies.virial, b.energies.virial), virial);
}

void expect_same_bits(const PairResult& a, const PairResult& b)
{
    EXPECT_EQ(a.forces, b.forces);
    EXPECT_EQ(a.energies.energy, b.energies.energy);
    EXPECT_EQ(a.energies.virial, b.energies.virial);
}

template <class N>
constexpr double force_tolerance = std::is_same_v<typename N::Real, double> ? 1e-12 : 2e-6;
template <>
constexpr double force_tolerance<DoubleReproducible> = 1e-11; // forces in steps of 2.3e-10 kJ/mol/nm
template <class N>
constexpr double energy_tolerance = std::is_same_v<typename N::Real, double> ? 1e-9 : 1e-6;

// Of a virial, relative to its largest element.
template <class N>
double virial_tolerance(const PairResult& reference)
{
    if (std::is_same_v<typename N::Real, double>) { return energy_tolerance<N>; }
    double largest = 0;
    for (int row = 0; row < 3; ++row)
    {
        for (int column = 0; column < 3; ++column)
        {
            largest = std::max(largest, std::abs(reference.energies.virial[row][column]));
        }
    }
    return reference.error_of_virial / largest;
}

template <class N>
class Nonbonded : public ::testing::Test
{
};
using Policies = ::testing::Types<Mixed, Double, MixedReproducible, DoubleReproducible>;
TYPED_TEST_SUITE(Nonbonded, Policies);
template <class N>
class ReproducibleNonbonded : public ::testing::Test
{
};
using ReproduciblePolicies = ::testing::Types<MixedReproducible, DoubleReproducible>;
TYPED_TEST_SUITE(ReproducibleNonbonded, ReproduciblePolicies);

// Restricts the run-time dispatch while it lives.
class OnlyTarget
{
public:
    explicit OnlyTarget(std::int64_t target) { hwy::SetSupportedTargetsForTest(target); }
    ~OnlyTarget() { hwy::SetSupportedTargetsForTest(0); }
};

std::vector<NonbondedVariant> cpu_variants()
{
    std::vector<NonbondedVariant> all(std::begin(nonbonded_variants), std::end(nonbonded_variants));
    all.insert(all.end(), std::begin(lj_mesh_variants), std::end(lj_mesh_variants));
    return all;
}

std::vector<std::int64_t> targets() { return hwy::SupportedAndGeneratedTargets(); }

} // namespace

TYPED_TEST(Nonbonded, agrees_with_sums_over_all_pairs_for_every_option_and_instruction_set)
{
    for (const NonbondedVariant& variant : cpu_variants())
    {
        SCOPED_TRACE(variant.name);
        System system = random_liquid({2.1, 2.6, 2.3}, 330, 20, 7, variant.rule);
        RunParameters run = reaction_field(0.9);
        variant.change(system, run);
        const PairResult reference = all_pairs(system, run, stored_positions<TypeParam>(system));
        const double virial_error = virial_tolerance<TypeParam>(reference);
        for (const std::int64_t target : targets())
        {
            SCOPED_TRACE(hwy::TargetName(target));
            const OnlyTarget only(target);
            const PairResult result = evaluate<TypeParam>(system, run);
            expect_near(result, reference, force_tolerance<TypeParam>, energy_tolerance<TypeParam>, virial_error);
            // A pruned list has the same pairs in range.
            expect_near(evaluate<TypeParam>(system, run, {1, 0.1, Compute::ForcesEnergiesVirial, 0}), reference,
                        force_tolerance<TypeParam>, energy_tolerance<TypeParam>, virial_error);
            // Forces alone are the same forces.
            EXPECT_EQ(evaluate<TypeParam>(system, run, {1, 0.1, Compute::Forces}).forces, result.forces);
        }
    }
}

TYPED_TEST(Nonbonded, holds_in_boxes_of_twice_the_cutoff_in_low_ones_and_for_a_few_atoms)
{
    std::vector<Box<double>> boxes{{1.8, 1.8, 1.8}, {1.8, 9, 2.2}, {7, 1.9, 1.8}, {2, 2, 12}};
    for (const Box<double>& box : tilted_boxes())
    {
        boxes.push_back(1.8001 / box.least_height() * box);
        boxes.push_back(0.9001 / box.largest_cutoff() * box);
    }
    for (const Box<double>& box : boxes)
    {
        for (const int molecules : {0, 1, 3, 60, 150})
        {
            SCOPED_TRACE(molecules);
            const System system = random_liquid(box, molecules, 2, 11);
            const RunParameters run = reaction_field(0.9);
            const PairResult reference = all_pairs(system, run, stored_positions<TypeParam>(system));
            const PairResult result = evaluate<TypeParam>(system, run);
            double scale = 1;
            for (const Vec3<double>& f : reference.forces) { scale = std::max(scale, norm(f)); }
            // Components in a tilted box are sums of up to three, which may be larger than they are; in a low one of up to six.
            const double rounding = box.is_rectangular()             ? 2
                                    : box.is_low(run.coulomb_cutoff) ? 8
                                                                     : 4,
                         step = std::is_same_v<TypeParam, DoubleReproducible> ? 4e-10 : 0;
            for (std::size_t i = 0; i < result.forces.size(); ++i)
            {
                EXPECT_LE(norm(result.forces[i] - reference.forces[i]), rounding * force_tolerance<TypeParam> * scale + step);
            }
            EXPECT_NEAR(result.energies[EnergyTerm::CoulombSr], reference.energies[EnergyTerm::CoulombSr], 1e-5 * scale);
        }
    }
}

// Every class of the reference data that is a sum over pairs.
TEST(NonbondedRefdata, reproduces_the_forces_energies_and_virial_of_every_class_in_double)
{
    for (const std::string& name : refdata_systems)
    {
        for (const std::string what : {"lj", "coul"})
        {
            SCOPED_TRACE(name + " " + what);
            Refdata data = load_refdata(name, ConstraintMode::None);
            Topology& topology = data.system.topology;
            if (what == "lj")
            {
                for (MoleculeType& m : topology.molecule_types)
                {
                    for (Atom& a : m.atoms) { a.charge = 0; }
                }
            }
            else { topology.c6.assign(topology.c6.size(), 0), topology.c12.assign(topology.c12.size(), 0); }
            const PairResult result = evaluate<Double>(data.system, data.parameters, {2});
            EXPECT_LE(rms_relative(result.forces, refdata_class_forces(name, what)), 1e-12);
            const EnergyTable energies = refdata_class_energies(name, what);
            EXPECT_NEAR(result.energies[EnergyTerm::LjSr], energies["LJ (SR)"], 1e-9 * std::abs(energies["LJ (SR)"]));
            EXPECT_NEAR(result.energies[EnergyTerm::CoulombSr], energies["Coulomb (SR)"],
                        1e-9 * std::abs(energies["Coulomb (SR)"]));
            if (what == "coul") // the virial of "lj" contains the dispersion correction
            {
                EXPECT_LE(max_relative(result.energies.virial, energies.tensor("Vir")), 1e-9);
            }
        }
    }
}

TEST(NonbondedRefdata, mixed_precision_is_near_double_at_the_same_coordinates)
{
    for (const std::string& name : refdata_systems)
    {
        for (const std::int64_t target : targets())
        {
            SCOPED_TRACE(name + " " + hwy::TargetName(target));
            const OnlyTarget only(target);
            Refdata data = load_refdata(name);
            data.system.x = stored_positions<Mixed>(data.system);
            const PairResult reference = evaluate<Double>(data.system, data.parameters);
            const PairResult result = evaluate<Mixed>(data.system, data.parameters);
            // Float arithmetic alone, with exact differences and sums, is 5.7e-7 away: r^-14 multiplies the rounding of r^2 by 7.
            expect_near(result, reference, 1e-6, 1e-6, 1e-6);
        }
    }
}

TYPED_TEST(Nonbonded, exerts_no_net_force)
{
    const System system = random_liquid({2.4, 2.6, 2.5}, 300, 30, 3);
    const PairResult result = evaluate<TypeParam>(system, reaction_field(0.9), {2});
    Vec3<double> net;
    double size = 0;
    for (const Vec3<double>& f : result.forces) { net += f, size += norm(f); }
    EXPECT_LE(norm(net), (std::is_same_v<typename TypeParam::Real, double> ? 1e-14 : 1e-7) * size);
    if constexpr (TypeParam::summation == Summation::Reproducible) { EXPECT_EQ(net, Vec3<double>{}); }
}

TYPED_TEST(Nonbonded, force_is_minus_the_gradient_of_the_energy)
{
    if constexpr (TypeParam::precision == Precision::Double && TypeParam::summation == Summation::Fast)
    {
        for (const NonbondedVariant& variant : cpu_variants())
        {
            SCOPED_TRACE(variant.name);
            System system = random_liquid({1.9, 1.9, 2.0}, 20, 2, 5, variant.rule);
            RunParameters run = reaction_field(0.9);
            variant.change(system, run);
            // Without the jump at the cut-off: energies of pairs that are in range on both sides of the difference only.
            if (run.lj_modifier == LjModifier::None || !run.coulomb_potential_shift) { continue; }
            const PairResult result = evaluate<TypeParam>(system, run);
            const auto potential = [&] { return evaluate<TypeParam>(system, run).energies.potential(); };
            constexpr double h = 1e-6;
            for (const std::size_t atom : {0u, 1u, 33u, 61u})
            {
                for (int d = 0; d < 3; ++d)
                {
                    const double x = system.x[atom][d];
                    system.x[atom][d] = x + h;
                    const double up = potential();
                    system.x[atom][d] = x - h;
                    const double down = potential();
                    system.x[atom][d] = x;
                    EXPECT_NEAR(result.forces[atom][d], -(up - down) / (2 * h), 1e-5 * (1 + norm(result.forces[atom])));
                }
            }
        }
    }
}

TYPED_TEST(Nonbonded, virial_is_the_derivative_of_the_energy_with_strain)
{
    if constexpr (std::is_same_v<TypeParam, Double>)
    {
        System system = random_liquid({2.2, 2.3, 2.4}, 40, 2, 5);
        const RunParameters run = reaction_field(0.9);
        const PairResult result = evaluate<TypeParam>(system, run);
        for (int d = 0; d < 3; ++d)
        {
            const auto strained = [&](double strain) {
                System s = system;
                s.box.diagonal()[d] *= 1 + strain;
                for (Vec3<double>& x : s.x) { x[d] *= 1 + strain; }
                return evaluate<TypeParam>(s, run).energies.potential();
            };
            constexpr double h = 1e-6;
            const double derivative = (strained(h) - strained(-h)) / (2 * h);
            EXPECT_NEAR(result.energies.virial[d][d], 0.5 * derivative, 1e-4 * std::abs(derivative));
        }
    }
}

TYPED_TEST(Nonbonded, does_not_change_with_a_shift_by_lattice_vectors)
{
    System system = random_liquid({2.4, 2.6, 2.5}, 200, 20, 3);
    const RunParameters run = reaction_field(0.9);
    // Positions that the box's arithmetic represents, so that the shift itself is exact.
    for (Vec3<double>& x : system.x)
    {
        for (int d = 0; d < 3; ++d)
        {
            x[d] = std::ldexp(std::round(std::ldexp(x[d] / system.box.diagonal()[d], 20)), -20) * system.box.diagonal()[d];
        }
    }
    const PairResult result = evaluate<TypeParam>(system, run);
    System shifted = system;
    int m = 0;
    for (Vec3<double>& x : shifted.x)
    {
        for (int d = 0; d < 3; ++d) { x[d] += system.box.diagonal()[d] * ((++m) % 5 - 2); }
    }
    CpuQueue queue(1);
    const auto a = make_state<TypeParam>(system, {}, queue), b = make_state<TypeParam>(shifted, {}, queue);
    if (a.x.values() == b.x.values()) { expect_same_bits(evaluate<TypeParam>(shifted, run), result); }
    else { expect_near(evaluate<TypeParam>(shifted, run), result, force_tolerance<TypeParam>, 1e-8, 1e-6); }
}

TYPED_TEST(Nonbonded, does_not_change_with_a_translation_of_everything)
{
    const System system = random_liquid({2.4, 2.6, 2.5}, 200, 20, 3);
    const RunParameters run = reaction_field(0.9);
    CpuQueue queue(1);
    ParticleState<TypeParam> state = make_state<TypeParam>(system, {}, queue);
    const PairResult result = evaluate(state, system, run, {});
    for (const Vec3<double>& by : {Vec3<double>{0.3, -0.7, 1.1}, Vec3<double>{1.2, 1.3, 1.25}, Vec3<double>{-1e-9, 1e-9, 1e-7}})
    {
        ParticleState<TypeParam> moved = state;
        const auto shift = state.box.to_fixed(by);
        for (std::size_t s = 0; s < moved.slots(); ++s)
        {
            const auto x = moved.x.get(s);
            moved.x.set(s, {x.x + shift.x, x.y + shift.y, x.z + shift.z});
        }
        reorder(queue, moved);
        const PairResult r = evaluate(moved, system, run, {});
        expect_near(r, result, force_tolerance<TypeParam>, 5 * energy_tolerance<TypeParam>, 5 * energy_tolerance<TypeParam>);
        if constexpr (TypeParam::summation == Summation::Reproducible) { expect_same_bits(r, result); }
    }
}

TYPED_TEST(ReproducibleNonbonded, has_the_same_bits_for_any_number_of_threads_any_list_and_any_order_of_atoms)
{
    const System system = random_liquid({2.4, 2.6, 2.5}, 300, 30, 9);
    const RunParameters run = reaction_field(0.9);
    const PairResult result = evaluate<TypeParam>(system, run);
    for (const int threads : {2, 3, 4}) { expect_same_bits(evaluate<TypeParam>(system, run, {threads, 0.2}), result); }
    expect_same_bits(evaluate<TypeParam>(system, run, {2, 0.2, Compute::ForcesEnergiesVirial, 0.01}), result);
    // Slots in input order instead of cluster order: other clusters, other entries, i and j exchanged.
    ParticleState<TypeParam> state = particles_in_input_order<TypeParam>(system);
    expect_same_bits(evaluate(state, system, run, {2, 0.05}), result);
}

// Of an excluded pair the reaction field alone is left, f q_i q_j (k r^2 - c), which is smooth down to r = 0. Each atom has its
// self energy besides, -f c q^2 / 2.
TYPED_TEST(Nonbonded, excluded_pairs_have_the_energy_of_the_reaction_field_at_any_distance)
{
    System system = random_liquid({2.4, 2.6, 2.5}, 1, 0, 3);
    const RunParameters run = reaction_field(0.9);
    system.topology.molecule_types[0].atoms[2].charge = 0;
    const std::vector<Atom>& atoms = system.topology.molecule_types[0].atoms;
    const double epsilon_rf = run.epsilon_rf == 0 ? 1e30 : run.epsilon_rf, rc = run.coulomb_cutoff;
    const double k = (epsilon_rf - run.epsilon_r) / (2 * epsilon_rf + run.epsilon_r) / (rc * rc * rc), c = 1 / rc + k * rc * rc;
    const double f = units::coulomb / run.epsilon_r, qq = f * atoms[0].charge * atoms[1].charge;
    const double self = -0.5 * f * c * (atoms[0].charge * atoms[0].charge + atoms[1].charge * atoms[1].charge);
    for (const double r : {0.0, 1e-6, 1e-4, 1e-3, 0.0031, 0.0033, 0.1})
    {
        SCOPED_TRACE(r);
        system.x = {{1, 1, 1}, {1 + r, 1, 1}, {1.2, 1.1, 1}};
        const std::vector<Vec3<double>> x = stored_positions<TypeParam>(system);
        const double distance = norm(x[1] - x[0]);
        const PairResult result = evaluate<TypeParam>(system, run);
        // Besides rounding: reproducible sums count in steps of 2^-32.
        const double tolerance = std::is_same_v<typename TypeParam::Real, double> ? 1e-9 : 2e-5;
        EXPECT_NEAR(result.energies[EnergyTerm::CoulombSr], self + qq * (k * distance * distance - c), tolerance);
        EXPECT_NEAR(result.forces[1].x, -2 * k * qq * distance, tolerance);
        EXPECT_EQ(result.energies[EnergyTerm::LjSr], 0);
    }
}

// Of an excluded pair PME's mesh holds f q_i q_j erf(beta r) / r, which is smooth down to r = 0. Each atom has its self energy
// besides, -f beta q^2 / sqrt(pi).
TYPED_TEST(Nonbonded, excluded_pairs_lose_what_the_mesh_holds_of_them_at_any_distance)
{
    System system = random_liquid({2.4, 2.6, 2.5}, 1, 0, 3);
    const RunParameters run = pme(0.9);
    system.topology.molecule_types[0].atoms[2].charge = 0;
    const std::vector<Atom>& atoms = system.topology.molecule_types[0].atoms;
    const double beta = ewald_beta(run), root = std::sqrt(units::pi);
    const double qq = units::coulomb * atoms[0].charge * atoms[1].charge;
    const double charges2 = atoms[0].charge * atoms[0].charge + atoms[1].charge * atoms[1].charge;
    for (const double r : {0.0, 1e-6, 1e-4, 1e-3, 0.0031, 0.0033, 0.1})
    {
        SCOPED_TRACE(r);
        system.x = {{1, 1, 1}, {1 + r, 1, 1}, {1.2, 1.1, 1}};
        const std::vector<Vec3<double>> x = stored_positions<TypeParam>(system);
        const double d = norm(x[1] - x[0]), s = beta * d;
        const double held = d == 0 ? 2 * beta / root : std::erf(s) / d;
        // Minus its derivative; near 0, where the closed form cancels, by its series.
        const double pull = s < 0.02 ? 4 * beta * beta / root * s * (1.0 / 3 - s * s / 5)
                                     : std::erf(s) / (d * d) - 2 * beta / root * std::exp(-s * s) / d;
        const PairResult result = evaluate<TypeParam>(system, run);
        const double tolerance = std::is_same_v<typename TypeParam::Real, double> ? 2e-9 : 1e-4;
        EXPECT_NEAR(result.energies[EnergyTerm::CoulombSr], -units::coulomb * beta / root * charges2 - qq * held, tolerance);
        EXPECT_NEAR(result.forces[1].x, -qq * pull, tolerance * beta * 10);
        EXPECT_EQ(result.energies[EnergyTerm::LjSr], 0);
    }
}

TYPED_TEST(Nonbonded, atoms_on_top_of_each_other_have_large_and_finite_forces)
{
    System system = random_liquid({2.4, 2.6, 2.5}, 100, 0, 3);
    system.x[3] = system.x[0] + Vec3<double>{1e-4, 0, 0};
    system.x[9] = system.x[6];
    const PairResult result = evaluate<TypeParam>(system, reaction_field(0.9));
    for (const Vec3<double>& f : result.forces) { EXPECT_TRUE(std::isfinite(norm(f))); }
    EXPECT_GE(norm(result.forces[0]), 1e8);
    EXPECT_GE(result.energies[EnergyTerm::LjSr], 1e7);
}

TEST(MakeNonbonded, recognises_the_combination_rule_of_a_table)
{
    const RunParameters run = reaction_field(0.9);
    EXPECT_EQ(make_nonbonded(random_liquid({2, 2, 2}, 1, 1, 1, CombinationRule::GeometricSigmaEpsilon).topology, run).rule,
              LjRule::Geometric);
    Topology topology = random_liquid({2, 2, 2}, 1, 1, 1, CombinationRule::LorentzBerthelot).topology;
    EXPECT_EQ(make_nonbonded(topology, run).rule, LjRule::LorentzBerthelot);
    topology.c6[1] *= 1.0001, topology.c6[3] *= 1.0001;
    EXPECT_EQ(make_nonbonded(topology, run).rule, LjRule::LorentzBerthelot)
        << "0 times anything is 0: hydrogens have no dispersion";
    topology.c6[2] *= 1.0001, topology.c6[6] *= 1.0001;
    EXPECT_EQ(make_nonbonded(topology, run).rule, LjRule::Table);
}

TEST(MakeNonbonded, refuses_cutoffs_that_differ)
{
    RunParameters run = reaction_field(0.9);
    run.coulomb_cutoff = 1.0;
    EXPECT_THROW(make_nonbonded(random_liquid({2, 2, 2}, 1, 1, 1).topology, run), InputError);
}
