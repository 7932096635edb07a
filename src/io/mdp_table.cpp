// SPDX-License-Identifier: Apache-2.0
// The rows. A honoured row names a field of RunParameters, so that parsing, printing and the default in the manual cannot
// disagree.
#include "io/mdp_table.hpp"

#include "io/text.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace parhelion {

namespace {

using P = RunParameters;
constexpr Outlook planned = Outlook::Planned, never = Outlook::NotPlanned;

template <class T>
constexpr Range<T> at_least(T lowest)
{
    return {.lowest = lowest};
}
template <class T>
constexpr Range<T> at_least_or(T lowest, T also)
{
    return {.lowest = lowest, .has_also = true, .also = also};
}
template <class T>
constexpr Range<T> between(T lowest, T highest)
{
    return {.lowest = lowest, .highest = highest};
}
constexpr Range<double> positive{.lowest = 0.0, .bound = Bound::Exclusive};

template <class T>
std::string text_of(T x)
{
    if constexpr (std::is_floating_point_v<T>) { return number_text(x); }
    else { return std::to_string(x); }
}

// Index of the value among the words; throws E106 for an unknown word and E140 for one that is not supported.
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
                     parhelion::quoted(entry.value) + " is not a value of '" + entry.key + "'. " +
                         (nearest.empty() ? "" : "Did you mean '" + nearest + "'? ") + "Choose one of: " + joined(words, ", ") +
                         ".");
}

// Collects rows under the current section's heading.
class TableBuilder
{
public:
    std::vector<MdpOption> rows;

    void section(std::string heading) { section_ = std::move(heading); }

    template <class T>
    void number(std::string name, T P::*field, Range<T> range = {}, std::string remark = "")
    {
        MdpOption& row = honoured(std::move(name), std::move(remark));
        row.numbers = std::is_floating_point_v<T> ? "number" : "whole number";
        if (const std::string limits = range.text(); !limits.empty()) { row.numbers += " " + limits; }
        row.set = [field, range](MdpInput& in, const MdpEntry& e) { in.parameters.*field = number_of<T>(e, e.value, range); };
        row.print = [field](const P& p) { return text_of(p.*field); };
    }

    template <class E>
    void word(std::string name, E P::*field, const std::vector<std::pair<std::string, E>>& accepted,
              std::vector<RefusedWord> refused_words = {}, std::string remark = "")
    {
        MdpOption& row = honoured(std::move(name), std::move(remark));
        std::vector<E> values;
        for (const auto& [spelling, value] : accepted)
        {
            row.words.push_back(spelling);
            values.push_back(value);
        }
        row.refused_words = std::move(refused_words);
        row.set = [field, values, words = row.words, refused = row.refused_words](MdpInput& in, const MdpEntry& e) {
            in.parameters.*field = values[word_index(e, words, refused)];
        };
        row.print = [field, values, words = row.words](const P& p) {
            return words[static_cast<std::size_t>(std::find(values.begin(), values.end(), p.*field) - values.begin())];
        };
    }
    void yes_no(std::string name, bool P::*field, std::string remark = "")
    {
        word<bool>(std::move(name), field, {{"no", false}, {"yes", true}}, {}, std::move(remark));
    }
    // One word is all there is; the others are refused.
    void only(std::string name, std::string accepted, std::vector<RefusedWord> refused_words, std::string remark = "")
    {
        MdpOption& row = honoured(std::move(name), std::move(remark));
        row.words = {accepted};
        row.refused_words = std::move(refused_words);
        row.set = [words = row.words, refused = row.refused_words](MdpInput&, const MdpEntry& e) {
            word_index(e, words, refused);
        };
        row.print = [accepted](const P&) { return accepted; };
    }
    void list(std::string name, std::vector<std::string> P::*field, std::string values, std::string remark = "")
    {
        MdpOption& row = honoured(std::move(name), std::move(remark));
        row.numbers = std::move(values);
        row.set = [field](MdpInput& in, const MdpEntry& e) { in.parameters.*field = words_of(e.value); };
        row.print = [field](const P& p) { return joined(p.*field, " "); };
    }
    template <class Set, class Print>
    void special(std::string name, std::string values, Set set, Print print, std::string remark = "")
    {
        MdpOption& row = honoured(std::move(name), std::move(remark));
        row.numbers = std::move(values);
        row.set = set;
        row.print = print;
    }
    // "name=off|other-off" for every switch of the feature; no '=': only an empty value is accepted.
    void refused(Outlook outlook, const std::string& feature, const std::vector<std::string>& switches)
    {
        for (const std::string& text : switches)
        {
            const std::size_t equals = std::min(text.find('='), text.size());
            MdpOption row{.section = section_, .name = text.substr(0, equals), .support = Support::Refused, .remark = feature};
            row.outlook = outlook;
            for (std::size_t at = equals; at < text.size();)
            {
                const std::size_t end = std::min(text.find('|', at + 1), text.size());
                row.words.push_back(text.substr(at + 1, end - at - 1));
                at = end;
            }
            rows.push_back(std::move(row));
        }
    }
    void harmless(const std::string& reason, std::string_view names)
    {
        for (const std::string& name : words_of(names))
        {
            rows.push_back({.section = section_, .name = name, .support = Support::Harmless, .remark = reason});
        }
    }

private:
    MdpOption& honoured(std::string name, std::string remark)
    {
        rows.push_back({.section = section_, .name = std::move(name), .support = Support::Honoured, .remark = std::move(remark)});
        return rows.back();
    }
    std::string section_;
};

