// SPDX-License-Identifier: Apache-2.0
// Barostats of boxes whose edges move apart, on an ideal gas with a potential of the box' shape alone. Without one nothing would
// keep the shape of a gas. Which density of boxes an algorithm has follows from what it moves:
//
//   C-rescale          V^N exp(-(P V - gamma A + U) / kT) dA dL, A = Lx Ly, or dLx dLy dLz where three edges move. For its Ito
//                      equation of s_A = ln A and s_L = ln L has the mobilities D_A = 2 D_L = 2 kT beta / (3 V tau), and the
//                      drift D_i (N - P V / kT ...) = D_i (d ln p / d s_i - 1) belongs to p = V^(N+1) exp(...) ds_A ds_L.
//   Parrinello-Rahman  moves edges, of which joined ones are one coordinate a: V^N exp(...) da dL.
//
// With U = kT kappa q^2 / 2, q = ln(sqrt(A) / L), both are products of a gamma distribution of V and a normal one of q.
#include "base/units.hpp"
#include "dynamics/barostat_body.hpp"
#include "dynamics/leap_frog.hpp"
#include "model/coupling_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace parhelion::test::box_edges { // files are compiled together

namespace {

constexpr double reference_temperature = 300, kt = units::boltzmann * reference_temperature;
constexpr BoxCoupling all_kinds[] = {BoxCoupling::Isotropic, BoxCoupling::SemiIsotropic, BoxCoupling::Anisotropic,
                                     BoxCoupling::SurfaceTension};

struct Moments
{
    double n = 0, sum = 0, squares = 0;
    void add(double x) { n += 1, sum += x, squares += x * x; }
    double mean() const { return sum / n; }
    double variance() const { return squares / n - mean() * mean(); }
};

Vec3<double> product(const Vec3<double>& a, const Vec3<double>& b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }

// `atoms` without positions. Velocities are kinetic energies by axis.
struct ShapedGas
{
    double atoms, pressure, kappa; // 1, bar, 1
    Vec3<double> box{1, 1, 1};     // nm
    Vec3<double> kinetic{0.5 * atoms * kt, 0.5 * atoms* kt, 0.5 * atoms* kt};
    RandomSequence random{23, RandomPurpose::Velocities, 0, 0};

