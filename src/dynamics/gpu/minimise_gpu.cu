// SPDX-License-Identifier: Apache-2.0
#include "dynamics/gpu/minimise_gpu.hpp"

#include "device/gpu/block_trace.cuh"
#include "device/gpu/launch.cuh"
#include "trace/phases.hpp"

namespace parhelion {

namespace {

constexpr int threads = 256, blocks = 256; // a second kernel of one block reads a result of each block

template <class T>
__device__ double squared(const Vec3<T>& v)
{
    return norm2(static_cast<Vec3<double>>(v));
}

// Returns the larger of two elements. NaN is the largest value.
__device__ LargestElement larger(const LargestElement& a, const LargestElement& b)
{
    const bool is_b = a.norm2 == b.norm2 ? b.index < a.index : b.norm2 > a.norm2 || (b.norm2 != b.norm2 && a.norm2 == a.norm2);
    LargestElement most = is_b ? b : a;
    most.differs = a.differs || b.differs;
    return most;
}

// Combines the values of all threads of a block, in a tree. The result is that of thread 0.
template <class T, class Combine>
__device__ T over_block(const T& own, Combine combine)
{
    __shared__ T values[threads];
    const int t = static_cast<int>(threadIdx.x);
    values[t] = own;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2)
    {
        if (t < half) { values[t] = combine(values[t], values[t + half]); }
        __syncthreads();
    }
    const T result = values[0];
    __syncthreads();
    return result;
}

// Purpose        finds the longest element of a vector, and whether positions differ
// Work           by threads that loop over atoms
// Reads/Writes   vector, positions / one element per block
// Orders         no memory accesses; the order of the stream suffices
// Requires       nothing
// Cost           36 bytes per atom
template <class N>
__global__ void __launch_bounds__(threads)
    find_largest_kernel(BlockTrace tracing, const Vec3<typename N::Real>* vector, const Vec3<typename N::Fixed>* x,
                        const Vec3<typename N::Fixed>* others, std::int64_t atoms, LargestElement* of_block)
{
    const BlockSpan span(tracing);

    LargestElement own{-1, atoms, false};
    for (std::int64_t atom = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; atom < atoms;
         atom += threads * blocks)
    {
        own = larger(own, {squared(vector[atom]), atom, !(x[atom] == others[atom])});
    }
    const LargestElement largest = over_block(own, [](const auto& a, const auto& b) { return larger(a, b); });
    if (threadIdx.x == 0) { of_block[blockIdx.x] = largest; }
}

// Purpose        finds the largest of the elements that the blocks of find_largest_kernel have found
// Work           by one block
// Reads/Writes   elements of blocks / the first of them
// Orders         no memory accesses; the order of the stream suffices
// Requires       find_largest_kernel
// Cost           a few us
__global__ void __launch_bounds__(threads) join_largest_kernel(BlockTrace tracing, LargestElement* of_block)
{
    const BlockSpan span(tracing);

    static_assert(blocks == threads);
    const LargestElement largest = over_block(of_block[threadIdx.x], [](const auto& a, const auto& b) { return larger(a, b); });
    if (threadIdx.x == 0) { of_block[0] = largest; }
}

// Purpose        multiplies two vectors
// Work           by threads that loop over atoms
// Reads/Writes   vectors / one sum per block
// Orders         no memory accesses; the order of the stream suffices
// Requires       nothing
// Cost           24 bytes and 6 flop per atom
template <class N>
__global__ void __launch_bounds__(threads) multiply_kernel(BlockTrace tracing, const Vec3<typename N::Real>* a,
                                                           const Vec3<typename N::Real>* b, std::int64_t atoms, double* of_block)
{
    const BlockSpan span(tracing);

    double own = 0;
    for (std::int64_t atom = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; atom < atoms;
         atom += threads * blocks)
    {
        own += dot(static_cast<Vec3<double>>(a[atom]), static_cast<Vec3<double>>(b[atom]));
    }
    const double sum = over_block(own, [](double x, double y) { return x + y; });
    if (threadIdx.x == 0) { of_block[blockIdx.x] = sum; }
}

// Purpose        adds up the sums that the blocks of multiply_kernel have made
// Work           by one block
// Reads/Writes   sums of blocks / the first of them
// Orders         no memory accesses; the order of the stream suffices
// Requires       multiply_kernel
// Cost           a few us
__global__ void __launch_bounds__(threads) join_sums_kernel(BlockTrace tracing, double* of_block)
{
    const BlockSpan span(tracing);

    const double sum = over_block(of_block[threadIdx.x], [](double x, double y) { return x + y; });
    if (threadIdx.x == 0) { of_block[0] = sum; }
}

// Purpose        sets a vector to a sum of two terms
// Work           by a thread per atom
// Reads/Writes   the terms' vectors / the sum, which may be one of them
// Orders         no memory accesses; the order of the stream suffices
// Requires       nothing
// Cost           36 bytes per atom
template <class N>
__global__ void __launch_bounds__(threads)
    combine_kernel(BlockTrace tracing, GpuTerm<N> a, GpuTerm<N> b, std::int64_t atoms, Vec3<typename N::Real>* into)
{
    const BlockSpan span(tracing);

    const std::int64_t atom = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (atom >= atoms) { return; }
    Vec3<double> sum = a.factor * static_cast<Vec3<double>>(a.vector[atom]);
    if (b.factor != 0) { sum += b.factor * static_cast<Vec3<double>>(b.vector[atom]); }
    into[atom] = static_cast<Vec3<typename N::Real>>(sum);
}

} // namespace

