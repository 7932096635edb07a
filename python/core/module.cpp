// SPDX-License-Identifier: Apache-2.0
// The module parhelion._core: src/run for the Python files beside it, which are what users see. It has no logic of its own: it
// turns arguments into requests, results into arrays, and errors into the exceptions of parhelion.errors.
#include "state.hpp"

#include "base/error.hpp"
#include "io/output/edr.hpp"
#include "run/version.hpp"

#include <nanobind/stl/string.h>

#include <exception>

namespace parhelion::python {

namespace {

void set_error(const char* type, nb::tuple arguments)
{
    const nb::object error = nb::module_::import_("parhelion.errors").attr(type);
    PyErr_SetObject(error.ptr(), error(*arguments).ptr());
}

void translate(const std::exception_ptr& thrown, void*)
{
    try
    {
        std::rethrow_exception(thrown);
    }
    catch (const InputError& error)
    {
        set_error("InputError", nb::make_tuple(error.what(), error.id().c_str(), error.where().file.c_str(), error.where().line));
    }
    catch (const PhysicsError& error)
    {
        set_error("PhysicsError", nb::make_tuple(error.what(), error.step()));
    }
    catch (const SystemError& error)
    {
        set_error("SystemError", nb::make_tuple(error.what()));
    }
    catch (const ContractError& error)
    {
        set_error("InternalError", nb::make_tuple(error.what()));
    }
}

} // namespace

} // namespace parhelion::python

NB_MODULE(_core, m)
{
    using namespace parhelion::python;
    m.doc() = "The engine, for the Python files of this package.";
    nb::set_leak_warnings(false); // objects may live as long as the process
    nb::register_exception_translator(translate);
    m.def("version_text", parhelion::version_text, "Version, commit, compiler, and whether there is code for GPUs.");
    m.def("built_with_cuda", parhelion::built_with_cuda, "Whether this module has code for GPUs.");
    m.def("devices", parhelion::describe_devices, "What runs can be on, in words.");
    m.def(
        "unit", [](const std::string& name) { return std::string(parhelion::unit_of_term(name)); }, nb::arg("name"),
        "The unit of an entry of State.energies.");
    bind_state(m);
    bind_input(m);
    bind_placement(m);
    bind_session(m);
    bind_run(m);
    bind_trajectory(m);
}