    ShapedGas(double n, double p, double k) : atoms(n), pressure(p), kappa(k)
    {
        const double edge = std::cbrt(n * unit());
        box = {edge, edge, edge};
    }
    double unit() const { return kt * units::bar_per_kj_mol_nm3 / pressure; } // nm^3: kT / P
    double volume() const { return box.x * box.y * box.z; }
    double q() const { return 0.5 * std::log(box.x * box.y) - std::log(box.z); } // across and along
    double r() const { return std::log(box.x / box.y); }
    double energy() const { return kinetic.x + kinetic.y + kinetic.z + 0.5 * kt * kappa * (q() * q() + r() * r()); }
    // Half the derivative of the potential by each edge's logarithm.
    Vec3<double> virial() const { return 0.5 * kt * kappa * Vec3<double>{0.5 * q() + r(), 0.5 * q() - r(), -q()}; }
    Vec3<double> pressure_now() const { return (2 / volume() * units::bar_per_kj_mol_nm3) * (kinetic - virial()); }
    void draw_velocities()
    {
        for (int d = 0; d < 3; ++d) { kinetic[d] = 0.5 * kt * random.next_sum_of_squares(atoms); }
    }
    // The atoms follow, and their velocities are multiplied.
    void scale(const Vec3<double>& next, const Vec3<double>& velocity)
    {
        box = next;
        kinetic = product(product(velocity, velocity), kinetic);
    }
    // The inverse of how an edge has grown: what a box that moves smoothly makes of velocities.
    Vec3<double> shrinkage(const Vec3<double>& next) const { return {box.x / next.x, box.y / next.y, box.z / next.z}; }
};

PressureCoupling coupling_of(Barostat kind, BoxCoupling edges, const ShapedGas& gas, double interval)
{
    const double beta = 1 / gas.pressure; // that of an ideal gas
    return {.kind = kind,
            .time_step = interval,
            .tau = 1,
            .edges = edges,
            .compressibility = {beta, beta, beta},
            .reference = {gas.pressure, gas.pressure, gas.pressure},
            .temperature = reference_temperature,
            .seed = 4};
}

struct BoxMoments
{
    Moments volume, q, r, area, height; // volume in kT / P, the others as in ShapedGas, nm^2, nm
    void add(const ShapedGas& gas)
    {
        volume.add(gas.volume() / gas.unit());
        q.add(gas.q()), r.add(gas.r());
        area.add(gas.box.x * gas.box.y), height.add(gas.box.z);
    }
};

BoxMoments c_rescale(const PressureCoupling& coupling, ShapedGas& gas, int couplings)
{
    BarostatState state;
    BoxMoments moments;
    for (int step = 0; step < couplings; ++step)
    {
        gas.draw_velocities();
        const BoxScaling next = next_box(coupling, step, {gas.virial(), gas.pressure_now()}, gas.box, gas.kinetic, state);
        gas.scale(next.box, next.velocity);
        complete_work(coupling, gas.virial(), state);
        if (step > couplings / 20) { moments.add(gas); }
    }
    return moments;
}

// Volume and velocities of a gas that forgets the latter in 0.135 ps (tests/dynamics/coupling_test.cpp), joined edges being one.
BoxMoments parrinello_rahman(const PressureCoupling& coupling, ShapedGas& gas, int couplings)
{
    constexpr double memory = 0.135;
    BarostatState state;
    BoxMoments moments;
    for (int step = 0; step < couplings; ++step)
    {
        box_drag(coupling, gas.box, state);
        const Vec3<double> next = next_box(coupling, step, {}, gas.box, gas.kinetic, state).box;
        gas.scale(next, gas.shrinkage(next));
        moments.add(gas);
        const double drawn = uniform(random_bits(5, RandomPurpose::Velocities, step, 0).word[0]);
        if (drawn < 1 - std::exp(-coupling.time_step / memory)) { gas.draw_velocities(); }
        state.pressure = joined_mean(coupling.edges, gas.pressure_now());
        state.pressure_known = true;
    }
    return moments;
}

} // namespace

// Of the volume the memory is 1 ps, 200 couplings: 9 500 independent values. The shape forgets as fast with kappa = 2 N.
TEST(CRescaleOfEdges, gives_the_distribution_of_area_and_height_of_a_gas_with_a_shape)
{
    constexpr int atoms = 20, couplings = 2000000;
    constexpr double kappa = 2 * atoms, values = couplings * 0.95 / 200;
    for (const BoxCoupling edges : {BoxCoupling::SemiIsotropic, BoxCoupling::Anisotropic})
    {
        SCOPED_TRACE(static_cast<int>(edges));
        ShapedGas gas(atoms, 50, kappa);
        const BoxMoments found = c_rescale(coupling_of(Barostat::CRescale, edges, gas, 0.005), gas, couplings);
        // p(V) ~ V^N exp(-P V / kT). Finite steps add 0.4 % to the variance.
        EXPECT_NEAR(found.volume.mean(), atoms + 1, 4 * std::sqrt((atoms + 1) / values));
        EXPECT_NEAR(found.volume.variance() / (atoms + 1), 1, 0.004 + 4 * std::sqrt(2.4 / values));
        EXPECT_NEAR(found.q.mean(), 0, 4 * std::sqrt(1 / (kappa * values)));
        EXPECT_NEAR(found.q.variance() * kappa, 1, 0.004 + 4 * std::sqrt(2 / values));
        if (edges == BoxCoupling::SemiIsotropic) { EXPECT_NEAR(gas.r(), 0, 1e-6); }
        else { EXPECT_NEAR(found.r.variance() * kappa, 1, 0.004 + 4 * std::sqrt(2 / values)); }
    }
}

