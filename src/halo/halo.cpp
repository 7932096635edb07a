// SPDX-License-Identifier: Apache-2.0
#include "halo/halo.hpp"

#include "base/error.hpp"
#include "halo/direct.hpp"
#include "halo/staged_fused.hpp"
#include "halo/staged_host.hpp"
#include "trace/phases.hpp"

namespace parhelion {

namespace {

template <class N>
std::unique_ptr<MessageExchange<N>> make_exchange(HaloMethod method)
{
    switch (method)
    {
    case HaloMethod::StagedHost:
        return std::make_unique<StagedHostExchange<N>>();
    case HaloMethod::StagedFused:
        return std::make_unique<StagedFusedExchange<N>>();
    case HaloMethod::Direct:
        return std::make_unique<DirectExchange<N>>();
    case HaloMethod::StagedDma:
        break;
    }
    throw ContractError("staged-dma is a method of GPUs.");
}

} // namespace

template <class N>
Halo<N>::Halo(HaloMethod method, Communicator& comm, CpuQueue& queue, Word first_epoch)
    : pattern_(pattern_of(method)), exchange_(make_exchange<N>(method)), messages_(comm, queue, first_epoch)
{
}

template <class N>
void Halo<N>::send_coordinates(ParticleState<N>& state)
{
    const ScopedPhase span(messages_.queue().clock(), Phase::SendCoordinates);
    exchange_->send_coordinates(messages_, state);
}

template <class N>
void Halo<N>::return_forces(ClusterArray<ForceSum>& halo_forces, ParticleState<N>& state)
{
    const ScopedPhase span(messages_.queue().clock(), Phase::ReturnForces);
    exchange_->return_forces(messages_, halo_forces, state);
}

#define PARHELION_INSTANTIATE(N) template class Halo<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
