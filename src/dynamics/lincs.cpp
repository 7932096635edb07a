// SPDX-License-Identifier: Apache-2.0
// LINCS on plain arrays. A group is small, so one thread works on it. Several threads share groups and molecules.
#include "dynamics/lincs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace parhelion {

namespace {

// Returns for each bond the smallest bond index of the set of bonds that are connected with it.
std::vector<int> connected_sets(const std::vector<LincsBond>& bonds, std::size_t atoms)
{
    std::vector<int> parent(atoms);
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&](int atom) {
        while (parent[atom] != atom) { atom = parent[atom] = parent[parent[atom]]; }
        return atom;
    };
    for (const LincsBond& bond : bonds) { parent[root(bond.a)] = root(bond.b); }
    std::vector<int> label(bonds.size());
    for (std::size_t i = 0; i < bonds.size(); ++i) { label[i] = root(bonds[i].a); }
    return label;
}

// The atom that two bonds share. sign: +1 if it is atom a of both or atom b of both, -1 if not; 0 if they share no atom.
struct SharedAtom
{
    int sign = 0, atom = -1;
};
SharedAtom shared_atom(const LincsBond& p, const LincsBond& q)
{
    if (p.a == q.a) { return {1, p.a}; }
    if (p.b == q.b) { return {1, p.b}; }
    if (p.a == q.b) { return {-1, p.a}; }
    if (p.b == q.a) { return {-1, p.b}; }
    return {};
}

void couple_bonds(LincsGroup& group)
{
    std::vector<std::vector<int>> bonds_of_atom(group.atoms.size());
    for (int i = 0; i < static_cast<int>(group.bonds.size()); ++i)
    {
        const LincsBond& bond = group.bonds[i];
        bonds_of_atom[bond.a].push_back(i);
        bonds_of_atom[bond.b].push_back(i);
        group.weight.push_back(1 / std::sqrt(group.inverse_mass[bond.a] + group.inverse_mass[bond.b]));
    }
    for (int i = 0; i < static_cast<int>(group.bonds.size()); ++i)
    {
        group.coupling_start.push_back(static_cast<int>(group.coupled.size()));
        const LincsBond& bond = group.bonds[i];
        for (const int end : {bond.a, bond.b})
        {
            for (const int j : bonds_of_atom[end])
            {
                if (j == i) { continue; }
                const auto [sign, atom] = shared_atom(bond, group.bonds[j]);
                group.coupled.push_back(j);
                group.coefficient.push_back(-sign * group.weight[i] * group.weight[j] * group.inverse_mass[atom]);
                // A third bond between the outer ends of these two bonds closes a triangle.
                const int outer = end == bond.a ? bond.b : bond.a;
                const int other = group.bonds[j].a == end ? group.bonds[j].b : group.bonds[j].a;
                for (const int k : bonds_of_atom[outer])
                {
                    group.has_triangle =
                        group.has_triangle || (k != i && (group.bonds[k].a == other || group.bonds[k].b == other));
                }
            }
        }
    }
    group.coupling_start.push_back(static_cast<int>(group.coupled.size()));
}

void set_directions_and_matrix(const LincsGroup& group, LincsWork& work)
{
    const std::size_t n = group.bonds.size();
    for (std::size_t i = 0; i < n; ++i) { work.direction[i] = (1 / norm(work.reference[i])) * work.reference[i]; }
    for (std::size_t i = 0; i < n; ++i)
    {
        for (int k = group.coupling_start[i]; k < group.coupling_start[i + 1]; ++k)
        {
            work.matrix[k] = group.coefficient[k] * dot(work.direction[i], work.direction[group.coupled[k]]);
        }
    }
}

// Adds work.solution to the multipliers, and moves the atoms by it.
void move_by_solution(const LincsGroup& group, LincsWork& work)
{
    for (std::size_t i = 0; i < group.bonds.size(); ++i)
    {
        const LincsBond& bond = group.bonds[i];
        const double multiplier = group.weight[i] * work.solution[i];
        work.multiplier[i] += multiplier;
        work.move[bond.a] -= (group.inverse_mass[bond.a] * multiplier) * work.direction[i];
        work.move[bond.b] += (group.inverse_mass[bond.b] * multiplier) * work.direction[i];
    }
}

