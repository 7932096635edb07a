// SPDX-License-Identifier: Apache-2.0
#include "io/input/amber_system.hpp"

#include "base/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <utility>

namespace parhelion {

namespace {

constexpr double calorie = 4.184;                          // kJ per kcal
constexpr double charmm_charge = 18.222831832621406;       // sqrt(332.0716) per e, the factor in files of CHARMM
constexpr double amber_charge = 18.2223;                   // the factor of charges in all other AMBER files, per e
constexpr std::int64_t most_atoms_of_prmtop = 500'000'000; // the file stores 3 * (number of an atom) as an int

// The numbers of the section POINTERS, in the file's order.
enum class Pointer : std::uint8_t
{
    Atoms,
    LjTypes,
    BondsWithHydrogen,
    BondsAtMost, // number of bonds without hydrogen plus constraints, which no program writes any more
    AnglesWithHydrogen,
    AnglesAtMost,
    DihedralsWithHydrogen,
    DihedralsAtMost,
    Unused,
    LocallyEnhanced,
    Excluded,
    Residues,
    Bonds,
    Angles,
    Dihedrals,
    BondTypes,
    AngleTypes,
    DihedralTypes,
    AtomTypes,
    HydrogenBondTypes,
    Perturbed,
    Box = 27,
    LargestResidue,
    Cap,
    ExtraPoints,
    Copies,
};

// Sections with unsupported features. A file with one of these sections is refused.
constexpr std::pair<std::string_view, std::string_view> refused_sections[] = {
    {"AMOEBA_FORCEFIELD", "the AMOEBA force field is not supported (not planned)"},
    {"LENNARD_JONES_CCOEF", "12-6-4 potentials of ions (LENNARD_JONES_CCOEF) are not supported (not planned)"},
    {"LENNARD_JONES_DCOEF", "potentials of ions beyond 12-6 (LENNARD_JONES_DCOEF) are not supported (not planned)"},
    {"LES_TYPE", "locally enhanced sampling is not supported (not planned)"},
};

// Reads one file. Each function reads one part of the format.
class AmberReader
{
    using enum Pointer;

public:
    AmberReader(const AmberSections& sections, AmberSystem& system) : s_(sections), system_(system) {}
    void read();

private:
    std::int64_t n(Pointer p) const { return pointers_[static_cast<std::size_t>(p)]; }
    void read_pointers();
    void refuse_unsupported() const;
    void refuse(Pointer p, std::string_view what) const;
    void read_atoms();
    void read_residues();
    void read_lennard_jones();
    void read_bonded_types();
    void read_dihedral_types();
    std::vector<AmberTerm> read_terms(std::string_view what, std::size_t atoms, Pointer with_hydrogen, Pointer without,
                                      std::size_t types) const;
    void read_terms_of(const std::string& name, std::size_t atoms, std::int64_t count, std::size_t types,
                       std::vector<AmberTerm>& terms) const;
    void read_maps();
    void read_exclusions();
    void read_box();
    std::vector<double> divisors(std::string_view name, double usual) const;

