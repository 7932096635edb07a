// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu/surface_gpu.hpp"

#include "engine/gpu/step_gpu.hpp"
#include "engine/guard.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace parhelion {

namespace {

OutputDue positions_and_forces()
{
    OutputDue due;
    due.x = due.f = true;
    return due;
}

} // namespace

template <class N>
GpuSurface<N>::GpuSurface(GpuRanks<N>& ranks, const GpuOutput<N>& output, const System& system, Hooks hooks)
    : ranks_(ranks), output_(output), atoms_(static_cast<std::size_t>(system.topology.atom_count())), hooks_(std::move(hooks))
{
    ranks_.queue().make_current();
    for (GpuSnapshot<N>* snapshot : {&base_, &point_, &framed_})
    {
        snapshot->resize(ranks_.queue(), atoms_, ranks_.coupling().group_count());
    }
    ranks_.synchronize();
}

template <class N>
void GpuSurface<N>::begin()
{
    ranks_.keep_state(base_);
    return_to_base(); // also clears the forces of an earlier evaluation
    is_first_ = true;
    lists_built_ = 0;
}

template <class N>
auto GpuSurface<N>::vector(int number) -> Vector&
{
    if (number == minimiser_vector::search) { return base_.v; }
    if (number == minimiser_vector::new_force) { return point_.v; }
    const auto index = static_cast<std::size_t>(number);
    if (others_.size() <= index) { others_.resize(index + 1); }
    if (others_[index].size() == 0)
    {
        ranks_.synchronize(); // allocating memory may wait for all kernels
        ranks_.queue().make_current();
        others_[index].resize(atoms_);
        others_[index].clear(ranks_.queue());
    }
    return others_[index];
}

template <class N>
std::optional<SurfacePoint> GpuSurface<N>::evaluate()
{
    for (int attempt = 1;; ++attempt)
    {
        const bool repartitions = !lists_serve_;
        run_together<N>(ranks_.layout().here(), [&](GpuRank<N>& r) { return evaluate_at_rest(r, repartitions); });
        lists_built_ += repartitions;
        ++evaluations_;
        ranks_.keep_state(point_);
        reduction_.find_largest<N>(ranks_.queue(), point_.v.data(), point_.x.data(), base_.x.data(), atoms_, &largest_[0]);
        ranks_.report(status_[0]);
        ranks_.synchronize();
        const std::uint32_t flags = status_[0].flags;
        lists_serve_ = flags == 0 && ranks_.layout().ranks() == 1;
        if (flags == 0) { return judge(); }
        const Remedy remedy = remedy_for(flags, true, true);
        if (remedy == Remedy::GrowCapacity) { hooks_.grow(flags, attempt); }
        else if (repartitions || remedy != Remedy::NewerLists) { return failed(remedy); }
        if (factor_) { move(*factor_); }
        else { return_to_base(); }
    }
}

template <class N>
SurfacePoint GpuSurface<N>::failed(Remedy remedy)
{
    if (is_first_)
    {
        if (remedy == Remedy::BlowUp) { hooks_.leave_gpus("A force is not a number on the GPU."); }
        hooks_.refuse(remedy);
    }
    return {.potential = std::numeric_limits<double>::infinity()}; // too long a move: the base could be evaluated
}

template <class N>
SurfacePoint GpuSurface<N>::judge()
{
    const SurfacePoint point{.potential = observables().potential,
                             .largest_force = std::sqrt(largest_[0].norm2),
                             .largest_force_atom = largest_[0].index,
                             .has_moved = is_first_ || largest_[0].differs};
    if (is_first_ && !(std::isfinite(point.potential) && std::isfinite(point.largest_force)))
    {
        hooks_.leave_gpus("The energy is not a number on the GPU.");
    }
    is_first_ = false;
    return point;
}

template <class N>
void GpuSurface<N>::accept()
{
    std::swap(base_.x, point_.x);
    std::swap(vector(minimiser_vector::force), point_.v);
    factor_.reset();
}

template <class N>
void GpuSurface<N>::move(double factor)
{
    factor_ = factor;
    if (lists_serve_) { ranks_.put_back_in_place(base_); }
    else { ranks_.put_back(base_); }
    run_together<N>(ranks_.layout().here(), [&](GpuRank<N>& r) { return move_along_velocities(r, factor, !lists_serve_); });
}

template <class N>
void GpuSurface<N>::return_to_base()
{
    factor_.reset();
    lists_serve_ = false;
    ranks_.put_back(base_);
}

template <class N>
void GpuSurface<N>::combine(int into, const Term& a, const Term& b)
{
    parhelion::combine<N>(ranks_.queue(), {vector(a.vector).data(), a.factor}, {vector(b.vector).data(), b.factor}, atoms_,
                          vector(into).data());
}

template <class N>
double GpuSurface<N>::product(int a, int b)
{
    reduction_.multiply<N>(ranks_.queue(), vector(a).data(), vector(b).data(), atoms_, &product_[0]);
    ranks_.synchronize();
    return product_[0];
}

template <class N>
double GpuSurface<N>::largest(int number)
{
    reduction_.find_largest<N>(ranks_.queue(), vector(number).data(), base_.x.data(), base_.x.data(), atoms_, &largest_[0]);
    ranks_.synchronize();
    return std::sqrt(largest_[0].norm2);
}

template <class N>
Observables GpuSurface<N>::observables()
{
    Observables o = ranks_.coupling().observables(evaluations_ - 1);
    std::fill(o.group_temperature.begin(), o.group_temperature.end(), 0.0); // atoms at rest have no kinetic energy
    return o;
}

template <class N>
Frame GpuSurface<N>::frame(const OutputDue& due)
{
    run_together<N>(ranks_.layout().here(),
                    [&](GpuRank<N>& r) { return keep_frame(r, due.wants_f(), framed_, ranks_.layout().forces_for(r)); });
    copy_to_host(ranks_.queue(), framed_, ranks_.framed_forces(), due, read_);
    ranks_.synchronize();
    return output_.frame(read_, due, read_.scalars[0].step);
}

template <class N>
std::string GpuSurface<N>::range_remark()
{
    if constexpr (N::summation != Summation::Reproducible) { return {}; }
    return parhelion::range_remark<N>(frame(positions_and_forces()).f, observables().forces);
}

#define PARHELION_INSTANTIATE(N) template class GpuSurface<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
