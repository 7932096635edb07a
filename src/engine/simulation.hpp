// SPDX-License-Identifier: Apache-2.0
// The engine's face: a system and its parameters in, a trajectory out. Everything numeric is behind this one header; the choice
// of precision, summation and backend happens in simulation.cpp and nowhere else.
#pragma once

#include "base/numerics.hpp"
#include "comm/network.hpp"
#include "device/helper_threads.hpp"
#include "engine/observer.hpp"
#include "halo/method.hpp"
#include "mesh_exchange/method.hpp"
#include "model/run_parameters.hpp"
#include "model/saved_state.hpp"
#include "model/system.hpp"
#include "trace/step_work.hpp"
#include "trace/timeline.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace parhelion {

enum class Device : std::uint8_t
{
    Auto, // a GPU, if there is one that can do what is asked; the CPU where ranks are given, but no number of GPUs
    Cpu,
    Gpu
};

// Where the memory is that GPUs of several processes reach in each other.
enum class GpuMemory : std::uint8_t
{
    Peer,   // pages that processes of one host pass to each other
    Nvshmem // NVSHMEM's heap, on one host or several; each process has one rank
};

struct SimulationOptions
{
    Precision precision = Precision::Mixed;
    Summation summation = Summation::Fast;
    int threads = 0;           // of each rank; 0: the cores there are for this process, shared out
    int ranks = 0;             // 0: one, or one for each GPU that is used
    std::array<int, 3> grid{}; // cells of ranks in x, y, z; zeros: the grid whose halo costs least
    HaloMethod halo = HaloMethod::Direct;
    MeshMethod pme = MeshMethod::Auto; // how ranks share the mesh of PME
    int mesh_ranks = 0;                // of MeshMethod::Dedicated: ranks that have no cell, of those asked for
    std::chrono::nanoseconds comm_timeout = std::chrono::seconds(60); // of one wait for another rank
    Device device = Device::Cpu;
    bool trace = false; // keep the latest steps for timelines(); on a GPU those of one list interval in four
    int gpus = 0;       // at most, over which ranks are spread, at least one rank each; 0: as many as make the run faster
    // Of ranks on CPUs. If they are spread over processes, all make the same simulation and call run() at the same time, and no
    // more; the first has what it leaves. The parameters then have their seeds (with_seeds()), and is_one_ranks() is
    // false.
    int processes = 1;
    int process_of_host = 0, processes_of_host = 1; // of these, those on this host, and which of them this one is
    // Of GPUs of several processes. In NVSHMEM's memory, without a number of GPUs, each process has one, by its place on its
    // host.
    GpuMemory gpu_memory = GpuMemory::Peer;
    int ranks_of_domain = 0; // of NVLink, in that memory: as if it joined so many neighbours and no others; 0: as it does
    // Virtual nodes of ranks on GPUs, whole ones in each process; those of ranks on CPUs are the network's.
    std::optional<NicEmulation> gpu_nodes = std::nullopt;
    MakeNetwork network = [](int count) { return thread_network(count); };
    // That of the network, for the log and the report; empty: threads or processes that share memory.
    std::string transport = {};
    int proxies = 0; // threads of the network that poll: with threads = 0 each has a core, if there are enough
    // Of ranks on GPUs: what to do when the host has been held in the driver for three times comm_timeout, which no exception can
    // tell. Called by another thread with a sentence; it should end the process. None: no watch.
    std::function<void(const std::string& sentence)> when_held = nullptr;

    bool are_on_one_host() const { return processes_of_host == processes; }
    bool has_gpu_of_process() const { return processes > 1 && gpus == 0 && gpu_memory == GpuMemory::Nvshmem; }
    // By number or grid; 0: not.
    int ranks_asked_for() const { return grid[0] != 0 ? grid[0] * grid[1] * grid[2] + mesh_ranks : ranks; }
};

// One force evaluation. `observables` are those of step 0 of a run (constraint virial, mean of half-step kinetic energies; in a
// minimisation neither).
struct SinglePoint
{
    Observables observables;
    std::vector<Vec3<double>> forces; // physical forces, kJ/mol/nm, input order
    std::string trouble; // what would have ended a run in this step; constraints then count for nothing. Empty: nothing, as
                         // always in a minimisation
    std::string remark;  // on what the numbers are worth; empty: nothing to say
};

// Must be done by one rank, with the threads of all that were asked for.
bool is_one_ranks(const RunParameters& parameters);

// Fills in what the .mdp left to us: the seeds. A run that goes on keeps its seed.
RunParameters with_seeds(RunParameters parameters, const SavedState* saved);

// What the plan decided, for the log, `check` and the report.
struct MeshPlan
{
    std::array<int, 3> points{};          // along x, y, z
    int order = 0;                        // of the splines
    double beta = 0;                      // of the splitting, 1/nm
    double force_error = 0;               // estimated, rms, kJ/mol/nm
    MeshMethod method = MeshMethod::Auto; // how ranks share it
    int ranks = 0;                        // of MeshMethod::Dedicated: those that do nothing else
    int interval = 1;                     // steps from one in which it acts to the next
};

