// SPDX-License-Identifier: Apache-2.0
// What a simulation tells the outside world. The engine knows no file format: output leaves through observers, which must return
// quickly (hand the data to a thread of their own).
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

// What an energy frame holds of one step. Kinetic energy and temperature are the mean of the two half-step values around it.
struct ObservedStep
{
    std::int64_t step = 0;
    EnergyVirial forces;                                                // energies by term; virial of the physical forces alone
    Mat3<double> virial{};                                              // with the constraint forces, kJ/mol
    Mat3<double> kinetic{};                                             // tensor, kJ/mol; its trace is the kinetic energy
    double potential = 0, kinetic_energy = 0, total = 0, conserved = 0; // kJ/mol
    double temperature = 0;                                             // K
    double pressure_correction = 0;                                     // dispersion correction of the pressure, bar
    Mat3<double> pressure_tensor{};                                     // bar
    double pressure = 0;                                                // bar
    double constraint_rmsd = 0;                                         // of LINCS' bonds from their lengths, relative
    Box<double> box;                                                    // nm
    Vec3<double> box_velocity{}, tilt_velocity{};                       // nm/ps; of yx, zx, zy
};

// And all that the outside world is told.
struct Observables : ObservedStep
{
    double time = 0;                       // ps
    std::vector<double> group_temperature; // K, by temperature group
    double largest_force = 0;              // of a minimisation, without what constraints take up, kJ/mol/nm
};

// Which outputs a step is due for.
struct OutputDue
{
    bool x = false, v = false, f = false; // full precision trajectory
    bool compressed_x = false;
    bool energies = false; // energy file
    bool log = false;
    bool any_frame() const { return x || v || f || compressed_x; }
};

// Hears nothing; derive and override what is of interest.
class Observer
{
public:
    virtual ~Observer() = default;
    // Arrays that are not due are empty. Molecules are whole where they can be: model/frame.hpp.
    virtual void frame(const OutputDue&, Frame&&) {}
    virtual void energies(const OutputDue&, const Observables&) {}
    // Called at pair-list rebuilds, many times a second. temperature: of the last observed step; NaN before the first and in a
    // minimisation. steps_total is negative if the run has no end. What has been told is of the steps done, and all there is to
    // tell of them.
    virtual void progress(std::int64_t /*steps_done*/, std::int64_t /*steps_total*/, double /*temperature*/) {}
    // Is it time for a checkpoint? Then it comes at once, and is of the steps that progress() has told last.
    virtual bool checkpoint_due() { return false; }
    virtual void checkpoint(SavedState&&) {}
    // A line for the log and the terminal: something happened that the user should know.
    virtual void message(const std::string&) {}
};

} // namespace parhelion
