// SPDX-License-Identifier: Apache-2.0
#include "run/energy_table.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "model/minimisers.hpp"

#include <algorithm>

namespace parhelion {

namespace {

bool has_lincs(const Topology& topology)
{
    return std::ranges::any_of(topology.blocks, [&](const MoleculeBlock& block) {
        return !topology.molecule_types[static_cast<std::size_t>(block.type)].constraints.empty();
    });
}

// Returns the mean, which is exact if all three numbers are equal.
double mean(const Vec3<double>& a) { return a.x + ((a.y - a.x) + (a.z - a.x)) / 3; }

} // namespace

EnergyTable::EnergyTable(const Topology& topology, const RunParameters& parameters, const Box<double>& box,
                         ExternalForcesAct external)
    : has_external_(external == ExternalForcesAct::Yes),
      dispersion_(parameters.dispersion_correction != DispersionCorrection::None),
      pressure_coupled_(parameters.barostat != Barostat::None),
      has_lincs_(has_lincs(topology) && !is_minimisation(parameters.integrator)),
      has_box_velocity_(parameters.barostat == Barostat::ParrinelloRahman),
      is_tilted_(!box.is_rectangular() || parameters.shear_compressibility != Vec3<double>{}),
      is_sheared_(has_box_velocity_ && parameters.shear_compressibility != Vec3<double>{}),
      has_surface_tension_(pressure_coupled_ && parameters.box_coupling != BoxCoupling::Isotropic), mass_(topology.total_mass()),
      reference_pressure_(mean(parameters.reference_pressure))
{
    std::array<bool, energy_terms> present{};
    for (const InteractionRow& row : interaction_table)
    {
        if (topology.interaction_count(row.kind) == 0) { continue; }
        for (const EnergyTerm term : row.energy) { present[static_cast<std::size_t>(term)] = true; }
    }
    present[static_cast<std::size_t>(EnergyTerm::LjSr)] = present[static_cast<std::size_t>(EnergyTerm::CoulombSr)] = true;
    present[static_cast<std::size_t>(EnergyTerm::CoulombReciprocal)] = parameters.coulomb == CoulombKind::Pme;
    present[static_cast<std::size_t>(EnergyTerm::LjReciprocal)] = parameters.has_lj_mesh;
    present[static_cast<std::size_t>(EnergyTerm::DispersionCorrection)] = dispersion_;
    for (const EnergyTermRow& row : energy_term_table)
    {
        if (!present[static_cast<std::size_t>(row.term)]) { continue; }
        terms_.push_back(row.term);
        names_.emplace_back(row.name);
    }
    if (has_external_) { names_.emplace_back("External"); }
    for (const char* name : {"Potential", "Kinetic En.", "Total Energy", "Conserved En.", "Temperature"})
    {
        names_.emplace_back(name);
    }
    if (dispersion_) { names_.emplace_back("Pres. DC"); }
    names_.emplace_back("Pressure");
    if (has_lincs_) { names_.emplace_back("Constr. rmsd"); }
    if (pressure_coupled_)
    {
        // GROMACS' names.
        if (is_tilted_) { names_.insert(names_.end(), {"Box-XX", "Box-YY", "Box-ZZ", "Box-YX", "Box-ZX", "Box-ZY"}); }
        else { names_.insert(names_.end(), {"Box-X", "Box-Y", "Box-Z"}); }
        names_.insert(names_.end(), {"Volume", "Density", "pV", "Enthalpy"});
    }
    for (const char* tensor : {"Vir-", "Pres-"})
    {
        for (const char* element : {"XX", "XY", "XZ", "YX", "YY", "YZ", "ZX", "ZY", "ZZ"})
        {
            names_.push_back(std::string(tensor) + element);
        }
    }
    if (has_surface_tension_) { names_.emplace_back("#Surf*SurfTen"); }
    if (has_box_velocity_)
    {
        for (const char* name : {"Box-Vel-XX", "Box-Vel-YY", "Box-Vel-ZZ"}) { names_.emplace_back(name); }
        if (is_sheared_) { names_.insert(names_.end(), {"Box-Vel-YX", "Box-Vel-ZX", "Box-Vel-ZY"}); }
    }
    if (parameters.temperature_groups.empty()) { names_.emplace_back("T-rest"); }
    for (const TemperatureGroup& group : parameters.temperature_groups) { names_.push_back("T-" + group.name); }
}

std::vector<double> EnergyTable::values(const Observables& o) const
{
    std::vector<double> v;
    v.reserve(names_.size());
    for (const EnergyTerm term : terms_) { v.push_back(o.forces[term]); }
    if (has_external_) { v.push_back(o.external); }
    v.insert(v.end(), {o.potential, o.kinetic_energy, o.total, o.conserved, o.temperature});
    if (dispersion_) { v.push_back(o.pressure_correction); }
    v.push_back(o.pressure);
    if (has_lincs_) { v.push_back(o.constraint_rmsd); }
    if (pressure_coupled_)
    {
        const double volume = o.box.volume();
        const Vec3<double>&diagonal = o.box.diagonal(), &tilt = o.box.tilt();
        const double pv = volume * reference_pressure_ / units::bar_per_kj_mol_nm3;
        v.insert(v.end(), {diagonal.x, diagonal.y, diagonal.z});
        if (is_tilted_) { v.insert(v.end(), {tilt.x, tilt.y, tilt.z}); }
        v.insert(v.end(), {volume, mass_ / volume * units::kg_per_m3, pv, o.total + pv});
    }
    for (const Mat3<double>& tensor : {o.virial, o.pressure_tensor})
    {
        for (int a = 0; a < 3; ++a)
        {
            for (int b = 0; b < 3; ++b) { v.push_back(tensor[a][b]); }
        }
    }
    if (has_surface_tension_)
    {
        const Vec3<double> p = diagonal(o.pressure_tensor);
        v.push_back(o.box.diagonal().z * (p.z - 0.5 * (p.x + p.y))); // bar nm
    }
    if (has_box_velocity_) { v.insert(v.end(), {o.box_velocity.x, o.box_velocity.y, o.box_velocity.z}); }
    if (is_sheared_) { v.insert(v.end(), {o.tilt_velocity.x, o.tilt_velocity.y, o.tilt_velocity.z}); }
    v.insert(v.end(), o.group_temperature.begin(), o.group_temperature.end());
    PARHELION_EXPECTS(v.size() == names_.size());
    return v;
}

} // namespace parhelion
