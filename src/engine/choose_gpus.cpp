// SPDX-License-Identifier: Apache-2.0
#include "engine/choose_gpus.hpp"

#include "base/error.hpp"
#include "engine/measured_gpus.hpp"
#include "engine/option_rules.hpp"
#include "state/cluster_array.hpp"
#include "state/rank_slots.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace parhelion {

namespace {

constexpr const MeasuredGpus& measured = measured_h200;
// A link counts as NVLink unless it is more than this many times slower, so that timing noise does not change the choice.
constexpr double as_good_as = 1.5;
// The halo bytes in each direction are this times (atoms)^(2/3): atoms within 1 nm of a cube's side, 100 per nm^3, 16 bytes each.
constexpr double bytes_of_surface = 4.6 * 16;

// Bytes of a spectrum per grid point. A GPU sends every other GPU the grid points that the two share, and gets them back.
constexpr double bytes_of_point = 4;

const MeasuredGpus::Work& work_of(const StepSize& size)
{
    return size.mesh_points > 0 ? measured.pairs_and_mesh : measured.pairs;
}

// Returns how many us longer a step takes over this link than over NVLink.
double added_by(const LinkSpeed& link, const StepSize& size, int gpus, HaloMethod halo)
{
    const double waits = measured.exchange[static_cast<std::size_t>(halo)].waits + work_of(size).waits;
    const double of_halo = bytes_of_surface * std::pow(static_cast<double>(size.atoms), 2.0 / 3);
    const double of_mesh = bytes_of_point * static_cast<double>(size.mesh_points) * (gpus - 1) / gpus / gpus;
    const double kilobytes = 1e-3 * 2 * (of_halo + of_mesh);
    double us = 0;
    if (link.signal_us > as_good_as * measured.signal_us) { us += waits * (link.signal_us - measured.signal_us); }
    if (link.store_gb_s * as_good_as < measured.store_gb_s)
    {
        us += kilobytes / link.store_gb_s - kilobytes / measured.store_gb_s;
    }
    return us;
}

// The smallest predicted gain that counts, as a fraction. Predictions are not more exact than this.
constexpr double least_gain = 0.03;

bool is_candidate(int gpus, int there) { return gpus == there || (gpus & (gpus - 1)) == 0; }

// A set of GPUs, given by their indices in HostGpus::gpus.
using Set = std::vector<std::size_t>;

// Returns the GPUs that this program can use, fastest first; of equally fast GPUs the lower number is first.
Set usable(const HostGpus& host)
{
    Set set;
    for (std::size_t g = 0; g < host.gpus.size(); ++g)
    {
        if (why_unusable(host.gpus[g]).empty()) { set.push_back(g); }
    }
    std::stable_sort(set.begin(), set.end(),
                     [&](std::size_t a, std::size_t b) { return relative_speed(host.gpus[a]) > relative_speed(host.gpus[b]); });
    return set;
}

// Adds `more` GPUs of candidates[first, end) to the set, so that all are joined. If impossible, returns false and keeps the set.
bool complete(const HostGpus& host, const Set& candidates, std::size_t first, std::size_t end, std::size_t more, Set& set)
{
    if (more == 0) { return true; }
    for (std::size_t c = first; c + more <= end; ++c)
    {
        const std::size_t gpu = candidates[c];
        if (!std::all_of(set.begin(), set.end(), [&](std::size_t member) { return host.are_joined(gpu, member); })) { continue; }
        set.push_back(gpu);
        if (complete(host, candidates, c + 1, end, more - 1, set)) { return true; }
        set.pop_back();
    }
    return false;
}

// Returns `count` GPUs that are all joined. Their slowest GPU is as fast as possible. Empty if there is no such set.
Set joined(const HostGpus& host, std::size_t count)
{
    const Set candidates = usable(host);
    for (std::size_t end = count; end <= candidates.size(); ++end)
    {
        Set set;
        if (complete(host, candidates, 0, end, count, set)) { return set; }
    }
    return {};
}

Set largest_joined(const HostGpus& host)
{
    for (std::size_t count = usable(host).size(); count > 1; --count)
    {
        if (Set set = joined(host, count); !set.empty()) { return set; }
    }
    return joined(host, 1);
}

std::vector<int> devices_of(const HostGpus& host, const Set& set)
{
    std::vector<int> devices;
    for (const std::size_t g : set) { devices.push_back(host.gpus[g].device); }
    return devices;
}

// Appends `more` to the list, after a separator if needed; an empty text is not appended.
void append(std::string& list, const std::string& separator, const std::string& more)
{
    if (!more.empty()) { list += (list.empty() ? "" : separator) + more; }
}

std::string names_of(const HostGpus& host, const Set& set)
{
    std::string names;
    for (const std::size_t g : set) { append(names, ", ", fmt::format("GPU {}", host.gpus[g].device)); }
    return names;
}

// Returns why the host's GPUs that are not in the set cannot be used, or cannot be used together with it.
std::string why_not_in(const HostGpus& host, const Set& set)
{
    std::string reasons;
    Set apart;
    for (std::size_t g = 0; g < host.gpus.size(); ++g)
    {
        const HostGpu& gpu = host.gpus[g];
        if (const std::string why = why_unusable(gpu); !why.empty())
        {
            append(reasons, "; ", fmt::format("{}: {}", name_of(gpu), why));
        }
        else if (!std::all_of(set.begin(), set.end(), [&](std::size_t m) { return m == g || host.are_joined(g, m); }))
        {
            apart.push_back(g);
        }
    }
    if (!apart.empty())
    {
        append(reasons, "; ",
               fmt::format("{} and {} cannot address each other's memory", names_of(host, apart), names_of(host, set)));
    }
    return reasons;
}

// The largest number of GPUs, up to a maximum, for which the box has cells, and the grid of these cells. `all`: for the remark.
struct Fit
{
    int gpus = 1;
    CellGrid grid;
    std::string remark;
};
enum class Cells : std::uint8_t
{
    Any,
    SlabsFirst, // slabs along x if they fit, otherwise any cells
    SlabsAlongX // slabs along x, the only cells that were measured
};
std::optional<CellGrid> grid_of(int ranks, const Box<double>& box, const GridCriteria& criteria, Cells cells)
{
    const std::optional<CellGrid> slabs = cells == Cells::Any ? std::nullopt : find_slabs(ranks, box, criteria);
    return slabs || cells == Cells::SlabsAlongX ? slabs : find_grid(ranks, box, criteria);
}

Fit most_that_fit(int most, int all, const Box<double>& box, const GridCriteria& criteria, Cells cells)
{
    const char* const how = cells == Cells::SlabsAlongX ? " along x" : "";
    for (int gpus = most; gpus > 1; --gpus)
    {
        const std::optional<CellGrid> grid = grid_of(gpus, box, criteria, cells);
        if (!grid) { continue; }
        return {gpus, *grid,
                gpus == most ? "" : fmt::format("{} of {}: the box is too short{} to be divided further", gpus, all, how)};
    }
    return {1, {}, most == 1 ? "" : fmt::format("1 of {}: the box is too short{} to be divided", all, how)};
}

// Returns the predicted time of a step on the fastest joined `gpus` GPUs, each taken to be as slow as the slowest of them.
double predicted_on(const HostGpus& host, const StepSize& size, int gpus, HaloMethod halo, const LinkSpeed* link)
{
    double speed = INFINITY;
    for (const std::size_t g : joined(host, static_cast<std::size_t>(gpus)))
    {
        speed = std::min(speed, relative_speed(host.gpus[g]));
    }
    return predicted_step(size, gpus, halo, speed, link);
}

// Returns the smallest number of GPUs with which a step is about as fast as with the best number.
int fastest(const HostGpus& host, int there, const StepSize& size, HaloMethod halo, const LinkSpeed* link)
{
    double shortest = INFINITY;
    for (int gpus = 1; gpus <= there; ++gpus)
    {
        if (is_candidate(gpus, there)) { shortest = std::min(shortest, predicted_on(host, size, gpus, halo, link)); }
    }
    int gpus = 1;
    while (!is_candidate(gpus, there) || predicted_on(host, size, gpus, halo, link) > (1 + least_gain) * shortest) { ++gpus; }
    return gpus;
}

struct Wish
{
    int gpus;
    std::string remark; // the reason why no more GPUs are wished for
};
Wish wish_for(const SimulationOptions& options, const HostGpus& host, int there, const StepSize& size,
              const LinkTimer& time_links)
{
    const auto fewer = [&](int gpus, const std::string& why) {
        return Wish{gpus, gpus == there ? "" : fmt::format("{} of {}: {}", gpus, there, why)};
    };
    if (size.mesh_points > 0 && !size.mesh_prefers_slabs)
    {
        return fewer(1,
                     "with PME several have been measured where --pme shared works, which it does not here, --gpus takes them");
    }
    const int most = std::min(there, work_of(size).most_gpus);
    const int by_nvlink = fastest(host, most, size, options.halo_method(), nullptr);
    const std::string no_help = fmt::format("more would not help at {} atoms", size.atoms);
    if (by_nvlink == 1) { return fewer(1, no_help); }
    const LinkSpeed link = time_links(devices_of(host, joined(host, static_cast<std::size_t>(by_nvlink))));
    if (!link.trouble.empty()) { return fewer(1, "their links do not work: " + link.trouble); }
    const int gpus = fastest(host, by_nvlink, size, options.halo_method(), &link);
    if (gpus == most && most < there)
    {
        return fewer(gpus, fmt::format("with PME more than {} have not been measured, --gpus takes them", most));
    }
    if (gpus == by_nvlink) { return fewer(gpus, no_help); }
    return fewer(gpus, fmt::format("{}, by links of {:.1f} us and {:.0f} GB/s", no_help, link.signal_us, link.store_gb_s));
}

void refuse_more_than(int there, const SimulationOptions& options, const HostGpus& host)
{
    if (options.gpus <= there) { return; }
    const std::string why = why_left_out(host);
    throw InputError("E004", {},
                     fmt::format("--gpus {}, but this program can use {} here{}{}. Ask for fewer.", options.gpus, there,
                                 there > 1 ? " together" : "", why.empty() ? "" : " (" + why + ")"));
}

} // namespace

