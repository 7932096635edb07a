// SPDX-License-Identifier: Apache-2.0
#include "comm/transports/tcp.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <utility>

namespace parhelion {

namespace {

using namespace std::chrono_literals;

// The time after which a connection that ended without farewell is an error. Mostly the rendezvous has a better error sooner.
constexpr std::chrono::seconds until_cut_off = 2s;

template <class T>
std::string_view bytes_of(const T& value)
{
    static_assert(std::has_unique_object_representations_v<T>);
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string_view bytes_of(const std::byte* data, std::size_t bytes) { return {reinterpret_cast<const char*>(data), bytes}; }

} // namespace

// The connection between this process and another process.
class TcpTransport::Stream
{
public:
    // `wake` becomes readable when the other side has ended.
    Stream(const SymmetricMemory& memory, RankRange here, const ProcessCard& card, FileDescriptor socket, const SealKeys& keys,
           int wake)
        : memory_(memory), here_(here), card_(card), socket_(std::move(socket)), wake_(wake), sending_(keys.sending),
          receiving_(keys.receiving)
    {
    }

    int socket() const { return socket_.get(); }
    // Sends a put. Returns false if bytes of this put or of an earlier one are still to be sent.
    bool send(const Header& header, const std::byte* data);
    bool has_more_to_send()
    {
        const std::scoped_lock lock(mutex_);
        return !flush();
    }
    // Sends the farewell, which says that no put will follow.
    void finish()
    {
        if (!std::exchange(is_finished_, true)) { send({0, 0, 0, 0, nobody, 0}, nullptr); }
    }
    // Returns whether the other side has sent its farewell or is gone.
    bool has_ended() const { return end_.load(std::memory_order_relaxed) != End::No; }
    // Returns why the end is an error, or an empty text. That a connection was cut off is reported only after some time.
    std::string what_went_wrong(TimePoint now);
    bool was_cut_off() const { return end_.load(std::memory_order_relaxed) == End::CutOff; }
    // Receives all bytes that have come, unless another thread is already receiving.
    void receive();

private:
    static constexpr std::int32_t nobody = -1; // the destination in the header of a farewell
    enum class End : std::uint8_t
    {
        No,
        Farewell,
        CutOff,
        Forged // received bytes are not those that the other side has sent
    };
    struct Head
    {
        Header header;
        Seal seal;
    };
    struct Outgoing
    {
        Head head;
        const std::byte* data;
        Seal seal;            // seal of the payload
        std::size_t sent = 0; // number of bytes sent of head, payload and seal
    };
    bool flush();
    void end(End how);
    ssize_t read(std::byte* payload, std::size_t bytes);
    bool begin_put();
    bool receive_payload();
    bool is_payload_sealed();

