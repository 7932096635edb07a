// SPDX-License-Identifier: Apache-2.0
// The maths of pressure coupling, on host and device: see barostat.hpp for the methods and their sources.
#pragma once

#include "base/random.hpp"
#include "base/units.hpp"
#include "dynamics/barostat.hpp"

#include <cmath>

namespace parhelion {

// How many edges from axis d on, the first of them, change by one factor.
PARHELION_HD inline int joined_edges(BoxCoupling edges, int d)
{
    if (edges == BoxCoupling::Isotropic) { return 3; }
    return edges != BoxCoupling::Anisotropic && d == 0 ? 2 : 1;
}

namespace barostat_detail {

PARHELION_HD inline double volume(const Vec3<double>& box) { return box.x * box.y * box.z; }

// Adds up the `count` components from d on.
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

// Inverse mass of edge d as Parrinello and Rahman move it, times the unit of pressure: 4 pi^2 beta / (3 tau^2 L), L the longest
// edge.
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

// The tilt's part of the box's kinetic energy, bar nm^3: half of what its mass gives (shear_body.hpp).
PARHELION_HD inline double tilt_kinetic(const PressureCoupling& coupling, const Vec3<double>& box, const BarostatState& barostat)
{
    double kinetic = 0;
    for (int k = 0; k < 3; ++k)
    {
        if (coupling.shear_compressibility[k] == 0) { continue; } // at rest
        kinetic += 0.25 * barostat.tilt_velocity[k] * barostat.tilt_velocity[k] / inverse_tilt_mass(coupling, box, k);
    }
    return kinetic;
}

// What a surface tension takes from the pressure across, bar, in a box of this height (nm).
PARHELION_HD inline double tension_pressure(const PressureCoupling& coupling, double height)
{
    return coupling.surface_tension / height;
}

// The pressure, bar, with which the outside resists the pressure p inside. Surface tension is the difference between the
// pressures along z and across: of those inside (GROMACS manual, "surface-tension coupling"), which is no ensemble; for
// C-rescale, which has one, the reference's along z (Bernetti and Bussi).
PARHELION_HD inline Vec3<double> outer_pressure(const PressureCoupling& coupling, const Vec3<double>& box, const Vec3<double>& p)
{
    if (coupling.edges != BoxCoupling::SurfaceTension) { return coupling.reference; }
    const double normal = coupling.kind == Barostat::CRescale ? coupling.reference.z : p.z;
    const double lateral = normal - tension_pressure(coupling, box.z);
    return {lateral, lateral, coupling.reference.z};
}

// Berendsen with a surface tension: z goes first, by its whole compressibility, and the tension is taken at what the height and
// the pressure along it will then be (GROMACS manual, "surface-tension coupling").
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

// Logarithms of the factors by which one coupling step scales the edges, C-rescale's noise included. n joined edges make
// d ln(their product) = n/3 beta dt / tau (P - P0) + sqrt(n/3 2 kT beta dt / (V tau)) R: n = 3, Bernetti and Bussi, eq. 5 in the
// logarithm of the volume; n = 2 and 1, their equations of area and height.
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

// The pressure that each edge follows: the mean of those of the edges joined with it.
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

// Parrinello-Rahman: advances the box velocity by the last pressure and returns the drag on the atoms in this step (see
// VelocityCoupling); 0 for the other barostats.
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
            // One strain drives joined edges: their power V tr(P - P0) strain' is what changes 1/2 W sum of (box velocity)^2.
            n = joined_edges(coupling.edges, d);
            const double strain_acceleration = detail::inverse_box_mass(coupling, box, d) * n * volume /
                                               detail::sum_of_squares(box, d, n) * (barostat.pressure[d] - outer[d]);
            for (int e = d; e < d + n; ++e) { barostat.box_velocity[e] += (coupling.time_step * strain_acceleration) * box[e]; }
        }
        // conserved_contribution has potentials for the reference along z and for the tension. Not for what else resists.
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

// What a step's pressure makes of the box, and the factors on all velocities.
struct BoxScaling
{
    Vec3<double> box; // nm
    Vec3<double> velocity{1, 1, 1};
};

// The kinetic energy of velocities that are scaled by these factors.
PARHELION_HD inline Mat3<double> scaled_kinetic(const Vec3<double>& velocity, Mat3<double> kinetic)
{
    for (int a = 0; a < 3; ++a)
    {
        for (int b = 0; b < 3; ++b) { kinetic[a][b] *= velocity[a] * velocity[b]; }
    }
    return kinetic;
}

// kinetic_energy: of the velocities after the step, by axis, kJ/mol. The work of the scaling is left pending in `barostat`.
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
        // dU / d(strain) = 2 sum of Xi, half of it before and half after the scaling.
        barostat.pending_work += strain[d] * barostat_detail::sum(observables.virial, d, n);
        const double kinetic = barostat_detail::sum(kinetic_energy, d, n);
        if (coupling.kind == Barostat::CRescale) { barostat.pending_work += (velocity * velocity - 1) * kinetic; }
        // The virial also has the forces that hold turning groups together, in the mean their kinetic energy. Scaling does no
        // work against these: it moves such a group as a whole, as constraints give it back its shape.
        barostat.pending_work -= 2 * strain[d] * coupling.turning_share * kinetic;
    }
    return scaling;
}

// The place of an atom that has followed the box to x, once it is back where it was along its frozen axes.
template <class N>
PARHELION_HD Vec3<typename N::Fixed> held(const PeriodicBox<N>& before, const PeriodicBox<N>& now, const Vec3<double>& mobility,
                                          const Vec3<typename N::Fixed>& x)
{
    return now.displaced(x, along(Vec3<double>{1, 1, 1} - mobility, before.to_nm(x) - now.to_nm(x)));
}

// Completes the work of the last scaling by the virial (its diagonal, and what is off it: yx, zx, zy) at the scaled positions:
// the trapezoidal rule, without which the noise of C-rescale leaves a drift. Call in every step whose virial is known, before
// conserved_contribution; the step after a scaling must be one of them.
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

// What must be added to the total energy to obtain the conserved one, kJ/mol. Parrinello-Rahman: to be taken after scale_box,
// `box` being the scaled one, as GROMACS does.
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
        if (coupling.compressibility[d] == 0) { continue; } // at rest, with an infinite mass
        kinetic += 0.5 * detail::sum_of_squares(barostat.box_velocity, d, n) / detail::inverse_box_mass(coupling, box, d);
    }
    kinetic += detail::tilt_kinetic(coupling, box, barostat);
    const double of_tension = coupling.surface_tension * box.x * box.y;
    return (kinetic + coupling.reference.z * detail::volume(box) - of_tension) / units::bar_per_kj_mol_nm3 - barostat.work;
}

} // namespace parhelion
