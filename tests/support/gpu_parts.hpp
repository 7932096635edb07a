// SPDX-License-Identifier: Apache-2.0
// A system dealt out to the cells of a grid, every rank's atoms in a GpuState of their own, all on one GPU: what ranks of several
// GPUs hold after a repartition, found here by looking at every atom. For tests that what ranks compute adds up to what one
// computes.
#pragma once

#include "model/topology.hpp"
#include "model/update_groups.hpp"
#include "state/gpu/cell.hpp"
#include "state/gpu/particle_state_gpu.hpp"
#include "state/particle_state.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace parhelion::test {

using Cells = std::array<int, 3>;

inline std::string name_of(const Cells& cells)
{
    return std::to_string(cells[0]) + "x" + std::to_string(cells[1]) + "x" + std::to_string(cells[2]);
}

template <class N>
struct GpuPart
{
    GpuCell cell;
    GpuState<N> state;
};

template <class N>
class GpuParts
{
public:
    // reach (nm): how far beyond a cell its halo goes. Halo atoms have velocities, masses and forces that make no sense.
    GpuParts(GpuQueue& queue, const ParticleState<N>& whole, const Topology& topology, const Cells& cells, double reach)
        : queue_(queue), whole_(whole), cells_(cells), reach_(reach)
    {
        const UpdateGroups groups = make_update_groups(topology);
        for (std::int64_t atom = 0; atom < topology.atom_count(); ++atom)
        {
            const AtomAddress address = topology.locate(atom);
            const auto& type = groups.molecule_types[static_cast<std::size_t>(address.type)];
            const std::int64_t reference =
                address.molecule_first_atom + type.reference_of_atom[static_cast<std::size_t>(address.local)];
            Cells owner{};
            for (int d = 0; d < 3; ++d) { owner[at(d)] = static_cast<int>(std::floor(fraction(reference, d) * cells[at(d)])); }
            owner_.push_back(owner);
            for (int d = 0; d < 3; ++d)
            {
                const double outside = std::abs(from_owner(atom, d)) - 0.5 / cells[at(d)];
                overhang_[d] = std::max(overhang_[d], outside * whole.box.edges().diagonal()[d]);
            }
        }
        for (int x = 0; x < cells[0]; ++x)
        {
            for (int y = 0; y < cells[1]; ++y)
            {
                for (int z = 0; z < cells[2]; ++z) { add_part({x, y, z}); }
            }
        }
    }

    std::vector<GpuPart<N>> parts;

    // get(part) is an array by slot of a rank; returns the values of all atoms, each its owner's, by global number.
    template <class Get>
    auto of_home_atoms(Get&& get) const
    {
        using Value = typename decltype(get(parts[0]).to_vector(queue_))::value_type;
        std::vector<Value> all(owner_.size());
        for (const GpuPart<N>& part : parts)
        {
            const std::vector<Value> values = get(part).to_vector(queue_);
            for_each_atom(part, [&](std::size_t slot, std::size_t atom, bool home) {
                if (home) { all[atom] = values[slot]; }
            });
        }
        return all;
    }
    // visit(slot, global atom, is it at home?) for every atom of the rank.
    template <class Visit>
    void for_each_atom(const GpuPart<N>& part, Visit&& visit) const
    {
        const std::vector<std::int32_t> global_of_slot = part.state.global_of_slot.to_vector(queue_);
        const std::vector<std::uint8_t> zones = part.state.zone_of_supercluster.to_vector(queue_);
        for (std::size_t slot = 0; slot < global_of_slot.size(); ++slot)
        {
            if (global_of_slot[slot] < 0) { continue; }
            visit(slot, static_cast<std::size_t>(global_of_slot[slot]), zones[slot / supercluster_size] == 0);
        }
    }

private:
    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
    // Returns the place as a fraction of the box.
    double fraction(std::int64_t atom, int d) const
    {
        return std::ldexp(leading_bits(whole_.x.get(at(whole_.slot_of_global[at(atom)]))[d]), -32);
    }
    // From the middle of the owner's cell, the short way round.
    double from_owner(std::int64_t atom, int d) const
    {
        const double distance = fraction(atom, d) - (owner_[at(atom)][at(d)] + 0.5) / cells_[at(d)];
        return distance - std::round(distance);
    }

    GpuCell make_cell(const Cells& mine) const
    {
        GpuCell cell;
        cell.reach = reach_;
        cell.overhang = overhang_;
        for (int d = 0; d < 3; ++d)
        {
            const auto n = static_cast<std::uint64_t>(cells_[at(d)]), c = static_cast<std::uint64_t>(mine[at(d)]);
            const auto lower = [&](std::uint64_t k) { return ((k << 32) + n - 1) / n; };
            cell.cells[d] = cells_[at(d)], cell.cell[d] = mine[at(d)];
            if (n == 1) { continue; }
            cell.lower[d] = static_cast<std::uint32_t>(lower(c)),
            cell.width[d] = static_cast<std::uint32_t>(lower(c + 1) - lower(c));
            const double width = whole_.box.edges().diagonal()[d] / static_cast<double>(n);
            cell.pulses[d] = std::min(cells_[at(d)] - 1, static_cast<int>((reach_ + overhang_[d]) / width) + 1);
        }
        return cell;
    }

