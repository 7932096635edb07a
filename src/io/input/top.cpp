// SPDX-License-Identifier: Apache-2.0
// The order of sections in a topology: force field, molecules, system.
// The lines of sections are read by top_force_field and top_molecule.
#include "io/input/top.hpp"

#include "io/input/top_molecule.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <utility>

namespace parhelion {

namespace {

constexpr std::int64_t most_atoms_of_system = 2'000'000'000;

bool equal_but_for_case(std::string_view a, std::string_view b)
{
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char p, char q) { return lower(p) == lower(q); });
}

class TopologyReader
{
public:
    TopologyReader(MappedFile file, const TopologyOptions& options, Diagnostics& diagnostics)
        : file_(file.path().string()), source_(std::move(file), options.defines, options.include_paths, options.defined_at),
          acting_sections_(options.acting_sections), diagnostics_(diagnostics)
    {
    }

    Topology read();

private:
    struct Block
    {
        std::size_t draft;
        std::int64_t count;
        Place place;
    };

    void refuse_unsupported();
    void drop_remark(Fields& line);
    void enter_section(const Fields& line);
    void read_line(const Fields& line);
    void read_before_sections(const Fields& line);
    void read_force_field_line(const Fields& line);
    void read_molecule_type(const Fields& line);
    void read_molecules(const Fields& line);
    std::size_t find_molecule(const Fields& line);
    Topology build();

    std::string file_;
    Preprocessor source_;
    ErrorList errors_;
    bool is_whole_ = true;       // false once an input is missing that later lines need
    bool skips_section_ = false; // true in a section whose heading is wrong
    const std::vector<std::string>& acting_sections_;
    Diagnostics& diagnostics_;
    ForceField force_field_;
    const SectionInfo* section_ = nullptr;
    std::vector<MoleculeDraft> drafts_;
    std::vector<Block> blocks_;
    std::string title_;
    bool has_system_ = false;
};

Topology TopologyReader::read()
{
    SourceLine line;
    for (bool more = true; more;)
    {
        is_whole_ = errors_.attempt([&] { more = source_.next(line); }) && is_whole_;
        if (more && is_whole_)
        {
            errors_.attempt([&] {
                Fields fields(source_, line);
                drop_remark(fields);
                read_line(fields);
            });
        }
    }
    refuse_unsupported();
    errors_.throw_if_any();
    source_.warn_of_unused_defines(diagnostics_);
    return build();
}

// Refuses unsupported features in molecules that the system contains.
void TopologyReader::refuse_unsupported()
{
    std::set<std::size_t> contained;
    for (const Block& block : blocks_)
    {
        if (!contained.insert(block.draft).second) { continue; }
        errors_.attempt([&] { drafts_[block.draft].refuse_unsupported(source_); });
    }
}

// Removes a remark. An atom's line may end after mass and charge; as in GROMACS, a '#' behind both is state B's atom type.
void TopologyReader::drop_remark(Fields& line)
{
    if (section_ == nullptr || section_->section == Section::System || line.text().front() == '[') { return; }
    constexpr std::size_t charge = 6, mass = 7;
    const bool is_atom = section_->section == Section::Atoms;
    if (is_atom && line.size() > mass + 1 && line[mass + 1].starts_with('#')) { return; }
    if (!line.end_at_remark(is_atom ? charge : 1)) { return; }
    if (std::ranges::any_of(diagnostics_.notes, [](const Warning& note) { return note.id == "N171"; })) { return; }
    diagnostics_.note("N171", line.where(), "this is the first line with a remark behind '#', which is not read, as in GROMACS.");
}

