// SPDX-License-Identifier: Apache-2.0
// The report at the end of a run, PREFIX.report.json: fields that scripts may rely on, in the order below.
#pragma once

#include "io/input/named_list.hpp"

#include <cstdint>
#include <string>

namespace parhelion {

struct RunReport
{
    struct Spread
    {
        double mean = 0, stddev = 0, error = 0; // standard error of the mean (BlockAverages), or NaN if unknown
    };
    std::int64_t atoms = 0;
    // `steps` were done by this call of the program; rates, times and drift refer to them. `steps_of_whole_run` were done since
    // the run began; means and standard deviations of energies refer to these. They differ if a checkpoint was continued.
    std::int64_t steps = 0, steps_of_whole_run = 0;
    double dt_ps = 0;
    double ns_per_day = 0, us_per_step = 0; // averages over the steady part of the run: engine/run_length.hpp
    double wall_s = 0;
    double host_load = 0; // average number of busy cores of this process over the steady part
    std::string device = "cpu";
    int gpus = 0;
    int ranks = 1;
    std::string grid = "1x1x1";
    std::string halo = "none", transport = "none", pme = "none";
    std::string precision;
    int threads = 1;              // number of threads of each rank
    NamedList<int> helpers;       // helper threads of the first process: the core of each, or -1 for any core
    int repartition_interval = 0; // steps
    // Values of load balancing: imbalances before the first move of borders and at the end (excess of the slowest rank's work
    // over the mean, as a fraction of the mean), and the number of moves. Empty if no time of ranks was measured.
    NamedList<double> load_balance;
    std::string borders = "equal"; // borders of cells, in box edges: "z 0.21 0.4"
    NamedList<double> pairlist;
    NamedList<double> phases;   // us per step
    NamedList<Spread> energies; // averages by term, each in the unit of the term
    double conserved_drift_kT_per_ns_per_atom = 0, conserved_drift_error_kT_per_ns_per_atom = 0;
    NamedList<std::string> version;
};

// Returns the report as JSON. Numbers that are not finite become null.
std::string to_json(const RunReport& report);

// Reads a report that this version or an earlier version wrote. Missing fields keep their defaults, and
// null numbers become NaN. Throws InputError E110 if the file cannot be read, E186 if it is no report.
RunReport read_report(const std::string& path);

// Writes the report to a file. Throws SystemError.
void write_report(const RunReport& report, const std::string& path);

} // namespace parhelion
