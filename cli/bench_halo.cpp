// SPDX-License-Identifier: Apache-2.0
// `parhelion bench halo`: measures the exchange of coordinates and forces by number of
// ranks, halo size and method. Virtual nodes with an emulated network are possible.
#include "bench/halo/halo_timing.hpp"
#include "commands.hpp"
#include "run/describe.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace parhelion {

namespace {

// The number of ranks in a measurement, and the place of the proxies if ranks are spread over virtual nodes.
struct Shape
{
    int ranks;
    std::optional<NicEmulation> nodes{};
    std::string nodes_text = "-", proxies = "-";
};

std::vector<Shape> shapes_of(const BenchHaloOptions& options)
{
    std::vector<Shape> shapes;
    for (NicEmulation nodes : options.nodes)
    {
        nodes.latency = options.nic.latency, nodes.bandwidth = options.nic.bandwidth;
        const std::string text = fmt::format("{}x{}", nodes.nodes, nodes.ranks_per_node);
        for (const std::string& proxies : options.proxies) { shapes.push_back({nodes.ranks(), nodes, text, proxies}); }
    }
    if (!shapes.empty()) { return shapes; }
    for (const int ranks : options.ranks) { shapes.push_back({ranks}); }
    return shapes;
}

Proxies proxies_of(const std::string& text)
{
    const auto* const found = std::find(proxies_in_words.begin(), proxies_in_words.end(), text);
    return found == proxies_in_words.end() ? Proxies::Own : static_cast<Proxies>(found - proxies_in_words.begin());
}

void time_and_print(const BenchHaloOptions& options, const Shape& shape, std::int64_t atoms, HaloMethod method)
{
    const HaloTiming t =
        time_halo({shape.ranks, options.threads, method, atoms, options.exchanges, shape.nodes, proxies_of(shape.proxies)});
    const std::string grid = grid_text(t.grid), name = halo_name(method);
    fmt::print("{:>5} {:>5} {:<8} {:>7} {:<13} {:>11.0f} {:>9} {:>10.1f} {:>11.1f} {:>11.1f} {:>9.1f}  {}\n", shape.ranks,
               shape.nodes_text, shape.proxies, grid, name, t.halo_atoms, t.messages, t.bytes / 1024, t.median_us,
               t.worst_tenth_us, t.mean_us, t.helpers);
    nlohmann::ordered_json line = {{"case", "halo"},
                                   {"ranks", shape.ranks},
                                   {"threads", options.threads},
                                   {"grid", grid},
                                   {"method", name},
                                   {"halo_slots", t.halo_atoms},
                                   {"messages", t.messages},
                                   {"bytes", t.bytes},
                                   {"median_us", t.median_us},
                                   {"worst_tenth_us", t.worst_tenth_us},
                                   {"mean_us", t.mean_us},
                                   {"machine", describe_machine()},
                                   {"version", version_text()}};
    if (shape.nodes) { line["nodes"] = shape.nodes->text(), line["proxies"] = shape.proxies, line["helpers"] = t.helpers; }
    append_line(options.json, line.dump());
}

} // namespace

void command_bench_halo(const BenchHaloOptions& options)
{
    expect_writable(options.json);
    fmt::print("{:>5} {:>5} {:<8} {:>7} {:<13} {:>11} {:>9} {:>10} {:>11} {:>11} {:>9}\n", "ranks", "nodes", "proxies", "grid",
               "method", "halo slots", "messages", "KiB sent", "median us", "9 of 10 us", "mean us");
    for (const Shape& shape : shapes_of(options))
    {
        for (const std::int64_t atoms : options.halo_atoms)
        {
            for (const HaloMethod method : options.methods) { time_and_print(options, shape, atoms, method); }
        }
    }
}

} // namespace parhelion