std::string_view only_on_cpus(const RunParameters& parameters)
{
    if (parameters.com_mode == ComMode::LinearWithDisplacement) { return "comm-mode = linear-acceleration-correction"; }
    return parameters.shear_compressibility != Vec3<double>{} ? "a box that pressure shears" : "";
}

bool wants_gpu(const SimulationOptions& options, std::string_view only_on_cpus)
{
    // Several ranks run as threads on the CPU unless the options ask for GPUs.
    const bool would_do = options.device == Device::Auto && options.ranks_asked_for() <= 1 && only_on_cpus.empty();
    return would_do || options.wants_gpus();
}

DeviceChoice choose_device(const SimulationOptions& options, std::string_view only_on_cpus, const HostGpus& host)
{
    expect_to_go_together({.placement = options, .only_on_cpus = only_on_cpus});
    if (!wants_gpu(options, only_on_cpus)) { return {}; }
    if (!usable(host).empty()) { return {true, ""}; }
    const std::string why = why_left_out(host);
    if (!options.wants_gpus()) { return {false, why}; }
    throw InputError("E004", {},
                     fmt::format("there is no GPU here that this program can use ({}). Use --device cpu (or auto).",
                                 why.empty() ? "none, or no driver for it" : why));
}

double relative_speed(const HostGpu& gpu)
{
    const double speed = gpu.multiprocessors * gpu.clock_ghz / (measured.multiprocessors * measured.clock_ghz);
    return speed > 0 ? speed : 1; // some drivers do not report the clock
}

