// SPDX-License-Identifier: Apache-2.0
#include "bench/comm/comm_timing.hpp"

#include "base/error.hpp"
#include "bench/comm/comm_timing_kernels.cuh"
#include "device/gpu/graph.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <tuple>

namespace parhelion {

namespace {

using namespace comm_timing;

double message_goal(std::size_t bytes)
{
    if (bytes == 0) { return 1.2; }
    if (bytes <= 4096) { return 2.5; }
    return bytes == 65536 ? 2.2 : bytes == 131072 ? 2.4 : bytes == most_bytes ? 5 : 0;
}

double stream_goal(std::size_t bytes) { return bytes >= std::size_t{1} << 23 ? static_cast<double>(bytes) / 340e3 : 0; }

class Measurement
{
public:
    Measurement(const std::vector<int>& devices, int repetitions)
        : repetitions_(repetitions), world_(devices, options()), pair_(world_, "timing", 0, 1, most_bytes),
          meeting_(world_, "meeting", 0), landing_(world_.allocate(stream_bytes)), wrong_(1), ns_(2 * devices.size()),
          spans_(most_blocks * devices.size())
    {
        wrong_[0] = 0;
        for (int r = 0; r < world_.ranks(); ++r)
        {
            queues_.push_back(std::make_unique<GpuQueue>(world_.device(r))); // on one GPU ranks need a stream each
            GpuQueue& queue = *queues_.back();
            source_.emplace_back(stream_bytes / sizeof(uint4) + rounds * shift);
            unpacked_.emplace_back(most_bytes / sizeof(uint4));
            values_.emplace_back(most_values);
            const std::size_t words = source_.back().size() * sizeof(uint4) / sizeof(Word);
            launch(queue, PhaseTag{}, make_payload_kernel, {most_blocks, threads},
                   reinterpret_cast<std::uint64_t*>(source_.back().data()), words, r);
            allow_shared_memory(queue, messages_kernel<BulkCopy>, BulkCopy::shared_bytes);
            allow_shared_memory(queue, stores_kernel<BulkCopy>, BulkCopy::shared_bytes);
            queue.synchronize();
        }
    }

    std::vector<CommTiming> all()
    {
        timings_.push_back({"flag", 0, 1, least([&] { return flag_us(); }), message_goal(0)});
        messages();
        stores();
        collectives();
        world_.check();
        return std::move(timings_);
    }

private:
    static constexpr int most_values = 4096; // of a sum

    // Each is short enough to fit between two turns of a program that shares the GPU.
    template <class Work>
    double least(const Work& work) const
    {
        double us = work();
        for (int i = 1; i < repetitions_; ++i) { us = std::min(us, work()); }
        return us;
    }

    static GpuWorldOptions options()
    {
        GpuWorldOptions options;
        options.deadline = std::chrono::seconds(3);
        options.payload_bytes = 2 * stream_bytes;
        return options;
    }

    double flag_us()
    {
        pair_.run(flags_kernel, {1, 1}, 1 + rounds, std::array{std::tuple(ns_.data()), std::tuple(ns_.data() + 1)});
        world_.check();
        return static_cast<double>(ns_[0]) * 1e-3 / (2 * rounds);
    }

    void messages()
    {
        for (const std::size_t bytes : {0, 1024, 4096, 16384, 65536, 94 << 10, 131072, 262144, 1048576})
        {
            for (const int blocks : {1, 4, 16, 32, 64})
            {
                const std::size_t per_block = bytes / static_cast<std::size_t>(blocks);
                if (per_block > 65536 || (blocks > 1 && per_block < 1024)) { continue; }
                time_message<Stores>(bytes == 0 ? "signal" : "put and signal", Turns::Alternate, bytes, blocks,
                                     message_goal(bytes));
                time_message<Stores>("halo round", Turns::Both, bytes, blocks, bytes <= 65536 ? 5 : 0);
                if (per_block < 2048) { continue; }
                time_message<BulkCopy>("bulk and signal", Turns::Alternate, bytes, blocks, message_goal(bytes));
            }
        }
    }

    template <class How>
    void time_message(const char* name, Turns turns, std::size_t bytes, int blocks, double goal_us)
    {
        const auto run = [&](unsigned long long* wrong) {
            const auto arguments = [&](std::size_t rank) {
                return std::tuple(turns, source_[rank].data(), unpacked_[rank].data(), bytes, wrong, ns_.data() + rank);
            };
            pair_.run(messages_kernel<How>, {blocks, threads, How::shared_bytes}, 1 + rounds,
                      std::array{arguments(0), arguments(1)});
            world_.check();
            return static_cast<double>(ns_[0]) * 1e-3 / rounds / (turns == Turns::Alternate ? 2 : 1);
        };
        timings_.push_back({name, bytes, blocks, least([&] { return run(nullptr); }), goal_us});
        run(wrong_.data());
        expect_nothing_wrong();
    }

