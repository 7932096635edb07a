// SPDX-License-Identifier: Apache-2.0
// The surface of a minimisation on GPUs (dynamics/minimise/surface.hpp). Ranks compute forces and move atoms. The base, the point
// that was evaluated last and all vectors are on the first GPU of the process, in input order, as snapshots are.
//
// The idea: in a snapshot, velocities take the place of forces or of the direction of search. Every move begins by putting back
// the base with that direction. So a move needs no undoing, and any failure is handled by making it once more. Per evaluation the
// host waits once, for the energies, the largest force and the flags. A lone rank keeps its order of atoms and its pair lists
// until a flag tells that an atom has moved by more than half of their buffer; then the evaluation is repeated. Several ranks
// repartition in each evaluation. Cost: some 300 bytes an atom for snapshots and exchange buffers; with a repartition two waits.
//
// In a run of several processes each gets the same energies, norms and scalar products, so all take the same decisions.
#pragma once

#include "dynamics/gpu/minimise_gpu.hpp"
#include "engine/gpu/frame.hpp"
#include "engine/gpu/output.hpp"
#include "engine/gpu/ranks.hpp"
#include "engine/minimisation.hpp"
#include "engine/remedy.hpp"

#include <functional>
#include <string>
#include <vector>

namespace parhelion {

template <class N>
class GpuSurface final : public MinimisedSystem
{
public:
    // The functions for evaluations that fail.
    struct Hooks
    {
        // Enlarges memory, or ends the minimisation by an exception. attempt: how often this evaluation has failed, from 1.
        std::function<void(std::uint32_t flags, int attempt)> grow;
        std::function<void(Remedy)> refuse; // throws: the first point has such a failure
        std::function<void(const std::string& why)>
            leave_gpus; // throws: the first point has no energy or forces. why: a sentence
    };

    GpuSurface(GpuRanks<N>& ranks, const GpuOutput<N>& output, const System& system, Hooks hooks);

    // Makes the present positions the base.
    void begin();

    std::optional<SurfacePoint> evaluate() override;
    void accept() override;
    void move(double factor) override;
    void return_to_base() override;
    void combine(int into, const Term& a, const Term& b) override;
    double product(int a, int b) override;
    double largest(int vector) override;
    Observables observables() override;
    Frame frame(const OutputDue& due) override;
    std::string range_remark() override;
    double energy_rounding() const override { return rounding_of_energies<N>; }
    std::int64_t lists_built() const override { return lists_built_; }

    // Returns the base, with the step of begin().
    const GpuSnapshot<N>& base() const { return base_; }

private:
    using Vector = DeviceBuffer<Vec3<typename N::Real>>;
    Vector& vector(int number);
    SurfacePoint judge();
    SurfacePoint failed(Remedy remedy);

    GpuRanks<N>& ranks_;
    const GpuOutput<N>& output_;
    const std::size_t atoms_;
    const Hooks hooks_;
    GpuSnapshot<N> base_, point_, framed_; // v of base_: the vector `search`; v of point_: the vector `new_force`
    std::vector<Vector> others_;           // all other vectors
    GpuReduction reduction_;
    HostSnapshot<N> read_;
    PinnedBuffer<DeviceScalars> status_{1};
    PinnedBuffer<LargestElement> largest_{1};
    PinnedBuffer<double> product_{1};
    std::int64_t evaluations_ = 0; // so far, of which the latest has the latest record
    std::int64_t lists_built_ = 0; // since begin()
    bool lists_serve_ = false; // the lists are of the present order of atoms, and the base and the point were within their buffer
    std::optional<double> factor_; // of the latest move; empty: the point is the base
    bool is_first_ = true;         // no point has been evaluated since begin()
};

} // namespace parhelion
