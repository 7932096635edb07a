// SPDX-License-Identifier: Apache-2.0
// What was read of the input files: a system and its parameters.
#include "state.hpp"

#include "io/input/mdp.hpp"
#include "model/interactions.hpp"
#include "run/read_input.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace parhelion::python {

namespace {

using Path = std::filesystem::path;

template <class T>
nb::object to_array(std::vector<T>&& values, std::size_t columns = 0)
{
    auto* const data = new std::vector<T>(std::move(values));
    const nb::capsule owner(data, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    if (columns == 0) { return nb::cast(nb::ndarray<nb::numpy, T>(data->data(), {data->size()}, owner)); }
    return nb::cast(nb::ndarray<nb::numpy, T>(data->data(), {data->size() / columns, columns}, owner));
}

nb::dict atoms_of(const MoleculeType& type, const Topology& topology)
{
    nb::list names, types, residues;
    std::vector<std::int64_t> numbers, indices;
    std::vector<double> masses, charges;
    for (const Atom& atom : type.atoms)
    {
        const Residue& residue = type.residues[static_cast<std::size_t>(atom.residue)];
        names.append(atom.name);
        types.append(topology.type_names[static_cast<std::size_t>(atom.type)]);
        residues.append(residue.name);
        numbers.push_back(residue.number);
        indices.push_back(atom.residue);
        masses.push_back(atom.mass);
        charges.push_back(atom.charge);
    }
    nb::dict result;
    result["name"] = names;
    result["type"] = types;
    result["residue"] = residues;
    result["residue_number"] = to_array(std::move(numbers));
    result["residue_index"] = to_array(std::move(indices));
    result["mass"] = to_array(std::move(masses));
    result["charge"] = to_array(std::move(charges));
    return result;
}

// By kind: atoms of the molecule, (terms, atoms), and parameters, (terms, parameters).
nb::dict terms_of(const MoleculeType& type, const Topology& topology)
{
    nb::dict result;
    for (const InteractionRow& row : interaction_table)
    {
        const std::vector<Interaction>& terms = type.of(row.kind);
        if (terms.empty() || row.parameters == square_table) { continue; }
        std::vector<std::int64_t> atoms;
        std::vector<double> parameters;
        for (const Interaction& term : terms)
        {
            atoms.insert(atoms.end(), term.atoms.begin(), term.atoms.begin() + row.atoms);
            const InteractionParameters& values = topology.parameters_of(row.kind)[static_cast<std::size_t>(term.parameters)];
            parameters.insert(parameters.end(), values.begin(), values.begin() + row.parameters);
        }
        result[std::string(row.name).c_str()] =
            nb::make_tuple(to_array(std::move(atoms), static_cast<std::size_t>(row.atoms)),
                           to_array(std::move(parameters), static_cast<std::size_t>(row.parameters)));
    }
    return result;
}

// Distances that are kept: pairs of atoms of the molecule, and lengths; those of settles too.
nb::tuple constraints_of(const MoleculeType& type)
{
    std::vector<std::int64_t> atoms;
    std::vector<double> lengths;
    const auto add = [&](std::int32_t a, std::int32_t b, double length) {
        atoms.insert(atoms.end(), {a, b});
        lengths.push_back(length);
    };
    for (const Constraint& constraint : type.constraints) { add(constraint.a, constraint.b, constraint.length); }
    for (const Settle& settle : type.settles)
    {
        add(settle.oxygen, settle.hydrogen_a, settle.oh);
        add(settle.oxygen, settle.hydrogen_b, settle.oh);
        add(settle.hydrogen_a, settle.hydrogen_b, settle.hh);
    }
    return nb::make_tuple(to_array(std::move(atoms), 2), to_array(std::move(lengths), 1));
}

nb::list molecule_types(const LoadedInput& input)
{
    nb::list result;
    for (const MoleculeType& type : input.system.topology.molecule_types)
    {
        nb::dict entry;
        entry["name"] = type.name;
        entry["atoms"] = atoms_of(type, input.system.topology);
        entry["terms"] = terms_of(type, input.system.topology);
        entry["constraints"] = constraints_of(type);
        result.append(entry);
    }
    return result;
}

std::vector<std::pair<int, std::int64_t>> blocks(const LoadedInput& input)
{
    std::vector<std::pair<int, std::int64_t>> result;
    for (const MoleculeBlock& block : input.system.topology.blocks) { result.emplace_back(block.type, block.count); }
    return result;
}

// A view that nobody writes through; None if there is nothing.
std::optional<ConstVectors> read_only(const std::vector<Vec3<double>>& values, nb::handle owner)
{
    if (values.empty()) { return {}; }
    return ConstVectors(&values.data()->x, {values.size(), 3}, owner);
}

// The memory stays where it is, since arrays look at it.
void assign(std::vector<Vec3<double>>& to, const VectorsGiven& given, std::size_t atoms, const char* name)
{
    const std::vector<Vec3<double>> values = to_vectors(given, atoms, name);
    to.resize(atoms);
    std::copy(values.begin(), values.end(), to.begin());
}

// Position restraints go on referring to where the atoms were when they were read.
void set_positions(LoadedInput& input, const VectorsGiven& given)
{
    System& system = input.system;
    if (system.restraint_reference.empty() && system.topology.position_restraint_count() > 0)
    {
        system.restraint_reference = system.x;
        system.restraint_reference_box = system.box;
    }
    assign(system.x, given, system.x.size(), "positions");
    input.hand_over.reset(); // has positions of its own
}

void set_velocities(LoadedInput& input, const VectorsGiven& given)
{
    assign(input.system.v, given, input.system.x.size(), "velocities");
    input.hand_over.reset();
}

void set_box(LoadedInput& input, const MatrixGiven& rows)
{
    input.system.box = to_box(rows);
    input.hand_over.reset();
}

LoadedInput load(const RunInput& input, const nb::callable& tell)
{
    Diagnostics diagnostics;
    std::exception_ptr error;
    std::optional<LoadedInput> loaded;
    {
        const nb::gil_scoped_release others_may_run;
        try
        {
            loaded = read_input(input, Purpose::Run, diagnostics, [](const std::string&) {});
        }
        catch (...)
        {
            error = std::current_exception();
        }
    }
    const auto tell_all = [&](const char* kind, const std::vector<Warning>& remarks) {
        for (const Warning& remark : remarks) { tell(kind, remark.id, remark.text()); }
    };
    tell_all("note", diagnostics.notes);
    tell_all("warning", diagnostics.warnings);
    if (error) { std::rethrow_exception(error); }
    return std::move(*loaded);
}

} // namespace

void bind_input(nb::module_& m)
{
    nb::class_<RunInput>(m, "Files")
        .def(
            "__init__",
            [](RunInput* self, const Path& mdp, const Path& gro, const Path& top, const Path& reference, const Path& index,
               const std::vector<Path>& include, const Path& start, std::optional<double> start_time, const Path& run_input,
               const std::vector<std::string>& allow) {
                new (self) RunInput{{mdp, gro, top, reference, index, include, start, start_time, run_input}, allow};
            },
            nb::arg("mdp"), nb::arg("gro"), nb::arg("top"), nb::kw_only(), nb::arg("reference"), nb::arg("index"),
            nb::arg("include"), nb::arg("start"), nb::arg("start_time").none(), nb::arg("run_input"), nb::arg("allow"));
    nb::class_<LoadedInput>(m, "Input")
        .def_prop_ro("atoms", [](const LoadedInput& input) { return input.system.topology.atom_count(); })
        .def_prop_ro("title", [](const LoadedInput& input) { return input.system.title; })
        .def_prop_ro("steps", [](const LoadedInput& input) { return input.parameters.steps; })
        .def_prop_ro("parameters", [](const LoadedInput& input) { return mdp_values(input.parameters); })
        .def_prop_ro(
            "positions", [](nb::handle_t<LoadedInput> self) { return read_only(nb::cast<LoadedInput&>(self).system.x, self); },
            nb::for_getter(nb::sig("def positions(self) -> NDArray[numpy.float64]")))
        .def_prop_ro("velocities",
                     [](nb::handle_t<LoadedInput> self) { return read_only(nb::cast<LoadedInput&>(self).system.v, self); })
        .def_prop_ro(
            "box", [](const LoadedInput& input) { return to_matrix(input.system.box); }, nb::rv_policy::automatic)
        .def("set_positions", set_positions, nb::arg("positions"))
        .def("set_velocities", set_velocities, nb::arg("velocities"))
        .def("set_box", set_box, nb::arg("box"))
        .def("molecule_types", molecule_types, nb::sig("def molecule_types(self) -> list[dict[str, typing.Any]]"))
        .def("blocks", blocks);
    m.def("load", load, nb::sig("def load(files: Files, tell: collections.abc.Callable[[str, str, str], object]) -> Input"));
}

} // namespace parhelion::python
