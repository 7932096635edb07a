// SPDX-License-Identifier: Apache-2.0
// Steps of ranks that exchange a real halo and work in between: time in communication, of the step, and of the processors.
//   onesided_bench --ranks 2 4 8 --variants put get             ranks are threads
//   onesided_bench --transport processes --ranks 2              ranks are processes of this host
//   mpiexec -n 8 onesided_bench --transport mpi-rma             started by a launcher: mpi, mpi-rma, mpi-put, openshmem
// One JSON line for each combination and repetition. --check compares what arrives with the engine's halo first.
#include "base/error.hpp"
#include "bench/halo/halo_timing.hpp"
#include "bench/onesided/exchange.hpp"
#include "comm/launch/launch_processes.hpp"
#include "comm/launch/run_ranks.hpp"
#include "comm/networks/networks.hpp"
#include "comm/networks/plugin_ranks.hpp"
#include "halo/halo.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <random>

using namespace parhelion;

namespace {

using Clock = std::chrono::steady_clock;

struct Request
{
    std::string transport = "threads";
    std::vector<int> ranks{2};
    std::vector<std::string> variants;
    double atoms = 45000;
    double work_us = 0;   // of a rank in a step, half before the forces and half after
    double imbalance = 0; // the greatest part of it that a rank may have more or less, another in every step
    int steps = 2000, repetitions = 5;
    bool checks = false;
};

// The engine's own methods by their names, and those of bench/onesided.
const std::vector<OneSidedVariant> one_sided_variants = {
    {"put", Move::Put, Sync::Counters, 0},
    {"put-barrier", Move::Put, Sync::Barrier, 0},
    {"straight", Move::Straight, Sync::Counters, 0},
    {"straight-barrier", Move::Straight, Sync::Barrier, 0},
    {"get", Move::Get, Sync::Counters, 0},
    {"get-barrier", Move::Get, Sync::Barrier, 0},
    {"put-maximum", Move::Put, Sync::Counters, 1},     // sizes are compared before every message
    {"put-maximum-20", Move::Put, Sync::Counters, 20}, // when atoms change hands
};

const OneSidedVariant* find_one_sided(const std::string& name)
{
    const auto found =
        std::find_if(one_sided_variants.begin(), one_sided_variants.end(), [&](const auto& v) { return v.name == name; });
    return found != one_sided_variants.end() ? &*found : nullptr;
}

HaloMethod method_of(const std::string& name)
{
    const auto found = std::find(halo_method_names.begin(), halo_method_names.end(), name);
    if (found == halo_method_names.end()) { throw CLI::ValidationError("--variants", name + " is none of them"); }
    return static_cast<HaloMethod>(found - halo_method_names.begin());
}

// The two halves of an exchange, of whichever kind.
class Exchange
{
public:
    Exchange(World& world, Communicator& comm, const HaloBox& box, const std::string& variant) : queue_(1)
    {
        const OneSidedVariant* const one_sided = find_one_sided(variant);
        const HaloPattern pattern = one_sided != nullptr ? HaloPattern::Staged : pattern_of(method_of(variant));
        auto [state, plan] = rank_with_halo(box, pattern, comm, queue_);
        state_ = std::move(state);
        plan_ = plan;
        halo_forces_.resize(plan_.halo_clusters() * cluster_size);
        if (one_sided != nullptr) { one_sided_ = std::make_unique<OneSidedExchange>(world, comm, plan_, *one_sided); }
        else
        {
            engine_ = std::make_unique<Halo<Mixed>>(method_of(variant), comm, queue_);
            engine_->bind(std::move(plan));
        }
    }
    void send_coordinates()
    {
        if (one_sided_) { one_sided_->send_coordinates(); }
        else { engine_->send_coordinates(state_); }
    }
    void return_forces()
    {
        if (one_sided_) { one_sided_->return_forces(); }
        else { engine_->return_forces(halo_forces_, state_); }
    }
    const HaloPlan& plan() const { return plan_; }
    // What a rank has of positions and forces, to be filled or compared.
    Mixed::Fixed* x(std::size_t cluster) { return one_sided_ ? one_sided_->x(cluster) : state_.x.cluster(cluster); }
    Mixed::ForceSum* halo_f(std::size_t c) { return one_sided_ ? one_sided_->halo_f(c) : halo_forces_.cluster(c); }
    Mixed::ForceSum* home_f(std::size_t c) { return one_sided_ ? one_sided_->home_f(c) : state_.f.cluster(c); }

private:
    CpuQueue queue_;
    ParticleState<Mixed> state_;
    HaloPlan plan_;
    ClusterArray<Mixed::ForceSum> halo_forces_;
    std::unique_ptr<OneSidedExchange> one_sided_;
    std::unique_ptr<Halo<Mixed>> engine_;
};

// Positions and forces that differ from cluster to cluster and from round to round; small whole numbers, whose sums are exact.
void fill(Exchange& exchange, int rank, int round)
{
    const HaloPlan& plan = exchange.plan();
    for (std::size_t c = 0; c < plan.home_clusters + plan.halo_clusters(); ++c)
    {
        const bool is_home = c < plan.home_clusters;
        const std::size_t h = c - plan.home_clusters;
        for (std::size_t i = 0; i < 3 * cluster_size; ++i)
        {
            const auto number = static_cast<int>((c * 24 + i + static_cast<std::size_t>(rank * 7919 + round * 104729)) % 1000);
            if (is_home) { exchange.x(c)[i] = number; }
            (is_home ? exchange.home_f(c) : exchange.halo_f(h))[i] = static_cast<Mixed::ForceSum>(number);
        }
    }
}

// Are both exchanges' results the same, bit for bit?
void expect_same(Exchange& a, Exchange& b, const std::string& variant)
{
    constexpr std::size_t values = 3 * cluster_size;
    const HaloPlan& plan = a.plan();
    for (std::size_t c = 0; c < plan.home_clusters + plan.halo_clusters(); ++c)
    {
        if (!std::equal(a.x(c), a.x(c) + values, b.x(c))) { throw std::runtime_error(variant + ": wrong positions"); }
        if (c < plan.home_clusters && !std::equal(a.home_f(c), a.home_f(c) + values, b.home_f(c)))
        {
            throw std::runtime_error(variant + ": wrong forces");
        }
    }
}

void check(World& world, Communicator& comm, const HaloBox& box, const std::string& variant)
{
    const OneSidedVariant* const one_sided = find_one_sided(variant);
    if (one_sided == nullptr) { return; } // the engine's own
    Exchange ours(world, comm, box, variant);
    Exchange engine(world, comm, box, "staged-host");
    for (int round = 0; round < 20; ++round)
    {
        for (Exchange* const exchange : {&ours, &engine})
        {
            fill(*exchange, comm.rank(), round);
            exchange->send_coordinates();
            exchange->return_forces();
        }
        expect_same(ours, engine, variant);
        comm.barrier(); // positions are written again
    }
}

void work(double us)
{
    const auto end = Clock::now() + std::chrono::duration<double, std::micro>(us);
    while (Clock::now() < end) {}
}

double processor_us()
{
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e6 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_nsec);
}

