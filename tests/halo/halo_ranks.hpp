// SPDX-License-Identifier: Apache-2.0
// The halo exchange of a decomposed system with payloads that say where and when they belong: positions are functions of (step,
// atom), forces of (step, rank that computed them, atom).
#pragma once

#include "comm/networks/networks.hpp"
#include "halo/halo.hpp"
#include "support/domain_systems.hpp"
#include "support/faulty.hpp"

#include <mutex>

namespace parhelion::test {

inline constexpr HaloMethod halo_methods[] = {HaloMethod::StagedHost, HaloMethod::StagedFused, HaloMethod::Direct};

inline const char* name_of(HaloMethod method) { return halo_method_names[static_cast<std::size_t>(method)].data(); }

// The finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014) over three numbers.
inline std::uint64_t hash(std::int64_t a, std::int64_t b, std::int64_t c)
{
    std::uint64_t z = 0;
    for (const std::int64_t part : {a, b, c})
    {
        z = (z ^ static_cast<std::uint64_t>(part)) + 0x9E3779B97F4A7C15;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        z ^= z >> 31;
    }
    return z;
}

// One rank's halo and what it needs to know to check it.
template <class N>
class HaloRank
{
public:
    using Fixed = typename N::Fixed;
    using Sum = typename N::ForceSum;

    HaloRank(HaloMethod method, DomainRank<N>& rank, Word first_epoch)
        : rank_(rank), halo_(method, rank.comm, rank.queue, first_epoch)
    {
    }
    Halo<N>& halo() { return halo_; }
    // After a repartition. holders: by global atom, the ranks that have it in their halo.
    void bind(const std::vector<std::vector<int>>& holders)
    {
        halo_.bind(rank_.plan);
        holders_ = &holders;
        forces_.resize(rank_.state.slots() - rank_.state.home_slots());
    }

    // One exchange there and back. What the last one left is destroyed before, in home and halo. Returns the wrong components.
    std::int64_t exchange(std::int64_t step)
    {
        set_positions(step);
        halo_.send_coordinates(rank_.state);
        std::int64_t wrong = wrong_positions(step);
        set_forces(step);
        halo_.return_forces(forces_, rank_.state);
        return wrong + wrong_forces(step);
    }
    // Returns what is added to the force on an atom: whole numbers, so that sums of up to eight are exact in any type.
    static Sum force(std::int64_t step, int computed_by, std::int32_t atom, int d)
    {
        const std::uint64_t h = hash(step, computed_by, 3 * static_cast<std::int64_t>(atom) + d);
        if constexpr (std::is_same_v<Sum, std::int64_t>) { return static_cast<Sum>(h) >> 4; }
        else { return static_cast<Sum>(h >> 44) - 524288; }
    }
    static Fixed position(std::int64_t step, std::int32_t atom, int d)
    {
        return static_cast<Fixed>(hash(step, -1, 3 * static_cast<std::int64_t>(atom) + d));
    }

private:
    void set_positions(std::int64_t step)
    {
        ParticleState<N>& state = rank_.state;
        for (std::size_t slot = 0; slot < state.slots(); ++slot)
        {
            const std::int32_t atom = slot < state.home_slots() ? state.global_of_slot[slot] : -1;
            Vec3<Fixed> x;
            for (int d = 0; d < 3; ++d) { x[d] = atom < 0 ? static_cast<Fixed>(0xDBDBDBDBDBDBDBDB) : position(step, atom, d); }
            state.x.set(slot, x);
        }
    }
    std::int64_t wrong_positions(std::int64_t step) const
    {
        std::int64_t wrong = 0;
        for_atoms(0, rank_.state.slots(), [&](std::size_t slot, std::int32_t atom) {
            const Vec3<Fixed> x = rank_.state.x.get(slot);
            for (int d = 0; d < 3; ++d) { wrong += x[d] != position(step, atom, d); }
        });
        return wrong;
    }
    // All slots of the halo, fillers as well: what they carry must reach nobody's atom.
    void set_forces(std::int64_t step)
    {
        ParticleState<N>& state = rank_.state;
        const int r = rank_.comm.rank();
        const auto from = [&](std::int32_t atom) {
            return Vec3<Sum>{force(step, r, atom, 0), force(step, r, atom, 1), force(step, r, atom, 2)};
        };
        for (std::size_t slot = 0; slot < state.home_slots(); ++slot) { state.f.set(slot, from(state.global_of_slot[slot])); }
        for (std::size_t slot = state.home_slots(); slot < state.slots(); ++slot)
        {
            forces_.set(slot - state.home_slots(), from(state.global_of_slot[slot]));
        }
    }
    std::int64_t wrong_forces(std::int64_t step) const
    {
        std::int64_t wrong = 0;
        for_atoms(0, rank_.state.home_slots(), [&](std::size_t slot, std::int32_t atom) {
            const Vec3<Sum> f = rank_.state.f.get(slot);
            for (int d = 0; d < 3; ++d)
            {
                Sum expected = force(step, rank_.comm.rank(), atom, d);
                for (const int holder : (*holders_)[static_cast<std::size_t>(atom)]) { expected += force(step, holder, atom, d); }
                wrong += f[d] != expected;
            }
        });
        return wrong;
    }
    template <class Body>
    void for_atoms(std::size_t begin, std::size_t end, Body&& body) const
    {
        for (std::size_t slot = begin; slot < end; ++slot)
        {
            if (const std::int32_t atom = rank_.state.global_of_slot[slot]; atom >= 0) { body(slot, atom); }
        }
    }

