// SPDX-License-Identifier: Apache-2.0
#include "force.hpp"

#include <nanobind/stl/tuple.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace parhelion::python {

namespace {

// The array takes the memory over.
Vectors to_array(std::vector<Vec3<double>>&& values)
{
    auto own = std::make_unique<std::vector<Vec3<double>>>(std::move(values));
    double* const first = &own->data()->x;
    const std::size_t count = own->size();
    const nb::capsule owner(own.release(), [](void* p) noexcept { delete static_cast<std::vector<Vec3<double>>*>(p); });
    return Vectors(first, {count, 3}, owner);
}

} // namespace

PythonForce::PythonForce(const IndicesGiven& atoms, nb::object call)
    : atoms_(atoms.data(), atoms.data() + atoms.shape(0)), call_(std::move(call))
{
}

PythonForce::~PythonForce()
{
    const nb::gil_scoped_acquire python;
    call_.reset();
}

std::optional<ExternalForce::Answer> PythonForce::at(Configuration&& configuration)
{
    const nb::gil_scoped_acquire python;
    try
    {
        const nb::object given = call_(to_array(std::move(configuration.x)), to_matrix(configuration.box), configuration.time);
        if (given.is_none()) { return {}; }
        const auto [energy, forces, virial] = nb::cast<std::tuple<double, VectorsGiven, MatrixGiven>>(given);
        if (forces.shape(0) != atoms_.size()) { throw std::invalid_argument("as many forces as atoms"); }
        Answer answer{energy, std::vector<Vec3<double>>(atoms_.size()), {}};
        std::memcpy(static_cast<void*>(answer.f.data()), forces.data(), atoms_.size() * sizeof(Vec3<double>));
        for (std::size_t i = 0; i < 9; ++i)
        {
            answer.virial[static_cast<int>(i / 3)][static_cast<int>(i % 3)] = virial.data()[i];
        }
        return answer;
    }
    catch (nb::python_error& error)
    {
        error.discard_as_unraisable("a force of a simulation");
    }
    catch (const std::exception& error) // an answer that is none
    {
        PyErr_SetString(PyExc_TypeError, error.what());
        PyErr_WriteUnraisable(call_.ptr());
    }
    return {};
}

} // namespace parhelion::python
