// SPDX-License-Identifier: Apache-2.0
// Operations on the vectors of a minimisation on a GPU: arrays of one element per atom, in input order, on one GPU. Sums are made
// in an order that depends on the number of atoms alone, so they have the same bits for any number of ranks.
// Cost: each array is read once, 12 or 24 bytes an atom.
#pragma once

#include "base/numerics.hpp"
#include "base/vec3.hpp"
#include "device/gpu/device_buffer.hpp"

#include <cstdint>

namespace parhelion {

// The element with the largest norm; of equal ones the first.
struct LargestElement
{
    double norm2;       // its squared norm; NaN if an element is NaN
    std::int64_t index; // the atom
    bool differs;       // whether positions differ from others that were given
};

template <class N>
struct GpuTerm // of a sum of vectors
{
    const Vec3<typename N::Real>* vector;
    double factor;
};
// Memory for partial results. Its functions queue work, and copy results to pinned host memory.
class GpuReduction
{
public:
    GpuReduction();

    // Also compares positions `x` with `others`.
    template <class N>
    void find_largest(GpuQueue& queue, const Vec3<typename N::Real>* vector, const Vec3<typename N::Fixed>* x,
                      const Vec3<typename N::Fixed>* others, std::size_t atoms, LargestElement* result);
    // Computes the scalar product of two vectors.
    template <class N>
    void multiply(GpuQueue& queue, const Vec3<typename N::Real>* a, const Vec3<typename N::Real>* b, std::size_t atoms,
                  double* result);

private:
    DeviceBuffer<LargestElement> largest_;
    DeviceBuffer<double> sums_;
};

// Queues the computation of a sum of two terms. `into` may be one of their vectors. A vector whose factor is 0 is not read.
template <class N>
void combine(GpuQueue& queue, const GpuTerm<N>& a, const GpuTerm<N>& b, std::size_t atoms, Vec3<typename N::Real>* into);

} // namespace parhelion
