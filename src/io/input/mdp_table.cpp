// SPDX-License-Identifier: Apache-2.0
// The rows of supported options, and the look-up by name.
#include "io/input/mdp_table.hpp"
#include "model/mesh_limits.hpp"

#include "io/input/mdp_table_builder.hpp"
#include "io/input/pressure_values.hpp"
#include "io/input/text.hpp"
#include "model/minimisers.hpp"

#include <limits>
#include <unordered_map>

namespace parhelion {

namespace {
// Half of a step counter's range. The other half is for the steps of a run without an end (engine/run_length.hpp).
constexpr std::int64_t most_first_step = std::numeric_limits<std::int64_t>::max() / 2;
} // namespace

std::size_t word_index(const MdpEntry& entry, const std::vector<std::string>& words,
                       const std::vector<RefusedWord>& refused_words)
{
    const std::string value = normalised(entry.value);
    for (std::size_t i = 0; i < words.size(); ++i)
    {
        if (normalised(words[i]) == value) { return i; }
    }
    for (const RefusedWord& refused : refused_words)
    {
        if (normalised(refused.word) != value) { continue; }
        throw InputError("E140", entry.where,
                         entry.key + " = " + entry.value + " is not supported" +
                             (refused.outlook == planned ? " yet (planned)" : " (not planned)") +
                             ", and nothing else would be the same run. " +
                             (refused.advice.empty() ? "Choose one of: " + joined(words, ", ") + "." : refused.advice));
    }
    std::vector<std::string_view> known(words.begin(), words.end());
    const std::string nearest = nearest_word(entry.value, known);
    throw InputError("E106", entry.where,
                     in_quotes(entry.value) + " is not a value of '" + entry.key + "'. " +
                         (nearest.empty() ? "" : "Did you mean '" + nearest + "'? ") + "Choose one of: " + joined(words, ", ") +
                         ".");
}

namespace {

using P = RunParameters;

// --- conditions under which options have no effect

MdpOption& unused_by_minimiser(MdpOption& row)
{
    return row.unused_if("in a minimisation", [](const MdpInput& in) { return is_minimisation(in.parameters.integrator); });
}
MdpOption& unused_but_by_minimiser(MdpOption& row)
{
    return row.unused_if("except in a minimisation",
                         [](const MdpInput& in) { return !is_minimisation(in.parameters.integrator); });
}
MdpOption& unused_but_by(Integrator integrator, MdpOption& row)
{
    return row.unused_if(std::string("except with integrator = ") + minimiser(integrator).word,
                         [integrator](const MdpInput& in) { return in.parameters.integrator != integrator; });
}
MdpOption& unused_without_mesh(MdpOption& row)
{
    return row.unused_if("without coulombtype = PME",
                         [](const MdpInput& in) { return in.parameters.coulomb != CoulombKind::Pme; });
}
MdpOption& unused_without_lj_mesh(MdpOption& row)
{
    return row.unused_if("without vdwtype = PME", [](const MdpInput& in) { return !in.parameters.has_lj_mesh; });
}
MdpOption& unused_without_barostat(MdpOption& row)
{
    return row.unused_if("where pcoupl is off", [](const MdpInput& in) {
        return in.parameters.barostat == Barostat::None || is_minimisation(in.parameters.integrator);
    });
}

// --- rows

// Stores words that are written -DNAME[=VALUE] or -Ipath, without these prefixes.
void set_prefixed(std::vector<std::string>& list, const MdpEntry& entry, const char* prefix)
{
    std::vector<std::string> names;
    for (const std::string& word : words_of(entry.value))
    {
        if (word.size() < 3 || word.compare(0, 2, prefix) != 0)
        {
            throw InputError("E103", entry.where,
                             in_quotes(word) + " in '" + entry.key + "' does not begin with " + prefix +
                                 " and a name, so it would do nothing. Write " + prefix +
                                 (entry.key == "define" ? "NAME or -DNAME=VALUE." : "directory."));
        }
        names.push_back(word.substr(2));
    }
    list = std::move(names);
}
std::string prefixed(const std::vector<std::string>& list, const std::string& prefix)
{
    std::vector<std::string> words;
    for (const std::string& item : list) { words.push_back(prefix + item); }
    return joined(words, " ");
}

// Returns a text with one word for each temperature group.
template <class Text>
std::string per_group(const P& p, Text text)
{
    std::vector<std::string> words;
    for (const TemperatureGroup& group : p.temperature_groups) { words.push_back(text(group)); }
    return joined(words, " ");
}

void multiple_time_stepping(TableBuilder& t)
{
    t.yes_no("mts", &P::multiple_time_steps, "with integrator = md or sd; nothing to do without PME");
    t.only("mts-levels", "2", {});
    MdpOption& forces = t.special(
        "mts-level2-forces", "`longrange-nonbonded`",
        [](MdpInput&, const MdpEntry& e) {
            const std::string with_pairs = "These forces are computed in every step: use longrange-nonbonded, PME's mesh, alone.";
            ErrorList errors;
            for (const std::string& word : words_of(e.value))
            {
                errors.attempt([&] {
                    word_index({e.key, word, e.where}, {"longrange-nonbonded"},
                               {{"nonbonded", never, with_pairs},
                                {"pair", never, with_pairs},
                                {"dihedral", never, with_pairs},
                                {"angle", never, with_pairs},
                                {"pull", planned, "Use longrange-nonbonded, PME's mesh, alone."},
                                {"awh", never, "Use longrange-nonbonded, PME's mesh, alone."}});
                });
            }
            errors.throw_if_any();
        },
        [](const P&) { return std::string("longrange-nonbonded"); }, "PME's mesh; the other groups of forces are refused");
    forces.unused_if("with mts = no", [](const MdpInput& in) { return !in.parameters.multiple_time_steps; });
    forces.sets_nothing = true;
    t.number("mts-level2-factor", &P::mesh_factor, at_least(2));
}

void run_control(TableBuilder& t)
{
    t.section("Preprocessing");
    t.special(
        "include", "-Idirectory ...", [](MdpInput& in, const MdpEntry& e) { set_prefixed(in.parameters.include_paths, e, "-I"); },
        [](const P& p) { return prefixed(p.include_paths, "-I"); });
    t.special(
        "define", "-DNAME ... or -DNAME=VALUE ...",
        [](MdpInput& in, const MdpEntry& e) { set_prefixed(in.parameters.defines, e, "-D"); },
        [](const P& p) { return prefixed(p.defines, "-D"); });

    t.section("Run control");
    t.word<Integrator>("integrator", &P::integrator,
                       {{"md", Integrator::LeapFrog},
                        {"steep", Integrator::SteepestDescent},
                        {"cg", Integrator::ConjugateGradients},
                        {"l-bfgs", Integrator::LBfgs},
                        {"sd", Integrator::StochasticDynamics},
                        {"md-vv", Integrator::VelocityVerlet},
                        {"md-vv-avek", Integrator::VelocityVerletAverage}},
                       {{"sd2", never, "Use sd."},
                        {"bd", never, "Use sd with a short tau-t."},
                        {"nm", never, "Use GROMACS for normal modes."},
                        {"tpi", never, "Use GROMACS for test-particle insertion."},
                        {"tpic", never, "Use GROMACS for test-particle insertion."},
                        {"mimic", never, "Use GROMACS for QM/MM."}});
    t.number("tinit", &P::start_time);
    unused_by_minimiser(t.number("dt", &P::dt, positive));
    t.number("nsteps", &P::steps, at_least_or<std::int64_t>(0, -1), "-1: no limit");
    t.number("init-step", &P::first_step, between<std::int64_t>(0, most_first_step));
    unused_by_minimiser(t.word<ComMode>("comm-mode", &P::com_mode,
                                        {{"Linear", ComMode::Linear},
                                         {"None", ComMode::None},
                                         {"Angular", ComMode::Angular},
                                         {"Linear-acceleration-correction", ComMode::LinearWithDisplacement}}));
    t.number("nstcomm", &P::com_interval, at_least(0));
    t.list("comm-grps", &P::com_groups, "groups", "empty: System");
    t.number("ld-seed", &P::random_seed, {}, "-1: chosen at the start and logged");
    unused_but_by_minimiser(t.number("emtol", &P::em_tolerance, positive, "kJ/mol/nm"));
    unused_but_by_minimiser(t.number("emstep", &P::em_step, positive, "nm"));
    unused_but_by(Integrator::ConjugateGradients, t.number("nstcgsteep", &P::cg_restart, at_least(0), "0: never"));
    unused_but_by(Integrator::LBfgs, t.number("nbfgscorr", &P::lbfgs_corrections, at_least(1)));
    multiple_time_stepping(t);
    t.number(
        "mass-repartition-factor", &P::mass_repartition_factor, at_least(1.0),
        "the least mass, in units of the smallest one of the system; atoms lighter than it get it from those they are bound to");
    t.harmless("numbering of continued runs is done by the checkpoint", "simulation-part");
    t.harmless("only with an integrator that is refused", "bd-fric fcstep niter rtpi");
}

void output(TableBuilder& t)
{
    t.section("Output");
    t.number("nstxout", &P::x_out, at_least(0));
    t.number("nstvout", &P::v_out, at_least(0));
    t.number("nstfout", &P::f_out, at_least(0));
    t.number("nstlog", &P::log_out, at_least(0));
    t.number("nstcalcenergy", &P::energy_calc, at_least_or(0, -1), "at most nstenergy; -1: as nstenergy, at most 100");
    t.number("nstenergy", &P::energy_out, at_least(0), "rounded up to a multiple of nstcalcenergy");
    t.number("nstxout-compressed", &P::compressed_out, at_least(0));
    t.number("compressed-x-precision", &P::compressed_precision, between(1e-6, 1e12), "steps a nm")
        .unused_if("with nstxout-compressed = 0", [](const MdpInput& in) { return in.parameters.compressed_out == 0; });
    t.list("compressed-x-grps", &P::compressed_groups, "groups", "empty: System");
    t.special(
        "energygrps", "groups", [](MdpInput& in, const MdpEntry& e) { in.energy_groups = words_of(e.value); },
        [](const P&) { return std::string(); }, "energies of the whole system are written, none between groups: W170");
    t.harmless("unused by GROMACS too",
               "user1-grps user2-grps userint1 userint2 userint3 userint4 userreal1 userreal2 userreal3 userreal4");
}

void pme(TableBuilder& t)
{
    unused_without_mesh(t.number("fourierspacing", &P::mesh_spacing, positive, "nm, the most between grid points of PME"));
    for (const auto& [name, field] :
         {std::pair("fourier-nx", &P::mesh_nx), {"fourier-ny", &P::mesh_ny}, {"fourier-nz", &P::mesh_nz}})
    {
        unused_without_mesh(t.number(name, field, between(0, most_mesh_points), "0: by fourierspacing, as GROMACS chooses"));
    }
    unused_without_mesh(t.number("pme-order", &P::pme_order, between(3, 8)));
    unused_without_mesh(
        t.number("ewald-rtol", &P::ewald_tolerance, between(1e-16, 0.1), "below 1e-16 double precision tells no difference"));
    unused_without_mesh(t.only("ewald-geometry", "3d", {{"3dc", planned, "Use 3d."}}));
    unused_without_mesh(t.refused(planned, "a surface term of PME", {"epsilon-surface=0"}));
}

// Adds vdwtype. GROMACS replaces its old values by modifiers.
void vdw_type(TableBuilder& t)
{
    const std::vector<std::string> types = {"Cut-off", "Shift", "Switch", "PME"};
    const std::vector<RefusedWord> refused = {{"User", never, "Use cut-off."}, {"Encad-shift", never, "Use cut-off."}};
    MdpOption& row = t.special(
        "vdwtype", "",
        [types, refused](MdpInput& in, const MdpEntry& e) {
            const std::size_t type = word_index(e, types, refused);
            if (type == 1) { in.modifier_of_vdwtype = LjModifier::ForceSwitch; }
            if (type == 2) { in.modifier_of_vdwtype = LjModifier::PotentialSwitch; }
            in.parameters.has_lj_mesh = type == 3;
        },
        [](const P& p) { return std::string(p.has_lj_mesh ? "PME" : "Cut-off"); },
        "Shift: vdw-modifier = Force-switch, Switch: Potential-switch, as for GROMACS; PME: the dispersion beyond rvdw is on the "
        "mesh, too, on CPUs or one GPU");
    row.words = types;
    row.refused_words = refused;
}

void cutoffs(TableBuilder& t)
{
    const std::string use_pme = "Use PME.";
    const std::string gone = "It went with the group scheme, and GROMACS refuses it, too. Use PME; of the forces with a cut-off, "
                             "reaction-field with epsilon-rf = 0 is nearest to it.";
    t.section("Pair list and cut-offs");
    t.only("cutoff-scheme", "Verlet", {{"group", never, "Use Verlet, as GROMACS 2020 and later do."}});
    t.number("nstlist", &P::list_interval, at_least(1),
             "the plan may take more steps, and fewer in a small box, where atoms become hotter or draw together, with "
             "--reproducible or above 10000; so many if "
             "verlet-buffer-tolerance = -1");
    t.only("pbc", "xyz",
           {{"no", never, "Put the molecules in a large box with pbc = xyz."},
            {"xy", never, "Use a box with vacuum above the slab."},
            {"screw", never, "Use xyz."}});
    t.number("verlet-buffer-tolerance", &P::buffer_tolerance,
             Range<double>{.lowest = 0, .bound = Bound::Exclusive, .has_also = true, .also = -1},
             "-1: rlist and nstlist as given; above 1e-5, 1e-5 is used, or below 300 K in proportion less, so that energies do "
             "not drift");
    t.number("rlist", &P::list_cutoff, positive, "only with verlet-buffer-tolerance = -1")
        .unused_if("with a verlet-buffer-tolerance", [](const MdpInput& in) { return in.parameters.buffer_tolerance > 0; });
    t.word<CoulombKind>(
        "coulombtype", &P::coulomb,
        {{"Cut-off", CoulombKind::CutOff}, {"Reaction-Field", CoulombKind::ReactionField}, {"PME", CoulombKind::Pme}},
        {{"Ewald", never, use_pme},
         {"P3M-AD", never, use_pme},
         {"PME-Switch", never, use_pme},
         {"PME-User", never, use_pme},
         {"PME-User-Switch", never, use_pme},
         {"FMM", never, use_pme},
         {"User", never, use_pme},
         {"Switch", never, gone},
         {"Shift", never, gone},
         {"Encad-shift", never, gone},
         {"Poisson", never, use_pme},
         {"Generalized-Reaction-Field", never, "Use reaction-field with the epsilon-rf of the salt solution."},
         {"Reaction-Field-nec", never, "Use reaction-field."},
         {"Reaction-Field-zero", never, "Use reaction-field with epsilon-rf = 0, which is the same force."}});
    t.word<bool>("coulomb-modifier", &P::coulomb_potential_shift,
                 {{"Potential-shift", true}, {"Potential-shift-Verlet", true}, {"None", false}},
                 {{"Potential-switch", never, ""}, {"Exact-cutoff", never, ""}, {"Force-switch", never, ""}},
                 "without effect on a reaction field, which is zero at the cut-off by its own constant");
    pme(t);
    t.number("rcoulomb", &P::coulomb_cutoff, positive, "equal to rvdw; with PME, rvdw or longer");
    t.number("epsilon-r", &P::epsilon_r, at_least(0.0), "0: infinite");
    t.number("epsilon-rf", &P::epsilon_rf, at_least(0.0), "0: infinite");
    vdw_type(t);
    unused_without_lj_mesh(t.number("ewald-rtol-lj", &P::lj_ewald_tolerance, between(1e-12, 0.1),
                                    "the share of the dispersion at rvdw that pairs have"));
    unused_without_lj_mesh(
        t.word<LjMeshRule>("lj-pme-comb-rule", &P::lj_mesh_rule,
                           {{"Geometric", LjMeshRule::Geometric}, {"Lorentz-Berthelot", LjMeshRule::LorentzBerthelot}}, {},
                           "of the mesh; within rvdw pairs have the dispersion of the force field; GPUs have Geometric"));
    t.word<LjModifier>("vdw-modifier", &P::lj_modifier,
                       {{"Potential-shift", LjModifier::PotentialShift},
                        {"Potential-shift-Verlet", LjModifier::PotentialShift},
                        {"None", LjModifier::None},
                        {"Force-switch", LjModifier::ForceSwitch},
                        {"Potential-switch", LjModifier::PotentialSwitch}},
                       {{"Exact-cutoff", never, "Use potential-shift."}});
    t.number("rvdw-switch", &P::lj_switch, at_least(0.0), "only with force-switch and potential-switch")
        .unused_if("without a switch", [](const MdpInput& in) {
            const LjModifier modifier = in.parameters.lj_modifier;
            return modifier != LjModifier::ForceSwitch && modifier != LjModifier::PotentialSwitch && !in.modifier_of_vdwtype;
        });
    t.number("rvdw", &P::lj_cutoff, positive);
    t.word<DispersionCorrection>("DispCorr", &P::dispersion_correction,
                                 {{"No", DispersionCorrection::None},
                                  {"Ener", DispersionCorrection::Energy},
                                  {"EnerPres", DispersionCorrection::EnergyPressure},
                                  {"AllEner", DispersionCorrection::AllEnergy},
                                  {"AllEnerPres", DispersionCorrection::AllEnergyPressure}});
    t.harmless("molecules that are bonded to their own images are recognised, and everything goes by nearest images",
               "periodic-molecules");
    t.refused(never, "tabulated interactions between groups", {"energygrp-table"});
    t.refused(never, "interactions switched off between groups", {"energygrp-excl"});
    t.harmless("verlet-buffer-tolerance alone sets the buffer here, as in GROMACS before 2024",
               "verlet-buffer-pressure-tolerance");
    t.harmless("only for coulomb types that are refused", "rcoulomb-switch table-extension");
    t.harmless("GROMACS no longer has it", "optimize-fft");
    t.harmless("belongs to the group scheme, which is gone", "ns-type rlistlong nstcalclr");
    t.refused(never, "implicit solvent", {"implicit-solvent=no"});
    t.harmless("only with implicit solvent, which is refused", "gb-algorithm nstgbradii rgbradii gb-epsilon-solvent gb-saltconc "
                                                               "gb-obc-alpha gb-obc-beta gb-obc-gamma gb-dielectric-offset "
                                                               "sa-algorithm sa-surface-tension");
}

void coupling(TableBuilder& t)
{
    const std::string use_vrescale = "Use v-rescale.";
    t.section("Temperature and pressure");
    unused_by_minimiser(t.word<Thermostat>("tcoupl", &P::thermostat,
                                           {{"No", Thermostat::None},
                                            {"Berendsen", Thermostat::Berendsen},
                                            {"Nose-Hoover", Thermostat::NoseHoover},
                                            {"V-rescale", Thermostat::VRescale},
                                            {"yes", Thermostat::Berendsen}},
                                           {{"Andersen", never, use_vrescale},
                                            {"Andersen-massive", never, use_vrescale},
                                            {"Andersen-interval", never, use_vrescale}},
                                           "yes: Berendsen"));
    t.number("nsttcouple", &P::temperature_interval, at_least_or(1, -1),
             "-1: 100, or fewer for the variance of the kinetic energy to be right within 2 %: 1 for Nose-Hoover at 2 fs, 25 "
             "intervals in tau-t for Berendsen, 5 for v-rescale")
        .unused_if("where tcoupl is off", [](const MdpInput& in) {
            return in.parameters.thermostat == Thermostat::None || is_minimisation(in.parameters.integrator);
        });
    t.special(
        "nh-chain-length", "whole number >= 1",
        [](MdpInput& in, const MdpEntry& e) { in.nose_hoover_chain = number_of<int>(e, e.value, at_least(1)); },
        // Prints the value in use, or GROMACS' default if the option has no effect.
        [](const P& p) { return std::to_string(p.thermostat == Thermostat::NoseHoover ? p.nose_hoover_chain : 10); },
        "at most 10; set to 1 for leap-frog, as GROMACS does");
    t.special(
        "tc-grps", "groups", [](MdpInput& in, const MdpEntry& e) { in.temperature_groups = words_of(e.value); },
        [](const P& p) { return per_group(p, [](const TemperatureGroup& group) { return group.name; }); });
    t.special(
        "tau-t", "a number per group", [](MdpInput& in, const MdpEntry& e) { in.tau_t = numbers_of(e, at_least_or(0.0, -1.0)); },
        [](const P& p) { return per_group(p, [](const TemperatureGroup& group) { return number_text(group.tau); }); },
        "ps; 0 or -1: not coupled, but by v-rescale 0 is refused");
    t.special(
        "ref-t", "a number >= 0 per group",
        [](MdpInput& in, const MdpEntry& e) { in.reference_t = numbers_of(e, at_least(0.0)); },
        [](const P& p) { return per_group(p, [](const TemperatureGroup& group) { return number_text(group.reference); }); }, "K");
    unused_by_minimiser(
        t.word<Barostat>("pcoupl", &P::barostat,
                         {{"No", Barostat::None},
                          {"Berendsen", Barostat::Berendsen},
                          {"C-rescale", Barostat::CRescale},
                          {"Parrinello-Rahman", Barostat::ParrinelloRahman}},
                         {{"MTTK", never, "Use Parrinello-Rahman."}, {"Isotropic", never, "Use Berendsen or C-rescale."}}));
    unused_without_barostat(t.word<BoxCoupling>("pcoupltype", &P::box_coupling,
                                                {{"Isotropic", BoxCoupling::Isotropic},
                                                 {"Semiisotropic", BoxCoupling::SemiIsotropic},
                                                 {"Anisotropic", BoxCoupling::Anisotropic},
                                                 {"Surface-Tension", BoxCoupling::SurfaceTension}},
                                                {}, "which edges of the box change by one factor: [pressure.md](pressure.md)"));
    unused_without_barostat(t.number("nstpcouple", &P::pressure_interval, at_least_or(1, -1),
                                     "-1: 100, or fewer for the variance of the volume to be right within 2 %: 2 for "
                                     "Parrinello-Rahman at 2 fs, 42 intervals in tau-p for C-rescale, 25 for Berendsen"));
    unused_without_barostat(t.number("tau-p", &P::tau_p, positive, "ps"));
    t.special(
        "compressibility", "1, 2 or 6 numbers >= 0",
        [](MdpInput& in, const MdpEntry& e) { in.compressibility = numbers_of(e, {}); }, compressibility_text,
        "1/bar; must be given when pcoupl is on; semiisotropic and surface-tension: for x and y, for z; anisotropic: xx yy zz xy "
        "xz yz, of which the last three shear the box; 0: the edge stays");
    t.special(
        "ref-p", "1, 2 or 6 numbers", [](MdpInput& in, const MdpEntry& e) { in.reference_p = numbers_of(e, {}); },
        reference_pressure_text,
        "bar; must be given when pcoupl is on; in the order of compressibility, but surface-tension: the tension of all surfaces "
        "together in bar nm, then the pressure along z");
    t.word<RefcoordScaling>("refcoord-scaling", &P::refcoord_scaling,
                            {{"No", RefcoordScaling::None}, {"All", RefcoordScaling::All}, {"COM", RefcoordScaling::Com}}, {},
                            "COM: of the reference positions in the first of every row of like molecules, as in GROMACS");
    t.yes_no("gen-vel", &P::generate_velocities);
    t.number("gen-temp", &P::generation_temperature, at_least(0.0), "K").unused_if("with gen-vel = no", [](const MdpInput& in) {
        return !in.parameters.generate_velocities;
    });
    t.number("gen-seed", &P::generation_seed, {}, "-1: chosen at the start and logged");
    add_annealing(t);
    t.harmless("chains are not written", "print-nose-hoover-chain-variables");
    t.word<EnsembleTemperature>("ensemble-temperature-setting", &P::ensemble_temperature_setting,
                                {{"auto", EnsembleTemperature::Auto},
                                 {"constant", EnsembleTemperature::Constant},
                                 {"not-available", EnsembleTemperature::NotAvailable},
                                 {"variable", EnsembleTemperature::Variable}},
                                {},
                                "auto: the ref-t of all groups, if they agree and all are coupled; with annealing, which is "
                                "variable, its temperature if all have the same");
    t.number("ensemble-temperature", &P::given_ensemble_temperature, at_least_or(0.0, -1.0),
             "K, of the noise of C-rescale, which needs it where auto finds none; -1: not given");
    t.harmless("only with the Andersen thermostat, which is refused", "andersen-seed");

    t.section("Constraints");
    t.word<ConstraintMode>(
        "constraints", &P::constraints,
        {{"none", ConstraintMode::None}, {"h-bonds", ConstraintMode::HBonds}, {"all-bonds", ConstraintMode::AllBonds}},
        {{"h-angles", never, "Use h-bonds or all-bonds."}, {"all-angles", never, "Use h-bonds or all-bonds."}});
    const std::vector<std::string> algorithms = {"LINCS", "SHAKE"};
    t.special(
        "constraint-algorithm", "LINCS",
        [algorithms](MdpInput& in, const MdpEntry& e) { in.shake = word_index(e, algorithms, {}) == 1; },
        [](const P&) { return std::string("LINCS"); }, "SHAKE (not planned) is refused where something is constrained");
    t.yes_no("continuation", &P::continuation);
    t.number("lincs-order", &P::lincs_order, between(1, 64));
    t.number("lincs-iter", &P::lincs_iterations, between(1, 64));
    t.number("lincs-warnangle", &P::lincs_warn_angle, between(0.0, 180.0),
             "degrees; a bond that turns by more in a step ends the run");
    t.refused(never, "Morse potentials in place of bonds", {"morse=no"});
    t.harmless("only with SHAKE, which is refused", "Shake-SOR shake-tol");
}

// Option names that GROMACS has replaced: old name, current name.
constexpr std::pair<std::string_view, std::string_view> renamed[] = {
    {"nstxtcout", "nstxout-compressed"},
    {"xtc-precision", "compressed-x-precision"},
    {"xtc-grps", "compressed-x-grps"},
    {"unconstrained-start", "continuation"},
    {"verlet-buffer-drift", "verlet-buffer-tolerance"},
};

// Returns the normalised name, with every run of digits replaced by '#'.
std::string pattern_of(std::string_view name)
{
    std::string s;
    for (const char c : normalised(name))
    {
        if (c < '0' || c > '9') { s += c; }
        else if (s.empty() || s.back() != '#') { s += '#'; }
    }
    return s;
}

void distance_restraints(TableBuilder& t)
{
    t.section("Restraints of distances");
    const auto is_off = [](const MdpInput& in) { return !in.parameters.distance_restraints; };
    t.special(
        "disre", "`no`, `simple`; `ensemble` where the topology has nothing for it",
        [](MdpInput& in, const MdpEntry& e) {
            const std::size_t word = word_index(e, {"no", "simple", "ensemble"}, {});
            in.parameters.distance_restraints = word > 0, in.ensemble_restraints = word == 2;
        },
        [](const P& p) { return std::string(p.distance_restraints ? "simple" : "no"); },
        "no: [ distance_restraints ] are skipped; averages over simulations are refused (not planned)");
    t.number("disre-fc", &P::distance_restraint_k, at_least(0.0), "kJ/mol/nm^2, times the factor in the topology")
        .unused_if("with disre = no", is_off);
    t.special(
         "disre-tau", "0; any number where the topology has nothing for it",
         [](MdpInput& in, const MdpEntry& e) { in.averages_restraints = number_of<double>(e, e.value, at_least(0.0)) > 0; },
         [](const P&) { return std::string("0"); }, "ps; averages over time are refused (not planned)")
        .unused_if("with disre = no", is_off);
    t.special(
         "disre-weighting", "`conservative`, `equal`",
         [](MdpInput& in, const MdpEntry& e) {
             in.parameters.equal_distance_forces = word_index(e, {"conservative", "equal"}, {}) == 1;
         },
         [](const P& p) { return std::string(p.equal_distance_forces ? "equal" : "conservative"); },
         "of restraints of several pairs (and type 1): forces that are the derivative of the energy, or equal ones on all pairs")
        .unused_if("with disre = no", is_off);
    t.harmless("only with averages over time, which are refused", "disre-mixed");
    t.harmless("restrained distances are not written to the energy file", "nstdisreout");
}

} // namespace

const std::vector<MdpOption>& mdp_table()
{
    static const std::vector<MdpOption> table = [] {
        TableBuilder builder;
        run_control(builder);
        output(builder);
        cutoffs(builder);
        coupling(builder);
        distance_restraints(builder);
        add_special_forces(builder);
        add_free_energy(builder);
        return std::move(builder.rows);
    }();
    return table;
}

const MdpOption* find_mdp_option(std::string_view name)
{
    static const std::unordered_map<std::string, const MdpOption*> by_name = [] {
        std::unordered_map<std::string, const MdpOption*> map;
        for (const MdpOption& option : mdp_table()) { map[normalised(option.name)] = &option; }
        for (const auto& [old, current] : renamed) { map[normalised(old)] = map.at(normalised(current)); }
        return map;
    }();
    auto found = by_name.find(normalised(name));
    if (found == by_name.end()) { found = by_name.find(pattern_of(name)); }
    return found == by_name.end() ? nullptr : found->second;
}

std::string nearest_mdp_option(std::string_view name)
{
    std::vector<std::string_view> known;
    for (const MdpOption& option : mdp_table()) { known.push_back(option.name); }
    return nearest_word(name, known);
}

} // namespace parhelion
