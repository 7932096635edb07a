// SPDX-License-Identifier: Apache-2.0
// The end-of-run report, PREFIX.report.json: the fields that scripts rely on, in the order below.
#pragma once

#include "io/named_list.hpp"

#include <cstdint>
#include <string>

namespace parhelion {

struct RunReport
{
    struct Spread
    {
        double mean = 0, stddev = 0;
    };
    std::int64_t atoms = 0;
    // Done by this call of the program, to which rates, times and drift belong; done since the run began, to which the means
    // and standard deviations of energies belong. They differ where a checkpoint was continued.
    std::int64_t steps = 0, steps_of_whole_run = 0;
    double dt_ps = 0;
    double ns_per_day = 0, us_per_step = 0; // steady part: engine/run_length.hpp
    double wall_s = 0;
    double host_load = 0; // cores that the process kept busy, over the steady part
    std::string device = "cpu";
    int gpus = 0;
    int ranks = 1;
    std::string grid = "1x1x1";
    std::string halo = "none", transport = "none", pme = "none";
    std::string precision;
    int threads = 1;              // of each rank
    NamedList<int> helpers;       // other threads of the first process: the core of each, or -1: any
    int repartition_interval = 0; // steps
    NamedList<double> pairlist;
    NamedList<double> phases;   // us per step
    NamedList<Spread> energies; // by term, in its unit
    double conserved_drift_kT_per_ns_per_atom = 0, conserved_drift_error_kT_per_ns_per_atom = 0;
    NamedList<std::string> version;
};

// Numbers that are not finite become null.
std::string to_json(const RunReport& report);

// Throws SystemError.
void write_report(const RunReport& report, const std::string& path);

} // namespace parhelion
