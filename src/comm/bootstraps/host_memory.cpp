// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstraps/host_memory.hpp"

#include "base/error.hpp"
#include "comm/bootstraps/process_messages.hpp"
#include "comm/bootstraps/secret.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace parhelion {

namespace {

using namespace std::chrono_literals;

// The longest time for which a connected process may stay silent. The limit is short, since others wait meanwhile.
constexpr std::chrono::seconds longest_visit = 1s;
constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

struct Name
{
    sockaddr_un address{};
    socklen_t bytes;
    explicit Name(const std::string& door)
    {
        address.sun_family = AF_UNIX;
        door.copy(address.sun_path + 1, sizeof address.sun_path - 1); // a zero byte before the name makes it abstract
        bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + door.size());
    }
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

std::string new_name()
{
    std::string name = "parhelion-";
    const Nonce nonce = make_nonce();
    for (std::size_t i = 0; i < 16; ++i) { name += fmt::format("{:02x}", nonce[i]); }
    return name;
}

FileDescriptor new_socket()
{
    FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (socket.get() < 0)
    {
        throw SystemError(fmt::format("A socket for processes of this host failed: {}", std::strerror(errno)));
    }
    return socket;
}

void wait_no_longer(int socket, std::chrono::nanoseconds than)
{
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(than).count();
    const timeval time{us / 1'000'000, us % 1'000'000};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

// Returns whether the process at the other end belongs to this user, as the operating system tells.
bool is_of_this_user(int socket)
{
    ucred who{};
    socklen_t bytes = sizeof who;
    return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0 && who.uid == ::geteuid();
}

FileDescriptor new_memory(std::size_t bytes)
{
    FileDescriptor made(::memfd_create("parhelion", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (made.get() < 0 || ::ftruncate(made.get(), static_cast<off_t>(bytes)) != 0 || ::fcntl(made.get(), F_ADD_SEALS, seals) != 0)
    {
        throw SystemError(
            fmt::format("memfd_create of {} bytes of shared memory for messages between ranks failed: {}. Give each "
                        "rank less (memory_bytes), or use fewer ranks",
                        bytes, std::strerror(errno)));
    }
    return made;
}

bool is_whole(int memory, std::size_t bytes)
{
    struct stat of
    {
    };
    const int has = ::fcntl(memory, F_GET_SEALS);
    return ::fstat(memory, &of) == 0 && of.st_size == static_cast<off_t>(bytes) && has >= 0 && (has & seals) == seals;
}

} // namespace

HostMemory::HostMemory() : door_(new_name()), listener_(new_socket()), end_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    const Name name(door_);
    if (end_.get() < 0 || ::bind(listener_.get(), name.get(), name.bytes) != 0 || ::listen(listener_.get(), SOMAXCONN) != 0)
    {
        throw SystemError(fmt::format("A door for processes of this host failed: {}", std::strerror(errno)));
    }
    thread_.start([this] { answer(); });
}

HostMemory::~HostMemory()
{
    ::eventfd_write(end_.get(), 1);
    thread_.join();
}

std::byte* HostMemory::own(const std::string& key, std::size_t bytes)
{
    const std::scoped_lock lock(mutex_);
    return make(key, bytes).pages->data();
}

const HostMemory::Shared& HostMemory::make(const std::string& key, std::size_t bytes)
{
    Shared& shared = shared_[key];
    if (!shared.pages)
    {
        shared.descriptor = new_memory(bytes);
        shared.pages = std::make_unique<Pages>(bytes, shared.descriptor.get());
    }
    if (shared.pages->bytes() == bytes) { return shared; }
    throw SystemError(
        fmt::format("Another process asks for {} bytes of '{}', which has {}. Give all ranks the same (memory_bytes)", bytes, key,
                    shared.pages->bytes()));
}

std::byte* HostMemory::theirs(const std::string& door, const std::string& key, std::size_t bytes,
                              std::chrono::nanoseconds patience)
{
    {
        const std::scoped_lock lock(mutex_);
        if (const auto known = shared_.find(key); known != shared_.end()) { return known->second.pages->data(); }
    }
    FileDescriptor socket = new_socket();
    wait_no_longer(socket.get(), patience);
    const Name name(door);
    if (::connect(socket.get(), name.get(), name.bytes) != 0 || !is_of_this_user(socket.get())) { return nullptr; }
    if (send_packet(socket.get(), {.says = ProcessSays::Pages, .size = bytes, .key = key}, -1, Wait::Yes) != Sent::Yes)
    {
        return nullptr;
    }
    const std::optional<ReceivedPacket> received = receive_packet(socket.get());
    if (!received)
    {
        if (errno != EAGAIN && errno != EWOULDBLOCK) { return nullptr; } // the door turns other users away
        throw SystemError(fmt::format("The process that has '{}' has not answered for {:g} s.", key,
                                      std::chrono::duration<double>(patience).count()));
    }
    if (received->passed.get() < 0) { throw SystemError(received->packet.text); }
    if (!is_whole(received->passed.get(), bytes))
    {
        throw SystemError(
            fmt::format("The memory '{}' of another process has not the {} bytes that this one has been made for. Give "
                        "all ranks the same (memory_bytes).",
                        key, bytes));
    }
    const std::scoped_lock lock(mutex_);
    Shared& shared = shared_[key];
    if (!shared.pages) { shared.pages = std::make_unique<Pages>(bytes, received->passed.get()); }
    return shared.pages->data();
}

void HostMemory::answer()
{
    for (;;)
    {
        pollfd watched[] = {{listener_.get(), POLLIN, 0}, {end_.get(), POLLIN, 0}};
        if (::poll(watched, std::size(watched), -1) < 0) { continue; } // the call was interrupted by a signal
        if (watched[1].revents != 0) { return; }
        const FileDescriptor visitor(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (visitor.get() < 0) // for instance no descriptor is free: the visitor and this thread wait
        {
            ::poll(watched + 1, 1, 50);
            continue;
        }
        if (!is_of_this_user(visitor.get())) { continue; }
        wait_no_longer(visitor.get(), longest_visit);
        serve(visitor.get());
    }
}

// Answers a visitor's request for pages. A visitor that asks for anything else is turned away.
void HostMemory::serve(int visitor)
{
    std::optional<ReceivedPacket> asked;
    try
    {
        asked = receive_packet(visitor);
    }
    catch (const ContractError&) // the packet does not come from this library
    {
        return;
    }
    if (!asked || asked->packet.says != ProcessSays::Pages) { return; }
    ProcessPacket answer = asked->packet;
    try
    {
        const std::scoped_lock lock(mutex_);
        send_packet(visitor, answer, make(answer.key, answer.size).descriptor.get(), Wait::Yes);
    }
    catch (const std::exception& error)
    {
        answer.text = error.what();
        send_packet(visitor, answer, -1, Wait::Yes);
    }
}

} // namespace parhelion