    void stores()
    {
        constexpr std::size_t kib = 1024, mib = 1024 * kib;
        for (const std::size_t bytes : {64 * kib, 94 * kib, 256 * kib, mib, 8 * mib, 32 * mib, stream_bytes})
        {
            for (const int blocks : {1, 4, 8, 16, 32, 64, most_blocks})
            {
                if (bytes / static_cast<std::size_t>(blocks) < 2048) { continue; }
                time_stores<Stores>("stores", 1, bytes, blocks);
                time_stores<BulkCopy>("bulk stores", 1, bytes, blocks);
            }
            time_copies(bytes);
        }
        if (world_.ranks_share_gpus()) { return; } // where nobody promises that kernels run side by side
        for (const std::size_t bytes : {mib, 4 * mib, 16 * mib, stream_bytes})
        {
            for (const int blocks : {16, most_blocks})
            {
                time_stores<Stores>("ring", world_.ranks(), bytes, blocks);
                time_stores<BulkCopy>("bulk ring", world_.ranks(), bytes, blocks);
            }
        }
    }

    // The first so many ranks store to the next one, all at once, from the first block's begin to the last one's end; the time
    // of the slowest.
    template <class How>
    void time_stores(const char* name, int senders, std::size_t bytes, int blocks)
    {
        const int repetitions = repetitions_of(bytes, stream_bytes);
        clear_landing(senders, bytes);
        const double us = least([&] {
            for (int r = 0; r < senders; ++r)
            {
                const auto rank = static_cast<std::size_t>(r);
                if (senders > 1) { barrier(*queues_[rank], meeting_, r); }
                launch(*queues_[rank], PhaseTag{}, stores_kernel<How>, {blocks, 4 * threads, How::shared_bytes}, world_.watch(r),
                       source_[rank].data(), reinterpret_cast<uint4*>(landing_of(r)), bytes / sizeof(uint4), repetitions,
                       spans_.data() + r * most_blocks);
            }
            synchronize();
            std::int64_t longest = 0;
            for (int r = 0; r < senders; ++r)
            {
                const std::span of_blocks(spans_.data() + r * most_blocks, static_cast<std::size_t>(blocks));
                longest = std::max(longest, std::ranges::max(of_blocks, {}, &Span::end).end -
                                                std::ranges::min(of_blocks, {}, &Span::begin).begin);
            }
            return static_cast<double>(longest) * 1e-3 / repetitions;
        });
        check_landing(senders, bytes);
        timings_.push_back({name, bytes, blocks, us, stream_goal(bytes)});
    }

    void time_copies(std::size_t bytes)
    {
        const int copies = repetitions_of(bytes, 4 * stream_bytes); // so many that it does not count when the first begins
        GpuQueue& queue = *queues_[0];
        clear_landing(1, bytes);
        const double us = least([&] {
            launch(queue, PhaseTag{}, stamp_kernel, {1, 1}, ns_.data());
            for (int i = 0; i < copies; ++i) { gpu_memory::on_device(queue, landing_of(0), source_[0].data(), bytes); }
            launch(queue, PhaseTag{}, stamp_kernel, {1, 1}, ns_.data() + 1);
            queue.synchronize();
            return static_cast<double>(ns_[1] - ns_[0]) * 1e-3 / copies;
        });
        check_landing(1, bytes);
        timings_.push_back({"copy engine", bytes, 0, us, 0});
    }

    static int repetitions_of(std::size_t bytes, std::size_t in_all)
    {
        return static_cast<int>(std::min<std::size_t>(1000, in_all / bytes));
    }

    int next(int rank) const { return (rank + 1) % world_.ranks(); }
    std::byte* landing_of(int sender) const { return world_.data(next(sender), landing_); }

    void clear_landing(int senders, std::size_t bytes)
    {
        for (int r = 0; r < senders; ++r)
        {
            gpu_memory::set_bytes(*queues_[static_cast<std::size_t>(next(r))], landing_of(r), 0, bytes);
        }
        synchronize();
    }
    void check_landing(int senders, std::size_t bytes)
    {
        for (int r = 0; r < senders; ++r)
        {
            launch(*queues_[static_cast<std::size_t>(next(r))], PhaseTag{}, check_payload_kernel, {most_blocks, threads},
                   landing_of(r), bytes, r, wrong_.data());
        }
        synchronize();
        expect_nothing_wrong();
    }
    void expect_nothing_wrong() const
    {
        if (wrong_[0] > 0)
        {
            throw CommError("Timing: what GPUs store into each other's memory does not arrive as it was sent.");
        }
    }

