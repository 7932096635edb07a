// SPDX-License-Identifier: Apache-2.0
#include "io/input/tpr/topology.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace parhelion {

namespace {

class TprTopologyReader
{
public:
    TprTopologyReader(TprCursor& cursor, const TprHeader& header)
        : cursor_(cursor), header_(header), functions_(tpr_functions(header.version))
    {
    }

    TprTopology read()
    {
        const std::size_t count = cursor_.count("symbols", 8);
        symbols_.reserve(count);
        for (std::size_t i = 0; i < count; ++i)
        {
            symbols_.push_back(cursor_.text());
            // Control characters are replaced, because names are printed to the terminal.
            std::ranges::replace_if(
                symbols_.back(), [](unsigned char c) { return std::iscntrl(c) != 0; }, '?');
        }
        topology_.name = symbol();
        force_field();
        const std::size_t molecules = cursor_.count("molecule types", 4 * functions_.size());
        for (std::size_t i = 0; i < molecules; ++i) { topology_.molecules.push_back(molecule()); }
        blocks();
        topology_.has_intermolecular = cursor_.truth();
        if (topology_.has_intermolecular) { lists(static_cast<std::size_t>(header_.atoms)); }
        atom_types();
        maps();
        groups();
        exclusion_group();
        return std::move(topology_);
    }

private:
    const std::string& symbol() { return symbols_[static_cast<std::size_t>(cursor_.index("a name", symbols_.size()))]; }

    void force_field()
    {
        const std::size_t least = 4;
        topology_.atom_types = cursor_.integer();
        const std::size_t count = cursor_.count("function types", least);
        const std::vector<std::int32_t> numbers = cursor_.integers(count);
        topology_.repulsion_power = cursor_.real64();
        topology_.fudge_qq = cursor_.real();
        topology_.function_types.reserve(count);
        for (const std::int32_t number : numbers)
        {
            if (number < 0 || static_cast<std::size_t>(number) >= functions_.size())
            {
                cursor_.fail(fmt::format("function {} of {} is not known", number, functions_.size()));
            }
            topology_.function_types.push_back(read_function_type(cursor_, *functions_[static_cast<std::size_t>(number)]));
        }
        check_matrix();
    }

    // The first function types form the square matrix of all pairs of atom types. Later ones must be of another kind.
    void check_matrix()
    {
        const auto types = static_cast<std::size_t>(std::max(topology_.atom_types, 0));
        const std::vector<TprFunctionType>& all = topology_.function_types;
        if (types == 0 || types > all.size() / types) { cursor_.fail("the matrix of non-bonded parameters is not whole"); }
        for (std::size_t i = 0; i < all.size(); ++i)
        {
            const TprUse use = all[i].function->use;
            const bool is_pair = use == TprUse::NonBonded || use == TprUse::Buckingham;
            if (use == TprUse::Energy || is_pair != (i < types * types) || (is_pair && use != all[0].function->use))
            {
                cursor_.fail("function types are not in order");
            }
        }
    }

    TprMolecule molecule()
    {
        TprMolecule molecule;
        molecule.type.name = symbol();
        atoms(molecule);
        molecule.lists = lists(molecule.type.atoms.size());
        molecule.differs_in_b |= std::ranges::any_of(molecule.lists, [&](const TprList& list) { return has_state_b(list); });
        const std::size_t charge_groups = cursor_.count("charge groups", 4);
        cursor_.skip_integers(charge_groups + 1);
        exclusions(molecule.type);
        return molecule;
    }

    void atoms(TprMolecule& molecule)
    {
        constexpr std::size_t least = 36; // bytes, packed: four reals, two short and three ordinary integers, three names
        const std::size_t count = cursor_.count("atoms of a molecule", least);
        const std::size_t residues = cursor_.count("residues", 9);
        if (count == 0) { cursor_.fail("a molecule type has no atoms"); }
        for (std::size_t i = 0; i < count; ++i)
        {
            Atom& atom = molecule.type.atoms.emplace_back();
            atom.mass = cursor_.real();
            atom.charge = cursor_.real();
            const double mass_b = cursor_.real(), charge_b = cursor_.real();
            atom.type = cursor_.short_integer();
            const int type_b = cursor_.short_integer();
            if (std::max(atom.type, type_b) >= topology_.atom_types) { cursor_.fail("an atom has a type that is not there"); }
            molecule.differs_in_b |= mass_b != atom.mass || charge_b != atom.charge || type_b != atom.type;
            molecule.particles.push_back(cursor_.integer());
            atom.residue = cursor_.index("a residue", residues);
            cursor_.skip_integers(1); // atomic number
        }
        for (Atom& atom : molecule.type.atoms) { atom.name = symbol(); }
        for (std::size_t i = 0; i < count; ++i) { molecule.type_names.push_back(symbol()); }
        for (std::size_t i = 0; i < count; ++i) { symbol(); } // atom type of state B
        for (std::size_t i = 0; i < residues; ++i)
        {
            Residue& residue = molecule.type.residues.emplace_back();
            residue.name = symbol();
            residue.number = cursor_.integer();
            cursor_.byte(); // insertion code
        }
    }

