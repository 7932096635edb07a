// SPDX-License-Identifier: Apache-2.0
#include "comm/launch/own_cores.hpp"

#include "device/cores.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <sstream>
#include <sys/socket.h>
#include <sys/un.h>
#include <utility>

namespace parhelion {

namespace {

std::vector<int> siblings_of_this_host(int core)
{
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", core));
    std::string list;
    std::getline(file, list);
    return cores_of_list(list);
}

// Calls `call` (bind or connect) for a socket with a core's name. Returns no socket if that fails or there are no sockets.
FileDescriptor name_socket(int core, int (*call)(int socket, const sockaddr* address, socklen_t length))
{
    FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = fmt::format("parhelion core {}", core);
    name.copy(address.sun_path + 1, sizeof address.sun_path - 1); // a zero byte before the name makes it abstract: without a file
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (socket.get() >= 0 && call(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) { socket.reset(-1); }
    return socket;
}

// claim() takes the core's name. is_claimed() leaves the name free for another run, and only looks whether a run has it.
FileDescriptor claim(int core) { return name_socket(core, ::bind); }
bool is_claimed(int core) { return name_socket(core, ::connect).get() >= 0; }

} // namespace

std::vector<int> cores_of_list(const std::string& list)
{
    std::vector<int> cores;
    std::istringstream ranges(list);
    for (std::string range; std::getline(ranges, range, ',');)
    {
        std::istringstream ends(range);
        int first = 0, last = 0;
        char dash = 0;
        if (!(ends >> first)) { return {}; }
        if (!(ends >> dash >> last)) { last = first; }
        for (int core = first; core <= last; ++core) { cores.push_back(core); }
    }
    return cores;
}

std::vector<int> order_of_cores(std::vector<int> allowed, const std::function<std::vector<int>(int core)>& siblings)
{
    std::map<int, int> threads_before; // number of allowed hyper-threads of the same core before this one
    for (const int core : allowed)
    {
        for (const int sibling : siblings(core))
        {
            const bool is_allowed = std::find(allowed.begin(), allowed.end(), sibling) != allowed.end();
            if (is_allowed && sibling < core) { ++threads_before[core]; }
        }
    }
    std::sort(allowed.begin(), allowed.end(),
              [&](int a, int b) { return std::pair(threads_before[a], a) < std::pair(threads_before[b], b); });
    return allowed;
}

OwnCores::OwnCores(int wanted)
{
    const std::vector<int> allowed = cores_of(pthread_self());
    if (wanted > static_cast<int>(allowed.size()) || wanted > available_cores()) { return; }
    std::vector<Claim> claims;
    std::vector<int> others;
    for (const int core : order_of_cores(allowed, siblings_of_this_host))
    {
        if (static_cast<int>(claims.size()) < wanted)
        {
            if (FileDescriptor socket = claim(core); socket.get() >= 0) { claims.push_back({core, std::move(socket)}); }
        }
        else if (!is_claimed(core)) { others.push_back(core); } // unless another run has claimed it
    }
    if (static_cast<int>(claims.size()) < wanted) { return; }
    claims_ = std::move(claims);
    others_ = std::move(others);
}

std::vector<int> OwnCores::cores(int n) const
{
    if (claims_.empty()) { return {}; }
    std::vector<int> cores = {claims_[static_cast<std::size_t>(n)].core};
    const auto part = static_cast<std::ptrdiff_t>(others_.size() / claims_.size());
    cores.insert(cores.end(), others_.begin() + n * part, others_.begin() + (n + 1) * part);
    return cores;
}

StayOnCores::StayOnCores(const std::vector<int>& cores)
{
    if (cores.empty()) { return; }
    std::vector<int> before = cores_of(pthread_self());
    if (move_to(pthread_self(), cores)) { before_ = std::move(before); }
}

StayOnCores::~StayOnCores()
{
    if (!before_.empty()) { move_to(pthread_self(), before_); }
}

} // namespace parhelion
