// SPDX-License-Identifier: Apache-2.0
// The subcommands: one struct of options and one function each, in a file of its
// own. Functions throw the library's errors, and main() turns them into text.
#pragma once

#include "base/error.hpp"
#include "engine/option_rules.hpp"
#include "engine/simulation.hpp"
#include "generate/ethanol_water.hpp"
#include "io/input/load.hpp"
#include "run/imd_server.hpp"
#include "run/output_paths.hpp"
#include "run/read_input.hpp"
#include "run/run.hpp"
#include "run/single_point.hpp"
#include "run/version.hpp"

#include <array>
#include <atomic>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace parhelion {

using InputOptions = RunInput;

inline constexpr int most_ranks = 1024;

// A value of --pme.
struct MeshChoice
{
    MeshMethod method = MeshMethod::Auto;
    int ranks = 0; // the number of mesh ranks in `dedicated:N`
};
std::string mesh_choice_text(const MeshChoice& choice);
std::string halo_name(HaloMethod method);

struct EngineOptions
{
    RunNumerics numerics;
    RunPlacement placement;
};

struct RunOptions
{
    RunRequest request;
    NicEmulation nic; // delays of the emulated network; the run request has the number of nodes
    std::optional<ImdOptions> imd;
    std::vector<std::filesystem::path> folders; // --multi: a run for each; empty: one run, in the working folder
    int at_once = 0;                            // --multi: largest number of runs at a time; 0: as many as fit
    bool json = false, quiet = false, verbose = false;
};
struct EnergyOptions
{
    InputOptions input;
    EngineOptions engine;
    std::string prefix;
};
struct CheckOptions
{
    InputOptions input;
    EngineOptions engine;
};
struct ConvertOptions
{
    InputOptions input;
    std::filesystem::path folder;
    bool force = false; // overwrites existing files
};
struct GenerateOptions
{
    EthanolWaterOptions series;
    std::filesystem::path folder;
    bool force = false; // overwrites existing files
};
struct BenchOptions
{
    std::vector<std::int64_t> atoms;
    SeriesElectrostatics electrostatics = SeriesElectrostatics::ReactionField;
    std::int64_t steps = 300;
    std::filesystem::path json;
    EngineOptions engine;
};

struct BenchHaloOptions
{
    std::vector<int> ranks;
    std::vector<std::int64_t> halo_atoms;
    std::vector<HaloMethod> methods;
    std::vector<NicEmulation> nodes;  // virtual nodes to measure; empty: ranks are measured
    std::vector<std::string> proxies; // cores of the virtual nodes' proxies: "own", "polling" or "sleeping"
    NicEmulation nic;                 // delays of the network between virtual nodes
    int threads = 1, exchanges = 200;
    std::filesystem::path json;
};

struct BenchScalingOptions
{
    std::vector<std::int64_t> atoms;
    SeriesElectrostatics electrostatics = SeriesElectrostatics::ReactionField;
    std::vector<int> gpus;                 // numbers of GPUs; empty: powers of two, and all GPUs
    std::vector<std::array<int, 3>> grids; // grids to measure instead of gpus, a GPU per cell; empty: grids of least halo cost
    std::vector<HaloMethod> methods;       // without duplicates
    std::vector<MeshChoice> pme;           // how GPUs share the mesh in runs with PME (--pme)
    std::int64_t steps = 0;                // steps in each sample
    int repetitions = 5;                   // number of samples
    std::chrono::nanoseconds comm_timeout = RunPlacement{}.comm_timeout;
    std::filesystem::path json;
    std::string plot; // prefix of the figures' names
};

struct BenchStandardOptions
{
    std::vector<std::string> tests; // names of systems; empty: all
    std::filesystem::path jac;      // a folder with conf.gro, topol.top and md.mdp; empty: none
    Device device = Device::Auto;   // Auto: GPUs, if there are any
    std::vector<int> gpus;          // empty: powers of two, and all
    int threads = 0;                // number of threads on CPUs; 0: one for each core
    Precision precision = Precision::Mixed;
    double seconds = 10; // of a window
    int repetitions = 3; // windows
    bool is_short = false;
    std::filesystem::path json;
};

