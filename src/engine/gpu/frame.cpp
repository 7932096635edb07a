// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu/frame.hpp"

#include "dynamics/update_blocks.hpp"
#include "engine/gather.hpp"
#include "model/virtual_sites.hpp"

#include <numeric>

namespace parhelion {

namespace {

template <class T>
void reserve(PinnedBuffer<T>& buffer, std::size_t size)
{
    if (buffer.size() < size) { buffer = PinnedBuffer<T>(size); }
}

template <class T>
void copy_all(GpuQueue& queue, const DeviceBuffer<T>& from, PinnedBuffer<T>& to)
{
    reserve(to, from.size());
    from.download(queue, to);
}

template <class T>
void assign(const PinnedBuffer<T>& from, std::vector<T>& to)
{
    to.assign(from.data(), from.data() + from.size());
}

} // namespace

template <class N>
void copy_to_host(GpuQueue& queue, const GpuSnapshot<N>& from, const Vec3<typename N::ForceSum>* f, const OutputDue& due,
                  HostSnapshot<N>& to)
{
    if (due.wants_x()) { copy_all(queue, from.x, to.x); }
    if (due.wants_v()) { copy_all(queue, from.v, to.v); }
    if (due.wants_f())
    {
        reserve(to.f, from.x.size());
        gpu_memory::to_host(queue, to.f.data(), f, from.x.size() * sizeof(*f));
    }
    copy_all(queue, from.scalars, to.scalars);
}

template <class N>
Frame make_frame(CpuQueue& queue, const Topology& topology, const HostSnapshot<N>& from, const OutputDue& due)
{
    std::vector<AtomData<N>> parts(1);
    AtomData<N>& atoms = parts[0];
    atoms.global.resize(static_cast<std::size_t>(topology.atom_count()));
    std::iota(atoms.global.begin(), atoms.global.end(), 0);
    if (due.wants_x()) { assign(from.x, atoms.x); }
    if (due.wants_v()) { assign(from.v, atoms.v); }
    if (due.wants_f()) { assign(from.f, atoms.f); }
    Frame frame = make_frame(queue, topology, PeriodicBox<N>(from.scalars[0].box), parts);
    // If all sites are of rigid waters, the update spreads their forces, but later. The forces of other sites are spread already.
    if (due.wants_f() && all_sites_are_of_waters(topology)) { spread_forces_of_means(topology, frame.f); }
    return frame;
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void copy_to_host<N>(GpuQueue&, const GpuSnapshot<N>&, const Vec3<typename N::ForceSum>*, const OutputDue&,         \
                                  HostSnapshot<N>&);                                                                             \
    template Frame make_frame<N>(CpuQueue&, const Topology&, const HostSnapshot<N>&, const OutputDue&);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
