// SPDX-License-Identifier: Apache-2.0
// Made-up liquids for the tests of pair list and pair forces: small molecules with exclusions, at random places, not too near
// each other.
#pragma once

#include "model/run_parameters.hpp"
#include "model/system.hpp"
#include "state/periodic_box.hpp"

#include <random>

namespace parhelion::test {

// The table of c6 and c12 for types a, b with sigma and epsilon.
inline void set_lennard_jones(Topology& topology, const std::vector<double>& sigma, const std::vector<double>& epsilon,
                              CombinationRule rule)
{
    topology.combination_rule = rule;
    for (std::size_t a = 0; a < sigma.size(); ++a)
    {
        for (std::size_t b = 0; b < sigma.size(); ++b)
        {
            const double s =
                rule == CombinationRule::LorentzBerthelot ? 0.5 * (sigma[a] + sigma[b]) : std::sqrt(sigma[a] * sigma[b]);
            const double e = std::sqrt(epsilon[a] * epsilon[b]);
            topology.c6.push_back(4 * e * std::pow(s, 6));
            topology.c12.push_back(4 * e * std::pow(s, 12));
        }
    }
}

// `copies` of a bent triatomic molecule (its three atoms exclude each other) and as many lone atoms as `ions`, in `box` (nm).
inline System random_liquid(const Box<double>& box, int copies, int ions, std::uint64_t seed,
                            CombinationRule rule = CombinationRule::GeometricSigmaEpsilon)
{
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<double> unit(0, 1);
    std::normal_distribution<double> normal;
    System system;
    Topology& topology = system.topology;
    topology.type_names = {"O", "H", "ION"};
    set_lennard_jones(topology, {0.31, 0.1, 0.25}, {0.65, 0, 0.2}, rule);

    MoleculeType bent, ion;
    bent.name = "BENT", ion.name = "ION";
    bent.atoms = {{"O", 0, 0, 16.0, -0.8}, {"H1", 1, 0, 1.0, 0.4}, {"H2", 1, 0, 1.0, 0.4}};
    bent.exclusion_start = {0, 2, 4, 6};
    bent.excluded = {1, 2, 0, 2, 0, 1};
    ion.atoms = {{"I", 2, 0, 23.0, 1.0}};
    ion.exclusion_start = {0, 0};
    bent.residues = ion.residues = {{"RES", 1}};
    topology.molecule_types = {bent, ion};
    topology.blocks = {{0, copies, 0}, {1, ions, 0}};
    topology.finish();
    topology.molecule_types[1].atoms[0].charge = -0.5;

    system.box = box;
    const auto wrapped_distance2 = [&](const Vec3<double>& d) { return norm2(box.image(d)); };
    const auto direction = [&] {
        const Vec3<double> v{normal(engine), normal(engine), normal(engine)};
        return (1 / norm(v)) * v;
    };
    std::vector<Vec3<double>> centres;
    for (int m = 0; m < copies + ions; ++m)
    {
        Vec3<double> centre;
        for (int attempt = 0; attempt < 1000; ++attempt)
        {
            centre = box.to_nm({unit(engine), unit(engine), unit(engine)});
            bool is_free = true;
            for (const Vec3<double>& other : centres) { is_free = is_free && wrapped_distance2(centre - other) > 0.24 * 0.24; }
            if (is_free) { break; }
        }
        centres.push_back(centre);
        system.x.push_back(centre);
        if (m < copies)
        {
            system.x.push_back(centre + 0.1 * direction());
            system.x.push_back(centre + 0.1 * direction());
        }
    }
    return system;
}

// Reaction field with infinite epsilon, shifted Lennard-Jones.
inline RunParameters reaction_field(double cutoff)
{
    RunParameters run;
    run.coulomb = CoulombKind::ReactionField;
    run.coulomb_cutoff = run.lj_cutoff = run.list_cutoff = cutoff;
    return run;
}

// Returns what PME leaves to pairs, besides shifted Lennard-Jones.
inline RunParameters pme(double cutoff)
{
    RunParameters run = reaction_field(cutoff);
    run.coulomb = CoulombKind::Pme;
    return run;
}

// Atoms as the state rounds them, so that a comparison sees the arithmetic and not the rounding of positions.
template <class N>
std::vector<Vec3<double>> stored_positions(const System& system)
{
    const PeriodicBox<N> box(system.box);
    std::vector<Vec3<double>> x;
    for (const Vec3<double>& p : system.x) { x.push_back(box.to_nm(box.to_fixed(p))); }
    return x;
}

// The options of the pair forces, in combinations that meet every formula.
struct NonbondedVariant
{
    const char* name;
    CombinationRule rule;
    void (*change)(System&, RunParameters&);
};
inline const NonbondedVariant nonbonded_variants[] = {
    {"geometric, shifted, reaction field", CombinationRule::GeometricSigmaEpsilon, [](System&, RunParameters&) {}},
    {"Lorentz-Berthelot", CombinationRule::LorentzBerthelot, [](System&, RunParameters&) {}},
    {"a table", CombinationRule::LorentzBerthelot,
     [](System& s, RunParameters&) { s.topology.c6[2] = s.topology.c6[6] = 3e-3, s.topology.c12[2] = s.topology.c12[6] = 4e-6; }},
    {"geometric, no modifier", CombinationRule::GeometricSigmaEpsilon,
     [](System&, RunParameters& r) { r.lj_modifier = LjModifier::None; }},
    {"geometric, force switch", CombinationRule::GeometricSigmaEpsilon,
     [](System&, RunParameters& r) { r.lj_modifier = LjModifier::ForceSwitch, r.lj_switch = 0.6; }},
    {"Lorentz-Berthelot, force switch from 0", CombinationRule::LorentzBerthelot,
     [](System&, RunParameters& r) { r.lj_modifier = LjModifier::ForceSwitch, r.lj_switch = 0; }},
    {"a table, force switch", CombinationRule::LorentzBerthelot,
     [](System& s, RunParameters& r) {
         s.topology.c6[1] = s.topology.c6[3] = 1e-3, r.lj_modifier = LjModifier::ForceSwitch, r.lj_switch = 0.5;
     }},
    {"geometric, potential switch", CombinationRule::GeometricSigmaEpsilon,
     [](System&, RunParameters& r) { r.lj_modifier = LjModifier::PotentialSwitch, r.lj_switch = 0.6; }},
    {"a table, potential switch", CombinationRule::LorentzBerthelot,
     [](System& s, RunParameters& r) {
         s.topology.c6[1] = s.topology.c6[3] = 1e-3, r.lj_modifier = LjModifier::PotentialSwitch, r.lj_switch = 0.75;
     }},
    {"PME, Lorentz-Berthelot, potential switch, rvdw shorter", CombinationRule::LorentzBerthelot,
     [](System&, RunParameters& r) {
         r.coulomb = CoulombKind::Pme, r.lj_cutoff = 0.8, r.lj_modifier = LjModifier::PotentialSwitch, r.lj_switch = 0.5;
     }},
    {"finite epsilon_rf", CombinationRule::GeometricSigmaEpsilon,
     [](System&, RunParameters& r) { r.epsilon_rf = 78, r.epsilon_r = 2; }},
    {"plain shifted cut-off", CombinationRule::GeometricSigmaEpsilon,
     [](System&, RunParameters& r) { r.coulomb = CoulombKind::CutOff; }},
    {"plain cut-off", CombinationRule::GeometricSigmaEpsilon,
     [](System&, RunParameters& r) { r.coulomb = CoulombKind::CutOff, r.coulomb_potential_shift = false; }},
    {"PME", CombinationRule::GeometricSigmaEpsilon, [](System&, RunParameters& r) { r.coulomb = CoulombKind::Pme; }},
    {"PME, Lorentz-Berthelot, force switch", CombinationRule::LorentzBerthelot,
     [](System&, RunParameters& r) { r.coulomb = CoulombKind::Pme, r.lj_modifier = LjModifier::ForceSwitch, r.lj_switch = 0.6; }},
    {"PME without shifts, Lorentz-Berthelot, rvdw shorter", CombinationRule::LorentzBerthelot,
     [](System&, RunParameters& r) {
         r.coulomb = CoulombKind::Pme, r.coulomb_potential_shift = false;
         r.lj_cutoff = 0.7, r.lj_modifier = LjModifier::None, r.epsilon_r = 2;
     }},
    {"PME with a tight ewald-rtol", CombinationRule::GeometricSigmaEpsilon,
     [](System&, RunParameters& r) { r.coulomb = CoulombKind::Pme, r.ewald_tolerance = 1e-12; }},
    {"PME with a tight ewald-rtol, Lorentz-Berthelot, force switch", CombinationRule::LorentzBerthelot,
     [](System&, RunParameters& r) {
         r.coulomb = CoulombKind::Pme, r.ewald_tolerance = 1e-13, r.lj_modifier = LjModifier::ForceSwitch, r.lj_switch = 0.6;
     }},
    {"PME, a table, force switch, rvdw shorter", CombinationRule::LorentzBerthelot,
     [](System& s, RunParameters& r) {
         s.topology.c6[1] = s.topology.c6[3] = 1e-3, r.coulomb = CoulombKind::Pme;
         r.lj_cutoff = 0.8, r.lj_modifier = LjModifier::ForceSwitch, r.lj_switch = 0.5;
     }},
};

// LJ-PME; GPUs have the geometric rule of the mesh alone.
inline const NonbondedVariant lj_mesh_variants[] = {
    {"LJ-PME, geometric", CombinationRule::GeometricSigmaEpsilon,
     [](System&, RunParameters& r) { r.coulomb = CoulombKind::Pme, r.has_lj_mesh = true; }},
    {"LJ-PME, geometric for Lorentz-Berthelot", CombinationRule::LorentzBerthelot,
     [](System&, RunParameters& r) { r.coulomb = CoulombKind::Pme, r.has_lj_mesh = true; }},
    {"LJ-PME, geometric for a table, tight tolerances, no modifier", CombinationRule::LorentzBerthelot,
     [](System& s, RunParameters& r) {
         s.topology.c6[1] = s.topology.c6[3] = 1e-3, r.coulomb = CoulombKind::Pme, r.has_lj_mesh = true;
         r.lj_modifier = LjModifier::None, r.lj_ewald_tolerance = 1e-9, r.ewald_tolerance = 1e-12;
     }},
    {"LJ-PME, Lorentz-Berthelot, no modifier", CombinationRule::LorentzBerthelot,
     [](System&, RunParameters& r) {
         r.coulomb = CoulombKind::Pme, r.has_lj_mesh = true, r.lj_modifier = LjModifier::None;
         r.lj_mesh_rule = LjMeshRule::LorentzBerthelot;
     }},
    {"LJ-PME, a table, tight tolerances", CombinationRule::LorentzBerthelot,
     [](System& s, RunParameters& r) {
         s.topology.c6[1] = s.topology.c6[3] = 1e-3, r.coulomb = CoulombKind::Pme, r.has_lj_mesh = true;
         r.lj_mesh_rule = LjMeshRule::LorentzBerthelot, r.lj_ewald_tolerance = 1e-9, r.ewald_tolerance = 1e-12;
     }},
};

} // namespace parhelion::test
