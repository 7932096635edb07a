// SPDX-License-Identifier: Apache-2.0
// `parhelion bench comm`: measures signals, stores, barriers and sums between GPUs, and compares them with the goals.
#include "commands.hpp"
#include "run/describe.hpp"
#ifdef PARHELION_CUDA
#include "bench/comm/comm_timing.hpp"
#include "device/gpu/queue_gpu.hpp"
#endif

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace parhelion {

#ifdef PARHELION_CUDA
void command_bench_comm(const BenchCommOptions& options)
{
    expect_writable(options.json);
    const std::vector<int> here = gpus_here(options.gpus.empty() ? 0 : *std::ranges::max_element(options.gpus));
    for (const int gpus : options.gpus.empty() ? std::vector<int>{static_cast<int>(here.size())} : options.gpus)
    {
        std::vector<int> devices;
        for (int r = 0; r < std::max(gpus, 2); ++r)
        {
            devices.push_back(here[static_cast<std::size_t>(r % gpus)]);
        } // two ranks share a single GPU
        const std::string name = GpuQueue(here[0]).name();
        fmt::print("{} ranks on {} x {}\n{:<18} {:>10} {:>7} {:>10} {:>9} {:>10}\n", devices.size(), gpus, name, "", "bytes",
                   "blocks", "us", "GB/s", "goal us");
        for (const CommTiming& t : time_comm(devices, options.repetitions))
        {
            const double rate = static_cast<double>(t.bytes) / t.us * 1e-3;
            const std::string goal = t.goal_us > 0 ? fmt::format("{:.2f}", t.goal_us) : "";
            fmt::print("{:<18} {:>10} {:>7} {:>10.2f} {:>9.1f} {:>10}\n", t.name, t.bytes, t.blocks, t.us, rate, goal);
            const nlohmann::ordered_json line = {{"case", "comm"},
                                                 {"what", t.name},
                                                 {"gpus", gpus},
                                                 {"ranks", devices.size()},
                                                 {"bytes", t.bytes},
                                                 {"blocks", t.blocks},
                                                 {"us", t.us},
                                                 {"goal_us", t.goal_us},
                                                 {"gpu", name},
                                                 {"machine", describe_machine()},
                                                 {"version", version_text()}};
            append_line(options.json, line.dump());
        }
    }
}
#else
void command_bench_comm(const BenchCommOptions&) { gpus_here(0); }
#endif

} // namespace parhelion
