// SPDX-License-Identifier: Apache-2.0
// Pressure coupling that also shears the box: off-diagonal compressibilities with pcoupltype = anisotropic. A barostat then
// moves all six numbers of the box's edges, b = (xx; yx, yy; zx, zy, zz) by rows, as GROMACS does. Code for host and device.
//
//   Parrinello-Rahman  W_dn b''_dn = V (b^-T (P - P0))_dn, for d > n with (b^-T (P - P0))_nd added: forces that would turn the
//   box
//                      act on its tilt (Parrinello, Rahman 1981; GROMACS manual, "Parrinello-Rahman"). Atoms feel b^-1 b'.
//   Berendsen          strains 1 - beta dt / (3 tau) (P0 - P); elements above the diagonal are added to those below it.
//
// Three numbers of a tilt, or the off-diagonal elements of a symmetric tensor, are in the order yx, zx, zy.
#pragma once

#include "dynamics/barostat_body.hpp"

namespace parhelion {

PARHELION_HD inline Vec3<double> off_diagonal(const Mat3<double>& a) { return {a[1][0], a[2][0], a[2][1]}; }

// b^-T P: the sum over k of (b^-1)_kd P_kn, for symmetric P: diagonal; below it (yx, zx, zy); above it (xy, xz, yz).
struct BoxForce
{
    Vec3<double> diagonal, below, above;
};
PARHELION_HD inline BoxForce box_force(const Box<double>& box, const Vec3<double>& p, const Vec3<double>& q)
{
    const Vec3<double>& b = box.diagonal();
    const Vec3<double>& tilt = box.tilt();
    const double xx = 1 / b.x, yy = 1 / b.y, zz = 1 / b.z, yx = -tilt.x * xx * yy, zy = -tilt.z * yy * zz,
                 zx = (tilt.x * tilt.z - b.y * tilt.y) * xx * yy * zz; // element of b^-1
    return {{xx * p.x + yx * q.x + zx * q.y, yy * p.y + zy * q.z, zz * p.z},
            {yy * q.x + zy * q.y, zz * q.y, zz * q.z},
            {xx * q.x + yx * p.y + zx * q.z, xx * q.y + yx * q.z + zx * p.z, yy * q.z + zy * p.z}};
}

// The drag of a moving box on velocities, times the coupling's time step.
// It reduces v_d by along_d v_d plus the sum over n < d of shear_dn v_n.
struct BoxDrag
{
    Vec3<double> along, shear;
};

// Does for a sheared box what box_drag() does. A tilt's force is a sum of two elements (see above), equal if edges have equal
// length; so the conserved energy counts half of the tilt's mass. Their difference does work without a potential.
PARHELION_HD inline BoxDrag sheared_box_drag(const PressureCoupling& coupling, const Box<double>& box, BarostatState& barostat)
{
    namespace detail = barostat_detail;
    const Vec3<double>& b = box.diagonal();
    Vec3<double>&v = barostat.box_velocity, &w = barostat.tilt_velocity;
    if (barostat.pressure_known)
    {
        const double volume = box.volume(), dt = coupling.time_step;
        const BoxForce inner = box_force(box, barostat.pressure, barostat.shear_pressure),
                       outer = box_force(box, coupling.reference, coupling.shear_reference);
        double work = 0;
        for (int d = 0; d < 3; ++d)
        {
            const double force = volume * (inner.diagonal[d] - outer.diagonal[d]), before = v[d];
            v[d] += dt * (detail::inverse_box_mass(coupling, b, d) * force);
            work += (force - volume * inner.diagonal[d] + coupling.reference.z * volume / b[d]) * 0.5 * (before + v[d]);
        }
        for (int k = 0; k < 3; ++k)
        {
            const double force = volume * (inner.below[k] - outer.below[k] + inner.above[k] - outer.above[k]), before = w[k];
            w[k] += dt * (detail::inverse_tilt_mass(coupling, b, k) * force);
            work += (0.5 * force - volume * inner.below[k]) * 0.5 * (before + w[k]);
        }
        barostat.work += dt * work / units::bar_per_kj_mol_nm3;
    }
    const Vec3<double>& tilt = box.tilt();
    const double xx = v.x / b.x, yy = v.y / b.y, yx = (w.x - tilt.x * xx) / b.y;
    const double zx = (w.y - tilt.z * yx - tilt.y * xx) / b.z, zy = (w.z - tilt.z * yy) / b.z;
    return {coupling.time_step * Vec3<double>{xx, yy, v.z / b.z}, coupling.time_step * Vec3<double>{yx, zx, zy}};
}

// Does for a sheared box what next_box() does. `observables` must have the off-diagonal elements.
PARHELION_HD inline Box<double> next_sheared_box(const PressureCoupling& coupling, const PressureObservables& observables,
                                                 const Box<double>& box, BarostatState& barostat)
{
    const double dt = coupling.time_step;
    if (coupling.kind == Barostat::ParrinelloRahman)
    {
        return {box.diagonal() + dt * barostat.box_velocity, box.tilt() + dt * barostat.tilt_velocity};
    }
    Vec3<double> strain, shear;
    for (int d = 0; d < 3; ++d)
    {
        const double rate = dt / (3 * coupling.tau);
        strain[d] = rate * coupling.compressibility[d] * (observables.pressure[d] - coupling.reference[d]);
        shear[d] = 2 * rate * coupling.shear_compressibility[d] * (observables.shear_pressure[d] - coupling.shear_reference[d]);
    }
    barostat.pending_strain = strain, barostat.pending_shear = shear;
    barostat.pending_work = dot(strain, observables.virial) + dot(shear, observables.shear_virial);
    const Vec3<double>&b = box.diagonal(), &tilt = box.tilt();
    const Vec3<double> grown{std::exp(strain.x), std::exp(strain.y), std::exp(strain.z)};
    return {{b.x * grown.x, b.y * grown.y, b.z * grown.z},
            {tilt.x * grown.x + b.y * shear.x, tilt.y * grown.x + tilt.z * shear.x + b.z * shear.y,
             tilt.z * grown.y + b.z * shear.z}};
}

// The number of times that one edge is subtracted from another, so that none leans by more than half of another edge:
// c - zy b - zx a, b - yx a. Up to a margin above a half nothing is subtracted, so a tilt of a half does not flip to and fro.
struct BoxFlip
{
    int yx = 0, zx = 0, zy = 0;
    bool is_due() const { return yx != 0 || zx != 0 || zy != 0; }
};
PARHELION_HD inline BoxFlip flip_of(const Box<double>& box)
{
    constexpr double margin = 1.001; // the margin that GROMACS has
    const Vec3<double>& b = box.diagonal();
    Vec3<double> tilt = box.tilt();
    const auto times = [](double lean, double edge) {
        return std::abs(lean) > 0.5 * margin * edge ? static_cast<int>(std::round(lean / edge)) : 0;
    };
    BoxFlip flip;
    flip.zy = times(tilt.z, b.y);
    tilt.y -= flip.zy * tilt.x;
    flip.zx = times(tilt.y, b.x), flip.yx = times(tilt.x, b.x);
    return flip;
}
// Returns the edges of the box, or the velocities of the edges, after the flip.
PARHELION_HD inline Box<double> flipped(const BoxFlip& flip, const Box<double>& box)
{
    const Vec3<double>&b = box.diagonal(), &tilt = box.tilt();
    return {b, {tilt.x - flip.yx * b.x, tilt.y - flip.zy * tilt.x - flip.zx * b.x, tilt.z - flip.zy * b.y}};
}
// Returns the place x as fractions of the flipped edges.
template <class Fixed>
PARHELION_HD Vec3<Fixed> flipped(const BoxFlip& flip, Vec3<Fixed> x)
{
    x.x += static_cast<Fixed>(flip.zx) * x.z;
    x.y += static_cast<Fixed>(flip.zy) * x.z;
    x.x += static_cast<Fixed>(flip.yx) * x.y;
    return x;
}

} // namespace parhelion
