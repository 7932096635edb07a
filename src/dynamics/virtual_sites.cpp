// SPDX-License-Identifier: Apache-2.0
#include "dynamics/virtual_sites.hpp"

#include "model/site_body.hpp"
#include "trace/phases.hpp"

#include <algorithm>
#include <numeric>
#include <ranges>

namespace parhelion {

namespace {

// Returns for each atom the lowest atom that sites connect with it, directly or through other atoms.
std::vector<std::int32_t> lowest_joined(const MoleculeType& type)
{
    std::vector<std::int32_t> parent(type.atoms.size());
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&](std::int32_t atom) {
        while (parent[static_cast<std::size_t>(atom)] != atom)
        {
            std::int32_t& above = parent[static_cast<std::size_t>(atom)];
            atom = above = parent[static_cast<std::size_t>(above)]; // shortens the path to the lowest atom for later searches
        }
        return atom;
    };
    for (const VirtualSite& site : type.sites)
    {
        for (const std::int32_t atom : site.from)
        {
            const auto [low, high] = std::minmax({root(site.atom), root(atom)});
            parent[static_cast<std::size_t>(high)] = low;
        }
    }
    for (std::int32_t& atom : parent) { atom = root(atom); }
    return parent;
}

// A site of one copy: its slots, and the vectors from its first constructing atom to the other constructing atoms.
template <class N>
class SiteInSlots
{
public:
    void set(const VirtualSite& site, std::int32_t first_atom, const ParticleState<N>& state)
    {
        const auto slot_of = [&](std::int32_t atom) {
            return static_cast<std::size_t>(state.slot_of_global[static_cast<std::size_t>(first_atom + atom)]);
        };
        site_ = &site;
        slot = slot_of(site.atom), first = slot_of(site.from[0]);
        others.clear(), away.clear();
        for (const std::int32_t atom : site.from | std::views::drop(1))
        {
            others.push_back(slot_of(atom));
            away.push_back(state.box.difference(state.x.get(others.back()), state.x.get(first)));
        }
        on_others.resize(others.size());
    }
    Vec3<double> offset() const { return site_offset(site_->kind, site_->parameters.data(), away.data(), count()); }
    // Spreads a force on the site: on_others gets the forces on the other constructing atoms.
    void spread(const Vec3<double>& force)
    {
        spread_force(site_->kind, site_->parameters.data(), away.data(), count(), force, on_others.data());
    }
    // Returns the velocity of the site's place, nm/ps. For a weighted mean it is the mean of velocities. For other kinds,
    // component d is sum(f v) over the atoms to which a unit force along d is spread.
    Vec3<double> velocity(const ParticleState<N>& state)
    {
        const auto v_first = static_cast<Vec3<double>>(state.v.get(first));
        relative_v_.clear();
        for (const std::size_t other : others) { relative_v_.push_back(static_cast<Vec3<double>>(state.v.get(other)) - v_first); }
        if (is_linear(site_->kind))
        {
            return v_first + site_offset(site_->kind, site_->parameters.data(), relative_v_.data(), count());
        }
        Vec3<double> v = v_first;
        for (int d = 0; d < 3; ++d)
        {
            Vec3<double> unit;
            unit[d] = 1;
            spread(unit);
            for (std::size_t k = 0; k < others.size(); ++k) { v[d] += dot(on_others[k], relative_v_[k]); }
        }
        return v;
    }

    std::size_t slot = 0, first = 0;
    std::vector<std::size_t> others;
    std::vector<Vec3<double>> away, on_others; // nm; kJ/mol/nm

private:
    int count() const { return static_cast<int>(others.size()); }

    const VirtualSite* site_ = nullptr;
    std::vector<Vec3<double>> relative_v_; // nm/ps
};

template <class Sum>
Vec3<Sum> in_sums(const Vec3<double>& f)
{
    return {to_sum<Sum>(f.x), to_sum<Sum>(f.y), to_sum<Sum>(f.z)};
}

// Spreads the force on a site. The first constructing atom gets what the others do not get, so exact sums of forces stay exact.
template <class N>
void move_force(SiteInSlots<N>& site, ParticleState<N>& state)
{
    using Sum = typename N::ForceSum;
    Vec3<Sum> rest = state.f.get(site.slot);
    site.spread({from_sum(rest.x), from_sum(rest.y), from_sum(rest.z)});
    for (std::size_t k = 0; k < site.others.size(); ++k)
    {
        const Vec3<Sum> part = in_sums<Sum>(site.on_others[k]);
        state.f.set(site.others[k], state.f.get(site.others[k]) + part);
        rest -= part;
    }
    state.f.set(site.first, state.f.get(site.first) + rest);
    state.f.set(site.slot, Vec3<Sum>{});
}

} // namespace

