// SPDX-License-Identifier: Apache-2.0
// The constraints of stars on lanes of a warp: as LINCS of the same groups, and with the same bits wherever they are.
#include "dynamics/gpu/star_lanes.cuh"

#include "device/gpu/device_buffer.hpp"
#include "device/gpu/launch.cuh"
#include "device/gpu/queue_gpu.hpp"
#include "trace/phases.hpp"

#include <gtest/gtest.h>
#include <random>

using namespace parhelion;

namespace {

// A star of a carbon with n hydrogens, and a step of its atoms.
template <int n>
struct MovingStar
{
    StarShape shape;
    Vec3<double> bond[n], move[n + 1];
};
constexpr int block_threads = 64;

template <int n>
__global__ void constrain_kernel(const MovingStar<n>* stars, int count, int iterations, Push* found)
{
    const GroupLanes<n + 1> lanes;
    const int group = static_cast<int>(blockIdx.x * block_threads + threadIdx.x) / lanes.count, atom = lanes.atom();
    const bool is_there = group < count;
    const MovingStar<n> star = is_there ? stars[group] : MovingStar<n>{};
    Vec3<double> bond, move;
    if (atom >= 1 && atom <= n) { bond = star.bond[atom - 1]; }
    if (atom <= n) { move = star.move[atom]; }
    const StarLane<n> lane(star.shape, atom);
    const Push push = StarConstraints<n>(lanes, lane, bond).constrain(move, {iterations, 0.5});
    if (is_there && atom <= n) { found[group * (n + 1) + atom] = push; }
}

template <int n>
class Constrained
{
public:
    Constrained()
    {
        const std::vector<double> inverse_mass{1 / 12.011, 1 / 1.008, 1 / 1.1, 1 / 2.014, 1 / 1.008};
        std::vector<LincsBond> bonds; // every second constraint named from its other end
        for (int i = 1; i <= n; ++i) { bonds.push_back(i % 2 == 0 ? LincsBond{0, i, 0.109} : LincsBond{i, 0, 0.109}); }
        group_ = make_lincs_groups(bonds, inverse_mass).front();
        place_.resize(n + 1);
        for (std::size_t k = 0; k < group_.atoms.size(); ++k)
        {
            place_[static_cast<std::size_t>(group_.atoms[k])] = k;
            shape_.inverse_mass[group_.atoms[k]] = group_.inverse_mass[k];
        }
        shape_.series_order = series_order(group_, settings_);
        for (int i = 0; i < n; ++i) { shape_.length[i] = 0.109, shape_.weight[i] = group_.weight[static_cast<std::size_t>(i)]; }
    }

    // Steps of `sigma` nm; the larger, the more iterations.
    MovingStar<n> random_star(std::mt19937& random, double sigma) const
    {
        std::normal_distribution<double> step(0, sigma);
        const Vec3<double> corners[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
        MovingStar<n> star;
        star.shape = shape_;
        for (int i = 0; i < n; ++i) { star.bond[i] = 0.109 / std::sqrt(3.0) * corners[i]; }
        for (Vec3<double>& move : star.move) { move = {step(random), step(random), step(random)}; }
        return star;
    }

    std::vector<Push> constrain(GpuQueue& queue, const std::vector<MovingStar<n>>& stars) const
    {
        DeviceBuffer<MovingStar<n>> device_stars;
        DeviceBuffer<Push> found(stars.size() * (n + 1));
        device_stars.upload(queue, stars);
        found.clear(queue); // padding is read with it
        const std::size_t lanes = stars.size() * static_cast<std::size_t>(lanes_of(n + 1));
        launch(queue, Phase::Constrain, constrain_kernel<n>, one_thread_each(lanes, block_threads),
               static_cast<const MovingStar<n>*>(device_stars.data()), static_cast<int>(stars.size()), settings_.iterations,
               found.data());
        return found.to_vector(queue);
    }

    void expect_lincs(const MovingStar<n>& star, const Push* found) const
    {
        LincsWork work;
        work.make_room(group_);
        for (int k = 0; k <= n; ++k) { work.move[place_[static_cast<std::size_t>(k)]] = star.move[k]; }
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
        {
            const bool from_centre = static_cast<std::size_t>(group_.bonds[i].a) == place_[0];
            work.reference[i] = from_centre ? -star.bond[i] : star.bond[i];
        }
        lincs(group_, settings_, work);
        for (int k = 0; k <= n; ++k)
        {
            EXPECT_TRUE(found[k].holds);
            EXPECT_LE(norm(star.move[k] + found[k].move - work.move[place_[static_cast<std::size_t>(k)]]), 1e-15) << k;
        }
        for (int i = 0; i < n; ++i)
        {
            EXPECT_NEAR(norm(found[i + 1].impulse), std::abs(work.multiplier[static_cast<std::size_t>(i)]), 1e-14);
            const Vec3<double> now = star.bond[i] + (star.move[i + 1] + found[i + 1].move - star.move[0] - found[0].move);
            EXPECT_NEAR(norm(now), 0.109, 0.109 * LincsSettings::tolerance);
        }
    }

private:
    LincsSettings settings_;
    LincsGroup group_;
    std::vector<std::size_t> place_; // of an atom in the group
    StarShape shape_;
};

template <int n>
void compare_with_lincs()
{
    SCOPED_TRACE(testing::Message() << n << " constraints");
    GpuQueue queue;
    const Constrained<n> stars;
    std::mt19937 random(n);
    // Neighbours that need different numbers of iterations; the last warp has lanes to spare.
    std::vector<MovingStar<n>> some;
    for (int i = 0; i < 37; ++i) { some.push_back(stars.random_star(random, i % 3 == 0 ? 0.003 : 1e-5)); }
    const std::vector<Push> found = stars.constrain(queue, some);
    for (std::size_t i = 0; i < some.size(); ++i) { stars.expect_lincs(some[i], &found[i * (n + 1)]); }

    for (const std::size_t i : {std::size_t{0}, std::size_t{7}, some.size() - 1})
    {
        const std::vector<Push> alone = stars.constrain(queue, {some[i]});
        for (std::size_t k = 0; k <= n; ++k)
        {
            EXPECT_EQ(alone[k].move, found[i * (n + 1) + k].move) << i;
            if (k > 0) { EXPECT_EQ(alone[k].impulse, found[i * (n + 1) + k].impulse) << i; } // the centre has none
        }
    }
}

} // namespace

TEST(Star, moves_its_atoms_as_lincs_does_wherever_it_is)
{
    if (gpu_count() == 0) { GTEST_SKIP() << "no GPU"; }
    compare_with_lincs<1>();
    compare_with_lincs<2>();
    compare_with_lincs<3>();
    compare_with_lincs<4>();
}
