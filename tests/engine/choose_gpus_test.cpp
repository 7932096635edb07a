// SPDX-License-Identifier: Apache-2.0
// Which GPUs a run gets: as many as were measured to be fastest, no more than the box has cells for, or what was asked for; of
// the host only those that it can use, and that reach each other. Hosts are described by hand.
#include "engine/choose_gpus.hpp"

#include "base/error.hpp"
#include "interactions/mesh/mesh_size.hpp"
#include "mesh_exchange/mesh_setup.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <utility>
#include <vector>

using namespace parhelion;
using ::testing::HasSubstr;

namespace {

// us per step of the ethanol-water series on H200, by atoms and GPUs: bench/gpu/scaling; fewer than 45 000 atoms:
// bench/gpu/step and, of other plans, bench/gpu/lists.
const std::map<std::int64_t, std::map<int, double>> measured = {
    {3000, {{1, 16.8}}},
    {12000, {{1, 25.0}}},
    {24000, {{1, 35.8}}},
    {45000, {{1, 54.3}, {2, 41.7}, {4, 32.7}}},
    {90000, {{1, 92.8}, {2, 61.3}, {4, 42.2}}},
    {180000, {{1, 173.8}, {2, 102.4}, {4, 62.1}}},
    {360000, {{1, 329.9}, {2, 185.1}, {4, 104.4}}},
    {720000, {{1, 652.8}, {2, 350.4}, {4, 187.2}}},
};
// Likewise with PME: order 4, 0.12 nm, `shared`.
const std::map<std::int64_t, std::map<int, double>> measured_with_mesh = {
    {45000, {{1, 76.2}, {2, 75.1}, {4, 61.9}}},      {90000, {{1, 132.8}, {2, 106.6}, {4, 77.4}}},
    {180000, {{1, 249.0}, {2, 176.1}, {4, 115.8}}},  {360000, {{1, 484.1}, {2, 307.4}, {4, 185.8}}},
    {720000, {{1, 1002.5}, {2, 555.1}, {4, 324.5}}},
};
StepSize with_mesh(std::int64_t atoms) { return {atoms, 64 * 64 * 64 * atoms / 45000, true}; }
// Likewise without, by method.
const std::map<HaloMethod, std::map<std::int64_t, std::map<int, double>>> measured_of_rungs = {
    {HaloMethod::StagedHost, {{45000, {{2, 126.4}, {4, 151.2}}}, {180000, {{2, 192.1}, {4, 165.3}}}}},
    {HaloMethod::StagedDma, {{45000, {{2, 94.3}, {4, 111.0}}}, {180000, {{2, 163.0}, {4, 131.5}}}}},
    {HaloMethod::StagedFused, {{45000, {{2, 49.3}, {4, 41.5}}}, {180000, {{2, 108.7}, {4, 68.2}}}}},
};

const Vec3<double> large_box{50, 50, 50};
const GridCriteria criteria{{1.3, 1.3, 1.3}, {1.3, 1.3, 1.3}, {}, 1};

const SimulationOptions by_itself = [] {
    SimulationOptions options;
    options.device = Device::Auto;
    return options;
}();

HostGpu h200(int device)
{
    return {.device = device,
            .name = "NVIDIA H200",
            .major = 9,
            .minor = 0,
            .memory = std::size_t{141} << 30,
            .multiprocessors = 132,
            .clock_ghz = 1.98};
}
HostGpu rtx_4090(int device)
{
    return {.device = device,
            .name = "NVIDIA GeForce RTX 4090",
            .major = 8,
            .minor = 9,
            .memory = std::size_t{24} << 30,
            .multiprocessors = 128,
            .clock_ghz = 2.52};
}
// Too old for this program.
HostGpu display_card(int device)
{
    return {.device = device,
            .name = "NVIDIA GeForce GTX 1050",
            .major = 6,
            .minor = 1,
            .has_code = false,
            .memory = std::size_t{2} << 30,
            .multiprocessors = 5,
            .clock_ghz = 1.46};
}

// All or none reach each other.
HostGpus host_of(const std::vector<HostGpu>& gpus, bool reach = true)
{
    HostGpus host{gpus, {}};
    for (std::size_t a = 0; a < gpus.size(); ++a)
    {
        host.reach.emplace_back();
        for (std::size_t b = 0; b < gpus.size(); ++b) { host.reach.back().push_back(reach || a == b); }
    }
    return host;
}
HostGpus host_of_h200(int gpus)
{
    std::vector<HostGpu> all;
    for (int g = 0; g < gpus; ++g) { all.push_back(h200(g)); }
    return host_of(all);
}

const LinkSpeed nvlink{2.44, 188, ""}, pcie_4{4.5, 20, ""}, pcie_5{3.8, 40, ""};
LinkTimer timed(const LinkSpeed& link)
{
    return [link](const std::vector<int>&) { return link; };
}

GpuChoice choose(std::int64_t atoms, int there, const Vec3<double>& box = large_box, const SimulationOptions& options = {})
{
    return choose_gpus(options, host_of_h200(there), {atoms}, box, criteria, timed(nvlink));
}
GpuChoice choose_on(const HostGpus& host, const SimulationOptions& options = by_itself)
{
    return choose_gpus(options, host, {10'000'000}, large_box, criteria, timed(nvlink));
}

std::string refusal(const std::function<void()>& body)
{
    try
    {
        body();
    }
    catch (const InputError& error)
    {
        return error.what();
    }
    return "no error";
}

} // namespace