TEST(CRescaleOfEdges, gives_the_area_and_height_of_a_gas_under_a_surface_tension)
{
    constexpr int atoms = 20, couplings = 2000000;
    constexpr double kappa = 2 * atoms, values = couplings * 0.95 / 200;
    ShapedGas gas(atoms, 50, kappa);
    PressureCoupling coupling = coupling_of(Barostat::CRescale, BoxCoupling::SurfaceTension, gas, 0.005);
    coupling.surface_tension = 0.3 * gas.pressure * gas.box.z;
    // The same density summed over a grid of u = ln(V P / kT) and q, where dA dL / V = du dq.
    const double third = 1 / 3.0, tension = coupling.surface_tension / (kt * units::bar_per_kj_mol_nm3); // 1/nm^2
    double weights = 0, areas = 0, area_squares = 0, heights = 0, height_squares = 0;
    for (double u = std::log(2.0); u < std::log(120.0); u += 0.005)
    {
        for (double q = -1.5; q < 1.5; q += 0.005)
        {
            const double volume = std::exp(u) * gas.unit(), height = std::pow(volume * std::exp(-2 * q), third),
                         area = volume / height;
            const double weight = std::exp((atoms + 1) * (u - 3) - std::exp(u) + tension * area - 0.5 * kappa * q * q);
            weights += weight, areas += weight * area, heights += weight * height;
            area_squares += weight * area * area, height_squares += weight * height * height;
        }
    }
    const double area = areas / weights, height = heights / weights;
    const double area_variance = area_squares / weights - area * area,
                 height_variance = height_squares / weights - height * height;
    const BoxMoments found = c_rescale(coupling, gas, couplings);
    EXPECT_NEAR(found.area.mean(), area, 4 * std::sqrt(area_variance / values));
    EXPECT_NEAR(found.area.variance() / area_variance, 1, 0.004 + 4 * std::sqrt(2.4 / values));
    EXPECT_NEAR(found.height.mean(), height, 4 * std::sqrt(height_variance / values));
    EXPECT_NEAR(found.height.variance() / height_variance, 1, 0.004 + 4 * std::sqrt(2.4 / values));
    // Without the tension: A = L^2 on the mean.
    EXPECT_GT(area, 1.1 * height * height);
}

// The interval is chosen for isotropic coupling, whose motion is the fastest that a box has (decision 0033).
TEST(ParrinelloRahmanOfEdges, gives_the_distribution_of_edges_within_what_is_said_of_its_interval)
{
    constexpr int atoms = 100, couplings = 2000000;
    constexpr double kappa = 2 * atoms;
    const double interval = 0.002 * longest_coupling_interval(Barostat::ParrinelloRahman, 1, 0.002);
    for (const BoxCoupling edges : {BoxCoupling::SemiIsotropic, BoxCoupling::Anisotropic})
    {
        SCOPED_TRACE(static_cast<int>(edges));
        ShapedGas gas(atoms, 50, kappa);
        const BoxMoments found = parrinello_rahman(coupling_of(Barostat::ParrinelloRahman, edges, gas, interval), gas, couplings);
        // V^N da dL: V has N + 2/3 and q the mean -1/(3 kappa); three edges: N + 1 and 0. One part in N is what the motion of the
        // box' mass with its longest edge may change. The swing is remembered for 100 to 200 couplings.
        EXPECT_NEAR(found.volume.mean() / atoms, 1, 2.0 / atoms);
        EXPECT_NEAR(found.volume.variance() / atoms, 1, coupling_error_bound + 2.0 / atoms + 0.06);
        EXPECT_NEAR(found.q.mean() * std::sqrt(kappa), 0, 0.06);
        EXPECT_NEAR(found.q.variance() * kappa, 1, coupling_error_bound + 2.0 / atoms + 0.06);
    }
}

