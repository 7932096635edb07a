// SPDX-License-Identifier: Apache-2.0
#include "io/input/tpr/parameters.hpp"

#include "io/input/mdp_value.hpp"
#include "io/input/tpr/modules.hpp"
#include "io/input/tpr/tree.hpp"
#include "model/minimisers.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace parhelion {

namespace {

// The words of an option by their number, unchanged since GROMACS 2018. An empty word means an invalid number.
using TprWords = std::vector<std::string_view>;
const TprWords integrators = {"md",  "steep", "cg", "bd",    "sd2",        "nm",   "l-bfgs",
                              "tpi", "tpic",  "sd", "md-vv", "md-vv-avek", "mimic"};
const TprWords comm_modes = {"Linear", "Angular", "None", "Linear-acceleration-correction"};
const TprWords coulomb_types = {"Cut-off",
                                "Reaction-Field",
                                "Generalized-Reaction-Field",
                                "PME",
                                "Ewald",
                                "P3M-AD",
                                "Poisson",
                                "Switch",
                                "Shift",
                                "User",
                                "GB-Generalized-Born",
                                "Reaction-Field-nec",
                                "Encad-shift",
                                "PME-User",
                                "PME-Switch",
                                "PME-User-Switch",
                                "Reaction-Field-zero",
                                "FMM"};
const TprWords vdw_types = {"Cut-off", "Switch", "Shift", "User", "Encad-shift", "PME"};
const TprWords modifiers = {"Potential-shift-Verlet", "Potential-shift", "None",
                            "Potential-switch",       "Exact-cutoff",    "Force-switch"};
const TprWords dispersion_corrections = {"No", "EnerPres", "Ener", "AllEnerPres", "AllEner"};
const TprWords thermostats = {"No", "Berendsen", "Nose-Hoover", "yes", "Andersen", "Andersen-massive", "V-rescale"};
const TprWords barostats = {"No", "Berendsen", "Parrinello-Rahman", "Isotropic", "MTTK", "C-rescale"};
const TprWords box_couplings = {"Isotropic", "Semiisotropic", "Anisotropic", "Surface-Tension"};
const TprWords scalings = {"No", "All", "COM"};
const TprWords free_energies = {"no", "yes", "static", "slow-growth", "expanded"};
const TprWords annealings = {"no", "single", "periodic"};
const TprWords mesh_forces = {"longrange-nonbonded", "nonbonded", "pair", "dihedral", "angle", "pull", "awh"};

// The first file version that has a field, or that lacks it.
constexpr int without_implicit_solvent = 113, with_internal_tree = 117, with_mts = 122, without_accelerations = 123,
              with_accelerations_again = 126, with_ensemble_temperature = 129, with_mass_repartition = 131,
              with_pressure_tolerance = 133, with_centres = 135, with_output_tree = 139;

class TprParametersReader
{
public:
    TprParametersReader(TprCursor& cursor, const TprHeader& header) : cursor_(cursor), header_(header), version_(header.version)
    {
    }

    TprParameters read()
    {
        say_word("pbc", {"xyz", "no", "xy", "screw"});
        cursor_.truth(); // periodic-molecules; this program detects such molecules itself
        steps();
        lists_and_output();
        interactions();
        mesh();
        coupling();
        free_energy();
        restraints();
        constraints();
        modules();
        groups();
        rest();
        return std::move(result_);
    }

private:
    void say(std::string name, std::string value) { result_.options.emplace_back(std::move(name), std::move(value)); }
    void say_integer(const char* name) { say(name, std::to_string(cursor_.integer())); }
    void say_real(const char* name) { say(name, number_text(cursor_.real())); }
    void say_word(const char* name, const TprWords& words) { say(name, std::string(cursor_.word(name, words))); }

