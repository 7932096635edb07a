// SPDX-License-Identifier: Apache-2.0
#include "comm/own_cores.hpp"

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

// A socket of this name, or none where another one has it or sockets are not to be had.
FileDescriptor claim(int core)
{
    FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = fmt::format("parhelion core {}", core);
    name.copy(address.sun_path + 1, sizeof address.sun_path - 1); // after a zero: no file
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (socket.get() >= 0 && ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) { socket.reset(-1); }
    return socket;
}

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
    std::map<int, int> threads_before; // of the same core, among those that are allowed
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
    for (const int core : order_of_cores(allowed, siblings_of_this_host))
    {
        if (static_cast<int>(claims.size()) == wanted) { break; }
        if (FileDescriptor socket = claim(core); socket.get() >= 0) { claims.push_back({core, std::move(socket)}); }
    }
    if (static_cast<int>(claims.size()) == wanted) { claims_ = std::move(claims); }
}

StayOnCore::StayOnCore(int core)
{
    if (core < 0) { return; }
    std::vector<int> before = cores_of(pthread_self());
    if (move_to(pthread_self(), {core})) { before_ = std::move(before); }
}

StayOnCore::~StayOnCore()
{
    if (!before_.empty()) { move_to(pthread_self(), before_); }
}

} // namespace parhelion
