// SPDX-License-Identifier: Apache-2.0
// A minimisation by the whole engine: where it ends, however it ends.
#include "minimised_systems.hpp"

#include <algorithm>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <map>
#include <utility>

using namespace parhelion;
using namespace parhelion::test;
using ::testing::HasSubstr;

namespace {

Simulation minimise(double first_step)
{
    Refdata data = load_nve("etoh");
    data.parameters.integrator = Integrator::SteepestDescent;
    data.parameters.thermostat = Thermostat::None;
    data.parameters.barostat = Barostat::None;
    data.parameters.em_step = first_step;
    data.parameters.em_tolerance = 1e-3;
    return simulate(data, Precision::Double);
}

double lowest(const Recorder& recorder)
{
    const auto lower = [](const Observables& a, const Observables& b) { return a.potential < b.potential; };
    return std::min_element(recorder.observables.begin(), recorder.observables.end(), lower)->potential;
}

} // namespace

// The last point is judged, and another one made, before it is known that there are no more steps.
TEST(Minimisation, ends_at_the_best_point_when_its_steps_are_done)
{
    for (const int steps : {1, 2, 5, 9})
    {
        for (const double first_step : {0.005, 0.5}) // too long a step: the last points are worse than the best
        {
            SCOPED_TRACE(testing::Message() << steps << " steps, the first " << first_step << " nm");
            Simulation simulation = minimise(first_step);
            Recorder recorder;
            const RunSummary summary = simulation.run(steps, recorder, never);
            EXPECT_EQ(summary.end, RunEnd::Done);
            EXPECT_FALSE(summary.converged);
            // Only points that are better than all before are told of.
            ASSERT_LE(recorder.observables.size(), static_cast<std::size_t>(steps) + 1);
            for (std::size_t i = 1; i < recorder.observables.size(); ++i)
            {
                EXPECT_LT(recorder.observables[i].potential, recorder.observables[i - 1].potential);
            }
            const double best = lowest(recorder);
            EXPECT_NEAR(simulation.evaluate().observables.potential, best, 1e-9 * std::abs(best));
        }
    }
}

// Atoms move by more than the buffer of their lists, which must not miss a pair for that.
TEST(Minimisation, builds_few_pair_lists_and_misses_no_pair)
{
    const Refdata data = as_minimisation(load_refdata("etoh"), Integrator::ConjugateGradients);
    Simulation simulation = simulate(data, Precision::Double);
    Recorder recorder;
    const RunSummary summary = simulation.run(300, recorder, never);
    EXPECT_EQ(summary.steps, 300);
    EXPECT_GT(summary.lists_built, 5);
    EXPECT_LT(summary.lists_built, 60);
    const SinglePoint end = simulation.evaluate(); // with a list of its own
    EXPECT_NEAR(end.observables.potential, recorder.observables.back().potential, 1e-10 * std::abs(end.observables.potential));
}

TEST(Minimisation, has_no_temperature)
{
    Simulation simulation = minimise(0.01);
    Recorder recorder;
    simulation.run(5, recorder, never);
    ASSERT_FALSE(recorder.temperatures.empty());
    for (const double temperature : recorder.temperatures) { EXPECT_TRUE(std::isnan(temperature)); }
}

TEST(Minimisation, ends_at_the_best_point_when_it_is_stopped)
{
    Simulation simulation = minimise(0.01);
    Recorder recorder;
    const std::atomic<bool> stop{true};
    const RunSummary summary = simulation.run(100, recorder, stop);
    EXPECT_EQ(summary.end, RunEnd::Stopped);
    EXPECT_EQ(recorder.observables.size(), 1u);
    const double best = lowest(recorder);
    EXPECT_NEAR(simulation.evaluate().observables.potential, best, 1e-9 * std::abs(best));
    ASSERT_EQ(recorder.messages.size(), 1u);
    EXPECT_THAT(recorder.messages[0], HasSubstr("steepest descent: stopped, not converged after 0 steps"));
}

TEST(Minimisation, along_lines_needs_fewer_evaluations_and_ends_where_the_largest_force_is_as_asked)
{
    std::map<Integrator, std::int64_t> evaluations;
    for (const Integrator minimiser : {Integrator::SteepestDescent, Integrator::ConjugateGradients, Integrator::LBfgs})
    {
        Refdata data = flexible_ethanol(minimiser);
        data.parameters.em_tolerance = 20;
        Simulation simulation = simulate(data, Precision::Double);
        Recorder recorder;
        const RunSummary summary = simulation.run(4000, recorder, never);
        SCOPED_TRACE(recorder.messages.back());
        EXPECT_TRUE(summary.converged);
        evaluations[minimiser] = summary.steps;
        const SinglePoint end = simulation.evaluate();
        double largest = 0;
        for (std::size_t atom = 0; atom < ethanol_atoms; ++atom) { largest = std::max(largest, norm(end.forces[atom])); }
        EXPECT_LE(largest, 20 * (1 + 1e-9));
        EXPECT_NEAR(largest, summary.largest_force, 1e-6 * largest);
        for (std::size_t i = 1; i < recorder.observables.size(); ++i)
        {
            const double before = recorder.observables[i - 1].potential;
            EXPECT_LE(recorder.observables[i].potential, before + 1e-12 * std::abs(before));
        }
    }
    EXPECT_LT(2 * evaluations[Integrator::ConjugateGradients], evaluations[Integrator::SteepestDescent]);
    EXPECT_LT(2 * evaluations[Integrator::LBfgs], evaluations[Integrator::SteepestDescent]);
}

TEST(Minimisation, has_the_bits_of_one_thread_on_several)
{
    const Refdata all_atoms = as_minimisation(load_refdata("etoh"), Integrator::ConjugateGradients);
    for (const Refdata& data : {all_atoms, flexible_ethanol(Integrator::LBfgs)})
    {
        const auto end_of = [&](int threads) {
            SimulationOptions options;
            options.precision = Precision::Double, options.summation = Summation::Reproducible;
            options.threads = threads;
            Simulation simulation(data.system, data.parameters, options);
            Recorder recorder;
            simulation.run(30, recorder, never); // a last bit grows to a difference of positions
            return std::pair(simulation.frame().x, recorder.observables.back().potential);
        };
        EXPECT_EQ(end_of(3), end_of(1));
    }
}

TEST(Minimisation, along_lines_says_why_it_ends)
{
    for (const auto& [minimiser, name] :
         {std::pair{Integrator::ConjugateGradients, "conjugate gradients"}, {Integrator::LBfgs, "L-BFGS"}})
    {
        Simulation simulation = simulate(flexible_ethanol(minimiser), Precision::Double);
        Recorder recorder;
        const RunSummary summary = simulation.run(7, recorder, never);
        EXPECT_EQ(summary.end, RunEnd::Done);
        EXPECT_EQ(summary.steps, 7);
        EXPECT_FALSE(summary.converged);
        EXPECT_THAT(recorder.messages.back(), HasSubstr(std::string(name) + ": all steps done, not converged after 7 steps"));
        EXPECT_NEAR(simulation.evaluate().observables.potential, recorder.observables.back().potential,
                    1e-9 * std::abs(recorder.observables.back().potential));
    }
}
