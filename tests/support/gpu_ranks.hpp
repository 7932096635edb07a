// SPDX-License-Identifier: Apache-2.0
// A system divided among the ranks of a grid, all on one GPU and fed from one complete exchange buffer, so that nobody has to
// talk to anybody.
#pragma once

#include "domain/gpu/grid_gpu.hpp"
#include "model/system.hpp"
#include "pairs/gpu/cluster_order_gpu.hpp"
#include "pairs/gpu/pair_list_gpu.hpp"
#include "support/particles.hpp"

#include <memory>
#include <vector>

namespace parhelion::test {

template <class N>
struct RankOnGpu
{
    GpuCell cell;
    GpuState<N> state;
    TakeScratch scratch;
    GpuPairList local, nonlocal;
    DeviceBuffer<std::uint8_t> zone; // of its exchange buffer
};

template <class N>
class RanksOnGpu
{
public:
    struct Options
    {
        CellGrid grid;
        double reach = 0;            // nm, of the pair list
        double density_factor = 1.5; // of reserve_slots()
    };

    RanksOnGpu(GpuQueue& queue, const System& system, const Options& options)
        : queue_(queue), options_(options), topology_(system.topology), groups_(make_update_groups(system.topology)),
          whole_(particles_in_input_order<N>(system)), table_(make_atom_table(queue, whole_, topology_, groups_)),
          exclusions_(make_gpu_exclusions(queue, topology_)), x_(whole_.slot_of_global.size()), v_(whole_.slot_of_global.size())
    {
        const double overhang = longest_overhang(topology_, groups_);
        for (int r = 0; r < options.grid.ranks(); ++r)
        {
            auto rank = std::make_unique<RankOnGpu<N>>();
            rank->cell = make_gpu_cell(options.grid, r, system.box, options.reach, overhang);
            rank->zone.resize(whole_.slot_of_global.size());
            ranks_.push_back(std::move(rank));
        }
        fill_exchange_buffer(queue, whole_, exchange_buffer(0));
        reserve(options.density_factor);
    }

    void reserve(double density_factor)
    {
        for (auto& r : ranks_)
        {
            const Box<double>& box = whole_.box.edges();
            reserve_slots(queue_, r->cell, box, whole_.slot_of_global.size(), density_factor, r->state);
            reserve_pair_list(queue_, r->state, box, options_.reach, PairPart::Local, r->local);
            reserve_pair_list(queue_, r->state, box, options_.reach, PairPart::Nonlocal, r->nonlocal);
        }
    }
    // Queued: atoms from the complete exchange buffer.
    void take(int r)
    {
        find_zones(queue_, rank(r).state, table_, exchange_buffer(r));
        take_atoms(queue_, exchange_buffer(r), table_, rank(r).scratch, rank(r).state);
    }
    // Queued: all that a repartition does when the exchange buffer is complete.
    void repartition(double pruned_cutoff)
    {
        for (int rank = 0; rank < ranks(); ++rank)
        {
            take(rank);
            RankOnGpu<N>* const r = ranks_[static_cast<std::size_t>(rank)].get();
            for (const PairPart part : {PairPart::Local, PairPart::Nonlocal})
            {
                GpuPairList& list = part == PairPart::Local ? r->local : r->nonlocal;
                build_pair_list(queue_, r->state, r->cell, exclusions_, options_.reach, part, list);
                prune_pair_list(queue_, r->state, pruned_cutoff, list);
            }
        }
    }
    // Other positions of the same atoms.
    void move(const System& system)
    {
        whole_ = particles_in_input_order<N>(system);
        fill_exchange_buffer(queue_, whole_, exchange_buffer(0));
    }
    // The same, by global number.
    void put_in_exchange_buffer(const std::vector<PositionCharge<N>>& positions)
    {
        x_.upload(queue_, positions);
        queue_.synchronize();
    }

    GpuQueue& queue() { return queue_; }
    const CellGrid& grid() const { return options_.grid; }
    const Topology& topology() const { return topology_; }
    const UpdateGroups& groups() const { return groups_; }
    const ParticleState<N>& whole() const { return whole_; } // as it is on the exchange buffer
    GpuExchangeBuffer<N> exchange_buffer(int r) { return {rank(r).cell, x_.data(), v_.data(), rank(r).zone.data()}; }
    const DeviceBuffer<PositionCharge<N>>& positions() const { return x_; }
    const DeviceBuffer<VelocityMass<N>>& velocities() const { return v_; }
    const GpuAtomTable& table() const { return table_; }
    const GpuExclusions& exclusions() const { return exclusions_; }
    int ranks() const { return options_.grid.ranks(); }
    RankOnGpu<N>& rank(int r) { return *ranks_[static_cast<std::size_t>(r)]; }
    // Returns the flags of all ranks together.
    std::uint32_t flags()
    {
        std::uint32_t flags = 0;
        for (auto& r : ranks_) { flags |= r->state.scalars.to_vector(queue_)[0].flags; }
        return flags;
    }

private:
    GpuQueue& queue_;
    Options options_;
    Topology topology_;
    UpdateGroups groups_;
    ParticleState<N> whole_;
    GpuAtomTable table_;
    GpuExclusions exclusions_;
    DeviceBuffer<PositionCharge<N>> x_;
    DeviceBuffer<VelocityMass<N>> v_;
    std::vector<std::unique_ptr<RankOnGpu<N>>> ranks_;
};

} // namespace parhelion::test
