// SPDX-License-Identifier: Apache-2.0
// The public interface of the engine: it takes a system and its parameters, and returns a trajectory.
// Everything numeric is behind this header. simulation.cpp alone chooses precision, summation and backend.
#pragma once

#include "comm/networks/networks.hpp"
#include "device/helper_threads.hpp"
#include "domain/load_balance.hpp"
#include "engine/external_force.hpp"
#include "engine/observer.hpp"
#include "engine/options.hpp"
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

struct SimulationOptions : RunNumerics, RunPlacement, RunConnection
{
    SimulationOptions() { device = Device::Cpu; } // most tests use the CPU
    SimulationOptions(const RunNumerics& numerics, const RunPlacement& placement, const RunConnection& connection)
        : RunNumerics(numerics), RunPlacement(placement), RunConnection(connection)
    {
    }

    // If ranks are spread over processes, all processes make the same simulation, call run() together, and call no other
    // function. The first process gets the results. The parameters must have their seeds (with_seeds()), and is_one_ranks()
    // must be false. With TransportKind::Nvshmem and no number of GPUs, each process has the GPU of its place on its host.
    int process_of_host = 0, processes_of_host = 1; // this process's index among the run's processes on this host; their number
    bool trace = false; // keep the latest steps for timelines(); on a GPU those of one list interval in four
    // Number of steps between frames, with all arrays and energies, that run() gives its observer in addition to output; 0: none.
    int stream_every = 0;
    MakeNetwork network = [](int count) { return thread_network(count); }; // connects CPU ranks, or processes with GPUs
    std::string network_text{}; // name of the network in log and report; empty: threads or processes that share memory
    int proxies = 0;            // polling threads of the network; with threads = 0 each gets a core, if there are enough cores
    // Called on another thread if ranks are on GPUs and the host has hung in the GPU driver for three times comm_timeout,
    // where no exception is possible. Its argument is a sentence. It should end the process. Null: there is no watch.
    std::function<void(const std::string& sentence)> when_held = nullptr;

    bool are_on_one_host() const { return processes_of_host == processes; }
    bool has_gpu_of_process() const { return processes > 1 && gpus == 0 && transport == TransportKind::Nvshmem; }
};

// The result of one force evaluation. `observables` are those of step 0 of a run: they include the constraint
// virial and the mean of half-step kinetic energies. In a minimisation they include neither of these.
struct SinglePoint
{
    Observables observables;
    std::vector<Vec3<double>> forces; // without constraint forces, kJ/mol/nm, input order
    std::string trouble; // the error that would have ended a run in this step; constraints are then not included. Empty: no
                         // error, as always in a minimisation
    std::string remark;  // on the reliability of the numbers; empty: nothing to report
};

// Returns true if the run needs a single rank on CPUs. That rank then has all threads that were asked for, summed over ranks.
bool is_one_ranks(const RunParameters& parameters);

// Returns the parameters with the seeds that the .mdp leaves to the program. A run that continues from `saved` keeps its seed.
RunParameters with_seeds(RunParameters parameters, const SavedState* saved);

// The decisions of the plan on PME's mesh, for the log, `check` and the report.
struct MeshPlan
{
    std::array<int, 3> points{};          // number of grid points along x, y, z
    int order = 0;                        // order of the splines
    double beta = 0;                      // parameter of the Ewald splitting, 1/nm
    double force_error = 0;               // estimated rms error of the force, kJ/mol/nm
    MeshMethod method = MeshMethod::Auto; // how ranks share the mesh
    int ranks = 0;                        // MeshMethod::Dedicated: number of ranks that compute only the mesh
    int interval = 1;                     // steps from one step in which the mesh acts to the next
    int of_dispersion = 0;                // LJ-PME: number of meshes of dispersion
    double dispersion_beta = 0;           // LJ-PME: beta of dispersion, 1/nm
};

struct PlanSummary
{
    int ranks = 1;
    int processes = 1; // number of processes that have the ranks
    std::array<int, 3> grid{1, 1, 1};
    HaloMethod halo = HaloMethod::Direct;
    int threads = 1;              // threads of each rank
    int list_interval = 0;        // steps between pair-list rebuilds
    bool keeps_lists = false;     // a minimisation: lists are rebuilt only when an atom has moved by half of the buffer
    double list_cutoff = 0;       // nm
    double buffer = 0;            // list_cutoff - cutoff, nm
    double list_temperature = 0;  // temperature for which lists are planned, K
    double list_crowding = 1;     // largest density of partners for which lists are planned, relative to an even box
    std::optional<MeshPlan> mesh; // PME's mesh; empty: no PME
    std::size_t bytes = 0;        // estimated memory of the engine, bytes
    int temperature_interval = 0, pressure_interval = 0, energy_interval = 0, com_interval = 0;
    std::int64_t seed = 0;                     // seed of all random numbers in the steps
    std::optional<std::int64_t> velocity_seed; // seed of generated velocities
    bool on_gpu = false;
    int gpus = 0;
    std::string gpus_remark;          // why GPUs of this host, or GPUs that were asked for, are not used; may be empty
    std::string links;                // measured links between GPUs, as text; empty: not measured
    std::string transport;            // SimulationOptions::network_text
    std::vector<HelperPlace> helpers; // helper threads of this process, and their places
    std::string kernel;               // name of the SIMD target, or of the GPU
};

enum class RunEnd : std::uint8_t
{
    Done,
    Stopped
};

