// SPDX-License-Identifier: Apache-2.0
// 100 steps of rigid water against the reference trajectories of GROMACS in double precision: microcanonical, and Nose-Hoover
// with Parrinello-Rahman. Forces are a plain sum over pairs written here, so that only the dynamics are under test.
#include "base/units.hpp"
#include "dynamics/barostat_body.hpp"
#include "dynamics/constraints.hpp"
#include "dynamics/degrees_of_freedom.hpp"
#include "dynamics/kinetic.hpp"
#include "dynamics/leap_frog.hpp"
#include "dynamics/thermostat.hpp"
#include "model/energy_terms.hpp"
#include "support/particles.hpp"
#include "support/refdata.hpp"

#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;

namespace {

// Shifted Lennard-Jones and reaction field with an infinite dielectric beyond the cut-off; pairs from a list with a buffer.
class WaterForces
{
public:
    explicit WaterForces(const Refdata& data) : topology_(data.system.topology), cutoff_(data.parameters.lj_cutoff) {}

    EnergyVirial compute(ParticleState<Double>& state)
    {
        constexpr int rebuild_interval = 5;
        if (calls_++ % rebuild_interval == 0) { find_pairs(state); }
        std::fill(state.f.values().begin(), state.f.values().end(), 0.0);
        const double k = 0.5 / (cutoff_ * cutoff_ * cutoff_), c = 1.5 / cutoff_, rc6 = std::pow(cutoff_, -6);
        EnergyVirial sum;
        for (const auto& [i, j] : pairs_)
        {
            const Vec3<double> r = state.box.difference(state.x.get(i), state.x.get(j));
            const double r2 = norm2(r);
            if (r2 >= cutoff_ * cutoff_) { continue; }
            const bool excluded = i / 3 == j / 3;
            const double qq = units::coulomb * state.charge[i] * state.charge[j];
            double force = -2 * k * qq;
            sum[EnergyTerm::CoulombSr] += qq * (k * r2 - c);
            if (!excluded)
            {
                const double r1 = std::sqrt(r2);
                sum[EnergyTerm::CoulombSr] += qq / r1;
                force += qq / (r1 * r2);
                const auto entry = static_cast<std::size_t>(state.lj_type[i] * topology_.types() + state.lj_type[j]);
                const double c6 = topology_.c6[entry], c12 = topology_.c12[entry], r6 = 1 / (r2 * r2 * r2);
                sum[EnergyTerm::LjSr] += c12 * (r6 * r6 - rc6 * rc6) - c6 * (r6 - rc6);
                force += (12 * c12 * r6 - 6 * c6) * r6 / r2;
            }
            const Vec3<double> f = force * r;
            state.f.add(i, f);
            state.f.add(j, -f);
            sum.virial += -0.5 * outer(r, f);
        }
        for (std::size_t i = 0; i < state.slot_of_global.size(); ++i)
        {
            sum[EnergyTerm::CoulombSr] -= 0.5 * c * units::coulomb * state.charge[i] * state.charge[i];
        }
        return sum;
    }

private:
    void find_pairs(const ParticleState<Double>& state)
    {
        const double radius = cutoff_ + 0.15;
        pairs_.clear();
        const std::size_t atoms = state.slot_of_global.size();
        for (std::size_t i = 0; i < atoms; ++i)
        {
            const auto x = state.x.get(i);
            for (std::size_t j = i + 1; j < atoms; ++j)
            {
                if (norm2(state.box.difference(x, state.x.get(j))) < radius * radius) { pairs_.emplace_back(i, j); }
            }
        }
    }

    const Topology& topology_;
    double cutoff_;
    int calls_ = 0;
    std::vector<std::pair<std::size_t, std::size_t>> pairs_;
};

double relative(double a, double b) { return std::abs(a / b - 1); }

} // namespace