TEST(GpuChoice, predicts_a_step_to_a_tenth)
{
    for (const auto& [atoms, by_gpus] : measured)
    {
        for (const auto& [gpus, us] : by_gpus)
        {
            EXPECT_NEAR(predicted_step({atoms}, gpus, HaloMethod::Direct), us, 0.1 * us) << atoms << " atoms, " << gpus;
        }
    }
    for (const auto& [method, sizes] : measured_of_rungs)
    {
        for (const auto& [atoms, by_gpus] : sizes)
        {
            for (const auto& [gpus, us] : by_gpus)
            {
                EXPECT_NEAR(predicted_step({atoms}, gpus, method), us, 0.1 * us)
                    << halo_method_names[static_cast<std::size_t>(method)] << ", " << atoms << " atoms, " << gpus;
            }
        }
    }
}

TEST(GpuChoice, predicts_a_step_with_a_mesh_to_a_twentyfifth_and_takes_what_was_fastest)
{
    for (const auto& [atoms, by_gpus] : measured_with_mesh)
    {
        for (const auto& [gpus, us] : by_gpus)
        {
            EXPECT_NEAR(predicted_step(with_mesh(atoms), gpus, HaloMethod::Direct), us, 0.04 * us) << atoms << " atoms, " << gpus;
        }
        double shortest = INFINITY;
        for (const auto& [there, us] : by_gpus)
        {
            shortest = std::min(shortest, us);
            const int taken = choose_gpus({}, host_of_h200(there), with_mesh(atoms), large_box, criteria, timed(nvlink)).gpus();
            EXPECT_LE(by_gpus.at(taken), 1.03 * shortest) << atoms << " atoms, " << there << " there";
        }
    }
    const auto choice = [](std::int64_t atoms, int there, const Vec3<double>& box, const LinkSpeed& link) {
        return choose_gpus({}, host_of_h200(there), with_mesh(atoms), box, criteria, timed(link));
    };
    EXPECT_EQ(choice(24000, 2, large_box, nvlink).remark, "1 of 2: more would not help at 24000 atoms");
    EXPECT_EQ(choice(10'000'000, 8, large_box, nvlink).remark,
              "4 of 8: with PME more than 4 have not been measured, --gpus takes them");
    // Only slabs have been measured.
    const GpuChoice tall = choice(180000, 2, {10, 50, 10}, nvlink);
    EXPECT_EQ(tall.grid.cells, (std::array<int, 3>{2, 1, 1}));
    EXPECT_EQ(choice(180000, 2, {2.5, 50, 50}, nvlink).remark, "1 of 2: the box is too short along x to be divided");
    // Spectra are large: there and back half a MB for 1 000 000 points of each of two GPUs.
    EXPECT_EQ(choice(90000, 2, large_box, nvlink).gpus(), 2);
    EXPECT_EQ(choice(90000, 2, large_box, pcie_4).gpus(), 1);
    const LinkSpeed thin{2.4, 18.8, ""};
    const auto added = [&](const StepSize& size) {
        return predicted_step(size, 2, HaloMethod::Direct, 1, &thin) - predicted_step(size, 2, HaloMethod::Direct);
    };
    EXPECT_NEAR(added({45000, 1'000'000}) - added({45000}), 2e6 * (1 / 18.8e3 - 1 / 188e3), 1e-6);
}

