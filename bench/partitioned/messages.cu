// SPDX-License-Identifier: Apache-2.0
#include "bench/partitioned/measurements.hpp"
#include "bench/partitioned/vectors.cuh"
#include "device/cores.hpp"
#include "device/helper_threads.hpp"

#include <pthread.h>
#include <thread>

namespace parhelion::partitioned_bench {

namespace {

// Purpose        the work
// Work           a thread for each 8 bytes
// Reads/Writes   a, b / c
// Orders         nothing
// Requires       nothing
// Cost           24 bytes a thread
__global__ void add_kernel(const double* a, const double* b, double* c) { add_one(a, b, c); }

// Purpose        the work, and each block's part on its way to the peer
// Work           as add_kernel; a block a partition
// Reads/Writes   a, b / c and the destination's buffer; without c the latter alone
// Orders         as in partitioned.cuh
// Requires       the epoch started
// Cost           8 bytes a thread more, over the link
__global__ void add_and_send_kernel(const double* a, const double* b, double* c, SendPrequest* request)
{
    if (c == nullptr)
    {
        if (__syncthreads_or(threadIdx.x == 0 && !pbuf_prepare(*request))) { return; }
        c = reinterpret_cast<double*>(request->core.place(0));
    }
    add_one(a, b, c);
    block_pready(*request, static_cast<int>(blockIdx.x));
}

// Purpose        the same again and again, without a host: each block has messages of its own
// Work           as add_and_send_kernel; a block has several partitions, one after another
// Reads/Writes   a, b / c and the destination's buffer
// Orders         as in partitioned.cuh
// Requires       all blocks at once, and receive_epochs_kernel at the same time
// Cost           epochs times the work; a credit an epoch
__global__ void send_epochs_kernel(const double* a, const double* b, double* c, SendPrequest* const* requests, int epochs)
{
    SendPrequest& request = *requests[blockIdx.x];
    const int partitions = request.core.route().counts.send;
    const std::size_t first = static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(partitions) * blockDim.x;
    for (int e = 0; e < epochs; ++e)
    {
        if (threadIdx.x == 0) { start(request); }
        __syncthreads();
        for (int p = 0; p < partitions; ++p)
        {
            const std::size_t i = first + static_cast<std::size_t>(p) * blockDim.x + threadIdx.x;
            c[i] = a[i] + b[i];
            if (!block_pready(request, p)) { return; }
        }
        if (!block_wait(request)) { return; }
    }
}

// Purpose        the other side, which tells how long that takes
// Work           a block for each of the source's
// Reads/Writes   signals / prequests, credits; ns: begin and end of what is timed, a pair a block
// Orders         as in partitioned.cuh
// Requires       as send_epochs_kernel
// Cost           as send_epochs_kernel
__global__ void receive_epochs_kernel(ReceivePrequest* const* requests, int epochs, std::int64_t* ns)
{
    ReceivePrequest& request = *requests[blockIdx.x];
    for (int e = 0; e < epochs; ++e)
    {
        if (e == 1 && threadIdx.x == 0) { ns[2 * blockIdx.x] = CudaAtomics::nanoseconds(); } // both kernels run
        if (threadIdx.x == 0) { start(request); }
        __syncthreads();
        if (!block_wait(request)) { return; }
    }
    if (threadIdx.x == 0) { ns[2 * blockIdx.x + 1] = CudaAtomics::nanoseconds(); }
}

GpuWorldOptions world_options(std::size_t payload_bytes, int compute_threads)
{
    GpuWorldOptions options;
    options.deadline = std::chrono::seconds(3);
    options.compute_threads = compute_threads;
    options.payload_bytes = payload_bytes + (std::size_t{4} << 20);
    return options;
}

std::vector<int> devices_of(const std::vector<GpuQueue*>& queues)
{
    std::vector<int> devices;
    for (const GpuQueue* queue : queues) { devices.push_back(queue->device()); }
    return devices;
}

class Messages
{
public:
    explicit Messages(const Setting& setting, int compute_threads = 1)
        : s_(setting), from_(*s_.queues[0]), to_(*s_.queues[1]),
          world_(devices_of(s_.queues), world_options(s_.most_bytes, compute_threads)), partitioned_(world_),
          landing_(world_.allocate(s_.most_bytes)), staging_(s_.most_bytes), ns_(2 * most_blocks)
    {
        const std::size_t n = s_.most_bytes / sizeof(double);
        std::vector<double> a(n), b(n);
        for (std::size_t i = 0; i < n; ++i) { a[i] = static_cast<double>(i), b[i] = 0.5; }
        from_.make_current();
        a_.upload(from_, a);
        b_.upload(from_, b);
        c_.resize(n);
        from_.synchronize();
    }