    // -1: not here.
    int zone_of(std::int64_t atom, const GpuCell& cell) const
    {
        int offset[3];
        double beyond2 = 0;
        for (int d = 0; d < 3; ++d)
        {
            offset[d] = (owner_[at(atom)][at(d)] - cell.cell[d] + cells_[at(d)]) % cells_[at(d)];
            if (offset[d] > cell.pulses[d]) { return -1; }
            if (offset[d] == 0) { continue; }
            const double beyond =
                ((offset[d] - 0.5) / cells_[at(d)] + from_owner(atom, d)) * whole_.box.edges().diagonal()[d] - overhang_[d];
            beyond2 += beyond > 0 ? beyond * beyond : 0;
        }
        return beyond2 < reach_ * reach_ ? cell.zone_at(offset[0], offset[1], offset[2]) : -1;
    }

    void add_part(const Cells& mine)
    {
        GpuPart<N>& part = parts.emplace_back();
        part.cell = make_cell(mine);
        std::vector<std::vector<std::int32_t>> zones(at(part.cell.zones()));
        for (std::size_t atom = 0; atom < owner_.size(); ++atom)
        {
            const int zone = zone_of(static_cast<std::int64_t>(atom), part.cell);
            if (zone >= 0) { zones[at(zone)].push_back(static_cast<std::int32_t>(atom)); }
        }
        std::mt19937 engine(static_cast<unsigned>(parts.size())); // no two ranks have the same order
        std::vector<std::int32_t> global_of_slot;
        std::vector<std::uint8_t> zone_of_supercluster;
        for (std::size_t zone = 0; zone < zones.size(); ++zone)
        {
            std::shuffle(zones[zone].begin(), zones[zone].end(), engine);
            global_of_slot.insert(global_of_slot.end(), zones[zone].begin(), zones[zone].end());
            global_of_slot.resize((global_of_slot.size() + supercluster_size - 1) / supercluster_size * supercluster_size, -1);
            zone_of_supercluster.resize(global_of_slot.size() / supercluster_size, static_cast<std::uint8_t>(zone));
        }
        global_of_slot.resize(global_of_slot.size() + supercluster_size, -1); // room that nobody uses
        zone_of_supercluster.push_back(0);
        fill(global_of_slot, zone_of_supercluster, part.state);
    }

    void fill(const std::vector<std::int32_t>& global_of_slot, const std::vector<std::uint8_t>& zones, GpuState<N>& state) const
    {
        state.slots = global_of_slot.size();
        std::vector<PositionCharge<N>> xq(state.slots);
        std::vector<VelocityMass<N>> v(state.slots);
        std::vector<ForceSlot<N>> f(state.slots);
        std::vector<std::int32_t> lj_type(state.slots), slot_of_global(owner_.size(), -1);
        std::vector<std::uint8_t> temperature_group(state.slots);
        for (std::size_t slot = 0; slot < state.slots; ++slot)
        {
            if (global_of_slot[slot] < 0) { continue; }
            const auto global = at(global_of_slot[slot]);
            const auto from = at(whole_.slot_of_global[global]);
            const auto x = whole_.x.get(from);
            const bool home = zones[slot / supercluster_size] == 0;
            slot_of_global[global] = static_cast<std::int32_t>(slot);
            xq[slot] = {x.x, x.y, x.z, whole_.charge[from]};
            v[slot] = {7, 8, 9, 10}, f[slot] = {11, 12, 13, 0};
            lj_type[slot] = whole_.lj_type[from];
            if (!home) { continue; }
            const auto u = whole_.v.get(from);
            const auto force = whole_.f.get(from);
            ++state.atoms;
            v[slot] = {u.x, u.y, u.z, whole_.inverse_mass[from]}, f[slot] = {force.x, force.y, force.z, 0};
            temperature_group[slot] = whole_.temperature_group[from];
        }
        DeviceScalars scalars;
        scalars.set_box<N>(whole_.box.edges());
        state.is_tilted = !whole_.box.edges().is_rectangular();
        state.xq.upload(queue_, xq), state.v.upload(queue_, v), state.f.upload(queue_, f);
        state.lj_type.upload(queue_, lj_type), state.temperature_group.upload(queue_, temperature_group);
        state.global_of_slot.upload(queue_, global_of_slot), state.slot_of_global.upload(queue_, slot_of_global);
        state.zone_of_supercluster.upload(queue_, zones), state.scalars.upload(queue_, {&scalars, 1});
        state.first_supercluster.resize(2), state.energies.resize(1);
        state.first_supercluster.clear(queue_), state.energies.clear(queue_);
        queue_.synchronize();
    }

    GpuQueue& queue_;
    const ParticleState<N>& whole_;
    const Cells cells_;
    const double reach_;
    std::vector<Cells> owner_; // by global atom
    Vec3<double> overhang_;    // nm
};

} // namespace parhelion::test
