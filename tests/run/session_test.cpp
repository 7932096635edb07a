// SPDX-License-Identifier: Apache-2.0
// Simulations without files: the bits of whole runs, what is told at intervals, checkpoints, single points.
#include "run/session.hpp"

#include "base/error.hpp"
#include "run/short_run.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace parhelion {
namespace {

using testing::ElementsAre;

Session session_of(const ShortRun& run)
{
    Diagnostics diagnostics;
    return {read_input(run.request.input, Purpose::Run, diagnostics, [](const std::string&) {}), run.request.numerics,
            run.request.placement};
}

const std::atomic<bool> never{false};
const Session::Interests none{};

void expect_same_state(const SavedState& a, const SavedState& b)
{
    EXPECT_EQ(a.step, b.step);
    EXPECT_EQ(a.seed, b.seed);
    EXPECT_TRUE(a.x == b.x);
    EXPECT_TRUE(a.v == b.v);
    EXPECT_TRUE(a.coupling == b.coupling);
}

void expect_same_look(const Look& a, const Look& b)
{
    EXPECT_EQ(a.frame.step, b.frame.step);
    EXPECT_TRUE(a.frame.x == b.frame.x);
    EXPECT_TRUE(a.frame.v == b.frame.v);
    EXPECT_EQ(a.frame.box, b.frame.box);
}

// Where a run ends: its .gro would round.
SavedState end_of(Session& session, const std::string& prefix)
{
    session.save(prefix);
    return read_checkpoint(prefix + ".cpt").state;
}

TEST(Session, has_the_bits_of_the_run)
{
    ShortRun run;
    run.go();
    Session session = session_of(run);
    const RunSummary summary = session.run({}, none, never);
    EXPECT_EQ(summary.steps, 140);
    EXPECT_EQ(session.step(), 140);
    expect_same_state(end_of(session, run.request.output.prefix + "_session"), run.saved());
}

TEST(Session, has_the_same_bits_however_it_is_cut_and_looked_at)
{
    const ShortRun run;
    Session whole = session_of(run), cut = session_of(run);
    whole.run(100, none, never);
    std::vector<std::int64_t> told;
    const Session::Interests often{{5, 10, 5}, [&](Look&& look) { told.push_back(look.frame.step); }, [](const std::string&) {}};
    cut.run(33, often, never);
    cut.look();
    cut.evaluate();
    cut.run(67, none, never);
    expect_same_look(whole.look(), cut.look());
    EXPECT_THAT(told, ElementsAre(0, 5, 10, 15, 20, 25, 30, 33));
}

TEST(Session, tells_configurations_with_their_energies_and_with_forces_where_they_are_wanted)
{
    const ShortRun run;
    Session session = session_of(run);
    const std::size_t atoms = session.input().system.x.size();
    std::vector<std::int64_t> with_forces;
    session.run(20,
                {{5, 10, 5},
                 [&](Look&& look) {
                     EXPECT_EQ(look.frame.x.size(), atoms);
                     EXPECT_EQ(look.frame.v.size(), atoms);
                     EXPECT_EQ(look.energies.size(), session.energy_names().size());
                     if (!look.frame.f.empty()) { with_forces.push_back(look.frame.step); }
                 },
                 nullptr},
                never);
    EXPECT_THAT(with_forces, ElementsAre(0, 10, 20));
    Session silent = session_of(run);
    int told = 0;
    silent.run(20, {{}, [&](Look&&) { ++told; }, nullptr}, never);
    EXPECT_EQ(told, 0);
}

TEST(Session, goes_on_from_its_checkpoint_and_from_that_of_a_run)
{
    ShortRun run;
    const std::string prefix = run.request.output.prefix;
    Session first = session_of(run), second = session_of(run);
    first.run(50, none, never);
    first.save(prefix + "_first");
    EXPECT_EQ(second.restore(prefix + "_first"), "");
    EXPECT_EQ(second.step(), 50);
    expect_same_look(first.look(), second.look());
    first.run(40, none, never);
    second.run(40, none, never);
    expect_same_look(first.look(), second.look());

    run.request.length.steps = 50;
    run.go();
    Session third = session_of(run);
    third.restore(prefix);
    third.run(40, none, never);
    expect_same_look(first.look(), third.look());
}

TEST(Session, leaves_checkpoints_that_a_run_goes_on_from)
{
    ShortRun whole, continued;
    whole.go();
    Session session = session_of(continued);
    session.run(60, none, never);
    session.save(continued.request.output.prefix);
    EXPECT_EQ(continued.go().reached, 140);
    expect_same_state(whole.saved(), continued.saved());
}

TEST(Session, refuses_checkpoints_of_other_input_and_those_that_are_not_there)
{
    const ShortRun run, other("etoh", "tcoupl = v-rescale\n");
    Session session = session_of(run), stranger = session_of(other);
    session.save(run.request.output.prefix);
    const auto id_of = [&](const std::string& prefix) -> std::string {
        try
        {
            stranger.restore(prefix);
        }
        catch (const InputError& error)
        {
            return error.id();
        }
        return "none";
    };
    EXPECT_EQ(id_of(run.request.output.prefix), "E191");
    EXPECT_EQ(id_of(run.request.output.prefix + "_nowhere"), "E110");
    EXPECT_EQ(stranger.run(5, none, never).steps, 5); // as good as before
}

TEST(Session, evaluates_another_configuration_and_stays_where_it_is)
{
    const ShortRun run;
    Session session = session_of(run);
    const Look here = session.evaluate();
    const System& system = session.input().system;
    const Look there = session.evaluate(system.x, system.box);
    EXPECT_TRUE(here.frame.f == there.frame.f);
    EXPECT_EQ(here.energies[0], there.energies[0]);

    session.run(30, none, never);
    const Look before = session.look(), present = session.evaluate();
    EXPECT_TRUE(session.evaluate(system.x, system.box).frame.f == there.frame.f);
    expect_same_look(session.look(), before);
    // The engine's own positions are finer than those in nm: forces differ by what that moves atoms, 1e-9 nm of stiff bonds.
    const Look again = session.evaluate(before.frame.x, before.frame.box);
    double largest = 0;
    for (std::size_t i = 0; i < again.frame.f.size(); ++i)
    {
        largest = std::max(largest, norm(again.frame.f[i] - present.frame.f[i]));
    }
    EXPECT_LT(largest, 1e-2);
}

TEST(Session, keeps_the_reference_of_restraints_at_other_positions)
{
    // A lone atom that is held in place feels the spring alone.
    InputFolder folder;
    RunInput input;
    input.files.mdp = folder.write("md.mdp", "nsteps = 0\n nstlist = 10\n rcoulomb = 0.9\n rvdw = 0.9\n"
                                             "coulombtype = reaction-field\n comm-mode = none\n");
    input.files.topology = folder.write(
        "topol.top",
        "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nAR 39.948 0 A 0.34 1\n[ moleculetype ]\nAR 1\n[ atoms ]\n"
        "1 AR 1 AR AR 1 0 39.948\n[ position_restraints ]\n1 1 1000 1000 1000\n[ system ]\none\n[ molecules ]\nAR 1\n");
    input.files.structure = folder.write("conf.gro", "one\n1\n    1AR      AR    1   1.000   1.000   1.000\n   3.0 3.0 3.0\n");
    Diagnostics diagnostics;
    Session session(read_input(input, Purpose::SinglePoint, diagnostics, [](const std::string&) {}), {}, {});
    const Look moved = session.evaluate({{1.1, 1, 1}}, Box<double>(3, 3, 3));
    EXPECT_NEAR(moved.frame.f[0].x, -100, 1e-3); // a fixed-point fraction of 3 nm is 7e-10 nm
}

TEST(Session, refuses_boxes_that_are_too_small_and_atoms_in_one_place)
{
    const ShortRun run;
    Session session = session_of(run);
    const System& system = session.input().system;
    EXPECT_THROW(session.evaluate(system.x, Box<double>(1.7, 3, 3)), InputError);
    std::vector<Vec3<double>> x = system.x;
    x[100] = x[0];
    EXPECT_THROW(session.evaluate(x, system.box), InputError);
}

// A constant force on two atoms, until it is told to fail.
class Push final : public ExternalForce
{
public:
    const std::vector<std::int64_t>& atoms() const override { return atoms_; }
    std::optional<Answer> at(Configuration&& configuration) override
    {
        steps.push_back(configuration.step);
        if (configuration.step == fails_at) { return {}; }
        return Answer{7, {{100, 0, 0}, {0, -50, 0}}, {{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}}};
    }
    std::int64_t fails_at = -1;
    std::vector<std::int64_t> steps;

private:
    const std::vector<std::int64_t> atoms_{1501, 4}; // of a water and an ethanol
};

TEST(SessionWithAnExternalForce, has_its_force_its_energy_and_its_virial)
{
    const ShortRun run;
    Session with = session_of(run), without = session_of(run);
    with.add_force(std::make_shared<Push>());
    const Look a = with.evaluate(), b = without.evaluate();
    for (std::size_t i = 0; i < a.frame.f.size(); ++i)
    {
        const Vec3<double> expected = i == 1501 ? Vec3<double>{100, 0, 0} : i == 4 ? Vec3<double>{0, -50, 0} : Vec3<double>{};
        EXPECT_NEAR(norm(a.frame.f[i] - b.frame.f[i] - expected), 0, 1e-9) << i; // of 100, in units of 2^-32
    }
    for (int k = 0; k < 9; ++k) { EXPECT_NEAR(a.virial[k / 3][k % 3] - b.virial[k / 3][k % 3], k + 1, 1e-6); }
    const auto energy = [](const Session& session, const Look& look, const char* name) {
        const auto& names = session.energy_names();
        return look.energies.at(static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
    };
    EXPECT_EQ(energy(with, a, "External"), 7);
    EXPECT_NEAR(energy(with, a, "Potential") - energy(without, b, "Potential"), 7, 1e-6);
}

TEST(SessionWithAnExternalForce, ends_before_the_step_that_has_no_answer_and_goes_on_where_it_was)
{
    for (const int ranks : {1, 2})
    {
        ShortRun run;
        run.request.placement.ranks = ranks;
        Session whole = session_of(run), broken = session_of(run);
        const auto push = std::make_shared<Push>();
        whole.add_force(std::make_shared<Push>()), broken.add_force(push);
        whole.run(40, none, never);
        push->fails_at = 17;
        const RunSummary summary = broken.run(40, none, never);
        EXPECT_EQ(summary.steps, 17);
        EXPECT_EQ(summary.end, RunEnd::Stopped);
        EXPECT_EQ(push->steps.back(), 17);
        EXPECT_THROW(broken.evaluate(), PhysicsError);
        push->fails_at = -1;
        broken.run(23, none, never);
        expect_same_look(whole.look(), broken.look());
    }
}

} // namespace
} // namespace parhelion