double predicted_step(const StepSize& size, int gpus, HaloMethod halo, double speed, const LinkSpeed* link)
{
    const MeasuredGpus::Work& work = work_of(size);
    const double thousands = 1e-3 * static_cast<double>(size.atoms);
    const double alone = work.step_us + work.us_per_1000_atoms / speed * thousands / gpus;
    const MeasuredGpus::Exchange& exchange = measured.exchange[static_cast<std::size_t>(halo)];
    if (gpus == 1) { return alone; }
    return alone + exchange.us + exchange.us_per_doubling * std::log2(gpus) + work.exchange_us +
           work.exchange_us_per_1000_atoms * thousands + (link == nullptr ? 0 : added_by(*link, size, gpus, halo));
}

std::vector<int> usable_together(const HostGpus& host) { return devices_of(host, largest_joined(host)); }

std::vector<int> gpus_for_single_runs(const HostGpus& host, int asked_for)
{
    std::vector<int> devices = devices_of(host, usable(host));
    const int there = static_cast<int>(devices.size());
    if (asked_for > there && there > 0)
    {
        throw InputError("E004", {},
                         fmt::format("--gpus {}, but this program can use {} here. Ask for fewer.", asked_for, there));
    }
    if (asked_for > 0) { devices.resize(static_cast<std::size_t>(std::min(asked_for, there))); }
    return devices;
}

