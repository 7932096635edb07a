// SPDX-License-Identifier: Apache-2.0
#include "interactions/mesh/force_error.hpp"

#include "base/units.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace parhelion {

namespace {

// The properties of a wave along one axis.
struct AxisWave
{
    double m = 0;                // wave number, 1/nm
    double weight2 = 0;          // squared weight of alias 0
    double sum = 0, moment2 = 0; // over all aliases: sum of squared weights, and of these times wave numbers
    double gauss = 0;            // exp(-pi^2 m^2 / beta^2)
};

std::vector<AxisWave> axis_waves(int points, int order, double edge, double beta)
{
    constexpr int farthest_alias = 4;
    std::vector<AxisWave> waves;
    for (int k = 0; k < points; ++k)
    {
        const int wave = 2 * k < points ? k : k - points;
        AxisWave w;
        w.m = wave / edge;
        w.gauss = std::exp(-units::pi * units::pi * w.m * w.m / (beta * beta));
        const double fraction = static_cast<double>(wave) / points;
        double total = 0, squares = 0, moments = 0;
        for (int alias = -farthest_alias; alias <= farthest_alias; ++alias)
        {
            // `weight` is the transform of a spline, sinc(fraction + alias)^order, over its value at alias 0.
            const double weight =
                wave == 0 ? (alias == 0 ? 1 : 0) : std::pow((alias % 2 == 0 ? 1 : -1) * fraction / (fraction + alias), order);
            const double m = (wave + alias * points) / edge;
            total += weight, squares += weight * weight, moments += m * m * weight * weight;
        }
        w.weight2 = 1 / (total * total), w.sum = squares * w.weight2, w.moment2 = moments * w.weight2;
        waves.push_back(w);
    }
    return waves;
}

} // namespace

double EwaldForceError::total() const { return std::hypot(cutoff, mesh); }

EwaldForceError ewald_force_error(const Topology& topology, const RunParameters& run, const std::array<int, 3>& points,
                                  const Box<double>& box)
{
    double charge2 = 0, atoms = 0; // charge2: sum of squared charges
    for (const MoleculeBlock& block : topology.blocks)
    {
        for (const Atom& atom : topology.molecule_types[static_cast<std::size_t>(block.type)].atoms)
        {
            charge2 += static_cast<double>(block.count) * atom.charge * atom.charge;
            atoms += static_cast<double>(block.count);
        }
    }
    const double beta = ewald_beta(run), rc = run.coulomb_cutoff, volume = box.volume();
    const double scale = coulomb_factor(run) * charge2 / std::sqrt(atoms);
    EwaldForceError error;
    error.cutoff = 2 * scale / std::sqrt(rc * volume) * std::exp(-beta * beta * rc * rc);

    const Vec3<double> edge = box.edge_lengths(); // edges are taken as perpendicular, which is enough for an estimate
    const auto x = axis_waves(points[0], run.pme_order, edge.x, beta), y = axis_waves(points[1], run.pme_order, edge.y, beta),
               z = axis_waves(points[2], run.pme_order, edge.z, beta);
    double sum = 0;
    for (const AxisWave& a : x)
    {
        for (const AxisWave& b : y)
        {
            for (const AxisWave& c : z)
            {
                const double m2 = a.m * a.m + b.m * b.m + c.m * c.m;
                if (m2 == 0) { continue; }
                const double influence = a.gauss * b.gauss * c.gauss / (units::pi * volume * m2);
                const double weights = a.sum * b.sum * c.sum,
                             moments = a.moment2 * b.sum * c.sum + a.sum * b.moment2 * c.sum + a.sum * b.sum * c.moment2;
                sum += influence * influence * (moments * weights - 2 * m2 * a.weight2 * b.weight2 * c.weight2 + m2);
            }
        }
    }
    error.mesh = 2 * units::pi * scale * std::sqrt(std::max(0.0, sum));
    return error;
}

} // namespace parhelion
