// SPDX-License-Identifier: Apache-2.0
#include "dynamics/gpu/virtual_sites_gpu.hpp"

#include "device/gpu/block_sum.cuh"
#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "dynamics/update_blocks.hpp"
#include "model/site_body.hpp"
#include "state/gpu/view.cuh"
#include "state/molecules.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <ranges>

namespace parhelion {

// The kernel argument for one level of sites.
struct GpuVirtualSites::View
{
    const SiteRecord* records;
    std::int32_t sites;
    const double* parameters;
    const std::int32_t* slots;
};

namespace {

constexpr int threads = 128;

// A site with the slots of its atoms, for the thread that works on this site.
template <class N>
struct SiteInSlots
{
    const GpuView<N>& state;
    const SiteRecord record;
    const double* const parameters;
    const std::int32_t* const slots; // slots of the site, of its first constructing atom, and of the other ones
    const PeriodicBox<N> box;

    __device__ SiteInSlots(const GpuVirtualSites::View& view, std::int32_t i, const GpuView<N>& in)
        : state(in), record(view.records[i]), parameters(view.parameters + record.first_parameter),
          slots(view.slots + record.first_atom), box(in.box())
    {
    }
    __device__ std::int32_t slot() const { return slots[0]; }
    __device__ std::int32_t first() const { return slots[1]; }
    __device__ std::int32_t other(int k) const { return slots[2 + k]; }
    __device__ bool is_linear() const { return parhelion::is_linear(record.kind); }