    const SymmetricMemory& memory_;
    const RankRange here_;
    const ProcessCard card_;
    FileDescriptor socket_;
    const int wake_;
    std::mutex mutex_; // guards sending_ and queue_
    Sealer sending_;
    std::deque<Outgoing> queue_;
    std::atomic<std::uint64_t> sent_{0};       // number of puts whose payload has been read by this process
    bool is_finished_ = false;                 // used only by the transport's thread
    std::optional<TimePoint> told_cut_off_at_; // used only by the transport's thread
    std::atomic<End> end_{End::No};
    std::mutex at_it_; // held by the thread that receives; guards the members below
    Sealer receiving_;
    std::array<char, 1 << 16> buffer_;
    std::size_t first_ = 0, last_ = 0; // range of buffer_ with bytes that are not read yet
    Header header_{};
    bool is_in_put_ = false; // true: header_ is valid
    std::size_t missing_ = 0;
};

bool TcpTransport::Stream::send(const Header& header, const std::byte* data)
{
    const std::scoped_lock lock(mutex_);
    sending_.begin_packet();
    Outgoing& last = queue_.emplace_back(Outgoing{{header, sending_.of_head(bytes_of(header))}, data, {}});
    if (header.has_payload != 0) { last.seal = sending_.of_body(bytes_of(data, header.bytes)); }
    return queue_.size() == 1 && flush();
}

// Sends the queue as far as possible without waiting. Returns true if everything is sent. mutex_ must be locked.
bool TcpTransport::Stream::flush()
{
    while (!queue_.empty())
    {
        Outgoing& next = queue_.front();
        const bool has_payload = next.head.header.has_payload != 0;
        const std::string_view parts[] = {bytes_of(next.head), bytes_of(next.data, has_payload ? next.head.header.bytes : 0),
                                          has_payload ? bytes_of(next.seal) : std::string_view()};
        iovec pieces[std::size(parts)];
        std::size_t left = 0, skip = next.sent;
        for (std::size_t i = 0; i < std::size(parts); ++i)
        {
            const std::size_t gone = std::min(skip, parts[i].size());
            skip -= gone;
            pieces[i] = {const_cast<char*>(parts[i].data()) + gone, parts[i].size() - gone};
            left += pieces[i].iov_len;
        }
        msghdr message{};
        message.msg_iov = pieces;
        message.msg_iovlen = std::size(pieces);
        const ssize_t sent = ::sendmsg(socket(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR) { continue; }
        if (sent < 0 && errno == EAGAIN) { return false; }
        if (sent < 0) // the connection is lost, which the rendezvous reports
        {
            queue_.clear();
            return true;
        }
        next.sent += static_cast<std::size_t>(sent);
        if (static_cast<std::size_t>(sent) == left)
        {
            queue_.pop_front();
            sent_.fetch_add(1, std::memory_order_release);
        }
    }
    return true;
}

void TcpTransport::Stream::end(End how)
{
    end_.store(how, std::memory_order_relaxed);
    ::eventfd_write(wake_, 1);
}

std::string TcpTransport::Stream::what_went_wrong(TimePoint now)
{
    switch (end_.load(std::memory_order_relaxed))
    {
    case End::Forged:
        return fmt::format("The {} has not sent what comes over its connection: somebody in between changes it.", card_.name());
    case End::CutOff:
        if (!told_cut_off_at_) { told_cut_off_at_ = now; }
        return now < *told_cut_off_at_ + until_cut_off
                   ? ""
                   : fmt::format("The {} has ended, or its connection is lost.", card_.name());
    default:
        return "";
    }
}

// Receives payload to its place, and all bytes after it into the buffer, which must be empty if payload is missing.
ssize_t TcpTransport::Stream::read(std::byte* payload, std::size_t bytes)
{
    iovec pieces[] = {{payload, bytes}, {buffer_.data() + last_, buffer_.size() - last_}};
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = std::size(pieces);
    const ssize_t received = ::recvmsg(socket(), &message, MSG_DONTWAIT);
    if (received == 0 || (received < 0 && errno != EAGAIN && errno != EINTR)) { end(End::CutOff); }
    if (received > 0) { last_ += static_cast<std::size_t>(received) - std::min(bytes, static_cast<std::size_t>(received)); }
    return received;
}

void TcpTransport::Stream::receive()
{
    const std::unique_lock lock(at_it_, std::try_to_lock);
    while (lock && !has_ended())
    {
        if (is_in_put_ ? receive_payload() : begin_put()) { continue; }
        if (has_ended()) { return; }
        std::memmove(buffer_.data(), buffer_.data() + first_, last_ - first_); // only an incomplete header or seal is kept
        last_ -= std::exchange(first_, 0);
        std::byte* const payload =
            is_in_put_ ? memory_.payload(header_.destination, header_.offset) + header_.bytes - missing_ : nullptr;
        const ssize_t received = read(payload, missing_);
        if (received <= 0) { return; }
        missing_ -= std::min(missing_, static_cast<std::size_t>(received));
    }
}

// Reads a header from the buffer. Returns false if bytes are missing, or if the header is not that of a put of this run.
bool TcpTransport::Stream::begin_put()
{
    Head head;
    if (last_ - first_ < sizeof head) { return false; }
    std::memcpy(&head, buffer_.data() + first_, sizeof head);
    first_ += sizeof head;
    receiving_.begin_packet();
    header_ = head.header;
    missing_ = header_.has_payload != 0 ? header_.bytes : 0;
    const bool is_theirs = Sealer::are_equal(head.seal, receiving_.of_head(bytes_of(header_)));
    is_in_put_ = is_theirs && header_.destination >= here_.first && header_.destination < here_.first + here_.count &&
                 memory_.has_place(header_.destination, header_.offset, missing_, header_.signal);
    if (!is_in_put_) { end(is_theirs && header_.destination == nobody ? End::Farewell : End::Forged); }
    return is_in_put_;
}

// Takes payload from the buffer, and sets the signal when all has come. Returns false if bytes are missing or the seal is wrong.
bool TcpTransport::Stream::receive_payload()
{
    const std::size_t buffered = std::min(missing_, last_ - first_);
    if (buffered > 0)
    {
        std::byte* const behind = memory_.payload(header_.destination, header_.offset) + header_.bytes;
        std::memcpy(behind - missing_, buffer_.data() + first_, buffered);
        first_ += buffered;
        missing_ -= buffered;
    }
    if (missing_ > 0 || (header_.has_payload != 0 && !is_payload_sealed())) { return false; }
    // This put may answer a put whose payload a thread of this process has read. That order exists only through the other
    // process. This acquire makes it an order between the threads here; the signal passes it on to the rank.
    static_cast<void>(sent_.load(std::memory_order_acquire));
    deliver(memory_, {-1, header_.destination, header_.offset, nullptr, header_.bytes, header_.signal, header_.epoch});
    is_in_put_ = false;
    return true;
}

// Returns whether the payload's seal is right. Returns false if it is missing or wrong.
bool TcpTransport::Stream::is_payload_sealed()
{
    Seal seal;
    if (last_ - first_ < sizeof seal) { return false; }
    std::memcpy(&seal, buffer_.data() + first_, sizeof seal);
    first_ += sizeof seal;
    const std::byte* const payload = memory_.payload(header_.destination, header_.offset);
    const bool is_theirs = Sealer::are_equal(seal, receiving_.of_body(bytes_of(payload, header_.bytes)));
    if (!is_theirs) { end(End::Forged); }
    return is_theirs;
}

// --- meeting

namespace {

// Throws PeerAborted if the run has ended or ends within `patience`: connections are often lost before the reason is known.
void stop_if_lost(Rendezvous& rendezvous, std::chrono::nanoseconds patience)
{
    const TimePoint until = std::chrono::steady_clock::now() + patience;
    do {
        rendezvous.expect_whole();
        if (patience > 0s) { std::this_thread::sleep_for(10ms); }
    } while (std::chrono::steady_clock::now() < until);
}

std::string key_of(int first) { return fmt::format("where rank {} takes messages", first); }
std::string mapped_key(int first) { return fmt::format("rank {} has mapped all memory in reach", first); }

Address address_in(const Bytes& bytes)
{
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t space = text.find(' ');
    return {text.substr(0, space), std::stoi(text.substr(space + 1))};
}

} // namespace

TcpTransport::TcpTransport(const SymmetricMemory& memory, Rendezvous& rendezvous)
    : memory_(memory), rendezvous_(rendezvous), here_(rendezvous.here()), deadline_(rendezvous.deadline()),
      stream_of_(static_cast<std::size_t>(rendezvous.ranks())), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    if (wake_.get() < 0) { throw SystemError(fmt::format("eventfd failed: {}", std::strerror(errno))); }
    const TimePoint until = std::chrono::steady_clock::now() + deadline_;
    Acceptor acceptor(listen_at({rendezvous.host(), 0}), rendezvous.secret(), rendezvous.wire(), nullptr);
    const std::string address = fmt::format("{} {}", rendezvous.host(), acceptor.port());
    const auto* const bytes = reinterpret_cast<const std::byte*>(address.data());
    rendezvous.put(key_of(here_.first), Bytes(bytes, bytes + address.size()));
    await_mappings(rendezvous);
    connect_to_earlier(rendezvous, until);
    accept_later(rendezvous, acceptor, until);
    thread_.start([this] { run(); });
}

// Waits until the processes in reach have mapped the memory of this one. A process whose ranks have nothing to do leaves soon. A
// process that has not mapped its memory by then would count it as out of reach, and wait for its connection.
void TcpTransport::await_mappings(Rendezvous& rendezvous)
{
    rendezvous.put(mapped_key(here_.first), {});
    for (const ProcessCard& card : rendezvous.processes())
    {
        if (card.first != here_.first && memory_.reaches(card.first)) { rendezvous.wait_for(mapped_key(card.first)); }
    }
}

// Connects to the processes before this one, in their order. A process accepts connections once all its own connections exist. So
// there is no deadlock: the first process accepts at once.
void TcpTransport::connect_to_earlier(Rendezvous& rendezvous, TimePoint until)
{
    for (const ProcessCard& card : rendezvous.processes())
    {
        if (card.first >= here_.first) { return; }
        if (memory_.reaches(card.first)) { continue; }
        const Address address = address_in(rendezvous.wait_for(key_of(card.first)));
        Greeted greeted = greet(try_connect(address, until), rendezvous.card(), rendezvous.secret(), rendezvous.wire(), until);
        if (greeted.socket.get() < 0)
        {
            stop_if_lost(rendezvous, until_cut_off);
            throw CommError(fmt::format("Rank {} found no way for messages to the {} ({}): {}.", here_.first, card.name(),
                                        address.text(), greeted.why_not));
        }
        add(card, std::move(greeted.socket), greeted.keys);
    }
}

void TcpTransport::accept_later(Rendezvous& rendezvous, Acceptor& acceptor, TimePoint until)
{
    std::vector<ProcessCard> missing;
    for (const ProcessCard& card : rendezvous.processes())
    {
        if (card.first > here_.first && !memory_.reaches(card.first)) { missing.push_back(card); }
    }
    const auto find = [&](const ProcessCard& guest) {
        return std::find_if(missing.begin(), missing.end(), [&](const ProcessCard& c) { return c.first == guest.first; });
    };
    while (!missing.empty())
    {
        if (std::optional<Acceptor::Guest> guest =
                acceptor.accept([&](const ProcessCard& c) { return find(c) != missing.end() ? "" : "nobody waits for it"; }))
        {
            add(guest->card, std::move(guest->socket), guest->keys);
            missing.erase(find(guest->card));
            continue;
        }
        stop_if_lost(rendezvous, {});
        if (std::chrono::steady_clock::now() > until)
        {
            throw CommError(fmt::format("The {} has not connected to rank {} for messages.{}", missing.front().name(),
                                        here_.first, acceptor.trouble()));
        }
        std::vector<pollfd> watched;
        for (const int socket : acceptor.sockets()) { watched.push_back({socket, POLLIN, 0}); }
        ::poll(watched.data(), watched.size(), 50);
    }
}

void TcpTransport::add(const ProcessCard& card, FileDescriptor socket, const SealKeys& keys)
{
    streams_.push_back(std::make_unique<Stream>(memory_, here_, card, std::move(socket), keys, wake_.get()));
    std::fill_n(stream_of_.begin() + card.first, card.count, streams_.back().get());
}

// --- puts

void TcpTransport::put_signal(const Put& put)
{
    Stream* const stream = stream_of_[static_cast<std::size_t>(put.destination)];
    if (stream == nullptr) { return deliver(memory_, put); }
    const Header header{put.offset, put.bytes, put.signal, put.epoch, put.destination, put.data != nullptr ? 1U : 0U};
    if (!stream->send(header, put.data)) { ::eventfd_write(wake_.get(), 1); }
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
        const bool is_one_cut_off = std::any_of(streams_.begin(), streams_.end(), [](const auto& s) { return s->was_cut_off(); });
        const int patience = is_leaving_.load(std::memory_order_acquire) ? 10 : is_one_cut_off ? 100 : -1; // limit, ms; -1: none
        ::poll(watched.data(), watched.size(), patience);
        eventfd_t times;
        if (watched[0].revents != 0) { ::eventfd_read(wake_.get(), &times); }
        for (std::size_t i = 0; i < streams_.size(); ++i)
        {
            if (watched[i + 1].revents != 0) { streams_[i]->receive(); }
        }
        tell_of_losses();
    }
}

void TcpTransport::tell_of_losses()
{
    const TimePoint now = std::chrono::steady_clock::now();
    for (const auto& stream : streams_)
    {
        const std::string sentence = stream->what_went_wrong(now);
        if (!sentence.empty()) { rendezvous_.lose(sentence); }
    }
}

// Returns whether this process may stop: all is sent and the others have finished, or the run has failed, or time is up.
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