    const AmberSections& s_;
    AmberSystem& system_;
    std::vector<std::int32_t> pointers_;
};

void AmberReader::read()
{
    read_pointers();
    refuse_unsupported();
    read_atoms();
    read_residues();
    read_lennard_jones();
    read_bonded_types();
    read_dihedral_types();
    system_.bonds = read_terms("BONDS", 2, BondsWithHydrogen, Bonds, system_.bond_types.size());
    system_.angles = read_terms("ANGLES", 3, AnglesWithHydrogen, Angles, system_.angle_types.size());
    system_.dihedrals = read_terms("DIHEDRALS", 4, DihedralsWithHydrogen, Dihedrals, system_.dihedral_types.size());
    read_maps();
    if (is_of_charmm(s_)) { read_charmm_terms(s_, system_); }
    read_exclusions();
    read_box();
}

void AmberReader::read_pointers()
{
    constexpr std::int64_t most = static_cast<std::int64_t>(Copies) + 1, least = most - 1; // older files lack the last number
    const std::int64_t given = s_.size("POINTERS");
    if (given < least || given > most)
    {
        s_.fail("E120", "POINTERS", 0, fmt::format("has {} numbers, not {} or {}. Is the file whole?", given, least, most));
    }
    pointers_ = s_.integers("POINTERS", given);
    pointers_.resize(static_cast<std::size_t>(most), 1);
    for (std::size_t i = 0; i < pointers_.size(); ++i)
    {
        if (pointers_[i] >= 0) { continue; }
        s_.fail("E123", "POINTERS", static_cast<std::int64_t>(i), fmt::format("has a negative number, {}.", pointers_[i]));
    }
    if (n(Atoms) < 1 || n(Atoms) > most_atoms_of_prmtop || n(LjTypes) < 1 || n(Residues) < 1)
    {
        s_.fail("E123", "POINTERS", 0,
                fmt::format("says that there are {} atoms of {} types in {} residues. Is the file whole?", n(Atoms), n(LjTypes),
                            n(Residues)));
    }
}

void AmberReader::refuse(Pointer p, std::string_view what) const
{
    if (n(p) == 0) { return; }
    s_.fail("E130", "POINTERS", static_cast<std::int64_t>(p),
            fmt::format("asks for {}, which is not supported (not planned). Nothing was run.", what));
}

void AmberReader::refuse_unsupported() const
{
    for (const auto& [name, what] : refused_sections)
    {
        if (s_.has(name)) { throw InputError("E130", s_.where(name), std::string(what) + ". Nothing was run."); }
    }
    refuse(Perturbed, "a perturbed state B (IFPERT)");
    refuse(LocallyEnhanced, "locally enhanced sampling (NPARM)");
    refuse(Unused, "dihedrals of NHPARM");
    refuse(Cap, "a cap of solvent (IFCAP)");
    if (n(Copies) > 1) { refuse(Copies, "copies of a path integral (NCOPY)"); }
    for (const auto& [all, most] : {std::pair(Bonds, BondsAtMost), {Angles, AnglesAtMost}, {Dihedrals, DihedralsAtMost}})
    {
        if (n(all) != n(most)) { refuse(most, "terms of constraints of their own (MBONA, MTHETA, MPHIA)"); }
    }
    if (s_.has("IPOL") && s_.integers("IPOL", 1)[0] != 0)
    {
        s_.fail("E130", "IPOL", 0, "asks for polarisable atoms, which are not supported (not planned). Nothing was run.");
    }
}

void AmberReader::read_atoms()
{
    system_.title = s_.line(is_of_charmm(s_) ? "CTITLE" : "TITLE");
    system_.names = s_.words("ATOM_NAME", n(Atoms));
    system_.type_names = s_.words("AMBER_ATOM_TYPE", n(Atoms));
    system_.masses = s_.reals("MASS", n(Atoms));
    system_.charges = s_.reals("CHARGE", n(Atoms));
    system_.types = s_.integers("ATOM_TYPE_INDEX", n(Atoms));
    for (double& charge : system_.charges) { charge /= is_of_charmm(s_) ? charmm_charge : amber_charge; }
    for (std::int64_t a = 0; a < n(Atoms); ++a)
    {
        if (system_.masses[static_cast<std::size_t>(a)] < 0)
        {
            s_.fail("E125", "MASS", a, fmt::format("gives atom {} a negative mass. Correct it.", a + 1));
        }
        std::int32_t& type = system_.types[static_cast<std::size_t>(a)];
        if (type < 1 || type > n(LjTypes))
        {
            s_.fail("E123", "ATOM_TYPE_INDEX", a, fmt::format("has type {} of {}. Correct it.", type, n(LjTypes)));
        }
        --type;
    }
}

void AmberReader::read_residues()
{
    constexpr std::string_view name = "RESIDUE_POINTER";
    system_.residue_names = s_.words("RESIDUE_LABEL", n(Residues));
    system_.residue_starts = s_.integers(name, n(Residues));
    std::int32_t least = 1;
    for (std::size_t r = 0; r < system_.residue_starts.size(); ++r)
    {
        std::int32_t& start = system_.residue_starts[r];
        if (start < least || start > n(Atoms) || (r == 0 && start != 1))
        {
            s_.fail(
                "E123", name, static_cast<std::int64_t>(r),
                fmt::format("says that residue {} begins with atom {}, of {} atoms (residues follow one another). Correct it.",
                            r + 1, start, n(Atoms)));
        }
        least = start + 1;
        --start;
    }
    system_.residue_starts.push_back(static_cast<std::int32_t>(n(Atoms)));
}

// A pair of types has an index to its coefficients. A negative index points to a 10-12 potential, which is zero today.
void AmberReader::read_lennard_jones()
{
    constexpr std::string_view name = "NONBONDED_PARM_INDEX";
    const std::int64_t types = n(LjTypes), pairs = types * (types + 1) / 2;
    const std::vector<std::int32_t> index = s_.integers(name, types * types);
    const std::vector<double> a = s_.reals("LENNARD_JONES_ACOEF", pairs), b = s_.reals("LENNARD_JONES_BCOEF", pairs);
    const bool has_own_14 = is_of_charmm(s_);
    const std::vector<double> a_14 = has_own_14 ? s_.reals("LENNARD_JONES_14_ACOEF", pairs) : a,
                              b_14 = has_own_14 ? s_.reals("LENNARD_JONES_14_BCOEF", pairs) : b;
    std::vector<double> bonds_a, bonds_b;
    if (n(HydrogenBondTypes) > 0)
    {
        bonds_a = s_.reals("HBOND_ACOEF", n(HydrogenBondTypes)), bonds_b = s_.reals("HBOND_BCOEF", n(HydrogenBondTypes));
    }
    const double nm6 = 1e-6, nm12 = 1e-12; // per Angstrom^6, Angstrom^12
    system_.lennard_jones_types = static_cast<std::int32_t>(types);
    system_.c6.resize(index.size()), system_.c12.resize(index.size());
    system_.c6_14.resize(index.size()), system_.c12_14.resize(index.size());
    for (std::size_t i = 0; i < index.size(); ++i)
    {
        const auto place = static_cast<std::int64_t>(i);
        const std::int32_t k = index[i];
        if (k == 0 || k > pairs || -static_cast<std::int64_t>(k) > n(HydrogenBondTypes))
        {
            s_.fail("E123", name, place, fmt::format("points to coefficients {}, of {}. Correct it.", k, pairs));
        }
        if (index[static_cast<std::size_t>(place % types * types + place / types)] != k)
        {
            s_.fail("E123", name, place, "gives two types other coefficients in the other order. Correct it.");
        }
        if (k > 0)
        {
            system_.c6[i] = b[static_cast<std::size_t>(k - 1)] * calorie * nm6;
            system_.c12[i] = a[static_cast<std::size_t>(k - 1)] * calorie * nm12;
            system_.c6_14[i] = b_14[static_cast<std::size_t>(k - 1)] * calorie * nm6;
            system_.c12_14[i] = a_14[static_cast<std::size_t>(k - 1)] * calorie * nm12;
        }
        else if (bonds_a[static_cast<std::size_t>(-k - 1)] != 0 || bonds_b[static_cast<std::size_t>(-k - 1)] != 0)
        {
            s_.fail("E130", "HBOND_ACOEF", -k - 1,
                    "asks for a 10-12 potential, which is not supported (not planned). Nothing was run.");
        }
    }
}

void AmberReader::read_bonded_types()
{
    const std::vector<double> bond_k = s_.reals("BOND_FORCE_CONSTANT", n(BondTypes)),
                              length = s_.reals("BOND_EQUIL_VALUE", n(BondTypes)),
                              angle_k = s_.reals("ANGLE_FORCE_CONSTANT", n(AngleTypes)),
                              angle = s_.reals("ANGLE_EQUIL_VALUE", n(AngleTypes));
    for (std::size_t i = 0; i < bond_k.size(); ++i)
    {
        system_.bond_types.push_back(
            {length[i] * nm_per_angstrom, 2 * bond_k[i] * calorie / (nm_per_angstrom * nm_per_angstrom)});
    }
    for (std::size_t i = 0; i < angle_k.size(); ++i)
    {
        system_.angle_types.push_back({angle[i] / units::degree, 2 * angle_k[i] * calorie});
    }
}

// Returns SCEE or SCNB by type of dihedral. An older file without such a section has AMBER's usual value.
std::vector<double> AmberReader::divisors(std::string_view name, double usual) const
{
    const auto types = static_cast<std::size_t>(n(DihedralTypes));
    return s_.has(name) ? s_.reals(name, n(DihedralTypes)) : std::vector<double>(types, usual);
}

void AmberReader::read_dihedral_types()
{
    constexpr std::string_view periodicity = "DIHEDRAL_PERIODICITY";
    const std::vector<double> k = s_.reals("DIHEDRAL_FORCE_CONSTANT", n(DihedralTypes)),
                              times = s_.reals(periodicity, n(DihedralTypes)),
                              phase = s_.reals("DIHEDRAL_PHASE", n(DihedralTypes));
    for (std::size_t i = 0; i < k.size(); ++i)
    {
        constexpr double most = 100; // limit of a multiplicity, the same as for a .top
        if (times[i] != std::nearbyint(times[i]) || times[i] < 0 || times[i] > most)
        {
            s_.fail("E125", periodicity, static_cast<std::int64_t>(i),
                    fmt::format("has {}, which is not a whole number from 0 to {}. Correct it.", times[i], most));
        }
        system_.dihedral_types.push_back({phase[i] / units::degree, k[i] * calorie, times[i]});
    }
    system_.coulomb_divisors = divisors("SCEE_SCALE_FACTOR", 1.2);
    system_.lennard_jones_divisors = divisors("SCNB_SCALE_FACTOR", 2.0);
}

std::vector<AmberTerm> AmberReader::read_terms(std::string_view what, std::size_t atoms, Pointer with_hydrogen, Pointer without,
                                               std::size_t types) const
{
    std::vector<AmberTerm> terms;
    read_terms_of(std::string(what) + "_INC_HYDROGEN", atoms, n(with_hydrogen), types, terms);
    read_terms_of(std::string(what) + "_WITHOUT_HYDROGEN", atoms, n(without), types, terms);
    return terms;
}

// A term stores three times the number of each atom, from 0, and its type, from 1. In a dihedral the third number is negative
// if its end atoms are no 1-4 pair. The fourth is negative for an improper dihedral, whose end atoms are no pair, either.
void AmberReader::read_terms_of(const std::string& name, std::size_t atoms, std::int64_t count, std::size_t types,
                                std::vector<AmberTerm>& terms) const
{
    const std::size_t columns = atoms + 1;
    const std::vector<std::int32_t> numbers = s_.integers(name, count * static_cast<std::int64_t>(columns));
    terms.reserve(terms.size() + static_cast<std::size_t>(count));
    for (std::size_t first = 0; first < numbers.size(); first += columns)
    {
        AmberTerm& term = terms.emplace_back();
        const auto fail = [&](std::size_t column, const std::string& message) {
            s_.fail("E123", name, static_cast<std::int64_t>(first + column), message);
        };
        for (std::size_t i = 0; i < atoms; ++i)
        {
            const std::int32_t given = numbers[first + i], atom = std::abs(given) / 3;
            if (given % 3 != 0 || atom >= n(Atoms) || (given < 0 && (atoms != 4 || i < 2)))
            {
                fail(i,
                     fmt::format("has {} for an atom, which is not three times one of the {} atoms' numbers from 0. Correct it.",
                                 given, n(Atoms)));
            }
            term.atoms[i] = atom;
            const auto place = term.atoms.begin() + static_cast<std::ptrdiff_t>(i);
            if (std::find(term.atoms.begin(), place, atom) != place)
            {
                fail(i, fmt::format("has atom {} twice in one term. Correct it.", atom + 1));
            }
        }
        const std::int32_t type = numbers[first + atoms];
        if (type < 1 || static_cast<std::size_t>(type) > types)
        {
            fail(atoms, fmt::format("has type {} of {}. Correct it.", type, types));
        }
        term.type = type - 1;
        term.has_hydrogen = name.ends_with("_INC_HYDROGEN");
        if (atoms != 4) { continue; }
        term.is_improper = numbers[first + 3] < 0;
        term.has_pair = !term.is_improper && numbers[first + 2] >= 0;
    }
}

// Reads correction maps. Their values begin at -180 degrees, with the first angle slowest.
void AmberReader::read_maps()
{
    const std::string prefix = is_of_charmm(s_) ? "CHARMM_CMAP_" : "CMAP_", counts = prefix + "COUNT",
                      sides_of = prefix + "RESOLUTION";
    if (!s_.has(counts)) { return; }
    const std::vector<std::int32_t> count = s_.integers(counts, 2);
    if (count[0] < 0 || count[1] < 0) { s_.fail("E123", counts, 0, "has a negative number."); }
    const std::vector<std::int32_t> sides = s_.integers(sides_of, count[1]);
    for (std::int32_t m = 0; m < count[1]; ++m)
    {
        const std::int64_t side = sides[static_cast<std::size_t>(m)];
        if (side < 2 || side > 1000) { s_.fail("E125", sides_of, m, fmt::format("has a map of side {}.", side)); }
        InteractionParameters map = s_.reals(fmt::format("{}PARAMETER_{:02}", prefix, m + 1), side * side);
        for (double& value : map) { value *= calorie; }
        system_.map_types.push_back(std::move(map));
    }
    system_.maps = read_plain_terms(s_, prefix + "INDEX", 5, count[0], system_.size(), system_.map_types.size());
}

void AmberReader::read_exclusions()
{
    constexpr std::string_view name = "EXCLUDED_ATOMS_LIST";
    const std::vector<std::int32_t> counts = s_.integers("NUMBER_EXCLUDED_ATOMS", n(Atoms)),
                                    list = s_.integers(name, n(Excluded));
    std::int64_t at = 0;
    system_.exclusion_start.push_back(0);
    for (std::int64_t a = 0; a < n(Atoms); ++a)
    {
        const std::int32_t count = counts[static_cast<std::size_t>(a)];
        if (count < 0 || count > n(Excluded) - at)
        {
            s_.fail("E123", "NUMBER_EXCLUDED_ATOMS", a,
                    fmt::format("gives atom {} {} entries, and {} are left. Correct it.", a + 1, count, n(Excluded) - at));
        }
        for (const std::int64_t end = at + count; at < end; ++at)
        {
            const std::int32_t partner = list[static_cast<std::size_t>(at)];
            if (partner == 0) { continue; } // 0 is the entry of an atom without exclusions
            if (partner <= a + 1 || partner > n(Atoms))
            {
                s_.fail("E123", name, at,
                        fmt::format("excludes atom {} from atom {} (partners have higher numbers, of {} atoms). Correct it.",
                                    partner, a + 1, n(Atoms)));
            }
            system_.excluded.push_back(partner - 1);
        }
        system_.exclusion_start.push_back(static_cast<std::int64_t>(system_.excluded.size()));
    }
}

// The file has only the angle beta. In a truncated octahedron all angles equal beta.
void AmberReader::read_box()
{
    const bool is_general = n(Box) > 2; // the other angles are in the coordinate file
    if (n(Box) == 0 || is_general || !s_.has("BOX_DIMENSIONS")) { return; }
    const std::vector<double> box = s_.reals("BOX_DIMENSIONS", 4);
    const double beta = box[0];
    const Vec3<double> angles = n(Box) == 1 ? Vec3<double>{90, 90, 90} : Vec3<double>{beta, beta, beta};
    system_.box = AmberBox{{box[1] * nm_per_angstrom, box[2] * nm_per_angstrom, box[3] * nm_per_angstrom}, angles};
}

} // namespace

AmberSystem::AmberSystem(const AmberSections& sections) { AmberReader(sections, *this).read(); }

} // namespace parhelion
