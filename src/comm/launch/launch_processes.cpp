// SPDX-License-Identifier: Apache-2.0
#include "comm/launch/launch_processes.hpp"

#include "base/error.hpp"
#include "comm/bootstraps/process_errors.hpp"
#include "comm/bootstraps/processes.hpp"
#include "comm/core/atomics.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace parhelion {

namespace {

using namespace std::chrono_literals;

// The time after the first failure within which all other processes must have ended.
constexpr std::chrono::nanoseconds grace = 4s;

using SharedDescriptor = std::shared_ptr<const FileDescriptor>;

struct OutgoingPacket
{
    ProcessPacket packet;
    SharedDescriptor passed; // descriptor to pass along; null if there is none
};

struct Asked
{
    SharedDescriptor memory; // descriptor of the memory; null until the memory is made
    std::uint64_t size = 0;
    int processes = 0;
};

struct Process
{
    pid_t id = -1;
    RankRange ranks;
    FileDescriptor socket; // closed by its process, which then sends no more
    std::deque<OutgoingPacket> outgoing{};
    bool is_running = true;
    bool has_reported = false;      // true: it has sent Done or Failed
    std::int64_t stopped_since = 0; // time since which it is stopped, ns; 0: it is running
    int result = 0;

    std::string name() const
    {
        return ranks.count == 1
                   ? fmt::format("The process of rank {} ({})", ranks.first, id)
                   : fmt::format("The process of ranks {} to {} ({})", ranks.first, ranks.first + ranks.count - 1, id);
    }
};

class Launcher
{
public:
    explicit Launcher(const ProcessOptions& options) : options_(options) {}
    ~Launcher();
    Launcher(const Launcher&) = delete;
    Launcher& operator=(const Launcher&) = delete;

    void start(const std::function<int(std::unique_ptr<Bootstrap>)>& body);
    int run(); // returns the result when all processes have ended

private:
    [[noreturn]] void be(RankRange ranks, int socket, pid_t launcher, const std::function<int(std::unique_ptr<Bootstrap>)>& body);
    void talk();
    void take(Process& from, ReceivedPacket&& received);
    void send_others(const Process& from, const OutgoingPacket& outgoing);
    void answer_pages(Process& asker, const ProcessPacket& request);
    void send(Process& to, OutgoingPacket&& outgoing);
    void flush(Process& process);
    void look_after(Process& process, std::int64_t now);
    void note_end(Process& process, int status);
    void fail(const Process& of, const ProcessPacket& failure);
    bool is_anyone_running() const;

    const ProcessOptions options_;
    std::vector<Process> processes_;
    std::map<std::string, Asked> pages_;     // requested pages by key, until all processes have asked for them
    std::optional<ProcessPacket> failure_;   // the first failure
    ProcessFailure failed_{};                // the process that failed first
    std::int64_t failed_since_ = 0;          // time of the first failure, ns
    std::optional<ProcessPacket> bystander_; // first report of a process that ended because another process failed
    bool has_passed_stop_ = false;
};

Launcher::~Launcher()
{
    for (Process& process : processes_)
    {
        if (!process.is_running) { continue; }
        ::kill(process.id, SIGKILL);
        ::waitpid(process.id, nullptr, 0);
    }
}

// Runs the program of a forked process. It never returns to the code of the launcher.
void Launcher::be(RankRange ranks, int socket, pid_t launcher, const std::function<int(std::unique_ptr<Bootstrap>)>& body)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != launcher) { ::_exit(0); } // the launcher ended before the call of prctl
    processes_.clear();                          // closes the launcher's ends of sockets, so that their closing is noticed
    ProcessPacket last;
    try
    {
        auto bootstrap = std::make_unique<ProcessesBootstrap>(socket, options_.ranks, ranks, options_.deadline);
        last = {.says = ProcessSays::Done, .size = static_cast<std::uint64_t>(body(std::move(bootstrap)))};
    }
    catch (...)
    {
        last = packet_of(std::current_exception());
    }
    std::fflush(nullptr);
    send_packet(socket, last, -1, Wait::Yes);
    ::_exit(0); // skips destructors, as the objects belong to the launcher
}

