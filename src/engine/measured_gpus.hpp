// SPDX-License-Identifier: Apache-2.0
// What has been measured of steps on GPUs, by machine: from this choose_gpus.hpp predicts how many GPUs to take. One row so far;
// other GPUs count by their multiprocessors and clock, other links by what they take longer.
#pragma once

#include "halo/method.hpp"

#include <array>
#include <string_view>

namespace parhelion {

struct MeasuredGpus
{
    struct Exchange
    {
        double us, us_per_doubling; // of a step of two GPUs; more for each doubling of their number
        double waits;               // how often it waits for the latency of a link, about
    };

    std::string_view machine;
    double multiprocessors, clock_ghz;                       // of a GPU
    double signal_us, store_gb_s;                            // of a link, as LinkSpeed
    double step_us, us_per_1000_atoms;                       // of a step on one GPU
    double exchange_us_per_1000_atoms;                       // of all, on several
    std::array<Exchange, halo_method_names.size()> exchange; // by HaloMethod
};

// bench/gpu/scaling. The links are two H100's, which are the same. A wait: there and back, and by staged methods in each
// dimension.
inline constexpr MeasuredGpus measured_h200{
    .machine = "one to four H200, joined by NVLink (NV18)",
    .multiprocessors = 132,
    .clock_ghz = 1.98,
    .signal_us = 2.4,
    .store_gb_s = 188,
    .step_us = 14.2,
    .us_per_1000_atoms = 0.894,
    .exchange_us_per_1000_atoms = 0.01,
    .exchange = {{{70, 25, 8}, {43, 20, 8}, {14, 0.5, 8}, {7.1, 0.5, 4}}},
};

} // namespace parhelion
