// SPDX-License-Identifier: Apache-2.0
#include "comm/launch/launch.hpp"

#include "base/error.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <system_error>

namespace parhelion {

namespace {

constexpr int usual_port = 29473;

struct Launcher
{
    const char* name;
    const char *process, *processes; // names of environment variables
    const char* on_this_host;        // variable with the number of processes on this host, or null
    const char *host, *port;         // variables with host and port of the first process, or null
    const char* job;                 // variable that replaces a port, so that runs of different jobs do not meet
};

// The first entry whose `process` variable is set is used. A program that another launcher may start comes before that one.
constexpr Launcher launchers[] = {
    {"PARHELION_RANK", "PARHELION_RANK", "PARHELION_SIZE", nullptr, "PARHELION_HOST", nullptr, nullptr},
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", nullptr},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", nullptr, nullptr, nullptr},
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", nullptr, "SLURM_STEP_NODELIST", nullptr, "SLURM_JOB_ID"},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", nullptr, nullptr, nullptr},
    {"PMIx", "PMIX_RANK", nullptr, nullptr, nullptr, nullptr, nullptr},
};

const char* value(const Environment& variable, const char* name) { return name != nullptr ? variable(name) : nullptr; }

[[noreturn]] void refuse(const Launcher& launcher, const std::string& why)
{
    throw InputError("E210", {},
                     fmt::format("{} has started this process, but {}. Set PARHELION_RANK, PARHELION_SIZE and PARHELION_HOST "
                                 "(host or host:port of rank 0), or unset {}.",
                                 launcher.name, why, launcher.process));
}

int number(const Launcher& launcher, const char* name, const char* text, int least, int most)
{
    int result = 0;
    const char* const end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, result);
    if (error == std::errc() && stop == end && result >= least && result <= most) { return result; }
    refuse(launcher, fmt::format("{} is '{}', which is no number from {} to {}", name, text, least, most));
}

// Returns the first host of a list in Slurm's notation: "n042" of "n[042-045,050],m1".
std::string first_host(const std::string& list)
{
    const std::size_t bracket = list.find_first_of("[,");
    if (bracket == std::string::npos || list[bracket] == ',') { return list.substr(0, bracket); }
    return list.substr(0, bracket) + list.substr(bracket + 1, list.find_first_of("-,]", bracket) - bracket - 1);
}

// Returns the address in a text of the form "host", "host:port" or "[host]:port".
Address address_in(const Launcher& launcher, const std::string& text)
{
    const std::size_t colon = text.rfind(':');
    const bool has_port = colon != std::string::npos && (text.find(':') == colon || text[colon - 1] == ']');
    Address address{has_port ? text.substr(0, colon) : text, usual_port};
    if (has_port) { address.port = number(launcher, "the port of rank 0", text.c_str() + colon + 1, 1, 65535); }
    if (address.host.size() >= 2 && address.host.front() == '[')
    {
        address.host = address.host.substr(1, address.host.size() - 2);
    }
    return address;
}

Address find_first(const Launcher& launcher, const Environment& variable, int processes)
{
    if (const char* const ours = variable("PARHELION_HOST")) { return address_in(launcher, ours); }
    const char* const here = value(variable, launcher.on_this_host);
    Address address{"", usual_port};
    if (const char* const host = value(variable, launcher.host)) { address.host = first_host(host); }
    else if (here != nullptr && number(launcher, launcher.on_this_host, here, 1, processes) == processes)
    {
        address.host = "127.0.0.1";
    }
    else { refuse(launcher, "does not say where its first process is"); }
    if (const char* const port = value(variable, launcher.port))
    {
        address.port = number(launcher, launcher.port, port, 1, 65534);
        // torchrun itself listens at MASTER_PORT.
        if (const char* const store = variable("TORCHELASTIC_USE_AGENT_STORE");
            store != nullptr && std::strcmp(store, "True") == 0)
        {
            ++address.port;
        }
    }
    if (const char* const job = value(variable, launcher.job))
    {
        address.port = 20'000 + static_cast<int>(std::atoll(job) % 12'000);
    }
    return address;
}

} // namespace

Environment own_environment()
{
    return [](const char* name) { return std::getenv(name); };
}

std::optional<Launch> recognise_launch(const Environment& variable)
{
    for (const Launcher& launcher : launchers)
    {
        const char* const process = variable(launcher.process);
        if (process == nullptr) { continue; }
        const char* const processes = value(variable, launcher.processes);
        if (processes == nullptr)
        {
            // This process is alone: it is a Slurm script that has not started a step, or the variable is set by chance.
            if (launcher.processes != nullptr) { continue; }
            refuse(launcher, "does not say how many there are");
        }
        constexpr int most = 1 << 20;
        Launch launch{launcher.name, 0, number(launcher, launcher.processes, processes, 1, most), {}};
        launch.process = number(launcher, launcher.process, process, 0, launch.processes - 1);
        if (launch.processes == 1) { return std::nullopt; }
        launch.address = find_first(launcher, variable, launch.processes);
        if (launch.address.host.empty()) { refuse(launcher, "does not say where its first process is: the host has no name"); }
        launch.is_parent = &launcher != launchers;
        return launch;
    }
    return std::nullopt;
}

} // namespace parhelion