    void steps()
    {
        integrator_ = cursor_.word("integrator", integrators);
        say("integrator", integrator_);
        say("nsteps", std::to_string(cursor_.long_integer()));
        say("init-step", std::to_string(cursor_.long_integer()));
        cursor_.skip_integers(1); // simulation-part
        if (version_ >= with_mts && cursor_.truth()) { multiple_time_steps(); }
        if (version_ >= with_mass_repartition) { cursor_.skip_reals(1); } // mass-repartition-factor; the file's masses include it
        if (version_ < with_ensemble_temperature) { return; }
        temperature_kind_ = cursor_.word("ensemble-temperature-setting", {"not-available", "constant", "variable", "auto"});
        ensemble_temperature_ = cursor_.real();
    }

    // Reads multiple time stepping. Level 1 is in the list, too. If level 2 has no forces, all forces act in every step.
    void multiple_time_steps()
    {
        const std::size_t levels = cursor_.count("levels of time steps", 8);
        for (std::size_t level = 1; level <= levels; ++level)
        {
            const std::int32_t forces = cursor_.integer(), factor = cursor_.integer();
            if (level == 1 || forces == 0) { continue; }
            std::vector<std::string> names;
            for (std::size_t i = 0; i < mesh_forces.size(); ++i)
            {
                if ((forces >> i & 1) != 0) { names.emplace_back(mesh_forces[i]); }
            }
            if (level == 2)
            {
                say("mts", "yes");
                say("mts-levels", std::to_string(levels));
                say("mts-level2-forces", joined(names, " "));
                say("mts-level2-factor", std::to_string(factor));
            }
        }
    }

    void lists_and_output()
    {
        if (version_ < with_output_tree) { say_integer("nstcalcenergy"); }
        const std::string scheme(cursor_.word("cutoff-scheme", {"Verlet", "group"}));
        say("cutoff-scheme", scheme);
        cursor_.skip_integers(1);
        say_integer("nstlist");
        cursor_.skip_integers(1);
        cursor_.skip_reals(1); // rtpi
        say_integer("nstcomm");
        say_word("comm-mode", comm_modes);
        const std::int32_t lines = cursor_.integer(), corrections = cursor_.integer();
        if (integrator_ == "cg") { say("nstcgsteep", std::to_string(lines)); }
        if (integrator_ == "l-bfgs") { say("nbfgscorr", std::to_string(corrections)); }
        if (version_ < with_output_tree)
        {
            for (const char* const name : {"nstlog", "nstxout", "nstvout", "nstfout", "nstenergy", "nstxout-compressed"})
            {
                say_integer(name);
            }
        }
        say("tinit", number_text(cursor_.real64()));
        say("dt", number_text(cursor_.real64()));
        if (version_ < with_output_tree) { say_real("compressed-x-precision"); }
        const double tolerance = cursor_.real();
        if (scheme == "Verlet") { say("verlet-buffer-tolerance", number_text(tolerance)); }
        if (version_ >= with_pressure_tolerance) { cursor_.skip_reals(1); }
        const double list = cursor_.real();
        if (tolerance < 0) { say("rlist", number_text(list)); }
        cursor_.skip_integers(1);
    }

    void interactions()
    {
        const std::string_view coulomb = cursor_.word("coulombtype", coulomb_types);
        has_mesh_ = coulomb == "PME";
        say("coulombtype", std::string(coulomb));
        say_word("coulomb-modifier", modifiers);
        cursor_.skip_reals(1); // rcoulomb-switch
        say_real("rcoulomb");
        const std::string_view vdw = cursor_.word("vdwtype", vdw_types);
        has_lj_mesh_ = vdw == "PME";
        say("vdwtype", std::string(vdw));
        say_word("vdw-modifier", modifiers);
        say_real("rvdw-switch");
        say_real("rvdw");
        say_word("DispCorr", dispersion_corrections);
        say_real("epsilon-r");
        const double surroundings = cursor_.real();
        if (coulomb == "Reaction-Field") { say("epsilon-rf", number_text(surroundings)); }
        cursor_.skip_reals(1); // table-extension
        if (version_ >= without_implicit_solvent) { return; }
        cursor_.skip_integers(2);
        cursor_.skip_reals(2);
        if (cursor_.integer() != 0) { say("implicit-solvent", "yes"); }
        cursor_.skip_reals(5);
        cursor_.skip_integers(1);
        cursor_.skip_reals(1);
    }