    // Returns the vector from the first constructing atom to atom k of the others, nm.
    __device__ Vec3<double> away(int k) const
    {
        const Vec3<typename N::Fixed> to = state.position(other(k)), from = state.position(first());
        return state.by_shape_of_box([&](auto tilted) { return box.template difference<tilted>(to, from); });
    }
    // Returns the velocity of atom k of the others, relative to the first constructing atom, nm/ps.
    __device__ Vec3<double> relative_velocity(int k) const { return velocity_of(other(k)) - velocity_of(first()); }
    __device__ Vec3<double> velocity_of(std::int32_t atom) const
    {
        const VelocityMass<N> v = state.v[atom];
        return {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
    }
    // Returns the sum of weight times value(k) over the others, for a weighted mean.
    template <class Value>
    __device__ Vec3<double> weighted(Value&& value) const
    {
        Vec3<double> sum;
        for (int k = 0; k < record.others; ++k) { sum += parameters[k] * value(k); }
        return sum;
    }
};

// Purpose        places the virtual sites of a level and sets their velocities
// Work           by a thread per site of the system; it ends if the site is not a home atom
// Reads/Writes   positions, velocities, tables / positions and velocities of sites
// Orders         no memory accesses; sites of a level do not depend on each other
// Requires       slots of home atoms resolved since the last repartition; constructing atoms in their new places
// Cost           32 bytes of an atom; 100 double-precision operations
template <class N>
__global__ void __launch_bounds__(threads)
    construct_sites_kernel(BlockTrace tracing, GpuVirtualSites::View view, GpuView<N> state)
{
    const BlockSpan span(tracing);

    using Real = typename N::Real;
    const auto i = static_cast<std::int32_t>(blockIdx.x * threads + threadIdx.x);
    if (i >= view.sites) { return; }
    const SiteInSlots<N> site(view, i, state);
    if (site.slot() < 0) { return; }
    Vec3<double> offset, v = site.velocity_of(site.first());
    if (site.is_linear())
    {
        offset = site.weighted([&](int k) { return site.away(k); });
        v += site.weighted([&](int k) { return site.relative_velocity(k); });
    }
    else
    {
        // A component of the velocity is the work per time of a unit force along it on the site (dynamics/virtual_sites.cpp).
        Vec3<double> away[site_detail::most_others], on[site_detail::most_others];
        for (int k = 0; k < site.record.others; ++k) { away[k] = site.away(k); }
        offset = site_offset(site.record.kind, site.parameters, away, site.record.others);
        for (int d = 0; d < 3; ++d)
        {
            Vec3<double> unit;
            unit[d] = 1;
            spread_force(site.record.kind, site.parameters, away, site.record.others, unit, on);
            for (int k = 0; k < site.record.others; ++k) { v[d] += dot(on[k], site.relative_velocity(k)); }
        }
    }
    const Vec3<typename N::Fixed> from = state.position(site.first());
    const Vec3<typename N::Fixed> x =
        state.by_shape_of_box([&](auto tilted) { return site.box.template displaced<tilted>(from, offset); });
    state.xq[site.slot()] = {x.x, x.y, x.z, state.xq[site.slot()].charge};
    const auto stored = static_cast<Vec3<Real>>(v);
    state.v[site.slot()] = {stored.x, stored.y, stored.z, state.v[site.slot()].inverse_mass};
}

template <class Sum>
__device__ Vec3<Sum> in_sums(const Vec3<double>& f)
{
    return {to_sum<Sum>(f.x), to_sum<Sum>(f.y), to_sum<Sum>(f.z)};
}

// Adds -1/2 r (x) f to the virial.
__device__ void add_virial(const Vec3<double>& r, const Vec3<double>& f, double (&virial)[9])
{
    for (int i = 0; i < 9; ++i) { virial[i] += -0.5 * r[i / 3] * f[i % 3]; }
}

// Spreads the site's force to its constructing atoms, and adds the change to `virial`. The site's thread calls it.
template <class N>
__device__ void spread(const SiteInSlots<N>& site, double (&virial)[9])
{
    using Sum = typename N::ForceSum;
    const GpuView<N>& state = site.state;
    const ForceSlot<N> sum = state.f[site.slot()];
    Vec3<Sum> rest{sum.x, sum.y, sum.z}; // force on the first constructing atom; exact sums lose nothing to rounding
    const Vec3<double> f{from_sum(sum.x), from_sum(sum.y), from_sum(sum.z)};
    const auto give = [&](int k, const Vec3<double>& force) {
        const Vec3<Sum> part = in_sums<Sum>(force);
        state.add_force(site.other(k), part);
        rest -= part;
    };
    if (site.is_linear())
    {
        for (int k = 0; k < site.record.others; ++k) { give(k, site.parameters[k] * f); }
    }
    else
    {
        Vec3<double> away[site_detail::most_others], on[site_detail::most_others];
        for (int k = 0; k < site.record.others; ++k) { away[k] = site.away(k); }
        spread_force(site.record.kind, site.parameters, away, site.record.others, f, on);
        add_virial(site_offset(site.record.kind, site.parameters, away, site.record.others), -f, virial);
        for (int k = 0; k < site.record.others; ++k) { give(k, on[k]), add_virial(away[k], on[k], virial); }
    }
    state.add_force(site.first(), rest);
    state.f[site.slot()] = {};
}

// Purpose        spreads forces on the virtual sites of a level to their constructing atoms
// Work           by a thread per site of the system; it does nothing if the site is not a home atom
// Reads/Writes   forces, positions, tables / forces (atomic sums; cleared on sites), on request the virial (a sum per block)
// Orders         no memory accesses; sites of a level do not depend on each other
// Requires       slots of home atoms resolved since the last repartition; forces of home atoms complete
// Cost           48 bytes and an atomic addition per atom; 100 double-precision operations
template <class N>
__global__ void __launch_bounds__(threads)
    spread_forces_kernel(BlockTrace tracing, GpuVirtualSites::View view, GpuView<N> state, EnergySums<N>* energies)
{
    const BlockSpan span(tracing);

    const auto i = static_cast<std::int32_t>(blockIdx.x * threads + threadIdx.x);
    double virial[9] = {};
    if (i < view.sites)
    {
        const SiteInSlots<N> site(view, i, state);
        if (site.slot() >= 0) { spread(site, virial); }
    }
    if (energies == nullptr) { return; }
    ScalarSum<N> sums[9];
    for (int k = 0; k < 9; ++k) { sums[k] = to_sum<ScalarSum<N>>(virial[k]); }
    add_block_sums(sums, &energies->virial[0]);
}

// Returns each site's level: 0 if it is constructed from atoms alone, else one above the highest level of its sites.
std::vector<int> levels_of(const MoleculeType& type)
{
    std::vector<int> of_atom(type.atoms.size(), -1), of_site; // -1: the atom is no site
    for (const VirtualSite& site : type.sites)                // each comes after the sites that it is constructed from
    {
        int below = -1;
        for (const std::int32_t atom : site.from) { below = std::max(below, of_atom[static_cast<std::size_t>(atom)]); }
        of_site.push_back(below + 1);
        of_atom[static_cast<std::size_t>(site.atom)] = below + 1;
    }
    return of_site;
}

struct Tables // the tables on the host
{
    std::vector<SiteRecord> records;
    std::vector<double> parameters;
    std::vector<std::int32_t> atoms;