// `shared` on 2x1x1 takes 1004 us a step of this box on two H200, `bricks` on 1x1x2 1754; the halo alone would be less on the
// latter.
TEST(GpuChoice, divides_a_box_with_a_mesh_where_shared_works)
{
    const Vec3<double> tall{18.5, 18.5, 30.8};
    const auto grid = [&](const SimulationOptions& options, bool prefers_slabs, const Vec3<double>& box) {
        const StepSize size{1'060'110, 154 * 154 * 256, prefers_slabs};
        return choose_gpus(options, host_of_h200(4), size, box, criteria, timed(nvlink)).grid.cells;
    };
    SimulationOptions gpus, ranks, given, dedicated;
    gpus.gpus = 2, ranks.ranks = 4, given.grid = {1, 1, 2}, dedicated.ranks = 3, dedicated.mesh_ranks = 1;
    EXPECT_EQ(grid({}, true, tall), (std::array{4, 1, 1}));
    EXPECT_EQ(grid(gpus, true, tall), (std::array{2, 1, 1}));
    EXPECT_EQ(grid(gpus, false, tall), (std::array{1, 1, 2})); // `bricks`
    EXPECT_EQ(grid(ranks, true, tall), (std::array{4, 1, 1}));
    EXPECT_EQ(grid(dedicated, false, tall), (std::array{1, 1, 2}));
    EXPECT_EQ(grid(given, true, tall), given.grid);
    EXPECT_EQ(grid(gpus, true, {2.5, 40, 40}), (std::array{1, 2, 1})); // slabs do not fit
    EXPECT_EQ(grid({}, false, tall), (std::array{1, 1, 1}));
}

// The whole default, from the mesh of a box to the way in which ranks share it, for boxes of other shapes and densities than
// those of the series. Where several GPUs are taken, cells are slabs along x, and --pme auto is `shared`. The number of GPUs is
// the one that is predicted to be fastest.
TEST(GpuChoice, divides_meshes_of_other_shapes_where_shared_works_by_the_forecast)
{
    struct Shape
    {
        const char* name;
        Vec3<double> box;     // nm
        double atoms_per_nm3; // 100 in water
        bool several;         // more than one GPU is faster
    };
    const Shape shapes[] = {{"elongated along z", {10, 10, 40}, 100, true},    {"elongated along y", {10, 40, 10}, 100, true},
                            {"elongated along x", {40, 10, 10}, 100, true},    {"flat across z", {40, 40, 6}, 100, true},
                            {"flat across x", {6, 40, 40}, 100, true},         {"dense", {14, 14, 14}, 300, true},
                            {"thinner than cells", {2.5, 40, 40}, 100, false}, {"small", {5, 5, 5}, 100, false}};
    RunParameters run;
    run.coulomb = CoulombKind::Pme, run.mesh_spacing = 0.12;
    for (const Shape& shape : shapes)
    {
        SCOPED_TRACE(shape.name);
        MeshParameters mesh;
        mesh.order = 4, mesh.points = mesh_size(run, shape.box);
        MeshCells cells{.box = shape.box, .reach = 1.0, .ahead = 0.1, .may_fall_back = false};
        const auto atoms = static_cast<std::int64_t>(shape.atoms_per_nm3 * shape.box.x * shape.box.y * shape.box.z);
        const StepSize size{atoms, mesh.all_points(), slabs_can_share(mesh, cells)};
        EXPECT_TRUE(size.mesh_prefers_slabs);
        const GpuChoice chosen = choose_gpus(by_itself, host_of_h200(4), size, shape.box, criteria, timed(nvlink));
        EXPECT_EQ(chosen.grid.cells, (std::array{chosen.gpus(), 1, 1}));
        EXPECT_EQ(chosen.gpus() > 1, shape.several) << chosen.gpus();
        cells.cells = chosen.grid.cells;
        EXPECT_EQ(make_mesh_setup(mesh, MeshMethod::Auto, cells).method, MeshMethod::Shared);
        const double taken = predicted_step(size, chosen.gpus(), HaloMethod::Direct);
        for (const int gpus : {1, 2, 4})
        {
            const bool fits = gpus == 1 || shape.box.x > 2 * criteria.half_edge.x;
            if (fits) { EXPECT_LE(taken, 1.05 * predicted_step(size, gpus, HaloMethod::Direct)) << gpus; }
        }
    }
}