GpuReduction::GpuReduction() : largest_(blocks), sums_(blocks) {}

template <class N>
void GpuReduction::find_largest(GpuQueue& queue, const Vec3<typename N::Real>* vector, const Vec3<typename N::Fixed>* x,
                                const Vec3<typename N::Fixed>* others, std::size_t atoms, LargestElement* result)
{
    launch(queue, Phase::Kinetic, find_largest_kernel<N>, {blocks, threads, 0}, vector, x, others,
           static_cast<std::int64_t>(atoms), largest_.data());
    launch(queue, Phase::Kinetic, join_largest_kernel, {1, threads, 0}, largest_.data());
    gpu_memory::to_host(queue, result, largest_.data(), sizeof(*result));
}

template <class N>
void GpuReduction::multiply(GpuQueue& queue, const Vec3<typename N::Real>* a, const Vec3<typename N::Real>* b, std::size_t atoms,
                            double* result)
{
    launch(queue, Phase::Kinetic, multiply_kernel<N>, {blocks, threads, 0}, a, b, static_cast<std::int64_t>(atoms), sums_.data());
    launch(queue, Phase::Kinetic, join_sums_kernel, {1, threads, 0}, sums_.data());
    gpu_memory::to_host(queue, result, sums_.data(), sizeof(*result));
}

template <class N>
void combine(GpuQueue& queue, const GpuTerm<N>& a, const GpuTerm<N>& b, std::size_t atoms, Vec3<typename N::Real>* into)
{
    launch(queue, Phase::Kinetic, combine_kernel<N>, one_thread_each(atoms, threads), a, b, static_cast<std::int64_t>(atoms),
           into);
}

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void GpuReduction::find_largest<N>(GpuQueue&, const Vec3<typename N::Real>*, const Vec3<typename N::Fixed>*,        \
                                                const Vec3<typename N::Fixed>*, std::size_t, LargestElement*);                   \
    template void GpuReduction::multiply<N>(GpuQueue&, const Vec3<typename N::Real>*, const Vec3<typename N::Real>*,             \
                                            std::size_t, double*);                                                               \
    template void combine<N>(GpuQueue&, const GpuTerm<N>&, const GpuTerm<N>&, std::size_t, Vec3<typename N::Real>*);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
