// SPDX-License-Identifier: Apache-2.0
// CHARMM's force field in AMBER's format, as the program chamber writes it: Urey-Bradley bonds between the ends
// of angles, and harmonic impropers. Atoms of these terms are plain numbers from 1, without AMBER's coding.
#include "base/units.hpp"
#include "io/input/amber_system.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace parhelion {

std::vector<AmberTerm> read_plain_terms(const AmberSections& sections, std::string_view name, std::size_t arity,
                                        std::int64_t count, std::size_t atoms, std::size_t types)
{
    const std::size_t columns = arity + 1;
    const std::vector<std::int32_t> numbers = sections.integers(name, count * static_cast<std::int64_t>(columns));
    std::vector<AmberTerm> terms;
    terms.reserve(static_cast<std::size_t>(count));
    for (std::size_t first = 0; first < numbers.size(); first += columns)
    {
        AmberTerm& term = terms.emplace_back();
        for (std::size_t i = 0; i < columns; ++i)
        {
            const std::int32_t given = numbers[first + i];
            const std::size_t most = i < arity ? atoms : types;
            const auto end = term.atoms.begin() + static_cast<std::ptrdiff_t>(std::min(i, arity));
            const bool is_known = given >= 1 && static_cast<std::size_t>(given) <= most;
            if (!is_known || (i < arity && std::find(term.atoms.begin(), end, given - 1) != end))
            {
                sections.fail(
                    "E123", name, static_cast<std::int64_t>(first + i),
                    fmt::format("has {}, which is not from 1 to {}, or is an atom twice in one term. Correct it.", given, most));
            }
            (i < arity ? term.atoms[i] : term.type) = given - 1;
        }
    }
    return terms;
}

void read_charmm_terms(const AmberSections& sections, AmberSystem& system)
{
    constexpr double kj = 4.184; // kJ per kcal
    const auto count_of = [&](std::string_view name, std::int64_t values, std::size_t which) {
        const std::int32_t count = sections.integers(name, values)[which];
        if (count < 0) { sections.fail("E123", name, 0, "has a negative number."); }
        return std::int64_t{count};
    };
    constexpr std::string_view ends = "CHARMM_UREY_BRADLEY_COUNT";
    const std::vector<double> end_k = sections.reals("CHARMM_UREY_BRADLEY_FORCE_CONSTANT", count_of(ends, 2, 1)),
                              length = sections.reals("CHARMM_UREY_BRADLEY_EQUIL_VALUE", count_of(ends, 2, 1));
    for (std::size_t i = 0; i < end_k.size(); ++i)
    {
        system.end_bond_types.push_back({length[i] * nm_per_angstrom, 2 * end_k[i] * kj / (nm_per_angstrom * nm_per_angstrom)});
    }
    system.end_bonds = read_plain_terms(sections, "CHARMM_UREY_BRADLEY", 2, count_of(ends, 2, 0), system.size(), end_k.size());
    const std::int64_t improper_types = count_of("CHARMM_NUM_IMPR_TYPES", 1, 0);
    const std::vector<double> k = sections.reals("CHARMM_IMPROPER_FORCE_CONSTANT", improper_types),
                              phase = sections.reals("CHARMM_IMPROPER_PHASE", improper_types);
    for (std::size_t i = 0; i < k.size(); ++i) { system.improper_types.push_back({phase[i] / units::degree, 2 * k[i] * kj}); }
    system.harmonic_impropers =
        read_plain_terms(sections, "CHARMM_IMPROPERS", 4, count_of("CHARMM_NUM_IMPROPERS", 1, 0), system.size(), k.size());
}

} // namespace parhelion
