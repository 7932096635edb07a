// SPDX-License-Identifier: Apache-2.0
// A run that goes on from a checkpoint is the run that never stopped: same bits in positions, velocities and energies.
#include "base/error.hpp"
#include "coupled_runs.hpp"
#include "engine/coupling_values.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

using namespace parhelion;
using namespace parhelion::test;

namespace {

const std::vector<Case>& cases = coupled_cases;
constexpr std::int64_t whole = 22;

struct Outcome
{
    Frame frame;
    std::vector<Observables> observables;
};

Simulation start(const Refdata& data, Precision precision, Summation summation, int threads, const SavedState* saved = nullptr)
{
    SimulationOptions options;
    options.precision = precision, options.summation = summation, options.threads = threads;
    return Simulation(data.system, data.parameters, options, saved);
}

Outcome run_through(const Refdata& data, Precision precision, Summation summation, int threads)
{
    Simulation simulation = start(data, precision, summation, threads);
    Recorder recorder;
    simulation.run(whole, recorder, never);
    return {simulation.frame(), recorder.observables};
}

// Stops after `first_part` steps and goes on in a new simulation.
Outcome run_with_a_break(const Refdata& data, Precision precision, Summation summation, std::int64_t first_part, int threads,
                         int other_threads)
{
    Simulation before = start(data, precision, summation, threads);
    Observer nobody;
    before.run(first_part, nobody, never);
    const SavedState saved = before.saved_state();
    EXPECT_LE(saved.step, first_part);
    EXPECT_GT(saved.step, first_part - data.parameters.list_interval);
    Simulation after = start(data, precision, summation, other_threads, &saved);
    Recorder recorder;
    after.run(whole - saved.step, recorder, never);
    return {after.frame(), recorder.observables};
}

void expect_same_bits(const Outcome& broken, const Outcome& through)
{
    EXPECT_EQ(broken.frame.step, through.frame.step);
    EXPECT_EQ(broken.frame.box, through.frame.box);
    EXPECT_EQ(broken.frame.x, through.frame.x);
    EXPECT_EQ(broken.frame.v, through.frame.v);
    ASSERT_FALSE(broken.observables.empty());
    ASSERT_LE(broken.observables.size(), through.observables.size());
    const std::size_t missing = through.observables.size() - broken.observables.size();
    for (std::size_t i = 0; i < broken.observables.size(); ++i)
    {
        const Observables &a = broken.observables[i], &b = through.observables[missing + i];
        ASSERT_EQ(a.step, b.step);
        EXPECT_EQ(a.potential, b.potential) << "step " << a.step;
        EXPECT_EQ(a.kinetic_energy, b.kinetic_energy) << "step " << a.step;
        EXPECT_EQ(a.conserved, b.conserved) << "step " << a.step;
        EXPECT_EQ(a.pressure_tensor, b.pressure_tensor) << "step " << a.step;
        EXPECT_EQ(a.box_velocity, b.box_velocity) << "step " << a.step;
    }
}

} // namespace

class Continuation : public ::testing::TestWithParam<Case>
{
};

TEST_P(Continuation, has_the_bits_of_the_run_that_never_stopped)
{
    const Refdata data = coupled(GetParam());
    const Outcome through = run_through(data, Precision::Mixed, Summation::Fast, 2);
    for (const std::int64_t first_part : {8, 19})
    {
        SCOPED_TRACE(first_part);
        expect_same_bits(run_with_a_break(data, Precision::Mixed, Summation::Fast, first_part, 2, 2), through);
    }
}

TEST_P(Continuation, with_reproducible_sums_has_them_on_any_number_of_threads)
{
    const Refdata data = coupled(GetParam());
    for (const Precision precision : {Precision::Mixed, Precision::Double})
    {
        const Outcome through = run_through(data, precision, Summation::Reproducible, 1);
        expect_same_bits(run_with_a_break(data, precision, Summation::Reproducible, 13, 3, 2), through);
    }
}

INSTANTIATE_TEST_SUITE_P(Coupled, Continuation, ::testing::ValuesIn(cases), [](const auto& test) { return test.param.name; });

// Guards the tests above: if the box stood still or nothing were coupled they would prove little.
TEST(Continuation, is_tested_on_runs_that_differ)
{
    const Box<double> box = coupled(cases[0]).system.box;
    std::vector<double> temperatures;
    for (const Case& c : cases)
    {
        const Outcome outcome = run_through(coupled(c), Precision::Mixed, Summation::Reproducible, 2);
        EXPECT_EQ(outcome.frame.box == box, c.barostat == Barostat::None) << c.name;
        EXPECT_THAT(temperatures, testing::Not(testing::Contains(outcome.observables.back().temperature))) << c.name;
        temperatures.push_back(outcome.observables.back().temperature);
    }
}

