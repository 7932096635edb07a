// SPDX-License-Identifier: Apache-2.0
// From charges on planes of the grid to potentials there: transforms of planes along z and y, of rows of the spectrum along x,
// and the influence function between them.
//
// A plane's spectrum is one row for each y, and a row of the spectrum along x has its parts on all planes. Where rows lie is the
// caller's affair: all in one array, or each in a message to whoever solves it. What happens to a plane or a row does not depend
// on the others, hence not on who does it.
#pragma once

#include "base/box.hpp"
#include "interactions/force_buffers.hpp"
#include "interactions/mesh/line_fft.hpp"
#include "interactions/mesh/mesh_kernels.hpp"
#include "interactions/mesh/mesh_parameters.hpp"

#include <span>
#include <vector>

namespace parhelion {

template <class Real>
class MeshTransforms
{
public:
    MeshTransforms() = default;
    // Of a run with PME.
    explicit MeshTransforms(const MeshParameters& parameters);

    const mesh::Layout& layout() const { return layout_; }

    // Before the first solve() and whenever the box has changed. box: edges, nm.
    void follow_box(const Box<double>& box);

    // rows: [plane][y], where row y of the plane's spectrum goes, for as many planes as the grid has.
    void forward(CpuQueue& queue, const Real* charges, std::span<Real* const> rows);
    // The reverse; behind a row of potentials stand copies of its first.
    void backward(CpuQueue& queue, std::span<Real* const> rows, Real* potentials);

    // Rows of the spectrum: [x], where the part of the first row that is of plane x is, and where its result goes, if anywhere;
    // the next row is layout().spectrum_row() behind. `summed`: the rows whose energies and virials are kept on request.
    struct Rows
    {
        mesh::PlaneRange rows, summed; // neither goes around the box
        std::span<const Real* const> from;
        std::span<Real* const> to;
    };
    void solve(CpuQueue& queue, const Rows& rows, Compute compute);

    // Adds what the last solve() has kept.
    template <class N>
    void add_energies(EnergySums<N>& energies) const;
    // Adds the uniform background of a net charge: once for all who solve a part of the rows.
    template <class N>
    void add_background(EnergySums<N>& energies) const;

private:
    Real* work(int thread);
    mesh::Transforms<Real> transforms() const;

    MeshParameters parameters_;
    Box<double> box_; // that influence_ is of
    mesh::Layout layout_;
    std::vector<LineFft<Real>> fft_; // x, y, z
    mesh::Influence<Real> influence_;
    std::vector<AlignedVector<Real>> work_; // [thread]
    std::vector<mesh::LineSums> sums_;      // by row
};

} // namespace parhelion
