// SPDX-License-Identifier: Apache-2.0
// The bonded force laws alone: closed forms, gradients by finite differences, degenerate geometries.
#include "interactions/bonded/bonded_kinds.hpp"
#include "interactions/random_molecules.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using test::Random;

namespace {

template <int kind>
struct KindOf
{
    static constexpr auto value = static_cast<InteractionKind>(kind);
    using Kind = BondedKind<value>;
    static constexpr int vectors = Kind::Body::atoms - 1;

    typename Kind::Body body;
    std::vector<double> table; // of kinds that read one

    static KindOf random(Random& random)
    {
        MoleculeType molecule;
        molecule.atoms = {{"A", 0, 0, 1, random(-1, 1)}, {"B", 0, 0, 1, random(-1, 1)}};
        Interaction interaction;
        interaction.atoms = {0, 1};
        const InteractionParameters p = test::random_parameters(value, random);
        KindOf law{Kind::make(p, {units::coulomb, molecule, interaction}), {}};
        if constexpr (requires { Kind::table(p); }) { law.table = Kind::table(p); }
        return law;
    }
    auto operator()(const Vec3<double>* d) const { return evaluate(body, d, table.data()); }
    double energy(const Vec3<double>* d) const
    {
        double sum = 0;
        for (const double e : (*this)(d).energy) { sum += e; }
        return sum;
    }
    // Has the law so many derivatives here that those by differences are exact? Third derivatives of a CMAP jump at its nodes,
    // second ones at the edges of a flat part and first ones opposite to it; the angle between two vectors has a cusp on a line.
    bool is_smooth_at(const Vec3<double>* d) const
    {
        if constexpr (value == InteractionKind::DihedralRestraint)
        {
            const DihedralGeometry<double> g(d);
            const double twist = std::abs(std::remainder(std::atan2(g.sine, g.cosine) - body.angle, 2 * units::pi));
            return std::abs(twist - body.flat) > 0.1 && twist < 3;
        }
        if constexpr (value == InteractionKind::AngleRestraint || value == InteractionKind::AngleRestraintZ)
        {
            const Vec3<double> other = value == InteractionKind::AngleRestraint ? d[2] : Vec3<double>{0, 0, 1};
            return norm(cross(d[0], other)) > 0.3 * norm(d[0]) * norm(other);
        }
        if constexpr (value == InteractionKind::RestrictedDihedral) // which has no end at cis and trans
        {
            return std::abs(DihedralGeometry<double>(d).sine) > 0.3;
        }
        if constexpr (value == InteractionKind::Cmap)
        {
            const Vec3<double> d_psi[3] = {-d[1], d[2], d[3]};
            for (const Vec3<double>* torsion : {d, d_psi})
            {
                const DihedralGeometry<double> g(torsion);
                const double place = std::atan2(g.sine, g.cosine) / (2 * units::pi) * body.n;
                if (std::abs(place - std::round(place)) < 0.1) { return false; }
            }
        }
        return true;
    }
};

template <class Sequence>
struct TypesOf;
template <int... kinds>
struct TypesOf<std::integer_sequence<int, kinds...>>
{
    using Type = ::testing::Types<KindOf<kinds>...>;
};

template <class K>
class BondedBodyTest : public ::testing::Test
{
};
using EveryKind = TypesOf<std::make_integer_sequence<int, bonded_kinds>>::Type;
TYPED_TEST_SUITE(BondedBodyTest, EveryKind);

// The derivative by central differences of three step widths, extrapolated to sixth order.
template <class Function>
double derivative(Function&& f, double h)
{
    const auto central = [&](double step) { return (f(step) - f(-step)) / (2 * step); };
    const double a = central(h), b = central(h / 2), c = central(h / 4);
    const double ab = (4 * b - a) / 3, bc = (4 * c - b) / 3;
    return (16 * bc - ab) / 15;
}

constexpr int most_vectors = most_atoms - 1;

// Largest relative deviation of the forces of a law from minus the numerical gradient; reach: the length over which its energy
// varies.
template <class Law>
double gradient_error(const Law& law, const Vec3<double>* at, double reach)
{
    Vec3<double> d[most_vectors];
    std::copy_n(at, Law::vectors, d);
    const auto result = law(d);
    double error = 0, scale = 0;
    for (int i = 0; i < Law::vectors; ++i)
    {
        for (int axis = 0; axis < 3; ++axis)
        {
            const double here = d[i][axis];
            const double numerical = -derivative(
                [&](double step) {
                    d[i][axis] = here + step;
                    const double e = law.energy(d);
                    d[i][axis] = here;
                    return e;
                },
                0.01 * reach);
            error = std::max(error, std::abs(numerical - result.f[i][axis]));
            scale = std::max(scale, std::abs(result.f[i][axis]));
        }
    }
    return scale > 0 ? error / scale : error; // multiplicity 0: no force
}

} // namespace