    void mesh()
    {
        NamedList<std::string> options;
        // The grid spacing may be 0 if the grid's size is given.
        if (const double spacing = cursor_.real(); spacing > 0) { options.emplace_back("fourierspacing", number_text(spacing)); }
        for (const char* const name : {"fourier-nx", "fourier-ny", "fourier-nz", "pme-order"})
        {
            options.emplace_back(name, std::to_string(cursor_.integer()));
        }
        options.emplace_back("ewald-rtol", number_text(cursor_.real()));
        const double lj_tolerance = cursor_.real();
        if (has_lj_mesh_) { options.emplace_back("ewald-rtol-lj", number_text(lj_tolerance)); }
        options.emplace_back("ewald-geometry", cursor_.word("ewald-geometry", {"3d", "3dc"}));
        options.emplace_back("epsilon-surface", number_text(cursor_.real()));
        const std::string_view lj_rule = cursor_.word("lj-pme-comb-rule", {"Geometric", "Lorentz-Berthelot"});
        if (has_lj_mesh_) { options.emplace_back("lj-pme-comb-rule", lj_rule); }
        if (has_mesh_) { result_.options.insert(result_.options.end(), options.begin(), options.end()); }
    }

    void coupling()
    {
        say("continuation", cursor_.truth() ? "yes" : "no");
        const std::string thermostat(cursor_.word("tcoupl", thermostats));
        say("tcoupl", thermostat);
        // nh-chain-length, among the options of groups, says whether Nose-Hoover uses chains.
        is_chained_ = thermostat == "Nose-Hoover";
        result_.has_thermostat = thermostat != "No" || integrator_ == "sd";
        cursor_.truth(); // print-nose-hoover-chain-variables
        const std::int32_t interval = cursor_.integer();
        if (thermostat != "No") { say("nsttcouple", std::to_string(interval)); }
        pressure();
        result_.refcoord_scaling = cursor_.word("refcoord-scaling", scalings);
        say("refcoord-scaling", result_.refcoord_scaling);
        const std::size_t centres = version_ >= with_centres ? cursor_.count("reference centres", 24) : 1;
        result_.reference_centres = cursor_.vectors(centres);
        cursor_.skip_reals(3 * centres); // reference centres of state B
    }

    void pressure()
    {
        const std::string barostat(cursor_.word("pcoupl", barostats));
        const std::string kind(cursor_.word("pcoupltype", box_couplings));
        const std::int32_t interval = cursor_.integer();
        const double tau = cursor_.real();
        const std::vector<Vec3<double>> reference = cursor_.vectors(3), compressibility = cursor_.vectors(3);
        say("pcoupl", barostat);
        if (barostat == "No") { return; }
        const auto values = [&](const std::vector<Vec3<double>>& matrix) {
            std::vector<std::string> numbers = {number_text(matrix[0].x)};
            if (kind == "Anisotropic") { numbers.push_back(number_text(matrix[1].y)); }
            if (kind != "Isotropic") { numbers.push_back(number_text(matrix[2].z)); }
            if (kind == "Anisotropic")
            {
                for (const double shear : {matrix[0].y, matrix[0].z, matrix[1].z}) { numbers.push_back(number_text(shear)); }
            }
            return joined(numbers, " ");
        };
        say("pcoupltype", kind);
        say("nstpcouple", std::to_string(interval));
        say("tau-p", number_text(tau));
        say("compressibility", values(compressibility));
        say("ref-p", values(reference));
        if (temperature_kind_.empty()) { return; }
        say("ensemble-temperature-setting", temperature_kind_);
        say("ensemble-temperature", number_text(ensemble_temperature_));
    }

