// SPDX-License-Identifier: Apache-2.0
#include "comm/gpu/proxy.hpp"

#include "base/error.hpp"
#include "comm/gpu/heap.hpp"
#include "comm/transports/nic_emulation.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace parhelion {

namespace {

// Limits of the messages whose stores are queued together, after all copies. For larger copies the saved call does not pay.
constexpr std::size_t most_together = 8, most_bytes_together = std::size_t{1} << 18;
constexpr std::size_t most_relay_signals = std::size_t{1} << 13; // number of relay signals, which take 1 MiB

} // namespace

GpuProxy::GpuProxy(const SymmetricMemory& memory, const GpuProxyOptions& options)
    : memory_(memory), options_(options), queue_(options.device, GpuQueue::Priority::First), descriptors_(options.places),
      reader_(descriptors_.data(), options.places), thread_(fmt::format("proxy of GPU {}", options.device), HelperNeeds::Core)
{
    std::fill_n(descriptors_.data(), descriptors_.size(), Descriptor{});
    const GpuProxyRing ring(descriptors_.data(), options.places);
    ring_.upload(queue_, {&ring, 1});
    queue_.synchronize();
    thread_.start([this](const std::stop_token& stop) { serve(stop); });
}

void GpuProxy::reserve(int signals)
{
    const auto more = static_cast<std::size_t>(signals);
    if (reserved_ + more > options_.places)
    {
        throw CommError(
            fmt::format("The proxy of GPU {} has places for {} signals, {} of them are taken, and {} more are needed.",
                        options_.device, options_.places, reserved_, signals));
    }
    reserved_ += more;
}
void GpuProxy::release(int signals) { reserved_ -= static_cast<std::size_t>(signals); }

SignalSlot* GpuProxy::open(const Relay& relay)
{
    const std::scoped_lock lock(relays_mutex_);
    if (relay_signals_.size() == 0) { relay_signals_ = PinnedBuffer<SignalSlot>(most_relay_signals); }
    const std::size_t taken = relayed_.size();
    if (taken + static_cast<std::size_t>(relay.depth) > most_relay_signals)
    {
        throw CommError(
            fmt::format("The proxy of GPU {} has relays for {} signals, {} of them are taken, and {} more are needed.",
                        options_.device, most_relay_signals, taken, relay.depth));
    }
    SignalSlot* const signals = relay_signals_.data() + taken;
    for (int k = 0; k < relay.depth; ++k)
    {
        const auto slot = static_cast<std::size_t>(k);
        Put put = relay.first;
        put.offset += slot * relay.stride, put.signal += slot;
        if (put.data != nullptr) { put.data += slot * relay.stride; }
        signals[slot] = {put.epoch, put.bytes};
        relayed_.push_back(put);
    }
    return signals;
}

void GpuProxy::stop()
{
    const std::scoped_lock lock(mutex_);
    is_stopped_ = true;
}

void GpuProxy::serve(const std::stop_token& stop)
{
    try
    {
        constexpr int most_polls = 1 << 20; // far above the counts at which pause() changes its pauses
        std::array<Descriptor, most_together> taken{};
        for (int polls = 0;; polls = std::min(polls + 1, most_polls))
        {
            // Read before the ring, so that messages that were left before the stop are carried.
            const bool ends = stop.stop_requested();
            std::size_t n = 0, bytes = 0, looks = 0;
            for (; looks < taken.size() && bytes < most_bytes_together && reader_.take(taken[n]); ++looks)
            {
                if (options_.before_each) { options_.before_each(taken[n].put); }
                if (sends(taken[n])) { continue; }
                bytes += taken[n].put.bytes;
                ++n;
            }
            if (n > 0) { carry({taken.data(), n}); }
            looks += look_at_relays();
            carry_due();
            if (looks > 0) { polls = 0; }
            else if (ends && (under_way_.is_empty() || has_stopped())) { break; }
            else { HostAtomics::pause(thread_.has_own_core() ? 0 : polls); }
        }
        queue_.synchronize();
    }
    catch (const std::exception& error)
    {
        options_.on_failure(
            std::make_exception_ptr(CommError(fmt::format("The {} has failed: {}", thread_.name(), error.what()))));
    }
}

