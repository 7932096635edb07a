// SPDX-License-Identifier: Apache-2.0
#include "comm/transports/tcp.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <utility>

namespace parhelion {

// The connection to one other process.
class TcpTransport::Stream
{
public:
    Stream(const SymmetricMemory& memory, RankRange here, FileDescriptor socket)
        : memory_(memory), here_(here), socket_(std::move(socket))
    {
    }

    int socket() const { return socket_.get(); }
    // False if some of it, or of what came before, is still to be sent.
    bool send(const Outgoing& outgoing)
    {
        const std::scoped_lock lock(mutex_);
        queue_.push_back(outgoing);
        return queue_.size() == 1 && flush();
    }
    bool has_more_to_send()
    {
        const std::scoped_lock lock(mutex_);
        return !flush();
    }
    // Nothing follows.
    void finish()
    {
        if (!std::exchange(is_finished_, true)) { ::shutdown(socket(), SHUT_WR); }
    }
    // The other side has finished, or is gone.
    bool has_ended() const { return has_ended_.load(std::memory_order_relaxed); }
    // All that there is, unless somebody is at it.
    void receive();

private:
    bool flush();
    ssize_t read(void* to, std::size_t bytes);
    bool begin_put();
    bool receive_payload();

    const SymmetricMemory& memory_;
    const RankRange here_;
    FileDescriptor socket_;
    std::mutex mutex_; // of the queue
    std::deque<Outgoing> queue_;
    std::atomic<std::uint64_t> sent_{0}; // puts whose payload has been read here
    bool is_finished_ = false;           // the thread's
    std::atomic<bool> has_ended_{false};
    std::mutex receiving_; // of what follows
    std::array<char, 1 << 16> buffer_;
    std::size_t begin_ = 0, end_ = 0; // of what is in it
    Header header_{};
    bool is_in_put_ = false; // header_ holds
    std::size_t missing_ = 0;
};

// As much as goes without waiting; true if that is all. With mutex_ taken.
bool TcpTransport::Stream::flush()
{
    while (!queue_.empty())
    {
        Outgoing& next = queue_.front();
        const std::size_t payload = next.header.has_payload != 0 ? next.header.bytes : 0, head = sizeof next.header;
        const auto piece = [&](const void* data, std::size_t bytes, std::size_t skip) {
            skip = std::min(skip, bytes);
            return iovec{const_cast<char*>(static_cast<const char*>(data)) + skip, bytes - skip};
        };
        iovec pieces[] = {piece(&next.header, head, next.sent), piece(next.data, payload, next.sent - std::min(next.sent, head))};
        msghdr message{};
        message.msg_iov = pieces;
        message.msg_iovlen = std::size(pieces);
        const ssize_t sent = ::sendmsg(socket(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR) { continue; }
        if (sent < 0 && errno == EAGAIN) { return false; }
        if (sent < 0) // the other side is gone, which the rendezvous tells
        {
            queue_.clear();
            return true;
        }
        next.sent += static_cast<std::size_t>(sent);
        if (next.sent == head + payload)
        {
            queue_.pop_front();
            sent_.fetch_add(1, std::memory_order_release);
        }
    }
    return true;
}

ssize_t TcpTransport::Stream::read(void* to, std::size_t bytes)
{
    const ssize_t received = ::recv(socket(), to, bytes, MSG_DONTWAIT);
    has_ended_ = received == 0 || (received < 0 && errno != EAGAIN && errno != EINTR);
    return received;
}

void TcpTransport::Stream::receive()
{
    const std::unique_lock lock(receiving_, std::try_to_lock);
    while (lock && !has_ended())
    {
        if (is_in_put_ ? receive_payload() : begin_put()) { continue; }
        if (begin_ == end_) { begin_ = end_ = 0; }
        else if (begin_ > 0) // less than a header
        {
            std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
            end_ -= std::exchange(begin_, 0);
        }
        const ssize_t received = read(buffer_.data() + end_, buffer_.size() - end_);
        if (received <= 0) { return; }
        end_ += static_cast<std::size_t>(received);
    }
}

// From what is in the buffer. False: more is needed.
bool TcpTransport::Stream::begin_put()
{
    if (end_ - begin_ < sizeof header_) { return false; }
    std::memcpy(&header_, buffer_.data() + begin_, sizeof header_);
    begin_ += sizeof header_;
    missing_ = header_.has_payload != 0 ? header_.bytes : 0;
    is_in_put_ = header_.destination >= here_.first && header_.destination < here_.first + here_.count &&
                 memory_.has_place(header_.destination, header_.offset, missing_, header_.signal);
    has_ended_ = !is_in_put_; // no put of ours: waits for what else it sends end at their deadline
    return true;
}

// False: more is needed than is there.
bool TcpTransport::Stream::receive_payload()
{
    std::byte* const end = memory_.payload(header_.destination, header_.offset) + (header_.has_payload != 0 ? header_.bytes : 0);
    const std::size_t buffered = std::min(missing_, end_ - begin_);
    if (buffered > 0)
    {
        std::memcpy(end - missing_, buffer_.data() + begin_, buffered);
        begin_ += buffered;
        missing_ -= buffered;
    }
    while (missing_ > 0) // past the buffer, which is empty
    {
        const ssize_t received = read(end - missing_, missing_);
        if (received <= 0) { return false; }
        missing_ -= static_cast<std::size_t>(received);
    }
    // The answer to a put comes after its payload was read, by way of the other side: here that becomes an order between threads,
    // and with the signal the rank's.
    static_cast<void>(sent_.load(std::memory_order_acquire));
    deliver(memory_, {-1, header_.destination, header_.offset, nullptr, header_.bytes, header_.signal, header_.epoch});
    is_in_put_ = false;
    return true;
}

// --- meeting

namespace {

std::string key_of(int first) { return fmt::format("where rank {} takes messages", first); }

Address address_in(const Bytes& bytes)
{
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t space = text.find(' ');
    return {text.substr(0, space), std::stoi(text.substr(space + 1))};
}

} // namespace

TcpTransport::TcpTransport(const SymmetricMemory& memory, Rendezvous& rendezvous)
    : memory_(memory), here_(rendezvous.here()), deadline_(rendezvous.deadline()),
      stream_of_(static_cast<std::size_t>(rendezvous.ranks())), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    if (wake_.get() < 0) { throw SystemError(fmt::format("eventfd failed: {}", std::strerror(errno))); }
    const TimePoint until = std::chrono::steady_clock::now() + deadline_;
    Acceptor acceptor(listen_at({rendezvous.host(), 0}), rendezvous.secret(), nullptr);
    const std::string address = fmt::format("{} {}", rendezvous.host(), acceptor.address().port);
    const auto* const bytes = reinterpret_cast<const std::byte*>(address.data());
    rendezvous.put(key_of(here_.first), Bytes(bytes, bytes + address.size()));
    connect_to_earlier(rendezvous, until);
    accept_later(rendezvous, acceptor, until);
    thread_.start([this] { run(); });
}

// In the order of processes, so that there is always one that accepts: a process accepts once it has connected.
void TcpTransport::connect_to_earlier(Rendezvous& rendezvous, TimePoint until)
{
    for (const ProcessCard& card : rendezvous.processes())
    {
        if (card.first >= here_.first) { return; }
        const Address address = address_in(rendezvous.wait_for(key_of(card.first)));
        Greeted greeted = greet(try_connect(address, until), rendezvous.card(), rendezvous.secret(), until);
        if (greeted.socket.get() < 0)
        {
            throw CommError(fmt::format("Rank {} found no way for messages to the {} ({}): {}.", here_.first, card.name(),
                                        address.text(), greeted.why_not));
        }
        add(card, std::move(greeted.socket));
    }
}

void TcpTransport::accept_later(Rendezvous& rendezvous, Acceptor& acceptor, TimePoint until)
{
    std::vector<ProcessCard> missing;
    for (const ProcessCard& card : rendezvous.processes())
    {
        if (card.first > here_.first) { missing.push_back(card); }
    }
    const auto find = [&](const ProcessCard& guest) {
        return std::find_if(missing.begin(), missing.end(), [&](const ProcessCard& c) { return c.first == guest.first; });
    };
    while (!missing.empty())
    {
        if (std::optional<Acceptor::Guest> guest =
                acceptor.accept([&](const ProcessCard& c) { return find(c) != missing.end() ? "" : "nobody waits for it"; }))
        {
            add(guest->card, std::move(guest->socket));
            missing.erase(find(guest->card));
            continue;
        }
        if (const std::string loss = rendezvous.loss(); !loss.empty())
        {
            throw PeerAborted(fmt::format("Rank {} stopped: {}", here_.first, loss));
        }
        if (std::chrono::steady_clock::now() > until)
        {
            throw CommError(
                fmt::format("The {} has not connected to rank {} for messages.", missing.front().name(), here_.first));
        }
        std::vector<pollfd> watched;
        for (const int socket : acceptor.sockets()) { watched.push_back({socket, POLLIN, 0}); }
        ::poll(watched.data(), watched.size(), 50);
    }
}

void TcpTransport::add(const ProcessCard& card, FileDescriptor socket)
{
    streams_.push_back(std::make_unique<Stream>(memory_, here_, std::move(socket)));
    std::fill_n(stream_of_.begin() + card.first, card.count, streams_.back().get());
}

// --- puts

void TcpTransport::put_signal(const Put& put)
{
    Stream* const stream = stream_of_[static_cast<std::size_t>(put.destination)];
    if (stream == nullptr) { return deliver(memory_, put); }
    const Header header{put.offset, put.bytes, put.signal, put.epoch, put.destination, put.data != nullptr ? 1U : 0U};
    if (!stream->send({header, put.data, 0})) { ::eventfd_write(wake_.get(), 1); }
}

void TcpTransport::progress()
{
    for (const auto& stream : streams_) { stream->receive(); }
}

void TcpTransport::run()
{
    std::vector<pollfd> watched;
    while (!is_over())
    {
        watched.assign(1, {wake_.get(), POLLIN, 0});
        for (const auto& stream : streams_)
        {
            const short events = stream->has_more_to_send() ? POLLIN | POLLOUT : POLLIN;
            watched.push_back({stream->has_ended() ? -1 : stream->socket(), events, 0});
        }
        ::poll(watched.data(), watched.size(), is_leaving_.load(std::memory_order_acquire) ? 10 : -1);
        eventfd_t times;
        if (watched[0].revents != 0) { ::eventfd_read(wake_.get(), &times); }
        for (std::size_t i = 0; i < streams_.size(); ++i)
        {
            if (watched[i + 1].revents != 0) { streams_[i]->receive(); }
        }
    }
}

// Once this process leaves: all that it sent is on its way and the others have finished, or nobody cares any more.
bool TcpTransport::is_over()
{
    if (!is_leaving_.load(std::memory_order_acquire)) { return false; }
    SignalSlot* const abort = memory_.signal(here_.first, SymmetricMemory::abort_signal);
    if (HostAtomics::load_acquire_system(&abort->epoch) != 0) { return true; }
    bool have_all_ended = true;
    for (const auto& stream : streams_)
    {
        if (!stream->has_more_to_send()) { stream->finish(); }
        have_all_ended = have_all_ended && stream->has_ended();
    }
    return have_all_ended || std::chrono::steady_clock::now() > leaving_until_;
}

TcpTransport::~TcpTransport()
{
    leaving_until_ = std::chrono::steady_clock::now() + deadline_;
    is_leaving_.store(true, std::memory_order_release);
    ::eventfd_write(wake_.get(), 1);
    thread_.join();
}

} // namespace parhelion
