// SPDX-License-Identifier: Apache-2.0
// From charges on planes of the grid to potentials there, on a GPU: as interactions/mesh/mesh_transforms.hpp, in three kernels.
//
//   forward    a block per plane: along z and y, in shared memory
//   solve      a block per row of the spectrum, or per part of one: along x, the influence function, back along x
//   backward   a block per plane: along y and z
//
// Where the rows of planes lie is the caller's affair, by tables in device memory: all in one array, or each in a message to
// whoever solves it. What happens to a plane or a row does not depend on the others, hence not on who does it. An exchange policy
// says what else the kernels do: their blocks call begin() before they read a spectrum and end() when they have stored one, all
// threads together; where begin() says false, they end. A rank without planes, or rows, has a block that does this alone.
// NoExchange is that of a rank which has all planes and rows.
//
// Factors of the influence function are worked out by each block, from the box in device memory.
//
// Lines whose length is a product of two radices up to 16 have kernels of their own in single precision, with two passes a line
// (two_pass_transforms.cuh); in double precision 16 numbers are too many registers.
//
// Cost: each kernel reads and writes the grid once. Planes that do not fit in shared memory, of more than about 20 000 points in
// single precision, lie in global memory meanwhile.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "interactions/force_buffers.hpp"
#include "interactions/mesh/gpu/line_fft_gpu.hpp"
#include "interactions/mesh/mesh_kernels.hpp"
#include "interactions/mesh/mesh_parameters.hpp"
#include "interactions/mesh/plane_range.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <array>

namespace parhelion {

// Row y of a plane's spectrum: element kz of plane p, counted from the first of the rank, is at first[p * per_plane + kz].
template <class Real>
struct PlaneRow
{
    GpuComplex<Real>* first;
    std::int64_t per_plane;
};

// Rows of the spectrum along x: the part of plane x, [row][kz] of the rows that are solved here, is at from[x], and its result
// goes to to[x]; null: nobody wants it.
template <class Real>
struct SolvedRows
{
    mesh::PlaneRange rows, summed; // neither goes around the box; energies are counted of `summed`
    const GpuComplex<Real>* const* from;
    GpuComplex<Real>* const* to;
};

struct NoExchange
{
    PARHELION_HD bool begin() const { return true; }
    PARHELION_HD void end() const {}
};

// Sizes that stay for the run.
struct MeshLines
{
    std::array<int, 3> points{};
    int kz = 0;                       // points[2] / 2 + 1
    std::array<int, 3> at_a_time{};   // lines along x, y and z; along z two rows are one line of complex numbers
    int plane_pitch = 0;              // of a plane's half spectrum [y][kz] in a block's memory
    int plane_work = 0, row_work = 0; // numbers of each of the two work areas of a block
    bool plane_is_shared = true;
};

template <class N>
class GpuMeshTransforms
{
public:
    using Real = typename N::Real;

    GpuMeshTransforms() = default;
    // planes: how many the rank has. Waits. Throws DeviceError.
    GpuMeshTransforms(GpuQueue& queue, const MeshParameters& parameters, int planes);

    // Queued; rows: [y]. The charges [plane][y][z] are cleared.
    template <class Exchange>
    void forward(GpuQueue& queue, mesh::ChargeSum<N>* charges, const PlaneRow<Real>* rows, const Exchange& exchange);
    // Adds energy and virial on request, and of the first row the background of a net charge.
    template <class Exchange>
    void solve(GpuQueue& queue, const SolvedRows<Real>& rows, GpuState<N>& state, Compute compute, const Exchange& exchange);
    // To potentials [plane][y][z].
    template <class Exchange>
    void backward(GpuQueue& queue, const PlaneRow<Real>* rows, Real* potentials, const Exchange& exchange);

private:
    static constexpr bool has_two_passes = sizeof(Real) == sizeof(float);
    struct TwoPassPlane // of a block's threads and shared memory; numbers of its areas
    {
        int threads = 0, pair_pitch = 0, work_pitch = 0, plane = 0;
        std::size_t bytes = 0;
    };
    struct TwoPassRow // a row in parts of some lines, a block each
    {
        int parts = 0, lines = 0, threads = 0;
        std::size_t bytes = 0;
    };
    void plan_two_passes(GpuQueue& queue);
    // kernel(TwoPassPlaneArgs, arguments...)
    template <class Kernel, class... Arguments>
    void launch_two_passes(GpuQueue& queue, Kernel kernel, const Arguments&... arguments);
    // kernel(PlaneArgs, arguments...)
    template <class Kernel, class... Arguments>
    void launch_planes(GpuQueue& queue, Kernel kernel, const Arguments&... arguments);

    MeshLines lines_;
    int planes_ = 0;
    std::array<GpuLineFft<Real>, 3> fft_;
    std::array<GpuTwoPassFft<Real>, 3> two_passes_; // where there are any
    TwoPassPlane two_pass_plane_;
    TwoPassRow two_pass_row_;
    DeviceBuffer<double> inverse_moduli_;                    // of x, y and z, one after another
    double slope_ = 0, coulomb_factor_ = 0, background_ = 0; // as MeshParameters has them
    DeviceBuffer<GpuComplex<Real>> in_global_memory_;        // planes [plane][y][kz], where they do not fit a block
    std::size_t plane_bytes_ = 0, row_bytes_ = 0;            // of a block's shared memory
};

} // namespace parhelion