// Returns element i of the product A y.
double coupled_sum(const LincsGroup& group, const LincsWork& work, const std::vector<double>& y, std::size_t i)
{
    double sum = 0;
    for (int k = group.coupling_start[i]; k < group.coupling_start[i + 1]; ++k) { sum += work.matrix[k] * y[group.coupled[k]]; }
    return sum;
}

// Solves (1 - A) y = work.rhs by the series up to power `order`, and moves the atoms.
void solve_and_move(const LincsGroup& group, int order, LincsWork& work)
{
    const std::size_t n = group.bonds.size();
    for (std::size_t i = 0; i < n; ++i) { work.solution[i] = work.rhs[i]; }
    for (int power = 1; power <= order; ++power)
    {
        for (std::size_t i = 0; i < n; ++i)
        {
            work.next[i] = coupled_sum(group, work, work.rhs, i);
            work.solution[i] += work.next[i];
        }
        work.rhs.swap(work.next);
    }
    move_by_solution(group, work);
}

// Solves (1 - A) y = work.rhs by Gauss-Seidel sweeps, and moves the atoms.
void relax_and_move(const LincsGroup& group, int sweeps, LincsWork& work)
{
    const std::size_t n = group.bonds.size();
    for (std::size_t i = 0; i < n; ++i) { work.solution[i] = work.rhs[i]; }
    for (int sweep = 0; sweep < sweeps; ++sweep)
    {
        for (std::size_t i = 0; i < n; ++i) { work.solution[i] = work.rhs[i] + coupled_sum(group, work, work.solution, i); }
    }
    move_by_solution(group, work);
}

// Moves the atoms back to their unconstrained positions.
void take_back(const LincsGroup& group, LincsWork& work)
{
    for (std::size_t i = 0; i < group.bonds.size(); ++i) { work.solution[i] = -work.multiplier[i] / group.weight[i]; }
    move_by_solution(group, work);
}

// Solves (1 - A) y = work.rhs and leaves the residual in work.rhs. 1 - A is the Gram matrix of the constraints'
// directions: symmetric and, if they are independent, positive definite. The series would converge only if the
// bonds of an atom point in sufficiently different directions. In a bad start structure they may not.
void solve_by_conjugate_gradients(const LincsGroup& group, LincsWork& work)
{
    const std::size_t n = group.bonds.size();
    double* const residual = work.rhs.data();
    std::vector<double> product(n);
    std::fill_n(work.solution.begin(), n, 0.0);
    std::copy_n(residual, n, work.next.begin()); // search direction
    double square = std::inner_product(residual, residual + n, residual, 0.0);
    const double enough = 1e-24 * square;
    for (std::size_t k = 0; k < 10 * n && square > enough; ++k)
    {
        double curvature = 0;
        for (std::size_t i = 0; i < n; ++i)
        {
            product[i] = work.next[i] - coupled_sum(group, work, work.next, i);
            curvature += work.next[i] * product[i];
        }
        if (!(curvature > 0)) { return; }
        const double length = square / curvature;
        double next_square = 0;
        for (std::size_t i = 0; i < n; ++i)
        {
            work.solution[i] += length * work.next[i];
            residual[i] -= length * product[i];
            next_square += residual[i] * residual[i];
        }
        for (std::size_t i = 0; i < n; ++i) { work.next[i] = residual[i] + next_square / square * work.next[i]; }
        square = next_square;
    }
}

Vec3<double> moved_bond(const LincsGroup& group, const LincsWork& work, std::size_t i)
{
    return work.reference[i] + (work.move[group.bonds[i].a] - work.move[group.bonds[i].b]);
}

} // namespace

int series_order(const LincsGroup& group, const LincsSettings& settings)
{
    return group.coupled.empty() ? 0 : group.has_triangle ? 2 * settings.order : settings.order;
}