// -DNAME[=VALUE] or -Ipath words without their prefix.
void set_prefixed(std::vector<std::string>& list, const MdpEntry& entry, const char* prefix)
{
    list.clear();
    for (const std::string& word : words_of(entry.value))
    {
        if (word.size() < 3 || word.compare(0, 2, prefix) != 0)
        {
            throw InputError("E103", entry.where,
                             parhelion::quoted(word) + " in '" + entry.key + "' does not begin with " + prefix +
                                 " and a name, so it would do nothing. Write " + prefix +
                                 (entry.key == "define" ? "NAME or -DNAME=VALUE." : "directory."));
        }
        list.push_back(word.substr(2));
    }
}
std::string prefixed(const std::vector<std::string>& list, const std::string& prefix)
{
    std::string s;
    for (const std::string& item : list) { s += (s.empty() ? "" : " ") + prefix + item; }
    return s;
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
    const std::string minimise = "Use steep.";
    t.word<Integrator>(
        "integrator", &P::integrator,
        {{"md", Integrator::LeapFrog}, {"steep", Integrator::SteepestDescent}, {"sd", Integrator::StochasticDynamics}},
        {{"md-vv", planned, "Use md, which has the same trajectory up to the half-step velocities."},
         {"md-vv-avek", never, "Use md."},
         {"sd2", never, "Use sd."},
         {"bd", never, "Use sd with a short tau-t."},
         {"cg", never, minimise},
         {"l-bfgs", never, minimise},
         {"nm", never, "Use GROMACS for normal modes."},
         {"tpi", never, "Use GROMACS for test-particle insertion."},
         {"tpic", never, "Use GROMACS for test-particle insertion."},
         {"mimic", never, "Use GROMACS for QM/MM."}});
    t.number("tinit", &P::start_time);
    t.number("dt", &P::dt, positive);
    t.number("nsteps", &P::steps, at_least_or<std::int64_t>(0, -1), "-1: no limit");
    t.number("init-step", &P::first_step, at_least<std::int64_t>(0));
    t.word<ComMode>("comm-mode", &P::com_mode, {{"Linear", ComMode::Linear}, {"None", ComMode::None}},
                    {{"Angular", never, "Rotation cannot be removed in a periodic box: use Linear."},
                     {"Linear-acceleration-correction", never, "Use Linear."}});
    t.number("nstcomm", &P::com_interval, at_least(0));
    t.list("comm-grps", &P::com_groups, "groups", "empty: System");
    t.number("ld-seed", &P::random_seed, at_least_or<std::int64_t>(0, -1), "-1: chosen at the start and logged");
    t.number("emtol", &P::em_tolerance, positive, "kJ/mol/nm");
    t.number("emstep", &P::em_step, positive, "nm");
    t.refused(planned, "multiple time stepping", {"mts=no"});
    t.refused(planned, "mass repartitioning", {"mass-repartition-factor=1"});
    t.harmless("only with mts, which is refused", "mts-levels mts-level#-factor mts-level#-forces");
    t.harmless("numbering of continued runs is done by the checkpoint", "simulation-part");
    t.harmless("only with an integrator that is refused", "bd-fric fcstep niter nstcgsteep nbfgscorr rtpi");
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
    t.number("compressed-x-precision", &P::compressed_precision, positive);
    t.list("compressed-x-grps", &P::compressed_groups, "groups", "empty: System");
    t.special(
        "energygrps", "at most one group",
        [](MdpInput&, const MdpEntry& e) {
            if (words_of(e.value).size() < 2) { return; }
            throw InputError("E140", e.where,
                             "energygrps with several groups is not supported (not planned): energies between groups would be "
                             "missing from the "
                             "output. Remove it, or rerun the trajectory in GROMACS.");
        },
        [](const P&) { return std::string(); }, "one group is the whole system, which is always written");
    t.harmless("unused by GROMACS too",
               "user1-grps user2-grps userint1 userint2 userint3 userint4 userreal1 userreal2 userreal3 userreal4");
}

