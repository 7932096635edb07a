// SPDX-License-Identifier: Apache-2.0
#include "report/page.hpp"

#include "report/citations.hpp"

#include <nlohmann/json.hpp>

namespace parhelion {

namespace {

using Json = nlohmann::ordered_json;

Json averages_of(const RunRecord& run)
{
    Json all = Json::object();
    for (const auto& [term, spread] : run.averages)
    {
        all[term] = {{"unit", unit_of_term(term)}, {"mean", spread.mean}, {"stddev", spread.stddev}, {"error", spread.error}};
    }
    return all;
}

Json energies_of(const EnergyCourse& energies)
{
    if (energies.frames() == 0) { return nullptr; }
    Json last = Json::object();
    for (std::size_t i = 0; i < energies.terms.size(); ++i) { last[energies.terms[i].name] = energies.values[i].back(); }
    return {{"frames", energies.frames()},
            {"first_time_ps", energies.times.front()},
            {"last_time_ps", energies.times.back()},
            {"last", last}};
}

} // namespace

std::string report_numbers(std::span<const RunRecord> runs)
{
    Json list = Json::array();
    for (const RunRecord& run : runs)
    {
        Json json;
        json["prefix"] = run.prefix;
        json["title"] = run.title();
        json["program"] = run.log.version;
        json["machine"] = run.log.machine;
        json["methods"] = Json::array();
        for (const CitedMethod& method : citations_in(run.log).methods) { json["methods"].push_back(method.name); }
        json["warnings"] = run.log.warnings;
        json["energies"] = energies_of(run.energies);
        json["averages"] = averages_of(run);
        json["report"] = run.report ? Json::parse(to_json(*run.report)) : Json();
        json["status"] = run.status ? Json::parse(to_json(*run.status)) : Json();
        json["files"] = Json::object();
        for (const auto& [name, bytes] : run.files) { json["files"][name] = bytes; }
        list.push_back(json);
    }
    // Titles may have another encoding than UTF-8. Invalid bytes are replaced.
    return Json{{"runs", list}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace parhelion
