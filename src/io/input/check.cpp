// SPDX-License-Identifier: Apache-2.0
#include "io/input/check.hpp"

#include "io/input/accelerated_groups.hpp"
#include "io/input/annealing_values.hpp"
#include "io/input/frozen_groups.hpp"
#include "io/input/noise_temperature.hpp"
#include "io/input/pressure_values.hpp"
#include "model/coupling_error.hpp"
#include "model/minimisers.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace parhelion {

namespace {

std::string nm(double length) { return number_text(length) + " nm"; }

// Formats a relative error as a percentage with two digits.
std::string percent(double error) { return error >= 1 ? "100 % or more" : fmt::format("{:.2g} %", 100 * error); }

// Returns the largest prime factor of a number > 0.
int largest_prime_factor(int number)
{
    int largest = 1;
    for (int prime = 2; prime <= number; ++prime)
    {
        for (; number % prime == 0; number /= prime) { largest = prime; }
    }
    return largest;
}

class ParameterCheck
{
public:
    ParameterCheck(MdpInput& input, Diagnostics& diagnostics) : input_(input), p_(input.parameters), diagnostics_(diagnostics) {}

    void run()
    {
        ErrorList errors;
        using Check = void (ParameterCheck::*)();
        for (const Check check :
             {&ParameterCheck::integrator, &ParameterCheck::cutoffs, &ParameterCheck::temperature, &ParameterCheck::pressure,
              &ParameterCheck::energy_intervals, &ParameterCheck::multiple_time_stepping, &ParameterCheck::velocities,
              &ParameterCheck::frozen_groups, &ParameterCheck::accelerated_groups, &ParameterCheck::velocity_verlet})
        {
            errors.attempt([&] { (this->*check)(); });
        }
        errors.throw_if_any();
    }

private:
    [[noreturn]] void fail(const char* key, const std::string& message) const { fail("E107", key, message); }
    [[noreturn]] void fail(const char* id, const char* key, const std::string& message) const
    {
        throw InputError(id, input_.where(key), message);
    }
    void note(const char* id, const char* key, const std::string& message) { diagnostics_.note(id, input_.where(key), message); }
    void warn(const char* id, const char* key, const std::string& message) { diagnostics_.warn(id, input_.where(key), message); }

    void integrator()
    {
        if (p_.steps > 0 && p_.first_step > std::numeric_limits<std::int64_t>::max() - p_.steps)
        {
            fail("nsteps", "init-step + nsteps is more than a step counter holds. Give smaller numbers.");
        }
        if (p_.com_interval == 0 && p_.com_mode != ComMode::None)
        {
            p_.com_mode = ComMode::None;
            note("N110", "nstcomm", "nstcomm = 0: comm-mode = None is used.");
        }
        if (is_minimisation(p_.integrator))
        {
            if (p_.thermostat != Thermostat::None)
            {
                note("N111", "tcoupl", "minimisation has no temperature: tcoupl is not used.");
            }
            if (p_.barostat != Barostat::None) { note("N111", "pcoupl", "minimisation keeps the box: pcoupl is not used."); }
            if (p_.multiple_time_steps) { note("N111", "mts", "minimisation has no time: mts is not used."); }
            p_.multiple_time_steps = false;
            p_.thermostat = Thermostat::None;
            p_.barostat = Barostat::None;
        }
        if (p_.integrator == Integrator::StochasticDynamics && p_.thermostat != Thermostat::None)
        {
            p_.thermostat = Thermostat::None;
            note("N112", "tcoupl",
                 "the sd integrator keeps the temperature itself: tcoupl = No is used, tau-t is the inverse friction.");
        }
    }

