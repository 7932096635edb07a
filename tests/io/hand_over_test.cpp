// SPDX-License-Identifier: Apache-2.0
// `-t FILE`: a start from what another run left. With the engine, and with GROMACS' files: tests/python/test_hand_over.py.
#include "io/input/hand_over.hpp"

#include "io/input/checkpoint.hpp"
#include "io/input/load.hpp"
#include "io/input/mdp.hpp"
#include "io/output/trr.hpp"
#include "io/trajectory_samples.hpp"
#include "small_input.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

using namespace parhelion;
using testing::HasSubstr;

namespace {

constexpr std::size_t atoms = 40; // of the small input
const Vec3<double> box{2.4, 2.5, 2.625};

Frame frame_at(double time)
{
    Frame frame;
    frame.time = time;
    frame.box = box;
    frame.x = samples::random_points(atoms, 0, 2, 1 + static_cast<std::uint64_t>(time));
    frame.v = samples::random_points(atoms, -1, 1, 99 + static_cast<std::uint64_t>(time));
    return frame;
}

class HandOverTest : public testing::Test
{
protected:
    // A .trr of frames at 0, 1, ... ps; `change` is called with each and its number.
    void write_trr(
        int frames, const std::function<void(Frame&, int)>& change = [](Frame&, int) {})
    {
        TrrWriter writer(input.path("other.trr"), Precision::Double);
        for (int i = 0; i < frames; ++i)
        {
            Frame frame = frame_at(i);
            change(frame, i);
            writer.write(frame);
        }
        writer.close();
    }
    void write_cpt(const NamedList<std::string>& run, std::map<std::string, std::vector<double>> coupling,
                   std::size_t of_atoms = atoms)
    {
        Checkpoint checkpoint;
        checkpoint.run = run;
        checkpoint.state.step = checkpoint.reached = 500;
        checkpoint.state.box = box;
        std::vector<Vec3<std::uint32_t>> x(of_atoms);
        for (std::size_t i = 0; i < of_atoms; ++i) { x[i] = {1u << 31, 1u << 30, static_cast<std::uint32_t>(i) << 26}; }
        checkpoint.state.x = std::move(x);
        checkpoint.state.v = std::vector<Vec3<float>>(of_atoms, {1, 2, 3});
        checkpoint.state.coupling = std::move(coupling);
        CheckpointFiles files(input.path("other"));
        files.write(checkpoint);
    }
    LoadedInput load(const std::string& name, std::optional<double> at = {})
    {
        InputFiles files = input.files();
        files.hand_over = input.path(name);
        files.hand_over_at = at;
        return load_gromacs(files, diagnostics);
    }
    // What the error says, behind its id.
    std::string refusal(const std::string& name, std::optional<double> at = {})
    {
        try
        {
            load(name, at);
        }
        catch (const InputError& error)
        {
            return error.id() + " " + error.message();
        }
        return "accepted";
    }