TEST(GpuChoice, leaves_gpus_that_a_slower_halo_would_waste)
{
    SimulationOptions options;
    options.halo = HaloMethod::StagedHost;
    EXPECT_EQ(choose(45000, 4, large_box, options).gpus(), 1);
    EXPECT_EQ(choose(45000, 4, large_box, options).remark, "1 of 4: more would not help at 45000 atoms");
    EXPECT_EQ(choose(720000, 4, large_box, options).gpus(), 4);
    options.gpus = 4;
    EXPECT_EQ(choose(45000, 4, large_box, options).gpus(), 4);
}

TEST(GpuChoice, takes_what_was_measured_to_be_fastest)
{
    for (const auto& [atoms, by_gpus] : measured)
    {
        double shortest = INFINITY;
        for (const auto& [there, us] : by_gpus)
        {
            shortest = std::min(shortest, us);
            EXPECT_LE(by_gpus.at(choose(atoms, there).gpus()), 1.03 * shortest) << atoms << " atoms, " << there << " there";
        }
    }
}

TEST(GpuChoice, leaves_gpus_that_would_not_help_and_says_so)
{
    const GpuChoice some = choose(18000, 5);
    EXPECT_EQ(some.gpus(), 4);
    EXPECT_EQ(some.grid.ranks(), 4);
    EXPECT_EQ(some.remark, "4 of 5: more would not help at 18000 atoms");
    EXPECT_EQ(choose(3000, 4).remark, "1 of 4: more would not help at 3000 atoms");
    const GpuChoice all = choose(10'000'000, 6);
    EXPECT_EQ(all.gpus(), 6);
    EXPECT_EQ(all.remark, "");
    EXPECT_EQ(choose(3000, 1).remark, "");
}

TEST(GpuChoice, never_divides_a_box_that_is_too_short)
{
    const GpuChoice slab = choose(10'000'000, 4, {2.5, 40, 2.5});
    EXPECT_EQ(slab.grid.cells, (std::array<int, 3>{1, 4, 1}));
    const GpuChoice none = choose(10'000'000, 4, {2.5, 2.5, 2.5});
    EXPECT_EQ(none.gpus(), 1);
    EXPECT_EQ(none.grid.ranks(), 1);
    EXPECT_EQ(none.remark, "1 of 4: the box is too short to be divided");
}

TEST(GpuChoice, gives_as_many_as_are_asked_for_or_fit)
{
    SimulationOptions options;
    options.gpus = 4;
    EXPECT_EQ(choose(3000, 4, large_box, options).gpus(), 4);
    EXPECT_EQ(choose(3000, 8, large_box, options).remark, "");
    const GpuChoice small = choose(3000, 4, {2.5, 2.5, 2.5}, options);
    EXPECT_EQ(small.gpus(), 1);
    EXPECT_EQ(small.remark, "1 of 4: the box is too short to be divided");
    try
    {
        choose(3000, 2, large_box, options);
        FAIL() << "no error";
    }
    catch (const InputError& e)
    {
        EXPECT_THAT(e.what(), HasSubstr("--gpus 4"));
    }
}

