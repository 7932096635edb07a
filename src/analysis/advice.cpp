// SPDX-License-Identifier: Apache-2.0
// Says in words what limits the step and what to change. Most rules give advice only if the work that they are about takes a
// tenth of the time or more, because less is not worth a change of the run.
#include "analysis/analysis.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <string_view>
#include <utility>

namespace parhelion {

namespace {

constexpr double worth_a_change = 0.1; // fraction of a step
constexpr double worth_a_word = 0.02;  // fraction of the time, for disturbances

// Phases that advice treats as one part of the step.
struct Part
{
    std::string_view name;
    std::vector<std::string_view> phases;
};
const std::array<Part, 8> parts = {{
    {"pair forces", {"nonbonded"}},
    {"bonded forces", {"bonded"}},
    {"the mesh", {"spread", "fft", "solve", "gather", "mesh exchange"}},
    {"the halo exchange", {"send coordinates", "return forces"}},
    {"update and constraints", {"sum forces", "couple", "kick", "constrain", "drift", "kinetic"}},
    {"sums over ranks", {"reduce"}},
    {"pair lists and repartitions", {"migrate", "reorder", "pair list"}},
    {"output", {"output"}},
}};

std::string us_text(double us) { return us < 1000 ? fmt::format("{:.3g} us", us) : fmt::format("{:.0f} us", us); }

class Advisor
{
public:
    explicit Advisor(const TraceAnalysis& a) : a_(a), who_(a.is_of_gpus ? "GPU" : "rank")
    {
        for (const NamedTimes& t : a.names)
        {
            for (const Part& part : parts)
            {
                if (std::find(part.phases.begin(), part.phases.end(), t.phase) == part.phases.end()) { continue; }
                path_[part.name] += t.path / a.all.mean;
                steps_[part.name] = std::max(steps_[part.name], t.path_steps);
            }
        }
    }

    std::vector<std::string> advise()
    {
        sum_up();
        on_disturbances();
        on_imbalance();
        on_waits();
        on_exposed_work();
        on_mesh();
        on_lists();
        on_gaps();
        on_occupancy();
        on_output();
        if (said_.size() == 1)
        {
            say("Nothing stands out: to go faster, change what takes the largest part, or give the run more {}.",
                a_.is_of_gpus ? "GPUs" : "cores");
        }
        return std::move(said_);
    }

private:
    template <class... Values>
    void say(fmt::format_string<Values...> format, Values&&... values)
    {
        said_.push_back(fmt::format(format, std::forward<Values>(values)...));
    }
    bool are_several() const { return a_.processes.size() > 1; }
    double share(double us) const { return us / a_.all.mean; }

