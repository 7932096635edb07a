// SPDX-License-Identifier: Apache-2.0
// Writers of trajectories for states that Python has.
#include "state.hpp"

#include "io/output/trr.hpp"
#include "io/output/xtc.hpp"
#include "run/backup.hpp"

#include <nanobind/stl/string.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace parhelion::python {

namespace {

class TrajectoryWriter
{
public:
    TrajectoryWriter(const std::string& path, double precision)
    {
        if (!path.ends_with(".xtc") && !path.ends_with(".trr")) { throw nb::value_error("a trajectory is an .xtc or a .trr"); }
        if (!(precision > 0 && precision <= 1e9)) { throw nb::value_error("the precision is above 0, and 1e9 1/nm at most"); }
        move_to_backup(path);
        if (path.ends_with(".xtc")) { xtc_ = std::make_unique<XtcWriter>(path, precision); }
        else { trr_ = std::make_unique<TrrWriter>(path, Precision::Double); }
    }

    void write(const State& state)
    {
        if (xtc_) { xtc_->write(state.look.frame); }
        else if (trr_) { trr_->write(state.look.frame); }
        else { throw std::runtime_error("this trajectory is closed"); }
    }
    void close()
    {
        if (xtc_) { xtc_->close(); }
        if (trr_) { trr_->close(); }
        xtc_.reset();
        trr_.reset();
    }

private:
    std::unique_ptr<XtcWriter> xtc_;
    std::unique_ptr<TrrWriter> trr_;
};

} // namespace

void bind_trajectory(nb::module_& m)
{
    nb::class_<TrajectoryWriter>(m, "TrajectoryWriter")
        .def(nb::init<const std::string&, double>(), nb::arg("path"), nb::arg("precision"))
        .def("write", &TrajectoryWriter::write, nb::arg("state"))
        .def("close", &TrajectoryWriter::close);
}

} // namespace parhelion::python
