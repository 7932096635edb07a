// SPDX-License-Identifier: Apache-2.0
// PME's mesh on the GPU against the CPU's, which has references of its own, and against the reference data.
#include "interactions/mesh/gpu/mesh_gpu.hpp"

#include "device/gpu/graph.hpp"
#include "interactions/mesh/ions.hpp"
#include "interactions/mesh/mesh.hpp"
#include "support/compare.hpp"
#include "support/gpu_particles.hpp"
#include "support/gpu_test.hpp"
#include "support/refdata.hpp"

#include <algorithm>
#include <numeric>

using namespace parhelion;
using namespace parhelion::test;

namespace {

struct Result
{
    std::vector<Vec3<double>> forces; // by global atom
    EnergyVirial energies;
};

// `box`: of the configuration; that of the system is the one the mesh is made for.
template <class N>
Result on_cpu(const System& system, const MeshParameters& parameters, const Box<double>& box)
{
    CpuQueue queue(1);
    ParticleState<N> state = particles_in_input_order<N>(system);
    state.box.set_edges(box);
    Mesh<N> mesh(parameters);
    ForceBuffers<N> buffers;
    clear_forces(queue, buffers, state.slots());
    compute_mesh(queue, mesh, state, buffers, Compute::ForcesEnergiesVirial);
    sum_forces(queue, buffers, state);
    return {forces_of(state), sum_energies(buffers).result()};
}

template <class N>
Result on_cpu(const System& system, const RunParameters& run, const Box<double>& box)
{
    return on_cpu<N>(system, mesh_parameters(system.topology, run, system.box), box);
}

// A system on the GPU, with its mesh.
template <class N>
class Evaluation
{
public:
    Evaluation(const System& system, const RunParameters& run, const Box<double>& box)
        : Evaluation(system, mesh_parameters(system.topology, run, system.box), box)
    {
    }
    Evaluation(const System& system, const MeshParameters& parameters, const Box<double>& box)
        : particles_(particles_in_input_order<N>(system)), mesh_(queue_, parameters)
    {
        particles_.box.set_edges(box);
        state_ = sorted_gpu_state(queue_, particles_);
    }

    void add(Compute compute) { mesh_.compute(queue_, state_, compute); }
    void clear() { state_.f.clear(queue_), state_.energies.clear(queue_); }
    Result result()
    {
        download(queue_, state_, particles_);
        return {forces_of(particles_), state_.energies.to_vector(queue_)[0].result()};
    }
    GpuQueue& queue() { return queue_; }

private:
    GpuQueue queue_;
    ParticleState<N> particles_;
    GpuMesh<N> mesh_;
    GpuState<N> state_;
};

template <class N, class Parameters>
Result on_gpu(const System& system, const Parameters& run_or_mesh, const Box<double>& box,
              Compute compute = Compute::ForcesEnergiesVirial)
{
    Evaluation<N> evaluation(system, run_or_mesh, box);
    evaluation.add(compute);
    return evaluation.result();
}

RunParameters with_grid(int order, const std::array<int, 3>& points)
{
    RunParameters run = pme_parameters();
    run.pme_order = order;
    run.mesh_nx = points[0], run.mesh_ny = points[1], run.mesh_nz = points[2];
    return run;
}

// Factors 2, 3, 5, 7 and 13, odd and even numbers along each axis, and as few points as an order allows.
const std::array<int, 3> grids[] = {{20, 27, 35}, {21, 16, 30}, {32, 25, 14}, {26, 28, 15}};

class MeshOnGpu : public GpuTest
{
protected:
    const Vec3<double> box{2.1, 2.6, 3.3};
    const System system = charged_ions(box);
};

class OrdersOfMeshOnGpu : public MeshOnGpu, public ::testing::WithParamInterface<int>
{
protected:
    // of_forces, of_energies: the largest relative deviation from the CPU's double precision.
    template <class N>
    void compare(const std::array<int, 3>& points, double of_forces, double of_energies) const
    {
        const RunParameters run = with_grid(GetParam(), points);
        const Result expected = on_cpu<Double>(system, run, box), result = on_gpu<N>(system, run, box);
        EXPECT_LE(rms_relative(result.forces, expected.forces), of_forces);
        EXPECT_LE(max_relative(result.energies.virial, expected.energies.virial), of_energies);
        const double energy = expected.energies[EnergyTerm::CoulombReciprocal];
        EXPECT_NEAR(result.energies[EnergyTerm::CoulombReciprocal], energy, of_energies * std::abs(energy));
        EXPECT_NEAR(result.energies.potential(), energy, of_energies * std::abs(energy));
    }
};

} // namespace

