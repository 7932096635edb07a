// SPDX-License-Identifier: Apache-2.0
#include "run/report.hpp"

#include "base/error.hpp"
#include "io/input/text.hpp"
#include "io/output/output_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace parhelion {
namespace {
using Json = nlohmann::ordered_json;

// Calls visit(name, field) for all fields, in the order of the file.
template <class Report, class Visit>
void for_each_field(Report& report, Visit&& visit)
{
    visit("atoms", report.atoms);
    visit("steps", report.steps);
    visit("steps_of_whole_run", report.steps_of_whole_run);
    visit("dt_ps", report.dt_ps);
    visit("ns_per_day", report.ns_per_day);
    visit("us_per_step", report.us_per_step);
    visit("wall_s", report.wall_s);
    visit("host_load", report.host_load);
    visit("device", report.device);
    visit("gpus", report.gpus);
    visit("ranks", report.ranks);
    visit("grid", report.grid);
    visit("halo", report.halo);
    visit("transport", report.transport);
    visit("pme", report.pme);
    visit("precision", report.precision);
    visit("threads", report.threads);
    visit("helpers", report.helpers);
    visit("repartition_interval", report.repartition_interval);
    visit("load_balance", report.load_balance);
    visit("borders", report.borders);
    visit("pairlist", report.pairlist);
    visit("phases", report.phases);
    visit("energies", report.energies);
    visit("conserved_drift_kT_per_ns_per_atom", report.conserved_drift_kT_per_ns_per_atom);
    visit("conserved_drift_error_kT_per_ns_per_atom", report.conserved_drift_error_kT_per_ns_per_atom);
    visit("version", report.version);
}

template <class Value>
Json json_of(const Value& value)
{
    return value;
}
Json json_of(const RunReport::Spread& spread)
{
    return {{"mean", spread.mean}, {"stddev", spread.stddev}, {"error", spread.error}};
}
template <class Value>
Json json_of(const NamedList<Value>& list)
{
    Json json = Json::object();
    for (const auto& [name, value] : list) { json[name] = json_of(value); }
    return json;
}

template <class Value>
void read(const Json& json, Value& value)
{
    value = json.get<Value>();
}
void read(const Json& json, double& value)
{
    value = json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}
void read(const Json& json, RunReport::Spread& spread)
{
    read(json.at("mean"), spread.mean);
    read(json.at("stddev"), spread.stddev);
    read(json.value("error", Json()), spread.error);
}
template <class Value>
void read(const Json& json, NamedList<Value>& list)
{
    list.clear();
    for (const auto& [name, each] : json.items())
    {
        list.emplace_back(name, Value{});
        read(each, list.back().second);
    }
}
} // namespace

std::string to_json(const RunReport& report)
{
    Json json;
    for_each_field(report, [&](const char* name, const auto& value) { json[name] = json_of(value); });
    // Names of groups may have another encoding than UTF-8. Invalid bytes are replaced.
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

RunReport read_report(const std::string& path)
{
    const MappedFile file(path);
    try
    {
        const Json json = Json::parse(file.text());
        RunReport report;
        static_cast<void>(json.at("steps")); // throws without it; no other file of this program has it
        for_each_field(report, [&](const char* name, auto& value) {
            if (const auto found = json.find(name); found != json.end()) { read(*found, value); }
        });
        return report;
    }
    catch (const Json::exception& error)
    {
        throw InputError("E186", {path, 0},
                         fmt::format("is not the report of a run ({}). Use the file as the run has written it.", error.what()));
    }
}

void write_report(const RunReport& report, const std::string& path) { write_text_file(path, to_json(report)); }

} // namespace parhelion