    void free_energy()
    {
        cursor_.skip_reals(1); // shake-tol
        const std::string_view kind = cursor_.word("free-energy", free_energies);
        if (kind != "no") { say("free-energy", std::string(kind)); }
        std::size_t lambdas = 0;
        skip_free_energy(cursor_, version_, lambdas);
        if (cursor_.truth())
        {
            say("simulated-tempering", "yes");
            cursor_.skip_integers(1); // scaling
            cursor_.skip_reals(2 + lambdas);
        }
        if (cursor_.truth()) { skip_expanded_ensemble(cursor_, version_, lambdas); }
    }

    void restraints()
    {
        const std::string restraint(cursor_.word("disre", {"no", "simple", "ensemble"}));
        const std::string weighting(cursor_.word("disre-weighting", {"conservative", "equal"}));
        cursor_.truth(); // disre-mixed
        const double strength = cursor_.real(), time = cursor_.real();
        cursor_.skip_integers(1); // nstdisreout
        if (restraint != "no")
        {
            say("disre", restraint);
            say("disre-weighting", weighting);
            say("disre-fc", number_text(strength));
            say("disre-tau", number_text(time));
        }
        cursor_.skip_reals(2); // orire-fc, orire-tau: if such restraints act, the topology has them
        cursor_.skip_integers(1);
    }

    void constraints()
    {
        const double step = cursor_.real(), tolerance = cursor_.real();
        if (std::ranges::any_of(minimisers, [&](const Minimiser& m) { return m.word == integrator_; }))
        {
            say("emstep", number_text(step)), say("emtol", number_text(tolerance));
        }
        cursor_.truth();          // Shake-SOR
        cursor_.skip_integers(1); // niter
        cursor_.skip_reals(1);    // fcstep
        say_word("constraint-algorithm", {"LINCS", "SHAKE"});
        say_integer("lincs-order");
        say_real("lincs-warnangle");
        say_integer("lincs-iter");
        cursor_.skip_reals(1); // bd-fric
        say("ld-seed", std::to_string(cursor_.long_integer()));
        const std::vector<double> deform = cursor_.reals(9);
        if (std::ranges::any_of(deform, [](double v) { return v != 0; })) { say("deform", "yes"); }
        if (const double wave = cursor_.real(); wave != 0) { say("cos-acceleration", number_text(wave)); }
        cursor_.skip_integers(4); // userint
        cursor_.skip_reals(4);    // userreal
    }

    void modules()
    {
        if (cursor_.truth()) { say("pull", "yes"), skip_pulling(cursor_, version_); }
        if (cursor_.truth()) { say("awh", "yes"), skip_weight_histograms(cursor_, version_); }
        if (cursor_.truth()) { say("rotation", "yes"), skip_rotation(cursor_); }
        if (cursor_.truth()) { say("IMD-group", "yes"), skip_atoms(cursor_); }
    }

    void groups()
    {
        const std::size_t coupled = cursor_.count("temperature groups", 3 * static_cast<std::size_t>(cursor_.real_bytes));
        if (const std::int32_t chain = cursor_.integer(); is_chained_) { say("nh-chain-length", std::to_string(chain)); }
        const bool has_accelerations = version_ < without_accelerations || version_ >= with_accelerations_again;
        const std::size_t accelerated = has_accelerations ? cursor_.count("accelerated groups", 12) : 0;
        const std::size_t frozen = cursor_.count("frozen groups", 12), energies = cursor_.count("energy groups", 4);
        if (static_cast<std::int32_t>(coupled) != header_.coupling_groups)
        {
            cursor_.fail("the numbers of temperature groups differ");
        }
        result_.coupling.resize(coupled);
        for (double TprCoupling::*const value : {&TprCoupling::degrees_of_freedom, &TprCoupling::reference, &TprCoupling::tau})
        {
            for (TprCoupling& group : result_.coupling) { group.*value = cursor_.real(); }
        }
        for (std::size_t i = 0; i < frozen; ++i)
        {
            std::array<bool, 3>& axes = result_.frozen_axes.emplace_back();
            for (bool& axis : axes) { axis = cursor_.integer() != 0; }
        }
        result_.accelerations = cursor_.vectors(accelerated);
        if (energies > 0 && energies > cursor_.left() / 4 / energies)
        {
            cursor_.fail("the flags of energy groups are not whole");
        }
        for (const std::int32_t flags : cursor_.integers(energies * energies))
        {
            result_.excludes_groups |= (flags & 1) != 0;
            result_.tables_of_groups |= (flags & 2) != 0;
        }
        annealing();
    }