void cutoffs(TableBuilder& t)
{
    const std::string use_force_switch = "Use vdwtype = cut-off with vdw-modifier = force-switch.";
    const std::string use_rf = "Use reaction-field until then.";
    t.section("Pair list and cut-offs");
    t.only("cutoff-scheme", "Verlet", {{"group", never, "Use Verlet, as GROMACS 2020 and later do."}});
    t.number("nstlist", &P::list_interval, at_least(1));
    t.only("pbc", "xyz",
           {{"no", never, "Put the molecules in a large box with pbc = xyz."},
            {"xy", never, "Use a box with vacuum above the slab."},
            {"screw", never, "Use xyz."}});
    t.number("verlet-buffer-tolerance", &P::buffer_tolerance,
             Range<double>{.lowest = 0, .bound = Bound::Exclusive, .has_also = true, .also = -1},
             "-1: rlist and nstlist as given");
    t.number("rlist", &P::list_cutoff, positive, "only with verlet-buffer-tolerance = -1");
    t.word<CoulombKind>("coulombtype", &P::coulomb,
                        {{"Cut-off", CoulombKind::CutOff}, {"Reaction-Field", CoulombKind::ReactionField}},
                        {{"PME", planned, use_rf},
                         {"Ewald", planned, use_rf},
                         {"P3M-AD", never, use_rf},
                         {"PME-Switch", never, use_rf},
                         {"PME-User", never, use_rf},
                         {"PME-User-Switch", never, use_rf},
                         {"FMM", never, use_rf},
                         {"User", never, use_rf},
                         {"Switch", never, use_rf},
                         {"Shift", never, use_rf},
                         {"Encad-shift", never, use_rf},
                         {"Poisson", never, use_rf},
                         {"Generalized-Reaction-Field", never, "Use reaction-field with the epsilon-rf of the salt solution."},
                         {"Reaction-Field-nec", never, "Use reaction-field."},
                         {"Reaction-Field-zero", never, "Use reaction-field."}});
    t.word<bool>("coulomb-modifier", &P::coulomb_potential_shift,
                 {{"Potential-shift", true}, {"Potential-shift-Verlet", true}, {"None", false}},
                 {{"Potential-switch", never, ""}, {"Exact-cutoff", never, ""}, {"Force-switch", never, ""}},
                 "without effect on a reaction field, which is zero at the cut-off by its own constant");
    t.number("rcoulomb", &P::coulomb_cutoff, positive, "equal to rvdw until PME is there");
    t.number("epsilon-r", &P::epsilon_r, positive);
    t.number("epsilon-rf", &P::epsilon_rf, at_least(0.0), "0: infinite");
    t.only("vdwtype", "Cut-off",
           {{"PME", planned, "Use cut-off."},
            {"Switch", never, use_force_switch},
            {"Shift", never, use_force_switch},
            {"User", never, "Use cut-off."},
            {"Encad-shift", never, "Use cut-off."}});
    t.word<LjModifier>(
        "vdw-modifier", &P::lj_modifier,
        {{"Potential-shift", LjModifier::PotentialShift},
         {"Potential-shift-Verlet", LjModifier::PotentialShift},
         {"None", LjModifier::None},
         {"Force-switch", LjModifier::ForceSwitch}},
        {{"Potential-switch", planned, "Use force-switch or potential-shift."}, {"Exact-cutoff", never, "Use potential-shift."}});
    t.number("rvdw-switch", &P::lj_switch, at_least(0.0), "only with force-switch");
    t.number("rvdw", &P::lj_cutoff, positive);
    t.word<DispersionCorrection>(
        "DispCorr", &P::dispersion_correction,
        {{"No", DispersionCorrection::None},
         {"Ener", DispersionCorrection::Energy},
         {"EnerPres", DispersionCorrection::EnergyPressure}},
        {{"AllEner", never, "Use Ener: the repulsive part is small."}, {"AllEnerPres", never, "Use EnerPres."}});
    t.refused(planned, "molecules bonded across the box", {"periodic-molecules=no"});
    t.refused(never, "tabulated interactions between groups", {"energygrp-table"});
    t.refused(never, "interactions switched off between groups", {"energygrp-excl"});
    t.harmless("verlet-buffer-tolerance alone sets the buffer here, as in GROMACS before 2024",
               "verlet-buffer-pressure-tolerance");
    t.harmless("only for coulomb types that are refused", "rcoulomb-switch table-extension");
    t.harmless("only with PME, which is refused",
               "fourierspacing fourier-nx fourier-ny fourier-nz pme-order ewald-rtol ewald-rtol-lj "
               "lj-pme-comb-rule ewald-geometry epsilon-surface optimize-fft");
    t.harmless("belongs to the group scheme, which is gone", "ns-type rlistlong nstcalclr");
    t.refused(never, "implicit solvent", {"implicit-solvent=no"});
    t.harmless("only with implicit solvent, which is refused", "gb-algorithm nstgbradii rgbradii gb-epsilon-solvent gb-saltconc "
                                                               "gb-obc-alpha gb-obc-beta gb-obc-gamma gb-dielectric-offset "
                                                               "sa-algorithm sa-surface-tension");
}

