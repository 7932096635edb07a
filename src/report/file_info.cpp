// SPDX-License-Identifier: Apache-2.0
#include "report/file_info.hpp"

#include "base/error.hpp"
#include "io/input/checkpoint.hpp"
#include "io/input/file_kind.hpp"
#include "io/input/gro.hpp"
#include "io/input/mdp.hpp"
#include "io/input/ndx.hpp"
#include "io/input/top.hpp"
#include "io/output/box_edges.hpp"
#include "io/output/edr.hpp"
#include "io/output/h5md.hpp"
#include "io/output/trr.hpp"
#include "io/output/xtc.hpp"
#include "run/describe.hpp"
#include "run/log.hpp"
#include "run/report.hpp"
#include "run/status.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace parhelion {

namespace {

using Json = nlohmann::ordered_json;

std::span<const std::byte> bytes_of(const MappedFile& file) { return std::as_bytes(std::span(file.text())); }

Json json_of(const BoxEdges& e)
{
    const bool is_rectangular = e[1] == 0 && e[2] == 0 && e[3] == 0 && e[5] == 0 && e[6] == 0 && e[7] == 0;
    return is_rectangular ? Json{e[0], e[4], e[8]} : Json(e);
}

Json json_of(const std::vector<Warning>& warnings)
{
    Json list = Json::array();
    for (const Warning& warning : warnings) { list.push_back(warning.text()); }
    return list;
}

// times: first and last; intervals: shortest and longest.
void tell_intervals(Json& json, const std::array<double, 2>& times, const std::array<double, 2>& intervals, std::int64_t frames)
{
    const auto [least, largest] = intervals;
    // The tolerance allows for times that are stored as floats.
    const bool are_even = largest - least <= 1e-6 * std::abs(times[1]) + 1e-3 * std::abs(largest);
    if (are_even) { json["interval_ps"] = (times[1] - times[0]) / static_cast<double>(frames - 1); }
    else { json["intervals_ps"] = intervals; }
}

// Collects the times and steps of the frames of a trajectory.
class Frames
{
public:
    void add(double time, std::int64_t step)
    {
        if (count_ == 0) { first_time_ = time, first_step_ = step; }
        else { least_ = std::min(least_, time - time_), largest_ = std::max(largest_, time - time_); }
        time_ = time, step_ = step;
        ++count_;
    }
    void tell(Json& json) const
    {
        json["frames"] = count_;
        if (count_ == 0) { return; }
        json["first_time_ps"] = first_time_, json["last_time_ps"] = time_;
        json["first_step"] = first_step_, json["last_step"] = step_;
        if (count_ == 1) { return; }
        tell_intervals(json, {first_time_, time_}, {least_, largest_}, count_);
    }

private:
    std::int64_t count_ = 0, first_step_ = 0, step_ = 0;
    double first_time_ = 0, time_ = 0;
    double least_ = std::numeric_limits<double>::infinity(), largest_ = -least_; // smallest and largest interval of two frames
};

// Reads frames until there are no more or one is damaged, and reports the damage.
template <class Read>
void walk(Json& json, const Read& read)
{
    try
    {
        while (read()) {}
    }
    catch (const InputError& error)
    {
        json["damage"] = error.message();
    }
}

Json xtc_info(MappedFile& file)
{
    XtcReader reader(bytes_of(file), file.path().string());
    XtcHeader header, last;
    Frames frames;
    Json damage = Json::object();
    walk(damage, [&] {
        if (!reader.skip(header)) { return false; }
        frames.add(header.time, header.step);
        last = header;
        return true;
    });
    Json json;
    frames.tell(json);
    if (last.atoms > 0)
    {
        json["atoms"] = last.atoms;
        json["precision_per_nm"] = last.precision > 0 ? Json(last.precision) : Json();
        json["last_box_nm"] = json_of(last.box);
    }
    json.update(damage);
    return json;
}

Json trr_info(MappedFile& file)
{
    TrrReader reader(bytes_of(file), file.path().string());
    TrrFrame frame, last;
    Frames frames;
    Json damage = Json::object();
    std::int64_t x = 0, v = 0, f = 0;
    walk(damage, [&] {
        if (!reader.read(frame)) { return false; }
        frames.add(frame.time, frame.step);
        x += frame.x.empty() ? 0 : 1, v += frame.v.empty() ? 0 : 1, f += frame.f.empty() ? 0 : 1;
        last = frame;
        return true;
    });
    Json json;
    frames.tell(json);
    json["frames_with"] = {{"positions", x}, {"velocities", v}, {"forces", f}};
    json["atoms"] = last.atoms;
    json["precision"] = last.precision == Precision::Double ? "double" : "float";
    if (last.box.size() == std::tuple_size_v<BoxEdges>)
    {
        BoxEdges edges{};
        std::copy(last.box.begin(), last.box.end(), edges.begin());
        json["last_box_nm"] = json_of(edges);
    }
    json.update(damage);
    return json;
}

Json h5md_info(MappedFile& file)
{
    const H5mdSummary summary = summarise_h5md(file.path().string());
    const auto& [x, v, f] = summary.frames;
    Json json;
    json["program"] = summary.creator;
    json["convention"] = fmt::format("H5MD {}.{}", summary.version[0], summary.version[1]);
    const std::int64_t frames = x > 0 ? x : v > 0 ? v : f;
    json["frames"] = frames;
    const bool has_times = frames > 0 && std::isfinite(summary.times[0]);
    if (has_times) { json["first_time_ps"] = summary.times[0], json["last_time_ps"] = summary.times[1]; }
    if (frames > 0) { json["first_step"] = summary.steps[0], json["last_step"] = summary.steps[1]; }
    if (frames > 1 && has_times) { tell_intervals(json, summary.times, summary.intervals, frames); }
    json["frames_with"] = {{"positions", x}, {"velocities", v}, {"forces", f}};
    json["atoms"] = summary.atoms;
    json["precision"] = summary.precision == Precision::Double ? "double" : "float";
    if (summary.box != BoxEdges{}) { json["last_box_nm"] = json_of(summary.box); }
    return json;
}

Json edr_info(MappedFile& file)
{
    EdrReader reader(bytes_of(file), file.path().string());
    EdrFrame frame;
    Frames frames;
    Json damage = Json::object(), terms = Json::array();
    std::int64_t calculations = 0;
    walk(damage, [&] {
        if (!reader.read(frame)) { return false; }
        frames.add(frame.time, frame.step);
        calculations += frame.since_last.count();
        return true;
    });
    for (const EdrTerm& term : reader.terms())
    {
        terms.push_back(term.unit.empty() ? term.name : term.name + " (" + term.unit + ")");
    }
    Json json;
    frames.tell(json);
    json["energy_calculations"] = calculations;
    json["precision"] = reader.precision() == Precision::Double ? "double" : "float";
    json["terms"] = terms;
    json.update(damage);
    return json;
}

Json cpt_info(MappedFile& file)
{
    const Checkpoint checkpoint = parse_checkpoint(file.text(), file.path().string());
    const SavedState& state = checkpoint.state;
    Json json, run = Json::object();
    for (const auto& [name, value] : checkpoint.run) { run[name] = value; }
    json["step"] = state.step;
    json["complete_up_to_step"] = checkpoint.reached;
    json["atoms"] = std::visit([](const auto& x) { return x.size(); }, state.x);
    json["precision"] = std::holds_alternative<std::vector<Vec3<float>>>(state.v) ? "mixed" : "double";
    json["box_nm"] = json_of(edges_of(state.box));
    json["seed"] = state.seed;
    json["energy_calculations"] = checkpoint.outputs.whole_run.count();
    const OutputMarks& files = checkpoint.outputs.files;
    json["bytes_of_outputs"] = {
        {"xtc", files.xtc.bytes}, {"trr", files.trr.bytes}, {"edr", files.edr.bytes}, {"log", checkpoint.outputs.log.bytes}};
    if (files.h5md != H5mdFrames{}) { json["frames_of_h5md"] = files.h5md; }
    json["run"] = run;
    return json;
}

Json gro_info(MappedFile& file)
{
    const GroFile gro = read_gro(std::move(file));
    Json json, residues = Json::object();
    for (const GroNames& names : gro.names)
    {
        Json& atoms = residues[std::string(names.residue.data(), ::strnlen(names.residue.data(), names.residue.size()))];
        atoms = atoms.is_null() ? 1 : atoms.get<std::int64_t>() + 1;
    }
    json["title"] = gro.title;
    json["atoms"] = gro.x.size();
    json["velocities"] = !gro.v.empty();
    json["box_nm"] = json_of(edges_of(gro.box));
    json["more_frames"] = gro.has_more_frames;
    json["atoms_by_residue_name"] = residues;
    return json;
}

Json top_info(MappedFile& file)
{
    Diagnostics diagnostics;
    const Topology topology = read_topology(std::move(file), {}, diagnostics);
    Json json, molecules = Json::array();
    for (const MoleculeBlock& block : topology.blocks)
    {
        const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(block.type)];
        molecules.push_back(
            fmt::format("{} x {} ({} atom{})", block.count, type.name, type.atoms.size(), type.atoms.size() == 1 ? "" : "s"));
    }
    json["name"] = topology.name;
    json["atoms"] = topology.atom_count();
    json["molecules"] = molecules;
    json["atom_types"] = topology.types();
    json["charge_e"] = topology.total_charge();
    json["mass_u"] = topology.total_mass();
    json["constraints"] = topology.constraint_count();
    json["virtual_sites"] = topology.site_count();
    json["warnings"] = json_of(diagnostics.warnings);
    return json;
}