TEST(Refdata, microcanonical_water_follows_the_reference_for_100_steps)
{
    const Refdata data = load_refdata("spce");
    auto state = particles_in_input_order<Double>(data.system);
    CpuQueue queue(2);
    const Constraints constraints(data.system.topology, data.parameters);
    const ConstraintAssignment assignment = constraints.assign_all(data.system.topology);
    const double dt = data.parameters.dt;
    WaterForces forces(data);
    std::map<std::int64_t, double> tolerance{{1, 1e-13}, {10, 1e-11}, {100, 1e-9}}; // nm
    std::int64_t step = 0;
    for (const ReferenceState& reference : refdata_states("spce", "nve"))
    {
        for (; step < reference.step; ++step)
        {
            forces.compute(state);
            kick(queue, kick_coefficients(dt, 1, {}), state);
            constraints.apply(queue, assignment, state, dt, Virial::Skip);
            drift(queue, dt, state);
        }
        double dx = 0, dv = 0;
        for (std::size_t i = 0; i < reference.x.size(); ++i)
        {
            dx = std::max(dx, norm(state.box.difference(state.x.get(i), state.box.to_fixed(reference.x[i]))));
            dv = std::max(dv, norm(state.v.get(i) - reference.v[i]));
        }
        EXPECT_LT(dx, tolerance.at(step)) << "step " << step;
        EXPECT_LT(dv, 1000 * tolerance.at(step)) << "step " << step;
    }
    EXPECT_EQ(step, 100);
}

TEST(Refdata, lincs_and_settle_make_the_first_step_of_ethanol_and_water_from_the_reference_forces)
{
    const Refdata data = load_refdata("etoh");
    auto state = particles_in_input_order<Double>(data.system);
    const std::vector<Vec3<double>> forces = refdata_forces("etoh");
    for (std::size_t i = 0; i < forces.size(); ++i) { state.f.set(i, forces[i]); }
    CpuQueue queue(2);
    const Constraints constraints(data.system.topology, data.parameters);
    const ConstraintAssignment assignment = constraints.assign_all(data.system.topology);
    kick(queue, kick_coefficients(data.parameters.dt, 1, {}), state);
    constraints.apply(queue, assignment, state, data.parameters.dt, Virial::Skip);
    drift(queue, data.parameters.dt, state);
    const ReferenceState reference = refdata_states("etoh", "nve").at(0);
    ASSERT_EQ(reference.step, 1);
    double dx = 0;
    for (std::size_t i = 0; i < reference.x.size(); ++i)
    {
        dx = std::max(dx, norm(state.box.difference(state.x.get(i), state.box.to_fixed(reference.x[i]))));
    }
    EXPECT_LT(dx, 1e-13); // nm
}