namespace {

// The largest deviation of the conserved energy in the course of a run, and how much of the work was not told by the virials
// before the scalings alone. kJ/mol.
struct Balance
{
    double error = 0, one_ended = 0;
};

Balance first_order_balance(Barostat kind, BoxCoupling edges)
{
    ShapedGas gas(20, 50, 400);
    PressureCoupling coupling = coupling_of(kind, edges, gas, 0.01);
    coupling.reference = {50, edges == BoxCoupling::Anisotropic ? 60.0 : 50.0, 40};
    coupling.surface_tension = edges == BoxCoupling::SurfaceTension ? 30 : 0;
    gas.box.z *= 1.3;
    BarostatState state;
    const auto conserved = [&] { return gas.energy() + conserved_contribution(coupling, gas.box, state); };
    const double start = conserved();
    Balance balance;
    for (int step = 0; step < 2000; ++step)
    {
        const Vec3<double> before = gas.virial();
        const BoxScaling next = next_box(coupling, step, {before, gas.pressure_now()}, gas.box, gas.kinetic, state);
        gas.scale(next.box, next.velocity);
        const Vec3<double> difference = product(state.pending_strain, gas.virial() - before);
        balance.one_ended += difference.x + difference.y + difference.z;
        complete_work(coupling, gas.virial(), state);
        balance.error = std::max(balance.error, std::abs(conserved() - start));
    }
    return balance;
}

} // namespace

TEST(CRescaleOfEdges, leaves_no_drift_in_the_conserved_energy)
{
    for (const BoxCoupling edges : {BoxCoupling::SemiIsotropic, BoxCoupling::Anisotropic, BoxCoupling::SurfaceTension})
    {
        SCOPED_TRACE(static_cast<int>(edges));
        const Balance balance = first_order_balance(Barostat::CRescale, edges);
        EXPECT_GT(balance.one_ended, 10 * kt);              // what the trapezoidal rule is for
        EXPECT_LT(balance.error, 1e-9 * balance.one_ended); // it is exact for a quadratic potential
    }
}

TEST(BerendsenOfEdges, counts_its_work)
{
    for (const BoxCoupling edges : {BoxCoupling::SemiIsotropic, BoxCoupling::Anisotropic, BoxCoupling::SurfaceTension})
    {
        SCOPED_TRACE(static_cast<int>(edges));
        EXPECT_LT(first_order_balance(Barostat::Berendsen, edges).error, 1e-9 * kt);
    }
}

TEST(ParrinelloRahmanOfEdges, conserves_its_energy_whatever_resists_the_box)
{
    // References that differ between axes, and a tension beside the pressure inside, have no potential: their work is counted.
    for (const BoxCoupling edges : {BoxCoupling::SemiIsotropic, BoxCoupling::Anisotropic, BoxCoupling::SurfaceTension})
    {
        SCOPED_TRACE(static_cast<int>(edges));
        const auto largest_error = [&](double interval) {
            // Softer, the gas swings ever more under a tension that goes by the pressure inside.
            ShapedGas gas(400, 50, edges == BoxCoupling::SurfaceTension ? 1600 : 400);
            PressureCoupling coupling = coupling_of(Barostat::ParrinelloRahman, edges, gas, interval);
            coupling.reference = {40, edges == BoxCoupling::Anisotropic ? 45.0 : 40.0, 55};
            if (edges == BoxCoupling::SurfaceTension) { coupling.reference = {55, 55, 55}, coupling.surface_tension = 50; }
            gas.box.z *= 1.03;
            BarostatState state;
            double start = 0, error = 0, work = 0;
            for (int step = 0; step * interval < 3; ++step)
            {
                box_drag(coupling, gas.box, state);
                const Vec3<double> next = next_box(coupling, step, {}, gas.box, gas.kinetic, state).box;
                // The pressure of a step has the box before it and the mean of the kinetic energies at both its ends.
                const Vec3<double> kinetic_before = gas.kinetic, box_before = gas.box;
                gas.scale(next, gas.shrinkage(next));
                const Vec3<double> kinetic_after = gas.kinetic, box_after = gas.box;
                gas.box = box_before, gas.kinetic = 0.5 * (kinetic_before + kinetic_after);
                const double conserved = gas.energy() + conserved_contribution(coupling, box_after, state);
                state.pressure = joined_mean(edges, gas.pressure_now());
                state.pressure_known = true;
                gas.box = box_after, gas.kinetic = kinetic_after;
                if (step == 0) { start = conserved; }
                error = std::max(error, std::abs(conserved - start));
                work = std::max(work, std::abs(state.work));
            }
            EXPECT_GT(work, kt);
            return error;
        };
        const double coarse = largest_error(0.008), fine = largest_error(0.002);
        EXPECT_LT(fine, 0.02 * 400 * kt);
        EXPECT_GT(coarse / fine, 3.5); // at least of first order in the interval: the box is half a step ahead of its velocity
    }
}

