// SPDX-License-Identifier: Apache-2.0
// The halo of a rank that needs no atoms of others. Cost: none.
#pragma once

#include "halo/gpu/halo_gpu.hpp"

namespace parhelion {

template <class N>
class NoHalo final : public GpuHalo<N>
{
public:
    // In the rounds of one that exchanges something, beside whose rank this one's work is queued; null: there is none.
    explicit NoHalo(const GpuHalo<N>* beside = nullptr)
        : rounds_(beside == nullptr ? 0 : beside->rounds()), update_exchanges_(beside != nullptr && beside->update_exchanges())
    {
    }

    void request_atoms(GpuQueue&, GpuState<N>&) override {}
    void build_send_lists(GpuQueue&, GpuState<N>&) override {}
    int rounds() const override { return rounds_; }
    void send_x(GpuQueue&, int, GpuState<N>&) override {}
    void receive_x(GpuQueue&, int, GpuState<N>&) override {}
    void send_f(GpuQueue&, int, GpuState<N>&) override {}
    void receive_f(GpuQueue&, int, GpuState<N>&) override {}
    bool update_exchanges() const override { return update_exchanges_; }

private:
    int rounds_;
    bool update_exchanges_;
};

} // namespace parhelion
