// SPDX-License-Identifier: Apache-2.0
// Standard errors of averages over a run with correlated values, from means of blocks (Flyvbjerg and Petersen, J.
// Chem. Phys. 91, 461 (1989)). There are at most 31 complete blocks: when there are 32, pairs of blocks are merged.
// So blocks grow with the run and soon exceed the correlation time. Cost: one pass, and 32 numbers per term.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace parhelion {

class BlockAverages
{
public:
    // The state of the averages, complete, for a checkpoint.
    struct Data
    {
        std::int64_t length = 1;         // number of values in a block
        std::int64_t in_block = 0;       // number of values in the current block
        std::vector<double> sums, means; // sums of the current block, by term; means of complete blocks, by block and term
    };

    explicit BlockAverages(std::size_t terms = 0) { data_.sums.resize(terms); }
    // Continues from the result of data(). Precondition: is_possible(data).
    explicit BlockAverages(Data data);
    // Returns whether data are valid: fewer than 32 complete blocks, with as many terms as `sums`, and 0 <= in_block < length.
    static bool is_possible(const Data& data);

    void add(std::span<const double> values); // adds one value for each term
    std::size_t blocks() const { return data_.sums.empty() ? 0 : data_.means.size() / data_.sums.size(); }
    std::int64_t length() const { return data_.length; }
    // Returns the standard error of a term's mean, as if complete blocks were independent; NaN with fewer than 8 blocks.
    double error(std::size_t term) const;
    const Data& data() const { return data_; }

private:
    void join_neighbours();

    Data data_;
};

} // namespace parhelion