Json mdp_info(MappedFile& file)
{
    Diagnostics diagnostics;
    const MdpInput input = read_mdp_text(file.text_without_mark(), file.path().string(), diagnostics);
    Json json, values = Json::object();
    for (const auto& [name, value] : mdp_values(input.parameters)) { values[name] = value; }
    const std::string run = describe_run(input.parameters, input.parameters.steps);
    std::string_view asked_for = std::string_view(run).substr(run.find(' '));
    json["asks_for"] = trimmed(take_line(asked_for));
    json["options_set"] = input.entries.size();
    json["warnings"] = json_of(diagnostics.warnings);
    json["values"] = values;
    return json;
}

Json ndx_info(MappedFile& file)
{
    Json groups = Json::object();
    for (const auto& [name, atoms] : read_ndx(file, std::numeric_limits<std::int32_t>::max())) { groups[name] = atoms.size(); }
    return {{"groups", groups.size()}, {"atoms_by_group", groups}};
}

Json log_info(MappedFile& file)
{
    const LoggedRun run = read_log(file.path().string());
    Json json;
    json["program"] = run.version, json["machine"] = run.machine, json["title"] = run.title;
    json["begun"] = run.started;
    for (const auto& [name, text] : run.about) { json[name] = text; }
    json["warnings"] = run.warnings;
    return json;
}

