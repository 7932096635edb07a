// SPDX-License-Identifier: Apache-2.0
#include "engine/simulation.hpp"

#include "base/error.hpp"
#include "engine/choose_gpus.hpp"
#include "engine/deadline_pause.hpp"
#include "engine/engine.hpp"
#include "engine/host_watch.hpp"
#include "engine/option_rules.hpp"
#ifdef PARHELION_CUDA
#include "engine/gpu/engine_gpu.hpp"
#endif

#include <fmt/format.h>

namespace parhelion {

namespace {

#ifdef PARHELION_CUDA
template <class N>
using GpuEngineOrNone = GpuEngine<N>;

const HostGpus& gpus_for(const SimulationOptions& options, std::string_view only_on_cpus)
{
    static const HostGpus none;
    return wants_gpu(options, only_on_cpus) ? find_gpus() : none;
}
#else
template <class N>
using GpuEngineOrNone = Engine<N>;

const HostGpus& gpus_for(const SimulationOptions& options, std::string_view)
{
    if (options.wants_gpus())
    {
        throw InputError("E002", {},
                         "this program was built without CUDA. Use --device cpu (or auto), or build the preset that has it.");
    }
    static const HostGpus none;
    return none;
}
#endif

std::unique_ptr<Simulation::Implementation> make_engine(System&& system, RunParameters&& parameters,
                                                        const SimulationOptions& options, const SavedState* saved)
{
    const bool mixed = options.precision == Precision::Mixed, fast = options.summation == Summation::Fast;
    const std::string_view cpus = only_on_cpus(parameters);
    const DeviceChoice device = choose_device(options, cpus, gpus_for(options, cpus));
    expect_to_go_together({.placement = options, .is_on_cpus = !device.on_gpu});
    const auto make = [&](auto policy) -> std::unique_ptr<Simulation::Implementation> {
        using N = decltype(policy);
        if (device.on_gpu)
        {
            return std::make_unique<GpuEngineOrNone<N>>(
                prepare_run<N>(std::move(system), std::move(parameters), on_one_rank(options), saved), options);
        }
        const auto run = prepare_run<N>(std::move(system), std::move(parameters), options, saved);
        auto engine = std::make_unique<Engine<N>>(run, options);
        run->start = {}; // the ranks have it
        engine->remark_on_gpus(device.remark);
        return engine;
    };
    if (mixed) { return fast ? make(Mixed{}) : make(MixedReproducible{}); }
    return fast ? make(Double{}) : make(DoubleReproducible{});
}

} // namespace

std::string RunNumerics::text() const
{
    const std::string name(precision_names[static_cast<std::size_t>(precision)]);
    return name + (summation == Summation::Reproducible ? " reproducible" : "");
}

std::vector<int> gpus_to_deal(const RunPlacement& placement)
{
    const SimulationOptions options({}, placement, {});
    const HostGpus& host = gpus_for(options, "");
    return choose_device(options, "", host).on_gpu ? gpus_for_single_runs(host, placement.gpus) : std::vector<int>{};
}

#ifdef PARHELION_CUDA
bool built_with_cuda() { return true; }
std::string describe_devices()
{
    const HostGpus& host = find_gpus();
    if (host.gpus.empty()) { return "CPU (no GPU found)"; }
    const std::vector<int> devices = usable_together(host);
    const std::string why = why_left_out(host);
    return fmt::format("CPU{}{}", devices.empty() ? "" : ", " + host.gpus[static_cast<std::size_t>(devices[0])].name,
                       why.empty() ? "" : fmt::format(" ({})", why));
}
#else
bool built_with_cuda() { return false; }
std::string describe_devices() { return "CPU (this program was built without CUDA)"; }
#endif

// If a GPU hangs, freeing its memory would hang as well. The memory is therefore left to the end of the process.
template <class Call>
auto Simulation::attempt(Call&& call)
{
    try
    {
        const AmongGpus host(watch_.get());
        return call();
    }
    catch (const CommError&)
    {
        if (implementation_->plan().on_gpu) { static_cast<void>(implementation_.release()); }
        throw;
    }
}

Simulation::Simulation(System system, RunParameters parameters, const SimulationOptions& options, const SavedState* saved)
    : implementation_(make_engine(std::move(system), std::move(parameters), options, saved))
{
    if (options.when_held && plan().on_gpu && plan().ranks > 1)
    {
        const std::chrono::nanoseconds limit = 3 * options.comm_timeout; // GpuWorld::wait() gives up after 2 * comm_timeout
        watch_ = std::make_unique<HostWatch>(limit, [limit, when_held = options.when_held] {
            const double seconds = std::chrono::duration<double>(limit).count();
            when_held(fmt::format("The host was held for {:g} s in the driver of its GPUs: one of them is stuck.", seconds));
        });
    }
    attempt([&] { implementation_->start(watch_.get()); });
}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;

const PlanSummary& Simulation::plan() const { return implementation_->plan(); }
void Simulation::add_force(std::shared_ptr<ExternalForce> force) { implementation_->add_force(std::move(force)); }
SinglePoint Simulation::evaluate()
{
    return attempt([&] { return implementation_->evaluate(); });
}
void Simulation::set_output(const OutputIntervals& intervals)
{
    PARHELION_EXPECTS(intervals.configurations >= 0 && intervals.forces >= 0 && intervals.energies >= 0);
    PARHELION_EXPECTS(intervals.forces == 0 ||
                      (intervals.configurations > 0 && intervals.forces % intervals.configurations == 0));
    implementation_->set_output(intervals);
}
RunSummary Simulation::run(std::int64_t steps, Observer& observer, const std::atomic<bool>& stop)
{
    if (!watch_)
    {
        return attempt([&] { return implementation_->run(steps, observer, stop); });
    }
    PausingObserver pausing(*watch_, observer);
    return attempt([&] { return implementation_->run(steps, pausing, stop); });
}
Frame Simulation::frame()
{
    return attempt([&] { return implementation_->frame(); });
}
Frame Simulation::last_good_frame()
{
    return attempt([&] { return implementation_->last_good_frame(); });
}
SavedState Simulation::saved_state()
{
    return attempt([&] { return implementation_->saved_state(); });
}
std::vector<Timeline> Simulation::timelines() const { return implementation_->timelines(); }

} // namespace parhelion
