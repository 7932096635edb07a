// SPDX-License-Identifier: Apache-2.0
// A simulation that Python advances and looks at. Calls release the GIL while the engine works; one at a time, from any thread.
#include "run/session.hpp"
#include "force.hpp"
#include "placement.hpp"
#include "stop.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace parhelion::python {

namespace {

// A session with what makes wrong calls errors: while it runs, after an error, in another process.
class GuardedSession
{
public:
    GuardedSession(const LoadedInput& input, const Placement& placement) : positions_(input.system.x.size())
    {
        LoadedInput own = input;
        const nb::gil_scoped_release others_may_run;
        session_ = std::make_unique<Session>(std::move(own), placement.numerics, placement.placement);
        names_ = std::make_shared<const std::vector<std::string>>(session_->energy_names());
    }
    // The threads of a session are in the process that has made it. A copy of that has nobody to end them.
    ~GuardedSession()
    {
        if (::getpid() != process_) { static_cast<void>(session_.release()); }
        const nb::gil_scoped_release others_may_run;
        session_.reset();
    }
    GuardedSession(const GuardedSession&) = delete;
    GuardedSession& operator=(const GuardedSession&) = delete;

    // Calls work(session) without the GIL. Throws RuntimeError if this is no time to.
    template <class Work>
    auto use(Work&& work)
    {
        const Turn turn(*this);
        if (is_broken_) { throw std::runtime_error("an error has ended this simulation: make another one"); }
        const nb::gil_scoped_release others_may_run;
        return work(*session_);
    }
    // The same for what leaves the session in pieces if it throws.
    template <class Work>
    auto advance(Work&& work)
    {
        return use([&](Session& session) {
            is_broken_ = true;
            auto result = work(session);
            is_broken_ = false;
            return result;
        });
    }
    State last_good()
    {
        const Turn turn(*this);
        const nb::gil_scoped_release others_may_run;
        return {{session_->last_good_frame(), std::vector<double>(names_->size(), std::nan(""))}, names_};
    }

    State state(Look&& look) const { return {std::move(look), names_}; }
    void add_force(const IndicesGiven& atoms, nb::object call)
    {
        const auto force = std::make_shared<PythonForce>(atoms, std::move(call));
        for (const std::int64_t atom : force->atoms())
        {
            if (atom < 0 || static_cast<std::size_t>(atom) >= positions_)
            {
                throw nb::index_error(("there is no atom " + std::to_string(atom) + " (from 0)").c_str());
            }
        }
        use([&](Session& session) { return session.add_force(force), true; });
        names_ = std::make_shared<const std::vector<std::string>>(session_->energy_names());
    }
    std::size_t atoms() const { return positions_; }
    // Not while it runs.
    const Session& session() const { return *session_; }

private:
    struct Turn
    {
        explicit Turn(GuardedSession& owner) : owner_(owner)
        {
            if (::getpid() != owner.process_)
            {
                throw std::runtime_error("this simulation is of the process that forked this one: make another one here");
            }
            if (owner.is_used_.exchange(true)) { throw std::runtime_error("this simulation is at work: wait for what it does"); }
        }
        ~Turn() { owner_.is_used_ = false; }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        GuardedSession& owner_;
    };

