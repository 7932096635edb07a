// SPDX-License-Identifier: Apache-2.0
#include "run_files.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

namespace {

std::vector<std::int64_t> atoms_of(const std::vector<std::string>& names, const System& system)
{
    std::vector<std::int64_t> atoms;
    for (const std::string& name : names)
    {
        if (name == "System") { return {}; }
        const auto group = system.groups.find(name);
        if (group == system.groups.end()) { throw InputError("E303", {}, "compressed-x-grps names the group '" + name + "', which does not exist."); }
        atoms.insert(atoms.end(), group->second.begin(), group->second.end());
    }
    std::sort(atoms.begin(), atoms.end());
    atoms.erase(std::unique(atoms.begin(), atoms.end()), atoms.end());
    return atoms;
}

} // namespace

RunFiles::RunFiles(const RunFilesOptions& options, const System& system, const RunParameters& parameters)
    : options_(options), parameters_(parameters), table_(system.topology, parameters),
      compressed_atoms_(atoms_of(parameters.compressed_groups, system)), log_(options.prefix + ".log"), since_frame_(table_.names().size()),
      whole_run_(table_.names().size())
{
}

void RunFiles::start()
{
    RunOutputPlan plan;
    if (parameters_.compressed_out > 0) { plan.xtc = options_.prefix + ".xtc"; }
    if (parameters_.x_out > 0 || parameters_.v_out > 0 || parameters_.f_out > 0) { plan.trr = options_.prefix + ".trr"; }
    if (parameters_.energy_out > 0) { plan.edr = options_.prefix + ".edr"; }
    plan.xtc_precision = parameters_.compressed_precision;
    plan.xtc_atoms = compressed_atoms_;
    plan.energy_terms = table_.names();
    plan.first_step = parameters_.first_step;
    plan.dt = parameters_.dt;
    plan.trr_precision = options_.precision;
    output_.emplace(plan);
    if (!options_.quiet) { progress_.emplace(stderr, progress_style(stderr), parameters_.dt, Progress::Clock::now()); }
}

void RunFiles::frame(const OutputDue& due, Frame&& frame)
{
    output_->write(std::move(frame), {due.compressed_x, due.x, due.v, due.f});
}

void RunFiles::energies(const OutputDue& due, const Observables& observables)
{
    const std::vector<double> values = table_.values(observables);
    since_frame_.add(values);
    whole_run_.add(values);
    if (due.log) { log_.energies(observables.step, observables.time, table_.names(), values); }
    if (!due.energies) { return; }
    output_->write_energies(observables.step, observables.time, values, since_frame_);
    since_frame_.clear();
}

void RunFiles::progress(std::int64_t steps_done, std::int64_t steps_total, double temperature)
{
    if (!progress_) { return; }
    const bool minimising = parameters_.integrator == Integrator::SteepestDescent;
    progress_->update(steps_done, steps_total, minimising ? std::nullopt : std::optional<double>(temperature), Progress::Clock::now());
}

void RunFiles::message(const std::string& text)
{
    log_.line(text);
    end_progress();
    if (!options_.quiet) { fmt::print(stderr, "{}\n", text); }
}

void RunFiles::end_progress()
{
    if (progress_) { progress_->finish(); }
}

void RunFiles::close()
{
    end_progress();
    if (output_) { output_->close(); }
    log_.averages(table_.names(), whole_run_);
}

NamedList<RunReport::Spread> RunFiles::averages() const
{
    NamedList<RunReport::Spread> list;
    for (std::size_t i = 0; i < table_.names().size(); ++i)
    {
        list.emplace_back(table_.names()[i], RunReport::Spread{whole_run_.mean(i), whole_run_.standard_deviation(i)});
    }
    return list;
}

} // namespace parhelion
