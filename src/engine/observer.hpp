// SPDX-License-Identifier: Apache-2.0
// The interface by which a simulation reports to the outside world. The engine knows no file format: it passes
// output to observers. They must return quickly, so they should hand the data to a thread of their own.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"
#include "model/energy_terms.hpp"
#include "model/frame.hpp"
#include "model/saved_state.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace parhelion {

// The contents of an energy frame for one step. Kinetic energy and
// temperature are the mean of the half-step values before and after the step.
struct ObservedStep
{
    std::int64_t step = 0;
    EnergyVirial forces;                                                // energies by term; virial without constraint forces
    double external = 0;                                                // energy of external forces, kJ/mol
    Mat3<double> virial{};                                              // virial including constraint forces, kJ/mol
    Mat3<double> kinetic{};                                             // tensor, kJ/mol; its trace is the kinetic energy
    double potential = 0, kinetic_energy = 0, total = 0, conserved = 0; // kJ/mol
    double temperature = 0;                                             // K
    double pressure_correction = 0;                                     // dispersion correction of the pressure, bar
    Mat3<double> pressure_tensor{};                                     // bar
    double pressure = 0;                                                // bar
    double constraint_rmsd = 0;                                         // relative rms deviation of LINCS' bonds
    Box<double> box;                                                    // nm
    Vec3<double> box_velocity{}, tilt_velocity{};                       // nm/ps; of the edges; of the tilts yx, zx, zy
};

// An observed step, with the values that only observers need.
struct Observables : ObservedStep
{
    double time = 0;                       // ps
    std::vector<double> group_temperature; // temperature of each temperature group, K
    double largest_force = 0;              // only in minimisations: largest force that constraints do not absorb, kJ/mol/nm
};

// Says which outputs are due in a step.
struct OutputDue
{
    bool x = false, v = false, f = false; // full precision trajectory
    bool compressed_x = false;
    bool energies = false; // energy file
    bool log = false;
    bool stream = false;     // all arrays, for an observer alone
    bool unaveraged = false; // no average takes the energies: they are for an observer alone, or were told before
    bool repeats_energies() const { return unaveraged && !stream; }
    bool is_written() const { return x || v || f || compressed_x; }
    bool any_frame() const { return is_written() || stream; }
    bool wants_x() const { return x || compressed_x || stream; }
    bool wants_v() const { return v || stream; }
    bool wants_f() const { return f || stream; }
};

// An observer that ignores everything. Derive from it and override the functions of interest.
class Observer
{
public:
    virtual ~Observer() = default;
    // Receives a frame. Arrays that are not due are empty. Molecules are whole where they can be (model/frame.hpp).
    virtual void frame(const OutputDue&, Frame&&) {}
    virtual void energies(const OutputDue&, const Observables&) {}
    // Called at pair-list rebuilds, many times a second. temperature: of the last observed step; NaN
    // before the first one and in a minimisation. steps_total is negative if the run has no end. Before
    // this call, frames and energies of all finished steps, and of no other steps, have been reported.
    virtual void progress(std::int64_t /*steps_done*/, std::int64_t /*steps_total*/, double /*temperature*/) {}
    // Returns true to request a checkpoint. checkpoint() is then called at once, with the state at the latest progress() call.
    virtual bool checkpoint_due() { return false; }
    virtual void checkpoint(SavedState&&) {}
    // Receives a line for the log and the terminal about an event that the user should know.
    virtual void message(const std::string&) {}
};

} // namespace parhelion
