// SPDX-License-Identifier: Apache-2.0
// Copies partitions that arrive in symmetric memory to a buffer anywhere. Each is copied once an epoch, by the first thread
// that asks for it, which claims it, so that no other thread does. The mark of a copied partition is stored with release: a
// thread that loads the mark with acquire may read the buffer. The rank's own thread sees all marks before the epoch ends, and
// so before the next start() gives the source the credit. In tests/comm/models/copies_out.pml each step can be left out.
#pragma once

#include "comm/core/signal.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <vector>

namespace parhelion {

class CopiesOut
{
public:
    CopiesOut(std::byte* to, const std::byte* from, int partitions, std::size_t bytes)
        : to_(to), from_(from), bytes_(bytes), marks_(static_cast<std::size_t>(partitions))
    {
    }

    // Copies a partition that arrived in the nth epoch, if that is not done yet. Returns false while another thread copies it.
    bool take(int partition, Word nth)
    {
        const auto p = static_cast<std::size_t>(partition);
        std::atomic_ref mark(marks_[p]);
        Word seen = mark.load(std::memory_order_acquire);
        if (seen == out(nth)) { return true; }
        if (seen == claimed(nth) || !mark.compare_exchange_strong(seen, claimed(nth), std::memory_order_acquire))
        {
            return false;
        }
        if (bytes_ > 0) { std::memcpy(to_ + p * bytes_, from_ + p * bytes_, bytes_); }
        mark.store(out(nth), std::memory_order_release);
        return true;
    }
    // Copies all partitions, which must have arrived. Returns false while another thread copies any of them.
    bool take_all(Word nth)
    {
        bool are_out = true;
        for (int p = 0; p < static_cast<int>(marks_.size()); ++p) { are_out = take(p, nth) && are_out; }
        return are_out;
    }

private:
    static Word claimed(Word nth) { return 2 * nth; }
    static Word out(Word nth) { return 2 * nth + 1; }

    std::byte* to_;
    const std::byte* from_;
    std::size_t bytes_;       // bytes of each partition
    std::vector<Word> marks_; // per partition: claimed(n) or out(n) of the epoch n that last copied it; accessed atomically
};

} // namespace parhelion