    // Refuses what does not go with velocity Verlet. Call it when all other options have been checked.
    void velocity_verlet()
    {
        if (!is_velocity_verlet(p_.integrator)) { return; }
        const std::string name = p_.integrator == Integrator::VelocityVerlet ? "md-vv" : "md-vv-avek";
        if (p_.multiple_time_steps)
        {
            fail("E230", "mts", "mts = yes does not go with integrator = " + name + ", as in GROMACS. Use integrator = md.");
        }
        if (p_.barostat == Barostat::ParrinelloRahman)
        {
            fail("E231", "pcoupl",
                 "pcoupl = Parrinello-Rahman is not supported with integrator = " + name +
                     ". Use C-rescale, which samples the same ensemble, or integrator = md.");
        }
        if (p_.integrator == Integrator::VelocityVerletAverage && p_.thermostat == Thermostat::NoseHoover)
        {
            fail("E232", "tcoupl",
                 "tcoupl = Nose-Hoover is not supported with integrator = md-vv-avek (its chain would need the velocities of "
                 "the next half step). Use integrator = md-vv, or v-rescale.");
        }
    }

    // Handles old values of vdwtype that stand for modifiers. GROMACS accepts no other modifier together with these values.
    void vdw_type()
    {
        if (!input_.modifier_of_vdwtype) { return; }
        const MdpEntry& type = input_.entries.find("vdwtype")->second;
        const std::string given = type.key + " = " + type.value,
                          modifier = *input_.modifier_of_vdwtype == LjModifier::ForceSwitch ? "Force-switch" : "Potential-switch";
        if (input_.gives("vdw-modifier") && p_.lj_modifier != LjModifier::None && p_.lj_modifier != LjModifier::PotentialShift)
        {
            fail("vdw-modifier", given + " is a modifier itself, " + modifier +
                                     ", and cannot have another. Use vdwtype = Cut-off with the modifier that you want.");
        }
        p_.lj_modifier = *std::exchange(input_.modifier_of_vdwtype, std::nullopt);
        note("N173", "vdwtype", given + " is taken as vdwtype = Cut-off with vdw-modifier = " + modifier + ", as by GROMACS.");
    }

    void cutoffs()
    {
        vdw_type();
        const bool has_mesh = p_.coulomb == CoulombKind::Pme;
        if (p_.coulomb_cutoff < p_.lj_cutoff || (p_.coulomb_cutoff > p_.lj_cutoff && !has_mesh))
        {
            fail("rcoulomb", "rcoulomb (" + nm(p_.coulomb_cutoff) + ") and rvdw (" + nm(p_.lj_cutoff) + ") differ" +
                                 (has_mesh ? ", and with PME rcoulomb may only be the longer one. Raise rcoulomb to rvdw."
                                           : ", which only PME takes. Make them equal."));
        }
        if (has_mesh) { mesh(); }
        if (p_.has_lj_mesh) { lj_mesh(); }
        const bool switches_potential = p_.lj_modifier == LjModifier::PotentialSwitch;
        if (switches_potential || p_.lj_modifier == LjModifier::ForceSwitch) { switching(switches_potential); }
        if (p_.buffer_tolerance < 0 && p_.list_cutoff < p_.coulomb_cutoff)
        {
            fail("rlist", "rlist (" + nm(p_.list_cutoff) + ") is shorter than the cut-off (" + nm(p_.coulomb_cutoff) +
                              "), so pairs would be missed. Raise rlist or set verlet-buffer-tolerance = 0.005.");
        }
        if (p_.buffer_tolerance > 0 && input_.gives("rlist"))
        {
            note("N113", "rlist",
                 "rlist is not used: the buffer follows from verlet-buffer-tolerance (" + number_text(p_.buffer_tolerance) +
                     ").");
        }
        if (p_.coulomb != CoulombKind::ReactionField && input_.gives("epsilon-rf"))
        {
            note("N114", "epsilon-rf",
                 std::string("epsilon-rf is not used with coulombtype = ") + (has_mesh ? "PME." : "Cut-off."));
        }
        if (p_.coulomb == CoulombKind::ReactionField && p_.epsilon_rf != 0 && (p_.epsilon_r == 0 || p_.epsilon_rf < p_.epsilon_r))
        {
            warn("W111", "epsilon-rf",
                 "epsilon-rf is smaller than epsilon-r: the surroundings would be less polarisable than the inside. "
                 "0 stands for infinity.");
        }
    }