TEST(GpuChoice, spreads_ranks_that_are_asked_for_over_gpus)
{
    SimulationOptions options;
    options.ranks = 6;
    EXPECT_EQ(choose(3000, 4, large_box, options).gpus(), 4);
    EXPECT_EQ(choose(3000, 4, large_box, options).grid.ranks(), 6);
    EXPECT_EQ(choose(3000, 8, large_box, options).gpus(), 6);
    EXPECT_EQ(choose(3000, 8, large_box, options).remark, "");
    options.gpus = 7;
    EXPECT_EQ(choose(3000, 8, large_box, options).gpus(), 6);
    EXPECT_EQ(choose(3000, 8, large_box, options).remark, "6 of 7: there are no more ranks");
    options.gpus = 2;
    EXPECT_EQ(choose(3000, 8, large_box, options).gpus(), 2);
    EXPECT_EQ(choose(3000, 8, large_box, options).grid.ranks(), 6);
    EXPECT_THROW(choose(3000, 8, {2.5, 2.5, 2.5}, options), InputError);
    options.ranks = 1;
    EXPECT_EQ(choose(10'000'000, 8, large_box, options).gpus(), 1);
    EXPECT_EQ(choose(10'000'000, 8, {2.5, 2.5, 2.5}, options).grid.ranks(), 1);
    SimulationOptions grid;
    grid.grid = {1, 2, 1};
    EXPECT_EQ(choose(3000, 8, large_box, grid).gpus(), 2);
    EXPECT_EQ(choose(3000, 1, large_box, grid).gpus(), 1);
    EXPECT_EQ(choose(3000, 1, large_box, grid).grid.cells, grid.grid);
}

TEST(GpuChoice, joins_no_gpus_that_do_not_reach_each_other)
{
    const GpuChoice one = choose_on(host_of({rtx_4090(0), rtx_4090(1)}, false));
    EXPECT_EQ(one.devices, std::vector<int>{0});
    EXPECT_EQ(one.grid.ranks(), 1);
    EXPECT_EQ(one.remark, "GPU 1 and GPU 0 cannot address each other's memory");

    // One way is not enough.
    HostGpus one_way = host_of_h200(2);
    one_way.reach[1][0] = false;
    EXPECT_EQ(choose_on(one_way).devices, std::vector<int>{0});
}

TEST(GpuChoice, takes_the_largest_set_that_is_joined)
{
    HostGpus pairs = host_of({h200(0), h200(1), h200(2), h200(3)}, false);
    for (const auto& [a, b] : {std::pair(0, 1), std::pair(2, 3)}) { pairs.reach[a][b] = pairs.reach[b][a] = true; }
    const GpuChoice two = choose_on(pairs);
    EXPECT_EQ(two.devices, (std::vector<int>{0, 1}));
    EXPECT_EQ(two.remark, "GPU 2, GPU 3 and GPU 0, GPU 1 cannot address each other's memory");

    HostGpus three = host_of_h200(5); // 0 and 2 are apart from the others
    for (const int apart : {0, 2})
    {
        for (int g = 0; g < 5; ++g) { three.reach[apart][g] = three.reach[g][apart] = g == apart; }
    }
    EXPECT_EQ(choose_on(three).devices, (std::vector<int>{1, 3, 4}));
    EXPECT_EQ(choose_on(three).grid.ranks(), 3);
}

TEST(GpuChoice, leaves_a_gpu_that_has_no_code_and_says_so)
{
    for (const bool reach : {false, true})
    {
        const GpuChoice good = choose_on(host_of({display_card(0), h200(1)}, reach));
        EXPECT_EQ(good.devices, std::vector<int>{1});
        EXPECT_EQ(good.remark, "GPU 0 (NVIDIA GeForce GTX 1050): no code for its compute capability 6.1 in this program");
    }
    const GpuChoice two = choose_on(host_of({h200(0), display_card(1), h200(2)}));
    EXPECT_EQ(two.devices, (std::vector<int>{0, 2}));
    EXPECT_THAT(two.remark, HasSubstr("GPU 1 (NVIDIA GeForce GTX 1050)"));
}