void TopologyReader::enter_section(const Fields& line)
{
    std::string_view name = line.text().substr(1);
    const std::size_t end = name.find(']');
    const std::string_view behind = end == name.npos ? "" : trimmed(name.substr(end + 1));
    if (end == name.npos || !(behind.empty() || behind.starts_with('#')))
    {
        line.fail("E120", "a section heading is a name in brackets, alone on its line. Write [ name ].");
    }
    name = trimmed(name.substr(0, end));
    skips_section_ = true; // reset below if there is no error
    section_ = find_section(name);
    if (section_ == nullptr)
    {
        const std::string near = nearest_section(name);
        line.fail("E120",
                  "unknown section " + in_quotes(name) + "." + (near.empty() ? " Remove it." : " Did you mean '" + near + "'?"));
    }
    const bool is_asked_for = std::ranges::find(acting_sections_, section_->name) != acting_sections_.end();
    if (const SectionInfo* const skipped = idle(*section_); skipped != nullptr && !is_asked_for) { section_ = skipped; }
    const Section s = section_->section;
    const std::string shown = "[ " + std::string(section_->name) + " ]";
    if (s == Section::UnsupportedSystem) { line.fail("E130", std::string(section_->refusal) + ". Nothing was run."); }
    if (s != Section::Defaults && !force_field_.has_defaults())
    {
        is_whole_ = false;
        line.fail("E120", shown + " before [ defaults ] (which says how to read it). Include the force field first.");
    }
    if (in_force_field(s) && !drafts_.empty())
    {
        line.fail("E120", shown + " after the first [ moleculetype ] (the force field is complete by then). Move it up.");
    }
    if (in_molecule(s) && (drafts_.empty() || has_system_))
    {
        line.fail("E120", shown + " does not belong to a molecule. Put it after a [ moleculetype ] and before [ system ].");
    }
    skips_section_ = false;
    if (s == Section::System) { has_system_ = true; }
    if (s == Section::Molecules && !has_system_)
    {
        line.fail("E120", "[ molecules ] before [ system ]. Add [ system ] with a line for the title.");
    }
    if ((s == Section::SkippedTypes || s == Section::SkippedTerm) && !section_->refusal.empty())
    {
        diagnostics_.note("N020", line.where(), shown + " is skipped: " + std::string(section_->refusal) + ".");
    }
}

void TopologyReader::read_line(const Fields& line)
{
    if (line.text().front() == '[') { return enter_section(line); }
    if (skips_section_) { return; }
    if (section_ == nullptr) { return read_before_sections(line); }
    const Section s = section_->section;
    if (in_force_field(s)) { read_force_field_line(line); }
    else if (in_molecule(s)) { drafts_.back().read(line, *section_, force_field_, diagnostics_); }
    else if (s == Section::MoleculeType) { read_molecule_type(line); }
    else if (s == Section::System) { title_ = line.text(); }
    else { read_molecules(line); }
}

// Skips the banner of starred lines with which force fields begin. Other text here has most likely lost its section heading.
void TopologyReader::read_before_sections(const Fields& line)
{
    if (line.text().front() == '*') { return; }
    diagnostics_.warn("W023", line.where(), "text before the first section, " + in_quotes(line.text()) + ", is not used.");
}

void TopologyReader::read_force_field_line(const Fields& line)
{
    switch (section_->section)
    {
    case Section::Defaults:
        force_field_.read_defaults(line);
        break;
    case Section::AtomTypes:
        force_field_.read_atom_type(line, diagnostics_);
        break;
    case Section::PairTypes:
        force_field_.read_pair_type(line, diagnostics_);
        break;
    case Section::NonbondParameters:
        force_field_.read_nonbond_parameters(line, diagnostics_);
        break;
    case Section::SkippedTypes:
        break;
    default:
        force_field_.read_bonded_type(line, section_->section, diagnostics_);
        break;
    }
}

void TopologyReader::read_molecule_type(const Fields& line)
{
    const auto earlier =
        std::find_if(drafts_.begin(), drafts_.end(), [&](const MoleculeDraft& d) { return d.name() == line[0]; });
    const std::optional<Place> defined = earlier == drafts_.end() ? std::nullopt : std::optional(earlier->place());
    drafts_.emplace_back(line); // sections that follow belong to this molecule, even if it is wrong
    if (defined)
    {
        line.fail("E124", "molecule type " + in_quotes(line[0]) + " is defined already, at " + source_.where(*defined).text() +
                              ". Rename or remove one of them.");
    }
    drafts_.back().read_excluded_bonds(line);
}