    bool has_state_b(const TprList& list) const
    {
        const std::size_t size = 1 + static_cast<std::size_t>(list.function->atoms);
        for (std::size_t i = 0; i < list.entries.size(); i += size)
        {
            const std::int32_t type = list.entries[i];
            if (type >= 0 && topology_.function_types[static_cast<std::size_t>(type)].differs_in_b) { return true; }
        }
        return false;
    }

    std::vector<TprList> lists(std::size_t atoms)
    {
        std::vector<TprList> found;
        for (const TprFunction* const function : functions_)
        {
            const std::size_t count = cursor_.count("entries of interactions", 4);
            if (count == 0) { continue; }
            TprList list{function, cursor_.integers(count)};
            check(list, atoms);
            found.push_back(std::move(list));
        }
        return found;
    }
    void check(const TprList& list, std::size_t atoms) const
    {
        const auto size = 1 + static_cast<std::size_t>(list.function->atoms);
        const std::vector<std::int32_t>& entries = list.entries;
        if (size == 1 || entries.size() % size != 0)
        {
            cursor_.fail(fmt::format("the list of '{}' has {} numbers", list.function->name, entries.size()));
        }
        for (std::size_t i = 0; i < entries.size(); ++i)
        {
            const bool is_type = i % size == 0;
            if (is_type && entries[i] == -1 && list.function->use == TprUse::Nothing) { continue; }
            const std::size_t end = is_type ? topology_.function_types.size() : atoms;
            const bool is_there = entries[i] >= 0 && static_cast<std::size_t>(entries[i]) < end;
            if (is_there && (!is_type || function_of(entries[i]) == list.function)) { continue; }
            cursor_.fail(fmt::format("{} {} of the list of '{}' is not there", is_type ? "function type" : "atom", entries[i],
                                     list.function->name));
        }
    }
    const TprFunction* function_of(std::int32_t type) const
    {
        return topology_.function_types[static_cast<std::size_t>(type)].function;
    }

    // Removes the atom itself from its list of exclusions, because MoleculeType does not list it.
    void exclusions(MoleculeType& molecule)
    {
        const std::size_t atoms = cursor_.count("lists of exclusions", 4), total = cursor_.count("exclusions", 4);
        if (atoms != molecule.atoms.size()) { cursor_.fail("there are not as many lists of exclusions as atoms"); }
        const std::vector<std::int32_t> start = cursor_.integers(atoms + 1);
        if (start.front() != 0 || static_cast<std::size_t>(start.back()) != total || !std::ranges::is_sorted(start))
        {
            cursor_.fail("the lists of exclusions are not in order");
        }
        const std::vector<std::int32_t> all = cursor_.integers(total);
        molecule.exclusion_start.push_back(0);
        for (std::size_t a = 0; a < atoms; ++a)
        {
            std::vector<std::int32_t> list(all.begin() + start[a], all.begin() + start[a + 1]);
            std::ranges::sort(list);
            const auto repeated = std::ranges::unique(list);
            list.erase(repeated.begin(), repeated.end());
            std::erase(list, static_cast<std::int32_t>(a));
            molecule.excluded.insert(molecule.excluded.end(), list.begin(), list.end());
            molecule.exclusion_start.push_back(static_cast<std::int32_t>(molecule.excluded.size()));
            if (list.empty() || (list.front() >= 0 && static_cast<std::size_t>(list.back()) < atoms)) { continue; }
            cursor_.fail("an atom that is excluded is not there");
        }
        for (std::int32_t a = 0; a < static_cast<std::int32_t>(atoms); ++a)
        {
            for (std::int32_t i = molecule.exclusion_start[static_cast<std::size_t>(a)];
                 i < molecule.exclusion_start[static_cast<std::size_t>(a) + 1]; ++i)
            {
                if (molecule.excludes(molecule.excluded[static_cast<std::size_t>(i)], a)) { continue; }
                cursor_.fail("an atom excludes another one that does not exclude it");
            }
        }
    }

