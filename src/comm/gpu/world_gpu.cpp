// SPDX-License-Identifier: Apache-2.0
#include "comm/gpu/world_gpu.hpp"

#include "base/error.hpp"
#include "comm/gpu/heap.hpp"
#include "comm/gpu/object_pool.hpp"
#include "comm/gpu/proxy.hpp"
#include "device/gpu/graph.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <numeric>
#include <thread>

namespace parhelion {

// In the rank's own memory; the record of the first failure is in rank 0's, where an exchange is one operation for all GPUs, as
// it would not be in host memory.
struct GpuWorld::Surroundings
{
    FirstFailure first_failure;
    Watch watch;
    std::int64_t tag;
    SignalSlot* abort_slots[most_ranks];
};

namespace {

constexpr std::size_t abort_page_bytes = 4096;

template <class T>
void copy_to_device(GpuQueue& queue, T* to, const T& from)
{
    gpu_memory::to_device(queue, to, &from, sizeof(T));
    queue.synchronize();
}

} // namespace

GpuWorld::GpuWorld(std::vector<int> devices, const GpuWorldOptions& options)
    : devices_(std::move(devices)), bootstrap_(options.bootstrap), here_{0, ranks()}, deadline_(options.deadline),
      phase_(options.phase), tag_name_(options.tag_name), loses_(options.loses), before_each_put_(options.before_each_put),
      compute_threads_(options.compute_threads), heap_(options.heap), nodes_(options.nodes),
      node_of_rank_(options.heap != nullptr ? options.heap->domains() : std::vector<int>(devices_.size(), 0)),
      everybody_(devices_.size())
{
    PARHELION_EXPECTS(ranks() <= most_ranks);
    if (nodes_)
    {
        PARHELION_EXPECTS(nodes_->ranks() == ranks() && heap_ == nullptr);
        for (int node = 0; node < nodes_->nodes; ++node) { links_.emplace_back(*nodes_); }
        for (int rank = 0; rank < ranks(); ++rank)
        {
            node_of_rank_[static_cast<std::size_t>(rank)] = nodes_->node_of(rank) * nodes_->ranks_per_node;
        }
    }
    if (bootstrap_ != nullptr)
    {
        PARHELION_EXPECTS(bootstrap_->ranks() == ranks());
        here_ = bootstrap_->here();
    }
    std::iota(everybody_.begin(), everybody_.end(), 0);
    std::vector<int> gpus;
    for (int rank = here_.first; rank < here_.first + here_.count; ++rank)
    {
        const auto known = std::find(gpus.begin(), gpus.end(), device(rank));
        queue_of_rank_.push_back(static_cast<std::size_t>(known - gpus.begin()));
        if (known == gpus.end())
        {
            gpus.push_back(device(rank));
            setup_queues_.push_back(std::make_unique<GpuQueue>(device(rank)));
            pools_.push_back(std::make_shared<ObjectPool>());
        }
    }
    if (bootstrap_ != nullptr) { make_abort_queues(); }
    proxies_.resize(gpus.size());
    const auto show = [this](int rank, SignalSlot* first, int count, Word shown) {
        if (!is_here(rank)) { return; } // its own process's business
        const std::vector<SignalSlot> slots(static_cast<std::size_t>(count), {shown, 0});
        gpu_memory::to_device(setup_queue(rank), first, slots.data(), slots.size() * sizeof(SignalSlot));
        setup_queue(rank).synchronize(GpuQueue::Wait::Spins);
    };
    memory_.emplace(heap_ != nullptr ? arenas_in(*heap_, options) : make_arenas(options, gpus), options.payload_bytes,
                    options.signal_slots, show);
    open_memory(gpus);
    make_host_abort();
    if (bootstrap_ != nullptr && compute_threads_ > 0) { find_processes_of_host(); }
    surroundings_ = allocate(sizeof(Surroundings));
    for (int r = here_.first; r < here_.first + here_.count; ++r)
    {
        Surroundings s{};
        s.tag = -1;
        for (int to = 0; to < ranks(); ++to) // its own again in place of those whom the hosts tell
        {
            s.abort_slots[to] = memory_->signal(fail_together_ || is_here(to) ? to : r, SymmetricMemory::abort_signal);
        }
        Surroundings* const here = surroundings(r);
        s.watch = {r,
                   ranks(),
                   deadline_.count(),
                   s.abort_slots[r],
                   here->abort_slots,
                   &surroundings(keeper_of_failures())->first_failure,
                   &here->tag,
                   host_abort_};
        copy_to_device(setup_queue(r), here, s);
    }
}

std::vector<SymmetricMemory::Arenas> GpuWorld::make_arenas(const GpuWorldOptions& options, std::span<const int> gpus)
{
    std::vector<SymmetricMemory::Arenas> arenas;
    for (int rank = 0; rank < ranks(); ++rank)
    {
        payload_.push_back(arena("payload", rank, options.payload_bytes, gpus));
        signals_.push_back(arena("signals", rank, options.signal_slots * sizeof(SignalSlot), gpus));
        arenas.push_back({payload_.back()->data(), reinterpret_cast<SignalSlot*>(signals_.back()->data())});
    }
    return arenas;
}

std::vector<SymmetricMemory::Arenas> GpuWorld::arenas_in(GpuHeap& heap, const GpuWorldOptions& options)
{
    GpuQueue& queue = setup_queue(here_.first);
    queue.make_current();
    const auto zeros = [&](std::size_t bytes) {
        std::byte* const memory = heap.allocate(bytes);
        gpu_memory::set_bytes(queue, memory, 0, bytes);
        return memory;
    };
    const std::byte* const payload = zeros(options.payload_bytes);
    const std::byte* const signals = zeros(options.signal_slots * sizeof(SignalSlot));
    queue.synchronize();
    std::vector<SymmetricMemory::Arenas> arenas;
    for (int rank = 0; rank < ranks(); ++rank)
    {
        arenas.push_back({heap.of_rank(payload, rank), reinterpret_cast<SignalSlot*>(heap.of_rank(signals, rank))});
    }
    return arenas;
}

// A rank of this process makes its own; that of another is mapped here, too, once it is there.
std::unique_ptr<GpuArena> GpuWorld::arena(const std::string& name, int rank, std::size_t bytes, std::span<const int> gpus)
{
    if (bootstrap_ == nullptr) { return std::make_unique<GpuArena>(device(rank), bytes, gpus); }
    const std::string key = fmt::format("{} of rank {}'s GPU", name, rank);
    if (is_here(rank))
    {
        auto made = std::make_unique<GpuArena>(device(rank), bytes, gpus, GpuArena::Reach::Host);
        bootstrap_->pass(key, made->pages());
        return made;
    }
    const std::int64_t begin = HostAtomics::nanoseconds();
    for (;;)
    {
        const bool is_last_look = HostAtomics::nanoseconds() - begin > deadline_.count();
        const FileDescriptor pages = bootstrap_->passed(key);
        if (pages.get() >= 0) { return GpuArena::of_process(pages.get(), bytes, gpus); }
        if (is_last_look)
        {
            throw CommError(
                fmt::format("Timed out after {:g} s waiting for the {}.", std::chrono::duration<double>(deadline_).count(), key));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

std::byte* GpuWorld::abort_page(int rank) const
{
    return bootstrap_->pages("abort word of the hosts of GPUs", rank, abort_page_bytes);
}

// The first rank of a process stands for it.
void GpuWorld::find_processes_of_host()
{
    const auto key = [](int rank) { return fmt::format("first rank beside rank {} in the process of its GPU", rank); };
    Bytes told(sizeof here_.first);
    std::memcpy(told.data(), &here_.first, sizeof here_.first);
    for (int rank = here_.first; rank < here_.first + here_.count; ++rank) { bootstrap_->put(key(rank), told); }
    process_of_host_ = processes_of_host_ = 0;
    for (int rank = 0; rank < ranks(); ++rank)
    {
        const Bytes heard = wait_for(*bootstrap_, key(rank), deadline_);
        int first = 0;
        std::memcpy(&first, heard.data(), sizeof first);
        if (first != rank || abort_page(rank) == nullptr) { continue; }
        process_of_host_ += rank < here_.first ? 1 : 0;
        ++processes_of_host_;
    }
}

// One word, which the kernels of all ranks raise and all hosts see, where they reach each other's memory. Else each process has
// its own, whose kernels end no wait of another process: that would go on with what has not come, and its host not know.
void GpuWorld::make_host_abort()
{
    const bool reach_each_other = std::all_of(everybody_.begin(), everybody_.end(), [&](int r) { return memory_->reaches(r); });
    const int elsewhere = here_.first == 0 ? here_.count : 0;
    const bool are_several = here_.count < ranks();
    fail_together_ = reach_each_other && (!are_several || abort_page(elsewhere) != nullptr);
    if (fail_together_ && are_several)
    {
        std::byte* const shared = abort_page(0);
        shared_abort_.emplace(shared, abort_page_bytes);
        host_abort_ = reinterpret_cast<SignalSlot*>(shared);
        return;
    }
    own_abort_ = PinnedBuffer<SignalSlot>(1);
    host_abort_ = own_abort_.data();
    host_abort_[0] = {0, 0};
}

void GpuWorld::make_abort_queues()
{
    for (std::size_t g = abort_queues_.size(); g < setup_queues_.size(); ++g)
    {
        abort_queues_.push_back(std::make_unique<GpuQueue>(setup_queues_[g]->device()));
    }
}

void GpuWorld::lose(const std::string& sentence) { stop(std::make_exception_ptr(PeerAborted(sentence))); }

void GpuWorld::stop(std::exception_ptr why)
{
    {
        const std::scoped_lock lock(loss_mutex_);
        if (loss_) { return; }
        loss_ = std::move(why);
    }
    HostAtomics::store_release_system(&host_abort_->epoch, 1);
    const SignalSlot raised{1, 0};
    for (int rank = here_.first; rank < here_.first + here_.count; ++rank)
    {
        try
        {
            gpu_memory::to_device(*abort_queues_[gpu_of(rank)], memory_->signal(rank, SymmetricMemory::abort_signal), &raised,
                                  sizeof raised);
        }
        catch (const DeviceError&)
        {
            // A kernel of this GPU has failed, which ended all waits there. The other GPUs still wait.
        }
    }
}

std::exception_ptr GpuWorld::loss() const
{
    const std::scoped_lock lock(loss_mutex_);
    return loss_;
}

GpuProxy& GpuWorld::proxy(int rank)
{
    std::unique_ptr<GpuProxy>& proxy = proxies_[gpu_of(rank)];
    if (!proxy)
    {
        make_abort_queues(); // before there is a thread that may use them
        GpuProxyOptions options;
        options.device = device(rank);
        options.on_failure = [this](std::exception_ptr why) { stop(std::move(why)); };
        options.before_each = before_each_put_;
        options.heap = heap_;
        if (nodes_)
        {
            options.link_of = [this](const Put& put) {
                return reaches(put.source, put.destination) ? nullptr
                                                            : &links_[static_cast<std::size_t>(nodes_->node_of(put.source))];
            };
        }
        proxy = std::make_unique<GpuProxy>(*memory_, options);
        cores_.reset(); // the calling thread is then where it was
        if (compute_threads_ > 0)
        {
            cores_ =
                std::make_unique<CoresForHelpers>(compute_threads_ * processes_of_host_, process_of_host_, processes_of_host_);
        }
    }
    return *proxy;
}

std::span<const HelperPlace> GpuWorld::proxies() const
{
    return cores_ ? std::span<const HelperPlace>(cores_->places()) : std::span<const HelperPlace>();
}

GpuWorld::~GpuWorld() = default;

bool GpuWorld::shares_gpu(int rank) const
{
    const auto first = devices_.begin() + here_.first;
    return std::count(first, first + here_.count, device(rank)) > 1;
}

bool GpuWorld::ranks_share_gpus() const { return setup_queues_.size() < static_cast<std::size_t>(here_.count); }

std::size_t GpuWorld::gpu_of(int rank) const
{
    PARHELION_EXPECTS(is_here(rank));
    return queue_of_rank_[static_cast<std::size_t>(rank - here_.first)];
}

GpuQueue& GpuWorld::setup_queue(int rank) { return *setup_queues_[gpu_of(rank)]; }

GpuWorld::Surroundings* GpuWorld::surroundings(int rank) const
{
    return reinterpret_cast<Surroundings*>(data(rank, surroundings_));
}

void GpuWorld::release(std::span<const int> group, Window window)
{
    for (const int rank : group) { memory_->release(rank, window); }
}

void GpuWorld::expect_one_node(std::span<const int> group, const std::string& what) const
{
    const auto other = std::find_if_not(group.begin(), group.end(), [&](int rank) { return reaches(group.front(), rank); });
    if (other == group.end()) { return; }
    throw CommError(fmt::format("{}: ranks {} and {} are on different nodes ({}), and kernels would store into each other's "
                                "memory.",
                                what, group.front(), *other, nodes_ ? nodes_->text() : "NVLink does not join them"));
}

bool GpuWorld::has_nodes() const
{
    return std::any_of(node_of_rank_.begin(), node_of_rank_.end(), [](int first) { return first != 0; });
}

int GpuWorld::name_channel(const std::string& label)
{
    const auto [at, is_new] = channel_numbers_.emplace(label, static_cast<int>(channels_.size()));
    if (is_new) { channels_.push_back(label); }
    return at->second;
}

GpuChannel GpuWorld::open(const std::string& label, int source, int destination, const ChannelOptions& options,
                          const Relayed& relayed)
{
    const ChannelName name{source, destination, name_channel(label)};
    const ReceiveEnd receive_end = make_receive_end(*memory_, name, options);
    const SendEnd send_end = make_send_end(*memory_, name, options);
    ReceiveRoute receive = receive_route(*memory_, name, receive_end);
    SendRoute send = send_route(*memory_, name, send_end);
    std::byte* stored = receive.payload;
    SignalSlot *signals = receive.signals, *credits = send.credits;
    if (!reaches(source, destination)) // memory is laid out alike in all processes, and relays are where their proxy is
    {
        Put message{.source = source,
                    .destination = destination,
                    .offset = relayed.offset,
                    .data = relayed.from,
                    .bytes = options.capacity,
                    .signal = receive_end.signals,
                    .epoch = options.first_epoch - 1};
        if (options.capacity > 0)
        {
            stored = data(source, memory_->allocate(source, receive_end.slots.bytes));
            message.data = stored, message.offset = receive_end.slots.offset;
        }
        signals = is_here(source) ? proxy(source).open({message, send.stride, options.depth}) : nullptr;
        if (send.has_credits)
        {
            const Put credit{.source = destination,
                             .destination = source,
                             .offset = 0,
                             .data = nullptr,
                             .bytes = 0,
                             .signal = send_end.credits,
                             .epoch = options.first_epoch - 1};
            credits = is_here(destination) ? proxy(destination).open({credit, 0, options.depth}) : nullptr;
        }
    }
    const bool is_lost = loses_ && loses_(label, source);
    if (is_lost) { signals = memory_->signal(source, memory_->reserve_signals(source, options.depth, options.first_epoch - 1)); }
    connect(send, receive_end, stored, signals);
    connect(receive, send_end, credits);
    return {GpuSender(send, nullptr, options.first_epoch), GpuReceiver(receive, nullptr, options.first_epoch)};
}

void GpuWorld::close(const GpuChannel& channel)
{
    const SendRoute& send = channel.sender.route();
    PARHELION_EXPECTS(reaches(send.source, send.destination));
    const ReceiveRoute& receive = channel.receiver.route();
    memory_->release(send.destination, {send.offset, static_cast<std::size_t>(send.depth) * send.stride});
    memory_->release_signals(send.destination, send.signal, send.depth);
    if (send.has_credits) { memory_->release_signals(send.source, receive.credit, send.depth); }
}

const Watch* GpuWorld::watch(int rank) const { return &surroundings(rank)->watch; }

void GpuWorld::set_tag_word(int rank, const std::int64_t* tag)
{
    copy_to_device(setup_queue(rank), &surroundings(rank)->watch.tag, tag);
}

void GpuWorld::check()
{
    if (HostAtomics::load_acquire_system(&host_abort_->epoch) == 0) { return; }
    for (const auto& proxy : proxies_)
    {
        if (proxy) { proxy->stop(); } // the caller may free what messages were of
    }
    if (const std::exception_ptr why = loss()) { std::rethrow_exception(why); }
    FirstFailure first_failure;
    GpuQueue& queue = setup_queue(here_.first);
    gpu_memory::to_host(queue, &first_failure, &surroundings(keeper_of_failures())->first_failure, sizeof first_failure);
    queue.synchronize();
    const FailureRecord& record = first_failure.record;
    throw CommError(failure_text(record, channels_[static_cast<std::size_t>(record.channel)], deadline_, tag_name_));
}

template <class HasHappened>
void GpuWorld::wait_until(int rank, HostWait how, HasHappened&& has_happened)
{
    constexpr std::chrono::nanoseconds longest_sleep = std::chrono::milliseconds(1);
    // If the host was stopped, so were the threads that others queue by; and GPUs were not, so there is one more look.
    const auto now = [] { return std::chrono::nanoseconds(HostAtomics::nanoseconds()); };
    const std::chrono::nanoseconds begin = now();
    for (bool is_last_look = false; !has_happened();)
    {
        check();
        if (has_given_up_) { throw PeerAborted("another thread of this process has failed"); }
        if (is_last_look)
        {
            throw CommError(
                fmt::format("The host timed out after {:g} s waiting for rank {}: its GPU is stuck, or one that it waits for.",
                            std::chrono::duration<double>(2 * deadline_).count(), rank));
        }
        const std::chrono::nanoseconds waited = now() - begin;
        is_last_look = waited > 2 * deadline_;
        if (how == HostWait::Sleeps) { std::this_thread::sleep_for(std::min(waited / 2, longest_sleep)); }
        else { std::this_thread::yield(); }
    }
}

void GpuWorld::wait(int rank, const GpuEvent& event, HostWait how)
{
    if (ranks() == 1) { event.wait(); }
    else
    {
        wait_until(rank, how, [&] { return event.has_passed(); });
    }
}

void GpuWorld::wait(int rank, const std::atomic<std::uint64_t>& count, std::uint64_t enough)
{
    wait_until(rank, HostWait::Spins, [&] { return count.load(std::memory_order_acquire) >= enough; });
}

} // namespace parhelion