// Describes a NumPy file: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
Json npy_info(MappedFile& file)
{
    const std::string_view text = file.text();
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<std::size_t>(static_cast<unsigned char>(text[i])) : 0;
    };
    const bool is_long = byte(6) > 1;
    const std::size_t begin = is_long ? 12 : 10,
                      length = byte(8) | byte(9) << 8 | (is_long ? byte(10) << 16 | byte(11) << 24 : 0);
    if (text.size() < begin + length)
    {
        throw InputError("E188", {file.path().string(), 0}, "is cut off within its header. Use an intact copy of the file.");
    }
    const std::string_view header = text.substr(begin, length);
    const auto field = [&](std::string_view name, char from, char to) {
        const std::size_t at = header.find(name), first = header.find(from, at + name.size()), last = header.find(to, first + 1);
        return at == std::string_view::npos || first == std::string_view::npos || last == std::string_view::npos
                   ? std::string()
                   : std::string(header.substr(first + 1, last - first - 1));
    };
    return {{"type", field("'descr':", '\'', '\'')},
            {"shape", field("'shape':", '(', ')')},
            {"bytes_of_numbers", text.size() - begin - length}};
}

// Describes a timeline (trace/chrome_trace.hpp). The file has one event on each line.
Json trace_info(MappedFile& file)
{
    Json names = Json::array(), damage = Json::object();
    std::int64_t spans = 0;
    double end = 0;
    try
    {
        std::string_view rest = file.text();
        while (!rest.empty())
        {
            std::string_view line = trimmed(take_line(rest));
            if (line.ends_with(',')) { line.remove_suffix(1); }
            if (!line.starts_with(R"({"ph":)")) { continue; }
            const Json event = Json::parse(line);
            if (event.at("name") == "process_name") { names.push_back(event.at("args").at("name")); }
            if (event.at("ph") != "X") { continue; }
            ++spans;
            end = std::max(end, event.at("ts").get<double>() + event.at("dur").get<double>());
        }
    }
    catch (const Json::exception& error)
    {
        damage["damage"] = error.what();
    }
    Json json = {{"timelines", names}, {"spans", spans}, {"duration_us", end}};
    json.update(damage);
    return json;
}

Json report_info(MappedFile& file)
{
    const RunReport report = read_report(file.path().string());
    const Json whole = Json::parse(to_json(report));
    Json json;
    for (const auto& [name, value] : whole.items())
    {
        if (name != "phases" && name != "energies") { json[name] = value; }
    }
    json["us_per_step_by_phase"] = whole["phases"];
    Json& means = json["means"] = Json::object();
    for (const auto& [term, spread] : whole["energies"].items()) { means[term] = spread["mean"]; }
    return json;
}

struct Format
{
    std::string_view name;
    Json (*tell)(MappedFile&) = nullptr; // null: only the kind of file is described
};

