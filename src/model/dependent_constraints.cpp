// SPDX-License-Identifier: Apache-2.0
#include "model/dependent_constraints.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace parhelion {

namespace {

// The constraints at each atom, without those that lay_aside() has removed.
class Holds
{
public:
    explicit Holds(const std::vector<Constraint>& constraints) : constraints_(constraints), is_left_(constraints.size(), true)
    {
        std::int32_t atoms = 0;
        for (const Constraint& c : constraints) { atoms = std::max({atoms, c.a + 1, c.b + 1}); }
        of_atom_.resize(static_cast<std::size_t>(atoms));
        for (std::size_t i = 0; i < constraints.size(); ++i)
        {
            for (const std::int32_t atom : {constraints[i].a, constraints[i].b}) { at(atom).push_back(i); }
        }
    }

    // Removes atoms with their constraints as long as may_go(constraints at the atom) is true for some atom.
    template <class MayGo>
    void lay_aside(MayGo&& may_go)
    {
        std::vector<std::int32_t> candidates(of_atom_.size());
        std::iota(candidates.begin(), candidates.end(), 0);
        while (!candidates.empty())
        {
            std::vector<std::size_t>& held = at(candidates.back());
            candidates.pop_back();
            if (held.empty() || !may_go(held)) { continue; }
            for (const std::size_t i : std::exchange(held, {}))
            {
                is_left_[i] = false;
                for (const std::int32_t other : {constraints_[i].a, constraints_[i].b})
                {
                    std::erase(at(other), i);
                    candidates.push_back(other);
                }
            }
        }
    }

    std::vector<std::size_t> left() const
    {
        std::vector<std::size_t> list;
        for (std::size_t i = 0; i < is_left_.size(); ++i)
        {
            if (is_left_[i]) { list.push_back(i); }
        }
        return list;
    }

private:
    std::vector<std::size_t>& at(std::int32_t atom) { return of_atom_[static_cast<std::size_t>(atom)]; }

    const std::vector<Constraint>& constraints_;
    std::vector<bool> is_left_;
    std::vector<std::vector<std::size_t>> of_atom_;
};

double square(double x) { return x * x; }

// Returns the squared volume that up to three unit vectors span.
double spanned(const std::vector<std::size_t>& which, const std::vector<Vec3<double>>& unit)
{
    switch (which.size())
    {
    case 1:
        return 1;
    case 2:
        return norm2(cross(unit[which[0]], unit[which[1]]));
    case 3:
        return square(dot(unit[which[0]], cross(unit[which[1]], unit[which[2]])));
    default:
        return 0;
    }
}

// A row of the Jacobian as a map from atom to vector. The vector of an atom that is not in the map is zero.
using Row = std::map<std::int32_t, Vec3<double>>;

double product(const Row& p, const Row& q)
{
    double sum = 0;
    for (const auto& [atom, v] : p)
    {
        if (const auto other = q.find(atom); other != q.end()) { sum += dot(v, other->second); }
    }
    return sum;
}

} // namespace

std::vector<std::size_t> dependent_constraints(const std::vector<Constraint>& constraints,
                                               const std::vector<Vec3<double>>& direction)
{
    PARHELION_EXPECTS(constraints.size() == direction.size());
    std::vector<Vec3<double>> unit;
    for (const Vec3<double>& d : direction) { unit.push_back((1 / norm(d)) * d); }
    Holds holds(constraints);
    holds.lay_aside([&](const std::vector<std::size_t>& held) { return spanned(held, unit) >= independent_part; });
    std::vector<Row> basis; // an orthonormal basis of the rows so far
    std::vector<std::size_t> dependent;
    for (const std::size_t i : holds.left())
    {
        Row row{{constraints[i].a, unit[i]}, {constraints[i].b, -unit[i]}};
        const double whole = product(row, row);
        for (const Row& before : basis)
        {
            const double along = product(row, before);
            for (const auto& [atom, v] : before) { row[atom] -= along * v; }
        }
        const double rest = product(row, row);
        if (!(rest >= independent_part * whole)) { dependent.push_back(i); }
        else
        {
            for (auto& [atom, v] : row) { v *= 1 / std::sqrt(rest); }
            basis.push_back(std::move(row));
        }
    }
    return dependent;
}

std::vector<std::size_t> flat_triangles(const std::vector<Constraint>& constraints)
{
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> of_pair;
    std::map<std::int32_t, std::vector<std::int32_t>> neighbours;
    for (std::size_t i = 0; i < constraints.size(); ++i)
    {
        const auto [a, b] = std::minmax(constraints[i].a, constraints[i].b);
        of_pair[{a, b}] = i;
        neighbours[a].push_back(b), neighbours[b].push_back(a);
    }
    std::vector<std::size_t> flat;
    for (std::size_t i = 0; i < constraints.size(); ++i)
    {
        const Constraint& c = constraints[i];
        for (const std::int32_t middle : neighbours[c.a])
        {
            const auto other = of_pair.find(std::minmax(middle, c.b));
            if (middle == c.b || other == of_pair.end()) { continue; }
            const double p = constraints[of_pair[std::minmax(middle, c.a)]].length, q = constraints[other->second].length;
            const double cosine = (square(p) + square(q) - square(c.length)) / (2 * p * q); // cosine of the angle between p and q
            if (cosine < 0 && 1 - square(cosine) < independent_part)
            {
                flat.push_back(i);
                break;
            }
        }
    }
    return flat;
}

bool have_no_ring(const std::vector<Constraint>& constraints)
{
    Holds holds(constraints);
    holds.lay_aside([](const std::vector<std::size_t>& held) { return held.size() == 1; });
    return holds.left().empty();
}

} // namespace parhelion