    void lj_mesh()
    {
        if (p_.coulomb != CoulombKind::Pme)
        {
            fail("E260", "vdwtype",
                 "vdwtype = PME is supported with coulombtype = PME only. Use coulombtype = PME, or vdwtype = Cut-off with "
                 "DispCorr.");
        }
        if (p_.coulomb_cutoff != p_.lj_cutoff)
        {
            fail("E261", "rvdw",
                 "rcoulomb (" + nm(p_.coulomb_cutoff) + ") and rvdw (" + nm(p_.lj_cutoff) +
                     ") differ, and vdwtype = PME takes equal ones only, as in GROMACS. Make them equal.");
        }
        if (p_.lj_modifier != LjModifier::PotentialShift && p_.lj_modifier != LjModifier::None)
        {
            fail(
                "E261", "vdw-modifier",
                "vdwtype = PME goes with vdw-modifier = Potential-shift or None, as in GROMACS (the mesh has what a switch would "
                "take away). Use Potential-shift.");
        }
    }

    void switching(bool of_potential)
    {
        const std::string name = of_potential ? "potential-switch" : "force-switch";
        const char* const key = input_.gives("vdw-modifier") ? "vdw-modifier" : "vdwtype";
        if (p_.lj_switch >= p_.lj_cutoff)
        {
            fail("rvdw-switch", "rvdw-switch (" + nm(p_.lj_switch) + ") must be below rvdw (" + nm(p_.lj_cutoff) + ") for " +
                                    name + ". Set it to about rvdw - 0.2 nm.");
        }
        if (p_.lj_switch > 0) { return; }
        if (!of_potential)
        {
            if (input_.gives("rvdw-switch")) { return; }
            note("N119", key,
                 "force-switch without rvdw-switch switches the forces from 0 nm on, as in GROMACS. Give rvdw-switch.");
            return;
        }
        if (p_.dispersion_correction != DispersionCorrection::None)
        {
            fail("DispCorr",
                 "what potential-switch takes from 0 nm on has no finite sum to correct. Give an rvdw-switch above 0, or set "
                 "DispCorr = no.");
        }
        warn(
            "W171", key,
            "potential-switch from 0 nm on (rvdw-switch is 0) changes the potential well itself. Set rvdw-switch to about rvdw - "
            "0.2 nm.");
    }

    // Checks that the grid is large enough for the splines: the points of an atom must be distinct.
    void mesh()
    {
        const int least = 2 * (p_.pme_order - 1);
        for (const auto& [key, points] :
             {std::pair("fourier-nx", p_.mesh_nx), {"fourier-ny", p_.mesh_ny}, {"fourier-nz", p_.mesh_nz}})
        {
            if (points >= least) { remark_on_factors(key, points); }
            if (points == 0 || points >= least) { continue; }
            fail(key, std::string(key) + " (" + std::to_string(points) + ") is too small for pme-order = " +
                          std::to_string(p_.pme_order) + ". Use " + std::to_string(least) + " or more, or a lower order.");
        }
    }

    // The cost of a line's transform is proportional to its length times the sum of the length's prime factors.
    void remark_on_factors(const char* key, int points)
    {
        constexpr int large = 13, good = 7;
        if (largest_prime_factor(points) <= large) { return; }
        int next = points;
        while (largest_prime_factor(next) > good) { ++next; }
        note("N136", key,
             fmt::format("{} = {} has the prime factor {}, which makes the transforms of PME slow. The next good size is {}.",
                         key, points, largest_prime_factor(points), next));
    }