struct Times // us of all steps
{
    double step = 0, communication = 0, processor = 0;
};

Times time_steps(Communicator& comm, Exchange& exchange, const Request& request, bool counts_processor)
{
    std::mt19937_64 random(static_cast<std::uint64_t>(comm.rank()) + 1);
    std::uniform_real_distribution<double> share(1 - request.imbalance, 1 + request.imbalance);
    Times times;
    comm.barrier();
    const auto start = Clock::now();
    const double processor = processor_us();
    const auto timed = [&](auto&& half) {
        const auto begin = Clock::now();
        half();
        times.communication += std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    };
    for (int step = 0; step < request.steps; ++step)
    {
        const double half = request.work_us * share(random) / 2;
        timed([&] { exchange.send_coordinates(); });
        work(half);
        timed([&] { exchange.return_forces(); });
        work(half);
    }
    comm.barrier();
    times.step = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    if (counts_processor) { times.processor = processor_us() - processor; }
    return times;
}

void report(Communicator& comm, const Request& request, const HaloBox& box, const Exchange& exchange, const std::string& variant,
            const Times& times)
{
    double sent = 0;
    for (const HaloMessage& m : exchange.plan().messages)
    {
        sent += 3.0 * cluster_size * static_cast<double>(m.clusters.size() * 4 + static_cast<std::size_t>(m.count) * 4);
    }
    double values[] = {times.step, times.communication, times.processor, sent,
                       static_cast<double>(exchange.plan().halo_clusters() * cluster_size)};
    comm.sum(values);
    if (comm.rank() != 0) { return; }
    const double n = comm.ranks(), per_step = 1 / (n * request.steps);
    const nlohmann::ordered_json line = {
        {"case", "onesided"},
        {"transport", request.transport},
        {"variant", variant},
        {"ranks", comm.ranks()},
        {"grid", fmt::format("{}x{}x{}", box.grid.cells[0], box.grid.cells[1], box.grid.cells[2])},
        {"atoms", box.system.x.size()},
        {"messages", exchange.plan().messages.size()},
        {"halo_slots", values[4] / n},
        {"bytes", values[3] / n},
        {"work_us", request.work_us},
        {"imbalance", request.imbalance},
        {"steps", request.steps},
        {"step_us", values[0] * per_step},
        {"communication_us", values[1] * per_step},
        {"processor_us", values[2] * per_step}};
    fmt::print("{}\n", line.dump());
    std::fflush(stdout);
}

