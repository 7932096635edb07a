// SPDX-License-Identifier: Apache-2.0
#include "interactions/mesh/mesh_dispersion.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace parhelion {

namespace {

using Matrix = std::vector<std::vector<double>>;

constexpr double least_eigenvalue = 1e-13; // smaller eigenvalues, relative to the largest, are left out

std::vector<bool> types_of_atoms(const Topology& topology)
{
    std::vector<bool> has_atoms(static_cast<std::size_t>(topology.types()));
    for (const MoleculeBlock& block : topology.blocks)
    {
        for (const Atom& atom : topology.molecule_types[static_cast<std::size_t>(block.type)].atoms)
        {
            has_atoms[static_cast<std::size_t>(atom.type)] = true;
        }
    }
    return has_atoms;
}

// Makes a symmetric matrix diagonal by Jacobi's rotations; `vectors` becomes the matrix whose columns are its eigenvectors.
void diagonalise(Matrix& a, Matrix& vectors)
{
    const std::size_t n = a.size();
    vectors.assign(n, std::vector<double>(n, 0));
    for (std::size_t i = 0; i < n; ++i) { vectors[i][i] = 1; }
    constexpr int most_sweeps = 60; // convergence is quadratic: ten are enough for any matrix
    for (int sweep = 0; sweep < most_sweeps; ++sweep)
    {
        double off_diagonal = 0, all = 0;
        for (std::size_t p = 0; p < n; ++p)
        {
            for (std::size_t q = 0; q < n; ++q) { all += a[p][q] * a[p][q], off_diagonal += p == q ? 0 : a[p][q] * a[p][q]; }
        }
        if (off_diagonal <= 1e-34 * all) { return; }
        for (std::size_t p = 0; p < n; ++p)
        {
            for (std::size_t q = p + 1; q < n; ++q)
            {
                if (a[p][q] == 0) { continue; }
                const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::hypot(theta, 1.0));
                const double c = 1 / std::hypot(t, 1.0), s = t * c;
                const auto rotate = [&](double& x, double& y) { x = std::exchange(y, s * x + c * y) * -s + c * x; };
                for (std::size_t i = 0; i < n; ++i) { rotate(a[i][p], a[i][q]); }
                for (std::size_t i = 0; i < n; ++i) { rotate(a[p][i], a[q][i]); }
                for (std::size_t i = 0; i < n; ++i) { rotate(vectors[i][p], vectors[i][q]); }
            }
        }
    }
}

// Returns the part factor s_a s_b, with strengths s scaled so that the largest is 1 in size.
DispersionPart normalised(double factor, std::vector<double> strengths)
{
    double largest = 0;
    for (const double s : strengths) { largest = std::max(largest, std::abs(s)); }
    for (double& s : strengths) { s = largest > 0 ? s / largest : 0; }
    return {factor * largest * largest, std::move(strengths)};
}

} // namespace

std::vector<double> mesh_c6(const Topology& topology, const RunParameters& run)
{
    const auto types = static_cast<std::size_t>(topology.types());
    const std::vector<bool> has_atoms = types_of_atoms(topology);
    std::vector<double> sigma(types, 0), root(types, 0); // root: of c6 or, by Lorentz and Berthelot, of 4 epsilon
    const bool is_geometric = run.lj_mesh_rule == LjMeshRule::Geometric;
    for (std::size_t a = 0; a < types; ++a)
    {
        const double c6 = topology.c6[a * types + a], c12 = topology.c12[a * types + a];
        if (!has_atoms[a] || c6 == 0) { continue; }
        if (c6 < 0 || (!is_geometric && c12 <= 0))
        {
            throw InputError("E262", {},
                             c6 < 0
                                 ? fmt::format("vdwtype = PME: atom type {} has a negative C6 with itself, which has no root "
                                               "for the mesh. Use vdwtype = Cut-off.",
                                               topology.type_names[a])
                                 : fmt::format("lj-pme-comb-rule = Lorentz-Berthelot: atom type {} attracts and does not repel "
                                               "itself, so it has no sigma. Use lj-pme-comb-rule = Geometric.",
                                               topology.type_names[a]));
        }
        sigma[a] = is_geometric ? 0 : std::pow(c12 / c6, 1.0 / 6);
        root[a] = is_geometric ? std::sqrt(c6) : c6 / std::sqrt(c12);
    }
    std::vector<double> result(types * types, 0);
    for (std::size_t a = 0; a < types; ++a)
    {
        for (std::size_t b = 0; b < types; ++b)
        {
            const double mean = 0.5 * (sigma[a] + sigma[b]), mean3 = mean * mean * mean;
            result[a * types + b] = root[a] * root[b] * (is_geometric ? 1 : mean3 * mean3);
        }
    }
    return result;
}

std::vector<DispersionPart> dispersion_parts(const Topology& topology, const RunParameters& run)
{
    const auto types = static_cast<std::size_t>(topology.types());
    const std::vector<double> c6 = mesh_c6(topology, run);
    std::vector<DispersionPart> parts;
    if (run.lj_mesh_rule == LjMeshRule::Geometric)
    {
        std::vector<double> roots(types);
        for (std::size_t a = 0; a < types; ++a) { roots[a] = std::sqrt(c6[a * types + a]); }
        parts.push_back(normalised(1, roots));
        return parts;
    }
    Matrix matrix(types, std::vector<double>(types)), vectors;
    for (std::size_t i = 0; i < types * types; ++i) { matrix[i / types][i % types] = c6[i]; }
    diagonalise(matrix, vectors);
    double largest = 0;
    for (std::size_t k = 0; k < types; ++k) { largest = std::max(largest, std::abs(matrix[k][k])); }
    for (std::size_t k = 0; k < types; ++k)
    {
        if (std::abs(matrix[k][k]) <= least_eigenvalue * largest && !(k == 0 && largest == 0)) { continue; }
        std::vector<double> vector(types);
        for (std::size_t a = 0; a < types; ++a) { vector[a] = vectors[a][k]; }
        parts.push_back(normalised(matrix[k][k], vector));
    }
    return parts;
}

} // namespace parhelion