    void temperature()
    {
        const std::size_t groups = input_.temperature_groups.size();
        if (input_.tau_t.size() != groups || input_.reference_t.size() != groups)
        {
            fail(input_.tau_t.size() != groups ? "tau-t" : "ref-t",
                 "tc-grps names " + std::to_string(groups) + " groups, tau-t has " + std::to_string(input_.tau_t.size()) +
                     " and ref-t " + std::to_string(input_.reference_t.size()) + " values. Give one of each per group.");
        }
        p_.temperature_groups.clear();
        for (std::size_t i = 0; i < groups; ++i)
        {
            p_.temperature_groups.push_back({input_.temperature_groups[i], input_.tau_t[i], input_.reference_t[i]});
        }
        const bool stochastic = p_.integrator == Integrator::StochasticDynamics;
        if (p_.thermostat == Thermostat::None && !stochastic) { return note_idle_annealing(input_, diagnostics_); }
        if (groups == 0)
        {
            fail(stochastic ? "integrator" : "tcoupl",
                 "temperature coupling without tc-grps, tau-t and ref-t. Set, for example, tc-grps = System.");
        }
        take_annealing(input_, diagnostics_);
        double shortest = std::numeric_limits<double>::infinity();
        for (const TemperatureGroup& group : p_.temperature_groups)
        {
            if (stochastic && group.tau <= 0)
            {
                fail("tau-t", "the sd integrator needs tau-t > 0 (the inverse friction) for every group.");
            }
            if (p_.thermostat == Thermostat::VRescale && group.tau == 0)
            {
                fail("tau-t",
                     "v-rescale with tau-t = 0, a new kinetic energy at every coupling, is not supported. Use -1 for a group "
                     "that is not coupled, or a short time.");
            }
            if (p_.thermostat == Thermostat::NoseHoover && group.tau > 0 && starting_temperature(group) <= 0)
            {
                fail("ref-t", "Nose-Hoover needs ref-t > 0, or an annealing temperature > 0 at the start, for every group with "
                              "tau-t > 0: the "
                              "mass of its bath is proportional to it.");
            }
            if (group.tau > 0) { shortest = std::min(shortest, group.tau); }
        }
        if (stochastic) { return; }
        if (p_.thermostat == Thermostat::Berendsen)
        {
            warn("W117", "tcoupl",
                 "the Berendsen thermostat makes the kinetic energy fluctuate less than at a constant temperature. It is for "
                 "equilibration; use v-rescale, which is as fast.");
        }
        const bool second_order = p_.thermostat == Thermostat::NoseHoover;
        const bool has_chain = second_order && p_.integrator == Integrator::VelocityVerlet;
        if (second_order && !has_chain && input_.nose_hoover_chain != 1)
        {
            note("N115", "nh-chain-length", "leap-frog has no Nose-Hoover chains: nh-chain-length = 1 is used, as in GROMACS.");
        }
        if (has_chain && input_.nose_hoover_chain > most_chain_links)
        {
            fail("nh-chain-length",
                 fmt::format("nh-chain-length = {} (more than {} links change nothing that could be measured, and are not "
                             "supported). Use 10, the default.",
                             input_.nose_hoover_chain, most_chain_links));
        }
        p_.nose_hoover_chain = has_chain ? input_.nose_hoover_chain : 1;
        p_.temperature_interval =
            interval(p_.thermostat, p_.temperature_interval, {"nsttcouple", "tau-t", "kinetic energy", "v-rescale", shortest}, 1);
    }

    // Returns n: steps with energies or virial must be multiples of n, and so must their intervals.
    int observable_interval() const { return p_.multiple_time_steps ? p_.mesh_factor : 1; }
    static int round_down(int steps, int multiple) { return std::max(multiple, steps / multiple * multiple); }

    // The names and values of the options that belong to a coupling interval.
    struct Coupled
    {
        const char* key;
        const char* tau_key;
        const char* fluctuates;
        const char* without_lag; // a method whose error has no lag
        double tau;              // ps
    };