    void all()
    {
        for (std::size_t bytes = 1024; bytes <= s_.most_bytes; bytes *= 2)
        {
            bytes_ = bytes;
            shape_ = shape_of(bytes);
            without_communication();
            copies();
            if (s_.nccl != nullptr)
            {
                alone("NCCL", [&] { nccl(); });
            }
            partitioned("partitioned, queued", "partitioned, graph", c_.data());
            partitioned("stored, queued", "stored, graph", nullptr);
            partitioned("proxy, queued", "proxy, graph", c_.data(), Mechanism::ProgressionEngine);
            in_fewest_launches();
            const int epochs = bytes <= (std::size_t{1} << 20) ? 101 : 11;
            in_kernels("message", "partitioned, in kernels", Mechanism::KernelCopy, samples, epochs);
            in_kernels("message", "proxy, in kernels", Mechanism::ProgressionEngine, samples, epochs);
        }
    }

    // A message of one block, in kernels, a thousand times by itself, so that the worst one shows.
    void one_block(const char* method, Mechanism mechanism)
    {
        for (const std::size_t bytes : {std::size_t{64}, std::size_t{8192}})
        {
            bytes_ = bytes;
            shape_ = shape_of(bytes);
            alone(method, [&] { in_kernels("message of a block", method, mechanism, 1000, 2); });
        }
    }
    // Of the source's proxy; -1: none of its own.
    int proxy_core()
    {
        world_.proxy(0);
        return world_.proxies()[0].core;
    }

private:
    static constexpr int most_blocks = 128; // of kernels whose blocks wait: all at once

    std::byte* destination() const { return world_.data(1, landing_); }
    int partitions() const { return shape_.blocks; }

    template <class Work>
    void time(const char* method, const Work& work)
    {
        clear();
        const Spread us = time_host(work);
        check(method);
        s_.report.add({"message", method, bytes_, partitions(), us});
    }
    void clear()
    {
        from_.make_current();
        c_.clear(from_);
        gpu_memory::set_bytes(to_, destination(), 0, bytes_);
        spin_until_done(from_);
        spin_until_done(to_);
    }
    void check(const char* method)
    {
        world_.check();
        std::vector<double> arrived(bytes_ / sizeof(double));
        gpu_memory::to_host(to_, arrived.data(), destination(), bytes_);
        to_.synchronize();
        for (std::size_t i = 0; i < arrived.size(); ++i)
        {
            if (arrived[i] != static_cast<double>(i) + 0.5)
            {
                throw CommError(std::string(method) + ": a wrong number arrived.");
            }
        }
    }

    void add() { launch(from_, PhaseTag{}, add_kernel, shape_, a_.data(), b_.data(), c_.data()); }

    void without_communication()
    {
        const Spread us = time_host([&] {
            add();
            spin_until_done(from_);
        });
        s_.report.add({"kernel", "launch and wait", bytes_, partitions(), us});
        std::vector<double> waits;
        for (int i = 0; i < 100 * samples; ++i)
        {
            add();
            const auto begin = std::chrono::steady_clock::now();
            spin_until_done(from_);
            waits.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
        }
        s_.report.add({"kernel", "wait", bytes_, partitions(), spread_of(waits)});
    }

    void copies()
    {
        time("staged", [&] {
            add();
            gpu_memory::to_host(from_, staging_.data(), c_.data(), bytes_);
            spin_until_done(from_);
            gpu_memory::to_device(to_, destination(), staging_.data(), bytes_);
            spin_until_done(to_);
        });
        time("peer copy", [&] {
            add();
            gpu_memory::on_device(from_, destination(), c_.data(), bytes_);
            spin_until_done(from_);
        });
    }