TYPED_TEST(BondedBodyTest, forces_are_minus_the_gradient_of_the_energy)
{
    Random random(11);
    for (int trial = 0; trial < 300; ++trial)
    {
        const auto law = TypeParam::random(random);
        Vec3<double> d[most_vectors];
        for (auto& v : d) { v = random.vector(random(0.11, 0.2)); }
        if (!law.is_smooth_at(d)) { continue; }
        double reach = 0.1;
        for (int i = 0; i + 1 < most_vectors; ++i) { reach = std::min(reach, norm(cross(d[i], d[i + 1])) / 0.2); }
        EXPECT_LE(gradient_error(law, d, reach), 1e-8) << "trial " << trial;
    }
}

TYPED_TEST(BondedBodyTest, forces_are_minus_the_gradient_near_a_line)
{
    Random random(12);
    for (const double off_line : {3e-2, 1e-2, 3e-3})
    {
        for (const double sense : {1.0, -1.0})
        {
            const auto law = TypeParam::random(random);
            Vec3<double> d[most_vectors];
            do {
                d[0] = random.vector(0.15);
                d[1] = sense * d[0] + random.vector(0.15 * off_line);
                d[2] = random.vector(0.15), d[3] = random.vector(0.15);
            } while (!law.is_smooth_at(d));
            // Energies of theta or phi vary within the distance from the line; those of its cosine do not.
            const bool smooth = TypeParam::value == InteractionKind::G96Angle;
            const double reach = smooth ? 0.1 : norm(cross(d[0], d[1])) / 0.15;
            EXPECT_LE(gradient_error(law, d, reach), 1e-8) << off_line << " " << sense;
        }
    }
}

TYPED_TEST(BondedBodyTest, rotating_a_term_rotates_its_forces)
{
    if (TypeParam::value == InteractionKind::AngleRestraintZ) { GTEST_SKIP() << "the z axis does not turn with the atoms"; }
    Random random(13);
    for (int trial = 0; trial < 20; ++trial)
    {
        const auto law = TypeParam::random(random);
        Vec3<double> d[most_vectors], turned[most_vectors];
        const auto rotate = [](const Vec3<double>& v) { return Vec3<double>{v.y, v.z, v.x}; }; // 120 degrees about the diagonal
        for (int i = 0; i < most_vectors; ++i) { d[i] = random.vector(0.15), turned[i] = rotate(d[i]); }
        const auto here = law(d), there = law(turned);
        EXPECT_NEAR(here.energy[0], there.energy[0], 1e-12 * std::abs(here.energy[0]) + 1e-12);
        for (int i = 0; i < TypeParam::vectors; ++i)
        {
            EXPECT_LE(norm(rotate(here.f[i]) - there.f[i]), 1e-11 * norm(here.f[i]) + 1e-11);
        }
    }
}

TYPED_TEST(BondedBodyTest, no_torque_acts_on_a_term)
{
    if (TypeParam::value == InteractionKind::AngleRestraintZ) { GTEST_SKIP() << "the z axis does not turn with the atoms"; }
    Random random(14);
    for (int trial = 0; trial < 50; ++trial)
    {
        const auto law = TypeParam::random(random);
        Vec3<double> d[most_vectors];
        for (auto& v : d) { v = random.vector(random(0.11, 0.2)); }
        const auto result = law(d);
        Vec3<double> torque;
        double scale = 0;
        for (int i = 0; i < TypeParam::vectors; ++i)
        {
            torque += cross(d[i], result.f[i]);
            scale += norm(d[i]) * norm(result.f[i]);
        }
        EXPECT_LE(norm(torque), 1e-13 * scale);
    }
}

