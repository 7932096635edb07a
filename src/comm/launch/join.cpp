// SPDX-License-Identifier: Apache-2.0
#include "comm/launch/join.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace parhelion {

namespace {

constexpr const char* this_host = "127.0.0.1";
constexpr unsigned char version_of_id = 1;
constexpr std::size_t secret_bytes = 32, before_secret = 4; // before_secret: bytes of version, host length and port
constexpr std::size_t longest_host = JoinId::size - before_secret - secret_bytes;

[[noreturn]] void refuse(const std::string& sentence) { throw JoinError(sentence); }

// The listeners of ids with which no process has joined yet, by port.
class Doors
{
public:
    void keep(int port, Listeners listeners)
    {
        const std::scoped_lock lock(mutex_);
        open_.insert_or_assign(port, std::move(listeners));
    }
    Listeners take(const Address& address)
    {
        const std::scoped_lock lock(mutex_);
        const auto door = open_.find(address.port);
        if (door == open_.end())
        {
            refuse(
                "The id has been made by another process than that of rank 0, or has been used already. The process that is to "
                "be rank 0 makes an id for each world.");
        }
        Listeners listeners = std::move(door->second);
        open_.erase(door);
        return listeners;
    }

private:
    std::mutex mutex_;
    std::map<int, Listeners> open_;
};

Doors& doors()
{
    static Doors doors;
    return doors;
}

// Returns this host's numeric address on its way to `address`, without brackets and port.
std::string number_of(const sockaddr* address, socklen_t bytes)
{
    FileDescriptor socket(::socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (socket.get() < 0 || ::connect(socket.get(), address, bytes) != 0) { return ""; } // sends no packet
    return address_of(socket.get()).host;
}

// Returns the address of this host on its way to other hosts. The destination is an address for documentation (RFC 5737).
std::string number_of_this_host()
{
    sockaddr_in away{};
    away.sin_family = AF_INET;
    away.sin_port = htons(9);
    away.sin_addr.s_addr = htonl(0xC0000201); // 192.0.2.1
    const std::string number = number_of(reinterpret_cast<const sockaddr*>(&away), sizeof away);
    return number.empty() ? this_host : number;
}

// Returns the address of an interface of this host, or an empty text if this host has no interface of that name.
std::string number_of_interface(const std::string& name)
{
    ifaddrs* first = nullptr;
    if (::getifaddrs(&first) != 0) { return ""; }
    std::string number;
    for (const ifaddrs* at = first; at != nullptr && number.empty(); at = at->ifa_next)
    {
        if (name != at->ifa_name || at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET) { continue; }
        sockaddr_in own{};
        std::copy_n(reinterpret_cast<const char*>(at->ifa_addr), sizeof own, reinterpret_cast<char*>(&own));
        own.sin_port = htons(9);
        number = number_of(reinterpret_cast<const sockaddr*>(&own), sizeof own);
    }
    ::freeifaddrs(first);
    return number;
}

Address address_at(const std::string& where)
{
    if (where.empty()) { return {number_of_this_host(), 0}; }
    if (const std::string number = number_of_interface(where); !number.empty()) { return {number, 0}; }
    const std::size_t colon = where.rfind(':');
    if (colon == std::string::npos || where.find(':') != colon) { return {where, 0}; } // a name, or an IPv6 address
    int port = 0;
    const char* const end = where.data() + where.size();
    const auto [stop, error] = std::from_chars(where.data() + colon + 1, end, port);
    if (error != std::errc() || stop != end || port < 1 || port > 65535)
    {
        refuse(fmt::format("'{}' is no interface and no host:port of this host.", where));
    }
    return {where.substr(0, colon), port};
}

} // namespace

JoinId::Image JoinId::image() const
{
    PARHELION_EXPECTS(secret.size() == secret_bytes && address.host.size() <= longest_host);
    Image image{};
    image[0] = version_of_id;
    image[1] = static_cast<unsigned char>(address.host.size());
    image[2] = static_cast<unsigned char>(address.port >> 8);
    image[3] = static_cast<unsigned char>(address.port & 255);
    const auto behind = std::copy(secret.begin(), secret.end(), image.begin() + before_secret);
    std::copy(address.host.begin(), address.host.end(), behind);
    return image;
}

JoinId::JoinId(const Image& image) : address{"", image[2] << 8 | image[3]}
{
    if (image[0] != version_of_id || image[1] == 0 || image[1] > longest_host || address.port == 0)
    {
        refuse("The id is none, or of another version of this library. All processes take the one that the process of rank 0 has "
               "made.");
    }
    const auto first = image.begin() + before_secret, behind = first + secret_bytes;
    secret.assign(first, behind);
    address.host.assign(behind, behind + image[1]);
}

JoinId make_join_id(const std::string& where)
{
    Address address = address_at(where);
    if (address.host.size() > longest_host)
    {
        refuse(
            fmt::format("The name {} of this host is longer than {} characters. Give its number.", address.host, longest_host));
    }
    Listeners listeners = listen_at(address);
    address.port = address_of(listeners.front().get()).port;
    doors().keep(address.port, std::move(listeners));
    const Nonce random = make_nonce();
    return {address, std::string(random.begin(), random.end())};
}

void give_back(const JoinId& id) { doors().take(id.address); }

namespace {

RendezvousOptions meeting_of(int rank, int ranks, const Address& address, std::chrono::nanoseconds deadline)
{
    RendezvousOptions options;
    options.ranks = ranks;
    options.here = {rank, 1};
    options.address = address;
    options.deadline = deadline;
    options.shares_memory = true;
    return options;
}

// Returns the path of the file in which rank 0 stores the secret for processes of this host and user.
std::filesystem::path secret_of_host(int port)
{
    return std::filesystem::temp_directory_path() / fmt::format("parhelion-{}-{}.secret", ::geteuid(), port);
}

} // namespace

std::shared_ptr<Rendezvous> join(const JoinId& id, int rank, int ranks, std::chrono::nanoseconds deadline)
{
    RendezvousOptions options = meeting_of(rank, ranks, id.address, deadline);
    options.secret = [&id] { return Secret(id.secret); };
    options.listen = [](const Address& address) { return doors().take(address); };
    return std::make_shared<Rendezvous>(options);
}

std::shared_ptr<Rendezvous> join(const Launch& launch, std::chrono::nanoseconds deadline)
{
    RendezvousOptions options = meeting_of(launch.process, launch.processes, launch.address, deadline);
    const char* const given = own_environment()("PARHELION_SECRET_FILE");
    if (given == nullptr && launch.address.host != this_host)
    {
        refuse(fmt::format("{} has started processes that meet at {}, and nothing keeps strangers out there. Set "
                           "PARHELION_SECRET_FILE to a file of 16 characters or more that all of them read, and nobody else.",
                           launch.launcher, launch.address.text()));
    }
    const std::filesystem::path path = given != nullptr ? given : secret_of_host(launch.address.port);
    if (given != nullptr) { read_given_secret(path); }
    std::optional<SecretFile> made; // kept until all processes have met
    options.secret = [&] {
        if (launch.process == 0 && given == nullptr) { made.emplace(path); }
        return read_secret(path);
    };
    return std::make_shared<Rendezvous>(options);
}

} // namespace parhelion
