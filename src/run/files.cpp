// SPDX-License-Identifier: Apache-2.0
#include "run/files.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "io/input/excluded_pairs.hpp"
#include "model/minimisers.hpp"
#include "run/version.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

namespace parhelion {

namespace {

// Returns the atoms of the groups, ascending; none for all atoms. Names are disjoint groups or "System" (io/input/check.hpp).
std::vector<std::int64_t> atoms_of(const std::vector<std::string>& names, const System& system)
{
    std::vector<std::int64_t> atoms;
    for (const std::string& name : names)
    {
        const auto group = system.groups.find(name);
        if (group == system.groups.end()) { return {}; }
        atoms.insert(atoms.end(), group->second.begin(), group->second.end());
    }
    std::sort(atoms.begin(), atoms.end());
    return atoms;
}

// Returns the molecule types whose excluded pairs are watched; none if pairs are too far apart at the start, as then reported.
std::vector<bool> watched_types(const System& system, const RunParameters& parameters)
{
    if (parameters.coulomb != CoulombKind::Pme ||
        longest_excluded_pair(system.topology, system.x, system.box).distance > parameters.coulomb_cutoff)
    {
        return {};
    }
    return types_with_loose_exclusions(system.topology, parameters.coulomb_cutoff);
}

// Returns the names, with a number behind those that an earlier one has. In a prmtop atom types of one name may differ.
std::vector<std::string> distinct(std::vector<std::string> names)
{
    std::set<std::string> taken;
    for (std::string& name : names)
    {
        const std::string plain = name;
        for (int n = 2; !taken.insert(name).second; ++n) { name = fmt::format("{}_{}", plain, n); }
    }
    return names;
}

bool has_full_frames(const RunParameters& p) { return p.x_out > 0 || p.v_out > 0 || p.f_out > 0; }

// Returns what a .h5md is to have: the arrays of the .trr or, if the run writes no .trr, the positions of the .xtc.
H5mdPlan h5md_plan(const RunFilesOptions& options, const System& system, const RunParameters& p,
                   const std::vector<std::int64_t>& compressed_atoms)
{
    H5mdPlan plan;
    if (!options.h5md) { return plan; }
    const bool is_full = has_full_frames(p);
    if (!is_full && p.compressed_out <= 0)
    {
        throw InputError(
            "E287", {},
            "--h5md: the .mdp asks for no trajectory, so the file would be empty. Set nstxout or nstxout-compressed, or "
            "leave --h5md out.");
    }
    plan.path = options.prefix + ".h5md";
    plan.title = system.title;
    plan.program_version = version_text().substr(std::string_view("parhelion ").size());
    plan.precision = options.precision;
    plan.is_tilted = !system.box.is_rectangular();
    plan.x = is_full ? p.x_out > 0 : true, plan.v = p.v_out > 0, plan.f = p.f_out > 0;
    const Topology& topology = system.topology;
    plan.species_names = distinct(topology.type_names);
    if (!is_full) { plan.atoms = compressed_atoms; }
    const std::int64_t atoms = plan.atoms.empty() ? topology.atom_count() : static_cast<std::int64_t>(plan.atoms.size());
    for (std::int64_t i = 0; i < atoms; ++i)
    {
        const Atom& atom = topology.atom(plan.atoms.empty() ? i : plan.atoms[static_cast<std::size_t>(i)]);
        plan.species.push_back(atom.type), plan.masses.push_back(atom.mass), plan.charges.push_back(atom.charge);
    }
    return plan;
}

bool is_finite(const SavedState& state)
{
    const auto finite = [](double x) { return std::isfinite(x); };
    return std::all_of(state.coupling.begin(), state.coupling.end(),
                       [&](const auto& entry) { return std::all_of(entry.second.begin(), entry.second.end(), finite); });
}

OutputPosition fresh_position(std::int64_t first_step, std::size_t terms)
{
    OutputPosition position;
    position.next_energy_step = first_step;
    position.since_frame = position.whole_run = TermAverages(terms);
    position.blocks = BlockAverages(terms);
    return position;
}

} // namespace

RunFiles::RunFiles(const RunFilesOptions& options, const System& system, const RunParameters& parameters,
                   NamedList<std::string> identity, CheckpointFiles&& checkpoints, const Checkpoint* continued,
                   RunObserver& observer)
    : options_(options), observer_(observer), parameters_(parameters), table_(system.topology, parameters, system.box),
      compressed_atoms_(atoms_of(parameters.compressed_groups, system)),
      h5md_(h5md_plan(options, system, parameters, compressed_atoms_)), atoms_(system.topology.atom_count()),
      mass_(system.topology.total_mass()), watched_types_(watched_types(system, parameters)), identity_(std::move(identity)),
      checkpoints_(std::move(checkpoints)), first_step_(continued != nullptr ? continued->state.step : parameters.first_step),
      written_(continued != nullptr ? continued->outputs : fresh_position(parameters.first_step, table_.names().size())),
      next_checkpoint_(Clock::now() + checkpoint_interval()), status_(options.prefix + status_ending),
      force_trend_(parameters.em_tolerance)
{
    if (written_.whole_run.terms() != table_.names().size())
    {
        throw InputError(
            "E190", {checkpoints_.newest(), 0},
            "was written by a version with other energy terms. Continue with that version, or start afresh with --new.");
    }
    if (continued == nullptr) { return; }
    expect_h5md();
    const std::int64_t interval = parameters_.energy_out,
                       until_frame = interval > 0 ? (interval - first_step_ % interval) % interval + 1 : 0;
    constexpr std::int64_t most_of_frame = std::numeric_limits<std::int32_t>::max(); // limit of energies in a frame of an .edr
    if (written_.next_energy_step < parameters_.first_step || written_.since_frame.count() > most_of_frame - until_frame)
    {
        throw InputError("E190", {checkpoints_.newest(), 0},
                         "is not a checkpoint of this run: its steps do not fit init-step and nstenergy. Put a copy in place, or "
                         "start afresh with --new.");
    }
    const RunOutputPlan plan = output_plan();
    expect_beginning(plan.xtc, plan.kept.xtc);
    expect_beginning(plan.trr, plan.kept.trr);
    expect_beginning(plan.edr, plan.kept.edr);
    expect_beginning(log_path(), written_.log);
}

// Throws an error if the .h5md of the continued run would not be continued.
void RunFiles::expect_h5md() const
{
    const std::string path = options_.prefix + ".h5md";
    if (options_.h5md || written_.files.h5md == H5mdFrames{} || !std::filesystem::exists(path)) { return; }
    throw InputError(
        "E292", {path, 0},
        "has the first frames of this run, and would lack those to come. Give --h5md, or move the file away to go on "
        "without it.");
}

RunOutputPlan RunFiles::output_plan() const
{
    RunOutputPlan plan;
    if (parameters_.compressed_out > 0) { plan.xtc = options_.prefix + ".xtc"; }
    if (has_full_frames(parameters_)) { plan.trr = options_.prefix + ".trr"; }
    if (parameters_.energy_out > 0) { plan.edr = options_.prefix + ".edr"; }
    plan.xtc_precision = parameters_.compressed_precision;
    plan.xtc_atoms = compressed_atoms_;
    plan.energy_terms = table_.names();
    plan.first_step = written_.next_energy_step;
    plan.kept = written_.files;
    plan.dt = parameters_.dt;
    plan.trr_precision = options_.precision;
    return plan;
}

void RunFiles::start(std::int64_t steps_total)
{
    const bool minimises = is_minimisation(parameters_.integrator);
    status_.begin(minimises ? 0 : parameters_.dt, first_step_ - parameters_.first_step, steps_total, Clock::now());
    RunOutputPlan plan = output_plan();
    plan.h5md = std::exchange(h5md_, {});
    output_.emplace(plan);
    log_.emplace(log_path(), written_.log);
    noted_files_ = output_->lengths();
    next_checkpoint_ = Clock::now() + checkpoint_interval();
}

void RunFiles::expect_exclusions_near(const Frame& frame) const
{
    const bool watches = std::find(watched_types_.begin(), watched_types_.end(), true) != watched_types_.end();
    if (topology_ == nullptr || !watches || frame.x.empty()) { return; }
    const ExcludedPair pair = longest_excluded_pair(*topology_, frame.x, frame.box, watched_types_);
    if (pair.distance <= parameters_.coulomb_cutoff) { return; }
    throw PhysicsError(frame.step,
                       fmt::format("E543 step {}: {} and {}, which exclude each other, are {:.4g} nm apart, beyond rcoulomb "
                                   "({} nm). PME's mesh acts between them since they left it. Raise rcoulomb, or exclude fewer "
                                   "pairs.",
                                   frame.step, topology_->describe(pair.a), topology_->describe(pair.b), pair.distance,
                                   parameters_.coulomb_cutoff));
}

void RunFiles::frame(const OutputDue& due, Frame&& frame)
{
    expect_exclusions_near(frame);
    observer_.frame(frame);
    if (!due.is_written()) { return; }
    wrote_since_note_ = true;
    output_->write(std::move(frame), {due.compressed_x, due.x, due.v, due.f});
}

void RunFiles::energies(const OutputDue& due, const Observables& observables)
{
    const std::vector<double> values = table_.values(observables);
    if (!due.unaveraged)
    {
        written_.since_frame.add(values);
        written_.whole_run.add(values);
        written_.blocks.add(values);
    }
    if (is_minimisation(parameters_.integrator))
    {
        latest_.potential = observables.potential, latest_.largest_force = observables.largest_force;
        force_trend_.add(observables.step, observables.largest_force);
        latest_.steps_to_tolerance = force_trend_.steps_left();
    }
    else
    {
        latest_.temperature = observables.temperature, latest_.pressure = observables.pressure;
        if (parameters_.barostat != Barostat::None) { latest_.density = mass_ / observables.box.volume() * units::kg_per_m3; }
    }
    if (!due.repeats_energies()) { observer_.energies({observables.step, observables.time, table_.names(), values}); }
    if (due.log) { log_->energies(observables.step, observables.time, table_.names(), values); }
    if (!due.energies) { return; }
    wrote_since_note_ = true;
    output_->write_energies(observables.step, observables.time, values, written_.since_frame);
    written_.since_frame.clear();
    written_.next_energy_step = observables.step + 1;
}

void RunFiles::progress(std::int64_t steps_done, std::int64_t steps_total, double)
{
    tell_remarks();
    note_position();
    show_progress(steps_done, steps_total);
}

void RunFiles::show_progress(std::int64_t steps_done, std::int64_t steps_total)
{
    observer_.progress({steps_done, steps_total, latest_});
    if (!status_.update(steps_done, steps_total, latest_, Clock::now())) { return; }
    output_->enqueue([this, text = status_.pending()] {
        const std::string problem = status_.write(text);
        if (problem.empty()) { return; }
        const std::lock_guard lock(remarks_mutex_);
        remarks_.push_back(problem + " (who watches the run is told nothing)");
    });
}

void RunFiles::note_position()
{
    written_.log.bytes = log_->file().length();
    noted_ = written_;
    // Notes a position only if something was written since the last one, because the queue of the output thread is short.
    if (std::exchange(wrote_since_note_, false))
    {
        output_->enqueue([this] { noted_files_ = output_->lengths(); });
    }
}

void RunFiles::checkpoint(SavedState&& state)
{
    const std::int64_t step = state.step;
    write_checkpoint(std::move(state), step - 1);
    next_checkpoint_ = Clock::now() + checkpoint_interval();
}

void RunFiles::write_checkpoint(SavedState&& state, std::int64_t reached)
{
    if (!is_finite(state) || !noted_.whole_run.is_finite()) { return; } // close to a blow-up the previous checkpoint is better
    log_->file().sync();
    noted_.log = log_->file().mark(noted_.log.bytes);
    const std::string of_log = log_->file().new_interference();
    if (!of_log.empty()) { warning("warning: " + of_log); }
    output_->enqueue([this, checkpoint = Checkpoint{identity_, reached, noted_, std::move(state)}]() mutable {
        checkpoint.outputs.files = noted_files_;
        output_->add_tails(checkpoint.outputs.files);
        output_->sync();
        checkpoints_.write(checkpoint);
        const std::vector<std::string> found = output_->new_interferences();
        const std::lock_guard lock(remarks_mutex_);
        remarks_.insert(remarks_.end(), found.begin(), found.end());
    });
}

void RunFiles::message(const std::string& text)
{
    log_->line(text);
    observer_.message(text);
}

void RunFiles::warning(const std::string& text)
{
    log_->line(text);
    observer_.warning(text);
}

void RunFiles::tell_remarks()
{
    const std::lock_guard lock(remarks_mutex_);
    for (const std::string& remark : remarks_) { warning("warning: " + remark); }
    remarks_.clear();
}

void RunFiles::log_failure(const std::string& text) noexcept
{
    try
    {
        status_.fail(text);
        log_->line(text);
    }
    catch (const std::exception&)
    {
        // The error that `text` describes most likely caused this failure.
    }
}

void RunFiles::close()
{
    observer_.steps_over();
    if (output_) { output_->close(); }
    tell_remarks();
    log_->averages(table_.names(), written_.whole_run, written_.blocks);
}

NamedList<RunReport::Spread> RunFiles::averages() const
{
    NamedList<RunReport::Spread> list;
    for (std::size_t i = 0; i < table_.names().size(); ++i)
    {
        list.emplace_back(
            table_.names()[i],
            RunReport::Spread{written_.whole_run.mean(i), written_.whole_run.standard_deviation(i), written_.blocks.error(i)});
    }
    return list;
}

std::string RunFiles::averages_text() const
{
    if (written_.blocks.blocks() == 0) { return ""; }
    std::string text;
    for (const char* name : {"Temperature", "Pressure", "Density", "Potential"})
    {
        const auto at = std::find(table_.names().begin(), table_.names().end(), name);
        if (at == table_.names().end()) { continue; }
        const auto term = static_cast<std::size_t>(at - table_.names().begin());
        const double error = written_.blocks.error(term);
        text += fmt::format("{}{} {:.6g}{} {}", text.empty() ? "" : ", ", name, written_.whole_run.mean(term),
                            std::isnan(error) ? "" : fmt::format(" +- {:.2g}", error), unit_of_term(name));
    }
    return fmt::format("averages  {}\n{:10}{}\n", text, "", errors_text(written_.blocks));
}

std::string RunFiles::trajectory() const
{
    const bool has_all = compressed_atoms_.empty() || static_cast<std::int64_t>(compressed_atoms_.size()) == atoms_;
    if (parameters_.compressed_out > 0 && has_all) { return options_.prefix + ".xtc"; }
    return parameters_.x_out > 0 ? options_.prefix + ".trr" : "";
}

} // namespace parhelion
