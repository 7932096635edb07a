// SPDX-License-Identifier: Apache-2.0
#include "io/input/one_place.hpp"

#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

namespace parhelion {

namespace {

using GridPlace = std::array<std::uint32_t, 3>;

GridPlace place_of(const Vec3<double>& x, const Box<double>& box)
{
    GridPlace place;
    const Vec3<double> fractions = box.to_fractions(x);
    for (int d = 0; d < 3; ++d)
    {
        const double fraction = fractions[d];
        place[static_cast<std::size_t>(d)] =
            static_cast<std::uint32_t>(static_cast<std::uint64_t>((fraction - std::floor(fraction)) * 0x1p32 + 0.5));
    }
    return place;
}

std::size_t hash_of(const GridPlace& place)
{
    std::uint64_t h = 0;
    for (const std::uint32_t part : place)
    {
        h = (h ^ part) * 0x9e3779b97f4a7c15;
        h ^= h >> 32;
    }
    return h;
}

struct Placed
{
    GridPlace place;
    std::int64_t atom;
    auto operator<=>(const Placed&) const = default;
};

// Returns all atoms that share their place with an atom, and some that do not, sorted by place.
std::vector<Placed> possibly_in_one_place(const System& system)
{
    const std::size_t mask = std::bit_ceil(8 * system.x.size()) - 1;
    std::vector<bool> once(mask + 1), twice(mask + 1);
    for (const Vec3<double>& x : system.x)
    {
        const std::size_t bit = hash_of(place_of(x, system.box)) & mask;
        if (once[bit]) { twice[bit] = true; }
        once[bit] = true;
    }
    std::vector<Placed> found;
    for (std::size_t i = 0; i < system.x.size(); ++i)
    {
        const GridPlace place = place_of(system.x[i], system.box);
        if (twice[hash_of(place) & mask]) { found.push_back({place, static_cast<std::int64_t>(i)}); }
    }
    std::sort(found.begin(), found.end());
    return found;
}

bool interact(const Topology& topology, std::int64_t a, std::int64_t b)
{
    const AtomAddress at_a = topology.locate(a), at_b = topology.locate(b);
    const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(at_a.type)];
    if (at_a.molecule_first_atom == at_b.molecule_first_atom && type.excludes(at_a.local, at_b.local))
    {
        const auto is_theirs = [&](const Interaction& pair) {
            return std::minmax(pair.atoms[0], pair.atoms[1]) == std::minmax(at_a.local, at_b.local);
        };
        return std::ranges::any_of(type.of(InteractionKind::Pair14), is_theirs) ||
               std::ranges::any_of(type.of(InteractionKind::NonbondedPair), is_theirs);
    }
    const Atom &i = topology.atom(a), &j = topology.atom(b);
    const auto types =
        static_cast<std::size_t>(i.type) * static_cast<std::size_t>(topology.types()) + static_cast<std::size_t>(j.type);
    return i.charge * j.charge != 0 || topology.c6[types] != 0 || topology.c12[types] != 0;
}

struct Pair
{
    std::int64_t first, second;
};

// Returns pairs of atoms in the same place that interact. Each atom is paired with the first such atom before it.
std::vector<Pair> pairs_in_one_place(const System& system)
{
    const std::vector<Placed> placed = possibly_in_one_place(system);
    std::vector<Pair> pairs;
    for (std::size_t begin = 0, i = 0; i < placed.size(); ++i)
    {
        if (placed[i].place != placed[begin].place) { begin = i; }
        for (std::size_t earlier = begin; earlier < i; ++earlier)
        {
            if (!interact(system.topology, placed[earlier].atom, placed[i].atom)) { continue; }
            pairs.push_back({placed[earlier].atom, placed[i].atom});
            break;
        }
    }
    std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.second < b.second; });
    return pairs;
}

// Returns direction number k of many that are distributed over the sphere along a spiral.
Vec3<double> direction(std::size_t k)
{
    const double golden = 0.5 * (std::sqrt(5.0) - 1), turns = golden * static_cast<double>(k + 1);
    const double z = 2 * (turns - std::floor(turns)) - 1, in_plane = std::sqrt(1 - z * z), angle = static_cast<double>(k + 1);
    return {in_plane * std::cos(angle), in_plane * std::sin(angle), z};
}

} // namespace

void check_places(const SourceLocation& first_atom, AtomsInOnePlace what, System& system, Diagnostics& diagnostics)
{
    const std::vector<Pair> pairs = pairs_in_one_place(system);
    if (pairs.empty()) { return; }
    SourceLocation where = first_atom;
    if (where.line > 0) { where.line = static_cast<int>(std::min<std::int64_t>(pairs[0].second + where.line, 2000000000)); }
    const std::string named = system.topology.describe(pairs[0].first) + " and " + system.topology.describe(pairs[0].second) +
                              " are in exactly one place" +
                              (pairs.size() == 1 ? "" : ", the first of " + std::to_string(pairs.size()) + " such pairs");
    if (what == AtomsInOnePlace::Refuse)
    {
        throw InputError("E155", where,
                         named + " (their force has no direction, and their energy no meaning). Is a molecule in the file twice? "
                                 "Remove it, or let a minimisation (integrator = steep) part them.");
    }
    constexpr double distance = 1e-5; // nm
    diagnostics.warn("W127", where,
                     named + ": they would be moved apart by 1e-5 nm, for the minimisation to go on from there. "
                             "Is a molecule in the file twice?");
    for (std::size_t k = 0; k < pairs.size(); ++k)
    {
        system.x[static_cast<std::size_t>(pairs[k].second)] += distance * direction(k);
    }
}

} // namespace parhelion