    void collectives()
    {
        for (const int n : {0, 8, 64, 512, most_values})
        {
            const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(double);
            const GpuCollective collective(world_, "timed sum of " + std::to_string(n), bytes);
            const double goal = n == 0 ? 3 : 0;
            timings_.push_back({n == 0 ? "barrier" : "sum", bytes, 1, least([&] { return sum_us(collective, n); }), goal});
            check_values(n);
            // A kernel each, replayed as a run does it; where ranks share a GPU nobody promises that they run side by side.
            if (world_.ranks_share_gpus()) { continue; }
            timings_.push_back({n == 0 ? "barrier, launched" : "sum, launched", bytes, 1, launched_us(collective, n), 0});
            check_values(n);
        }
    }

    double sum_us(const GpuCollective& collective, int n)
    {
        set_values(n);
        for (std::size_t r = 0; r < queues_.size(); ++r)
        {
            launch(*queues_[r], PhaseTag{}, sums_kernel, {1, threads}, collective.ends(static_cast<int>(r)), values_[r].data(), n,
                   1 + rounds, ns_.data() + r);
        }
        synchronize();
        return static_cast<double>(ns_[0]) * 1e-3 / rounds;
    }

    // On the queue of the first rank, after a sum at which all have met: the others' graphs are replayed later.
    double launched_us(const GpuCollective& collective, int n)
    {
        std::vector<GpuGraph> graphs;
        for (std::size_t r = 0; r < queues_.size(); ++r)
        {
            const auto sum = [&] { all_reduce(*queues_[r], collective, static_cast<int>(r), values_[r].data(), n); };
            const auto stamp = [&](std::size_t i) {
                launch(*queues_[r], PhaseTag{}, stamp_kernel, {1, 1}, ns_.data() + 2 * r + i);
            };
            graphs.emplace_back(*queues_[r], [&] {
                sum();
                stamp(0);
                for (int k = 0; k < rounds; ++k) { sum(); }
                stamp(1);
            });
        }
        return least([&] {
            set_values(n);
            for (std::size_t r = 0; r < queues_.size(); ++r) { graphs[r].replay(*queues_[r]); }
            synchronize();
            return static_cast<double>(ns_[1] - ns_[0]) * 1e-3 / rounds;
        });
    }

    static double first_value(std::size_t rank, int i) { return static_cast<double>(rank) + i + 1; }

    void set_values(int n)
    {
        std::vector<double> values(static_cast<std::size_t>(n));
        for (std::size_t r = 0; r < queues_.size(); ++r)
        {
            for (int i = 0; i < n; ++i) { values[static_cast<std::size_t>(i)] = first_value(r, i); }
            values_[r].upload(*queues_[r], values);
            queues_[r]->synchronize();
        }
    }
    // After all sums, each of the one before it.
    void check_values(int n)
    {
        std::vector<double> sums(static_cast<std::size_t>(n));
        for (int i = 0; i < n; ++i)
        {
            double sum = 0;
            for (std::size_t r = 0; r < queues_.size(); ++r) { sum += first_value(r, i); }
            for (int k = 0; k < rounds; ++k)
            {
                const double one = sum;
                for (std::size_t r = 1; r < queues_.size(); ++r) { sum += one; }
            }
            sums[static_cast<std::size_t>(i)] = sum;
        }
        for (std::size_t r = 0; r < queues_.size(); ++r)
        {
            if (values_[r].to_vector(*queues_[r]) != sums) { throw CommError("Timing: sums over GPUs are wrong."); }
        }
    }

    void synchronize()
    {
        for (const auto& queue : queues_) { queue->synchronize(); }
        world_.check();
    }

    int repetitions_;
    GpuWorld world_;
    GpuPair pair_;
    GpuCollective meeting_;
    Window landing_; // of stores from the rank before
    PinnedBuffer<unsigned long long> wrong_;
    PinnedBuffer<std::int64_t> ns_; // two a rank
    PinnedBuffer<Span> spans_;
    std::vector<std::unique_ptr<GpuQueue>> queues_; // by rank
    std::vector<DeviceBuffer<uint4>> source_, unpacked_;
    std::vector<DeviceBuffer<double>> values_;
    std::vector<CommTiming> timings_;
};

} // namespace

std::vector<CommTiming> time_comm(const std::vector<int>& devices, int repetitions)
{
    PARHELION_EXPECTS(devices.size() >= 2 && repetitions >= 1);
    return Measurement(devices, repetitions).all();
}

} // namespace parhelion