TEST(GpuChoice, runs_on_the_cpu_where_no_gpu_can_be_used)
{
    const HostGpus old = host_of({display_card(0)});
    const DeviceChoice choice = choose_device(by_itself, "", old);
    EXPECT_FALSE(choice.on_gpu);
    EXPECT_EQ(choice.remark, "GPU 0 (NVIDIA GeForce GTX 1050): no code for its compute capability 6.1 in this program");
    EXPECT_FALSE(choose_device(by_itself, "", HostGpus{}).on_gpu);
    EXPECT_EQ(choose_device(by_itself, "", HostGpus{}).remark, "");
    EXPECT_TRUE(choose_device(by_itself, "", host_of({display_card(0), h200(1)})).on_gpu);
    EXPECT_EQ(choose_device(by_itself, "", host_of({display_card(0), h200(1)})).remark, "");
    EXPECT_FALSE(choose_device(by_itself, "a minimisation", host_of_h200(1)).on_gpu); // a minimisation
    EXPECT_FALSE(wants_gpu(by_itself, "PME on several ranks"));
    SimulationOptions threads = by_itself;
    threads.ranks = 4;
    EXPECT_FALSE(choose_device(threads, "", host_of_h200(4)).on_gpu);
    EXPECT_FALSE(wants_gpu(threads, ""));
    EXPECT_FALSE(wants_gpu(SimulationOptions{}, "")); // --device cpu
    EXPECT_TRUE(wants_gpu(by_itself, ""));

    SimulationOptions on_gpu;
    on_gpu.device = Device::Gpu;
    EXPECT_THAT(refusal([&] { choose_device(on_gpu, "", old); }), HasSubstr("compute capability 6.1"));
    EXPECT_THAT(refusal([&] { choose_device(on_gpu, "", HostGpus{}); }), HasSubstr("no driver"));
    HostGpus closed = host_of_h200(1);
    closed.gpus[0].is_allowed = false;
    EXPECT_THAT(refusal([&] { choose_device(on_gpu, "", closed); }), HasSubstr("compute mode"));
}

TEST(GpuChoice, takes_no_gpu_for_a_box_that_pressure_shears)
{
    RunParameters run;
    run.integrator = Integrator::SteepestDescent;
    EXPECT_EQ(only_on_cpus(run), "");
    run.shear_compressibility = {1e-5, 0, 0};
    SimulationOptions options = by_itself;
    EXPECT_FALSE(choose_device(options, only_on_cpus(run), host_of_h200(2)).on_gpu);
    options.gpus = 2;
    EXPECT_THAT(refusal([&] { choose_device(options, only_on_cpus(run), host_of_h200(2)); }),
                HasSubstr("--gpus 2, a box that pressure shears: "));
}

TEST(GpuChoice, takes_one_gpu_for_lj_pme_by_itself_and_as_many_as_asked)
{
    RunParameters run;
    run.coulomb = CoulombKind::Pme, run.has_lj_mesh = true;
    EXPECT_EQ(only_on_cpus(run), "");
    const StepSize size{.atoms = 10'000'000, .mesh_points = 10'000'000, .has_lj_mesh = true};
    const auto choose = [&](const SimulationOptions& options) {
        return choose_gpus(options, host_of_h200(4), size, large_box, criteria, timed(nvlink));
    };
    EXPECT_EQ(choose(by_itself).gpus(), 1);
    SimulationOptions options = by_itself;
    for (const int gpus : {1, 2, 4})
    {
        options.gpus = gpus;
        EXPECT_EQ(choose(options).gpus(), gpus);
    }
    options.gpus = 0, options.ranks = 3, options.mesh_ranks = 1;
    EXPECT_THAT(refusal([&] { choose(options); }), HasSubstr("does not go with --pme dedicated"));
}