void Launcher::start(const std::function<int(std::unique_ptr<Bootstrap>)>& body)
{
    std::fflush(nullptr); // otherwise every process would print the text in the buffers
    const pid_t launcher = ::getpid();
    for (int p = 0; p < options_.processes; ++p)
    {
        SocketPair sockets = make_socket_pair();
        const RankRange ranks = ranks_of_process(p, options_);
        const pid_t id = ::fork();
        if (id < 0)
        {
            throw SystemError(fmt::format("Only {} of {} processes could be started: {}. Use fewer.", p, options_.processes,
                                          std::strerror(errno)));
        }
        if (id == 0)
        {
            sockets.launcher.reset(-1);
            be(ranks, sockets.process.get(), launcher, body);
        }
        processes_.push_back({.id = id, .ranks = ranks, .socket = std::move(sockets.launcher)});
    }
}

int Launcher::run()
{
    while (is_anyone_running())
    {
        talk();
        const std::int64_t now = HostAtomics::nanoseconds(); // this clock does not advance while the process is stopped
        for (Process& process : processes_) { look_after(process, now); }
        if (options_.is_interrupted && options_.is_interrupted())
        {
            fail(processes_[0],
                 {.says = ProcessSays::Failed, .failure = FailureKind::ProgramStopped, .text = "The run was interrupted."});
        }
        if (options_.stop != nullptr && !has_passed_stop_ && options_.stop->load(std::memory_order_relaxed))
        {
            has_passed_stop_ = true;
            if (processes_[0].is_running) { ::kill(processes_[0].id, SIGTERM); }
        }
    }
    if (failure_)
    {
        if (options_.on_failure) { options_.on_failure(failed_); }
        throw_error_of(*failure_);
    }
    if (bystander_) { throw_error_of(*bystander_); }
    return processes_[0].result;
}

bool Launcher::is_anyone_running() const
{
    return std::any_of(processes_.begin(), processes_.end(), [](const Process& p) { return p.is_running; });
}

// Sends and receives as much as possible, or waits a short time if nothing is possible.
void Launcher::talk()
{
    std::vector<pollfd> watched;
    std::vector<Process*> of_watched;
    int longest_ms = 50;
    for (Process& process : processes_)
    {
        if (process.socket.get() < 0)
        {
            if (process.is_running) { longest_ms = 1; } // the process has sent everything and is about to end
            continue;
        }
        watched.push_back({process.socket.get(), static_cast<short>(POLLIN | (process.outgoing.empty() ? 0 : POLLOUT)), 0});
        of_watched.push_back(&process);
    }
    if (::poll(watched.data(), watched.size(), longest_ms) <= 0) { return; }
    for (std::size_t i = 0; i < watched.size(); ++i)
    {
        Process& process = *of_watched[i];
        if ((watched[i].revents & POLLOUT) != 0) { flush(process); }
        if ((watched[i].revents & (POLLIN | POLLHUP | POLLERR)) == 0) { continue; }
        std::optional<ReceivedPacket> received = receive_packet(process.socket.get());
        if (received) { take(process, std::move(*received)); }
        else { process.socket.reset(-1); }
    }
}

void Launcher::send_others(const Process& from, const OutgoingPacket& outgoing)
{
    for (Process& process : processes_)
    {
        if (&process != &from) { send(process, OutgoingPacket(outgoing)); }
    }
}

void Launcher::take(Process& from, ReceivedPacket&& received)
{
    ProcessPacket& packet = received.packet;
    switch (packet.says)
    {
    case ProcessSays::Put:
        return send_others(from, {std::move(packet), nullptr});
    case ProcessSays::Pass:
        return send_others(from, {std::move(packet), std::make_shared<const FileDescriptor>(std::move(received.passed))});
    case ProcessSays::Letter: {
        const int to = process_of_rank(static_cast<int>(packet.size), options_);
        return send(processes_[static_cast<std::size_t>(to)], {std::move(packet), nullptr});
    }
    case ProcessSays::Pages:
        return answer_pages(from, packet);
    case ProcessSays::Done:
        from.has_reported = true;
        from.result = static_cast<int>(packet.size);
        return;
    case ProcessSays::Failed:
        from.has_reported = true;
        if (packet.failure != FailureKind::PeerAborted) { fail(from, packet); }
        else if (!bystander_) { bystander_ = std::move(packet); }
        return;
    default:
        PARHELION_EXPECTS(false); // such a packet is not for a launcher
    }
}