std::string print_groups(const P& p, double TemperatureGroup::*value)
{
    std::string s;
    for (const TemperatureGroup& group : p.temperature_groups) { s += (s.empty() ? "" : " ") + number_text(group.*value); }
    return s;
}

void coupling(TableBuilder& t)
{
    const std::string use_vrescale = "Use v-rescale.";
    t.section("Temperature and pressure");
    t.word<Thermostat>("tcoupl", &P::thermostat,
                       {{"No", Thermostat::None},
                        {"Berendsen", Thermostat::Berendsen},
                        {"Nose-Hoover", Thermostat::NoseHoover},
                        {"V-rescale", Thermostat::VRescale},
                        {"yes", Thermostat::Berendsen}},
                       {{"Andersen", never, use_vrescale},
                        {"Andersen-massive", never, use_vrescale},
                        {"Andersen-interval", never, use_vrescale}},
                       "yes: Berendsen");
    t.number("nsttcouple", &P::temperature_interval, at_least_or(1, -1),
             "-1: 100, or fewer so that tau-t is 5 intervals (Nose-Hoover 20)");
    t.number("nh-chain-length", &P::nose_hoover_chain, at_least(1), "set to 1 for leap-frog, as GROMACS does");
    t.special(
        "tc-grps", "groups", [](MdpInput& in, const MdpEntry& e) { in.temperature_groups = words_of(e.value); },
        [](const P& p) {
            std::string s;
            for (const TemperatureGroup& group : p.temperature_groups) { s += (s.empty() ? "" : " ") + group.name; }
            return s;
        });
    t.special(
        "tau-t", "a number per group", [](MdpInput& in, const MdpEntry& e) { in.tau_t = numbers_of(e, at_least_or(0.0, -1.0)); },
        [](const P& p) { return print_groups(p, &TemperatureGroup::tau); }, "ps; 0 or -1: not coupled");
    t.special(
        "ref-t", "a number >= 0 per group",
        [](MdpInput& in, const MdpEntry& e) { in.reference_t = numbers_of(e, at_least(0.0)); },
        [](const P& p) { return print_groups(p, &TemperatureGroup::reference); }, "K");
    t.word<Barostat>("pcoupl", &P::barostat,
                     {{"No", Barostat::None},
                      {"Berendsen", Barostat::Berendsen},
                      {"C-rescale", Barostat::CRescale},
                      {"Parrinello-Rahman", Barostat::ParrinelloRahman}},
                     {{"MTTK", never, "Use Parrinello-Rahman."}, {"Isotropic", never, "Use Berendsen or C-rescale."}});
    const std::vector<std::string> types = {"Isotropic", "Semiisotropic", "Anisotropic", "Surface-Tension"};
    t.special(
        "pcoupltype", "Isotropic",
        [types](MdpInput& in, const MdpEntry& e) { in.pressure_coupling_type = normalised(types[word_index(e, types, {})]); },
        [](const P&) { return std::string("Isotropic"); },
        "Semiisotropic, Anisotropic (planned) and Surface-Tension (not planned) are refused when pcoupl is on");
    t.number("nstpcouple", &P::pressure_interval, at_least_or(1, -1),
             "-1: 100, or fewer so that tau-p is 10 intervals (Parrinello-Rahman 20)");
    t.number("tau-p", &P::tau_p, positive, "ps");
    t.special(
        "compressibility", "number >= 0", [](MdpInput& in, const MdpEntry& e) { in.compressibility = numbers_of(e, {}); },
        [](const P& p) { return number_text(p.compressibility); }, "1/bar; must be given when pcoupl is on");
    t.special(
        "ref-p", "number", [](MdpInput& in, const MdpEntry& e) { in.reference_p = numbers_of(e, {}); },
        [](const P& p) { return number_text(p.reference_pressure); }, "bar; must be given when pcoupl is on");
    t.word<RefcoordScaling>("refcoord-scaling", &P::refcoord_scaling,
                            {{"No", RefcoordScaling::None}, {"All", RefcoordScaling::All}, {"COM", RefcoordScaling::Com}});
    t.yes_no("gen-vel", &P::generate_velocities);
    t.number("gen-temp", &P::generation_temperature, at_least(0.0), "K");
    t.number("gen-seed", &P::generation_seed, at_least_or<std::int64_t>(0, -1), "-1: chosen at the start and logged");
    t.refused(planned, "simulated annealing", {"annealing=no"});
    t.harmless("only with annealing, which is refused", "annealing-npoints annealing-time annealing-temp");
    t.harmless("chains are not written", "print-nose-hoover-chain-variables");
    t.harmless("only for ensembles whose temperature is not that of tc-grps; the buffer uses the highest ref-t",
               "ensemble-temperature-setting ensemble-temperature");
    t.harmless("only with the Andersen thermostat, which is refused", "andersen-seed");

    t.section("Constraints");
    t.word<ConstraintMode>(
        "constraints", &P::constraints,
        {{"none", ConstraintMode::None}, {"h-bonds", ConstraintMode::HBonds}, {"all-bonds", ConstraintMode::AllBonds}},
        {{"h-angles", never, "Use h-bonds or all-bonds."}, {"all-angles", never, "Use h-bonds or all-bonds."}});
    t.only("constraint-algorithm", "LINCS", {{"SHAKE", never, "Use LINCS."}});
    t.yes_no("continuation", &P::continuation);
    t.number("lincs-order", &P::lincs_order, between(1, 64));
    t.number("lincs-iter", &P::lincs_iterations, between(1, 64));
    t.number("lincs-warnangle", &P::lincs_warn_angle, between(0.0, 180.0), "degrees");
    t.refused(never, "Morse potentials in place of bonds", {"morse=no"});
    t.harmless("only with SHAKE, which is refused", "Shake-SOR shake-tol");
}

