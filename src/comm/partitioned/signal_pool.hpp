// SPDX-License-Identifier: Apache-2.0
// The signal slots of a rank that requests take and give back. A slot is not reset when it is used again: its epochs continue
// above all that it has shown, so that a signal that is delivered twice does no harm.
#pragma once

#include "comm/core/symmetric_memory.hpp"

#include <algorithm>

namespace parhelion {

// Consecutive signal slots of a rank. When nothing is in flight, none of these slots shows a later epoch than `shown`.
struct SignalBlock
{
    std::size_t first = 0;
    int count = 0;
    Word shown = 0;
};

constexpr Word later(Word a, Word b) { return reached(a, b) ? a : b; }

class SignalPool
{
public:
    SignalPool(SymmetricMemory& memory, int rank) : memory_(memory), rank_(rank) {}

    // Takes and returns `count` consecutive slots. Slots that were never used show `shown`. Throws LimitReached.
    SignalBlock take(int count, Word shown)
    {
        if (count == 0) { return {}; }
        const auto n = static_cast<std::size_t>(count);
        const std::size_t first = free_.fit(0, n);
        if (first == FreeExtents::none) { return {memory_.reserve_signals(rank_, count, shown), count, shown}; }
        free_.take({first, n});
        SignalBlock block{first, count, shown_[first]};
        for (std::size_t slot = first; slot < first + n; ++slot) { block.shown = later(block.shown, shown_[slot]); }
        return block;
    }
    void give_back(const SignalBlock& block)
    {
        if (block.count == 0) { return; }
        const std::size_t end = block.first + static_cast<std::size_t>(block.count);
        if (end > shown_.size()) { shown_.resize(end); }
        std::fill(shown_.begin() + static_cast<std::ptrdiff_t>(block.first), shown_.begin() + static_cast<std::ptrdiff_t>(end),
                  block.shown);
        free_.give_back({block.first, static_cast<std::size_t>(block.count)});
    }

private:
    SymmetricMemory& memory_;
    const int rank_;
    FreeExtents free_{0};
    std::vector<Word> shown_; // last epoch that each slot may show; valid for free slots
};

} // namespace parhelion