void run_variant(World& world, Communicator& comm, const Request& request, const HaloBox& box, const std::string& variant)
{
    if (request.checks) { check(world, comm, box, variant); }
    Exchange exchange(world, comm, box, variant);
    Request warm_up = request;
    warm_up.steps = request.steps / 10 + 1;
    const bool is_first = comm.rank() == world.here().first;
    static_cast<void>(time_steps(comm, exchange, warm_up, is_first));
    for (int r = 0; r < request.repetitions; ++r)
    {
        report(comm, request, box, exchange, variant, time_steps(comm, exchange, request, is_first));
    }
}

// Every variant in a world of its own.
void run_ranks_of(const Request& request, int ranks, const MakeNetwork& network)
{
    const double edge = std::cbrt(request.atoms / 100);
    const CellGrid grid =
        choose_grid(ranks, {edge, edge, edge}, cpu_grid_criteria({HaloBox::reach, HaloBox::reach, HaloBox::reach}));
    const HaloBox box = random_box(grid, edge);
    for (const std::string& variant : request.variants)
    {
        World world(network(ranks));
        run_ranks(world, [&](Communicator& comm) { run_variant(world, comm, request, box, variant); });
    }
}

int run(const Request& request)
{
    if (request.transport == "threads")
    {
        for (const int ranks : request.ranks)
        {
            run_ranks_of(request, ranks, [](int n) { return thread_network(n); });
        }
        return 0;
    }
    if (request.transport == "processes")
    {
        for (const int ranks : request.ranks)
        {
            for (const std::string& variant : request.variants)
            {
                Request one = request;
                one.variants = {variant};
                ProcessOptions processes;
                processes.processes = processes.ranks = ranks;
                run_in_processes(processes, [&](std::unique_ptr<Bootstrap> bootstrap) {
                    run_ranks_of(one, ranks, [&](int) { return shared_memory_network(std::move(bootstrap)); });
                    return 0;
                });
            }
        }
        return 0;
    }
    PluginRanks all({.transport = request.transport});
    run_ranks_of(request, all.ranks(), [&](int n) { return all.network(n); });
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    Request request;
    CLI::App app("halo exchanges by one-sided and two-sided communication");
    app.add_option("--transport", request.transport,
                   "threads, processes; of a launcher's processes: mpi, mpi-rma, mpi-put, openshmem");
    app.add_option("--ranks", request.ranks, "of threads and processes");
    app.add_option("--variants", request.variants, "staged-host, staged-fused, direct, put, put-barrier, straight, ...")
        ->required();
    app.add_option("--atoms", request.atoms, "of the box");
    app.add_option("--work", request.work_us, "us of work in a step");
    app.add_option("--imbalance", request.imbalance, "by which part of it ranks differ");
    app.add_option("--steps", request.steps);
    app.add_option("--repetitions", request.repetitions);
    app.add_flag("--check", request.checks, "compare with the engine's halo first");
    CLI11_PARSE(app, argc, argv);
    try
    {
        return run(request);
    }
    catch (const std::exception& error)
    {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