void special_forces(TableBuilder& t)
{
    t.section("Special forces and ensembles");
    t.refused(never, "walls", {"nwall=0"});
    t.harmless("only with walls, which are refused", "wall-type wall-r-linpot wall-atomtype wall-density wall-ewald-zfac");
    t.refused(never, "acceleration of groups", {"acc-grps", "accelerate=0"});
    t.refused(planned, "frozen groups", {"freezegrps", "freezedim=N"});
    t.refused(never, "a cosine acceleration profile", {"cos-acceleration=0"});
    t.refused(never, "box deformation", {"deform=0", "deform-init-flow=no"});
    t.refused(never, "an electric field",
              {"electric-field-x=0", "electric-field-y=0", "electric-field-z=0", "E-x=0", "E-xt=0", "E-y=0", "E-yt=0", "E-z=0",
               "E-zt=0"});
    t.refused(never, "distance restraints", {"disre=no"});
    t.harmless("only with distance restraints, which are refused", "disre-weighting disre-mixed disre-fc disre-tau nstdisreout");
    t.refused(never, "orientation restraints", {"orire=no"});
    t.harmless("only with orientation restraints, which are refused", "orire-fc orire-tau orire-fitgrp nstorireout");
    t.harmless("dihedral restraints are chosen in the topology", "dihre dihre-fc dihre-tau nstdihreout");
    t.refused(planned, "pulling", {"pull=no"});
    t.harmless(
        "only with pull, which is refused",
        "pull-cylinder-r pull-constr-tol pull-print-com pull-print-com1 pull-print-com2 pull-print-ref-value "
        "pull-print-components "
        "pull-nstxout pull-nstfout pull-pbc-ref-prev-step-com pull-xout-average pull-fout-average pull-ngroups pull-ncoords "
        "pull-group#-name pull-group#-weights pull-group#-pbcatom pull-coord#-type pull-coord#-potential-provider "
        "pull-coord#-geometry pull-coord#-expression pull-coord#-dx pull-coord#-groups pull-coord#-dim pull-coord#-origin "
        "pull-coord#-vec pull-coord#-start pull-coord#-init pull-coord#-rate pull-coord#-k pull-coord#-kB");
    t.refused(never, "the accelerated weight histogram method", {"awh=no"});
    t.harmless("only with awh, which is refused",
               "awh-potential awh-seed awh-nstout awh-nstsample awh-nsamples-update awh-share-multisim awh-share-bias-multisim "
               "awh-nbias "
               "awh#-error-init awh#-growth awh#-growth-factor awh#-equilibrate-histogram awh#-target awh#-target-beta-scaling "
               "awh#-target-cutoff awh#-target-metric-scaling awh#-target-metric-scaling-limit awh#-user-data awh#-share-group "
               "awh#-ndim "
               "awh#-dim#-coord-provider awh#-dim#-coord-index awh#-dim#-start awh#-dim#-end awh#-dim#-diffusion "
               "awh#-dim#-force-constant awh#-dim#-cover-diameter");
    t.refused(never, "enforced rotation", {"rotation=no"});
    t.harmless(
        "only with rotation, which is refused",
        "rot-nstrout rot-nstsout rot-ngroups rot-group# rot-type# rot-massw# rot-vec# rot-pivot# rot-rate# rot-k# rot-slab-dist# "
        "rot-min-gauss# rot-eps# rot-fit-method# rot-potfit-nsteps# rot-potfit-step#");
    t.refused(never, "interactive molecular dynamics", {"IMD-group"});
    t.refused(never, "swapping of ions", {"swapcoords=no"});
    t.harmless(
        "only with swapcoords, which is refused",
        "swap-frequency split-group0 split-group1 massw-split0 massw-split1 solvent-group coupl-steps iontypes iontype#-name "
        "iontype#-in-A iontype#-in-B cyl0-r cyl0-up cyl0-down cyl1-r cyl1-up cyl1-down bulk-offsetA bulk-offsetB threshold");
    t.refused(never, "adaptive resolution", {"adress=no"});
    t.harmless(
        "only with adress, which is refused",
        "adress-type adress-const-wf adress-ex-width adress-hy-width adress-ex-forcecap adress-interface-correction adress-site "
        "adress-reference-coords adress-tf-grp-names adress-cg-grp-names adress-do-hybridpairs");
    t.refused(never, "QM/MM", {"QMMM=no", "qmmm-cp2k-active=false|no"});
    t.harmless("only with QM/MM, which is refused",
               "QMMM-grps QMmethod QMMMscheme QMbasis QMcharge QMmult SH CASorbitals CASelectrons SAon SAoff SAsteps "
               "MMChargeScaleFactor "
               "bOPT bTS qmmm-cp2k-qmgroup qmmm-cp2k-qmmethod qmmm-cp2k-qmfilenames qmmm-cp2k-qmcharge qmmm-cp2k-qmmultiplicity");
    t.refused(never, "forces from a density map", {"density-guided-simulation-active=false|no"});
    t.harmless("only with density-guided simulation, which is refused",
               "density-guided-simulation-group density-guided-simulation-similarity-measure "
               "density-guided-simulation-atom-spreading-weight "
               "density-guided-simulation-force-constant density-guided-simulation-gaussian-transform-spreading-width "
               "density-guided-simulation-gaussian-transform-spreading-range-in-multiples-of-width "
               "density-guided-simulation-reference-density-filename density-guided-simulation-nst "
               "density-guided-simulation-normalize-densities density-guided-simulation-adaptive-force-scaling "
               "density-guided-simulation-adaptive-force-scaling-time-constant density-guided-simulation-shift-vector "
               "density-guided-simulation-transformation-matrix");
    t.refused(never, "collective variables (Colvars)", {"colvars-active=false|no"});
    t.harmless("only with Colvars, which is refused", "colvars-configfile colvars-seed");
    t.refused(never, "neural-network potentials", {"nnpot-active=false|no"});
    t.harmless("only with neural-network potentials, which are refused",
               "nnpot-modelfile nnpot-input-group nnpot-model-input# nnpot-embedding nnpot-nn-charge nnpot-link-type "
               "nnpot-link-distance "
               "nnpot-pair-cutoff");
}

