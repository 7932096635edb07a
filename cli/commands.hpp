// SPDX-License-Identifier: Apache-2.0
// One struct of options and one function per subcommand; a file each. Functions throw what the library throws; main() turns it
// into text.
#pragma once

#include "base/error.hpp"
#include "engine/simulation.hpp"
#include "generate/ethanol_water.hpp"
#include "io/load.hpp"
#include "run/output_paths.hpp"
#include "run/read_input.hpp"
#include "run/run.hpp"
#include "run/single_point.hpp"
#include "run/version.hpp"

#include <array>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace parhelion {

using InputOptions = RunInput;

inline constexpr int most_ranks = 1024;

struct EngineOptions
{
    std::string device = "auto", precision = "mixed";
    bool reproducible = false;
    int gpus = 0; // 0: not said
    int ranks = 0, threads = 0;
    std::string grid, halo; // empty: the default; grid: "2x2x1"
    std::string pme = "auto";
    double comm_timeout_s = 60;
};

// Of emulated network cards.
struct NicOptions
{
    double latency_us = 3, bandwidth = 25; // least; GB/s
};

struct RunOptions
{
    InputOptions input;
    EngineOptions engine;
    std::string prefix;
    int processes = 1;              // of this host, over which the ranks are spread
    std::string transport = "auto"; // between processes, or virtual nodes
    std::string nodes;              // of the latter, as "2x4"; empty: not said
    NicOptions nic;
    bool trust_network = false;        // nobody else can write to the wire between processes
    std::optional<std::int64_t> steps; // neither these nor ns: the .mdp's
    std::optional<double> ns, hours;
    double checkpoint_s = 900; // time between checkpoints
    std::string trace;         // file; empty: none
    bool fresh = false;        // even if there is a checkpoint
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
struct GenerateOptions
{
    EthanolWaterOptions series;
    std::filesystem::path folder;
    bool force = false; // write over files that exist
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
    std::vector<std::string> methods;
    std::vector<std::string> nodes;   // virtual, as "2x4", in place of ranks
    std::vector<std::string> proxies; // of nodes: bench/halo/halo_timing.hpp
    NicOptions nic;
    int threads = 1, exchanges = 200;
    std::filesystem::path json;
};

struct BenchScalingOptions
{
    std::vector<std::int64_t> atoms;
    SeriesElectrostatics electrostatics = SeriesElectrostatics::ReactionField;
    std::vector<int> gpus;          // empty: powers of two, and all
    std::vector<std::string> grids; // in place of gpus, a GPU for each cell; empty: those whose halos cost least
    std::vector<std::string> methods;
    std::vector<std::string> pme; // how GPUs share the mesh, of runs with PME
    std::int64_t steps = 0;       // of a sample
    int repetitions = 5;          // samples
    double comm_timeout_s = 60;
    std::filesystem::path json;
    std::string plot; // prefix of figures
};

struct BenchCommOptions
{
    std::vector<int> gpus; // how many of them; empty: all
    int repetitions = 10;
    std::filesystem::path json;
};

RunEnd command_run(const RunOptions& options);
void command_energy(const EnergyOptions& options);
void command_check(const CheckOptions& options);
void command_generate(const GenerateOptions& options);
void command_doctor();
void command_bench(const BenchOptions& options);
void command_bench_halo(const BenchHaloOptions& options);
void command_bench_comm(const BenchCommOptions& options);
void command_bench_scaling(const BenchScalingOptions& options);

// Shared by the commands.
// Reads the input; prints warnings, and throws InputError if one of them is not allowed. All remarks go to `diagnostics`.
LoadedInput load_checked(const InputOptions& options, Purpose purpose, Diagnostics& diagnostics);
// Options judged and turned into values. Throw InputError where they contradict each other.
RunNumerics numerics(const EngineOptions& options);
RunPlacement placement(const EngineOptions& options);
SimulationOptions simulation_options(const EngineOptions& options);

// "2x2x1"; zeros if the text is empty. ranks: how many cells it must have, 0 for any. Throws InputError.
std::array<int, 3> parse_grid(const std::string& text, int ranks, int mesh_ranks = 0);
// "2x4": two virtual nodes of four ranks. Throws InputError E010.
NicEmulation parse_nodes(const std::string& text, const NicOptions& options);
// The numbers of the GPUs that can be used together. Throws SystemError if there is none, InputError if more are asked for.
std::vector<int> gpus_here(int asked_for);

// For threads and GPUs that would hold up any other end: ends by an error as if it had ended the command, with its words and its
// exit code.
[[noreturn]] void end_at_once_by(const std::exception_ptr& error);
HaloMethod halo_method(const std::string& name);
struct MeshChoice
{
    MeshMethod method;
    int ranks; // that `dedicated:` names
};
std::optional<MeshChoice> parse_mesh_method(const std::string& text); // none: it is no method

} // namespace parhelion