// Carries the messages that kernels have signalled in relays since the last call. Returns the number of these messages.
std::size_t GpuProxy::look_at_relays()
{
    const std::scoped_lock lock(relays_mutex_);
    std::size_t messages = 0;
    for (std::size_t k = 0; k < relayed_.size(); ++k)
    {
        SignalSlot& signal = relay_signals_[k];
        Put& put = relayed_[k];
        const Word epoch = HostAtomics::load_acquire_system(&signal.epoch);
        if (epoch == put.epoch) { continue; }
        put.epoch = epoch;
        put.bytes = HostAtomics::load_relaxed_system(&signal.bytes);
        if (options_.before_each) { options_.before_each(put); }
        const Descriptor message{put, nullptr, 0};
        if (!sends(message)) { carry({&message, 1}); }
        ++messages;
    }
    return messages;
}

// Hands the message to its emulated link and returns true. Returns false if there is no link, so that it must be carried now.
bool GpuProxy::sends(const Descriptor& message)
{
    EmulatedLink* const link = options_.link_of ? options_.link_of(message.put) : nullptr;
    if (link == nullptr) { return false; }
    const EmulatedLink::Times due = link->send(message.put);
    under_way_.add(message.put, message.read, due.payload, due.signal);
    return true;
}

void GpuProxy::carry_due()
{
    while (!under_way_.is_empty() && under_way_.first_due() <= PutsUnderWay::Clock::now())
    {
        const PutUnderWay next = under_way_.take_first();
        const Descriptor message{next.put, next.read, 0};
        if (next.put.data != nullptr && next.signal_due > PutsUnderWay::Clock::now())
        {
            carry({&message, 1}, Parts::Payloads);
            under_way_.keep_signal_of(next);
        }
        else
        {
            under_way_.leave_line(next);
            carry({&message, 1});
        }
    }
}

bool GpuProxy::has_stopped()
{
    const std::scoped_lock lock(mutex_);
    return is_stopped_;
}

// Puts a message into memory out of reach. The size word keeps its value at the destination, so it is put only if it changes.
void GpuProxy::put(const Descriptor& message)
{
    const Put& put = message.put;
    // The address on this rank that corresponds to the signal slot at the destination.
    SignalSlot* const signal = memory_.signal(put.source, put.signal);
    std::array<gpu_memory::WordAt, 2> words{};
    std::size_t n = 0;
    if (message.read == nullptr)
    {
        const auto [told, is_new] = sizes_told_.emplace(std::pair(put.destination, put.signal), put.bytes);
        if (is_new || told->second != put.bytes) { words[n++] = {&signal->bytes, put.bytes}; }
        told->second = put.bytes;
    }
    words[n++] = {&signal->epoch, put.epoch};
    const std::size_t bytes = put.data == nullptr ? 0 : put.bytes;
    options_.heap->put(queue_, put.destination, memory_.payload(put.source, put.offset), put.data, bytes, {words.data(), n});
}

void GpuProxy::carry(std::span<const Descriptor> messages, Parts parts)
{
    const std::scoped_lock lock(mutex_);
    if (is_stopped_) { return; }
    for (const Descriptor& message : messages)
    {
        const Put& put = message.put;
        if (!memory_.reaches(put.destination)) { this->put(message); }
        else if (put.data != nullptr && put.bytes > 0)
        {
            gpu_memory::on_device(queue_, memory_.payload(put.destination, put.offset), put.data, put.bytes);
        }
    }
    if (parts == Parts::Payloads) { return; }
    // A partitioned message needs no size word at the destination. Its `read` word tells that the proxy has read its data.
    std::array<gpu_memory::WordAt, 2 * most_together> words{};
    std::size_t n = 0;
    for (const Descriptor& message : messages)
    {
        const Put& put = message.put;
        if (memory_.reaches(put.destination))
        {
            SignalSlot* const signal = memory_.signal(put.destination, put.signal);
            if (message.read == nullptr) { words[n++] = {&signal->bytes, put.bytes}; }
            words[n++] = {&signal->epoch, put.epoch};
        }
        if (message.read != nullptr) { words[n++] = {message.read, put.epoch}; }
    }
    if (n > 0) { gpu_memory::set_words(queue_, {words.data(), n}); }
}

} // namespace parhelion