TEST_P(OrdersOfMeshOnGpu, has_the_forces_energy_and_virial_of_the_cpu)
{
    for (const std::array<int, 3>& points : grids)
    {
        SCOPED_TRACE(testing::Message() << points[0] << " " << points[1] << " " << points[2]);
        compare<Double>(points, 1e-13, 1e-12);
        compare<Mixed>(points, 1e-6, 1e-6); // rounding of single numbers: 6e-8
        compare<MixedReproducible>(points, 1e-6, 1e-6);
        compare<DoubleReproducible>(points, 1e-11, 1e-9); // multiples of 2e-10 kJ/mol
    }
}

// Edges that lean as far as they may, and where the middle waves of even numbers of points are not their own mirror images.
TEST_F(MeshOnGpu, has_the_forces_energy_and_virial_of_the_cpu_in_tilted_boxes)
{
    for (const Box<double>& tilted : {Box<double>{{2.4, 2.6, 3.3}, {1.2, -1.2, 1.3}}, Box<double>{{3, 2.6, 2.1}, {1, 0, 0}},
                                      Box<double>{{2.1, 3, 3}, {0, 1, -1}}})
    {
        System in_box = charged_ions(tilted.diagonal());
        in_box.box = tilted;
        for (const std::array<int, 3>& points : {grids[0], grids[1], {16, 16, 16}, {26, 22, 34}})
        {
            SCOPED_TRACE(testing::Message() << tilted.tilt().x << ", " << points[0] << " " << points[1] << " " << points[2]);
            const RunParameters run = with_grid(5, points);
            const Result expected = on_cpu<Double>(in_box, run, tilted);
            const auto compare = [&](const Result& result, double of_forces, double of_energies) {
                EXPECT_LE(rms_relative(result.forces, expected.forces), of_forces);
                EXPECT_LE(max_relative(result.energies.virial, expected.energies.virial), of_energies);
                const double energy = expected.energies[EnergyTerm::CoulombReciprocal];
                EXPECT_NEAR(result.energies[EnergyTerm::CoulombReciprocal], energy, of_energies * std::abs(energy));
            };
            compare(on_gpu<Double>(in_box, run, tilted), 1e-13, 1e-12);
            compare(on_gpu<Mixed>(in_box, run, tilted), 1e-6, 1e-6); // rounding of single numbers: 6e-8
            compare(on_gpu<MixedReproducible>(in_box, run, tilted), 1e-6, 1e-6);
            compare(on_gpu<DoubleReproducible>(in_box, run, tilted), 1e-11, 1e-9); // multiples of 2e-10 kJ/mol
        }
    }
}

// LJ-PME, with our own transforms of one and of two passes, and with those of a library.
TEST_F(MeshOnGpu, of_dispersion_has_the_forces_energy_and_virial_of_the_cpu)
{
    for (const Box<double>& shape : {Box<double>(box), Box<double>{{2.4, 2.6, 3.3}, {1.2, -1.2, 1.3}}})
    {
        System in_box = charged_ions(shape.diagonal());
        in_box.box = shape;
        in_box.topology.c6 = {2e-3}, in_box.topology.c12 = {2e-6};
        for (const std::array<int, 3>& points : {grids[0], {16, 16, 16}, {26, 22, 34}})
        {
            RunParameters run = with_grid(5, points);
            run.has_lj_mesh = true;
            MeshParameters mesh = dispersion_mesh_parameters(in_box.topology, run, shape).at(0);
            mesh.factor = -3 * mesh.factor; // as of a negative eigenvalue
            const Result expected = on_cpu<Double>(in_box, mesh, shape);
            EXPECT_GT(expected.energies[EnergyTerm::LjReciprocal], 0);
            const auto compare = [&](const Result& result, double of_forces, double of_energies) {
                EXPECT_LE(rms_relative(result.forces, expected.forces), of_forces);
                EXPECT_LE(max_relative(result.energies.virial, expected.energies.virial), of_energies);
                const double energy = expected.energies[EnergyTerm::LjReciprocal];
                EXPECT_NEAR(result.energies[EnergyTerm::LjReciprocal], energy, of_energies * std::abs(energy));
                EXPECT_NEAR(result.energies.potential(), energy, of_energies * std::abs(energy));
            };
            compare(on_gpu<Double>(in_box, mesh, shape), 1e-12, 1e-12);
            // All strengths are positive, so single numbers round a large mean that exerts no force. On CPUs forces differ by
            // 0.9e-6 to 1.2e-6 and virials by 1.0e-6 to 1.7e-6, on a GPU virials by up to 2.0e-6.
            compare(on_gpu<Mixed>(in_box, mesh, shape), 2e-6, 3e-6);
            compare(on_gpu<MixedReproducible>(in_box, mesh, shape), 2e-6, 3e-6);
            compare(on_gpu<DoubleReproducible>(in_box, mesh, shape), 1e-9, 1e-8); // small forces in multiples of 2e-10 kJ/mol
        }
    }
}

