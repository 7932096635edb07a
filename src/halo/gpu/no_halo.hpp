// SPDX-License-Identifier: Apache-2.0
// The halo of a rank that needs no atoms of other ranks. Cost: none.
#pragma once

#include "halo/gpu/halo_gpu.hpp"

namespace parhelion {

template <class N>
class NoHalo final : public GpuHalo<N>
{
public:
    // `beside`: the halo of a rank whose work is queued with this rank's; it sets the number of pauses. Null: no such rank.
    explicit NoHalo(const GpuHalo<N>* beside = nullptr)
        : pauses_(beside == nullptr ? 0 : beside->pauses()), update_exchanges_(beside != nullptr && beside->update_exchanges())
    {
    }

    void request_atoms(GpuQueue&, GpuState<N>&) override {}
    void build_send_lists(GpuQueue&, GpuState<N>&) override {}
    RankProgram exchange_x(GpuQueue&, GpuState<N>&) override { return pause(); }
    RankProgram return_f(GpuQueue&, GpuState<N>&) override { return pause(); }
    int pauses() const override { return pauses_; }
    bool update_exchanges() const override { return update_exchanges_; }

private:
    RankProgram pause() const
    {
        for (int p = 0; p < pauses_; ++p) { co_await all_are_here; }
    }

    int pauses_;
    bool update_exchanges_;
};

} // namespace parhelion