namespace {

// The reference takes 1 kJ/(mol nm^3) from the atomic mass constant, 3.5e-10 less than from Avogadro's number: its own Vir,
// Kinetic En. and Pressure say so.
constexpr double unit_of_reference = 16.6053906660 / units::bar_per_kj_mol_nm3;

Vec3<double> by_axis(const EnergyTable& table, const std::string& prefix, const std::string& x, const std::string& y,
                     const std::string& z)
{
    return {table[prefix + x], table[prefix + y], table[prefix + z]};
}
Vec3<double> box_of(const EnergyTable& table) { return by_axis(table, "Box-", "X", "Y", "Z"); }
Vec3<double> box_velocity_of(const EnergyTable& table) { return by_axis(table, "Box-Vel-", "XX", "YY", "ZZ"); }
Vec3<double> pressure_of(const EnergyTable& table) { return by_axis(table, "Pres-", "XX", "YY", "ZZ"); }

double largest_difference(const Vec3<double>& a, const Vec3<double>& b)
{
    return std::max({std::abs(a.x - b.x), std::abs(a.y - b.y), std::abs(a.z - b.z)});
}

struct Step
{
    Vec3<double> box, box_velocity; // before and after the step
    double temperature = 0, conserved = 0;
    Vec3<double> pressure;
};

// 1000 waters with Nose-Hoover and Parrinello-Rahman in every step. before_step(state, coupling) may change the coupling.
// corrections: what the dispersion correction adds to energy and pressure.
template <class BeforeStep>
std::vector<Step> coupled_water(const Refdata& data, const std::vector<EnergyTable>& corrections, BeforeStep&& before_step)
{
    const Topology& topology = data.system.topology;
    auto state = particles_in_input_order<Double>(data.system);
    CpuQueue queue(2);
    const Constraints constraints(topology, data.parameters);
    const ConstraintAssignment assignment = constraints.assign_all(topology);
    const double dt = data.parameters.dt;
    const std::vector<double> dof = degrees_of_freedom(topology, data.parameters.com_mode, {}, {});
    const TemperatureCoupling thermostat = make_temperature_coupling(data.parameters, dof, 0);
    PressureCoupling barostat = make_pressure_coupling(data.parameters, 0);
    std::vector<ThermostatState> thermostat_state = initial_state(thermostat);
    BarostatState barostat_state;
    KineticEnergies half_step = compute_kinetic(queue, state, 1);
    WaterForces forces(data);
    std::vector<Step> steps;
    for (std::size_t row = 0; row < corrections.size(); ++row)
    {
        const auto step = static_cast<std::int64_t>(row);
        const Vec3<double> box = state.box.edges().diagonal();
        const double volume = state.box.edges().volume();
        before_step(box, barostat);
        const EnergyVirial force_sums = forces.compute(state);
        VelocityCoupling coupling;
        couple_temperature(thermostat, step, half_step, thermostat_state, coupling);
        advance_box_velocity(barostat, box, barostat_state, coupling);
        kick(queue, kick_coefficients(dt, 1, coupling), state);
        const auto constrained = constraints.apply(queue, assignment, state, dt, Virial::Compute);
        drift(queue, dt, state);
        KineticEnergies next = compute_kinetic(queue, state, 1);
        const KineticEnergies kinetic = mean(half_step, next);

        const double correction = corrections[row]["Pres. DC"];
        const Vec3<double> pressure =
            unit_of_reference * diagonal(pressure_tensor(kinetic.total(), force_sums.virial + constrained.virial(), volume)) +
            Vec3<double>{correction, correction, correction};
        scale_box(queue, barostat, step, {}, barostat_state, next, state);
        barostat_state.pressure = joined_mean(barostat.edges, pressure);
        barostat_state.pressure_known = true;
        half_step = next;
        const double conserved = force_sums.potential() + kinetic.energy() +
                                 conserved_contribution(thermostat, thermostat_state) +
                                 conserved_contribution(barostat, state.box.edges().diagonal(), barostat_state);
        steps.push_back({box, barostat_state.box_velocity, temperature(kinetic.energy(), dof[0]), conserved, pressure});
    }
    return steps;
}

} // namespace

TEST(Refdata, nose_hoover_and_parrinello_rahman_follow_the_reference_for_100_steps)
{
    Refdata data = load_refdata("spce");
    couple_as_nhpr(data.parameters);
    const std::vector<EnergyTable> reference = refdata_energy_series("spce", "nhpr");
    ASSERT_EQ(reference.size(), 101u);
    const std::vector<Step> steps = coupled_water(data, reference, [](const auto&, const auto&) {});
    double box_error = 0, box_velocity_error = 0, temperature_error = 0, pressure_error = 0, conserved_error = 0;
    for (std::size_t row = 0; row < reference.size(); ++row)
    {
        const EnergyTable& expected = reference[row];
        const Step& step = steps[row];
        const double pressure = (step.pressure.x + step.pressure.y + step.pressure.z) / 3;
        const double conserved = step.conserved + expected["Disper. corr."];
        box_error = std::max(box_error, relative(step.box.x, expected["Box-X"]));
        box_velocity_error = std::max(box_velocity_error, std::abs(step.box_velocity.y - expected["Box-Vel-YY"]));
        temperature_error = std::max(temperature_error, relative(step.temperature, expected["Temperature"]));
        pressure_error = std::max(pressure_error, relative(pressure, expected["Pressure"]));
        conserved_error = std::max(conserved_error, relative(conserved, expected["Conserved En."]));
    }
    EXPECT_LT(box_error, 1e-10);
    EXPECT_LT(box_velocity_error, 2e-12); // nm/ps; printed with 12 decimals, largest 0.018
    EXPECT_LT(temperature_error, 1e-10);
    EXPECT_LT(pressure_error, 1e-9); // it passes through zero
    EXPECT_LT(conserved_error, 1e-10);
}