// Timing of one GPU kernel in the steps that were traced.
struct KernelTime
{
    std::string name, phase;
    double calls_per_step = 0;
    double us_per_call = 0; // time from the begin of the first block to the end of the last block
    int blocks = 0, threads = 0, registers = 0;
    std::size_t shared_bytes = 0, spilled_bytes = 0; // shared memory per block; spilled registers per thread; bytes
    double occupancy = 0;                            // resident warps per multiprocessor, as a fraction of its limit
};

// The result of load balancing, at the end of a run.
struct Balance : BalanceRecord
{
    std::array<std::vector<double>, 3> borders; // between cells, by dimension, in box edges
};

struct RunSummary
{
    RunEnd end = RunEnd::Done;
    std::int64_t steps = 0;       // number of steps done in this run
    std::int64_t timed_steps = 0; // number of `steps` that were timed, the steady part (engine/run_length.hpp)
    double wall_s = 0;
    double us_per_step = 0, ns_per_day = 0; // means over the steady part
    double host_load = 0;                   // number of cores that the process kept busy, over the steady part
    // us per step by phase, over the steady part. On a GPU: over one segment just before that part; phases run concurrently
    // there. In a run of at most 1000 steps, a GPU measures phases, `kernels` and `work` only if it keeps a trace.
    std::vector<std::pair<std::string, double>> phases;
    double covered_us = 0;           // us per step in which at least one phase runs
    std::vector<KernelTime> kernels; // kernels of the first GPU
    std::vector<StepWork> work;      // one for each GPU
    double drift = 0;                // of the conserved quantity, kT/ns/atom (least squares); NaN with fewer than 3 samples
    double drift_error = 0;          // standard error of `drift`; NaN with fewer than 3 samples
    double volume_change = 0;        // relative change of the box volume from the first to the last observed step
    // Two values of the pair lists at the end of the run: the drift that they are
    // estimated to cause, kT/ns/atom, and the temperature for which they were planned, K.
    double list_drift = 0, list_temperature = 0;
    double constraint_deviation = 0; // largest relative deviation of a LINCS bond; a GPU records only those beyond the tolerance
    std::optional<Balance> balance;  // empty: nothing was measured, as with one rank
    double pairs_per_atom = 0;       // number of pairs per atom that the pair list has and that are tested
    // The following members are set by minimisations only.
    bool converged = false;
    std::int64_t lists_built = 0; // pair lists
    double largest_force = 0;     // largest force on an atom at the end, kJ/mol/nm
};

// The numbers of steps between two reports to an observer. 0: there are only the reports at the end of a run.
struct OutputIntervals
{
    int configurations = 0; // interval of positions and velocities
    int forces = 0;         // interval of forces, which are reported together with configurations
    int energies = 0;       // interval of energies, as in the energy file
};

bool built_with_cuda();
// Returns the devices that runs can use, as text: "CPU, NVIDIA H200".
std::string describe_devices();

// Returns the device numbers of the GPUs among which runs with one GPU each are dealt, the first for the first run. `placement`
// may limit their number. It is empty if such runs use CPUs. Throws InputError E002, E004 or E005 as a simulation would.
std::vector<int> gpus_to_deal(const RunPlacement& placement);

class HostWatch;

// A simulation. With several ranks, every call and the constructor may throw CommError. The simulation
// is then lost. If ranks are in other processes, it is also lost after run() has thrown any exception.
class Simulation
{
public:
    // With a saved state the simulation continues from it. The system's positions and velocities then only serve to plan.
    // They and the parameters must be those with which the run began. With a state of another run the simulation starts from
    // that run's positions, velocities and coupling, with parameters of its own. The system must then have the same values,
    // rounded. Throws InputError for parameters that the engine does not support, and for a state that does not fit.
    Simulation(System system, RunParameters parameters, const SimulationOptions& options, const SavedState* saved = nullptr);
    ~Simulation();
    Simulation(Simulation&&) noexcept;

    // Returns the plan. It changes if the CPU takes over from GPUs.
    const PlanSummary& plan() const;
    // Adds a force, which acts from now on. Throws InputError E636 on GPUs. Precondition: the atoms of the force exist.
    void add_force(std::shared_ptr<ExternalForce> force);
    // Computes the forces once, without a step. Throws PhysicsError if an external force has no answer.
    SinglePoint evaluate();
    // Sets what run() reports from now on, instead of the output options of the parameters. The reports by
    // nstcalcenergy do not change. If sums are reproducible, no bit of a step depends on these intervals.
    // Precondition: no interval is negative, and steps that report forces also report configurations.
    void set_output(const OutputIntervals& intervals);
    // Advances by `steps` (-1: the parameters' nsteps). Setting `stop` ends the run within a second
    // and a step, on GPUs within two segments; saved_state() is then still that of the last
    // pair-list rebuild. Throws PhysicsError on a blow-up (see last_good_frame()), and before a
    // step if an external force has no answer. The configuration of that step is then not reported.
    RunSummary run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop);
    // Returns the current configuration.
    Frame frame();
    // Returns the configuration of the last pair-list rebuild before a blow-up.
    Frame last_good_frame();
    // Returns the state at the last pair-list rebuild; not after a minimisation. A simulation that continues from it
    // repeats the steps since that rebuild. It gets the same bits if it has as many threads, or if sums are reproducible.
    SavedState saved_state();
    // Returns the latest activity of each GPU, or of each rank's first thread. Without SimulationOptions::trace it has no spans.
    std::vector<Timeline> timelines() const;

    class Implementation;

private:
    template <class Call>
    auto attempt(Call&& call);

    std::unique_ptr<Implementation> implementation_;
    std::unique_ptr<HostWatch> watch_; // null: when_held is not set
};

} // namespace parhelion