    SmallInput input;
    Diagnostics diagnostics;
};

TEST_F(HandOverTest, takes_the_last_frame_of_a_trr_or_the_one_asked_for)
{
    write_trr(4);
    const LoadedInput last = load("other.trr");
    EXPECT_EQ(last.system.x, frame_at(3).x);
    EXPECT_EQ(last.system.v, frame_at(3).v);
    EXPECT_EQ(last.system.box, box);
    EXPECT_THAT(last.hand_over->text, HasSubstr("other.trr, 3 ps: positions, velocities, box"));
    EXPECT_EQ(last.parameters.first_step, 0);
    EXPECT_EQ(last.parameters.start_time, 0); // as after grompp -t
    EXPECT_EQ(load("other.trr", 0.5).system.x, frame_at(1).x);
    EXPECT_EQ(load("other.trr", 2).system.x, frame_at(2).x);
    EXPECT_THAT(refusal("other.trr", 3.5), HasSubstr("E177"));
}

TEST_F(HandOverTest, passes_over_frames_that_lack_something)
{
    write_trr(4, [](Frame& frame, int i) {
        if (i == 2) { frame.v.clear(); }
        if (i == 3) { frame.x.clear(); }
    });
    EXPECT_EQ(load("other.trr").system.x, frame_at(1).x);
    EXPECT_EQ(load("other.trr", 0).system.v, frame_at(0).v);
}

TEST_F(HandOverTest, needs_no_velocities_where_they_are_generated)
{
    write_trr(2, [](Frame& frame, int) { frame.v.clear(); });
    EXPECT_THAT(refusal("other.trr"), testing::AllOf(HasSubstr("E177"), HasSubstr("velocities"), HasSubstr("gen-vel = yes")));
    input.replace("run.mdp", "gen-vel                 = no", "gen-vel = yes");
    const LoadedInput loaded = load("other.trr");
    EXPECT_EQ(loaded.system.x, frame_at(1).x);
    EXPECT_TRUE(loaded.system.v.empty());
    EXPECT_THAT(loaded.hand_over->text, HasSubstr("velocities are not used: gen-vel = yes"));
}

TEST_F(HandOverTest, keeps_restraints_where_the_structure_has_them)
{
    const std::vector<Vec3<double>> structure = input.load(diagnostics).system.x;
    write_trr(1);
    const LoadedInput loaded = load("other.trr");
    EXPECT_EQ(loaded.system.restraint_reference, structure);
    EXPECT_EQ(loaded.system.restraint_reference_box.diagonal().y, 2.3);
}

TEST_F(HandOverTest, notes_that_constraints_change_last_digits)
{
    const auto is_noted = [&] {
        return std::any_of(diagnostics.notes.begin(), diagnostics.notes.end(), [](const Warning& w) { return w.id == "N131"; });
    };
    write_trr(1);
    load("other.trr");
    EXPECT_TRUE(is_noted()); // continuation = no is the default
    diagnostics = {};
    input.replace("run.mdp", "gen-temp                = 300", "continuation = yes");
    load("other.trr");
    EXPECT_FALSE(is_noted());
}

TEST_F(HandOverTest, refuses_what_is_no_start_and_says_what_it_is)
{
    write_trr(1, [](Frame& frame, int) {
        frame.x.pop_back();
        frame.v.pop_back();
    });
    EXPECT_THAT(refusal("other.trr"), testing::AllOf(HasSubstr("E176"), HasSubstr("39 atoms"), HasSubstr("describes 40")));
    write_trr(1, [](Frame& frame, int) { frame.box.diagonal().y = 0; });
    EXPECT_THAT(refusal("other.trr"), testing::AllOf(HasSubstr("E175"), HasSubstr("no box")));
    write_trr(0);
    EXPECT_THAT(refusal("other.trr"), HasSubstr("E175")); // no bytes at all
    write_cpt({}, {}, 39);
    EXPECT_THAT(refusal("other.cpt"), HasSubstr("E176"));
    EXPECT_THAT(refusal("conf.gro"), testing::AllOf(HasSubstr("E175"), HasSubstr("-t takes")));
    input.put("gromacs.cpt", std::string("\x00\x02\x9f\x29", 4) + "GROMACS");
    EXPECT_THAT(refusal("gromacs.cpt"), testing::AllOf(HasSubstr("a checkpoint of GROMACS"), HasSubstr("gmx trjconv")));
    EXPECT_THAT(refusal("nowhere.trr"), HasSubstr("E110"));
}

TEST_F(HandOverTest, of_a_checkpoint_has_its_numbers_and_its_time)
{
    write_cpt({{"tinit", "10"}, {"dt", "0.002"}}, {{"thermostat-xi", {0.5}}});
    const LoadedInput loaded = load("other.cpt");
    EXPECT_EQ(loaded.system.x[7].x, box.x / 2);
    EXPECT_EQ(loaded.system.x[7].y, box.y / 4);
    EXPECT_EQ(loaded.system.v[7], (Vec3<double>{1, 2, 3}));
    ASSERT_TRUE(loaded.hand_over->state);
    EXPECT_TRUE(loaded.hand_over->state->of_another_run);
    EXPECT_TRUE(loaded.hand_over->state->coupling.empty()); // v-rescale has no friction
    EXPECT_THAT(loaded.hand_over->text, HasSubstr("step 500, 11 ps: positions, velocities, box"));
    EXPECT_EQ(load("other.cpt", 11).system.x[7].x, box.x / 2);
    EXPECT_THAT(refusal("other.cpt", 12), HasSubstr("E177"));
}

TEST_F(HandOverTest, of_a_checkpoint_keeps_the_coupling_that_the_new_run_has_too)
{
    input.replace("run.mdp", "V-rescale", "Nose-Hoover");
    input.replace("run.mdp", "C-rescale", "Parrinello-Rahman");
    const std::map<std::string, std::vector<double>> coupling = {{"thermostat-xi", {0.5, 0.25}},
                                                                 {"thermostat-heat", {3, 4}},
                                                                 {"box-velocity", {1, 2, 3}},
                                                                 {"barostat-pressure", {7}},
                                                                 {"barostat-pressure-known", {1}}};
    const auto kept = [&](const NamedList<std::string>& run) {
        write_cpt(run, coupling);
        const LoadedInput loaded = load("other.cpt");
        std::string names;
        for (const auto& [name, values] : loaded.hand_over->state->coupling) { names += name + " "; }
        return names;
    };
    const std::string barostat = "barostat-pressure barostat-pressure-known box-velocity ";
    const auto of_run = [](const char* thermostat, const char* groups, const char* kind, const char* edges) {
        return NamedList<std::string>{{"tcoupl", thermostat}, {"tc-grps", groups}, {"pcoupl", kind}, {"pcoupltype", edges}};
    };
    EXPECT_EQ(kept(of_run("Nose-Hoover", "ETH rest", "Parrinello-Rahman", "Isotropic")), barostat + "thermostat-xi ");
    EXPECT_EQ(kept(of_run("Nose-Hoover", "System", "Parrinello-Rahman", "Isotropic")), barostat);
    EXPECT_EQ(kept(of_run("Nose-Hoover", "System", "Parrinello-Rahman", "Semiisotropic")), "");
    EXPECT_EQ(kept(of_run("V-rescale", "ETH rest", "No", "Isotropic")), "");
}

TEST_F(HandOverTest, stops_edges_that_stay_in_the_new_run)
{
    RunParameters parameters;
    parameters.barostat = Barostat::ParrinelloRahman;
    parameters.box_coupling = BoxCoupling::SemiIsotropic;
    parameters.compressibility = {4.5e-5, 4.5e-5, 0};
    HandOver hand_over;
    hand_over.run = mdp_values(parameters);
    hand_over.state.emplace().coupling["box-velocity"] = {1, 2, 3};
    keep_what_fits(parameters, hand_over);
    EXPECT_EQ(hand_over.state->coupling.at("box-velocity"), (std::vector<double>{1, 2, 0}));
}

} // namespace
