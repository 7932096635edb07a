// SPDX-License-Identifier: Apache-2.0
// Local work, nonlocal work and what of it is exposed, from records of steps whose times are known.
#include "trace/step_work.hpp"

#include <gtest/gtest.h>

using namespace parhelion;

namespace {

enum Kernel : std::uint16_t
{
    Pairs,
    SendX,
    ReceiveX,
    SendF,
    ReceiveF,
    Update,
    Sort,
    SelfEnergy
};
const std::vector<NamedKernel> kernels = {
    {"pairs", Phase::Nonbonded},     {"send_x", Phase::SendCoordinates}, {"receive_x", Phase::SendCoordinates},
    {"send_f", Phase::ReturnForces}, {"receive_f", Phase::ReturnForces}, {"update", Phase::Constrain},
    {"sort", Phase::Reorder},        {"self_energy", Phase::Nonbonded},
};

// Steps of blocks, on a clock that begins anywhere.
class Steps
{
public:
    void begin(double at_us)
    {
        ++step_;
        zero_us_ = at_us;
    }
    // Two blocks, of which one begins later and the other ends earlier.
    void run(Kernel kernel, double from_us, double to_us)
    {
        const double middle = (from_us + to_us) / 2;
        records_.push_back({at(from_us), at(middle), step_, launch_, kernel, 0});
        records_.push_back({at(middle), at(to_us), step_, launch_++, kernel, 1});
    }
    // Pairs of home atoms, pairs with halo atoms, and the exchange around them.
    void run_ordinary(double local_end_us)
    {
        run(Pairs, 0, local_end_us);
        run(SendX, 2, 4);
        run(ReceiveX, 5, 8);
        run(Pairs, 9, 20);
        run(SendF, 21, 23);
        run(ReceiveF, 24, 26);
        run(Update, 30, 35);
    }
    const std::vector<BlockRecord>& records() const { return records_; }

private:
    std::uint64_t at(double us) const { return static_cast<std::uint64_t>((1e6 + zero_us_ + us) * 1000 + 0.5); }

    std::vector<BlockRecord> records_;
    std::int64_t step_ = 99;
    std::uint32_t launch_ = 0;
    double zero_us_ = 0;
};

} // namespace

TEST(StepWork, is_local_nonlocal_and_what_the_first_does_not_hide)
{
    Steps steps;
    steps.begin(0), steps.run_ordinary(10);
    steps.begin(40), steps.run_ordinary(10);
    const StepWork work = step_work(kernels, steps.records());
    EXPECT_DOUBLE_EQ(work.local, 10);
    EXPECT_DOUBLE_EQ(work.nonlocal, 24) << "from the first send to the last receive";
    EXPECT_DOUBLE_EQ(work.nonoverlap, 16);
    EXPECT_DOUBLE_EQ(work.update, 5);
    EXPECT_DOUBLE_EQ(work.step, 40);
    EXPECT_DOUBLE_EQ(work.local + work.nonoverlap + work.other, work.step);
    EXPECT_DOUBLE_EQ(work.repartition, 0);
}

TEST(StepWork, exposes_nothing_of_a_halo_that_local_work_outlasts)
{
    Steps steps;
    steps.begin(0), steps.run_ordinary(29);
    steps.begin(40), steps.run_ordinary(29);
    const StepWork work = step_work(kernels, steps.records());
    EXPECT_DOUBLE_EQ(work.local, 29);
    EXPECT_DOUBLE_EQ(work.nonoverlap, 0);
    EXPECT_DOUBLE_EQ(work.other, 11);
}

TEST(StepWork, counts_the_time_before_local_work_as_part_of_a_halo_that_begins_first)
{
    Steps steps;
    for (int i = 0; i < 2; ++i)
    {
        steps.begin(30 * i);
        steps.run(SendX, 0, 2);
        steps.run(Pairs, 3, 13);
        steps.run(Pairs, 6, 16);
        steps.run(ReceiveF, 17, 20);
    }
    const StepWork work = step_work(kernels, steps.records());
    EXPECT_DOUBLE_EQ(work.local, 10);
    EXPECT_DOUBLE_EQ(work.nonlocal, 20);
    EXPECT_DOUBLE_EQ(work.nonoverlap, 7);
    EXPECT_DOUBLE_EQ(work.other, 10);
}

TEST(StepWork, of_a_lone_rank_is_local)
{
    Steps steps;
    for (int i = 0; i < 3; ++i)
    {
        steps.begin(20 * i);
        steps.run(Pairs, 0, 12);
        steps.run(Update, 13, 18);
    }
    const StepWork work = step_work(kernels, steps.records());
    EXPECT_DOUBLE_EQ(work.local, 12);
    EXPECT_DOUBLE_EQ(work.nonlocal, 0);
    EXPECT_DOUBLE_EQ(work.nonoverlap, 0);
    EXPECT_DOUBLE_EQ(work.other, 8);
}

TEST(StepWork, takes_half_of_the_pair_forces_as_local_however_many_ranks_share_the_gpu)
{
    Steps steps;
    for (int i = 0; i < 2; ++i)
    {
        steps.begin(50 * i);
        steps.run(Pairs, 0, 10);
        steps.run(SelfEnergy, 0, 40);
        steps.run(Pairs, 8, 18);
        steps.run(SelfEnergy, 0, 41);
        steps.run(SendX, 1, 3);
        steps.run(Pairs, 19, 25);
        steps.run(Pairs, 24, 30);
        steps.run(ReceiveF, 31, 33);
    }
    const StepWork work = step_work(kernels, steps.records());
    EXPECT_DOUBLE_EQ(work.local, 18);
    EXPECT_DOUBLE_EQ(work.nonoverlap, 15);
}

TEST(StepWork, spreads_what_a_repartition_takes_longer_over_all_steps)
{
    Steps steps;
    double at = 0;
    for (int interval = 0; interval < 3; ++interval)
    {
        steps.begin(at);
        steps.run(Sort, 0, 60);
        steps.run(Pairs, 61, 90);
        steps.run(Pairs, 70, 95);
        steps.run(SendF, 96, 97);
        steps.run(ReceiveF, 97, 98);
        at += 140;
        for (int i = 0; i < 3; ++i, at += 40) { steps.begin(at), steps.run_ordinary(10); }
    }
    steps.begin(at), steps.run_ordinary(10);
    const StepWork work = step_work(kernels, steps.records());
    EXPECT_DOUBLE_EQ(work.local, 10) << "of steps without one";
    EXPECT_DOUBLE_EQ(work.step, 40);
    EXPECT_DOUBLE_EQ(work.repartition, 25);
}

TEST(StepWork, of_steps_that_do_not_follow_each_other_is_unknown)
{
    EXPECT_DOUBLE_EQ(step_work(kernels, {}).step, 0);
    Steps steps;
    steps.begin(0), steps.run_ordinary(10);
    EXPECT_DOUBLE_EQ(step_work(kernels, steps.records()).local, 0);
    steps.begin(40); // left out
    steps.begin(80), steps.run_ordinary(10);
    EXPECT_DOUBLE_EQ(step_work(kernels, steps.records()).step, 0);
}
