// SPDX-License-Identifier: Apache-2.0
#include "bench/partitioned/measurements.hpp"
#include "bench/partitioned/vectors.cuh"
#include "comm/partitioned/gpu/collectives_gpu.hpp"

#include <optional>

namespace parhelion::partitioned_bench {

namespace {

enum class Level
{
    Block,
    Warp,
    Thread
};

// Purpose        what pready adds to a kernel
// Work           one block; a partition for the block, each of its warps or each thread
// Reads/Writes   the source's buffer / the destination's, ns
// Orders         as in partitioned.cuh
// Requires       the epoch started on both sides
// Cost           what is timed, between two block barriers
__global__ void pready_kernel(SendPrequest* request, Level level, Credit credit, std::int64_t* ns)
{
    const int thread = static_cast<int>(threadIdx.x);
    pbuf_prepare(*request); // the credit is there, and in the cache
    __syncthreads();
    const std::int64_t begin = CudaAtomics::nanoseconds();
    if (level == Level::Block) { block_pready(*request, 0, credit); }
    if (level == Level::Warp) { warp_pready(*request, thread / 32, credit); }
    if (level == Level::Thread) { warp_pready_each(*request, thread, credit); }
    __syncthreads();
    if (thread == 0) { *ns = CudaAtomics::nanoseconds() - begin; }
}

// What a pready is made of.
enum class Part
{
    Barrier,
    Acquire,
    Add,
    Release,
    AddThenRelease, // of a group of several
    ReleaseAndCount // of a group of one
};
constexpr const char* part_names[] = {"barrier", "acquire", "add", "release", "add, then release", "release and count"};
constexpr int repeats = 16;

// Purpose        what a part takes, again and again, each behind a block barrier
// Work           one block, of which one thread does it
// Reads/Writes   words of a peer and of this GPU / the same, ns
// Orders         those of the part
// Requires       nobody else uses the words
// Cost           what is timed
__global__ void part_kernel(Part part, Word* there, Word* here, std::int64_t* ns)
{
    const bool is_first = threadIdx.x == 0;
    __syncthreads();
    const std::int64_t begin = CudaAtomics::nanoseconds();
    for (int i = 0; i < repeats; ++i)
    {
        const auto value = static_cast<Word>(i);
        if (is_first && part == Part::Acquire) { CudaAtomics::load_acquire_system(here); }
        if (is_first && (part == Part::Add || part == Part::AddThenRelease)) { CudaAtomics::fetch_add_acq_rel_device(here, 1); }
        if (is_first && (part == Part::Release || part == Part::AddThenRelease))
        {
            CudaAtomics::store_release_system(there, value);
        }
        if (is_first && part == Part::ReleaseAndCount) { CudaAtomics::store_and_count_release(there, value, here); }
        __syncthreads();
    }
    if (is_first) { *ns = CudaAtomics::nanoseconds() - begin; }
}

class Costs
{
public:
    explicit Costs(const Setting& setting)
        : s_(setting), from_(*s_.queues[0]), to_(*s_.queues[1]), world_({from_.device(), to_.device()}, options()),
          partitioned_(world_), landing_(world_.allocate(bytes)), ns_(calls)
    {
        from_.make_current();
        source_.resize(bytes);
        source_.clear(from_);
        from_.synchronize();
    }

    void all()
    {
        for (const int threads : {32, 128, 512, 1024})
        {
            for (const Credit credit : {Credit::ToBeSeen, Credit::Seen})
            {
                pready("block", Level::Block, credit, threads, 1);
                pready("warp", Level::Warp, credit, threads, threads / 32);
                pready("thread", Level::Thread, credit, threads, threads);
            }
        }
        parts();
        requests();
        collectives();
    }

private:
    static constexpr std::size_t bytes = most_threads * sizeof(double);
    static constexpr std::size_t calls = 100;

    static GpuWorldOptions options()
    {
        GpuWorldOptions options;
        options.deadline = std::chrono::seconds(3);
        options.payload_bytes = std::size_t{128} << 20;
        return options;
    }
    void wait()
    {
        spin_until_done(from_);
        spin_until_done(to_);
    }
    template <class Work>
    static double us_of(const Work& work)
    {
        const auto begin = std::chrono::steady_clock::now();
        work();
        return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    }

    struct Way
    {
        const char* what;
        Mechanism mechanism;
        bool has_buffer; // else kernels have stored to the destination themselves
    };