// As checkpoints had them before edges had pressures of their own.
TEST(Continuation, keeps_one_number_for_three_equal_ones_of_the_axes)
{
    for (const Vec3<double>& pressure : {Vec3<double>{7, 7, 7}, Vec3<double>{7, 7, 8}})
    {
        Coupling coupling;
        coupling.barostat.pressure = pressure;
        SavedState saved;
        write_coupling(coupling, saved);
        EXPECT_EQ(saved.coupling.at("barostat-pressure").size(), pressure.z == 7 ? 1u : 3u);
        EXPECT_EQ(saved.coupling.at("barostat-pending-strain"), std::vector<double>{0});
        Coupling read;
        read_coupling(saved, read);
        EXPECT_EQ(read.barostat.pressure, pressure);
    }
}

// Checkpoints of earlier versions have these names, and these orders of groups and of the links of their chains.
TEST(Continuation, reads_and_writes_the_values_of_thermostats_group_by_group)
{
    const std::map<std::string, std::vector<double>> in_file = {{"thermostat-xi", {1, 2}},
                                                                {"thermostat-xi-integral", {3, 4}},
                                                                {"thermostat-heat", {5, 6}},
                                                                {"thermostat-chain", {7, 8, 9, 10}}};
    RunParameters parameters;
    parameters.thermostat = Thermostat::NoseHoover;
    parameters.integrator = Integrator::VelocityVerlet;
    parameters.nose_hoover_chain = 3, parameters.temperature_interval = 1;
    parameters.temperature_groups = {{.name = "A", .tau = 1, .reference = 300}, {.name = "B", .tau = 1, .reference = 300}};
    const TemperatureCoupling temperature = make_temperature_coupling(parameters, {30, 60}, 0);
    Coupling coupling = initial_coupling(temperature);
    SavedState saved;
    write_coupling(coupling, saved);
    for (const auto& [name, values] : in_file)
    {
        EXPECT_EQ(saved.coupling.at(name), std::vector<double>(values.size())) << name << " at the start";
        saved.coupling[name] = values;
    }
    read_coupling(saved, coupling);
    ASSERT_EQ(coupling.thermostat.size(), 2u);
    EXPECT_EQ(coupling.thermostat[1].xi, 2);
    EXPECT_EQ(coupling.thermostat[1].heat, 6);
    EXPECT_EQ(coupling.thermostat[1].chain[0], 9);
    SavedState again;
    write_coupling(coupling, again);
    EXPECT_EQ(again.coupling, saved.coupling);
}

TEST(Continuation, keeps_a_seed_that_was_drawn)
{
    Refdata data = coupled(cases[1]);
    data.parameters.random_seed = -1;
    Simulation before = start(data, Precision::Mixed, Summation::Fast, 1);
    Observer nobody;
    before.run(4, nobody, never);
    const SavedState saved = before.saved_state();
    before.run(8, nobody, never);
    Simulation after = start(data, Precision::Mixed, Summation::Fast, 1, &saved);
    after.run(8 + 4 - saved.step, nobody, never);
    EXPECT_EQ(after.plan().seed, before.plan().seed);
    EXPECT_EQ(after.frame().v, before.frame().v);
}

TEST(Continuation, after_a_stop_takes_up_where_the_pair_list_was_last_built)
{
    const Refdata data = coupled(cases[4]);
    struct StopAtObservation final : Observer
    {
        explicit StopAtObservation(std::int64_t when) : step(when) {}
        void energies(const OutputDue&, const Observables& o) override { stop = o.step >= step; }
        std::int64_t step;
        std::atomic<bool> stop{false};
    };
    Simulation stopped = start(data, Precision::Mixed, Summation::Fast, 1);
    StopAtObservation at_10(10);
    const RunSummary summary = stopped.run(whole, at_10, at_10.stop);
    EXPECT_EQ(summary.end, RunEnd::Stopped);
    EXPECT_EQ(summary.steps, 12); // the end of the list interval in which it was asked for
    const SavedState saved = stopped.saved_state();
    EXPECT_EQ(saved.step, 12);
    Simulation after = start(data, Precision::Mixed, Summation::Fast, 1, &saved);
    Observer nobody;
    after.run(whole - saved.step, nobody, never);
    EXPECT_EQ(after.frame().v, run_through(data, Precision::Mixed, Summation::Fast, 1).frame.v);
}