// 259 kB a plane: more than a block has.
TEST_F(MeshOnGpu, takes_planes_that_do_not_fit_in_shared_memory)
{
    const RunParameters run = with_grid(4, {6, 160, 200});
    const Result expected = on_cpu<Double>(system, run, box), result = on_gpu<DoubleReproducible>(system, run, box);
    EXPECT_LE(rms_relative(result.forces, expected.forces), 1e-11); // multiples of 2e-10 kJ/mol
    EXPECT_LE(max_relative(result.energies.virial, expected.energies.virial), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Orders, OrdersOfMeshOnGpu, ::testing::Range(least_spline_order, largest_spline_order + 1));

// Atoms as superclusters have them, 64 neighbours one after another: the points that they touch are a box in shared memory. The
// first 64 are around a corner of the periodic box, others across its faces.
struct Neighbours
{
    std::vector<Vec3<double>> x;
    std::vector<double> charges; // whose sums are exact: the background is one on the host

    explicit Neighbours(const Vec3<double>& box)
    {
        std::mt19937 random(5);
        std::uniform_real_distribution<double> uniform(0, 1);
        for (int i = 0; i < 8 * supercluster_size; ++i)
        {
            const int group = i / supercluster_size;
            Vec3<double> place{group & 1 ? 0.5 * box.x : 0, group & 2 ? 0.4 * box.y : 0, group & 4 ? 0.6 * box.z : 0};
            for (int d = 0; d < 3; ++d) { place[d] += 0.5 * uniform(random) - 0.25, place[d] += place[d] < 0 ? box[d] : 0; }
            x.push_back(place);
            charges.push_back(std::round(1000 * uniform(random) - 400) / 512);
        }
    }
};

TEST_P(OrdersOfMeshOnGpu, adds_up_neighbours_across_the_edges_of_the_box)
{
    const Neighbours neighbours(box);
    const System close = ions(neighbours.x, neighbours.charges, box);
    const RunParameters run = with_grid(GetParam(), {24, 30, 40});
    const Result expected = on_cpu<Double>(close, run, box);
    for (const Result& result : {on_gpu<Mixed>(close, run, box), on_gpu<MixedReproducible>(close, run, box)})
    {
        EXPECT_LE(rms_relative(result.forces, expected.forces), 1e-6);
        EXPECT_LE(max_relative(result.energies.virial, expected.energies.virial), 1e-6);
    }
}

TEST_F(MeshOnGpu, without_energies_has_the_same_forces)
{
    const RunParameters run = with_grid(4, grids[0]);
    const Result expected = on_gpu<DoubleReproducible>(system, run, box),
                 result = on_gpu<DoubleReproducible>(system, run, box, Compute::Forces);
    EXPECT_TRUE(result.forces == expected.forces);
    EXPECT_EQ(result.energies.potential(), 0);
    EXPECT_EQ(max_relative(result.energies.virial, expected.energies.virial), 1);
}

// Positions scale with the box; points along the edges stay as many.
TEST_F(MeshOnGpu, follows_the_box_that_is_in_device_memory)
{
    const RunParameters run = with_grid(5, grids[1]);
    const Vec3<double> other{1.03 * box.x, 0.96 * box.y, 1.01 * box.z};
    const Result expected = on_cpu<Double>(system, run, other), result = on_gpu<Double>(system, run, other);
    EXPECT_LE(rms_relative(result.forces, expected.forces), 1e-13);
    EXPECT_LE(max_relative(result.energies.virial, expected.energies.virial), 1e-12);
    EXPECT_NEAR(result.energies.potential(), expected.energies.potential(), 1e-12 * std::abs(expected.energies.potential()));
}

TEST_F(MeshOnGpu, adds_the_same_in_every_replay_of_a_graph)
{
    const RunParameters run = with_grid(4, grids[2]);
    Evaluation<DoubleReproducible> evaluation(system, run, box);
    evaluation.add(Compute::ForcesEnergiesVirial);
    const Result once = evaluation.result();
    const GpuGraph graph(evaluation.queue(), [&] { evaluation.add(Compute::ForcesEnergiesVirial); });
    evaluation.clear();
    for (int i = 0; i < 3; ++i) { graph.replay(evaluation.queue()); }
    const Result thrice = evaluation.result();
    for (std::size_t i = 0; i < once.forces.size(); ++i) { EXPECT_EQ(thrice.forces[i], 3.0 * once.forces[i]) << i; }
    EXPECT_EQ(thrice.energies.potential(), 3 * once.energies.potential());
}

TEST_F(MeshOnGpu, with_reproducible_sums_has_the_same_bits_in_any_order_of_atoms)
{
    std::mt19937 random(3);
    const auto [x, charges] = Neighbours(box);
    std::vector<std::size_t> order(x.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<Vec3<double>> other_x;
    std::vector<double> other_charges;
    for (const std::size_t i : order) { other_x.push_back(x[i]), other_charges.push_back(charges[i]); }
    const RunParameters run = with_grid(4, {24, 30, 40});
    // In the order that they have here, that of neighbours, and the other, in which no box in shared memory holds a block's
    // atoms: sorting would put both into the same.
    const auto evaluate = [&](const System& of) {
        GpuQueue queue;
        ParticleState<MixedReproducible> particles = particles_in_input_order<MixedReproducible>(of);
        GpuState<MixedReproducible> state;
        upload(queue, particles, state);
        GpuMesh<MixedReproducible> mesh(queue, mesh_parameters(of.topology, run, of.box));
        mesh.compute(queue, state, Compute::ForcesEnergiesVirial);
        download(queue, state, particles);
        return Result{forces_of(particles), state.energies.to_vector(queue)[0].result()};
    };
    System first = ions(x, charges, box), second = ions(other_x, other_charges, box);
    const Result a = evaluate(first), b = evaluate(second);
    for (std::size_t i = 0; i < order.size(); ++i) { EXPECT_EQ(b.forces[i], a.forces[order[i]]) << i; }
    EXPECT_EQ(b.energies.potential(), a.energies.potential());
    EXPECT_TRUE(b.energies.virial == a.energies.virial);
}

// What is left of the sum of forces is the error of the grid.
TEST_F(MeshOnGpu, on_a_fine_grid_has_hardly_a_net_force)
{
    const auto net = [&](int order, const std::array<int, 3>& points) {
        const Result result = on_gpu<Double>(system, with_grid(order, points), box, Compute::Forces);
        Vec3<double> sum;
        double squares = 0;
        for (const Vec3<double>& f : result.forces) { sum += f, squares += norm2(f); }
        return norm(sum) / std::sqrt(squares);
    };
    EXPECT_LE(net(4, {20, 25, 32}), 1e-2);
    EXPECT_LE(net(8, {40, 48, 60}), 1e-6);
}

TEST_F(MeshOnGpu, is_not_there_without_pme)
{
    GpuQueue queue;
    RunParameters run = pme_parameters();
    run.coulomb = CoulombKind::ReactionField;
    EXPECT_FALSE(GpuMesh<Mixed>(queue, mesh_parameters(system.topology, run, box)).is_used());
}

namespace {

class MeshOnGpuRefdata : public GpuTest, public ::testing::WithParamInterface<std::string>
{
};

} // namespace

TEST_P(MeshOnGpuRefdata, forces_are_those_of_the_reference)
{
    const Refdata data = load_refdata(GetParam());
    const auto expected = refdata_forces(GetParam(), "mesh"), all = refdata_forces(GetParam());
    const Result in_double = on_gpu<Double>(data.system, data.parameters, data.system.box);
    EXPECT_LE(rms_relative(in_double.forces, expected),
              2e-9); // differences of the program's totals, with its tables of 1-4 pairs in them
    const double energy = refdata_energies(GetParam())["Coul. recip."];
    EXPECT_NEAR(in_double.energies[EnergyTerm::CoulombReciprocal], energy, 1e-9 * std::abs(energy));
    const Result mixed = on_gpu<Mixed>(data.system, data.parameters, data.system.box);
    double error = 0, scale = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) { error += norm2(mixed.forces[i] - expected[i]), scale += norm2(all[i]); }
    EXPECT_LE(std::sqrt(error / scale), 5e-7);
    EXPECT_NEAR(mixed.energies[EnergyTerm::CoulombReciprocal], energy, 2e-6 * std::abs(energy));
}

INSTANTIATE_TEST_SUITE_P(Refdata, MeshOnGpuRefdata, ::testing::ValuesIn(mesh_refdata),
                         [](const auto& test) { return test.param.substr(0, test.param.find('/')); });
