// SPDX-License-Identifier: Apache-2.0
// Computes potentials from charges on planes of the grid, on a GPU, in three kernels. On CPUs: mesh/mesh_transforms.hpp.
//
//   forward    a block per plane transforms it along z and y, in shared memory
//   solve      a block per row of the spectrum, or per part of it: transforms it along x, multiplies by G, transforms it back
//   backward   a block per plane transforms it along y and z
//
// The caller says where the rows of planes lie, by tables in device memory. Rows may be in one array, or each in a
// message to the rank that solves it. The result of a plane or a row does not depend on other planes or rows, so it
// is the same on any rank. An exchange policy adds communication: all threads of a block call begin() before they
// read a spectrum and end() after they stored one. If begin() returns false, the block ends. A rank without planes
// or rows launches one block for these calls. NoExchange is the policy of a rank that has all planes and rows.
//
// Each block computes the factors of the influence function from the box in device memory.
//
// In single precision, lines whose length is a product of two radices up to 16 have kernels of their own, with
// two passes a line (two_pass_transforms.cuh). In double precision 16 numbers take too many registers for this.
//
// Cost: each kernel reads and writes the grid once. Planes that are too large for shared
// memory, of more than about 20 000 points in single precision, are in global memory.
#pragma once

#include "device/gpu/device_buffer.hpp"
#include "interactions/force_buffers.hpp"
#include "interactions/mesh/gpu/fft/line_fft_gpu.hpp"
#include "interactions/mesh/mesh_kernels.hpp"
#include "interactions/mesh/mesh_parameters.hpp"
#include "interactions/mesh/plane_range.hpp"
#include "state/gpu/particle_state_gpu.hpp"

#include <array>

namespace parhelion {

// Row y of the spectra of all planes: element kz of plane p, counted from the rank's first, is at first[p * per_plane + kz].
template <class Real>
struct PlaneRow
{
    GpuComplex<Real>* first;
    std::int64_t per_plane;
};

// Rows of the spectrum along x that are solved on this rank. from[x] is the part of these
// rows in plane x, [row][kz]. The result of this part is stored at to[x] unless that is null.
template <class Real>
struct SolvedRows
{
    mesh::PlaneRange rows, summed; // rows solved here; rows over which energy is summed. Neither range wraps
    const GpuComplex<Real>* const* from;
    GpuComplex<Real>* const* to;
};

// The properties of kernels with this exchange policy: the largest radices of lines, and whether each kernel is launched early,
// while the kernel before still runs. Policies may specialise it.
template <class Exchange>
struct ExchangeGrants
{
    static constexpr int most_radix = 16;
    static constexpr bool begins_early = false;
};

struct NoExchange
{
    PARHELION_HD bool begin() const { return true; }
    PARHELION_HD void end() const {}
};

// Sizes that are constant during a run.
struct MeshLines
{
    std::array<int, 3> points{};
    int kz = 0;                       // points[2] / 2 + 1
    std::array<int, 3> at_a_time{};   // lines along x, y, z that a block transforms at a time; z: pairs of lines
    int plane_pitch = 0;              // row length of a plane's half spectrum [y][kz] in a block's memory
    int plane_work = 0, row_work = 0; // size of each of a block's two work areas, in complex numbers
    bool plane_is_shared = true;
};

template <class N>
class GpuMeshTransforms
{
public:
    using Real = typename N::Real;
    static constexpr bool has_two_passes = sizeof(Real) == sizeof(float);

    GpuMeshTransforms() = default;
    // Prepares transforms for `planes` planes of this rank, and waits for uploads. Throws DeviceError.
    GpuMeshTransforms(GpuQueue& queue, const MeshParameters& parameters, int planes);

    // Returns whether all lines are transformed in two passes, with radices up to `most`.
    bool has_radices_up_to(int most) const;

    // Queues the transform of charges [plane][y][z] to the rows of their spectra, rows[y]. Clears the charges.
    template <class Exchange>
    void forward(GpuQueue& queue, mesh::ChargeSum<N>* charges, const PlaneRow<Real>* rows, const Exchange& exchange);
    // Queues solving of rows. Adds energy and virial on request. The rank of the first row adds the background of a net charge.
    template <class Exchange>
    void solve(GpuQueue& queue, const SolvedRows<Real>& rows, GpuState<N>& state, Compute compute, const Exchange& exchange);
    // Queues the transform of rows back to potentials [plane][y][z].
    template <class Exchange>
    void backward(GpuQueue& queue, const PlaneRow<Real>* rows, Real* potentials, const Exchange& exchange);

private:
    struct TwoPassPlane // threads and shared memory of a plane's block, and the sizes of the areas in it
    {
        int threads = 0, pair_pitch = 0, work_pitch = 0, plane = 0;
        std::size_t bytes = 0;
    };
    struct TwoPassRow // a row is divided into parts of several lines, with one block each
    {
        int parts = 0, lines = 0, threads = 0;
        std::size_t bytes = 0;
    };
    void plan_two_passes(GpuQueue& queue);
    template <class Exchange, class Args>
    void solve_with(GpuQueue& queue, const SolvedRows<Real>& rows, GpuState<N>& state, Compute compute, const Exchange& exchange,
                    const Args& args);
    // Launches kernel(TwoPassPlaneArgs, arguments...), early if `early`.
    template <bool early, class Kernel, class... Arguments>
    void launch_two_passes(GpuQueue& queue, Kernel kernel, const Arguments&... arguments);
    // Launches kernel(PlaneArgs, arguments...).
    template <class Kernel, class... Arguments>
    void launch_planes(GpuQueue& queue, Kernel kernel, const Arguments&... arguments);

    MeshLines lines_;
    int planes_ = 0;
    std::array<GpuLineFft<Real>, 3> fft_;
    std::array<GpuTwoPassFft<Real>, 3> two_passes_; // set for each axis whose lines have two passes
    TwoPassPlane two_pass_plane_;
    TwoPassRow two_pass_row_;
    DeviceBuffer<double> inverse_moduli_;                    // 1 / moduli along x, y and z, concatenated
    double slope_ = 0, coulomb_factor_ = 0, background_ = 0; // slope, Coulomb factor and background as in MeshParameters
    double dispersion_scale_ = 0;                            // DispersionArgs::scale; 0: a mesh of charges
    DeviceBuffer<GpuComplex<Real>> in_global_memory_;        // planes [plane][y][kz] that do not fit into shared memory
    std::size_t plane_bytes_ = 0, row_bytes_ = 0;            // bytes of shared memory of a block
};

} // namespace parhelion
