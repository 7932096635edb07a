// SPDX-License-Identifier: Apache-2.0
// A configuration with its energies, as Python sees it, and arrays between the two languages. The arrays of a State are its
// memory, not copies; they keep it alive.
#pragma once

#include "run/session.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace parhelion::python {

namespace nb = nanobind;

using Vectors = nb::ndarray<nb::numpy, double, nb::shape<-1, 3>>;
using ConstVectors = nb::ndarray<nb::numpy, const double, nb::shape<-1, 3>>;
using Matrix = nb::ndarray<nb::numpy, double, nb::shape<3, 3>>;
// Arguments: of this type and order already.
using VectorsGiven = nb::ndarray<const double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using MatrixGiven = nb::ndarray<const double, nb::shape<3, 3>, nb::c_contig, nb::device::cpu>;

using EnergyNames = std::shared_ptr<const std::vector<std::string>>;

struct State
{
    Look look;
    EnergyNames names;
};

static_assert(sizeof(Vec3<double>) == 3 * sizeof(double));

Matrix to_matrix(const std::array<double, 9>& values);
Matrix to_matrix(const Box<double>& box); // rows are the edge vectors, nm
Matrix to_matrix(const Mat3<double>& m);
// Throws ValueError if it is no box that is finite and positive; InputError E580 if an edge leans too far.
Box<double> to_box(const MatrixGiven& rows);
// Throws ValueError if there are not so many, or one is not finite or is beyond a million.
std::vector<Vec3<double>> to_vectors(const VectorsGiven& given, std::size_t atoms, const char* name);

void bind_state(nb::module_& m);
void bind_input(nb::module_& m);
void bind_placement(nb::module_& m);
void bind_session(nb::module_& m);
void bind_run(nb::module_& m);
void bind_trajectory(nb::module_& m);

} // namespace parhelion::python