TEST(GpuChoice, refuses_more_gpus_than_can_be_used_together_and_says_why)
{
    HostGpus pairs = host_of({h200(0), h200(1), h200(2), h200(3)}, false);
    pairs.reach[0][1] = pairs.reach[1][0] = true;
    SimulationOptions options = by_itself;
    options.gpus = 4;
    EXPECT_THAT(refusal([&] { choose_on(pairs, options); }),
                HasSubstr("--gpus 4, but this program can use 2 here together (GPU 2, GPU 3 and GPU 0, GPU 1 cannot address each "
                          "other's memory). Ask for fewer."));
    options.gpus = 2;
    EXPECT_EQ(choose_on(pairs, options).devices, (std::vector<int>{0, 1}));
    options.gpus = 1;
    EXPECT_EQ(choose_on(pairs, options).devices, std::vector<int>{0});
    EXPECT_THAT(refusal([&] {
                    options.gpus = 2;
                    choose_on(host_of({h200(0), display_card(1)}), options);
                }),
                HasSubstr("can use 1 here (GPU 1 (NVIDIA GeForce GTX 1050)"));
}

TEST(GpuChoice, lets_a_gpu_whose_memory_cannot_be_shared_run_alone)
{
    HostGpu virtual_gpu = h200(0);
    virtual_gpu.name = "NVIDIA H200-141C", virtual_gpu.makes_shared_memory = false;
    EXPECT_EQ(choose_on(host_of({virtual_gpu})).devices, std::vector<int>{0});
    EXPECT_EQ(choose_on(host_of({virtual_gpu})).remark, "");
    HostGpu other = virtual_gpu;
    other.device = 1;
    EXPECT_EQ(choose_on(host_of({virtual_gpu, other})).devices, std::vector<int>{0});
    EXPECT_EQ(choose_on(host_of({virtual_gpu, h200(1), h200(2)})).devices, (std::vector<int>{1, 2}));
}

TEST(GpuChoice, takes_the_fastest_and_no_slow_one_beside_it)
{
    HostGpu slow = h200(0); // of a tenth of the speed
    slow.name = "NVIDIA A2", slow.multiprocessors = 13;
    const GpuChoice fast = choose_on(host_of({slow, h200(1)}));
    EXPECT_EQ(fast.devices, std::vector<int>{1});
    const GpuChoice both_fast = choose_on(host_of({h200(0), slow, h200(2)}));
    EXPECT_EQ(both_fast.devices, (std::vector<int>{0, 2}));
    SimulationOptions options = by_itself;
    options.gpus = 2;
    EXPECT_EQ(choose_on(host_of({slow, h200(1)}), options).gpus(), 2);
    EXPECT_EQ(predicted_step({1'000'000}, 1, HaloMethod::Direct, 0.5), predicted_step({2'000'000}, 1, HaloMethod::Direct));
}

TEST(GpuChoice, refuses_a_rank_of_more_slots_than_pair_lists_can_name)
{
    EXPECT_NO_THROW(check_slots((std::size_t{1} << 27) - 8, 1));
    EXPECT_THAT(refusal([&] { check_slots(std::size_t{1} << 27, 1); }), HasSubstr("one would hold 134 million places"));
    EXPECT_THAT(refusal([&] { check_slots(std::size_t{1} << 28, 4); }), HasSubstr("each of 4 ranks would hold 268 million"));
}

TEST(GpuChoice, takes_fewer_gpus_where_links_are_slow)
{
    const auto on = [](std::int64_t atoms, const LinkSpeed& link) {
        return choose_gpus(by_itself, host_of_h200(4), {atoms}, large_box, criteria, timed(link));
    };
    // As fast as what was measured, or nearly: the same choice.
    for (const std::int64_t atoms : {3000, 18000, 45000, 180000, 720000})
    {
        EXPECT_EQ(on(atoms, {3.4, 200, ""}).gpus(), choose(atoms, 4).gpus()) << atoms;
        for (const LinkSpeed& slow : {pcie_4, pcie_5})
        {
            const int gpus = on(atoms, slow).gpus();
            EXPECT_LE(gpus, choose(atoms, 4).gpus()) << atoms;
            for (const int other : {1, 2, 4}) // nothing that is predicted to be faster
            {
                EXPECT_LE(predicted_step({atoms}, gpus, HaloMethod::Direct, 1, &slow),
                          1.04 * predicted_step({atoms}, other, HaloMethod::Direct, 1, &slow))
                    << atoms << " atoms, " << other << " GPUs";
            }
        }
    }
    EXPECT_EQ(on(24000, pcie_4).gpus(), 1);
    EXPECT_EQ(on(24000, pcie_4).remark, "1 of 4: more would not help at 24000 atoms, by links of 4.5 us and 20 GB/s");
    EXPECT_EQ(on(720000, pcie_4).gpus(), 4);
}

