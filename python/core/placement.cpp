// SPDX-License-Identifier: Apache-2.0
// How exactly and where: words to values, as the options of the program say them.
#include "placement.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>

namespace parhelion::python {

namespace {

constexpr int most_ranks = 1024, most_threads = 1024, most_gpus = 64; // as the program takes

// The place of `word` among `names`. Throws ValueError.
template <std::size_t count>
int place_of(std::string_view word, const std::array<std::string_view, count>& names, const char* argument)
{
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end())
    {
        throw nb::value_error(fmt::format("{} is one of {}, not '{}'", argument, fmt::join(names, ", "), word).c_str());
    }
    return static_cast<int>(found - names.begin());
}

void expect_counts(const RunPlacement& p)
{
    const auto fits = [](int count, int most) { return count >= 0 && count <= most; };
    if (!fits(p.gpus, most_gpus) || !fits(p.ranks, most_ranks) || !fits(p.threads, most_threads))
    {
        throw nb::value_error("gpus are 64 at most, ranks 1024, threads 1024; none is negative");
    }
    const bool has_grid = p.grid != std::array<int, 3>{};
    const auto [least, most] = std::minmax_element(p.grid.begin(), p.grid.end());
    if (has_grid && (*least < 1 || *most > most_ranks || std::int64_t{p.grid[0]} * p.grid[1] * p.grid[2] > most_ranks))
    {
        throw nb::value_error("grid is three numbers from 1 on, with a product of 1024 at most");
    }
    if (has_grid && p.ranks > 0 && p.grid[0] * p.grid[1] * p.grid[2] + p.mesh_ranks != p.ranks)
    {
        throw nb::value_error("grid has another number of cells than ranks asks for: leave one of them out");
    }
}

// "dedicated:2" has a number of ranks.
void set_mesh_method(const std::string& pme, RunPlacement& placement)
{
    const std::size_t colon = pme.find(':');
    placement.pme = static_cast<MeshMethod>(place_of(pme.substr(0, colon), mesh_method_names, "pme"));
    const std::string count = colon == std::string::npos ? "" : pme.substr(colon + 1);
    const bool is_number = !count.empty() && count.size() <= 4 && count.find_first_not_of("0123456789") == std::string::npos;
    if (is_number) { placement.mesh_ranks = std::stoi(count); }
    if ((placement.pme == MeshMethod::Dedicated) != (placement.mesh_ranks > 0) || (colon != std::string::npos && !is_number))
    {
        throw nb::value_error("pme = dedicated takes a number of ranks, as in dedicated:1; no other does");
    }
}

Placement make(const std::string& device, int gpus, int ranks, int threads, const std::array<int, 3>& grid,
               const std::string& halo, const std::string& pme, const std::string& dlb, const std::string& precision,
               bool reproducible, double comm_timeout)
{
    Placement result;
    RunPlacement& p = result.placement;
    p.device = static_cast<Device>(place_of(device, device_names, "device"));
    p.gpus = gpus;
    p.ranks = ranks;
    p.threads = threads;
    p.grid = grid;
    if (!halo.empty()) { p.halo = static_cast<HaloMethod>(place_of(halo, halo_method_names, "halo")); }
    set_mesh_method(pme, p);
    p.balancing = static_cast<Balancing>(place_of(dlb, balancing_names, "dlb"));
    expect_counts(p);
    if (!(comm_timeout >= 0.001 && comm_timeout <= 1e6)) { throw nb::value_error("comm_timeout is from 0.001 s to 1e6 s"); }
    p.comm_timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(comm_timeout));
    result.numerics.precision = static_cast<Precision>(place_of(precision, precision_names, "precision"));
    result.numerics.summation = reproducible ? Summation::Reproducible : Summation::Fast;
    return result;
}

} // namespace

nb::dict to_dict(const PlanSummary& plan)
{
    nb::dict result;
    result["device"] = plan.on_gpu ? "gpu" : "cpu";
    result["kernel"] = plan.kernel;
    result["gpus"] = plan.gpus;
    result["ranks"] = plan.ranks;
    result["threads"] = plan.threads;
    result["grid"] = nb::make_tuple(plan.grid[0], plan.grid[1], plan.grid[2]);
    result["list_interval"] = plan.list_interval;
    result["list_cutoff"] = plan.list_cutoff;
    result["seed"] = plan.seed;
    result["bytes"] = plan.bytes;
    result["gpus_remark"] = plan.gpus_remark;
    return result;
}

void bind_placement(nb::module_& m)
{
    nb::class_<Placement>(m, "Placement")
        .def(
            "__init__",
            [](Placement* self, const std::string& device, int gpus, int ranks, int threads, const std::array<int, 3>& grid,
               const std::string& halo, const std::string& pme, const std::string& dlb, const std::string& precision,
               bool reproducible, double comm_timeout) {
                new (self)
                    Placement(make(device, gpus, ranks, threads, grid, halo, pme, dlb, precision, reproducible, comm_timeout));
            },
            nb::kw_only(), nb::arg("device"), nb::arg("gpus"), nb::arg("ranks"), nb::arg("threads"), nb::arg("grid"),
            nb::arg("halo"), nb::arg("pme"), nb::arg("dlb"), nb::arg("precision"), nb::arg("reproducible"),
            nb::arg("comm_timeout"));
}

} // namespace parhelion::python