std::vector<LincsGroup> make_lincs_groups(const std::vector<LincsBond>& bonds, const std::vector<double>& inverse_mass)
{
    const std::vector<int> label = connected_sets(bonds, inverse_mass.size());
    std::map<int, std::size_t> group_of_label; // sorted by each group's first bond
    std::vector<LincsGroup> groups;
    std::vector<int> index(inverse_mass.size(), -1); // index of each atom in its group; -1: none yet
    const auto add_atom = [&](LincsGroup& group, int atom) {
        if (index[atom] < 0)
        {
            index[atom] = static_cast<int>(group.atoms.size());
            group.atoms.push_back(atom);
            group.inverse_mass.push_back(inverse_mass[atom]);
        }
        return index[atom];
    };
    for (std::size_t i = 0; i < bonds.size(); ++i)
    {
        const auto [entry, is_new] = group_of_label.try_emplace(label[i], groups.size());
        if (is_new) { groups.emplace_back(); }
        LincsGroup& group = groups[entry->second];
        const int a = add_atom(group, bonds[i].a);
        const int b = add_atom(group, bonds[i].b);
        group.bonds.push_back({a, b, bonds[i].length});
    }
    for (LincsGroup& group : groups) { couple_bonds(group); }
    return groups;
}

void LincsWork::grow(const LincsGroup& group)
{
    const std::size_t bonds = std::max(group.bonds.size(), reference.size());
    for (auto* v : {&reference, &direction}) { v->resize(bonds); }
    for (auto* v : {&multiplier, &rhs, &next, &solution}) { v->resize(bonds); }
    move.resize(std::max(group.atoms.size(), move.size()));
    matrix.resize(std::max(group.coupled.size(), matrix.size()));
}

void lincs(const LincsGroup& group, const LincsSettings& settings, LincsWork& work)
{
    const std::size_t n = group.bonds.size();
    const int order = series_order(group, settings);
    set_directions_and_matrix(group, work);
    for (std::size_t i = 0; i < n; ++i) { work.multiplier[i] = 0; }
    // Makes the projection of each bond after the move, on its direction before it, equal to the constraint's length.
    for (std::size_t i = 0; i < n; ++i)
    {
        work.rhs[i] = group.weight[i] * (dot(work.direction[i], moved_bond(group, work, i)) - group.bonds[i].length);
    }
    solve_and_move(group, order, work);
    // A bond of length l that has turned is longer than its projection on the old
    // direction. Projecting to sqrt(2 d^2 - l^2) gives length d to second order.
    for (int iteration = 0;; ++iteration)
    {
        double worst = 0;
        for (std::size_t i = 0; i < n; ++i)
        {
            const double d2 = group.bonds[i].length * group.bonds[i].length;
            const double projection2 = 2 * d2 - norm2(moved_bond(group, work, i));
            work.rhs[i] = group.weight[i] * (group.bonds[i].length - std::sqrt(std::max(projection2, 0.0)));
            worst = std::max(worst, std::abs(projection2 / d2 - 1)); // to first order twice the relative deviation
        }
        const int extra = iteration - settings.iterations;
        if (extra >= 0 && (worst <= 2 * LincsSettings::tolerance || extra == LincsSettings::max_extra_iterations))
        {
            work.largest_deviation = 0.5 * worst;
            return;
        }
        if (!group.has_triangle || extra < LincsSettings::series_iterations) { solve_and_move(group, order, work); }
        else if (extra == LincsSettings::series_iterations) { take_back(group, work); }
        else { relax_and_move(group, order, work); }
    }
}

bool lincs_project(const LincsGroup& group, LincsWork& work)
{
    constexpr int most_refinements = 10;
    const std::size_t n = group.bonds.size();
    set_directions_and_matrix(group, work);
    for (std::size_t i = 0; i < n; ++i) { work.multiplier[i] = 0; }
    double scale = 0;
    for (std::size_t i = 0; i < group.atoms.size(); ++i)
    {
        const double square = norm2(work.move[i]);
        if (!std::isfinite(square)) { return true; } // not finite from the start; other checks report this
        scale = std::max(scale, square);
    }
    for (int refinement = 0; refinement <= most_refinements; ++refinement)
    {
        double largest = 0;
        for (std::size_t i = 0; i < n; ++i)
        {
            const double along = dot(work.direction[i], work.move[group.bonds[i].a] - work.move[group.bonds[i].b]);
            work.rhs[i] = group.weight[i] * along;
            largest = std::max(largest, std::abs(along));
        }
        if (largest <= 1e-14 * std::sqrt(scale)) { return true; }
        solve_by_conjugate_gradients(group, work);
        move_by_solution(group, work);
    }
    return false;
}

} // namespace parhelion
