// SPDX-License-Identifier: Apache-2.0
#include "report/trace_report.hpp"

#include <nlohmann/json.hpp>

namespace parhelion {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const StepSpread& s)
{
    if (s.count == 0) { return nullptr; }
    return {{"steps", s.count}, {"mean_us", s.mean}, {"deviation_us", s.deviation}, {"min_us", s.min}, {"median_us", s.median},
            {"p95_us", s.p95},  {"max_us", s.max}};
}

Json json_of(const ProcessTimes& p)
{
    Json json = {{"name", p.name},          {"compute_us", p.compute}, {"exchange_us", p.exchange},
                 {"waiting_us", p.waiting}, {"idle_us", p.idle},       {"path_us", p.path}};
    if (p.atoms > 0) { json["atoms"] = p.atoms; }
    if (p.work.step > 0)
    {
        for (const auto& [name, part] : step_work_parts) { json["work_us"][std::string(name)] = p.work.*part; }
    }
    return json;
}

Json json_of(const Occupancy& o)
{
    Json kernels = Json::object();
    for (const Occupancy::Kernel& k : o.kernels) { kernels[k.name] = {{"mean", k.mean}, {"typical_step", k.share}}; }
    return {{"name", o.process},       {"multiprocessors", o.multiprocessors},
            {"mean", o.busy},          {"typical_step_us", o.typical_us},
            {"typical_step", o.share}, {"kernels", kernels}};
}

template <class List, class Tell>
Json list_of(const List& list, const Tell& tell)
{
    Json json = Json::array();
    for (const auto& one : list) { json.push_back(tell(one)); }
    return json;
}

Json json_of(const TraceAnalysis& a)
{
    Json json;
    json["file"] = a.path;
    json["kind"] = a.is_of_gpus ? "GPUs" : "ranks";
    json["steps"] = {{"all", json_of(a.all)}, {"plain", json_of(a.plain)}, {"repartition", json_of(a.repartition)}};
    json["imbalance"] = a.imbalance;
    json["path_gaps_us"] = a.path_gaps, json["path_messages_us"] = a.path_messages;
    json["names"] = list_of(a.names, [](const NamedTimes& t) -> Json {
        return {{"name", t.name},    {"phase", t.phase},  {"calls", t.calls},
                {"busy_us", t.busy}, {"path_us", t.path}, {"path_steps", t.path_steps}};
    });
    json["processes"] = list_of(a.processes, [](const ProcessTimes& p) { return json_of(p); });
    json["waits"] = list_of(a.waits, [](const WaitTimes& w) -> Json {
        return {{"name", w.process}, {"phase", w.phase}, {"peer", w.peer}, {"cause", w.cause}, {"us", w.us}, {"steps", w.steps}};
    });
    json["beside"] = list_of(a.beside, [](const BesideTimes& b) -> Json {
        return {{"name", b.process}, {"first", b.first}, {"second", b.second}, {"us", b.us}};
    });
    json["occupancy"] = list_of(a.occupancy, [](const Occupancy& o) { return json_of(o); });
    json["slow_steps"] = list_of(a.slow, [](const SlowStep& s) -> Json {
        return {{"step", s.step}, {"us", s.us}, {"typical_us", s.typical_us}, {"cause", s.cause}, {"text", s.text}};
    });
    json["lengths"] = list_of(a.steps, [](const StepLength& s) -> Json {
        return {{"step", s.step}, {"us", s.us}, {"repartitions", s.repartitions}};
    });
    json["advice"] = a.advice;
    return json;
}

} // namespace

std::string trace_numbers(std::span<const TraceAnalysis> traces)
{
    const Json json = {{"traces", list_of(traces, [](const TraceAnalysis& a) { return json_of(a); })}};
    // File names may have bytes that are not UTF-8. These bytes are replaced.
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace parhelion