    void sum_up()
    {
        std::vector<std::pair<double, std::string_view>> list;
        for (const auto& [name, part] : path_) { list.emplace_back(part, name); }
        list.emplace_back(share(a_.path_gaps), a_.is_of_gpus ? "no kernel" : "no phase");
        std::sort(list.rbegin(), list.rend());
        std::string text;
        for (const auto& [part, name] : list)
        {
            if (part >= 0.01) { text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", name, 100 * part); }
        }
        say("A step takes {}. Its critical path is: {}.", us_text(a_.all.mean), text);
    }

    void on_imbalance()
    {
        if (!are_several() || a_.imbalance < worth_a_change) { return; }
        const auto slowest = std::max_element(a_.processes.begin(), a_.processes.end(),
                                              [](const auto& a, const auto& b) { return a.compute < b.compute; });
        double atoms = 0;
        for (const ProcessTimes& p : a_.processes) { atoms += static_cast<double>(p.atoms); }
        atoms /= static_cast<double>(a_.processes.size());
        std::string why = "it has more work (another --grid evens it out) or less of a machine (another process, lower clocks)";
        if (atoms > 0)
        {
            const double more = static_cast<double>(slowest->atoms) / atoms - 1;
            why = more > 0.5 * a_.imbalance
                      ? fmt::format("it has {:.0f} % more atoms: another --grid evens that out", 100 * more)
                      : fmt::format("it has no more atoms ({:+.0f} %): another process or lower clocks slow it, or its atoms are "
                                    "denser",
                                    100 * more);
        }
        say("{} computes {:.0f} % longer than the mean {} and others wait for it; {}.", slowest->name, 100 * a_.imbalance, who_,
            why);
    }

    void on_waits()
    {
        double waiting = 0;
        for (const ProcessTimes& p : a_.processes) { waiting += p.waiting / static_cast<double>(a_.processes.size()); }
        if (!are_several() || share(waiting) < worth_a_change || a_.waits.empty()) { return; }
        const WaitTimes& w = a_.waits.front();
        say("A {} waits for others during {:.0f} % of a step, most of all {} in {} for {} ({}).{}", who_, 100 * share(waiting),
            w.process, w.phase, w.peer, w.cause,
            a_.imbalance < worth_a_change
                ? " Their work is even over the trace, so it varies from step to step: look for other processes, or give each "
                  "rank cores of its own."
                : "");
    }

    void on_exposed_work()
    {
        double exposed = 0, local = 0;
        for (const ProcessTimes& p : a_.processes)
        {
            exposed += (a_.is_of_gpus ? p.work.nonoverlap : p.exchange - p.waiting) / static_cast<double>(a_.processes.size());
            local += p.work.local / static_cast<double>(a_.processes.size());
        }
        if (!are_several() || share(exposed) < worth_a_change) { return; }
        if (!a_.is_of_gpus)
        {
            say("Messages themselves take {:.0f} % of a step: fewer ranks with more --threads each send less.",
                100 * share(exposed));
            return;
        }
        say("{:.0f} us of nonlocal work come after the local work ({:.0f} us), {:.0f} % of a step: there are too few atoms for "
            "so "
            "many GPUs, or another --grid or --halo sends less.",
            exposed, local, 100 * share(exposed));
    }

    void on_mesh()
    {
        const double mesh = path_["the mesh"];
        if (mesh < worth_a_change) { return; }
        say("The mesh is on the critical path in {:.0f} % of the steps and takes {:.0f} % of the time: a coarser mesh with a "
            "longer cut-off (fourierspacing and rcoulomb, both by the same factor) or mts makes it shorter{}.",
            100 * steps_["the mesh"], 100 * mesh, are_several() ? ", --pme dedicated:k takes it off the others" : "");
    }

    void on_lists()
    {
        const double lists = a_.plain.count > 0 ? 1 - a_.plain.mean / a_.all.mean : 0;
        if (lists >= worth_a_change)
        {
            say("Steps with new pair lists take {}, others {}, which costs {:.0f} % of the time: a longer nstlist makes them "
                "rarer.",
                us_text(a_.repartition.mean), us_text(a_.plain.mean), 100 * lists);
            return;
        }
        const double pruning = path_["pair lists and repartitions"];
        if (pruning < worth_a_change) { return; }
        const auto longest =
            std::find_if(a_.names.begin(), a_.names.end(), [](const NamedTimes& t) { return t.phase == "pair list"; });
        say("Pair lists take {:.0f} % of the critical path, in steps that make none anew, too{}: another nstlist changes how "
            "often "
            "lists are made and pruned.",
            100 * pruning,
            longest == a_.names.end() ? ""
                                      : fmt::format(" ({} in {:.0f} % of the steps)", longest->name, 100 * longest->path_steps));
    }

    void on_gaps()
    {
        if (share(a_.path_gaps) < worth_a_change) { return; }
        const double part = 100 * share(a_.path_gaps);
        if (a_.is_of_gpus)
        {
            say("During {:.0f} % of a step no kernel of the critical path runs: there is too little work for the time that "
                "launches "
                "take. Several simulations on one GPU use it better.",
                part);
            return;
        }
        say("During {:.0f} % of a step the critical path is outside of all phases: time of the operating system, or of other "
            "processes on these cores.",
            part);
    }

    void on_occupancy()
    {
        for (const Occupancy& o : a_.occupancy)
        {
            if (o.busy >= 0.6) { continue; }
            say("On average {:.0f} % of the {} multiprocessors of {} have a block: more atoms, or several simulations, would "
                "fill "
                "it.",
                100 * o.busy, o.multiprocessors, o.process);
            return; // the other GPUs are similar
        }
    }

    void on_output()
    {
        if (path_["output"] < worth_a_change) { return; }
        say("Observables and output take {:.0f} % of the time: raise nstcalcenergy, nstenergy and nstxout-compressed.",
            100 * path_["output"]);
    }

    // Gives advice on slow steps that do no more work than other steps.
    void on_disturbances()
    {
        std::size_t count = 0;
        double lost = 0;
        const SlowStep* longest = nullptr;
        for (const SlowStep& s : a_.slow) // longest first
        {
            if (s.cause == "pair list" || s.cause == "output") { continue; }
            if (longest == nullptr) { longest = &s; }
            ++count, lost += s.us - s.typical_us;
        }
        const double part = lost / (a_.all.mean * static_cast<double>(a_.all.count));
        if (longest == nullptr || part < worth_a_word) { return; }
        say("{} slow step{} cost{} {:.0f} % of the time; the longest is step {}: {}.{}", count, count == 1 ? "" : "s",
            count == 1 ? "s" : "", 100 * part, longest->step, longest->text,
            part < worth_a_change
                ? ""
                : " They do no more than others: other processes, the system or clocks disturb the run, and what "
                  "follows is less sure.");
    }

    const TraceAnalysis& a_;
    const std::string_view who_;
    std::map<std::string_view, double> path_, steps_; // of each part: fraction of the path's time; fraction of the steps
    std::vector<std::string> said_;
};

} // namespace

std::vector<std::string> advice_on(const TraceAnalysis& analysis) { return Advisor(analysis).advise(); }

} // namespace parhelion
