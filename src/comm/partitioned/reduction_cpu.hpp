// SPDX-License-Identifier: Apache-2.0
// combine_terms() (comm/partitioned/reduction.hpp) on a CPU, with the same bits on every processor: numbers of 16 bits go eight
// at a time where it has AVX2 and F16C, whose conversions round as ours do, and what is not combined is copied.
#pragma once

#include "comm/partitioned/reduction.hpp"

#include <cstddef>

namespace parhelion {

// Has this processor what numbers of 16 bits take eight at a time?
bool has_vectors_of_short_numbers();

// outs[...][i] = terms[0][i] combined with terms[1][i] and so on, for i below count. An out may be one of the terms. With one
// term it is a copy, of bytes, too. use_vectors: as has_vectors_of_short_numbers() says, or not.
void combine_on_cpu(ElementType type, Reduction reduction, const std::byte* const* terms, int n_terms, std::byte* const* outs,
                    int n_outs, std::size_t count, bool use_vectors = has_vectors_of_short_numbers());

} // namespace parhelion
