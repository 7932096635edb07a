// SPDX-License-Identifier: Apache-2.0
// Standard errors of averages over a run whose values are correlated, from means of blocks (Flyvbjerg and Petersen, J. Chem.
// Phys. 91, 461 (1989)). There are never more than 31 whole blocks: of 32 each two become one, so that blocks grow with the run
// and are soon longer than what correlates. In one pass, with 32 numbers per term.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace parhelion {

class BlockAverages
{
public:
    // All there is, for a checkpoint.
    struct Data
    {
        std::int64_t length = 1;         // values in a block
        std::int64_t in_block = 0;       // in the one that is being filled
        std::vector<double> sums, means; // of the latter, by term; of whole blocks, by block and term
    };

    explicit BlockAverages(std::size_t terms = 0) { data_.sums.resize(terms); }
    // Goes on from data(). Precondition: is_possible(data).
    explicit BlockAverages(Data data);
    // Whole blocks of as many terms as `sums` has, fewer than 32 of them, and 0 <= in_block < length.
    static bool is_possible(const Data& data);

    void add(std::span<const double> values); // one value per term
    std::size_t blocks() const { return data_.sums.empty() ? 0 : data_.means.size() / data_.sums.size(); }
    std::int64_t length() const { return data_.length; }
    // Standard error of the mean of a term: that of whole blocks, as if they were independent. NaN with fewer than 8.
    double error(std::size_t term) const;
    const Data& data() const { return data_; }

private:
    void join_neighbours();

    Data data_;
};

} // namespace parhelion
