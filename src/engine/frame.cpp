// SPDX-License-Identifier: Apache-2.0
#include "engine/frame.hpp"

namespace parhelion {

namespace {

template <class N>
void gather_positions(CpuQueue& queue, const Topology& topology, const MoleculeList& molecules, const ParticleState<N>& state,
                      std::vector<Vec3<double>>& x)
{
    for (std::size_t type = 0; type < molecules.first_atom.size(); ++type)
    {
        const std::vector<std::int32_t>& copies = molecules.first_atom[type];
        const std::size_t atoms = topology.molecule_types[type].atoms.size();
        queue.for_range(copies.size(), 1, [&](int, std::size_t begin, std::size_t end) {
            for (std::size_t copy = begin; copy < end; ++copy)
            {
                const auto first = static_cast<std::size_t>(copies[copy]);
                auto previous = state.x.get(static_cast<std::size_t>(state.slot_of_global[first]));
                x[first] = state.box.to_nm(previous);
                for (std::size_t a = 1; a < atoms; ++a)
                {
                    const auto here = state.x.get(static_cast<std::size_t>(state.slot_of_global[first + a]));
                    x[first + a] = x[first + a - 1] + state.box.difference(here, previous);
                    previous = here;
                }
            }
        });
    }
}

} // namespace

template <class N>
Frame gather_frame(CpuQueue& queue, const Topology& topology, const MoleculeList& molecules, const ParticleState<N>& state,
                   const OutputDue& due)
{
    Frame frame;
    const std::size_t atoms = state.slot_of_global.size();
    frame.box = state.box.length();
    if (due.x || due.compressed_x)
    {
        frame.x.resize(atoms);
        gather_positions(queue, topology, molecules, state, frame.x);
    }
    const auto gather = [&](std::vector<Vec3<double>>& to, const auto& value_of_slot) {
        to.resize(atoms);
        queue.for_range(atoms, 1, [&](int, std::size_t begin, std::size_t end) {
            for (std::size_t g = begin; g < end; ++g)
            {
                to[g] = value_of_slot(static_cast<std::size_t>(state.slot_of_global[g]));
            }
        });
    };
    if (due.v)
    {
        gather(frame.v, [&](std::size_t slot) { return Vec3<double>(state.v.get(slot)); });
    }
    if (due.f)
    {
        gather(frame.f, [&](std::size_t slot) {
            const auto f = state.f.get(slot);
            return Vec3<double>{from_sum(f.x), from_sum(f.y), from_sum(f.z)};
        });
    }
    return frame;
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template Frame gather_frame<N>(CpuQueue&, const Topology&, const MoleculeList&, const ParticleState<N>&, const OutputDue&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
