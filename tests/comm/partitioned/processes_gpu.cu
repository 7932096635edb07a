// SPDX-License-Identifier: Apache-2.0
// Partitioned messages and sums between GPUs of different processes: a process for each rank, its kernels store into the memory
// of the others. A program of its own, since processes are forked before there is a GPU in them.
//
//     partitions_of_gpu_processes PROCESSES
//
// The exit code is 0, 1 with a sentence, or 77 without a GPU.
#include "comm/launch/launch_processes.hpp"
#include "comm/partitioned/collective_members_gpu.hpp"
#include "comm/partitioned/ring_gpu.cuh"

#include "base/error.hpp"
#include "device/helper_threads.hpp"
#include "support/number_in.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <thread>

using namespace parhelion;
using namespace parhelion::test;

namespace {

constexpr int skipped = 77;
constexpr auto deadline = 20s;

void expect(bool holds, const std::string& what)
{
    if (!holds) { throw std::runtime_error(what); }
}

// The world of this process's rank, which ends its waits when another process has ended.
class ProcessWorld
{
public:
    explicit ProcessWorld(Bootstrap& bootstrap) : bootstrap_(bootstrap), world_(devices(bootstrap), options(bootstrap))
    {
        bootstrap_.listen({.on_loss = [this](const std::string& sentence) { world_.lose(sentence); }});
    }
    ~ProcessWorld() { bootstrap_.listen({}); }
    ProcessWorld(const ProcessWorld&) = delete;
    ProcessWorld& operator=(const ProcessWorld&) = delete;

    GpuWorld& world() { return world_; }
    int rank() const { return bootstrap_.here().first; }
    // Until all processes have come so far; what each has said, by rank.
    std::vector<Bytes> meet(Bytes said = {})
    {
        const auto key = [n = meetings_++](int rank) {
            return "meeting " + std::to_string(n) + " of rank " + std::to_string(rank);
        };
        bootstrap_.put(key(rank()), std::move(said));
        std::vector<Bytes> heard;
        const auto begin = std::chrono::steady_clock::now();
        for (int r = 0; r < bootstrap_.ranks(); ++r)
        {
            std::optional<Bytes> bytes;
            while (!(bytes = bootstrap_.get(key(r))))
            {
                world_.check();
                expect(std::chrono::steady_clock::now() - begin < deadline, "rank " + std::to_string(r) + " does not come");
                std::this_thread::sleep_for(1ms);
            }
            heard.push_back(*std::move(bytes));
        }
        return heard;
    }

private:
    static std::vector<int> devices(const Bootstrap& bootstrap)
    {
        std::vector<int> of_rank;
        for (int r = 0; r < bootstrap.ranks(); ++r) { of_rank.push_back(r % gpu_count()); }
        return of_rank;
    }
    static GpuWorldOptions options(Bootstrap& bootstrap)
    {
        GpuWorldOptions options = options_with(deadline);
        options.bootstrap = &bootstrap;
        return options;
    }

