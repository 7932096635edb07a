// SPDX-License-Identifier: Apache-2.0
// The formulas of pressure coupling, for host and device. barostat.hpp has the methods and their sources.
#pragma once

#include "base/random.hpp"
#include "base/units.hpp"
#include "dynamics/barostat.hpp"

#include <cmath>

namespace parhelion {

// Returns the number of edges that are joined with edge d, itself included. d must be the first of them.
PARHELION_HD inline int joined_edges(BoxCoupling edges, int d)
{
    if (edges == BoxCoupling::Isotropic) { return 3; }
    return edges != BoxCoupling::Anisotropic && d == 0 ? 2 : 1;
}

namespace barostat_detail {

PARHELION_HD inline double volume(const Vec3<double>& box) { return box.x * box.y * box.z; }

// Returns the sum of `count` components of a, from component d on.
PARHELION_HD inline double sum(const Vec3<double>& a, int d, int count)
{
    double total = a[d];
    for (int e = d + 1; e < d + count; ++e) { total += a[e]; }
    return total;
}
PARHELION_HD inline double sum_of_squares(const Vec3<double>& a, int d, int count)
{
    return sum({a.x * a.x, a.y * a.y, a.z * a.z}, d, count);
}

// Returns the inverse mass of edge d in Parrinello and Rahman's equations, in units that
// contain the unit of pressure: 4 pi^2 beta / (3 tau^2 L), with L the longest edge.
PARHELION_HD inline double inverse_box_mass(const PressureCoupling& coupling, const Vec3<double>& box, int d)
{
    const double longest = box.x > box.y ? (box.x > box.z ? box.x : box.z) : (box.y > box.z ? box.y : box.z);
    return 4 * units::pi * units::pi * coupling.compressibility[d] / (3 * coupling.tau * coupling.tau * longest);
}

PARHELION_HD inline double inverse_tilt_mass(const PressureCoupling& coupling, const Vec3<double>& box, int k)
{
    PressureCoupling of_tilt = coupling;
    of_tilt.compressibility = coupling.shear_compressibility;
    return inverse_box_mass(of_tilt, box, k);
}

// Returns the part of the box's kinetic energy in its tilt, bar nm^3. It counts half of the tilt's mass (shear_body.hpp).
PARHELION_HD inline double tilt_kinetic(const PressureCoupling& coupling, const Vec3<double>& box, const BarostatState& barostat)
{
    double kinetic = 0;
    for (int k = 0; k < 3; ++k)
    {
        if (coupling.shear_compressibility[k] == 0) { continue; } // this tilt is constant
        kinetic += 0.25 * barostat.tilt_velocity[k] * barostat.tilt_velocity[k] / inverse_tilt_mass(coupling, box, k);
    }
    return kinetic;
}

// Returns by how much a surface tension lowers the lateral pressure, bar, in a box of this height (nm).
PARHELION_HD inline double tension_pressure(const PressureCoupling& coupling, double height)
{
    return coupling.surface_tension / height;
}

// Returns the outer pressure that balances the inner pressure p, bar. Surface tension is the difference between the
// pressures along z and across. It is taken from the inner pressure (GROMACS manual, "surface-tension coupling"), which
// samples no ensemble. C-rescale takes it from the reference pressure along z, and samples an ensemble (Bernetti and Bussi).
PARHELION_HD inline Vec3<double> outer_pressure(const PressureCoupling& coupling, const Vec3<double>& box, const Vec3<double>& p)
{
    if (coupling.edges != BoxCoupling::SurfaceTension) { return coupling.reference; }
    const double normal = coupling.kind == Barostat::CRescale ? coupling.reference.z : p.z;
    const double lateral = normal - tension_pressure(coupling, box.z);
    return {lateral, lateral, coupling.reference.z};
}

// Returns Berendsen's strain with a surface tension. z is strained first, by its whole compressibility. The tension
// is then computed from the new height and the pressure along z (GROMACS manual, "surface-tension coupling").
PARHELION_HD inline Vec3<double> berendsen_tension_strain(const PressureCoupling& coupling, const Vec3<double>& p,
                                                          const Vec3<double>& box)
{
    const double share = coupling.time_step / coupling.tau;
    const double change_of_pressure = coupling.compressibility.z > 0 ? share * (coupling.reference.z - p.z) : 0;
    const double along = -coupling.compressibility.z * change_of_pressure;
    const double difference = tension_pressure(coupling, box.z * std::exp(along)) - (p.z + change_of_pressure - p.x);
    const double across = 0.5 * coupling.compressibility.x * share * difference;
    return {across, across, along};
}

// Returns the logarithms of the factors by which a coupling step scales the edges, with the noise of C-rescale. n
// joined edges have d ln(product of the edges) = n/3 beta dt / tau (P - P0) + sqrt(n/3 2 kT beta dt / (V tau)) R. n =
// 3 is Bernetti and Bussi's eq. 5 for the logarithm of the volume; n = 2 and 1 are their equations of area and height.
PARHELION_HD inline Vec3<double> edge_strain(const PressureCoupling& coupling, std::int64_t step, const Vec3<double>& p,
                                             const Vec3<double>& box)
{
    if (coupling.kind == Barostat::Berendsen && coupling.edges == BoxCoupling::SurfaceTension)
    {
        return berendsen_tension_strain(coupling, p, box);
    }
    const Vec3<double> outer = outer_pressure(coupling, box, p);
    Vec3<double> strain;
    for (int d = 0, n; d < 3; d += n)
    {
        n = joined_edges(coupling.edges, d);
        const double share = n / 3.0, rate = coupling.compressibility[d] * coupling.time_step / coupling.tau;
        double of_product = share * (rate * (p[d] - outer[d]));
        if (coupling.kind == Barostat::CRescale)
        {
            const double variance = 2 * units::boltzmann * coupling.temperature * rate * units::bar_per_kj_mol_nm3 / volume(box);
            RandomSequence random(coupling.seed, RandomPurpose::Barostat, step, static_cast<std::uint32_t>(d));
            of_product += std::sqrt(share * variance) * random.next_normal();
        }
        for (int e = d; e < d + n; ++e) { strain[e] = of_product / n; }
    }
    return strain;
}

} // namespace barostat_detail

// Returns the pressure that each edge follows: the mean over all edges joined with this edge.
PARHELION_HD inline Vec3<double> joined_mean(BoxCoupling edges, const Vec3<double>& of_axis)
{
    Vec3<double> mean;
    for (int d = 0, n; d < 3; d += n)
    {
        n = joined_edges(edges, d);
        for (int e = d; e < d + n; ++e) { mean[e] = barostat_detail::sum(of_axis, d, n) / n; }
    }
    return mean;
}

// Advances the box velocity of Parrinello-Rahman by the last pressure. Returns the
// drag on the atoms in this step (see VelocityCoupling), or 0 for other barostats.
PARHELION_HD inline Vec3<double> box_drag(const PressureCoupling& coupling, const Vec3<double>& box, BarostatState& barostat)
{
    namespace detail = barostat_detail;
    if (coupling.kind != Barostat::ParrinelloRahman) { return {}; }
    if (barostat.pressure_known)
    {
        const double volume = detail::volume(box);
        const Vec3<double> outer = detail::outer_pressure(coupling, box, barostat.pressure), before = barostat.box_velocity;
        for (int d = 0, n; d < 3; d += n)
        {
            // Joined edges have one strain. The power V tr(P - P0) d(strain)/dt changes 1/2 W sum of (box velocity)^2.
            n = joined_edges(coupling.edges, d);
            const double strain_acceleration = detail::inverse_box_mass(coupling, box, d) * n * volume /
                                               detail::sum_of_squares(box, d, n) * (barostat.pressure[d] - outer[d]);
            for (int e = d; e < d + n; ++e) { barostat.box_velocity[e] += (coupling.time_step * strain_acceleration) * box[e]; }
        }
        // conserved_contribution() has potentials for the reference along z and the tension. Other outer pressures do work.
        const Vec3<double> mean_velocity = 0.5 * (before + barostat.box_velocity);
        for (int d = 0; d < 3; ++d)
        {
            const double tension = d < 2 ? detail::tension_pressure(coupling, box.z) : 0;
            const double other = outer[d] - (coupling.reference.z - tension);
            barostat.work -= coupling.time_step * other * volume * mean_velocity[d] / box[d] / units::bar_per_kj_mol_nm3;
        }
    }
    Vec3<double> drag;
    for (int d = 0; d < 3; ++d) { drag[d] = coupling.time_step * barostat.box_velocity[d] / box[d]; }
    return drag;
}

// The box that follows from a step's pressure, and the factors on all velocities.
struct BoxScaling
{
    Vec3<double> box; // nm
    Vec3<double> velocity{1, 1, 1};
};

// Returns `kinetic` as it is after velocities have been scaled by the factors `velocity`.
PARHELION_HD inline Mat3<double> scaled_kinetic(const Vec3<double>& velocity, Mat3<double> kinetic)
{
    for (int a = 0; a < 3; ++a)
    {
        for (int b = 0; b < 3; ++b) { kinetic[a][b] *= velocity[a] * velocity[b]; }
    }
    return kinetic;
}

// Returns the box after a coupling step, and adds the known part of its work to pending_work. kinetic_energy: by axis, kJ/mol.
PARHELION_HD inline BoxScaling next_box(const PressureCoupling& coupling, std::int64_t step,
                                        const PressureObservables& observables, const Vec3<double>& box,
                                        const Vec3<double>& kinetic_energy, BarostatState& barostat)
{
    BoxScaling scaling{box};
    if (coupling.kind == Barostat::None) { return scaling; }
    if (coupling.kind == Barostat::ParrinelloRahman)
    {
        scaling.box += coupling.time_step * barostat.box_velocity;
        return scaling;
    }
    const Vec3<double> strain =
        barostat_detail::edge_strain(coupling, step, joined_mean(coupling.edges, observables.pressure), box);
    barostat.pending_strain = strain;
    barostat.pending_work = 0;
    for (int d = 0, n; d < 3; d += n)
    {
        n = joined_edges(coupling.edges, d);
        const double edge = std::exp(strain[d]), velocity = coupling.kind == Barostat::CRescale ? 1 / edge : 1;
        for (int e = d; e < d + n; ++e) { scaling.box[e] *= edge, scaling.velocity[e] = velocity; }
        // dU / d(strain) = 2 sum of Xi. One half is computed before the scaling, the other half after it.
        barostat.pending_work += strain[d] * barostat_detail::sum(observables.virial, d, n);
        const double kinetic = barostat_detail::sum(kinetic_energy, d, n);
        if (coupling.kind == Barostat::CRescale) { barostat.pending_work += (velocity * velocity - 1) * kinetic; }
        // The virial contains the forces that hold rotating groups together, which are on average their kinetic energy. Scaling
        // does no work against these forces: constraints restore the shape of such a group, so it is displaced as a whole.
        barostat.pending_work -= 2 * strain[d] * coupling.turning_share * kinetic;
    }
    return scaling;
}

// Returns x, the position of an atom that has followed the box, after moving it back along the atom's frozen axes.
template <class N>
PARHELION_HD Vec3<typename N::Fixed> held(const PeriodicBox<N>& before, const PeriodicBox<N>& now, const Vec3<double>& mobility,
                                          const Vec3<typename N::Fixed>& x)
{
    return now.displaced(x, along(Vec3<double>{1, 1, 1} - mobility, before.to_nm(x) - now.to_nm(x)));
}

// Completes the work of the last scaling by the virial at the scaled positions (diagonal; off-diagonal yx, zx,
// zy). This is the trapezoidal rule, without which the noise of C-rescale causes an energy drift. Call it before
// conserved_contribution(), in every step whose virial is known. The step after a scaling must be such a step.
PARHELION_HD inline void complete_work(const PressureCoupling& coupling, const Vec3<double>& virial, BarostatState& barostat,
                                       const Vec3<double>& shear_virial = {})
{
    double work = barostat.pending_work;
    for (int d = 0, n; d < 3; d += n)
    {
        n = joined_edges(coupling.edges, d);
        work += barostat.pending_strain[d] * barostat_detail::sum(virial, d, n);
    }
    barostat.work += work + dot(barostat.pending_shear, shear_virial);
    barostat.pending_work = 0;
    barostat.pending_strain = barostat.pending_shear = {};
}

// Returns the difference of the conserved energy and the total energy, kJ/mol. With
// Parrinello-Rahman, call it after scale_box(), with the scaled `box`, as GROMACS does.
PARHELION_HD inline double conserved_contribution(const PressureCoupling& coupling, const Vec3<double>& box,
                                                  const BarostatState& barostat)
{
    namespace detail = barostat_detail;
    if (coupling.kind == Barostat::None) { return 0; }
    if (coupling.kind != Barostat::ParrinelloRahman) { return -barostat.work; }
    double kinetic = 0;
    for (int d = 0, n; d < 3; d += n)
    {
        n = joined_edges(coupling.edges, d);
        if (coupling.compressibility[d] == 0) { continue; } // this edge is constant, as its mass is infinite
        kinetic += 0.5 * detail::sum_of_squares(barostat.box_velocity, d, n) / detail::inverse_box_mass(coupling, box, d);
    }
    kinetic += detail::tilt_kinetic(coupling, box, barostat);
    const double of_tension = coupling.surface_tension * box.x * box.y;
    return (kinetic + coupling.reference.z * detail::volume(box) - of_tension) / units::bar_per_kj_mol_nm3 - barostat.work;
}

} // namespace parhelion