Format format_of_json(const MappedFile& file)
{
    constexpr std::size_t beginning = 200;
    if (file.text().substr(0, beginning).find("\"traceEvents\"") != std::string_view::npos)
    {
        return {"a timeline (trace)", trace_info};
    }
    const Json json = Json::parse(file.text(), nullptr, false);
    if (!json.is_object()) { return {}; }
    const auto has = [&](const char* name) { return json.contains(name); };
    if (has("steps_of_whole_run") || (has("ns_per_day") && has("phases"))) { return {"the report of a run", report_info}; }
    if (has("state") && has("pid"))
    {
        return {"the status of a run", [](MappedFile& of) { return Json::parse(to_json(read_status(of.path().string()))); }};
    }
    if (has("energies") && has("virial_forces"))
    {
        return {"the energies of one configuration", [](MappedFile& of) { return Json::parse(of.text()); }};
    }
    return {};
}

Format format_of(const MappedFile& file)
{
    const std::string_view text = file.text();
    const FileKind kind = kind_of_file(text);
    if (kind.name == kind_trr) { return {kind.name, trr_info}; }
    if (kind.name == kind_cpt) { return {kind.name, cpt_info}; }
    if (kind.name == kind_hdf5 && file.path().extension() == ".h5md")
    {
        return {"a trajectory in H5MD format (.h5md)", h5md_info};
    }
    if (kind.name.ends_with("(.xtc)")) { return {kind.name, xtc_info}; }
    if (kind.name.ends_with("(.edr)")) { return {kind.name, edr_info}; }
    if (!kind.name.empty()) { return {kind.name}; }
    if (text.starts_with("\x93NUMPY")) { return {"an array of numbers (.npy)", npy_info}; }
    if (trimmed(text.substr(0, 64)).starts_with('{')) { return format_of_json(file); }
    const std::string ending = file.path().extension().string();
    if (ending == ".gro") { return {"a structure (.gro)", gro_info}; }
    if (ending == ".top") { return {"a topology (.top)", top_info}; }
    if (ending == ".mdp") { return {"run parameters (.mdp)", mdp_info}; }
    if (ending == ".ndx") { return {"index groups (.ndx)", ndx_info}; }
    if (ending == ".log") { return {"the log of a run", log_info}; }
    return {};
}

std::string text_of(const Json& value)
{
    if (value.is_string()) { return value.get<std::string>(); }
    if (value.is_number_float()) { return fmt::format("{:.7g}", value.get<double>()); }
    if (value.is_boolean()) { return value.get<bool>() ? "yes" : "no"; }
    if (value.is_null()) { return "-"; }
    if (!value.is_structured()) { return value.dump(); }
    std::string text;
    for (const auto& [name, each] : value.items())
    {
        text += (text.empty() ? "" : ", ") + (value.is_object() ? name + " " : "") + text_of(each);
    }
    return text.empty() ? "none" : text;
}

// Returns a line for each fact, with names in one column. Of a long list only the number of values is shown.
std::string text_of_facts(const Json& facts)
{
    constexpr std::size_t most_values = 40;
    std::size_t width = 0;
    for (const auto& [name, value] : facts.items()) { width = std::max(width, name.size()); }
    std::string text;
    for (const auto& [name, value] : facts.items())
    {
        std::string label = name;
        std::replace(label.begin(), label.end(), '_', ' ');
        const bool is_long = value.is_structured() && value.size() > most_values && name != "terms";
        fmt::format_to(std::back_inserter(text), "  {:<{}}  {}\n", label, width,
                       is_long ? fmt::format("{} entries (--json has them)", value.size()) : text_of(value));
    }
    return text;
}

} // namespace

std::string file_info(const std::filesystem::path& path, InfoStyle style)
{
    MappedFile file(path);
    const std::size_t bytes = file.text().size();
    const Format format = format_of(file);
    if (format.name.empty())
    {
        throw InputError("E188", {path.string(), 0},
                         "is of no kind that is known here. Formats that have no first bytes of their own are known by their "
                         "names: .gro, .top, .mdp, .ndx, .log.");
    }
    const Json facts = format.tell == nullptr ? Json::object() : format.tell(file);
    if (style == InfoStyle::Text)
    {
        return fmt::format("{}: {}, {}\n{}", path.string(), format.name, size_text(bytes), text_of_facts(facts));
    }
    Json json = {{"file", path.string()}, {"kind", format.name}, {"bytes", bytes}};
    json.update(facts);
    // Titles may have another encoding than UTF-8. Invalid bytes are replaced.
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace parhelion