    // Returns the interval to use, in steps, a multiple of `multiple`. Warns
    // if fluctuations are right only with a shorter interval or a longer tau.
    template <class Kind>
    int interval(Kind kind, int asked, const Coupled& c, int multiple)
    {
        const int best = round_down(longest_coupling_interval(kind, c.tau, p_.dt), multiple);
        const int used = asked < 0 ? best : asked;
        const CouplingError error = coupling_error(kind, c.tau, used * p_.dt);
        constexpr double most = coupling_error_bound * (1 + 1e-9);
        const CouplingError of_best = coupling_error(kind, c.tau, std::min(best, used) * p_.dt);
        const bool wants_tau = of_best.period > most, wants_interval = best < used && error.total() > most,
                   lags = of_best.lag > most && !wants_tau && !wants_interval;
        if (asked < 0 && !lags)
        {
            note("N116", c.key,
                 fmt::format("{} = {} steps is used{}.", c.key, used,
                             error.total() > 0 ? fmt::format(": the variance of the {} is right within about {}", c.fluctuates,
                                                             percent(error.total()))
                                               : ""));
        }
        if (asked > 0 && asked < least_interval(kind))
        {
            warn("W112", c.key,
                 fmt::format("with {} = {} the coupling hears each step what the step before has made of the system, which pumps "
                             "energy into it: the {} fluctuates by tens of per cent too much. Use {} = {}.",
                             c.key, asked, c.fluctuates, c.key, round_down(least_interval(kind), multiple)));
            return used;
        }
        if (!wants_tau && !wants_interval && !lags) { return used; }
        const std::string advice =
            lags ? fmt::format("{}use {}, or a shorter dt", multiple > 1 ? "lower mts-level2-factor, " : "", c.without_lag)
                 : fmt::format("{}{}{}", wants_interval ? fmt::format("lower {} to {}", c.key, best) : "",
                               wants_interval && wants_tau ? " or " : "", wants_tau ? fmt::format("raise {}", c.tau_key) : "");
        const std::string message =
            fmt::format("the coupling interval of {} ps is too long{}: the variance of the {} will be about {} too large. To "
                        "have it within {}, {}.",
                        number_text(used * p_.dt), lags ? "" : fmt::format(" for {} = {} ps", c.tau_key, number_text(c.tau)),
                        c.fluctuates, percent(error.total()), percent(coupling_error_bound), advice);
        if (lags) { note("N116", c.key, message); } // no interval and no time constant would help
        else if (input_.is_of_grompp)
        {
            note("N199", c.key, message + " It is used as in the file, where grompp may have chosen it.");
        }
        else { warn("W112", asked < 0 ? c.tau_key : c.key, message); }
        return used;
    }

    void pressure()
    {
        if (p_.barostat == Barostat::None) { return; }
        take_pressure_values(input_, diagnostics_);
        if (!input_.gives("tau-p"))
        {
            warn("W113", "pcoupl",
                 "tau-p is not given: " + number_text(p_.tau_p) +
                     " ps is used (GROMACS' default was 1 ps until 2022 and is 5 ps since). Give tau-p.");
        }
        const bool has_temperature = p_.thermostat != Thermostat::None || p_.integrator == Integrator::StochasticDynamics;
        if (p_.barostat == Barostat::CRescale && !has_temperature)
        {
            fail("pcoupl", "C-rescale needs a reference temperature for its noise, but tcoupl = No. Use tcoupl = v-rescale.");
        }
        if (p_.barostat == Barostat::CRescale) { check_noise_temperature(input_); }
        const bool second_order = p_.barostat == Barostat::ParrinelloRahman;
        if (second_order && p_.compressibility == Vec3<double>{})
        {
            fail("compressibility",
                 "Parrinello-Rahman needs compressibility > 0 (the mass of the box is infinite otherwise). Use "
                 "pcoupl = No for a box that stays.");
        }
        barostat_constants(second_order);
        p_.pressure_interval = interval(p_.barostat, p_.pressure_interval,
                                        {"nstpcouple", "tau-p", "volume", "C-rescale", p_.tau_p}, observable_interval());
        if (second_order && p_.thermostat == Thermostat::NoseHoover)
        {
            for (const TemperatureGroup& group : p_.temperature_groups)
            {
                if (p_.tau_p >= 2 * group.tau) { continue; }
                warn("W114", "tau-p",
                     "Nose-Hoover and Parrinello-Rahman resonate when tau-p (" + number_text(p_.tau_p) +
                         " ps) is below twice tau-t (" + number_text(group.tau) + " ps). Raise tau-p.");
                break;
            }
        }
        if (second_order && p_.generate_velocities)
        {
            warn("W115", "pcoupl",
                 "Parrinello-Rahman oscillates strongly from generated velocities. Equilibrate with C-rescale first.");
        }
    }

