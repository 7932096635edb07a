// SPDX-License-Identifier: Apache-2.0
// One [ moleculetype ]: first as its lines say (MoleculeDraft), then, only if the system uses it, with parameters looked up and
// exclusions worked out. The two stages let a topology define molecules that could not be simulated, as the water files of force
// fields do: what is unsupported stops only a run that contains it. A draft keeps a term in 40 bytes and its parameters, if any,
// in one shared array.
#pragma once

#include "io/error_list.hpp"
#include "io/site_geometry.hpp"
#include "io/top_force_field.hpp"

#include <map>
#include <optional>
#include <set>

namespace parhelion {

class MoleculeDraft
{
public:
    // Both from the line below [ moleculetype ].
    explicit MoleculeDraft(const Fields& line) : name_(line[0]), place_(line.place()) {}
    void read_excluded_bonds(const Fields& line);

    const std::string& name() const { return name_; }
    std::size_t size() const { return atoms_.size(); }
    Place place() const { return place_; }

    // One line of a section of the molecule; throws InputError. Then the others can still be read, but there is no molecule to
    // resolve.
    void read(const Fields& line, const SectionInfo& section, const ForceField& force_field, Diagnostics& diagnostics);

    // Throws InputError, or InputErrors, for all that is unsupported in it.
    void refuse_unsupported(const Preprocessor& source) const;

    // The molecule for a simulation, if nothing in it is unsupported: adds its parameters and atom types to `topology`
    // (type_of[force-field type] = index there, or -1), throws InputError, or InputErrors, for what has no parameters or cannot
    // be.
    MoleculeType resolve(const Preprocessor& source, ForceField& force_field, Topology& topology,
                         std::vector<std::int32_t>& type_of, class ParameterTable& parameters) const;

private:
    struct Term
    {
        const TermForm* form;
        std::array<std::int32_t, most_atoms> atoms;
        std::int32_t parameters; // index into parameters_, or -1: to be looked up
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
        std::optional<SiteSide> of_shape; // the line has no parameters
    };
    // An atom that must be a virtual site, as its mass or the particle of its type says.
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
    // These read virtual sites (top_sites.cpp).
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
    bool is_misnumbered_ = false; // so that its terms name other atoms than they mean
    int excluded_bonds_ = 0;      // nrexcl
    std::vector<Atom> atoms_;     // Atom::type is still the force field's index
    std::vector<Residue> residues_;
    std::string last_residue_number_;
    std::vector<Term> terms_;
    std::vector<InteractionParameters> parameters_;
    std::map<double, int> restrained_pairs_; // of its distance restraints, by index
    InteractionParameters last_restraint_;   // with its index and its type of averaging
    std::vector<SettleLine> settles_;
    std::vector<SiteLine> sites_;
    std::set<std::int32_t> constructed_; // their atoms
    std::vector<std::pair<std::int32_t, std::int32_t>> exclusions_;
    std::vector<std::pair<Place, std::string>> unsupported_; // of each kind the first that a simulation would trip over
    std::vector<Massless> massless_;
};

// The parameter lists of a Topology while they grow: equal parameters of one kind are kept once.
class ParameterTable
{
public:
    explicit ParameterTable(Topology& topology) : topology_(topology) {}
    std::int32_t add(InteractionKind kind, const InteractionParameters& p);

private:
    Topology& topology_;
    std::array<std::map<InteractionParameters, std::int32_t>, interaction_kinds> index_;
};

// Fills in exclusion_start and excluded: for each atom those within `bonds` steps along the edges `bonded`, and the pairs
// `extra`. Returns false if there are more than `most`.
bool generate_exclusions(MoleculeType& molecule, const std::vector<std::pair<std::int32_t, std::int32_t>>& bonded, int bonds,
                         const std::vector<std::pair<std::int32_t, std::int32_t>>& extra, std::size_t most);

} // namespace parhelion