struct BenchMultiOptions
{
    std::vector<int> runs;     // numbers of simulations at a time
    std::filesystem::path jac; // a folder with conf.gro, topol.top and md.mdp; empty: the series
    std::int64_t atoms = 0;    // of the series
    Device device = Device::Auto;
    int gpus = 1;        // number of GPUs among which the simulations are dealt
    int threads = 0;     // threads of each simulation; 0: the cores are divided
    double seconds = 10; // of a window
    int repetitions = 3; // windows
    std::filesystem::path json;
};

struct TuneOptions
{
    InputOptions input;
    EngineOptions engine; // the placement has only the device and the limits of GPUs and of all threads
    double seconds = 60;
    std::filesystem::path json;
};

struct GmxArgsOptions
{
    std::vector<std::string> words; // command lines of GROMACS, split into words or quoted
    bool table = false;
};

// The job script for a simulation.
struct JobscriptOptions
{
    int nodes = 1, gpus = 0, cpus = 0; // gpus: per node, 0: a run on CPUs; cpus: per process, 0: Slurm's default
    std::string time, prefix, partition, account;
    std::vector<std::string> run; // more options of `parhelion run`
};

struct BenchCommOptions
{
    std::vector<int> gpus; // numbers of GPUs to measure; empty: all GPUs
    int repetitions = 10;
    std::filesystem::path json;
};

struct ReportOptions
{
    std::vector<std::string> prefixes; // prefixes of one run, or of two runs to compare
    bool json = false;
};

struct AnalyseOptions
{
    std::vector<std::filesystem::path> traces; // one, or two to compare
    std::filesystem::path page;                // empty: none
    bool json = false;
};

struct InfoOptions
{
    std::filesystem::path file;
    bool json = false;
};

int command_run(const RunOptions& options); // returns the exit code
// Makes the runs of --multi, and returns the exit code. catch_signals() makes signals raise `stop`.
int command_run_many(const RunOptions& options, const std::function<void()>& catch_signals, std::atomic<bool>& stop);
void command_energy(const EnergyOptions& options);
void command_check(const CheckOptions& options);
void command_convert(const ConvertOptions& options);
void command_generate(const GenerateOptions& options);
void command_doctor();
void command_docs(); // prints where the manual is, and opens it; throws SystemError if it is not here
void command_report(const ReportOptions& options);
void command_analyse(const AnalyseOptions& options);
// Follows the run with this prefix until it ends, and returns how it ended. Throws SystemError if the run failed.
RunEnd command_watch(const std::string& prefix);
void command_info(const InfoOptions& options);
void command_cite(const std::string& prefix); // empty prefix: references of all methods
void command_bench(const BenchOptions& options);
void command_bench_halo(const BenchHaloOptions& options);
void command_bench_comm(const BenchCommOptions& options);
void command_bench_scaling(const BenchScalingOptions& options);
void command_bench_multi(const BenchMultiOptions& options);
void command_bench_standard(const BenchStandardOptions& options);
void command_tune(const TuneOptions& options);
void command_gmx_args(const GmxArgsOptions& options);
void command_jobscript(const JobscriptOptions& options);

// --- functions that several commands share
// Reads the input, prints warnings, and throws InputError if one is not allowed. All remarks go to `diagnostics`.
LoadedInput load_checked(const InputOptions& options, Purpose purpose, Diagnostics& diagnostics);
// Returns options for a simulation that belongs to no run. Throws InputError if options contradict each other.
SimulationOptions simulation_options(const EngineOptions& options);
// Returns the GPUs that can be used together. Throws SystemError if there is none, InputError if fewer than `asked_for`.
std::vector<int> gpus_here(int asked_for);
bool has_gpus(); // returns whether there is a GPU that can be used
// Returns 1, 2, 4 ... and `all`, the numbers of GPUs that a benchmark compares. Precondition: all > 0.
std::vector<int> powers_of_two_and_all(int all);

// Ends the process at once, because blocked threads or GPUs would delay a regular end.
// It prints the error and exits with its code, as if the error had ended the command.
[[noreturn]] void end_at_once_by(const std::exception_ptr& error);

} // namespace parhelion
