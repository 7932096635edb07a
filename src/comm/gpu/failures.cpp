// SPDX-License-Identifier: Apache-2.0
#include "comm/gpu/failures.hpp"

#include "base/error.hpp"
#include "comm/core/endpoint.hpp"
#include "comm/gpu/world_options.hpp"
#include "device/gpu/graph.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <thread>
#include <utility>

namespace parhelion {

// The data that waits of a rank need, in the rank's own memory. The first failure is recorded in the memory of rank 0, since an
// exchange is a single operation for all GPUs there. In host memory it would not be.
struct GpuFailures::Surroundings
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

std::byte* abort_page(Bootstrap& bootstrap, int rank)
{
    return bootstrap.pages("abort word of the hosts of GPUs", rank, abort_page_bytes);
}

GpuFailures::GpuFailures(const GpuRankMap& ranks, GpuRankMemory& memory, const GpuWorldOptions& options,
                         std::function<void()> before_throw)
    : ranks_(ranks), memory_(memory), deadline_(options.deadline), tag_name_(options.tag_name),
      before_throw_(std::move(before_throw))
{
    PARHELION_EXPECTS(ranks_.ranks() <= most_ranks);
    SymmetricMemory& symmetric = memory.symmetric();
    if (options.bootstrap != nullptr) { make_abort_queues(); }
    make_host_abort(options.bootstrap);
    surroundings_ = symmetric.allocate(ranks_.all_ranks(), sizeof(Surroundings));
    const RankRange here = ranks_.here();
    for (int r = here.first; r < here.first + here.count; ++r)
    {
        Surroundings s{};
        s.tag = -1;
        for (int to = 0; to < ranks_.ranks(); ++to) // own slot for ranks that get the failure through their host
        {
            s.abort_slots[to] = symmetric.signal(fail_together_ || ranks_.is_here(to) ? to : r, SymmetricMemory::abort_signal);
        }
        Surroundings* const of_rank = surroundings(r);
        s.watch = {r,
                   ranks_.ranks(),
                   deadline_.count(),
                   s.abort_slots[r],
                   of_rank->abort_slots,
                   &surroundings(keeper())->first_failure,
                   &of_rank->tag,
                   host_abort_};
        copy_to_device(memory_.setup_queue(r), of_rank, s);
    }
}

// If the ranks reach each other's memory, kernels of all ranks set one word that all hosts see. Otherwise each process has its
// own word, and its kernels end no waits of other processes: without the word there, a host would not notice the failure and
// would go on with missing data.
void GpuFailures::make_host_abort(Bootstrap* bootstrap)
{
    const RankRange here = ranks_.here();
    const std::vector<int>& all = ranks_.all_ranks();
    const bool reach_each_other = std::all_of(all.begin(), all.end(), [&](int r) { return memory_.symmetric().reaches(r); });
    const int elsewhere = here.first == 0 ? here.count : 0;
    const bool are_several = here.count < ranks_.ranks();
    fail_together_ = reach_each_other && (!are_several || abort_page(*bootstrap, elsewhere) != nullptr);
    if (fail_together_ && are_several)
    {
        std::byte* const shared = abort_page(*bootstrap, 0);
        shared_abort_.emplace(shared, abort_page_bytes);
        host_abort_ = reinterpret_cast<SignalSlot*>(shared);
        return;
    }
    own_abort_ = PinnedBuffer<SignalSlot>(1);
    host_abort_ = own_abort_.data();
    host_abort_[0] = {0, 0};
}

void GpuFailures::make_abort_queues()
{
    for (std::size_t g = abort_queues_.size(); g < ranks_.gpus().size(); ++g)
    {
        abort_queues_.push_back(std::make_unique<GpuQueue>(ranks_.gpus()[g]));
    }
}

GpuFailures::Surroundings* GpuFailures::surroundings(int rank) const
{
    return reinterpret_cast<Surroundings*>(memory_.symmetric().payload(rank, surroundings_.offset));
}

const Watch* GpuFailures::watch(int rank) const { return &surroundings(rank)->watch; }

void GpuFailures::set_tag_word(int rank, const std::int64_t* tag)
{
    copy_to_device(memory_.setup_queue(rank), &surroundings(rank)->watch.tag, tag);
}

int GpuFailures::name_channel(const std::string& label)
{
    const auto [at, is_new] = channel_numbers_.emplace(label, static_cast<int>(channels_.size()));
    if (is_new) { channels_.push_back(label); }
    return at->second;
}

void GpuFailures::stop(std::exception_ptr why)
{
    {
        const std::scoped_lock lock(loss_mutex_);
        if (loss_) { return; }
        loss_ = std::move(why);
    }
    HostAtomics::store_release_system(&host_abort_->epoch, 1);
    const SignalSlot raised{1, 0};
    const RankRange here = ranks_.here();
    for (int rank = here.first; rank < here.first + here.count; ++rank)
    {
        try
        {
            gpu_memory::to_device(*abort_queues_[ranks_.gpu_of(rank)],
                                  memory_.symmetric().signal(rank, SymmetricMemory::abort_signal), &raised, sizeof raised);
        }
        catch (const DeviceError&)
        {
            // A kernel of this GPU has failed, which ended all waits on this GPU. The loop ends the waits on the other GPUs.
        }
    }
}

std::exception_ptr GpuFailures::loss() const
{
    const std::scoped_lock lock(loss_mutex_);
    return loss_;
}

void GpuFailures::check()
{
    if (HostAtomics::load_acquire_system(&host_abort_->epoch) == 0) { return; }
    before_throw_();
    if (const std::exception_ptr why = loss()) { std::rethrow_exception(why); }
    FirstFailure first_failure;
    GpuQueue& queue = memory_.setup_queue(ranks_.here().first);
    gpu_memory::to_host(queue, &first_failure, &surroundings(keeper())->first_failure, sizeof first_failure);
    queue.synchronize();
    const FailureRecord& record = first_failure.record;
    throw CommError(failure_text(record, channels_[static_cast<std::size_t>(record.channel)], deadline_, tag_name_));
}

template <class HasHappened>
void GpuFailures::wait_until(int rank, HostWait how, HasHappened&& has_happened)
{
    constexpr std::chrono::nanoseconds longest_sleep = std::chrono::milliseconds(1);
    // If the host was stopped, so were the threads that queue work, but not the GPUs. Hence one more look after the deadline.
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

void GpuFailures::wait(int rank, const GpuEvent& event, HostWait how)
{
    if (ranks_.ranks() == 1) { event.wait(); }
    else
    {
        wait_until(rank, how, [&] { return event.has_passed(); });
    }
}

void GpuFailures::wait(int rank, const std::atomic<std::uint64_t>& count, std::uint64_t enough)
{
    wait_until(rank, HostWait::Spins, [&] { return count.load(std::memory_order_acquire) >= enough; });
}

} // namespace parhelion