    // Adds all copies of a site.
    void add(const VirtualSite& site, const std::vector<std::int32_t>& copies)
    {
        SiteRecord record{0, static_cast<std::int32_t>(parameters.size()), static_cast<std::int32_t>(site.from.size()) - 1,
                          site.kind};
        parameters.insert(parameters.end(), site.parameters.begin(), site.parameters.end());
        for (const std::int32_t first : copies)
        {
            record.first_atom = static_cast<std::int32_t>(atoms.size());
            records.push_back(record);
            atoms.push_back(first + site.atom);
            for (const std::int32_t atom : site.from) { atoms.push_back(first + atom); }
        }
    }
};

} // namespace

GpuVirtualSites::GpuVirtualSites(GpuQueue& queue, const Topology& topology)
{
    if (all_sites_are_of_waters(topology)) { return; }
    std::vector<std::vector<int>> level_of; // [molecule type][site]
    int most = 0;
    for (const MoleculeType& type : topology.molecule_types)
    {
        level_of.push_back(levels_of(type));
        for (const int level : level_of.back()) { most = std::max(most, level); }
    }
    const MoleculeList copies = all_molecules(topology);
    Tables tables;
    for (int level = 0; level <= most; ++level)
    {
        Level& added = levels_.emplace_back();
        added.first = static_cast<std::int32_t>(tables.records.size());
        for (std::size_t t = 0; t < level_of.size(); ++t)
        {
            for (std::size_t s = 0; s < level_of[t].size(); ++s)
            {
                const VirtualSite& site = topology.molecule_types[t].sites[s];
                if (level_of[t][s] != level) { continue; }
                tables.add(site, copies.first_atom[t]);
                added.changes_virial = added.changes_virial || !is_linear(site.kind);
            }
        }
        added.sites = static_cast<std::int32_t>(tables.records.size()) - added.first;
    }
    records_.upload(queue, tables.records);
    parameters_.upload(queue, tables.parameters);
    atoms_.upload(queue, tables.atoms);
    slots_.resize(tables.atoms.size());
    queue.synchronize(); // the tables on the host may be destroyed afterwards
}

GpuVirtualSites::View GpuVirtualSites::view(const Level& level) const
{
    return {records_.data() + level.first, level.sites, parameters_.data(), slots_.data()};
}

template <class N>
void GpuVirtualSites::resolve(GpuQueue& queue, const GpuState<N>& state)
{
    resolve_home_slots(queue, state, atoms_, slots_);
}

template <class N>
void GpuVirtualSites::construct(GpuQueue& queue, GpuState<N>& state) const
{
    for (const Level& level : levels_)
    {
        launch(queue, Phase::Drift, construct_sites_kernel<N>, one_thread_each(static_cast<std::size_t>(level.sites), threads),
               view(level), GpuView<N>(state));
    }
}

template <class N>
void GpuVirtualSites::spread_forces(GpuQueue& queue, Virial wanted, GpuState<N>& state) const
{
    for (const Level& level : levels_ | std::views::reverse)
    {
        EnergySums<N>* const energies = wanted == Virial::Compute && level.changes_virial ? state.energies.data() : nullptr;
        launch(queue, Phase::SumForces, spread_forces_kernel<N>, one_thread_each(static_cast<std::size_t>(level.sites), threads),
               view(level), GpuView<N>(state), energies);
    }
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void GpuVirtualSites::resolve<N>(GpuQueue&, const GpuState<N>&);                                                    \
    template void GpuVirtualSites::construct<N>(GpuQueue&, GpuState<N>&) const;                                                  \
    template void GpuVirtualSites::spread_forces<N>(GpuQueue&, Virial, GpuState<N>&) const;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
