// SPDX-License-Identifier: Apache-2.0
#include "bench/partitioned/timing.hpp"

#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

namespace parhelion::partitioned_bench {

Spread spread_of(const std::vector<double>& us)
{
    const auto n = static_cast<double>(us.size());
    Spread spread;
    for (const double t : us) { spread.mean += t / n; }
    for (const double t : us) { spread.deviation += (t - spread.mean) * (t - spread.mean) / n; }
    spread.deviation = std::sqrt(spread.deviation);
    spread.least = std::ranges::min(us), spread.most = std::ranges::max(us);
    return spread;
}

void alone(const char* way, const std::function<void()>& measure)
{
    try
    {
        measure();
    }
    catch (const std::exception& error)
    {
        fmt::print(stderr, "{}: {}\n", way, error.what());
    }
}

void Report::add(const Timed& t)
{
    all_.push_back(t);
    if (json_.empty()) { return; }
    nlohmann::ordered_json line = {
        {"case", "partitioned"},      {"what", t.what},  {"method", t.method},          {"bytes", t.bytes},
        {"partitions", t.partitions}, {"us", t.us.mean}, {"deviation", t.us.deviation}, {"least", t.us.least},
        {"most", t.us.most},          {"gpus", gpus_}};
    if (t.multiplier > 0)
    {
        line["multiplier"] = t.multiplier;
        line["gflops"] = t.flops / t.us.mean * 1e-3;
    }
    std::ofstream(json_, std::ios::app) << line.dump() << '\n';
}

void Report::print()
{
    std::vector<std::string> whats;
    std::map<std::string, std::vector<std::string>> methods; // in the order of their first number
    for (const Timed& t : all_)
    {
        if (methods.find(t.what) == methods.end()) { whats.push_back(t.what); }
        std::vector<std::string>& known = methods[t.what];
        if (std::ranges::find(known, t.method) == known.end()) { known.push_back(t.method); }
    }
    for (const std::string& what : whats) { print(what, methods[what]); }
    all_.clear();
}

void Report::print(const std::string& what, const std::vector<std::string>& methods) const
{
    std::map<std::size_t, std::map<std::string, Timed>> rows;
    for (const Timed& t : all_)
    {
        if (t.what != what) { continue; }
        const auto [at, is_new] = rows[t.bytes].emplace(t.method, t);
        if (!is_new && t.us.mean < at->second.us.mean) { at->second = t; }
    }
    fmt::print("\n{}, us: mean +- deviation (partitions)\n{:>10}", what, "bytes");
    for (const std::string& method : methods) { fmt::print(" {:>25}", method); }
    fmt::print("\n");
    for (const auto& [bytes, of_methods] : rows)
    {
        fmt::print("{:>10}", bytes);
        for (const std::string& method : methods)
        {
            const auto found = of_methods.find(method);
            if (found == of_methods.end())
            {
                fmt::print(" {:>25}", "");
                continue;
            }
            const Timed& t = found->second;
            fmt::print(" {:>25}", fmt::format("{:.2f} +-{:.2f} ({})", t.us.mean, t.us.deviation, t.partitions));
        }
        fmt::print("\n");
    }
}

} // namespace parhelion::partitioned_bench
