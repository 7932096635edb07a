// SPDX-License-Identifier: Apache-2.0
// The smallest program that makes a run: it begins one, stops it after 50 steps, and goes on to the end. Arguments: .mdp, .gro,
// .top, prefix. It is a test; its exit code is 0 if all went so.
#include "run/run.hpp"

#include <atomic>
#include <cstdio>

using namespace parhelion;

struct StopAfter50 final : RunObserver
{
    std::atomic<bool> stop = false;
    void progress(const RunProgress& now) override { stop = now.steps_done >= 50; }
    void message(const std::string& line) override { std::puts(line.c_str()); }
};

int main(int argc, char** argv)
{
    if (argc != 5) { return 2; }
    RunRequest request;
    request.input.files = {argv[1], argv[2], argv[3], {}, {}, {}};
    request.placement.threads = 1; // other tests run beside this one
    request.output.prefix = argv[4];
    request.output.fresh = true;
    StopAfter50 observer;
    const RunResult begun = run_simulation(request, observer, observer.stop);

    request.output.fresh = false; // the same request goes on
    RunObserver silent;
    std::atomic<bool> never = false;
    const RunResult whole = run_simulation(request, silent, never);
    std::printf("stopped at step %lld, ended at step %lld\n", static_cast<long long>(begun.reached),
                static_cast<long long>(whole.reached));
    return begun.end == RunEnd::Stopped && whole.end == RunEnd::Done && begun.reached < whole.reached ? 0 : 1;
}