VirtualSites::VirtualSites(const Topology& topology)
{
    for (std::size_t t = 0; t < topology.molecule_types.size(); ++t)
    {
        const MoleculeType& type = topology.molecule_types[t];
        if (type.sites.empty()) { continue; }
        const std::vector<std::int32_t> joined = lowest_joined(type);
        std::vector<std::int32_t> group_of(type.atoms.size(), -1); // indexed by the lowest atom of a group; -1: none yet
        for (const VirtualSite& site : type.sites)
        {
            std::int32_t& group = group_of[static_cast<std::size_t>(joined[static_cast<std::size_t>(site.atom)])];
            if (group < 0)
            {
                group = static_cast<std::int32_t>(groups_.size());
                groups_.push_back({static_cast<std::int32_t>(t), {}});
            }
            groups_[static_cast<std::size_t>(group)].sites.push_back(site);
        }
    }
}

SiteAssignment VirtualSites::assign_all(const Topology& topology) const
{
    if (groups_.empty()) { return {}; }
    return assign(all_molecules(topology), [](std::int32_t) { return true; });
}

SiteAssignment VirtualSites::assign(const MoleculeList& copies, const std::function<bool(std::int32_t)>& is_home) const
{
    SiteAssignment assignment;
    for (std::size_t g = 0; g < groups_.size(); ++g)
    {
        for (const std::int32_t first : copies.first_atom[static_cast<std::size_t>(groups_[g].type)])
        {
            if (is_home(first + groups_[g].sites[0].atom)) { assignment.push_back({first, static_cast<std::int32_t>(g)}); }
        }
    }
    return assignment;
}

template <class N>
void VirtualSites::construct(CpuQueue& queue, const SiteAssignment& assignment, ParticleState<N>& state) const
{
    if (assignment.empty()) { return; }
    const ScopedPhase span(queue.clock(), Phase::Drift);
    queue.for_range(assignment.size(), 1, [&](int, std::size_t begin, std::size_t end) {
        SiteInSlots<N> in_slots;
        for (std::size_t i = begin; i < end; ++i)
        {
            for (const VirtualSite& site : groups_[static_cast<std::size_t>(assignment[i].group)].sites)
            {
                in_slots.set(site, assignment[i].first_atom, state);
                state.x.set(in_slots.slot, state.box.displaced(state.x.get(in_slots.first), in_slots.offset()));
                state.v.set(in_slots.slot, static_cast<Vec3<typename N::Real>>(in_slots.velocity(state)));
            }
        }
    });
}

template <class N>
void VirtualSites::spread_forces(CpuQueue& queue, const SiteAssignment& assignment, ParticleState<N>& state,
                                 std::span<EnergySums<N>> virial) const
{
    if (assignment.empty()) { return; }
    const ScopedPhase span(queue.clock(), Phase::SumForces);
    queue.for_range(assignment.size(), 1, [&](int thread, std::size_t begin, std::size_t end) {
        SiteInSlots<N> in_slots;
        for (std::size_t i = begin; i < end; ++i)
        {
            for (const VirtualSite& site : groups_[static_cast<std::size_t>(assignment[i].group)].sites | std::views::reverse)
            {
                in_slots.set(site, assignment[i].first_atom, state);
                const auto f = state.f.get(in_slots.slot);
                move_force(in_slots, state);
                if (virial.empty() || is_linear(site.kind)) { continue; }
                EnergySums<N>& sums = virial[static_cast<std::size_t>(thread)];
                sums.add_virial(in_slots.offset(), {-from_sum(f.x), -from_sum(f.y), -from_sum(f.z)});
                for (std::size_t k = 0; k < in_slots.others.size(); ++k)
                {
                    sums.add_virial(in_slots.away[k], in_slots.on_others[k]);
                }
            }
        }
    });
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void VirtualSites::construct(CpuQueue&, const SiteAssignment&, ParticleState<N>&) const;                            \
    template void VirtualSites::spread_forces(CpuQueue&, const SiteAssignment&, ParticleState<N>&, std::span<EnergySums<N>>)     \
        const;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)
#undef PARHELION_INSTANTIATE

} // namespace parhelion