// A halo of so many bytes takes so much longer, and a step waits for its signals four times.
TEST(GpuChoice, adds_to_a_step_what_slower_links_take_longer)
{
    const auto step = [](const LinkSpeed* link) { return predicted_step({1'000'000}, 2, HaloMethod::Direct, 1, link); };
    EXPECT_EQ(step(&nvlink), step(nullptr));
    const LinkSpeed late{12.4, 188, ""}, thin{2.4, 18.8, ""};
    EXPECT_NEAR(step(&late) - step(nullptr), 4 * 10, 1e-9);
    const double bytes_each_way = 46'000 * 16; // within 1 nm of a side of 100 * 100 * 100 atoms at 4.64 a nm
    EXPECT_NEAR(step(&thin) - step(nullptr), 2 * bytes_each_way * (1 / 18.8e3 - 1 / 188e3), 1e-6);
}

TEST(GpuChoice, runs_on_one_gpu_where_links_do_not_work)
{
    const GpuChoice choice =
        choose_gpus(by_itself, host_of_h200(2), {10'000'000}, large_box, criteria, timed({0, 0, "messages do not arrive"}));
    EXPECT_EQ(choice.devices, std::vector<int>{0});
    EXPECT_EQ(choice.remark, "1 of 2: their links do not work: messages do not arrive");
}

TEST(GpuChoice, times_no_link_that_would_not_be_used)
{
    int times = 0;
    std::vector<int> timed_devices;
    const LinkTimer counts = [&](const std::vector<int>& devices) {
        ++times, timed_devices = devices;
        return nvlink;
    };
    choose_gpus(by_itself, host_of_h200(4), {3000}, large_box, criteria, counts);       // one will do
    choose_gpus(by_itself, host_of_h200(1), {10'000'000}, large_box, criteria, counts); // there is one
    choose_gpus(by_itself, host_of({rtx_4090(0), rtx_4090(1)}, false), {10'000'000}, large_box, criteria,
                counts); // there is none
    SimulationOptions four = by_itself;
    four.gpus = 4;
    choose_gpus(four, host_of_h200(4), {10'000'000}, large_box, criteria, counts); // whatever it is
    EXPECT_EQ(times, 0);
    choose_gpus(by_itself, host_of_h200(4), {10'000'000}, large_box, criteria, counts);
    EXPECT_EQ(times, 1);
    EXPECT_EQ(timed_devices, (std::vector<int>{0, 1, 2, 3}));
}

TEST(GpuChoice, of_a_run_beside_others_is_the_gpu_that_it_is_given)
{
    SimulationOptions given = by_itself;
    given.gpu = 2;
    const GpuChoice choice = choose_gpus(given, host_of_h200(4), {10'000'000}, large_box, criteria, timed(nvlink));
    EXPECT_EQ(choice.devices, std::vector<int>{2});
    EXPECT_EQ(choice.grid.ranks(), 1);
}

TEST(GpuChoice, of_single_runs_has_gpus_that_do_not_reach_each_other)
{
    const HostGpus apart = host_of({rtx_4090(0), display_card(1), rtx_4090(2)}, false);
    EXPECT_EQ(gpus_for_single_runs(apart, 0), (std::vector<int>{0, 2}));
    EXPECT_EQ(gpus_for_single_runs(apart, 1), std::vector<int>{0});
    EXPECT_EQ(gpus_for_single_runs({}, 0), std::vector<int>{});
    EXPECT_THROW(gpus_for_single_runs(apart, 3), InputError);
}