void free_energy(TableBuilder& t)
{
    t.section("Free energy and expanded ensemble");
    t.refused(planned, "free energy perturbation", {"free-energy=no", "couple-moltype"});
    t.harmless(
        "only with free-energy, which is refused",
        "couple-lambda0 couple-lambda1 couple-intramol init-lambda init-lambda-state delta-lambda nstdhdl fep-lambdas "
        "mass-lambdas "
        "coul-lambdas vdw-lambdas bonded-lambdas restraint-lambdas temperature-lambdas calc-lambda-neighbors init-lambda-weights "
        "dhdl-print-energy sc-function sc-alpha sc-power sc-r-power sc-sigma sc-sigma-min sc-coul sc-gapsys-scale-linpoint-lj "
        "sc-gapsys-scale-linpoint-q sc-gapsys-sigma-lj separate-dhdl-file dhdl-derivatives dh-hist-size dh-hist-spacing "
        "foreign-lambda");
    t.refused(never, "simulated tempering", {"simulated-tempering=no"});
    t.harmless("only with simulated tempering, which is refused", "simulated-tempering-scaling sim-temp-low sim-temp-high");
    t.harmless(
        "only with the expanded ensemble, which is refused",
        "nstexpanded lmc-stats lmc-move lmc-weights-equil weight-equil-number-all-lambda weight-equil-number-samples "
        "weight-equil-number-steps weight-equil-wl-delta weight-equil-count-ratio lmc-seed mc-temperature lmc-repeats "
        "lmc-gibbsdelta lmc-forced-nstart symmetrized-transition-matrix nst-transition-matrix mininum-var-min weight-c-range "
        "wl-scale wl-ratio init-wl-delta wl-oneovert init-histogram-counts");

    t.section("Gone from GROMACS");
    t.harmless("an old option without effect in current GROMACS",
               "title cpp domain-decomposition nstcheckpoint warnings bd-temp");
}

// Names that GROMACS replaced: old, current.
constexpr std::pair<std::string_view, std::string_view> renamed[] = {
    {"nstxtcout", "nstxout-compressed"},
    {"xtc-precision", "compressed-x-precision"},
    {"xtc-grps", "compressed-x-grps"},
    {"unconstrained-start", "continuation"},
    {"verlet-buffer-drift", "verlet-buffer-tolerance"},
};

// The name with every run of digits replaced by '#', normalised.
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

} // namespace

const std::vector<MdpOption>& mdp_table()
{
    static const std::vector<MdpOption> table = [] {
        TableBuilder builder;
        run_control(builder);
        output(builder);
        cutoffs(builder);
        coupling(builder);
        special_forces(builder);
        free_energy(builder);
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