    void nccl()
    {
        const auto queue = [&] {
            add();
            const Transfer transfer{0, 1, c_.data(), destination(), bytes_};
            s_.nccl->exchange({&transfer, 1});
        };
        const auto wait = [&] {
            spin_until_done(from_);
            spin_until_done(to_);
        };
        time("NCCL", [&] {
            queue();
            wait();
        });
        if (bytes_ >= (std::size_t{1} << 20)) { return; } // graphs of larger ones have hung on two H200
        const Graphs graphs({&from_, &to_}, queue);
        time("NCCL, graph", [&] {
            graphs.replay();
            wait();
        });
    }

    struct Pair
    {
        GpuSendRequest send;
        GpuReceiveRequest receive;
    };
    Pair make_pair(double* c, Mechanism mechanism = Mechanism::KernelCopy)
    {
        const Partitioning parts{shape_.blocks, bytes_ / static_cast<std::size_t>(shape_.blocks)};
        const SendOptions options{.per_signal = shape_.blocks};
        const Envelope to{1, tag_}, from{0, tag_};
        ++tag_;
        return {partitioned_.psend_init(0, reinterpret_cast<const std::byte*>(c), parts, to, options, mechanism),
                partitioned_.precv_init(1, landing_, {1, bytes_}, from)};
    }
    template <class OfSource, class OfDestination>
    void time_queued_and_replayed(const char* queued, const char* graph, const OfSource& of_source,
                                  const OfDestination& of_destination)
    {
        const auto wait = [&] {
            spin_until_done(to_);
            spin_until_done(from_);
        };
        time(queued, [&] {
            of_destination();
            of_source();
            wait();
        });
        const GpuGraph here(from_, of_source), there(to_, of_destination);
        time(graph, [&] {
            there.replay(to_);
            here.replay(from_);
            wait();
        });
    }

    // c null: what is added is stored into the destination's buffer right away.
    void partitioned(const char* queued, const char* graph, double* c, Mechanism mechanism = Mechanism::KernelCopy)
    {
        auto [send, receive] = make_pair(c, mechanism);
        const auto of_source = [&] {
            send.start(from_);
            launch(from_, PhaseTag{}, add_and_send_kernel, shape_, a_.data(), b_.data(), c, send.prequest());
            send.wait(from_);
        };
        const auto of_destination = [&] {
            receive.start(to_);
            receive.wait(to_);
        };
        time_queued_and_replayed(queued, graph, of_source, of_destination);
        send.check(from_);
        receive.check(to_);
        free({send}, {receive});
    }
    // The end of an epoch and the start of the next are one, and the destination's start and its wait.
    void in_fewest_launches()
    {
        auto [send, receive] = make_pair(c_.data());
        const auto of_source = [&] {
            send.restart(from_);
            launch(from_, PhaseTag{}, add_and_send_kernel, shape_, a_.data(), b_.data(), c_.data(), send.prequest());
        };
        time_queued_and_replayed("fewest launches, queued", "fewest launches, graph", of_source, [&] { receive.receive(to_); });
        send.wait(from_);
        send.check(from_);
        receive.check(to_);
        free({send}, {receive});
    }