    void annealing()
    {
        for (TprCoupling& group : result_.coupling) { group.annealing = cursor_.word("annealing", annealings); }
        std::vector<std::size_t> points;
        for (std::size_t i = 0; i < result_.coupling.size(); ++i)
        {
            points.push_back(cursor_.count("points of annealing", 2 * static_cast<std::size_t>(cursor_.real_bytes)));
        }
        for (std::size_t i = 0; i < points.size(); ++i)
        {
            result_.coupling[i].times = cursor_.reals(points[i]);
            result_.coupling[i].temperatures = cursor_.reals(points[i]);
        }
    }

    void rest()
    {
        if (const std::int32_t walls = cursor_.integer(); walls != 0) { say("nwall", std::to_string(walls)); }
        cursor_.skip_integers(1); // wall-type
        cursor_.skip_reals(1);    // wall-r-linpot
        cursor_.skip_integers(2); // wall-atomtype
        cursor_.skip_reals(3);    // wall-density, wall-ewald-zfac
        const std::string_view swapped = cursor_.word("swapcoords", {"no", "X", "Y", "Z"});
        if (swapped != "no") { say("swapcoords", std::string(swapped)), skip_swapping(cursor_); }
        quantum();
        const TprTree tree = read_tpr_tree(cursor_);
        modules_of(tree);
        if (version_ >= with_output_tree) { output_of(tree); }
        if (version_ >= with_internal_tree) { read_tpr_tree(cursor_); }
    }

    void quantum()
    {
        const bool is_on = cursor_.truth();
        cursor_.skip_integers(1);
        cursor_.skip_reals(1);
        const std::size_t count = cursor_.count("quantum groups", 1);
        if (!is_on) { return; }
        say("QMMM", "yes");
        cursor_.skip_integers(4 * count);
        for (std::size_t i = 0; i < count; ++i) { cursor_.truth(); }
        cursor_.skip_integers(2 * count);
        cursor_.skip_reals(2 * count);
        cursor_.skip_integers(3 * count);
    }

    void modules_of(const TprTree& tree)
    {
        for (const std::string axis : {"x", "y", "z"})
        {
            const std::string path = "applied-forces/electric-field/" + axis + "/";
            const std::string amplitude = value_at(tree, path + "E0", "0");
            if (amplitude == "0") { continue; }
            say("electric-field-" + axis, amplitude + " " + value_at(tree, path + "omega", "0") + " " +
                                              value_at(tree, path + "t0", "0") + " " + value_at(tree, path + "sigma", "0"));
        }
        for (const std::string module : {"density-guided-simulation", "qmmm-cp2k", "colvars", "nnpot"})
        {
            const std::string is_active = value_at(tree, "applied-forces/" + module + "/active", "false");
            if (is_active != "false") { say(module + "-active", is_active); }
        }
    }

    void output_of(const TprTree& tree)
    {
        for (const std::string name :
             {"nstcalcenergy", "nstlog", "nstxout", "nstvout", "nstfout", "nstenergy", "nstxout-compressed"})
        {
            const std::string value = value_at(tree, "output-control/" + name, "");
            if (!value.empty()) { say(name, value); }
        }
        const std::string precision = value_at(tree, "output-control/x-compression-precision", "");
        if (!precision.empty()) { say("compressed-x-precision", precision); }
    }

    TprCursor& cursor_;
    const TprHeader& header_;
    int version_;
    TprParameters result_;
    std::string integrator_, temperature_kind_;
    double ensemble_temperature_ = -1;
    bool has_mesh_ = false, has_lj_mesh_ = false, is_chained_ = false;
};

} // namespace

TprParameters read_tpr_parameters(TprCursor& cursor, const TprHeader& header)
{
    return TprParametersReader(cursor, header).read();
}

} // namespace parhelion
