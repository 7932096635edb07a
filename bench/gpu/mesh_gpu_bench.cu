// SPDX-License-Identifier: Apache-2.0
// Time of each kernel of PME's mesh on a GPU, with what it could not be faster than, and cuFFT beside the transforms of planes.
//   mesh_gpu_bench [--atoms 45000 180000 360000] [--planes N] [--json FILE]
// --planes: how many planes the rank has, as one of several that share the mesh; default: all. Atoms are all of the system.
#include "interactions/mesh/gpu/fft/fft_gpu.hpp"
#include "interactions/mesh/gpu/fft/mesh_transforms.cuh"
#include "interactions/mesh/gpu/mesh_atoms_gpu.hpp"
#include "rank_state.hpp"
#include "series_timing.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>

using namespace parhelion;

namespace {

using N = Mixed;

struct Request
{
    std::vector<std::int64_t> atoms{45000, 180000, 360000};
    int planes = 0; // 0: all
    int repetitions = 100;
    std::string json;
};

struct Line
{
    const char* kernel;
    double us, bytes; // that it moves at least
};

class Kernels
{
public:
    Kernels(const LoadedInput& input, int planes)
        : parameters_(mesh_parameters(input.system.topology, input.parameters, input.system.box)), points_(parameters_.points),
          planes_(planes > 0 ? planes : points_[0]), transforms_(queue_, parameters_, planes_),
          fft_(queue_, {planes_, points_[1], points_[2]})
    {
        const Topology& topology = input.system.topology;
        const UpdateGroups groups = make_update_groups(topology);
        const GpuCell cell = make_gpu_cell({{1, 1, 1}}, 0, input.system.box, 1.1, longest_overhang(topology, groups));
        state_ = make_rank_state<N>(queue_, input, groups, cell);
        const std::size_t plane = size(points_[1]) * size(points_[2]), kz = size(points_[2]) / 2 + 1;
        const std::size_t y = size(points_[1]), x = size(points_[0]), rows = std::max<std::size_t>(1, y * size(planes_) / x);
        charges_.resize(size(planes_) * plane), potentials_.resize(size(planes_) * plane);
        spectrum_.resize(std::max(size(planes_) * y, x * rows) * kz);
        charges_.clear(queue_), potentials_.clear(queue_), spectrum_.clear(queue_);
        const mesh::PlaneRange own{0, planes_};
        charge_planes_ = mesh_planes(queue_, charges_.data(), points_, own);
        potential_planes_ = mesh_planes(queue_, potentials_.data(), points_, own);
        std::vector<PlaneRow<float>> of_y;
        for (std::size_t i = 0; i < y; ++i) { of_y.push_back({spectrum_.data() + i * kz, static_cast<std::int64_t>(y * kz)}); }
        std::vector<GpuComplex<float>*> of_x;
        for (std::size_t i = 0; i < x; ++i) { of_x.push_back(spectrum_.data() + i * rows * kz); }
        rows_.upload(queue_, of_y), x_planes_.upload(queue_, of_x);
        solved_ = {{0, static_cast<int>(rows)}, {0, static_cast<int>(rows)}, x_planes_.data(), x_planes_.data()};
        queue_.synchronize();
    }

    std::vector<Line> measure(int repetitions)
    {
        constexpr int calls = 20;
        const auto us = [&](const auto& work) { return sorted_us(queue_, repetitions, calls, work).front(); };
        const double atoms = static_cast<double>(state_.slots), grid = 4.0 * static_cast<double>(charges_.size()),
                     spectrum = 8.0 * static_cast<double>(size(planes_) * size(points_[1]) * (size(points_[2]) / 2 + 1));
        const double solved = 8.0 * solved_.rows.count * points_[0] * (points_[2] / 2 + 1);
        const NoExchange alone;
        return {{"spread",
                 us([&] { spread_charges(queue_, state_, parameters_, MeshAtomsOf::Everybody, charge_planes_.data()); }),
                 16 * atoms + grid},
                {"forward", us([&] { transforms_.forward(queue_, charges_.data(), rows_.data(), alone); }), 2 * grid + spectrum},
                {"forward, cuFFT", us([&] { fft_.forward(queue_, charges_.data(), spectrum_.data()); }), grid + spectrum},
                {"solve", us([&] { transforms_.solve(queue_, solved_, state_, Compute::Forces, alone); }), 2 * solved},
                {"solve, energies", us([&] { transforms_.solve(queue_, solved_, state_, Compute::ForcesEnergiesVirial, alone); }),
                 2 * solved},
                {"backward", us([&] { transforms_.backward(queue_, rows_.data(), potentials_.data(), alone); }), grid + spectrum},
                {"backward, cuFFT", us([&] { fft_.backward(queue_, spectrum_.data(), potentials_.data()); }), grid + spectrum},
                {"gather",
                 us([&] { gather_forces(queue_, state_, parameters_, MeshAtomsOf::Everybody, potential_planes_.data(), 1); }),
                 32 * atoms + grid}};
    }
    const std::array<int, 3>& points() const { return points_; }
    int planes() const { return planes_; }
    std::string gpu() const { return queue_.name(); }

private:
    static std::size_t size(int n) { return static_cast<std::size_t>(n); }

    GpuQueue queue_;
    MeshParameters parameters_;
    std::array<int, 3> points_;
    int planes_;
    GpuMeshTransforms<N> transforms_;
    GpuFft<float> fft_;
    GpuState<N> state_;
    DeviceBuffer<float> charges_, potentials_;
    DeviceBuffer<float*> charge_planes_, potential_planes_;
    DeviceBuffer<GpuComplex<float>> spectrum_;
    DeviceBuffer<PlaneRow<float>> rows_;
    DeviceBuffer<GpuComplex<float>*> x_planes_;
    SolvedRows<float> solved_{};
};

void measure(const Request& request)
{
    constexpr double bytes_per_us = 4.8e6; // of an H200's memory; grids up to 50 MB stay in its cache, which is faster
    std::printf("%8s %11s %6s  %-16s %8s %8s\n", "atoms", "grid", "planes", "kernel", "us", "floor");
    for (const std::int64_t atoms : request.atoms)
    {
        Kernels kernels(load_size(atoms, SeriesElectrostatics::Pme), request.planes);
        const auto& [x, y, z] = kernels.points();
        const std::string grid = std::to_string(x) + "x" + std::to_string(y) + "x" + std::to_string(z);
        for (const Line& line : kernels.measure(request.repetitions))
        {
            std::printf("%8lld %11s %6d  %-16s %8.2f %8.2f\n", static_cast<long long>(atoms), grid.c_str(), kernels.planes(),
                        line.kernel, line.us, line.bytes / bytes_per_us);
            if (request.json.empty()) { continue; }
            std::ofstream(request.json, std::ios::app)
                << nlohmann::ordered_json{{"gpu", kernels.gpu()},       {"atoms", atoms},        {"grid", grid},
                                          {"planes", kernels.planes()}, {"kernel", line.kernel}, {"us", line.us},
                                          {"bytes", line.bytes}}
                << '\n';
        }
    }
}

} // namespace

int main(int argc, char** argv)
{
    CLI::App app("Measures the kernels of PME's mesh on a GPU");
    Request request;
    app.add_option("--atoms", request.atoms, "sizes of the series");
    app.add_option("--planes", request.planes, "of the grid that the rank has");
    app.add_option("--repetitions", request.repetitions);
    app.add_option("--json", request.json, "append JSON lines to this file");
    CLI11_PARSE(app, argc, argv);
    try
    {
        measure(request);
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