    // Warns of values that no liquid or solid has. With such values the box would jump or not move.
    void barostat_constants(bool second_order)
    {
        if (p_.barostat == Barostat::Berendsen)
        {
            warn("W117", "pcoupl",
                 "the Berendsen barostat makes the volume fluctuate less than at a constant pressure. It is for equilibration; "
                 "use C-rescale, which is as fast.");
        }
        // The limit is GROMACS': it couples at least every 10 steps by default, and requires tau to be 20 such intervals.
        if (second_order && !input_.gives("nstpcouple") && p_.tau_p < 200 * p_.dt * (1 - 1e-9))
        {
            warn("W118", "tau-p",
                 "tau-p (" + number_text(p_.tau_p) +
                     " ps) is the period in which Parrinello-Rahman makes the box oscillate, and "
                     "shorter than 200 time steps (such a box rings instead of following the pressure). Use 2 to 5 ps.");
        }
        // The compressibility of liquids and solids is 1e-6 to 1e-3 / bar.
        for (const double given : {p_.compressibility.x, p_.compressibility.y, p_.compressibility.z})
        {
            if (given == 0 || (given >= 1e-7 && given <= 1e-2)) { continue; }
            warn("W119", "compressibility",
                 "compressibility = " + number_text(given) +
                     " / bar is that of no liquid or solid (the box would follow the pressure " +
                     (given < 1e-7 ? "too slowly" : "too fast") + " by orders of magnitude). Water has 4.5e-5.");
            break;
        }
    }

    void energy_intervals()
    {
        const int asked = p_.energy_calc;
        if (p_.energy_calc < 0)
        {
            p_.energy_calc = round_down(p_.energy_out > 0 ? std::min(p_.energy_out, 100) : 100, observable_interval());
        }
        if (p_.energy_calc == 0 || (p_.energy_out > 0 && p_.energy_calc > p_.energy_out)) { p_.energy_calc = p_.energy_out; }
        if (asked != p_.energy_calc)
        {
            note("N117", "nstcalcenergy", "nstcalcenergy = " + std::to_string(p_.energy_calc) + " is used.");
        }
        if (p_.energy_calc > 0 && p_.energy_out % p_.energy_calc != 0)
        {
            const std::int64_t rounded = (static_cast<std::int64_t>(p_.energy_out) / p_.energy_calc + 1) * p_.energy_calc;
            if (rounded > std::numeric_limits<int>::max())
            {
                fail("nstenergy", "nstenergy is not a multiple of nstcalcenergy. Make it one.");
            }
            p_.energy_out = static_cast<int>(rounded);
            note("N118", "nstenergy",
                 "nstenergy must be a multiple of nstcalcenergy: " + std::to_string(p_.energy_out) + " is used.");
        }
    }

    // Checks that energies, virial and plain forces are wanted in steps with the mesh only. GROMACS requires the same.
    void multiple_time_stepping()
    {
        if (!p_.multiple_time_steps) { return; }
        ErrorList errors;
        for (const auto& [key, steps] : {std::pair("nstcalcenergy", p_.energy_calc),
                                         {"nstenergy", p_.energy_out},
                                         {"nstlog", p_.log_out},
                                         {"nstfout", p_.f_out},
                                         {"nstpcouple", p_.barostat == Barostat::None ? 0 : p_.pressure_interval}})
        {
            if (steps < 0 || steps % p_.mesh_factor == 0) { continue; } // -1: not chosen yet, due to an error reported elsewhere
            errors.attempt([&, key = key, steps = steps] {
                fail(key, std::string(key) + " (" + std::to_string(steps) + ") is no multiple of mts-level2-factor (" +
                              std::to_string(p_.mesh_factor) +
                              "), and steps between have no forces of PME's mesh. Make it a multiple, or use mts = no.");
            });
        }
        errors.throw_if_any();
    }

    void velocities()
    {
        if (p_.generate_velocities && p_.continuation)
        {
            warn("W116", "gen-vel",
                 "gen-vel = yes with continuation = yes: new velocities do not continue a run. Set one of them to no.");
        }
    }

    void frozen_groups() { take_frozen_groups(input_, diagnostics_); }
    void accelerated_groups() { take_accelerated_groups(input_); }

    MdpInput& input_;
    RunParameters& p_;
    Diagnostics& diagnostics_;
};

} // namespace

void check_parameters(MdpInput& input, Diagnostics& diagnostics) { ParameterCheck(input, diagnostics).run(); }

} // namespace parhelion
