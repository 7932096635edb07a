// SPDX-License-Identifier: Apache-2.0
#include "run/launched.hpp"

#include "base/error.hpp"
#include "comm/networks/networks.hpp"
#include "run/processes.hpp"
#include "run/start.hpp"

#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <sstream>
#include <string_view>
#include <unistd.h>

namespace parhelion {

namespace {

Bytes bytes_of(const void* data, std::size_t bytes)
{
    const auto* const first = static_cast<const std::byte*>(data);
    return {first, first + bytes};
}

// Returns the first line in which the two texts differ.
std::string first_difference(const std::string& first, const std::string& here)
{
    std::istringstream of_first(first), of_here(here);
    for (std::string a, b;;)
    {
        const bool has_a = static_cast<bool>(std::getline(of_first, a)), has_b = static_cast<bool>(std::getline(of_here, b));
        if (!has_a && !has_b) { return ""; }
        if (!has_a || !has_b || a != b) { return fmt::format("'{}' there, '{}' here", has_a ? a : "", has_b ? b : ""); }
    }
}

// Returns the transport between CPUs: TCP for Auto, and for a run that uses NVSHMEM between GPUs.
TransportKind transport_between_cpus(TransportKind transport)
{
    return transport == TransportKind::Auto || transport == TransportKind::Nvshmem ? TransportKind::Tcp : transport;
}

std::string text_of(const std::exception_ptr& exception)
{
    try
    {
        std::rethrow_exception(exception);
    }
    catch (const std::exception& error)
    {
        return error.what();
    }
}

} // namespace

LaunchedRun::LaunchedRun(const RunRequest& request, const Launch& launch, const ProcessOptions& shares, RunObserver& observer)
    : launch_(launch), observer_(observer), transport_(transport_between_cpus(request.connection.transport))
{
    const char* const given = own_environment()("PARHELION_SECRET_FILE");
    const std::string path = given != nullptr ? given : request.output.prefix + ".secret";
    std::optional<SecretFile> made; // the file exists until all processes have met
    if (given != nullptr) { read_given_secret(path); }
    RendezvousOptions meeting;
    meeting.ranks = shares.ranks;
    meeting.here = ranks_of_process(launch.process, shares);
    meeting.address = launch.address;
    meeting.secret = [&] {
        if (writes() && given == nullptr) { made.emplace(path); }
        return read_secret(path);
    };
    meeting.wire = request.connection.trust_network ? Wire::Trusted : Wire::Sealed;
    meeting.deadline = shares.deadline;
    meeting.on_stranger = [&observer](const std::string& sentence) { observer.warning("note: " + sentence); };
    if (request.end_process)
    {
        meeting.on_stuck = [&observer, first = writes(), log = request.output.prefix + log_ending,
                            end = request.end_process](const std::exception_ptr& error, bool is_told_by_first) {
            if (first) { add_last_line(log, text_of(error)); }
            observer.speaks(first || !is_told_by_first);
            end(error);
        };
    }
    if (launch.is_parent)
    {
        meeting.why_end = [parent = ::getppid(), rank = meeting.here.first, launcher = launch.launcher]() -> std::string {
            if (::getppid() == parent) { return ""; }
            return fmt::format("What has started the process of rank {} on {} ({}) has ended.", rank, host_name(), launcher);
        };
    }
    met_ = std::make_shared<Rendezvous>(meeting);
    observer_.speaks(writes());
}

LaunchedRun::~LaunchedRun() { met_->listen({}); }

void LaunchedRun::place(SimulationOptions& engine) const
{
    engine.processes_of_host = 0;
    const ProcessCard here = met_->card();
    for (const ProcessCard& card : met_->processes())
    {
        if (card.first == here.first) { engine.process_of_host = engine.processes_of_host; }
        if (std::string_view(card.host) == here.host) { ++engine.processes_of_host; }
    }
}

Network LaunchedRun::network()
{
    if (transport_ == TransportKind::Tcp) { return tcp_network(met_); }
    plugin_ = std::make_unique<PluginRanks>(PluginOptions{.transport = transport(), .deadline = met_->deadline()});
    met_->listen({.on_loss = [&plugin = *plugin_](const std::string& sentence) { plugin.lose(sentence); }});
    return plugin_->network(met_->ranks());
}

void LaunchedRun::agree(const NamedList<std::string>& identity, std::int64_t steps_left)
{
    std::string has_read = fmt::format("steps to take: {}\n", steps_left);
    for (const auto& [name, value] : identity) { has_read += fmt::format("{}: {}\n", name, value); }
    const auto key = [](int rank) { return fmt::format("what rank {} has read", rank); };
    met_->put(key(met_->here().first), bytes_of(has_read.data(), has_read.size()));
    for (const ProcessCard& card : met_->processes()) // rank 0 changes no file before all other processes have read their input
    {
        if (!writes() && card.first != 0) { return; }
        const Bytes there = met_->wait_for(key(card.first));
        const std::string text(reinterpret_cast<const char*>(there.data()), there.size());
        if (const std::string found = first_difference(text, has_read); !found.empty())
        {
            throw InputError("E212", {},
                             fmt::format("processes of this run have read different files or options: {} ({}, and here {}). Give "
                                         "all the same, in a folder that all hosts share.",
                                         found, card.name(), host_name()));
        }
    }
}

RunParameters LaunchedRun::with_seeds_of_first(RunParameters parameters)
{
    parameters.random_seed = from_first("seed", parameters.random_seed);
    parameters.generation_seed = from_first("seed of velocities", parameters.generation_seed);
    return parameters;
}

std::int64_t LaunchedRun::from_first(const char* what, std::int64_t value)
{
    if (writes())
    {
        met_->put(what, bytes_of(&value, sizeof value));
        return value;
    }
    const Bytes bytes = met_->wait_for(what);
    PARHELION_EXPECTS(bytes.size() == sizeof value);
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

void LaunchedRun::end(const std::string& log)
{
    const std::exception_ptr own = std::current_exception();
    // The plug-in is not closed, because closing needs all processes. This process ends without it; the launcher ends the others.
    static_cast<void>(plugin_.release());
    try
    {
        met_->end_by(own);
    }
    catch (const InputError&)
    {
        observer_.speaks(writes() || !met_->is_told_by_first()); // otherwise the process of rank 0 reports the error
        throw;                                                   // no step has begun
    }
    catch (const std::exception& error)
    {
        if (writes() && error.what() != text_of(own)) { add_last_line(log, error.what()); } // the log has its own error already
        observer_.speaks(writes() || !met_->is_told_by_first());
        throw;
    }
}

} // namespace parhelion
