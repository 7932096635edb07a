// SPDX-License-Identifier: Apache-2.0
// A uniform electric field, constant, oscillating or pulsed (electric-field-x, -y, -z of the .mdp): f_i = q_i E(t). As
// in GROMACS it contributes no energy and no virial, so the total energy is not conserved. Cost: a pass over the atoms.
#pragma once

#include "base/units.hpp"
#include "device/cpu_queue.hpp"
#include "model/run_parameters.hpp"
#include "state/particle_state.hpp"

#include <cmath>

namespace parhelion {

struct UniformField
{
    ElectricField axis[3];
    double start_time = 0, dt = 0; // time of step 0, and length of a step, ps

    // Returns the field at a step, kJ/mol/nm/e.
    PARHELION_HD Vec3<double> at(std::int64_t step) const
    {
        const double time = start_time + static_cast<double>(step) * dt;
        Vec3<double> field;
        for (int d = 0; d < 3; ++d) { field[d] = units::volt * strength(axis[d], time); }
        return field;
    }
    bool acts() const { return axis[0].amplitude != 0 || axis[1].amplitude != 0 || axis[2].amplitude != 0; }

private:
    // Returns the field along one axis, V/nm. As in GROMACS, only a pulse has a centre.
    PARHELION_HD static double strength(const ElectricField& field, double time)
    {
        if (field.width == 0) { return field.amplitude * cos(field.omega * time); }
        const double away = time - field.centre, widths = away / field.width;
        return field.amplitude * cos(field.omega * away) * exp(-0.5 * widths * widths);
    }
};
UniformField make_electric_field(const RunParameters& parameters);

// Adds the forces of the field on home atoms to state.f.
template <class N>
void add_electric_field(CpuQueue& queue, const UniformField& field, std::int64_t step, ParticleState<N>& state);

} // namespace parhelion
