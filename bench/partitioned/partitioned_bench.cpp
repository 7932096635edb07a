// SPDX-License-Identifier: Apache-2.0
// Partitioned communication between GPUs beside what else programs do: copies staged through the host, copies from GPU to GPU
// with a wait of the host, and NCCL. The measurements of Temucin et al. (GPU-initiated MPI partitioned communication), on the
// GPUs of one host.
//
// partitioned_bench [--gpus N] [--share] [--json FILE] [--most BYTES] [--without-nccl]
//                   [--only messages|proxy|costs|sums|jacobi|training]
//
// With --share the N ranks share the first GPU: that is for comparing mechanisms and versions, without NCCL.
#include "base/error.hpp"
#include "bench/partitioned/measurements.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/format.h>

using namespace parhelion;
using namespace parhelion::partitioned_bench;

namespace {

constexpr int skipped = 77; // without GPUs

struct Options
{
    int gpus = 2;
    std::string json, only;
    bool without_nccl = false, share = false;
    std::size_t most_bytes = std::size_t{64} << 20;
};

void run(const Options& options)
{
    std::vector<std::unique_ptr<GpuQueue>> queues;
    std::vector<GpuQueue*> of_ranks;
    for (int rank = 0; rank < options.gpus; ++rank)
    {
        queues.push_back(std::make_unique<GpuQueue>(options.share ? 0 : rank));
        of_ranks.push_back(queues.back().get());
    }
    const std::unique_ptr<Nccl> nccl = options.without_nccl || options.share ? nullptr : Nccl::load(of_ranks);
    const std::string ranks = options.share ? fmt::format(", {} ranks", options.gpus) : "";
    const std::string gpus = fmt::format("{} x {}{}", options.share ? 1 : options.gpus, of_ranks[0]->name(), ranks);
    Report report(options.json, gpus);
    fmt::print("{}, {}\n", gpus, nccl ? "with NCCL" : "without NCCL");
    const Setting setting{of_ranks, nccl.get(), report, options.most_bytes};
    const auto time = [&](const char* what, void (*measure)(const Setting&)) {
        if (options.only.empty() || options.only == what)
        {
            alone(what, [&] { measure(setting); });
            report.print();
        }
    };
    time("costs", time_costs);
    time("messages", time_messages);
    time("proxy", time_proxy);
    time("sums", time_sums);
    time("jacobi", time_jacobi);
    time("training", time_training);
}

} // namespace

int main(int argc, char** argv)
{
    std::setvbuf(stdout, nullptr, _IOLBF, 0); // what was measured is told also if the rest hangs
    CLI::App app("Times partitioned communication between GPUs.");
    Options options;
    app.add_option("--gpus", options.gpus, "how many, or ranks that share one; from 2 on")->check(CLI::Range(2, 64));
    app.add_flag("--share", options.share, "all ranks on the first GPU, without NCCL: no number of two GPUs");
    app.add_option("--json", options.json, "append a line for each number");
    app.add_option("--most", options.most_bytes, "the largest message or sum, bytes");
    app.add_flag("--without-nccl", options.without_nccl, "else it is looked for: libnccl.so.2");
    app.add_option("--only", options.only)->check(CLI::IsMember({"messages", "proxy", "costs", "sums", "jacobi", "training"}));
    CLI11_PARSE(app, argc, argv);
    if (const int needed = options.share ? 1 : options.gpus; gpu_count() < needed)
    {
        fmt::print(stderr, "partitioned_bench: needs {} GPUs, {} here\n", needed, gpu_count());
        return skipped;
    }
    try
    {
        run(options);
    }
    catch (const std::exception& error)
    {
        fmt::print(stderr, "partitioned_bench: {}\n", error.what());
        return 1;
    }
    return 0;
}