    Bootstrap& bootstrap_;
    GpuWorld world_;
    int meetings_ = 0;
};

// A proxy that polls on the core of another process's proxy waits for time slices of milliseconds.
void expect_own_cores(ProcessWorld& process)
{
    const std::span<const HelperPlace> places = process.world().proxies();
    const auto proxy =
        std::find_if(places.begin(), places.end(), [](const HelperPlace& p) { return p.needs == HelperNeeds::Core; });
    expect(proxy != places.end(), "there is no proxy");
    const int mine = proxy->is_alone ? proxy->core : -1;
    Bytes said(sizeof mine);
    std::memcpy(said.data(), &mine, sizeof mine);
    std::set<int> taken;
    for (const Bytes& heard : process.meet(said))
    {
        int core = -1;
        std::memcpy(&core, heard.data(), sizeof core);
        expect(core < 0 || taken.insert(core).second, "proxies of two processes are on core " + std::to_string(core));
    }
}

// Each mechanism three times, so that slots are used again.
void send_partitions(ProcessWorld& process)
{
    GpuPartitioned partitioned(process.world());
    const bool take_turns = process.world().ranks() > gpu_count(); // for milliseconds each, where processes share a GPU
    const int epochs = std::max(number_in("PARHELION_TEST_EXCHANGES", take_turns ? 200 : 5000), 20);
    for (const Mechanism mechanism : {Mechanism::KernelCopy, Mechanism::ProgressionEngine})
    {
        for (const Level level : {Level::Block, Level::Warp, Level::Lane})
        {
            const Counts counts = level == Level::Lane ? Counts{100, 20, 32} : Counts{8, 6, level == Level::Block ? 1 : 2};
            Ring ring = make_ring(process.world(), partitioned, counts, {mechanism});
            process.meet(); // all slots show their first epoch
            expect(ring_errors(process.world(), ring, epochs, level) == 0, "partitions have not arrived whole");
            process.world().check();
            if (mechanism == Mechanism::ProgressionEngine) { expect_own_cores(process); }
            process.meet(); // nobody signals any more
            for (std::size_t r = 0; r < ring.ranks.size(); ++r)
            {
                partitioned.free(ring.sends[r]), partitioned.free(ring.receives[r]);
                const int rank[] = {static_cast<int>(r)};
                process.world().release(rank, ring.windows[r]);
            }
        }
    }
}

// All-reduces by packets, by messages in one and two shots, and round a ring.
void add_up(ProcessWorld& process)
{
    GpuWorld& world = process.world();
    GpuQueue& queue = world.setup_queue(process.rank());
    for (const auto& [algorithm, count] :
         {std::pair(Algorithm::OneShot, std::size_t{300}), std::pair(Algorithm::OneShot, std::size_t{50000}),
          std::pair(Algorithm::TwoShot, std::size_t{300}), std::pair(Algorithm::Ring, std::size_t{300})})
    {
        CollectiveCase sum;
        sum.collective = Collective::AllReduce;
        sum.algorithm = algorithm;
        sum.elements = {ElementType::Float, 4, count};
        Members members(world, sum);
        process.meet();
        const auto mine = static_cast<std::size_t>(process.rank());
        for (std::uint64_t epoch = 1; epoch <= 20; ++epoch)
        {
            members.fill(world, epoch);
            members.requests[mine].execute(queue);
            expect(members.wrong(world, epoch) == 0, "sums are wrong");
        }
        world.check();
        members.requests[mine].check(queue);
        process.meet();
        free_collective(world, members.requests);
    }
}

// A process that starts another process's request gets an error.
void refuse_others(ProcessWorld& process)
{
    GpuPartitioned partitioned(process.world());
    Ring ring = make_ring(process.world(), partitioned, {4, 4, 1});
    const auto other = static_cast<std::size_t>((process.rank() + 1) % process.world().ranks());
    bool is_refused = false;
    try
    {
        ring.sends[other].start(process.world().setup_queue(process.rank()));
    }
    catch (const PartitionedError& error)
    {
        is_refused = error.misuse() == Misuse::BadArgument;
    }
    expect(is_refused && ring.sends[other].prequest() == nullptr, "another process's request was started");
    process.meet();
}

// The last rank dies while all others wait for it.
void die(ProcessWorld& process)
{
    GpuPartitioned partitioned(process.world());
    Ring ring = make_ring(process.world(), partitioned, {8, 6, 1});
    process.meet();
    if (process.rank() == process.world().ranks() - 1) { std::raise(SIGKILL); }
    ring_errors(process.world(), ring, 1 << 30, Level::Block);
    process.world().check();
}

int in_processes(int processes, const std::function<void(ProcessWorld&)>& program)
{
    return run_in_processes({.processes = processes, .ranks = processes, .deadline = deadline},
                            [&](std::unique_ptr<Bootstrap> bootstrap) {
                                if (gpu_count() == 0) { return skipped; }
                                ProcessWorld process(*bootstrap);
                                program(process);
                                return 0;
                            });
}

} // namespace

int main(int argc, char** argv)
{
    const int processes = argc > 1 ? std::atoi(argv[1]) : 2;
    try
    {
        const int code = in_processes(processes, [](ProcessWorld& process) {
            send_partitions(process);
            add_up(process);
            refuse_others(process);
        });
        if (code != 0)
        {
            std::puts("skipped: needs a GPU");
            return code;
        }
        const auto begin = std::chrono::steady_clock::now();
        std::string told;
        try
        {
            in_processes(processes, die);
        }
        catch (const CommError& error)
        {
            told = error.what();
        }
        expect(told.find("process of rank " + std::to_string(processes - 1) + " ") != std::string::npos,
               "a killed process was not named: " + told);
        expect(std::chrono::steady_clock::now() - begin < deadline + 5s, "it took too long until all had ended");
        return 0;
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
