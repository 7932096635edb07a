// SPDX-License-Identifier: Apache-2.0
// What has been measured of steps on GPUs, by machine: from this choose_gpus.hpp predicts how many GPUs to take. One row so far;
// other GPUs count by their multiprocessors and clock, other links by what they take longer.
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
        double us, us_per_doubling; // of a step of two GPUs; more for each doubling of their number
        double waits;               // how often it waits for the latency of a link, about
    };
    // What depends on whether there is a mesh.
    struct Work
    {
        double step_us, us_per_1000_atoms;              // of a step on one GPU
        double exchange_us, exchange_us_per_1000_atoms; // of all on several, beside Exchange
        double waits;                                   // beside Exchange's
        int most_gpus;                                  // that have been measured, if no more are to be taken
    };

    std::string_view machine;
    double multiprocessors, clock_ghz; // of a GPU
    double signal_us, store_gb_s;      // of a link, as LinkSpeed
    Work pairs, pairs_and_mesh;
    std::array<Exchange, halo_method_names.size()> exchange; // by HaloMethod
};

// bench/gpu/scaling. The links are two H100's, which are the same. A wait: there and back, and by staged methods in each
// dimension. With a mesh: 45 000 to 720 000 atoms on one, two and four H200, order 4, 0.12 nm, `shared`, as of 5d2bc2c; least
// relative squares, within 4 % of each.
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
