// SPDX-License-Identifier: Apache-2.0
// `parhelion doctor`: what this machine has, what the program can use of it, and whether its GPUs can talk to each other.
#include "commands.hpp"
#include "describe.hpp"
#include "io/preprocessor.hpp"
#ifdef PARHELION_CUDA
#include "comm/gpu_self_test.hpp"
#endif

#include <filesystem>
#include <fmt/format.h>
#include <numeric>

namespace parhelion {

namespace {

#ifdef PARHELION_CUDA
void print_gpus()
{
    const int gpus = gpu_count();
    if (gpus == 0) { return; }
    for (int g = 0; g < gpus; ++g) { fmt::print("GPU {}     {}\n", g, GpuQueue(g).name()); }
    // A single GPU is tested as two ranks.
    std::vector<int> devices(gpus == 1 ? 2 : static_cast<std::size_t>(gpus), 0);
    if (gpus > 1) { std::iota(devices.begin(), devices.end(), 0); }
    try
    {
        GpuWorldOptions options;
        options.deadline = std::chrono::seconds(5);
        GpuWorld world(devices, options);
        for (const PairTest& test : self_test(world))
        {
            const std::string pair = gpus == 1
                                         ? "two ranks on GPU 0"
                                         : fmt::format("GPU {} and GPU {}", world.device(test.first), world.device(test.second));
            fmt::print("link      {}: messages arrive, a signal takes {:.2f} us, {}native atomics\n", pair, test.signal_us,
                       test.has_native_atomics ? "" : "no ");
        }
    }
    catch (const SystemError& e)
    {
        fmt::print("link      {}\n", e.what());
    }
}
#else
void print_gpus() {}
#endif

} // namespace

void command_doctor()
{
    fmt::print("program   {}\nmachine   {}\n", version_text(), describe_machine());
    fmt::print("devices   {}\n", describe_devices());
    print_gpus();
    std::string folders;
    for (const auto& path : library_paths())
    {
        if (std::filesystem::exists(path)) { folders += (folders.empty() ? "" : ", ") + path.string(); }
    }
    fmt::print("forcefields {}\n", folders.empty() ? "none installed (apt install gromacs-data, or -I DIR)" : folders);
}

} // namespace parhelion
