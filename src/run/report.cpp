// SPDX-License-Identifier: Apache-2.0
#include "run/report.hpp"

#include "io/output_file.hpp"

#include <nlohmann/json.hpp>

namespace parhelion {
namespace {
using Json = nlohmann::ordered_json;

template <class Value>
Json object(const NamedList<Value>& list)
{
    Json json = Json::object();
    for (const auto& [name, value] : list) { json[name] = value; }
    return json;
}
} // namespace

std::string to_json(const RunReport& report)
{
    Json json;
    json["atoms"] = report.atoms;
    json["steps"] = report.steps;
    json["steps_of_whole_run"] = report.steps_of_whole_run;
    json["dt_ps"] = report.dt_ps;
    json["ns_per_day"] = report.ns_per_day;
    json["us_per_step"] = report.us_per_step;
    json["wall_s"] = report.wall_s;
    json["host_load"] = report.host_load;
    json["device"] = report.device;
    json["gpus"] = report.gpus;
    json["ranks"] = report.ranks;
    json["grid"] = report.grid;
    json["halo"] = report.halo;
    json["transport"] = report.transport;
    json["pme"] = report.pme;
    json["precision"] = report.precision;
    json["threads"] = report.threads;
    json["helpers"] = object(report.helpers);
    json["repartition_interval"] = report.repartition_interval;
    json["pairlist"] = object(report.pairlist);
    json["phases"] = object(report.phases);
    Json& energies = json["energies"] = Json::object();
    for (const auto& [term, spread] : report.energies) { energies[term] = {{"mean", spread.mean}, {"stddev", spread.stddev}}; }
    json["conserved_drift_kT_per_ns_per_atom"] = report.conserved_drift_kT_per_ns_per_atom;
    json["conserved_drift_error_kT_per_ns_per_atom"] = report.conserved_drift_error_kT_per_ns_per_atom;
    json["version"] = object(report.version);
    // Names of groups may be in another encoding: its bytes are replaced.
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_report(const RunReport& report, const std::string& path) { write_text_file(path, to_json(report)); }

} // namespace parhelion
