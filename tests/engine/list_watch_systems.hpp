// SPDX-License-Identifier: Apache-2.0
// Systems whose atoms become faster, or more crowded, than pair lists were planned for.
#pragma once

#include "engine/list_watch.hpp"
#include "run_helpers.hpp"
#include "support/pair_systems.hpp"

namespace parhelion::test {

struct WatchedRun
{
    System system;
    RunParameters parameters;
};

inline RunParameters of_neutral_atoms()
{
    RunParameters run = reaction_field(0.9);
    run.com_mode = ComMode::None;
    run.continuation = true;
    run.dt = 0.002;
    run.energy_calc = 10;
    run.random_seed = 1;
    return run;
}

// Larger than what their places were drawn for.
inline System neutral_atoms(const Vec3<double>& box, int atoms)
{
    System system = random_liquid(box, 0, atoms, 3);
    system.topology.molecule_types[1].atoms[0].charge = 0;
    system.topology.c12.back() *= 20;
    system.v.assign(system.x.size(), {});
    return system;
}

// Atoms at random places that repel each other, at rest and at constant energy.
inline WatchedRun heating() { return {neutral_atoms({4.2, 2.2, 2.2}, 700), of_neutral_atoms()}; }

// A gas, and its state after so many steps that it is looked at, when it has become a crystal.
struct Condensed
{
    WatchedRun start;
    SavedState later;
};
inline Condensed condensed_gas()
{
    Condensed gas{{neutral_atoms({12, 12, 12}, 512), of_neutral_atoms()}, {}};
    System crystal = gas.start.system;
    for (std::size_t i = 0; i < 512; ++i)
    {
        crystal.x[i] =
            0.3 * Vec3<double>{static_cast<double>(i % 8), static_cast<double>(i / 8 % 8), static_cast<double>(i / 64)};
    }
    SimulationOptions options;
    options.threads = 1;
    gas.later = Simulation(crystal, gas.start.parameters, options).saved_state();
    gas.later.step = crowding_interval;
    write_conditions(start_conditions(gas.start.system, gas.start.parameters), gas.later);
    return gas;
}

} // namespace parhelion::test
