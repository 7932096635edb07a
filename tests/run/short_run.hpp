// SPDX-License-Identifier: Apache-2.0
// Requests for runs of a few hundred steps of 3000 atoms, in a folder of their own, and what such a run leaves.
#pragma once

#include "io/input/checkpoint.hpp"
#include "io/input_folder.hpp"
#include "run/run.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace parhelion {

// Frames and energies are due at intervals without a common pattern, and lists are built every seventh step.
inline constexpr const char* short_mdp = "integrator = md\n dt = 0.002\n nsteps = 140\n cutoff-scheme = Verlet\n"
                                         "verlet-buffer-tolerance = -1\n rlist = 1.0\n nstlist = 7\n"
                                         "coulombtype = reaction-field\n epsilon-rf = 0\n rcoulomb = 0.9\n rvdw = 0.9\n"
                                         "constraints = h-bonds\n continuation = yes\n tc-grps = System\n tau-t = 0.1\n"
                                         "ref-t = 300\n tau-p = 1\n compressibility = 4.5e-5\n ref-p = 1\n ld-seed = 7\n"
                                         "nstxout = 45\n nstvout = 45\n nstxout-compressed = 10\n nstcalcenergy = 5\n"
                                         "nstenergy = 20\n nstlog = 100\n";
inline constexpr const char* stochastic_ends = "tcoupl = v-rescale\n pcoupl = C-rescale\n"; // what draws random numbers

class ShortRun
{
public:
    // Makes a run of a system of tests/data/refdata, with these lines added to the parameters.
    explicit ShortRun(const std::string& system = "etoh", const std::string& more = stochastic_ends)
    {
        const std::filesystem::path data = std::filesystem::path(PARHELION_SOURCE_DIR) / "tests/data/refdata" / system;
        request.input.files.mdp = folder_.write("md.mdp", short_mdp + more);
        request.input.files.structure = data / "conf.gro";
        request.input.files.topology = data / "topol.top";
        request.numerics.summation = Summation::Reproducible;
        request.placement.device = Device::Cpu;
        request.placement.threads = 1;
        request.output.prefix = (folder_.path() / "md").string();
    }

    RunResult go() { return go(silent_); }
    RunResult go(RunObserver& observer) { return run_simulation(request, observer, stop); }
    std::string text(const std::string& ending) const
    {
        std::ifstream in(request.output.prefix + ending, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    // The files that have no times of day and no speeds in them.
    std::map<std::string, std::string> outputs() const
    {
        std::map<std::string, std::string> all;
        for (const char* ending : {".xtc", ".trr", ".edr", ".gro"}) { all[ending] = text(ending); }
        return all;
    }
    SavedState saved() const { return read_checkpoint(request.output.prefix + ".cpt").state; }

    RunRequest request;
    std::atomic<bool> stop = false;

private:
    InputFolder folder_;
    RunObserver silent_;
};

// All of what a run leaves has the same bits.
inline void expect_same(const ShortRun& a, const ShortRun& b)
{
    const auto of_a = a.outputs(), of_b = b.outputs();
    for (const auto& [ending, text] : of_a)
    {
        EXPECT_FALSE(text.empty()) << ending;
        EXPECT_TRUE(text == of_b.at(ending)) << ending;
    }
    const SavedState last = a.saved(), other = b.saved();
    EXPECT_EQ(last.step, other.step);
    EXPECT_TRUE(last.x == other.x);
    EXPECT_TRUE(last.v == other.v);
    EXPECT_TRUE(last.coupling == other.coupling);
}

} // namespace parhelion