// Returns the molecule with exactly this name, or the only one whose name differs in case alone.
std::size_t TopologyReader::find_molecule(const Fields& line)
{
    const std::string_view name = line[0];
    const auto index = [&](auto found) { return static_cast<std::size_t>(found - drafts_.begin()); };
    const auto exact = std::find_if(drafts_.begin(), drafts_.end(), [&](const MoleculeDraft& d) { return d.name() == name; });
    if (exact != drafts_.end()) { return index(exact); }
    const auto same_letters = [&](const MoleculeDraft& d) { return equal_but_for_case(d.name(), name); };
    if (std::count_if(drafts_.begin(), drafts_.end(), same_letters) == 1)
    {
        const auto found = std::find_if(drafts_.begin(), drafts_.end(), same_letters);
        diagnostics_.note("N022", line.where(), in_quotes(name) + " is read as molecule type " + in_quotes(found->name()) + ".");
        return index(found);
    }
    std::vector<std::string_view> known;
    for (const MoleculeDraft& d : drafts_) { known.push_back(d.name()); }
    const std::string near = nearest_word(name, known);
    line.fail("E132", "unknown molecule type " + in_quotes(name) + "." +
                          (near.empty() ? " Include the file that defines it." : " Did you mean '" + near + "'?"));
}

void TopologyReader::read_molecules(const Fields& line)
{
    const std::size_t draft = find_molecule(line);
    const std::int64_t count = line.integer(1, "number of molecules", 0, most_atoms_of_system);
    line.expect_at_most(2);
    if (count > 0) { blocks_.push_back({draft, count, line.place()}); }
}

Topology TopologyReader::build()
{
    if (blocks_.empty())
    {
        throw InputError("E132", {file_, 0},
                         "the topology has no molecules. Add [ molecules ] with a line for each kind of molecule.");
    }
    Topology topology;
    topology.name = title_;
    topology.combination_rule = force_field_.combination_rule();
    topology.fudge_qq = force_field_.fudge_qq();
    ParameterTable parameters(topology);
    std::vector<std::int32_t> type_of(static_cast<std::size_t>(force_field_.type_count()), -1), molecule_of(drafts_.size(), -1);
    for (const Block& block : blocks_)
    {
        std::int32_t& molecule = molecule_of[block.draft];
        if (molecule >= 0) { continue; }
        molecule = static_cast<std::int32_t>(topology.molecule_types.size());
        MoleculeType& type = topology.molecule_types.emplace_back();
        const MoleculeDraft& draft = drafts_[block.draft];
        errors_.attempt([&] { type = draft.resolve(source_, force_field_, topology, type_of, parameters); });
    }
    errors_.throw_if_any();
    std::int64_t atoms = 0;
    for (const Block& block : blocks_)
    {
        const auto size = static_cast<std::int64_t>(drafts_[block.draft].size());
        atoms += block.count * size;
        if (block.count > most_atoms_of_system / size || atoms > most_atoms_of_system)
        {
            throw InputError("E133", source_.where(block.place),
                             "the system has more than " + std::to_string(most_atoms_of_system) +
                                 " atoms. Reduce the number of molecules.");
        }
        topology.blocks.push_back({molecule_of[block.draft], block.count, 0});
    }
    const auto types = static_cast<std::size_t>(topology.types());
    topology.c6.resize(types * types);
    topology.c12.resize(types * types);
    for (std::int32_t i = 0; i < force_field_.type_count(); ++i)
    {
        for (std::int32_t j = 0; j < force_field_.type_count() && type_of[static_cast<std::size_t>(i)] >= 0; ++j)
        {
            if (type_of[static_cast<std::size_t>(j)] < 0) { continue; }
            const LennardJones lj = force_field_.lennard_jones(i, j);
            const std::size_t at = static_cast<std::size_t>(type_of[static_cast<std::size_t>(i)]) * types +
                                   static_cast<std::size_t>(type_of[static_cast<std::size_t>(j)]);
            topology.c6[at] = lj.c6;
            topology.c12[at] = lj.c12;
        }
    }
    topology.finish();
    return topology;
}

} // namespace

Topology read_topology(MappedFile file, const TopologyOptions& options, Diagnostics& diagnostics)
{
    return TopologyReader(std::move(file), options, diagnostics).read();
}

} // namespace parhelion
