// SPDX-License-Identifier: Apache-2.0
// Measured times of steps on GPUs. choose_gpus.hpp predicts from them how many GPUs a run should use. One machine has been
// measured. For other GPUs the times are scaled by multiprocessors and clock, for other links by latency and bandwidth.
#pragma once

#include "halo/method.hpp"

#include <array>
#include <limits>
#include <string_view>

namespace parhelion {

struct MeasuredGpus
{
    static constexpr int no_limit = std::numeric_limits<int>::max();
    struct Exchange
    {
        double us, us_per_doubling; // added time of a step on two GPUs; increase per doubling of their number
        double waits;               // how many latencies of a link a step waits for, about
    };
    // Times that differ between steps with and without a mesh.
    struct Work
    {
        double step_us, us_per_1000_atoms;              // time of a step on one GPU: constant part; part per 1000 atoms
        double exchange_us, exchange_us_per_1000_atoms; // added time of a step on several GPUs, besides Exchange: the same parts
        double waits;                                   // number of latencies to wait for, besides those in Exchange
        int most_gpus;                                  // largest number of GPUs that was measured and may be chosen
    };

    std::string_view machine;
    double multiprocessors, clock_ghz; // properties of one GPU
    double signal_us, store_gb_s;      // properties of one link, as in LinkSpeed
    Work pairs, pairs_and_mesh;
    std::array<Exchange, halo_method_names.size()> exchange; // indexed by HaloMethod
};

// Measured in bench/gpu/scaling. Links were measured between two H100, whose links are the same. A wait is a round trip;
// staged methods wait in each dimension. With a mesh: 45 000 to 720 000 atoms on one, two and four H200, order 4, 0.12
// nm, `shared`, at commit 5d2bc2c. The numbers are least-squares fits of relative errors, within 4 % of each measurement.
inline constexpr MeasuredGpus measured_h200{
    .machine = "one to four H200, joined by NVLink (NV18)",
    .multiprocessors = 132,
    .clock_ghz = 1.98,
    .signal_us = 2.4,
    .store_gb_s = 188,
    .pairs = {14.2, 0.894, 0, 0.01, 0, MeasuredGpus::no_limit},
    .pairs_and_mesh = {15.8, 1.320, 19.5, 0.063, 2, 4},
    .exchange = {{{70, 25, 8}, {43, 20, 8}, {14, 0.5, 8}, {7.1, 0.5, 4}}},
};

} // namespace parhelion