TYPED_TEST(BondedBodyTest, degenerate_geometries_give_finite_numbers)
{
    Random random(15);
    const Vec3<double> zero{}, x{0.15, 0, 0}, y{0, 0.15, 0}, oblique{0.1, -0.07, 0.03};
    const Vec3<double> choices[] = {zero,
                                    x,
                                    -x,
                                    y,
                                    oblique,
                                    -2.0 * oblique,
                                    Vec3<double>{1e-19, 0, 0},
                                    Vec3<double>{0.15, 1e-17, 0},
                                    Vec3<double>{1e-9, 1e-9, 0}};
    const auto last = [&] { return choices[static_cast<std::size_t>(random(0, std::size(choices)))]; };
    for (const auto& d0 : choices)
    {
        for (const auto& d1 : choices)
        {
            for (const auto& d2 : choices)
            {
                const Vec3<double> d[most_vectors] = {d0, d1, d2, last()};
                const auto result = TypeParam::random(random)(d);
                for (const double e : result.energy) { EXPECT_TRUE(std::isfinite(e)); }
                for (const auto& f : result.f) { EXPECT_TRUE(std::isfinite(norm(f))); }
            }
        }
    }
}

TEST(BondedBody, bonds_pull_back_with_their_force_constant)
{
    const Vec3<double> d{0.13, 0, 0};
    const auto bond = HarmonicBond<double>{0.1, 1000}(&d);
    EXPECT_DOUBLE_EQ(bond.energy[0], 0.5 * 1000 * 0.03 * 0.03);
    EXPECT_NEAR(bond.f[0].x, -30, 1e-12);
    const auto g96 = G96Bond<double>{0.1, 1000}(&d);
    EXPECT_DOUBLE_EQ(g96.energy[0], 0.25 * 1000 * 0.0069 * 0.0069);
    EXPECT_NEAR(g96.f[0].x, -1000 * 0.0069 * 0.13, 1e-12);
}

// The closed form of every part of the potential, from both sides of each edge.
TEST(BondedBody, a_distance_restraint_has_a_flat_a_harmonic_and_a_linear_part)
{
    const DistanceRestraint<double> restraint{0.2, 0.3, 0.4, 1000};
    const auto at = [&](double r) {
        const Vec3<double> d{r, 0, 0};
        return restraint(&d);
    };
    for (const double r : {0.0, 0.1, 0.2 - 1e-9})
    {
        EXPECT_NEAR(at(r).energy[0], 500 * (r - 0.2) * (r - 0.2), 1e-13);
        EXPECT_NEAR(at(r).f[0].x, r > 0 ? 1000 * (0.2 - r) : 0, 1e-12);
    }
    for (const double r : {0.2 + 1e-9, 0.25, 0.3 - 1e-9})
    {
        EXPECT_EQ(at(r).energy[0], 0);
        EXPECT_EQ(at(r).f[0].x, 0);
    }
    for (const double r : {0.3 + 1e-9, 0.35, 0.4 - 1e-9})
    {
        EXPECT_NEAR(at(r).energy[0], 500 * (r - 0.3) * (r - 0.3), 1e-13);
        EXPECT_NEAR(at(r).f[0].x, -1000 * (r - 0.3), 1e-12);
    }
    for (const double r : {0.4 + 1e-9, 0.7, 2.0})
    {
        EXPECT_NEAR(at(r).energy[0], 500 * 0.1 * (2 * r - 0.7), 1e-12);
        EXPECT_NEAR(at(r).f[0].x, -100, 1e-12);
    }
}