TEST(BoxEdges, without_a_compressibility_keep_their_bits)
{
    const Vec3<double> start{3.1, 4.7 / 3, 0.1 * 71};
    for (const Barostat kind : {Barostat::Berendsen, Barostat::CRescale, Barostat::ParrinelloRahman})
    {
        for (const BoxCoupling edges : all_kinds)
        {
            if (edges == BoxCoupling::Isotropic) { continue; }
            for (const int fixed : {0, 2})
            {
                SCOPED_TRACE(std::to_string(static_cast<int>(kind)) + " " + std::to_string(static_cast<int>(edges)));
                ShapedGas gas(20, 50, 1);
                PressureCoupling coupling = coupling_of(kind, edges, gas, 0.01);
                const int joined = joined_edges(edges, fixed);
                for (int d = fixed; d < fixed + joined; ++d) { coupling.compressibility[d] = 0; }
                gas.box = start;
                BarostatState state;
                for (int step = 0; step < 200; ++step)
                {
                    box_drag(coupling, gas.box, state);
                    const BoxScaling next = next_box(coupling, step, {{}, gas.pressure_now()}, gas.box, gas.kinetic, state);
                    gas.scale(next.box, next.velocity);
                    state.pressure = joined_mean(edges, gas.pressure_now());
                    state.pressure_known = true;
                    for (int d = fixed; d < fixed + joined; ++d) { ASSERT_EQ(next.velocity[d], 1); }
                }
                for (int d = 0; d < 3; ++d) { EXPECT_EQ(gas.box[d] == start[d], d >= fixed && d < fixed + joined) << d; }
                EXPECT_TRUE(std::isfinite(conserved_contribution(coupling, gas.box, state)));
            }
        }
    }
}

// L_z (P_zz - P_xx) is what the tension is compared with, L_z being the height.
TEST(BoxEdges, stay_under_the_surface_tension_that_the_box_has)
{
    const Vec3<double> box{3, 3, 8}, inside{200, 300, 260};
    for (const Barostat kind : {Barostat::Berendsen, Barostat::CRescale, Barostat::ParrinelloRahman})
    {
        SCOPED_TRACE(static_cast<int>(kind));
        ShapedGas gas(20, 50, 1);
        PressureCoupling coupling = coupling_of(kind, BoxCoupling::SurfaceTension, gas, 0.01);
        coupling.temperature = 0;
        coupling.reference = {inside.z, inside.z, inside.z};
        for (const double off : {0.0, 100.0})
        {
            coupling.surface_tension = box.z * (inside.z - 250) + off; // bar nm
            BarostatState state;
            state.pressure = joined_mean(coupling.edges, inside);
            state.pressure_known = true;
            box_drag(coupling, box, state);
            const Vec3<double> next = next_box(coupling, 0, {{}, inside}, box, {}, state).box;
            EXPECT_EQ(next.z, box.z);
            if (off == 0) { EXPECT_NEAR(next.x, box.x, 1e-15 * box.x); }
            else { EXPECT_GT(next.x, box.x + 1e-6); }
            // The pressure along z is the reference: all that resists has a potential.
            if (kind == Barostat::ParrinelloRahman) { EXPECT_NEAR(state.work, 0, 1e-15); }
        }
    }
}

// Each joined set hears the mean of its own axes.
TEST(BoxEdges, hear_the_pressures_of_the_edges_that_are_joined_with_them)
{
    const Vec3<double> p{1, 2, 6};
    EXPECT_EQ(joined_mean(BoxCoupling::Isotropic, p), (Vec3<double>{3, 3, 3}));
    EXPECT_EQ(joined_mean(BoxCoupling::SemiIsotropic, p), (Vec3<double>{1.5, 1.5, 6}));
    EXPECT_EQ(joined_mean(BoxCoupling::SurfaceTension, p), (Vec3<double>{1.5, 1.5, 6}));
    EXPECT_EQ(joined_mean(BoxCoupling::Anisotropic, p), p);
}

} // namespace parhelion::test::box_edges