std::string why_left_out(const HostGpus& host) { return why_not_in(host, largest_joined(host)); }

GpuChoice choose_gpus(const SimulationOptions& options, const HostGpus& host, const StepSize& size, const Box<double>& box,
                      const GridCriteria& criteria, const LinkTimer& time_links)
{
    if (options.gpu) { return {{*options.gpu}, {}, fmt::format("GPU {} alone, which this run was given", *options.gpu)}; }
    const int there = static_cast<int>(usable_together(host).size());
    PARHELION_EXPECTS(there >= 1);
    refuse_more_than(there, options, host);
    if (size.has_lj_mesh && options.mesh_ranks > 0)
    {
        throw InputError("E263", {},
                         "vdwtype = PME does not go with --pme dedicated on GPUs: mesh ranks get no strengths of dispersion. Use "
                         "--pme shared, bricks or gathered, or --device cpu.");
    }
    const auto use = [&](int gpus, const CellGrid& grid, const std::string& remark) {
        return GpuChoice{devices_of(host, joined(host, static_cast<std::size_t>(gpus))), grid, remark};
    };
    const int most = options.gpus > 0 ? options.gpus : there;
    const Cells preferred = size.mesh_prefers_slabs ? Cells::SlabsFirst : Cells::Any;
    if (const int ranks = options.ranks_asked_for(); ranks > 0)
    {
        const int with_cells = ranks - options.mesh_ranks;
        const std::optional<CellGrid> preferred_grid =
            options.grid[0] != 0 ? CellGrid{options.grid} : grid_of(with_cells, box, criteria, preferred);
        const CellGrid grid =
            preferred_grid ? *preferred_grid : choose_grid(with_cells, box, criteria); // throws if no grid fits, and says why
        if (options.has_gpu_of_process())
        {
            const Set all = usable(host);
            const std::size_t own = all[static_cast<std::size_t>(options.process_of_host) % all.size()];
            return {devices_of(host, {own}), grid, ""};
        }
        return use(std::min(most, ranks), grid,
                   options.gpus > ranks             ? fmt::format("{} of {}: there are no more ranks", ranks, options.gpus)
                   : options.gpus > 0 || ranks == 1 ? ""
                                                    : why_left_out(host));
    }
    if (options.gpus > 0)
    {
        const Fit fit = most_that_fit(most, most, box, criteria, preferred);
        return use(fit.gpus, fit.grid, fit.remark);
    }
    const Wish wish = size.has_lj_mesh ? Wish{1, "one GPU for vdwtype = PME, unless --gpus says otherwise"}
                                       : wish_for(options, host, there, size, time_links);
    Fit fit = most_that_fit(wish.gpus, there, box, criteria, size.mesh_points > 0 ? Cells::SlabsAlongX : Cells::Any);
    if (fit.gpus == wish.gpus) { fit.remark = wish.remark; }
    append(fit.remark, "; ", why_left_out(host));
    return use(fit.gpus, fit.grid, fit.remark);
}

void check_slots(std::size_t slots, int ranks)
{
    if (slots <= most_gpu_clusters * cluster_size) { return; }
    throw InputError(
        "E634", {},
        fmt::format("too many atoms for so few GPUs: {} would hold {:.0f} million places for atoms, and {:.0f} million "
                    "can be told apart. Use more ranks (--ranks), or --device cpu.",
                    ranks == 1 ? "one" : fmt::format("each of {} ranks", ranks), 1e-6 * static_cast<double>(slots),
                    1e-6 * static_cast<double>(most_gpu_clusters * cluster_size)));
}

} // namespace parhelion
