// SPDX-License-Identifier: Apache-2.0
// One [ moleculetype ]: first in the form of its lines (MoleculeDraft), then, only if the system uses
// it, with parameters and exclusions. The two stages allow a topology to define molecules that cannot
// be simulated, as the water files of force fields do: unsupported features stop only a run that
// contains them. A draft keeps a term in 40 bytes and its parameters, if any, in one shared array.
#pragma once

#include "io/input/error_list.hpp"
#include "io/input/site_geometry.hpp"
#include "io/input/top_force_field.hpp"

#include <map>
#include <optional>
#include <set>

namespace parhelion {

class MoleculeDraft
{
public:
    // The constructor and read_excluded_bonds() take the line below [ moleculetype ].
    explicit MoleculeDraft(const Fields& line) : name_(line[0]), place_(line.place()) {}
    void read_excluded_bonds(const Fields& line);

    const std::string& name() const { return name_; }
    std::size_t size() const { return atoms_.size(); }
    Place place() const { return place_; }

    // Reads one line of a section of the molecule. If it throws InputError,
    // other lines can still be read, but the molecule cannot be resolved.
    void read(const Fields& line, const SectionInfo& section, const ForceField& force_field, Diagnostics& diagnostics);

    // Throws InputError, or InputErrors, for all unsupported features in the molecule.
    void refuse_unsupported(const Preprocessor& source) const;

    // Returns the molecule for a simulation. Adds its parameters and atom types to `topology`.
    // type_of[force-field type] is the index there, or -1. Throws InputError, or InputErrors, for terms
    // without parameters and for impossible terms. Precondition: the molecule has no unsupported features.
    MoleculeType resolve(const Preprocessor& source, ForceField& force_field, Topology& topology,
                         std::vector<std::int32_t>& type_of, class ParameterTable& parameters) const;

private:
    struct Term
    {
        const TermForm* form;
        std::array<std::int32_t, most_atoms> atoms;
        std::int32_t parameters; // index into parameters_; -1: they are looked up by resolve()
        Place place;
    };
    struct SettleLine
    {
        Settle settle;
        Place place;
    };
    struct SiteLine
    {
        VirtualSite site;
        Place place;
        std::optional<SiteSide> of_shape; // set if the site's line has no parameters
    };
    // An atom that must be a virtual site because of its mass or the particle of its type.
    struct Massless
    {
        std::int32_t atom;
        Place place;
    };

    void read_atom(const Fields& line, const ForceField& force_field, Diagnostics& diagnostics);
    void read_term(const Fields& line, const SectionInfo& section, Diagnostics& diagnostics);
    void note_restrained_pair(const Fields& line, const InteractionParameters& p);
    void read_settle(const Fields& line);
    void read_exclusions(const Fields& line);
    // These functions read virtual sites (top_sites.cpp).
    void read_site(const Fields& line, const SectionInfo& section);
    void read_mean_site(const Fields& line);
    void add_site(const Fields& line, VirtualSite&& site, std::optional<SiteSide> of_shape = {});
    std::vector<VirtualSite> resolve_sites(const Preprocessor& source) const;
    void shape_sites(const Preprocessor& source, const ForceField& force_field, const Topology& topology,
                     MoleculeType& molecule) const;
    void expect_masses(const Preprocessor& source) const;
    void note_unsupported(const Fields& line, std::string what);
    std::string describe(const Term& term) const;
    void add_term(const Term& term, const Preprocessor& source, ForceField& force_field, ParameterTable& parameters,
                  MoleculeType& molecule) const;
    void add_settles(const Preprocessor& source, MoleculeType& molecule) const;
    void add_exclusions(const Preprocessor& source, MoleculeType& molecule) const;

    std::string name_;
    Place place_;
    bool is_misnumbered_ = false; // true if atom numbers are wrong, so that terms refer to wrong atoms
    int excluded_bonds_ = 0;      // nrexcl
    std::vector<Atom> atoms_;     // in these atoms Atom::type is an index in the force field
    std::vector<Residue> residues_;
    std::string last_residue_number_;
    std::vector<Term> terms_;
    std::vector<InteractionParameters> parameters_;
    std::map<double, int> restrained_pairs_; // number of pairs of each distance restraint, by its index
    InteractionParameters last_restraint_;   // parameters, including index and type of averaging
    std::vector<SettleLine> settles_;
    std::vector<SiteLine> sites_;
    std::set<std::int32_t> constructed_; // atoms that are virtual sites
    std::vector<std::pair<std::int32_t, std::int32_t>> exclusions_;
    std::vector<std::pair<Place, std::string>> unsupported_; // first feature of each unsupported kind, which would stop a run
    std::vector<Massless> massless_;
};

// The parameter lists of a Topology while they grow. Equal parameters of one kind are stored once.
class ParameterTable
{
public:
    explicit ParameterTable(Topology& topology) : topology_(topology) {}
    std::int32_t add(InteractionKind kind, const InteractionParameters& p);

private:
    Topology& topology_;
    std::array<std::map<InteractionParameters, std::int32_t>, interaction_kinds> index_;
};

// Fills exclusion_start and excluded of the molecule: for each atom, the atoms within `bonds` steps
// along the edges `bonded`, and the partners in `extra`. Returns false if there are more than `most`.
bool generate_exclusions(MoleculeType& molecule, const std::vector<std::pair<std::int32_t, std::int32_t>>& bonded, int bonds,
                         const std::vector<std::pair<std::int32_t, std::int32_t>>& extra, std::size_t most);

} // namespace parhelion
