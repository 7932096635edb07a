// SPDX-License-Identifier: Apache-2.0
// A whole run with its files, as the program makes it: run_simulation() with an observer in Python.
#include "run/run.hpp"
#include "placement.hpp"
#include "stop.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace parhelion::python {

namespace {

// Passes on what it hears to the methods of an object in Python. These do not throw: parhelion.runs catches. If one does, it is
// told as unraisable, and the run stops.
class Hearing final : public RunObserver
{
public:
    Hearing(nb::handle object, Stop& stop) : object_(object), stop_(stop) {}

    void warning(const std::string& line) override { call("warning", line); }
    void message(const std::string& line) override { call("message", line); }
    void notes(const std::vector<Warning>& notes) override
    {
        for (const Warning& note : notes) { call("message", "note: " + note.text()); }
    }
    void begins(const RunBegin& begin) override { call("begins", begin.text, begin.steps_done, begin.steps_total); }
    void progress(const RunProgress& now) override
    {
        if (now.steps_done == last_progress_) { return; }
        last_progress_ = now.steps_done;
        call("progress", now.steps_done, now.steps_total);
    }
    void frame(const Frame& frame) override { call("frame", State{{frame, {}}, no_names_}); }
    void energies(const RunEnergies& energies) override
    {
        if (!names_) { names_ = std::make_shared<const std::vector<std::string>>(energies.names.begin(), energies.names.end()); }
        State state{{{}, {energies.values.begin(), energies.values.end()}}, names_};
        state.look.frame.step = energies.step;
        state.look.frame.time = energies.time;
        call("energies", std::move(state));
    }

private:
    template <class... Arguments>
    void call(const char* method, Arguments&&... arguments)
    {
        const nb::gil_scoped_acquire python;
        try
        {
            object_.attr(method)(std::forward<Arguments>(arguments)...);
        }
        catch (nb::python_error& error)
        {
            error.discard_as_unraisable("the observer of a run");
            stop_.raised = true;
        }
    }

    const nb::handle object_; // of the caller of run()
    Stop& stop_;
    const EnergyNames no_names_ = std::make_shared<const std::vector<std::string>>();
    EnergyNames names_;
    std::int64_t last_progress_ = -1;
};

nb::dict run_with_files(const RunInput& files, const Placement& placement, const std::string& prefix,
                        std::optional<std::int64_t> steps, std::optional<double> ns, std::optional<double> hours,
                        double checkpoint_s, const std::string& trace, bool fresh, bool rst7, bool h5md,
                        const nb::object& observer, Stop& stop)
{
    const auto is_amount = [](double value) { return value >= 0 && value <= 1e15; };
    if (prefix.empty() || (steps && ns) || !is_amount(ns.value_or(0)) || !is_amount(hours.value_or(0)) ||
        !is_amount(checkpoint_s))
    {
        throw nb::value_error("a prefix is given, not both steps and ns, and no negative time");
    }
    RunRequest request;
    request.input = files;
    request.numerics = placement.numerics;
    request.placement = placement.placement;
    request.length = {steps, ns, hours};
    request.output = {prefix, checkpoint_s, trace, fresh, rst7, h5md};
    Hearing hearing(observer, stop);
    RunResult result;
    {
        const nb::gil_scoped_release others_may_run;
        result = run_simulation(request, hearing, stop.raised);
    }
    nb::dict about;
    about["stopped"] = result.end == RunEnd::Stopped;
    about["was_complete"] = result.was_complete;
    about["minimised"] = result.minimised;
    about["reached"] = result.reached;
    about["averages"] = result.averages;
    about["trajectory"] = result.trajectory;
    about["report"] = result.was_complete ? std::string() : to_json(result.report);
    return about;
}

} // namespace

void bind_run(nb::module_& m)
{
    m.def(
        "run", run_with_files, nb::arg("files"), nb::arg("placement"), nb::kw_only(), nb::arg("prefix"), nb::arg("steps").none(),
        nb::arg("ns").none(), nb::arg("hours").none(), nb::arg("checkpoint_s"), nb::arg("trace"), nb::arg("fresh"),
        nb::arg("rst7"), nb::arg("h5md"), nb::arg("observer"), nb::arg("stop"),
        nb::sig("def run(files: Files, placement: Placement, *, prefix: str, steps: int | None, ns: float | None, hours: float | "
                "None, checkpoint_s: float, trace: str, fresh: bool, rst7: bool, h5md: bool, observer: object, stop: Stop) -> "
                "dict[str, "
                "typing.Any]"));
}

} // namespace parhelion::python