struct PlanSummary
{
    int ranks = 1;
    int processes = 1; // that the ranks are spread over
    std::array<int, 3> grid{1, 1, 1};
    HaloMethod halo = HaloMethod::Direct;
    int threads = 1;              // of each rank
    int list_interval = 0;        // steps between pair-list rebuilds
    double list_cutoff = 0;       // nm
    double buffer = 0;            // list_cutoff - cutoff, nm
    double list_temperature = 0;  // K, that lists are planned for
    double list_crowding = 1;     // the largest density of partners they are planned for, relative to an even box
    std::optional<MeshPlan> mesh; // PME's
    std::size_t bytes = 0;        // engine memory, estimated
    int temperature_interval = 0, pressure_interval = 0, energy_interval = 0, com_interval = 0;
    std::int64_t seed = 0;                     // of everything random in the steps
    std::optional<std::int64_t> velocity_seed; // of velocities that are generated
    bool on_gpu = false;
    int gpus = 0;
    std::string gpus_remark;          // why others that are here or were asked for are not used; empty: nothing to say
    std::string links;                // what was found between them; empty: nobody looked
    std::string transport;            // SimulationOptions::transport
    std::vector<HelperPlace> helpers; // threads of this process that carry messages or watch, and where they are
    std::string kernel;               // SIMD target, or the GPU
};

enum class RunEnd : std::uint8_t
{
    Done,
    Stopped
};

// A kernel of a GPU in the steps that were looked at.
struct KernelTime
{
    std::string name, phase;
    double calls_per_step = 0;
    double us_per_call = 0; // from the begin of the first block to the end of the last
    int blocks = 0, threads = 0, registers = 0;
    std::size_t shared_bytes = 0, spilled_bytes = 0; // of a block; of a thread
    double occupancy = 0;                            // warps that fit of those a multiprocessor can hold
};

struct RunSummary
{
    RunEnd end = RunEnd::Done;
    std::int64_t steps = 0;       // done in this run
    std::int64_t timed_steps = 0; // of these, the steady part
    double wall_s = 0;
    double us_per_step = 0, ns_per_day = 0; // steady part: engine/run_length.hpp
    double host_load = 0;                   // cores that the process kept busy, over the steady part
    // us per step by phase of the step, over the steady part; on a GPU over a segment just before it, where phases run beside
    // each other. In a run of 1000 steps or fewer a GPU has these, `kernels` and `work` only if it keeps a trace.
    std::vector<std::pair<std::string, double>> phases;
    double covered_us = 0;           // us per step in which at least one phase runs
    std::vector<KernelTime> kernels; // of the first GPU
    std::vector<StepWork> work;      // of each GPU
    double drift = 0;                // conserved quantity, kT per ns per atom (least squares); NaN with fewer than 3 samples
    double drift_error = 0;          // its standard error; NaN likewise
    double volume_change = 0;        // of the box from the first energies to the last, relative
    // Pair lists at the end of the run: what they may add to the drift by the estimate that plans them, kT per ns per atom, and
    // what they were planned for, K.
    double list_drift = 0, list_temperature = 0;
    double constraint_deviation = 0; // largest of a bond of LINCS, relative; a GPU counts what is above the promise
    double pairs_per_atom = 0;       // entries of the pair list that are tested, per atom
    // Steepest descent only.
    bool converged = false;
    double largest_force = 0; // kJ/mol/nm
};

bool built_with_cuda();
// What runs can be on, for people: "CPU, NVIDIA H200".
std::string describe_devices();

class HostWatch;

// With several ranks every call may throw CommError, the constructor too. The simulation is then lost. So it is once run() has
// thrown anything where ranks are in other processes.
class Simulation
{
public:
    // With a saved state the simulation goes on from there; the system's positions and velocities then only serve to plan, and
    // must be the ones that the run began with, as must the parameters. With a state of another run it starts from its positions,
    // velocities and coupling, with parameters of its own; the system has the same positions and velocities, rounded. Throws
    // InputError for parameters the engine cannot honour, and for a state that does not fit.
    Simulation(System system, RunParameters parameters, const SimulationOptions& options, const SavedState* saved = nullptr);
    ~Simulation();
    Simulation(Simulation&&) noexcept;

    // Changes if the CPU takes over from GPUs.
    const PlanSummary& plan() const;
    SinglePoint evaluate();
    // Advances by `steps` (-1: the parameters' nsteps). Raising `stop` ends the run within a second and a step, on
    // GPUs within two segments; saved_state() is then still that of the last pair-list rebuild.
    // Throws PhysicsError on a blow-up; last_good_frame() is then the configuration to look at.
    RunSummary run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop);
    // The current configuration.
    Frame frame();
    // The configuration of the last pair-list rebuild before a blow-up.
    Frame last_good_frame();
    // The state at the last pair-list rebuild (not of a minimisation). A simulation that goes on from it does what this one did
    // since, and goes on: with the same bits if there are as many threads or sums are reproducible.
    SavedState saved_state();
    // What each GPU, or each rank's first thread, did in the latest steps; no spans unless SimulationOptions::trace.
    std::vector<Timeline> timelines() const;

    class Implementation;

private:
    template <class Call>
    auto attempt(Call&& call);

    std::unique_ptr<Implementation> implementation_;
    std::unique_ptr<HostWatch> watch_; // if somebody is to hear of it
};

} // namespace parhelion
