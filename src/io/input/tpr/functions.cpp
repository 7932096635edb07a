// SPDX-License-Identifier: Apache-2.0
#include "io/input/tpr/functions.hpp"

#include <algorithm>
#include <span>

namespace parhelion {

// The table has its own namespace, because its names are short and several files are compiled together.
namespace tpr_table {

using enum TprUse;
using Kind = InteractionKind;

constexpr int always = 0, still = 999; // used for functions without a first version, without a last version

constexpr TprFunction term(std::string_view name, int atoms, std::string_view own, int state_b, Kind kind,
                           std::string_view shared = "")
{
    return {.name = name,
            .since = always,
            .until = still,
            .atoms = atoms,
            .own = own,
            .state_b = state_b,
            .shared = shared,
            .use = Interaction,
            .kind = kind};
}
constexpr TprFunction refused(std::string_view name, int atoms, std::string_view own, int state_b = 0,
                              std::string_view shared = "")
{
    return {.name = name, .since = always, .until = still, .atoms = atoms, .own = own, .state_b = state_b, .shared = shared};
}
constexpr TprFunction energy(std::string_view name, int since = always)
{
    return {.name = name, .since = since, .until = still, .atoms = 0, .own = "", .use = Energy};
}
constexpr TprFunction other(std::string_view name, int atoms, std::string_view own, int state_b, TprUse use)
{
    return {.name = name, .since = always, .until = still, .atoms = atoms, .own = own, .state_b = state_b, .use = use};
}
constexpr TprFunction site(std::string_view name, int since, int atoms, std::string_view own, SiteKind kind)
{
    return {.name = name, .since = since, .until = still, .atoms = atoms, .own = own, .use = Site, .site = kind};
}

// Returns the row of a function for file versions up to `version`. A function has one row for each layout of its numbers.
constexpr TprFunction until(int version, TprFunction function)
{
    function.until = version;
    return function;
}
constexpr TprFunction since(int version, TprFunction function)
{
    function.since = version;
    return function;
}

constexpr std::string_view fourier_coefficients = "rrrrrr";

// Rows are in the order of file version 139. A file version has the rows whose range of versions includes it.
constexpr TprFunction functions[] = {
    term("bond", 2, "rr", 2, Kind::HarmonicBond),
    term("G96 bond", 2, "rr", 2, Kind::G96Bond),
    term("Morse bond", 2, "rrr", 3, Kind::MorseBond),
    term("cubic bond", 2, "rrr", 0, Kind::CubicBond),
    other("connection", 2, "", 0, Nothing),
    term("harmonic potential", 2, "rr", 2, Kind::HarmonicPotential),
    term("FENE bond", 2, "rr", 0, Kind::FeneBond),
    refused("tabulated bond", 2, "rir"),
    refused("tabulated bond without exclusions", 2, "rir"),
    term("restraint of a distance (bonds of type 10)", 2, "rrrr", 4, Kind::BoundedBond),
    term("angle", 3, "rr", 2, Kind::HarmonicAngle),
    term("G96 angle", 3, "rr", 2, Kind::G96Angle),
    until(133, term("restricted angle", 3, "rr", 0, Kind::RestrictedAngle)),
    since(134, term("restricted angle", 3, "rr", 2, Kind::RestrictedAngle)),
    refused("linear angle", 3, "rr", 2),
    term("cross bond-bond", 3, "rrr", 0, Kind::CrossBondBond),
    term("cross bond-angle", 3, "rrrr", 0, Kind::CrossBondAngle),
    term("Urey-Bradley angle", 3, "rrrr", 4, Kind::UreyBradley),
    term("quartic angle", 3, "rrrrrr", 0, Kind::QuarticAngle),
    refused("tabulated angle", 3, "rir"),
    term("proper dihedral", 4, "rr", 2, Kind::ProperDihedral, "i"),
    term("Ryckaert-Bellemans dihedral", 4, fourier_coefficients, 6, Kind::RyckaertBellemans),
    until(133, term("restricted dihedral", 4, "rr", 0, Kind::RestrictedDihedral)),
    since(134, term("restricted dihedral", 4, "rr", 2, Kind::RestrictedDihedral)),
    until(133, term("combined bending-torsion", 4, "rrrrrr", 0, Kind::BendingTorsion)),
    since(134, term("combined bending-torsion", 4, "rrrrrr", 6, Kind::BendingTorsion)),
    term("Fourier dihedral", 4, fourier_coefficients, 6, Kind::RyckaertBellemans), // the file has the converted coefficients
    term("improper dihedral", 4, "rr", 2, Kind::HarmonicImproper),
    term("periodic improper", 4, "rr", 2, Kind::PeriodicImproper, "i"),
    refused("tabulated dihedral", 4, "rir"),
    term("CMAP correction", 5, "i", 1, Kind::Cmap),
    until(112, refused("implicit solvent, 1-2", 2, "rrrrr")),
    since(113, energy("GB 1-2")),
    until(112, refused("implicit solvent, 1-3", 2, "rrrrr")),
    since(113, energy("GB 1-3")),
    until(112, refused("implicit solvent, 1-4", 2, "rrrrr")),
    since(113, energy("GB 1-4")),
    energy("GB polarisation"),
    energy("non-polar solvation"),
    term("1-4 pair", 2, "rr", 2, Kind::Pair14),
    energy("Coulomb 1-4"),
    term("1-4 pair with charges of its own (pairs of type 2)", 2, "rrrrr", 0, Kind::Pair14),
    term("pair with charges of its own (pairs_nb, or couple-intramol = no)", 2, "rrrr", 0, Kind::NonbondedPair),
    other("Lennard-Jones", 0, "rr", 0, NonBonded),
    other("Buckingham", 0, "rrr", 0, Buckingham),
    energy("LJ (LR)"),
    energy("Buckingham (LR)"),
    energy("dispersion correction"),
    energy("Coulomb"),
    energy("Coulomb (LR)"),
    energy("reaction field of exclusions"),
    energy("Coulomb of the mesh"),
    energy("LJ of the mesh"),
    energy("DPD"),
    refused("polarisation", 2, "r"),
    refused("polarisation of water", 5, "rrrrrr"),
    until(126, refused("Thole polarisation", 4, "rrrr")),
    since(127, refused("Thole polarisation", 4, "rrr")),
    refused("anharmonic polarisation", 2, "rrr"),
    term("position restraint", 1, "vv", 6, Kind::PositionRestraint),
    term("flat-bottomed position restraint", 1, "ivrr", 0, Kind::FlatBottomRestraint),
    term("distance restraint", 2, "iirrrr", 0, Kind::DistanceRestraint),
    energy("violation of distance restraints"),
    refused("orientation restraint", 2, "iiirrr"),
    energy("deviation of orientation restraints"),
    term("angle restraint", 4, "rr", 2, Kind::AngleRestraint, "i"),
    term("angle restraint to z", 2, "rr", 2, Kind::AngleRestraintZ, "i"),
    term("dihedral restraint", 4, "rrr", 3, Kind::DihedralRestraint),
    energy("violation of dihedral restraints"),
    other("constraint", 2, "r", 1, Constraint),
    other("constraint without a bond", 2, "r", 1, Constraint),
    other("settle", 3, "rr", 0, Settle),
    site("virtual site on an atom", 121, 2, "", SiteKind::Linear),
    site("virtual site of two", always, 3, "r", SiteKind::Linear),
    site("virtual site at a distance from one of two", 118, 3, "r", SiteKind::FixedDistance2),
    site("virtual site of three", always, 4, "rr", SiteKind::Linear),
    site("virtual site at a distance from one of three", always, 4, "rr", SiteKind::FixedDistance3),
    site("virtual site at a distance and angle", always, 4, "rr", SiteKind::FixedAngle3),
    site("virtual site out of a plane", always, 4, "rrr", SiteKind::OutOfPlane3),
    refused("virtual site of four, of type 1 (4fd)", 5, "rrr"),
    site("virtual site of four", always, 5, "rrr", SiteKind::FixedDistance4),
    other("virtual site of any number", 2, "ir", 0, SiteRow),
    energy("pulling"),
    energy("density fitting", 117),
    energy("QM"),
    energy("neural network", 137),
    energy("potential"),
    energy("kinetic energy"),
    energy("total energy"),
    energy("conserved energy"),
    energy("temperature"),
    energy("temperature of virial"),
    energy("pressure of dispersion correction"),
    energy("pressure"),
    energy("dH/dl of constraints"),
    energy("dV/dl"),
    energy("dK/dl"),
    energy("dVcoul/dl"),
    energy("dVvdw/dl"),
    energy("dVbonded/dl"),
    energy("dVrestraint/dl"),
    energy("dVtemperature/dl"),
};

static void read_numbers(TprCursor& cursor, std::string_view kinds, std::vector<double>& numbers)
{
    for (const char kind : kinds)
    {
        if (kind == 'i') { numbers.push_back(cursor.integer()); }
        for (int reals = kind == 'v' ? 3 : kind == 'r' ? 1 : 0; reals > 0; --reals) { numbers.push_back(cursor.real()); }
    }
}

} // namespace tpr_table

std::vector<const TprFunction*> tpr_functions(int version)
{
    std::vector<const TprFunction*> known;
    for (const TprFunction& function : tpr_table::functions)
    {
        if (function.since <= version && version <= function.until) { known.push_back(&function); }
    }
    return known;
}

TprFunctionType read_function_type(TprCursor& cursor, const TprFunction& function)
{
    TprFunctionType type{&function, {}, false};
    using tpr_table::read_numbers;
    read_numbers(cursor, function.own, type.parameters);
    if (function.state_b > 0)
    {
        std::vector<double> of_b;
        const bool is_integer = function.own[0] == 'i', is_vector = function.own[0] == 'v';
        const auto count = static_cast<std::size_t>(function.state_b);
        read_numbers(cursor, std::string(is_vector ? count / 3 : count, is_integer ? 'i' : is_vector ? 'v' : 'r'), of_b);
        type.differs_in_b = !std::ranges::equal(of_b, std::span(type.parameters).first(count));
    }
    read_numbers(cursor, function.shared, type.parameters);
    return type;
}

} // namespace parhelion