    // With the copy of 8 bytes a thread, without it, and with a proxy that copies.
    void pready(const char* name, Level level, Credit credit, int threads, int partitions)
    {
        for (const Way& way :
             {Way{"pready with its copy", Mechanism::KernelCopy, true}, Way{"pready", Mechanism::KernelCopy, false},
              Way{"pready, proxy", Mechanism::ProgressionEngine, true}})
        {
            const std::size_t here = static_cast<std::size_t>(threads) * sizeof(double);
            const Partitioning parts{partitions, here / static_cast<std::size_t>(partitions)};
            GpuSendRequest send = partitioned_.psend_init(0, way.has_buffer ? source_.data() : nullptr, parts, {1, tag_},
                                                          {.per_signal = partitions}, way.mechanism);
            GpuReceiveRequest receive = partitioned_.precv_init(1, landing_, {1, here}, {0, tag_});
            ++tag_;
            std::vector<double> us;
            for (std::size_t i = 0; i < calls; ++i)
            {
                receive.start(to_);
                wait();
                send.start(from_);
                launch(from_, PhaseTag{}, pready_kernel, {1, threads}, send.prequest(), level, credit, ns_.data() + i);
                send.wait(from_);
                receive.wait(to_);
                wait();
                us.push_back(static_cast<double>(ns_[i]) * 1e-3);
            }
            world_.check();
            send.check(from_);
            const std::string what = way.what;
            s_.report.add({credit == Credit::Seen ? what + ", credit seen" : what, name, here, partitions, spread_of(us)});
        }
    }

    void parts()
    {
        DeviceBuffer<Word> here(1);
        here.clear(from_);
        auto* const there = reinterpret_cast<Word*>(world_.data(1, landing_));
        for (const Part part :
             {Part::Barrier, Part::Acquire, Part::Add, Part::Release, Part::AddThenRelease, Part::ReleaseAndCount})
        {
            std::vector<double> us;
            for (std::size_t i = 0; i < calls; ++i)
            {
                launch(from_, PhaseTag{}, part_kernel, {1, most_threads}, part, there, here.data(), ns_.data());
                wait();
                us.push_back(static_cast<double>(ns_[0]) * 1e-3 / repeats);
            }
            s_.report.add({"part of a pready", part_names[static_cast<int>(part)], sizeof(Word), 1, spread_of(us)});
        }
    }

    // The second side finds the first, and sends both prequests to their GPUs.
    void requests()
    {
        std::vector<double> first, second, prepare, queued;
        std::optional<double> first_prepare;
        for (int i = 0; i < samples; ++i, ++tag_)
        {
            std::optional<GpuSendRequest> send;
            std::optional<GpuReceiveRequest> receive;
            first.push_back(us_of([&] { receive.emplace(partitioned_.precv_init(1, landing_, {8, 64}, {0, tag_})); }));
            second.push_back(us_of([&] { send.emplace(partitioned_.psend_init(0, source_.data(), {8, 64}, {1, tag_})); }));
            for (std::size_t k = 0; k < calls; ++k)
            {
                receive->start(to_);
                send->start(from_);
                wait();
                double call = 0;
                const double us = us_of([&] {
                    call = us_of([&] { send->pbuf_prepare(from_); });
                    spin_until_done(from_);
                });
                queued.push_back(call);
                (k == 0 && i == 0 ? first_prepare.emplace(us) : prepare.emplace_back(us));
                end(*send, *receive);
            }
        }
        const auto add = [&](const char* method, const std::vector<double>& us) {
            s_.report.add({"once", method, 512, 8, spread_of(us)});
        };
        add("precv_init, first", first);
        add("psend_init, matched", second);
        add("pbuf_prepare, first", {*first_prepare});
        add("pbuf_prepare", prepare);
        add("pbuf_prepare, the call alone", queued);
    }
    void end(GpuSendRequest& send, GpuReceiveRequest& receive)
    {
        launch(from_, PhaseTag{}, pready_kernel, {1, 256}, send.prequest(), Level::Warp, Credit::ToBeSeen, ns_.data());
        send.wait(from_);
        receive.wait(to_);
        wait();
    }

    void collectives()
    {
        std::vector<double> us;
        const std::size_t n = bytes / sizeof(float) / 8;
        for (int i = 0; i < samples; ++i)
        {
            const GpuCollectiveBuffers buffers[] = {{source_.data(), source_.data()},
                                                    {world_.data(1, landing_), world_.data(1, landing_)}};
            us.push_back(us_of([&] {
                make_collective(world_, Collective::AllReduce, {ElementType::Float, 8, n}, Reduction::Sum, buffers);
            }));
        }
        s_.report.add({"once", "make_collective, of two", bytes, 8, spread_of(us)});
    }

    const Setting& s_;
    GpuQueue &from_, &to_;
    GpuWorld world_;
    GpuPartitioned partitioned_;
    Window landing_;
    DeviceBuffer<std::byte> source_;
    PinnedBuffer<std::int64_t> ns_;
    int tag_ = 0;
};

} // namespace

void time_costs(const Setting& setting) { Costs(setting).all(); }

} // namespace parhelion::partitioned_bench