void Launcher::answer_pages(Process& asker, const ProcessPacket& request)
{
    Asked& asked = pages_[request.key];
    ProcessPacket answer = request;
    if (!asked.memory)
    {
        FileDescriptor made(::memfd_create("parhelion", MFD_CLOEXEC));
        if (made.get() < 0 || ::ftruncate(made.get(), static_cast<off_t>(request.size)) != 0)
        {
            answer.text =
                fmt::format("memfd_create of {} bytes of shared memory for messages between ranks failed: {}. Use fewer "
                            "ranks, or one process",
                            request.size, std::strerror(errno));
            return send(asker, {std::move(answer), nullptr});
        }
        asked.memory = std::make_shared<const FileDescriptor>(std::move(made));
        asked.size = request.size;
    }
    answer.size = asked.size;
    send(asker, {std::move(answer), asked.memory});
    if (++asked.processes == options_.processes) { pages_.erase(request.key); }
}

void Launcher::send(Process& to, OutgoingPacket&& outgoing)
{
    to.outgoing.push_back(std::move(outgoing));
    flush(to);
}

// Sends a process's packets as far as possible without waiting, since the process may be stopped.
void Launcher::flush(Process& process)
{
    while (!process.outgoing.empty())
    {
        const OutgoingPacket& next = process.outgoing.front();
        const int passed = next.passed ? next.passed->get() : -1;
        const Sent sent =
            process.socket.get() < 0 ? Sent::Never : send_packet(process.socket.get(), next.packet, passed, Wait::No);
        if (sent == Sent::Later) { return; }
        process.outgoing.pop_front();
    }
}

void Launcher::look_after(Process& process, std::int64_t now)
{
    if (!process.is_running) { return; }
    int status = 0;
    const pid_t changed = ::waitpid(process.id, &status, WNOHANG | WUNTRACED | WCONTINUED);
    if (changed == process.id)
    {
        if (WIFSTOPPED(status)) { process.stopped_since = now; }
        else if (WIFCONTINUED(status)) { process.stopped_since = 0; }
        else { return note_end(process, status); }
    }
    if (process.stopped_since != 0 && now - process.stopped_since > options_.deadline.count())
    {
        std::string sentence = fmt::format("{} has been stopped for {:g} s.", process.name(),
                                           std::chrono::duration<double>(options_.deadline).count());
        fail(process, {.says = ProcessSays::Failed, .failure = FailureKind::Comm, .text = std::move(sentence)});
        ::kill(process.id, SIGKILL);
    }
    if (failure_ && now - failed_since_ > grace.count()) { ::kill(process.id, SIGKILL); }
}

void Launcher::note_end(Process& process, int status)
{
    process.is_running = false;
    // The process has ended, but its last packets may still be in flight.
    while (process.socket.get() >= 0)
    {
        std::optional<ReceivedPacket> received = receive_packet(process.socket.get());
        if (received) { take(process, std::move(*received)); }
        else { process.socket.reset(-1); }
    }
    const bool has_exited = options_.may_exit && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (process.has_reported || has_exited) { return; }
    const std::string how = WIFSIGNALED(status)
                                ? fmt::format("was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)))
                                : fmt::format("has ended with exit code {}", WEXITSTATUS(status));
    fail(process,
         {.says = ProcessSays::Failed, .failure = FailureKind::LostRank, .text = fmt::format("{} {}.", process.name(), how)});
}

// Ends the run with its first failure, and sends the failure to all processes.
void Launcher::fail(const Process& of, const ProcessPacket& failure)
{
    if (failure_) { return; }
    failure_ = failure;
    failed_ = {static_cast<int>(&of - processes_.data()), of.has_reported};
    failed_since_ = HostAtomics::nanoseconds();
    for (Process& process : processes_)
    {
        if (process.is_running) { send(process, {{.says = ProcessSays::Lost, .text = failure.text}, nullptr}); }
    }
}

} // namespace

RankRange ranks_of_process(int process, const ProcessOptions& options)
{
    const auto first = [&](int p) { return static_cast<int>(static_cast<std::int64_t>(options.ranks) * p / options.processes); };
    return {first(process), first(process + 1) - first(process)};
}

int process_of_rank(int rank, const ProcessOptions& options)
{
    int process = 0;
    while (rank >= ranks_of_process(process, options).first + ranks_of_process(process, options).count) { ++process; }
    return process;
}

int run_in_processes(const ProcessOptions& options, const std::function<int(std::unique_ptr<Bootstrap>)>& body)
{
    PARHELION_EXPECTS(options.processes >= 1 && options.ranks >= options.processes);
    Launcher launcher(options);
    launcher.start(body);
    return launcher.run();
}

} // namespace parhelion