    DomainRank<N>& rank_;
    Halo<N> halo_;
    ClusterArray<Sum> forces_; // on halo atoms
    const std::vector<std::vector<int>>* holders_ = nullptr;
};

// A decomposed system with a halo on every rank.
template <class N>
class HaloRanks
{
public:
    struct Options
    {
        CellGrid grid;
        HaloMethod method = HaloMethod::Direct;
        double reach = 0;
        int threads = 1;
        MakeNetwork network = [](int ranks) { return thread_network(ranks); };
        std::chrono::nanoseconds deadline = WorldOptions().deadline;
        Word first_epoch = 1;
    };

    HaloRanks(const System& system, const Options& options)
        : domains_(system, {.grid = options.grid,
                            .pattern = pattern_of(options.method),
                            .reach = options.reach,
                            .threads = options.threads,
                            .network = options.network,
                            .deadline = options.deadline})
    {
        for (int r = 0; r < domains_.ranks(); ++r)
        {
            ranks_.push_back(std::make_unique<HaloRank<N>>(options.method, domains_.rank(r), options.first_epoch));
        }
    }

    Decomposition<N>& domains() { return domains_; }
    HaloRank<N>& rank(int r) { return *ranks_[static_cast<std::size_t>(r)]; }

    void repartition(std::int64_t step = 0)
    {
        domains_.repartition(step);
        holders_.assign(domains_.whole().slot_of_global.size(), {});
        for (int r = 0; r < domains_.ranks(); ++r)
        {
            const ParticleState<N>& state = domains_.rank(r).state;
            for (std::size_t slot = state.home_slots(); slot < state.slots(); ++slot)
            {
                if (state.global_of_slot[slot] >= 0)
                {
                    holders_[static_cast<std::size_t>(state.global_of_slot[slot])].push_back(r);
                }
            }
        }
        domains_.on_ranks([&](DomainRank<N>& r) { rank(r.comm.rank()).bind(holders_); });
    }
    // Exchanges of steps first ... last - 1 on every rank; the number of wrong components. after(rank, step) follows each.
    template <class After>
    std::int64_t exchange(std::int64_t first, std::int64_t last, After&& after)
    {
        std::atomic<std::int64_t> wrong{0};
        domains_.on_ranks([&](DomainRank<N>& r) {
            for (std::int64_t step = first; step < last; ++step)
            {
                r.comm.set_tag(step);
                wrong += rank(r.comm.rank()).exchange(step);
                after(r, step);
            }
        });
        return wrong;
    }
    std::int64_t exchange(std::int64_t first, std::int64_t last)
    {
        return exchange(first, last, [](DomainRank<N>&, std::int64_t) {});
    }

private:
    Decomposition<N> domains_;
    std::vector<std::vector<int>> holders_;
    std::vector<std::unique_ptr<HaloRank<N>>> ranks_;
};

// Sees every put of the transport behind it, and can destroy what has been received: who still reads a slot after use, or writes
// it again too early, is found out.
class WitnessTransport : public Transport
{
public:
    explicit WitnessTransport(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}

    std::byte* reach_payload(int source, int destination, std::size_t offset) override
    {
        return inner_->reach_payload(source, destination, offset);
    }
    SignalSlot* reach_signal(int, int, std::size_t) override { return nullptr; }
    void put_signal(const Put& put) override
    {
        {
            const std::scoped_lock lock(mutex_);
            ++puts_[put.source];
            if (is_watching_) { arrivals_[put.destination].push_back(put); }
        }
        inner_->put_signal(put);
    }

    Transport& inner() { return *inner_; }
    std::int64_t puts(int source) const
    {
        const std::scoped_lock lock(mutex_);
        return puts_.at(source);
    }
    // From now on remember what arrives; only exchanges of the halo may follow.
    void watch()
    {
        const std::scoped_lock lock(mutex_);
        is_watching_ = true;
    }
    // The rank has done with everything of this epoch and before.
    void poison(int rank, Word epoch, const SymmetricMemory& memory)
    {
        std::vector<Put> done;
        {
            const std::scoped_lock lock(mutex_);
            std::vector<Put>& arrivals = arrivals_[rank];
            const auto later =
                std::partition(arrivals.begin(), arrivals.end(), [&](const Put& p) { return reached(epoch, p.epoch); });
            done.assign(arrivals.begin(), later);
            arrivals.erase(arrivals.begin(), later);
        }
        for (const Put& put : done) { std::fill_n(memory.payload(rank, put.offset), put.bytes, std::byte{0xDB}); }
    }

private:
    std::unique_ptr<Transport> inner_;
    mutable std::mutex mutex_;
    std::map<int, std::int64_t> puts_;         // by source
    std::map<int, std::vector<Put>> arrivals_; // by destination
    bool is_watching_ = false;
};

// A world whose puts are seen by a witness and carried by a bad network, or by a good one.
struct WitnessedWorld
{
    WitnessTransport* witness = nullptr; // once the world is there
    MakeNetwork network(PeerAccess access)
    {
        return [this, access](int ranks) { return witnessed(thread_network(ranks, access)); };
    }
    MakeNetwork network(const FaultPlan& plan)
    {
        return [this, plan](int ranks) { return witnessed(with_faults(thread_network(ranks), plan)); };
    }
    // Puts that met another one under way to the same slot, where the network can tell.
    std::int64_t overlaps() const
    {
        const auto* faulty = dynamic_cast<FaultyTransport*>(&witness->inner());
        return faulty == nullptr ? 0 : faulty->overlaps();
    }

private:
    Network witnessed(Network inner)
    {
        return with_transport(std::move(inner), [this](std::unique_ptr<Transport> transport) {
            auto made = std::make_unique<WitnessTransport>(std::move(transport));
            witness = made.get();
            return made;
        });
    }
};

} // namespace parhelion::test
