// SPDX-License-Identifier: Apache-2.0
// `parhelion doctor`: shows the hardware of this machine, the part that the program can use, and whether GPUs can communicate.
#include "base/error.hpp"
#include "comm/launch/launch.hpp"
#include "comm/transports/plugin.hpp"
#include "commands.hpp"
#include "device/cores.hpp"
#include "io/input/preprocessor.hpp"
#include "run/describe.hpp"
#ifdef PARHELION_CUDA
#include "comm/gpu/heap.hpp"
#include "comm/gpu/self_test.hpp"
#include "engine/choose_gpus.hpp"
#endif

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

namespace parhelion {

namespace {

#ifdef PARHELION_CUDA
void print_gpus()
{
    const HostGpus& host = find_gpus();
    if (host.gpus.empty()) { return; }
    for (const HostGpu& gpu : host.gpus)
    {
        const std::string why = why_unusable(gpu);
        fmt::print("GPU {}     {}, compute capability {}.{}, {:.0f} GB, {} multiprocessors{}\n", gpu.device, gpu.name, gpu.major,
                   gpu.minor, 1e-9 * static_cast<double>(gpu.memory), gpu.multiprocessors,
                   why.empty() ? "" : "; not used: " + why);
    }
    if (const std::string why = why_left_out(host); !why.empty()) { fmt::print("left out  {}\n", why); }
    std::vector<int> devices = usable_together(host);
    if (devices.empty()) { return; }
    const std::size_t gpus = devices.size();
    if (gpus == 1) { devices.push_back(devices[0]); } // a single GPU is tested with two ranks on it
    try
    {
        GpuWorldOptions options;
        options.deadline = std::chrono::seconds(5);
        GpuWorld world(devices, options);
        for (const PairTest& test : self_test(world))
        {
            const std::string pair = gpus == 1
                                         ? fmt::format("two ranks on GPU {}", devices[0])
                                         : fmt::format("GPU {} and GPU {}", world.device(test.first), world.device(test.second));
            fmt::print("link      {}: messages arrive, a signal takes {:.2f} us, {}native atomics\n", pair, test.signal_us,
                       test.has_native_atomics ? "" : "no ");
        }
        if (gpus == 1) { return; }
        const LinkSpeed link = time_links(devices);
        fmt::print("link      the slowest: a signal takes {:.2f} us, stores {:.0f} GB/s{}\n", link.signal_us, link.store_gb_s,
                   link.trouble.empty() ? "" : "; " + link.trouble);
    }
    catch (const SystemError& e)
    {
        fmt::print("link      {}\n", e.what());
    }
}
#else
void print_gpus() {}
#endif

// Returns the text of about(), called in a forked process, because two MPI libraries do not work in one process.
std::string told_apart(const std::function<std::string()>& about)
{
    int ends[2];
    if (::pipe(ends) != 0) { return fmt::format("cannot be asked: {}", std::strerror(errno)); }
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0)
    {
        std::string text;
        try
        {
            text = about();
        }
        catch (const SystemError& error)
        {
            text = std::string("no: ") + error.what();
        }
        static_cast<void>(::write(ends[1], text.data(), text.size()));
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string text;
    char bytes[512];
    for (ssize_t n; (n = ::read(ends[0], bytes, sizeof bytes)) > 0;) { text.append(bytes, static_cast<std::size_t>(n)); }
    ::close(ends[0]);
    int status = 0;
    if (child > 0) { ::waitpid(child, &status, 0); }
    return child > 0 && WIFEXITED(status) ? text : "no: the library ends a process that opens it";
}

// Describes the transports in shared objects, and the library that each opens. It forks, so call it before a GPU is used.
std::string describe_transports()
{
    std::string lines;
    const auto add = [&](const std::string& name, const std::string& file, const std::function<std::string()>& about) {
        lines += fmt::format("transport {} ({}): {}\n", name, file, told_apart(about));
    };
    for (const PluginFile& file : plugin_files())
    {
        add(fmt::format("{}", fmt::join(file.transports, ", ")), file.file,
            [&] { return Plugin(file.transports.front(), {file}).version(); });
    }
    lines +=
        fmt::format("transport nic-emulation: here; takes a core for each of --nodes, or each GPU, of {}\n", available_cores());
#ifdef PARHELION_CUDA
    add("nvshmem", GpuHeap::plugin_file, GpuHeap::library);
#endif
    return lines;
}

// Describes the launcher of the run that this process would join.
std::string describe_launch()
{
    try
    {
        const std::optional<Launch> launch = recognise_launch(own_environment());
        if (!launch) { return "none: one process, or those of --processes"; }
        return fmt::format("{}: process {} of {}, rank 0 is at {}", launch->launcher, launch->process, launch->processes,
                           launch->address.text());
    }
    catch (const InputError& error)
    {
        return error.what();
    }
}

} // namespace

void command_doctor()
{
    const std::string transports = describe_transports();
    fmt::print("program   {}\nmachine   {}\n", version_text(), describe_machine());
    fmt::print("devices   {}\n", describe_devices());
    print_gpus();
    fmt::print("launcher  {}\n{}", describe_launch(), transports);
    std::string folders;
    for (const auto& path : library_paths())
    {
        if (std::filesystem::exists(path)) { folders += (folders.empty() ? "" : ", ") + path.string(); }
    }
    fmt::print("forcefields {}\n", folders.empty() ? "none installed (apt install gromacs-data, or -I DIR)" : folders);
}

} // namespace parhelion
