// SPDX-License-Identifier: Apache-2.0
// A simulation of a reference system, and an observer that remembers.
#pragma once

#include "engine/simulation.hpp"
#include "support/compare.hpp"
#include "support/refdata.hpp"

#include <gtest/gtest.h>

namespace parhelion::test {

inline Simulation simulate(const Refdata& data, Precision precision, Summation summation = Summation::Fast, int threads = 2)
{
    SimulationOptions options;
    options.precision = precision;
    options.summation = summation;
    options.threads = threads;
    return Simulation(data.system, data.parameters, options);
}

// The parameters of nve.mdp: a new list every step, energies every step.
inline Refdata load_nve(const std::string& name)
{
    Refdata data = load_refdata(name);
    data.parameters.energy_calc = 1;
    return data;
}

using Grid = std::array<int, 3>;

inline constexpr HaloMethod halo_methods[] = {HaloMethod::StagedHost, HaloMethod::StagedFused, HaloMethod::Direct};

// Puts the ranks of the grid, which are on GPUs, on virtual nodes of so many; 0: on none. Messages take longer than small kernels
// do on the stand-in, too, and so overtake each other.
inline void put_on_nodes(SimulationOptions& options, int ranks_per_node)
{
    if (ranks_per_node == 0) { return; }
    options.transport = TransportKind::NicEmulation;
    options.nodes.emplace();
    options.nodes->nodes = options.ranks_asked_for() / ranks_per_node;
    options.nodes->ranks_per_node = ranks_per_node;
    options.nodes->latency = std::chrono::milliseconds(3);
    options.halo = HaloMethod::StagedFused;
}

// Every grid of 2, 3, 4, 6 and 8 ranks.
inline std::vector<Grid> grids()
{
    std::vector<Grid> all;
    for (const int ranks : {2, 3, 4, 6, 8})
    {
        for (int x = 1; x <= ranks; ++x)
        {
            for (int y = 1; y <= ranks; ++y)
            {
                for (int z = 1; z <= ranks; ++z)
                {
                    if (x * y * z == ranks) { all.push_back({x, y, z}); }
                }
            }
        }
    }
    return all;
}

// Remembers everything.
struct Recorder final : Observer
{
    void frame(const OutputDue&, Frame&& frame) override { frames.push_back(std::move(frame)); }
    void energies(const OutputDue& due, const Observables& o) override
    {
        if (!due.repeats_energies()) { observables.push_back(o); }
    }
    void progress(std::int64_t, std::int64_t, double temperature) override { temperatures.push_back(temperature); }
    void message(const std::string& text) override { messages.push_back(text); }
    std::vector<Frame> frames;
    std::vector<Observables> observables;
    std::vector<double> temperatures; // of progress
    std::vector<std::string> messages;
};

inline const std::atomic<bool> never{false};

// The largest distance between two configurations, each atom to its nearest image, nm.
inline double largest_distance(const std::vector<Vec3<double>>& a, const std::vector<Vec3<double>>& b, const Box<double>& box)
{
    double largest = a.size() == b.size() ? 0 : INFINITY;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) { largest = std::max(largest, norm(box.image(a[i] - b[i]))); }
    return largest;
}

// How far frames may differ.
struct FrameBounds
{
    double x;    // nm
    double v, f; // rms, relative
};

// The same frames with the same parts, which are near each other.
inline void expect_near(const std::vector<Frame>& frames, const std::vector<Frame>& expected, const FrameBounds& bounds)
{
    ASSERT_FALSE(expected.empty());
    ASSERT_EQ(frames.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
    {
        const Frame &a = frames[i], &b = expected[i];
        SCOPED_TRACE("frame of step " + std::to_string(b.step));
        EXPECT_EQ(a.step, b.step);
        ASSERT_EQ(a.x.size(), b.x.size());
        ASSERT_EQ(a.v.size(), b.v.size());
        ASSERT_EQ(a.f.size(), b.f.size());
        if (!b.x.empty()) { EXPECT_LE(largest_distance(a.x, b.x, b.box), bounds.x); }
        if (!b.v.empty()) { EXPECT_LE(rms_relative(a.v, b.v), bounds.v); }
        if (!b.f.empty()) { EXPECT_LE(rms_relative(a.f, b.f), bounds.f); }
    }
}

// Boxes and their velocities, of every step of a reference that has them. tolerance: of the boxes, relative.
inline void expect_boxes(const std::vector<Observables>& observables, const std::vector<EnergyTable>& expected, double tolerance)
{
    ASSERT_EQ(observables.size(), expected.size());
    for (std::size_t step = 0; step < expected.size(); ++step)
    {
        const Observables& o = observables[step];
        for (const auto& [axis, d] : {std::pair("X", 0), {"Y", 1}, {"Z", 2}})
        {
            const std::string name = axis;
            EXPECT_NEAR(o.box.diagonal()[d], expected[step]["Box-" + name], tolerance * expected[step]["Box-" + name])
                << step << name;
            EXPECT_NEAR(o.box_velocity[d], expected[step]["Box-Vel-" + name + name], tolerance)
                << step << name; // nm/ps, below 0.03
        }
        EXPECT_NEAR(o.temperature, expected[step]["Temperature"], tolerance * expected[step]["Temperature"]) << step;
    }
}

} // namespace parhelion::test
