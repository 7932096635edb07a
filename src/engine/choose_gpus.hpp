// SPDX-License-Identifier: Apache-2.0
// Chooses which of a host's GPUs a run uses, and the grid of its ranks.
//
// The idea: a step on one GPU costs a fixed time and a time per atom. Several GPUs share the atoms, but they also exchange
// halos, spectra of PME's mesh and sums. More GPUs exchange more, so a small system is faster on one GPU. The times are a
// fit to measurements of bench/gpu/scaling. On the measured machines they are correct within a tenth; for other GPUs and
// links they are scaled by the speed. The user's --gpus overrides the choice. The chosen GPUs can access each other's memory
// and have code in this program, and each has a cell of the box. Of GPUs with equal speed, lower numbers are taken first.
#pragma once

#include "base/box.hpp"
#include "device/host_gpus.hpp"
#include "domain/cell_grid.hpp"
#include "engine/simulation.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

// Returns the name of a feature of the run that no GPU supports, such as "a box that pressure shears"; empty if GPUs support all
// features.
std::string_view only_on_cpus(const RunParameters& parameters);

// Returns true if the run takes a GPU where there is one. `only_on_cpus` is the result of the
// function above. Call it before looking for GPUs, since looking for them starts the driver.
bool wants_gpu(const SimulationOptions& options, std::string_view only_on_cpus);

// The decision whether a run is on GPUs.
struct DeviceChoice
{
    bool on_gpu = false;
    std::string remark; // the reason why GPUs of this host are not used; empty: nothing to report
};
// Decides whether a run is on GPUs. Throws InputError: E003 if GPUs are asked for and the run has a
// feature that only CPUs support, E004 if no GPU can be used, E005 if options contradict each other.
DeviceChoice choose_device(const SimulationOptions& options, std::string_view only_on_cpus, const HostGpus& host);

// The size of the system on which a step works.
struct StepSize
{
    std::int64_t atoms;
    std::int64_t mesh_points = 0;    // points of PME's grid; 0: no mesh. Predictions assume the default number per atom
    bool mesh_prefers_slabs = false; // true if cells should be slabs along x, so that `shared`, the fastest mesh method, works
    bool has_lj_mesh = false;        // with LJ-PME, of which the cost on several GPUs was not measured
};

// Returns the predicted time of a step, us, on GPUs `speed` times as fast as an H200. `link` is the slowest link between
// these GPUs; null: NVLink. With a mesh, predictions hold for slabs along x, and up to the number of GPUs that was measured.
double predicted_step(const StepSize& size, int gpus, HaloMethod halo, double speed = 1, const LinkSpeed* link = nullptr);

// Returns an estimate of how fast a GPU computes, relative to an H200.
double relative_speed(const HostGpu& gpu);

// Returns the device numbers of the largest set of GPUs that can be used together, fastest first; empty if no GPU can be used.
std::vector<int> usable_together(const HostGpus& host);
// Returns the device numbers of `asked_for` GPUs for runs that have one GPU each, fastest first; 0: of all GPUs that can be
// used. They need not reach each other. It is empty if no GPU can be used. Throws InputError E004 if there are too few.
std::vector<int> gpus_for_single_runs(const HostGpus& host, int asked_for);
// Returns why GPUs are not in the set of usable_together(): "GPU 1 (NVIDIA T4): …; …". Empty if all GPUs are in the set.
std::string why_left_out(const HostGpus& host);

struct GpuChoice
{
    std::vector<int> devices; // numbers of the GPUs
    CellGrid grid;
    std::string remark; // the reason why GPUs of this host, or GPUs that were asked for, are not used; may be empty

    int gpus() const { return static_cast<int>(devices.size()); }
};

// Chooses GPUs and grid. If the options give a grid or a number of ranks, every rank gets one GPU. Otherwise
// options.gpus sets the number of GPUs. Its default is the number with the fastest step: all GPUs that can be used
// together, or a power of two. With a mesh the default considers only slabs along x, and no more GPUs than were
// measured. options.gpu overrides all this: the run has that GPU and one rank. A given grid is taken as it is. Without one, the
// cells are slabs along x if the mesh prefers them and they fit. If each process has the GPU of its place on the host, only that
// GPU is used. Throws InputError E004 if more GPUs are asked for than can be used together, E630 if no grid has the number of
// ranks. Precondition: a GPU can be used.
//
// If the number is not given, and several GPUs with NVLink would be faster than one, `time_links` measures
// the links between them. Slower links lead to fewer GPUs. Links that do not work lead to one GPU.
using LinkTimer = std::function<LinkSpeed(const std::vector<int>& devices)>;
GpuChoice choose_gpus(const SimulationOptions& options, const HostGpus& host, const StepSize& size, const Box<double>& box,
                      const GridCriteria& criteria, const LinkTimer& time_links);

// Throws InputError E634 if a rank has more slots than the pair list of a GPU can number.
void check_slots(std::size_t slots, int ranks);

} // namespace parhelion
