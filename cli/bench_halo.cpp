// SPDX-License-Identifier: Apache-2.0
// `parhelion bench halo`: the time of a coordinate and force exchange by number of ranks, size of the halo and method.
#include "bench/halo/halo_timing.hpp"
#include "commands.hpp"
#include "describe.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace parhelion {

void command_bench_halo(const BenchHaloOptions& options)
{
    expect_writable(options.json);
    fmt::print("{:>5} {:>7} {:<13} {:>11} {:>9} {:>10} {:>11} {:>11}\n", "ranks", "grid", "method", "halo slots", "messages",
               "KiB sent", "median us", "9 of 10 us");
    for (const int ranks : options.ranks)
    {
        for (const std::int64_t atoms : options.halo_atoms)
        {
            for (const std::string& method : options.methods)
            {
                const HaloTiming t = time_halo({ranks, options.threads, halo_method(method), atoms, options.exchanges});
                const std::string grid = grid_text(t.grid);
                fmt::print("{:>5} {:>7} {:<13} {:>11.0f} {:>9} {:>10.1f} {:>11.1f} {:>11.1f}\n", ranks, grid, method,
                           t.halo_atoms, t.messages, t.bytes / 1024, t.median_us, t.worst_tenth_us);
                const nlohmann::ordered_json line = {{"case", "halo"},
                                                     {"ranks", ranks},
                                                     {"threads", options.threads},
                                                     {"grid", grid},
                                                     {"method", method},
                                                     {"halo_slots", t.halo_atoms},
                                                     {"messages", t.messages},
                                                     {"bytes", t.bytes},
                                                     {"median_us", t.median_us},
                                                     {"worst_tenth_us", t.worst_tenth_us},
                                                     {"machine", describe_machine()},
                                                     {"version", version_text()}};
                append_line(options.json, line.dump());
            }
        }
    }
}

} // namespace parhelion