    const pid_t process_ = ::getpid();
    const std::size_t positions_;
    std::unique_ptr<Session> session_;
    EnergyNames names_;
    std::atomic<bool> is_used_ = false;
    bool is_broken_ = false;
};

nb::dict to_dict(const RunSummary& summary)
{
    nb::dict result;
    result["stopped"] = summary.end == RunEnd::Stopped;
    result["steps"] = summary.steps;
    result["wall_s"] = summary.wall_s;
    result["us_per_step"] = summary.us_per_step;
    result["ns_per_day"] = summary.ns_per_day;
    result["drift"] = summary.drift;
    result["converged"] = summary.converged;
    result["largest_force"] = summary.largest_force;
    return result;
}

nb::dict advance(GuardedSession& self, std::optional<std::int64_t> steps, int every, int forces, const nb::object& told,
                 const nb::object& said, Stop& stop)
{
    if (steps.value_or(0) < 0 || every < 0 || forces < 0 || (forces > 0 && (every == 0 || forces % every != 0)))
    {
        throw nb::value_error("steps and intervals are not negative, and forces come with configurations");
    }
    // What is called must not throw; if it does, nobody is told any more.
    const auto call = [&](const nb::object& callable, auto&& argument) {
        const nb::gil_scoped_acquire python;
        try
        {
            callable(argument());
        }
        catch (nb::python_error& error)
        {
            error.discard_as_unraisable("a simulation's callback");
            stop.raised = true;
        }
    };
    Session::Interests interests{{every, forces, every}, nullptr, nullptr};
    if (every > 0)
    {
        interests.told = [&](Look&& look) { call(told, [&] { return self.state(std::move(look)); }); };
    }
    interests.said = [&](const std::string& text) { call(said, [&] { return text; }); };
    return to_dict(self.advance([&](Session& session) { return session.run(steps, interests, stop.raised); }));
}

} // namespace

void bind_session(nb::module_& m)
{
    nb::class_<Stop>(m, "Stop")
        .def(nb::init<>())
        .def("set", [](Stop& stop) { stop.raised = true; })
        .def("is_set", [](const Stop& stop) { return stop.raised.load(); });
    nb::class_<GuardedSession>(m, "Session")
        .def(nb::init<const LoadedInput&, const Placement&>(), nb::arg("input"), nb::arg("placement"))
        .def_prop_ro(
            "plan",
            [](GuardedSession& self) {
                const PlanSummary plan = self.use([](Session& session) { return session.plan(); });
                return to_dict(plan);
            },
            nb::for_getter(nb::sig("def plan(self) -> dict[str, typing.Any]")))
        .def_prop_ro("step", [](GuardedSession& self) { return self.use([](Session& session) { return session.step(); }); })
        .def("run", advance, nb::arg("steps").none(), nb::arg("every"), nb::arg("forces"), nb::arg("told"), nb::arg("said"),
             nb::arg("stop"),
             nb::sig("def run(self, steps: int | None, every: int, forces: int, told: collections.abc.Callable[[State], object], "
                     "said: collections.abc.Callable[[str], object], stop: Stop) -> dict[str, typing.Any]"))
        .def("look", [](GuardedSession& self) { return self.state(self.use([](Session& s) { return s.look(); })); })
        .def("evaluate", [](GuardedSession& self) { return self.state(self.use([](Session& s) { return s.evaluate(); })); })
        .def(
            "evaluate_at",
            [](GuardedSession& self, const VectorsGiven& positions, const std::optional<MatrixGiven>& box) {
                std::vector<Vec3<double>> x = to_vectors(positions, self.atoms(), "positions");
                std::optional<Box<double>> edges;
                if (box) { edges = to_box(*box); }
                return self.state(
                    self.use([&](Session& s) { return s.evaluate(std::move(x), edges.value_or(s.input().system.box)); }));
            },
            nb::arg("positions"), nb::arg("box").none())
        .def("add_force", &GuardedSession::add_force, nb::arg("atoms"), nb::arg("call"),
             nb::sig("def add_force(self, atoms: NDArray[numpy.int64], call: collections.abc.Callable[[NDArray[numpy.float64], "
                     "NDArray[numpy.float64], float], tuple[float, NDArray[numpy.float64], NDArray[numpy.float64]] | None]) "
                     "-> None"))
        .def("last_good", &GuardedSession::last_good)
        .def(
            "save",
            [](GuardedSession& self, const std::string& prefix) { self.use([&](Session& s) { return s.save(prefix), true; }); },
            nb::arg("prefix"))
        .def(
            "restore",
            [](GuardedSession& self, const std::string& prefix) {
                return self.use([&](Session& s) { return s.restore(prefix); });
            },
            nb::arg("prefix"));
}

} // namespace parhelion::python
