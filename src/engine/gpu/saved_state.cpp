// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu/saved_state.hpp"

#include "engine/coupling_values.hpp"

namespace parhelion {

namespace {

template <class N>
Coupling download_coupling(GpuQueue& queue, const GpuSnapshot<N>& from)
{
    const CouplingState state = from.coupling.to_vector(queue)[0];
    Coupling to;
    to.barostat = state.barostat;
    to.bath_heat = state.bath_heat;
    const std::vector<CouplingGroup> groups = from.groups.to_vector(queue);
    ThermostatState& t = to.thermostat;
    t.xi.resize(groups.size()), t.xi_integral.resize(groups.size()), t.heat.resize(groups.size());
    t.chain.resize(groups.size() * static_cast<std::size_t>(state.links_after_first));
    for (std::size_t g = 0; g < groups.size(); ++g)
    {
        set_state_of_group(groups[g].thermostat, g, t);
        to.half_step.group.push_back(groups[g].half_step);
    }
    return to;
}

} // namespace

template <class N>
void upload_coupling(GpuQueue& queue, const Rank<N>& from, GpuCoupling<N>& to)
{
    const Coupling& coupling = from.coupling;
    const ThermostatState& t = coupling.thermostat;
    const std::size_t count = coupling.half_step.group.size();
    const CouplingState state{coupling.barostat, coupling.bath_heat, count > 0 ? static_cast<int>(t.chain.size() / count) : 0};
    std::vector<CouplingGroup> groups;
    for (std::size_t g = 0; g < count; ++g) { groups.push_back({state_of_group(t, g), coupling.half_step.group[g]}); }
    to.state().upload(queue, {&state, 1});
    to.groups().upload(queue, groups);
    queue.synchronize();
}

template <class N>
SavedState to_saved_state(GpuQueue& queue, const GpuSnapshot<N>& snapshot, std::int64_t seed)
{
    SavedState saved;
    saved.x = snapshot.x.to_vector(queue);
    saved.v = snapshot.v.to_vector(queue);
    const DeviceScalars scalars = snapshot.scalars.to_vector(queue)[0];
    saved.step = scalars.step;
    saved.seed = seed;
    saved.box = scalars.box;
    write_coupling(download_coupling(queue, snapshot), saved);
    return saved;
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void upload_coupling<N>(GpuQueue&, const Rank<N>&, GpuCoupling<N>&);                                                \
    template SavedState to_saved_state<N>(GpuQueue&, const GpuSnapshot<N>&, std::int64_t);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