// Where steps take long, a stop does not wait for the end of the list interval. What was done since the list was built is
// repeated.
TEST(Continuation, after_a_stop_between_pair_lists_has_the_bits_of_the_run_that_never_stopped)
{
    Refdata data = coupled(cases[4]);
    data.parameters.energy_calc = 1;
    struct Slow final : Observer
    {
        void energies(const OutputDue&, const Observables& o) override
        {
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            stop = o.step >= 5;
        }
        std::atomic<bool> stop{false};
    };
    const auto options = [](int ranks) {
        SimulationOptions result;
        result.summation = Summation::Reproducible, result.threads = 1, result.ranks = ranks;
        return result;
    };
    const Frame through = [&] {
        Simulation simulation(data.system, data.parameters, options(1));
        Observer nobody;
        simulation.run(whole, nobody, never);
        return simulation.frame();
    }();
    for (const int ranks : {1, 2})
    {
        SCOPED_TRACE(ranks);
        RunParameters seldom = data.parameters;
        seldom.buffer_tolerance = -1; // lists as given
        seldom.list_interval = 20;
        Simulation stopped(data.system, seldom, options(ranks));
        Slow observer;
        const RunSummary summary = stopped.run(whole, observer, observer.stop);
        EXPECT_EQ(summary.end, RunEnd::Stopped);
        EXPECT_GE(summary.steps, 6);
        EXPECT_LE(summary.steps, 7);
        const SavedState saved = stopped.saved_state();
        EXPECT_LE(saved.step, summary.steps);
        Simulation after(data.system, seldom, options(ranks), &saved);
        Observer nobody;
        after.run(whole - saved.step, nobody, never);
        EXPECT_EQ(after.frame().x, through.x);
        EXPECT_EQ(after.frame().v, through.v);
    }
}

TEST(Continuation, does_not_begin_with_velocities_that_constraints_cannot_follow)
{
    Refdata data = coupled(cases[0]);
    data.parameters.generate_velocities = true;
    data.parameters.continuation = false;
    data.parameters.generation_temperature = 1e6;
    try
    {
        start(data, Precision::Mixed, Summation::Fast, 1);
        FAIL() << "accepted";
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), "E312");
        EXPECT_THAT(error.what(), ::testing::HasSubstr("gen-temp"));
    }
}

// Both half steps around the last step of a run that is stopped, although no schedule foresaw the first.
TEST(Continuation, of_a_stopped_run_is_not_needed_to_know_its_last_kinetic_energy)
{
    Refdata data = coupled(cases[0]);
    const Outcome through = [&] {
        data.parameters.energy_calc = 1;
        return run_through(data, Precision::Double, Summation::Fast, 1);
    }();
    data.parameters.energy_calc = 0;
    struct StopAtRebuild final : Observer
    {
        void progress(std::int64_t steps_done, std::int64_t, double) override { stop = steps_done >= 8; }
        void energies(const OutputDue&, const Observables& o) override { last = o; }
        Observables last;
        std::atomic<bool> stop{false};
    } observer;
    Simulation stopped = start(data, Precision::Double, Summation::Fast, 1);
    stopped.run(whole, observer, observer.stop);
    ASSERT_EQ(observer.last.step, 8);
    EXPECT_EQ(observer.last.kinetic_energy, through.observables[8].kinetic_energy);
}

TEST(Continuation, refuses_a_state_of_another_precision_size_or_coupling)
{
    const Refdata data = coupled(cases[1]);
    Simulation simulation = start(data, Precision::Mixed, Summation::Fast, 1);
    const SavedState saved = simulation.saved_state();
    EXPECT_THROW(start(data, Precision::Double, Summation::Fast, 1, &saved), InputError);
    EXPECT_THROW(start(coupled(cases[1], "villin"), Precision::Mixed, Summation::Fast, 1, &saved), InputError);
    SavedState lacking = saved;
    lacking.coupling.erase(lacking.coupling.begin());
    EXPECT_THROW(start(data, Precision::Mixed, Summation::Fast, 1, &lacking), InputError);
    SavedState longer = saved;
    longer.coupling.at("thermostat-heat").push_back(1);
    EXPECT_THROW(start(data, Precision::Mixed, Summation::Fast, 1, &longer), InputError);
}