TEST(BondedBody, a_dihedral_restraint_is_flat_about_its_angle_and_wraps)
{
    for (int centre = -180; centre <= 180; centre += 30)
    {
        for (int away = -179; away <= 179; away += 2)
        {
            const double phi = (centre + away) * units::degree;
            const Vec3<double> d[3] = {{0.1, 0, 0.02}, {0, 0, 0.15}, {0.1 * std::cos(phi), 0.1 * std::sin(phi), 0.03}};
            const auto result = DihedralRestraint<double>{centre * units::degree, 20 * units::degree, 100}(d);
            const double excess = std::max(0, std::abs(away) - 20) * units::degree;
            EXPECT_NEAR(result.energy[0], 50 * excess * excess, 1e-11) << centre << " " << away;
            if (excess == 0) { EXPECT_EQ(norm(result.f[0]) + norm(result.f[1]) + norm(result.f[2]), 0) << away; }
        }
    }
}

TEST(BondedBody, angle_restraints_are_periodic_in_the_angle_of_their_vectors)
{
    for (int degrees = 1; degrees < 180; ++degrees)
    {
        const double theta = degrees * units::degree;
        const Vec3<double> z[1] = {{-0.2 * std::sin(theta), 0, -0.2 * std::cos(theta)}}; // from the second atom to the first
        const Vec3<double> d[3] = {{-0.1, 0, 0}, {7, 8, 9}, {0.2 * std::cos(theta), 0, 0.2 * std::sin(theta)}};
        for (int n = -2; n <= 3; ++n)
        {
            const MoleculeType molecule;
            const Interaction interaction;
            const InteractionParameters p = {20, 100, static_cast<double>(n)};
            const BondedContext context{1, molecule, interaction};
            const double expected = 100 * (1 - std::cos(n * (theta - 20 * units::degree)));
            EXPECT_NEAR(BondedKind<InteractionKind::AngleRestraint>::make(p, context)(d).energy[0], expected, 1e-12);
            EXPECT_NEAR(BondedKind<InteractionKind::AngleRestraintZ>::make(p, context)(z).energy[0], expected, 1e-12);
        }
    }
}

TEST(BondedBody, a_scaled_pair_is_lennard_jones_and_coulomb)
{
    const Vec3<double> d{0, 0.5, 0};
    const auto pair = ScaledPair<double>{2, 3, 5}(&d);
    EXPECT_DOUBLE_EQ(pair.energy[0], 3 * std::pow(2.0, 12) - 2 * std::pow(2.0, 6));
    EXPECT_DOUBLE_EQ(pair.energy[1], 10);
    EXPECT_DOUBLE_EQ(pair.f[0].y, 12 * 3 * std::pow(2.0, 13) - 6 * 2 * std::pow(2.0, 7) + 20);
}

TEST(BondedBody, overlapping_pairs_repel_beyond_any_limit_of_stability)
{
    const Vec3<double> d{1e-4, 0, 0}, zero{};
    const ScaledPair<double> pair{1e-3, 1e-6, 10};
    EXPECT_GT(pair(&d).f[0].x, 1e15);
    EXPECT_GT(pair(&zero).energy[0], 1e15);
    const Vec3<float> near{1e-4F, 0, 0};
    EXPECT_TRUE(std::isfinite(ScaledPair<float>{1e-3F, 1e-6F, 10}(&near).f[0].x));
}

TEST(BondedBody, angles_are_zero_at_rest_at_every_angle)
{
    for (int degrees = 0; degrees <= 180; ++degrees)
    {
        const double theta = degrees * units::degree;
        const Vec3<double> d[2] = {{0.1, 0, 0}, {0.2 * std::cos(theta), 0.2 * std::sin(theta), 0}};
        const auto angle = HarmonicAngle<double>{theta, 500}(d);
        EXPECT_NEAR(angle.energy[0], 0, 1e-27) << degrees;
        EXPECT_NEAR(norm(angle.f[0]), 0, 1e-10) << degrees;
        EXPECT_NEAR((G96Angle<double>{std::cos(theta), 500}(d).energy[0]), 0, 1e-27) << degrees;
    }
}

