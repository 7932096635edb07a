// SPDX-License-Identifier: Apache-2.0
#include "engine/schedule.hpp"

#include <gtest/gtest.h>

using namespace parhelion;

namespace {

RunParameters parameters_of(Barostat barostat, bool multiple_time_steps)
{
    RunParameters p;
    p.x_out = 45, p.f_out = 90, p.compressed_out = 10, p.energy_calc = 5, p.energy_out = 20, p.log_out = 100;
    p.barostat = barostat, p.pressure_interval = 12;
    p.thermostat = Thermostat::VRescale, p.temperature_interval = 8;
    p.multiple_time_steps = multiple_time_steps, p.coulomb = CoulombKind::Pme, p.mesh_factor = 3;
    return p;
}

} // namespace

// What is for an observer alone adds a frame and energies of those steps, and changes nothing that files or coupling see.
TEST(Schedule, with_a_stream_does_all_that_it_does_without)
{
    for (const Barostat barostat : {Barostat::None, Barostat::CRescale, Barostat::ParrinelloRahman})
    {
        for (const bool multiple : {false, true})
        {
            const RunParameters p = parameters_of(barostat, multiple);
            const Schedule plain(p, 7, 0, 500);
            Schedule streamed = plain;
            streamed.set_stream_interval(6);
            for (std::int64_t step = 0; step <= 500; ++step)
            {
                const StepFlags without = plain.flags(step), with = streamed.flags(step);
                const bool is_streamed = step % 6 == 0;
                EXPECT_EQ(with.due.stream, is_streamed);
                EXPECT_EQ(with.observe, without.observe || is_streamed) << step;
                EXPECT_EQ(with.due.unaveraged, is_streamed && !without.observe) << step;
                EXPECT_TRUE(with.kinetic || !without.kinetic);
                EXPECT_TRUE(with.due.is_written() == without.due.is_written() && with.due.energies == without.due.energies &&
                            with.due.log == without.due.log);
                EXPECT_TRUE(with.repartition == without.repartition && with.couple_temperature == without.couple_temperature &&
                            with.couple_pressure == without.couple_pressure && with.remove_com == without.remove_com);
                EXPECT_FALSE(without.due.stream || without.due.unaveraged);
                if (is_streamed)
                {
                    EXPECT_TRUE(with.due.any_frame() && with.due.wants_x() && with.due.wants_v() && with.due.wants_f());
                    EXPECT_TRUE(StepPattern(with).frame_forces);
                }
            }
        }
    }
}

// A reader that combines the n-th positions with the n-th forces finds both.
TEST(Schedule, the_last_step_has_all_arrays_that_are_written)
{
    RunParameters p = parameters_of(Barostat::None, false);
    p.v_out = 0;
    for (const StepFlags& flags : {Schedule(p, 7, 0, 501).flags(501), Schedule(p, 7, 0, 500).flags_at_end(13)})
    {
        EXPECT_TRUE(flags.due.x && flags.due.f && StepPattern(flags).frame_forces);
        EXPECT_FALSE(flags.due.v || flags.due.compressed_x);
    }
}

TEST(Schedule, of_a_run_that_ends_early_keeps_its_stream)
{
    const RunParameters p = parameters_of(Barostat::None, false);
    Schedule schedule(p, 7, 0, 500);
    schedule.set_stream_interval(6);
    EXPECT_TRUE(schedule.flags_at_end(12).due.stream);
    EXPECT_FALSE(schedule.flags_at_end(13).due.stream);
    EXPECT_TRUE(schedule.flags_at_end(13).observe && schedule.flags_at_end(13).due.x);
}
