// SPDX-License-Identifier: Apache-2.0
// Does combine_terms() (comm/partitioned/reduction.hpp) on a CPU, with the same bits on every processor. With AVX2 and F16C it
// combines eight numbers of 16 bits at a time; these instructions round as reduction.hpp does. A single term is copied.
#pragma once

#include "comm/partitioned/reduction.hpp"

#include <cstddef>

namespace parhelion {

// Returns whether this processor has AVX2 and F16C, by which eight numbers of 16 bits are combined at a time.
bool has_vectors_of_short_numbers();

// Computes element i of each output as terms[0][i] combined with terms[1][i] and so on, for i below count. An output may be a
// term. A single term is copied, of any type; more terms must not be of type Byte. use_vectors allows vector instructions.
void combine_on_cpu(ElementType type, Reduction reduction, const std::byte* const* terms, int n_terms, std::byte* const* outs,
                    int n_outs, std::size_t count, bool use_vectors = has_vectors_of_short_numbers());

} // namespace parhelion
