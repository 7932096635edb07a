// SPDX-License-Identifier: Apache-2.0
// Chooses which of a host's GPUs a run uses, and the grid of its ranks.
//
// The idea: a step on one GPU costs a fixed time and a time per atom. Several GPUs share the atoms but also exchange halos,
// spectra of PME's mesh and sums, which costs more the more they are; a small system is faster on one. The times are a fit to
// measurements (bench/gpu/scaling), good to a tenth on the machines measured; other GPUs and links are scaled by their speed. The
// user's --gpus overrides the choice. GPUs that a run uses together reach each other's memory and have code in this program. No
// GPU is used that the box has no cell for. Among equals the faster GPUs are taken, then those with lower numbers.
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

// What of a run no GPU can do ("a minimisation"); empty: nothing.
std::string_view only_on_cpus(const RunParameters& parameters);

// Does a run take a GPU, if there is one? `only_on_cpus`: as above. Who need not know what there is should not look: that starts
// the driver.
bool wants_gpu(const SimulationOptions& options, std::string_view only_on_cpus);

// Is a run on GPUs?
struct DeviceChoice
{
    bool on_gpu = false;
    std::string remark; // why not on those that are here; empty: nothing to say
};
// Throws InputError E003 where GPUs are asked for and the run has something only CPUs do, E004 where none can be used, E005 where
// options contradict each other.
DeviceChoice choose_device(const SimulationOptions& options, std::string_view only_on_cpus, const HostGpus& host);

// What a step works on.
struct StepSize
{
    std::int64_t atoms;
    std::int64_t mesh_points = 0;    // of PME's grid; 0: no mesh. As many for an atom as by default, if times are to be right
    bool mesh_prefers_slabs = false; // `shared`, the fastest way to share the mesh, works if cells are slabs along x
};

// Time of a step, us, on GPUs that compute `speed` times as fast as an H200, by links of which the slowest is like this; without
// a word, NVLink. With a mesh, of cells that are slabs along x, and up to as many GPUs as have been measured.
double predicted_step(const StepSize& size, int gpus, HaloMethod halo, double speed = 1, const LinkSpeed* link = nullptr);

// About how fast a GPU computes, relative to an H200.
double relative_speed(const HostGpu& gpu);

// The largest set of GPUs that can be used together, the fastest first, as numbers of devices; empty: none can be used.
std::vector<int> usable_together(const HostGpus& host);
// What there is to say of GPUs that are not in such a set: "GPU 1 (NVIDIA T4): …; …"; empty: all are.
std::string why_left_out(const HostGpus& host);

struct GpuChoice
{
    std::vector<int> devices; // numbers of the GPUs
    CellGrid grid;
    std::string remark; // why others that are here or were asked for are not used; empty: nothing to say

    int gpus() const { return static_cast<int>(devices.size()); }
};

// With a grid or a number of ranks in the options, as many GPUs as have a rank; else a rank on each of options.gpus, or without
// that of those that make such a step fastest: all that can be used together, or a power of two; with a mesh, only as slabs along
// x, and no more than have been measured. Where the mesh prefers slabs, a grid that nobody has given is of slabs along x, if they
// fit. Throws InputError E004 if more GPUs are asked for than can be used together, E630 for a
// number of ranks that fits no grid; a given grid is taken as it is. If each process has a GPU by its place on the host, that one
// alone. Precondition: a GPU can be used.
//
// Where nobody has said how many, and several by NVLink would be faster than one, the links among these are timed, and slower
// ones make for fewer GPUs; one alone if the links do not work.
using LinkTimer = std::function<LinkSpeed(const std::vector<int>& devices)>;
GpuChoice choose_gpus(const SimulationOptions& options, const HostGpus& host, const StepSize& size, const Box<double>& box,
                      const GridCriteria& criteria, const LinkTimer& time_links);

// Throws InputError E010 unless these methods leave a node of GPUs.
void expect_to_leave_nodes(HaloMethod halo, MeshMethod mesh);

// Throws InputError E634 if a rank has more slots than the pair list of a GPU can name.
void check_slots(std::size_t slots, int ranks);

} // namespace parhelion