    void blocks()
    {
        const std::size_t count = cursor_.count("molecule blocks", 20);
        std::int64_t together = 0;
        for (std::size_t i = 0; i < count; ++i)
        {
            TprBlock& block = topology_.blocks.emplace_back();
            block.type = cursor_.index("a molecule type", topology_.molecules.size());
            block.count = cursor_.integer();
            const auto size =
                static_cast<std::int64_t>(topology_.molecules[static_cast<std::size_t>(block.type)].type.atoms.size());
            if (block.count <= 0 || cursor_.integer() != size) { cursor_.fail("a block of molecules does not fit their type"); }
            const std::int64_t atoms = block.count * size;
            together += atoms;
            for (const bool of_b : {false, true})
            {
                const std::size_t given = cursor_.count("reference positions", 3 * static_cast<std::size_t>(cursor_.real_bytes));
                if (given != 0 && static_cast<std::int64_t>(given) != atoms) { cursor_.fail("reference positions are missing"); }
                std::vector<Vec3<double>> positions = cursor_.vectors(given);
                if (!of_b) { block.reference = std::move(positions); }
            }
        }
        if (cursor_.integer() != header_.atoms || together != header_.atoms)
        {
            cursor_.fail("the molecules do not have as many atoms as the system");
        }
    }

    void atom_types()
    {
        constexpr int first_without = 128, first_without_radii = 113;
        if (header_.version >= first_without) { return; }
        const std::size_t count = cursor_.count("atom types", 4);
        if (header_.version < first_without_radii) { cursor_.skip_reals(5 * count); }
        cursor_.skip_integers(count);
    }

    void maps()
    {
        const std::size_t count = cursor_.count("correction maps", 4), side = cursor_.count("points of a map", 4);
        constexpr std::size_t values_of_point = 4; // the first of these values is the energy
        for (std::size_t i = 0; i < count; ++i)
        {
            if (side < 2 || side > cursor_.left() / side) { cursor_.fail("a correction map is not whole"); }
            TprMap& map = topology_.maps.emplace_back();
            for (std::size_t point = 0; point < side * side; ++point)
            {
                map.values.push_back(cursor_.real());
                cursor_.skip_reals(values_of_point - 1);
            }
        }
        for (const TprFunctionType& type : topology_.function_types)
        {
            if (type.function->use != TprUse::Interaction || type.function->kind != InteractionKind::Cmap) { continue; }
            const double map = type.parameters[0];
            if (map < 0 || map >= static_cast<double>(count)) { cursor_.fail("a correction map is not there"); }
        }
    }

    void groups()
    {
        std::array<std::vector<std::int32_t>, tpr_group_kinds> names;
        for (auto& of_kind : names) { of_kind = cursor_.integers(cursor_.count("groups", 4)); }
        const std::size_t count = cursor_.count("names of groups", 4);
        std::vector<std::string> known;
        for (std::size_t i = 0; i < count; ++i) { known.push_back(symbol()); }
        for (std::size_t kind = 0; kind < tpr_group_kinds; ++kind)
        {
            TprGroups& groups = topology_.groups[kind];
            for (const std::int32_t name : names[kind])
            {
                if (name < 0 || static_cast<std::size_t>(name) >= count) { cursor_.fail("a group has no name"); }
                groups.names.push_back(known[static_cast<std::size_t>(name)]);
            }
            const std::size_t given = cursor_.count("numbers of groups", cursor_.layout == TprLayout::Packed ? 1 : 4);
            groups.of_atom = cursor_.bytes(given);
            if (given != 0 && static_cast<std::int64_t>(given) != header_.atoms) { cursor_.fail("atoms are in no group"); }
            // Atoms whose centre-of-mass motion is kept have a number one higher than the last group's.
            const bool has_others = kind == static_cast<std::size_t>(TprGroupKind::CentreOfMass);
            const std::size_t end = groups.names.size() + (has_others ? 1 : 0);
            if (std::ranges::any_of(groups.of_atom, [&](std::uint8_t group) { return group >= end; }))
            {
                cursor_.fail("an atom is in a group that is not there");
            }
        }
    }

    void exclusion_group()
    {
        constexpr int first_with_one = 120;
        if (header_.version < first_with_one) { return; }
        const std::int64_t count = cursor_.long_integer();
        if (count < 0 || static_cast<std::uint64_t>(count) > cursor_.left() / 4)
        {
            cursor_.fail("the exclusion group is not whole");
        }
        cursor_.skip_integers(static_cast<std::size_t>(count));
        topology_.has_exclusion_group = count > 0;
    }

    TprCursor& cursor_;
    const TprHeader& header_;
    std::vector<const TprFunction*> functions_;
    std::vector<std::string> symbols_;
    TprTopology topology_;
};

} // namespace

TprTopology read_tpr_topology(TprCursor& cursor, const TprHeader& header) { return TprTopologyReader(cursor, header).read(); }

} // namespace parhelion
