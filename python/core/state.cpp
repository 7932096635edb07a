// SPDX-License-Identifier: Apache-2.0
#include "state.hpp"

#include "base/error.hpp"
#include "io/output/box_edges.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>

namespace parhelion::python {

namespace {

constexpr double largest = 1e6; // nm, nm/ps

// The memory of `owner`; None if there is nothing.
std::optional<Vectors> view(std::vector<Vec3<double>>& values, nb::handle owner)
{
    if (values.empty()) { return {}; }
    return Vectors(&values.data()->x, {values.size(), 3}, owner);
}

nb::dict energies(const State& state)
{
    nb::dict result;
    for (std::size_t i = 0; i < state.names->size(); ++i) { result[(*state.names)[i].c_str()] = state.look.energies[i]; }
    return result;
}

} // namespace

Matrix to_matrix(const std::array<double, 9>& values)
{
    auto* const data = new std::array<double, 9>(values);
    const nb::capsule owner(data, [](void* p) noexcept { delete static_cast<std::array<double, 9>*>(p); });
    return Matrix(data->data(), {3, 3}, owner);
}
Matrix to_matrix(const Box<double>& box) { return to_matrix(edges_of(box)); }
Matrix to_matrix(const Mat3<double>& m)
{
    return to_matrix(std::array<double, 9>{m[0].x, m[0].y, m[0].z, m[1].x, m[1].y, m[1].z, m[2].x, m[2].y, m[2].z});
}

Box<double> to_box(const MatrixGiven& rows)
{
    BoxEdges edges{};
    std::copy_n(rows.data(), edges.size(), edges.begin());
    const bool is_finite = std::all_of(edges.begin(), edges.end(), [](double x) { return std::abs(x) <= largest; });
    if (!is_finite || !(edges[0] > 0 && edges[4] > 0 && edges[8] > 0))
    {
        throw nb::value_error("the edges of a box are finite, in nm, and its diagonal is positive");
    }
    std::string problem;
    const Box<double> box = box_of(edges, problem);
    if (!problem.empty()) { throw InputError("E580", {}, problem); }
    return box;
}

std::vector<Vec3<double>> to_vectors(const VectorsGiven& given, std::size_t atoms, const char* name)
{
    if (given.shape(0) != atoms)
    {
        throw nb::value_error(fmt::format("{} have the shape ({}, 3), not ({}, 3)", name, atoms, given.shape(0)).c_str());
    }
    const double* const values = given.data();
    const auto* const bad = std::find_if_not(values, values + 3 * atoms, [](double x) { return std::abs(x) <= largest; });
    if (bad != values + 3 * atoms)
    {
        throw nb::value_error(
            fmt::format("{} of atom {} (from 0): {} is not finite, or beyond {:g}", name, (bad - values) / 3, *bad, largest)
                .c_str());
    }
    std::vector<Vec3<double>> vectors(atoms);
    std::memcpy(static_cast<void*>(vectors.data()), values, atoms * sizeof(Vec3<double>));
    return vectors;
}

void bind_state(nb::module_& m)
{
    nb::class_<State>(m, "State",
                      R"(A configuration of one step, with its energies. N is the number of atoms, in the order of the input.

Arrays are the memory of this object: no copies, and yours to keep.)")
        .def_prop_ro(
            "step", [](const State& s) { return s.look.frame.step; }, "The step, which counts from the start of the run.")
        .def_prop_ro(
            "time", [](const State& s) { return s.look.frame.time; }, "The time in ps.")
        .def_prop_ro(
            "box", [](const State& s) { return to_matrix(s.look.frame.box); }, nb::rv_policy::automatic,
            "The box, shape (3, 3), in nm: rows are its edge vectors.")
        .def_prop_ro(
            "positions", [](nb::handle_t<State> s) { return view(nb::cast<State&>(s).look.frame.x, s); },
            nb::for_getter(nb::sig("def positions(self) -> NDArray[numpy.float64]")),
            "Positions, shape (N, 3), in nm. Molecules are whole.")
        .def_prop_ro(
            "velocities", [](nb::handle_t<State> s) { return view(nb::cast<State&>(s).look.frame.v, s); },
            nb::for_getter(nb::sig("def velocities(self) -> NDArray[numpy.float64]")),
            "Velocities half a step before the positions, shape (N, 3), in nm/ps.")
        .def_prop_ro(
            "forces", [](nb::handle_t<State> s) { return view(nb::cast<State&>(s).look.frame.f, s); },
            "Forces without those of constraints, shape (N, 3), in kJ/mol/nm; None where they were not asked for.")
        .def_prop_ro(
            "energies", energies, nb::for_getter(nb::sig("def energies(self) -> dict[str, float]")),
            "Energies and what else an energy file has, by GROMACS' names (a new dict). Energies and virials are in kJ/mol, "
            "pressures in bar, temperatures in K: unit() tells.")
        .def_prop_ro(
            "virial", [](const State& s) { return to_matrix(s.look.virial); }, nb::rv_policy::automatic,
            "-1/2 sum of r (x) f over the forces without those of constraints and without the dispersion correction, shape "
            "(3, 3), in kJ/mol.")
        .def_prop_ro(
            "remarks", [](const State& s) { return s.look.remarks; }, "Sentences on what the numbers are worth; usually none.")
        .def("__repr__", [](const State& s) {
            return fmt::format("State(step={}, time={:.6g} ps, atoms={})", s.look.frame.step, s.look.frame.time,
                               s.look.frame.x.size());
        });
}

} // namespace parhelion::python
