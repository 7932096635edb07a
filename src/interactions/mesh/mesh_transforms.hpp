// SPDX-License-Identifier: Apache-2.0
// Computes potentials from charges on planes of the grid. It transforms planes along z and y,
// transforms rows of the spectrum along x, multiplies by the influence function, and transforms back.
//
// The spectrum of a plane has one row for each y. A row of the spectrum along x has parts on all planes. The caller says where
// rows are in memory: all in one array, or each in a message to the rank that solves it. The result of a plane or a row does not
// depend on others, so it is the same on whichever rank it is computed.
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
    // Prepares the transforms. Precondition: the run has PME.
    explicit MeshTransforms(const MeshParameters& parameters);

    const mesh::Layout& layout() const { return layout_; }

    // Updates the influence function. Call it before the first solve() and whenever the box has changed. box: edges, nm.
    void follow_box(const Box<double>& box);

    // Transforms all planes of the grid. rows: [plane][y], the place for row y of the plane's spectrum.
    void forward(CpuQueue& queue, const Real* charges, std::span<Real* const> rows);
    // Does the reverse of forward(). Behind each row of potentials it stores copies of the first points of that row.
    void backward(CpuQueue& queue, std::span<Real* const> rows, Real* potentials);

    // Rows of the spectrum. Element [x] says where the first row's part in plane x is, and where its result goes, if anywhere.
    // The next row is layout().spectrum_row() behind. `summed`: rows whose energies and virials are kept on request.
    struct Rows
    {
        mesh::PlaneRange rows, summed; // ranges do not wrap around the box
        std::span<const Real* const> from;
        std::span<Real* const> to;
    };
    void solve(CpuQueue& queue, const Rows& rows, Compute compute);

    // Adds to `energies` the energies and virials that the last solve() has kept.
    template <class N>
    void add_energies(EnergySums<N>& energies) const;
    // Adds the energy of the uniform background of a net charge, if this is a mesh of charges. Call it on one of the ranks that
    // solve rows.
    template <class N>
    void add_background(EnergySums<N>& energies) const;

private:
    Real* work(int thread);
    mesh::Transforms<Real> transforms() const;

    MeshParameters parameters_;
    Box<double> box_; // the box for which influence_ was computed
    mesh::Layout layout_;
    std::vector<LineFft<Real>> fft_;    // transforms along x, y, z
    mesh::DispersionWaves<Real> waves_; // tables of the influence function, for a mesh of dispersion only
    mesh::Influence<Real> influence_;
    std::vector<AlignedVector<Real>> work_; // work area of each thread
    std::vector<mesh::LineSums> sums_;      // sums of each row
};

} // namespace parhelion