    // Of the epochs the first is not timed: the kernels begin.
    void in_kernels(const char* what, const char* method, Mechanism mechanism, int runs, int epochs)
    {
        const int blocks = std::min(shape_.blocks, most_blocks), of_block = shape_.blocks / blocks;
        const std::size_t bytes = bytes_ / static_cast<std::size_t>(shape_.blocks);
        std::vector<GpuSendRequest> sends;
        std::vector<GpuReceiveRequest> receives;
        std::vector<SendPrequest*> of_sends;
        std::vector<ReceivePrequest*> of_receives;
        for (int b = 0; b < blocks; ++b, ++tag_)
        {
            const std::size_t offset = static_cast<std::size_t>(b * of_block) * bytes;
            const auto* const buffer = reinterpret_cast<const std::byte*>(c_.data()) + offset;
            const Window window{landing_.offset + offset, static_cast<std::size_t>(of_block) * bytes};
            sends.push_back(
                partitioned_.psend_init(0, buffer, {of_block, bytes}, {1, tag_}, {.per_signal = of_block}, mechanism));
            receives.push_back(partitioned_.precv_init(1, window, {1, window.bytes}, {0, tag_}));
            of_sends.push_back(sends.back().prequest());
            of_receives.push_back(receives.back().prequest());
        }
        DeviceBuffer<SendPrequest*> send;
        DeviceBuffer<ReceivePrequest*> receive;
        from_.make_current();
        send.upload(from_, of_sends);
        to_.make_current();
        receive.upload(to_, of_receives);
        clear();
        std::vector<double> us;
        for (int s = 0; s < runs; ++s)
        {
            launch(to_, PhaseTag{}, receive_epochs_kernel, {blocks, 32}, receive.data(), epochs, ns_.data());
            launch(from_, PhaseTag{}, send_epochs_kernel, {blocks, shape_.threads}, a_.data(), b_.data(), c_.data(), send.data(),
                   epochs);
            spin_until_done(to_);
            spin_until_done(from_);
            std::int64_t begin = ns_[0], end = ns_[1];
            for (int b = 0; b < blocks; ++b)
            {
                const auto at = static_cast<std::size_t>(2 * b);
                begin = std::min(begin, ns_[at]), end = std::max(end, ns_[at + 1]);
            }
            us.push_back(static_cast<double>(end - begin) * 1e-3 / (epochs - 1));
        }
        check(method);
        s_.report.add({what, method, bytes_, shape_.blocks, spread_of(us)});
        free(sends, receives);
    }
    // The proxies' rings have places for so many only.
    void free(const std::vector<GpuSendRequest>& sends, const std::vector<GpuReceiveRequest>& receives)
    {
        for (const GpuSendRequest& send : sends) { partitioned_.free(send); }
        for (const GpuReceiveRequest& receive : receives) { partitioned_.free(receive); }
    }

    const Setting& s_;
    GpuQueue &from_, &to_;
    GpuWorld world_;
    GpuPartitioned partitioned_;
    Window landing_;
    DeviceBuffer<double> a_, b_, c_; // of the source
    PinnedBuffer<std::byte> staging_;
    PinnedBuffer<std::int64_t> ns_;
    int tag_ = 0;
    std::size_t bytes_ = 0;
    LaunchShape shape_;
};

} // namespace

void time_messages(const Setting& setting) { Messages(setting).all(); }

namespace {

// Threads that compute until this ends: all on that core, or anywhere if it is -1.
class BusyThreads
{
public:
    BusyThreads(int threads, int core)
    {
        for (int t = 0; t < threads; ++t)
        {
            threads_.emplace_back([](const std::stop_token& stop) {
                volatile double sum = 0;
                while (!stop.stop_requested()) { sum = sum + 1; }
            });
            if (core < 0) { continue; }
            cpu_set_t set;
            CPU_ZERO(&set);
            CPU_SET(core, &set);
            pthread_setaffinity_np(threads_.back().native_handle(), sizeof set, &set);
        }
    }

private:
    std::vector<std::jthread> threads_;
};

} // namespace

void time_proxy(const Setting& s)
{
    const Setting small{s.queues, s.nccl, s.report, std::size_t{1} << 16};
    const int cores = available_cores();
    {
        Messages messages(small);
        messages.one_block("kernel copy", Mechanism::KernelCopy);
        const int core = messages.proxy_core();
        messages.one_block(core >= 0 ? "proxy, alone on its core" : "proxy, no core for it", Mechanism::ProgressionEngine);
        if (core >= 0)
        {
            {
                const BusyThreads others(cores - 2, -1); // as this thread, they stay off its core
                messages.one_block("proxy, others on other cores", Mechanism::ProgressionEngine);
            }
            for (const auto& [threads, method] :
                 {std::pair(1, "proxy, one on its core"), std::pair(4, "proxy, four on its core")})
            {
                const BusyThreads others(threads, core);
                messages.one_block(method, Mechanism::ProgressionEngine);
            }
        }
    }
    Messages crowded(small, cores); // so that there is no core for the proxy
    crowded.proxy_core();
    const BusyThreads all(cores, -1);
    crowded.one_block("proxy, others on all cores", Mechanism::ProgressionEngine);
}

} // namespace parhelion::partitioned_bench