// By hand, and finite on a line, in single precision, too.
TEST(BondedBody, restricted_angles_have_the_energy_of_the_formula_and_end_on_no_line)
{
    const RestrictedAngle<double> angle{std::cos(120 * units::degree), 50};
    const Vec3<double> right[2] = {{0.3, 0, 0}, {0, 0.4, 0}}, line[2] = {{0.3, 0, 0}, {-0.4, 0, 0}};
    EXPECT_NEAR(angle(right).energy[0], 0.5 * 50 * 0.25, 1e-12);
    EXPECT_NEAR(angle(right).f[0].y, -50 * 0.5 / 0.3, 1e-12); // towards the wider angle: dV/dcos = k (0 + 1/2), dcos/dy = 1 / 0.3
    EXPECT_GT(angle(line).energy[0], 1e8);
    EXPECT_EQ(angle(line).f[0], Vec3<double>{});
    const Vec3<float> near[2] = {{0.3F, 0, 0}, {-0.4F, 1e-6F, 0}};
    EXPECT_TRUE(std::isfinite(RestrictedAngle<float>{-0.5F, 50}(near).f[0].y));
}

TEST(BondedBody, dihedrals_follow_the_iupac_convention)
{
    // Looking along +z from atom 1 to atom 2, y is clockwise of x.
    for (int degrees = -175; degrees <= 180; degrees += 5)
    {
        const double phi = degrees * units::degree;
        const Vec3<double> d[3] = {{0.1, 0, 0.02}, {0, 0, 0.15}, {0.1 * std::cos(phi), 0.1 * std::sin(phi), 0.03}};
        for (int n = 0; n <= 6; ++n)
        {
            const PeriodicDihedral<double> dihedral{{std::cos(0.4), std::sin(0.4), 10, n}};
            EXPECT_NEAR(dihedral(d).energy[0], 10 * (1 + std::cos(n * phi - 0.4)), 1e-12);
        }
        EXPECT_NEAR((HarmonicDihedral<double>{phi, 100}(d).energy[0]), 0, 1e-25);
        double polynomial = 0;
        for (int n = 0; n < 6; ++n) { polynomial += (n + 1) * std::pow(std::cos(phi - units::pi), n); }
        EXPECT_NEAR((RyckaertBellemans<double>{{1, 2, 3, 4, 5, 6}}(d).energy[0]), polynomial, 1e-12);
    }
}

TEST(BondedBody, a_harmonic_improper_takes_the_short_way_round)
{
    const double phi = 175 * units::degree;
    const Vec3<double> d[3] = {{0.1, 0, 0}, {0, 0, 0.15}, {0.1 * std::cos(phi), 0.1 * std::sin(phi), 0}};
    const double ten_degrees = 10 * units::degree;
    EXPECT_NEAR((HarmonicDihedral<double>{-175 * units::degree, 100}(d).energy[0]), 50 * ten_degrees * ten_degrees, 1e-12);
}

TEST(BondedBody, negative_multiplicities_turn_the_other_way)
{
    using Kind = BondedKind<InteractionKind::ProperDihedral>;
    const MoleculeType molecule;
    const Interaction interaction;
    const double phi = 0.7;
    const Vec3<double> d[3] = {{0.1, 0, 0}, {0, 0, 0.15}, {0.1 * std::cos(phi), 0.1 * std::sin(phi), 0}};
    const auto dihedral = Kind::make({30, 5, -2}, {1, molecule, interaction});
    EXPECT_NEAR(dihedral(d).energy[0], 5 * (1 + std::cos(-2 * phi - 30 * units::degree)), 1e-13);
}

TEST(BondedBody, urey_bradley_is_an_angle_and_a_bond_between_its_ends)
{
    using Kind = BondedKind<InteractionKind::UreyBradley>;
    const MoleculeType molecule;
    const Interaction interaction;
    const Vec3<double> d[2] = {{0.3, 0, 0}, {0, 0.4, 0}}; // 90 degrees, ends 0.5 nm apart
    const double bend = 10 * units::degree, stretch = 0.02;
    const auto body = Kind::make({80, 300, 0.48, 2000}, {1, molecule, interaction});
    EXPECT_NEAR(body(d).energy[0], 0.5 * 300 * bend * bend + 0.5 * 2000 * stretch * stretch, 1e-12);
}