TEST(Refdata, parrinello_rahman_with_pressures_by_axis_follows_the_reference_for_100_steps)
{
    for (const std::string edges : {"semi", "each", "tension"})
    {
        SCOPED_TRACE(edges);
        Refdata data = load_refdata("spce");
        couple_as_nhpr(data.parameters);
        couple_edges(data.parameters, edges);
        const std::vector<EnergyTable> reference = refdata_energy_series("spce", "axes_nhpr_" + edges);
        ASSERT_EQ(reference.size(), 101u);
        // The reference divides the tension by the edge along x where the height belongs.
        const double tension = data.parameters.surface_tension;
        const auto before_step = [&](const Vec3<double>& box, PressureCoupling& coupling) {
            coupling.surface_tension = tension * box.z / box.x;
        };
        const std::vector<Step> steps = coupled_water(data, reference, before_step);
        double box_error = 0, box_velocity_error = 0, temperature_error = 0;
        for (std::size_t row = 0; row < reference.size(); ++row)
        {
            const EnergyTable& expected = reference[row];
            box_error = std::max(box_error, largest_difference(steps[row].box, box_of(expected)) / expected["Box-X"]);
            box_velocity_error =
                std::max(box_velocity_error, largest_difference(steps[row].box_velocity, box_velocity_of(expected)));
            temperature_error = std::max(temperature_error, relative(steps[row].temperature, expected["Temperature"]));
        }
        EXPECT_LT(box_error, 1e-10);
        EXPECT_LT(box_velocity_error, 2e-12); // nm/ps; printed with 12 decimals, largest 0.023
        EXPECT_LT(temperature_error, 1e-10);
        EXPECT_GT(largest_difference(steps.back().box, steps.front().box), 1e-3);
    }
}

// From the pressures of the reference: constraints are mended elsewhere there, so that the trajectories differ.
TEST(Refdata, first_order_barostats_make_the_boxes_of_the_reference_from_its_pressures)
{
    for (const std::string name :
         {"berendsen_semi", "berendsen_each", "berendsen_tension", "berendsen_fixed", "c_rescale_semi", "c_rescale_tension"})
    {
        SCOPED_TRACE(name);
        Refdata data = load_refdata("spce");
        couple_as_nhpr(data.parameters);
        couple_edges(data.parameters, name.substr(name.rfind('_') + 1));
        data.parameters.barostat = name.starts_with("berendsen") ? Barostat::Berendsen : Barostat::CRescale;
        data.parameters.tau_p = 20;
        PressureCoupling coupling = make_pressure_coupling(data.parameters, 0);
        coupling.temperature = 0; // no noise
        const std::vector<EnergyTable> reference = refdata_energy_series("spce", "axes_" + name);
        ASSERT_EQ(reference.size(), 101u);
        Vec3<double> box = box_of(reference[1]); // the first step has no scaling
        BarostatState state;
        double error = 0;
        for (std::size_t row = 1; row < reference.size(); ++row)
        {
            error = std::max(error, largest_difference(box, box_of(reference[row])) / box.x);
            box = next_box(coupling, static_cast<std::int64_t>(row), {{}, pressure_of(reference[row])}, box, {}, state).box;
        }
        // Berendsen scales by 1 + strain there, by exp(strain) here; the largest strain is 3e-6.
        EXPECT_LT(error, name.starts_with("berendsen") ? 1e-10 : 2e-12);
        EXPECT_GT(largest_difference(box, box_of(reference[0])), 3e-5);
    }
}
